// The rows of stages: what every pass reads, and apart from it what only some stages need.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/scheduler_config.hpp"
#include "model/support/event_types.hpp"
#include "scheduler/ids.hpp"
#include "scheduler/offers.hpp"
#include "scheduler/state_timers.hpp"
#include "scheduler/table.hpp"

namespace rehearse::scheduler {

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
  std::int32_t running = 0;      // slots of live runs of the live attempt
  std::int32_t old_running = 0;  // the same of earlier attempts
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
  bool fed : 1 = false;                // all its partitions are cached: it reads no other stage

  bool operator==(const StageRow&) const = default;
  [[nodiscard]] std::uint64_t digest(std::uint64_t id) const {
    return hash_of(
        {id, job.value, index, bits(tasks), bits(done), bits(pending), bits(running),
         bits(old_running), bits(next_partition), bits(missing_inputs), gang.value, bits(attempt),
         bits(profile), bits(rolled_back), bits(failures), bits(phase),
         bits(available | registered << 1 | starved << 2 | listed_partitions << 3 | shared << 4 |
              delay_ahead << 5 | delay_armed << 6 | sink_done << 7 | fed << 8)});
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
  std::vector<Launched> launched;        // in launch order; most ended since, see live_runs
  std::vector<std::uint32_t> outputs;    // executor by partition, none_u32 = no counted success
  std::vector<std::int32_t> again;       // pending partitions below next_partition, descending
  std::vector<Tries> tries;              // by partition ascending
  model::Ranges covered;                 // partitions of the live attempt; empty: all
  std::vector<std::int32_t> ticked_off;  // in the live attempt, without an output (X9)
  std::vector<std::int32_t> committed;   // ascending: output_committed was written
  struct Authorized {  // at-group-commit, not committed yet; its output may be lost meanwhile
    std::int32_t partition = 0;
    ExecutorId executor;
    std::int16_t try_number = 0;  // that succeeded
    bool operator==(const Authorized&) const = default;
  };
  std::vector<Authorized> authorized;    // by partition ascending
  std::vector<StageId> foreign_readers;  // takeovers in other jobs that stand for this stage
  StageId foreign;                       // of a takeover: the stage it stands for
  model::Duration mean = -1;             // of its distribution, once asked for (A17)
  std::int32_t rollbacks = 0;            // SS-1.10
  struct Delay {                         // under a locality wait (A13)
    Locality level = Locality::process;
    model::Instant since = 0;   // its wait at this level counts from here
    model::Instant armed = -1;  // a timer is set for then
    bool clean = true;          // no offer was refused since the wait began anew
    bool refused = false;       // the last round left tasks waiting for a nearer slot
    std::uint8_t known = 0;     // the levels that it has had, a bit each
    bool operator==(const Delay&) const = default;
  };
  Delay delay;
  std::vector<HeldSuccess> held;  // successes that wait for pipelined producers (C6)
  struct CommitTry {              // of an engine whose tasks ask before they commit (SS-1.11)
    std::int32_t partition = 0;
    std::int32_t attempt = 0;
    std::int32_t try_number = 0;
    bool operator==(const CommitTry&) const = default;
  };
  std::vector<CommitTry> commit_holders;  // at most one of each partition
  std::vector<CommitTry> failed_commits;  // get no right any more
  // What an engine told of data (duties_data.hpp).
  std::vector<std::int32_t> cached;                     // partitions, ascending
  std::vector<std::int64_t> output_bytes;               // by partition; empty: not told
  std::vector<std::optional<std::uint64_t>> checksums;  // by partition; empty: not told
  std::int32_t changed_checksums = 0;
  bool follows_outputs = false;   // its preferences come from where its inputs lie
  struct Excluded {               // SS-2.7: an executor or a host
    std::int32_t partition = -1;  // -1: all
    ExecutorId executor;
    model::NameId host;
    bool operator==(const Excluded&) const = default;
  };
  std::vector<Excluded> excluded;
  struct FailedOn {  // tries of a partition that count towards the limit
    std::int32_t partition = 0;
    ExecutorId executor;
    std::int32_t failures = 0;
    bool operator==(const FailedOn&) const = default;
  };
  std::vector<FailedOn> failed_on;             // in the live attempt
  std::vector<Excluded> excluded_by_failures;  // until it ends
  std::int16_t undone_for = -1;  // the attempt whose changed outputs undid the readers last
  bool operator==(const StageCold&) const = default;
};

}  // namespace rehearse::scheduler
