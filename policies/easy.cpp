// Overtaking rule easy (A17): what does not delay the head's earliest start may start.
// registry: easy
#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

class Easy final : public scheduler::OvertakePolicy {
 public:
  [[nodiscard]] std::unique_ptr<OvertakePolicy> clone() const override {
    return std::make_unique<Easy>(*this);
  }
  [[nodiscard]] scheduler::Overtaking rule(const scheduler::HeadView& /*head*/) const override {
    return scheduler::Overtaking::harmless;
  }
  [[nodiscard]] bool looks_ahead() const override { return true; }
};

}  // namespace

std::unique_ptr<scheduler::OvertakePolicy> make_easy() { return std::make_unique<Easy>(); }

}  // namespace rehearse::policies
