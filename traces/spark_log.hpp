// What the lines of a Spark event log said, before anything is concluded from it: the state between
// reading (spark_events) and the making of a trace (spark_assemble). Times are as logged,
// milliseconds since 1970. At most 40 bytes a task.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/fault_plan.hpp"
#include "model/trace.hpp"
#include "traces/warning_log.hpp"

namespace rehearse::traces {

// The latest success of each partition; columns of equal length.
struct SparkTasks {
  std::vector<std::int64_t> finish_ms;  // no_success: none yet
  std::vector<std::uint32_t> task_id;   // low bits; tells a repeated line from another attempt
  std::vector<std::uint32_t> duration_ms;
  model::TaskParts parts;

  static constexpr std::int64_t no_success = -1;
  void resize(std::size_t tasks);
};

// A task end other than success, kill and resubmission.
struct SparkFailure {
  std::int64_t partition = 0;
  std::int32_t stage_attempt = 0;
  std::int32_t try_number = 0;
  std::int64_t after_ms = 0;
  model::TaskFaultKind kind = model::TaskFaultKind::exception;
  bool fetch = false;
};

struct SparkAttempt {
  std::int64_t id = 0;
  std::optional<std::int64_t> submitted_ms;
  std::optional<std::int64_t> completed_ms;
};

struct SparkStage {
  std::int64_t id = 0;
  std::string label;
  std::int64_t tasks = 0;             // as declared first: attempt 0 has all partitions
  std::vector<std::int64_t> parents;  // as logged
  std::vector<std::int64_t> rdds;     // ascending: what makes two stages the same shuffle
  std::int64_t profile = 0;
  bool declared = false;  // some line described it
  bool barrier = false;
  bool indeterminate = false;
  bool writes_shuffle = false;         // ran tasks that write a shuffle
  std::vector<SparkAttempt> attempts;  // those submitted, in the order of their lines
  SparkTasks done;
  std::optional<std::int64_t> first_launch_ms;
  std::optional<std::int64_t> last_success_ms;
  std::optional<std::int64_t> last_finish_ms;
  std::int64_t tasks_started = 0;
  std::int64_t tasks_ended = 0;  // resubmissions left out
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
  std::vector<SparkFailure> failures;
};

struct SparkJob {
  std::int64_t id = 0;
  std::optional<std::int64_t> submitted_ms;
  std::optional<std::int64_t> completed_ms;
  bool ended = false;
  bool succeeded = false;
  std::vector<std::int64_t> stages;  // as listed
  std::string pool;
  std::string sql;
  std::string batch;
  std::string group;
};

// One registration of an executor; the same id may register again.
struct SparkExecutor {
  std::string id;
  std::string host;
  std::optional<std::int64_t> added_ms;  // absent: only seen running tasks
  std::optional<std::int64_t> removed_ms;
  std::string removed_reason;
  std::optional<std::int64_t> profile;  // as logged
  std::int64_t cores = 0;
  std::map<std::string, std::int64_t> amounts;  // other resources, whole units
  std::optional<std::int64_t> first_launch_ms;
  std::optional<std::int64_t> seen_profile;  // of the first stage that ran here
  bool lost_tasks = false;                   // some ended with the loss of this executor
  std::int64_t running = 0;
  std::int64_t running_max = 0;
};

struct SparkProfile {
  std::map<std::string, std::int64_t> task_milli;  // 1/1000 of a unit
  std::map<std::string, std::int64_t> executor_amount;
};

struct SparkLog {
  std::string version;
  std::string app_name;
  std::string app_id;
  std::string attempt;
  std::optional<std::int64_t> app_start_ms;
  std::optional<std::int64_t> app_end_ms;
  std::int64_t task_cpus = 1;
  std::map<std::int64_t, SparkProfile> profiles;
  std::vector<SparkExecutor> executors;                            // in the order of their lines
  std::map<std::string, std::size_t, std::less<>> executor_index;  // id -> latest registration
  std::map<std::int64_t, SparkStage> stages;                       // by stage id
  std::map<std::int64_t, SparkJob> jobs;                           // by job id
  bool parents_logged = false;  // some stage had the key Parent IDs
  bool any_event = false;
  std::int64_t job_ends_alone = 0;  // JobEnd without JobStart
  model::TraceCounts counts;
  WarningLog warnings;
};

}  // namespace rehearse::traces
