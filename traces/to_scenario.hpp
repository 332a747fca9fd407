// A recorded workload as the jobs, cluster and faults of a scenario (traces.md: durations and
// delays, arrivals, marking units). What a scheduler is compared under is not decided here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/enum_names.hpp"
#include "model/support/error.hpp"
#include "model/trace.hpp"

namespace rehearse::traces {

enum class Arrivals : std::uint8_t { after, recorded };
enum class Delays : std::uint8_t { model, recorded };
enum class Unit : std::uint8_t { sql, job, batch };

// The driver model: what a Spark driver needs before a stage's first task and after a job's last.
// One set of constants for every log, fitted as docs/model.md says.
struct DriverModel {
  model::Duration stage_start_ns = 10 * model::millisecond;
  model::Duration job_end_ns = 1 * model::millisecond;
};

struct ToScenarioOptions {
  Arrivals arrivals = Arrivals::after;
  Delays delays = Delays::model;
  Unit by = Unit::job;
  bool inject_recorded_faults = false;  // refused by name
  DriverModel driver;
};

// Scenario with name, names, cluster, jobs and faults filled; everything else has its default.
// recorded[i] belongs to scenario.jobs[i]; its stages to the stages of that job, without parts.
//
// * Jobs of one unit become one job, with edges between its jobs inside. Names: the job's own;
//   "sql-<id>", "batch-<query>:<id>" for units. Stages keep their names, with the name of their
//   job before it ("q.map") where two of a unit share one.
// * StageSpec::start_delay of a stage = recorded gap + driver delay. The reference is the end of
//   what it waits for in the trace: r = max(submission of the unit, last finish of its producers
//   in the unit). Gap = max(0, submission of its own job - r): the think time inside a unit, part
//   of the arrivals. Driver delay = stage_start_ns (model); under `recorded` gap and driver delay
//   together are max(0, first launch - r).
// * The time between the last task and the end of a job is added to the start_delay of the stages
//   without a producer inside the job: every path through the job begins at one of them, so the
//   latency of the job holds it exactly once. It is job_end_ns (model) or max(0, recorded end -
//   last finish).
// * Executors that leave before the last recorded end of a job are decommissioned at that instant:
//   they take nothing new and go when their last task ended. A scheduler that should not lose
//   regular outputs with them needs outputs_survive_executor (keeps_outputs says so). Executors
//   that join after that end are left out, because nothing could run there.
struct TraceScenario {
  model::Scenario scenario;
  std::vector<model::RecordedJob> recorded;
  bool keeps_outputs = false;  // some executor leaves: the recorded system did not lose outputs
  std::int64_t executors_left_out = 0;
};

[[nodiscard]] model::Result<TraceScenario> to_scenario(const model::Trace& trace,
                                                       const ToScenarioOptions& options = {});

}  // namespace rehearse::traces

namespace rehearse::model {

template <>
struct EnumNames<traces::Arrivals> {
  static constexpr auto texts = std::to_array<std::string_view>({"after", "recorded"});
};
template <>
struct EnumNames<traces::Delays> {
  static constexpr auto texts = std::to_array<std::string_view>({"model", "recorded"});
};
template <>
struct EnumNames<traces::Unit> {
  static constexpr auto texts = std::to_array<std::string_view>({"sql", "job", "batch"});
};

}  // namespace rehearse::model
