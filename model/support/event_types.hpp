// Enums and shared key groups of the journal (scenario.md section 5). Order of every enum is the
// wire value; append only.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "model/support/enum_names.hpp"
#include "model/support/names.hpp"

namespace rehearse::model {

// Section 7 in reading order; rejections, failures and group causes share it.
enum class Code : std::uint8_t {
  insufficient_slots,
  dag_cycle,
  group_cycle,
  regular_inside_group,
  mixed_job,
  shared_producer,
  fan_out,
  profile_conflict,
  barrier_member,
  dynamic_allocation,
  speculation,
  push_merge,
  indeterminate_producer,
  checksum_retry,
  cached_member,
  checkpointed_member,
  adaptive_exchange,
  non_idempotent_commit,
  pull_scheduling,
  no_executors,
  admission_timeout,
  task_failed,
  executor_lost,
  fetch_failed,
  group_failed,
  stage_attempts_exceeded,
  indeterminate_result,
  deadlock,
  cancelled
};
RH_ENUM_NAMES(Code, "INSUFFICIENT_SLOTS", "DAG_CYCLE", "GROUP_CYCLE", "REGULAR_INSIDE_GROUP",
              "MIXED_JOB", "SHARED_PRODUCER", "FAN_OUT", "PROFILE_CONFLICT", "BARRIER_MEMBER",
              "DYNAMIC_ALLOCATION", "SPECULATION", "PUSH_MERGE", "INDETERMINATE_PRODUCER",
              "CHECKSUM_RETRY", "CACHED_MEMBER", "CHECKPOINTED_MEMBER", "ADAPTIVE_EXCHANGE",
              "NON_IDEMPOTENT_COMMIT", "PULL_SCHEDULING", "NO_EXECUTORS", "ADMISSION_TIMEOUT",
              "TASK_FAILED", "EXECUTOR_LOST", "FETCH_FAILED", "GROUP_FAILED",
              "STAGE_ATTEMPTS_EXCEEDED", "INDETERMINATE_RESULT", "DEADLOCK", "CANCELLED");

enum class Timing : std::uint8_t { scripted, flow, packet, coupled };
RH_ENUM_NAMES(Timing, "scripted", "flow", "packet", "coupled");

enum class LossCause : std::uint8_t { process, host, decommission, exit_by_app };
RH_ENUM_NAMES(LossCause, "process", "host", "decommission", "exit_by_app");

enum class HoldCause : std::uint8_t { hold, decommission };
RH_ENUM_NAMES(HoldCause, "hold", "decommission");

enum class Commits : std::uint8_t { none, idempotent, once };
RH_ENUM_NAMES(Commits, "none", "idempotent", "once");

enum class EdgeKind : std::uint8_t { regular, pipelined };
RH_ENUM_NAMES(EdgeKind, "regular", "pipelined");

enum class JobOutcome : std::uint8_t { succeeded, failed, cancelled };
RH_ENUM_NAMES(JobOutcome, "succeeded", "failed", "cancelled");

enum class QueuedReason : std::uint8_t { inputs, slots };
RH_ENUM_NAMES(QueuedReason, "inputs", "slots");

enum class CancelCause : std::uint8_t { job_failed, job_cancelled, job_done };
RH_ENUM_NAMES(CancelCause, "job_failed", "job_cancelled", "job_done");

enum class StageStatus : std::uint8_t { success, failed, cancelled };
RH_ENUM_NAMES(StageStatus, "success", "failed", "cancelled");

enum class StageReason : std::uint8_t {
  task_failed,
  fetch_failed,
  executor_lost,
  group_failed,
  incomplete,
  rolled_back,
  job_failed,
  job_cancelled,
  job_done
};
RH_ENUM_NAMES(StageReason, "task_failed", "fetch_failed", "executor_lost", "group_failed",
              "incomplete", "rolled_back", "job_failed", "job_cancelled", "job_done");

enum class TaskStatus : std::uint8_t { success, failed, killed };
RH_ENUM_NAMES(TaskStatus, "success", "failed", "killed");

// The first six belong to failed, the others to killed; a success has none.
enum class TaskReason : std::uint8_t {
  exception,
  fetch_failed,
  result_lost,
  out_of_memory,
  commit_denied,
  executor_lost,
  group_failed,
  job_ended,
  cancelled,
  other_attempt,
  superseded,
  external
};
RH_ENUM_NAMES(TaskReason, "exception", "fetch_failed", "result_lost", "out_of_memory",
              "commit_denied", "executor_lost", "group_failed", "job_ended", "cancelled",
              "other_attempt", "superseded", "external");

enum class SlotState : std::uint8_t { held };
RH_ENUM_NAMES(SlotState, "held");

enum class BlockedOn : std::uint8_t { space, data, slot, registration, client, memory, disk };
RH_ENUM_NAMES(BlockedOn, "space", "data", "slot", "registration", "client", "memory", "disk");

enum class ProbeWhen : std::uint8_t { before_reject, after_reject, end };
RH_ENUM_NAMES(ProbeWhen, "before_reject", "after_reject", "end");

enum class RunEndCause : std::uint8_t { done, horizon, interrupted };
RH_ENUM_NAMES(RunEndCause, "done", "horizon", "interrupted");

// Every item type below has keys(self, f): f("key", value) per key in wire order.

struct Range {  // inclusive
  std::int32_t first = 0;
  std::int32_t last = 0;
  static void keys(auto& s, auto&& f) { f("first", s.first), f("last", s.last); }
  bool operator==(const Range&) const = default;
};
using Ranges = std::vector<Range>;

struct ProfileCount {  // an object {profile: n} in JSON
  NameId profile;
  std::int64_t n = 0;
  static void keys(auto& s, auto&& f) { f("profile", s.profile), f("n", s.n); }
  bool operator==(const ProfileCount&) const = default;
};
using PerProfile = std::vector<ProfileCount>;  // in the order of the cluster's profiles

struct Amount {  // an object {resource: amount} in JSON
  NameId resource;
  std::int64_t amount = 0;  // 1/1000 units
  static void keys(auto& s, auto&& f) { f("resource", s.resource), f("amount", s.amount); }
  bool operator==(const Amount&) const = default;
};
using Amounts = std::vector<Amount>;

struct StageKey {  // job, stage
  NameId job;
  NameId stage;
  static void keys(auto& s, auto&& f) { f("job", s.job), f("stage", s.stage); }
  bool operator==(const StageKey&) const = default;
};

struct StageRef {  // "Stage" of the table
  NameId job;
  NameId stage;
  std::optional<std::int32_t> attempt;
  static void keys(auto& s, auto&& f) {
    f("job", s.job), f("stage", s.stage), f("attempt", s.attempt);
  }
  bool operator==(const StageRef&) const = default;
};

struct TaskRef {  // "Task" of the table
  NameId job;
  NameId stage;
  NameId executor;
  std::int32_t attempt = 0;
  std::int32_t partition = 0;
  std::int32_t try_number = 0;  // key "try"
  // A slice (A21) has so many partitions behind its first; key "partitions", one range, where there
  // are any. Below 0: what was read there is no such range.
  std::int32_t more = 0;
  [[nodiscard]] std::int32_t last() const { return partition + more; }
  [[nodiscard]] std::int32_t size() const { return more + 1; }  // partitions, and slots it takes
  static void keys(auto& s, auto&& f) {
    f("job", s.job), f("stage", s.stage), f("attempt", s.attempt), f("partition", s.partition);
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(s)>>) {
      std::optional<Ranges> partitions;
      f("partitions", partitions);
      s.more = partitions ? more_of(s.partition, *partitions) : 0;
    } else if constexpr (requires { f.partitions_of(s); }) {
      f.partitions_of(s);  // one that has no time for lists
    } else if (s.more == 0) {
      f("partitions", std::optional<Ranges>{});
    } else {
      f("partitions", std::optional<Ranges>{Ranges{{s.partition, s.last()}}});
    }
    f("try", s.try_number), f("executor", s.executor);
  }
  [[nodiscard]] static std::int32_t more_of(std::int32_t first, const Ranges& ranges) {
    const bool slice = ranges.size() == 1 && first >= 0 && ranges[0].first == first;
    return slice && ranges[0].last > first ? ranges[0].last - first : -1;
  }
  bool operator==(const TaskRef&) const = default;
};

struct AxisValue {
  NameId axis;
  NameId value;
  static void keys(auto& s, auto&& f) { f("axis", s.axis), f("value", s.value); }
  bool operator==(const AxisValue&) const = default;
};

struct KeyValue {
  NameId key;
  NameId value;
  static void keys(auto& s, auto&& f) { f("key", s.key), f("value", s.value); }
  bool operator==(const KeyValue&) const = default;
};

struct ProfileAmounts {
  NameId profile;
  Amounts task;
  static void keys(auto& s, auto&& f) { f("profile", s.profile), f("task", s.task); }
  bool operator==(const ProfileAmounts&) const = default;
};

struct StageItem {
  NameId name;
  std::int64_t tasks = 0;
  NameId profile;
  bool barrier = false;
  Commits commits{};
  static void keys(auto& s, auto&& f) {
    f("name", s.name), f("tasks", s.tasks), f("profile", s.profile), f("barrier", s.barrier);
    f("commits", s.commits);
  }
  bool operator==(const StageItem&) const = default;
};

struct EdgeItem {
  NameId from;  // "job/stage" for a stage of another job
  NameId to;
  EdgeKind kind{};
  static void keys(auto& s, auto&& f) { f("from", s.from), f("to", s.to), f("kind", s.kind); }
  bool operator==(const EdgeItem&) const = default;
};

}  // namespace rehearse::model
