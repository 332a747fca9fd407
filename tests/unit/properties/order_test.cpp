// LEGAL_ORDER, NO_RETRACTION, JOB_SUCCESS, PROGRESS, and the properties that need probes:
// REJECT_PURE, QUIESCENT, LEDGER.
#include <doctest/doctest.h>

#include "tests/unit/properties/sample_journals.hpp"

using namespace rehearse;
using namespace rehearse::model;
using namespace rehearse::testing;

namespace {

void check_all(const std::vector<Broken>& all) {
  for (const Broken& broken : all) {
    check_broken(broken);
  }
}

auto edited_probe(std::function<void(Probe&)> edit) { return edited<Probe>(std::move(edit)); }

Tampering at_end(std::function<void(Probe&)> edit) {
  return {matching<Probe>(
              [](const Probe& line, const NameTable&) { return line.when == ProbeWhen::end; }),
          edited_probe(std::move(edit))};
}

// The next try of the task starts as a copy of this one, on the same executor.
std::vector<Event> with_copy(const Event& event) {
  Event copy = event;
  auto& line = std::get<TaskStart>(copy.body);
  ++line.task.try_number;
  line.speculative = true;
  return {event, copy};
}

Tampering after_reject(std::function<void(Probe&)> edit) {
  return {matching<Probe>([](const Probe& line, const NameTable&) {
            return line.when == ProbeWhen::after_reject;
          }),
          edited_probe(std::move(edit))};
}

}  // namespace

TEST_CASE("LEGAL_ORDER: the frame of a journal") {
  check_all({
      {"LEGAL_ORDER", "where the run line must stand", group_job, {matching<RunStart>(), dropped}},
      {"LEGAL_ORDER", "where the next line", group_job, {matching<RunStart>(), doubled}},
      {"LEGAL_ORDER", "after run_end", group_job, {matching<RunEnd>(), doubled}},
      {"LEGAL_ORDER",
       "time goes back from 10 to 3",
       group_job,
       {matching<StageCompleted>(),
        [](const Event& event) {
          Event early = event;
          early.t = 3;
          return std::vector{early};
        }}},
  });
}

// Its profiles must not fall on executors that were counted by those of the first.
TEST_CASE("LEGAL_ORDER: a second run line with more profiles") {
  const auto wider = [](const Event& event) {
    Event other = event;
    auto& run = std::get<RunStart>(other.body);
    for (int more = 0; more < 8; ++more) {
      run.profiles.push_back(run.profiles.front());
    }
    return std::vector{event, other};
  };
  check_all({{"LEGAL_ORDER", "where the next line", group_job, {matching<RunStart>(), wider}}});
}

TEST_CASE("LEGAL_ORDER: executors and jobs") {
  check_all({
      {"LEGAL_ORDER",
       "executor_lost names e0, which is lost",
       executor_loss,
       {matching<ExecutorLost>(), doubled}},
      {"LEGAL_ORDER", "executor_added names", group_job, {matching<ExecutorAdded>(), doubled}},
      {"LEGAL_ORDER", "was not held", waiting_gang, {matching<ExecutorReleased>(), doubled}},
      {"LEGAL_ORDER", "submitted a second time", group_job, {matching<JobSubmitted>(), doubled}},
      {"LEGAL_ORDER", "started a second time", group_job, {matching<JobStarted>(), doubled}},
      {"LEGAL_ORDER", "ended without running", refusals, {matching<JobStarted>(), dropped, 2}},
      {"LEGAL_ORDER",
       "not the first of its codes",
       refusals,
       {matching<JobRejected>(),
        edited<JobRejected>([](JobRejected& line) { line.codes = {Code::no_executors}; })}},
      {"LEGAL_ORDER",
       "ended as succeeded with a code",
       group_job,
       {matching<JobEnd>(), edited<JobEnd>([](JobEnd& line) { line.code = Code::task_failed; })}},
      {"LEGAL_ORDER",
       "ended as failed without a code",
       group_failure,
       {matching<JobEnd>(), edited<JobEnd>([](JobEnd& line) { line.code = std::nullopt; })}},
      {"LEGAL_ORDER",
       "names something that is not there",
       group_job,
       {matching<JobSubmitted>(), dropped}},
      {"LEGAL_ORDER",
       "names q, which has ended",
       group_job,
       {matching<JobEnd>(),
        [](const Event& event) {
          Event late = event;
          late.t += 1;
          late.body = MemberFinished{};
          std::get<MemberFinished>(late.body).stage.job = event.as<JobEnd>()->job;
          return std::vector{event, late};
        }}},
  });
}

TEST_CASE("LEGAL_ORDER: groups and stages") {
  check_all({
      {"LEGAL_ORDER", "formed twice", group_job, {matching<GroupFormed>(), doubled}},
      {"LEGAL_ORDER", "cannot be admitted", group_job, {matching<GroupAdmitted>(), doubled}},
      {"LEGAL_ORDER", "cannot be committed", group_job, {matching<GroupCommitted>(), doubled}},
      {"LEGAL_ORDER", "cannot be failed", group_failure, {matching<GroupFailed>(), doubled}},
      {"LEGAL_ORDER",
       "without need and have",
       waiting_gang,
       {matching<GroupQueued>(),
        edited<GroupQueued>([](GroupQueued& line) { line.have = std::nullopt; })}},
      {"LEGAL_ORDER",
       "while attempt 0 is open",
       group_job,
       {matching_stage<StageSubmitted>("q/pre"), doubled}},
      {"LEGAL_ORDER",
       "attempt 2 follows attempt 0",
       fetch_failure,
       {matching_stage<StageSubmitted>("r/a"),
        edited<StageSubmitted>([](StageSubmitted& line) { line.stage.attempt = 2; }), 2}},
      {"LEGAL_ORDER",
       "2 tasks where 0 are missing",
       fetch_failure,
       {matching<OutputsLost>(), dropped}},
      {"LEGAL_ORDER",
       "tasks that are not its partitions",
       group_job,
       {matching_stage<StageSubmitted>("q/map"),
        edited<StageSubmitted>([](StageSubmitted& line) { line.tasks = 1; })}},
      {"LEGAL_ORDER",
       "completed and is not open",
       group_job,
       {matching_stage<StageSubmitted>("q/pre"), dropped}},
      {"LEGAL_ORDER",
       "completed well with 1 of 2 tasks",
       fetch_failure,
       {matching_task<TaskEnd>("r/a/1"), dropped}},
      {"LEGAL_ORDER",
       "is no running member",
       fetch_failure,
       {matching<StageCompleted>(),
        [](const Event& event) {
          return std::vector<Event>{event,
                                    {event.t, MemberFinished{event.as<StageCompleted>()->stage}}};
        }}},
  });
}

TEST_CASE("LEGAL_ORDER: tasks") {
  check_all({
      {"LEGAL_ORDER",
       "which is not submitted",
       fetch_failure,
       {matching_stage<StageSubmitted>("r/a"), dropped, 2}},
      {"LEGAL_ORDER",
       "started and is done already",
       fetch_failure,
       {matching<OutputsLost>(), dropped}},
      {"LEGAL_ORDER",
       "a try of the same attempt runs",
       group_job,
       {matching_task<TaskStart>("q/map/0"),
        [](const Event& event) {
          Event other = event;
          std::get<TaskStart>(other.body).task.try_number = 1;
          return std::vector{event, other};
        }}},
      {"LEGAL_ORDER",
       "as a copy beside 0 tries",
       fetch_failure,
       {matching_task<TaskStart>("r/a/0"),
        edited<TaskStart>([](TaskStart& line) { line.speculative = true; })}},
      {"LEGAL_ORDER",
       "as a copy on the host of the other try",
       fetch_failure,
       {matching_task<TaskStart>("r/a/0"), with_copy}},
      {"LEGAL_ORDER",
       "as a copy inside a gang",
       group_job,
       {matching_task<TaskStart>("q/map/0"), with_copy}},
      {"LEGAL_ORDER",
       "a reason that does not belong",
       group_failure,
       {matching_task<TaskEnd>("q/map/0"),
        edited<TaskEnd>([](TaskEnd& line) { line.reason = TaskReason::external; })}},
      {"LEGAL_ORDER",
       "a reason that does not belong",
       group_job,
       {matching_task<TaskEnd>("q/map/0"),
        edited<TaskEnd>([](TaskEnd& line) { line.reason = TaskReason::exception; })}},
      {"LEGAL_ORDER",
       "different marks of speculation",
       group_job,
       {matching_task<TaskEnd>("q/map/0"),
        edited<TaskEnd>([](TaskEnd& line) { line.speculative = true; })}},
      {"LEGAL_ORDER",
       "is no partition of attempt 1",
       fetch_failure,
       {matching_stage<StageSubmitted>("r/a"),
        edited<StageSubmitted>([](StageSubmitted& line) { line.partitions = Ranges{{0, 0}}; }), 2}},
  });
}

TEST_CASE("NO_RETRACTION: one terminal event each") {
  check_all({
      {"NO_RETRACTION", "ended a second time", group_job, {matching<JobEnd>(), doubled}},
      {"NO_RETRACTION",
       "completed a second time, now as failed",
       group_job,
       {matching_stage<StageCompleted>("q/pre"),
        [](const Event& event) {
          Event failed = event;
          std::get<StageCompleted>(failed.body).status = StageStatus::failed;
          return std::vector{event, failed};
        }}},
      {"NO_RETRACTION",
       "got group_committed after its end",
       group_job,
       {matching<GroupCommitted>(), doubled}},
      {"NO_RETRACTION",
       "was never completed",
       cancelled_job,
       {matching<StageCompleted>(), dropped}},
      {"NO_RETRACTION",
       "has no terminal event",
       cancelled_job,
       {matching<GroupCancelled>(), dropped}},
      {"NO_RETRACTION",
       "was rejected after it had started",
       refusals,
       {matching<JobEnd>(
            [](const JobEnd& line, const NameTable&) { return line.need.has_value(); }),
        [](const Event& event) {
          JobRejected rejected;
          rejected.job = event.as<JobEnd>()->job;
          rejected.codes = {Code{}};
          return std::vector<Event>{{event.t, rejected}};
        }}},
      {"NO_RETRACTION",
       "had ended when stage_completed came",
       group_job,
       {matching<JobEnd>(),
        [](const Event& event) {
          StageCompleted late;
          late.stage.job = event.as<JobEnd>()->job;
          return std::vector<Event>{event, {event.t + 1, late}};
        }}},
  });
}

TEST_CASE("JOB_SUCCESS: every sink whole, every group committed") {
  const Tampering early{matching<MemberFinished>(), [](const Event& event) {
                          JobEnd end;
                          end.job = event.as<MemberFinished>()->stage.job;
                          return std::vector<Event>{event, {event.t, end}};
                        }};
  check_all({
      {"JOB_SUCCESS", "its group q/map has not committed", group_job, early},
      {"JOB_SUCCESS",
       "its group q/map has not committed",
       group_job,
       {matching<GroupCommitted>(), dropped}},
      {"JOB_SUCCESS",
       "with 0 of 1 partitions of q/sink",
       group_job,
       {matching_task<TaskEnd>("q/sink/0"), dropped}},
      {"JOB_SUCCESS",
       "accepted a second time",
       fetch_failure,
       {matching_task<TaskStart>("r/c/0"),
        [](const Event& event) {
          TaskEnd first;
          first.task = event.as<TaskStart>()->task;
          Event twin = event;
          std::get<TaskStart>(twin.body).task.try_number = 1;
          TaskEnd twin_end = first;
          twin_end.task.try_number = 1;
          return std::vector<Event>{event, twin, {event.t, first}, {event.t, twin_end}};
        }}},
  });
}

TEST_CASE("JOB_SUCCESS: the final stage is enough where it ends the job") {
  // a and b are a group that never commits; c is the only sink.
  const auto verdict = [](const char* completion, bool final_stage_runs) {
    JournalBuilder j;
    j.run({.axes = {{"completion", completion}}}).executor("e0", 2);
    j.job("f", {{"a"}, {"b"}, {"c"}}, {{"a", "b", true}, {"b", "c"}}).started("f");
    j.formed("f/a", {"a", "b"}, {{"default", 2}});
    if (final_stage_runs) {
      j.submitted("f/c", 1).start({"f/c/0", "e0"});
      j.at(1).success({"f/c/0", "e0"}).completed("f/c");
    }
    return judge(j.at(2).succeeded("f").over())->find("JOB_SUCCESS")->verdict;
  };
  CHECK(verdict("final-stage", true) == properties::Verdict::held);
  CHECK(verdict("final-stage", false) == properties::Verdict::violated);
  CHECK(verdict("group", true) == properties::Verdict::violated);
}

TEST_CASE("PROGRESS: what is live goes on") {
  check_all({
      {"PROGRESS",
       "has not ended and nothing more happens",
       group_job,
       {matching<JobEnd>(), dropped}},
      {"PROGRESS",
       "was admitted and never ended",
       group_job,
       {[](const Event& event, const NameTable&) {
          return event.t == 30 && event.as<RunEnd>() == nullptr;
        },
        dropped, 0}},
      {"PROGRESS",
       "ended as DEADLOCK",
       group_failure,
       {matching<JobEnd>(), edited<JobEnd>([](JobEnd& line) { line.code = Code::deadlock; })}},
  });
  JournalBuilder j = group_job();
  std::get<RunEnd>(j.events().back().body).cause = RunEndCause::horizon;
  CHECK(judge(j)->find("PROGRESS")->verdict == properties::Verdict::not_judged);
  j.events().pop_back();
  CHECK(judge(j)->find("PROGRESS")->verdict == properties::Verdict::not_judged);
}

TEST_CASE("REJECT_PURE: equal before and after") {
  check_all({
      {"REJECT_PURE", "digest, slots or actions are not", refusals,
       after_reject([](Probe& line) { line.digest = 78; })},
      {"REJECT_PURE", "its counters differ", refusals,
       after_reject([](Probe& line) { line.timers = 1; })},
      {"REJECT_PURE",
       "has none after it",
       refusals,
       {matching<Probe>([](const Probe& line, const NameTable&) {
          return line.when == ProbeWhen::after_reject;
        }),
        dropped}},
      {"REJECT_PURE",
       "has none before it",
       refusals,
       {matching<Probe>([](const Probe& line, const NameTable&) {
          return line.when == ProbeWhen::before_reject;
        }),
        dropped}},
      {"REJECT_PURE",
       "more than a rejection happened",
       refusals,
       {matching<JobRejected>(),
        [](const Event& event) {
          JobStarted started{event.as<JobRejected>()->job};
          return std::vector<Event>{{event.t, started}, event};
        }}},
  });
}

TEST_CASE("QUIESCENT: nothing is left") {
  check_all({
      {"QUIESCENT", "1 timers are left", group_job, at_end([](Probe& line) { line.timers = 1; })},
      {"QUIESCENT", "2 commit authorizations are left", group_job,
       at_end([](Probe& line) { line.authorizations = 2; })},
      {"QUIESCENT",
       "1 of its tasks hold slots",
       cancelled_job,
       {matching_task<TaskEnd>("c/pre/0"), dropped}},
      {"QUIESCENT",
       "1 slots of q never came back",
       group_failure,
       {matching<SlotReturned>(), dropped}},
      {"QUIESCENT",
       "came back 6 ns after its end, kills take 5",
       group_failure,
       {[](const Event& event, const NameTable&) { return event.t == 20; },
        [](const Event& event) {
          Event late = event;
          late.t = 21;
          return std::vector{late};
        },
        0}},
  });
}

TEST_CASE("LEDGER: counters equal sums") {
  check_all({
      {"LEDGER", "1 busy slots, the journal 0", group_job,
       at_end([](Probe& line) { line.busy = 1; })},
      {"LEDGER", "3 free slots of default, the journal 4", group_job,
       at_end([](Probe& line) { line.free.front().n = 3; })},
      {"LEDGER",
       "1 live jobs, the journal 0",
       refusals,
       {matching<Probe>(), edited_probe([](Probe& line) { line.jobs = 1; })}},
      {"LEDGER", "the journal 1", group_job, {matching_task<TaskEnd>("q/pre/0"), dropped}},
  });
}

TEST_CASE("without probes there is nothing to judge by") {
  for (const auto& make : {group_failure, refusals}) {
    const JournalBuilder journal = make();
    std::int64_t applied = 0;
    const auto monitors = judge(journal, {matching<Probe>(), dropped, 0}, &applied);
    CHECK(applied > 0);
    for (const char* property : {"REJECT_PURE", "QUIESCENT", "LEDGER"}) {
      CAPTURE(property);
      CHECK(monitors->find(property)->verdict == properties::Verdict::not_judged);
    }
    CHECK(monitors->find("CLAIMS_MATCH")->verdict == properties::Verdict::held);
  }
}

namespace {

// k, under after-parents: a (0-30) feeds b (0-10), b feeds c (0-20). The successes of b and c wait,
// and their slots are back at once.
JournalBuilder held_back() {
  JournalBuilder j;
  const Slots three{{"default", 3}};
  j.run({.dialect = "spark"}).executor("e0", 3);
  j.job("k", {{"a"}, {"b"}, {"c"}}, {{"a", "b", true}, {"b", "c", true}}).started("k");
  j.formed("k/a", {"a", "b", "c"}, three).admitted("k/a", three);
  for (const char* stage : {"k/a", "k/b", "k/c"}) {
    j.submitted(stage, 1);
  }
  j.start({"k/a/0", "e0"}).start({"k/b/0", "e0"}).start({"k/c/0", "e0"});
  j.at(10).slots_back("e0", 1, "k").at(20).slots_back("e0", 1, "k");
  return j.at(30);
}

void release(JournalBuilder& j, const std::string& stage, std::optional<bool> counted = {}) {
  j.success({stage + "/0", "e0"}, counted);
  std::get<TaskEnd>(j.events().back().body).slot = SlotState::held;
}

// At 30 a ends well; then `order`: a stage's release, or with "!" its completion.
JournalBuilder released(const std::vector<std::string>& order) {
  JournalBuilder j = held_back();
  j.success({"k/a/0", "e0"});
  for (const std::string& line : order) {
    if (line.back() == '!') {
      j.completed(line.substr(0, 3));
    } else {
      release(j, line);
    }
  }
  return j.committed("k/a").succeeded("k").over();
}

// At 30 a fails.
JournalBuilder aborted(std::optional<bool> counted) {
  JournalBuilder j = held_back();
  j.failure({"k/a/0", "e0"}, TaskReason::exception);
  release(j, "k/b", counted);
  release(j, "k/c", counted);
  for (const char* stage : {"k/a", "k/b", "k/c"}) {
    j.completed(stage, 0, StageStatus::failed, StageReason::group_failed);
  }
  return j.group_failed("k/a", Code::task_failed).failed("k", Code::task_failed).over();
}

}  // namespace

TEST_CASE("LEGAL_ORDER: a success that waits counts behind its producers (C6)") {
  const auto said = [](const JournalBuilder& journal) {
    std::string all;
    const auto monitors = judge(journal);
    for (const Violation& violation : monitors->find("LEGAL_ORDER")->violations) {
      all += violation.detail + "\n";
    }
    return all;
  };
  CHECK(said(released({"k/a!", "k/b", "k/b!", "k/c", "k/c!"})) == "");
  CHECK(said(released({"k/a!", "k/b", "k/c", "k/b!", "k/c!"})) ==
        "k/c/0 succeeds before its producer k/b has completed (C6)\n");
  CHECK(said(released({"k/b", "k/a!", "k/b!", "k/c", "k/c!"})) ==
        "k/b/0 succeeds before its producer k/a has completed (C6)\n");
  CHECK(said(aborted(false)) == "");
  CHECK(said(aborted({})) ==
        "k/b/0 succeeds before its producer k/a has completed (C6)\n"
        "k/c/0 succeeds before its producer k/b has completed (C6)\n");
}

TEST_CASE(
    "LEGAL_ORDER: members complete behind their producers where task_end does not wait (C6)") {
  const auto verdict = [](const std::vector<std::pair<std::string, std::string>>& axes) {
    JournalBuilder j;
    const Slots two{{"default", 2}};
    j.run({.axes = axes}).executor("e0", 2);
    j.job("q", {{"a"}, {"b"}}, {{"a", "b", true}}).started("q");
    j.formed("q/a", {"a", "b"}, two).admitted("q/a", two).submitted("q/a", 1).submitted("q/b", 1);
    j.start({"q/a/0", "e0"}).start({"q/b/0", "e0"});
    j.at(10).success({"q/b/0", "e0"}).completed("q/b");
    j.at(20).success({"q/a/0", "e0"}).completed("q/a").committed("q/a").succeeded("q");
    return judge(j.over())->find("LEGAL_ORDER")->verdict;
  };
  CHECK(verdict({{"completion", "after-parents"}}) == properties::Verdict::violated);
  CHECK(verdict({{"completion", "immediate"}}) == properties::Verdict::held);
}
