// Placement random (A15): any executor with room, by the run's seed.
// registry: random
#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

using scheduler::ExecutorId;
using scheduler::SlotView;
using scheduler::TaskView;

class Random final : public scheduler::PlacementPolicy {
 public:
  [[nodiscard]] std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<Random>(*this);
  }
  void begin(const SlotView& /*slots*/) override {}
  // A few draws find one with room unless most are full; then the next one that has.
  [[nodiscard]] ExecutorId pick(const SlotView& slots, const TaskView& task) override {
    const std::uint64_t count = slots.executor_count();
    if (count == 0) {
      return ExecutorId{};
    }
    std::uint64_t bits = task.random;
    for (int draw = 0; draw < draws; ++draw) {
      const ExecutorId executor{static_cast<std::uint32_t>((bits >> 32U) % count)};
      if (slots.free_slots(executor, task.profile) > 0) {
        return executor;
      }
      bits = bits * 6364136223846793005U + 1442695040888963407U;
    }
    const ExecutorId next =
        slots.first_free(task.profile, static_cast<std::uint32_t>((bits >> 32U) % count));
    return next.valid() ? next : slots.first_free(task.profile, 0);
  }
  void taking(const SlotView& /*slots*/, ExecutorId /*executor*/) override {}
  [[nodiscard]] bool wants_task_key() const override { return true; }

 private:
  static constexpr int draws = 8;
};

}  // namespace

std::unique_ptr<scheduler::PlacementPolicy> make_random() { return std::make_unique<Random>(); }

}  // namespace rehearse::policies
