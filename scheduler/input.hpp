// What an engine tells the scheduler core. Every input carries no time: step() gets the instant.
// The order of inputs of one instant is the caller's (scenario.md section 4); the core only relies
// on what each comment says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "model/cluster.hpp"
#include "model/job.hpp"
#include "model/support/event_types.hpp"
#include "model/support/time.hpp"
#include "scheduler/ids.hpp"
#include "scheduler/offers.hpp"

namespace rehearse::scheduler {

// Where an edge from another job's stage leads: the stage whose outputs are read. `job` invalid:
// that job never ran or its rows are gone, so the reader runs the stage itself.
struct ForeignStage {
  JobId job;
  StageIndex stage;
  model::NameId name;  // "q/map", as edges from it are journalled
};

// A partition of which the input lies in memory: its task prefers these executors and hosts,
// nearest first. A stage all of whose partitions are cached needs no inputs (SS-1.4, SS-1.5).
struct CachedPartition {
  StageIndex stage;
  std::int32_t partition = 0;
  std::vector<model::NameId> places;
};

// A job to be judged and started. `spec->edges` name own stages only: every stage of another job
// that is read stands as a stage of this job behind `own_stages` ("q.map", a takeover), with the
// same tasks, durations and inputs; `foreign[i]` says what stage own_stages + i stands for.
// Takeovers run only if the outputs they stand for are not there (traces.md, stages of other jobs).
struct SubmitJob {
  JobId job;  // a row that is not in use
  std::shared_ptr<const model::JobSpec> spec;
  std::uint32_t own_stages = 0;
  std::vector<ForeignStage> foreign;
  // Rank of the job (A18): submit instant first, then a number that is unique among live jobs.
  model::Instant submitted = 0;
  std::uint64_t rank = 0;
  // Stages whose outputs jobs submitted later may read: kept after this job's end.
  std::vector<StageIndex> shared;
  // F7: `reuse` names this job, which lives; invalid: it does not live, or there is no reuse.
  JobId reused_job;
  // Write probes round a rejection.
  bool probe = false;
  // Jobs of one query (SS-1.10); invalid: of none.
  model::NameId query;
  // The job asks for copies of slow tasks, whatever the axis says: refused beside a gang (F12).
  bool speculation = false;
  // Stages that write a pipelined shuffle for nobody in the job: refused (F12).
  std::vector<StageIndex> pipelined_ends;
  std::vector<CachedPartition> cached;
};

// Known only after the job was submitted. For attempts submitted later.
struct CachePartition {
  JobId job;
  CachedPartition partition;
};

// The output of a partition lies on another executor now (decommissioning). One that is not there
// stays away.
struct MoveOutput {
  JobId job;
  StageIndex stage;
  std::int32_t partition = 0;
  ExecutorId to;
};

// SS-2.7: no task of the stage starts there, or not this one, as long as its job lives. Names an
// executor or a host. Members of groups start all the same (F10).
struct Exclude {
  JobId job;
  StageIndex stage;
  std::int32_t partition = -1;  // -1: all
  ExecutorId executor;
  model::NameId host;
};

// The caller no longer wants it. Ended or unknown jobs: changes nothing.
struct CancelJob {
  JobId job;
};

// The caller will not refer to this ended job any more: its row may be used again.
struct ForgetJob {
  JobId job;
};

// An executor that is scheduled to join (A5 counts it). Expected executors get ids from 0 in the
// order of this input.
struct ExpectExecutor {
  model::ExecutorSpec spec;
};

// It will not come after all; counts as a loss at this instant (A14).
struct GiveUpExecutor {
  ExpectedId expected;
};

// Joins now and gets the next executor id, from 0 (A15). With `expected` valid: that one.
struct JoinExecutor {
  ExpectedId expected;
  model::ExecutorSpec spec;  // read only without `expected`
};

// A loss is noticed (X12, X13). Repeated notices change nothing.
struct LoseExecutor {
  ExecutorId executor;
  model::LossCause cause = model::LossCause::process;
};

// No more launches there until ReleaseExecutor; with cause decommission for good, and A5 no longer
// counts it. The engine sends LoseExecutor{decommission} when its last task ended.
struct HoldExecutor {
  ExecutorId executor;
  model::HoldCause cause = model::HoldCause::hold;
};
struct ReleaseExecutor {
  ExecutorId executor;
};

// A task try ended by itself; `status` is success or failed, or killed with reason external.
// For fetch_failed: which output of which stage of the job could not be read.
// A run that is over (killed, lost) changes nothing.
struct TaskEnded {
  RunId run;
  model::TaskStatus status = model::TaskStatus::success;
  std::optional<model::TaskReason> reason;
  StageIndex fetch_from;
  std::int32_t fetch_partition = 0;
  // Of a success, where the engine knows them: a checksum of its output that does not depend on the
  // order of rows (SS-1.10), and its size.
  std::optional<std::uint64_t> checksum{};
  std::optional<std::int64_t> output_bytes{};
};

// The kill ordered for this run took effect: its slot is free again.
struct KillEffective {
  RunId run;
};

// A timer set by SetTimer is due. Void timers change nothing.
struct TimerFired {
  TimerId timer;
};

// A task asks whether it may commit (SS-1.11); answered by CommitAnswered in the same step. One try
// of a partition at most gets the right while the stage lives; its failure, kill or loss frees it.
struct CommitAsked {
  CommitTry task;
};

// A try that the core did not launch ended without success: it gets no right, and what it held is
// free.
struct CommitEnded {
  CommitTry task;
};

// Nothing can happen any more (W5): every live job fails with DEADLOCK.
struct Stuck {};

using Input =
    std::variant<SubmitJob, CancelJob, ForgetJob, ExpectExecutor, GiveUpExecutor, JoinExecutor,
                 LoseExecutor, HoldExecutor, ReleaseExecutor, TaskEnded, KillEffective, TimerFired,
                 CommitAsked, CommitEnded, CachePartition, MoveOutput, Exclude, Stuck>;

}  // namespace rehearse::scheduler
