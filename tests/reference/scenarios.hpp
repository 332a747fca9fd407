// What is compared: scenario files, logs, and what has to be taken out of both.
#pragma once

#include <string>

#include "model/scenario.hpp"
#include "model/support/error.hpp"

namespace rehearse::reference {

// A scenario file, or a log as `replay` makes a scenario of it under dialect sequential.
[[nodiscard]] model::Result<model::Scenario> load(const std::string& path);

// The same experiment as far as the reference knows it: dialect sequential, ties in order, spread,
// no speculation, slices, shared slots or autoscaling, one rack for all of a host. False when it
// needs what is refused or not known (barrier stages).
[[nodiscard]] bool narrow(model::Scenario& scenario);

}  // namespace rehearse::reference
