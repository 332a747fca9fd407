// What counts as smaller, which candidates are run, and when it is enough.
// registry: none (the shrinker)
#include "properties/shrink/shrink.hpp"

#include <algorithm>
#include <set>

#include "model/axes.hpp"
#include "model/config_support.hpp"
#include "properties/shrink/shrinker.hpp"

namespace rehearse::properties {

using model::Scenario;

namespace {

// Settings of a job or a stage that are not what a reader takes for granted.
std::int64_t flags_of(const model::JobSpec& job) {
  std::int64_t flags = static_cast<std::int64_t>(job.after.size()) + (job.priority != 0 ? 1 : 0);
  for (const model::StageSpec& stage : job.stages) {
    flags += stage.commits != model::Commits::none ? 1 : 0;
    flags += stage.checkpoint != model::Checkpoint::none ? 1 : 0;
    flags += (stage.barrier ? 1 : 0) + (stage.indeterminate ? 1 : 0) + (stage.cached ? 1 : 0);
    flags += (stage.estimate ? 1 : 0) + (stage.width ? 1 : 0) + (stage.prefers.empty() ? 0 : 1);
  }
  for (const model::EdgeSpec& edge : job.edges) {
    flags += (edge.push_merge ? 1 : 0) + (edge.checksum_retry ? 1 : 0) + (edge.adaptive ? 1 : 0);
    flags += (edge.reuse_job.valid() ? 1 : 0) + (edge.from_job.valid() ? 1 : 0);
    flags += edge.stream || edge.bytes != 0 || edge.records ? 1 : 0;
  }
  return flags;
}

std::int64_t axes_off_preset(const Scenario& scenario) {
  const model::SchedulerConfig usual = model::preset(scenario.scheduler.dialect);
  std::int64_t count = 0;
  for (const model::AxisInfo& axis : model::axis_table()) {
    if (axis.built) {
      count += model::get_axis(scenario.scheduler, scenario.names, axis.name) ==
                       model::get_axis(usual, scenario.names, axis.name)
                   ? 0
                   : 1;
    }
  }
  return count;
}

std::int64_t flags_of(const Scenario& scenario) {
  const model::Cluster& cluster = scenario.cluster;
  const model::Distribution none;
  std::int64_t flags = axes_off_preset(scenario);
  flags += static_cast<std::int64_t>(scenario.choices.size());
  flags += (scenario.ties_shuffled ? 1 : 0) + (scenario.horizon ? 1 : 0);
  flags += scenario.timing != model::Timing::scripted ? 1 : 0;
  flags += cluster.autoscale ? 1 : 0;
  flags += cluster.network == model::Network{} ? 0 : 1;
  for (const model::Distribution* delay :
       {&cluster.overheads.launch, &cluster.overheads.status, &cluster.overheads.kill,
        &cluster.overheads.loss_detection}) {
    flags += *delay == none ? 0 : 1;
  }
  for (const model::ExecutorSpec& executor : cluster.executors) {
    flags += (executor.speed_milli != model::milli ? 1 : 0) + (executor.rack.valid() ? 1 : 0);
    flags += (executor.joins != 0 ? 1 : 0);
    flags +=
        scenario.names.text(executor.host) == "h-" + std::string(scenario.names.text(executor.name))
            ? 0
            : 1;
  }
  for (const model::JobSpec& job : scenario.jobs) {
    flags += flags_of(job);
  }
  return flags;
}

std::int64_t times_of(const model::TaskDurations& duration) {
  if (const auto* list = std::get_if<std::vector<model::Duration>>(&duration)) {
    std::int64_t sum = 1;  // a list is more to read than one value
    for (const model::Duration time : *list) {
      sum += time / 1000;
    }
    return sum;
  }
  const auto& distribution = std::get<model::Distribution>(duration);
  const bool fixed = distribution.kind == model::DistributionKind::fixed;
  return model::mean_ns(distribution).value_or(model::second) / 1000 + (fixed ? 0 : 1);
}

// In microseconds, so that the sum of a large one fits.
std::int64_t times_of(const Scenario& scenario) {
  std::int64_t sum = 0;
  for (const model::JobSpec& job : scenario.jobs) {
    sum += job.submit / 1000 + job.repeat_every / 1000;
    sum += job.resubmit > 0 ? job.backoff / 1000 : 0;
    for (const model::AfterSpec& after : job.after) {
      sum += after.delay / 1000;
    }
    for (const model::StageSpec& stage : job.stages) {
      sum += times_of(stage.duration);
    }
  }
  for (const model::TimedFault& fault : scenario.faults.timed) {
    sum += fault.at.value_or(0) / 1000 + fault.after / 1000;
    if (const auto* hold = std::get_if<model::HoldExecutors>(&fault.action)) {
      sum += hold->for_ns / 1000;
    }
  }
  for (const model::TaskFault& fault : scenario.faults.tasks) {
    sum += fault.after / 1000 + fault.status_late.value_or(0) / 1000;
  }
  return sum;
}

std::int64_t details_of(const model::FaultPlan& plan) {
  std::int64_t details = 0;
  for (const model::TimedFault& fault : plan.timed) {
    details += fault.nth - 1 + (fault.moment ? 1 : 0);
    details += (fault.match_job.valid() ? 1 : 0) + (fault.match_stage.valid() ? 1 : 0) +
               (fault.match_executor.valid() ? 1 : 0);
    if (const auto* lose = std::get_if<model::LoseExecutor>(&fault.action)) {
      details += (lose->noticed ? 1 : 0) + (lose->cause != model::LossCause::process ? 1 : 0);
    } else if (const auto* hold = std::get_if<model::HoldExecutors>(&fault.action)) {
      details += static_cast<std::int64_t>(hold->executors.size());
    }
  }
  for (const model::TaskFault& fault : plan.tasks) {
    details += fault.attempt + fault.try_number.value_or(1) + fault.partition;
    details += fault.slow_milli ? 1 : 0;
    details += fault.fetch_partition;
    details +=
        fault.fails.value_or(model::TaskFaultKind::exception) != model::TaskFaultKind::exception
            ? 1
            : 0;
  }
  return details;
}

}  // namespace

ScenarioSize size_of(const Scenario& scenario) {
  ScenarioSize size;
  size.faults = std::ssize(scenario.faults.order);
  size.executors = std::ssize(scenario.cluster.executors);
  for (const model::JobSpec& job : scenario.jobs) {
    size.jobs += std::max(job.repeat_count, 1) + job.resubmit;
    size.stages += std::ssize(job.stages);
    for (const model::StageSpec& stage : job.stages) {
      size.tasks += stage.tasks;
    }
  }
  return size;
}

Measure measure_of(const Scenario& scenario) {
  const ScenarioSize size = size_of(scenario);
  std::int64_t edges = 0;
  for (const model::JobSpec& job : scenario.jobs) {
    for (const model::EdgeSpec& edge : job.edges) {
      edges += static_cast<std::int64_t>(edge.to.size()) *
               (edge.kind == model::EdgeKind::pipelined ? 2 : 1);
    }
  }
  std::int64_t amounts = 0;
  for (const model::ExecutorSpec& executor : scenario.cluster.executors) {
    for (const std::int64_t amount : executor.resources) {
      amounts += amount / model::milli;
    }
  }
  const auto profiles =
      std::ssize(scenario.cluster.profiles) + std::ssize(scenario.cluster.resources);
  return {size.faults,        size.jobs,
          size.stages,        size.tasks,
          size.executors,     edges,
          flags_of(scenario), amounts,
          times_of(scenario), details_of(scenario.faults),
          profiles,           (is_renamed(scenario) ? 0 : 1) + (scenario.seed == 0 ? 0 : 1)};
}

Shrinker::Shrinker(const Scenario& scenario, const Finding& found, const Judge& judge,
                   const ShrinkOptions& options)
    : judge_(judge), options_(options) {
  best_.scenario = scenario;
  best_.scenario.expect.clear();  // they speak of the original
  best_.finding = found;
  measure_ = measure_of(best_.scenario);
}

bool Shrinker::spent() {
  if (!best_.stopped_early &&
      (best_.runs >= options_.runs_max || (options_.out_of_time && options_.out_of_time()))) {
    best_.stopped_early = true;
  }
  return best_.stopped_early;
}

bool Shrinker::attempt(Scenario candidate) {
  repair(candidate);
  const Measure measure = measure_of(candidate);
  if (spent() || candidate.jobs.empty() || !(measure < measure_) || model::unsupported(candidate)) {
    return false;
  }
  const auto [first, last] = refused_.equal_range(measure);
  for (auto it = first; it != last; ++it) {
    const Scenario& other = it->second;
    // What a candidate is made of; its names are those of the best so far.
    if (other.jobs == candidate.jobs && other.cluster == candidate.cluster &&
        other.scheduler == candidate.scheduler && other.faults == candidate.faults &&
        other.seed == candidate.seed && other.timing == candidate.timing &&
        other.ties_shuffled == candidate.ties_shuffled && other.choices == candidate.choices &&
        other.horizon == candidate.horizon) {
      return false;
    }
  }
  ++best_.runs;
  const std::vector<Finding> findings = judge_(candidate);
  const auto same = std::ranges::find_if(
      findings, [this](const Finding& finding) { return finding.same_as(best_.finding); });
  remember(candidate, findings);
  if (same == findings.end()) {
    refused_.emplace(measure, std::move(candidate));
    return false;
  }
  ++best_.steps;
  best_.finding = *same;
  best_.scenario = std::move(candidate);
  measure_ = measure;
  return true;
}

void Shrinker::remember(const Scenario& scenario, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    const bool known = finding.same_as(best_.finding) ||
                       std::ranges::any_of(best_.others, [&](const OtherFind& other) {
                         return other.finding.same_as(finding);
                       });
    if (!known) {
      best_.others.push_back({scenario, finding});
    }
  }
}

Shrunk Shrinker::finish() && { return std::move(best_); }

Shrunk shrink(const Scenario& scenario, const Finding& found, const Judge& judge,
              const ShrinkOptions& options) {
  Shrinker shrinker(scenario, found, judge, options);
  Measure before{};
  do {
    before = measure_of(shrinker.now());
    for (const Pass pass : passes()) {
      if (!shrinker.spent()) {
        pass(shrinker);
      }
    }
  } while (!shrinker.spent() && measure_of(shrinker.now()) < before);
  return std::move(shrinker).finish();
}

// ---- the critical transition ----

namespace {

// Nothing is submitted or goes wrong after `last`; at the next nanosecond a fresh executor of every
// kind comes for good.
Scenario healed_after(const Scenario& scenario, model::Instant last) {
  Scenario prefix = scenario;
  std::erase_if(prefix.jobs, [&](const model::JobSpec& job) { return job.submit > last; });
  for (std::size_t place = prefix.faults.order.size(); place-- > 0;) {
    const model::FaultPlan::Entry entry = prefix.faults.order[place];
    const bool later = !entry.task && prefix.faults.timed[entry.index].at.value_or(0) > last;
    if (later) {
      remove_faults(prefix, {.first = place, .count = 1});
    }
  }
  for (const model::ExecutorSpec& executor : scenario.cluster.executors) {
    model::TimedFault back;
    back.at = last + 1;
    model::ExecutorSpec fresh = executor;
    const std::string name = "healed-" + std::string(scenario.names.text(executor.name));
    fresh.name = prefix.names.intern(name);
    fresh.host = prefix.names.intern("h-" + name);
    fresh.joins = 0;
    back.action = model::AddExecutor{std::move(fresh)};
    prefix.faults.order.push_back({false, static_cast<std::uint32_t>(prefix.faults.timed.size())});
    prefix.faults.timed.push_back(std::move(back));
  }
  repair(prefix);
  return prefix;
}

}  // namespace

std::optional<model::Instant> critical_instant(const Scenario& scenario, const Finding& found,
                                               const Judge& judge) {
  std::set<model::Instant> instants;
  for (const model::JobSpec& job : scenario.jobs) {
    instants.insert(job.submit);
  }
  for (const model::TimedFault& fault : scenario.faults.timed) {
    if (fault.at) {
      instants.insert(*fault.at);
    }
  }
  for (const model::Instant instant : instants) {
    const Scenario prefix = healed_after(scenario, instant);
    if (prefix.jobs.empty() || model::unsupported(prefix)) {
      continue;
    }
    const std::vector<Finding> findings = judge(prefix);
    if (std::ranges::any_of(findings,
                            [&](const Finding& finding) { return finding.same_as(found); })) {
      return instant;
    }
  }
  return std::nullopt;
}

}  // namespace rehearse::properties
