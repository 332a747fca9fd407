// The table of policies: name, axis, one line; and the set a configuration names. How long a head
// can be kept waiting is a matter of two of them: model/waiting_bound.hpp.
#pragma once

#include <span>
#include <string_view>

#include "model/scheduler_config.hpp"
#include "model/support/error.hpp"
#include "scheduler/policy.hpp"

namespace rehearse::policies {

struct PolicyInfo {
  std::string_view name;
  std::string_view axis;  // admission.queue, admission.overtake, placement
  std::string_view what;  // one line
};

[[nodiscard]] std::span<const PolicyInfo> policies();

// Tells the axes of the policies that they have no enumerator for, so that configurations may name
// them. Once, when a program starts.
void introduce();

// The policies of a configuration; a value without a policy is refused by name.
[[nodiscard]] model::Result<scheduler::PolicySet> make(const model::SchedulerConfig& config);

}  // namespace rehearse::policies
