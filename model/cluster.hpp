// The cluster of a scenario: resources, task profiles, executors, delays (scenario.md section 2).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/ids.hpp"
#include "model/resources.hpp"
#include "model/support/distribution.hpp"
#include "model/support/names.hpp"
#include "model/support/time.hpp"

namespace rehearse::model {

struct ExecutorSpec {
  NameId name;
  NameId host;        // always set; "h-<name>" when the file names none
  NameId rack;        // invalid = none
  ProfileId profile;  // invalid = unbound: serves every profile (A4)
  ResourceVector resources;
  std::int64_t speed_milli = milli;  // > 0, 1/1000
  Instant joins = 0;
  bool operator==(const ExecutorSpec&) const = default;
};

// Delays drawn per use; a fixed 0 acts within the step that caused it (scenario.md section 4).
struct Overheads {
  Distribution launch;          // task_start to the start of its computing
  Distribution status;          // a task's end to the moment the scheduler hears of it
  Distribution kill;            // kill order to the return of the slot
  Distribution loss_detection;  // an executor's death to its notice
  bool operator==(const Overheads&) const = default;
};

struct Network {
  Duration latency = 0;
  std::int64_t bandwidth = 1'250'000'000;   // bytes per second, 10Gbit/s
  std::int64_t disk = 500LL * 1024 * 1024;  // bytes per second, 500MiB/s
  bool operator==(const Network&) const = default;
};

struct Autoscale {
  std::int32_t min = 0;
  std::int32_t max = 0;
  Duration backlog = second;
  Duration idle = 60 * second;
  Distribution startup;
  ExecutorSpec executor;
  bool operator==(const Autoscale&) const = default;
};

struct Cluster {
  std::vector<NameId> resources;        // by ResourceId; every ResourceVector has this length
  std::vector<Profile> profiles;        // by ProfileId, file order; "default" is always there
  std::vector<ExecutorSpec> executors;  // file order, `count` expanded
  Overheads overheads;
  Network network;
  std::optional<Autoscale> autoscale;
  bool operator==(const Cluster&) const = default;
};

}  // namespace rehearse::model
