// Queue order fifo (A18): submit time, then file order; every unit has the same key.
// registry: fifo
// registry: fair
#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

class Fifo final : public scheduler::QueuePolicy {
 public:
  [[nodiscard]] std::unique_ptr<QueuePolicy> clone() const override {
    return std::make_unique<Fifo>(*this);
  }
  [[nodiscard]] scheduler::QueueKey key(const scheduler::UnitView& /*unit*/) const override {
    return {};
  }
};

}  // namespace

std::unique_ptr<scheduler::QueuePolicy> make_fifo() { return std::make_unique<Fifo>(); }

// Inside a pool; the order of pools and its ties are the core's.
std::unique_ptr<scheduler::QueuePolicy> make_fair(Parameters /*ties*/) { return make_fifo(); }

}  // namespace rehearse::policies
