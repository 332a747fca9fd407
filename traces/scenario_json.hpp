// Scenario files (scenario.md sections 1 to 3 and 6): JSON with comments to a Scenario and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/scenario.hpp"
#include "model/support/error.hpp"

namespace rehearse::traces {

// Reads one scenario. `file` names it in errors and, without its folder and ending, is the
// scenario's name when it gives none. Strict: unknown keys, keys of features that are not built
// yet, wrong types, values out of range and names that do not exist are errors with the JSON
// pointer as Error.field. Whether this version can execute it is model::unsupported's business.
[[nodiscard]] model::Result<model::Scenario> read_scenario(std::string_view text,
                                                           std::string_view file);

// The canonical form: fixed key order, every value exact, defaults left out, `count` and the short
// cluster form expanded. Reading it gives an equal scenario, writing that gives the same text.
[[nodiscard]] std::string write_scenario(const model::Scenario& scenario);

// True when both mean the same: every field, and the same text for every name.
[[nodiscard]] bool same_scenario(const model::Scenario& left, const model::Scenario& right);

// The pointer of a {"load_error": pointer} that is the sole entry of `expect`; looked for before
// anything else is checked. Nothing when there is none or the text is no JSON object.
[[nodiscard]] std::optional<std::string> expected_load_error(std::string_view text);

}  // namespace rehearse::traces
