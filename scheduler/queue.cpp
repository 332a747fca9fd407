// Queue positions are handed out in order; a unit that must stand between two others, or a full
// range, renumbers the live units, which costs O(live) and happens at most once per doubling and
// for submissions that rank before one already made at the same instant.
#include "scheduler/queue.hpp"

#include <algorithm>
#include <utility>

#include "model/support/check.hpp"
#include "scheduler/table.hpp"

namespace rehearse::scheduler {

UnitQueue::UnitQueue(std::size_t profiles)
    : profiles_(profiles), capacity_(block_size), pending_(profiles), demands_(profiles) {
  for (PositionSet& set : pending_) {
    set.resize(capacity_);
  }
  waiting_.resize(capacity_);
  demands_.resize(1);
}

void UnitQueue::rebuild(const UnitFacts& facts) {
  struct Unit {
    UnitKey key;
    StageId leader;
  };
  std::vector<Unit> units;
  units.reserve(live_);
  std::vector<std::pair<StageId, std::size_t>> pending;
  std::vector<StageId> waiting;
  for (std::uint32_t position = 0; position < leaders_.size(); ++position) {
    const StageId leader = leaders_[position];
    if (!leader.valid()) {
      continue;
    }
    units.push_back({facts.key(leader), leader});
    for (std::size_t p = 0; p < profiles_ && position < capacity_; ++p) {
      if (pending_[p].contains(position)) {
        pending.emplace_back(leader, p);
      }
    }
    if (position < capacity_ && waiting_.contains(position)) {
      waiting.push_back(leader);
    }
  }
  RH_CHECK(units.size() == live_, static_cast<std::int64_t>(live_));
  std::ranges::sort(units, {}, &Unit::key);
  capacity_ = static_cast<std::uint32_t>(std::max<std::size_t>(2 * live_, block_size));
  for (PositionSet& set : pending_) {
    set.resize(capacity_);
    set.clear();
  }
  waiting_.resize(capacity_);
  waiting_.clear();
  demands_.resize(capacity_ / block_size + 1);
  leaders_.clear();
  for (const Unit& unit : units) {
    position_of_[unit.leader.index()] = static_cast<std::uint32_t>(leaders_.size());
    leaders_.push_back(unit.leader);
  }
  for (const auto& [leader, profile] : pending) {
    pending_[profile].insert(position(leader));
  }
  for (const StageId leader : waiting) {
    set_waiting(leader, facts);
  }
}

void UnitQueue::add(StageId leader, const UnitFacts& facts) {
  reserve_first(leaders_);
  if (leader.index() >= position_of_.size()) {
    reserve_first(position_of_);
    position_of_.resize(leader.index() + 1, no_position);
  }
  const bool last = leaders_.empty() || facts.key(leaders_.back()) < facts.key(leader);
  leaders_.push_back(leader);
  ++live_;
  if (!last || leaders_.size() > capacity_) {
    rebuild(facts);
  } else {
    position_of_[leader.index()] = static_cast<std::uint32_t>(leaders_.size() - 1);
  }
}

void UnitQueue::remove(StageId leader, const UnitFacts& facts) {
  for (std::size_t p = 0; p < profiles_; ++p) {
    clear_pending(leader, ProfileId{p});
  }
  clear_waiting(leader, facts);
  leaders_[position(leader)] = StageId{};
  position_of_[leader.index()] = no_position;
  --live_;
  while (!leaders_.empty() && !leaders_.back().valid()) {
    leaders_.pop_back();
  }
}

void UnitQueue::set_pending(StageId leader, ProfileId profile) {
  pending_[profile.index()].insert(position(leader));
}

void UnitQueue::clear_pending(StageId leader, ProfileId profile) {
  if (pending_[profile.index()].contains(position(leader))) {
    pending_[profile.index()].erase(position(leader));
  }
}

void UnitQueue::settle_block(std::uint32_t block, const UnitFacts& facts) {
  std::vector<std::int32_t> least;
  const std::uint32_t end = (block + 1) * block_size;
  for (std::uint32_t at = waiting_.next(block * block_size); at < end; at = waiting_.next(at + 1)) {
    const auto demand = facts.demand(leaders_[at]);
    if (least.empty()) {
      least.assign(demand.begin(), demand.end());
    }
    for (std::size_t p = 0; p < profiles_; ++p) {
      least[p] = std::min(least[p], demand[p]);
    }
  }
  demands_.set(block, least);
}

void UnitQueue::set_waiting(StageId leader, const UnitFacts& facts) {
  RH_CHECK(facts.demand(leader).size() == profiles_, leader.value);
  waiting_.insert(position(leader));
  settle_block(position(leader) / block_size, facts);
}

void UnitQueue::clear_waiting(StageId leader, const UnitFacts& facts) {
  if (waiting_.contains(position(leader))) {
    waiting_.erase(position(leader));
    settle_block(position(leader) / block_size, facts);
  }
}

std::uint32_t UnitQueue::next_fitting(std::uint32_t from, std::span<const std::int64_t> free,
                                      const UnitFacts& facts) const {
  std::uint32_t block = demands_.next(from / block_size, free);
  while (block != no_position) {
    const std::uint32_t end = (block + 1) * block_size;
    for (std::uint32_t at = waiting_.next(std::max(from, block * block_size)); at < end;
         at = waiting_.next(at + 1)) {
      const auto demand = facts.demand(leaders_[at]);
      if (std::ranges::equal(demand, free,
                             [](std::int64_t need, std::int64_t have) { return need <= have; })) {
        return at;
      }
    }
    block = demands_.next(block + 1, free);
  }
  return no_position;
}

}  // namespace rehearse::scheduler
