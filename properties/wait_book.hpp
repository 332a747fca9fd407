// Who waits for slots, in queue order as far as a journal shows it (A16, A18): gangs that were
// refused or not looked at yet, and regular stages with tasks that nobody has launched. Filled by
// Track, read by the monitors of waiting. Units stand in lanes: one, or one per pool under `fair`,
// whose order among pools follows from counts of the pass and is not known here.
//
// Cost: O(log waiting) per unit that begins or ceases to wait, nothing per task.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <vector>

#include "model/support/names.hpp"
#include "model/support/time.hpp"
#include "properties/rows.hpp"
#include "properties/rules.hpp"

namespace rehearse::properties {

// Place of a unit in its lane; a group stands where its first stage stands.
struct UnitKey {
  std::int64_t urgency = 0;  // less goes first: the priority negated, 0 without priorities
  model::Instant submitted = 0;
  Index job = no_index;
  Index stage = no_index;
  auto operator<=>(const UnitKey&) const = default;
};

class WaitBook {
 public:
  void start(const Rules& rules, std::size_t profiles);
  // The lane of a pool; makes it.
  [[nodiscard]] Index lane_of(model::NameId pool);
  [[nodiscard]] std::size_t lanes() const { return lanes_.size(); }

  // Is the order inside a lane known? Not by demand, by the seed, by text or by running tasks.
  [[nodiscard]] bool ordered() const { return ordered_; }
  // Does the order of lanes not matter, because there is one?
  [[nodiscard]] bool one_lane() const { return !by_pool_; }
  [[nodiscard]] bool by_priority() const { return by_priority_; }
  // Both of one lane: does `first` stand before `second` for certain? Jobs of one instant are told
  // apart only where their lines come in file order.
  [[nodiscard]] bool certainly_before(const UnitKey& first, const UnitKey& second) const;

  // Gangs that may be heads and candidates; empty where gangs never queue (A6 retry, A2 none).
  [[nodiscard]] bool gangs_queue() const { return gangs_queue_; }
  // Of this one? Groups that failed and are to run again wait whatever `short` says (X16); a
  // barrier stage goes by `short` then, too, and starts whole also where groups do not (A12).
  [[nodiscard]] bool queues(const Group& gang) const {
    return gang.gang_of_several() ? gangs_queue_ || (gang.rerun && reruns_queue_) : barriers_queue_;
  }
  void add_gang(Index lane, const UnitKey& gang);
  void remove_gang(Index lane, const UnitKey& gang);
  [[nodiscard]] const std::set<UnitKey>& gangs(Index lane) const { return lanes_[lane].gangs; }
  [[nodiscard]] std::size_t gang_count() const { return gang_count_; }
  // Goes up whenever a gang begins or ceases to wait.
  [[nodiscard]] std::uint64_t gang_changes() const { return gang_changes_; }
  // The first gang of the lane in queue order; null if there is none or several of different jobs
  // may be it.
  [[nodiscard]] const UnitKey* first_gang(Index lane) const;

  // May any stage be waiting?
  [[nodiscard]] bool any_stage() const { return listed_ > 0; }
  // Once per stage until it is dropped; whether it still waits is looked up when it is on top.
  void add_stage(Index lane, Index profile, const UnitKey& stage, const std::vector<Job>& jobs);
  // The first stage of the lane with waiting tasks of the profile; null if there is none. Drops
  // what does not wait any more and clears its mark `listed`.
  [[nodiscard]] const UnitKey* first_stage(Index lane, Index profile,
                                           const std::vector<Job>& jobs) const;

 private:
  using Heap = std::vector<UnitKey>;  // least on top
  struct Lane {
    model::NameId pool;
    std::set<UnitKey> gangs;
    mutable std::vector<Heap> stages;   // by profile
    std::vector<std::size_t> swept_at;  // by profile: size at which stale entries are dropped
  };

  [[nodiscard]] static Stage* waiting(const UnitKey& key, const std::vector<Job>& jobs);
  void sweep(Heap& heap, const std::vector<Job>& jobs);

  std::vector<Lane> lanes_;
  std::size_t profiles_ = 0;
  std::size_t gang_count_ = 0;
  mutable std::size_t listed_ = 0;  // stages, over all heaps
  std::uint64_t gang_changes_ = 0;
  bool ordered_ = true;
  bool by_pool_ = false;
  bool by_priority_ = false;
  bool ties_in_order_ = true;
  bool gangs_queue_ = true;
  bool reruns_queue_ = true;
  bool barriers_queue_ = true;
};

}  // namespace rehearse::properties
