// What only some engines tell the core of data: outputs that outlive jobs, where cached input lies,
// sizes and checksums (EngineOptions, F10). Where nothing is told nothing here is reached.
// Internal to scheduler/.
#pragma once

#include <cstdint>
#include <span>

#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

// ---- outputs as in one tracker of all shuffles (EngineOptions::tracked_outputs, SS-1.4) ----
// A takeover begins to run: what is there of the stage it stands for is its own from now on.
void take_over_outputs(Machine& m, StageId takeover);
// A takeover made an output anew: the stage it stands for has it, too.
void give_to_origin(Step& s, StageId takeover, const RunRow& run);
// Its job ends: an attempt for which other jobs wait goes on as that of the first of them (SS-1.4),
// with all that runs in it.
void hand_over(Machine& m, StageId stage);
// SS-1.7: nobody's attempt of the stage goes on, so every job that needs it fails. The rows of its
// job may be gone afterwards.
void abort_stage(Step& s, StageId stage, model::Code code, model::NameId detail);

// ---- where tasks find their input (SS-1.5) ----
// Their tasks prefer these places to those of the job's description.
void cache_partitions(Machine& m, JobId job, std::span<const CachedPartition> list);
// At submission: also, stages that are read by cached ones only are not wanted (SS-1.4).
void take_cached(Machine& m, const SubmitJob& input);
// Before each attempt: tasks that nobody gave preferences prefer hosts on which much of what they
// read lies.
void prefer_outputs(Machine& m, StageId stage);
void move_output(Machine& m, const MoveOutput& input);

// ---- checksums (SS-1.10) ----
// Takes note of what a success tells of its output; true if it differs from that of an earlier try
// and what was made of it must go.
[[nodiscard]] bool note_output(Machine& m, const RunRow& run, const TaskEnded& input);
// All that read the stage, directly or not, is undone; a job that gave results of it ends.
void roll_back_readers(Step& s, StageId producer);

}  // namespace rehearse::scheduler
