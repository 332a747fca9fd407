// Metamorphic relations: a scenario is changed in a way whose effect on the journal is known, and
// both are run. Nothing is known of what is right, only of what must not differ.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/scenario.hpp"
#include "tests/relations/journals.hpp"

namespace rehearse::testing {

struct Verdict {
  bool applies = false;
  std::optional<std::string> difference;
};

struct Relation {
  std::string_view name;  // as in docs/relations.md
  // `journal` is that of the scenario.
  Verdict (*check)(const model::Scenario& scenario, const Journal& journal);
};
[[nodiscard]] std::span<const Relation> relations();

// ---- names and places in the file (order_relations.cpp) ----
[[nodiscard]] Verdict renamed(const model::Scenario& scenario, const Journal& journal);
[[nodiscard]] Verdict jobs_in_another_order(const model::Scenario& scenario,
                                            const Journal& journal);
[[nodiscard]] Verdict faults_in_another_order(const model::Scenario& scenario,
                                              const Journal& journal);
[[nodiscard]] Verdict joins_in_another_order(const model::Scenario& scenario,
                                             const Journal& journal);
[[nodiscard]] Verdict edges_in_another_order(const model::Scenario& scenario,
                                             const Journal& journal);
[[nodiscard]] Verdict ends_in_another_order(const model::Scenario& scenario,
                                            const Journal& journal);

// ---- what is added and leaves no trace (trace_relations.cpp) ----
[[nodiscard]] Verdict cancelled_early(const model::Scenario& scenario, const Journal& journal);
[[nodiscard]] Verdict faults_that_never_come(const model::Scenario& scenario,
                                             const Journal& journal);
[[nodiscard]] Verdict policies_recomputed(const model::Scenario& scenario, const Journal& journal);

}  // namespace rehearse::testing
