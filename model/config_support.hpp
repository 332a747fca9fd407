// What of the scenario format this version executes. Everything else is refused by name before a
// run starts, never ignored (cli.md).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "model/scenario.hpp"
#include "model/support/error.hpp"

namespace rehearse::model {

// The first thing a loaded scenario asks for that is not built yet: Error.field is the JSON pointer
// of the key, the remedy names what is built. Nothing when all of it can be executed. Keys that
// only data-flow timings read do no harm elsewhere and are not refused.
[[nodiscard]] std::optional<Error> unsupported(const Scenario& scenario);

// The values of an axis that are executed, in the order of its table; empty = every value is.
[[nodiscard]] std::span<const std::string_view> built_values(std::string_view axis);

}  // namespace rehearse::model
