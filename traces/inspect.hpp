// What `trace inspect` says about a trace, as data (cli.md, JSON results).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/support/error.hpp"
#include "model/trace.hpp"
#include "traces/to_scenario.hpp"

namespace rehearse::traces {

struct UnitSummary {
  std::string name;
  std::int64_t stages = 0;
  // Slots that the widest group of the unit needs if every shuffle is pipelined that can be; 0
  // when there is none.
  std::int64_t slots_as_group = 0;
};

struct TraceSummary {
  std::string format;
  std::string version;
  std::int64_t jobs = 0;
  std::int64_t stages = 0;
  std::int64_t tasks = 0;
  std::int64_t executors = 0;
  std::int64_t unfinished = 0;
  std::int64_t failed_tasks = 0;
  std::int64_t aliased_stages = 0;
  std::int64_t edges = 0;
  std::map<std::string, std::int64_t> task_ends;
  std::vector<model::LoadWarning> warnings;
  std::vector<UnitSummary> units;  // in order of submission
};

// Units are SQL executions where the trace has them (`by` sql), else jobs.
[[nodiscard]] model::Result<TraceSummary> inspect(const model::Trace& trace, Unit by = Unit::sql);

}  // namespace rehearse::traces
