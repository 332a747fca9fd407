// The axes table: one row per axis, with how it is set and shown, and one row per parameter of a
// value. Which values this version executes is config_support.cpp's business.
#include "model/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>

#include "model/support/check.hpp"
#include "model/support/units.hpp"

namespace rehearse::model {

namespace {

using Set = Result<void> (*)(SchedulerConfig&, NameTable&, std::string_view, const AxisText&);
using Get = AxisText (*)(const SchedulerConfig&, const NameTable&, std::string_view);

struct AxisRow {
  AxisInfo info;
  Set set;
  Get get;
};

std::unexpected<Error> bad(std::string field, std::string what, std::string remedy) {
  return std::unexpected(
      Error{.what = std::move(what), .field = std::move(field), .remedy = std::move(remedy)});
}

// ---- parameters of values ----

enum class ParameterKind : std::uint8_t { duration, integer, decimal };

// A parameter of one value of an axis. Not given = the dialect's own value, unless `required`.
struct ParameterRow {
  std::string_view axis;
  std::string_view value;
  std::string_view key;
  ParameterKind kind;
  std::int64_t min;
  bool required;
  std::int64_t& (*field)(SchedulerConfig&);
};

constexpr std::array parameter_rows = std::to_array<ParameterRow>({
    {"grouping", "bubble", "slots", ParameterKind::integer, 1, true,
     [](SchedulerConfig& c) -> std::int64_t& { return c.bubble_slots; }},
    {"admission.hold", "bulk", "timeout", ParameterKind::duration, 0, true,
     [](SchedulerConfig& c) -> std::int64_t& { return c.admission.bulk_timeout; }},
    {"admission.short", "retry", "interval", ParameterKind::duration, 1, false,
     [](SchedulerConfig& c) -> std::int64_t& { return c.admission.retry_interval; }},
    {"admission.short", "retry", "max", ParameterKind::integer, 0, false,
     [](SchedulerConfig& c) -> std::int64_t& { return c.admission.retry_max; }},
    {"admission.short", "fall-back", "after", ParameterKind::duration, 0, false,
     [](SchedulerConfig& c) -> std::int64_t& { return c.admission.fall_back_after; }},
    {"admission.overtake", "aging", "after", ParameterKind::duration, 0, true,
     [](SchedulerConfig& c) -> std::int64_t& { return c.admission.aging_after; }},
    {"slots", "shared", "factor", ParameterKind::integer, 0, true,
     [](SchedulerConfig& c) -> std::int64_t& { return c.slots_factor; }},
    {"failure.group", "rerun-group", "max", ParameterKind::integer, 0, true,
     [](SchedulerConfig& c) -> std::int64_t& { return c.failure.rerun_max; }},
    {"failure.group", "rerun-group", "delay", ParameterKind::duration, 0, false,
     [](SchedulerConfig& c) -> std::int64_t& { return c.failure.rerun_delay; }},
});

constexpr std::int64_t thousandths = 1000;

Result<std::int64_t> read_number(ParameterKind kind, const AxisText& value) {
  if (value.bracketed) {
    return bad("", fmt::format("\"{}\" takes no parameters", to_string(value)), "write one value");
  }
  if (kind == ParameterKind::duration) {
    if (value.written == WrittenAs::json_number && value.value != "0") {
      return bad("", fmt::format("the duration {} has no unit", value.value),
                 fmt::format("write \"{}ms\" or \"{}s\"", value.value, value.value));
    }
    if (value.written == WrittenAs::json_boolean) {
      return bad("", "a duration is expected", "write a string with a unit: \"10ms\"");
    }
    return parse_duration(value.value);
  }
  if (value.written == WrittenAs::json_string || value.written == WrittenAs::json_boolean) {
    return bad("", fmt::format("\"{}\" is not a number", value.value), "write it without quotes");
  }
  if (kind == ParameterKind::integer &&
      value.value.find_first_not_of("-0123456789") != std::string::npos) {
    return bad("", fmt::format("\"{}\" is not a whole number", value.value), "write an integer");
  }
  return parse_decimal(value.value, kind == ParameterKind::integer ? 1 : thousandths);
}

std::string show_number(ParameterKind kind, std::int64_t value) {
  switch (kind) {
    case ParameterKind::duration:
      return format_duration(value);
    case ParameterKind::integer:
      return std::to_string(value);
    case ParameterKind::decimal:
      return format_decimal(value, thousandths);
  }
  RH_CHECK(false, value);
}

// Reads a number of at least `min`; field "" in errors.
Result<std::int64_t> read_bounded(ParameterKind kind, std::int64_t min, const AxisText& value) {
  Result<std::int64_t> number = read_number(kind, value);
  if (number && *number < min) {
    return bad("", fmt::format("{} is too small", show_number(kind, *number)),
               fmt::format("at least {}", show_number(kind, min)));
  }
  return number;
}

std::unexpected<Error> inside(std::string_view path, Error error) {
  error.field = fmt::format("{}{}", path, error.field);
  return std::unexpected(std::move(error));
}

std::unexpected<Error> unknown_parameter(std::string_view path, std::string_view key,
                                         const std::vector<std::string_view>& known) {
  const std::string nearest = nearest_name(key, known.data(), known.data() + known.size());
  std::string remedy = known.empty() ? std::string("it takes none")
                                     : fmt::format("known here: {}", fmt::join(known, ", "));
  if (!nearest.empty()) {
    remedy = fmt::format("did you mean \"{}\"? {}", nearest, remedy);
  }
  return bad(fmt::format("{}/{}", path, key), fmt::format("unknown parameter \"{}\"", key),
             std::move(remedy));
}

// The rows of one value, in table order.
std::vector<const ParameterRow*> rows_of(std::string_view axis, std::string_view value) {
  std::vector<const ParameterRow*> rows;
  for (const ParameterRow& row : parameter_rows) {
    if (row.axis == axis && row.value == value) {
      rows.push_back(&row);
    }
  }
  return rows;
}

Result<void> set_parameters(SchedulerConfig& config, std::string_view axis, const AxisText& value,
                            bool chosen_by_preset) {
  const std::vector<const ParameterRow*> rows = rows_of(axis, value.value);
  std::vector<std::string_view> known;
  for (const ParameterRow* row : rows) {
    known.push_back(row->key);
  }
  const std::string path = "/" + value.value;
  std::vector<std::string_view> given;
  for (const AxisParameter& item : value.parameters) {
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const ParameterRow* r) { return r->key == item.key; });
    if (row == rows.end()) {
      return unknown_parameter(path, item.key.empty() ? item.value.value : item.key, known);
    }
    const std::string place = fmt::format("{}/{}", path, item.key);
    if (std::find(given.begin(), given.end(), item.key) != given.end()) {
      return bad(place, fmt::format("\"{}\" is given twice", item.key), "give it once");
    }
    given.push_back(item.key);
    const Result<std::int64_t> number = read_bounded((*row)->kind, (*row)->min, item.value);
    if (!number) {
      return inside(place, number.error());
    }
    (*row)->field(config) = *number;
  }
  for (const ParameterRow* row : rows) {
    if (row->required && !chosen_by_preset &&
        std::find(given.begin(), given.end(), row->key) == given.end()) {
      return bad(path, fmt::format("\"{}\" needs \"{}\"", value.value, row->key),
                 fmt::format("write {}[{}=...], or the same as an object", value.value, row->key));
    }
  }
  return {};
}

// ---- choices ----

// By axis. Written when a program starts, then only read.
std::map<std::string, std::vector<std::string_view>, std::less<>>& known_policies() {
  static std::map<std::string, std::vector<std::string_view>, std::less<>> names;
  return names;
}

bool is_known_policy(std::string_view axis, std::string_view name) {
  const auto found = known_policies().find(axis);
  return found != known_policies().end() &&
         std::find(found->second.begin(), found->second.end(), name) != found->second.end();
}

template <NamedEnum E>
std::vector<std::string_view> all_names(std::string_view axis) {
  std::vector<std::string_view> names(EnumNames<E>::texts.begin(), EnumNames<E>::texts.end());
  if (const auto found = known_policies().find(axis); found != known_policies().end()) {
    names.insert(names.end(), found->second.begin(), found->second.end());
  }
  return names;
}

template <NamedEnum E>
Result<E> read_choice(std::string_view axis, const AxisText& value) {
  if (value.written == WrittenAs::json_number || value.written == WrittenAs::json_boolean) {
    return bad("", fmt::format("{} is no value of {}", value.value, axis),
               fmt::format("write one of: {}", fmt::join(all_names<E>(axis), ", ")));
  }
  const std::optional<E> chosen = parse_enum<E>(value.value);
  if (chosen) {
    return *chosen;
  }
  const std::vector<std::string_view> names = all_names<E>(axis);
  const std::string nearest = nearest_name(value.value, names.data(), names.data() + names.size());
  return bad("", fmt::format("unknown value \"{}\" of {}", value.value, axis),
             (nearest.empty() ? "" : fmt::format("did you mean \"{}\"? ", nearest)) +
                 fmt::format("known are: {}", fmt::join(names, ", ")));
}

// `fair` alone has a parameter that is no number.
Result<void> set_fair_ties(SchedulerConfig& config, const AxisText& value) {
  for (const AxisParameter& item : value.parameters) {
    if (item.key != "ties") {
      return unknown_parameter("/fair", item.key.empty() ? item.value.value : item.key, {"ties"});
    }
    if (item.value.value != "text" && item.value.value != "submission") {
      return bad("/fair/ties", fmt::format("unknown value \"{}\" of ties", item.value.value),
                 "known are: submission, text");
    }
    config.admission.fair_ties_text = item.value.value == "text";
  }
  return {};
}

// ---- policies that are no enumerators ----

// Where the axis keeps one; null for an axis whose values are no policies.
template <class E, class Config>
auto* object_of(Config& config) {
  if constexpr (std::is_same_v<E, QueueOrder>) {
    return &config.admission.queue_object;
  } else if constexpr (std::is_same_v<E, Overtake>) {
    return &config.admission.overtake_object;
  } else if constexpr (std::is_same_v<E, Placement>) {
    return &config.placement_object;
  } else {
    return static_cast<std::optional<PolicyObject>*>(nullptr);
  }
}

template <class E>
constexpr bool takes_objects =
    std::is_same_v<E, QueueOrder> || std::is_same_v<E, Overtake> || std::is_same_v<E, Placement>;

// What the enumerator is while an object decides: the value of which least is promised.
template <class E>
constexpr E beside_an_object() {
  if constexpr (std::is_same_v<E, QueueOrder>) {
    return QueueOrder::unordered;
  } else if constexpr (std::is_same_v<E, Overtake>) {
    return Overtake::backfill;
  } else {
    return Placement::spread;
  }
}

std::size_t object_colon(std::string_view text) {
  const std::size_t end = text.find(".so:");
  return end == std::string_view::npos ? end : end + 3;
}

Result<PolicyObject> read_object(const AxisText& value) {
  const std::size_t colon = object_colon(value.value);
  PolicyObject object{{}, value.value, {}};
  if (colon != std::string_view::npos) {
    object.file = value.value.substr(0, colon);
    object.name = value.value.substr(colon + 1);
  }
  if (object.name.empty()) {
    return bad("", fmt::format("\"{}\" names no policy", value.value),
               "write FILE.so:NAME, or FILE.so:NAME[KEY=VALUE]");
  }
  for (const AxisParameter& item : value.parameters) {
    if (item.key.empty()) {
      return bad("", fmt::format("\"{}\" is no parameter", to_string(item.value)),
                 "write KEY=VALUE");
    }
    object.parameters.emplace_back(item.key, to_string(item.value));
  }
  return object;
}

AxisText object_text(const PolicyObject& object) {
  AxisText text(object.file.empty() ? object.name : object.file + ":" + object.name);
  for (const auto& [key, value] : object.parameters) {
    text.bracketed = true;
    text.parameters.push_back({key, AxisText(value)});
  }
  return text;
}

template <auto Field>
Result<void> set_choice(SchedulerConfig& config, NameTable&, std::string_view axis,
                        const AxisText& value) {
  using E = std::remove_cvref_t<decltype(Field(config))>;
  if constexpr (takes_objects<E>) {
    object_of<E>(config)->reset();
    if (object_colon(value.value) != std::string_view::npos || is_known_policy(axis, value.value)) {
      Result<PolicyObject> object = read_object(value);
      if (!object) {
        return std::unexpected(std::move(object.error()));
      }
      *object_of<E>(config) = std::move(*object);
      Field(config) = beside_an_object<E>();
      return {};
    }
  }
  const Result<E> chosen = read_choice<E>(axis, value);
  if (!chosen) {
    return std::unexpected(chosen.error());
  }
  SchedulerConfig base = preset(config.dialect);
  for (const ParameterRow& row : parameter_rows) {
    if (row.axis == axis) {
      row.field(config) = row.field(base);
    }
  }
  const bool chosen_by_preset = Field(base) == *chosen;
  Field(config) = *chosen;
  if constexpr (std::is_same_v<E, QueueOrder>) {
    config.admission.fair_ties_text = base.admission.fair_ties_text;
    if (*chosen == QueueOrder::fair) {
      return set_fair_ties(config, value);
    }
  }
  return set_parameters(config, axis, value, chosen_by_preset);
}

template <auto Field>
AxisText get_choice(const SchedulerConfig& config, const NameTable&, std::string_view axis) {
  using E = std::remove_cvref_t<decltype(Field(config))>;
  if constexpr (takes_objects<E>) {
    if (const auto& object = *object_of<E>(config)) {
      return object_text(*object);
    }
  }
  AxisText text{std::string(name_of(Field(config)))};
  for (const ParameterRow* row : rows_of(axis, text.value)) {
    SchedulerConfig copy = config;  // only to read its field
    text.bracketed = true;
    text.parameters.push_back(
        {std::string(row->key), AxisText(show_number(row->kind, row->field(copy)))});
  }
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(Field(config))>, QueueOrder>) {
    if (config.admission.queue == QueueOrder::fair) {
      text.bracketed = true;
      text.parameters.push_back(
          {"ties", AxisText(config.admission.fair_ties_text ? "text" : "submission")});
    }
  }
  return text;
}

// ---- plain values ----

template <ParameterKind Kind, std::int64_t Min, auto Field>
Result<void> set_number(SchedulerConfig& config, NameTable&, std::string_view,
                        const AxisText& value) {
  const Result<std::int64_t> number = read_bounded(Kind, Min, value);
  if (!number) {
    return std::unexpected(number.error());
  }
  Field(config) = *number;
  return {};
}

template <ParameterKind Kind, auto Field>
AxisText get_number(const SchedulerConfig& config, const NameTable&, std::string_view) {
  return AxisText(show_number(Kind, Field(config)));
}

// An integer that may be absent: "none".
template <auto Field>
Result<void> set_bound(SchedulerConfig& config, NameTable& names, std::string_view axis,
                       const AxisText& value) {
  if (value.value == "none" && !value.bracketed) {
    Field(config) = std::nullopt;
    return {};
  }
  const Result<std::int64_t> number = read_bounded(ParameterKind::integer, 1, value);
  if (!number) {
    return std::unexpected(number.error());
  }
  static_cast<void>(names);
  static_cast<void>(axis);
  Field(config) = *number;
  return {};
}

template <auto Field>
AxisText get_bound(const SchedulerConfig& config, const NameTable&, std::string_view) {
  return AxisText(Field(config) ? std::to_string(*Field(config)) : "none");
}

// A21: what a task takes.
constexpr std::string_view without_bound = "unbounded";

Result<void> set_slices(SchedulerConfig& config, NameTable& names, std::string_view axis,
                        const AxisText& value) {
  if (value.value == without_bound && !value.bracketed) {
    config.max_partitions_per_task = any_number_of_partitions;
    return {};
  }
  return set_bound<[](auto& c) -> auto& { return c.max_partitions_per_task; }>(config, names, axis,
                                                                               value);
}

AxisText get_slices(const SchedulerConfig& config, const NameTable&, std::string_view) {
  const std::optional<std::int64_t>& most = config.max_partitions_per_task;
  if (most == any_number_of_partitions) {
    return AxisText(std::string(without_bound));
  }
  return AxisText(most ? std::to_string(*most) : "none");
}

template <auto Field>
Result<void> set_boolean(SchedulerConfig& config, NameTable&, std::string_view axis,
                         const AxisText& value) {
  const bool known = value.value == "true" || value.value == "false";
  const bool quoted = value.written == WrittenAs::json_string;
  if (!known || quoted || value.bracketed) {
    return bad("", fmt::format("\"{}\" is no value of {}", to_string(value), axis),
               "write true or false, without quotes");
  }
  Field(config) = value.value == "true";
  return {};
}

template <auto Field>
AxisText get_boolean(const SchedulerConfig& config, const NameTable&, std::string_view) {
  return AxisText(Field(config) ? "true" : "false");
}

// ---- lists and objects ----

// The last code that can reject; what follows in section 7 are failures.
constexpr std::size_t rejection_codes = static_cast<std::size_t>(Code::no_executors) + 1;

Result<void> set_reject(SchedulerConfig& config, NameTable&, std::string_view,
                        const AxisText& value) {
  const std::string_view* known = EnumNames<Code>::texts.data();
  if (!value.bracketed || !value.value.empty()) {
    return bad("", "a list of rejection codes is expected", "write [CODE,CODE,...]");
  }
  std::vector<Code> list;
  for (std::size_t i = 0; i < value.parameters.size(); ++i) {
    const AxisParameter& item = value.parameters[i];
    const std::string place = fmt::format("/{}", i);
    const std::optional<Code> code = item.key.empty() && !item.value.bracketed
                                         ? parse_enum<Code>(item.value.value)
                                         : std::nullopt;
    if (!code || static_cast<std::size_t>(*code) >= rejection_codes) {
      const std::string nearest = nearest_name(item.value.value, known, known + rejection_codes);
      return bad(place, fmt::format("\"{}\" is no rejection code", to_string(item.value)),
                 nearest.empty() ? "codes are those of the dialects' reject lists"
                                 : fmt::format("did you mean \"{}\"?", nearest));
    }
    if (std::find(list.begin(), list.end(), *code) != list.end()) {
      return bad(place, fmt::format("\"{}\" is listed twice", item.value.value), "list it once");
    }
    list.push_back(*code);
  }
  config.reject = std::move(list);
  return {};
}

AxisText get_reject(const SchedulerConfig& config, const NameTable&, std::string_view) {
  AxisText text;
  text.bracketed = true;
  for (const Code code : config.reject) {
    text.parameters.push_back({"", AxisText(std::string(name_of(code)))});
  }
  return text;
}

std::string text_of_reject(const SchedulerConfig& config) {
  std::string text;
  for (const Code code : config.reject) {
    (text += text.empty() ? '[' : ',') += name_of(code);
  }
  return text.empty() ? "[]" : text + "]";
}

Result<void> set_pool_key(PoolConfig& pool, const AxisParameter& item) {
  if (item.key == "mode") {
    if (item.value.value != "fifo" && item.value.value != "fair") {
      return bad("/mode", fmt::format("unknown value \"{}\" of mode", item.value.value),
                 "known are: fifo, fair");
    }
    pool.fair = item.value.value == "fair";
    return {};
  }
  const bool weight = item.key == "weight";
  if (!weight && item.key != "min_share") {
    return unknown_parameter("", item.key, {"mode", "weight", "min_share"});
  }
  const Result<std::int64_t> number =
      read_bounded(ParameterKind::integer, weight ? 1 : 0, item.value);
  if (!number) {
    return inside("/" + item.key, number.error());
  }
  (weight ? pool.weight : pool.min_share) = *number;
  return {};
}

Result<void> set_pools(SchedulerConfig& config, NameTable& names, std::string_view,
                       const AxisText& value) {
  if (!value.bracketed || !value.value.empty()) {
    return bad("", "an object of pools is expected", "write [name[mode=fair,weight=2],...]");
  }
  std::vector<PoolConfig> pools;
  for (const AxisParameter& item : value.parameters) {
    const std::string& name = item.value.value;
    const std::string place = "/" + name;
    if (!item.key.empty() || name.empty() || name.find_first_of("/#") != std::string::npos) {
      return bad(place, fmt::format("\"{}\" is no name of a pool", to_string(item.value)),
                 "names are not empty and have no / and no #");
    }
    PoolConfig pool;
    pool.name = names.intern(name);
    for (const PoolConfig& other : pools) {
      if (other.name == pool.name) {
        return bad(place, fmt::format("pool \"{}\" is given twice", name), "give it once");
      }
    }
    for (const AxisParameter& key : item.value.parameters) {
      if (const Result<void> set = set_pool_key(pool, key); !set) {
        return inside(place, set.error());
      }
    }
    pools.push_back(pool);
  }
  config.pools = std::move(pools);
  return {};
}

AxisText get_pools(const SchedulerConfig& config, const NameTable& names, std::string_view) {
  AxisText text;
  text.bracketed = true;
  for (const PoolConfig& pool : config.pools) {
    AxisText item{std::string(names.text(pool.name))};
    item.bracketed = true;
    item.parameters = {{"mode", AxisText(pool.fair ? "fair" : "fifo")},
                       {"weight", AxisText(std::to_string(pool.weight))},
                       {"min_share", AxisText(std::to_string(pool.min_share))}};
    text.parameters.push_back({"", std::move(item)});
  }
  return text;
}

struct SpeculationRow {
  std::string_view key;
  ParameterKind kind;
  std::int64_t min;
  std::int64_t SpeculationConfig::* field;
};

constexpr std::array speculation_rows = std::to_array<SpeculationRow>({
    {"quantile", ParameterKind::decimal, 0, &SpeculationConfig::quantile_milli},
    {"multiplier", ParameterKind::decimal, 0, &SpeculationConfig::multiplier_milli},
    {"min_runtime", ParameterKind::duration, 0, &SpeculationConfig::min_runtime},
    {"interval", ParameterKind::duration, 1, &SpeculationConfig::interval},
});

Result<void> set_speculation(SchedulerConfig& config, NameTable&, std::string_view,
                             const AxisText& value) {
  if (value.value == "off" && !value.bracketed && value.written != WrittenAs::json_number) {
    config.speculation = std::nullopt;
    return {};
  }
  if (!value.value.empty() || !value.bracketed) {
    return bad("", fmt::format("unknown value \"{}\" of speculation", to_string(value)),
               "write off, or [quantile=0.9,multiplier=3,min_runtime=100ms,interval=100ms]");
  }
  SpeculationConfig speculation;
  for (const AxisParameter& item : value.parameters) {
    const auto row = std::find_if(speculation_rows.begin(), speculation_rows.end(),
                                  [&](const SpeculationRow& r) { return r.key == item.key; });
    if (row == speculation_rows.end()) {
      return unknown_parameter("", item.key.empty() ? item.value.value : item.key,
                               {"quantile", "multiplier", "min_runtime", "interval"});
    }
    const Result<std::int64_t> number = read_bounded(row->kind, row->min, item.value);
    if (!number) {
      return inside("/" + item.key, number.error());
    }
    speculation.*(row->field) = *number;
  }
  if (speculation.quantile_milli > thousandths) {
    return bad("/quantile", "the quantile is above 1", "a share of the tasks: 0 to 1");
  }
  config.speculation = speculation;
  return {};
}

AxisText get_speculation(const SchedulerConfig& config, const NameTable&, std::string_view) {
  if (!config.speculation) {
    return AxisText("off");
  }
  AxisText text;
  text.bracketed = true;
  for (const SpeculationRow& row : speculation_rows) {
    text.parameters.push_back(
        {std::string(row.key), AxisText(show_number(row.kind, *config.speculation.*(row.field)))});
  }
  return text;
}

// ---- the table ----

Result<void> set_unbuilt(SchedulerConfig&, NameTable&, std::string_view axis, const AxisText&) {
  return bad("", fmt::format("{} is not built yet", axis), "leave it out");
}

AxisText get_unbuilt(const SchedulerConfig&, const NameTable&, std::string_view axis) {
  RH_CHECK(axis.empty());
  return {};
}

// A field of a configuration, for constant and changing ones.
#define RH_FIELD(path) ([](auto& c) -> auto& { return c.path; })

template <auto Field>
constexpr AxisRow choice(std::string_view name, std::string_view values) {
  return {{name, AxisKind::choice, values}, set_choice<Field>, get_choice<Field>};
}

template <std::int64_t Min, auto Field>
constexpr AxisRow integer(std::string_view name) {
  return {{name, AxisKind::integer, "an integer"},
          set_number<ParameterKind::integer, Min, Field>,
          get_number<ParameterKind::integer, Field>};
}

template <auto Field>
constexpr AxisRow duration(std::string_view name) {
  return {{name, AxisKind::duration, "a duration"},
          set_number<ParameterKind::duration, 0, Field>,
          get_number<ParameterKind::duration, Field>};
}

template <auto Field>
constexpr AxisRow bound(std::string_view name) {
  return {{name, AxisKind::integer, "an integer, none"}, set_bound<Field>, get_bound<Field>};
}

constexpr AxisRow unbuilt(std::string_view name, std::string_view values) {
  return {{name, AxisKind::choice, values, false}, set_unbuilt, get_unbuilt};
}

constexpr std::array rows = std::to_array<AxisRow>({
    choice<RH_FIELD(edges)>("edges", "as-marked, all-regular, all-pipelined"),
    choice<RH_FIELD(grouping)>("grouping", "component, region, job, stage, bubble[slots=N]"),
    choice<RH_FIELD(mixed)>("mixed", "allowed, materialized-prefix, rejected"),
    choice<RH_FIELD(admission.queue)>(
        "admission.queue", "fifo, fair[ties=submission|text], priority, smallest-first, unordered"),
    choice<RH_FIELD(admission.hold)>("admission.hold", "reserve, check, bulk[timeout=T], none"),
    choice<RH_FIELD(admission.when_short)>(
        "admission.short", "wait, fail, retry[interval=T,max=N], fall-back[after=T]"),
    choice<RH_FIELD(admission.shortfall)>("admission.shortfall", "failure, rejection"),
    choice<RH_FIELD(admission.overtake)>("admission.overtake",
                                         "never, backfill, easy, aging[after=T]"),
    integer<1, RH_FIELD(admission.depth)>("admission.depth"),
    choice<RH_FIELD(admission.capacity)>("admission.capacity", "free, free-and-unclaimed, total"),
    choice<RH_FIELD(accounting)>("accounting", "sum, largest-stage, whole-executor"),
    choice<RH_FIELD(profiles)>("profiles", "vector, single, default-only"),
    choice<RH_FIELD(slots)>("slots", "exclusive, shared[factor=N]"),
    choice<RH_FIELD(placement)>("placement",
                                "spread, pack, round-robin, nested, consistent-hash, random"),
    duration<RH_FIELD(locality_wait)>("locality_wait"),
    choice<RH_FIELD(locality_reset)>("locality_reset", "spark, never, legacy"),
    choice<RH_FIELD(start)>("start", "eager, lazy, phased"),
    choice<RH_FIELD(completion)>("completion", "group, after-parents, final-stage, immediate"),
    choice<RH_FIELD(task_end)>("task_end", "at-once, with-release"),
    choice<RH_FIELD(output_commit)>("output_commit", "immediate, at-group-commit"),
    integer<1, RH_FIELD(failure.max_task_failures)>("failure.max_task_failures"),
    integer<1, RH_FIELD(failure.max_stage_attempts)>("failure.max_stage_attempts"),
    duration<RH_FIELD(failure.resubmit_delay)>("failure.resubmit_delay"),
    choice<RH_FIELD(failure.group)>("failure.group", "fail-job, rerun-group[max=N,delay=T]"),
    choice<RH_FIELD(failure.member)>("failure.member", "any, counted"),
    choice<RH_FIELD(failure.executor_loss)>("failure.executor_loss",
                                            "needed, any-member, running-only"),
    choice<RH_FIELD(failure.incomplete)>("failure.incomplete", "rerun, success-then-rerun"),
    {{"reject", AxisKind::codes, "a list of rejection codes"}, set_reject, get_reject},
    {{"outputs_survive_executor", AxisKind::boolean, "true, false"},
     set_boolean<RH_FIELD(outputs_survive_executor)>,
     get_boolean<RH_FIELD(outputs_survive_executor)>},
    duration<RH_FIELD(no_executor_grace)>("no_executor_grace"),
    {{"speculation", AxisKind::speculation,
      "off, [quantile=X,multiplier=X,min_runtime=T,interval=T]"},
     set_speculation,
     get_speculation},
    {{"pools", AxisKind::pools, "[NAME[mode=fifo|fair,weight=N,min_share=N],...]"},
     set_pools,
     get_pools},
    choice<RH_FIELD(offers)>("offers", "push, pull"),
    {{"max_partitions_per_task", AxisKind::integer, "an integer, none, unbounded"},
     set_slices,
     get_slices},
    bound<RH_FIELD(read_cap)>("read_cap"),
    unbuilt("registration_wait", "a duration"),
    unbuilt("discovery_poll", "a duration"),
    unbuilt("peer_silence", "a duration"),
    unbuilt("overflow", "block, spill, fail"),
    unbuilt("local_reads", "free, link"),
});

#undef RH_FIELD

constexpr auto infos = [] {
  std::array<AxisInfo, rows.size()> all{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all[i] = rows[i].info;
  }
  return all;
}();

const AxisRow* find_row(std::string_view name) {
  for (const AxisRow& row : rows) {
    if (row.info.name == name) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace

std::span<const AxisInfo> axis_table() { return infos; }

const AxisInfo* find_axis(std::string_view name) {
  const AxisRow* row = find_row(name);
  return row == nullptr ? nullptr : &row->info;
}

Result<void> set_axis(SchedulerConfig& config, NameTable& names, std::string_view axis,
                      const AxisText& value) {
  const AxisRow* row = find_row(axis);
  if (row == nullptr) {
    std::vector<std::string_view> known;
    for (const AxisInfo& info : infos) {
      known.push_back(info.name);
    }
    const std::string nearest = nearest_name(axis, known.data(), known.data() + known.size());
    return bad("", fmt::format("unknown axis \"{}\"", axis),
               nearest.empty() ? "axes are listed by `rehearse list dialects`"
                               : fmt::format("did you mean \"{}\"?", nearest));
  }
  return row->set(config, names, axis, value);
}

void know_policies(std::string_view axis, std::span<const std::string_view> names) {
  known_policies()[std::string(axis)].assign(names.begin(), names.end());
}

AxisText get_axis(const SchedulerConfig& config, const NameTable& names, std::string_view axis) {
  const AxisRow* row = find_row(axis);
  RH_CHECK(row != nullptr && row->info.built);
  return row->get(config, names, axis);
}

std::vector<std::pair<std::string_view, std::string>> resolved_axes(const SchedulerConfig& config,
                                                                    const NameTable& names) {
  std::vector<std::pair<std::string_view, std::string>> resolved;
  resolved.reserve(rows.size());
  for (const AxisRow& row : rows) {
    if (row.info.kind == AxisKind::codes) {
      resolved.emplace_back(row.info.name, text_of_reject(config));
    } else if (row.info.built) {
      AxisText text = row.get(config, names, row.info.name);
      resolved.emplace_back(row.info.name,
                            text.bracketed ? to_string(text) : std::move(text.value));
    }
  }
  return resolved;
}

Result<void> finish_axes(SchedulerConfig& config) {
  if (config.admission.when_short == Short::retry &&
      config.admission.shortfall == Shortfall::rejection) {
    return bad("admission.short", "retry has no later check when a shortfall is a rejection",
               "choose admission.shortfall failure, or admission.short fail");
  }
  complete_reject_list(config);
  return {};
}

}  // namespace rehearse::model
