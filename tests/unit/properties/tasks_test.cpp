// INPUTS_READY, TASK_ACCOUNTING, COMMIT_ONCE, FENCED: tasks, their outputs and commits.
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

const auto counts_after_all = edited<TaskEnd>([](TaskEnd& line) { line.counted = std::nullopt; });

}  // namespace

TEST_CASE("INPUTS_READY: regular parents are complete and their outputs there") {
  check_all({
      {"INPUTS_READY",
       "q/map/0 launched without its regular input q/pre",
       group_job,
       {matching_task<TaskEnd>("q/pre/0"), dropped}},
      {"INPUTS_READY",
       "r/b/0 launched without its regular input r/a",
       fetch_failure,
       {matching_task<TaskEnd>("r/a/1"), dropped}},
      {"INPUTS_READY",
       "r/b/0 launched without its regular input r/a",
       fetch_failure,
       {matching_task<TaskEnd>("r/a/1"), dropped, 2}},
      // No line says that the outputs of a lost executor are gone; they are gone all the same.
      {"INPUTS_READY",
       "r/b/0 launched without its regular input r/a/0",
       executor_loss,
       {[](const Event& event, const NameTable& names) {
          return matching_task<TaskStart>("r/a/0")(event, names) ||
                 matching_task<TaskEnd>("r/a/0")(event, names) ||
                 event.as<OutputsLost>() != nullptr;
        },
        [](const Event& event) {
          return event.t == 0 || event.t == 10 ? std::vector{event} : std::vector<Event>{};
        },
        0}},
  });
}

TEST_CASE("INPUTS_READY: outputs may survive their executor, but not its host") {
  const auto loss = [](const char* survive, LossCause cause) {
    JournalBuilder j;
    j.run({.axes = {{"outputs_survive_executor", survive}}}).executor("e0", 1).executor("e1", 1);
    j.job("r", {{"a"}, {"b"}}, {{"a", "b"}}).started("r");
    j.submitted("r/a", 1).start({"r/a/0", "e0"});
    j.at(5).success({"r/a/0", "e0"}).completed("r/a").at(6).lost("e0", cause);
    j.submitted("r/b", 1).start({"r/b/0", "e1"});
    return judge(j.at(7).over(RunEndCause::horizon))->find("INPUTS_READY")->verdict;
  };
  CHECK(loss("true", LossCause::process) == properties::Verdict::held);
  CHECK(loss("true", LossCause::host) == properties::Verdict::violated);
  CHECK(loss("false", LossCause::process) == properties::Verdict::violated);
}

TEST_CASE("INPUTS_READY: a stage of another job is waited for while that job lives") {
  const auto reader = [](bool first) {
    JournalBuilder j;
    j.run().executor("e0", 2).job("w", {{"a"}}).started("w");
    j.submitted("w/a", 1).start({"w/a/0", "e0"});
    j.job("r", {{"b"}}, {{"w/a", "b"}}).started("r");
    if (!first) {
      j.at(3).success({"w/a/0", "e0"}).completed("w/a");
    }
    j.submitted("r/b", 1).start({"r/b/0", "e0"});
    return judge(j.at(7).over(RunEndCause::horizon))->find("INPUTS_READY")->verdict;
  };
  CHECK(reader(false) == properties::Verdict::held);
  CHECK(reader(true) == properties::Verdict::violated);
}

TEST_CASE("INPUTS_READY and CO_RESIDENT: a reader may run a copy of a stage that is gone") {
  JournalBuilder j;
  j.run().executor("e0", 2).job("w", {{"a", 2}}).started("w").cancelled("w");
  j.at(2).job("r", {{"b"}}, {{"w/a", "b"}}).started("r");
  j.submitted("r/w.a", 2).start({"r/w.a/0", "e0"}).start({"r/w.a/1", "e0"});
  j.at(4).success({"r/w.a/0", "e0"}).success({"r/w.a/1", "e0"}).completed("r/w.a");
  j.submitted("r/b", 1).start({"r/b/0", "e0"});
  j.at(5).success({"r/b/0", "e0"}).completed("r/b").succeeded("r").over();
  const auto monitors = judge(j);
  CHECK(complaint_text(*monitors) == "");
}

TEST_CASE("TASK_ACCOUNTING: one end per start, one count per partition") {
  check_all({
      {"TASK_ACCOUNTING",
       "was not running",
       group_job,
       {matching_task<TaskEnd>("q/sink/0"), doubled}},
      {"TASK_ACCOUNTING",
       "was not running",
       group_job,
       {matching_task<TaskStart>("q/sink/0"), dropped}},
      {"TASK_ACCOUNTING",
       "1 of its tasks have not",
       cancelled_job,
       {matching_task<TaskEnd>("c/pre/1"), dropped}},
      {"TASK_ACCOUNTING",
       "started after try 0 of attempt 0",
       group_job,
       {matching_task<TaskStart>("q/map/0"), doubled}},
      {"TASK_ACCOUNTING",
       "counts a second success",
       fetch_failure,
       {matching_task<TaskEnd>("r/b/1"), counts_after_all, 1}},
  });
}

TEST_CASE("TASK_ACCOUNTING: starts without an end are judged only when the run is done") {
  const auto open_end = [](RunEndCause cause) {
    JournalBuilder j;
    j.run().executor("e0", 1).job("x", {{"s"}}).started("x");
    j.submitted("x/s", 1).start({"x/s/0", "e0"}).over(cause);
    return judge(j)->find("TASK_ACCOUNTING")->verdict;
  };
  CHECK(open_end(RunEndCause::done) == properties::Verdict::violated);
  CHECK(open_end(RunEndCause::horizon) == properties::Verdict::held);
  CHECK(open_end(RunEndCause::interrupted) == properties::Verdict::held);
}

TEST_CASE("COMMIT_ONCE: at most once, after a success, and all of it") {
  check_all({
      {"COMMIT_ONCE",
       "committed twice in attempt 0",
       group_job,
       {matching<OutputCommitted>(), doubled}},
      {"COMMIT_ONCE",
       "0 of 1 partitions of q/sink committed",
       group_job,
       {matching<OutputCommitted>(), dropped}},
      {"COMMIT_ONCE",
       "was committed without a success",
       group_job,
       {matching_task<TaskEnd>("q/sink/0"), dropped}},
      {"COMMIT_ONCE",
       "its stage commits nothing",
       group_job,
       {matching<JobSubmitted>(),
        edited<JobSubmitted>([](JobSubmitted& line) { line.stages[2].commits = Commits::none; })}},
  });
}

TEST_CASE("COMMIT_ONCE: once per job for once, and at the commit of the group") {
  const auto twice = [](Commits commits) {
    JournalBuilder j;
    j.run().executor("e0", 2).job("x", {{"s", 1, commits}}).started("x");
    j.submitted("x/s", 1).start({"x/s/0", "e0"});
    j.at(2).completed("x/s", 0, StageStatus::failed, StageReason::task_failed);
    j.submitted("x/s", 1, 1).start({"x/s/0", "e0", 1});
    j.at(4).success({"x/s/0", "e0", 1}).commit({"x/s/0", "e0", 1});
    j.at(5).success({"x/s/0", "e0"}, false).commit({"x/s/0", "e0"});
    return judge(j.over(RunEndCause::horizon))->find("COMMIT_ONCE")->verdict;
  };
  CHECK(twice(Commits::once) == properties::Verdict::violated);
  CHECK(twice(Commits::idempotent) == properties::Verdict::held);
  // group_job commits its sink at task end, 10 before the group.
  const auto at_once = judge(group_job_of({.axes = {{"output_commit", "at-group-commit"}}}));
  CHECK(at_once->find("COMMIT_ONCE")->verdict == properties::Verdict::violated);
}

TEST_CASE("FENCED: the dead decide nothing") {
  check_all({
      {"FENCED",
       "the epoch of e0 ended while it ran",
       fetch_failure,
       {matching_task<TaskEnd>("r/b/1"), counts_after_all, 1}},
      {"FENCED",
       "1 of its tasks go on",
       executor_loss,
       {matching_task<TaskEnd>("r/a/2"), dropped, 1}},
      {"FENCED",
       "its executor e0 was lost before",
       executor_loss,
       {matching_task<TaskEnd>("r/a/2"), edited<TaskEnd>([](TaskEnd& line) {
          line.status = TaskStatus::success;
          line.reason = std::nullopt;
        }),
        1}},
      {"FENCED", "is not there", fetch_failure, {matching<OutputsLost>(), doubled}},
      {"FENCED",
       "is not there",
       executor_loss,
       {matching<OutputsLost>(),
        edited<OutputsLost>([](OutputsLost& line) { line.partitions = {{1, 1}}; })}},
  });
}

TEST_CASE("FENCED: an old attempt of a group never delivers") {
  // The kill of sink/0 is lost; its success comes after the group was run again.
  check_broken({"FENCED",
                "counts for attempt 0 of a group that is over",
                group_rerun,
                {[](const Event& event, const NameTable& names) {
                   return matching_task<TaskEnd>("q/sink/0")(event, names) ||
                          matching_task<TaskStart>("q/sink/0")(event, names);
                 },
                 [](const Event& event) {
                   const bool of_rerun = event.as<TaskStart>() != nullptr && event.t == 15;
                   Event late = event;
                   if (of_rerun) {
                     TaskEnd end;
                     end.task = event.as<TaskStart>()->task;
                     end.task.attempt = 0;
                     late.body = end;
                     return std::vector{event, late};
                   }
                   const bool is_kill = event.t == 15;
                   return is_kill ? std::vector<Event>{} : std::vector{event};
                 },
                 0}});
}
