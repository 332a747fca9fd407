// Other names for everything in a scenario, and texts with the names put back.
#pragma once

#include <string>
#include <string_view>

#include "model/scenario.hpp"

namespace rehearse::testing {

// Do new names sort as the old ones do, or the other way round?
enum class NameOrder : std::uint8_t { kept, reversed };

// Jobs, stages, executors, hosts, racks, pools, profiles and resources have other names; `default`
// and the executors of the autoscaler keep theirs, which the program gives. Names of copies and
// resubmissions follow their job. The numbers of names are other ones, too. Without `expect`.
[[nodiscard]] model::Scenario with_other_names(const model::Scenario& scenario, NameOrder order);
// A text of a run of such a scenario, in the names that were there before.
[[nodiscard]] std::string old_names(std::string_view text);

}  // namespace rehearse::testing
