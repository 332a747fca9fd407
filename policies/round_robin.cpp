// Placement round-robin (A15): executors by (free slots descending, number) as they stood when the
// pass began, one task each in turn; the position is kept within the pass. The order is made at the
// first task of a pass that needs it: O(executors log executors) in a pass that starts something.
// registry: round-robin
#include <algorithm>
#include <vector>

#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

using scheduler::ExecutorId;
using scheduler::SlotView;
using scheduler::TaskView;

class RoundRobin final : public scheduler::PlacementPolicy {
 public:
  [[nodiscard]] std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<RoundRobin>(*this);
  }
  void begin(const SlotView& slots) override { turns_.assign(slots.profile_count(), Turn{}); }
  [[nodiscard]] ExecutorId pick(const SlotView& slots, const TaskView& task) override {
    Turn& turn = turns_[task.profile.index()];
    if (turn.order.empty()) {
      make_order(slots, task.profile, turn.order);
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
  void taking(const SlotView& /*slots*/, ExecutorId /*executor*/) override {}

 private:
  struct Turn {
    std::vector<ExecutorId> order;
    std::size_t next = 0;
  };

  static void make_order(const SlotView& slots, scheduler::ProfileId profile,
                         std::vector<ExecutorId>& order) {
    for (ExecutorId at = slots.first_free(profile, 0); at.valid();
         at = slots.first_free(profile, at.value + 1)) {
      order.push_back(at);
    }
    std::ranges::sort(order, [&](ExecutorId left, ExecutorId right) {
      const std::int64_t l = slots.free_slots(left, profile);
      const std::int64_t r = slots.free_slots(right, profile);
      return l > r || (l == r && left < right);
    });
  }

  std::vector<Turn> turns_;  // by profile
};

}  // namespace

std::unique_ptr<scheduler::PlacementPolicy> make_round_robin() {
  return std::make_unique<RoundRobin>();
}

}  // namespace rehearse::policies
