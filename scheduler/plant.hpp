// The switch of the named mutants (model/support/planted.hpp): which one is planted.
#pragma once

#include "model/support/planted.hpp"

namespace rehearse::scheduler {

// Whether this program was built with mutants: `rehearse-mutants`, and no other.
[[nodiscard]] bool has_mutants();

// From now on this one is planted and no other; Mutant::none: none. Only where has_mutants(), and
// while no other thread runs a core.
void plant(model::Mutant mutant);

}  // namespace rehearse::scheduler
