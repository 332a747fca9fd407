// NO_LIVELOCK and PROMPT_FAILURE: budgets that are overdrawn, failures that take too long.
#include <doctest/doctest.h>

#include <string>

#include "tests/unit/properties/sample_journals.hpp"

using namespace rehearse;
using namespace rehearse::model;
using namespace rehearse::testing;

namespace {

using properties::Verdict;

Verdict verdict_of(const JournalBuilder& journal, std::string_view property) {
  return judge(journal)->find(property)->verdict;
}

bool says(const JournalBuilder& journal, const std::string& property, const std::string& detail) {
  const std::string said = complaint_text(*judge(journal));
  CAPTURE(said);
  return said.find(property + ": " + detail) != std::string::npos;
}

// One task whose first `failures` tries fail, each at once or 10 apart.
JournalBuilder failing(int failures, TaskReason reason, Duration apart) {
  JournalBuilder j;
  j.run().executor("e0", 1).job("x", {{"s", 1}}).started("x").submitted("x/s", 1);
  for (int i = 0; i < failures; ++i) {
    j.at(i * apart).start({"x/s/0", "e0", 0, i});
    if (reason == TaskReason::external) {
      j.at((i + 1) * apart).kill({"x/s/0", "e0", 0, i}, reason);
    } else {
      j.at((i + 1) * apart).failure({"x/s/0", "e0", 0, i}, reason);
    }
  }
  j.start({"x/s/0", "e0", 0, failures});
  j.at(failures * apart + 5).success({"x/s/0", "e0", 0, failures});
  j.completed("x/s").succeeded("x").over();
  return j;
}

// x/b misses its input `failures` times, and runs again each time.
JournalBuilder fetching(int failures) {
  JournalBuilder j;
  j.run().executor("e0", 1).job("x", {{"b", 1}}).started("x");
  for (int i = 0; i < failures; ++i) {
    j.submitted("x/b", 1, i).start({"x/b/0", "e0", i});
    j.at(std::int64_t{10} * (i + 1)).failure({"x/b/0", "e0", i}, TaskReason::fetch_failed);
    j.completed("x/b", i, StageStatus::failed, StageReason::fetch_failed);
  }
  j.submitted("x/b", 1, failures).start({"x/b/0", "e0", failures});
  j.at(1000).success({"x/b/0", "e0", failures}).completed("x/b", failures).succeeded("x").over();
  return j;
}

// Two attempts of x/b fail, four in all. In between stragglers do both partitions, if `all` of
// them, while no attempt is open: that completes the stage without a line.
JournalBuilder completed_between(bool all) {
  JournalBuilder j;
  j.run().executor("e0", 4).job("x", {{"b", 2}, {"c", 1}}, {{"b", "c", false}}).started("x");
  const auto failing_attempt = [&j](int attempt, Instant at) {
    j.submitted("x/b", 2, attempt).start({"x/b/0", "e0", attempt}).start({"x/b/1", "e0", attempt});
    j.at(at).failure({attempt == 1 ? "x/b/0" : "x/b/1", "e0", attempt}, TaskReason::fetch_failed);
    j.completed("x/b", attempt, StageStatus::failed, StageReason::fetch_failed);
  };
  failing_attempt(0, 10);
  failing_attempt(1, 20);
  j.at(21).success({"x/b/0", "e0", 0});
  if (all) {
    j.success({"x/b/1", "e0", 1}).submitted("x/c", 1).start({"x/c/0", "e0"});
  }
  j.at(25).outputs_lost("x/b", "e0", {{0, all ? 1 : 0}});
  failing_attempt(2, 30);
  failing_attempt(3, 40);
  j.submitted("x/b", 2, 4).start({"x/b/0", "e0", 4}).start({"x/b/1", "e0", 4});
  return j.over(RunEndCause::horizon);
}

// A gang that is refused at 0 and admitted at `admitted`, under retry{10ns, 2}.
JournalBuilder retried(Instant admitted) {
  JournalBuilder j;
  const Slots two{{"default", 2}};
  j.run({.axes = {{"admission.short", "retry[interval=10ns,max=2]"}}}).executor("e0", 2);
  j.job("w", {{"s", 1}}).started("w").submitted("w/s", 1).start({"w/s/0", "e0"});
  j.job("g", {{"m", 1}, {"n", 1}}, {{"m", "n", true}}).started("g");
  j.formed("g/m", {"m", "n"}, two).waits_for_slots("g/m", two, {{"default", 1}});
  j.at(5).success({"w/s/0", "e0"}).completed("w/s").succeeded("w");
  j.at(admitted).admitted("g/m", two).submitted("g/m", 1).submitted("g/n", 1);
  j.start({"g/m/0", "e0"}).start({"g/n/0", "e0"});
  j.at(90).success({"g/m/0", "e0"}).success({"g/n/0", "e0"}).completed("g/m").completed("g/n");
  j.committed("g/m").succeeded("g").over();
  return j;
}

// The group of group_rerun() under other parameters of the axis.
JournalBuilder rerun_under(const std::string& value) {
  JournalBuilder j = group_rerun();
  for (Event& event : j.events()) {
    if (auto* run = std::get_if<RunStart>(&event.body)) {
      run->axes = {{j.id("failure.group"), j.id(value)}};
    }
  }
  return j;
}

}  // namespace

TEST_CASE("NO_LIVELOCK: tries of a task") {
  CHECK(verdict_of(failing(3, TaskReason::exception, 10), "NO_LIVELOCK") == Verdict::held);
  CHECK(verdict_of(failing(9, TaskReason::external, 10), "NO_LIVELOCK") == Verdict::held);
  CHECK(says(failing(4, TaskReason::exception, 10), "NO_LIVELOCK",
             "x/s/0 is tried again after 4 failures of 4"));
  CHECK(says(failing(4, TaskReason::result_lost, 10), "NO_LIVELOCK", "x/s/0 is tried again"));
}

TEST_CASE("NO_LIVELOCK: again and again within one instant") {
  CHECK(verdict_of(failing(50, TaskReason::external, 0), "NO_LIVELOCK") == Verdict::held);
  CHECK(says(failing(200, TaskReason::external, 0), "NO_LIVELOCK",
             "x/s/0 fails again and again within one instant"));
}

TEST_CASE("NO_LIVELOCK: attempts of a stage") {
  CHECK(verdict_of(fetching(3), "NO_LIVELOCK") == Verdict::held);
  CHECK(says(fetching(4), "NO_LIVELOCK", "x/b is submitted again after 4 failed attempts of 4"));
  CHECK(verdict_of(completed_between(true), "NO_LIVELOCK") == Verdict::held);
  CHECK(says(completed_between(false), "NO_LIVELOCK", "x/b is submitted again after 4 failed"));
}

TEST_CASE("NO_LIVELOCK: checks of a group under retry") {
  CHECK(verdict_of(retried(10), "NO_LIVELOCK") == Verdict::held);
  CHECK(verdict_of(retried(20), "NO_LIVELOCK") == Verdict::held);
  CHECK(says(retried(7), "NO_LIVELOCK", "g/m was admitted between two checks"));
  CHECK(says(retried(30), "NO_LIVELOCK", "g/m waits on after its last check"));
}

TEST_CASE("NO_LIVELOCK: reruns of a group") {
  CHECK(verdict_of(group_rerun(), "NO_LIVELOCK") == Verdict::held);
  CHECK(says(rerun_under("rerun-group[max=0,delay=0s]"), "NO_LIVELOCK",
             "q/map runs again after 1 failures, 0 reruns are allowed"));
  CHECK(says(rerun_under("rerun-group[max=3,delay=5ns]"), "NO_LIVELOCK",
             "q/map runs again 0 ns after its failure, before its delay"));
}

TEST_CASE("PROMPT_FAILURE: peers end at once") {
  CHECK(verdict_of(group_failure(), "PROMPT_FAILURE") == Verdict::held);
  CHECK(verdict_of(barrier_job(), "PROMPT_FAILURE") == Verdict::held);
  check_broken({"PROMPT_FAILURE",
                "q/map failed and 1 of its tasks still run",
                group_failure,
                {matching_task<TaskEnd>("q/map/1"), dropped}});
  check_broken({"PROMPT_FAILURE",
                "b/s failed and 1 of its tasks still run",
                barrier_job,
                {matching_task<TaskEnd>("b/s/1"), dropped}});
}

TEST_CASE("PROMPT_FAILURE: slots of what was killed come back in time") {
  check_broken({"PROMPT_FAILURE",
                "1 slots of killed tasks of q on e1 never came back",
                group_failure,
                {matching<SlotReturned>(), dropped, 2}});
  JournalBuilder late = group_failure();
  for (Event& event : late.events()) {
    event.t += event.t == 20 ? 3 : 0;  // 8 after the kill instead of 5
  }
  CHECK(says(late, "PROMPT_FAILURE",
             "1 slots of q on e0 came back 8 ns after the kill, the latency is 5 ns"));
}
