// One run of a scenario by the core, against what the oracle demands of it.
#pragma once

#include <string>
#include <vector>

#include "model/scenario.hpp"
#include "properties/oracle/compare.hpp"

namespace rehearse::oracle_test {

[[nodiscard]] properties::oracle::Comparison compare(const model::Scenario& scenario);

// The difference with what came before it, several lines.
[[nodiscard]] std::string text_of(const properties::oracle::Difference& difference);

// What the oracle demands, a line each, with the clause behind it.
[[nodiscard]] std::vector<std::string> demanded_lines(const model::Scenario& scenario);

}  // namespace rehearse::oracle_test
