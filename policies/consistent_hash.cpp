// Placement consistent-hash (A15): tasks and executors stand on one circle by the hashes of their
// names; a task goes to the next executor on it that has room.
// registry: consistent-hash
#include <algorithm>
#include <vector>

#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

using scheduler::ExecutorId;
using scheduler::SlotView;
using scheduler::TaskView;

class ConsistentHash final : public scheduler::PlacementPolicy {
 public:
  [[nodiscard]] std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<ConsistentHash>(*this);
  }
  void begin(const SlotView& slots) override {
    // A trial has another view, with as many executors under other numbers, perhaps.
    if (circle_.size() == slots.executor_count() && numbering_ == slots.numbering()) {
      return;
    }
    numbering_ = slots.numbering();
    circle_.clear();
    for (std::uint32_t i = 0; i < slots.executor_count(); ++i) {
      circle_.push_back({slots.name_key(ExecutorId{i}), ExecutorId{i}});
    }
    std::ranges::sort(circle_);
  }
  [[nodiscard]] ExecutorId pick(const SlotView& slots, const TaskView& task) override {
    const auto first = std::ranges::lower_bound(circle_, task.key, {}, &Point::key);
    const auto from = static_cast<std::size_t>(first - circle_.begin());
    for (std::size_t i = 0; i < circle_.size(); ++i) {
      const ExecutorId executor = circle_[(from + i) % circle_.size()].executor;
      if (slots.free_slots(executor, task.profile) > 0) {
        return executor;
      }
    }
    return ExecutorId{};
  }
  void taking(const SlotView& /*slots*/, ExecutorId /*executor*/) override {}
  [[nodiscard]] bool wants_task_key() const override { return true; }

 private:
  struct Point {
    std::uint64_t key = 0;
    ExecutorId executor;
    auto operator<=>(const Point&) const = default;
  };

  std::uint64_t numbering_ = 0;  // of the view that circle_ was made of
  std::vector<Point> circle_;    // every executor so far, ascending
};

}  // namespace

std::unique_ptr<scheduler::PlacementPolicy> make_consistent_hash() {
  return std::make_unique<ConsistentHash>();
}

}  // namespace rehearse::policies
