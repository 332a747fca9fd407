// A second scheduler for jobs without pipelined edges (F3): slow, short and written from the
// specification alone, so that what the core does can be compared with it line for line. It knows
// regular stages under scripted timing, ties in order, `fifo` and `spread`, nothing else.
#pragma once

#include <vector>

#include "model/scenario.hpp"
#include "model/support/events.hpp"

namespace rehearse::reference {

// The journal without `run` and `probe`. Names that come up in the run are added to `names`, a copy
// of the scenario's.
[[nodiscard]] std::vector<model::Event> journal(const model::Scenario& scenario,
                                                model::NameTable& names);

}  // namespace rehearse::reference
