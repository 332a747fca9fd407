// Carrying out what the core asks for, and the physical lines that come of it.
#include <algorithm>

#include "model/support/check.hpp"
#include "sim/driver.hpp"

namespace rehearse::sim {

void Driver::carry_out() {
  freed_at_once_.clear();
  for (const scheduler::Action& action : actions_.list) {
    if (const auto* line = std::get_if<scheduler::Entry>(&action)) {
      entry(actions_.entries[line->index]);
    } else if (const auto* start = std::get_if<scheduler::Launch>(&action)) {
      launch(*start);
    } else if (const auto* end = std::get_if<scheduler::EndTask>(&action)) {
      end_task(*end);
    } else if (const auto* order = std::get_if<scheduler::Kill>(&action)) {
      kill(*order);
    } else if (const auto* back = std::get_if<scheduler::ReturnSlot>(&action)) {
      return_slot(*back);
    } else if (const auto* shared = std::get_if<scheduler::ReturnShared>(&action)) {
      return_shared(*shared);
    } else {
      const auto& timer = std::get<scheduler::SetTimer>(action);
      Pending pending;
      pending.what = Pending::What::timer;
      pending.index = timer.timer.value;
      push_pending(later(now_, timer.delay), InputKind::timer, pending);
      if (watching_moments_) {
        schedule_faults(faults_.after_timer(jobs_[timer.job.index()].name, now_));
      }
    }
  }
  // A latency of 0 acts within the step that caused it.
  for (const scheduler::RunId run : freed_at_once_) {
    nested_.clear();
    core_.step(scheduler::KillEffective{run}, nested_);
    ++steps_;
    for (const scheduler::Action& action : nested_.list) {
      return_shared(std::get<scheduler::ReturnShared>(action));
    }
    slot_came_back(runs_[run.index()]);
  }
}

StageSim& Driver::stage_sim(scheduler::JobId job, model::StageIndex stage) {
  JobSim& sim = jobs_[job.index()];
  StageSim& row = sim.stages[stage.index()];
  if (!row.keyed) {
    const model::NameId name = sim.spec->stages[stage.index()].name;
    row.keyed = true;
    row.targeted = faults_.any_about(sim.name, name) || faults_.any_about(sim.plain_name, name);
    row.draws =
        StageDraws(decisions_, scenario_.seed, sim.key, model::name_key(names_->text(name)));
  }
  return row;
}

model::TaskRef Driver::task_ref(const Run& run) const {
  const JobSim& job = jobs_[run.job.index()];
  return {run.job_name,
          job.spec->stages[run.stage.index()].name,
          executors_[run.executor.index()].name,
          run.attempt,
          run.partition,
          run.try_number,
          run.more};
}

// A pattern that names any partition of a slice means the slice (A21); how slow each of them is
// goes by partition.
void Driver::add_faults_of_rest(const model::TaskRef& task, model::NameId plain_name,
                                TryFaults& faults) {
  for (std::int32_t p = task.partition + 1; p <= task.last(); ++p) {
    const TryFaults more = faults_.of_try(task, p, plain_name);
    faults.status_late += more.status_late;
    if (more.failure != nullptr &&
        (faults.failure == nullptr || more.failure->after < faults.failure->after)) {
      faults.failure = more.failure;
    }
  }
}

// Of a slice's partitions behind the first, how long the longest takes (A21).
model::Duration Driver::longest_of_rest(const scheduler::Launch& action,
                                        const model::TaskRef& task) {
  const JobSim& job = jobs_[action.job.index()];
  const model::StageSpec& spec = job.spec->stages[action.stage.index()];
  const StageSim& stage = stage_sim(action.job, action.stage);
  const std::int64_t speed = executors_[action.executor.index()].speed_milli;
  model::Duration longest = 0;
  for (std::int32_t p = task.partition + 1; p <= task.last(); ++p) {
    const std::int64_t slow =
        stage.targeted ? faults_.of_try(task, p, job.plain_name).slow_milli : model::milli;
    const TryKey which{p, action.attempt, action.try_number};
    longest = std::max(longest, stretched(stage.draws.duration(spec, which), slow, speed));
  }
  return longest;
}

// How long the try computes if nobody shares its slot.
model::Duration Driver::length_of(const StageSim& stage, const scheduler::Launch& action,
                                  const model::TaskRef& task, const TryFaults& faults) {
  const JobSim& job = jobs_[action.job.index()];
  const model::StageSpec& spec = job.spec->stages[action.stage.index()];
  const TryKey which{action.partition, action.attempt, action.try_number};
  const model::Duration length = stretched(stage.draws.duration(spec, which), faults.slow_milli,
                                           executors_[action.executor.index()].speed_milli);
  return action.more > 0 ? std::max(length, longest_of_rest(action, task)) : length;
}

// When the try's work is over, whatever becomes known of it and when.
model::Instant Driver::end_of(const scheduler::Launch& action, const model::TaskRef& task,
                              StageSim& stage, const TryFaults& faults) {
  const JobSim& job = jobs_[action.job.index()];
  const TryKey which{action.partition, action.attempt, action.try_number};
  model::Instant end = later(later(now_, stage.draws.launch(scenario_.cluster.overheads, which)),
                             length_of(stage, action, task, faults));
  if (job.graph) {
    // Coupled: no earlier than the last task of each pipelined producer of this attempt.
    for (const std::uint32_t producer : job.graph->pipelined_parents.row(action.stage.index())) {
      const StageSim& source = job.stages[producer];
      if (source.attempt == action.attempt) {
        end = std::max(end, source.latest_end);
      }
    }
  }
  if (faults.failure != nullptr) {
    const model::Instant failure = later(now_, faults.failure->after);
    if (failure <= end) {
      end = failure;
      will_fail(runs_[action.run.index()], faults.failure);
    }
  }
  stage.latest_end = stage.attempt == action.attempt ? std::max(stage.latest_end, end) : end;
  stage.attempt = action.attempt;
  return end;
}

void Driver::will_fail(Run& run, const model::TaskFault* failure) {
  run.fails = true;
  failing_.emplace(run.launch, failure);
}

void Driver::forget_failure(Run& run) {
  if (run.fails) {
    run.fails = false;
    failing_.erase(run.launch);
  }
}

void Driver::launch(const scheduler::Launch& action) {
  if (action.run.index() >= runs_.size()) {
    runs_.resize(action.run.index() + 1);
  }
  Run& run = runs_[action.run.index()];
  RH_CHECK(!run.live || executors_[run.executor.index()].lost, action.run.value);
  run.job_name = action.job_name;
  run.job = action.job;
  run.stage = action.stage;
  run.executor = action.executor;
  run.partition = action.partition;
  run.attempt = static_cast<std::int16_t>(action.attempt);
  run.try_number = static_cast<std::int16_t>(action.try_number);
  run.profile = static_cast<std::uint16_t>(
      jobs_[action.job.index()].spec->stages[action.stage.index()].profile.value);
  run.more = static_cast<std::uint16_t>(action.more);
  run.speculative = action.speculative;
  run.live = true;
  run.killed = false;
  run.returned = false;
  run.late = false;
  run.fails = false;
  run.launch = next_launch_++;
  ExecutorSim& executor = executors_[action.executor.index()];
  RH_CHECK(!executor.lost, action.executor.value);
  ++executor.runs;
  unseen_.launches_on_dead += executor.dead ? 1 : 0;
  if (scaling_) {
    scaling_->policy.started(run.executor, model::ProfileId{std::uint32_t{run.profile}},
                             run.more + 1);
  }
  const model::TaskRef task{action.job_name, action.stage_name, action.executor_name,
                            action.attempt,  action.partition,  action.try_number,
                            action.more};
  StageSim& stage = stage_sim(action.job, action.stage);
  TryFaults faults;
  if (stage.targeted) {
    const model::NameId plain_name = jobs_[action.job.index()].plain_name;
    faults = faults_.of_try(task, task.partition, plain_name);
    if (task.more > 0) {
      add_faults_of_rest(task, plain_name, faults);
    }
  }
  run.over_at = shares_slots_ ? 0 : end_of(action, task, stage, faults);
  const model::Duration status =
      stage.draws.status(scenario_.cluster.overheads,
                         {action.partition, action.attempt, action.try_number}) +
      faults.status_late;
  auto& line = begin_line<model::TaskStart>();
  line.task = task;
  line.speculative = action.speculative;
  publish();
  if (shares_slots_) {
    launch_shared(action, task, faults, status);
  } else if (!executor.dead) {
    engine_.push(later(run.over_at, status),
                 {static_cast<std::uint32_t>(InputKind::task), run.launch, action.run.value});
  }
}

void Driver::end_task(const scheduler::EndTask& action) {
  Run& run = runs_[action.run.index()];
  RH_CHECK(run.live && !run.killed, action.run.value);
  run.late = action.reason == model::TaskReason::executor_lost && !run.returned && !run.fails &&
             ended_by_itself(run);
  if (shares_slots_ && !run.returned) {
    lose_shared(action.run);
  }
  auto& line = begin_line<model::TaskEnd>();
  line.task = task_ref(run);
  line.speculative = run.speculative;
  line.status = action.status;
  line.reason = action.reason;
  if (!action.counted) {
    line.counted = false;
  }
  if (action.shared) {
    line.slot = model::SlotState::held;
  }
  if (run.returned) {
    line.slot = model::SlotState::held;
    publish();
    run.live = false;
    return;
  }
  publish();
  run.live = false;
  forget_failure(run);
  slot_came_back(run);
}

void Driver::return_slot(const scheduler::ReturnSlot& action) {
  Run& run = runs_[action.run.index()];
  RH_CHECK(run.live && !run.killed && !run.returned, action.run.value);
  run.returned = true;
  forget_failure(run);
  emit(model::SlotReturned{executors_[run.executor.index()].name,
                           scenario_.cluster.profiles[run.profile].name, 1, run.job_name});
  slot_came_back(run);
}

void Driver::return_shared(const scheduler::ReturnShared& action) {
  emit(model::SlotReturned{action.executor_name, action.profile_name, action.count,
                           action.job_name});
}

void Driver::kill(const scheduler::Kill& action) {
  Run& run = runs_[action.run.index()];
  RH_CHECK(run.live && !run.killed, action.run.value);
  const model::Duration delay =
      stage_sim(run.job, run.stage)
          .draws.kill(scenario_.cluster.overheads, {run.partition, run.attempt, run.try_number});
  if (shares_slots_) {
    stop_sharing(action.run, SharedRun::Phase::stopped);
  }
  model::TaskEnd line{task_ref(run), run.speculative, model::TaskStatus::killed,
                      action.reason, std::nullopt,    std::nullopt};
  forget_failure(run);
  if (action.shared) {
    line.slot = model::SlotState::held;
  }
  if (delay == 0) {
    emit(line);
    run.live = false;
    freed_at_once_.push_back(action.run);
    return;
  }
  line.slot = model::SlotState::held;
  emit(line);
  run.killed = true;
  run.shared = action.shared;
  run.over_at = later(now_, delay);
  engine_.push(run.over_at,
               {static_cast<std::uint32_t>(InputKind::task), run.launch, action.run.value});
}

// An executor that is draining leaves when its last slot is free (X13).
void Driver::slot_came_back(const Run& run) {
  ExecutorSim& row = executors_[run.executor.index()];
  RH_CHECK(row.runs > 0, run.executor.value);
  if (scaling_) {
    scaling_->policy.ended(run.executor, model::ProfileId{std::uint32_t{run.profile}},
                           run.more + 1);
  }
  if (--row.runs == 0 && row.draining && !row.lost) {
    Pending pending;
    pending.what = Pending::What::notice;
    pending.index = run.executor.value;
    pending.cause = model::LossCause::decommission;
    push_pending(now_, InputKind::notice, pending);
  }
}

void Driver::entry(model::EventBody& body) {
  event_.t = now_;
  std::swap(event_.body, body);
  publish();
  // `event_` may have been overwritten only by faults' bookkeeping, which does not emit.
  if (scaling_) {
    note_outputs();
  }
  if (event_.as<model::JobStarted>() != nullptr) {
    ++live_jobs_;
  } else if (const auto* rejected = event_.as<model::JobRejected>()) {
    job_over(rejected->job, true, false);
  } else if (const auto* end = event_.as<model::JobEnd>()) {
    job_over(end->job, end->outcome == model::JobOutcome::failed, true);
  }
}

void Driver::job_over(model::NameId job, bool failed_or_rejected, bool was_live) {
  const scheduler::JobId id = job_named_[job.index()];
  RH_CHECK(id.valid(), job.value);
  JobSim& sim = jobs_[id.index()];
  live_jobs_ -= was_live ? 1 : 0;
  sim.ended = true;
  for (const Submission& next : client_.follow(sim.submission, {failed_or_rejected}, now_)) {
    Pending pending;
    pending.what = Pending::What::submission;
    pending.submission = next;
    ++pending_submissions_;
    push_pending(next.at, InputKind::submission, pending);
  }
  if (!was_live || !sim.shared) {
    job_named_[job.index()] = scheduler::JobId{};
    scheduler::JobId& latest = latest_of_[sim.submission.spec.index()];
    if (latest == id) {
      latest = scheduler::JobId{};
    }
    sim.used = false;  // its stages may still be asked about within this step
    free_jobs_.push_back(id);
  }
}

void Driver::schedule_faults(const std::vector<DueFault>& due) {
  for (const DueFault& fault : due) {
    const model::TimedAction& action = faults_.timed(fault.index).action;
    const InputKind kind = std::holds_alternative<model::LoseExecutor>(action) ? InputKind::notice
                           : std::holds_alternative<model::CancelJob>(action)  ? InputKind::cancel
                                                                              : InputKind::executor;
    Pending pending;
    pending.what = Pending::What::fault;
    pending.index = fault.index;
    push_pending(fault.at, kind, pending);
  }
}

}  // namespace rehearse::sim
