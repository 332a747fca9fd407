// Reads the `run` line back into a configuration, through the table that wrote it.
// registry: none (what monitors are told about the run)
#include "properties/rules.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "model/axes.hpp"
#include "model/support/units.hpp"

namespace rehearse::properties {

namespace {

using AxisTexts = std::vector<std::pair<std::string_view, std::string>>;

// A dialect as it stands, and what its axes look like then: most lines say nothing else, and to
// read a value costs more than to compare it.
struct Preset {
  model::SchedulerConfig config;
  AxisTexts axes;
};
const Preset& preset_of(model::Dialect dialect) {
  static const auto presets = [] {
    std::array<Preset, model::EnumNames<model::Dialect>::texts.size()> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].config = model::preset(static_cast<model::Dialect>(i));
      all[i].axes = model::resolved_axes(all[i].config, {});
    }
    return all;
  }();
  return presets[static_cast<std::size_t>(dialect)];
}

// Does the axis have the value that it has in the preset? Axes come in the order of the table: the
// next one is looked for at `likely` first.
bool is_preset(const AxisTexts& own, std::size_t& likely, std::string_view axis,
               std::string_view value) {
  if (likely >= own.size() || own[likely].first != axis) {
    const auto found = std::ranges::find(own, axis, &AxisTexts::value_type::first);
    if (found == own.end()) {
      return value.empty();
    }
    likely = static_cast<std::size_t>(found - own.begin());
  }
  return own[likely++].second == value;
}

// "reader/from/owner/stage": names hold no slash.
void add_reuse(std::string_view text, std::vector<Reuse>& reuses) {
  std::array<std::string, 4> part;
  std::size_t i = 0;
  for (const char c : text) {
    if (c == '/') {
      ++i;
    } else if (i < part.size()) {
      part[i] += c;
    }
  }
  if (i + 1 == part.size()) {
    reuses.push_back({part[0], part[1], part[2], part[3]});
  }
}

}  // namespace

Rules rules_of(const model::RunStart& run, const model::NameTable& names) {
  Rules rules;
  rules.timing = run.timing;
  const model::Dialect dialect =
      model::parse_enum<model::Dialect>(names.text(run.dialect)).value_or(model::Dialect::psd);
  const Preset& preset = preset_of(dialect);
  rules.config = preset.config;
  model::SchedulerConfig changed;
  model::NameTable pool_names;
  std::size_t likely = 0;
  for (const model::AxisValue& item : run.axes) {
    if (is_preset(preset.axes, likely, names.text(item.axis), names.text(item.value))) {
      continue;
    }
    const auto value = model::parse_axis_text(names.text(item.value));
    if (!value) {
      continue;
    }
    changed = rules.config;
    if (model::set_axis(changed, pool_names, names.text(item.axis), *value)) {
      rules.config = std::move(changed);
    }
  }
  for (const model::KeyValue& item : run.overheads) {
    if (names.text(item.key) == "ties") {
      rules.ties_in_order = names.text(item.value) == "in-order";
    } else if (names.text(item.key) == "start_delay") {
      rules.delayed_starts = true;
    } else if (names.text(item.key) == "indeterminate") {
      rules.indeterminate = true;
    } else if (names.text(item.key) == "heal") {
      if (const auto at = model::parse_duration(names.text(item.value))) {
        rules.heals_at = *at;
      }
    } else if (names.text(item.key) == "autoscale") {
      rules.autoscaled = true;
    } else if (names.text(item.key) == "reuse") {
      add_reuse(names.text(item.value), rules.reuses);
    } else if (names.text(item.key) == "kill") {
      if (const auto latency = model::parse_duration(names.text(item.value))) {
        rules.kill_latency_ns = *latency;
      }
    }
  }
  std::ranges::sort(rules.reuses);
  const model::AdmissionConfig& admission = rules.config.admission;
  rules.waiting_bound = model::waiting_bound(admission.queue, admission.overtake).kind;
  return rules;
}

}  // namespace rehearse::properties
