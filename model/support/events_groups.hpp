// Journal events 10 to 18: groups and stages (scenario.md section 5).
// Each struct lists its keys in wire order; D = written by the driver, C = by the core.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/support/event_types.hpp"

namespace rehearse::model {

struct GroupFormed {  // C
  static constexpr std::string_view name = "group_formed";
  NameId job;
  NameId stage;
  std::vector<NameId> stages;
  PerProfile demand{};
  static void keys(auto& s, auto&& f) {
    f("job", s.job);
    f("stage", s.stage);
    f("stages", s.stages);
    f("demand", s.demand);
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
    f("job", s.job);
    f("stage", s.stage);
    f("reason", s.reason);
    f("need", s.need);
    f("have", s.have);
  }
  bool operator==(const GroupQueued&) const = default;
};

struct GroupAdmitted {  // C
  static constexpr std::string_view name = "group_admitted";
  StageRef group{};
  PerProfile slots{};
  static void keys(auto& s, auto&& f) {
    StageRef::keys(s.group, f);
    f("slots", s.slots);
  }
  bool operator==(const GroupAdmitted&) const = default;
};

struct GroupCommitted {  // C
  static constexpr std::string_view name = "group_committed";
  StageRef group{};
  static void keys(auto& s, auto&& f) { StageRef::keys(s.group, f); }
  bool operator==(const GroupCommitted&) const = default;
};

struct GroupFailed {  // C
  static constexpr std::string_view name = "group_failed";
  StageRef group{};
  Code cause{};
  static void keys(auto& s, auto&& f) {
    StageRef::keys(s.group, f);
    f("cause", s.cause);
  }
  bool operator==(const GroupFailed&) const = default;
};

struct GroupCancelled {  // C; attempt absent if only queued
  static constexpr std::string_view name = "group_cancelled";
  StageRef group{};
  CancelCause cause{};
  static void keys(auto& s, auto&& f) {
    StageRef::keys(s.group, f);
    f("cause", s.cause);
  }
  bool operator==(const GroupCancelled&) const = default;
};

struct EdgesChanged {  // C, fall-back
  static constexpr std::string_view name = "edges_changed";
  NameId job;
  NameId stage;
  std::vector<EdgeItem> edges;
  static void keys(auto& s, auto&& f) {
    f("job", s.job);
    f("stage", s.stage);
    f("edges", s.edges);
  }
  bool operator==(const EdgesChanged&) const = default;
};

struct StageSubmitted {  // C; partitions when not all
  static constexpr std::string_view name = "stage_submitted";
  StageRef stage{};
  std::int64_t tasks = 0;
  std::optional<Ranges> partitions;
  static void keys(auto& s, auto&& f) {
    StageRef::keys(s.stage, f);
    f("tasks", s.tasks);
    f("partitions", s.partitions);
  }
  bool operator==(const StageSubmitted&) const = default;
};

struct StageCompleted {  // C, one per submitted attempt
  static constexpr std::string_view name = "stage_completed";
  StageRef stage{};
  StageStatus status{};
  std::optional<StageReason> reason;
  static void keys(auto& s, auto&& f) {
    StageRef::keys(s.stage, f);
    f("status", s.status);
    f("reason", s.reason);
  }
  bool operator==(const StageCompleted&) const = default;
};

}  // namespace rehearse::model
