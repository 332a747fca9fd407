// What goes wrong, and when (scenario.md section 2, Faults): data only, executed by sim/models.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "model/cluster.hpp"
#include "model/support/event_types.hpp"
#include "model/support/names.hpp"
#include "model/support/time.hpp"

namespace rehearse::model {

enum class TaskFaultKind : std::uint8_t {
  exception,
  killed,
  commit_denied,
  result_lost,
  out_of_memory
};
RH_ENUM_NAMES(TaskFaultKind, "exception", "killed", "commit_denied", "result_lost",
              "out_of_memory");

enum class Moment : std::uint8_t {
  group_queued,
  group_admitted,
  first_launch,
  all_launched,
  member_finished,
  last_but_one_task,
  group_commit,
  teardown,
  job_end,
  timer_armed,
  executor_lost,
  external_input_lost
};
RH_ENUM_NAMES(Moment, "group_queued", "group_admitted", "first_launch", "all_launched",
              "member_finished", "last_but_one_task", "group_commit", "teardown", "job_end",
              "timer_armed", "executor_lost", "external_input_lost");

struct LoseExecutor {
  NameId executor;
  LossCause cause = LossCause::process;
  std::optional<Duration> noticed;  // absent = overheads.loss_detection
  bool operator==(const LoseExecutor&) const = default;
};
struct AddExecutor {
  ExecutorSpec executor;  // joins is ignored: the fault's instant
  bool operator==(const AddExecutor&) const = default;
};
struct HoldExecutors {
  std::vector<NameId> executors;
  Duration for_ns = 0;
  bool operator==(const HoldExecutors&) const = default;
};
struct CancelJob {
  NameId job;
  bool operator==(const CancelJob&) const = default;
};
using TimedAction = std::variant<LoseExecutor, AddExecutor, HoldExecutors, CancelJob>;

// At an instant, or `after` the nth `moment` whose event agrees with every given name.
struct TimedFault {
  std::optional<Instant> at;  // exactly one of at, moment
  std::optional<Moment> moment;
  NameId match_job;        // invalid = not given; "q#1" names a resubmission
  NameId match_stage_job;  // "q/map": job and stage of match.stage
  NameId match_stage;
  NameId match_executor;
  std::int32_t nth = 1;
  Duration after = 0;
  TimedAction action;
  bool operator==(const TimedFault&) const = default;
};

// On one task try. Several on one task combine.
struct TaskFault {
  NameId job;
  NameId stage;
  std::int32_t partition = 0;
  std::int32_t attempt = 0;                    // of the stage
  std::optional<std::int32_t> try_number = 0;  // absent = any
  std::optional<TaskFaultKind> fails;          // `after` task_start, not scaled by slow or speed
  bool fetch_fails = false;                    // of output fetch_partition of stage fetch_from
  NameId fetch_from_job;                       // invalid = the task's own job
  NameId fetch_from;
  std::int32_t fetch_partition = 0;
  Duration after = 0;
  std::optional<std::int64_t> slow_milli;  // 1/1000
  std::optional<Duration> status_late;
  bool operator==(const TaskFault&) const = default;
};

struct FaultPlan {
  // File order over both lists is kept by `order`: pairs (is_task_fault, index).
  struct Entry {
    bool task = false;
    std::uint32_t index = 0;
    bool operator==(const Entry&) const = default;
  };
  std::vector<TimedFault> timed;
  std::vector<TaskFault> tasks;
  std::vector<Entry> order;
  bool operator==(const FaultPlan&) const = default;
};

}  // namespace rehearse::model
