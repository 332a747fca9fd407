// Makes a scenario small while a judge still finds the same thing in it. It knows scenarios and
// nothing of properties: what counts as found is the judge's business. Fifteen passes in the
// order of what a reader has to understand first: later events, faults, jobs, executors, axes,
// stages and edges, tasks, slots, times, arrivals, details of faults, ties, profiles, two things
// at once, names; again until nothing more goes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/scenario.hpp"
#include "model/violation.hpp"

namespace rehearse::properties {

// What a judge found. Findings of one property in different buckets are different finds.
struct Finding {
  model::Violation violation;
  std::string bucket;

  [[nodiscard]] bool same_as(const Finding& other) const {
    return violation.property == other.violation.property && bucket == other.bucket;
  }
};

// Everything that is found in a run of the scenario, by time; empty: nothing. A function of the
// scenario. What it throws ends the shrinking.
using Judge = std::function<std::vector<Finding>(const model::Scenario&)>;

// What is left to a reader, most important first; less is smaller.
using Measure = std::array<std::int64_t, 12>;
[[nodiscard]] Measure measure_of(const model::Scenario& scenario);

// Faults, jobs with their copies and resubmissions, stages, tasks and executors.
struct ScenarioSize {
  std::int64_t faults = 0;
  std::int64_t jobs = 0;
  std::int64_t stages = 0;
  std::int64_t tasks = 0;
  std::int64_t executors = 0;

  [[nodiscard]] std::int64_t parts() const { return faults + jobs + stages + tasks + executors; }
};
[[nodiscard]] ScenarioSize size_of(const model::Scenario& scenario);

struct ShrinkOptions {
  std::int64_t runs_max = 2000;       // calls of the judge
  std::function<bool()> out_of_time;  // polled between them; empty: never
  std::vector<std::string> kept;      // dotted axes that stay as they are
};

struct OtherFind {
  model::Scenario scenario;
  Finding finding;
};

struct Shrunk {
  model::Scenario scenario;       // without expectations
  Finding finding;                // of its run
  std::int64_t runs = 0;          // of the judge
  std::int64_t steps = 0;         // candidates that were kept
  bool stopped_early = false;     // by runs or by time
  std::vector<OtherFind> others;  // first of each property and bucket that came up on the way
};

// `found` is what the judge says of `scenario`, or one of several things it says.
[[nodiscard]] Shrunk shrink(const model::Scenario& scenario, const Finding& found,
                            const Judge& judge, const ShrinkOptions& options);

// The critical transition: the first instant of those at which something is submitted or goes
// wrong, such that the finding stays when nothing else happens after it and fresh executors of
// every kind come at once. Nothing when the whole recovers by that.
[[nodiscard]] std::optional<model::Instant> critical_instant(const model::Scenario& scenario,
                                                             const Finding& found,
                                                             const Judge& judge);

}  // namespace rehearse::properties
