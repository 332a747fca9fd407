// A journal that is not the one that the specification demands is told with its clause, wherever it
// differs; one that is passes; what the oracle does not model is refused by name.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "policies/registry.hpp"
#include "properties/fuzz/judged_run.hpp"
#include "properties/oracle/compare.hpp"
#include "properties/recorder.hpp"
#include "sim/simulation.hpp"
#include "traces/scenario_json.hpp"

using namespace rehearse;

namespace {

constexpr std::string_view pair_of_stages = R"({ "rehearse": 1,
  "cluster": { "executors": 3, "cpus": 1 },
  "jobs": [ { "name": "q",
    "stages": [ { "name": "a", "tasks": 1, "duration": "20ms" },
                { "name": "b", "tasks": 2, "duration": "10ms" } ],
    "edges": [ { "from": "a", "to": "b", "kind": "pipelined" } ] } ] })";

struct Run {
  model::Scenario scenario;
  std::vector<model::Event> journal;
  std::shared_ptr<const model::NameTable> names;

  [[nodiscard]] properties::oracle::Comparison compared() const {
    return properties::oracle::compare(scenario, journal, *names);
  }
  // The first event of that kind.
  template <class Body>
  [[nodiscard]] std::vector<model::Event>::iterator find() {
    return std::ranges::find_if(
        journal, [](const model::Event& event) { return event.as<Body>() != nullptr; });
  }
};

Run run_of(std::string_view text) {
  Run run;
  run.scenario = *traces::read_scenario(text, "test");
  const auto policies = policies::make(run.scenario.scheduler);
  properties::Recorder recorder;
  const std::array<model::Observer*, 1> observers{&recorder};
  run.names = sim::run(run.scenario, *policies, observers, {}).names;
  run.journal = std::move(recorder.events);
  return run;
}

}  // namespace

TEST_CASE("a run as it is demanded") {
  const Run run = run_of(pair_of_stages);
  const auto compared = run.compared();
  CHECK(!compared.refused);
  CHECK(!compared.difference);
  CHECK(compared.events > 10);
}

TEST_CASE("an event that is missing, at its place, by the clause that demands it") {
  Run run = run_of(pair_of_stages);
  const auto finished = run.find<model::MemberFinished>();
  REQUIRE(finished != run.journal.end());
  const model::Instant t = finished->t;
  run.journal.erase(finished);
  const auto compared = run.compared();
  REQUIRE(compared.difference);
  CHECK(compared.difference->kind == "member_finished");
  CHECK(compared.difference->clause == "C10");
  CHECK(compared.difference->t == t);
  const model::Violation violation = properties::oracle::violation_of(*compared.difference);
  CHECK(violation.property == "ORACLE");
  CHECK(violation.detail.starts_with("C10 demands {"));
}

TEST_CASE("an event too many, a journal that ends early, another value") {
  Run more = run_of(pair_of_stages);
  more.journal.push_back(*more.find<model::JobEnd>());
  REQUIRE(more.compared().difference);
  CHECK(more.compared().difference->demanded.empty());
  CHECK(properties::oracle::violation_of(*more.compared().difference)
            .detail.starts_with("no clause demands {"));

  Run less = run_of(pair_of_stages);
  less.journal.erase(less.find<model::JobEnd>(), less.journal.end());
  REQUIRE(less.compared().difference);
  CHECK(less.compared().difference->came.empty());
  CHECK(less.compared().difference->kind == "job_end");

  Run other = run_of(pair_of_stages);
  const auto start = other.find<model::TaskStart>();
  REQUIRE(start != other.journal.end());
  std::get<model::TaskStart>(start->body).task.partition += 1;
  REQUIRE(other.compared().difference);
  CHECK(other.compared().difference->kind == "task_start");
}

TEST_CASE("what is not modelled is refused, and a judged run then goes without the oracle") {
  Run run = run_of(pair_of_stages);
  run.scenario.timing = model::Timing::coupled;
  CHECK(run.compared().refused == "timing coupled");
  properties::Harness harness;
  harness.policies = [](const model::SchedulerConfig& config) { return policies::make(config); };
  harness.oracle_one_in = 1;
  CHECK(properties::run_judged(run.scenario, harness, properties::full_watch(harness))
            .findings.empty());
}
