// The real thing: one run of a scenario, as a list of events.
#pragma once

#include <memory>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/events.hpp"

namespace rehearse::oracle_test {

struct CoreJournal {
  std::shared_ptr<const model::NameTable> names;
  std::vector<model::Event> events;
};

[[nodiscard]] CoreJournal run_core(const model::Scenario& scenario);

}  // namespace rehearse::oracle_test
