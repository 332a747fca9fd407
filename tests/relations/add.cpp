// Additions to scenarios that should leave no trace; see change.hpp.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "model/resources.hpp"
#include "tests/relations/change.hpp"

namespace rehearse::testing {

using model::Scenario;

namespace {

constexpr std::int32_t never = 1'000'000;

void push(Scenario& scenario, model::TimedFault fault) {
  model::FaultPlan& plan = scenario.faults;
  plan.order.push_back({false, static_cast<std::uint32_t>(plan.timed.size())});
  plan.timed.push_back(std::move(fault));
}

void push(Scenario& scenario, const model::TaskFault& fault) {
  model::FaultPlan& plan = scenario.faults;
  plan.order.push_back({true, static_cast<std::uint32_t>(plan.tasks.size())});
  plan.tasks.push_back(fault);
}

// Slots of the executor for tasks of these amounts (A4).
std::int64_t slots_of(const model::ExecutorSpec& executor, const model::ResourceVector& task) {
  std::int64_t slots = std::numeric_limits<std::int64_t>::max();
  for (std::size_t r = 0; r < task.size(); ++r) {
    slots = task[r] > 0 ? std::min(slots, executor.resources[r] / task[r]) : slots;
  }
  return slots;
}

model::StageSpec stage_of(Scenario& scenario, std::string_view name, std::int64_t tasks) {
  model::StageSpec stage;
  stage.name = scenario.names.intern(name);
  stage.tasks = static_cast<std::int32_t>(tasks);
  stage.duration = model::fixed_distribution(model::millisecond);
  stage.profile = model::ProfileId{std::uint32_t{0}};
  return stage;
}

}  // namespace

std::optional<Scenario> with_cancelled_gang(Scenario scenario, model::Instant submitted,
                                            model::Instant cancelled) {
  constexpr std::int64_t most_slots = 1000;
  const model::ProfileId profile{std::uint32_t{0}};
  std::int64_t slots = 0;
  for (const model::ExecutorSpec& executor : scenario.cluster.executors) {
    const bool serves = !executor.profile.valid() || executor.profile == profile;
    const auto& task = scenario.cluster.profiles[profile.index()].task;
    slots += serves ? std::min(slots_of(executor, task), most_slots) : 0;
  }
  if (slots < 2 || slots > most_slots) {
    return std::nullopt;
  }
  model::JobSpec job;
  job.name = scenario.names.intern(cancelled_name);
  job.pool = scenario.names.intern("default");
  job.submit = submitted;
  job.result = {model::StageIndex{std::uint32_t{1}}};
  job.stages = {stage_of(scenario, "s1", slots - 1), stage_of(scenario, "s2", 1)};
  model::EdgeSpec& edge = job.edges.emplace_back();
  edge.from = model::StageIndex{std::uint32_t{0}};
  edge.to = {model::StageIndex{std::uint32_t{1}}};
  edge.kind = model::EdgeKind::pipelined;
  model::TimedFault cancel;
  cancel.at = cancelled;
  cancel.action = model::CancelJob{job.name};
  scenario.jobs.push_back(std::move(job));
  push(scenario, std::move(cancel));
  return scenario;
}

Scenario with_faults_that_never_come(Scenario scenario) {
  constexpr auto moments = model::EnumNames<model::Moment>::texts.size();
  const model::ExecutorSpec* some =
      scenario.cluster.executors.empty() ? nullptr : &scenario.cluster.executors.front();
  for (std::size_t i = 0; i < moments; ++i) {
    model::TimedFault fault;
    fault.moment = static_cast<model::Moment>(i);
    fault.nth = never;
    fault.action = model::CancelJob{scenario.jobs.front().name};
    push(scenario, fault);
    if (some == nullptr) {
      continue;
    }
    fault.action = model::LoseExecutor{some->name, model::LossCause::host, std::nullopt};
    push(scenario, fault);
    fault.action = model::HoldExecutors{{some->name}, model::millisecond};
    push(scenario, fault);
    model::ExecutorSpec more = *some;
    more.name = scenario.names.intern("zz-never");
    more.host = scenario.names.intern("zz-host");
    more.joins = 0;
    fault.action = model::AddExecutor{std::move(more)};
    push(scenario, std::move(fault));
  }
  for (const model::JobSpec& job : scenario.jobs) {
    for (const model::StageSpec& stage : job.stages) {
      model::TaskFault fault;
      fault.job = job.name;
      fault.stage = stage.name;
      fault.attempt = never;
      fault.fails = model::TaskFaultKind::exception;
      push(scenario, fault);
      fault.attempt = 0;
      fault.try_number = never;
      fault.fails = std::nullopt;
      fault.slow_milli = 2 * model::milli;
      fault.status_late = model::millisecond;
      push(scenario, fault);
    }
  }
  return scenario;
}

}  // namespace rehearse::testing
