// Two journals of one scenario, event for event: what the specification demands (the oracle) and
// what came (the core). What is left out of the comparison, and by which silence, stands in
// compare.cpp and in docs/decisions/0018-oracle.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/scenario.hpp"

namespace rehearse::oracle_test {

struct Comparison {
  std::optional<std::string> refused;     // why the oracle does not model the scenario
  std::optional<std::string> difference;  // the first one: clause, both sides, what came before
  std::size_t events = 0;                 // compared and equal
  // Equal but for where in a pass refusals are told, which no clause says (C12: once, in the first
  // pass that refuses it); decision 3 says it for most.
  bool refusals_move = false;
};

[[nodiscard]] Comparison compare(const model::Scenario& scenario);

// What the oracle demands, a line each, with the clause behind it.
[[nodiscard]] std::vector<std::string> demanded_lines(const model::Scenario& scenario);

}  // namespace rehearse::oracle_test
