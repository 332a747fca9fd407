// Policies that are looked at while they work: every answer is compared with one that is computed
// from the whole view, by what A15, A18 and the registry say of the policy and not by its code.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/scheduler_config.hpp"
#include "scheduler/policy.hpp"

namespace rehearse::testing {

// What was wrong, one line each; at most a few.
struct Complaints {
  std::vector<std::string> lines;
  std::int64_t answers = 0;  // that were compared

  void add(std::string line);
};

// The policies of the configuration, all complaining to `complaints`. One without a counterpart
// here is a complaint, too.
[[nodiscard]] scheduler::PolicySet checked_policies(const model::SchedulerConfig& config,
                                                    const std::shared_ptr<Complaints>& complaints);

}  // namespace rehearse::testing
