// The journal of a run as lines, and what relations ask of one or two of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/time.hpp"
#include "scheduler/policy.hpp"

namespace rehearse::testing {

struct JournalLine {
  model::Instant at = 0;
  std::string event;  // task_start, ...
  std::string job;    // empty: of none
  std::string text;   // from its event on, without the instant
  auto operator<=>(const JournalLine&) const = default;
};
// A whole run but for the run line, the probes and the run_end line.
using Journal = std::vector<JournalLine>;
[[nodiscard]] Journal run_of(const model::Scenario& scenario);
[[nodiscard]] Journal run_of(const model::Scenario& scenario, const scheduler::PolicySet& policies);

// Where they begin to differ, if they do; only the first lines of `other` when it is longer and may
// be.
[[nodiscard]] std::optional<std::string> first_difference(const Journal& journal,
                                                          const Journal& other,
                                                          bool may_go_on = false);
[[nodiscard]] bool says(const Journal& journal, std::string_view text);
[[nodiscard]] bool all_succeed(const Journal& journal);
// Which gangs behind a head a pass looks at before those that it only announces depends on whether
// any executor is bound (decision 3): of refusals in a row the order says nothing.
void sort_refusals(Journal& journal);
// Takes all refusals for slots out. Returned without `have`, by instant: where in its pass one
// stands, and what is free then, depends on who heads the queue (decision 3).
[[nodiscard]] Journal take_refusals(Journal& journal);

[[nodiscard]] bool has_faults(const model::Scenario& scenario);
[[nodiscard]] bool has_moments(const model::Scenario& scenario);
// Inputs of one instant are shuffled by numbers that a change of the scenario changes.
[[nodiscard]] bool has_fixed_order(const model::Scenario& scenario);

}  // namespace rehearse::testing
