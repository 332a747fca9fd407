// Exclusion after failures (SS-2.7): executors and hosts on which a task, or tasks of one stage,
// failed get no more of them while the attempt lives. Off by default; no scenario sets it (F10).
#pragma once

#include <cstdint>

#include "model/support/time.hpp"
#include "scheduler/ids.hpp"

namespace rehearse::scheduler {

struct ExclusionOptions {
  bool on_failure = false;                      // count failures; else only Exclude inputs
  std::int32_t task_attempts_per_executor = 1;  // failures of a task there: not there again
  std::int32_t task_attempts_per_host = 2;
  std::int32_t failed_tasks_per_executor = 2;  // different tasks of a stage: none of it there
  std::int32_t failed_executors_per_host = 2;
  // A stage of which some task may run nowhere is given up this long after it was found out,
  // unless anything was launched meanwhile.
  model::Duration unschedulable_timeout = 120 * model::second;
};

}  // namespace rehearse::scheduler
