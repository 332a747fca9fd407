// The table of policies: name, axis, one line, bound on waiting; and the set a configuration names.
#pragma once

#include <span>
#include <string_view>

#include "model/scheduler_config.hpp"
#include "model/support/error.hpp"
#include "scheduler/policy.hpp"

namespace rehearse::policies {

struct PolicyInfo {
  std::string_view name;
  std::string_view axis;   // admission.queue, admission.overtake, placement
  std::string_view what;   // one line
  std::string_view bound;  // on waiting, with queue fifo; "unbounded", or "" where none applies
};

[[nodiscard]] std::span<const PolicyInfo> policies();

// The policies of a configuration; a value without a policy is refused by name.
[[nodiscard]] model::Result<scheduler::PolicySet> make(const model::SchedulerConfig& config);

}  // namespace rehearse::policies
