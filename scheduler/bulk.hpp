// Bulk requests (A2 bulk): a gang that waits takes free slots one by one, in the order of the trial
// (A4), and keeps them. With the last it is admitted, and what it held turns into its tasks; if its
// timeout comes first its job fails. Nobody else may use what is held, so two gangs can each hold
// half, and the timeouts end that.
//
// What is held is taken in the ledger and stands in `reservation` lines from the step in which it
// was taken to the one in which it is given up or used. Barrier stages are gangs like others. Under
// other holds no row exists, and but for one branch at each place nothing here is reached. Internal
// to scheduler/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

[[nodiscard]] inline bool takes_piecewise(const Machine& m) {
  return m.config.admission.hold == model::Hold::bulk;
}

// Is there a free slot of a profile that the waiting gang lacks?
[[nodiscard]] bool could_take(const Machine& m, GangId gang);
// Takes what is free now of what the gang lacks: from the ledger, not yet into its row. `taken` is
// by (stage, partition) ascending; true if that was all it lacks. Where executors serve every
// profile, nothing is taken for later tasks of the trial before earlier ones have a slot.
[[nodiscard]] bool take_free(Machine& m, GangId gang, std::vector<Placed>& taken);
// Has all: it is admitted with what it held and `taken`.
void admit_bulk(Step& s, GangId gang, std::span<const Placed> taken);
// Has not: `taken` is held from now on.
void hold_taken(Step& s, GangId gang, std::span<const Placed> taken);
// In the step of the admission: what was held is about to become tasks.
void turn_held(Step& s, GangId gang);

// All of it is free again: the wait is over, or the gang is not ready any more.
void give_up_held(Step& s, GangId gang);
// What is held on an executor that takes no launches any more, whosever it is.
void give_up_held_on(Step& s, ExecutorId executor);
void bulk_timed_out(Step& s, GangId gang);  // A2: its job fails

[[nodiscard]] std::int64_t held_by(const Machine& m, GangId gang);  // slots
[[nodiscard]] std::int64_t holding_gangs(const Machine& m);

// Of a mutant only.
void lend_held(Machine& m, GangId gang);

}  // namespace rehearse::scheduler
