// D3: groups are the closure over pipelined edges (F2). The graph is built with Boost's connected
// components; here labels spread along edges until nothing changes.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "model/stage_graph.hpp"
#include "tests/support/law.hpp"

using namespace rehearse;

namespace {

struct Dag {
  model::JobSpec job;
  model::EdgesAxis axis{};
};

// Up to 12 stages in any order of the file, up to two readers of each shuffle.
Dag some_dag() {
  const auto count = *rc::gen::inRange<std::uint32_t>(1, 13);
  const auto depth =
      *rc::gen::container<std::vector<std::uint8_t>>(count, rc::gen::inRange<std::uint8_t>(0, 6));
  const auto edges = *rc::gen::arbitrary<std::vector<std::array<std::uint8_t, 4>>>();
  Dag dag;
  dag.axis = *rc::gen::element(model::EdgesAxis::as_marked, model::EdgesAxis::all_regular,
                               model::EdgesAxis::all_pipelined);
  dag.job.stages.resize(count);
  const auto comes_before = [&depth](std::uint32_t left, std::uint32_t right) {
    return std::pair(depth[left], left) < std::pair(depth[right], right);
  };
  for (const auto& [a, b, c, kind] : edges) {
    const std::uint32_t from = a % count;
    model::EdgeSpec edge;
    edge.from = model::StageIndex{from};
    for (const std::uint32_t to : {b % count, c % count}) {
      if (comes_before(from, to)) {
        edge.to.emplace_back(to);
      }
    }
    edge.kind = kind % 2 == 0 ? model::EdgeKind::regular : model::EdgeKind::pipelined;
    if (!edge.to.empty()) {
      dag.job.edges.push_back(std::move(edge));
    }
  }
  return dag;
}

bool starts_together(const model::EdgeSpec& edge, model::EdgesAxis axis) {
  return axis == model::EdgesAxis::all_pipelined ||
         (axis == model::EdgesAxis::as_marked && edge.kind == model::EdgeKind::pipelined);
}

// By stage, the least stage that is reached over pipelined edges in either direction; `apart` and
// those with its label are reached by nobody.
std::vector<std::uint32_t> closure(const Dag& dag, const std::vector<std::uint32_t>& apart = {}) {
  std::vector<std::uint32_t> label(dag.job.stages.size());
  std::iota(label.begin(), label.end(), 0U);
  const auto is_apart = [&apart](std::uint32_t stage) {
    return std::ranges::find(apart, stage) != apart.end();
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const model::EdgeSpec& edge : dag.job.edges) {
      for (const model::StageIndex to : edge.to) {
        std::uint32_t& left = label[edge.from.index()];
        std::uint32_t& right = label[to.index()];
        if (left != right && starts_together(edge, dag.axis) && !is_apart(edge.from.value) &&
            !is_apart(to.value)) {
          left = right = std::min(left, right);
          changed = true;
        }
      }
    }
  }
  return label;
}

model::StageGraph graph_of(const Dag& dag) {
  model::GraphRules rules;
  rules.edges = dag.axis;
  return model::build_stage_graph(dag.job, rules);
}

// By stage, the least stage of its group.
std::vector<std::uint32_t> leaders_of(const model::StageGraph& graph) {
  std::vector<std::uint32_t> leaders;
  for (const std::uint32_t group : graph.group_of) {
    const auto members = graph.group_members.row(group);
    leaders.push_back(members.empty() ? ~0U : members.front());
  }
  return leaders;
}

}  // namespace

TEST_CASE("F2: groups are the closure over pipelined edges, numbered by their first stage") {
  testing::holds({.says = "groups", .cases = 2000}, [] {
    const Dag dag = some_dag();
    const model::StageGraph graph = graph_of(dag);
    const std::vector<std::uint32_t> label = closure(dag);
    std::map<std::uint32_t, std::vector<std::uint32_t>> groups;
    for (std::uint32_t i = 0; i < label.size(); ++i) {
      groups[label[i]].push_back(i);
    }
    RC_ASSERT(graph.group_members.size() == groups.size());
    std::uint32_t number = 0;
    for (const auto& [leader, members] : groups) {
      RC_ASSERT(std::ranges::equal(graph.group_members.row(number), members));
      for (const std::uint32_t member : members) {
        RC_ASSERT(graph.group_of[member] == number);
      }
      ++number;
    }
  });
}

TEST_CASE("A11: a group that is dissolved leaves its stages alone and the others as they were") {
  testing::holds({.says = "without a group", .cases = 2000}, [] {
    const Dag dag = some_dag();
    const model::StageGraph graph = graph_of(dag);
    const auto group =
        static_cast<std::uint32_t>(*rc::gen::inRange<std::size_t>(0, graph.group_members.size()));
    const auto row = graph.group_members.row(group);
    const std::vector<std::uint32_t> apart(row.begin(), row.end());
    const model::StageGraph without = model::without_group(graph, group);
    RC_ASSERT(leaders_of(without) == closure(dag, apart));
    for (std::uint32_t i = 0; i < graph.group_of.size(); ++i) {
      if (std::ranges::find(apart, i) == apart.end()) {
        RC_ASSERT(without.group_of[i] == graph.group_of[i]);
      }
    }
  });
}

TEST_CASE("the law of groups notices edges that do not count") {
  CHECK(testing::is_broken([] {
    Dag dag = some_dag();
    const std::vector<std::uint32_t> label = closure(dag);
    if (!dag.job.edges.empty()) {
      dag.job.edges.pop_back();
    }
    RC_ASSERT(leaders_of(graph_of(dag)) == label);
  }));
}
