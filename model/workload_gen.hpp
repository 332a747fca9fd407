// Seeded workloads: cluster, jobs, arrivals and faults as plain values, a function of (seed,
// parameters) and of nothing else. Every draw is a counter hash of what it is for (draw.hpp), so
// that one more job, or another axis, changes no other job. What comes out loads, and no job is one
// that the preset psd must reject: groups fit into the cluster, no regular edge has both ends in
// one group, groups form no cycle.
#pragma once

#include <cstdint>

#include "model/scenario.hpp"

namespace rehearse::model {

// Both ends possible, all between equally likely.
struct IntRange {
  std::int64_t low = 1;
  std::int64_t high = 1;
  bool operator==(const IntRange&) const = default;
};

// Shares and chances are in 1/1000.
struct WorkloadParameters {
  // Jobs. A stage takes its input from an earlier one of its job: over a pipelined edge, which
  // makes both one group, or else over a regular edge.
  std::int64_t jobs = 20;
  IntRange stages{1, 4};                    // per job
  IntRange tasks{1, 4};                     // per stage, less where a group would not fit
  std::int64_t pipelined_milli = 500;       // of stages after the first
  std::int64_t second_input_milli = 200;    // of stages: a regular edge more, if one is allowed
  IntRange duration_ms{1, 20};              // of the tasks of a stage; also their estimate
  std::int64_t spread_milli = 0;            // tasks differ from that by up to this share
  std::int64_t priorities = 1;              // priorities 0 to priorities - 1
  std::int64_t pools = 1;                   // pools "default", p1, p2, ...
  Duration mean_gap = 5 * millisecond;      // between submissions, exponential; 0: all at 0
  std::int64_t gang_capacity_milli = 1000;  // of the cluster that one group may ask for

  // Cluster. Profiles are "default" with 1 cpu, then p1 with 2, p2 with 1, ... cpus.
  std::int64_t executors = 4;
  IntRange cpus{1, 4};  // per executor
  std::int64_t profiles = 1;
  std::int64_t unbound_milli = 0;  // of executors beyond one for each profile
  Duration kill_latency = 0;

  // Faults. A loss or a hold hits executors beyond the first of each profile, each at most once.
  std::int64_t task_failure_milli = 0;  // of tasks: the first try fails half way
  std::int64_t losses_milli = 0;        // of executors
  std::int64_t holds_milli = 0;         // of executors, for 1 to 20 ms
  std::int64_t joins = 0;               // executors that come later
  std::int64_t cancels_milli = 0;       // of jobs
};

// The scheduler is the preset psd with its list of codes complete; axes are the caller's.
// Parameters out of range (no job, no executor, more profiles than executors, an empty range, a
// negative share) are broken promises of the caller.
[[nodiscard]] Scenario generate_workload(std::uint64_t seed, const WorkloadParameters& parameters);

}  // namespace rehearse::model
