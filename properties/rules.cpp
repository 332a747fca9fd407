// Reads the `run` line back into a configuration, through the table that wrote it.
// registry: none (what monitors are told about the run)
#include "properties/rules.hpp"

#include "model/axes.hpp"
#include "model/support/units.hpp"

namespace rehearse::properties {

Rules rules_of(const model::RunStart& run, const model::NameTable& names) {
  Rules rules;
  rules.timing = run.timing;
  const auto dialect = model::parse_enum<model::Dialect>(names.text(run.dialect));
  rules.config = model::preset(dialect.value_or(model::Dialect::psd));
  model::NameTable pool_names;
  for (const model::AxisValue& item : run.axes) {
    const auto value = model::parse_axis_text(names.text(item.value));
    if (!value) {
      continue;
    }
    model::SchedulerConfig changed = rules.config;
    if (model::set_axis(changed, pool_names, names.text(item.axis), *value)) {
      rules.config = std::move(changed);
    }
  }
  for (const model::KeyValue& item : run.overheads) {
    if (names.text(item.key) == "ties") {
      rules.ties_in_order = names.text(item.value) == "in-order";
    } else if (names.text(item.key) == "start_delay") {
      rules.delayed_starts = true;
    } else if (names.text(item.key) == "kill") {
      if (const auto latency = model::parse_duration(names.text(item.value))) {
        rules.kill_latency_ns = *latency;
      }
    }
  }
  return rules;
}

}  // namespace rehearse::properties
