// Placement nested (A15): executors in number order. A reservation by its widest stage (A10) starts
// at the first executor again for each stage; the core does that, since each stage may use what
// another one reserved.
// registry: nested
#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

using scheduler::ExecutorId;
using scheduler::SlotView;
using scheduler::TaskView;

class Nested final : public scheduler::PlacementPolicy {
 public:
  [[nodiscard]] std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<Nested>(*this);
  }
  void begin(const SlotView& /*slots*/) override {}
  [[nodiscard]] ExecutorId pick(const SlotView& slots, const TaskView& task) override {
    return slots.first_free(task.profile, 0);
  }
  void taking(const SlotView& /*slots*/, ExecutorId /*executor*/) override {}
};

}  // namespace

std::unique_ptr<scheduler::PlacementPolicy> make_nested() { return std::make_unique<Nested>(); }

}  // namespace rehearse::policies
