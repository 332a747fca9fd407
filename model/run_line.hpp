// The first line of a journal, as far as the scenario says it (scenario.md 5). Whoever runs the
// scenario adds its overheads and promises.
#pragma once

#include <string_view>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/events.hpp"

namespace rehearse::model {

// Names go into `names`, a copy of the scenario's table or that itself.
[[nodiscard]] RunStart run_line(const Scenario& scenario, std::string_view version,
                                NameTable& names);

// Facts about the cluster and the jobs that decide a rejection and that no line shows, for the
// overheads of the first line (docs/decisions/0020): `autoscale`, and `reuse` for each edge that
// asks for the pipelined shuffle of another job, "reader/from/owner/stage". Of a job that is
// repeated, or asks a job that is, there is no single name to give, and no fact at all.
[[nodiscard]] std::vector<KeyValue> rejection_facts(const Scenario& scenario, NameTable& names);

}  // namespace rehearse::model
