// What a failure does: resubmission of regular stages (X9), the end of a group as a whole (X1 to
// X5, X10), losses of executors (X12, X13), and the end of a job (X14).
#include <algorithm>
#include <array>

#include "scheduler/accounting.hpp"
#include "scheduler/bulk.hpp"
#include "scheduler/duties_data.hpp"
#include "scheduler/places.hpp"
#include "scheduler/slices.hpp"
#include "scheduler/speculation.hpp"

namespace rehearse::scheduler {

namespace {

// X1: under `counted` a kill and a denied commit fail no group.
bool counts_for_group(const Machine& m, std::optional<model::TaskReason> reason) {
  if (planted(Mutant::m40)) {
    return true;
  }
  return m.config.failure.member == model::MemberFailure::any ||
         (reason != model::TaskReason::external && reason != model::TaskReason::commit_denied);
}

}  // namespace

model::Code cause_of(std::optional<model::TaskReason> reason) {
  if (reason == model::TaskReason::fetch_failed) {
    return model::Code::fetch_failed;
  }
  return reason == model::TaskReason::executor_lost ? model::Code::executor_lost
                                                    : model::Code::task_failed;
}

void kill_run(Step& s, RunId run, model::TaskReason reason) {
  Machine& m = s.m;
  RH_CHECK(m.runs.has(run) && !m.runs[run].dying, run.value);
  release_commit(m, m.runs[run]);
  unlink_from_stage(m, run);
  m.runs.edit(run).dying = true;
  ++m.counters.kills;
  m.counters.busy += planted(Mutant::mu31) ? 1 : 0;
  if (planted(Mutant::m64) && !in_share(m, run)) {
    give_slots(m, m.runs[run]);
  }
  if (planted(Mutant::act01) && reason == model::TaskReason::group_failed) {
    return;
  }
  s.out.list.emplace_back(Kill{run, reason, in_share(m, run)});
}

namespace {

// Whose outputs go with a fetch failure that names one executor.
std::vector<ExecutorId> neighbours(const Machine& m, ExecutorId executor) {
  std::vector<ExecutorId> list;
  const bool whole_host = m.engine.unregister_outputs_on_host && m.config.outputs_survive_executor;
  for (std::size_t i = 0; whole_host && i < m.executors.size(); ++i) {
    if (m.executors[ExecutorId{i}].host == m.executors[executor].host) {
      list.emplace_back(i);
    }
  }
  return whole_host ? list : std::vector{executor};
}

// Where the partition lies, also when its success is held back (C6); invalid: it is not done.
ExecutorId finished_on(const Machine& m, StageId stage, std::int32_t partition) {
  if (const std::uint32_t at = output_executor(m, stage, partition); at != none_u32) {
    return ExecutorId{at};
  }
  if (m.stages[stage].cold == none_u32) {
    return {};
  }
  const std::vector<StageCold::HeldSuccess>& held = m.colds[m.stages[stage].cold].held;
  const auto found = std::ranges::find(held, partition, &StageCold::HeldSuccess::partition);
  return found == held.end() ? ExecutorId{} : found->executor;
}

// Mutants: a member's failure that is its own affair.
bool fails_alone(Machine& m, const RunRow& run, const TaskEnded& input) {
  if ((planted(Mutant::mu16) && input.reason == model::TaskReason::fetch_failed) ||
      (planted(Mutant::m62) && input.status == model::TaskStatus::killed)) {
    retry_partition(m, run.stage, run.partition);
    return true;
  }
  return planted(Mutant::mu08) && input.reason == model::TaskReason::out_of_memory;
}

// X9, SS-1.8: of a regular stage. The first failure of an attempt ends it; each one strikes off the
// outputs of the executor that it names.
void fetch_failed(Step& s, const RunRow& run, ExecutorId source, std::uint32_t producer) {
  Machine& m = s.m;
  const StageId stage = run.stage;
  const JobId job = m.stages[stage].job;
  const bool first = m.stages[stage].phase == StagePhase::running;
  if (first) {
    end_attempt_by_fetch(s, stage);
    if (m.engine.ignore_decommission_fetch_failures && source.valid() &&
        m.executors[source].draining) {
      --m.stages.edit(stage).failures;
    }
  }
  const StageId read = origin_of(m, stage_of(m, job, producer));
  std::vector<StageId> lost;
  if (source.valid()) {
    ++m.executors.edit(source).epoch;
    lost = strike_off_only(s, neighbours(m, source), false);
  }
  if (m.stages[read].gang.valid() && m.gangs[m.stages[read].gang].barrier &&
      m.gangs[m.stages[read].gang].phase == GangPhase::committed) {
    drop_outputs(s, read);  // SS-1.8: a barrier stage is done anew as a whole
    tell_available(s, read, false, lost);
  }
  if (first && m.stages[stage].failures < m.config.failure.max_stage_attempts &&
      spec_of(m, read).indeterminate) {
    roll_back(s, read);
  }
  want_lost(s, lost);
  if (first && lives(m, job)) {
    resubmit_later(s, stage, producer);
  }
}

// X5: of a gang, which is over. What the executor that it names had is struck off; what was made of
// an indeterminate stage goes with that.
void group_read_failed(Step& s, GangId gang, StageId read, ExecutorId source) {
  Machine& m = s.m;
  ++m.executors.edit(source).epoch;
  if (planted(Mutant::m36)) {
    return;
  }
  const std::vector<StageId> lost = strike_off_only(s, {source}, false);
  const bool goes_on = m.gangs.has(gang);  // else its job ended with it
  if (goes_on && m.stages[read].gang != gang && spec_of(m, read).indeterminate) {
    roll_back(s, read);
  }
  want_lost(s, lost);
}

}  // namespace

void task_failed(Step& s, const RunRow& run, const TaskEnded& input) {
  Machine& m = s.m;
  const StageId stage = run.stage;
  const StageRow& row = m.stages[stage];
  const JobId job = row.job;
  if (input.reason != model::TaskReason::commit_denied) {
    release_commit(m, run);
  }
  const bool of_live_attempt = row.phase == StagePhase::running && run.attempt == row.attempt;
  ExecutorId source;
  StageId read;
  if (input.reason == model::TaskReason::fetch_failed) {
    read = origin_of(m, stage_of(m, job, input.fetch_from.value));
    source = finished_on(m, read, input.fetch_partition);
  }
  if (row.gang.valid()) {
    const GangId gang = row.gang;
    if (!m.gangs[gang].barrier && !counts_for_group(m, input.reason)) {
      retry_member(s, run);  // X1 counted: of this task alone
      return;
    }
    if (fails_alone(m, run, input)) {
      return;
    }
    fail_group(s, gang, cause_of(input.reason));
    if (source.valid()) {
      group_read_failed(s, gang, read, source);
    }
    return;
  }
  if (input.reason == model::TaskReason::fetch_failed) {
    if (run.attempt == row.attempt) {  // SS-1.8: ignored once there is a later one
      fetch_failed(s, run, source, input.fetch_from.value);
    }
    return;
  }
  if (!of_live_attempt && !(planted(Mutant::mu15) && row.phase == StagePhase::running)) {
    return;
  }
  retry_failed_run(s, run, input.reason);
}

void end_attempt_by_fetch(Step& s, StageId consumer) {
  Machine& m = s.m;
  complete_attempt(s, consumer, model::StageStatus::failed, model::StageReason::fetch_failed);
  StageRow& row = m.stages.edit(consumer);
  row.phase = StagePhase::stalled;
  row.failures = static_cast<std::uint8_t>(std::min(row.failures + 1, 255));
  row.failures = planted(Mutant::c04) ? std::uint8_t{0} : row.failures;
}

void resubmit_later(Step& s, StageId consumer, std::uint32_t producer) {
  Machine& m = s.m;
  const StageRow& row = m.stages[consumer];
  if (row.failures >= m.config.failure.max_stage_attempts) {
    abort_stage(s, consumer, model::Code::stage_attempts_exceeded,
                m.names->intern("stage " + std::string(m.names->text(stage_name(m, consumer))) +
                                " failed in all its attempts"));
    return;
  }
  const TimerRow timer{{}, TimerKind::resubmit, row.job, row.index, producer};
  if (m.config.failure.resubmit_delay == 0) {
    resubmit(s, timer);
  } else {
    if (!planted(Mutant::act04)) {
      set_timer(s, timer, m.config.failure.resubmit_delay);
    }
    judge_starvation(s, consumer);  // A14: "ready or not", as all of it may have run until now
  }
}

namespace {

// What was read of it is void: a new attempt will not give the same again. A stage that has begun
// one has undone its readers with that (SS-1.10); a gang has not, whatever it does meanwhile.
bool is_void(const Machine& m, StageId read) {
  const StageRow& row = m.stages[read];
  return row.gang.valid() ? spec_of(m, read).indeterminate
                          : row.phase != StagePhase::running && must_roll_back(m, read);
}

}  // namespace

void end_attempt_without_input(Step& s, StageId consumer) {
  Machine& m = s.m;
  const JobId job = m.stages[consumer].job;
  std::uint32_t producer = none_u32;
  for (const std::uint32_t parent :
       m.jobs[job].graph->regular_parents.row(m.stages[consumer].index)) {
    if (producer == none_u32 && !m.stages[stage_of(m, job, parent)].available) {
      producer = parent;
    }
  }
  RH_CHECK(producer != none_u32, consumer.value);
  end_attempt_by_fetch(s, consumer);
  const StageId read = origin_of(m, stage_of(m, job, producer));
  if (m.stages[consumer].failures < m.config.failure.max_stage_attempts && is_void(m, read)) {
    roll_back(s, read);
  }
  if (lives(m, job)) {
    resubmit_later(s, consumer, producer);
  }
}

// The producer first, then the reader, which waits for it; not if stragglers did the rest since.
void resubmit(Step& s, const TimerRow& timer) {
  Machine& m = s.m;
  const StageId consumer = stage_of(m, timer.job, timer.consumer);
  if (m.stages[consumer].phase != StagePhase::stalled) {
    return;
  }
  if (timer.producer != none_u32) {
    const StageId producer = stage_of(m, timer.job, timer.producer);
    if (!m.stages[producer].available) {
      want_input(s, producer);
      if (planted(Mutant::mu55)) {
        return;
      }
    }
  }
  if (lives(m, timer.job) && m.stages[consumer].phase == StagePhase::stalled) {
    want(s, consumer);
  }
}

void timer_fired(Step& s, TimerId id) {
  Machine& m = s.m;
  const auto found = std::ranges::lower_bound(m.timers, id, {}, &TimerRow::id);
  if (found == m.timers.end() || found->id != id) {
    return;  // void
  }
  const TimerRow timer = *found;
  m.timers.erase(found);
  if (timer.kind == TimerKind::resubmit) {
    resubmit(s, timer);
    return;
  }
  if (timer.kind == TimerKind::start) {
    start_delay_over(s, stage_of(m, timer.job, timer.consumer));
    return;
  }
  if (timer.kind == TimerKind::speculation) {
    tick(s, timer);
    return;
  }
  if (timer.kind == TimerKind::unschedulable) {
    unschedulable_too_long(s, timer);
    return;
  }
  if (timer.kind != TimerKind::grace) {
    gang_timer_fired(s, timer);
    return;
  }
  end_job(
      s, timer.job,
      {model::JobOutcome::failed, model::Code::admission_timeout,
       m.names->intern("no executor for it within no_executor_grace"), std::nullopt, std::nullopt});
}

namespace {

// What an attempt that does not go on was authorized to commit is dropped (C8).
void discard_authorized(Step& s, StageId stage) {
  Machine& m = s.m;
  StageCold& cold = cold_of(m, stage);
  if (planted(Mutant::mu20)) {
    return;
  }
  for (const auto& [partition, executor, try_number] : cold.authorized) {
    s.write(model::OutputDiscarded{{job_name(m, m.stages[stage].job), stage_name(m, stage),
                                    m.executors[executor].name, m.stages[stage].attempt, partition,
                                    try_number}});
    --m.counters.authorizations;
  }
  cold.authorized.clear();
}

void discard_authorized(Step& s, GangId gang) {
  const Machine& m = s.m;
  std::vector<std::uint32_t> members = m.gangs[gang].members;
  std::ranges::sort(members);
  for (const std::uint32_t member : members) {
    discard_authorized(s, stage_of(m, m.gangs[gang].job, member));
  }
}

}  // namespace

void fail_group(Step& s, GangId gang, model::Code cause) {
  Machine& m = s.m;
  const JobId job = m.gangs[gang].job;
  RH_CHECK(m.gangs[gang].phase == GangPhase::running, gang.value);
  const bool barrier = m.gangs[gang].barrier;
  std::vector<std::uint32_t> members = m.gangs[gang].members;
  std::ranges::sort(members);
  for (const std::uint32_t member : members) {
    if (planted(Mutant::mu12) && !m.jobs[job].graph->pipelined_parents.row(member).empty()) {
      continue;
    }
    for (const RunId run : live_runs(m, stage_of(m, job, member))) {
      kill_run(s, run, model::TaskReason::group_failed);
    }
  }
  close_shares(s, gang);
  discard_authorized(s, gang);
  for (const std::uint32_t member : m.gangs[gang].members) {
    const StageId stage = stage_of(m, job, member);
    drop_held(s, stage);
    if (m.config.completion == model::Completion::group && !barrier) {
      m.counters.deferred -= m.stages[stage].done;
      m.counters.deferred -= planted(Mutant::mu32) ? 1 : 0;
    }
    if (planted(Mutant::mu10) && m.stages[stage].done == m.stages[stage].tasks && !barrier &&
        m.stages[stage].phase == StagePhase::running) {
      complete_attempt(s, stage, model::StageStatus::success, std::nullopt);
    }
    if (m.stages[stage].phase == StagePhase::running) {
      complete_attempt(s, stage, model::StageStatus::failed,
                       barrier ? barrier_reason(cause) : model::StageReason::group_failed);
    }
  }
  if (!planted(Mutant::log06)) {
    s.write(model::GroupFailed{stage_ref(m, gang_leader(m, gang)), cause});
  }
  if (barrier) {
    barrier_failed(s, gang, cause);
    return;
  }
  if (m.config.failure.group == model::GroupFailure::rerun_group) {
    rerun_failed_group(s, gang);
    return;
  }
  m.gangs.edit(gang).phase = GangPhase::failed;
  --m.counters.live_gangs;
  end_job(s, job,
          {model::JobOutcome::failed, cause, m.names->intern("a group failed"), std::nullopt,
           std::nullopt});
}

namespace {

// C7: the job succeeds with this group's result stages.
bool ends_with_results(const Machine& m, GangId gang, model::CancelCause cause) {
  const GangRow& row = m.gangs[gang];
  return m.config.completion == model::Completion::final_stage &&
         cause == model::CancelCause::job_done && !row.barrier &&
         std::ranges::any_of(row.members, [&m, &row](std::uint32_t member) {
           return is_sink(m, stage_of(m, row.job, member));
         });
}

void end_gang(Step& s, StageId leader, model::CancelCause cause) {
  Machine& m = s.m;
  const GangId gang = m.stages[leader].gang;
  GangRow& row = m.gangs.edit(gang);
  leave_queue(m, gang);
  give_up_held(s, gang);
  close_shares(s, gang);
  if (row.phase == GangPhase::running && ends_with_results(m, gang, cause)) {
    commit_authorized(s, gang);
    s.write(model::GroupCommitted{stage_ref(m, leader)});  // C7
    --m.counters.live_gangs;
    row.phase = GangPhase::committed;
    return;
  }
  discard_authorized(s, gang);
  const bool queued = row.phase == GangPhase::inputs || row.phase == GangPhase::slots ||
                      row.phase == GangPhase::again;
  if (queued || row.phase == GangPhase::running) {
    model::StageRef ref = stage_ref(m, leader);
    if (queued) {
      ref.attempt.reset();
      m.wants_pass = true;  // A8: it keeps nobody back any more
    }
    if (row.told &&
        !(planted(Mutant::c11) && queued)) {  // else its last line is the commit, and stays it
      s.write(model::GroupCancelled{ref, cause});
    }
    --m.counters.live_gangs;
  }
  if (row.phase == GangPhase::running && !row.barrier &&
      m.config.completion == model::Completion::group && !planted(Mutant::mu18)) {
    for (const std::uint32_t member : row.members) {
      m.counters.deferred -= m.stages[stage_of(m, row.job, member)].done;
    }
  }
  row.phase = GangPhase::failed;
}

// X14: what of the job still lives, in file order.
void tear_down(Step& s, JobId job, model::TaskReason kill_reason, model::CancelCause cause) {
  Machine& m = s.m;
  const std::uint32_t stages = m.jobs[job].stages;
  constexpr std::array reasons{model::StageReason::job_failed, model::StageReason::job_cancelled,
                               model::StageReason::job_done};
  for (std::uint32_t i = 0; i < stages; ++i) {
    const StageId stage = stage_of(m, job, i);
    hand_over(m, stage);
    for (const RunId run : live_runs(m, stage)) {
      kill_run(s, run, kill_reason);
    }
    if (!planted(Mutant::m25) || cause != model::CancelCause::job_cancelled) {
      drop_held(s, stage);
    }
    if (m.stages[stage].phase == StagePhase::running) {
      complete_attempt(s, stage, model::StageStatus::cancelled,
                       reasons.at(static_cast<std::size_t>(cause)));
      if (m.config.completion == model::Completion::final_stage) {
        discard_authorized(s, stage);  // C7: its group commits what completed
      }
    }
  }
  for (std::uint32_t i = 0; i < stages; ++i) {
    const StageId stage = stage_of(m, job, i);
    const GangId gang = m.stages[stage].gang;
    if (gang.valid() && m.gangs[gang].leader == i) {
      end_gang(s, stage, cause);
    }
  }
}

void leave_tables(Machine& m, JobId job) {
  const JobRow& row = m.jobs[job];
  for (std::uint32_t i = 0; i < row.stages; ++i) {
    const StageId stage = stage_of(m, job, i);
    no_longer_starved(m, stage);
    if (!m.excluding.empty()) {
      end_exclusion(m, stage);
    }
    m.queue.remove(stage, Units{m});
  }
  for (std::uint32_t i = 0; i < row.stages; ++i) {
    const StageId stage = stage_of(m, job, i);
    const GangId gang = m.stages[stage].gang;
    if (gang.valid() && m.gangs[gang].leader == i) {
      const std::vector<std::uint32_t> members = m.gangs[gang].members;
      m.gangs.remove(gang);
      for (const std::uint32_t member : members) {
        m.stages.edit(stage_of(m, job, member)).gang = GangId{};
      }
    }
  }
  std::erase_if(m.timers, [job](const TimerRow& timer) { return timer.job == job; });
  std::erase_if(m.reruns, [job](const RerunRow& rerun) { return rerun.job == job; });
}

}  // namespace

void end_job(Step& s, JobId job, const JobEnding& ending) {
  Machine& m = s.m;
  RH_CHECK(lives(m, job), job.value);
  const bool cancelled = ending.outcome == model::JobOutcome::cancelled;
  const model::CancelCause cause = cancelled ? model::CancelCause::job_cancelled
                                   : ending.outcome == model::JobOutcome::failed
                                       ? model::CancelCause::job_failed
                                       : model::CancelCause::job_done;
  m.jobs.edit(job).phase = JobPhase::ended;
  tear_down(s, job, cancelled ? model::TaskReason::cancelled : model::TaskReason::job_ended, cause);
  s.write(model::JobEnd{job_name(m, job), ending.outcome, ending.code, ending.detail, ending.need,
                        ending.have});
  --m.counters.live_jobs;
  leave_tables(m, job);
  if (!m.jobs[job].keeps_outputs) {
    release_stage_rows(m, job);
    return;
  }
  const std::uint32_t stages = m.jobs[job].stages;
  for (std::uint32_t i = 0; i < stages; ++i) {
    foreign_job_ended(s, stage_of(m, job, i));
  }
}

namespace {

// C6: a success on the executor that waits for its producers.
bool holds_success(const Machine& m, StageId stage, std::size_t partition, ExecutorId executor) {
  return std::ranges::any_of(m.colds[m.stages[stage].cold].held,
                             [partition, executor](const StageCold::HeldSuccess& success) {
                               return success.executor == executor &&
                                      success.partition == static_cast<std::int32_t>(partition);
                             });
}

// X3, X10 (a): does the loss of this executor fail the running group, beyond its running tasks?
bool finished_output_needed(const Machine& m, GangId gang, ExecutorId executor, bool outputs_go) {
  const GangRow& row = m.gangs[gang];
  if (row.barrier) {
    return false;  // its attempt meets the loss at its end
  }
  const model::ExecutorLossAxis axis = m.config.failure.executor_loss;
  if (axis == model::ExecutorLossAxis::running_only) {
    return false;
  }
  const model::StageGraph& graph = *m.jobs[row.job].graph;
  for (const std::uint32_t member : row.members) {
    const StageId stage = stage_of(m, row.job, member);
    const std::vector<std::uint32_t>& outputs = m.colds[m.stages[stage].cold].outputs;
    const auto children = graph.pipelined_children.row(member);
    const bool read = std::ranges::any_of(children, [&m, &row](std::uint32_t child) {
      const StageRow& consumer = m.stages[stage_of(m, row.job, child)];
      return consumer.done < consumer.tasks;
    });
    for (std::size_t p = 0; p < outputs.size(); ++p) {
      if (outputs[p] != executor.value && !holds_success(m, stage, p, executor)) {
        continue;
      }
      const auto& list = m.colds[m.stages[stage].cold].authorized;
      const bool authorized = std::ranges::binary_search(list, static_cast<std::int32_t>(p), {},
                                                         &StageCold::Authorized::partition);
      if (axis == model::ExecutorLossAxis::any_member || read ||
          (has_readers(m, stage) && outputs_go) || authorized) {
        return true;
      }
    }
  }
  return false;
}

// Running groups with a finished or running task there, in the order they are met.
std::vector<GangId> groups_hit(const Machine& m, ExecutorId executor,
                               const std::vector<RunRow>& lost, bool outputs_go) {
  std::vector<GangId> hit;
  const auto add = [&hit](GangId gang) {
    if (std::ranges::find(hit, gang) == hit.end()) {
      hit.push_back(gang);
    }
  };
  for (const RunRow& run : lost) {
    const GangId gang = m.stages[run.stage].gang;
    if (gang.valid()) {
      add(gang);
    }
  }
  if (planted(Mutant::mu14)) {
    hit.clear();
  }
  for (const StageId stage : stages_near(m, executor)) {
    const GangId gang = m.stages[stage].gang;
    if (gang.valid() && m.gangs[gang].phase == GangPhase::running &&
        finished_output_needed(m, gang, executor, outputs_go)) {
      add(gang);
    }
  }
  return hit;
}

// Every try believed to run there ends failed; killed ones are simply over.
std::vector<RunRow> end_runs_on(Step& s, ExecutorId executor) {
  Machine& m = s.m;
  std::vector<RunRow> lost;
  if (m.engine.reports_after_loss) {
    ++m.executors.edit(executor).epoch;  // no output that is told of later is there
    return lost;
  }
  const std::vector<RunId> runs = m.executors[executor].runs;
  for (const RunId run : runs) {
    if (planted(Mutant::mu34) && runs.size() > 1 && run == runs.back()) {
      continue;
    }
    if (!m.runs[run].dying) {
      lost.push_back(m.runs[run]);
      release_commit(m, m.runs[run]);
      s.out.list.emplace_back(
          EndTask{run, model::TaskStatus::failed, model::TaskReason::executor_lost, true});
      unlink_from_stage(m, run);
    }
    free_run(s, run);
  }
  return lost;
}

void retry_lost_run(Step& s, const RunRow& run, model::LossCause cause) {
  Machine& m = s.m;
  for (const std::int32_t p : partitions_of(run)) {
    const StageRow& row = m.stages[run.stage];
    const bool of_live_attempt = row.used && row.phase == StagePhase::running &&
                                 (run.attempt == row.attempt || planted(Mutant::mu15));
    if (!of_live_attempt || row.gang.valid()) {
      return;
    }
    if (output_executor(m, run.stage, p) != none_u32) {
      continue;
    }
    if (cause != model::LossCause::exit_by_app ||
        below_limit(s, run, p, model::Code::executor_lost)) {
      retry_partition(m, run.stage, p);
    }
  }
}

void fail_groups(Step& s, const std::vector<GangId>& hit) {
  for (const GangId gang : hit) {
    if (s.m.gangs.has(gang) && s.m.gangs[gang].phase == GangPhase::running) {
      fail_group(s, gang, model::Code::executor_lost);  // unless its job ended with another group
    }
  }
}

// The executors whose outputs go with this loss: with a host also those of executors that were lost
// there before it and whose outputs survived them (X13).
std::vector<ExecutorId> lose_outputs(Machine& m, const LoseExecutor& input) {
  std::vector<ExecutorId> list;
  for (std::size_t i = 0; input.cause == model::LossCause::host && i < m.executors.size(); ++i) {
    const ExecutorRow& row = m.executors[ExecutorId{i}];
    if (row.phase == ExecutorPhase::lost && !row.outputs_gone &&
        row.host == m.executors[input.executor].host) {
      list.emplace_back(i);
    }
  }
  if (list.empty()) {
    list.push_back(input.executor);
  }
  for (const ExecutorId executor : list) {
    m.executors.edit(executor).outputs_gone = true;
  }
  return list;
}

}  // namespace

void lose_executor(Step& s, const LoseExecutor& input) {
  Machine& m = s.m;
  if (!m.executors.has(input.executor) ||
      m.executors[input.executor].phase != ExecutorPhase::live) {
    return;
  }
  const bool outputs_go =
      input.cause == model::LossCause::host || !m.config.outputs_survive_executor;
  close_executor(m, input.executor);
  if (takes_piecewise(m)) {
    give_up_held_on(s, input.executor);
  }
  const std::vector<RunRow> lost = end_runs_on(s, input.executor);
  std::vector<ExecutorId> without_outputs;
  if (outputs_go) {
    without_outputs = lose_outputs(m, input);
  }
  fail_groups(s, groups_hit(m, input.executor, lost, outputs_go));
  for (const RunRow& run : lost) {
    retry_lost_run(s, run, input.cause);
  }
  for (const ExecutorId executor : without_outputs) {
    if (executor != input.executor) {
      fail_groups(s, groups_hit(m, executor, {}, true));
    }
  }
  strike_off(s, without_outputs, !m.config.outputs_survive_executor);  // SS-2.6
  if (!planted(Mutant::mu51)) {
    judge_starvation_after_loss(s);
  }
}

}  // namespace rehearse::scheduler
