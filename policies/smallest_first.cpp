// Queue order smallest-first (A18): least demand first, then least estimated work, then fifo.
// registry: smallest-first
#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

class SmallestFirst final : public scheduler::QueuePolicy {
 public:
  [[nodiscard]] std::unique_ptr<QueuePolicy> clone() const override {
    return std::make_unique<SmallestFirst>(*this);
  }
  [[nodiscard]] bool reads_work() const override { return true; }
  [[nodiscard]] scheduler::QueueKey key(const scheduler::UnitView& unit) const override {
    return {unit.demand_slots, unit.work};
  }
};

}  // namespace

std::unique_ptr<scheduler::QueuePolicy> make_smallest_first() {
  return std::make_unique<SmallestFirst>();
}

}  // namespace rehearse::policies
