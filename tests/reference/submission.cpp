// Submission: rejections and stages of other jobs (C12, A5, F13; decision 1).
#include <algorithm>

#include "model/stage_graph.hpp"
#include "model/validate.hpp"
#include "tests/reference/reference.hpp"

namespace rehearse::reference {

using model::Code;

namespace {

// Copies of other jobs' stages may read the job's own.
bool has_cycle(const Job& job) {
  std::set<const Stage*> sorted;
  for (std::size_t before = job.stages.size() + 1; before != sorted.size();) {
    before = sorted.size();
    for (const Stage& stage : job.stages) {
      if (std::ranges::all_of(stage.parents, [&](auto* one) { return sorted.contains(one); })) {
        sorted.insert(&stage);
      }
    }
  }
  return sorted.size() != job.stages.size();
}

}  // namespace

NameId Reference::joined(NameId job, std::string_view mark, NameId stage) {
  return names.intern(std::string(names.text(job)).append(mark).append(names.text(stage)));
}

Stage* Reference::copy_of(Job& job, NameId from_job, NameId from_stage) {
  const auto find = [](Job& in, NameId name) -> Stage* {
    const auto found = std::ranges::find(in.stages, name, &Stage::name);
    return found == in.stages.end() ? nullptr : &*found;
  };
  if (from_job == job.spec->name) {
    return find(job, from_stage);
  }
  const NameId name = joined(from_job, ".", from_stage);
  if (Stage* there = find(job, name)) {
    return there;
  }
  const auto spec = std::ranges::find(scenario_.jobs, from_job, &model::JobSpec::name);
  const auto stage_spec = std::ranges::find(spec->stages, from_stage, &model::StageSpec::name);
  Stage& copy = job.stages.emplace_back();
  copy.job = &job;
  copy.of = &*spec;
  copy.spec = &*stage_spec;
  copy.name = name;
  copy.copy = true;
  copy.state = StageState::asleep;
  const auto latest = latest_.find(&*spec);
  if (latest != latest_.end() && latest->second != nullptr) {
    copy.original = find(*latest->second, from_stage);
  }
  return &copy;
}

void Reference::make_stages(Job& job) {
  for (const model::StageSpec& spec : job.spec->stages) {
    Stage& stage = job.stages.emplace_back();
    stage.job = &job;
    stage.spec = &spec;
    stage.name = spec.name;
    stage.sink = true;
  }
  for (const model::EdgeSpec& edge : job.spec->edges) {
    for (const model::StageIndex to : edge.to) {
      Stage* from = edge.from.valid() ? &job.stages[edge.from.index()]
                                      : copy_of(job, edge.from_job, edge.from_stage);
      from->sink = false;
      job.stages[to.index()].parents.push_back(from);
    }
  }
  for (std::size_t s = job.spec->stages.size(); s < job.stages.size(); ++s) {
    Stage& copy = job.stages[s];
    for (const model::EdgeSpec& edge : copy.of->edges) {
      const bool reads = std::ranges::any_of(edge.to, [&copy](const model::StageIndex to) {
        return &copy.of->stages[to.index()] == copy.spec;
      });
      if (reads) {
        copy.parents.push_back(
            edge.from.valid() ? copy_of(job, copy.of->name, copy.of->stages[edge.from.index()].name)
                              : copy_of(job, edge.from_job, edge.from_stage));
      }
    }
  }
  const auto position = [&job](const Stage* one) {
    return std::ranges::find_if(job.stages, [one](Stage& other) { return &other == one; }) -
           job.stages.begin();
  };
  for (Stage& stage : job.stages) {
    std::ranges::sort(stage.parents, {}, position);
    stage.parents.erase(std::ranges::unique(stage.parents).begin(), stage.parents.end());
    stage.output.assign(static_cast<std::size_t>(stage.spec->tasks), nullptr);
    stage.given.assign(static_cast<std::size_t>(stage.spec->tasks), false);
  }
}

bool Reference::reject(const Job& job) {
  model::GraphRules rules;
  rules.edges = model::EdgesAxis::all_regular;
  const auto graph = model::build_stage_graph(*job.spec, rules);
  std::set<Code> found;
  for (const auto& rejection : model::validate(*job.spec, graph, scenario_.scheduler,
                                               {&names, scenario_.cluster.autoscale.has_value()})) {
    found.insert(rejection.code);
  }
  if (has_cycle(job)) {
    found.insert(Code::dag_cycle);
  }
  std::optional<model::PerProfile> need;
  std::optional<model::PerProfile> have;
  const bool none = std::ranges::none_of(executors_, [](const Executor& executor) {
    return (executor.due || executor.joined) && !executor.leaving;
  });
  for (const model::StageSpec& stage : job.spec->stages) {
    if (!need && stage.tasks > 0 && capacity(stage.profile) == 0) {
      found.insert(none ? Code::no_executors : Code::insufficient_slots);
      const NameId profile = scenario_.cluster.profiles[stage.profile.index()].name;
      need = model::PerProfile{{profile, 1}};
      have = model::PerProfile{{profile, 0}};
    }
  }
  std::vector<Code> codes;
  for (const Code code : scenario_.scheduler.reject) {
    if (found.contains(code)) {
      codes.push_back(code);
    }
  }
  if (!codes.empty()) {
    emit(model::JobRejected{job.name, codes.front(), codes, {}, need, have});
  }
  return !codes.empty();
}

void Reference::submit_job(std::size_t file, int copy, int resubmit) {
  auto made = std::make_unique<Job>();
  Job& job = *made;
  job.spec = &scenario_.jobs[file];
  job.file = file;
  job.copy = copy;
  job.resubmit = resubmit;
  job.submitted = now_;
  std::string name(names.text(job.spec->name));
  name += job.spec->repeat_count > 1 ? std::to_string(copy) : "";
  job.name = names.intern(name + (resubmit > 0 ? "#" + std::to_string(resubmit) : ""));
  model::JobSubmitted line{job.name, job.spec->pool, job.spec->priority, {}, {}};
  for (const model::StageSpec& stage : job.spec->stages) {
    const NameId profile = scenario_.cluster.profiles[stage.profile.index()].name;
    line.stages.push_back({stage.name, stage.tasks, profile, stage.barrier, stage.commits});
  }
  for (const model::EdgeSpec& edge : job.spec->edges) {
    for (const model::StageIndex to : edge.to) {
      line.edges.push_back({edge.from.valid() ? job.spec->stages[edge.from.index()].name
                                              : joined(edge.from_job, "/", edge.from_stage),
                            job.spec->stages[to.index()].name, model::EdgeKind::regular});
    }
  }
  emit(line);
  make_stages(job);
  latest_[job.spec] = nullptr;
  if (reject(job)) {
    job_is_over(job, true);
    return;
  }
  emit(model::JobStarted{job.name});
  job.alive = true;
  latest_[job.spec] = &job;
  const auto rank = [](const std::unique_ptr<Job>& one) {
    return std::tuple(one->submitted, one->copy + one->resubmit > 0, one->file, one->copy,
                      one->resubmit);
  };
  jobs_.insert(std::ranges::upper_bound(jobs_, rank(made), {}, rank), std::move(made));
  for (Stage& stage : job.stages) {
    try_submit(stage);
  }
}

}  // namespace rehearse::reference
