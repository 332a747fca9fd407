// Gangs in ordered sets, stages in heaps whose stale entries are dropped when they come to the top.
// registry: none (derived journal state, used by the monitors of waiting)
#include "properties/wait_book.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace rehearse::properties {

namespace {

constexpr std::size_t sweep_min = 1024;

bool is_fair_inside(const model::PoolConfig& pool) { return pool.fair; }

}  // namespace

void WaitBook::start(const Rules& rules, std::size_t profiles) {
  const model::AdmissionConfig& admission = rules.config.admission;
  using enum model::QueueOrder;
  profiles_ = profiles;
  by_pool_ = admission.queue == fair;
  by_priority_ = admission.queue == priority;
  ordered_ = admission.queue == fifo || by_priority_ ||
             (by_pool_ && !admission.fair_ties_text &&
              std::none_of(rules.config.pools.begin(), rules.config.pools.end(), is_fair_inside));
  ties_in_order_ = rules.ties_in_order;
  const bool retries = admission.when_short == model::Short::retry;
  reruns_queue_ = admission.hold != model::Hold::none && admission.hold != model::Hold::bulk;
  gangs_queue_ = reruns_queue_ && !retries;
  barriers_queue_ = admission.hold != model::Hold::bulk && !retries;
}

Index WaitBook::lane_of(model::NameId pool) {
  const model::NameId wanted = by_pool_ ? pool : model::NameId{};
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].pool == wanted) {
      return static_cast<Index>(i);
    }
  }
  Lane& lane = lanes_.emplace_back();
  lane.pool = wanted;
  lane.stages.resize(profiles_);
  lane.swept_at.assign(profiles_, sweep_min);
  return static_cast<Index>(lanes_.size() - 1);
}

bool WaitBook::certainly_before(const UnitKey& first, const UnitKey& second) const {
  if (first.job == second.job) {
    return first.stage < second.stage;
  }
  if (first.urgency != second.urgency) {
    return first.urgency < second.urgency;
  }
  if (first.submitted != second.submitted) {
    return first.submitted < second.submitted;
  }
  return ties_in_order_ && first.job < second.job;
}

void WaitBook::add_gang(Index lane, const UnitKey& gang) {
  if (lanes_[lane].gangs.insert(gang).second) {
    ++gang_count_;
  }
  ++gang_changes_;
}

void WaitBook::remove_gang(Index lane, const UnitKey& gang) {
  gang_count_ -= lanes_[lane].gangs.erase(gang);
  ++gang_changes_;
}

const UnitKey* WaitBook::first_gang(Index lane) const {
  const std::set<UnitKey>& gangs = lanes_[lane].gangs;
  if (gangs.empty() || !ordered_) {
    return nullptr;
  }
  const UnitKey& first = *gangs.begin();
  const auto second = std::find_if(std::next(gangs.begin()), gangs.end(),
                                   [&](const UnitKey& key) { return key.job != first.job; });
  return second == gangs.end() || certainly_before(first, *second) ? &first : nullptr;
}

// The row, if it waits.
Stage* WaitBook::waiting(const UnitKey& key, const std::vector<Job>& jobs) {
  const Job& job = jobs[key.job];
  if (job.body == nullptr || job.ended()) {
    return nullptr;
  }
  Stage& stage = job.body->stages[key.stage];
  return stage.waiting > 0 && stage.state == AttemptState::open ? &stage : nullptr;
}

void WaitBook::sweep(Heap& heap, const std::vector<Job>& jobs) {
  listed_ -= std::erase_if(heap, [&](const UnitKey& key) {
    if (waiting(key, jobs) != nullptr) {
      return false;
    }
    if (jobs[key.job].body != nullptr) {
      jobs[key.job].body->stages[key.stage].listed = false;
    }
    return true;
  });
  std::make_heap(heap.begin(), heap.end(), std::greater<>{});
}

void WaitBook::add_stage(Index lane, Index profile, const UnitKey& stage,
                         const std::vector<Job>& jobs) {
  Heap& heap = lanes_[lane].stages[profile];
  heap.push_back(stage);
  ++listed_;
  std::push_heap(heap.begin(), heap.end(), std::greater<>{});
  if (heap.size() >= lanes_[lane].swept_at[profile]) {
    sweep(heap, jobs);
    lanes_[lane].swept_at[profile] = std::max(sweep_min, 2 * heap.size());
  }
}

const UnitKey* WaitBook::first_stage(Index lane, Index profile,
                                     const std::vector<Job>& jobs) const {
  Heap& heap = lanes_[lane].stages[profile];
  while (!heap.empty()) {
    const UnitKey& top = heap.front();
    if (waiting(top, jobs) != nullptr) {
      return &top;
    }
    if (jobs[top.job].body != nullptr) {
      jobs[top.job].body->stages[top.stage].listed = false;
    }
    std::pop_heap(heap.begin(), heap.end(), std::greater<>{});
    heap.pop_back();
    --listed_;
  }
  return nullptr;
}

}  // namespace rehearse::properties
