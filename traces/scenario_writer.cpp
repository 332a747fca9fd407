// registry: none (a part of the scenario writer)
// The canonical form of jobs, stages, shuffles and plain values; the other parts are written beside
// their readers.
#include <fmt/format.h>

#include "model/support/units.hpp"
#include "traces/scenario_parts.hpp"

namespace rehearse::traces {

using model::EdgeSpec;
using model::JobSpec;
using model::Scenario;
using model::StageSpec;

namespace {

JsonValue name_json(const Scenario& scenario, model::NameId name) {
  return json_string(scenario.names.text(name));
}

void add_flag(JsonValue& object, std::string_view key, bool value) {
  if (value) {
    object.add(key, json_boolean(true));
  }
}

JsonValue write_task_durations(const model::TaskDurations& duration) {
  if (const auto* distribution = std::get_if<model::Distribution>(&duration)) {
    return write_distribution(*distribution);
  }
  JsonValue list = json_array();
  for (const model::Duration value : std::get<std::vector<model::Duration>>(duration)) {
    list.items.push_back(write_duration(value));
  }
  return list;
}

JsonValue write_prefers(const Scenario& scenario, const StageSpec& stage) {
  JsonValue partitions = json_array();
  for (const std::vector<model::NameId>& places : stage.prefers) {
    JsonValue list = json_array();
    for (const model::NameId place : places) {
      list.items.push_back(name_json(scenario, place));
    }
    partitions.items.push_back(std::move(list));
  }
  return partitions;
}

void add_flow_keys(JsonValue& object, const StageSpec& stage) {
  if (stage.op != model::Operator::stream) {
    object.add("operator", json_string(model::name_of(stage.op)));
  }
  if (stage.limit.size() == 1 && stage.limit.front()) {
    object.add("limit", json_number(*stage.limit.front()));
  } else if (!stage.limit.empty()) {
    JsonValue& list = object.add("limit", json_array());
    for (const std::optional<std::int64_t>& limit : stage.limit) {
      list.items.push_back(limit ? json_number(*limit) : JsonValue{});
    }
  }
  if (stage.input_rate) {
    object.add("input", json_object())
        .add("rate", json_string(fmt::format("{}/s", *stage.input_rate)));
  }
}

JsonValue write_stage(const Scenario& scenario, const StageSpec& stage) {
  JsonValue object = json_object();
  object.add("name", name_json(scenario, stage.name));
  object.add("tasks", json_number(stage.tasks));
  object.add("duration", write_task_durations(stage.duration));
  const model::NameId profile = scenario.cluster.profiles[stage.profile.index()].name;
  if (scenario.names.text(profile) != "default") {
    object.add("profile", name_json(scenario, profile));
  }
  if (!stage.prefers.empty()) {
    object.add("prefers", write_prefers(scenario, stage));
  }
  if (stage.commits != model::Commits::none) {
    object.add("commits", json_string(model::name_of(stage.commits)));
  }
  add_flag(object, "barrier", stage.barrier);
  add_flag(object, "indeterminate", stage.indeterminate);
  add_flag(object, "cached", stage.cached);
  add_flag(object, "abandons", stage.abandons);
  if (stage.checkpoint != model::Checkpoint::none) {
    object.add("checkpoint", json_string(model::name_of(stage.checkpoint)));
  }
  if (stage.estimate) {
    object.add("estimate", write_duration(*stage.estimate));
  }
  if (stage.width) {
    object.add("width", json_number(*stage.width));
  }
  add_flow_keys(object, stage);
  return object;
}

JsonValue write_stream(const model::StreamSpec& stream) {
  JsonValue object = json_object();
  object.add("buffer", json_number(stream.buffer));
  object.add("buffer_of", json_string(stream.per_queue ? "queue" : "producer"));
  if (stream.partitions) {
    object.add("partitions", json_number(*stream.partitions));
  }
  JsonValue& emit = object.add("emit", json_array());
  for (const std::vector<model::StreamSpec::Emission>& producer : stream.emit) {
    JsonValue emissions = json_array();
    for (const model::StreamSpec::Emission& emission : producer) {
      JsonValue entry = json_object();
      entry.add("after", write_duration(emission.after));
      if (emission.every != 0) {
        entry.add("every", write_duration(emission.every));
      }
      JsonValue& to = entry.add("to", json_array());
      for (const std::int32_t partition : emission.to) {
        to.items.push_back(json_number(partition));
      }
      emissions.items.push_back(std::move(entry));
    }
    emit.items.push_back(std::move(emissions));
  }
  return object;
}

JsonValue write_foreign(const Scenario& scenario, model::NameId job, model::NameId stage) {
  return json_string(fmt::format("{}/{}", scenario.names.text(job), scenario.names.text(stage)));
}

JsonValue write_edge(const Scenario& scenario, const JobSpec& job, const EdgeSpec& edge) {
  JsonValue object = json_object();
  object.add("from", edge.from_job.valid()
                         ? write_foreign(scenario, edge.from_job, edge.from_stage)
                         : name_json(scenario, job.stages[edge.from.index()].name));
  JsonValue consumers = json_array();
  for (const model::StageIndex to : edge.to) {
    consumers.items.push_back(name_json(scenario, job.stages[to.index()].name));
  }
  object.add("to", consumers.items.size() == 1 ? consumers.items.front() : consumers);
  if (edge.kind != model::EdgeKind::regular) {
    object.add("kind", json_string(model::name_of(edge.kind)));
  }
  if (edge.bytes != 0) {
    object.add("bytes", json_number(edge.bytes));
  }
  if (edge.records) {
    object.add("records", json_number(*edge.records));
  }
  if (edge.skew_milli != 0) {
    object.add("skew", json_decimal(model::format_decimal(edge.skew_milli, model::milli)));
  }
  if (edge.stream) {
    object.add("stream", write_stream(*edge.stream));
  }
  add_flag(object, "push_merge", edge.push_merge);
  add_flag(object, "checksum_retry", edge.checksum_retry);
  add_flag(object, "adaptive", edge.adaptive);
  if (edge.reuse_job.valid()) {
    object.add("reuse", write_foreign(scenario, edge.reuse_job, edge.reuse_stage));
  }
  return object;
}

void add_submission(const Scenario& scenario, const JobSpec& job, JsonValue& object) {
  if (job.after.empty() || job.submit != 0) {
    object.add("submit", write_duration(job.submit));
  }
  if (scenario.names.text(job.pool) != "default") {
    object.add("pool", name_json(scenario, job.pool));
  }
  if (job.priority != 0) {
    object.add("priority", json_number(job.priority));
  }
  if (job.repeat_count > 1) {
    JsonValue& repeat = object.add("repeat", json_object());
    repeat.add("count", json_number(job.repeat_count));
    repeat.add("every", write_duration(job.repeat_every));
  }
  if (!job.after.empty()) {
    JsonValue& after = object.add("after", json_array());
    for (const model::AfterSpec& item : job.after) {
      JsonValue entry = json_object();
      entry.add("job", name_json(scenario, item.job));
      entry.add("delay", write_duration(item.delay));
      after.items.push_back(std::move(entry));
    }
  }
}

JsonValue write_job(const Scenario& scenario, const JobSpec& job) {
  JsonValue object = json_object();
  object.add("name", name_json(scenario, job.name));
  add_submission(scenario, job, object);
  if (job.result != default_result(job)) {
    JsonValue& result = object.add("result", json_array());
    for (const model::StageIndex stage : job.result) {
      result.items.push_back(name_json(scenario, job.stages[stage.index()].name));
    }
  }
  if (const JobSpec usual; job.resubmit != usual.resubmit || job.backoff != usual.backoff) {
    JsonValue& caller = object.add("on_failure", json_object());
    caller.add("resubmit", json_number(job.resubmit));
    caller.add("backoff", write_duration(job.backoff));
  }
  JsonValue& stages = object.add("stages", json_array());
  for (const StageSpec& stage : job.stages) {
    stages.items.push_back(write_stage(scenario, stage));
  }
  if (!job.edges.empty()) {
    JsonValue& edges = object.add("edges", json_array());
    for (const EdgeSpec& edge : job.edges) {
      edges.items.push_back(write_edge(scenario, job, edge));
    }
  }
  return object;
}

}  // namespace

JsonValue write_duration(model::Duration duration) {
  return json_string(model::format_duration(duration));
}

JsonValue write_distribution(const model::Distribution& distribution) {
  using Kind = model::DistributionKind;
  if (distribution.kind == Kind::fixed) {
    return write_duration(distribution.base_ns);
  }
  const auto shape = [&] {
    return json_decimal(model::format_decimal(distribution.shape_e9, model::shape_scale));
  };
  JsonValue object = json_object();
  object.add("dist", json_string(model::name_of(distribution.kind)));
  switch (distribution.kind) {
    case Kind::lognormal:
      object.add("median", write_duration(distribution.base_ns));
      object.add("sigma", shape());
      break;
    case Kind::exponential:
      object.add("mean", write_duration(distribution.base_ns));
      break;
    case Kind::uniform:
      object.add("min", write_duration(distribution.base_ns));
      object.add("max", write_duration(distribution.max_ns));
      break;
    case Kind::pareto:
      object.add("min", write_duration(distribution.base_ns));
      object.add("alpha", shape());
      break;
    case Kind::empirical: {
      JsonValue& values = object.add("values", json_array());
      for (const model::Duration value : distribution.values_ns) {
        values.items.push_back(write_duration(value));
      }
      break;
    }
    case Kind::fixed:
      break;
  }
  if (distribution.cap_ns) {
    object.add("cap", write_duration(*distribution.cap_ns));
  }
  return object;
}

JsonValue write_jobs(const Scenario& scenario) {
  JsonValue list = json_array();
  for (const JobSpec& job : scenario.jobs) {
    list.items.push_back(write_job(scenario, job));
  }
  return list;
}

}  // namespace rehearse::traces
