// Groups are what the axis `grouping` says, computed here from the edges of job_submitted by an
// algorithm of its own (F2, F11), once per job, at the end of the instant that started it. Cutting
// to a slot budget (`bubble`) has no one right answer and is not judged.
// registry: CLOSURE
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class UnionFind {
 public:
  explicit UnionFind(std::size_t n) : parent_(n) {
    std::iota(parent_.begin(), parent_.end(), Index{0});
  }
  Index find(Index x) {
    while (parent_[x] != x) {
      parent_[x] = parent_[parent_[x]];
      x = parent_[x];
    }
    return x;
  }
  // The smaller index stays the root, so a root is the first stage of its set in file order.
  void join(Index a, Index b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<Index> parent_;
};

// F11 region: components that a cycle over regular edges joins are merged. Repeats until no
// component reaches itself through another one.
void merge_cycles(const JobBody& body, UnionFind& sets) {
  const std::size_t n = body.stages.size();
  std::vector<std::vector<Index>> next(n);
  for (const Edge& edge : body.edges_in) {
    next[edge.from].push_back(edge.to);
  }
  // reaches[a][b]: a path of any edges from stage a leads to stage b, inside components freely.
  const auto reachable_from = [&](Index root) {
    std::vector<bool> seen(n, false);
    std::vector<Index> open;
    const auto enter = [&](Index stage) {
      const Index set = sets.find(stage);
      if (seen[set]) {
        return;
      }
      seen[set] = true;
      for (Index other = 0; other < n; ++other) {
        if (sets.find(other) == set) {
          open.push_back(other);
        }
      }
    };
    enter(root);
    while (!open.empty()) {
      const Index stage = open.back();
      open.pop_back();
      for (const Index to : next[stage]) {
        enter(to);
      }
    }
    return seen;
  };
  std::vector<std::vector<bool>> reaches;
  for (Index stage = 0; stage < n; ++stage) {
    reaches.push_back(reachable_from(stage));
  }
  UnionFind merged = sets;
  for (Index a = 0; a < n; ++a) {
    for (Index b = 0; b < a; ++b) {
      if (reaches[a][sets.find(b)] && reaches[b][sets.find(a)]) {
        merged.join(a, b);
      }
    }
  }
  sets = merged;
}

UnionFind expected_groups(const JobBody& body, model::Grouping grouping) {
  UnionFind sets(body.stages.size());
  bool pipelined = false;
  for (const Edge& edge : body.edges_in) {
    if (edge.kind == model::EdgeKind::pipelined && grouping != model::Grouping::stage) {
      sets.join(edge.from, edge.to);
      pipelined = true;
    }
  }
  if (grouping == model::Grouping::region && pipelined) {
    merge_cycles(body, sets);
  }
  if (grouping == model::Grouping::job && pipelined) {
    for (Index stage = 1; stage < body.stages.size(); ++stage) {
      sets.join(0, stage);
    }
  }
  return sets;
}

class Closure final : public MonitorOf<Closure> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::JobSubmitted, model::GroupFormed, model::EdgesChanged>();
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (const auto* formed = event.as<model::GroupFormed>()) {
      check_formed(*formed, seen);
    } else if (const auto* changed = event.as<model::EdgesChanged>()) {
      for (const model::EdgeItem& edge : changed->edges) {
        if (edge.kind != model::EdgeKind::regular) {
          found(fmt::format("{}/{}: a group that falls back keeps {} to {} pipelined (A11)",
                            track().text(changed->job), track().text(changed->stage),
                            track().text(edge.from), track().text(edge.to)));
        }
      }
    }
  }

  void instant_over() override {
    if (!judges()) {
      return;
    }
    for (const Index index : track().started_jobs()) {
      if (track().job(index).body != nullptr) {
        check_job(track().job(index));
      }
    }
  }

  [[nodiscard]] bool judged(RunOver /*over*/) const override { return judges(); }

 private:
  [[nodiscard]] bool judges() const {
    return track().rules().config.grouping != model::Grouping::bubble;
  }

  void check_formed(const model::GroupFormed& event, const Seen& seen) {
    const auto name = [&] {
      return fmt::format("{}/{}", track().text(event.job), track().text(event.stage));
    };
    const auto& started = track().started_jobs();
    if (std::find(started.begin(), started.end(), seen.job_index) == started.end()) {
      found(fmt::format("{} was formed after its job had started (F2)", name()));
    }
    std::map<model::NameId, std::int64_t> demand;
    for (const model::NameId member : event.stages) {
      for (const Stage& stage : seen.job->body->stages) {
        if (stage.name == member && stage.tasks > 0 && stage.profile != no_index) {
          std::int64_t& slots = demand[track().slots().profile_name(stage.profile)];
          slots = track().shares_slots(event.stages.size()) ? std::max(slots, stage.tasks)
                                                            : slots + stage.tasks;
        }
      }
    }
    for (const model::ProfileCount& item : event.demand) {
      demand[item.profile] -= item.n;
    }
    for (const auto& [profile, difference] : demand) {
      if (difference != 0) {
        found(fmt::format("{} claims a demand of {} that is not that of its tasks (A3, A10)",
                          name(), track().text(profile)));
      }
    }
  }

  void check_job(const Job& job) {
    const JobBody& body = *job.body;
    UnionFind sets = expected_groups(body, track().rules().config.grouping);
    std::vector<std::int64_t> size(body.stages.size(), 0);
    for (Index stage = 0; stage < body.stages.size(); ++stage) {
      ++size[sets.find(stage)];
    }
    std::vector<bool> formed(body.stages.size(), false);
    for (const Group& group : body.groups) {
      check_group(job, group, sets, size);
      formed[group.first] = true;
    }
    for (Index stage = 0; stage < body.stages.size(); ++stage) {
      const bool gang = size[stage] > 1 || body.stages[stage].barrier;
      if (sets.find(stage) == stage && gang && !formed[stage]) {
        found(fmt::format("no group was formed of the {} stages around {} (F2)", size[stage],
                          track().name(job, body.stages[stage])));
      }
    }
  }

  void check_group(const Job& job, const Group& group, UnionFind& sets,
                   const std::vector<std::int64_t>& size) {
    const Index root = sets.find(group.first);
    const bool same = std::all_of(group.members.begin(), group.members.end(),
                                  [&](Index member) { return sets.find(member) == root; }) &&
                      static_cast<std::int64_t>(group.members.size()) == size[root];
    if (!same) {
      found(fmt::format("{} was formed of {} stages, its component has {} (F2)",
                        track().name(job, group), group.members.size(), size[root]));
    } else if (root != group.first) {
      found(fmt::format("{} is not named by its first stage {} (F2)", track().name(job, group),
                        track().name(job, job.body->stages[root])));
    } else if (size[root] == 1 && !job.body->stages[root].barrier) {
      found(fmt::format("{} is one stage and no barrier stage, yet a group (F2)",
                        track().name(job, group)));
    }
  }
};

}  // namespace

std::unique_ptr<Monitor> make_closure(const Track& track) {
  return std::make_unique<Closure>(track);
}

}  // namespace rehearse::properties
