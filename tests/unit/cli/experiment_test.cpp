// How runs are put together, and what becomes of a fault of the program.
#include "cli/experiment.hpp"

#include <doctest/doctest.h>

#include <new>

#include "cli/verb_shared.hpp"
#include "cli/verbs.hpp"
#include "model/support/check.hpp"
#include "traces/scenario_json.hpp"

using namespace rehearse;

namespace {

constexpr std::string_view text = R"({ "rehearse": 1, "seed": 41,
  "cluster": { "executors": 2, "cpus": 2 },
  "jobs": [ { "name": "j", "stages": [ { "name": "a", "tasks": 2, "duration": "1s" },
                                       { "name": "b", "tasks": 2, "duration": "1s" } ],
              "edges": [ { "from": "a", "to": "b", "kind": "pipelined" } ] } ],
  "faults": [ { "task": "j/b/0", "fetch_fails": { "from": "a", "partition": 0 }, "after": "1ms" } ]
})";

cli::Workload workload() {
  auto scenario = traces::read_scenario(text, "two.json");
  if (!scenario) {
    FAIL(model::to_string(scenario.error()));
  }
  cli::Workload work;
  work.path = "two.json";
  work.scenario = std::move(*scenario);
  return work;
}

model::ConfigurationText configuration(std::string_view given) {
  auto parsed = model::parse_configuration(given);
  if (!parsed) {
    FAIL(model::to_string(parsed.error()));
  }
  return std::move(*parsed);
}

}  // namespace

TEST_CASE("--set wins over --dialect, and stands behind what --with says") {
  cli::Settings settings;
  settings.overrides.push_back(*model::parse_override("admission.overtake=backfill"));
  const model::ConfigurationText own = configuration("psd[admission.overtake=never]");
  const auto single = cli::make_experiment(workload(), settings, {.configuration = &own});
  REQUIRE(single);
  CHECK(single->scenario.scheduler.admission.overtake == model::Overtake::backfill);
  CHECK(single->configuration == "psd[admission.overtake=backfill]");
  const auto compared =
      cli::make_experiment(workload(), settings, {.configuration = &own, .set_wins = false});
  REQUIRE(compared);
  CHECK(compared->scenario.scheduler.admission.overtake == model::Overtake::never);
  CHECK(compared->configuration == "psd[admission.overtake=never]");
}

TEST_CASE("a trace whose executors leave keeps its outputs, unless told otherwise") {
  cli::Workload work = workload();
  work.keeps_outputs = true;
  CHECK(cli::make_experiment(work, {}, {})->scenario.scheduler.outputs_survive_executor);
  cli::Settings settings;
  settings.overrides.push_back(*model::parse_override("outputs_survive_executor=false"));
  CHECK_FALSE(
      cli::make_experiment(work, settings, {})->scenario.scheduler.outputs_survive_executor);
}

TEST_CASE("what this version does not execute is refused") {
  const model::ConfigurationText lazy = configuration("trino-phased[start=lazy]");
  const auto refused = cli::make_experiment(workload(), {}, {.configuration = &lazy});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what.find("not built yet") != std::string::npos);
}

TEST_CASE("a failed check names version, seed and the command that repeats it") {
  auto experiment = cli::make_experiment(workload(), {}, {});
  REQUIRE(experiment);
  experiment->command = "rehearse run two.json";
  CHECK(cli::simulate(*experiment, {}));
  // No reader makes such a scenario: the fault names a stage that its job does not have.
  experiment->scenario.faults.tasks[0].fetch_from = experiment->scenario.names.intern("nowhere");
  std::string what;
  const int code = cli::guarded([&] {
    try {
      return cli::simulate(*experiment, {}) ? 0 : 1;
    } catch (const model::InternalFault& fault) {
      what = fault.what();
      throw;
    }
  });
  CHECK(code == cli::exit_fault);
  CHECK(what.find("seed 41") != std::string::npos);
  CHECK(what.find("reproduced by: rehearse run two.json") != std::string::npos);
}

TEST_CASE("no memory is a failure at run time") {
  CHECK(cli::guarded([]() -> int { throw std::bad_alloc(); }) == cli::exit_io);
  CHECK(cli::guarded([] { return 5; }) == 5);
}

TEST_CASE("journals of several runs are numbered before the ending") {
  cli::Settings settings;
  CHECK_FALSE(cli::journal_of(settings, {.index = 0, .count = 3}));
  settings.journal = "some.where/out.journal.zst";
  CHECK(cli::journal_of(settings, {.index = 0, .count = 1}) == "some.where/out.journal.zst");
  CHECK(cli::journal_of(settings, {.index = 2, .count = 3}) == "some.where/out-3.journal.zst");
  settings.journal = "out";
  CHECK(cli::journal_of(settings, {.index = 0, .count = 2}) == "out-1");
}
