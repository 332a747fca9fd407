// Metamorphic relations: a scenario is changed in a way whose effect on the journal is known, and
// both are run. Nothing is known of what is right, only of what must not differ.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/time.hpp"

namespace rehearse::testing {

struct JournalLine {
  model::Instant at = 0;
  std::string event;  // task_start, ...
  std::string job;    // empty: of none
  std::string text;   // from its event on, without the instant
  bool operator==(const JournalLine&) const = default;
};
// A whole run but for the run line, the probes and the run_end line.
using Journal = std::vector<JournalLine>;
[[nodiscard]] Journal run_of(const model::Scenario& scenario);

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

}  // namespace rehearse::testing
