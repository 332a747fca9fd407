// registry: none (a part of the scenario reader)
// `scheduler` of a scenario file: a dialect and the axes beside it. Which values an axis has is the
// axes table's business (model/axes); here JSON becomes its text and back.
#include <fmt/format.h>

#include <algorithm>

#include "model/axes.hpp"
#include "model/configuration_text.hpp"
#include "traces/scenario_parts.hpp"

namespace rehearse::traces {

using model::AxisInfo;
using model::AxisKind;
using model::AxisText;
using model::WrittenAs;

namespace {

// A number, string or boolean as the axes table takes it.
AxisText scalar_text(const Node& node) {
  switch (node.kind()) {
    case JsonKind::number:
      return AxisText(node.value().text, WrittenAs::json_number);
    case JsonKind::string:
      return AxisText(node.value().text, WrittenAs::json_string);
    case JsonKind::boolean:
      return AxisText(node.value().boolean ? "true" : "false", WrittenAs::json_boolean);
    case JsonKind::null:
      return AxisText("none", WrittenAs::text);
    case JsonKind::array:
    case JsonKind::object:
      break;
  }
  node.fail("a single value is expected here", "write a string or a number");
  return {};
}

void add_parameters(AxisText& text, const Node& object) {
  text.bracketed = true;
  for (const auto& [key, value] : object.members("parameters")) {
    text.parameters.push_back({key, scalar_text(value)});
  }
}

// {"retry": {"interval": "7ms"}}: the only key is the value.
AxisText choice_text(const Node& node, std::string_view axis) {
  if (!node.is(JsonKind::object)) {
    return scalar_text(node);
  }
  const auto members = node.members(axis);
  if (members.size() != 1) {
    node.fail(fmt::format("{} is one value, not {}", axis, members.size()),
              "a value with parameters is an object of one key");
    return {};
  }
  AxisText text(members.front().first, WrittenAs::json_string);
  add_parameters(text, members.front().second);
  return text;
}

AxisText list_text(const Node& node, std::string_view axis) {
  AxisText text;
  text.bracketed = true;
  for (const Node& item : node.items(axis)) {
    text.parameters.push_back({"", scalar_text(item)});
  }
  return text;
}

AxisText pools_text(const Node& node) {
  AxisText text;
  text.bracketed = true;
  for (const auto& [name, pool] : node.members("pools")) {
    AxisText item(name, WrittenAs::json_string);
    add_parameters(item, pool);
    text.parameters.push_back({"", std::move(item)});
  }
  return text;
}

AxisText axis_text(const Node& node, const AxisInfo& info) {
  switch (info.kind) {
    case AxisKind::choice:
      return choice_text(node, info.name);
    case AxisKind::duration:
    case AxisKind::integer:
    case AxisKind::boolean:
      return scalar_text(node);
    case AxisKind::codes:
      return list_text(node, info.name);
    case AxisKind::pools:
      return pools_text(node);
    case AxisKind::speculation: {
      if (!node.is(JsonKind::object)) {
        return scalar_text(node);
      }
      AxisText text;
      add_parameters(text, node);
      return text;
    }
  }
  return {};
}

void read_axis(ScenarioReading& reading, const Node& node, const AxisInfo& info) {
  if (!info.built) {
    node.fail(fmt::format("\"{}\" is not built yet", info.name), "leave it out");
    return;
  }
  const AxisText text = axis_text(node, info);
  if (node.failed()) {
    return;
  }
  model::SchedulerConfig& config = reading.scenario.scheduler;
  if (const auto set = model::set_axis(config, reading.scenario.names, info.name, text); !set) {
    node.fail(set.error());
  }
}

// Keys of one section: "admission.", "failure.", or the scheduler itself for an empty one.
void check_section(const Node& node, std::string_view section) {
  std::vector<std::string_view> known;
  if (section.empty()) {
    known = {"dialect", "admission", "failure"};
  }
  for (const AxisInfo& info : model::axis_table()) {
    const bool here = info.name.starts_with(section) &&
                      info.name.find('.', section.size()) == std::string_view::npos;
    if (here) {
      known.push_back(info.name.substr(section.size()));
    }
  }
  for (const auto& [key, value] : node.members("the scheduler")) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      fail_unknown(value, "axis", key, known);
      return;
    }
  }
}

JsonValue parameters_json(const std::vector<model::AxisParameter>& parameters) {
  JsonValue object = json_object();
  for (const model::AxisParameter& item : parameters) {
    const std::string& value = item.value.value;
    const bool number = value.find_first_not_of("-0123456789.") == std::string::npos;
    object.add(item.key, number ? json_decimal(value) : json_string(value));
  }
  return object;
}

JsonValue value_json(const AxisText& text, AxisKind kind) {
  switch (kind) {
    case AxisKind::choice:
      if (text.bracketed) {
        JsonValue object = json_object();
        object.add(text.value, parameters_json(text.parameters));
        return object;
      }
      return json_string(text.value);
    case AxisKind::duration:
      return json_string(text.value);
    case AxisKind::integer:
      if (text.value == "unbounded") {
        return json_string(text.value);
      }
      return json_decimal(text.value == "none" ? "null" : text.value);
    case AxisKind::boolean:
      return json_boolean(text.value == "true");
    case AxisKind::codes: {
      JsonValue list = json_array();
      for (const model::AxisParameter& item : text.parameters) {
        list.items.push_back(json_string(item.value.value));
      }
      return list;
    }
    case AxisKind::pools: {
      JsonValue object = json_object();
      for (const model::AxisParameter& item : text.parameters) {
        object.add(item.value.value, parameters_json(item.value.parameters));
      }
      return object;
    }
    case AxisKind::speculation:
      return text.bracketed ? parameters_json(text.parameters) : json_string(text.value);
  }
  return {};
}

// The object an axis stands in: the scheduler, or its section, which is made when it is missing.
JsonValue& section_of(JsonValue& scheduler, std::string_view section) {
  if (section.empty()) {
    return scheduler;
  }
  for (std::size_t i = 0; i < scheduler.keys.size(); ++i) {
    if (scheduler.keys[i] == section) {
      return scheduler.items[i];
    }
  }
  return scheduler.add(section, json_object());
}

}  // namespace

void read_scheduler(ScenarioReading& reading, const Node& node) {
  model::SchedulerConfig& config = reading.scenario.scheduler;
  config = model::preset(model::Dialect::psd);
  if (!node.given()) {
    return;
  }
  check_section(node, "");
  for (const std::string_view section : {"admission", "failure"}) {
    if (const Node inner = node.member(section); inner.given()) {
      check_section(inner, std::string(section) + ".");
    }
  }
  if (node.failed()) {
    return;
  }
  if (const Node dialect = node.member("dialect"); dialect.given()) {
    config = model::preset(read_enum(dialect, "a dialect", model::Dialect::psd));
  }
  for (const AxisInfo& info : model::axis_table()) {
    const std::size_t dot = info.name.find('.');
    const Node axis = dot == std::string_view::npos
                          ? node.member(info.name)
                          : node.member(info.name.substr(0, dot)).member(info.name.substr(dot + 1));
    if (axis.given() && !node.failed()) {
      read_axis(reading, axis, info);
    }
  }
  if (node.failed()) {
    return;
  }
  if (const auto finished = model::finish_axes(config); !finished) {
    model::Error error = finished.error();
    for (char& c : error.field) {
      c = c == '.' ? '/' : c;
    }
    error.field = "/" + error.field;
    node.fail(error);
  }
}

JsonValue write_scheduler(const model::Scenario& scenario) {
  JsonValue object = json_object();
  object.add("dialect", json_string(model::name_of(scenario.scheduler.dialect)));
  const model::SchedulerConfig base = model::preset(scenario.scheduler.dialect);
  const model::NameTable no_names;  // presets have no pools, hence no names
  for (const AxisInfo& info : model::axis_table()) {
    if (!info.built) {
      continue;
    }
    const AxisText text = model::get_axis(scenario.scheduler, scenario.names, info.name);
    if (text == model::get_axis(base, no_names, info.name)) {
      continue;
    }
    const std::size_t dot = info.name.find('.');
    const bool nested = dot != std::string_view::npos;
    section_of(object, nested ? info.name.substr(0, dot) : std::string_view{})
        .add(nested ? info.name.substr(dot + 1) : info.name, value_json(text, info.kind));
  }
  return object;
}

}  // namespace rehearse::traces
