// The DAG of one job after the axis `edges` is applied: neighbours, order, groups (F2, F4, F6, F11
// component). Immutable; shared by everything that runs the job. All indices are StageIndex values
// (file order). Boost.Graph does the algorithms, inside stage_graph.cpp only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/ids.hpp"
#include "model/job.hpp"
#include "model/scheduler_config.hpp"

namespace rehearse::model {

// Compressed rows, each ascending and without duplicates. All in one list: where each row starts in
// it and where the last one ends, then the rows one behind the other; empty: no rows.
struct Rows {
  std::vector<std::uint32_t> list;

  [[nodiscard]] std::size_t size() const { return list.empty() ? 0 : list.front() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> row(std::size_t i) const {
    return {list.data() + list[i], list.data() + list[i + 1]};
  }
  // Of all rows.
  [[nodiscard]] std::span<const std::uint32_t> values() const {
    return std::span(list).subspan(list.empty() ? 0 : list.front());
  }
  bool operator==(const Rows&) const = default;
};

struct StageGraph {
  Rows regular_parents;   // by consumer; own stages only
  Rows regular_children;  // by producer
  Rows pipelined_parents;
  Rows pipelined_children;
  std::vector<std::uint32_t> topological;  // all stages, smallest file index first; empty: a cycle
  std::vector<std::uint32_t> cycle;        // the stages of one cycle in order, else empty

  std::vector<std::uint32_t> group_of;     // stage -> group; groups numbered by their first stage
  Rows group_members;                      // group -> stages, ascending
  std::vector<std::uint32_t> group_cycle;  // F6: groups of one cycle over regular edges, else empty

  bool operator==(const StageGraph&) const = default;
};

// The kind of an edge after the axis `edges`; an edge from another job's stage is regular.
[[nodiscard]] EdgeKind effective_kind(const EdgeSpec& edge, EdgesAxis axis);

// What decides which stages start together (F2, F11).
struct GraphRules {
  EdgesAxis edges = EdgesAxis::as_marked;
  Grouping grouping = Grouping::component;
  Mixed mixed = Mixed::allowed;
  std::int64_t bubble_slots = 0;  // of bubble: tasks that one group may have
  // Stages behind these stand for stages of other jobs and are read regularly; absent: all.
  std::optional<std::uint32_t> own_stages;
};
[[nodiscard]] GraphRules graph_rules(const SchedulerConfig& config);

// An edge of the result is pipelined when its ends start together: a marked edge that a grouping
// cut (stage, bubble) is regular, a regular one inside a job or region where `mixed` allows it acts
// as pipelined.
[[nodiscard]] StageGraph build_stage_graph(const JobSpec& job, const GraphRules& rules);

// The graph with the edges inside one group regular and its members groups of their own (A11).
// Other groups keep their numbers; the new ones come behind them.
[[nodiscard]] StageGraph without_group(const StageGraph& graph, std::uint32_t group);

}  // namespace rehearse::model
