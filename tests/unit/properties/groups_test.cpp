// GANG, CO_RESIDENT, CLOSURE, DEFERRED, GROUP_ATOMIC, NO_LONE_RETRY: groups that are not one.
#include <doctest/doctest.h>

#include "tests/unit/properties/sample_journals.hpp"

using namespace rehearse;
using namespace rehearse::model;
using namespace rehearse::testing;

namespace {

// Moves a line that was dropped elsewhere: `line` goes in front of the event.
std::function<std::vector<Event>(const Event&)> preceded_by(const Event& line) {
  return [line](const Event& event) {
    Event earlier = line;
    earlier.t = event.t;
    return std::vector{earlier, event};
  };
}

Event event_of(const JournalBuilder& journal, const Tampering& which) {
  std::int64_t seen = 0;
  for (const Event& event : journal.events()) {
    if (which.matches(event, journal.names()) && ++seen == which.nth) {
      return event;
    }
  }
  FAIL("no such event");
  return {};
}

void check_all(const std::vector<Broken>& all) {
  for (const Broken& broken : all) {
    check_broken(broken);
  }
}

}  // namespace

TEST_CASE("GANG: a group starts whole") {
  check_all({
      {"GANG",
       "has launched 2 of 3 tasks",
       group_job,
       {matching_task<TaskStart>("q/sink/0"), dropped}},
      {"GANG",
       "1 of 2 members submitted",
       group_job,
       {matching_stage<StageSubmitted>("q/sink"), dropped}},
      {"GANG",
       "when 1 of 2 members",
       group_job,
       {matching_stage<StageSubmitted>("q/sink"), dropped}},
      {"GANG", "outside the admission", group_job, {matching<GroupAdmitted>(), dropped}},
      {"GANG",
       "has launched 1 of 2 tasks",
       barrier_job,
       {matching_task<TaskStart>("b/s/1"), dropped}},
  });
}

TEST_CASE("CO_RESIDENT: all run before one ends well") {
  const auto early_end = [](const char* task) {
    return preceded_by(event_of(group_job(), {matching_task<TaskEnd>(task), {}, 1}));
  };
  check_all({
      {"CO_RESIDENT",
       "q/map/0 ended well before all 3",
       group_job,
       {matching_task<TaskStart>("q/sink/0"), early_end("q/map/0")}},
      {"CO_RESIDENT",
       "q/sink/0 ended well before all 3",
       group_job,
       {matching_task<TaskStart>("q/map/1"), dropped}},
  });
}

TEST_CASE("CLOSURE: groups are the components over pipelined edges") {
  const auto stages = [](const std::vector<int>& kept) {
    // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): what std::function holds
    return edited<GroupFormed>([kept](GroupFormed& line) {
      std::vector<NameId> members;
      for (const int i : kept) {
        members.push_back(line.stages[static_cast<std::size_t>(i)]);
      }
      line.stages = members;
    });
  };
  check_all({
      {"CLOSURE", "no group was formed", group_job, {matching<GroupFormed>(), dropped}},
      {"CLOSURE",
       "was formed of 1 stages, its component has 2",
       group_job,
       {matching<GroupFormed>(), stages({0})}},
      {"CLOSURE",
       "demand of default",
       group_job,
       {matching<GroupFormed>(),
        edited<GroupFormed>([](GroupFormed& line) { line.demand.front().n = 2; })}},
      {"CLOSURE",
       "not named by its first stage",
       group_job,
       {matching<GroupFormed>(),
        edited<GroupFormed>([](GroupFormed& line) { line.stage = line.stages[1]; })}},
      {"CLOSURE",
       "no group was formed of the 1 stages",
       barrier_job,
       {matching<GroupFormed>(), dropped}},
  });
}

TEST_CASE("CLOSURE follows the axis grouping") {
  const auto verdict = [](const char* grouping, const std::vector<StageSpec>& stages,
                          const std::vector<EdgeSpec>& edges,
                          const std::vector<std::vector<std::string>>& groups) {
    JournalBuilder j;
    j.run({.axes = {{"grouping", grouping}}}).job("q", stages, edges).started("q");
    for (const auto& group : groups) {
      j.formed("q/" + group.front(), group, {{"default", static_cast<std::int64_t>(group.size())}});
    }
    return judge(j.at(1).over(RunEndCause::horizon))->find("CLOSURE")->verdict;
  };
  const std::vector<StageSpec> abcd{{"a"}, {"b"}, {"c"}, {"d"}};
  // a ~ b and c ~ d, regular b to c and d to ... nothing: two components.
  const std::vector<EdgeSpec> pairs{{"a", "b", true}, {"c", "d", true}, {"b", "c"}};
  using Groups = std::vector<std::vector<std::string>>;
  constexpr auto held = properties::Verdict::held;
  constexpr auto violated = properties::Verdict::violated;
  CHECK(verdict("component", abcd, pairs, {{"a", "b"}, {"c", "d"}}) == held);
  CHECK(verdict("component", abcd, pairs, {{"a", "b", "c", "d"}}) == violated);
  CHECK(verdict("region", abcd, pairs, {{"a", "b"}, {"c", "d"}}) == held);
  CHECK(verdict("job", abcd, pairs, {{"a", "b", "c", "d"}}) == held);
  CHECK(verdict("job", abcd, pairs, {{"a", "b"}, {"c", "d"}}) == violated);
  CHECK(verdict("stage", abcd, pairs, Groups{}) == held);
  CHECK(verdict("bubble[slots=9]", abcd, pairs, {{"a", "b"}}) == properties::Verdict::not_judged);
  // a ~ c, and a to b to c over regular edges: b is on a cycle with {a, c}.
  const std::vector<StageSpec> abc{{"a"}, {"b"}, {"c"}};
  const std::vector<EdgeSpec> cycle{{"a", "c", true}, {"a", "b"}, {"b", "c"}};
  CHECK(verdict("region", abc, cycle, {{"a", "b", "c"}}) == held);
  CHECK(verdict("region", abc, cycle, {{"a", "c"}}) == violated);
  CHECK(verdict("component", abc, cycle, {{"a", "c"}}) == held);
}

TEST_CASE("CLOSURE: a group that falls back is dissolved into regular edges") {
  const auto fall_back = [](bool pipelined) {
    JournalBuilder j;
    j.run({.axes = {{"admission.short", "fall-back[after=0s]"}}}).executor("e0", 1);
    j.job("q", {{"a"}, {"b"}}, {{"a", "b", true}}).started("q");
    j.formed("q/a", {"a", "b"}, {{"default", 2}}).edges_changed("q/a", {{"a", "b", pipelined}});
    j.submitted("q/a", 1).start({"q/a/0", "e0"});
    j.at(5).success({"q/a/0", "e0"}).completed("q/a").submitted("q/b", 1).start({"q/b/0", "e0"});
    return j.at(9).success({"q/b/0", "e0"}).completed("q/b").succeeded("q").over();
  };
  const auto monitors = judge(fall_back(false));
  CHECK(complaint_text(*monitors) == "");
  CHECK(judge(fall_back(true))->find("CLOSURE")->verdict == properties::Verdict::violated);
}

TEST_CASE("DEFERRED: one block at the commit") {
  const Event done = event_of(group_job(), {matching_stage<StageCompleted>("q/map"), {}, 1});
  check_all({
      {"DEFERRED", "without group_committed", group_job, {matching<GroupCommitted>(), dropped}},
      {"DEFERRED",
       "while q/map has 0 of 2 tasks done",
       group_job,
       {matching<MemberFinished>(), preceded_by(done)}},
      {"DEFERRED",
       "out of topological order",
       group_job,
       {matching_stage<StageCompleted>("q/map"), dropped}},
      {"DEFERRED",
       "without the block of its 2 members",
       group_job,
       {matching_stage<StageCompleted>("q/sink"), dropped}},
      {"DEFERRED",
       "called finished with 0 of 1",
       group_job,
       {matching_task<TaskEnd>("q/sink/0"),
        preceded_by(event_of(group_job(), {matching<MemberFinished>(), {}, 1}))}},
      {"DEFERRED",
       "registered outputs outside its commit",
       group_job,
       {matching<MemberFinished>(),
        [](const Event& event) {
          return std::vector<Event>{
              event, {event.t, OutputsRegistered{event.as<MemberFinished>()->stage}}};
        }}},
      // Something between the members of a block.
      {"DEFERRED",
       "without the block",
       group_job,
       {matching_stage<StageCompleted>("q/sink"),
        [](const Event& event) {
          return std::vector<Event>{{event.t, FirstRow{event.as<StageCompleted>()->stage.job}},
                                    event};
        }}},
  });
}

TEST_CASE("GROUP_ATOMIC: a group fails as one") {
  check_all({
      {"GROUP_ATOMIC",
       "1 of its tasks still run",
       group_failure,
       {matching_task<TaskEnd>("q/sink/0"), dropped}},
      {"GROUP_ATOMIC",
       "its member q/sink goes on",
       group_failure,
       {matching_stage<StageCompleted>("q/sink"), dropped}},
      {"GROUP_ATOMIC",
       "its member q/sink was cancelled",
       group_failure,
       {matching_stage<StageCompleted>("q/sink"), edited<StageCompleted>([](StageCompleted& line) {
          line.status = StageStatus::cancelled;
        })}},
      {"GROUP_ATOMIC",
       "failed and the group goes on",
       group_failure,
       {[](const Event& event, const NameTable&) {
          return event.t == 15 && event.as<TaskEnd>() == nullptr;
        },
        dropped, 0}},
      {"GROUP_ATOMIC",
       "failure that did not happen",
       group_failure,
       {matching<GroupFailed>(), dropped}},
      {"GROUP_ATOMIC", "its job goes on", group_failure, {matching<JobEnd>(), dropped}},
      {"GROUP_ATOMIC",
       "for a group it is not in",
       cancelled_job,
       {matching_task<TaskEnd>("c/pre/0"),
        edited<TaskEnd>([](TaskEnd& line) { line.reason = TaskReason::group_failed; })}},
      {"GROUP_ATOMIC",
       "launched after its group had failed",
       group_rerun,
       {matching<GroupFailed>(),
        [](const Event& event) {
          TaskStart late;
          late.task = event_of(group_rerun(), {matching_task<TaskStart>("q/map/0"), {}, 1})
                          .as<TaskStart>()
                          ->task;
          late.task.try_number = 1;
          return std::vector<Event>{event, {event.t, late}};
        }}},
      {"GROUP_ATOMIC",
       "retry inside a group",
       group_job,
       {matching<MemberFinished>(),
        [](const Event& event) {
          TaskStart retry;
          retry.task = event_of(group_job(), {matching_task<TaskStart>("q/map/0"), {}, 1})
                           .as<TaskStart>()
                           ->task;
          retry.task.try_number = 1;
          return std::vector<Event>{event, {event.t, retry}};
        }}},
  });
}

TEST_CASE("GROUP_ATOMIC: failures that do not count under failure.member counted") {
  const auto denied = [](const char* member) {
    JournalBuilder j;
    j.run({.axes = {{"failure.member", member}}}).executor("e0", 2);
    j.job("g", {{"m"}, {"n"}}, {{"m", "n", true}}).started("g");
    const Slots two{{"default", 2}};
    j.formed("g/m", {"m", "n"}, two).admitted("g/m", two);
    j.submitted("g/m", 1).submitted("g/n", 1).start({"g/m/0", "e0"}).start({"g/n/0", "e0"});
    j.at(5).failure({"g/m/0", "e0"}, TaskReason::commit_denied).at(6);
    return judge(j.over(RunEndCause::horizon))->find("GROUP_ATOMIC")->verdict;
  };
  CHECK(denied("counted") == properties::Verdict::held);
  CHECK(denied("any") == properties::Verdict::violated);
}

TEST_CASE("GROUP_ATOMIC: a group fails only for what counts (X1)") {
  const auto failed = [](const char* member, TaskReason reason, Code cause, bool loss = false) {
    JournalBuilder j;
    const Slots two{{"default", 2}};
    j.run({.axes = {{"failure.member", member}}}).executor("e0", 2).executor("e1", 1);
    j.job("g", {{"m"}, {"n"}}, {{"m", "n", true}}).started("g");
    j.formed("g/m", {"m", "n"}, two).admitted("g/m", two);
    j.submitted("g/m", 1).submitted("g/n", 1).start({"g/m/0", "e0"}).start({"g/n/0", "e0"});
    j.at(5);
    if (loss) {
      j.lost("e1");
    }
    if (reason == TaskReason::external) {
      j.kill({"g/m/0", "e0"}, reason);
    } else {
      j.failure({"g/m/0", "e0"}, reason);
    }
    j.kill({"g/n/0", "e0"}, TaskReason::group_failed);
    for (const char* stage : {"g/m", "g/n"}) {
      j.completed(stage, 0, StageStatus::failed, StageReason::group_failed);
    }
    j.group_failed("g/m", cause).failed("g", cause);
    return judge(j.over())->find("GROUP_ATOMIC")->verdict;
  };
  using enum TaskReason;
  CHECK(failed("counted", external, Code::task_failed) == properties::Verdict::violated);
  CHECK(failed("counted", commit_denied, Code::task_failed) == properties::Verdict::violated);
  CHECK(failed("counted", exception, Code::task_failed) == properties::Verdict::held);
  CHECK(failed("any", external, Code::task_failed) == properties::Verdict::held);
  CHECK(failed("any", commit_denied, Code::task_failed) == properties::Verdict::held);
  CHECK(failed("any", exception, Code::executor_lost) == properties::Verdict::violated);
  CHECK(failed("any", exception, Code::executor_lost, true) == properties::Verdict::held);
}

namespace {

struct Fetch {
  std::vector<std::string> places = {"e0", "e0"};  // of pre's outputs
  std::vector<std::string> others = {"e0"};        // where k/map wrote
  std::vector<std::string> struck = {};            // where k/map loses its output
  bool others_are_read = true;
  bool foreign = false;  // q reads k/map, too
  bool reruns = false;
};

// q: pre (2 tasks), then {p c}; c cannot fetch at 15. k: map, which red has yet to read.
properties::Verdict fenced_after(const Fetch& of) {
  JournalBuilder j;
  const Slots two{{"default", 2}};
  j.run({.axes = {{"failure.group", of.reruns ? "rerun-group[max=3,delay=0s]" : "fail-job"}}});
  j.executor("e0", 4).executor("e1", 4).executor("e2", 4);
  const auto maps = static_cast<std::int64_t>(of.others.size());
  j.job("k", {{"map", maps}, {"red"}}, {{"map", "red", !of.others_are_read}}).started("k");
  j.submitted("k/map", maps);
  const auto each_map = [&](auto visit) {
    for (std::size_t p = 0; p < of.others.size(); ++p) {
      visit(TrySpec{"k/map/" + std::to_string(p), of.others[p]});
    }
  };
  each_map([&](const TrySpec& task) { j.start(task); });
  std::vector<EdgeSpec> edges{{"pre", "c"}, {"p", "c", true}};
  if (of.foreign) {
    edges.push_back({"k/map", "c"});
  }
  j.job("q", {{"pre", 2}, {"p"}, {"c"}}, edges).started("q").formed("q/p", {"p", "c"}, two);
  j.submitted("q/pre", 2);
  j.start({"q/pre/0", of.places[0]}).start({"q/pre/1", of.places[1]});
  j.at(10);
  each_map([&](const TrySpec& task) { j.success(task); });
  j.completed("k/map").submitted("k/red", 1).start({"k/red/0", "e2"});
  j.success({"q/pre/0", of.places[0]}).success({"q/pre/1", of.places[1]}).completed("q/pre");
  j.admitted("q/p", two).submitted("q/p", 1).submitted("q/c", 1);
  j.start({"q/p/0", "e2"}).start({"q/c/0", "e2"});
  j.at(12).success({"q/p/0", "e2"});
  j.at(15).failure({"q/c/0", "e2"}, TaskReason::fetch_failed);
  for (const char* stage : {"q/p", "q/c"}) {
    j.completed(stage, 0, StageStatus::failed, StageReason::group_failed);
  }
  j.group_failed("q/p", Code::fetch_failed);
  if (!of.reruns) {
    j.failed("q", Code::fetch_failed);
  }
  for (const std::string& executor : of.struck) {
    j.outputs_lost("k/map", executor, {{0, 0}});
  }
  return judge(j.at(16).over(RunEndCause::horizon))->find("FENCED")->verdict;
}

}  // namespace

TEST_CASE("FENCED: a fetch that fails in a member strikes off what it names (X5)") {
  constexpr auto held = properties::Verdict::held;
  constexpr auto violated = properties::Verdict::violated;
  // p wrote on e2, so k must have an output there, too: what c could not fetch may have been p's.
  CHECK(fenced_after({.others = {"e0", "e2"}}) == violated);
  CHECK(fenced_after({.others = {"e0", "e2"}, .struck = {"e0"}}) == held);
  CHECK(fenced_after({.places = {"e0", "e1"}, .others = {"e0", "e1", "e2"}}) == violated);
  CHECK(fenced_after({.others = {"e1"}}) == held);  // nobody else has anything there
  CHECK(fenced_after({.places = {"e0", "e1"}, .others = {"e0", "e2"}}) == held);  // it was e1
  CHECK(fenced_after({.others = {"e0", "e2"}, .others_are_read = false}) == held);
  CHECK(fenced_after({.others = {"e0", "e2"}, .foreign = true}) == held);
  // The job goes on, so what pre wrote must go, too.
  CHECK(fenced_after({.others = {"e2"}, .reruns = true}) == violated);
}

TEST_CASE("NO_LONE_RETRY: one attempt number for all") {
  const auto attempt = [](std::int32_t n) {
    return edited<StageSubmitted>([n](StageSubmitted& line) { line.stage.attempt = n; });
  };
  check_all({
      {"NO_LONE_RETRY",
       "q/sink submitted as attempt 1, its group is at 0",
       group_job,
       {matching_stage<StageSubmitted>("q/sink"), attempt(1)}},
      {"NO_LONE_RETRY",
       "q/sink is at attempt 0",
       group_rerun,
       {matching_stage<StageSubmitted>("q/sink"), dropped, 2}},
      {"NO_LONE_RETRY",
       "its group is at 1",
       group_rerun,
       {matching_stage<StageSubmitted>("q/map"), attempt(2), 2}},
  });
}
