// registry: none (a part of the scenario reader)
// `cluster` of a scenario file: profiles, executors in both forms, delays, network, autoscaling.
#include <fmt/format.h>

#include <algorithm>

#include "model/support/units.hpp"
#include "traces/scenario_parts.hpp"

namespace rehearse::traces {

using model::ExecutorSpec;
using model::NameId;

namespace {

constexpr std::int64_t executors_max = 1'000'000;
constexpr std::string_view number_mark = "{i}";

// Adds `amount` of a resource; a resource gets its id at its first amount above 0.
void add_amount(ScenarioReading& reading, model::ResourceVector& amounts, std::string_view name,
                std::int64_t amount) {
  if (amount == 0) {
    return;
  }
  const NameId id = reading.intern(name);
  auto& resources = reading.scenario.cluster.resources;
  const auto found = std::find(resources.begin(), resources.end(), id);
  const auto index = static_cast<std::size_t>(found - resources.begin());
  if (found == resources.end()) {
    resources.push_back(id);
  }
  amounts.resize(std::max(amounts.size(), index + 1));
  amounts[index] = amount;
}

std::int64_t read_amount(const Node& node) {
  if (!node.is(JsonKind::string)) {
    return read_decimal(node, 0, model::milli, 0);
  }
  const std::int64_t bytes = read_bytes(node, 0);
  if (bytes > std::numeric_limits<std::int64_t>::max() / model::milli) {
    node.fail("the amount is too large", "at most 8 PiB of one resource");
    return 0;
  }
  return bytes * model::milli;
}

model::ResourceVector read_amounts(ScenarioReading& reading, const Node& node) {
  model::ResourceVector amounts;
  for (const auto& [name, amount] : node.members("an object of resources")) {
    if (name.empty() || name.find_first_of("/#") != std::string::npos) {
      amount.fail(fmt::format("\"{}\" is no name of a resource", name),
                  "names are not empty and have no / and no #");
    }
    add_amount(reading, amounts, name, read_amount(amount));
  }
  return amounts;
}

model::ProfileId find_profile(const model::Scenario& scenario, std::string_view name) {
  const auto& profiles = scenario.cluster.profiles;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    if (scenario.names.text(profiles[i].name) == name) {
      return model::ProfileId{i};
    }
  }
  return {};
}

void read_profiles(ScenarioReading& reading, const Node& node) {
  auto& profiles = reading.scenario.cluster.profiles;
  if (node.given()) {
    for (const auto& [name, profile] : node.members("profiles")) {
      if (name.empty() || name.find_first_of("/#") != std::string::npos) {
        profile.fail(fmt::format("\"{}\" is no name of a profile", name),
                     "names are not empty and have no / and no #");
      }
      if (check_keys(profile, "a profile", {{"task"}}) && require(profile.member("task"), "task")) {
        const NameId id = reading.intern(name);
        profiles.push_back({id, read_amounts(reading, profile.member("task"))});
      }
    }
  }
  if (!find_profile(reading.scenario, "default").valid()) {
    model::Profile profile;
    profile.name = reading.intern("default");
    add_amount(reading, profile.task, "cpus", model::milli);
    profiles.push_back(std::move(profile));
  }
}

std::string numbered(std::string text, const std::string& number) {
  for (std::size_t at = text.find(number_mark); at != std::string::npos;
       at = text.find(number_mark, at + number.size())) {
    text.replace(at, number_mark.size(), number);
  }
  return text;
}

// A name that may hold {i}, which must have a count to stand for.
std::string read_template(const Node& node, std::string_view what, bool counted) {
  std::string name = read_name(node, what);
  if (!counted && name.find(number_mark) != std::string::npos) {
    node.fail("{i} stands for the number of an executor with a count",
              "add \"count\", or write the name out");
  }
  return name;
}

// One object of the list: its names still templates, its count 0 when it has none.
struct ExecutorTemplate {
  std::string name;
  std::string host;  // empty = "h-" and the executor's name
  std::string rack;
  std::int64_t count = 0;
  ExecutorSpec common;
};

ExecutorTemplate read_executor(ScenarioReading& reading, const Node& node, bool count_allowed) {
  ExecutorTemplate executor;
  if (count_allowed ? !check_keys(node, "an executor",
                                  {{"name", "count", "profile", "resources", "host", "rack",
                                    "speed", "joins"},
                                   {"launch", "memory_pool", "disk_space"}})
                    : !check_keys(node, "an added executor",
                                  {{"name", "profile", "resources", "host", "rack", "speed"},
                                   {"launch", "memory_pool", "disk_space"}})) {
    return executor;
  }
  executor.count = read_integer(node.member("count"), 0, {.min = 1, .max = executors_max});
  const bool counted = node.member("count").given();
  executor.name = read_template(node.member("name"), "an executor's name", counted);
  executor.common.profile = read_profile(reading, node.member("profile"));
  if (require(node.member("resources"), "resources")) {
    executor.common.resources = read_amounts(reading, node.member("resources"));
  }
  if (const Node host = node.member("host"); host.given()) {
    executor.host = read_template(host, "a host's name", counted);
  }
  if (const Node rack = node.member("rack"); rack.given()) {
    executor.rack = read_template(rack, "a rack's name", counted);
  }
  executor.common.speed_milli = read_decimal(node.member("speed"), model::milli, model::milli, 1);
  executor.common.joins = read_duration(node.member("joins"), 0);
  return executor;
}

ExecutorSpec expand(ScenarioReading& reading, const ExecutorTemplate& executor, std::int64_t i) {
  const std::string number = executor.count > 0 ? std::to_string(i) : std::string();
  ExecutorSpec spec = executor.common;
  const bool marked = executor.name.find(number_mark) != std::string::npos;
  const std::string name = marked ? numbered(executor.name, number) : executor.name + number;
  spec.name = reading.intern(name);
  spec.host = reading.intern(executor.host.empty() ? "h-" + name : numbered(executor.host, number));
  if (!executor.rack.empty()) {
    spec.rack = reading.intern(numbered(executor.rack, number));
  }
  return spec;
}

// Executor names so far, sorted by id, to find one that is given twice.
class ExecutorNames {
 public:
  bool add(NameId name) {
    if (name.index() >= seen_.size()) {
      seen_.resize(name.index() + 1);
    }
    const bool fresh = !seen_[name.index()];
    seen_[name.index()] = true;
    return fresh;
  }

 private:
  std::vector<bool> seen_;
};

void read_executor_list(ScenarioReading& reading, const Node& node) {
  auto& executors = reading.scenario.cluster.executors;
  ExecutorNames names;
  for (const Node& item : node.items("executors")) {
    const ExecutorTemplate executor = read_executor(reading, item, true);
    if (item.failed()) {
      return;
    }
    const std::int64_t count = std::max<std::int64_t>(executor.count, 1);
    if (count + static_cast<std::int64_t>(executors.size()) > executors_max) {
      item.fail("too many executors", fmt::format("at most {}", executors_max));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      executors.push_back(expand(reading, executor, i));
      if (!names.add(executors.back().name)) {
        item.member("name").fail(
            fmt::format("two executors have the name \"{}\"", reading.text(executors.back().name)),
            "names of executors are unique");
        return;
      }
    }
  }
}

// {"executors": 2, "cpus": 4}
void read_short_form(ScenarioReading& reading, const Node& node) {
  const std::int64_t count =
      read_integer(node.member("executors"), 0, {.min = 0, .max = executors_max});
  const Node cpus = node.member("cpus");
  if (!require(cpus, "cpus")) {
    return;
  }
  ExecutorTemplate executor{.name = "e", .host = "h{i}", .rack = "", .count = count, .common = {}};
  add_amount(reading, executor.common.resources, "cpus", read_decimal(cpus, 0, model::milli, 0));
  executor.common.profile = find_profile(reading.scenario, "default");
  for (std::int64_t i = 0; i < count && !node.failed(); ++i) {
    reading.scenario.cluster.executors.push_back(expand(reading, executor, i));
  }
}

void read_network(ScenarioReading& reading, const Node& node) {
  if (node.given() && check_keys(node, "network", {{"latency", "bandwidth", "disk"}})) {
    model::Network& network = reading.scenario.cluster.network;
    network.latency = read_duration(node.member("latency"), network.latency);
    network.bandwidth = read_rate(node.member("bandwidth"), network.bandwidth);
    network.disk = read_rate(node.member("disk"), network.disk);
  }
}

void read_overheads(ScenarioReading& reading, const Node& node) {
  if (!node.given() ||
      !check_keys(node, "overheads", {{"launch", "status", "kill", "loss_detection"}})) {
    return;
  }
  model::Overheads& overheads = reading.scenario.cluster.overheads;
  overheads.launch = read_distribution(node.member("launch"), true);
  overheads.status = read_distribution(node.member("status"), true);
  overheads.kill = read_distribution(node.member("kill"), true);
  overheads.loss_detection = read_distribution(node.member("loss_detection"), true);
}

// auto0, auto1, ... are those of the autoscaler.
bool is_autoscaler_name(std::string_view name) {
  constexpr std::string_view prefix = "auto";
  return name.starts_with(prefix) && name.size() > prefix.size() &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

void check_autoscaler_names(const ScenarioReading& reading, const Node& node) {
  for (const ExecutorSpec& executor : reading.scenario.cluster.executors) {
    if (is_autoscaler_name(reading.text(executor.name))) {
      node.fail(fmt::format("executor \"{}\" has a name of the autoscaler's executors",
                            reading.text(executor.name)),
                "give it another name");
      return;
    }
  }
}

void read_autoscale(ScenarioReading& reading, const Node& node) {
  if (!node.given() || node.is(JsonKind::null) ||
      !check_keys(node, "autoscale", {{"min", "max", "backlog", "idle", "startup", "executor"}}) ||
      !require(node.member("max"), "max")) {
    return;
  }
  model::Autoscale autoscale;
  const auto bound = [&](std::string_view key) {
    return static_cast<std::int32_t>(
        read_integer(node.member(key), 0, {.min = 0, .max = executors_max}));
  };
  autoscale.min = bound("min");
  autoscale.max = bound("max");
  if (autoscale.min > autoscale.max) {
    node.member("min").fail("min is above max", "at most max");
  }
  check_autoscaler_names(reading, node);
  autoscale.backlog = read_duration(node.member("backlog"), autoscale.backlog);
  autoscale.idle = read_duration(node.member("idle"), autoscale.idle);
  const Node startup = node.member("startup");
  constexpr model::Duration startup_default = 20 * model::second;
  autoscale.startup = startup.given() ? read_distribution(startup, true)
                                      : model::fixed_distribution(startup_default);
  autoscale.executor.name = reading.intern("auto");
  const Node executor = node.member("executor");
  const auto& listed = reading.scenario.cluster.executors;
  if (executor.given()) {
    if (check_keys(executor, "the executor of autoscale", {{"resources", "profile", "host"}}) &&
        require(executor.member("resources"), "resources")) {
      autoscale.executor.resources = read_amounts(reading, executor.member("resources"));
      autoscale.executor.profile = read_profile(reading, executor.member("profile"));
      if (const Node host = executor.member("host"); host.given()) {
        autoscale.executor.host = reading.intern(read_template(host, "a host's name", true));
      }
    }
  } else if (!listed.empty()) {
    autoscale.executor.resources = listed.front().resources;
    autoscale.executor.profile = listed.front().profile;
  } else {
    executor.fail("no executor to take as a model", "describe it under \"executor\"");
  }
  reading.scenario.cluster.autoscale = std::move(autoscale);
}

// ---- writing ----

JsonValue write_amounts(const model::Scenario& scenario, const model::ResourceVector& amounts) {
  JsonValue object = json_object();
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (amounts[i] != 0) {
      object.add(scenario.names.text(scenario.cluster.resources[i]),
                 json_decimal(model::format_decimal(amounts[i], model::milli)));
    }
  }
  return object;
}

JsonValue write_profiles(const model::Scenario& scenario) {
  JsonValue object = json_object();
  for (const model::Profile& profile : scenario.cluster.profiles) {
    object.add(scenario.names.text(profile.name), json_object())
        .add("task", write_amounts(scenario, profile.task));
  }
  return object;
}

void add_distribution(JsonValue& object, std::string_view key,
                      const model::Distribution& distribution) {
  if (distribution != model::Distribution{}) {
    object.add(key, write_distribution(distribution));
  }
}

void add_environment(const model::Cluster& cluster, JsonValue& object) {
  JsonValue network = json_object();
  const model::Network usual;
  if (cluster.network.latency != usual.latency) {
    network.add("latency", write_duration(cluster.network.latency));
  }
  if (cluster.network.bandwidth != usual.bandwidth) {
    network.add("bandwidth", json_string(model::format_rate(cluster.network.bandwidth)));
  }
  if (cluster.network.disk != usual.disk) {
    network.add("disk", json_string(model::format_rate(cluster.network.disk)));
  }
  JsonValue overheads = json_object();
  add_distribution(overheads, "launch", cluster.overheads.launch);
  add_distribution(overheads, "status", cluster.overheads.status);
  add_distribution(overheads, "kill", cluster.overheads.kill);
  add_distribution(overheads, "loss_detection", cluster.overheads.loss_detection);
  if (!network.items.empty()) {
    object.add("network", std::move(network));
  }
  if (!overheads.items.empty()) {
    object.add("overheads", std::move(overheads));
  }
}

JsonValue write_autoscale(const model::Scenario& scenario, const model::Autoscale& autoscale) {
  JsonValue object = json_object();
  object.add("min", json_number(autoscale.min));
  object.add("max", json_number(autoscale.max));
  object.add("backlog", write_duration(autoscale.backlog));
  object.add("idle", write_duration(autoscale.idle));
  object.add("startup", write_distribution(autoscale.startup));
  JsonValue& executor = object.add("executor", json_object());
  executor.add("resources", write_amounts(scenario, autoscale.executor.resources));
  if (autoscale.executor.profile.valid()) {
    const auto& profile = scenario.cluster.profiles[autoscale.executor.profile.index()];
    executor.add("profile", json_string(scenario.names.text(profile.name)));
  }
  if (autoscale.executor.host.valid()) {
    executor.add("host", json_string(scenario.names.text(autoscale.executor.host)));
  }
  return object;
}

}  // namespace

model::ProfileId read_profile(ScenarioReading& reading, const Node& node) {
  if (!node.given()) {
    return {};
  }
  const std::string name = read_string(node, "a profile's name");
  const model::ProfileId profile = find_profile(reading.scenario, name);
  if (!profile.valid() && !node.failed()) {
    std::vector<std::string_view> known;
    for (const model::Profile& candidate : reading.scenario.cluster.profiles) {
      known.push_back(reading.scenario.names.text(candidate.name));
    }
    fail_unknown(node, "profile", name, known);
  }
  return profile;
}

void read_cluster(ScenarioReading& reading, const Node& node) {
  const bool is_short = node.member("executors").is(JsonKind::number);
  const bool known =
      is_short
          ? check_keys(node, "a cluster in the short form",
                       {{"executors", "cpus", "profiles", "network", "overheads", "autoscale"}})
          : check_keys(node, "cluster",
                       {{"profiles", "executors", "network", "overheads", "autoscale"}});
  if (!known || !require(node.member("executors"), "executors")) {
    return;
  }
  read_profiles(reading, node.member("profiles"));
  if (is_short) {
    read_short_form(reading, node);
  } else {
    read_executor_list(reading, node.member("executors"));
  }
  read_network(reading, node.member("network"));
  read_overheads(reading, node.member("overheads"));
  read_autoscale(reading, node.member("autoscale"));
}

ExecutorSpec read_added_executor(ScenarioReading& reading, const Node& node) {
  const ExecutorTemplate executor = read_executor(reading, node, false);
  if (reading.scenario.cluster.autoscale && is_autoscaler_name(executor.name)) {
    node.member("name").fail(
        fmt::format("\"{}\" is a name of the autoscaler's executors", executor.name),
        "give it another name");
  }
  return node.failed() ? ExecutorSpec{} : expand(reading, executor, 0);
}

void complete_resources(ScenarioReading& reading) {
  model::Cluster& cluster = reading.scenario.cluster;
  const std::size_t length = cluster.resources.size();
  for (model::Profile& profile : cluster.profiles) {
    profile.task.resize(length);
  }
  for (ExecutorSpec& executor : cluster.executors) {
    executor.resources.resize(length);
  }
  if (cluster.autoscale) {
    cluster.autoscale->executor.resources.resize(length);
  }
  for (model::TimedFault& fault : reading.scenario.faults.timed) {
    if (auto* added = std::get_if<model::AddExecutor>(&fault.action)) {
      added->executor.resources.resize(length);
    }
  }
}

JsonValue write_executor(const model::Scenario& scenario, const ExecutorSpec& executor) {
  JsonValue object = json_object();
  const std::string name(scenario.names.text(executor.name));
  object.add("name", json_string(name));
  if (executor.profile.valid()) {
    const auto& profile = scenario.cluster.profiles[executor.profile.index()];
    object.add("profile", json_string(scenario.names.text(profile.name)));
  }
  object.add("resources", write_amounts(scenario, executor.resources));
  if (scenario.names.text(executor.host) != "h-" + name) {
    object.add("host", json_string(scenario.names.text(executor.host)));
  }
  if (executor.rack.valid()) {
    object.add("rack", json_string(scenario.names.text(executor.rack)));
  }
  if (executor.speed_milli != model::milli) {
    object.add("speed", json_decimal(model::format_decimal(executor.speed_milli, model::milli)));
  }
  if (executor.joins != 0) {
    object.add("joins", write_duration(executor.joins));
  }
  return object;
}

JsonValue write_cluster(const model::Scenario& scenario) {
  JsonValue object = json_object();
  object.add("profiles", write_profiles(scenario));
  JsonValue& executors = object.add("executors", json_array());
  for (const ExecutorSpec& executor : scenario.cluster.executors) {
    executors.items.push_back(write_executor(scenario, executor));
  }
  add_environment(scenario.cluster, object);
  if (scenario.cluster.autoscale) {
    object.add("autoscale", write_autoscale(scenario, *scenario.cluster.autoscale));
  }
  return object;
}

}  // namespace rehearse::traces
