// registry: none (what fits, for marking)
// See capacity.hpp.
#include "traces/capacity.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "model/stage_graph.hpp"

namespace rehearse::traces {
namespace {

bool serves(const model::ExecutorSpec& executor, model::ProfileId profile) {
  return !executor.profile.valid() || executor.profile == profile;
}

// Largest share of a task in the cluster's total of a resource, as a fraction to be compared.
struct Share {
  std::int64_t amount = 0;
  std::int64_t total = 1;

  // Exact: products of two int64 do not fit one, so the quotients are compared first.
  [[nodiscard]] bool greater_than(const Share& other) const {
    std::int64_t a = amount;
    std::int64_t b = total;
    std::int64_t c = other.amount;
    std::int64_t d = other.total;
    for (bool swapped = false;; swapped = !swapped) {
      const std::int64_t left = a / b;
      const std::int64_t right = c / d;
      if (left != right) {
        return (left > right) != swapped;
      }
      a %= b;
      c %= d;
      if (a == 0 || c == 0) {
        return a != c && ((c == 0) != swapped);
      }
      std::swap(a, b);
      std::swap(c, d);
    }
  }
};

}  // namespace

IdleCapacity::IdleCapacity(const model::Cluster& cluster, const model::FaultPlan& faults,
                           const std::vector<model::ExecutorEnd>& ends, model::Instant at)
    : cluster_(cluster), slots_(cluster.profiles.size(), 0) {
  std::set<model::NameId> gone;
  std::vector<const model::ExecutorSpec*> added;
  for (const model::TimedFault& fault : faults.timed) {
    if (const auto* lost = std::get_if<model::LoseExecutor>(&fault.action);
        lost != nullptr && fault.at && *fault.at <= at) {
      gone.insert(lost->executor);
    } else if (const auto* joined = std::get_if<model::AddExecutor>(&fault.action)) {
      added.push_back(&joined->executor);
    }
  }
  for (std::size_t i = 0; i < cluster.executors.size(); ++i) {
    const bool left = i < ends.size() && ends[i].leaves && *ends[i].leaves <= at;
    if (!left && !gone.contains(cluster.executors[i].name)) {
      executors_.push_back(&cluster.executors[i]);
    }
  }
  executors_.insert(executors_.end(), added.begin(), added.end());
  for (const model::ExecutorSpec* executor : executors_) {
    unbound_ = unbound_ || !executor->profile.valid();
    for (std::size_t p = 0; p < slots_.size(); ++p) {
      if (serves(*executor, model::ProfileId(p))) {
        slots_[p] += model::slots_of(executor->resources, cluster.profiles[p].task);
      }
    }
  }
}

std::int64_t IdleCapacity::slots(model::ProfileId profile) const { return slots_[profile.index()]; }

bool IdleCapacity::fits(const std::vector<StageDemand>& stages) const {
  std::map<model::ProfileId, std::int64_t> demand;
  for (const StageDemand& stage : stages) {
    if (stage.tasks > 0) {
      demand[stage.profile] += stage.tasks;
    }
  }
  for (const auto& [profile, tasks] : demand) {
    if (tasks > slots(profile)) {
      return false;
    }
  }
  return demand.size() <= 1 || !unbound_ || fits_by_trial(stages);
}

// Stages by dominant share, descending; each task to the executor with most free slots of its
// profile, ties to the first.
bool IdleCapacity::fits_by_trial(const std::vector<StageDemand>& stages) const {
  model::ResourceVector totals(cluster_.resources.size(), 0);
  std::vector<model::ResourceVector> free;
  for (const model::ExecutorSpec* executor : executors_) {
    free.push_back(executor->resources);
    for (std::size_t r = 0; r < totals.size(); ++r) {
      totals[r] += executor->resources[r];
    }
  }
  const auto share_of = [&](const StageDemand& stage) {
    Share most;
    const model::ResourceVector& task = cluster_.profiles[stage.profile.index()].task;
    for (std::size_t r = 0; r < totals.size(); ++r) {
      const Share share{task[r], std::max<std::int64_t>(1, totals[r])};
      most = share.greater_than(most) ? share : most;
    }
    return most;
  };
  std::vector<std::pair<Share, std::size_t>> order;
  order.reserve(stages.size());
  for (std::size_t s = 0; s < stages.size(); ++s) {
    order.emplace_back(share_of(stages[s]), s);
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    if (a.first.greater_than(b.first)) {
      return true;
    }
    return !b.first.greater_than(a.first) && a.second < b.second;
  });
  for (const auto& [share, index] : order) {
    const StageDemand& stage = stages[index];
    const model::ResourceVector& task = cluster_.profiles[stage.profile.index()].task;
    for (std::int64_t placed = 0; placed < stage.tasks; ++placed) {
      std::size_t best = executors_.size();
      std::int64_t best_slots = 0;
      for (std::size_t e = 0; e < executors_.size(); ++e) {
        const std::int64_t room =
            serves(*executors_[e], stage.profile) ? model::slots_of(free[e], task) : 0;
        if (room > best_slots) {
          best = e;
          best_slots = room;
        }
      }
      if (best == executors_.size()) {
        return false;
      }
      for (std::size_t r = 0; r < task.size(); ++r) {
        free[best][r] -= task[r];
      }
    }
  }
  return true;
}

void find_infeasible(model::Trace& trace) {
  // Executors that left count: the question is whether any moment of the trace had the room.
  const IdleCapacity capacity(trace.cluster, {}, {}, 0);
  for (const model::TraceJob& job : trace.jobs) {
    const std::string prefix = std::string(trace.names.text(job.spec.name)) + "/";
    for (const model::StageSpec& stage : job.spec.stages) {
      if (stage.tasks > 0 && capacity.slots(stage.profile) == 0) {
        trace.load.infeasible.push_back(prefix + std::string(trace.names.text(stage.name)));
      }
    }
    const bool marked =
        std::any_of(job.spec.edges.begin(), job.spec.edges.end(),
                    [](const auto& e) { return e.kind == model::EdgeKind::pipelined; });
    if (!marked) {
      continue;
    }
    const model::StageGraph graph = model::build_stage_graph(job.spec, {});
    for (std::size_t g = 0; g < graph.group_members.size(); ++g) {
      const auto members = graph.group_members.row(g);
      std::vector<StageDemand> demand;
      for (const std::uint32_t member : members) {
        demand.push_back({job.spec.stages[member].profile, job.spec.stages[member].tasks});
      }
      if (members.size() > 1 && !capacity.fits(demand)) {
        trace.load.infeasible.push_back(
            "group of " + prefix +
            std::string(trace.names.text(job.spec.stages[members.front()].name)));
      }
    }
  }
}

}  // namespace rehearse::traces
