// Axis speculation: copies of tries that run much longer than those that succeeded (SS-2.4). Where
// it is off nothing here is reached, but for one branch at each place.
// Internal to scheduler/.
#pragma once

#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

// ---- what happened to the live attempt of a stage ----
void speculate_on(Machine& m, StageId stage);      // it was submitted
void stop_speculating(Machine& m, StageId stage);  // it is over
void note_started(Machine& m, RunId run);
void note_duration(Machine& m, RunId run);            // it succeeded and counts; before note_over
void note_over(Machine& m, RunId run);                // it runs no more, whatever became of it
void note_draining(Machine& m, ExecutorId executor);  // decommissioned, what runs there goes on
void launches_moved(Machine& m, StageId stage);       // StageCold::launched lost entries

// In the step in which a try of the partition ended: does another one, of this attempt, run?
[[nodiscard]] bool runs_now(const Machine& m, StageId stage, std::int32_t partition);
[[nodiscard]] bool copies_due(const Machine& m, StageId stage);
[[nodiscard]] std::size_t copies_wanted(const Machine& m, StageId stage);  // tries that are due

// ---- ticks, at multiples of the interval ----
void take_ticks(Step& s);  // of this instant, before a pass, where something changed since
void arm_ticks(Step& s);   // after it: the next that can find a candidate
void tick(Step& s, const TimerRow& timer);

// Copies that are due, as far as slots on other hosts go; no farther from what their tasks prefer
// than `limit`.
void launch_copies(Step& s, StageId stage, Outlook* outlook, Locality limit);

}  // namespace rehearse::scheduler
