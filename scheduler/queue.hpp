// The queue of units in the order of axis admission.queue (A7, A18): which unit is next that has
// tasks to launch, and which waiting gang could fit (A20). Positions are dense numbers in queue
// order; a unit keeps its place for the whole life of its job.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "model/support/time.hpp"
#include "scheduler/ids.hpp"
#include "scheduler/indexes.hpp"

namespace rehearse::scheduler {

// Smaller goes first. `rank` is unique among live jobs, so no two units are equal.
struct UnitKey {
  std::int64_t policy = 0;  // of the queue policy
  model::Instant submitted = 0;
  std::uint64_t rank = 0;
  std::uint32_t stage = 0;  // first stage of the unit, within the job
  auto operator<=>(const UnitKey&) const = default;
};

class UnitQueue {
 public:
  UnitQueue() = default;
  explicit UnitQueue(std::size_t profiles);

  // Units are named by the stage that leads them.
  void add(StageId leader, const UnitKey& key);
  void remove(StageId leader);
  [[nodiscard]] std::uint32_t position(StageId leader) const {
    return position_of_[leader.index()];
  }
  [[nodiscard]] StageId unit_at(std::uint32_t position) const { return slots_[position].leader; }

  // A singleton has tasks of this profile to launch, or has none any more.
  void set_pending(StageId leader, ProfileId profile);
  void clear_pending(StageId leader);
  // A gang waits for slots (demand by profile), or does not any more.
  void set_waiting(StageId leader, std::span<const std::int32_t> demand);
  void clear_waiting(StageId leader);

  // First at or after `from`; no_position if none.
  [[nodiscard]] std::uint32_t next_pending(ProfileId profile, std::uint32_t from) const {
    return pending_[profile.index()].next(from);
  }
  [[nodiscard]] std::uint32_t next_waiting(std::uint32_t from) const { return waiting_.next(from); }
  // Of the waiting gangs, the first whose demand does not exceed `free` in any profile.
  [[nodiscard]] std::uint32_t next_fitting(std::uint32_t from,
                                           std::span<const std::int64_t> free) const {
    return demands_.next(from, free);
  }

 private:
  struct Slot {
    UnitKey key;
    StageId leader;                    // invalid: removed
    ProfileId pending;                 // invalid: nothing to launch
    std::vector<std::int32_t> demand;  // empty: does not wait
  };

  // Renumbers the live units in key order, with room for as many again.
  void rebuild();
  void index_slot(std::uint32_t position);

  std::size_t profiles_ = 0;
  std::vector<Slot> slots_;                 // by position, key order
  std::vector<std::uint32_t> position_of_;  // by stage
  std::size_t live_ = 0;
  std::uint32_t capacity_ = 0;        // positions the indexes have room for
  std::vector<PositionSet> pending_;  // by profile
  PositionSet waiting_;
  DemandTree demands_;
};

}  // namespace rehearse::scheduler
