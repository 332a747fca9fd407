// The scheduler's state: dense tables of plain rows. Everything that decides is here; what is not
// state (journal sequence, launch number, names, clock) is not. Rows hold no pointers into other
// rows; the immutable plan of a job is shared by value semantics (shared_ptr to const).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/cluster.hpp"
#include "model/job.hpp"
#include "model/scheduler_config.hpp"
#include "model/stage_graph.hpp"
#include "scheduler/ids.hpp"
#include "scheduler/state_bulks.hpp"
#include "scheduler/state_executors.hpp"
#include "scheduler/state_shares.hpp"
#include "scheduler/state_stages.hpp"
#include "scheduler/state_timers.hpp"
#include "scheduler/table.hpp"

namespace rehearse::scheduler {

// One try of one task, from launch until its slots are free. A slice (A21) is of several
// partitions, `partition` and `more` behind it, and has a slot for each.
struct RunRow {
  static constexpr std::int32_t more_max = (1 << 13) - 1;

  StageId stage;
  ExecutorId executor;
  std::int32_t partition = 0;
  std::uint32_t epoch = 0;  // of the executor, at launch
  std::uint32_t stamp = 0;  // tells runs apart that used one row after another; not state
  std::int16_t attempt = 0;
  std::int16_t try_number = 0;
  std::uint8_t profile = 0;
  DirtyMark dirty;
  std::uint16_t more : 13 = 0;
  bool used : 1 = false;
  bool dying : 1 = false;  // killed; only the slots are still held
  bool held : 1 = false;   // ended well; its line waits for its producers, its slot is free (C6)

  [[nodiscard]] std::int32_t slots() const { return more + 1; }
  [[nodiscard]] std::int32_t last() const { return partition + more; }
  [[nodiscard]] bool covers(std::int32_t p) const { return p >= partition && p <= last(); }
  bool operator==(const RunRow&) const = default;
  [[nodiscard]] std::uint64_t digest(std::uint64_t id) const {
    return hash_of({id, stage.value, executor.value, bits(partition), epoch, bits(attempt),
                    bits(try_number), bits(profile), bits(dying | held << 1 | more << 2)});
  }
};
static_assert(sizeof(RunRow) == 28);

enum class GangPhase : std::uint8_t { inputs, slots, running, committed, failed, again };

struct GangRow {
  JobId job;
  std::uint32_t group = 0;             // in the job's graph
  std::uint32_t leader = 0;            // first member, stage index
  std::vector<std::uint32_t> members;  // stage indices, topological, smallest first
  std::vector<std::int32_t> demand;    // slots by profile, one per profile of the cluster
  std::vector<std::int64_t> amounts;   // demand in 1/1000 units by resource
  std::int64_t tasks = 0;
  std::int64_t unfinished = 0;      // tasks of the live attempt without a success
  std::int32_t missing_inputs = 0;  // over all members
  std::int32_t attempt = -1;
  std::uint64_t refused_at = 0;  // sum of Ledger::freed when the last trial failed
  model::Instant queued_at = 0;  // when this wait was announced
  GangPhase phase = GangPhase::inputs;
  std::uint8_t reruns = 0;        // X10: after commit
  std::int32_t group_reruns = 0;  // X16: after a failure
  std::int32_t checks = 0;        // under retry, in this wait (A6)
  std::int32_t members_left = 0;  // not completed; where members complete one by one (C6)
  TimerId timer;                  // of this wait: retry or fall-back (A6); may have fired
  std::vector<ShareId> shares;    // of the latest attempt (A10); some may be over, see ShareRow
  bool barrier = false;           // a barrier stage (A12)
  bool resting = false;           // under retry: not looked at before its timer (A8)
  bool patient = false;           // X16: waits for slots, whatever `short` says
  bool used = false;
  DirtyMark dirty;
  bool refused = false;    // refused_at is valid
  bool announced = false;  // group_queued (slots) was written for this wait
  bool starved = false;
  bool committed_once = false;
  bool told = true;  // X10: the journal says that it lives, or lives again

  bool operator==(const GangRow&) const = default;
  [[nodiscard]] std::uint64_t digest(std::uint64_t id) const {
    std::uint64_t hash =
        hash_of({id, job.value, group, bits(unfinished), bits(missing_inputs), bits(attempt),
                 bits(phase), bits(reruns), bits(group_reruns), bits(checks), bits(members_left),
                 bits(announced | starved << 1 | committed_once << 2 | told << 3 | resting << 4 |
                      patient << 5)});
    return hash;
  }
};

enum class JobPhase : std::uint8_t { unused, live, ended };

struct JobRow {
  std::shared_ptr<const model::JobSpec> spec;
  std::shared_ptr<const model::StageGraph> graph;
  std::shared_ptr<const model::Rows> phases;  // start phased: see phases_before; derived
  StageId first_stage;
  std::uint32_t stages = 0;  // takeovers included
  std::uint32_t own_stages = 0;
  std::int32_t sinks_left = 0;     // sinks without all partitions
  std::int32_t gangs_left = 0;     // groups of two or more that never committed
  std::int32_t starved_units = 0;  // A14
  model::Instant submitted = 0;    // rank: first this,
  std::uint64_t rank = 0;          // then this (A18)
  std::uint64_t first_number = 0;  // of its stages, in the order of submissions; not state
  TimerId grace;                   // live A14 timer, invalid = none
  model::NameId query;             // of jobs whose results stand or fall together (SS-1.10)
  JobPhase phase = JobPhase::unused;
  bool used = false;
  DirtyMark dirty;
  bool keeps_outputs = false;  // rows stay after the end until ForgetJob

  bool operator==(const JobRow& other) const {
    return first_stage == other.first_stage && stages == other.stages &&
           sinks_left == other.sinks_left && gangs_left == other.gangs_left &&
           starved_units == other.starved_units && rank == other.rank &&
           submitted == other.submitted && grace == other.grace && phase == other.phase &&
           used == other.used && keeps_outputs == other.keeps_outputs &&
           (spec == other.spec || (spec && other.spec && *spec == *other.spec));
  }
  [[nodiscard]] std::uint64_t digest(std::uint64_t id) const {
    return hash_of({id, first_stage.value, stages, bits(sinks_left), bits(gangs_left),
                    bits(starved_units), rank, grace.value, bits(phase)});
  }
};

// A gang that starts anew once its old runs are gone and its delay passed (X16, SS-3.6).
struct RerunRow {
  JobId job;
  std::uint32_t leader = 0;  // within the job
  std::vector<RunId> dying;  // kills that have not taken effect
  bool delay_over = false;
  bool operator==(const RerunRow&) const = default;
};

}  // namespace rehearse::scheduler
