// Journal events 1 to 18: the run, executors, jobs, groups, stages (scenario.md section 5).
// Each struct lists its keys in wire order; D = written by the driver, C = by the core.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/support/event_types.hpp"

namespace rehearse::model {

struct RunStart {  // D, first line
  static constexpr std::string_view name = "run";
  NameId version;
  std::int64_t format = 0;
  std::int64_t seed = 0;
  Timing timing{};
  NameId dialect;
  std::vector<AxisValue> axes;
  std::vector<ProfileAmounts> profiles;
  std::vector<KeyValue> overheads;
  std::vector<NameId> promises;
  static void keys(auto& s, auto&& f) {
    f("version", s.version); f("format", s.format); f("seed", s.seed); f("timing", s.timing);
    f("dialect", s.dialect); f("axes", s.axes); f("profiles", s.profiles);
    f("overheads", s.overheads); f("promises", s.promises);
  }
  bool operator==(const RunStart&) const = default;
};

struct ExecutorAdded {  // D; profile absent = unbound; speed in 1/1000
  static constexpr std::string_view name = "executor_added";
  NameId executor;
  NameId host;
  NameId rack;
  Amounts resources{};
  NameId profile;
  std::int64_t speed = 0;
  static void keys(auto& s, auto&& f) {
    f("executor", s.executor); f("host", s.host); f("rack", s.rack); f("resources", s.resources);
    f("profile", s.profile); f("speed", s.speed);
  }
  bool operator==(const ExecutorAdded&) const = default;
};

struct ExecutorLost {  // D, at the notice
  static constexpr std::string_view name = "executor_lost";
  NameId executor;
  LossCause cause{};
  static void keys(auto& s, auto&& f) {
    f("executor", s.executor); f("cause", s.cause);
  }
  bool operator==(const ExecutorLost&) const = default;
};

struct ExecutorHeld {  // D
  static constexpr std::string_view name = "executor_held";
  NameId executor;
  HoldCause cause{};
  static void keys(auto& s, auto&& f) {
    f("executor", s.executor); f("cause", s.cause);
  }
  bool operator==(const ExecutorHeld&) const = default;
};

struct ExecutorReleased {  // D
  static constexpr std::string_view name = "executor_released";
  NameId executor;
  static void keys(auto& s, auto&& f) {
    f("executor", s.executor);
  }
  bool operator==(const ExecutorReleased&) const = default;
};

struct JobSubmitted {  // C; kinds after marks and axis
  static constexpr std::string_view name = "job_submitted";
  NameId job;
  NameId pool;
  std::int64_t priority = 0;
  std::vector<StageItem> stages;
  std::vector<EdgeItem> edges;
  static void keys(auto& s, auto&& f) {
    f("job", s.job); f("pool", s.pool); f("priority", s.priority); f("stages", s.stages);
    f("edges", s.edges);
  }
  bool operator==(const JobSubmitted&) const = default;
};

struct JobRejected {  // C
  static constexpr std::string_view name = "job_rejected";
  NameId job;
  Code code{};
  std::vector<Code> codes;
  NameId detail;
  std::optional<PerProfile> need;
  std::optional<PerProfile> have;
  static void keys(auto& s, auto&& f) {
    f("job", s.job); f("code", s.code); f("codes", s.codes); f("detail", s.detail);
    f("need", s.need); f("have", s.have);
  }
  bool operator==(const JobRejected&) const = default;
};

struct JobStarted {  // C
  static constexpr std::string_view name = "job_started";
  NameId job;
  static void keys(auto& s, auto&& f) {
    f("job", s.job);
  }
  bool operator==(const JobStarted&) const = default;
};

struct JobEnd {  // C
  static constexpr std::string_view name = "job_end";
  NameId job;
  JobOutcome outcome{};
  std::optional<Code> code;
  NameId detail;
  std::optional<PerProfile> need;
  std::optional<PerProfile> have;
  static void keys(auto& s, auto&& f) {
    f("job", s.job); f("outcome", s.outcome); f("code", s.code); f("detail", s.detail);
    f("need", s.need); f("have", s.have);
  }
  bool operator==(const JobEnd&) const = default;
};

struct GroupFormed {  // C
  static constexpr std::string_view name = "group_formed";
  NameId job;
  NameId stage;
  std::vector<NameId> stages;
  PerProfile demand{};
  static void keys(auto& s, auto&& f) {
    f("job", s.job); f("stage", s.stage); f("stages", s.stages); f("demand", s.demand);
  }
  bool operator==(const GroupFormed&) const = default;
};

struct GroupQueued {  // C
  static constexpr std::string_view name = "group_queued";
  NameId job;
  NameId stage;
  QueuedReason reason{};
  std::optional<PerProfile> need;
  std::optional<PerProfile> have;
  static void keys(auto& s, auto&& f) {
    f("job", s.job); f("stage", s.stage); f("reason", s.reason); f("need", s.need);
    f("have", s.have);
  }
  bool operator==(const GroupQueued&) const = default;
};

struct GroupAdmitted {  // C
  static constexpr std::string_view name = "group_admitted";
  StageRef group{};
  PerProfile slots{};
  static void keys(auto& s, auto&& f) {
    StageRef::keys(s.group, f); f("slots", s.slots);
  }
  bool operator==(const GroupAdmitted&) const = default;
};

struct GroupCommitted {  // C
  static constexpr std::string_view name = "group_committed";
  StageRef group{};
  static void keys(auto& s, auto&& f) {
    StageRef::keys(s.group, f);
  }
  bool operator==(const GroupCommitted&) const = default;
};

struct GroupFailed {  // C
  static constexpr std::string_view name = "group_failed";
  StageRef group{};
  Code cause{};
  static void keys(auto& s, auto&& f) {
    StageRef::keys(s.group, f); f("cause", s.cause);
  }
  bool operator==(const GroupFailed&) const = default;
};

struct GroupCancelled {  // C; attempt absent if only queued
  static constexpr std::string_view name = "group_cancelled";
  StageRef group{};
  CancelCause cause{};
  static void keys(auto& s, auto&& f) {
    StageRef::keys(s.group, f); f("cause", s.cause);
  }
  bool operator==(const GroupCancelled&) const = default;
};

struct EdgesChanged {  // C, fall-back
  static constexpr std::string_view name = "edges_changed";
  NameId job;
  NameId stage;
  std::vector<EdgeItem> edges;
  static void keys(auto& s, auto&& f) {
    f("job", s.job); f("stage", s.stage); f("edges", s.edges);
  }
  bool operator==(const EdgesChanged&) const = default;
};

struct StageSubmitted {  // C; partitions when not all
  static constexpr std::string_view name = "stage_submitted";
  StageRef stage{};
  std::int64_t tasks = 0;
  std::optional<Ranges> partitions;
  static void keys(auto& s, auto&& f) {
    StageRef::keys(s.stage, f); f("tasks", s.tasks); f("partitions", s.partitions);
  }
  bool operator==(const StageSubmitted&) const = default;
};

struct StageCompleted {  // C, one per submitted attempt
  static constexpr std::string_view name = "stage_completed";
  StageRef stage{};
  StageStatus status{};
  std::optional<StageReason> reason;
  static void keys(auto& s, auto&& f) {
    StageRef::keys(s.stage, f); f("status", s.status); f("reason", s.reason);
  }
  bool operator==(const StageCompleted&) const = default;
};

}  // namespace rehearse::model
