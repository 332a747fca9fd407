// Slices (A21): a task of a regular stage that takes several partitions, one range, and on its
// executor a slot for each. The axis max_partitions_per_task decides; where it is absent or 1 every
// task is one partition, and what is here costs nothing. Gangs have no slices: admission counts
// tasks. Nor have stages that wait for places near their data (A13), where each partition has its
// own. Internal to scheduler/.
#pragma once

#include <cstdint>
#include <ranges>

#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

struct Slice {
  std::int32_t first = 0;
  std::int32_t size = 1;  // partitions
};

[[nodiscard]] inline bool has_slices(const Machine& m) {
  return m.config.max_partitions_per_task.value_or(1) > 1;
}
[[nodiscard]] inline bool takes_slices(const Machine& m, StageId stage) {
  return has_slices(m) && !m.stages[stage].gang.valid();
}

// Takes what it can, slice by slice, as launch_pending does task by task. A slice goes where its
// first partition would go.
void launch_slices(Step& s, StageId stage, Outlook* outlook);

// A17: how many partitions of the slice, from its first, may start now beside the head; 0: none.
// What they take is taken from `outlook`. Of the source file lookahead.cpp.
[[nodiscard]] std::int32_t harmless_size(Machine& m, Outlook& outlook, StageId stage,
                                         const Slice& slice, ExecutorId executor);

// Of a run: the partitions it is of, and its slots back to the ledger.
[[nodiscard]] inline auto partitions_of(const RunRow& run) {
  return std::views::iota(run.partition, run.last() + 1);
}
inline void give_slots(Machine& m, const RunRow& run) {
  m.counters.busy -= run.slots();
  for (std::int32_t i = 0; i < run.slots(); ++i) {
    m.slots.give(run.executor, ProfileId{std::uint32_t{run.profile}});
  }
}

// Is every partition of the run done, here or elsewhere?
[[nodiscard]] bool is_all_done(const Machine& m, const RunRow& run);
// A slice of the live attempt runs the partition: nobody else need.
[[nodiscard]] bool runs_in_slice(const Machine& m, StageId stage, std::int32_t partition);

}  // namespace rehearse::scheduler
