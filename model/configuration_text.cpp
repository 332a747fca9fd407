// Configurations as the command line writes them. What an axis may be is axes.cpp's business.
#include "model/configuration_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rehearse::model {

namespace {

std::unexpected<Error> bad(std::string field, std::string what, std::string remedy) {
  return std::unexpected(
      Error{.what = std::move(what), .field = std::move(field), .remedy = std::move(remedy)});
}

Result<void> check_axis_name(std::string_view name) {
  if (find_axis(name) != nullptr) {
    return {};
  }
  std::vector<std::string_view> known{"cluster", "name"};
  for (const AxisInfo& info : axis_table()) {
    known.push_back(info.name);
  }
  const std::string nearest = nearest_name(name, known.data(), known.data() + known.size());
  return bad(std::string(name), fmt::format("unknown axis \"{}\"", name),
             nearest.empty() ? "axes are listed by `rehearse list dialects`"
                             : fmt::format("did you mean \"{}\"?", nearest));
}

// "[20x4,gpu=1]" and "20x4" both name a cluster the way --cluster does.
std::string cluster_spec(const AxisText& value) {
  std::string text = to_string(value);
  if (value.value.empty() && value.bracketed) {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

Result<void> add_item(ConfigurationText& configuration, const AxisParameter& item) {
  if (item.key.empty()) {
    return bad(to_string(item.value), fmt::format("\"{}\" is no axis=value", to_string(item.value)),
               "write axis=value; a value with commas stands in brackets");
  }
  if (item.key == "name") {
    configuration.label = to_string(item.value);
    return {};
  }
  if (item.key == "cluster") {
    if (configuration.cluster) {
      return bad(item.key, "cluster is given twice", "give it once");
    }
    configuration.cluster = cluster_spec(item.value);
    return {};
  }
  if (const Result<void> known = check_axis_name(item.key); !known) {
    return known;
  }
  for (const AxisOverride& other : configuration.overrides) {
    if (other.axis == item.key) {
      return bad(item.key, fmt::format("{} is given twice", item.key), "give it once");
    }
  }
  configuration.overrides.push_back({item.key, item.value});
  return {};
}

}  // namespace

Result<Dialect> parse_dialect(std::string_view text) {
  if (const std::optional<Dialect> dialect = parse_enum<Dialect>(text)) {
    return *dialect;
  }
  const auto& texts = EnumNames<Dialect>::texts;
  const std::string nearest = nearest_name(text, texts.data(), texts.data() + texts.size());
  return bad("dialect", fmt::format("unknown dialect \"{}\"", text),
             (nearest.empty() ? "" : fmt::format("did you mean \"{}\"? ", nearest)) +
                 fmt::format("dialects are {}", fmt::join(texts, ", ")));
}

Result<ConfigurationText> parse_configuration(std::string_view text) {
  const Result<AxisText> value = parse_axis_text(text);
  if (!value) {
    return std::unexpected(value.error());
  }
  const Result<Dialect> dialect = parse_dialect(value->value);
  if (!dialect) {
    return std::unexpected(dialect.error());
  }
  ConfigurationText configuration;
  configuration.label = std::string(text);
  configuration.dialect = *dialect;
  for (const AxisParameter& item : value->parameters) {
    if (const Result<void> added = add_item(configuration, item); !added) {
      return std::unexpected(added.error());
    }
  }
  return configuration;
}

Result<AxisOverride> parse_override(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return bad("", fmt::format("\"{}\" is no axis=value", text), "write axis=value");
  }
  const std::string_view axis = text.substr(0, equals);
  if (const Result<void> known = check_axis_name(axis); !known) {
    return std::unexpected(known.error());
  }
  Result<AxisText> value = parse_axis_text(text.substr(equals + 1));
  if (!value) {
    value.error().field = std::string(axis);
    return std::unexpected(value.error());
  }
  return AxisOverride{std::string(axis), std::move(*value)};
}

Result<void> apply_overrides(SchedulerConfig& config, const std::vector<AxisOverride>& overrides,
                             NameTable& names) {
  for (const AxisOverride& item : overrides) {
    if (Result<void> set = set_axis(config, names, item.axis, item.value); !set) {
      set.error().field = item.axis + set.error().field;
      return set;
    }
  }
  return finish_axes(config);
}

Result<SchedulerConfig> resolve_configuration(const ConfigurationText& configuration,
                                              NameTable& names) {
  SchedulerConfig config = preset(configuration.dialect);
  if (const Result<void> set = apply_overrides(config, configuration.overrides, names); !set) {
    return std::unexpected(set.error());
  }
  return config;
}

std::string configuration_text(const SchedulerConfig& config, const NameTable& names) {
  std::string text(name_of(config.dialect));
  const NameTable no_names;  // presets have no pools, hence no names
  const SchedulerConfig base = preset(config.dialect);
  std::string overrides;
  for (const AxisInfo& info : axis_table()) {
    if (!info.built) {
      continue;
    }
    const AxisText value = get_axis(config, names, info.name);
    if (value != get_axis(base, no_names, info.name)) {
      overrides +=
          fmt::format("{}{}={}", overrides.empty() ? "" : ",", info.name, to_string(value));
    }
  }
  return overrides.empty() ? text : fmt::format("{}[{}]", text, overrides);
}

}  // namespace rehearse::model
