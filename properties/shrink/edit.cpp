// registry: none (a part of the shrinker)
#include "properties/shrink/edit.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rehearse::properties {

using model::FaultPlan;
using model::JobSpec;
using model::NameId;
using model::Scenario;
using model::StageIndex;

namespace {

template <class T>
void cut(std::vector<T>& list, const Part& part) {
  const auto first = list.begin() + static_cast<std::ptrdiff_t>(part.first);
  list.erase(first, first + static_cast<std::ptrdiff_t>(part.count));
}

// Keeps the entries of the plan for which it is said so, by place in the file.
void keep_faults(FaultPlan& plan, const std::vector<bool>& kept) {
  FaultPlan left;
  for (std::size_t place = 0; place < plan.order.size(); ++place) {
    if (!kept[place]) {
      continue;
    }
    const FaultPlan::Entry entry = plan.order[place];
    const std::size_t count = entry.task ? left.tasks.size() : left.timed.size();
    left.order.push_back({entry.task, static_cast<std::uint32_t>(count)});
    if (entry.task) {
      left.tasks.push_back(plan.tasks[entry.index]);
    } else {
      left.timed.push_back(std::move(plan.timed[entry.index]));
    }
  }
  plan = std::move(left);
}

// What a scenario has, to be asked whether a reference still means something.
class Inventory {
 public:
  explicit Inventory(const Scenario& scenario) : scenario_(scenario) {
    for (const model::ExecutorSpec& executor : scenario.cluster.executors) {
      executors_.insert(executor.name);
      places_.insert({executor.name, executor.host});
    }
    for (const model::TimedFault& fault : scenario.faults.timed) {
      if (const auto* add = std::get_if<model::AddExecutor>(&fault.action)) {
        executors_.insert(add->executor.name);
        places_.insert({add->executor.name, add->executor.host});
      }
    }
  }

  [[nodiscard]] bool has_executor(NameId name) const {
    return executors_.contains(name) || (scenario_.cluster.autoscale.has_value() &&
                                         scenario_.names.text(name).starts_with("auto"));
  }
  [[nodiscard]] bool has_place(NameId name) const { return places_.contains(name); }
  [[nodiscard]] const JobSpec* job(NameId name) const {
    const std::size_t at = job_named(scenario_, name);
    return at == scenario_.jobs.size() ? nullptr : &scenario_.jobs[at];
  }
  [[nodiscard]] const model::StageSpec* stage(NameId job_name, NameId name) const {
    const JobSpec* spec = job(job_name);
    if (spec == nullptr) {
      return nullptr;
    }
    const auto found = std::ranges::find(spec->stages, name, &model::StageSpec::name);
    return found == spec->stages.end() ? nullptr : &*found;
  }
  // Of the job itself, or one of another job that it may run.
  [[nodiscard]] bool runs_stage(NameId job_name, NameId name) const {
    const JobSpec* spec = job(job_name);
    if (spec == nullptr) {
      return false;
    }
    const std::string_view text = scenario_.names.text(name);
    return stage(job_name, name) != nullptr ||
           std::ranges::any_of(spec->edges, [&](const model::EdgeSpec& edge) {
             return edge.from_job.valid() &&
                    text == std::string(scenario_.names.text(edge.from_job)) + "." +
                                std::string(scenario_.names.text(edge.from_stage));
           });
  }

 private:
  const Scenario& scenario_;
  std::set<NameId> executors_;
  std::set<NameId> places_;
};

bool means_something(const model::TimedFault& fault, const Inventory& has) {
  if (fault.match_job.valid() && has.job(fault.match_job) == nullptr) {
    return false;
  }
  if (fault.match_stage.valid() && !has.runs_stage(fault.match_stage_job, fault.match_stage)) {
    return false;
  }
  if (fault.match_executor.valid() && !has.has_executor(fault.match_executor)) {
    return false;
  }
  if (const auto* lose = std::get_if<model::LoseExecutor>(&fault.action)) {
    return has.has_executor(lose->executor);
  }
  if (const auto* cancel = std::get_if<model::CancelJob>(&fault.action)) {
    return has.job(cancel->job) != nullptr;
  }
  const auto* hold = std::get_if<model::HoldExecutors>(&fault.action);
  return hold == nullptr || !hold->executors.empty();
}

bool means_something(const model::TaskFault& fault, const Inventory& has) {
  if (!has.runs_stage(fault.job, fault.stage)) {
    return false;
  }
  const model::StageSpec* stage = has.stage(fault.job, fault.stage);
  if (stage != nullptr && fault.partition >= stage->tasks) {
    return false;
  }
  if (!fault.fetch_fails) {
    return true;
  }
  const NameId from_job = fault.fetch_from_job.valid() ? fault.fetch_from_job : fault.job;
  const JobSpec* reader = has.job(fault.job);
  const model::StageSpec* from = has.stage(from_job, fault.fetch_from);
  if (from == nullptr || fault.fetch_partition >= from->tasks) {
    return false;
  }
  // The reader must still have an edge from there.
  return std::ranges::any_of(reader->edges, [&](const model::EdgeSpec& edge) {
    return edge.from_job.valid()
               ? edge.from_job == fault.fetch_from_job && edge.from_stage == fault.fetch_from
               : !fault.fetch_from_job.valid() &&
                     reader->stages[edge.from.index()].name == fault.fetch_from;
  });
}

void repair_faults(Scenario& scenario) {
  FaultPlan& plan = scenario.faults;
  const Inventory has(scenario);
  for (model::TimedFault& fault : plan.timed) {
    if (auto* hold = std::get_if<model::HoldExecutors>(&fault.action)) {
      std::erase_if(hold->executors, [&](NameId name) { return !has.has_executor(name); });
    }
  }
  std::vector<bool> kept;
  for (const FaultPlan::Entry& entry : plan.order) {
    kept.push_back(entry.task ? means_something(plan.tasks[entry.index], has)
                              : means_something(plan.timed[entry.index], has));
  }
  if (std::ranges::find(kept, false) != kept.end()) {
    keep_faults(plan, kept);
  }
}

void repair_stage(model::StageSpec& stage, const Inventory& has) {
  const auto tasks = static_cast<std::size_t>(stage.tasks);
  if (auto* times = std::get_if<std::vector<model::Duration>>(&stage.duration)) {
    const model::Duration last = times->empty() ? model::millisecond : times->back();
    times->resize(tasks, last);
    if (tasks == 0) {
      stage.duration = model::fixed_distribution(last);
    }
  }
  if (!stage.prefers.empty()) {
    stage.prefers.resize(tasks);
    bool any = false;
    for (std::vector<NameId>& places : stage.prefers) {
      std::erase_if(places, [&](NameId name) { return !has.has_place(name); });
      any = any || !places.empty();
    }
    if (!any) {
      stage.prefers.clear();
    }
  }
  if (stage.limit.size() > 1) {
    stage.limit.resize(tasks);
  }
  if (stage.tasks != 1) {
    stage.width.reset();
  }
}

void repair_job(JobSpec& job, const Inventory& has) {
  std::erase_if(job.after,
                [&](const model::AfterSpec& after) { return has.job(after.job) == nullptr; });
  std::erase_if(job.edges, [&](const model::EdgeSpec& edge) {
    return edge.from_job.valid() && has.stage(edge.from_job, edge.from_stage) == nullptr;
  });
  for (model::EdgeSpec& edge : job.edges) {
    if (edge.reuse_job.valid() && has.stage(edge.reuse_job, edge.reuse_stage) == nullptr) {
      edge.reuse_job = {};
      edge.reuse_stage = {};
    }
  }
  for (model::StageSpec& stage : job.stages) {
    repair_stage(stage, has);
  }
  std::vector<bool> read(job.stages.size());
  for (const model::EdgeSpec& edge : job.edges) {
    if (edge.from.valid()) {
      read[edge.from.index()] = true;
    }
  }
  job.result.clear();
  for (std::size_t s = 0; s < read.size(); ++s) {
    if (!read[s]) {
      job.result.push_back(StageIndex{s});
    }
  }
  if (job.result.empty()) {
    job.result.push_back(StageIndex{job.stages.size() - 1});
  }
}

}  // namespace

std::size_t job_named(const Scenario& scenario, NameId name) {
  const std::string_view text = scenario.names.text(name);
  const std::string_view base = text.substr(0, text.find('#'));
  for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
    const JobSpec& job = scenario.jobs[i];
    const std::string_view own = scenario.names.text(job.name);
    if (own == base) {
      return i;
    }
    if (job.repeat_count > 1 && base.starts_with(own)) {
      const std::string_view number = base.substr(own.size());
      std::int32_t copy = 0;
      const auto [end, error] = std::from_chars(number.begin(), number.end(), copy);
      if (error == std::errc{} && end == number.end() && number.front() != '0' && copy > 0 &&
          copy <= job.repeat_count) {
        return i;
      }
    }
  }
  return scenario.jobs.size();
}

void remove_faults(Scenario& scenario, const Part& part) {
  std::vector<bool> kept(scenario.faults.order.size(), true);
  std::fill_n(kept.begin() + static_cast<std::ptrdiff_t>(part.first), part.count, false);
  keep_faults(scenario.faults, kept);
}

void remove_jobs(Scenario& scenario, const Part& part) { cut(scenario.jobs, part); }

void remove_executors(Scenario& scenario, const Part& part) {
  cut(scenario.cluster.executors, part);
}

void remove_stages(JobSpec& job, const Part& part) {
  const auto gone = [&](StageIndex stage) {
    return stage.valid() && stage.index() >= part.first && stage.index() < part.first + part.count;
  };
  const auto moved = [&](StageIndex stage) {
    return stage.valid() && stage.index() >= part.first ? StageIndex{stage.index() - part.count}
                                                        : stage;
  };
  for (model::EdgeSpec& edge : job.edges) {
    std::erase_if(edge.to, gone);
  }
  std::erase_if(job.edges,
                [&](const model::EdgeSpec& edge) { return gone(edge.from) || edge.to.empty(); });
  for (model::EdgeSpec& edge : job.edges) {
    edge.from = moved(edge.from);
    for (StageIndex& to : edge.to) {
      to = moved(to);
    }
  }
  cut(job.stages, part);
}

void contract_stage(JobSpec& job, std::size_t stage) {
  const StageIndex here{stage};
  std::vector<model::EdgeSpec> joined;
  for (const model::EdgeSpec& in : job.edges) {
    if (std::ranges::find(in.to, here) == in.to.end() || in.from == here) {
      continue;
    }
    for (const model::EdgeSpec& out : job.edges) {
      if (out.from != here) {
        continue;
      }
      model::EdgeSpec edge;
      edge.from = in.from;
      edge.from_job = in.from_job;
      edge.from_stage = in.from_stage;
      edge.to = out.to;
      const bool both =
          in.kind == model::EdgeKind::pipelined && out.kind == model::EdgeKind::pipelined;
      edge.kind = both ? model::EdgeKind::pipelined : model::EdgeKind::regular;
      std::erase(edge.to, edge.from);
      const bool known = std::ranges::any_of(job.edges, [&](const model::EdgeSpec& other) {
        return other.from == edge.from && other.from_job == edge.from_job && other.to == edge.to;
      });
      if (!edge.to.empty() && !known) {
        joined.push_back(std::move(edge));
      }
    }
  }
  job.edges.insert(job.edges.end(), joined.begin(), joined.end());
  remove_stages(job, {.first = stage, .count = 1});
}

void repair(Scenario& scenario) {
  {
    const Inventory has(scenario);
    for (JobSpec& job : scenario.jobs) {
      repair_job(job, has);
    }
  }
  repair_faults(scenario);
}

void merge_profiles(Scenario& scenario) {
  model::Cluster& cluster = scenario.cluster;
  const auto plain = std::ranges::find_if(cluster.profiles, [&](const model::Profile& profile) {
    return scenario.names.text(profile.name) == "default";
  });
  if (plain == cluster.profiles.end()) {
    return;
  }
  model::Profile profile = *plain;
  std::vector<bool> kept(cluster.resources.size());
  for (std::size_t r = 0; r < kept.size(); ++r) {
    kept[r] = profile.task[r] > 0;
  }
  const auto narrow = [&](model::ResourceVector& amounts) {
    model::ResourceVector left;
    for (std::size_t r = 0; r < kept.size(); ++r) {
      if (kept[r]) {
        left.push_back(amounts[r]);
      }
    }
    amounts = std::move(left);
  };
  const auto adapt = [&](model::ExecutorSpec& executor) {
    executor.profile = executor.profile.valid() ? model::ProfileId{0U} : executor.profile;
    narrow(executor.resources);
  };
  for (model::ExecutorSpec& executor : cluster.executors) {
    adapt(executor);
  }
  for (model::TimedFault& fault : scenario.faults.timed) {
    if (auto* add = std::get_if<model::AddExecutor>(&fault.action)) {
      adapt(add->executor);
    }
  }
  if (cluster.autoscale) {
    adapt(cluster.autoscale->executor);
  }
  narrow(profile.task);
  cluster.profiles = {std::move(profile)};
  std::vector<NameId> resources;
  for (std::size_t r = 0; r < kept.size(); ++r) {
    if (kept[r]) {
      resources.push_back(cluster.resources[r]);
    }
  }
  cluster.resources = std::move(resources);
  for (JobSpec& job : scenario.jobs) {
    for (model::StageSpec& stage : job.stages) {
      stage.profile = model::ProfileId{0U};
    }
  }
}

}  // namespace rehearse::properties
