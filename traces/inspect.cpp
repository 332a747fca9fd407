// registry: none (a summary of any trace)
// See inspect.hpp.
#include "traces/inspect.hpp"

#include <utility>

#include "traces/marking.hpp"

namespace rehearse::traces {

model::Result<TraceSummary> inspect(const model::Trace& trace, Unit by) {
  TraceSummary summary;
  summary.format = trace.format;
  summary.version = trace.version;
  const model::TraceCounts& counts = trace.counts;
  summary.jobs = counts.jobs;
  summary.stages = counts.stages;
  summary.tasks = counts.tasks;
  summary.executors = counts.executors;
  summary.unfinished = counts.unfinished;
  summary.failed_tasks = counts.failed_tasks;
  summary.aliased_stages = counts.aliased_stages;
  summary.edges = counts.edges;
  summary.task_ends = counts.task_ends;
  summary.warnings = trace.load.warnings;
  ToScenarioOptions options;
  options.by = by;
  auto units = to_scenario(trace, options);
  if (!units) {
    return std::unexpected(std::move(units.error()));
  }
  const model::Scenario& scenario = units->scenario;
  const std::vector<std::int64_t> slots = slots_as_group(scenario);
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) {
    summary.units.push_back({std::string(scenario.names.text(scenario.jobs[j].name)),
                             static_cast<std::int64_t>(scenario.jobs[j].stages.size()), slots[j]});
  }
  return summary;
}

}  // namespace rehearse::traces
