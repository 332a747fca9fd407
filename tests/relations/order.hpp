// Scenarios with the entries of the file in another order.
#pragma once

#include <span>

#include "model/scenario.hpp"
#include "model/support/time.hpp"

namespace rehearse::testing {

// The last job first.
[[nodiscard]] model::Scenario with_jobs_reversed(model::Scenario scenario);
// Those at instants the last first, before those at moments in their order; those of tasks by
// (stage, partition), the greatest first, in their order for each.
[[nodiscard]] model::Scenario with_faults_reordered(model::Scenario scenario);
// Who joins last first, and in their order who joins at one instant.
[[nodiscard]] model::Scenario with_joins_reordered(model::Scenario scenario);
// The last edge of each job first; nothing changes where a job reads stages of others, for which
// it gets stages of its own in the order of edges.
[[nodiscard]] model::Scenario with_edges_reversed(model::Scenario scenario);
// At these instants inputs of a kind come the last first.
[[nodiscard]] model::Scenario with_inputs_reversed(model::Scenario scenario,
                                                   std::span<const model::Instant> instants);

}  // namespace rehearse::testing
