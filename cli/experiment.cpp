// How an experiment is put together and run. The clock here measures the program, never the model.
#include "cli/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "cli/adjust.hpp"
#include "cli/interrupt.hpp"
#include "model/config_support.hpp"
#include "model/support/check.hpp"
#include "policies/registry.hpp"
#include "properties/expectations.hpp"
#include "properties/monitor_set.hpp"
#include "properties/oracle/compare.hpp"
#include "properties/recorder.hpp"
#include "properties/registry.hpp"
#include "traces/input_file.hpp"
#include "traces/journal_json.hpp"
#include "traces/scenario_json.hpp"

namespace rehearse::cli {
namespace {

using model::Error;
using model::Result;

// Where a configuration has an axis that does not exist or is not built, the message points into a
// file that the reader may never have seen.
Error of_command_line(Error error, std::string_view label) {
  error.file = fmt::format("configuration {}", label);
  return error;
}

Result<void> configure(Experiment& experiment, const Workload& work, const Settings& settings,
                       const ConfigurationChoice& choice) {
  model::Scenario& scenario = experiment.scenario;
  if (choice.configuration != nullptr) {
    scenario.scheduler = model::preset(choice.configuration->dialect);
  }
  if (work.keeps_outputs) {
    scenario.scheduler.outputs_survive_executor = true;
  }
  std::vector<model::AxisOverride> overrides;
  const auto add = [&](const std::vector<model::AxisOverride>& more) {
    overrides.insert(overrides.end(), more.begin(), more.end());
  };
  if (!choice.set_wins) {
    add(settings.overrides);
  }
  if (choice.configuration != nullptr) {
    add(choice.configuration->overrides);
  }
  if (choice.set_wins) {
    add(settings.overrides);
  }
  return model::apply_overrides(scenario.scheduler, overrides, scenario.names);
}

// Compared on 1 run in 100, always in the dev build; which ones depends on the scenario alone. Also
// where a tool wrote the scenario: what it found may be the digest itself.
bool audits_digest(const model::Scenario& scenario) {
#ifdef RH_FULL_DIGEST
  static_cast<void>(scenario);
  return true;
#else
  if (!scenario.origin_json.empty()) {
    return true;
  }
  std::uint64_t mixed = scenario.seed + 0x9E3779B97F4A7C15ULL;
  for (const char c : scenario.name) {
    mixed = (mixed ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  }
  return (mixed >> 20U) % 100 == 0;
#endif
}

sim::RunOptions run_options(const model::Scenario& scenario, std::int64_t probe_one_in) {
  sim::RunOptions options;
  options.promises = properties::promised(scenario.scheduler, scenario.timing);
  options.probe_one_in = probe_one_in;
  options.audit_digest = audits_digest(scenario);
  options.interrupted = interrupted;
  return options;
}

// Runs `scenario` for nothing but its lines.
Result<std::vector<std::string>> lines_of(const model::Scenario& scenario,
                                          const std::vector<model::EventPattern>& except) {
  const auto policies = policies::make(scenario.scheduler);
  if (!policies) {
    return std::unexpected(policies.error());
  }
  properties::JournalLines lines(except, scenario);
  std::vector<model::Observer*> observers{&lines};
  static_cast<void>(sim::run(scenario, *policies, observers, run_options(scenario, 1)));
  return lines.lines();
}

// The other file of same_journal_as, beside the one that names it.
Result<std::string> difference(const Experiment& experiment,
                               const model::ExpectSameJournal& expected) {
  const std::string path =
      (std::filesystem::path(experiment.path).parent_path() / expected.file).string();
  const auto text = traces::read_input_file(path);
  if (!text) {
    return std::unexpected(text.error());
  }
  const auto other = traces::read_scenario(*text, path);
  if (!other) {
    return std::unexpected(other.error());
  }
  if (auto error = model::unsupported(*other)) {
    error->file = path;
    return std::unexpected(std::move(*error));
  }
  const auto right = lines_of(*other, expected.except);
  const auto left = lines_of(experiment.scenario, expected.except);
  if (!left || !right) {
    return std::unexpected(left ? right.error() : left.error());
  }
  return properties::first_difference(*left, *right);
}

Result<std::map<std::int32_t, std::string>> differences(const Experiment& experiment) {
  std::map<std::int32_t, std::string> result;
  for (std::size_t i = 0; i < experiment.scenario.expect.size(); ++i) {
    const auto* same = std::get_if<model::ExpectSameJournal>(&experiment.scenario.expect[i]);
    if (same == nullptr) {
      continue;
    }
    auto text = difference(experiment, *same);
    if (!text) {
      return std::unexpected(std::move(text.error()));
    }
    result[static_cast<std::int32_t>(i)] = std::move(*text);
  }
  return result;
}

// Everything that listens to one run.
struct Listeners {
  reports::Metrics metrics;
  properties::MonitorSet monitors;
  std::unique_ptr<properties::Expectations> expectations;
  std::unique_ptr<traces::JournalWriter> journal;

  [[nodiscard]] std::vector<model::Observer*> all() {
    std::vector<model::Observer*> result{&metrics, &monitors};
    if (expectations) {
      result.push_back(expectations.get());
    }
    if (journal) {
      result.push_back(journal.get());
    }
    return result;
  }
};

// Violations that a scenario demands are what it is about, not findings.
std::vector<model::Violation> unexpected_violations(const properties::MonitorSet& monitors,
                                                    const Experiment& experiment, bool judged) {
  std::vector<model::Violation> result = monitors.violations();
  if (judged) {
    for (const model::Expectation& expectation : experiment.scenario.expect) {
      if (const auto* invariant = std::get_if<model::ExpectInvariant>(&expectation);
          invariant != nullptr && !invariant->holds) {
        std::erase_if(result, [&](const model::Violation& violation) {
          return violation.property == invariant->property;
        });
      }
    }
  }
  return result;
}

Result<Simulated> run_with(Listeners& listeners, const Experiment& experiment,
                           const SimulateOptions& options) {
  const model::Scenario& scenario = experiment.scenario;
  auto policies = policies::make(scenario.scheduler);
  if (!policies) {
    return std::unexpected(of_command_line(std::move(policies.error()), experiment.configuration));
  }
  const auto started = std::chrono::steady_clock::now();
  std::vector<model::Observer*> observers = listeners.all();
  if (options.listener != nullptr) {
    observers.push_back(options.listener);
  }
  properties::Recorder recorder;
  if (options.ask_oracle) {
    observers.push_back(&recorder);
  }
  const sim::RunResult result =
      sim::run(scenario, *policies, observers, run_options(scenario, options.probe_one_in));
  listeners.monitors.finish();
  Simulated simulated;
  simulated.run.scenario = scenario.name;
  simulated.run.configuration = experiment.configuration;
  simulated.run.journal_hash = result.journal_hash;
  simulated.run.metrics = listeners.metrics.finish();
  simulated.run.violations =
      unexpected_violations(listeners.monitors, experiment, options.judge_expectations);
  simulated.run.faults_never_fired = result.faults_never_fired;
  simulated.names = result.names;
  simulated.interrupted = result.cause == model::RunEndCause::interrupted;
  if (options.ask_oracle && !simulated.interrupted) {
    auto compared = properties::oracle::compare(scenario, recorder.events, *result.names);
    simulated.oracle_refuses = std::move(compared.refused);
    if (compared.difference) {
      simulated.run.violations.push_back(properties::oracle::violation_of(*compared.difference));
    }
  }
  if (listeners.expectations && !simulated.interrupted) {
    auto compared = differences(experiment);
    if (!compared) {
      return std::unexpected(std::move(compared.error()));
    }
    simulated.run.expectations =
        listeners.expectations->finish({.journal_hash = result.journal_hash,
                                        .verdicts = &listeners.monitors.verdicts(),
                                        .differences = std::move(*compared)});
  }
  if (listeners.journal) {
    if (auto closed = listeners.journal->close(); !closed) {
      return std::unexpected(std::move(closed.error()));
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  simulated.run.wall_s = took.count();
  return simulated;
}

}  // namespace

Result<Experiment> make_experiment(const Workload& work, const Settings& settings,
                                   const ConfigurationChoice& choice) {
  Experiment experiment;
  experiment.scenario = work.scenario;
  experiment.path = work.path;
  model::Scenario& scenario = experiment.scenario;
  if (auto configured = configure(experiment, work, settings, choice); !configured) {
    return std::unexpected(of_command_line(
        std::move(configured.error()),
        choice.configuration != nullptr ? choice.configuration->label : "of the input"));
  }
  experiment.configuration = choice.configuration != nullptr && settings.overrides.empty()
                                 ? choice.configuration->label
                             : choice.configuration != nullptr && !choice.set_wins
                                 ? choice.configuration->label
                                 : model::configuration_text(scenario.scheduler, scenario.names);
  if (choice.configuration != nullptr && choice.configuration->cluster) {
    const auto& spec = *choice.configuration->cluster;
    if (auto set =
            set_cluster(scenario, {.spec = spec, .drop_losses = work.kind == InputKind::trace});
        !set) {
      return std::unexpected(of_command_line(std::move(set.error()), choice.configuration->label));
    }
  }
  scenario.timing = settings.timing.value_or(scenario.timing);
  scenario.seed = settings.seed.value_or(scenario.seed);
  if (settings.horizon) {
    scenario.horizon = settings.horizon;
  }
  if (auto error = model::unsupported(scenario)) {
    error->file = work.path;
    return std::unexpected(std::move(*error));
  }
  experiment.cluster = cluster_text(scenario);
  return experiment;
}

Result<Simulated> simulate(const Experiment& experiment, const SimulateOptions& options) {
  Listeners listeners;
  if (options.judge_expectations) {
    listeners.expectations = std::make_unique<properties::Expectations>(experiment.scenario);
  }
  if (options.journal) {
    auto journal = traces::JournalWriter::open(*options.journal);
    if (!journal) {
      return std::unexpected(std::move(journal.error()));
    }
    listeners.journal = std::move(*journal);
  }
  try {
    return run_with(listeners, experiment, options);
  } catch (const model::InternalFault& fault) {
    throw model::InternalFault(fmt::format("{}\n  rehearse {}, seed {}, reproduced by: {}",
                                           fault.what(), REHEARSE_VERSION, experiment.scenario.seed,
                                           experiment.command));
  }
}

bool has_findings(const reports::ScenarioRun& run) {
  return !run.violations.empty() ||
         std::ranges::any_of(run.expectations, [](const auto& result) { return !result.ok; });
}

}  // namespace rehearse::cli
