// Compiled with every build of the core; without mutants there is nothing to switch.
#include "scheduler/plant.hpp"

#include "model/support/check.hpp"

namespace rehearse::scheduler {

#ifdef RH_MUTANTS

bool has_mutants() { return true; }

void plant(model::Mutant mutant) { model::planted_mutant = mutant; }

#else

bool has_mutants() { return false; }

void plant(model::Mutant mutant) { RH_CHECK(mutant == model::Mutant::none); }

#endif

}  // namespace rehearse::scheduler
