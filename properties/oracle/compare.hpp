// A journal against the one that the specification demands (oracle.hpp), event for event. Left out:
// `run`, `probe` and `run_end` (they depend on options, scenario.md 5), and the words of `detail`
// (section 5 gives it no text). docs/decisions/0018-oracle.md says how silences are settled.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/events.hpp"
#include "model/violation.hpp"

namespace rehearse::properties::oracle {

// The finding that no monitor makes.
inline constexpr std::string_view contradiction = "ORACLE";

// The first event that differs. One of the lines is empty when a journal ends before the other.
struct Difference {
  model::Instant t = 0;
  std::string kind;      // of the demanded event, else of the one that came
  std::string clause;    // what demands it
  std::string demanded;  // a line of the journal
  std::string came;
  std::vector<std::string> before;  // the last lines in which both agree
};

struct Comparison {
  std::optional<std::string> refused;  // why the oracle does not model the scenario
  std::optional<Difference> difference;
  std::size_t events = 0;  // compared and equal
  // Equal but for where in a pass refusals are told, which no clause says (C12: once, in the first
  // pass that refuses it); decision 3 says it for most.
  bool refusals_move = false;
};

// `journal` is of a whole run of the scenario, its names in `names`.
[[nodiscard]] Comparison compare(const model::Scenario& scenario,
                                 std::span<const model::Event> journal,
                                 const model::NameTable& names);

// As a finding of the run: what is demanded by which clause, and what came.
[[nodiscard]] model::Violation violation_of(const Difference& difference);

}  // namespace rehearse::properties::oracle
