// Overtaking rule never (A7): nothing behind a waiting head starts; the cluster drains to it.
// registry: never
#include "model/support/planted.hpp"
#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

class Never final : public scheduler::OvertakePolicy {
 public:
  [[nodiscard]] std::unique_ptr<OvertakePolicy> clone() const override {
    return std::make_unique<Never>(*this);
  }
  [[nodiscard]] scheduler::Overtaking rule(const scheduler::HeadView& /*head*/) const override {
    if (model::planted(model::Mutant::mu49)) {
      return scheduler::Overtaking::anybody;
    }
    return scheduler::Overtaking::nobody;
  }
};

}  // namespace

std::unique_ptr<scheduler::OvertakePolicy> make_never() { return std::make_unique<Never>(); }

}  // namespace rehearse::policies
