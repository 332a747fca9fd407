// Queue order unordered (A18): no order that a user could rely on; here by the run's seed.
// registry: unordered
#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

class Unordered final : public scheduler::QueuePolicy {
 public:
  [[nodiscard]] std::unique_ptr<QueuePolicy> clone() const override {
    return std::make_unique<Unordered>(*this);
  }
  [[nodiscard]] scheduler::QueueKey key(const scheduler::UnitView& unit) const override {
    return {static_cast<std::int64_t>(unit.random >> 1U), 0};
  }
};

}  // namespace

std::unique_ptr<scheduler::QueuePolicy> make_unordered() { return std::make_unique<Unordered>(); }

}  // namespace rehearse::policies
