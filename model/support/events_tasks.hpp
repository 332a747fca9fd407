// Journal events 19 to 27: tasks, slots, outputs, reservations (scenario.md section 5).
// Each struct lists its keys in wire order; D = written by the driver, C = by the core.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/support/event_types.hpp"

namespace rehearse::model {

struct TaskStart {  // D
  static constexpr std::string_view name = "task_start";
  TaskRef task{};
  bool speculative = false;
  static void keys(auto& s, auto&& f) {
    TaskRef::keys(s.task, f);
    f("speculative", s.speculative);
  }
  bool operator==(const TaskStart&) const = default;
};

struct TaskEnd {  // D; counted is written only as false
  static constexpr std::string_view name = "task_end";
  TaskRef task{};
  bool speculative = false;
  TaskStatus status{};
  std::optional<TaskReason> reason;
  std::optional<bool> counted;
  std::optional<SlotState> slot;
  static void keys(auto& s, auto&& f) {
    TaskRef::keys(s.task, f);
    f("speculative", s.speculative);
    f("status", s.status);
    f("reason", s.reason);
    f("counted", s.counted);
    f("slot", s.slot);
  }
  bool operator==(const TaskEnd&) const = default;
};

struct SlotReturned {  // D
  static constexpr std::string_view name = "slot_returned";
  NameId executor;
  NameId profile;
  std::int64_t count = 0;
  NameId job;
  static void keys(auto& s, auto&& f) {
    f("executor", s.executor);
    f("profile", s.profile);
    f("count", s.count);
    f("job", s.job);
  }
  bool operator==(const SlotReturned&) const = default;
};

struct MemberFinished {  // C
  static constexpr std::string_view name = "member_finished";
  StageRef stage{};
  static void keys(auto& s, auto&& f) { StageRef::keys(s.stage, f); }
  bool operator==(const MemberFinished&) const = default;
};

struct OutputsRegistered {  // C, at group commit
  static constexpr std::string_view name = "outputs_registered";
  StageRef stage{};
  static void keys(auto& s, auto&& f) { StageRef::keys(s.stage, f); }
  bool operator==(const OutputsRegistered&) const = default;
};

struct OutputsLost {  // C
  static constexpr std::string_view name = "outputs_lost";
  NameId job;
  NameId stage;
  NameId executor;
  Ranges partitions{};
  static void keys(auto& s, auto&& f) {
    f("job", s.job);
    f("stage", s.stage);
    f("executor", s.executor);
    f("partitions", s.partitions);
  }
  bool operator==(const OutputsLost&) const = default;
};

struct OutputCommitted {  // C
  static constexpr std::string_view name = "output_committed";
  TaskRef task{};
  static void keys(auto& s, auto&& f) { TaskRef::keys(s.task, f); }
  bool operator==(const OutputCommitted&) const = default;
};

struct OutputDiscarded {  // C
  static constexpr std::string_view name = "output_discarded";
  TaskRef task{};
  static void keys(auto& s, auto&& f) { TaskRef::keys(s.task, f); }
  bool operator==(const OutputDiscarded&) const = default;
};

struct Reservation {  // C, only for what outlives its step
  static constexpr std::string_view name = "reservation";
  NameId job;
  NameId stage;
  NameId executor;
  NameId profile;
  std::int64_t slots = 0;
  std::int64_t delta = 0;
  static void keys(auto& s, auto&& f) {
    f("job", s.job);
    f("stage", s.stage);
    f("executor", s.executor);
    f("profile", s.profile);
    f("slots", s.slots);
    f("delta", s.delta);
  }
  bool operator==(const Reservation&) const = default;
};

}  // namespace rehearse::model
