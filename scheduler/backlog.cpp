// What an autoscaler asks of the core: how much waits for slots, and whether an executor that runs
// nothing may go (X13). Changes nothing.
#include <algorithm>

#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

Backlog backlog(const Machine& m) {
  Backlog sum{std::vector<std::int64_t>(m.slots.profile_count(), 0), m.counters.busy > 0};
  for (std::size_t p = 0; p < sum.waiting.size(); ++p) {
    const ProfileId profile{p};
    for (std::uint32_t at = m.queue.next_pending(profile, 0); at != no_position;
         at = m.queue.next_pending(profile, at + 1)) {
      const StageRow& row = m.stages[m.queue.unit_at(at)];
      sum.waiting[p] += row.starved ? 0 : row.pending;
    }
  }
  for (const StageId leader : m.queued_gangs) {
    const GangRow& gang = m.gangs[m.stages[leader].gang];
    if (gang.phase != GangPhase::slots || gang.starved) {
      continue;
    }
    for (std::size_t p = 0; p < sum.waiting.size(); ++p) {
      sum.waiting[p] += gang.demand[p];
    }
  }
  return sum;
}

namespace {

bool has_output_on(const Machine& m, StageId stage, ExecutorId executor) {
  const std::uint32_t cold = m.stages[stage].cold;
  return cold != none_u32 &&
         std::ranges::find(m.colds[cold].outputs, executor.value) != m.colds[cold].outputs.end();
}

}  // namespace

bool holds_needed_outputs(const Machine& m, ExecutorId executor) {
  for (const StageId stage : stages_near(m, executor)) {
    const GangId gang = m.stages[stage].gang;
    // X3, X10: a loss before the commit may fail the group.
    const bool uncommitted = gang.valid() && m.gangs[gang].phase == GangPhase::running;
    const bool read = has_readers(m, stage) && !m.config.outputs_survive_executor;
    if ((uncommitted || read) && has_output_on(m, stage, executor)) {
      return true;
    }
  }
  return false;
}

}  // namespace rehearse::scheduler
