// The scheduler core without a clock: a scenario's jobs and executors, and an environment that
// picks any input that is possible next, in any order. Reaches interleavings that no virtual time
// gives, and is where copies of a core are compared with the core they were made of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/scenario.hpp"
#include "tests/random/tally.hpp"

namespace rehearse::testing {

// What went wrong, one line each; empty: nothing. The environment submits every job, lets tasks
// end, fail and miss their inputs, loses, holds, drains and adds executors, cancels, fires timers,
// and passes or does not. Its choices are a function of the seed. Checked:
//   - no internal fault; the promised properties that do not depend on time hold;
//   - a copy of the core made anywhere is equal to it, and fed the same inputs it gives the same
//     actions and stays equal; digest() agrees with full_digest();
//   - a rejected submission leaves the core equal to a copy made before it (F9);
//   - every end of a task, kill that took effect, loss, cancel and timer is told twice, and ends of
//     all that is over come again later: the core does nothing then and stays as it is.
// `watcher`, if any, sees the journal; its instants are steps.
[[nodiscard]] std::vector<std::string> judge_interleaving(const model::Scenario& scenario,
                                                          std::uint64_t seed, Reached& reached,
                                                          model::Observer* watcher = nullptr);

}  // namespace rehearse::testing
