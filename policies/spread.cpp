// Placement spread (A15): the next task goes to the executor with most free slots of its profile,
// ties to the lowest number.
// registry: spread
#include "model/support/planted.hpp"
#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

using scheduler::ExecutorId;
using scheduler::SlotView;
using scheduler::TaskView;

class Spread final : public scheduler::PlacementPolicy {
 public:
  [[nodiscard]] std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<Spread>(*this);
  }
  void begin(const SlotView& /*slots*/) override {}
  [[nodiscard]] ExecutorId pick(const SlotView& slots, const TaskView& task) override {
    if (model::planted(model::Mutant::mu50) &&
        slots.free_slots(ExecutorId{0U}, task.profile) == 0) {
      return ExecutorId{};
    }
    return slots.most_free(task.profile);
  }
  void taking(const SlotView& /*slots*/, ExecutorId /*executor*/) override {}
};

}  // namespace

std::unique_ptr<scheduler::PlacementPolicy> make_spread() { return std::make_unique<Spread>(); }

}  // namespace rehearse::policies
