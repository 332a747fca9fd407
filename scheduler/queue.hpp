// The queue of units in the order of axis admission.queue (A7, A18): which unit is next that has
// tasks to launch, and which waiting gang could fit (A20). Positions are dense numbers in queue
// order; a unit keeps its place for the whole life of its job. Four bytes per position and four per
// stage: keys and demands stay in the tables they come from.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "model/support/time.hpp"
#include "scheduler/ids.hpp"
#include "scheduler/indexes.hpp"
#include "scheduler/policy.hpp"

namespace rehearse::scheduler {

// Smaller goes first. `rank` is unique among live jobs, so no two units are equal.
struct UnitKey {
  QueueKey policy;  // of the queue policy
  model::Instant submitted = 0;
  std::uint64_t rank = 0;
  std::uint32_t stage = 0;   // first stage of the unit, within the job
  std::uint32_t member = 0;  // of a group whose tasks are launched one by one: the stage itself
  auto operator<=>(const UnitKey&) const = default;
};

// What the queue reads of the tables. The answers for a unit must not change while it is queued,
// its demand not while it waits.
class UnitFacts {
 public:
  UnitFacts() = default;
  UnitFacts(const UnitFacts&) = delete;
  UnitFacts& operator=(const UnitFacts&) = delete;
  virtual ~UnitFacts() = default;
  [[nodiscard]] virtual UnitKey key(StageId leader) const = 0;
  [[nodiscard]] virtual std::span<const std::int32_t> demand(StageId leader) const = 0;
};

class UnitQueue {
 public:
  UnitQueue() = default;
  explicit UnitQueue(std::size_t profiles);

  // Units are named by the stage that leads them.
  void add(StageId leader, const UnitFacts& facts);
  void remove(StageId leader, const UnitFacts& facts);
  [[nodiscard]] std::uint32_t position(StageId leader) const {
    return position_of_[leader.index()];
  }
  [[nodiscard]] StageId unit_at(std::uint32_t position) const { return leaders_[position]; }

  // A singleton has tasks of this profile to launch, or has none any more.
  void set_pending(StageId leader, ProfileId profile);
  void clear_pending(StageId leader, ProfileId profile);
  // A gang waits for slots, or does not any more.
  void set_waiting(StageId leader, const UnitFacts& facts);
  void clear_waiting(StageId leader, const UnitFacts& facts);

  // First at or after `from`; no_position if none.
  [[nodiscard]] std::uint32_t next_pending(ProfileId profile, std::uint32_t from) const {
    return pending_[profile.index()].next(from);
  }
  [[nodiscard]] std::uint32_t next_waiting(std::uint32_t from) const { return waiting_.next(from); }
  // Of the waiting gangs, the first whose demand does not exceed `free` in any profile.
  [[nodiscard]] std::uint32_t next_fitting(std::uint32_t from, std::span<const std::int64_t> free,
                                           const UnitFacts& facts) const;

 private:
  // Renumbers the live units in key order, with room for as many again.
  void rebuild(const UnitFacts& facts);
  // The least demands of the gangs that wait in a block of positions.
  void settle_block(std::uint32_t block, const UnitFacts& facts);

  static constexpr std::uint32_t block_size = 64;  // positions per leaf of demands_

  std::size_t profiles_ = 0;
  std::vector<StageId> leaders_;            // by position, key order; invalid: removed
  std::vector<std::uint32_t> position_of_;  // by stage
  std::size_t live_ = 0;
  std::uint32_t capacity_ = 0;        // positions the indexes have room for
  std::vector<PositionSet> pending_;  // by profile
  PositionSet waiting_;
  DemandTree demands_;  // by block
};

}  // namespace rehearse::scheduler
