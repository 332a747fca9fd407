// Random scenarios that are small and nasty: few tasks, few slots, durations that tie, faults of
// every kind, shapes that must be rejected. What is drawn is a function of the seed alone. Says
// nothing about what must hold of a run: that is for the monitors and for random_runs.cpp.
#pragma once

#include <cstdint>
#include <string>

namespace rehearse::testing {

// One scenario file of the features this build executes. Every text loads; equal seeds give equal
// texts. Each seed uses a few features only (drawn first), so that rare ones meet often.
[[nodiscard]] std::string random_scenario(std::uint64_t seed);

}  // namespace rehearse::testing
