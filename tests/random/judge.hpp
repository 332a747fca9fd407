// One random run and everything that must hold of it whatever its scenario is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/scenario.hpp"
#include "tests/random/tally.hpp"

namespace rehearse::testing {

// What went wrong, one line each; empty: nothing. Adds to `reached` what the run reached.
//   - it ends, without an internal fault, and every promised property holds;
//   - the uses of every slot add up to its time (reports/metrics.hpp);
//   - again, and read back from what write_scenario makes of it, it gives the same journal hash;
//   - F3: without marks, with `edges: all-regular` and under `sequential` the journal is the same.
// `watcher`, if any, sees the first run's journal.
[[nodiscard]] std::vector<std::string> judge_run(const model::Scenario& scenario, Reached& reached,
                                                 model::Observer* watcher = nullptr);

}  // namespace rehearse::testing
