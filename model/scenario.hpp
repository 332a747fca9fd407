// A scenario: one self-contained, replayable experiment (scenario.md section 2). A value; equal
// scenarios give equal journals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster.hpp"
#include "model/expectation.hpp"
#include "model/fault_plan.hpp"
#include "model/job.hpp"
#include "model/scheduler_config.hpp"
#include "model/support/names.hpp"

namespace rehearse::model {

// Jobs that come from a trace instead of the file; whoever runs the scenario loads it.
struct WorkloadSpec {
  std::string trace;            // a path as the file gives it
  std::string format = "auto";  // a name of `rehearse list formats`
  bool operator==(const WorkloadSpec&) const = default;
};

struct Scenario {
  std::string name;
  std::uint64_t seed = 0;
  Timing timing = Timing::scripted;
  bool ties_shuffled = false;
  std::optional<Instant> horizon;
  std::vector<std::pair<std::string, std::int64_t>> choices;  // {"tie@10ms#2": 1}, file order
  std::string origin_json;  // information only, kept as text; empty = none

  NameTable names;  // gives every NameId below its text; run-time names (q#1) are added by a run
  Cluster cluster;
  SchedulerConfig scheduler;
  std::vector<JobSpec> jobs;             // file order; `repeat` not expanded
  std::optional<WorkloadSpec> workload;  // then `jobs` is empty until it is loaded
  FaultPlan faults;
  std::vector<Expectation> expect;
};

}  // namespace rehearse::model
