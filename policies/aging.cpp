// Overtaking rule aging (A7): backfill until the head has waited `after`, then never.
// registry: aging
#include "model/support/planted.hpp"
#include "model/support/units.hpp"
#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

class Aging final : public scheduler::OvertakePolicy {
 public:
  explicit Aging(model::Duration after) : after_(after) {}
  [[nodiscard]] std::unique_ptr<OvertakePolicy> clone() const override {
    return std::make_unique<Aging>(*this);
  }
  [[nodiscard]] scheduler::Overtaking rule(const scheduler::HeadView& head) const override {
    if (model::planted(model::Mutant::c09)) {
      return scheduler::Overtaking::anybody;
    }
    return head.waited < after_ ? scheduler::Overtaking::anybody : scheduler::Overtaking::nobody;
  }

 private:
  model::Duration after_;
};

}  // namespace

std::unique_ptr<scheduler::OvertakePolicy> make_aging(Parameters parameters) {
  if (parameters.size() != 1 || parameters[0].first != "after") {
    return nullptr;
  }
  const model::Result<model::Duration> after = model::parse_duration(parameters[0].second);
  return after ? std::make_unique<Aging>(*after) : nullptr;
}

}  // namespace rehearse::policies
