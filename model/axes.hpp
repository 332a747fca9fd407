// Every axis of the scheduler configuration in one table (scenario.md section 3), so that scenario
// files, the command line and the journal's first line read and write the same names and values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/scheduler_config.hpp"
#include "model/support/error.hpp"
#include "model/support/names.hpp"

namespace rehearse::model {

// How a value was written, so that a file's "3" is no number and its 3 no duration. `text` (the
// command line, the journal) fits every kind.
enum class WrittenAs : std::uint8_t { text, json_string, json_number, json_boolean };

struct AxisParameter;

// A value as written: `retry[interval=7ms,max=3]`, `off`, `[A,B]`, `40`.
struct AxisText {
  std::string value;                      // before the bracket; empty for a list or an object
  WrittenAs written = WrittenAs::text;    // of `value`
  bool bracketed = false;                 // has a bracket, possibly empty
  std::vector<AxisParameter> parameters;  // within the bracket, in the order written

  AxisText() = default;
  explicit AxisText(std::string text, WrittenAs as = WrittenAs::text);
  bool operator==(const AxisText& other) const;
};

struct AxisParameter {
  std::string key;  // empty for an item of a list
  AxisText value;
  bool operator==(const AxisParameter&) const = default;
};

// What a value of an axis looks like in a scenario file.
enum class AxisKind : std::uint8_t {
  choice,       // a name, or {"name": {parameters}}
  duration,     // a string with a unit
  integer,      // a number; "none" where there may be no bound
  boolean,      // true or false
  codes,        // a list of names
  pools,        // an object of objects
  speculation,  // "off", or an object of parameters
};

struct AxisInfo {
  std::string_view name;  // dotted: "admission.short"
  AxisKind kind;
  std::string_view values;  // what may stand there, for messages and lists
  bool built = true;        // false: refused by name, has no place in SchedulerConfig
};

// All axes in the order of the journal's `axes` list; `dialect` is not one of them.
[[nodiscard]] std::span<const AxisInfo> axis_table();

// The row of a dotted name, or null.
[[nodiscard]] const AxisInfo* find_axis(std::string_view name);

// Reads `retry[interval=7ms,max=3]`. Brackets nest.
[[nodiscard]] Result<AxisText> parse_axis_text(std::string_view text);
[[nodiscard]] std::string to_string(const AxisText& text);

// Sets one axis. Parameters that are not given have the dialect's own value. Error.field is a
// pointer into the value ("/retry/interval"; empty = the whole), the axis itself is the caller's to
// add. An unknown axis names the nearest one. Call finish_axes after the last one.
[[nodiscard]] Result<void> set_axis(SchedulerConfig& config, NameTable& names,
                                    std::string_view axis, const AxisText& value);

// Policies that this build has beside the enumerators of their axis; they stand in a configuration
// as a PolicyObject without a file. Told once, when a program starts (policies::introduce).
void know_policies(std::string_view axis, std::span<const std::string_view> names);

// The canonical value: every parameter of the value in force, exact. `axis` must be a built one.
[[nodiscard]] AxisText get_axis(const SchedulerConfig& config, const NameTable& names,
                                std::string_view axis);

// All built axes, resolved: (name, canonical text) in table order.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>> resolved_axes(
    const SchedulerConfig& config, const NameTable& names);

// After all overrides: completes `reject` (F13) and refuses combinations that mean nothing.
// Error.field is the dotted axis to blame.
[[nodiscard]] Result<void> finish_axes(SchedulerConfig& config);

}  // namespace rehearse::model
