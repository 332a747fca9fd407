// Builds the stage graph: neighbour rows by counting, cycles and components by Boost.
#include "model/stage_graph.hpp"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/pending/disjoint_sets.hpp>
#include <boost/property_map/property_map.hpp>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "model/support/check.hpp"

namespace rehearse::model {

namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;
using Graph = boost::compressed_sparse_row_graph<boost::directedS>;

// Most pairs are in order as they are written.
void put_in_order(std::vector<Pair>& pairs) {
  if (std::ranges::adjacent_find(pairs, std::ranges::greater_equal{}) == pairs.end()) {
    return;
  }
  std::ranges::sort(pairs);
  const auto tail = std::ranges::unique(pairs);
  pairs.erase(tail.begin(), tail.end());
}

// Rows of `value` by `key`, first and second or the reverse; of pairs in order they ascend.
Rows rows_by(const std::vector<Pair>& pairs, std::size_t count, std::uint32_t Pair::* key,
             std::uint32_t Pair::* value) {
  if (count == 0) {
    return {};
  }
  // While rows are filled each start stands one place further on.
  Rows rows{.list = std::vector<std::uint32_t>(count + 1 + pairs.size())};
  std::vector<std::uint32_t>& list = rows.list;
  for (const Pair& pair : pairs) {
    ++list[pair.*key + 1];
  }
  auto next = static_cast<std::uint32_t>(count + 1);
  for (std::size_t i = 1; i <= count; ++i) {
    next += std::exchange(list[i], next);
  }
  list[0] = static_cast<std::uint32_t>(count + 1);
  for (const Pair& pair : pairs) {
    list[list[pair.*key + 1]++] = pair.*value;
  }
  return rows;
}

// Rows of second by first.
Rows rows_of(std::vector<Pair> pairs, std::size_t count) {
  put_in_order(pairs);
  return rows_by(pairs, count, &Pair::first, &Pair::second);
}

struct Neighbours {
  Rows parents;
  Rows children;
};
Neighbours neighbours_of(std::vector<Pair>& pairs, std::size_t count) {
  put_in_order(pairs);
  return {rows_by(pairs, count, &Pair::second, &Pair::first),
          rows_by(pairs, count, &Pair::first, &Pair::second)};
}

// Every pair leads on: as most graphs are, and none of them has a cycle.
bool ascends(const std::vector<Pair>& pairs) {
  return std::ranges::all_of(pairs, [](const Pair& pair) { return pair.first < pair.second; });
}

std::vector<std::uint32_t> file_order(std::size_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

// Kahn's algorithm with a heap, so that ties go to the smallest index. Empty if there is a cycle.
std::vector<std::uint32_t> topological_order(const std::vector<Pair>& pairs, std::size_t count) {
  const Rows children = rows_of(pairs, count);
  std::vector<std::uint32_t> parents_left(count, 0);
  for (const std::uint32_t child : children.values()) {
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

struct Order {
  std::vector<std::uint32_t> order;  // empty: there is a cycle
  std::vector<std::uint32_t> cycle;
};
// Of a graph of two kinds of pairs.
Order order_or_cycle(const std::vector<Pair>& some, const std::vector<Pair>& others,
                     std::size_t count) {
  if (ascends(some) && ascends(others)) {
    return {file_order(count), {}};
  }
  std::vector<Pair> all = some;
  all.insert(all.end(), others.begin(), others.end());
  Order found{topological_order(all, count), {}};
  if (found.order.empty()) {
    found.cycle = find_cycle(all, count);
  }
  return found;
}

// Connected components over the pairs, each numbered as one of its stages.
std::vector<std::uint32_t> components(const std::vector<Pair>& pairs, std::size_t count) {
  std::vector<std::uint32_t> component = file_order(count);
  if (pairs.empty()) {
    return component;
  }
  std::vector<std::uint32_t> rank(count, 0);
  const boost::typed_identity_property_map<std::uint32_t> index;
  boost::disjoint_sets sets(boost::make_iterator_property_map(rank.begin(), index),
                            boost::make_iterator_property_map(component.begin(), index));
  for (const auto& [from, to] : pairs) {
    sets.union_set(from, to);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    component[i] = sets.find_set(i);
  }
  return component;
}

// Pairs of numbers that the ends of the pairs have and that differ.
std::vector<Pair> contracted(const std::vector<Pair>& pairs,
                             const std::vector<std::uint32_t>& number) {
  std::vector<Pair> between;
  for (const auto& [from, to] : pairs) {
    if (number[from] != number[to]) {
      between.emplace_back(number[from], number[to]);
    }
  }
  return between;
}

// Components that a cycle of regular edges joins are one (F11 region).
std::vector<std::uint32_t> regions(const std::vector<Pair>& regular,
                                   std::vector<std::uint32_t> component) {
  const std::vector<Pair> between = contracted(regular, component);
  const Graph graph(boost::edges_are_unsorted_multi_pass, between.begin(), between.end(),
                    component.size());
  std::vector<std::uint32_t> strong(component.size());
  boost::strong_components(
      graph, boost::make_iterator_property_map(strong.begin(), get(boost::vertex_index, graph)));
  for (std::uint32_t& number : component) {
    number = strong[number];
  }
  return component;
}

// Each component is cut along its topological order into runs of at most `slots` tasks, so that no
// cut makes a cycle; what a cut separates within a run is a group of its own (F11 bubble).
std::vector<std::uint32_t> bubbles(const JobSpec& job, const std::vector<Pair>& pipelined,
                                   const std::vector<std::uint32_t>& order, std::int64_t slots) {
  const std::vector<std::uint32_t> component = components(pipelined, job.stages.size());
  std::vector<std::int64_t> used(job.stages.size(), 0);     // by component, of its present run
  std::vector<std::uint32_t> run_of(job.stages.size(), 0);  // by component
  std::vector<std::uint32_t> run(job.stages.size(), 0);     // by stage
  std::uint32_t runs = 0;
  for (const std::uint32_t stage : order) {
    const std::uint32_t c = component[stage];
    const std::int64_t tasks = job.stages[stage].tasks;
    if (used[c] == 0 || used[c] + tasks > slots) {
      run_of[c] = runs++;
      used[c] = 0;
    }
    used[c] += std::max<std::int64_t>(tasks, 1);
    run[stage] = run_of[c];
  }
  std::vector<Pair> inside;
  for (const Pair& pair : pipelined) {
    if (run[pair.first] == run[pair.second]) {
      inside.push_back(pair);
    }
  }
  return components(inside, job.stages.size());
}

// By stage a number that members of one group share.
std::vector<std::uint32_t> grouped(const JobSpec& job, const GraphRules& rules,
                                   const std::vector<Pair>& regular,
                                   const std::vector<Pair>& pipelined,
                                   const std::vector<std::uint32_t>& order) {
  const std::size_t count = job.stages.size();
  switch (rules.grouping) {
    case Grouping::component:
      return components(pipelined, count);
    case Grouping::region:
      // Of a job that is refused for a cycle of stages nothing is merged: its edges are as written.
      if (order.empty()) {
        return components(pipelined, count);
      }
      return regions(regular, components(pipelined, count));
    case Grouping::job: {
      std::vector<std::uint32_t> together = file_order(count);
      if (!pipelined.empty()) {
        const std::size_t own = std::min<std::size_t>(rules.own_stages.value_or(count), count);
        std::fill_n(together.begin(), own, 0U);
      }
      return together;
    }
    case Grouping::stage:
      return file_order(count);
    case Grouping::bubble:
      return bubbles(job, pipelined, order, rules.bubble_slots);
  }
  RH_CHECK(false, static_cast<std::int64_t>(rules.grouping));
}

struct Groups {
  std::vector<std::uint32_t> of;  // by stage
  Rows members;
};
Groups form_groups(std::vector<std::uint32_t> shared) {
  std::vector<std::uint32_t> number(shared.size(), Id<void>::none_value);
  std::vector<Pair> members;
  members.reserve(shared.size());
  std::uint32_t groups = 0;
  for (std::uint32_t i = 0; i < shared.size(); ++i) {
    std::uint32_t& group = number[shared[i]];
    if (group == Id<void>::none_value) {
      group = groups++;
    }
    shared[i] = group;
    members.emplace_back(group, i);
  }
  return {std::move(shared), rows_by(members, groups, &Pair::first, &Pair::second)};
}

// Moves what `belongs` from one list to the other; rows_of puts lists in order.
void move_pairs(std::vector<Pair>& from, std::vector<Pair>& to, const auto& belongs) {
  const auto rest = std::ranges::partition(from, [&](const Pair& p) { return !belongs(p); });
  to.insert(to.end(), rest.begin(), rest.end());
  from.erase(rest.begin(), rest.end());
}

}  // namespace

EdgeKind effective_kind(const EdgeSpec& edge, EdgesAxis axis) {
  if (!edge.from.valid() || edge.from_job.valid() || axis == EdgesAxis::all_regular) {
    return EdgeKind::regular;  // F7: a stage of another job is read regularly
  }
  return axis == EdgesAxis::all_pipelined ? EdgeKind::pipelined : edge.kind;
}

GraphRules graph_rules(const SchedulerConfig& config) {
  return {config.edges, config.grouping, config.mixed, config.bubble_slots, std::nullopt};
}

StageGraph without_group(const StageGraph& graph, std::uint32_t group) {
  const std::size_t count = graph.group_of.size();
  std::vector<Pair> regular;
  std::vector<Pair> pipelined;
  for (std::uint32_t from = 0; from < count; ++from) {
    for (const std::uint32_t to : graph.regular_children.row(from)) {
      regular.emplace_back(from, to);
    }
    for (const std::uint32_t to : graph.pipelined_children.row(from)) {
      (graph.group_of[from] == group ? regular : pipelined).emplace_back(from, to);
    }
  }
  StageGraph result = graph;
  std::vector<Pair> members;
  auto groups = static_cast<std::uint32_t>(graph.group_members.size());
  for (std::uint32_t stage = 0; stage < count; ++stage) {
    if (graph.group_of[stage] == group) {
      // The first member keeps the group's number, so that numbers stay dense.
      const bool first = graph.group_members.row(group).front() == stage;
      result.group_of[stage] = first ? group : groups++;
    }
    members.emplace_back(result.group_of[stage], stage);
  }
  result.group_members = rows_of(std::move(members), groups);
  Neighbours by_regular = neighbours_of(regular, count);
  Neighbours by_pipelined = neighbours_of(pipelined, count);
  result.regular_parents = std::move(by_regular.parents);
  result.regular_children = std::move(by_regular.children);
  result.pipelined_parents = std::move(by_pipelined.parents);
  result.pipelined_children = std::move(by_pipelined.children);
  return result;
}

StageGraph build_stage_graph(const JobSpec& job, const GraphRules& rules) {
  const std::size_t count = job.stages.size();
  std::vector<Pair> regular;
  std::vector<Pair> pipelined;
  regular.reserve(job.edges.size());
  pipelined.reserve(job.edges.size());
  for (const EdgeSpec& edge : job.edges) {
    for (const StageIndex to : edge.to) {
      RH_CHECK(to.index() < count, to.value);
      if (!edge.from.valid()) {
        continue;
      }
      const Pair pair{edge.from.value, to.value};
      const EdgeKind kind = effective_kind(edge, rules.edges);
      (kind == EdgeKind::pipelined ? pipelined : regular).push_back(pair);
    }
  }
  auto [order, cycle] = order_or_cycle(regular, pipelined, count);
  Groups groups = form_groups(grouped(job, rules, regular, pipelined, order));
  const auto together = [&groups](const Pair& pair) {
    return groups.of[pair.first] == groups.of[pair.second];
  };
  const bool whole = rules.grouping == Grouping::job || rules.grouping == Grouping::region;
  if (whole && rules.mixed == Mixed::allowed) {
    move_pairs(regular, pipelined, together);
  }
  move_pairs(pipelined, regular, [&together](const Pair& pair) { return !together(pair); });
  std::vector<std::uint32_t> group_cycle;
  const bool groups_ascend = std::ranges::all_of(
      regular, [&groups](const Pair& p) { return groups.of[p.first] <= groups.of[p.second]; });
  if (cycle.empty() && !groups_ascend) {
    const std::vector<Pair> between = contracted(regular, groups.of);
    group_cycle = order_or_cycle(between, {}, groups.members.size()).cycle;
  }
  Neighbours by_regular = neighbours_of(regular, count);
  Neighbours by_pipelined = neighbours_of(pipelined, count);
  return {.regular_parents = std::move(by_regular.parents),
          .regular_children = std::move(by_regular.children),
          .pipelined_parents = std::move(by_pipelined.parents),
          .pipelined_children = std::move(by_pipelined.children),
          .topological = std::move(order),
          .cycle = std::move(cycle),
          .group_of = std::move(groups.of),
          .group_members = std::move(groups.members),
          .group_cycle = std::move(group_cycle)};
}

}  // namespace rehearse::model
