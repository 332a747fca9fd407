// Marks, each reached by a small scenario and missed by one that is almost the same.
#include <doctest/doctest.h>

#include <string>

#include "model/config_support.hpp"
#include "policies/registry.hpp"
#include "properties/fuzz/judged_run.hpp"
#include "traces/scenario_json.hpp"

using namespace rehearse;
using properties::Mark;

namespace {

// How often the run of a file's cluster, scheduler, jobs and faults reaches the mark.
std::int64_t reached(Mark mark, const std::string& body) {
  const auto scenario = traces::read_scenario(R"({ "rehearse": 1, )" + body + "}", "test");
  REQUIRE_MESSAGE(scenario.has_value(), model::to_string(scenario.error()));
  properties::Harness harness;
  harness.policies = [](const model::SchedulerConfig& config) { return policies::make(config); };
  properties::Reached all;
  properties::RunWatch watch;
  watch.reached = &all;
  CHECK(properties::run_judged(*scenario, harness, watch).findings.empty());
  return all.count(mark);
}

std::string executors(const std::string& cpus_of_e0, const std::string& rest = "") {
  return R"({ "name": "e0", "resources": { "cpus": )" + cpus_of_e0 + "} }" + rest;
}

}  // namespace

TEST_CASE("a success that comes when its loss was noticed before, and one that comes in time") {
  const auto run = [](const char* noticed) {
    return R"("cluster": { "executors": [)" + executors("1", R"(, { "name": "e1",
        "resources": { "cpus": 1 }, "joins": "50ms" })") +
           R"(], "overheads": { "status": "8ms" } },
      "jobs": [ { "name": "q", "stages": [ { "name": "s", "tasks": 1, "duration": "4ms" } ] } ],
      "faults": [ { "at": "5ms", "lose_executor": "e0", "noticed": ")" +
           std::string(noticed) + R"(" } ])";
  };
  CHECK(reached(Mark::stale_success, run("2ms")) == 1);
  CHECK(reached(Mark::stale_success, run("8ms")) == 0);
  CHECK(reached(Mark::lost_last, run("2ms")) == 1);
  CHECK(reached(Mark::lost_idle, run("2ms")) == 0);
}

TEST_CASE("a task that starts on an executor that is dead already") {
  const auto run = [](const char* submit) {
    return R"("cluster": { "executors": [)" + executors("1", R"(, { "name": "e1",
        "resources": { "cpus": 1 }, "joins": "50ms" })") +
           R"(] },
      "jobs": [ { "name": "q", "submit": ")" +
           std::string(submit) + R"(",
                  "stages": [ { "name": "s", "tasks": 1, "duration": "4ms" } ] } ],
      "faults": [ { "at": "5ms", "lose_executor": "e0", "noticed": "5ms" } ])";
  };
  CHECK(reached(Mark::launched_on_dead, run("6ms")) == 1);
  CHECK(reached(Mark::launched_on_dead, run("11ms")) == 0);
}

TEST_CASE("a wait that goes to its bound: to the end of the last task that runs") {
  const auto run = [](int tasks) {
    return R"("cluster": { "executors": [)" + executors("3") + R"(] },
      "jobs": [ { "name": "a", "stages": [ { "name": "s", "tasks": 2,
                                             "duration": ["4ms", "9ms"] } ] },
                { "name": "b", "stages": [ { "name": "m", "tasks": )" +
           std::to_string(tasks) + R"(, "duration": "1ms" },
                                           { "name": "n", "tasks": 1, "duration": "1ms" } ],
                  "edges": [ { "from": "m", "to": "n", "kind": "pipelined" } ] } ])";
  };
  CHECK(reached(Mark::waited_to_bound, run(2)) == 1);
  CHECK(reached(Mark::waited_to_bound, run(1)) == 0);  // the end of the first gives it its slots
}

TEST_CASE("the states of an executor that is lost") {
  const auto run = [](const char* before) {
    return R"("cluster": { "executors": [)" + executors("1", R"(, { "name": "e1",
        "resources": { "cpus": 1 }, "joins": "3ms" })") +
           R"(] },
      "jobs": [ { "name": "q", "stages": [ { "name": "s", "tasks": 1, "duration": "9ms" } ] } ],
      "faults": [ )" +
           std::string(before) + R"({ "at": "5ms", "lose_executor": "e1" } ])";
  };
  CHECK(reached(Mark::lost_idle, run("")) == 1);
  CHECK(reached(Mark::lost_while_held, run("")) == 0);
  const char* held = R"({ "at": "4ms", "hold_executors": ["e1"], "for": "9ms" }, )";
  CHECK(reached(Mark::lost_idle, run(held)) == 0);
  CHECK(reached(Mark::lost_while_held, run(held)) == 1);
  CHECK(reached(Mark::lost_before_it_came, run("")) == 0);
  CHECK(reached(Mark::lost_before_it_came, run(R"({ "at": "1ms", "lose_executor": "e1" }, )")) ==
        1);
}

TEST_CASE("slots that are kept for the head of the queue, and launched into") {
  const auto run = [](const char* of_last, const char* hold) {
    return R"("cluster": { "executors": [)" + executors("3") + R"(] },
      "scheduler": { "admission": { "hold": )" +
           std::string(hold) + R"( } },
      "jobs": [ { "name": "a", "stages": [ { "name": "s", "tasks": 2, "duration": "4ms" } ] },
                { "name": "b", "stages": [ { "name": "m", "tasks": 2, "duration": "1ms" },
                                           { "name": "n", "tasks": 1, "duration": "1ms" } ],
                  "edges": [ { "from": "m", "to": "n", "kind": "pipelined" } ] },
                { "name": "c", "submit": "1ms", "stages": [
                    { "name": "m", "tasks": )" +
           std::string(of_last) + R"(, "duration": "1ms" },
                    { "name": "n", "tasks": 1, "duration": "1ms" } ],
                  "edges": [ { "from": "m", "to": "n", "kind": "pipelined" } ] } ])";
  };
  const char* reserve = R"("reserve")";
  CHECK(reached(Mark::reservation_honoured, run("1", reserve)) == 1);
  CHECK(reached(Mark::reservation_honoured, run("3", reserve)) == 0);  // it would not fit
  CHECK(reached(Mark::reservation_honoured, run("1", R"("check")")) == 0);
  const char* bulk = R"({ "bulk": { "timeout": "1s" } })";
  CHECK(reached(Mark::reservation_honoured, run("1", bulk)) == 1);  // c found none to hold
}
