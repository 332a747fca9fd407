// What a fault plan may still do at which instant, read off its entries.
#include "model/healing.hpp"

#include <algorithm>
#include <vector>

namespace rehearse::model {

namespace {

// Every executor that the file names, with its host.
std::vector<const ExecutorSpec*> executors_of(const Scenario& scenario) {
  std::vector<const ExecutorSpec*> list;
  for (const ExecutorSpec& executor : scenario.cluster.executors) {
    list.push_back(&executor);
  }
  for (const TimedFault& fault : scenario.faults.timed) {
    if (const auto* add = std::get_if<AddExecutor>(&fault.action)) {
      list.push_back(&add->executor);
    }
  }
  return list;
}

NameId host_of(NameId name, const std::vector<const ExecutorSpec*>& executors) {
  const auto found = std::ranges::find(executors, name, &ExecutorSpec::name);
  return found == executors.end() ? NameId{} : (*found)->host;
}

bool takes(const LoseExecutor& loss, const ExecutorSpec& executor,
           const std::vector<const ExecutorSpec*>& executors) {
  return loss.executor == executor.name ||
         (loss.cause == LossCause::host && host_of(loss.executor, executors) == executor.host);
}

// Is it gone for good by an entry at an instant? One that drains may still be at work, and one that
// comes at a moment may come later.
bool is_gone(const ExecutorSpec& executor, const FaultPlan& plan,
             const std::vector<const ExecutorSpec*>& executors) {
  bool gone = false;
  for (const TimedFault& fault : plan.timed) {
    if (const auto* add = std::get_if<AddExecutor>(&fault.action)) {
      if (fault.moment && add->executor.name == executor.name) {
        return false;
      }
    } else if (const auto* loss = std::get_if<LoseExecutor>(&fault.action)) {
      gone = gone || (fault.at && loss->cause != LossCause::decommission &&
                      takes(*loss, executor, executors));
    }
  }
  return gone;
}

// A loss at a moment, whenever that comes: does it hit nobody behind the last instant?
bool is_void_later(const LoseExecutor& loss, const FaultPlan& plan,
                   const std::vector<const ExecutorSpec*>& executors) {
  return std::ranges::all_of(executors, [&](const ExecutorSpec* executor) {
    return !takes(loss, *executor, executors) || is_gone(*executor, plan, executors);
  });
}

// The last instant of the plan, if executors join at it.
std::optional<Instant> last_join(const FaultPlan& plan) {
  Instant last = -1;
  bool joins = false;
  for (const TimedFault& fault : plan.timed) {
    if (!fault.at || *fault.at < last) {
      continue;
    }
    const bool adds = std::holds_alternative<AddExecutor>(fault.action);
    joins = adds || (joins && *fault.at == last);
    last = *fault.at;
  }
  return joins ? std::optional(last) : std::nullopt;
}

std::int64_t copies_of(const JobSpec& job) {
  return std::int64_t{job.repeat_count} * (std::int64_t{job.resubmit} + 1);
}

constexpr std::int64_t steps_for_each = 1000;  // timers tick while a task runs

std::int64_t steps_of(const std::vector<JobSpec>& jobs) {
  std::int64_t parts = 1;
  for (const JobSpec& job : jobs) {
    std::int64_t of_one = 1 + std::ssize(job.stages);
    for (const StageSpec& stage : job.stages) {
      of_one += stage.tasks;
    }
    parts += of_one * copies_of(job);
  }
  return steps_for_each * parts;
}

}  // namespace

std::optional<Healing> healing_of(const Scenario& scenario) {
  const FaultPlan& plan = scenario.faults;
  const std::optional<Instant> at = last_join(plan);
  if (!at || scenario.horizon || scenario.cluster.autoscale) {
    return std::nullopt;
  }
  const std::vector<const ExecutorSpec*> executors = executors_of(scenario);
  const bool quiet = std::ranges::all_of(plan.timed, [&](const TimedFault& fault) {
    const auto* loss = std::get_if<LoseExecutor>(&fault.action);
    return !fault.moment || loss == nullptr || is_void_later(*loss, plan, executors);
  });
  const bool all_came =
      std::ranges::all_of(scenario.cluster.executors,
                          [&](const ExecutorSpec& executor) { return executor.joins <= *at; }) &&
      std::ranges::all_of(scenario.jobs, [&](const JobSpec& job) {
        return !job.after.empty() ||
               (job.submit <= *at &&
                (job.repeat_count == 1 ||
                 job.repeat_every <= (*at - job.submit) / (job.repeat_count - 1)));
      });
  if (!quiet || !all_came) {
    return std::nullopt;
  }
  return Healing{*at, steps_of(scenario.jobs)};
}

}  // namespace rehearse::model
