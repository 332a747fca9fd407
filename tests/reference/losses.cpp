// Outputs and executors that go, and who starves (X9, X13, A14; decisions 4 and 5).
#include <algorithm>
#include <iterator>

#include "tests/reference/reference.hpp"

namespace rehearse::reference {

using model::Code;
using model::JobOutcome;
using model::StageReason;
using model::TaskReason;

// X15: whoever waits for a stage that lost outputs gets them back.
void Reference::again(const Stage& stage) {
  for (const auto& job : jobs_) {
    for (Stage& reader : job->stages) {
      for (Stage* parent : reader.parents) {
        const bool stands = parent->state == StageState::asleep && parent->original == &stage;
        if (job->alive && reader.state == StageState::waiting && (parent == &stage || stands) &&
            !available(*parent)) {
          want(*parent);
        }
      }
    }
  }
}

std::vector<Struck> Reference::strike(
    const std::function<bool(const Stage&, const Executor&)>& gone) {
  std::vector<Struck> struck;
  for (const auto& job : jobs_) {
    for (Stage& stage : job->stages) {
      for (Executor* executor : joined_) {
        std::set<int> lost;
        for (std::size_t p = 0; p < stage.output.size(); ++p) {
          if (stage.output[p] == executor && gone(stage, *executor)) {
            lost.insert(static_cast<int>(p));
            stage.output[p] = nullptr;
          }
        }
        if (!lost.empty() && kept(stage)) {
          emit(model::OutputsLost{job->name, stage.name, executor->spec.name, ranges_of(lost)});
        }
        if (!lost.empty()) {
          struck.push_back({&stage, lost});
        }
      }
    }
  }
  return struck;
}

void Reference::roll_back(Stage& first) {
  std::vector<Stage*> order{&first};
  for (std::size_t before = 0; before != order.size();) {
    before = order.size();
    for (const auto& job : jobs_) {
      for (Stage& stage : job->stages) {
        const auto reads = [&order](const Stage* parent) {
          const Stage* real = parent->state == StageState::asleep ? parent->original : parent;
          return has(order, real);
        };
        if (job->alive && !has(order, &stage) && std::ranges::any_of(stage.parents, reads)) {
          order.push_back(&stage);
        }
      }
    }
  }
  for (const Stage* stage : order) {
    if (stage->job->alive && stage->sink && stage->number() > stage->undone &&
        has(stage->given, true)) {
      end_job(*stage->job, JobOutcome::failed, Code::indeterminate_result);
    }
  }
  for (Stage* stage : order) {
    if (stage->job->alive) {
      undo(*stage);
      again(*stage);
    }
  }
}

void Reference::undo(Stage& stage) {
  if (stage.number() <= stage.undone) {
    return;
  }
  stage.undone = stage.number();
  if (stage.running()) {
    stop_tasks_of(stage, TaskReason::superseded);
    end_attempt(stage, StageReason::rolled_back);
    strike([&stage](const Stage& other, const Executor&) { return &other == &stage; });
    come_again(stage, {});
    return;
  }
  strike([&stage](const Stage& other, const Executor&) { return &other == &stage; });
}

// One notice: what ran there has ended, then outputs are struck off, then partitions come again.
void Reference::gone(Executor* executor, model::LossCause cause) {
  executor->joined = false;
  emit(model::ExecutorLost{executor->spec.name, cause});
  std::vector<Task> ended;
  for (const auto& [launch, task] : running_) {
    if (task.executor == executor) {
      ended.push_back(task);
      ended.back().failure = TaskReason::executor_lost;
      emit(model::TaskEnd{task.ref, false, model::TaskStatus::failed, TaskReason::executor_lost,
                          std::nullopt, std::nullopt});
    }
  }
  for (const Task& task : ended) {
    running_.erase(task.launch);
  }
  for (const Task& task : ended) {
    count_failure(task, cause == model::LossCause::exit_by_app);
  }
  std::vector<Struck> struck;
  const NameId host = executor->spec.host;
  const bool whole_host = cause == model::LossCause::host;
  if (whole_host || !scenario_.scheduler.outputs_survive_executor) {
    for (const Executor* other : joined_) {
      if (other == executor || (whole_host && other->spec.host == host && !other->joined)) {
        std::ranges::move(strike([=](const Stage&, const Executor& one) { return &one == other; }),
                          std::back_inserter(struck));
      }
    }
  }
  for (const auto& [stage, partitions] : struck) {
    for (const int p : partitions) {
      // SS-2.6 (1): where outputs survive executors, an attempt does not repeat what a host takes.
      if (!scenario_.scheduler.outputs_survive_executor && stage->running() &&
          stage->attempts.back().own.contains(p) && missing(*stage, p)) {
        stage->attempts.back().open.insert(p);
        stage->attempts.back().pending.insert(p);
      }
    }
  }
  for (const auto& [stage, partitions] : struck) {
    again(*stage);
  }
  check_starved();
}

bool Reference::idle(const Executor& executor) const {
  const auto there = [&executor](const auto& entry) { return entry.second.executor == &executor; };
  return std::ranges::none_of(running_, there) && std::ranges::none_of(dying_, there);
}

void Reference::leave_if_idle(Executor& executor) {
  if (executor.joined && executor.leaving && !executor.goes && idle(executor)) {
    executor.goes = true;
    at(now_, 1, 0, 0, [this, &executor] {
      if (executor.joined) {
        gone(&executor, model::LossCause::decommission);
      }
    });
  }
}

// A14: grace runs for each job with a stage left to do that nothing could ever serve.
void Reference::check_starved() {
  for (const auto& job : jobs_) {
    check_starved(*job);
  }
}

void Reference::check_starved(Job& job) {
  const bool starved = job.alive && std::ranges::any_of(job.stages, [this](const Stage& stage) {
                         return stage.state != StageState::asleep &&
                                stage.state != StageState::done && stage.spec->tasks > 0 &&
                                capacity(stage.spec->profile) == 0;
                       });
  if (starved == (job.grace % 2 == 1)) {
    return;
  }
  const int grace = ++job.grace;
  if (starved) {
    moment(model::Moment::timer_armed, job.name, {}, {});
    at(now_ + scenario_.scheduler.no_executor_grace, 6, 0, 0, [this, grace, &job] {
      if (job.grace == grace) {
        end_job(job, JobOutcome::failed, Code::admission_timeout);
      }
    });
  }
}

}  // namespace rehearse::reference
