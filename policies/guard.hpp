// Policies that were not reviewed with the core: every answer is checked against the contract of
// scheduler/policy.hpp, and what breaks it is stopped with the policy's name and the call.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "scheduler/policy.hpp"

namespace rehearse::policies {

// The contract was broken: what() names the policy, the call and what was wrong with the answer.
class PolicyFault final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Calls into guarded policies, for somebody who watches whether one of them ever returns: a call
// is under way while `entered` is ahead of `left`.
struct CallCounts {
  std::atomic<std::uint64_t> entered{0};
  std::atomic<std::uint64_t> left{0};
  std::atomic<const char*> policy{""};  // of the last call that began; its text outlives the policy
  std::atomic<const char*> call{""};
};
// Of the whole process: a call that never comes back can only be told from outside of it.
[[nodiscard]] CallCounts& guarded_calls();

[[nodiscard]] std::unique_ptr<scheduler::QueuePolicy> guarded(
    std::unique_ptr<scheduler::QueuePolicy> policy, const std::string& name);
[[nodiscard]] std::unique_ptr<scheduler::OvertakePolicy> guarded(
    std::unique_ptr<scheduler::OvertakePolicy> policy, const std::string& name);
[[nodiscard]] std::unique_ptr<scheduler::PlacementPolicy> guarded(
    std::unique_ptr<scheduler::PlacementPolicy> policy, const std::string& name);

}  // namespace rehearse::policies
