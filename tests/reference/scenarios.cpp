#include "tests/reference/scenarios.hpp"

#include <algorithm>
#include <map>

#include "model/config_support.hpp"
#include "traces/input_file.hpp"
#include "traces/registry.hpp"
#include "traces/scenario_json.hpp"
#include "traces/to_scenario.hpp"

namespace rehearse::reference {

namespace {

// The specification gives racks to executors; one rack for all of a host, that of its first.
void one_rack_per_host(model::Scenario& scenario) {
  std::map<model::NameId, model::NameId> racks;
  const auto settle = [&racks](model::ExecutorSpec& executor) {
    executor.rack = racks.emplace(executor.host, executor.rack).first->second;
  };
  std::ranges::for_each(scenario.cluster.executors, settle);
  for (model::TimedFault& fault : scenario.faults.timed) {
    if (auto* add = std::get_if<model::AddExecutor>(&fault.action)) {
      settle(add->executor);
    }
  }
}

// As `replay` makes it of a log.
model::Result<model::Scenario> scenario_of_log(const std::string& path) {
  const auto trace =
      traces::load_trace(path, {.strict = false, .lossy = true, .partial = true, .stream = {}});
  if (!trace) {
    return std::unexpected(trace.error());
  }
  auto converted = traces::to_scenario(*trace);
  if (!converted) {
    return std::unexpected(converted.error());
  }
  converted->scenario.scheduler = model::preset(model::Dialect::sequential);
  converted->scenario.scheduler.outputs_survive_executor = converted->keeps_outputs;
  return std::move(converted->scenario);
}

}  // namespace

bool narrow(model::Scenario& scenario) {
  model::SchedulerConfig& config = scenario.scheduler;
  config.dialect = model::Dialect::sequential;
  config.edges = model::EdgesAxis::all_regular;
  config.completion = model::Completion::immediate;
  config.placement = model::Placement::spread;
  config.admission.queue = model::QueueOrder::fifo;
  config.locality_wait = 0;
  config.failure.incomplete = model::Incomplete::rerun;
  config.slots = model::SlotsAxis::exclusive;
  config.start = model::Start::eager;
  config.max_partitions_per_task.reset();
  config.speculation.reset();
  config.reject = model::preset(model::Dialect::sequential).reject;
  model::complete_reject_list(config);
  one_rack_per_host(scenario);
  scenario.ties_shuffled = false;
  scenario.choices.clear();
  const auto of_autoscaler = [&scenario](const model::TimedFault& fault) {
    const auto* loss = std::get_if<model::LoseExecutor>(&fault.action);
    return loss != nullptr && scenario.names.text(loss->executor).starts_with("auto");
  };
  const bool named = scenario.cluster.autoscale.has_value() &&
                     std::ranges::any_of(scenario.faults.timed, of_autoscaler);
  scenario.cluster.autoscale.reset();
  const auto barrier = [](const model::JobSpec& job) {
    return std::ranges::any_of(job.stages, &model::StageSpec::barrier);
  };
  return !named && !scenario.workload && std::ranges::none_of(scenario.jobs, barrier) &&
         !model::unsupported(scenario);
}

model::Result<model::Scenario> load(const std::string& path) {
  const auto format = traces::detect_format(path);
  if (!format) {
    return std::unexpected(format.error());
  }
  if (*format != "scenario") {
    return scenario_of_log(path);
  }
  const auto text = traces::read_input_file(path);
  return text ? traces::read_scenario(*text, path)
              : model::Result<model::Scenario>(std::unexpected(text.error()));
}

}  // namespace rehearse::reference
