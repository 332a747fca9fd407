// Planted judges, whose least scenario is known: the shrinker gets there from any seed, within its
// budget, and tells what else came up.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "properties/gen/generate.hpp"
#include "properties/shrink/edit.hpp"
#include "properties/shrink/shrink.hpp"
#include "traces/scenario_json.hpp"

using namespace rehearse;
using properties::Finding;
using properties::ScenarioSize;

namespace {

Finding finding(const std::string& property, const std::string& bucket = "planted") {
  return {.violation = {.property = property, .t = 50 * model::millisecond, .detail = bucket},
          .bucket = bucket};
}

// Found wherever `holds` says so; the scenario must be one that a reader accepts.
properties::Judge planted(std::function<bool(const model::Scenario&)> holds) {
  return [holds = std::move(holds)](const model::Scenario& scenario) {
    const std::string text = traces::write_scenario(scenario);
    const auto back = traces::read_scenario(text, "planted.json");
    REQUIRE_MESSAGE(back.has_value(), model::to_string(back.error()));
    CHECK(traces::write_scenario(*back) == text);
    return holds(scenario) ? std::vector<Finding>{finding("PLANTED")} : std::vector<Finding>{};
  };
}

std::int64_t count_losses(const model::Scenario& scenario) {
  return std::ranges::count_if(scenario.faults.timed, [](const model::TimedFault& fault) {
    return std::holds_alternative<model::LoseExecutor>(fault.action);
  });
}

std::int64_t count_pipelined(const model::JobSpec& job) {
  return std::ranges::count(job.edges, model::EdgeKind::pipelined, &model::EdgeSpec::kind);
}

// Twenty seeds in which the judge finds something.
void from_twenty_seeds(const std::function<bool(const model::Scenario&)>& holds,
                       const std::function<void(const properties::Shrunk&)>& check) {
  const properties::Judge judge = planted(holds);
  int tried = 0;
  for (std::uint64_t seed = 1; tried < 20 && seed < 5000; ++seed) {
    const model::Scenario scenario = properties::generate({}, seed);
    if (!holds(scenario)) {
      continue;
    }
    ++tried;
    CAPTURE(seed);
    const properties::Shrunk shrunk = properties::shrink(scenario, finding("PLANTED"), judge, {});
    CHECK_FALSE(shrunk.stopped_early);
    CHECK(holds(shrunk.scenario));
    CHECK(shrunk.runs <= 2000);
    CHECK(properties::is_renamed(shrunk.scenario));
    check(shrunk);
  }
  CHECK(tried == 20);
}

}  // namespace

TEST_CASE("one loss and nothing else") {
  from_twenty_seeds([](const model::Scenario& scenario) { return count_losses(scenario) > 0; },
                    [](const properties::Shrunk& shrunk) {
                      const ScenarioSize size = properties::size_of(shrunk.scenario);
                      CHECK(size.faults == 1);
                      CHECK(size.jobs == 1);
                      CHECK(size.stages == 1);
                      CHECK(size.tasks <= 1);
                      CHECK(size.executors == 1);
                      const model::TimedFault& fault = shrunk.scenario.faults.timed.front();
                      CHECK(fault.at == 0);
                      CHECK(shrunk.scenario.scheduler == model::preset(model::Dialect::psd));
                    });
}

TEST_CASE("a group of two beside another job") {
  const auto holds = [](const model::Scenario& scenario) {
    return scenario.jobs.size() > 1 &&
           std::ranges::any_of(scenario.jobs,
                               [](const model::JobSpec& job) { return count_pipelined(job) > 0; });
  };
  from_twenty_seeds(holds, [](const properties::Shrunk& shrunk) {
    const ScenarioSize size = properties::size_of(shrunk.scenario);
    CHECK(size.faults == 0);
    CHECK(size.jobs == 2);
    CHECK(size.stages == 3);
    CHECK(size.executors == 0);
    CHECK(shrunk.scenario.cluster.profiles.size() == 1);
  });
}

TEST_CASE("a number of tasks, and slots for them") {
  const auto holds = [](const model::Scenario& scenario) {
    std::int64_t slots = 0;
    for (const model::ExecutorSpec& executor : scenario.cluster.executors) {
      slots += executor.resources.front() / model::milli;
    }
    return slots >= 7 && std::ranges::any_of(scenario.jobs, [](const model::JobSpec& job) {
             return std::ranges::any_of(
                 job.stages, [](const model::StageSpec& stage) { return stage.tasks >= 5; });
           });
  };
  from_twenty_seeds(holds, [](const properties::Shrunk& shrunk) {
    const ScenarioSize size = properties::size_of(shrunk.scenario);
    CHECK(size.jobs == 1);
    CHECK(size.stages == 1);
    CHECK(size.tasks == 5);
    CHECK(size.executors <= 4);
    std::int64_t slots = 0;
    for (const model::ExecutorSpec& executor : shrunk.scenario.cluster.executors) {
      slots += executor.resources.front() / model::milli;
    }
    CHECK(slots == 7);
  });
}

TEST_CASE("what only goes together: a job less and an earlier occurrence") {
  // As many jobs as the occurrence says, and at least one of them.
  const auto holds = [](const model::Scenario& scenario) {
    return std::ranges::any_of(scenario.faults.timed, [&](const model::TimedFault& fault) {
      return fault.moment && fault.nth <= std::ssize(scenario.jobs) &&
             std::ssize(scenario.jobs) - fault.nth <= 4;
    });
  };
  from_twenty_seeds(holds, [](const properties::Shrunk& shrunk) {
    const ScenarioSize size = properties::size_of(shrunk.scenario);
    CHECK(size.jobs == 1);
    CHECK(size.faults == 1);
    CHECK(shrunk.scenario.faults.timed.front().nth == 1);
  });
}

TEST_CASE("axes that somebody asked for stay") {
  properties::GenOptions options;
  options.scheduler.admission.overtake = model::Overtake::backfill;
  options.kept = {"admission.overtake"};
  const model::Scenario scenario = properties::generate(options, 3);
  const auto shrunk = properties::shrink(
      scenario, finding("PLANTED"), planted([](const model::Scenario&) { return true; }),
      {.runs_max = 2000, .out_of_time = {}, .kept = options.kept});
  CHECK(shrunk.scenario.scheduler.admission.overtake == model::Overtake::backfill);
  CHECK(properties::size_of(shrunk.scenario).parts() == 3);  // a job, its stage and its task
}

TEST_CASE("another bucket is another find, and remembered") {
  const properties::Judge judge = [](const model::Scenario& scenario) {
    if (count_losses(scenario) > 0) {
      return std::vector<Finding>{finding("PLANTED")};
    }
    return std::vector<Finding>{finding("PLANTED", "other words"), finding("OTHER")};
  };
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    const model::Scenario scenario = properties::generate({}, seed);
    if (count_losses(scenario) == 0) {
      continue;
    }
    const auto shrunk = properties::shrink(scenario, finding("PLANTED"), judge, {});
    CHECK(shrunk.finding.same_as(finding("PLANTED")));
    CHECK(count_losses(shrunk.scenario) == 1);
    REQUIRE(shrunk.others.size() == 2);
    CHECK(shrunk.others[0].finding.bucket == "other words");
    CHECK(shrunk.others[1].finding.violation.property == "OTHER");
    return;
  }
  FAIL("no seed loses an executor");
}

TEST_CASE("it stops when its budget is spent, with the best so far") {
  const auto holds = [](const model::Scenario&) { return true; };
  const model::Scenario scenario = properties::generate({}, 5);
  const auto by_runs = properties::shrink(scenario, finding("PLANTED"), planted(holds),
                                          {.runs_max = 3, .out_of_time = {}, .kept = {}});
  CHECK(by_runs.stopped_early);
  CHECK(by_runs.runs == 3);
  int polled = 0;
  const auto by_time = properties::shrink(
      scenario, finding("PLANTED"), planted(holds),
      {.runs_max = 2000, .out_of_time = [&polled] { return ++polled > 80; }, .kept = {}});
  CHECK(by_time.stopped_early);
  CHECK(properties::measure_of(by_time.scenario) < properties::measure_of(scenario));
}

TEST_CASE("the first instant from which nothing helps") {
  // It stays as soon as the second loss is in the prefix, whoever comes afterwards.
  model::Scenario scenario = properties::generate({}, 1);
  scenario.faults = {};
  for (const model::Instant at : {5, 9, 20}) {
    model::TimedFault fault;
    fault.at = at * model::millisecond;
    fault.action = model::LoseExecutor{.executor = scenario.cluster.executors.front().name,
                                       .cause = model::LossCause::process,
                                       .noticed = {}};
    scenario.faults.order.push_back(
        {false, static_cast<std::uint32_t>(scenario.faults.timed.size())});
    scenario.faults.timed.push_back(fault);
  }
  const auto twice = [](const model::Scenario& prefix) { return count_losses(prefix) >= 2; };
  const auto critical = properties::critical_instant(scenario, finding("PLANTED"), planted(twice));
  CHECK(critical == 9 * model::millisecond);
  const auto never = properties::critical_instant(
      scenario, finding("PLANTED"), planted([](const model::Scenario&) { return false; }));
  CHECK_FALSE(never.has_value());
}
