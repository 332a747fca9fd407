// A recorded workload: what was submitted, on which executors, and what was seen to happen.
//
// Every trace format is read into this value and the native format is written from it. Instants
// are nanoseconds from the start of the trace. What was recorded (`Recorded*`) never drives a
// simulation by itself: it feeds marking, the reading of delays and the error of a replay.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/cluster.hpp"
#include "model/fault_plan.hpp"
#include "model/job.hpp"
#include "model/support/enum_names.hpp"
#include "model/support/names.hpp"
#include "model/support/time.hpp"

namespace rehearse::model {

enum class RecordedOutcome : std::uint8_t { succeeded, failed, unfinished };
RH_ENUM_NAMES(RecordedOutcome, "succeeded", "failed", "unfinished");

// What one launch of each partition was spent on, in microseconds by partition (a value above
// 2^32 - 1 is cut to it). All columns are empty, or all have one entry per task. Computing is what
// is left: duration minus the five, never below 0 (compute_ns). 20 bytes a task.
struct TaskParts {
  std::vector<std::uint32_t> deserialize_us;
  std::vector<std::uint32_t> fetch_wait_us;
  std::vector<std::uint32_t> write_us;
  std::vector<std::uint32_t> serialize_us;  // of the result
  std::vector<std::uint32_t> rest_us;       // between launch and finish, outside of the executor

  [[nodiscard]] bool empty() const { return deserialize_us.empty(); }
  void resize(std::size_t tasks);
  // The computing part of a task that lasted `duration` ns.
  [[nodiscard]] Duration compute_ns(std::size_t partition, Duration duration) const;
  bool operator==(const TaskParts&) const = default;
};

// Beside JobSpec::stages of the same index. All attempts of the stage taken together.
struct RecordedStage {
  NameId label;                         // what the system called it; invalid = nothing
  std::optional<Instant> submitted;     // of the first attempt
  std::optional<Instant> first_launch;  // of any task
  std::optional<Instant> last_finish;   // of a successful task; of any task when none succeeded
  std::optional<Instant> completed;     // of the last attempt
  std::int32_t attempts = 1;
  std::int32_t tasks_failed = 0;   // ends that were neither success, kill nor resubmission
  std::int32_t tasks_missing = 0;  // partitions without a success; their duration is a guess
  std::int64_t read_bytes = 0;     // over shuffles
  std::int64_t written_bytes = 0;
  TaskParts parts;
  bool operator==(const RecordedStage&) const = default;
};

struct RecordedJob {
  Instant submitted = 0;
  std::optional<Instant> end;  // absent when unfinished
  RecordedOutcome outcome = RecordedOutcome::unfinished;
  NameId sql;    // SQL execution; invalid = none
  NameId batch;  // streaming query and its batch; invalid = none
  NameId group;  // job group; invalid = none
  std::vector<RecordedStage> stages;
  bool operator==(const RecordedJob&) const = default;
};

// `spec.submit` is the recorded offset and `spec.after` the think time (link_arrivals): both are
// kept, and whoever makes a scenario keeps one. Durations are launch to finish of the last success
// of each partition, one value per partition unless the trace is synthetic. Every edge has exactly
// one consumer and bytes of its own producer.
struct TraceJob {
  JobSpec spec;
  RecordedJob recorded;
  bool operator==(const TraceJob&) const = default;
};

// Beside Cluster::executors of the same index.
struct ExecutorEnd {
  std::optional<Instant> leaves;  // absent = stays
  LossCause cause = LossCause::decommission;
  bool operator==(const ExecutorEnd&) const = default;
};

// Something that was tolerated. `line` is 1-based within `file` (which is empty when the trace is
// one file); 0 = not about one line.
struct LoadWarning {
  std::int64_t line = 0;
  std::string what;
  std::string file;
  bool operator==(const LoadWarning&) const = default;
};

// What the source held, counted as it was read: these are the numbers of `trace inspect`.
struct TraceCounts {
  std::int64_t jobs = 0;        // submissions
  std::int64_t stages = 0;      // stage attempts
  std::int64_t tasks = 0;       // task ends of any reason
  std::int64_t executors = 0;   // arrivals
  std::int64_t unfinished = 0;  // jobs without an end
  std::int64_t failed_tasks = 0;
  std::int64_t aliased_stages = 0;  // declared again and never run: outputs of an earlier stage
  std::int64_t never_run = 0;       // declared, neither run nor an alias
  std::int64_t edges = 0;           // of stages that ran, after aliasing
  std::map<std::string, std::int64_t> task_ends;  // by reason
  bool operator==(const TraceCounts&) const = default;
};

struct LoadReport {
  std::vector<LoadWarning> warnings;  // by kind, in a fixed order; never one per line
  std::int64_t lines = 0;
  std::int64_t bytes = 0;  // after decompression
  // T013: groups and stages that fit on no executor of the trace. No error: A5 judges the job.
  std::vector<std::string> infeasible;
};

struct Trace {
  std::string format;       // as in the registry of formats
  std::string origin;       // the format before it was converted to `native`
  std::string version;      // of the recording system; empty = not recorded
  std::string name;         // of the application
  std::string application;  // its id
  std::string attempt;
  bool partial = false;       // what was read is not all there was
  std::int64_t epoch_ns = 0;  // instant 0, since 1970

  NameTable names;
  Cluster cluster;
  std::vector<ExecutorEnd> executor_ends;
  std::vector<TraceJob> jobs;  // by (submit, order of the source)
  FaultPlan recorded_faults;   // observed failures; not part of a replay unless asked for

  TraceCounts counts;
  LoadReport load;
};

// Sets `after` of every job from what was recorded: job k follows the job with the latest recorded
// end not later than its own submission (of equal ends the later job), among the jobs before it.
// A job without such a predecessor has an empty list and comes at its offset.
void link_arrivals(std::vector<TraceJob>& jobs);

// The stages of a job that no edge of it reads, in order; what JobSpec::result is for a trace.
[[nodiscard]] std::vector<StageIndex> sinks_of(const JobSpec& job);

}  // namespace rehearse::model
