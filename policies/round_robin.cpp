// Placement round-robin (A15): executors by (free slots descending, number) as they stood when the
// pass began, one task each in turn; the position is kept within the pass. The order is made at the
// first task of a pass that needs it: O(executors log executors) in a pass that starts something.
// What was taken by then, for another profile or by a trial that failed, is counted as it was when
// the pass began.
// registry: round-robin
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

using scheduler::ExecutorId;
using scheduler::ProfileId;
using scheduler::SlotView;
using scheduler::TaskView;

class RoundRobin final : public scheduler::PlacementPolicy {
 public:
  [[nodiscard]] std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<RoundRobin>(*this);
  }
  void begin(const SlotView& slots) override {
    turns_.assign(slots.profile_count(), Turn{});
    touched_.clear();
    unordered_ = turns_.size();
  }
  [[nodiscard]] ExecutorId pick(const SlotView& slots, const TaskView& task) override {
    Turn& turn = turns_[task.profile.index()];
    if (turn.order.empty()) {
      make_order(slots, task.profile, turn.order);
      unordered_ -= turn.order.empty() ? 0U : 1U;
    }
    for (std::size_t i = 0; i < turn.order.size(); ++i) {
      const ExecutorId executor = turn.order[turn.next];
      turn.next = (turn.next + 1) % turn.order.size();
      if (slots.free_slots(executor, task.profile) > 0) {
        return executor;
      }
    }
    return ExecutorId{};
  }
  void taking(const SlotView& slots, ExecutorId executor) override {
    if (unordered_ == 0 || touched_.contains(executor)) {
      return;
    }
    std::vector<std::int64_t>& free = touched_[executor];
    for (std::size_t p = 0; p < slots.profile_count(); ++p) {
      free.push_back(slots.free_slots(executor, ProfileId{p}));
    }
  }

 private:
  struct Turn {
    std::vector<ExecutorId> order;
    std::size_t next = 0;
  };

  void make_order(const SlotView& slots, ProfileId profile, std::vector<ExecutorId>& order) const {
    std::vector<std::pair<std::int64_t, ExecutorId>> rows;  // less what is free, who
    for (ExecutorId at = slots.first_free(profile, 0); at.valid();
         at = slots.first_free(profile, at.value + 1)) {
      if (!touched_.contains(at)) {
        rows.emplace_back(-slots.free_slots(at, profile), at);
      }
    }
    for (const auto& [executor, free] : touched_) {
      if (free[profile.index()] > 0) {
        rows.emplace_back(-free[profile.index()], executor);
      }
    }
    std::ranges::sort(rows);
    for (const auto& [free, executor] : rows) {
      order.push_back(executor);
    }
  }

  std::vector<Turn> turns_;                                  // by profile
  std::size_t unordered_ = 0;                                // of them, without an order yet
  std::map<ExecutorId, std::vector<std::int64_t>> touched_;  // taken from: what was free at begin()
};

}  // namespace

std::unique_ptr<scheduler::PlacementPolicy> make_round_robin() {
  return std::make_unique<RoundRobin>();
}

}  // namespace rehearse::policies
