// The oracle's chapter 5: failures of tasks, attempts and groups, losses, the end of a job, and who
// starves (A14).
// registry: none (a part of the oracle)
#include <algorithm>

#include "properties/oracle/world.hpp"

namespace rehearse::properties::oracle {

using namespace model;

namespace {

Code code_of(TaskReason reason) {
  return reason == TaskReason::fetch_failed    ? Code::fetch_failed
         : reason == TaskReason::executor_lost ? Code::executor_lost
                                               : Code::task_failed;  // X17
}

constexpr int tries_max = 1'000;  // of an attempt, counted or not (decision 2)

bool counts(TaskReason reason) {  // SS-2.1
  return reason == TaskReason::exception || reason == TaskReason::result_lost ||
         reason == TaskReason::out_of_memory;
}

}  // namespace

void World::fail_task(std::size_t number) {
  const Try& task = tries_[number];
  const TaskReason reason = *task.reason;
  const TaskStatus status =
      reason == TaskReason::external ? TaskStatus::killed : TaskStatus::failed;
  tell_end(number, status, reason);
  Job& job = *task.job;
  Unit& unit = job.unit(task.stage);
  if (!unit.gang) {
    return reason == TaskReason::fetch_failed ? fail_fetch(number) : fail_regular(number, false);
  }
  const bool harmless = config_.failure.member == MemberFailure::counted && unit.group() &&
                        (reason == TaskReason::external || reason == TaskReason::commit_denied);
  if (harmless) {  // tried again
    Attempt& attempt = job.stages[task.stage].attempts.back();
    if (attempt.next_try[task.partition] >= tries_max) {
      return end_job(job, JobOutcome::failed, Code::task_failed);
    }
    attempt.retries.insert(task.partition);
    return;
  }
  const int source = task.fetch != nullptr ? read_from(task) : nobody;
  fail_gang(job, unit, code_of(reason));
  if (source != nobody) {  // X5, decision 4: struck off behind the end of the group
    executors_[source].epoch = tries_.size();
    strike_off(source, false);
    for (Job* each : queue_) {
      unready(*each);
    }
    if (!job.over) {
      roll_back_named(job, task.stage, read_stage(task));
    }
    settle_all();
  }
}

// The stage and the executor that a fetch failure names, if that is a regular output.
int World::read_stage(const Try& task) const {
  const auto& stages = task.job->stages;
  const NameId other = task.fetch->fetch_from_job;
  std::string name(out_.names.text(task.fetch->fetch_from));
  if (other.valid() && other != task.job->spec->name) {
    name = std::string(out_.names.text(other)) + "." + name;
  }
  const auto named = [&](const Stage& stage) {
    return out_.names.text(stage.spec->name) == name && stage.read;
  };
  const auto found = std::ranges::find_if(stages, named);
  return found == stages.end() ? nobody : static_cast<int>(found - stages.begin());
}

int World::read_from(const Try& task) const {
  const int s = read_stage(task);
  if (s != nobody && &task.job->unit(s) != &task.job->unit(task.stage)) {
    const Stage& stage = task.job->stages[s];
    const Stage* read = stage.dormant ? stage.original : &stage;
    return read == nullptr ? nobody : read->output[task.fetch->fetch_partition];
  }
  for (int m = 0; m < std::ssize(task.job->stages); ++m) {  // of an internal shuffle: if it is done
    const Stage& stage = task.job->stages[m];
    const auto found = stage.where.find(task.fetch->fetch_partition);
    if (stage.spec->name == task.fetch->fetch_from && found != stage.where.end()) {
      return found->second;
    }
  }
  return nobody;
}

// A12, SS-1.8: of a barrier stage all outputs go.
void World::drop_outputs(Job& job, int s) {
  for (int number = 0; number < joined_; ++number) {
    const auto found = std::ranges::find(executors_, number, &Executor::number);
    drop_output(static_cast<int>(found - executors_.begin()), job, s, false);
  }
}

// X9: tried again, unless the try belongs to an attempt that is over.
void World::fail_regular(std::size_t number, bool by_app) {
  const Try& task = tries_[number];
  Job& job = *task.job;
  Stage& stage = job.stages[task.stage];
  Attempt& attempt = stage.attempts[task.attempt];
  if (!attempt.open) {
    return;
  }
  const bool lost = !task.reason;
  const bool counted = lost ? by_app : counts(*task.reason);
  const bool used_up =
      counted && ++attempt.failures[task.partition] >= config_.failure.max_task_failures;
  if (used_up || (!lost && attempt.next_try[task.partition] >= tries_max)) {
    complete(job, task.stage, StageStatus::failed,
             lost ? StageReason::executor_lost : StageReason::task_failed, "X9");
    return end_job(job, JobOutcome::failed, lost ? Code::executor_lost : Code::task_failed);
  }
  attempt.retries.insert(task.partition);
}

// X9, SS-1.8.
void World::fail_fetch(std::size_t number) {
  const Try& task = tries_[number];
  Job& job = *task.job;
  Stage& stage = job.stages[task.stage];
  if (task.attempt + 1 != std::ssize(stage.attempts)) {
    return;
  }
  const int source = read_from(task);
  const bool first = stage.open() != nullptr;
  if (first) {
    complete(job, task.stage, StageStatus::failed, StageReason::fetch_failed, "X9");
  }
  if (source != nobody) {
    executors_[source].epoch = tries_.size();
    strike_off(source, false);
    for (Job* each : queue_) {
      unready(*each);
    }
    const Stage& named = job.stages[read_stage(task)];
    Job& owner = named.dormant ? *named.owner : job;
    const Stage& read = named.dormant ? *named.original : named;
    if (read.spec->barrier && !owner.over) {
      drop_outputs(owner, static_cast<int>(read.spec - owner.spec->stages.data()));
    }
  }
  if (first) {
    job.unit(task.stage).state = UnitState::delayed;
    roll_back_named(job, task.stage, read_stage(task));
  }
  settle_all();
  if (first && !job.over) {
    retry_attempt(job, task.stage, config_.failure.resubmit_delay, read_stage(task));
  }
}

// The attempt ends by itself: an input is gone, or outputs are missing.
void World::fail_attempt(Job& job, int s, StageReason reason) {
  again_ = true;
  complete(job, s, StageStatus::failed, reason, "X9");
  if (reason == StageReason::incomplete) {
    retry_attempt(job, s, 0);
  } else {
    const auto parents = Job::row(job.graph.regular_parents, s);
    const auto gone = std::ranges::find_if(
        parents, [&job](std::uint32_t parent) { return !available(job.stages[parent]); });
    job.unit(s).state = UnitState::delayed;
    roll_back_named(job, s, static_cast<int>(*gone));
    if (!job.over) {
      retry_attempt(job, s, config_.failure.resubmit_delay, static_cast<int>(*gone));
    }
  }
  settle(job);
}

// After the delay the producer that was named, then the consumer (X9).
void World::retry_attempt(Job& job, int s, Duration delay, int source) {
  Stage& stage = job.stages[s];
  Unit& unit = job.unit(s);
  if (++stage.failed_in_row >= config_.failure.max_stage_attempts) {
    return end_job(job, JobOutcome::failed, Code::stage_attempts_exceeded);
  }
  unit.state = UnitState::delayed;
  unit.ready = Ready::unknown;
  unit.refused = false;
  const auto again = [this, &job, &unit, s, source] {
    if (job.over || unit.state != UnitState::delayed) {
      return false;
    }
    if (job.stages[s].spec->tasks > 0 && missing(job, s).empty()) {
      unit.state = UnitState::resting;  // stragglers did it all
      return false;
    }
    if (source != nobody && make_again(job, source)) {
      settle(job);
    }
    unit.state = job.over ? unit.state : UnitState::waiting;
    settle(job);
    return true;
  };
  if (delay == 0) {
    again();  // within the step
  } else {
    arm(job, now_ + delay, again);
  }
}

// X1, X4: one step.
void World::fail_gang(Job& job, Unit& unit, Code cause) {
  for (const int s : unit.stages) {
    kill_all(job, s, TaskReason::group_failed);
  }
  if (!unit.group()) {
    return fail_barrier(job, unit, cause);
  }
  for (const int s : unit.stages) {
    discard(job, s);
  }
  for (const int s : job.members(unit)) {
    if (job.stages[s].open() != nullptr) {
      tell_held_back(job, s, false);
      complete(job, s, StageStatus::failed, StageReason::group_failed, "X4");
    }
  }
  unit.state = UnitState::resting;
  say(GroupFailed{{job.name, job.name_of(unit), unit.attempt}, cause}, "X4");
  end_job(job, JobOutcome::failed, cause);
}

// C8: what was authorized and is not committed.
void World::discard(Job& job, int s) {
  for (const auto& [partition, number] : std::exchange(job.stages[s].authorized, {})) {
    say(OutputDiscarded{ref(tries_[number])}, "C8");
  }
}

// A12, SS-3.6: the whole stage again after the delay; a result stage ends the job.
void World::fail_barrier(Job& job, Unit& unit, Code cause) {
  const int s = unit.stages.front();
  Stage& stage = job.stages[s];
  complete(job, s, StageStatus::failed,
           cause == Code::task_failed    ? StageReason::task_failed
           : cause == Code::fetch_failed ? StageReason::fetch_failed
                                         : StageReason::executor_lost,
           "A12");
  say(GroupFailed{{job.name, stage.spec->name, unit.attempt}, cause}, "A12");
  unit.state = UnitState::resting;
  if (sink(job, s)) {
    return end_job(job, JobOutcome::failed, cause);
  }
  if (++stage.failed_in_row >= config_.failure.max_stage_attempts) {
    return end_job(job, JobOutcome::failed, Code::stage_attempts_exceeded);
  }
  drop_outputs(job, s);
  unit.state = UnitState::delayed;
  unit.ready = Ready::unknown;
  unit.refused = false;
  unit.told = false;
  const Instant from = now_ + config_.failure.resubmit_delay;
  restarts_.push_back({&job, s, from});
  if (from > now_) {
    arm(job, from, [&job] { return !job.over; });
  }
}

// As X16 has it: a pass begins with what its delay is over for and whose kills took effect.
void World::restart() {
  for (const Restart& one : std::exchange(restarts_, {})) {
    const bool kills = std::ranges::any_of(tries_, [&one](const Try& task) {
      return task.over && task.busy && task.job == one.job && task.stage == one.stage;
    });
    if (one.job->over) {
      continue;
    }
    if (kills || one.from > now_) {
      restarts_.push_back(one);
      continue;
    }
    one.job->unit(one.stage).state = UnitState::waiting;
    settle(*one.job);
  }
}

void World::kill_all(Job& job, int s, TaskReason reason) {
  for (std::size_t t = 0; t < tries_.size(); ++t) {
    if (!tries_[t].over && tries_[t].job == &job && tries_[t].stage == s) {
      kill(t, reason);
    }
  }
}

// C6: once, in the order of their ends; at an abort none of them counts.
void World::tell_held_back(Job& job, int s, bool counted) {
  for (const std::size_t t : std::exchange(job.stages[s].held_back, {})) {
    tries_[t].held_back = false;
    tell_end(t, TaskStatus::success, {}, counted);
  }
}

// ---- losses ----

void World::notice(int e, LossCause cause) {
  Executor& executor = executors_[e];
  if (executor.gone) {
    return;  // a second notice of one loss
  }
  loss_noticed_ = true;
  if (executor.number == nobody) {  // A14: it was due and will not come
    executor.gone = true;
    executor.due = false;
  } else if (cause != LossCause::decommission) {
    leave(e, cause);
  } else if (!std::exchange(executor.leaving, true)) {
    say(ExecutorHeld{executor.spec.name, HoldCause::decommission}, "X13");
    close_step();
    const bool idle = std::ranges::none_of(
        tries_, [e](const Try& task) { return task.busy && task.executor == e; });
    if (idle) {
      leave(e, cause);
    }
  }
}

// X12, X13, decision 4.
void World::leave(int e, LossCause cause) {
  Executor& executor = executors_[e];
  executor.gone = true;
  say(ExecutorLost{executor.spec.name, cause}, "X13");
  std::erase_if(shares_, [e](const Share& share) { return share.executor == e; });
  std::vector<std::size_t> lost;
  for (std::size_t t = 0; t < tries_.size(); ++t) {
    Try& task = tries_[t];
    if (task.executor == e && !task.over) {
      task.over = true;
      task.reason.reset();
      tell_end(t, TaskStatus::failed, TaskReason::executor_lost);
      lost.push_back(t);
    }
    task.busy = task.busy && task.executor != e;  // slots of kills under way go with it
  }
  const bool outputs_go = !config_.outputs_survive_executor || cause == LossCause::host;
  Gangs gangs;
  for (const std::size_t t : lost) {
    Job& job = *tries_[t].job;
    if (job.unit(tries_[t].stage).gang) {
      gangs.emplace_back(&job, job.unit_of[tries_[t].stage]);
    }
  }
  lost_members(e, outputs_go, gangs);
  for (const auto& [job, unit] : gangs) {
    if (!job->over && job->units[unit].state == UnitState::running) {
      fail_gang(*job, job->units[unit], Code::executor_lost);
    }
  }
  for (const std::size_t t : lost) {
    const Job& job = *tries_[t].job;
    if (!job.over && !job.unit(tries_[t].stage).gang) {
      fail_regular(t, cause == LossCause::exit_by_app);
    }
  }
  const std::vector<int> list = outputs_go ? without_outputs(e, cause) : std::vector<int>{};
  for (const int other : list) {
    Gangs more;
    if (other != e) {
      lost_members(other, true, more);
    }
    for (const auto& [job, unit] : more) {
      if (!job->over && job->units[unit].state == UnitState::running) {
        fail_gang(*job, job->units[unit], Code::executor_lost);
      }
    }
  }
  for (const int other : list) {
    strike_off(other, !config_.outputs_survive_executor);
  }
  settle_all();
}

// X13: with a host also what outlived executors that were lost there before; by number.
std::vector<int> World::without_outputs(int e, LossCause cause) {
  std::vector<int> list;
  for (int other = 0; other < std::ssize(executors_); ++other) {
    const Executor& x = executors_[other];
    const bool same = cause == LossCause::host && x.number != nobody && x.gone && !x.outputs_gone &&
                      x.spec.host == executors_[e].spec.host;
    if (other == e || same) {
      list.push_back(other);
    }
  }
  std::ranges::sort(list, {}, [this](int x) { return number_of(x); });
  for (const int x : list) {
    executors_[x].outputs_gone = true;
  }
  return list;
}

// X3, X10 (a): finished member tasks that somebody still needs.
void World::lost_members(int e, bool outputs_go, Gangs& gangs) {
  if (config_.failure.executor_loss == ExecutorLossAxis::running_only) {
    return;
  }
  for (Job* each : queue_) {
    Job& job = *each;
    for (int u = 0; u < std::ssize(job.units) && !job.over; ++u) {
      const Unit& unit = job.units[u];
      if (!unit.group() || unit.state != UnitState::running) {
        continue;
      }
      for (const int s : unit.stages) {
        const Stage& stage = job.stages[s];
        for (const auto& [partition, executor] : stage.where) {
          const bool read_on =
              std::ranges::any_of(Job::row(job.graph.pipelined_children, s),
                                  [&](std::uint32_t child) { return !job.stages[child].finished; });
          const bool needed = config_.failure.executor_loss == ExecutorLossAxis::any_member ||
                              read_on || (outputs_go && stage.read) ||
                              stage.authorized.contains(partition);
          if (executor == e && needed) {
            gangs.emplace_back(&job, u);
          }
        }
      }
    }
  }
}

void World::strike_off(int e, bool repeat) {
  for (Job* each : queue_) {
    Job& job = *each;
    for (int s = 0; s < std::ssize(job.stages) && (job.keeps_outputs() || !job.over); ++s) {
      drop_output(e, job, s, repeat);
    }
  }
}

// X9: what a running attempt had done there it does again.
void World::drop_output(int e, Job& job, int s, bool repeat) {
  Stage& stage = job.stages[s];
  if (!stage.read) {
    return;
  }
  std::vector<int> lost;
  for (int p = 0; p < stage.spec->tasks; ++p) {
    int& output = stage.output[p];
    if (output == e) {
      output = nobody;
      lost.push_back(p);
    }
  }
  if (lost.empty()) {
    return;
  }
  say(OutputsLost{job.name, stage.spec->name, executors_[e].spec.name, ranges_of(lost)}, "X9 X13");
  Attempt* open = stage.open();
  if (open != nullptr && repeat && !job.unit(s).gang) {
    for (const int p : lost) {
      if (std::ranges::find(open->partitions, p) != open->partitions.end()) {
        open->retries.insert(p);
        open->done.erase(p);
      }
    }
  }
}

void World::settle_all() {
  for (Job* job : queue_) {
    unready(*job);
  }
  for (Job* job : queue_) {
    for (int s = 0; s < std::ssize(job->stages) && !job->rejected; ++s) {
      if (available(job->stages[s])) {
        continue;
      }
      want_others(job->stages[s]);
      if (!job->over && awaited(*job, s)) {
        want(*job, s);
      }
    }
  }
  for (Job* job : queue_) {
    settle(*job);
    end_if_done(*job);
  }
}

// ---- the end of a job ----

void World::end_job(Job& job, JobOutcome outcome, std::optional<Code> code, const Unit* short_of) {
  JobEnd line{
      .job = job.name, .outcome = outcome, .code = code, .detail = {}, .need = {}, .have = {}};
  if (short_of != nullptr) {
    const Counts need = demand(job, *short_of);
    line.need = named(need, need);
    line.have = named(at_hand(), need);
  }
  again_ = cut_ = true;
  tear_down(job, outcome);
  say(std::move(line), "X14 C9");
  job.grace_ends.reset();
  job_over(job, outcome);
  make_yourselves(job);
}

// X14, C9, C7: in file order.
void World::tear_down(Job& job, JobOutcome outcome) {
  const bool cancel = outcome == JobOutcome::cancelled;
  const StageReason reason = cancel                             ? StageReason::job_cancelled
                             : outcome == JobOutcome::succeeded ? StageReason::job_done
                                                                : StageReason::job_failed;
  job.over = true;
  for (int s = 0; s < std::ssize(job.stages); ++s) {
    kill_all(job, s, cancel ? TaskReason::cancelled : TaskReason::job_ended);
    tell_held_back(job, s, false);
    if (job.stages[s].open() != nullptr) {
      complete(job, s, StageStatus::cancelled, reason, "X14");
      if (config_.completion == Completion::final_stage) {  // decision 6: what is not complete
        discard(job, s);
      }
    }
  }
  for (Unit& unit : job.units) {
    const NameId first = job.name_of(unit);
    const bool results = std::ranges::any_of(job.spec->result, [&](StageIndex r) {
      return std::ranges::find(unit.stages, static_cast<int>(r.index())) != unit.stages.end();
    });
    if (unit.group() && config_.completion == Completion::final_stage && results &&
        outcome == JobOutcome::succeeded) {
      commit_authorized(job, unit);
      say(GroupCommitted{{job.name, first, unit.attempt}}, "C7");
    } else if (unit.gang && unit.state != UnitState::resting && unit.state != UnitState::delayed) {
      const CancelCause cause = cancel                             ? CancelCause::job_cancelled
                                : outcome == JobOutcome::succeeded ? CancelCause::job_done
                                                                   : CancelCause::job_failed;
      StageRef group{job.name, first, {}};
      if (unit.state == UnitState::running) {
        group.attempt = unit.attempt;
      }
      for (const int s : unit.stages) {
        discard(job, s);
      }
      if (unit.told) {
        say(GroupCancelled{group, cause}, "X14");
      }
    }
    unit.state = UnitState::resting;
  }
}

// A14: the grace of a job runs while one of its units starves after a loss; what a step submits
// again is judged first, in that order.
void World::watch_starvation() {
  if (!loss_noticed_) {
    return;
  }
  for (const auto& [job, unit] : wanted_) {
    if (starves(*job, job->units[unit])) {
      begin_grace(*job);
    }
  }
  for (Job* job : queue_) {
    bool any = false;
    for (Unit& unit : job->units) {
      const bool now = starves(*job, unit);
      unit.withdrawn =
          now && (unit.starved ? unit.withdrawn : unit.gang && unit.ready == Ready::yes);
      unit.starved = now;
      any = any || now;
    }
    if (any) {
      begin_grace(*job);
    } else {
      job->grace_ends.reset();
    }
  }
}

bool World::starves(const Job& job, const Unit& unit) const {
  const Attempt* open = job.stages[unit.stages.front()].open();
  const bool pending = open != nullptr && (!open->fresh.empty() || !open->retries.empty());
  const bool live = unit.state == UnitState::waiting || unit.state == UnitState::delayed ||
                    (!unit.group() && pending);
  if (unit.group() && unit.state == UnitState::running) {  // of those one slot for each try to come
    const Counts idle = idle_slots();
    return !job.over && std::ranges::any_of(unit.stages, [&](int s) {
      const Attempt* member = job.stages[s].open();
      return member != nullptr && !(member->fresh.empty() && member->retries.empty()) &&
             idle[job.stages[s].spec->profile.index()] == 0;
    });
  }
  return !job.over && live && !can_ever_fit(job, unit);
}

void World::begin_grace(Job& job) {
  if (job.grace_ends) {
    return;
  }
  const Instant ends = now_ + config_.no_executor_grace;
  job.grace_ends = ends;
  arm(job, ends, [this, &job, ends] {
    if (job.over || job.grace_ends != ends) {
      return false;
    }
    end_job(job, JobOutcome::failed, Code::admission_timeout);
    return true;
  });
}

}  // namespace rehearse::properties::oracle
