// The oracle's chapters 2, 3 and 6: what a job consists of, what it is rejected for, what it asks
// for and what there could be (A3, A5, A9, A10).
// registry: none (a part of the oracle)
#include <algorithm>
#include <numeric>

#include "model/resources.hpp"
#include "model/validate.hpp"
#include "properties/oracle/world.hpp"

namespace rehearse::properties::oracle {

using namespace model;

bool World::submit(std::size_t origin, int copy, int resubmission) {
  Job& job = jobs_.emplace_back();
  job.spec = &scenario_.jobs[origin];
  job.origin = origin;
  job.copy = copy;
  job.resubmission = resubmission;
  job.resubmits_left = job.spec->resubmit - resubmission;
  std::string name(out_.names.text(job.spec->name));
  name += copy > 0 ? std::to_string(copy) : "";
  name += resubmission > 0 ? "#" + std::to_string(resubmission) : "";
  job.name = out_.names.intern(name);
  job.rank = {now_, order_of(origin, copy, resubmission)};
  carry_along(job);
  queue_.push_back(&job);
  std::ranges::sort(queue_, {}, [](const Job* queued) { return queued->rank; });
  JobSubmitted line{.job = job.name,
                    .pool = job.spec->pool,
                    .priority = job.spec->priority,
                    .stages = {},
                    .edges = {}};
  for (const StageSpec& stage :
       std::span(job.spec->stages).first(static_cast<std::size_t>(job.own))) {
    line.stages.push_back({stage.name, stage.tasks, cluster_.profiles[stage.profile.index()].name,
                           stage.barrier, stage.commits});
  }
  for (const EdgeSpec& edge : job.spec->edges) {
    for (const StageIndex to : edge.to) {
      if (static_cast<int>(to.index()) < job.own) {
        line.edges.push_back({shown(job, edge.from), job.spec->stages[to.index()].name,
                              effective_kind(edge, config_.edges)});
      }
    }
  }
  say(std::move(line), "C12");
  form(job);
  JobRejected rejected{
      .job = job.name, .code = {}, .codes = {}, .detail = {}, .need = {}, .have = {}};
  rejected.codes = codes(job, rejected);
  if (!rejected.codes.empty()) {  // F9, F13
    rejected.code = rejected.codes.front();
    say(std::move(rejected), "F13");
    job.rejected = true;
    job.units.clear();
    job_over(job, JobOutcome::failed);
    return true;
  }
  say(JobStarted{job.name}, "C12");
  for (const Unit& unit : job.units) {
    if (!unit.gang) {
      continue;
    }
    GroupFormed formed{job.name, job.name_of(unit), {}, {}};
    for (const int stage : unit.stages) {
      formed.stages.push_back(job.stages[stage].spec->name);
    }
    formed.demand = named(demand(job, unit), demand(job, unit));
    say(std::move(formed), "F2");
  }
  settle(job);
  end_if_done(job);
  return true;
}

// F2, F11, A12: units by their first stage.
void World::form(Job& job) {
  GraphRules rules = graph_rules(config_);
  rules.own_stages = static_cast<std::uint32_t>(job.own);
  job.graph = build_stage_graph(*job.spec, rules);
  for (std::size_t s = 0; s < job.spec->stages.size(); ++s) {
    Stage& stage = job.stages.emplace_back();
    stage.spec = &job.spec->stages[s];
    stage.output.resize(static_cast<std::size_t>(stage.spec->tasks), nobody);
    stage.result.resize(stage.output.size(), false);
    stage.shared = static_cast<int>(s) < job.own && shared(job.origin, s);
    stage.read = stage.shared || !job.graph.regular_children.row(s).empty();
    job.unit_of.push_back(static_cast<int>(job.graph.group_of[s]));
  }
  for (std::size_t g = 0; g < job.graph.group_members.size(); ++g) {
    Unit& unit = job.units.emplace_back();
    for (const std::uint32_t stage : job.graph.group_members.row(g)) {
      unit.stages.push_back(static_cast<int>(stage));
    }
    unit.gang = unit.group() || job.stages[unit.stages.front()].spec->barrier;
  }
  stand_in(job);
}

// Every code that applies, in the order of the axis `reject` (F13).
std::vector<Code> World::codes(Job& job, JobRejected& line) {
  std::set<Code> found;
  const ValidationContext context{&out_.names, cluster_.autoscale.has_value()};
  for (const Rejection& rejection : validate(*job.spec, job.graph, config_, context)) {
    found.insert(rejection.code);
  }
  if (reused(job) && rejects(config_, Code::shared_producer)) {
    found.insert(Code::shared_producer);
  }
  const Counts idle = idle_slots();
  const bool none = std::ranges::none_of(
      executors_, [this](const Executor& e) { return counts_for_capacity(e); });
  for (const Unit& unit : job.units) {
    if (unit.stages.front() >= job.own) {
      continue;  // if it ever runs
    }
    const Counts need = asked(job, unit);
    const bool empty = std::ranges::none_of(need, [](std::int64_t n) { return n > 0; });
    // A9: in `spark` a group is checked once, on slots of the default profile.
    const bool once = config_.admission.shortfall == Shortfall::rejection && unit.group();
    const std::int64_t sum = std::accumulate(need.begin(), need.end(), std::int64_t{0});
    const std::int64_t left = once ? unclaimed().front() : 0;
    const bool never = !empty && !once && !can_ever_fit(job, unit);
    const bool not_now = once && sum > left;
    if (never || not_now) {
      Counts demanded = need;
      Counts have = idle;
      if (not_now) {
        demanded.assign(need.size(), 0);
        demanded.front() = sum;
        have.front() = left;
      }
      line.need = named(demanded, demanded);
      line.have = named(have, demanded);
      if (none) {
        found.insert(Code::no_executors);
      }
      if (!none || not_now) {
        found.insert(Code::insufficient_slots);
      }
      break;
    }
  }
  std::vector<Code> ordered;
  std::ranges::copy_if(config_.reject, std::back_inserter(ordered),
                       [&](Code code) { return found.contains(code); });
  return ordered;
}

// F7: the shuffle belongs to a job whose latest submission lives (decision 1).
bool World::reused(const Job& job) const {
  return std::ranges::any_of(job.spec->edges, [&](const EdgeSpec& edge) {
    const Job* latest = nullptr;
    for (const Job& other : jobs_) {
      const bool named = other.spec->name == edge.reuse_job || other.name == edge.reuse_job;
      latest = named && &other != &job ? &other : latest;
    }
    return latest != nullptr && !latest->over &&
           effective_kind(edge, config_.edges) == EdgeKind::pipelined;
  });
}

// A9: slots less running and enqueued tasks of other work; of attempts that are over nothing counts
// any more, whatever still runs of them (case SPK-I-042, SS-3.4).
Counts World::unclaimed() const {
  Counts slots(cluster_.profiles.size(), 0);
  for (const Executor& e : executors_) {
    for (std::size_t p = 0; p < slots.size(); ++p) {
      slots[p] += room(e, ProfileId{p}, ResourceVector(e.used.size(), 0));
    }
  }
  for (const Job& job : jobs_) {
    for (const Stage& stage : job.stages) {
      if (const Attempt* open = stage.open()) {
        slots[stage.spec->profile.index()] -= std::ssize(open->fresh) + std::ssize(open->retries);
      }
    }
  }
  for (const Try& task : tries_) {
    const Stage& stage = task.job->stages[task.stage];
    slots[stage.spec->profile.index()] -= !task.over && stage.attempts[task.attempt].open ? 1 : 0;
  }
  for (std::int64_t& count : slots) {
    count = std::max<std::int64_t>(count, 0);
  }
  return slots;
}

// A3, A10.
Counts World::demand(const Job& job, const Unit& unit) const {
  Counts counts(cluster_.profiles.size(), 0);
  for (const int s : unit.stages) {
    const StageSpec& stage = *job.stages[s].spec;
    std::int64_t& count = counts[stage.profile.index()];
    count = config_.accounting == Accounting::sum ? count + stage.tasks
                                                  : std::max<std::int64_t>(count, stage.tasks);
  }
  return counts;
}

// A5: a singleton that is no gang demands one slot if it has tasks.
Counts World::asked(const Job& job, const Unit& unit) const {
  Counts counts = demand(job, unit);
  if (!unit.gang) {
    for (std::int64_t& count : counts) {
      count = std::min<std::int64_t>(count, 1);
    }
  }
  return counts;
}

// A5: what live and due executors could offer when idle.
Counts World::idle_slots() const {
  Counts counts(cluster_.profiles.size(), 0);
  for (const Executor& e : executors_) {
    for (std::size_t p = 0; p < counts.size(); ++p) {
      if (counts_for_capacity(e) && e.serves(ProfileId{p})) {
        counts[p] += slots_of(e.spec.resources, cluster_.profiles[p].task);
      }
    }
  }
  return counts;
}

bool World::can_ever_fit(const Job& job, const Unit& unit) const {
  const Counts need = asked(job, unit);
  const Counts idle = idle_slots();
  for (std::size_t p = 0; p < need.size(); ++p) {
    if (need[p] > idle[p]) {
      return false;
    }
  }
  return !unit.gang || trial(job, unit, true).has_value();
}

PerProfile World::named(const Counts& counts, const Counts& need) const {
  PerProfile list;
  for (std::size_t p = 0; p < counts.size(); ++p) {
    if (need[p] > 0) {
      list.push_back({cluster_.profiles[p].name, counts[p]});
    }
  }
  return list;
}

}  // namespace rehearse::properties::oracle
