// A run as rows that a person reads: what happened, to whom, and what was free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/scenario.hpp"
#include "properties/fuzz/judged_run.hpp"

namespace rehearse::properties {

struct TimelineRow {
  model::Instant t = 0;
  std::uint64_t number = 0;  // of the event in the journal, from 1
  std::string event;         // "task_start"
  std::string subject;       // "A/a/0 on E1"
  std::string note;          // attempts above 0, codes, reasons
  std::int64_t free = 0;     // slots of all profiles, after the event
  std::int64_t waiting = 0;  // groups that wait for slots
  std::int64_t running = 0;  // tasks
};

// Every event of a run of the scenario but `run` and `probe`; those up to a fault if there is one.
[[nodiscard]] std::vector<TimelineRow> timeline_of(const model::Scenario& scenario,
                                                   const Harness& harness);

}  // namespace rehearse::properties
