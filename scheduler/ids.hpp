// Ids of the scheduler's own tables. Rows are recycled after what they describe has ended, so an id
// is good from the action that brings it to the event that ends it.
#pragma once

#include "model/ids.hpp"
#include "model/support/planted.hpp"
#include "model/support/strong_id.hpp"

namespace rehearse::scheduler {

struct JobRowTag;
struct StageRowTag;
struct GangRowTag;
struct RunTag;
struct ShareTag;
struct TimerTag;
struct ExpectedTag;

using JobId = model::Id<JobRowTag>;         // chosen by the caller: its own dense job number
using StageId = model::Id<StageRowTag>;     // stages of one job are consecutive, in file order
using GangId = model::Id<GangRowTag>;       // a group of two or more stages
using RunId = model::Id<RunTag>;            // one try of one task, from launch to the slot's return
using ShareId = model::Id<ShareTag>;        // what a group reserves together on an executor
using TimerId = model::Id<TimerTag>;        // never reused within a core's life
using ExpectedId = model::Id<ExpectedTag>;  // executors that are due, in the order of being told
using model::ExecutorId;                    // executors in the order of joining (A15)
using model::Mutant;
using model::planted;
using model::ProfileId;
using model::StageIndex;

}  // namespace rehearse::scheduler
