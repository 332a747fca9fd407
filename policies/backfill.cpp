// Overtaking rule backfill (A7): whatever fits may start while a head waits.
// registry: backfill
#include "model/support/planted.hpp"
#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

class Backfill final : public scheduler::OvertakePolicy {
 public:
  [[nodiscard]] std::unique_ptr<OvertakePolicy> clone() const override {
    return std::make_unique<Backfill>(*this);
  }
  [[nodiscard]] scheduler::Overtaking rule(const scheduler::HeadView& /*head*/) const override {
    if (model::planted(model::Mutant::c08)) {
      return scheduler::Overtaking::nobody;
    }
    return scheduler::Overtaking::anybody;
  }
};

}  // namespace

std::unique_ptr<scheduler::OvertakePolicy> make_backfill() { return std::make_unique<Backfill>(); }

}  // namespace rehearse::policies
