// The oracle: a small reference model of the specification, written from semantics.md, scenario.md
// and the decisions alone. It runs a scenario by itself, with plain lists and no index, and says
// which events of the journal must come, in order, each with the clause that asks for it. It shares
// nothing with the scheduler but model/. Slow on purpose: it looks at everything in every pass.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/events.hpp"

namespace rehearse::properties::oracle {

// Why the oracle does not model this scenario: an axis, a key or a fault, by name. Nothing: it
// does.
[[nodiscard]] std::optional<std::string> refusal(const model::Scenario& scenario);

struct Demanded {
  model::Event event;
  std::string_view clause;  // what asks for it
};

struct Expected {
  model::NameTable names;        // of the events
  std::vector<Demanded> events;  // without `run`, `probe` and `run_end`
};

// The journal that the specification demands. `detail` is never set: its words are free. Needs a
// scenario without refusal.
[[nodiscard]] Expected expected_journal(const model::Scenario& scenario);

}  // namespace rehearse::properties::oracle
