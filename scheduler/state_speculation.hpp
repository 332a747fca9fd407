// What the core keeps of an attempt that may be speculated on; nothing while the axis is off.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/state.hpp"

namespace rehearse::scheduler {

// The live attempt of a regular stage, of several tasks unless a threshold is given, from its
// submission to its end.
struct Speculation {
  struct Over {  // a try of this attempt that ended: no copy of its task goes to that host
    std::int32_t partition = 0;
    model::NameId host;
    bool operator==(const Over&) const = default;
  };
  struct Pair {  // two tries of the partition run
    std::int32_t partition = 0;
    StageCold::Launched original;
    StageCold::Launched copy;
    bool operator==(const Pair&) const = default;
  };
  std::int64_t finished_min = 0;      // successes before any copy: the quantile; 0: by time alone
  std::vector<model::Duration> low;   // lower half of the durations of successes, a max-heap,
  std::vector<model::Duration> high;  // and the upper half, a min-heap, never the larger one
  std::size_t next = 0;  // StageCold::launched before it has no candidate but those in `alone`
  std::vector<StageCold::Launched> alone;  // tries beside which another one ended
  std::vector<StageCold::Launched> due;    // tries that are to get a copy, in launch order
  std::vector<Pair> pairs;                 // by partition ascending
  std::vector<Over> over;
  TimerId tick;                // valid while one is armed,
  model::Instant tick_at = 0;  // for then
  bool listed = false;         // in Machine::speculation_changed
  bool operator==(const Speculation&) const = default;
};

}  // namespace rehearse::scheduler
