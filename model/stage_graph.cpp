// Builds the stage graph: neighbour rows by counting, cycles and components by Boost.Graph.
#include "model/stage_graph.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/connected_components.hpp>
#include <boost/graph/strong_components.hpp>
#include <functional>
#include <queue>
#include <utility>

#include "model/support/check.hpp"

namespace rehearse::model {

namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;
using Graph = boost::compressed_sparse_row_graph<boost::directedS>;

// Rows of second by first.
Rows rows_of(std::vector<Pair> pairs, std::size_t count) {
  std::ranges::sort(pairs);
  const auto tail = std::ranges::unique(pairs);
  pairs.erase(tail.begin(), tail.end());
  Rows rows;
  rows.offsets.assign(count + 1, 0);
  rows.values.reserve(pairs.size());
  for (const auto& [from, to] : pairs) {
    ++rows.offsets[from + 1];
    rows.values.push_back(to);
  }
  for (std::size_t i = 0; i < count; ++i) {
    rows.offsets[i + 1] += rows.offsets[i];
  }
  return rows;
}

std::vector<Pair> reversed(const std::vector<Pair>& pairs) {
  std::vector<Pair> turned;
  turned.reserve(pairs.size());
  for (const auto& [from, to] : pairs) {
    turned.emplace_back(to, from);
  }
  return turned;
}

// Kahn's algorithm with a heap, so that ties go to the smallest index. Empty if there is a cycle.
std::vector<std::uint32_t> topological_order(const std::vector<Pair>& pairs, std::size_t count) {
  const Rows children = rows_of(pairs, count);
  std::vector<std::uint32_t> parents_left(count, 0);
  for (const std::uint32_t child : children.values) {
    ++parents_left[child];
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (parents_left[i] == 0) {
      ready.push(i);
    }
  }
  std::vector<std::uint32_t> order;
  order.reserve(count);
  while (!ready.empty()) {
    const std::uint32_t stage = ready.top();
    ready.pop();
    order.push_back(stage);
    for (const std::uint32_t child : children.row(stage)) {
      if (--parents_left[child] == 0) {
        ready.push(child);
      }
    }
  }
  if (order.size() != count) {
    order.clear();
  }
  return order;
}

// One cycle of a graph that has one: walk inside a strong component until a node repeats.
std::vector<std::uint32_t> find_cycle(const std::vector<Pair>& pairs, std::size_t count) {
  const Graph graph(boost::edges_are_unsorted_multi_pass, pairs.begin(), pairs.end(), count);
  std::vector<std::uint32_t> component(count);
  boost::strong_components(
      graph, boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, graph)));
  const Rows children = rows_of(pairs, count);
  std::vector<std::uint32_t> size(count, 0);
  for (const std::uint32_t c : component) {
    ++size[c];
  }
  std::uint32_t start = Id<void>::none_value;
  for (std::uint32_t i = 0; i < count && start == Id<void>::none_value; ++i) {
    const auto row = children.row(i);
    const bool self = std::ranges::find(row, i) != row.end();
    if (size[component[i]] > 1 || self) {
      start = i;
    }
  }
  RH_CHECK(start != Id<void>::none_value);
  std::vector<std::uint32_t> path;
  std::vector<bool> seen(count, false);
  std::uint32_t at = start;
  while (!seen[at]) {
    seen[at] = true;
    path.push_back(at);
    for (const std::uint32_t child : children.row(at)) {
      if (component[child] == component[start]) {
        at = child;
        break;
      }
    }
  }
  path.erase(path.begin(), std::ranges::find(path, at));
  return path;
}

void form_groups(const std::vector<Pair>& pipelined, std::size_t count, StageGraph& graph) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> undirected(count);
  for (const auto& [from, to] : pipelined) {
    boost::add_edge(from, to, undirected);
  }
  std::vector<std::uint32_t> component(count);
  boost::connected_components(undirected, component.data());
  std::vector<std::uint32_t> number(count, Id<void>::none_value);
  std::vector<Pair> members;
  std::uint32_t groups = 0;
  graph.group_of.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t& group = number[component[i]];
    if (group == Id<void>::none_value) {
      group = groups++;
    }
    graph.group_of[i] = group;
    members.emplace_back(group, i);
  }
  graph.group_members = rows_of(std::move(members), groups);
}

}  // namespace

EdgeKind effective_kind(const EdgeSpec& edge, EdgesAxis axis) {
  if (!edge.from.valid() || edge.from_job.valid() || axis == EdgesAxis::all_regular) {
    return EdgeKind::regular;  // F7: a stage of another job is read regularly
  }
  return axis == EdgesAxis::all_pipelined ? EdgeKind::pipelined : edge.kind;
}

StageGraph build_stage_graph(const JobSpec& job, EdgesAxis axis) {
  const std::size_t count = job.stages.size();
  std::vector<Pair> regular;
  std::vector<Pair> pipelined;
  std::vector<Pair> all;
  for (const EdgeSpec& edge : job.edges) {
    for (const StageIndex to : edge.to) {
      RH_CHECK(to.index() < count, to.value);
      if (!edge.from.valid()) {
        continue;
      }
      const Pair pair{edge.from.value, to.value};
      (effective_kind(edge, axis) == EdgeKind::pipelined ? pipelined : regular).push_back(pair);
      all.push_back(pair);
    }
  }
  StageGraph graph;
  graph.regular_children = rows_of(regular, count);
  graph.regular_parents = rows_of(reversed(regular), count);
  graph.pipelined_children = rows_of(pipelined, count);
  graph.pipelined_parents = rows_of(reversed(pipelined), count);
  graph.topological = topological_order(all, count);
  if (graph.topological.empty() && count > 0) {
    graph.cycle = find_cycle(all, count);
  }
  form_groups(pipelined, count, graph);
  std::vector<Pair> between;
  for (const auto& [from, to] : regular) {
    if (graph.group_of[from] != graph.group_of[to]) {
      between.emplace_back(graph.group_of[from], graph.group_of[to]);
    }
  }
  const std::size_t groups = graph.group_members.size();
  if (graph.cycle.empty() && topological_order(between, groups).empty() && groups > 0) {
    graph.group_cycle = find_cycle(between, groups);
  }
  return graph;
}

}  // namespace rehearse::model
