// Clusters from the command line. A file is read by the reader of scenarios, so that it means the
// same there and here.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/adjust.hpp"
#include "model/support/units.hpp"
#include "traces/input_file.hpp"
#include "traces/scenario_json.hpp"

namespace rehearse::cli {
namespace {

using model::Error;
using model::NameId;
using model::Result;
using model::Scenario;

constexpr std::int64_t executors_max = 1'000'000;

std::unexpected<Error> refuse(std::string what, std::string remedy) {
  return std::unexpected(
      Error{.what = std::move(what), .field = "--cluster", .remedy = std::move(remedy)});
}

// Digits, an x, digits: anything else is the name of a file.
bool is_spec(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  return digits != 0 && digits != std::string_view::npos && text[digits] == 'x' &&
         digits + 1 < text.size() && text[digits + 1] >= '0' && text[digits + 1] <= '9' &&
         text.find('/') == std::string_view::npos;
}

std::size_t resource_index(Scenario& scenario, std::string_view name) {
  const NameId id = scenario.names.intern(name);
  auto& resources = scenario.cluster.resources;
  const auto found = std::ranges::find(resources, id);
  if (found != resources.end()) {
    return static_cast<std::size_t>(found - resources.begin());
  }
  resources.push_back(id);
  for (model::Profile& profile : scenario.cluster.profiles) {
    profile.task.resize(resources.size());
  }
  for (model::ExecutorSpec& executor : scenario.cluster.executors) {
    executor.resources.resize(resources.size());
  }
  return resources.size() - 1;
}

// "4", "0.5" or "8GiB" in 1/1000.
Result<std::int64_t> parse_amount(std::string_view text) {
  if (const auto amount = model::parse_decimal(text, model::milli); amount && *amount >= 0) {
    return *amount;
  }
  const auto bytes = model::parse_bytes(text);
  if (!bytes || *bytes > std::numeric_limits<std::int64_t>::max() / model::milli) {
    return refuse(fmt::format("\"{}\" is no amount", text), "as in 4, 0.5 or 8GiB");
  }
  return *bytes * model::milli;
}

Result<void> add_amounts(Scenario& scenario, model::ExecutorSpec& executor,
                         std::string_view amounts) {
  while (!amounts.empty()) {
    const std::string_view item = amounts.substr(0, amounts.find(','));
    amounts.remove_prefix(std::min(amounts.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return refuse(fmt::format("\"{}\" is no resource=amount", item), "as in 20x4,gpu=1");
    }
    const auto amount = parse_amount(item.substr(equals + 1));
    if (!amount) {
      return std::unexpected(amount.error());
    }
    const std::size_t index = resource_index(scenario, item.substr(0, equals));
    executor.resources.resize(scenario.cluster.resources.size());
    executor.resources[index] = *amount;
  }
  return {};
}

Result<void> set_by_spec(Scenario& scenario, std::string_view spec) {
  const std::size_t x = spec.find('x');
  const auto count = model::parse_decimal(spec.substr(0, x), 1);
  if (!count || *count < 1 || *count > executors_max) {
    return refuse(fmt::format("\"{}\" is no number of executors from 1 to {}", spec.substr(0, x),
                              executors_max),
                  "as in 20x4");
  }
  const std::string_view cpus = spec.substr(x + 1, spec.find(',') - x - 1);
  const std::size_t comma = spec.find(',');
  const std::string rest =
      fmt::format("cpus={}{}", cpus, comma == std::string_view::npos ? "" : spec.substr(comma));
  model::ExecutorSpec executor;
  scenario.cluster.executors.clear();
  if (auto added = add_amounts(scenario, executor, rest); !added) {
    return added;
  }
  executor.resources.resize(scenario.cluster.resources.size());
  for (std::int64_t i = 0; i < *count; ++i) {
    executor.name = scenario.names.intern(fmt::format("e{}", i));
    executor.host = scenario.names.intern(fmt::format("h{}", i));
    scenario.cluster.executors.push_back(executor);
  }
  scenario.cluster.autoscale.reset();
  return {};
}

// The cluster of a file: a scenario, or a cluster alone, which then stands in a scenario of its
// own.
Result<Scenario> read_cluster_file(const std::string& path) {
  const auto text = traces::read_input_file(path);
  if (!text) {
    return std::unexpected(text.error());
  }
  if (text->find("\"rehearse\"") != std::string::npos) {
    return traces::read_scenario(*text, path);
  }
  return traces::read_scenario(
      fmt::format(R"({{"rehearse": 1, "jobs": [{{"name": "job", "stages": [{{"name": "stage", )"
                  R"("tasks": 1, "duration": "1s"}}]}}], "cluster": {}
}})",
                  *text),
      path);
}

// A vector of amounts of `other` in the resources of `scenario`.
model::ResourceVector adopt(Scenario& scenario, const Scenario& other,
                            const model::ResourceVector& amounts) {
  model::ResourceVector result(scenario.cluster.resources.size());
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const std::size_t index =
        resource_index(scenario, other.names.text(other.cluster.resources[i]));
    result.resize(scenario.cluster.resources.size());
    result[index] = amounts[i];
  }
  return result;
}

NameId adopt(Scenario& scenario, const Scenario& other, NameId name) {
  return name.valid() ? scenario.names.intern(other.names.text(name)) : NameId{};
}

model::ProfileId find_profile(const Scenario& scenario, NameId name) {
  const auto& profiles = scenario.cluster.profiles;
  const auto found = std::ranges::find(profiles, name, &model::Profile::name);
  return found == profiles.end()
             ? model::ProfileId{}
             : model::ProfileId(static_cast<std::size_t>(found - profiles.begin()));
}

// An executor of `other`, in the names and resources of `scenario`.
void adopt_executor(Scenario& scenario, const Scenario& other, model::ExecutorSpec& executor) {
  executor.name = adopt(scenario, other, executor.name);
  executor.host = adopt(scenario, other, executor.host);
  executor.rack = adopt(scenario, other, executor.rack);
  if (executor.profile.valid()) {
    const NameId profile = other.cluster.profiles[executor.profile.index()].name;
    executor.profile = find_profile(scenario, adopt(scenario, other, profile));
  }
  executor.resources = adopt(scenario, other, executor.resources);
}

Result<void> set_by_file(Scenario& scenario, const std::string& path) {
  auto other = read_cluster_file(path);
  if (!other) {
    return std::unexpected(std::move(other.error()));
  }
  scenario.cluster.executors.clear();
  for (const model::Profile& profile : other->cluster.profiles) {
    const NameId name = adopt(scenario, *other, profile.name);
    model::ResourceVector task = adopt(scenario, *other, profile.task);
    if (const model::ProfileId known = find_profile(scenario, name); known.valid()) {
      scenario.cluster.profiles[known.index()].task = std::move(task);
    } else {
      scenario.cluster.profiles.push_back({name, std::move(task)});
    }
  }
  for (const model::ExecutorSpec& source : other->cluster.executors) {
    model::ExecutorSpec executor = source;
    adopt_executor(scenario, *other, executor);
    scenario.cluster.executors.push_back(std::move(executor));
  }
  scenario.cluster.autoscale = other->cluster.autoscale;
  if (scenario.cluster.autoscale) {
    adopt_executor(scenario, *other, scenario.cluster.autoscale->executor);
  }
  scenario.cluster.overheads = other->cluster.overheads;
  scenario.cluster.network = other->cluster.network;
  return {};
}

void drop_losses(Scenario& scenario) {
  // Faults of a trace that was read are nothing but executors that leave.
  scenario.faults = {};
}

std::vector<NameId> named_executors(const model::TimedAction& action) {
  if (const auto* lost = std::get_if<model::LoseExecutor>(&action)) {
    return {lost->executor};
  }
  if (const auto* held = std::get_if<model::HoldExecutors>(&action)) {
    return held->executors;
  }
  return {};
}

Result<void> check_faults(const Scenario& scenario) {
  std::set<NameId> known;
  for (const model::ExecutorSpec& executor : scenario.cluster.executors) {
    known.insert(executor.name);
  }
  for (const model::TimedFault& fault : scenario.faults.timed) {
    if (const auto* added = std::get_if<model::AddExecutor>(&fault.action)) {
      known.insert(added->executor.name);
    }
  }
  for (const model::TimedFault& fault : scenario.faults.timed) {
    for (const NameId name : named_executors(fault.action)) {
      if (!known.contains(name)) {
        return refuse(fmt::format("a fault names executor \"{}\", which is not there",
                                  scenario.names.text(name)),
                      "give a cluster with this executor, or keep that of the scenario");
      }
    }
  }
  return {};
}

}  // namespace

Result<void> set_cluster(Scenario& scenario, const ClusterChange& change) {
  auto set = is_spec(change.spec) ? set_by_spec(scenario, change.spec)
                                  : set_by_file(scenario, change.spec);
  if (!set) {
    return set;
  }
  for (model::Profile& profile : scenario.cluster.profiles) {
    profile.task.resize(scenario.cluster.resources.size());
  }
  for (model::ExecutorSpec& executor : scenario.cluster.executors) {
    executor.resources.resize(scenario.cluster.resources.size());
  }
  if (scenario.cluster.autoscale) {
    scenario.cluster.autoscale->executor.resources.resize(scenario.cluster.resources.size());
  }
  if (change.drop_losses) {
    drop_losses(scenario);
  }
  return check_faults(scenario);
}

std::string cluster_text(const Scenario& scenario) {
  const model::Cluster& cluster = scenario.cluster;
  std::int64_t slots = 0;
  for (const model::ExecutorSpec& executor : cluster.executors) {
    const std::size_t profile = executor.profile.valid() ? executor.profile.index() : 0;
    slots += model::slots_of(executor.resources, cluster.profiles[profile].task);
  }
  std::string text =
      fmt::format("{} executor{}, {} slot{}", cluster.executors.size(),
                  cluster.executors.size() == 1 ? "" : "s", slots, slots == 1 ? "" : "s");
  if (cluster.autoscale) {
    text += fmt::format(", autoscale {} to {}", cluster.autoscale->min, cluster.autoscale->max);
  }
  return text;
}

Result<model::JobSpec> adopt_job(Scenario& scenario, const Scenario& other,
                                 const model::JobSpec& job) {
  model::JobSpec result = job;
  const auto name = [&](NameId& id) { id = adopt(scenario, other, id); };
  name(result.name);
  name(result.pool);
  for (model::AfterSpec& after : result.after) {
    name(after.job);
  }
  for (model::StageSpec& stage : result.stages) {
    name(stage.name);
    for (auto& places : stage.prefers) {
      std::ranges::for_each(places, name);
    }
    const NameId wanted =
        adopt(scenario, other, other.cluster.profiles[stage.profile.index()].name);
    stage.profile = find_profile(scenario, wanted);
    if (!stage.profile.valid()) {
      return std::unexpected(
          Error{.what = fmt::format("the trace needs profile \"{}\"", scenario.names.text(wanted)),
                .field = "/cluster/profiles",
                .remedy = "add it"});
    }
  }
  for (model::EdgeSpec& edge : result.edges) {
    name(edge.from_job);
    name(edge.from_stage);
    name(edge.reuse_job);
    name(edge.reuse_stage);
  }
  return result;
}

}  // namespace rehearse::cli
