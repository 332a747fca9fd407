// The oracle's stages of other jobs (scenario.md 2, decision 1): a reader carries them along as
// stages of its own, which stand for the other job's until that is over without their outputs.
// registry: none (a part of the oracle)
#include <algorithm>

#include "properties/oracle/world.hpp"

namespace rehearse::properties::oracle {

using namespace model;

Foreign World::named(const EdgeSpec& edge) const {
  const auto owner = std::ranges::find(scenario_.jobs, edge.from_job, &JobSpec::name);
  const auto stage = std::ranges::find(owner->stages, edge.from_stage, &StageSpec::name);
  return {static_cast<std::size_t>(owner - scenario_.jobs.begin()),
          static_cast<std::size_t>(stage - owner->stages.begin())};
}

// What stages of other jobs a job reads, and what those read in turn, by first mention.
std::vector<Foreign> World::foreign_of(std::size_t reader) const {
  std::vector<Foreign> list;
  const auto add = [&list](Foreign one) {
    if (std::ranges::find(list, one) == list.end()) {
      list.push_back(one);
    }
  };
  for (const EdgeSpec& edge : scenario_.jobs[reader].edges) {
    if (!edge.from.valid()) {
      add(named(edge));
    }
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Foreign one = list[i];
    for (const EdgeSpec& edge : scenario_.jobs[one.job].edges) {
      if (std::ranges::find(edge.to, StageIndex{one.stage}) != edge.to.end()) {
        add(edge.from.valid() ? Foreign{one.job, edge.from.index()} : named(edge));
      }
    }
  }
  return list;
}

// Is the stage read by other jobs?
bool World::shared(std::size_t job, std::size_t stage) const {
  for (std::size_t reader = 0; reader < scenario_.jobs.size(); ++reader) {
    const std::vector<Foreign> list = foreign_of(reader);
    if (std::ranges::find(list, Foreign{job, stage}) != list.end()) {
      return true;
    }
  }
  return false;
}

// The job with the stages that it may have to run itself: same tasks, durations and inputs, but
// read regularly, no gangs, and their results are the other job's.
void World::carry_along(Job& job) {
  job.own = static_cast<int>(job.spec->stages.size());
  const std::vector<Foreign> foreign = foreign_of(job.origin);
  if (foreign.empty()) {
    return;
  }
  job.expanded = *job.spec;
  job.spec = &job.expanded;
  const auto place = [&](Foreign one) {
    const auto at = std::ranges::find(foreign, one) - foreign.begin();
    return StageIndex{static_cast<std::uint32_t>(job.own + at)};
  };
  for (EdgeSpec& edge : job.expanded.edges) {
    edge.from = edge.from.valid() ? edge.from : place(named(edge));
  }
  for (const Foreign one : foreign) {
    const JobSpec& owner = scenario_.jobs[one.job];
    StageSpec stage = owner.stages[one.stage];
    stage.name = out_.names.intern(std::string(out_.names.text(owner.name)) + "." +
                                   std::string(out_.names.text(stage.name)));
    stage.commits = Commits::none;
    stage.barrier = false;
    job.expanded.stages.push_back(std::move(stage));
    for (const EdgeSpec& edge : owner.edges) {
      if (std::ranges::find(edge.to, StageIndex{one.stage}) == edge.to.end()) {
        continue;
      }
      EdgeSpec input;
      input.from_job = owner.name;
      input.from = place(edge.from.valid() ? Foreign{one.job, edge.from.index()} : named(edge));
      input.to = {place(one)};
      job.expanded.edges.push_back(std::move(input));
    }
  }
}

// Of the latest submission of the other job; one that was rejected, or has not come, has no
// outputs.
void World::stand_in(Job& job) {
  const std::vector<Foreign> foreign = foreign_of(job.origin);
  for (std::size_t i = 0; i < foreign.size(); ++i) {
    Stage& stage = job.stages[static_cast<std::size_t>(job.own) + i];
    stage.dormant = true;
    job.unit(job.own + static_cast<int>(i)).state = UnitState::resting;
    for (Job& other : jobs_) {
      if (&other != &job && other.origin == foreign[i].job) {
        stage.original = other.rejected ? nullptr : &other.stages[foreign[i].stage];
        stage.owner = other.rejected ? nullptr : &other;
      }
    }
  }
}

NameId World::shown(const Job& job, StageIndex from) {
  if (static_cast<int>(from.index()) < job.own) {
    return job.spec->stages[from.index()].name;
  }
  const Foreign one = foreign_of(job.origin)[from.index() - static_cast<std::size_t>(job.own)];
  const JobSpec& owner = scenario_.jobs[one.job];
  return out_.names.intern(std::string(out_.names.text(owner.name)) + "/" +
                           std::string(out_.names.text(owner.stages[one.stage].name)));
}

// The stages of live jobs that stand for this one.
World::Gangs World::stand_ins(const Stage& original) {
  Gangs list;
  for (Job& reader : jobs_) {
    for (int s = reader.own; s < std::ssize(reader.stages) && !reader.over; ++s) {
      if (reader.stages[s].dormant && reader.stages[s].original == &original) {
        list.emplace_back(&reader, s);
      }
    }
  }
  return list;
}

// Readers in other jobs of a stage that became available.
void World::wake_others(const Stage& original) {
  auto announced = std::exchange(announced_, {});
  for (const auto& [reader, s] : stand_ins(original)) {
    wake(*reader, s);
    end_if_done(*reader);
  }
  announced_ = std::move(announced);
}

// The job is over: who waits for what it did not make, or lost, makes that itself.
void World::make_yourselves(const Job& over) {
  for (const Stage& original : over.stages) {
    if (!available(original)) {
      want_others(original);
    }
  }
}

void World::want_others(const Stage& original) {
  for (const auto& [reader, s] : stand_ins(original)) {
    if (!reader->over && awaited(*reader, s)) {
      want(*reader, s);
      end_if_done(*reader);
    }
  }
}

// Does a unit that waits read it?
bool World::awaited(const Job& job, int s) {
  return std::ranges::any_of(Job::row(job.graph.regular_children, s), [&](auto child) {
    return job.unit(child).state == UnitState::waiting;
  });
}

}  // namespace rehearse::properties::oracle
