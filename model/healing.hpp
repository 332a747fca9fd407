// The healing phase of a scenario (docs/decisions/0012): from one instant on nothing is taken away
// any more and nothing new comes, so whatever lives then must come to an end. No key says so; it
// follows from the file.
#pragma once

#include <cstdint>
#include <optional>

#include "model/scenario.hpp"

namespace rehearse::model {

struct Healing {
  Instant at = 0;
  // So many steps of the core are plenty for what is left then: whatever still goes on after them
  // goes on for ever.
  std::int64_t steps_max = 0;
};

// A plan heals at its last instant when executors join at it and, behind it,
//   - no executor is lost: whoever a moment could still take is gone by an entry at an instant;
//   - no executor of the cluster and no job is due, but resubmissions and jobs that follow others.
// What may still come ends by itself: failures of tasks, as each entry names the tries, holds, and
// cancels. No healing phase where there is a horizon or autoscaling.
[[nodiscard]] std::optional<Healing> healing_of(const Scenario& scenario);

}  // namespace rehearse::model
