// Queue positions are handed out in order; a unit that must stand between two others, or a full
// range, renumbers the live units, which costs O(live) and happens at most once per doubling and
// for submissions that rank before one already made at the same instant.
#include "scheduler/queue.hpp"

#include <algorithm>

#include "model/support/check.hpp"

namespace rehearse::scheduler {

UnitQueue::UnitQueue(std::size_t profiles)
    : profiles_(profiles), pending_(profiles), demands_(profiles) {
  rebuild();
}

void UnitQueue::index_slot(std::uint32_t position) {
  const Slot& slot = slots_[position];
  if (slot.pending.valid()) {
    pending_[slot.pending.index()].insert(position);
  }
  if (!slot.demand.empty()) {
    waiting_.insert(position);
    demands_.set(position, slot.demand);
  }
}

void UnitQueue::rebuild() {
  std::erase_if(slots_, [](const Slot& slot) { return !slot.leader.valid(); });
  std::ranges::sort(slots_, {}, &Slot::key);
  RH_CHECK(slots_.size() == live_, static_cast<std::int64_t>(live_));
  capacity_ = static_cast<std::uint32_t>(std::max<std::size_t>(2 * live_, 64));
  for (PositionSet& set : pending_) {
    set.resize(capacity_);
    set.clear();
  }
  waiting_.resize(capacity_);
  waiting_.clear();
  demands_.resize(capacity_);
  for (std::uint32_t position = 0; position < slots_.size(); ++position) {
    position_of_[slots_[position].leader.index()] = position;
    index_slot(position);
  }
}

void UnitQueue::add(StageId leader, const UnitKey& key) {
  if (leader.index() >= position_of_.size()) {
    position_of_.resize(leader.index() + 1, no_position);
  }
  const bool last = slots_.empty() || slots_.back().key < key;
  slots_.push_back(Slot{key, leader, {}, {}});
  ++live_;
  if (!last || slots_.size() > capacity_) {
    rebuild();
  } else {
    position_of_[leader.index()] = static_cast<std::uint32_t>(slots_.size() - 1);
  }
}

void UnitQueue::remove(StageId leader) {
  clear_pending(leader);
  clear_waiting(leader);
  const std::uint32_t position = position_of_[leader.index()];
  slots_[position].leader = StageId{};
  position_of_[leader.index()] = no_position;
  --live_;
  while (!slots_.empty() && !slots_.back().leader.valid()) {
    slots_.pop_back();
  }
}

void UnitQueue::set_pending(StageId leader, ProfileId profile) {
  const std::uint32_t position = position_of_[leader.index()];
  Slot& slot = slots_[position];
  RH_CHECK(!slot.pending.valid() || slot.pending == profile, leader.value);
  slot.pending = profile;
  pending_[profile.index()].insert(position);
}

void UnitQueue::clear_pending(StageId leader) {
  const std::uint32_t position = position_of_[leader.index()];
  Slot& slot = slots_[position];
  if (slot.pending.valid()) {
    pending_[slot.pending.index()].erase(position);
    slot.pending = ProfileId{};
  }
}

void UnitQueue::set_waiting(StageId leader, std::span<const std::int32_t> demand) {
  const std::uint32_t position = position_of_[leader.index()];
  slots_[position].demand.assign(demand.begin(), demand.end());
  waiting_.insert(position);
  demands_.set(position, demand);
}

void UnitQueue::clear_waiting(StageId leader) {
  const std::uint32_t position = position_of_[leader.index()];
  if (!slots_[position].demand.empty()) {
    slots_[position].demand.clear();
    waiting_.erase(position);
    demands_.set(position, {});
  }
}

}  // namespace rehearse::scheduler
