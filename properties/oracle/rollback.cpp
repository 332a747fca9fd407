// The oracle's roll-back (SS-1.10, decision 5): what was computed from the outputs of an
// indeterminate stage that has to run again is void with them.
// registry: none (a part of the oracle)
#include <algorithm>

#include "properties/oracle/world.hpp"

namespace rehearse::properties::oracle {

using namespace model;

namespace {

int number_in(const Job& owner, const Stage& stage) {
  return static_cast<int>(stage.spec - owner.spec->stages.data());
}

}  // namespace

// The stage, and what reads it directly or not, in all live jobs; of groups all members (X10).
std::map<Job*, std::set<int>> World::read_by(Job& from, int start) {
  std::map<Job*, std::set<int>> reach;
  Gangs open{{&from, start}};
  while (!open.empty()) {
    const auto [job, s] = open.back();
    open.pop_back();
    if (!reach[job].insert(s).second) {
      continue;
    }
    for (const int member : job->unit(s).stages) {
      if (!job->over) {  // what stands for them elsewhere is no group
        open.emplace_back(job, member);
      }
    }
    for (const std::uint32_t child : Job::row(job->graph.regular_children, s)) {
      open.emplace_back(job, static_cast<int>(child));
    }
    std::ranges::copy(stand_ins(job->stages[s]), std::back_inserter(open));
  }
  return reach;
}

// Who cannot be undone ends; then all others are, producers first, and what ran comes back later.
void World::roll_back(Job& from, int start) {
  const std::map<Job*, std::set<int>> reach = read_by(from, start);
  for (Job* job : queue_) {
    const bool gave_result =
        reach.contains(job) && std::ranges::any_of(reach.at(job), [&](int s) {
          const Table<bool>& result = job->stages[s].result;
          return sink(*job, s) && std::ranges::find(result, true) != result.end();
        });
    if (!job->over && gave_result) {
      end_job(*job, JobOutcome::failed, Code::indeterminate_result);
    }
  }
  if (from.over && from.keeps_outputs()) {
    drop_outputs(from, start);
    from.stages[start].undone = static_cast<int>(from.stages[start].attempts.size());
  }
  const Unit* unit_of_start = &from.unit(start);
  Gangs stopped;
  for (Job* job : queue_) {
    std::set<int> left = reach.contains(job) ? reach.at(job) : std::set<int>{};
    while (!left.empty() && !job->over) {  // a unit of which no input is left, by topological order
      const auto first = std::ranges::find_if(job->graph.topological, [&](std::uint32_t s) {
        return left.contains(static_cast<int>(s)) &&
               std::ranges::all_of(job->unit(s).stages, [&](int member) {
                 return std::ranges::none_of(
                     Job::row(job->graph.regular_parents, member),
                     [&](auto parent) { return left.contains(static_cast<int>(parent)); });
               });
      });
      Unit& unit = job->unit(*first);
      for (const int member : unit.stages) {
        left.erase(member);
      }
      undo(*job, unit, job == &from && unit_of_start == &unit, stopped);
    }
  }
  for (const auto& [job, s] : stopped) {
    if (!job->over) {
      retry_attempt(*job, s, config_.failure.resubmit_delay);
    }
  }
}

// SS-1.5: one that is submitted again with outputs missing, if only by who stands in for it; X10,
// X15: a gang that is wanted back.
void World::roll_back_again(Job& job, const Unit& unit) {
  const auto changes = [](const Stage& stage) {
    const auto attempts = static_cast<int>(stage.attempts.size());
    return stage.spec->indeterminate && stage.read && attempts > 0 && stage.undone != attempts;
  };
  for (const int s : unit.stages) {
    const Stage& stage = job.stages[s];
    if (stage.dormant && stage.original != nullptr && changes(*stage.original)) {
      return roll_back(*stage.owner, number_in(*stage.owner, *stage.original));
    }
    if (!stage.dormant && changes(stage)) {
      return roll_back(job, s);
    }
  }
}

// A fetch failure that names an indeterminate stage.
void World::roll_back_named(Job& reader, int reading, int s) {
  const bool last = !reader.unit(reading).gang &&
                    reader.stages[reading].failed_in_row + 1 >= config_.failure.max_stage_attempts;
  if (s == nobody || &reader.unit(s) == &reader.unit(reading) || last) {
    return;  // SS-1.8: a job that ends for its attempts rolls nothing back
  }
  const Stage& named = reader.stages[s];
  if (named.spec->indeterminate && named.dormant && named.original != nullptr) {
    roll_back(*named.owner, number_in(*named.owner, *named.original));
  } else if (named.spec->indeterminate && !named.dormant) {
    roll_back(reader, s);
  }
}

// Once per attempt.
void World::undo(Job& job, Unit& unit, bool source, Gangs& stopped) {
  const int first = unit.stages.front();
  const auto attempts = static_cast<int>(job.stages[first].attempts.size());
  const bool runs = unit.gang && unit.state == UnitState::running;
  if (job.stages[first].dormant && job.stages[first].original != nullptr) {
    Job& owner = *job.stages[first].owner;
    if (owner.over) {  // else it is undone there
      drop_outputs(owner, number_in(owner, *job.stages[first].original));
    }
  }
  if (job.stages[first].dormant || job.stages[first].undone == attempts) {
    return;
  }
  for (const int s : unit.stages) {
    job.stages[s].undone = attempts;
  }
  if (runs) {
    return fail_gang(job, unit, Code::fetch_failed);
  }
  if (job.stages[first].open() != nullptr) {
    kill_all(job, first, TaskReason::superseded);
    complete(job, first, StageStatus::failed, StageReason::rolled_back, "SS-1.10");
    unit.state = UnitState::delayed;
    stopped.emplace_back(&job, first);
  }
  for (const int s : unit.stages) {
    Stage& stage = job.stages[s];
    stage.there = stage.there && (stage.spec->tasks > 0 || !stage.read);
    drop_outputs(job, s);
  }
  for (const int s : unit.stages) {  // X15
    if (!available(job.stages[s])) {
      unready(job, s);
      if (!source && !job.over && awaited(job, s)) {
        want(job, s);
      }
    }
  }
}

}  // namespace rehearse::properties::oracle
