// A finding: a property that did not hold (properties.md). Never an error, never an exception.
#pragma once

#include <string>

#include "model/support/time.hpp"

namespace rehearse::model {

struct Violation {
  std::string property;  // GANG, ...
  Instant t = 0;         // of the event that broke it
  std::string detail;    // what was seen, what the property says; names, not ids
  bool operator==(const Violation&) const = default;
};

}  // namespace rehearse::model
