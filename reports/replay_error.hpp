// How far a replay is from what its trace recorded (traces.md, Two errors). Error of a job =
// |simulated - recorded| / max(recorded, 1 s), over jobs recorded and simulated as succeeded; its
// percentiles are nearest rank. Every other job is named with the reason it was left out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/metrics.hpp"

namespace rehearse::reports {

// One job of the trace, with its simulated fate under one way to take delays.
struct ReplayPair {
  std::string job;
  std::optional<Outcome> recorded;              // absent: the trace does not say
  std::optional<model::Duration> recorded_ns;   // latency
  std::optional<Outcome> simulated;             // absent: not simulated
  std::optional<model::Duration> simulated_ns;  // latency
  std::string note;                             // why it may differ; empty = nothing known
};

struct JobError {
  std::string job;
  model::Duration recorded_ns = 0;
  model::Duration simulated_ns = 0;
  std::int64_t error_ppm = 0;  // parts per million, rounded half up
  std::string note;
};

struct ReplayError {
  std::optional<std::int64_t> median_ppm;
  std::optional<std::int64_t> p90_ppm;
  std::vector<JobError> worst;  // greatest first, then by name; at most `worst_max`
};

struct LeftOut {
  std::string job;
  std::string why;
  bool operator==(const LeftOut&) const = default;
};

struct Recorded {
  std::int64_t jobs = 0;
  std::int64_t stages = 0;
  std::int64_t tasks = 0;
  std::int64_t compared_jobs = 0;  // of the prediction
  std::vector<LeftOut> left_out;   // from the prediction, in the order of the trace
  ReplayError reconstruction;      // delays as recorded
  ReplayError prediction;          // delays of the driver model
};

// Parts per million of max(recorded, 1 s).
[[nodiscard]] std::int64_t error_ppm(model::Duration recorded, model::Duration simulated);

// The pairs that are compared, and those that are not with the reason.
[[nodiscard]] ReplayError replay_error(std::span<const ReplayPair> pairs,
                                       std::size_t worst_max = 5);
[[nodiscard]] std::vector<LeftOut> left_out(std::span<const ReplayPair> pairs);

}  // namespace rehearse::reports
