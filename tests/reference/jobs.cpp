// A job as it is submitted: its name, its line, its stages as a table.
#include <algorithm>
#include <set>

#include "tests/reference/world.hpp"

namespace rehearse::reference {

using namespace model;

// X8: a copy and a resubmission have names of their own; the line says what the caller asks for.
void World::submit(const JobSpec& spec, const Number& number) {
  const auto [again, place, copy, resubmission] = number;
  Job& job = jobs_[{now_, number}];
  job.spec = &spec;
  job.number = number;
  job.name =
      names_.intern(std::string(names_.text(spec.name)) + (copy > 0 ? std::to_string(copy) : "") +
                    (resubmission > 0 ? "#" + std::to_string(resubmission) : ""));
  JobSubmitted line{job.name, spec.pool, spec.priority, {}, {}};
  for (const StageSpec& stage : spec.stages) {
    line.stages.push_back(
        {stage.name, stage.tasks, profile(stage.profile).name, stage.barrier, stage.commits});
  }
  for (const EdgeSpec& edge : spec.edges) {
    const NameId from = edge.from.valid() ? spec.stages[edge.from.index()].name
                                          : composed(edge.from_job, "/", edge.from_stage);
    for (const StageIndex to : edge.to) {
      line.edges.push_back({from, spec.stages[to.index()].name, EdgeKind::regular});
    }
  }
  emit(line);
  make_stages(job);
  latest_[&spec] = &job;
  submit_job(job);
}

NameId World::composed(NameId job, const char* mark, NameId stage) {
  return names_.intern(std::string(names_.text(job)).append(mark).append(names_.text(stage)));
}

// Its own stages, then copies of those of other jobs that it reads, and of their inputs.
void World::make_stages(Job& job) {
  for (const StageSpec& spec : job.spec->stages) {
    stage_of(job, *job.spec, spec.name);
  }
  for (const EdgeSpec& edge : job.spec->edges) {
    if (!edge.from.valid()) {
      stage_of(job, *ranges::find(scenario_.jobs, edge.from_job, &JobSpec::name), edge.from_stage);
    }
  }
  std::set<const Stage*> left;
  for (std::size_t s = 0; s < job.stages.size(); ++s) {  // more come while it goes
    Stage& stage = job.stages[s];
    const JobSpec& home = *stage.home;
    const auto to_it = [&](StageIndex to) { return &home.stages[to.index()] == stage.spec; };
    for (const EdgeSpec& edge : home.edges) {
      if (ranges::any_of(edge.to, to_it)) {
        const bool own = edge.from.valid();
        const auto other = ranges::find(scenario_.jobs, edge.from_job, &JobSpec::name);
        Stage& in = stage_of(job, own ? home : *other,
                             own ? home.stages[edge.from.index()].name : edge.from_stage);
        stage.parents.push_back(&in);
        in.read = true;
        in.sink = in.sink && &home != job.spec;
      }
    }
    ranges::sort(stage.parents, {}, &Stage::number);
    left.insert(&stage);
  }
  const auto first = [&left](const Stage* one) {
    return ranges::none_of(one->parents, [&left](Stage* in) { return left.contains(in); });
  };
  while (std::erase_if(left, first) > 0) {
  }
  job.cyclic = !left.empty();
}

// Of a stage of another job a copy, which stands for that of the latest submission (decision 1).
Stage& World::stage_of(Job& job, const JobSpec& home, NameId name) {
  const auto is = [&](const Stage& one) { return one.home == &home && one.spec->name == name; };
  if (const auto found = ranges::find_if(job.stages, is); found != job.stages.end()) {
    return *found;
  }
  const bool own = &home == job.spec;
  Stage& stage = job.stages.emplace_back();
  stage.number = job.stages.size();
  stage.job = &job;
  stage.home = &home;
  stage.spec = &*ranges::find(home.stages, name, &StageSpec::name);
  stage.name = own ? name : composed(home.name, ".", name);
  stage.state = own ? Stage::waiting : Stage::idle;
  if (Job* latest = latest_[&home]; !own && latest != nullptr) {
    stage.original = &*ranges::find(latest->stages, stage.spec, &Stage::spec);
  }
  stage.sink = own;
  stage.read = own && read_by_others(job, name);
  stage.commits = own && stage.spec->commits != Commits::none;
  stage.delay = stage.spec->start_delay;
  for (int p = 0; p < stage.spec->tasks; ++p) {
    stage.partitions.push_back({p});
  }
  return stage;
}

// Whether an edge of the scenario names the stage, or any of the job's.
bool World::read_by_others(const Job& job, NameId stage) const {
  const auto edges = scenario_.jobs | std::views::transform(&JobSpec::edges) | std::views::join;
  return ranges::any_of(edges, [&](const EdgeSpec& edge) {
    return edge.from_job == job.spec->name && (!stage.valid() || edge.from_stage == stage);
  });
}

}  // namespace rehearse::reference
