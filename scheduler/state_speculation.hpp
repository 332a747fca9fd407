// What the core keeps of an attempt that may be speculated on; nothing while the axis is off.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/state.hpp"

namespace rehearse::scheduler {

// The live attempt of a regular stage of several tasks, from its submission to its end.
struct Speculation {
  struct Over {  // a try of this attempt that ended: no copy of its task goes to that host
    std::int32_t partition = 0;
    model::NameId host;
    bool operator==(const Over&) const = default;
  };
  std::int64_t finished_min = 0;         // successes before any copy: the quantile
  std::vector<model::Duration> low;      // lower half of the durations of successes, a max-heap,
  std::vector<model::Duration> high;     // and the upper half, a min-heap, never the larger one
  std::size_t next = 0;                  // StageCold::launched before it has no candidate
  std::vector<StageCold::Launched> due;  // tries that are to get a copy, in launch order
  std::vector<std::int32_t> copied;      // partitions of which two tries run
  std::vector<Over> over;
  TimerId tick;                // valid while one is armed,
  model::Instant tick_at = 0;  // for then
  bool listed = false;         // in Machine::speculation_changed
  bool operator==(const Speculation&) const = default;
};

}  // namespace rehearse::scheduler
