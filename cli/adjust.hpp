// Changes to a workload before it runs: fewer jobs, other times, another cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/error.hpp"
#include "model/trace.hpp"

namespace rehearse::cli {

struct Reduction {
  std::optional<std::string> select;     // a regular expression found in the name of a job
  std::optional<std::int64_t> jobs_max;  // of those, the first by submission in file order
  bool relink = false;                   // arrivals follow what is left (traces.md, Arrivals)
};

// Keeps the selected jobs and those whose outputs they read; without relink also those whose end
// they wait for. Returns how many jobs were left out. `recorded` is empty or has one entry per job.
// Errors: nothing is left.
[[nodiscard]] model::Result<std::int64_t> reduce(model::Scenario& scenario,
                                                 std::vector<model::RecordedJob>& recorded,
                                                 const Reduction& reduction);

// Multiplies every time of the workload (tasks, delays, arrivals, executors coming and going, timed
// faults) by ppm / 1'000'000. Errors: a time leaves 64 bits.
[[nodiscard]] model::Result<void> scale_time(model::Scenario& scenario, std::int64_t ppm);

// Divides offsets, gaps and repetitions of submissions by ppm / 1'000'000.
[[nodiscard]] model::Result<void> scale_load(model::Scenario& scenario, std::int64_t ppm);

// Replaces the executors by `spec`: "20x4" (20 executors of 4 cpus), "20x4,gpu=1,memory=8GiB", or a
// file that holds a cluster or a whole scenario. Profiles of the workload stay; those of the file
// are taken where both have one of the name. Faults that name executors must find them; with
// `drop_losses` executors that leave are forgotten with the old cluster.
// Errors: of the specification or the file; a fault names an executor that is not there.
struct ClusterChange {
  std::string spec;
  bool drop_losses = false;
};
[[nodiscard]] model::Result<void> set_cluster(model::Scenario& scenario,
                                              const ClusterChange& change);

// "20 executors, 80 slots": what is there at the start or joins, by the first profile it serves.
[[nodiscard]] std::string cluster_text(const model::Scenario& scenario);

// Copies a job of another scenario: names interned anew. Profiles are found by name; errors name a
// profile that `scenario` does not have.
[[nodiscard]] model::Result<model::JobSpec> adopt_job(model::Scenario& scenario,
                                                      const model::Scenario& other,
                                                      const model::JobSpec& job);

}  // namespace rehearse::cli
