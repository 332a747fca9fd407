// When stages run, and how their attempts and jobs end (A1, A19, X15, X9, C9, X14).
#include <algorithm>
#include <array>

#include "model/resources.hpp"
#include "tests/reference/reference.hpp"

namespace rehearse::reference {

using model::Code;
using model::JobOutcome;
using model::StageReason;
using model::StageStatus;
using model::TaskReason;

model::StageRef ref_of(const Stage& stage) { return {stage.job->name, stage.name, stage.number()}; }

model::Ranges ranges_of(const std::set<int>& partitions) {
  model::Ranges ranges;
  for (const int partition : partitions) {
    if (ranges.empty() || ranges.back().last + 1 != partition) {
      ranges.push_back({partition, partition});
    }
    ranges.back().last = partition;
  }
  return ranges;
}

// ---- readiness (A1, A19, X15; decisions 1 and 2) ----

std::int64_t Reference::capacity(model::ProfileId profile) const {
  std::int64_t slots = 0;
  for (const Executor& executor : executors_) {
    const bool serves = !executor.spec.profile.valid() || executor.spec.profile == profile;
    if (serves && (executor.due || executor.joined) && !executor.leaving) {
      const auto& task = scenario_.cluster.profiles[profile.index()].task;
      slots += model::slots_of(executor.spec.resources, task);
    }
  }
  return slots;
}

// Outputs matter only where a stage of the job or, by the scenario, another job may read them.
bool Reference::is_read(const Stage& stage) const {
  const auto reads = [&stage](const model::EdgeSpec& edge) {
    return edge.from_job == stage.job->spec->name && edge.from_stage == stage.name;
  };
  return std::ranges::any_of(
             scenario_.jobs,
             [&](const model::JobSpec& job) { return std::ranges::any_of(job.edges, reads); }) ||
         std::ranges::any_of(stage.job->stages,
                             [&stage](const Stage& reader) { return has(reader.parents, &stage); });
}

bool Reference::kept(const Stage& stage) const {
  const auto reads = [&stage](const model::EdgeSpec& edge) {
    return edge.from_job == stage.job->spec->name;
  };
  const bool needed = std::ranges::any_of(scenario_.jobs, [&](const model::JobSpec& job) {
    return std::ranges::any_of(job.edges, reads);
  });
  return is_read(stage) && (stage.job->alive || needed);
}

// A result that was given and that nobody reads is never missing.
bool Reference::missing(const Stage& stage, int partition) const {
  const auto p = static_cast<std::size_t>(partition);
  return stage.output[p] == nullptr && !(stage.sink && stage.given[p] && !is_read(stage));
}

bool Reference::complete(const Stage& stage) const {
  for (int p = 0; p < stage.spec->tasks; ++p) {
    if (missing(stage, p)) {
      return false;
    }
  }
  return stage.spec->tasks > 0 || stage.empty_done;
}

bool Reference::available(const Stage& stage) const {
  if (stage.state == StageState::asleep) {
    return stage.original != nullptr && available(*stage.original);
  }
  return std::ranges::find(stage.output, nullptr) == stage.output.end() &&
         (stage.spec->tasks > 0 || stage.empty_done);
}

// Sees to it that a stage whose outputs are missing gives them again.
void Reference::want(Stage& stage) {
  if (stage.state == StageState::asleep && stage.original != nullptr &&
      stage.original->job->alive) {
    return;
  }
  if (stage.state == StageState::asleep || stage.state == StageState::done) {
    stage.state = StageState::waiting;
    if (stage.spec->tasks > 0 && capacity(stage.spec->profile) == 0) {
      check_starved(*stage.job);  // A14: it lives again
    }
    try_submit(stage);
  }
}

void Reference::try_submit(Stage& stage, bool wants) {
  if (!stage.job->alive || stage.state != StageState::waiting) {
    return;
  }
  bool ready = true;
  for (Stage* parent : stage.parents) {
    if (!available(*parent)) {
      if (wants) {
        want(*parent);
      }
      ready = ready && available(*parent);
    }
  }
  if (!ready || stage.state != StageState::waiting || untold_.contains(&stage)) {
    return;
  }
  if (stage.spec->start_delay > 0 && !stage.delay_over) {
    if (!stage.delay_armed) {
      stage.delay_armed = true;
      at(now_ + stage.spec->start_delay, 6, 0, 0, [this, &stage] {
        stage.delay_over = true;
        try_submit(stage);
      });
    }
    return;
  }
  submit(stage);
}

void Reference::submit(Stage& stage) {
  if (stage.spec->indeterminate && !stage.sink && stage.number() > stage.undone) {
    stage.state = StageState::running;  // looks again meanwhile leave it alone
    roll_back(stage);
    if (!stage.job->alive) {
      return;
    }
  }
  Attempt attempt;
  for (int p = 0; p < stage.spec->tasks; ++p) {
    if (missing(stage, p)) {
      attempt.own.insert(p);
    }
  }
  attempt.open = attempt.pending = attempt.own;
  stage.attempts.push_back(attempt);
  stage.state = StageState::running;
  const auto tasks = static_cast<std::int64_t>(attempt.own.size());
  emit(model::StageSubmitted{
      ref_of(stage), tasks,
      tasks == stage.spec->tasks ? std::nullopt : std::optional(ranges_of(attempt.own))});
  if (attempt.own.empty()) {
    finish_attempt(stage);
  }
}

// A stage is done: its readers in file order, those of its own job first; each may be done at once,
// and tells its own readers before the next. A reader is looked at when it is told of all its
// inputs.
void Reference::tell_readers(const Stage& stage) {
  std::vector<Stage*> readers;
  for (const bool own : {true, false}) {
    for (const auto& job : jobs_) {
      for (Stage& reader : job->stages) {
        const bool reads = std::ranges::any_of(reader.parents, [&](const Stage* parent) {
          return parent == &stage || (parent->original == &stage && !parent->running());
        });
        if (reads && (job.get() == stage.job) == own) {
          readers.push_back(&reader);
        }
      }
    }
  }
  untold_.insert(readers.begin(), readers.end());
  for (Stage* reader : readers) {
    untold_.erase(untold_.find(reader));
    try_submit(*reader, false);
  }
}

// ---- ends of attempts, stages and jobs (X9, C9, X14) ----

void Reference::settled(Stage& stage) {
  if (complete(stage)) {
    stage.state = StageState::done;
    stage.finished = true;
    tell_readers(stage);
    end_if_done(*stage.job);
  }
}

void Reference::end_if_done(Job& job) {
  const bool all = std::ranges::all_of(
      job.stages, [](const Stage& sink) { return !sink.sink || sink.finished; });
  if (job.alive && all) {
    end_job(job, JobOutcome::succeeded, std::nullopt);
  }
}

void Reference::finish_attempt(Stage& stage) {
  stage.empty_done = stage.empty_done || stage.spec->tasks == 0;
  if (!complete(stage)) {
    end_attempt(stage, StageReason::incomplete);
    if (used_up(stage)) {
      end_job(*stage.job, JobOutcome::failed, Code::stage_attempts_exceeded);
      return;
    }
    stage.state = StageState::waiting;
    try_submit(stage);
    return;
  }
  stage.attempts.back().live = false;
  stage.failed_attempts = 0;
  emit(model::StageCompleted{ref_of(stage), StageStatus::success, std::nullopt});
  settled(stage);
}

// Ends the running attempt; come_again says what becomes of the stage.
void Reference::end_attempt(Stage& stage, StageReason reason) {
  emit(model::StageCompleted{ref_of(stage), StageStatus::failed, reason});
  stage.attempts.back().live = false;
  stage.state = StageState::delayed;
  ++stage.failed_attempts;
}

bool Reference::used_up(const Stage& stage) const {
  return stage.failed_attempts >= scenario_.scheduler.failure.max_stage_attempts;
}

// After resubmit_delay: the producers that were missed, then their reader.
void Reference::come_again(Stage& stage, const std::vector<Stage*>& producers) {
  if (!stage.job->alive) {
    return;
  }
  if (used_up(stage)) {
    end_job(*stage.job, JobOutcome::failed, Code::stage_attempts_exceeded);
    return;
  }
  const int number = stage.number();
  const auto come = [this, &stage, producers, number] {
    if (stage.state == StageState::delayed && stage.number() == number) {
      stage.state = StageState::waiting;
      for (Stage* producer : producers) {
        if (!available(*producer)) {
          want(*producer);
        }
      }
      try_submit(stage);
    }
  };
  const Duration delay = scenario_.scheduler.failure.resubmit_delay;
  if (delay == 0) {
    come();
  } else {
    at(now_ + delay, 6, 0, 0, come);
    moment(model::Moment::timer_armed, stage.job->name, stage.name, {});
  }
}

void Reference::stop_tasks_of(const Stage& stage, TaskReason reason) {
  const auto tasks = running_;
  for (const auto& [launch, task] : tasks) {
    if (task.stage == &stage) {
      stop(task, reason);
    }
  }
}

void Reference::end_job(Job& job, JobOutcome outcome, std::optional<Code> code) {
  constexpr std::array reasons{StageReason::job_done, StageReason::job_failed,
                               StageReason::job_cancelled};
  job.alive = false;
  job.grace += job.grace % 2;
  for (Stage& stage : job.stages) {
    stop_tasks_of(stage,
                  outcome == JobOutcome::cancelled ? TaskReason::cancelled : TaskReason::job_ended);
    if (stage.running()) {
      emit(model::StageCompleted{ref_of(stage), StageStatus::cancelled,
                                 reasons.at(static_cast<std::size_t>(outcome))});
      stage.attempts.back().live = false;
    }
  }
  emit(model::JobEnd{job.name, outcome, code, {}, {}, {}});
  job_is_over(job, outcome == JobOutcome::failed);
  pass_again_ = true;
  job_ended_ = true;
  for (const Stage& stage : job.stages) {
    again(stage);
  }
}

void Reference::cancel(NameId name) {
  for (const auto& job : jobs_) {
    if (job->alive && means(name, *job)) {
      end_job(*job, JobOutcome::cancelled, Code::cancelled);
    }
  }
}

}  // namespace rehearse::reference
