// Queue order priority (A18): jobs of greater priority first, then fifo.
// registry: priority
#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

class Priority final : public scheduler::QueuePolicy {
 public:
  [[nodiscard]] std::unique_ptr<QueuePolicy> clone() const override {
    return std::make_unique<Priority>(*this);
  }
  [[nodiscard]] scheduler::QueueKey key(const scheduler::UnitView& unit) const override {
    return {-unit.priority, 0};
  }
};

}  // namespace

std::unique_ptr<scheduler::QueuePolicy> make_priority() { return std::make_unique<Priority>(); }

}  // namespace rehearse::policies
