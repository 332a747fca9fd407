// What happens around the scheduler: instants and rounds, executors that come and die, tasks that
// take their time, faults, and callers that submit again.
#include <algorithm>
#include <utility>

#include "model/support/draw.hpp"
#include "tests/reference/reference.hpp"

namespace rehearse::reference {

using model::DrawPurpose;
using Wide = model::WideInt;

// Kinds of inputs are the numbers of scenario.md section 4; a death stands with the notices.
void Reference::at(Instant t, int kind, std::int64_t first, std::int64_t second, Act act) {
  inputs_[{t, kind, first, second, created_++}] = std::move(act);
}

// All inputs that are due in their order, then those that inputs made due; then the pass.
void Reference::one_round() {
  while (!inputs_.empty() && std::get<0>(inputs_.begin()->first) == now_) {
    const auto after = inputs_.lower_bound({now_ + 1, 0, 0, 0, 0});
    std::map<Key, Act> due;
    while (inputs_.begin() != after) {
      due.insert(inputs_.extract(inputs_.begin()));
    }
    for (const auto& [key, act] : due) {
      act();
      check_starved();
    }
  }
  pass_again_ = false;
  pass();
  check_starved();
  if (pass_again_) {
    one_round();
  }
}

Reference::Reference(const model::Scenario& scenario) : names(scenario.names), scenario_(scenario) {
  const auto executor = [this](const model::ExecutorSpec& spec, std::optional<Instant> joins) {
    Executor& made = executors_.emplace_back();
    made.spec = spec;
    made.due = joins.has_value();
    if (joins) {
      at(*joins, 4, 0, 0, [this, &made] { join(made); });
    }
  };
  now_ = -1;
  for (const model::ExecutorSpec& spec : scenario.cluster.executors) {
    executor(spec, spec.joins);
  }
  for (const model::TimedFault& fault : scenario.faults.timed) {
    if (const auto* add = std::get_if<model::AddExecutor>(&fault.action)) {
      executor(add->executor, fault.at);
    } else if (fault.at) {
      plan_fault(fault, *fault.at);
    }
  }
  plan_submissions();
}

void Reference::run() {
  model::RunEndCause cause = model::RunEndCause::done;
  const auto lives = [](const std::unique_ptr<Job>& job) { return job->alive; };
  now_ = 0;
  while (!inputs_.empty() || std::ranges::any_of(jobs_, lives)) {
    if (inputs_.empty()) {
      for (std::size_t j = 0; j < jobs_.size(); ++j) {
        if (jobs_[j]->alive) {
          end_job(*jobs_[j], model::JobOutcome::failed, model::Code::deadlock);
        }
      }
      continue;
    }
    const Instant next = std::get<0>(inputs_.begin()->first);
    if (scenario_.horizon && next > *scenario_.horizon) {
      cause = model::RunEndCause::horizon;
      break;
    }
    now_ = next;
    one_round();
  }
  emit(model::RunEnd{cause});
}

// ---- executors ----

Executor* Reference::find_executor(NameId name) {
  const auto found =
      std::ranges::find(executors_, name, [](const Executor& one) { return one.spec.name; });
  return found == executors_.end() ? nullptr : &*found;
}

void Reference::join(Executor& executor) {
  if (executor.died != model::instant_max || executor.joined) {
    return;
  }
  executor.due = false;
  executor.joined = true;
  executor.free = executor.spec.resources;
  joined_.push_back(&executor);
  model::Amounts amounts;
  for (std::size_t r = 0; r < executor.free.size(); ++r) {
    if (executor.free[r] != 0) {
      amounts.push_back({scenario_.cluster.resources[r], executor.free[r]});
    }
  }
  const model::ProfileId profile = executor.spec.profile;
  emit(model::ExecutorAdded{
      executor.spec.name, executor.spec.host, executor.spec.rack, amounts,
      profile.valid() ? scenario_.cluster.profiles[profile.index()].name : NameId{},
      executor.spec.speed_milli});
}

void Reference::plan_fault(const model::TimedFault& fault, Instant t) {
  if (const auto* loss = std::get_if<model::LoseExecutor>(&fault.action)) {
    at(t, 1, 0, 0, [this, loss] { lose(*loss); });
  } else if (const auto* add = std::get_if<model::AddExecutor>(&fault.action)) {
    at(t, 4, 0, 0, [this, add] { join(*find_executor(add->executor.name)); });
  } else if (const auto* holds = std::get_if<model::HoldExecutors>(&fault.action)) {
    at(t, 4, 0, 0, [this, holds] { hold(*holds); });
  } else {
    const NameId job = std::get<model::CancelJob>(fault.action).job;
    at(t, 2, 0, 0, [this, job] { cancel(job); });
  }
}

// The death, or the order to leave; the scheduler hears of it later, of each executor on its own.
void Reference::lose(const model::LoseExecutor& loss) {
  Executor* named = find_executor(loss.executor);
  if (!named->joined && !std::ranges::count(joined_, named)) {
    named->died = std::min(named->died, now_);  // it will not come
    named->due = false;
  }
  const auto joined = joined_;
  for (Executor* executor : joined) {
    const bool same_host =
        loss.cause == model::LossCause::host && executor->spec.host == named->spec.host;
    if (executor->joined && executor->died == model::instant_max &&
        (executor == named || same_host)) {
      lose_one(*executor, loss);
    }
  }
}

void Reference::lose_one(Executor& executor, const model::LoseExecutor& loss) {
  const bool leaves = loss.cause == model::LossCause::decommission;
  const std::uint64_t key = model::name_key(names.text(executor.spec.name));
  const auto draws = model::draw_key({scenario_.seed, DrawPurpose::loss_detection, key, 0});
  const Duration delay = loss.noticed.value_or(
      model::sample(scenario_.cluster.overheads.loss_detection, model::draw(draws, {})));
  executor.died = leaves ? model::instant_max : now_;
  const auto notice = [this, leaves, &executor, cause = loss.cause] {
    if (executor.joined && !leaves) {
      gone(&executor, cause);
    } else if (executor.joined && !std::exchange(executor.leaving, true)) {
      emit(model::ExecutorHeld{executor.spec.name, model::HoldCause::decommission});
      check_starved();
      if (idle(executor)) {
        gone(&executor, cause);
      }
    }
  };
  if (delay == 0) {
    notice();
  } else {
    at(now_ + delay, 1, 0, 0, notice);
  }
}

void Reference::hold(const model::HoldExecutors& fault) {
  for (const NameId name : fault.executors) {
    Executor* executor = find_executor(name);
    if (!executor->joined) {
      continue;
    }
    if (executor->holds++ == 0) {
      emit(model::ExecutorHeld{name, model::HoldCause::hold});
    }
    at(now_ + fault.for_ns, 4, 0, 0, [this, executor] {
      if (--executor->holds == 0 && executor->joined) {
        emit(model::ExecutorReleased{executor->spec.name});
      }
    });
  }
}

// ---- submissions (X8, `after`, `repeat`) ----

void Reference::plan_job(std::size_t file, int copy, int resubmit, Instant t) {
  const auto index = static_cast<std::int64_t>(file);
  const bool again = resubmit > 0 || copy > 0;
  at(t, 5, again ? 1'000'000 + index : index, copy * 1'000 + resubmit,
     [this, file, copy, resubmit] { submit_job(file, copy, resubmit); });
}

void Reference::plan_submissions() {
  for (std::size_t file = 0; file < scenario_.jobs.size(); ++file) {
    const model::JobSpec& job = scenario_.jobs[file];
    for (int i = 0; i < job.repeat_count && job.after.empty(); ++i) {
      plan_job(file, job.repeat_count > 1 ? i + 1 : 0, 0, job.submit + i * job.repeat_every);
    }
  }
}

bool Reference::means(NameId name, const Job& job) const {
  return name == job.name ||
         (name == job.spec->name && job.spec->repeat_count > 1 && job.resubmit == 0);
}

// A job ended or was rejected: its caller may submit it again; else those after it may come.
void Reference::job_is_over(const Job& job, bool again) {
  if (again && job.resubmit < job.spec->resubmit) {
    plan_job(job.file, job.copy, job.resubmit + 1, now_ + job.spec->backoff);
    return;
  }
  over_[job.file] = {over_[job.file].first + 1, now_};
  for (std::size_t file = 0; file < scenario_.jobs.size(); ++file) {
    const model::JobSpec& next = scenario_.jobs[file];
    Instant t = 0;
    bool waits = false;
    bool ready = true;
    for (const model::AfterSpec& after : next.after) {
      const auto awaited = static_cast<std::size_t>(
          std::ranges::find(scenario_.jobs, after.job, &model::JobSpec::name) -
          scenario_.jobs.begin());
      waits = waits || awaited == job.file;
      ready = ready && over_[awaited].first == scenario_.jobs[awaited].repeat_count;
      t = std::max(t, over_[awaited].second + after.delay);
    }
    for (int i = 0; i < next.repeat_count && waits && ready; ++i) {
      plan_job(file, next.repeat_count > 1 ? i + 1 : 0, 0, t + i * next.repeat_every);
    }
  }
}

// ---- tasks ----

Duration Reference::drawn(DrawPurpose purpose, const model::Distribution& distribution,
                          const Task& task) const {
  const auto key =
      model::draw_key({scenario_.seed, purpose, model::job_key(names.text(task.ref.job)),
                       model::name_key(names.text(task.ref.stage))});
  return model::sample(distribution,
                       model::draw(key, {static_cast<std::uint32_t>(task.ref.partition),
                                         static_cast<std::uint32_t>(task.ref.attempt),
                                         static_cast<std::uint32_t>(task.ref.try_number)}));
}

void Reference::start(Stage& stage, int partition, Executor& executor) {
  Task task;
  task.launch = launches_++;
  task.stage = &stage;
  task.executor = &executor;
  task.epoch = executor.epoch;
  task.ref = {stage.job->name, stage.name, executor.spec.name,
              stage.number(),  partition,  stage.attempts.back().tries[partition]++};
  const auto& amounts = scenario_.cluster.profiles[stage.spec->profile.index()].task;
  for (std::size_t r = 0; r < amounts.size(); ++r) {
    executor.free[r] -= amounts[r];
  }
  plan_end(task);
  emit(model::TaskStart{task.ref, false});
}

void Reference::plan_end(Task task) {
  const auto* each = std::get_if<std::vector<Duration>>(&task.stage->spec->duration);
  const auto p = static_cast<std::size_t>(task.ref.partition);
  Wide work = each != nullptr
                  ? (*each)[p]
                  : drawn(DrawPurpose::duration,
                          std::get<model::Distribution>(task.stage->spec->duration), task);
  Wide divisor = task.executor->spec.speed_milli;
  work *= model::milli;
  Duration late = 0;
  std::optional<Instant> fails;
  for (const model::TaskFault& fault : scenario_.faults.tasks) {
    if (!means(fault.job, *task.stage->job) || fault.stage != task.ref.stage ||
        fault.partition != task.ref.partition || fault.attempt != task.ref.attempt ||
        (fault.try_number && *fault.try_number != task.ref.try_number)) {
      continue;
    }
    if (fault.slow_milli) {
      work *= *fault.slow_milli;
      divisor *= model::milli;
    }
    late += fault.status_late.value_or(0);
    if ((fault.fails || fault.fetch_fails) && (!fails || now_ + fault.after < *fails)) {
      using enum model::TaskReason;
      constexpr std::array reasons{exception, external, commit_denied, result_lost, out_of_memory};
      fails = now_ + fault.after;
      task.failure =
          fault.fetch_fails ? fetch_failed : reasons.at(static_cast<std::size_t>(*fault.fails));
      task.fetch = &fault;
    }
  }
  const auto lasts = static_cast<Duration>((2 * work + divisor) / (2 * divisor));
  task.ends = now_ + drawn(DrawPurpose::launch, scenario_.cluster.overheads.launch, task) + lasts;
  if (fails && *fails <= task.ends) {
    task.ends = *fails;
  } else {
    task.failure.reset();
  }
  late += drawn(DrawPurpose::status, scenario_.cluster.overheads.status, task);
  running_[task.launch] = task;
  if (task.executor->died == model::instant_max) {  // what runs on a dead one never reports
    at(task.ends + late, 3, task.launch, 0, [this, launch = task.launch] { task_reports(launch); });
  }
}

// A kill: the line now, the slot when it took effect.
void Reference::stop(const Task& task, model::TaskReason reason) {
  const Task killed = task;
  if (running_.erase(killed.launch) == 0) {
    return;
  }
  const Duration delay = drawn(DrawPurpose::kill, scenario_.cluster.overheads.kill, killed);
  emit(model::TaskEnd{killed.ref, false, model::TaskStatus::killed, reason, std::nullopt,
                      delay > 0 ? std::optional(model::SlotState::held) : std::nullopt});
  if (delay == 0) {
    free_slot(killed);
    return;
  }
  dying_[killed.launch] = killed;
  at(now_ + delay, 3, killed.launch, 0, [this, killed] {
    dying_.erase(killed.launch);
    free_slot(killed);
    if (killed.executor->joined) {
      const auto profile = killed.stage->spec->profile.index();
      emit(model::SlotReturned{killed.ref.executor, scenario_.cluster.profiles[profile].name, 1,
                               killed.ref.job});
    }
  });
}

void Reference::free_slot(const Task& task) {
  const auto& amounts = scenario_.cluster.profiles[task.stage->spec->profile.index()].task;
  for (std::size_t r = 0; r < amounts.size(); ++r) {
    task.executor->free[r] += amounts[r];
  }
  leave_if_idle(*task.executor);
}

// ---- moments ----
//
// A regular stage as a group of one: admitted when it is submitted, committed when it completes,
// torn down when an attempt ends otherwise; it is never queued and has no replay window.

void Reference::emit(model::EventBody body) {
  events.push_back({now_, std::move(body)});
  watch(model::Event(events.back()));
}

void Reference::moment(model::Moment what, NameId job, NameId stage, NameId executor) {
  const auto of_job = [this, job](NameId asked) {
    const auto found = std::ranges::find(jobs_, job, [](const auto& one) { return one->name; });
    return !asked.valid() || (found != jobs_.end() && means(asked, **found));
  };
  const auto agrees = [](NameId asked, NameId is) { return !asked.valid() || asked == is; };
  for (const model::TimedFault& fault : scenario_.faults.timed) {
    if (fault.moment == what && of_job(fault.match_job) && of_job(fault.match_stage_job) &&
        agrees(fault.match_stage, stage) && agrees(fault.match_executor, executor) &&
        ++seen_[&fault] == fault.nth) {
      plan_fault(fault, now_ + fault.after);
    }
  }
}

void Reference::watch(const model::Event& event) {
  using enum model::Moment;
  if (const auto* lost = event.as<model::ExecutorLost>()) {
    moment(executor_lost, {}, {}, lost->executor);
  } else if (const auto* end = event.as<model::JobEnd>()) {
    moment(job_end, end->job, {}, {});
  } else if (const auto* submitted = event.as<model::StageSubmitted>()) {
    moment(group_admitted, submitted->stage.job, submitted->stage.stage, {});
  } else if (const auto* completed = event.as<model::StageCompleted>()) {
    const bool success = completed->status == model::StageStatus::success;
    moment(success ? group_commit : teardown, completed->stage.job, completed->stage.stage, {});
  } else if (const auto* outputs = event.as<model::OutputsLost>()) {
    moment(external_input_lost, outputs->job, outputs->stage, outputs->executor);
  } else if (const auto* task = event.as<model::TaskStart>()) {
    const Attempt& attempt = running_.rbegin()->second.stage->attempts.back();
    if (attempt.tries.size() == 1 && attempt.tries.begin()->second == 1) {
      moment(first_launch, task->task.job, task->task.stage, task->task.executor);
    }
    if (attempt.pending.empty() && task->task.try_number == 0) {
      moment(all_launched, task->task.job, task->task.stage, task->task.executor);
    }
  }
}

}  // namespace rehearse::reference
