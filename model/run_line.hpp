// The first line of a journal, as far as the scenario says it (scenario.md 5). Whoever runs the
// scenario adds its overheads and promises.
#pragma once

#include <string_view>

#include "model/scenario.hpp"
#include "model/support/events.hpp"

namespace rehearse::model {

// Names go into `names`, a copy of the scenario's table or that itself.
[[nodiscard]] RunStart run_line(const Scenario& scenario, std::string_view version,
                                NameTable& names);

}  // namespace rehearse::model
