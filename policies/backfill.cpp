// Overtaking rule backfill (A7): whatever fits may start while a head waits.
// registry: backfill
#include "policies/builtin.hpp"

namespace rehearse::policies {

namespace {

class Backfill final : public scheduler::OvertakePolicy {
 public:
  [[nodiscard]] std::unique_ptr<OvertakePolicy> clone() const override {
    return std::make_unique<Backfill>(*this);
  }
  [[nodiscard]] bool may_overtake(const scheduler::UnitView& /*head*/) const override {
    return true;
  }
};

}  // namespace

std::unique_ptr<scheduler::OvertakePolicy> make_backfill() { return std::make_unique<Backfill>(); }

}  // namespace rehearse::policies
