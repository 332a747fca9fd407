// A workload under one configuration, ready to run, and the one way the program runs it: with every
// monitor, the measurements, the expectations and the journal attached.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/settings.hpp"
#include "cli/workload.hpp"
#include "model/configuration_text.hpp"
#include "reports/metrics.hpp"
#include "reports/results.hpp"
#include "sim/simulation.hpp"

namespace rehearse::cli {

struct Experiment {
  model::Scenario scenario;
  std::string path;           // of the input, for messages
  std::string configuration;  // its name in results
  std::string cluster;        // as reports print it
  std::string command;        // that runs it again
};

struct ConfigurationChoice {
  const model::ConfigurationText* configuration = nullptr;  // null = the scheduler of the input
  bool set_wins = true;  // --set is applied after the configuration's own axes, else before them
};

// Errors: a value that an axis does not take, or whatever this version does not execute.
[[nodiscard]] model::Result<Experiment> make_experiment(const Workload& work,
                                                        const Settings& settings,
                                                        const ConfigurationChoice& choice);

struct SimulateOptions {
  std::optional<std::string> journal;
  bool judge_expectations = false;
  std::int64_t probe_one_in = 1;
  bool ask_oracle = false;  // what contradicts the specification is a violation, too
  // Gets every event, after the others; its name table lives as long as the Simulated.
  model::Observer* listener = nullptr;
};

struct Simulated {
  reports::ScenarioRun run;
  bool interrupted = false;
  std::optional<std::string> oracle_refuses;      // asked, and why it does not model the scenario
  std::shared_ptr<const model::NameTable> names;  // of the journal
};

// Errors: the journal cannot be written, the file of same_journal_as cannot be run. A failed check
// leaves as model::InternalFault with the version, the seed and the command.
[[nodiscard]] model::Result<Simulated> simulate(const Experiment& experiment,
                                                const SimulateOptions& options);

// True when something was found that makes the exit code 3.
[[nodiscard]] bool has_findings(const reports::ScenarioRun& run);

}  // namespace rehearse::cli
