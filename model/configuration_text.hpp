// The text form of a configuration (cli.md): `psd[admission.overtake=easy,cluster=40x4,name=b]`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/axes.hpp"

namespace rehearse::model {

struct AxisOverride {
  std::string axis;
  AxisText value;
  bool operator==(const AxisOverride&) const = default;
};

struct ConfigurationText {
  std::string label;  // `name`, or the whole text as given
  Dialect dialect = Dialect::psd;
  std::vector<AxisOverride> overrides;  // in the order written
  std::optional<std::string> cluster;   // as --cluster takes it; `[20x4,gpu=1]` is "20x4,gpu=1"
  bool operator==(const ConfigurationText&) const = default;
};

// Reads the form; axis names are checked, values are not. Error.field is the key to blame.
[[nodiscard]] Result<ConfigurationText> parse_configuration(std::string_view text);

// One `axis=value` of --set. Error.field is the axis.
[[nodiscard]] Result<AxisOverride> parse_override(std::string_view text);

// Preset, then overrides in order, then finish_axes. Error.field is the axis to blame.
[[nodiscard]] Result<SchedulerConfig> resolve_configuration(const ConfigurationText& configuration,
                                                            NameTable& names);

// Applies overrides to a configuration that is there already (a scenario's), then finish_axes.
[[nodiscard]] Result<void> apply_overrides(SchedulerConfig& config,
                                           const std::vector<AxisOverride>& overrides,
                                           NameTable& names);

// The text that resolves to `config`: its dialect and the axes in which it differs from the preset.
[[nodiscard]] std::string configuration_text(const SchedulerConfig& config, const NameTable& names);

// The dialect of a name; the error names the nearest one.
[[nodiscard]] Result<Dialect> parse_dialect(std::string_view text);

}  // namespace rehearse::model
