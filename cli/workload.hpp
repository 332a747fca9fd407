// One input, whatever it is, as a scenario that can be run: read, reduced to what was asked for,
// scaled, put on the cluster that was asked for, and marked once for all configurations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/settings.hpp"
#include "model/scenario.hpp"
#include "model/support/error.hpp"
#include "model/trace.hpp"
#include "reports/marking.hpp"
#include "traces/to_scenario.hpp"

namespace rehearse::cli {

enum class InputKind : std::uint8_t { scenario, trace };

struct Workload {
  InputKind kind = InputKind::scenario;
  std::string path;
  reports::Input input;
  // The scheduler is the file's, or the default for a trace; nothing of --dialect or --set yet.
  model::Scenario scenario;
  std::vector<model::RecordedJob> recorded;  // empty, or one per job of the scenario
  bool keeps_outputs = false;                // see TraceScenario
  bool reduced = false;                      // jobs were left out: expectations do not apply
  std::optional<model::Trace> trace;         // kept when asked for
  std::vector<std::string> notes;            // what a report says was assumed
};

struct WorkloadOptions {
  bool keep_trace = false;
  // The cluster that everything runs on and that marks are judged by, as --cluster takes it;
  // absent = what the input has.
  std::optional<std::string> cluster;
};

// Errors: those of the readers; a journal, or anything else that holds no work.
[[nodiscard]] model::Result<Workload> load_workload(const std::string& path,
                                                    const Settings& settings,
                                                    const WorkloadOptions& options);

// The scenario of a trace under other delays or units than the settings say, reduced and on the
// recorded cluster; for the two errors of a replay.
[[nodiscard]] model::Result<traces::TraceScenario> recorded_scenario(const model::Trace& trace,
                                                                     const Settings& settings,
                                                                     traces::Delays delays);

// What a reader tolerated, as results show it.
[[nodiscard]] std::vector<reports::InputWarning> warnings_of(const model::Trace& trace);

}  // namespace rehearse::cli
