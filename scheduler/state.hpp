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
#include "scheduler/state_executors.hpp"
#include "scheduler/state_shares.hpp"
#include "scheduler/table.hpp"

namespace rehearse::scheduler {

inline constexpr std::uint32_t none_u32 = 0xFFFFFFFFU;

// How near a task runs to what it prefers, nearest first (SS-2.5).
enum class Locality : std::uint8_t { process, node, no_preference, rack, any };

enum class StagePhase : std::uint8_t {
  unused,
  dormant,  // a takeover nobody needs yet: its outputs are another job's
  waiting,  // wanted, no live attempt: inputs missing, or its group is not admitted
  running,  // an attempt is submitted and not completed
  stalled,  // its attempt failed; a timer will want it again
  done      // its last attempt completed; outputs may be lost since
};

// One stage of one live job (or of an ended one whose outputs others may read).
struct StageRow {
  JobId job;
  std::uint32_t index = 0;  // within the job
  std::int32_t tasks = 0;
  std::int32_t done = 0;         // partitions with a counted success that still stands
  std::int32_t pending = 0;      // partitions the live attempt has yet to launch
  std::int32_t running = 0;      // live runs of the live attempt
  std::int32_t old_running = 0;  // live runs of earlier attempts
  std::int32_t next_partition =
      0;  // pending partitions >= this were never launched (first attempt)
  std::int32_t missing_inputs = 0;  // regular parents that are not available
  GangId gang;                      // invalid: a singleton
  std::uint32_t cold = none_u32;    // StageCold, once an attempt was submitted
  std::int16_t attempt = -1;        // of the latest attempt; -1: none yet
  std::uint16_t profile = 0;
  std::int16_t rolled_back = -1;  // successes of attempts up to this one count no more (SS-1.10)
  std::uint8_t failures = 0;      // consecutive failed attempts
  StagePhase phase = StagePhase::unused;
  DirtyMark dirty;
  bool used : 1 = false;
  bool available : 1 = false;    // readers outside may start: outputs registered and all there
  bool registered : 1 = false;   // outputs count for readers (at once, or at group commit)
  bool starved : 1 = false;      // A14
  bool shared : 1 = false;       // jobs submitted later may read its outputs
  bool read : 1 = false;         // over regular edges, by own stages or shared
  bool commits : 1 = false;      // output events are due
  bool delay_ahead : 1 = false;  // its start_delay counts as one more missing input
  bool delay_armed : 1 = false;  // and its timer runs
  bool sink_done : 1 = false;    // a sink that had all its partitions once (C9)
  bool listed_partitions : 1 = false;  // the live attempt does not cover all partitions

  bool operator==(const StageRow&) const = default;
  [[nodiscard]] std::uint64_t digest(std::uint64_t id) const {
    return hash_of({id, job.value, index, bits(tasks), bits(done), bits(pending), bits(running),
                    bits(old_running), bits(next_partition), bits(missing_inputs), gang.value,
                    bits(attempt), bits(profile), bits(rolled_back), bits(failures), bits(phase),
                    bits(available | registered << 1 | starved << 2 | listed_partitions << 3 |
                         shared << 4 | delay_ahead << 5 | delay_armed << 6 | sink_done << 7)});
  }
};

// What a stage needs once it runs; pooled, so its vectors keep their memory.
struct StageCold {
  struct Tries {  // of a partition that was tried more than once or failed
    std::int32_t partition = 0;
    std::int32_t tries = 0;     // started within the live attempt
    std::int32_t failures = 0;  // counted, since its last success
    bool operator==(const Tries&) const = default;
  };
  struct HeldSuccess {
    RunId run;  // invalid: its line is written already
    ExecutorId executor;
    std::int32_t partition = 0;
    bool operator==(const HeldSuccess&) const = default;
  };
  struct Launched {
    RunId run;
    std::uint32_t stamp = 0;  // of the run; another one: the row has been used again since
    bool operator==(const Launched&) const = default;
  };
  std::vector<Launched> launched;       // in launch order; most ended since, see live_runs
  std::vector<std::uint32_t> outputs;   // executor by partition, none_u32 = no counted success
  std::vector<std::int32_t> again;      // pending partitions below next_partition, descending
  std::vector<Tries> tries;             // by partition ascending
  model::Ranges covered;                // partitions of the live attempt; empty: all
  std::vector<std::int32_t> committed;  // ascending: output_committed was written
  struct Authorized {  // at-group-commit, not committed yet; its output may be lost meanwhile
    std::int32_t partition = 0;
    ExecutorId executor;
    bool operator==(const Authorized&) const = default;
  };
  std::vector<Authorized> authorized;    // by partition ascending
  std::vector<StageId> foreign_readers;  // takeovers in other jobs that stand for this stage
  StageId foreign;                       // of a takeover: the stage it stands for
  model::Duration mean = -1;             // of its distribution, once asked for (A17)
  struct Delay {                         // under a locality wait (A13)
    Locality level = Locality::process;
    model::Instant since = 0;   // its wait at this level counts from here
    model::Instant armed = -1;  // a timer is set for then
    bool clean = true;          // no offer was refused since the wait began anew
    bool operator==(const Delay&) const = default;
  };
  Delay delay;
  std::vector<HeldSuccess> held;  // successes that wait for pipelined producers (C6)
  bool operator==(const StageCold&) const = default;
};

// One try of one task, from launch until its slot is free.
struct RunRow {
  StageId stage;
  ExecutorId executor;
  std::int32_t partition = 0;
  std::uint32_t epoch = 0;  // of the executor, at launch
  std::uint32_t stamp = 0;  // tells runs apart that used one row after another; not state
  std::int16_t attempt = 0;
  std::int16_t try_number = 0;
  std::uint8_t profile = 0;
  DirtyMark dirty;
  bool used : 1 = false;
  bool dying : 1 = false;  // killed; only the slot is still held
  bool held : 1 = false;   // ended well; its line waits for its producers, its slot is free (C6)

  bool operator==(const RunRow&) const = default;
  [[nodiscard]] std::uint64_t digest(std::uint64_t id) const {
    return hash_of({id, stage.value, executor.value, bits(partition), epoch, bits(attempt),
                    bits(try_number), bits(profile), bits(dying | held << 1)});
  }
};

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

enum class TimerKind : std::uint8_t { resubmit, grace, start, retry, fall_back, rerun, locality };

struct TimerRow {
  TimerId id;
  TimerKind kind{};
  JobId job;
  std::uint32_t consumer =
      0;  // resubmit: the stage whose attempt failed; else the stage, or the leader
  std::uint32_t producer = none_u32;  // and the stage whose output was not there
  bool operator==(const TimerRow&) const = default;
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
