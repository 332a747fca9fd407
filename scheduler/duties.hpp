// The functions that read and change the machine, by the source file that holds them: one per duty.
// Internal to scheduler/.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scheduler/duties_pass.hpp"
#include "scheduler/machine.hpp"

namespace rehearse::scheduler {

// ---- names and shapes (graph_state.cpp) ----
[[nodiscard]] inline bool lives(const Machine& m, JobId job) {
  return m.jobs.has(job) && m.jobs[job].phase == JobPhase::live;
}
[[nodiscard]] StageId stage_of(const Machine& m, JobId job, std::uint32_t index);
[[nodiscard]] model::NameId job_name(const Machine& m, JobId job);
[[nodiscard]] model::NameId stage_name(const Machine& m, StageId stage);
[[nodiscard]] const model::StageSpec& spec_of(const Machine& m, StageId stage);
[[nodiscard]] model::StageRef stage_ref(const Machine& m, StageId stage);
[[nodiscard]] StageId gang_leader(const Machine& m, GangId gang);
[[nodiscard]] bool is_sink(const Machine& m, StageId stage);
[[nodiscard]] inline bool is_member(const Machine& m, StageId stage) {  // of two or more
  const GangId gang = m.stages[stage].gang;
  return gang.valid() && !m.gangs[gang].barrier;
}
[[nodiscard]] inline bool has_readers(const Machine& m, StageId stage) {  // over regular edges
  return m.stages[stage].read;
}
[[nodiscard]] UnitView unit_view(const Machine& m, StageId leader);
// Whose outputs readers of the stage read: of a dormant takeover, the stage it stands for.
[[nodiscard]] StageId origin_of(const Machine& m, StageId stage);
[[nodiscard]] model::PerProfile per_profile(const Machine& m, std::span<const std::int64_t> counts,
                                            std::span<const std::int32_t> demand);
StageCold& make_cold(Machine& m, StageId stage);
[[nodiscard]] inline StageCold& cold_of(Machine& m, StageId stage) {  // made on first use
  const std::uint32_t cold = m.stages[stage].cold;
  return cold == none_u32 ? make_cold(m, stage) : m.colds[cold];
}

// ---- submission, formation, readiness (graph_state.cpp) ----
void submit_job(Step& s, const SubmitJob& input);
void forget_job(Machine& m, JobId job);
// The stage's outputs became, or ceased to be, all there; readers are told.
void set_available(Step& s, StageId stage, bool available);
// The same without what follows from it: `lost` gets the stages that somebody waits for. Several
// that went together are told first and wanted afterwards, so that none starts without an input.
void tell_available(Step& s, StageId stage, bool available, std::vector<StageId>& lost);
void want_lost(Step& s, const std::vector<StageId>& wanted);
// The stage is needed: submits it, or what it lacks first (X9, X15). Its phase must not be running.
void want(Step& s, StageId stage);
void want_input(Step& s, StageId parent);  // a wanted unit lacks it: make it come
[[nodiscard]] bool is_awaited(const Machine& m, StageId parent);  // by a wanted unit of its job
void want_if_awaited(Step& s, StageId parent);                    // it is not there
void submit_attempt(Step& s, StageId stage);
void group_wants(Step& s, GangId gang);  // waits for slots or inputs with a fresh attempt to come
void leave_queue(Machine& m, GangId gang);
void arm_start_delays(Step& s, JobId job);  // of stages whose inputs are there at submission
void start_delay_over(Step& s, StageId stage);
// The job of a shared stage ended: takeovers that waited for it run themselves if it is not there.
void foreign_job_ended(Step& s, StageId stage);
void release_stage_rows(Machine& m, JobId job);

// ---- admission and launch (admission.cpp, launch.cpp) ----
enum class Fit : std::uint8_t { fits, short_of_slots };
struct TrialOn {
  Ledger& slots;
  PlacementPolicy& placement;
  bool preferences = false;  // first to the executors that tasks prefer
};
// A4: takes the slots of every task of the gang from the ledger, or nothing. Result in `placed`.
[[nodiscard]] Fit trial(Machine& m, const TrialOn& on, const JobRow& job, const GangRow& gang,
                        std::vector<Placed>& placed);
// A5 for a demand; true if an idle cluster could hold it. `by_trial`: counts would fit.
[[nodiscard]] bool could_ever_fit(Machine& m, const JobRow& job, const GangRow& gang,
                                  bool* by_trial);
void renew_member(Step& s, StageId stage, std::int32_t attempt);  // ready for a group's attempt
void begin_attempt(Step& s, GangId gang);         // its lines up to the first launch
void settle_empty_attempt(Step& s, GangId gang);  // after its launches
void admit_group(Step& s, GangId gang, std::span<const Placed> placed);
void pass(Step& s);
[[nodiscard]] TaskView task_view(const Machine& m, const model::JobSpec& job,
                                 const model::StageSpec& stage, std::int32_t partition);
[[nodiscard]] ExecutorId place_task(Machine& m, const SlotView& slots, PlacementPolicy& placement,
                                    const model::JobSpec& job, const model::StageSpec& spec,
                                    std::int32_t partition);
RunId start_run(Step& s, StageId stage, std::int32_t partition, ExecutorId executor,
                bool speculative = false);
[[nodiscard]] Locality nearness(const Machine& m, const std::vector<model::NameId>& prefers,
                                ExecutorId executor);
struct Outlook;
// `outlook`: a head waits that may not be delayed; null otherwise.
void launch_pending(Step& s, StageId stage, Outlook* outlook);
[[nodiscard]] bool is_live(const Machine& m, StageId stage, const StageCold::Launched& entry);
[[nodiscard]] std::vector<RunId> live_runs(const Machine& m, StageId stage);  // launch order
void unlink_from_stage(Machine& m, RunId run);  // it counts as running there no more
// Its slot is free, unless others of its group still share it (A10); the row stays.
void free_slot(Step& s, RunId run);
void free_run(Step& s, RunId run);  // the same; the row is gone

// ---- completion (completion.cpp) ----
void task_ended(Step& s, const TaskEnded& input);
void check_job_done(Step& s, JobId job);
void commit_group(Step& s, GangId gang);
void commit_authorized(Step& s, GangId gang);
void attempt_maybe_over(Step& s, StageId stage);
void complete_attempt(Step& s, StageId stage, model::StageStatus status,
                      std::optional<model::StageReason> reason);

// ---- members that complete one by one (members.cpp, C6, C7) ----
[[nodiscard]] bool waits_for_producers(const Machine& m, StageId stage);
void hold_success(Step& s, RunId run);   // until the producers are done
void drop_held(Step& s, StageId stage);  // its group failed: they change nothing
void count_member_success(Step& s, StageId stage);
void complete_empty_members(Step& s, GangId gang);  // of a group just admitted

// ---- failure (failure.cpp) ----
struct JobEnding {
  model::JobOutcome outcome{};
  std::optional<model::Code> code;
  model::NameId detail;
  std::optional<model::PerProfile> need;
  std::optional<model::PerProfile> have;
};
void end_job(Step& s, JobId job,
             const JobEnding& ending);                     // X14 for what still lives, then job_end
void fail_group(Step& s, GangId gang, model::Code cause);  // X4
void task_failed(Step& s, const RunRow& run, const TaskEnded& input);
void end_attempt_by_fetch(Step& s, StageId consumer);       // its runs go on as stragglers (X9)
void end_attempt_without_input(Step& s, StageId consumer);  // launchable, but an input is gone
void resubmit_later(Step& s, StageId consumer, std::uint32_t producer);
void resubmit(Step& s, const TimerRow& timer);
void lose_executor(Step& s, const LoseExecutor& input);
void kill_run(Step& s, RunId run, model::TaskReason reason);
[[nodiscard]] model::Code cause_of(std::optional<model::TaskReason> reason);
void timer_fired(Step& s, TimerId timer);

// ---- tasks that are tried again (retries.cpp, X9) ----
void retry_partition(Machine& m, StageId stage, std::int32_t partition);
// Of the live attempt: what of it is still to be done is tried again, or the job ends.
void retry_failed_run(Step& s, const RunRow& run, std::optional<model::TaskReason> reason);
void retry_member(Step& s, const RunRow& run);  // X1 `counted`
// One counted failure more of a partition that the run had, in the live attempt; false if that
// ended the job.
bool below_limit(Step& s, const RunRow& run, std::int32_t partition, model::Code cause);

// ---- roll-back of indeterminate data (rollback.cpp, SS-1.10) ----
// Would a new attempt of the stage give outputs that differ from those already read?
[[nodiscard]] bool must_roll_back(const Machine& m, StageId stage);
// Undoes the producer and all that read it; a job that gave results of it ends. The rows of the
// producer's job may be gone afterwards.
void roll_back(Step& s, StageId producer);
void roll_back_gang(Step& s, GangId gang);  // the same for one that is wanted back (X10, X15)
[[nodiscard]] inline bool is_stale(const Machine& m, const RunRow& run) {  // was rolled back
  return run.attempt <= m.stages[run.stage].rolled_back;
}
void stale_success(Step& s, const RunRow& run);

// ---- reruns of groups, barrier stages (reruns.cpp, X16, A12) ----
void rerun_committed_group(Step& s, GangId gang);  // X10 (b): it is wanted back
void rerun_failed_group(Step& s, GangId gang);     // its kills are ordered, its lines written
void kill_took_effect(Machine& m, RunId run);
void start_reruns(Step& s);  // of groups whose kills took effect and whose delay passed
void barrier_done(Step& s, GangId gang);
void barrier_failed(Step& s, GangId gang, model::Code cause);
[[nodiscard]] model::StageReason barrier_reason(model::Code cause);
void gang_timer_fired(Step& s, const TimerRow& timer);

// ---- what is short, and for how long (shortfall.cpp, A2, A6, A9, A11, A12) ----
// What a check compares, by profile: where only the default profile may be used, it counts all
// tasks.
[[nodiscard]] std::vector<std::int64_t> checked_demand(const Machine& m, const GangRow& gang);
// Whose enqueued tasks claim slots (A9): everybody's, or only those of gangs that were let in.
enum class Claims : std::uint8_t { of_all, of_gangs };
// A9: slots by profile that running and enqueued tasks of live attempts take, but for these stages.
[[nodiscard]] std::vector<std::int64_t> outstanding(const Machine& m,
                                                    std::span<const StageId> except,
                                                    Claims claims = Claims::of_all);
// Slots by profile that a check may count on, as axis admission.capacity says.
[[nodiscard]] std::vector<std::int64_t> capacity_now(const Machine& m, const GangRow& gang,
                                                     Claims claims = Claims::of_all);
// What a refusal says there is: by a check, what it counted on; where slots are taken, free ones,
// whatever admission.capacity says of checks.
[[nodiscard]] std::vector<std::int64_t> slots_at_hand(const Machine& m, const GangRow& gang);
// Does the check of `hold: check` let the gang in, with these slots?
[[nodiscard]] bool passes_check(const Machine& m, const GangRow& gang,
                                const std::vector<std::int64_t>& have);
// Admitted by a check alone: its tasks are launched like those of regular stages.
void admit_without_slots(Step& s, GangId gang);
[[nodiscard]] bool admitted_at_once(const Machine& m);  // nothing is looked at when it is ready
void retry_or_give_up(Step& s, GangId gang);            // under retry: a check failed
void dissolve(Step& s, GangId gang);                    // A11

// ---- executors and starvation (executors.cpp) ----
void expect_executor(Machine& m, const model::ExecutorSpec& spec);
void give_up_executor(Step& s, ExpectedId expected);
void join_executor(Step& s, const JoinExecutor& input);
void hold_executor(Step& s, const HoldExecutor& input);
void release_executor(Step& s, const ReleaseExecutor& input);
void close_executor(Machine& m, ExecutorId executor);  // it is lost: offers and counts no more
void judge_starvation_after_loss(Step& s);
void judge_starvation(Step& s, StageId leader);  // of a unit that lives again
void judge_starvation_after_join(Step& s);
void no_longer_starved(Machine& m, StageId leader);
[[nodiscard]] bool exceeds_capacity(Machine& m, StageId leader);

// ---- phased start (phases.cpp, W6) ----
void plan_phases(const Machine& m, JobRow& job);                   // of a job that is submitted
[[nodiscard]] bool is_held_back(const Machine& m, StageId stage);  // others are launched before it

// ---- what executors are wanted for (backlog.cpp) ----
[[nodiscard]] Backlog backlog(const Machine& m);
[[nodiscard]] bool holds_needed_outputs(const Machine& m, ExecutorId executor);

// ---- exclusion after failures (exclusion.cpp, SS-2.7) ----
void exclude(Machine& m, const Exclude& input);

// ---- outputs of stages (outputs.cpp) ----
void record_output(Machine& m, StageId stage, std::int32_t partition, ExecutorId executor);
void note_location(Machine& m, StageId stage, ExecutorId executor);  // a loss there concerns it
void clear_output(Machine& m, StageId stage, std::int32_t partition);
void forget_outputs(Machine& m, StageId stage);  // of a stage that goes: all of them
[[nodiscard]] std::uint32_t output_executor(const Machine& m, StageId stage,
                                            std::int32_t partition);
// Strikes off all outputs of the stage, one line for each executor.
void drop_outputs(Step& s, StageId stage);
// Outputs for readers on executors that are lost with them: strikes them off; true if there were
// any.
[[nodiscard]] bool drop_gone_outputs(Step& s, StageId stage);
// Stages that may have outputs on the executor or its neighbours, in queue order of their jobs.
[[nodiscard]] std::vector<StageId> stages_near(const Machine& m, ExecutorId executor);
// Strikes off every registered output on the executor; writes outputs_lost; tells readers.
// `resubmit_running`: running stages do their lost partitions again in the same attempt.
void strike_off(Step& s, const std::vector<ExecutorId>& executors, bool redo_running);
// The same; what is wanted again is returned for want_lost.
[[nodiscard]] std::vector<StageId> strike_off_only(Step& s,
                                                   const std::vector<ExecutorId>& executors,
                                                   bool redo_running);

[[nodiscard]] model::Probe probe(Machine& m, model::ProbeWhen when);
[[nodiscard]] std::uint64_t digest(Machine& m);
[[nodiscard]] std::uint64_t full_digest(const Machine& m);
TimerId set_timer(Step& s, TimerRow row, model::Duration delay);
void void_timer(Machine& m, TimerId timer);

}  // namespace rehearse::scheduler
