// The workload of the throughput benchmark: jobs of five stages (a diamond and a tail), 200 tasks a
// stage on average, three stages in ten inside a pipelined pair of 4 to 15 tasks each, two task
// shapes, durations lognormal(0.5) drawn per task, load 0.8, one task in a thousand failing.
#pragma once

#include <cstdint>

#include "model/scenario.hpp"

namespace rehearse::bench {

struct WorkloadOptions {
  std::int32_t hosts = 1000;  // of 16 cores and 64 GB
  std::int64_t tasks_about = 1'000'000;
  std::uint64_t seed = 1;
  model::Dialect dialect = model::Dialect::psd;  // with `overtake: backfill`
};

[[nodiscard]] model::Scenario throughput_workload(const WorkloadOptions& options);

}  // namespace rehearse::bench
