// Phases by one walk in topological order.
#include "model/phases.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace rehearse::model {

namespace {

using Stages = std::set<std::uint32_t>;

struct Upstream {
  Stages all;
  Stages lazy;  // that a join further down may keep waiting
  bool is_lazy = true;
};

class Phases {
 public:
  Phases(const JobSpec& job, const StageGraph& graph)
      : job_(job), graph_(graph), upstream_(job.stages.size()), before_(job.stages.size()) {}

  Rows rows() {
    for (const std::uint32_t stage : graph_.topological) {
      visit(stage);
    }
    Rows rows;
    auto end = static_cast<std::uint32_t>(before_.size() + 1);
    rows.list.push_back(end);
    for (const Stages& before : before_) {
      end += static_cast<std::uint32_t>(before.size());
      rows.list.push_back(end);
    }
    for (const Stages& before : before_) {
      rows.list.insert(rows.list.end(), before.begin(), before.end());
    }
    return rows;
  }

 private:
  // Pipelined producers in the order of the in-edges.
  [[nodiscard]] std::vector<std::uint32_t> producers(std::uint32_t stage) const {
    std::vector<std::uint32_t> list;
    const auto parents = graph_.pipelined_parents.row(stage);
    for (const EdgeSpec& edge : job_.edges) {
      const bool reads = edge.from.valid() &&
                         std::ranges::find(edge.to, StageIndex{stage}) != edge.to.end() &&
                         std::ranges::binary_search(parents, edge.from.value);
      if (reads && std::ranges::find(list, edge.from.value) == list.end()) {
        list.push_back(edge.from.value);
      }
    }
    return list;
  }

  void visit(std::uint32_t stage) {
    const Operator op = job_.stages[stage].op;
    const bool joins = op == Operator::build_probe;
    Upstream& own = upstream_[stage];
    for (const std::uint32_t producer : producers(stage)) {
      const Upstream& input = upstream_[producer];
      Stages lazy = input.lazy;
      if (input.is_lazy) {
        lazy.insert(producer);
      }
      if (joins) {
        own.lazy.clear();  // only those of the last in-edge can be kept waiting further down
        std::erase_if(lazy, [&own](std::uint32_t other) { return own.all.contains(other); });
        order(own.all, lazy);
      }
      own.lazy.insert(lazy.begin(), lazy.end());
      own.all.insert(input.all.begin(), input.all.end());
      own.all.insert(producer);
    }
    own.is_lazy = !joins && op != Operator::dam;
    if (op == Operator::dam) {
      own.lazy.clear();
    }
  }

  void order(const Stages& first, const Stages& then) {
    for (const std::uint32_t later : then) {
      for (const std::uint32_t earlier : first) {
        if (!comes_before(later, earlier)) {
          before_[later].insert(earlier);
        }
      }
    }
  }

  // Must `first` be launched before `then`, directly or not?
  [[nodiscard]] bool comes_before(std::uint32_t first, std::uint32_t then) const {
    Stages seen{then};
    std::vector<std::uint32_t> open{then};
    while (!open.empty()) {
      const std::uint32_t stage = open.back();
      open.pop_back();
      if (stage == first) {
        return true;
      }
      for (const std::uint32_t earlier : before_[stage]) {
        if (seen.insert(earlier).second) {
          open.push_back(earlier);
        }
      }
    }
    return false;
  }

  const JobSpec& job_;
  const StageGraph& graph_;
  std::vector<Upstream> upstream_;
  std::vector<Stages> before_;
};

}  // namespace

Rows phases_before(const JobSpec& job, const StageGraph& graph) {
  return Phases(job, graph).rows();
}

}  // namespace rehearse::model
