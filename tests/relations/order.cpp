// How the entries of scenarios are put in another order.
#include "tests/relations/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "model/support/units.hpp"

namespace rehearse::testing {

using model::Scenario;

namespace {

// Keeps the order of equal ones.
void sort_in_place(auto& rows, const auto& key) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(key(rows[i]), i); });
  auto sorted = rows;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted[i] = rows[order[i]];
  }
  rows = std::move(sorted);
}

bool is_foreign(const model::EdgeSpec& edge) { return edge.from_job.valid(); }

}  // namespace

Scenario with_jobs_reversed(Scenario scenario) {
  std::ranges::reverse(scenario.jobs);
  return scenario;
}

Scenario with_faults_reordered(Scenario scenario) {
  sort_in_place(scenario.faults.timed, [](const model::TimedFault& fault) {
    return fault.at ? std::pair(0, -*fault.at) : std::pair(1, model::Instant{0});
  });
  sort_in_place(scenario.faults.tasks, [](const model::TaskFault& fault) {
    return std::pair(~fault.stage.value, -fault.partition);
  });
  return scenario;
}

Scenario with_joins_reordered(Scenario scenario) {
  sort_in_place(scenario.cluster.executors,
                [](const model::ExecutorSpec& executor) { return -executor.joins; });
  return scenario;
}

Scenario with_edges_reversed(Scenario scenario) {
  const auto reads_others = [](const model::JobSpec& job) {
    return std::ranges::any_of(job.edges, is_foreign);
  };
  if (std::ranges::none_of(scenario.jobs, reads_others)) {
    for (model::JobSpec& job : scenario.jobs) {
      std::ranges::reverse(job.edges);
    }
  }
  return scenario;
}

Scenario with_inputs_reversed(Scenario scenario, std::span<const model::Instant> instants) {
  constexpr int places = 64;           // of a round, more than there ever are
  constexpr std::int64_t last = 1000;  // of those still to be placed
  for (const model::Instant at : instants) {
    const std::string tie = "tie@" + model::format_duration(at);
    scenario.choices.emplace_back(tie, last);
    for (int place = 2; place <= places; ++place) {
      scenario.choices.emplace_back(fmt::format("{}#{}", tie, place), last);
    }
  }
  return scenario;
}

}  // namespace rehearse::testing
