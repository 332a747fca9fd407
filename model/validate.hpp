// The rejections that need nothing but the job, the configuration and two facts about the cluster
// (F5, F6, F8, F11, F12, C8): pure, before anything of the job exists (F9). SHARED_PRODUCER by
// `reuse`, INSUFFICIENT_SLOTS and NO_EXECUTORS need the scheduler's state and are the core's.
#pragma once

#include <string>
#include <vector>

#include "model/job.hpp"
#include "model/scheduler_config.hpp"
#include "model/stage_graph.hpp"
#include "model/support/names.hpp"

namespace rehearse::model {

struct Rejection {
  Code code{};
  std::string detail;  // names the stages or the setting and says why
  bool operator==(const Rejection&) const = default;
};

struct ValidationContext {
  const NameTable* names = nullptr;  // for details; not null
  bool autoscaling = false;          // the cluster scales by itself
};

// True when `code` is in the configuration's reject list.
[[nodiscard]] bool rejects(const SchedulerConfig& config, Code code);

// All that apply among config.reject, at most one entry per code, in the order of that list (F13).
[[nodiscard]] std::vector<Rejection> validate(const JobSpec& job, const StageGraph& graph,
                                              const SchedulerConfig& config,
                                              const ValidationContext& context);

}  // namespace rehearse::model
