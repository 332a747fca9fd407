// Launches and ends of tasks (A7, A13, A15, A18; X9, C3, C8).
#include <algorithm>
#include <functional>

#include "model/resources.hpp"
#include "tests/reference/reference.hpp"

namespace rehearse::reference {

using model::Code;
using model::JobOutcome;
using model::StageReason;
using model::StageStatus;
using model::TaskReason;

// ---- ends of tasks (X9, C3, C8) ----

void Reference::task_reports(std::int64_t launch) {
  const auto found = running_.find(launch);
  if (found == running_.end() || found->second.executor->died <= found->second.ends) {
    return;
  }
  const Task task = found->second;
  running_.erase(found);
  free_slot(task);
  if (!task.failure) {
    task_succeeded(task);
  } else {
    task_failed(task);
  }
}

void Reference::task_succeeded(const Task& task) {
  Stage& stage = *task.stage;
  const int p = task.ref.partition;
  const bool undone = task.ref.attempt <= stage.undone;
  const bool counts = !undone && task.epoch == task.executor->epoch && missing(stage, p);
  emit(model::TaskEnd{task.ref, false, model::TaskStatus::success, std::nullopt,
                      counts ? std::nullopt : std::optional(false), std::nullopt});
  if (undone && stage.sink) {
    end_job(*stage.job, JobOutcome::failed, Code::indeterminate_result);
  }
  const bool of_live = stage.running() && task.ref.attempt == stage.number();
  if (undone || (!counts && !of_live)) {
    return;
  }
  if (counts) {
    stage.output[static_cast<std::size_t>(p)] = task.executor;
    stage.given[static_cast<std::size_t>(p)] = true;
    const auto tasks = running_;
    for (const auto& [launch, other] : tasks) {
      if (other.stage == &stage && other.ref.partition == p) {
        stop(other, TaskReason::other_attempt);
      }
    }
    commit(task);
    int left = 0;
    for (int other = 0; other < stage.spec->tasks; ++other) {
      left += missing(stage, other) ? 1 : 0;
    }
    if (left == 1) {
      moment(model::Moment::last_but_one_task, stage.job->name, stage.name, task.ref.executor);
    }
  }
  if (!stage.running()) {
    settled(stage);
    return;
  }
  stage.attempts.back().pending.erase(p);
  stage.attempts.back().open.erase(p);
  if (stage.attempts.back().open.empty()) {
    finish_attempt(stage);
  }
}

void Reference::commit(const Task& task) {
  const Stage& stage = *task.stage;
  if (stage.copy || stage.spec->commits == model::Commits::none ||
      !task.stage->committed.insert(task.ref.partition).second) {
    return;
  }
  emit(model::OutputCommitted{task.ref});
}

void Reference::task_failed(const Task& task) {
  const bool killed = task.failure == TaskReason::external;
  emit(model::TaskEnd{task.ref, false,
                      killed ? model::TaskStatus::killed : model::TaskStatus::failed, task.failure,
                      std::nullopt, std::nullopt});
  if (task.failure == TaskReason::fetch_failed) {
    fetch_failed(task);
  } else {
    count_failure(task, !killed && task.failure != TaskReason::commit_denied);
  }
}

// Of the running attempt only: the partition is to be done again, or its tries are used up.
void Reference::count_failure(const Task& task, bool counts) {
  Stage& stage = *task.stage;
  if (!stage.running() || task.ref.attempt != stage.number()) {
    return;
  }
  Attempt& attempt = stage.attempts.back();
  attempt.pending.insert(task.ref.partition);
  if (counts &&
      ++attempt.failures[task.ref.partition] >= scenario_.scheduler.failure.max_task_failures) {
    const bool lost = task.failure == TaskReason::executor_lost;
    attempt.live = false;
    emit(model::StageCompleted{ref_of(stage), StageStatus::failed,
                               lost ? StageReason::executor_lost : StageReason::task_failed});
    end_job(*stage.job, JobOutcome::failed, lost ? Code::executor_lost : Code::task_failed);
  }
}

void Reference::fetch_failed(const Task& task) {
  Stage& stage = *task.stage;
  if (task.ref.attempt != stage.number()) {
    return;  // SS-1.8: there is a later attempt
  }
  const bool first = stage.running();
  if (first) {
    end_attempt(stage, StageReason::fetch_failed);
  }
  const NameId from_job = task.fetch->fetch_from_job;
  const bool own = !from_job.valid() || from_job == stage.job->spec->name;
  const NameId from_name =
      own ? task.fetch->fetch_from : joined(from_job, ".", task.fetch->fetch_from);
  const auto found =
      std::ranges::find(stage.parents, from_name, [](auto* one) { return one->name; });
  Stage* named = found == stage.parents.end() ? nullptr : *found;
  Stage* producer = named;
  if (producer != nullptr && producer->state == StageState::asleep) {
    producer = producer->original;
  }
  const int attempt = producer != nullptr ? producer->number() : 0;
  const auto from = static_cast<std::size_t>(task.fetch->fetch_partition);
  if (producer != nullptr && producer->output[from] != nullptr) {
    Executor* executor = producer->output[from];
    ++executor->epoch;
    for (const Struck& lost :
         strike([=](const Stage&, const Executor& other) { return &other == executor; })) {
      again(*lost.stage);
    }
  }
  if (!first) {
    return;
  }
  if (producer != nullptr && producer->spec->indeterminate && producer->number() == attempt &&
      !used_up(stage)) {
    roll_back(*producer);
  }
  come_again(stage, named != nullptr ? std::vector{named} : std::vector<Stage*>{});
}

// ---- the pass (A7, A13, A15, A18) ----

Executor* Reference::place(const Stage& stage, int partition) {
  const auto& task = scenario_.cluster.profiles[stage.spec->profile.index()].task;
  const auto room = [&](const Executor& executor) {
    const bool serves =
        !executor.spec.profile.valid() || executor.spec.profile == stage.spec->profile;
    return serves && !executor.leaving && executor.holds == 0 ? model::slots_of(executor.free, task)
                                                              : 0;
  };
  const auto best = [&](const std::function<bool(const Executor&)>& among) {
    Executor* chosen = nullptr;
    for (Executor* executor : joined_) {
      if (executor->joined && among(*executor) && room(*executor) > 0 &&
          (chosen == nullptr || room(*executor) > room(*chosen))) {
        chosen = executor;
      }
    }
    return chosen;
  };
  std::vector<NameId> hosts;
  if (!stage.spec->prefers.empty()) {
    for (const NameId name : stage.spec->prefers[static_cast<std::size_t>(partition)]) {
      const Executor* named = find_executor(name);
      hosts.push_back(named != nullptr ? named->spec.host : name);
      if (Executor* found = best([name](const Executor& one) { return one.spec.name == name; })) {
        return found;
      }
    }
  }
  for (const NameId host : hosts) {
    if (Executor* found = best([host](const Executor& one) { return one.spec.host == host; })) {
      return found;
    }
  }
  for (const NameId host : hosts) {
    for (const Executor& there : executors_) {
      const NameId rack = there.spec.rack;
      const auto near = [rack](const Executor& one) { return one.spec.rack == rack; };
      Executor* found = there.spec.host == host && rack.valid() ? best(near) : nullptr;
      if (found != nullptr) {
        return found;
      }
    }
  }
  return best([](const Executor&) { return true; });
}

bool Reference::start_one(Stage& stage) {
  if (!stage.job->alive || !stage.running() || stage.attempts.back().pending.empty()) {
    return false;
  }
  const int partition = *stage.attempts.back().pending.begin();
  Executor* executor = place(stage, partition);
  if (executor == nullptr) {
    return false;
  }
  if (!std::ranges::all_of(stage.parents, [this](const Stage* one) { return available(*one); })) {
    end_attempt(stage, StageReason::fetch_failed);
    std::vector<Stage*> missed;
    std::ranges::copy_if(stage.parents, std::back_inserter(missed),
                         [this](const Stage* one) { return !available(*one); });
    for (Stage* parent : missed) {
      Stage* real = parent->state == StageState::asleep ? parent->original : parent;
      if (real != nullptr && real->spec->indeterminate && !used_up(stage)) {
        roll_back(*real);
      }
    }
    come_again(stage, missed);
    pass_again_ = true;
    return false;
  }
  stage.attempts.back().pending.erase(partition);
  start(stage, partition, *executor);
  return true;
}

// A job that ends in a pass ends the pass: what it leaves is judged from the start (A8).
void Reference::pass() {
  job_ended_ = false;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    for (Stage& stage : jobs_[j]->stages) {
      while (start_one(stage)) {
      }
      if (job_ended_) {
        return;
      }
    }
  }
}

}  // namespace rehearse::reference
