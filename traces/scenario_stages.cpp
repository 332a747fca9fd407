// registry: none (a part of the scenario reader)
// Stages and shuffles of a job.
#include <fmt/format.h>

#include <algorithm>

#include "traces/scenario_parts.hpp"

namespace rehearse::traces {

using model::EdgeSpec;
using model::JobSpec;
using model::StageIndex;
using model::StageSpec;

namespace {

constexpr std::int64_t tasks_max = 10'000'000;
constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();

// A list with one item per partition.
std::vector<Node> per_partition(const Node& node, std::string_view what, const StageSpec& stage) {
  std::vector<Node> items = node.items(what);
  if (!node.failed() && items.size() != static_cast<std::size_t>(stage.tasks)) {
    node.fail(fmt::format("{} items for {} tasks", items.size(), stage.tasks),
              "a list has one item per partition");
    items.clear();
  }
  return items;
}

void read_stage_duration(const Node& node, StageSpec& stage, bool estimated) {
  if (!node.is(JsonKind::array)) {
    stage.duration = read_distribution(node, !estimated);
    return;
  }
  std::vector<model::Duration> durations;
  for (const Node& item : per_partition(node, "duration", stage)) {
    durations.push_back(read_duration(item, 0));
  }
  stage.duration = std::move(durations);
}

// A name that is both an executor's and a host's says nothing.
struct PlaceNames {
  std::vector<model::NameId> executors;  // sorted
  std::vector<model::NameId> hosts;      // sorted
};

bool has(const std::vector<model::NameId>& sorted, model::NameId name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

PlaceNames place_names(const model::Scenario& scenario) {
  PlaceNames names;
  const auto add = [&](const model::ExecutorSpec& executor) {
    names.executors.push_back(executor.name);
    names.hosts.push_back(executor.host);
  };
  for (const model::ExecutorSpec& executor : scenario.cluster.executors) {
    add(executor);
  }
  for (const model::TimedFault& fault : scenario.faults.timed) {
    if (const auto* added = std::get_if<model::AddExecutor>(&fault.action)) {
      add(added->executor);
    }
  }
  std::sort(names.executors.begin(), names.executors.end());
  std::sort(names.hosts.begin(), names.hosts.end());
  return names;
}

bool is_autoscaled(const model::Scenario& scenario, std::string_view name) {
  return scenario.cluster.autoscale && name.starts_with("auto");
}

void read_prefers(ScenarioReading& reading, const Node& node, StageSpec& stage) {
  for (const Node& partition : per_partition(node, "prefers", stage)) {
    std::vector<model::NameId>& places = stage.prefers.emplace_back();
    for (const Node& place : partition.items("a list of executors and hosts")) {
      places.push_back(reading.intern(read_string(place, "an executor or a host")));
    }
  }
}

// A21: what a collapse stage reads, however much it is, one task reads.
void read_width(const Node& node, StageSpec& stage) {
  if (!node.given()) {
    return;
  }
  stage.width = static_cast<std::int32_t>(read_integer(node, 1, {.min = 1, .max = tasks_max}));
  if (!node.failed() && stage.tasks != 1) {
    node.fail(fmt::format("a stage with a width is one task, this one has {}", stage.tasks),
              "give it 1 task, or leave the width out");
  }
}

void read_flow_keys(const Node& node, StageSpec& stage) {
  stage.op = read_enum(node.member("operator"), "an operator", model::Operator::stream);
  if (const Node limit = node.member("limit"); limit.is(JsonKind::array)) {
    for (const Node& item : per_partition(limit, "limit", stage)) {
      stage.limit.push_back(item.is(JsonKind::null) ? std::optional<std::int64_t>{}
                                                    : read_integer(item, 0, {.min = 0}));
    }
  } else if (limit.given()) {
    stage.limit.emplace_back(read_integer(limit, 0, {.min = 0}));
  }
  if (const Node input = node.member("input"); input.given()) {
    if (check_keys(input, "input", {{"rate"}}) && require(input.member("rate"), "rate")) {
      stage.input_rate = read_rate(input.member("rate"), 0);
    }
  }
}

std::vector<model::StreamSpec::Emission> read_emissions(const Node& node, std::int64_t partitions) {
  std::vector<model::StreamSpec::Emission> emissions;
  for (const Node& item : node.items("the emissions of one producer")) {
    if (!check_keys(item, "an emission", {{"after", "every", "to"}}) ||
        !require(item.member("to"), "to")) {
      break;
    }
    model::StreamSpec::Emission emission;
    emission.after = read_duration(item.member("after"), 0);
    emission.every = read_duration(item.member("every"), 0);
    for (const Node& to : item.member("to").items("a list of partitions")) {
      emission.to.push_back(
          static_cast<std::int32_t>(read_integer(to, 0, {.min = 0, .max = partitions - 1})));
    }
    emissions.push_back(std::move(emission));
  }
  return emissions;
}

model::StreamSpec read_stream(const Node& node, const JobSpec& job, const EdgeSpec& edge) {
  model::StreamSpec stream;
  if (!check_keys(node, "stream", {{"buffer", "buffer_of", "partitions", "emit"}}) ||
      !require(node.member("emit"), "emit")) {
    return stream;
  }
  stream.buffer = read_integer(node.member("buffer"), stream.buffer, {.min = 1});
  if (const Node of = node.member("buffer_of"); of.given()) {
    stream.per_queue = read_choice(of, "what the buffer belongs to", {"producer", "queue"}) == 1U;
  }
  if (const Node partitions = node.member("partitions"); partitions.given()) {
    stream.partitions =
        static_cast<std::int32_t>(read_integer(partitions, 1, {.min = 1, .max = int32_max}));
  }
  std::int64_t partitions = int32_max;
  for (const StageIndex to : edge.to) {
    partitions = std::min<std::int64_t>(partitions, job.stages[to.index()].tasks);
  }
  const Node emit = node.member("emit");
  const std::vector<Node> producers = emit.items("emit");
  if (edge.from.valid() && !emit.failed() &&
      producers.size() != static_cast<std::size_t>(job.stages[edge.from.index()].tasks)) {
    emit.fail(fmt::format("{} lists for {} producers", producers.size(),
                          job.stages[edge.from.index()].tasks),
              "one list per task of the producer, possibly empty");
  }
  for (const Node& producer : producers) {
    stream.emit.push_back(read_emissions(
        producer, stream.partitions.value_or(static_cast<std::int32_t>(partitions))));
  }
  return stream;
}

StageIndex read_end(const ScenarioReading& reading, const Node& node, const JobSpec& job) {
  const std::string name = read_string(node, "a stage's name");
  const StageIndex stage = find_stage(reading.scenario, job, name);
  if (!stage.valid() && !node.failed()) {
    std::vector<std::string_view> known;
    for (const StageSpec& candidate : job.stages) {
      known.push_back(reading.scenario.names.text(candidate.name));
    }
    fail_unknown(node, "stage", name, known);
  }
  return stage;
}

struct ForeignStage {
  model::NameId job;
  model::NameId stage;
};

// "job/stage"; that both exist is checked when all jobs are read.
ForeignStage read_foreign(ScenarioReading& reading, const Node& node) {
  const std::string text = read_string(node, "job/stage");
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || text.find('/', slash + 1) != std::string::npos || slash == 0 ||
      slash + 1 == text.size()) {
    node.fail(fmt::format("\"{}\" names no stage of another job", text), "write job/stage");
    return {};
  }
  return {reading.intern(text.substr(0, slash)), reading.intern(text.substr(slash + 1))};
}

void read_ends(ScenarioReading& reading, const Node& node, const JobSpec& job, EdgeSpec& edge) {
  const Node from = node.member("from");
  if (!require(from, "from") || !require(node.member("to"), "to")) {
    return;
  }
  if (from.is(JsonKind::string) && from.value().text.find('/') != std::string::npos) {
    const ForeignStage foreign = read_foreign(reading, from);
    edge.from_job = foreign.job;
    edge.from_stage = foreign.stage;
  } else {
    edge.from = read_end(reading, from, job);
  }
  const Node to = node.member("to");
  std::vector<Node> consumers;
  if (to.is(JsonKind::array)) {
    consumers = to.items("to");
    if (consumers.empty()) {
      to.fail("a shuffle has at least one consumer", "name a stage");
    }
  } else {
    consumers.push_back(to);
  }
  for (const Node& consumer : consumers) {
    const StageIndex stage = read_end(reading, consumer, job);
    if (std::find(edge.to.begin(), edge.to.end(), stage) != edge.to.end()) {
      consumer.fail(fmt::format("\"{}\" is listed twice", consumer.value().text), "list it once");
    }
    edge.to.push_back(stage);
  }
}

void read_edge(ScenarioReading& reading, const Node& node, JobSpec& job) {
  EdgeSpec edge;
  if (!check_keys(node, "an edge",
                  {{"from", "to", "kind", "bytes", "records", "skew", "stream", "push_merge",
                    "checksum_retry", "adaptive", "reuse"},
                   {"pattern", "transport", "retained", "durable", "consume"}})) {
    return;
  }
  read_ends(reading, node, job, edge);
  if (node.failed()) {
    return;
  }
  edge.kind = read_enum(node.member("kind"), "a kind of edge", model::EdgeKind::regular);
  edge.bytes = read_bytes(node.member("bytes"), 0);
  if (const Node records = node.member("records"); records.given()) {
    edge.records = read_integer(records, 0, {.min = 0});
  }
  edge.skew_milli = read_decimal(node.member("skew"), 0, model::milli, 0);
  edge.push_merge = read_boolean(node.member("push_merge"), false);
  edge.checksum_retry = read_boolean(node.member("checksum_retry"), false);
  edge.adaptive = read_boolean(node.member("adaptive"), false);
  if (const Node reuse = node.member("reuse"); reuse.given()) {
    const ForeignStage foreign = read_foreign(reading, reuse);
    edge.reuse_job = foreign.job;
    edge.reuse_stage = foreign.stage;
  }
  if (const Node stream = node.member("stream"); stream.given()) {
    edge.stream = read_stream(stream, job, edge);
  }
  job.edges.push_back(std::move(edge));
}

}  // namespace

void read_stage(ScenarioReading& reading, const Node& node, JobSpec& job) {
  if (!check_keys(node, "a stage",
                  {{"name", "tasks", "duration", "profile", "prefers", "commits", "barrier",
                    "indeterminate", "cached", "abandons", "checkpoint", "estimate", "operator",
                    "limit", "input", "width"},
                   {"waits_for", "memory"}}) ||
      !require(node.member("tasks"), "tasks") || !require(node.member("duration"), "duration")) {
    return;
  }
  StageSpec stage;
  stage.name = reading.intern(read_name(node.member("name"), "a stage's name"));
  stage.tasks = static_cast<std::int32_t>(
      read_integer(node.member("tasks"), 0, {.min = 0, .max = tasks_max}));
  if (const Node estimate = node.member("estimate"); estimate.given()) {
    stage.estimate = read_duration(estimate, 0);
  }
  read_stage_duration(node.member("duration"), stage, stage.estimate.has_value());
  stage.profile = read_profile(reading, node.member("profile"));
  if (!node.member("profile").given()) {
    const auto& profiles = reading.scenario.cluster.profiles;
    const auto found =
        std::find_if(profiles.begin(), profiles.end(), [&](const model::Profile& profile) {
          return reading.scenario.names.text(profile.name) == "default";
        });
    stage.profile = model::ProfileId{static_cast<std::size_t>(found - profiles.begin())};
  }
  if (const Node prefers = node.member("prefers"); prefers.given()) {
    read_prefers(reading, prefers, stage);
  }
  stage.commits = read_enum(node.member("commits"), "commits", model::Commits::none);
  stage.checkpoint = read_enum(node.member("checkpoint"), "a checkpoint", model::Checkpoint::none);
  stage.barrier = read_boolean(node.member("barrier"), false);
  stage.indeterminate = read_boolean(node.member("indeterminate"), false);
  stage.cached = read_boolean(node.member("cached"), false);
  stage.abandons = read_boolean(node.member("abandons"), false);
  read_width(node.member("width"), stage);
  read_flow_keys(node, stage);
  job.stages.push_back(std::move(stage));
}

void read_edges(ScenarioReading& reading, const Node& node, JobSpec& job) {
  for (const Node& item : node.items("edges")) {
    read_edge(reading, item, job);
    if (item.failed()) {
      return;
    }
  }
}

void check_preferences(const ScenarioReading& reading, const Node& jobs) {
  const PlaceNames places = place_names(reading.scenario);
  for (const Node& job : jobs.items("jobs")) {
    for (const Node& stage : job.member("stages").items("stages")) {
      const Node prefers = stage.member("prefers");
      if (!prefers.given()) {
        continue;
      }
      for (const Node& partition : prefers.items("prefers")) {
        for (const Node& place : partition.items("prefers")) {
          const std::string& name = place.value().text;
          const model::NameId id = reading.scenario.names.find(name);
          const bool executor = has(places.executors, id);
          const bool host = has(places.hosts, id);
          if (executor && host) {
            place.fail(fmt::format("\"{}\" is an executor and a host", name),
                       "give them different names");
          } else if (!executor && !host && !is_autoscaled(reading.scenario, name)) {
            std::vector<std::string_view> known;
            for (const model::NameId candidate : places.executors) {
              known.push_back(reading.scenario.names.text(candidate));
            }
            for (const model::NameId candidate : places.hosts) {
              known.push_back(reading.scenario.names.text(candidate));
            }
            fail_unknown(place, "executor or host", name, known);
          }
          if (place.failed()) {
            return;
          }
        }
      }
    }
  }
}

}  // namespace rehearse::traces
