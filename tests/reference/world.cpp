// The world of world.hpp: inputs, moments, executors, callers, tasks.
#include "tests/reference/world.hpp"

#include <algorithm>
#include <iterator>

namespace rehearse::reference {

using namespace model;

namespace {

bool means(NameId name, const Job* job) {
  return job != nullptr && (name == job->name ||
                            (name == job->spec->name && job->number[2] > 0 && job->number[3] == 0));
}

}  // namespace

World::World(const Scenario& scenario, NameTable& names) : scenario_(scenario), names_(names) {
  for (const ExecutorSpec& spec : scenario.cluster.executors) {
    Executor& executor = executors_.emplace_back(&spec, Executor::due);
    at(spec.joins, 4, [this, &executor] { join(executor); });
  }
  for (const TimedFault& fault : scenario.faults.timed) {
    if (const auto* add = std::get_if<AddExecutor>(&fault.action)) {
      executors_.emplace_back(&add->executor, fault.at ? Executor::due : Executor::unknown);
    }
    if (fault.at) {
      plan(fault, *fault.at);
    }
  }
  ranges::for_each(scenario.jobs, [this](const JobSpec& job) { plan(job); });
}

// All inputs of an instant, then a pass; what a pass makes due at once is for the next round.
// Void timers are no events; reports of tries that are over only lengthen the run (W5).
std::vector<Event> World::run() {
  RunEndCause cause = RunEndCause::done;
  Instant last = 0;
  while (!inputs_.empty() || deadlock()) {
    const auto node = inputs_.extract(inputs_.begin());
    const auto& [t, wave, kind, number, created] = node.key();
    const auto& [act, matters] = node.mapped();
    const bool is_event = !matters || matters();
    if (t > scenario_.horizon.value_or(instant_max)) {
      cause = RunEndCause::horizon;
      break;
    }
    last = is_event || kind == 3 ? t : last;
    if (is_event) {
      now_ = t;
      wave_ = wave;
      act();
      end_step();
    }
    if (inputs_.empty() || std::get<0>(inputs_.begin()->first) != now_) {
      pass();
      end_step();
    }
  }
  now_ = last;
  emit(RunEnd{cause});
  return std::move(events_);
}

void World::end_step() {
  settle();
  ranges::for_each(joined_, [this](Executor* one) { let_go(*one); });
}

// X13: who leaves does so with its last task; where that was killed, behind the step.
void World::let_go(Executor& one) {
  if (one.state == Executor::joined && one.leaving && one.busy == 0) {
    at(now_, 1, [this, &one] { lose(one, LossCause::decommission); });
  }
}

// ---- inputs ----

void World::at(Instant t, int kind, Act act, Number number, Test matters) {
  inputs_[{t, t == now_ ? wave_ + 1 : 0, kind, number, created_++}] = {std::move(act),
                                                                       std::move(matters)};
}

void World::after(Duration delay, int kind, const Act& act, Number number, const Test& matters) {
  delay == 0 ? act() : at(now_ + delay, kind, act, number, matters);
}

bool World::deadlock() {
  for (auto& [rank, job] : jobs_) {
    end_job(job, JobOutcome::failed, Code::deadlock);
  }
  return !inputs_.empty();
}

// Moments are what the journal says; a regular stage is a group of one: admitted when it is
// submitted, committed when it succeeds, torn down when an attempt ends otherwise.
void World::emit(const EventBody& body) {
  events_.push_back({now_, body});
  const auto job = [this](NameId name) {
    return &*ranges::find(jobs_ | std::views::values, name, &Job::name);
  };
  if (const auto* gone = std::get_if<ExecutorLost>(&body)) {
    moment(Moment::executor_lost, nullptr, {}, gone->executor);
  } else if (const auto* over = std::get_if<JobEnd>(&body)) {
    moment(Moment::job_end, job(over->job));
  } else if (const auto* begun = std::get_if<StageSubmitted>(&body)) {
    moment(Moment::group_admitted, job(begun->stage.job), begun->stage.stage);
  } else if (const auto* ended = std::get_if<StageCompleted>(&body)) {
    const bool success = ended->status == StageStatus::success;
    moment(success ? Moment::group_commit : Moment::teardown, job(ended->stage.job),
           ended->stage.stage);
  } else if (const auto* lost = std::get_if<OutputsLost>(&body)) {
    moment(Moment::external_input_lost, job(lost->job), lost->stage, lost->executor);
  }
}

void World::moment(Moment what, const Job* job, NameId stage, NameId executor) {
  const auto of_job = [job](NameId asked) { return !asked.valid() || means(asked, job); };
  const auto agrees = [](NameId asked, NameId is) { return !asked.valid() || asked == is; };
  for (const TimedFault& fault : scenario_.faults.timed) {
    if (fault.moment == what && of_job(fault.match_job) && of_job(fault.match_stage_job) &&
        agrees(fault.match_stage, stage) && agrees(fault.match_executor, executor) &&
        ++seen_[&fault] == fault.nth) {
      plan(fault, now_ + fault.after);
    }
  }
}

void World::plan(const TimedFault& fault, Instant t) {
  constexpr std::array kinds{1, 4, 4, 2};  // by TimedAction
  at(t, kinds.at(fault.action.index()),
     [this, &fault] { std::visit([this](const auto& action) { happen(action); }, fault.action); });
}

// ---- executors (X12, X13) ----

Executor* World::find(NameId name) {
  const auto is = [name](const Executor& one) { return one.spec->name == name; };
  const auto found = ranges::find_if(executors_, is);
  return found == executors_.end() ? nullptr : &*found;
}

void World::join(Executor& executor) {
  const ExecutorSpec& spec = *executor.spec;
  if (executor.state == Executor::gone) {
    return;
  }
  executor.state = Executor::joined;
  executor.free = spec.resources;
  joined_.push_back(&executor);
  Amounts amounts;
  for (std::size_t r = 0; r < spec.resources.size(); ++r) {
    if (spec.resources[r] != 0) {
      amounts.push_back({scenario_.cluster.resources[r], spec.resources[r]});
    }
  }
  emit(ExecutorAdded{spec.name, spec.host, spec.rack, amounts,
                     spec.profile.valid() ? profile(spec.profile).name : NameId{},
                     spec.speed_milli});
}

// The death, or the order to leave; the scheduler hears of it later, of each executor by itself.
void World::happen(const LoseExecutor& loss) {
  Executor* named = find(loss.executor);
  if (!has(joined_, named)) {
    named->state = Executor::gone;  // it will not come (A14)
    settle();
  }
  for (Executor* one : joined_) {
    const bool host = loss.cause == LossCause::host && one->spec->host == named->spec->host;
    if ((host || one == named) && one->state == Executor::joined && one->died == instant_max) {
      const DrawKey key = draw_key(
          {scenario_.seed, DrawPurpose::loss_detection, name_key(names_.text(one->spec->name)), 0});
      const Duration drawn = sample(scenario_.cluster.overheads.loss_detection, draw(key, {}));
      one->died = loss.cause == LossCause::decommission ? instant_max : now_;
      const auto act = [this, one, cause = loss.cause] { notice(*one, cause); };
      after(loss.noticed.value_or(drawn), 1, act);
    }
  }
}

void World::notice(Executor& executor, LossCause cause) {
  const bool leaves = cause == LossCause::decommission;
  if (leaves && executor.state == Executor::joined && !std::exchange(executor.leaving, true)) {
    emit(ExecutorHeld{executor.spec->name, HoldCause::decommission});
  }
  if (!leaves || executor.busy == 0) {
    lose(executor, cause);
  }
}

void World::lose(Executor& executor, LossCause cause) {
  if (std::exchange(executor.state, Executor::gone) == Executor::gone) {
    return;
  }
  emit(ExecutorLost{executor.spec->name, cause});
  auto ended = running([&executor](const Task& task) { return task.executor == &executor; });
  for (Task& task : ended) {
    task.status = TaskStatus::failed;
    task.failure = TaskReason::executor_lost;
    running_.erase(task.launch);
    emit(TaskEnd{task.ref, false, task.status, task.failure, {}, {}});
  }
  lost(executor, cause, ended);
  settle();
}

void World::happen(const HoldExecutors& hold) {
  const auto joined = [](const Executor* one) { return one->state == Executor::joined; };
  const auto named = [this](NameId name) { return find(name); };
  for (Executor* one : hold.executors | std::views::transform(named) | std::views::filter(joined)) {
    if (one->holds++ == 0) {
      emit(ExecutorHeld{one->spec->name, HoldCause::hold});
    }
    at(now_ + hold.for_ns, 4, [this, one, joined] {
      if (--one->holds == 0 && joined(one)) {
        emit(ExecutorReleased{one->spec->name});
      }
    });
  }
}

// ---- callers (X8, `after`, `repeat`) ----

// All copies of a job, if what it comes after is over.
void World::plan(const JobSpec& spec) {
  Instant t = spec.after.empty() ? spec.submit : 0;
  for (const AfterSpec& after : spec.after) {
    t = over_.contains(after.job) ? std::max(t, over_[after.job] + after.delay) : instant_max;
  }
  for (int i = 0; i < spec.repeat_count && t < instant_max; ++i) {
    plan(spec, t + i * spec.repeat_every, spec.repeat_count > 1 ? i + 1 : 0, 0);
  }
}

void World::plan(const JobSpec& spec, Instant t, std::int64_t copy, std::int64_t resubmission) {
  const Number number{copy + resubmission > 0, &spec - scenario_.jobs.data(), copy, resubmission};
  at(t, 5, [this, &spec, number] { submit(spec, number); }, number);
}

void World::over(const Job& job, bool again) {
  const JobSpec& spec = *job.spec;
  if (again && job.number[3] < spec.resubmit) {
    plan(spec, now_ + spec.backoff, job.number[2], job.number[3] + 1);
  } else if (++ended_[spec.name] == spec.repeat_count) {
    over_[spec.name] = now_;
    const auto waits = [&](const JobSpec& one) {
      return has(one.after, spec.name, &AfterSpec::job);
    };
    ranges::for_each(scenario_.jobs | std::views::filter(waits),
                     [this](const JobSpec& next) { plan(next); });
  }
}

void World::happen(const CancelJob& cancel) {
  for (auto& [rank, job] : jobs_) {
    if (means(cancel.job, &job)) {
      end_job(job, JobOutcome::cancelled, Code::cancelled);
    }
  }
}

// ---- tasks ----

Duration World::drawn(DrawPurpose purpose, const Distribution& from, const TaskRef& ref) const {
  const DrawKey key = draw_key(
      {scenario_.seed, purpose, job_key(names_.text(ref.job)), name_key(names_.text(ref.stage))});
  const auto number = [](int value) { return static_cast<std::uint32_t>(value); };
  return sample(from,
                draw(key, {number(ref.partition), number(ref.attempt), number(ref.try_number)}));
}

void World::start(Stage& stage, Partition& one, Executor& executor) {
  const TaskRef ref{stage.job->name, stage.name, executor.spec->name,
                    stage.attempt,   one.number, one.tries++};
  Task task{ref, &stage, &one, &executor, executor.epoch, launches_++};
  const Instant reports = plan_end(task);
  const auto act = [this, task] {
    running_.erase(task.launch);
    take(task, -1);
    report(task);
    let_go(*task.executor);
  };
  const auto matters = [this, task] {
    return running_.contains(task.launch) && task.ends < task.executor->died;
  };
  if (executor.died == instant_max) {  // else it never reports (X12)
    at(reports, 3, act, {task.launch}, matters);
  }
  running_[task.launch] = task;
  take(task, 1);
  one.state = Partition::launched;
  emit(TaskStart{ref, false});
  if (std::exchange(launched_[&stage], stage.attempt + 1) != stage.attempt + 1) {
    moment(Moment::first_launch, stage.job, stage.name, executor.spec->name);
  }
  if (one.tries == 1 && !has(stage.partitions, Partition::pending, &Partition::state)) {
    moment(Moment::all_launched, stage.job, stage.name, executor.spec->name);
  }
}

// When and how it ends; the answer is when it reports.
Instant World::plan_end(Task& task) const {
  const Overheads& overheads = scenario_.cluster.overheads;
  const TaskRef& ref = task.ref;
  const auto* any = std::get_if<Distribution>(&task.stage->spec->duration);
  WideInt work =
      any != nullptr
          ? drawn(DrawPurpose::duration, *any, ref)
          : std::get<1>(task.stage->spec->duration)[static_cast<std::size_t>(ref.partition)];
  WideInt divisor = task.executor->spec->speed_milli;
  Duration late = drawn(DrawPurpose::status, overheads.status, ref);
  Instant fails = instant_max;
  work *= milli;
  for (const TaskFault& fault : scenario_.faults.tasks) {
    if (means(fault.job, task.stage->job) && fault.stage == ref.stage &&
        fault.partition == ref.partition && fault.attempt == ref.attempt &&
        fault.try_number.value_or(ref.try_number) == ref.try_number) {
      work *= fault.slow_milli.value_or(1);
      divisor *= fault.slow_milli ? milli : 1;
      late += fault.status_late.value_or(0);
      if ((fault.fails || fault.fetch_fails) && now_ + fault.after < fails) {
        fails = now_ + fault.after;
        task.fault = &fault;
      }
    }
  }
  task.ends = now_ + drawn(DrawPurpose::launch, overheads.launch, ref) +
              static_cast<Duration>((2 * work + divisor) / (2 * divisor));
  if (fails <= task.ends) {
    using enum TaskReason;
    constexpr std::array reasons{exception, external, commit_denied, result_lost, out_of_memory};
    const TaskFault& fault = *task.fault;
    const NameId job = fault.fetch_from_job;
    for (Stage* in : task.stage->parents) {
      const bool of_job = job.valid() ? in->home->name == job : in->home == task.stage->job->spec;
      if (of_job && in->spec->name == fault.fetch_from) {
        task.unread = {in};
      }
    }
    task.ends = fails;
    task.failure =
        task.fault->fails ? reasons.at(static_cast<std::size_t>(*task.fault->fails)) : fetch_failed;
    task.status = task.failure == external ? TaskStatus::killed : TaskStatus::failed;
  }
  return task.ends + late;
}

void World::take(const Task& task, int slots) {
  Executor& executor = *task.executor;
  for (std::size_t r = 0; r < executor.free.size(); ++r) {
    executor.free[r] -= slots * profile(task.stage->spec->profile).task[r];
  }
  executor.busy += slots;
}

std::vector<Task> World::running(const std::function<bool(const Task&)>& meant) const {
  std::vector<Task> found;
  ranges::copy_if(running_ | std::views::values, std::back_inserter(found), meant);
  return found;
}

// Kills: the line now, the slot when it took effect.
void World::stop(TaskReason reason, const Stage* stage, const Partition* one) {
  const auto meant = [=](const Task& task) {
    return task.stage == stage && (one == nullptr || task.partition == one);
  };
  for (const Task& task : running(meant)) {
    const Duration delay = drawn(DrawPurpose::kill, scenario_.cluster.overheads.kill, task.ref);
    TaskEnd line{task.ref, false, TaskStatus::killed, reason, {}, {}};
    line.slot = delay > 0 ? std::optional(SlotState::held) : std::nullopt;
    running_.erase(task.launch);
    emit(line);
    const auto effect = [this, task, delay] {
      take(task, -1);
      if (delay > 0 && task.executor->state == Executor::joined) {
        emit(SlotReturned{task.ref.executor, profile(task.stage->spec->profile).name, 1,
                          task.ref.job});
      }
    };
    after(delay, 3, effect, {task.launch});
  }
}

}  // namespace rehearse::reference
