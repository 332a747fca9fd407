// A property as data: what a user sees of it and how its monitor is made (properties.md section 1).
#pragma once

#include <cstdint>
#include <string_view>

#include "model/support/enum_names.hpp"
#include "properties/monitors.hpp"

namespace rehearse::properties {

// always: at every event or quiescent instant. eventually: by the end of the run. sometimes: a mark
// that a campaign must have reached.
enum class PropertyKind : std::uint8_t { always, eventually, sometimes };

// Where it is decided: by a monitor in every run, or by comparing runs or reports.
enum class JudgedIn : std::uint8_t { run, tests };

enum class Verdict : std::uint8_t { held, violated, not_judged };

struct Property {
  std::string_view id;  // GANG
  PropertyKind kind;
  std::string_view clause;     // of the specification, and VE- of its full statement
  std::string_view statement;  // one sentence
  MakeMonitor make = nullptr;  // null: listed, no monitor in this version
  JudgedIn judged_in = JudgedIn::run;

  [[nodiscard]] bool built() const { return make != nullptr; }
};

}  // namespace rehearse::properties

namespace rehearse::model {
RH_ENUM_NAMES(properties::PropertyKind, "always", "eventually", "sometimes");
RH_ENUM_NAMES(properties::Verdict, "held", "violated", "not judged");
}  // namespace rehearse::model
