// Runs a scenario in several ways that must agree.
#include "tests/random/judge.hpp"

#include <exception>
#include <span>

#include "model/support/check.hpp"
#include "policies/registry.hpp"
#include "properties/monitor_set.hpp"
#include "properties/registry.hpp"
#include "reports/metrics.hpp"
#include "sim/simulation.hpp"
#include "traces/scenario_json.hpp"

namespace rehearse::testing {

namespace {

using model::Scenario;

sim::RunResult run(const Scenario& scenario, std::span<model::Observer* const> observers,
                   bool audit) {
  const auto policies = policies::make(scenario.scheduler);
  RH_CHECK(policies.has_value());
  sim::RunOptions options;
  options.promises = properties::promised(scenario.scheduler, scenario.timing);
  options.audit_digest = audit;
  return sim::run(scenario, *policies, observers, options);
}

std::uint64_t plain_hash(const Scenario& scenario) { return run(scenario, {}, false).journal_hash; }

// Idioms whose rejection depends on the dialect, and only there, leave F3 nothing to say.
bool dialects_agree_on(const Scenario& scenario) {
  if (scenario.cluster.autoscale) {
    return false;
  }
  for (const model::JobSpec& job : scenario.jobs) {
    for (const model::StageSpec& stage : job.stages) {
      if (stage.barrier) {
        return false;
      }
    }
  }
  return true;
}

Scenario without_marks(Scenario scenario) {
  for (model::JobSpec& job : scenario.jobs) {
    for (model::EdgeSpec& edge : job.edges) {
      edge.kind = model::EdgeKind::regular;
    }
  }
  return scenario;
}

// The scenario's axes on top of a dialect, with the dialect's own list of codes.
Scenario under(Scenario scenario, model::Dialect dialect, model::EdgesAxis edges) {
  const model::SchedulerConfig preset = model::preset(dialect);
  scenario.scheduler.dialect = dialect;
  scenario.scheduler.edges = edges;
  scenario.scheduler.grouping = preset.grouping;
  scenario.scheduler.completion = preset.completion;
  scenario.scheduler.reject = preset.reject;
  return scenario;
}

void judge_all_regular(const Scenario& scenario, std::vector<std::string>& wrong) {
  if (!dialects_agree_on(scenario)) {
    return;
  }
  using enum model::EdgesAxis;
  const std::uint64_t regular = plain_hash(under(scenario, model::Dialect::psd, all_regular));
  if (plain_hash(under(without_marks(scenario), model::Dialect::psd, as_marked)) != regular) {
    wrong.emplace_back("F3: unmarked and all-regular differ");
  }
  if (plain_hash(under(scenario, model::Dialect::sequential, all_regular)) != regular) {
    wrong.emplace_back("F3: sequential and all-regular psd differ");
  }
}

// A22: where nobody shares, sharing slots changes nothing. What becomes of permuted inputs depends
// on how many things the driver has to look at.
void judge_factor_one(const Scenario& scenario, std::uint64_t hash,
                      std::vector<std::string>& wrong) {
  if (scenario.timing != model::Timing::scripted || scenario.ties_shuffled ||
      !scenario.choices.empty() || scenario.scheduler.slots != model::SlotsAxis::exclusive ||
      scenario.scheduler.accounting != model::Accounting::sum) {
    return;
  }
  Scenario shared = scenario;
  shared.scheduler.slots = model::SlotsAxis::shared;
  shared.scheduler.slots_factor = 1;
  if (plain_hash(shared) != hash) {
    wrong.emplace_back("A22: slots shared by a factor of one and exclusive ones differ");
  }
}

void judge_again(const Scenario& scenario, std::uint64_t hash, std::vector<std::string>& wrong) {
  if (plain_hash(scenario) != hash) {
    wrong.emplace_back("the second run has another journal");
  }
  const auto read_back = traces::read_scenario(traces::write_scenario(scenario), "again.json");
  if (!read_back) {
    wrong.push_back("its canonical form does not load: " + model::to_string(read_back.error()));
  } else if (plain_hash(*read_back) != hash) {
    wrong.emplace_back("its canonical form has another journal");
  }
}

}  // namespace

std::vector<std::string> judge_run(const Scenario& scenario, Reached& reached,
                                   model::Observer* watcher) {
  std::vector<std::string> wrong;
  try {
    properties::MonitorSet monitors;
    Reached of_run;
    Tally tally(scenario, of_run);
    reports::Metrics metrics;  // checks for itself that its slots add up
    std::vector<model::Observer*> observers{&monitors, &tally, &metrics};
    if (watcher != nullptr) {
      observers.push_back(watcher);
    }
    const sim::RunResult result = run(scenario, observers, true);
    monitors.finish();
    (void)metrics.finish();
    reached.add(of_run);
    wrong = certain_violations(monitors.violations(), scenario, of_run);
    judge_again(scenario, result.journal_hash, wrong);
    judge_factor_one(scenario, result.journal_hash, wrong);
    judge_all_regular(scenario, wrong);
  } catch (const std::exception& fault) {
    wrong.push_back(std::string("internal fault: ") + fault.what());
  }
  return wrong;
}

}  // namespace rehearse::testing
