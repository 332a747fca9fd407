// Random scenarios as values: small clusters, some jobs, and faults that hit them where it hurts.
// What is drawn is a function of the options and the seed alone, by integers only. Swarm testing:
// each seed uses a random part of the features with random weights, so that rare ones meet often;
// some seeds have a theme; one seed in five has no faults at all. Nothing that model::unsupported
// refuses is drawn, and what comes out is what a reader of its canonical text would give.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/decisions.hpp"

namespace rehearse::properties {

// What of the scheduler's configuration is drawn, beside the scenario.
enum class DrawnAxes : std::uint8_t {
  none,      // the configuration is taken as it is
  settings,  // axes in which no dialect differs: limits, speculation, slices, output_commit, ...
  all,       // the dialect, too, and any of its axes
};

struct GenOptions {
  model::SchedulerConfig scheduler = model::preset(model::Dialect::psd);
  model::NameTable names;  // of `scheduler`
  DrawnAxes drawn = DrawnAxes::settings;
  std::vector<std::string> kept;  // dotted axes that are never drawn: what somebody has asked for
};

[[nodiscard]] model::Scenario generate(const GenOptions& options, std::uint64_t seed);
// As somebody else decides; the seed names the scenario and decides what its run leaves free. 0 for
// everything gives a plain one: nothing goes wrong in it.
[[nodiscard]] model::Scenario generate(const GenOptions& options, std::uint64_t seed,
                                       model::Decisions& decisions);

}  // namespace rehearse::properties
