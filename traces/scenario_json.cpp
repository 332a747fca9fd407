// registry: none (scenarios are no trace format)
// The top level of a scenario file, and the order in which its parts are read: names before what
// refers to them.
#include "traces/scenario_json.hpp"

#include <fmt/format.h>

#include "model/support/units.hpp"
#include "traces/scenario_parts.hpp"

namespace rehearse::traces {

using model::Scenario;

namespace {

// The file's name without folders and ending.
std::string stem(std::string_view file) {
  const std::size_t slash = file.find_last_of('/');
  std::string_view name = slash == std::string_view::npos ? file : file.substr(slash + 1);
  const std::size_t dot = name.find_last_of('.');
  return std::string(dot == std::string_view::npos || dot == 0 ? name : name.substr(0, dot));
}

// "tie@10ms" or "tie@10ms#2".
void check_choice_key(const Node& node, std::string_view key) {
  constexpr std::string_view prefix = "tie@";
  const std::size_t hash = key.find('#');
  const bool numbered = hash != std::string_view::npos;
  const std::string_view number = numbered ? key.substr(hash + 1) : std::string_view("2");
  const bool digits = !number.empty() && number.front() != '0' &&
                      number.find_first_not_of("0123456789") == std::string_view::npos;
  const bool formed =
      key.starts_with(prefix) && digits && number != "1" &&
      model::parse_duration(key.substr(prefix.size(), hash - prefix.size())).has_value();
  if (!formed) {
    node.fail(fmt::format("\"{}\" names no choice", key), "write tie@10ms, or tie@10ms#2");
  }
}

void read_choices(Scenario& scenario, const Node& node) {
  if (node.given()) {
    for (const auto& [key, choice] : node.members("choices")) {
      check_choice_key(choice, key);
      scenario.choices.emplace_back(key, read_integer(choice, 0, {.min = 0}));
    }
  }
}

void read_header(Scenario& scenario, const Node& node, std::string_view file) {
  if (const Node version = node.member("rehearse"); require(version, "rehearse")) {
    static_cast<void>(read_integer(version, 1, {.min = 1, .max = 1}));
  }
  const Node name = node.member("name");
  scenario.name = name.given() ? read_string(name, "name") : stem(file);
  scenario.seed = static_cast<std::uint64_t>(read_integer(node.member("seed"), 0, {.min = 0}));
  scenario.timing = read_enum(node.member("timing"), "a timing", model::Timing::scripted);
  if (const Node ties = node.member("ties"); ties.given()) {
    scenario.ties_shuffled = read_choice(ties, "ties", {"in-order", "shuffled"}) == 1U;
  }
  if (const Node horizon = node.member("horizon"); horizon.given()) {
    scenario.horizon = read_duration(horizon, 0);
  }
  read_choices(scenario, node.member("choices"));
  if (const Node origin = node.member("origin");
      origin.given() && origin.expect(JsonKind::object, "origin")) {
    scenario.origin_json = compact_json(origin.value());
  }
}

void read_workload(Scenario& scenario, const Node& node) {
  if (const Node synthetic = node.member("synthetic"); synthetic.given()) {
    synthetic.fail("synthetic workloads are not built yet", "list jobs, or give a trace");
    return;
  }
  if (!check_keys(node, "workload", {{"trace", "format"}, {"synthetic"}}) ||
      !require(node.member("trace"), "trace")) {
    return;
  }
  model::WorkloadSpec workload;
  workload.trace = read_string(node.member("trace"), "a path");
  if (const Node format = node.member("format"); format.given()) {
    workload.format = read_string(format, "a format");
  }
  scenario.workload = std::move(workload);
}

void read_document(Scenario& scenario, const Node& node, std::string_view file) {
  ScenarioReading reading{scenario};
  if (!check_keys(node, "a scenario",
                  {{"rehearse", "name", "seed", "timing", "ties", "horizon", "choices", "origin",
                    "scheduler", "expect", "workload", "cluster", "jobs", "faults"}})) {
    return;
  }
  read_header(scenario, node, file);
  if (node.failed() || !require(node.member("cluster"), "cluster")) {
    return;
  }
  read_cluster(reading, node.member("cluster"));
  read_scheduler(reading, node.member("scheduler"));
  const Node jobs = node.member("jobs");
  const Node workload = node.member("workload");
  if (jobs.given() && workload.given()) {
    workload.fail("jobs and workload exclude each other", "keep one of them");
  } else if (!workload.given()) {
    require(jobs, "jobs");
  }
  if (node.failed()) {
    return;
  }
  if (workload.given()) {
    read_workload(scenario, workload);
  } else {
    read_jobs(reading, jobs);
    if (!node.failed()) {
      read_job_references(reading, jobs);
    }
  }
  if (const Node faults = node.member("faults"); faults.given() && !node.failed()) {
    read_faults(reading, faults);
  }
  if (jobs.given() && !node.failed()) {
    check_preferences(reading, jobs);
  }
  if (const Node expect = node.member("expect"); expect.given() && !node.failed()) {
    read_expectations(reading, expect);
  }
  complete_resources(reading);
}

std::string_view ties_name(const Scenario& scenario) {
  return scenario.ties_shuffled ? "shuffled" : "in-order";
}

void write_header(const Scenario& scenario, JsonValue& object) {
  object.add("rehearse", json_number(1));
  object.add("name", json_string(scenario.name));
  object.add("seed", json_number(static_cast<std::int64_t>(scenario.seed)));
  object.add("timing", json_string(model::name_of(scenario.timing)));
  if (scenario.ties_shuffled) {
    object.add("ties", json_string(ties_name(scenario)));
  }
  if (scenario.horizon) {
    object.add("horizon", write_duration(*scenario.horizon));
  }
  if (!scenario.choices.empty()) {
    JsonValue& choices = object.add("choices", json_object());
    for (const auto& [key, value] : scenario.choices) {
      choices.add(key, json_number(value));
    }
  }
  if (!scenario.origin_json.empty()) {
    object.add("origin", parse_json(scenario.origin_json, "").value_or(json_object()));
  }
}

bool same_names(const Scenario& left, const Scenario& right) {
  if (left.names.size() != right.names.size()) {
    return false;
  }
  for (std::size_t i = 0; i < left.names.size(); ++i) {
    if (left.names.text(model::NameId{i}) != right.names.text(model::NameId{i})) {
      return false;
    }
  }
  return true;
}

}  // namespace

model::Result<Scenario> read_scenario(std::string_view text, std::string_view file) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return std::unexpected(model::Error{.what = "the file is empty",
                                        .file = std::string(file),
                                        .line = 1,
                                        .field = "/",
                                        .remedy = "a scenario is a JSON object"});
  }
  model::Result<JsonValue> document = parse_json(text, file);
  if (!document) {
    return std::unexpected(document.error());
  }
  Problems problems(file);
  Scenario scenario;
  read_document(scenario, Node(&*document, "", &problems), file);
  if (problems.any()) {
    return std::unexpected(*problems.first());
  }
  return scenario;
}

std::string write_scenario(const Scenario& scenario) {
  JsonValue object = json_object();
  write_header(scenario, object);
  object.add("cluster", write_cluster(scenario));
  object.add("scheduler", write_scheduler(scenario));
  if (scenario.workload) {
    JsonValue& workload = object.add("workload", json_object());
    workload.add("trace", json_string(scenario.workload->trace));
    workload.add("format", json_string(scenario.workload->format));
  } else {
    object.add("jobs", write_jobs(scenario));
  }
  if (!scenario.faults.order.empty()) {
    object.add("faults", write_faults(scenario));
  }
  if (!scenario.expect.empty()) {
    object.add("expect", write_expectations(scenario));
  }
  return pretty_json(object);
}

bool same_scenario(const Scenario& left, const Scenario& right) {
  return left.name == right.name && left.seed == right.seed && left.timing == right.timing &&
         left.ties_shuffled == right.ties_shuffled && left.horizon == right.horizon &&
         left.choices == right.choices && left.origin_json == right.origin_json &&
         left.workload == right.workload && left.cluster == right.cluster &&
         left.scheduler == right.scheduler && left.jobs == right.jobs &&
         left.faults == right.faults && left.expect == right.expect && same_names(left, right);
}

std::optional<std::string> expected_load_error(std::string_view text) {
  const model::Result<JsonValue> document = parse_json(text, "");
  const JsonValue* expect = document ? document->find("expect") : nullptr;
  if (expect == nullptr || expect->kind != JsonKind::array || expect->items.size() != 1) {
    return std::nullopt;
  }
  const JsonValue* pointer = expect->items.front().find("load_error");
  if (pointer == nullptr || pointer->kind != JsonKind::string) {
    return std::nullopt;
  }
  return pointer->text;
}

}  // namespace rehearse::traces
