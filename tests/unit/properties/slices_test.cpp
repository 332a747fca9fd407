// Monitors and expectations on tasks of several partitions (A21).
#include <doctest/doctest.h>

#include <string>

#include "properties/event_match.hpp"
#include "tests/unit/properties/sample_journals.hpp"

using namespace rehearse;
using namespace rehearse::model;
using namespace rehearse::testing;

namespace {

// The slice of 0 and 1 fails and runs again together with 2; 3 runs alone.
JournalBuilder slices() {
  JournalBuilder j;
  j.run({.dialect = "ballista", .axes = {{"max_partitions_per_task", "unbounded"}}})
      .executor("e0", 3)
      .job("q", {{.name = "s", .tasks = 4, .commits = Commits::once}})
      .started("q")
      .submitted("q/s", 4);
  j.start({.task = "q/s/0", .executor = "e0", .more = 1})
      .start({.task = "q/s/3", .executor = "e0"});
  j.at(5).failure({.task = "q/s/0", .executor = "e0", .more = 1}, TaskReason::exception);
  j.success({.task = "q/s/3", .executor = "e0"}).commit({.task = "q/s/3", .executor = "e0"});
  j.start({.task = "q/s/0", .executor = "e0", .try_number = 1, .more = 2});
  j.at(20).success({.task = "q/s/0", .executor = "e0", .try_number = 1, .more = 2});
  for (const char* partition : {"q/s/0", "q/s/1", "q/s/2"}) {
    j.commit({.task = partition, .executor = "e0", .try_number = 1});
  }
  return j.completed("q/s").succeeded("q").over();
}

Tampering started_with(std::int32_t try_number, void (*edit)(TaskRef&)) {
  return {[try_number](const Event& event, const NameTable&) {
            const auto* start = event.as<TaskStart>();
            return start != nullptr && start->task.more > 0 && start->task.try_number == try_number;
          },
          edited<TaskStart>([edit](TaskStart& line) { edit(line.task); }), 1};
}

Tampering ended_with(std::int32_t try_number, void (*edit)(TaskEnd&)) {
  return {[try_number](const Event& event, const NameTable&) {
            const auto* end = event.as<TaskEnd>();
            return end != nullptr && end->task.more > 0 && end->task.try_number == try_number;
          },
          edited<TaskEnd>(edit), 1};
}

}  // namespace

TEST_CASE("slices that are in order") {
  const auto monitors = judge(slices());
  CHECK_MESSAGE(complaint_text(*monitors).empty(), complaint_text(*monitors));
}

TEST_CASE("what is wrong with a slice is found") {
  const auto longer = [](TaskRef& task) { task.more = 3; };
  const std::vector<Broken> all{
      {"NO_OVERSUBSCRIPTION", "more than its capacity", slices, started_with(1, longer)},
      {"LEGAL_ORDER", "q/s/0 to 3 started and is done already", slices, started_with(1, longer)},
      {"TASK_ACCOUNTING", "q/s/0 to 2 attempt 0 try 0 started after try 0", slices,
       started_with(1, [](TaskRef& task) { task.try_number = 0; })},
      {"TASK_ACCOUNTING", "q/s/0 attempt 0 try 1 ended and was not running", slices,
       ended_with(1, [](TaskEnd& line) { line.task.more = 0; })},
      {"TASK_ACCOUNTING", "q/s/0 to 1 attempt 0 try 1 ended and was not running", slices,
       ended_with(1, [](TaskEnd& line) { line.task.more = 1; })},
      {"TASK_ACCOUNTING", "q ended and 1 of its tasks have not", slices,
       ended_with(1, [](TaskEnd& line) { line.task.more = 9; })},
      {"JOB_SUCCESS", "with 1 of 4 partitions", slices,
       ended_with(1, [](TaskEnd& line) { line.counted = false; })},
      {"LEGAL_ORDER", "not submitted", slices,
       started_with(0, [](TaskRef& task) { task.attempt = 7; })},
  };
  for (const Broken& broken : all) {
    check_broken(broken);
  }
}

TEST_CASE("slots of a slice come back together") {
  const auto verdict = [](std::int64_t count, std::string_view property) {
    JournalBuilder j;
    j.run({.dialect = "ballista", .kill = "3ns"})
        .executor("e0", 3)
        .job("q", {{"s", 3}})
        .started("q");
    j.submitted("q/s", 3).start({.task = "q/s/0", .executor = "e0", .more = 2});
    j.at(5).kill({.task = "q/s/0", .executor = "e0", .more = 2}, TaskReason::cancelled,
                 SlotState::held);
    j.completed("q/s", 0, StageStatus::cancelled, StageReason::job_cancelled).cancelled("q");
    j.at(8).slots_back("e0", count, "q");
    return judge(j.over())->find(property)->verdict;
  };
  CHECK(verdict(3, "PROMPT_FAILURE") == properties::Verdict::held);
  CHECK(verdict(1, "PROMPT_FAILURE") == properties::Verdict::violated);
  CHECK(verdict(4, "NO_OVERSUBSCRIPTION") == properties::Verdict::violated);
}

TEST_CASE("a pattern means any partition of a slice, and none beside it") {
  JournalBuilder j;
  j.start({.task = "q/s/2", .executor = "e0", .more = 2});
  const Event& event = j.events().front();
  for (std::int32_t p = 0; p < 8; ++p) {
    CAPTURE(p);
    EventPattern pattern;
    pattern.event = "task_start";
    pattern.job = "q";
    pattern.stage = "s";
    pattern.partition = p;
    CHECK(properties::EventMatcher(pattern, {}).matches(event, j.names()) == (p >= 2 && p <= 4));
  }
}
