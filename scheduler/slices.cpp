// Making slices (A21): which partitions, and under which try. What becomes of them is in
// completion.cpp and failure.cpp, partition by partition.
#include "scheduler/slices.hpp"

#include <algorithm>

namespace rehearse::scheduler {

namespace {

using Tries = StageCold::Tries;

// A retried partition goes first (BA-1.3), each kind by partition.
std::int32_t first_pending(const StageRow& row, const StageCold& cold) {
  return cold.again.empty() ? row.next_partition : cold.again.back();
}

// Partitions that follow one another at the front of what is pending, at most so many.
Slice front_of(const StageRow& row, const StageCold& cold, std::int64_t most) {
  Slice slice{first_pending(row, cold), 0};
  std::int32_t next = slice.first;
  auto again = cold.again.rbegin();  // ascending
  for (; again != cold.again.rend() && *again == next && slice.size < most; ++again) {
    ++next;
    ++slice.size;
  }
  if (again == cold.again.rend() && next == row.next_partition) {
    const std::int64_t fresh = row.tasks - row.next_partition;
    slice.size += static_cast<std::int32_t>(std::min(fresh, most - slice.size));
  }
  return slice;
}

void remove_pending(Machine& m, StageId stage, const Slice& slice) {
  StageCold& cold = cold_of(m, stage);
  StageRow& row = m.stages.edit(stage);
  row.pending -= slice.size;
  std::int32_t fresh = slice.size;
  for (; fresh > 0 && !cold.again.empty(); --fresh) {
    cold.again.pop_back();
  }
  row.next_partition += fresh;
}

auto find_tries(StageCold& cold, std::int32_t partition) {
  return std::ranges::find(cold.tries, partition, &Tries::partition);
}

// A slice is one try of all its partitions, a later one than any of them has had: its number is the
// greatest of theirs, and each counts on from there.
void count_try(Machine& m, StageId stage, const Slice& slice) {
  StageCold& cold = cold_of(m, stage);
  if (cold.tries.empty()) {
    return;  // the first of all, as start_run takes for granted
  }
  std::int32_t number = 0;
  for (std::int32_t p = slice.first; p < slice.first + slice.size; ++p) {
    const auto found = find_tries(cold, p);
    number = found == cold.tries.end() ? number : std::max(number, found->tries);
  }
  for (std::int32_t p = slice.first; p < slice.first + slice.size; ++p) {
    auto found = find_tries(cold, p);
    if (found == cold.tries.end()) {
      if (number == 0) {
        continue;
      }
      found = cold.tries.insert(found, {p, 0, 0});
    }
    found->tries = p == slice.first ? number : number + 1;  // start_run counts the first
  }
}

void start_slice(Step& s, StageId stage, const Slice& slice, ExecutorId executor) {
  Machine& m = s.m;
  count_try(m, stage, slice);
  const RunId run = start_run(s, stage, slice.first, executor);
  const std::int32_t more = slice.size - 1;
  RH_CHECK(more <= RunRow::more_max, more);
  m.runs.edit(run).more = static_cast<std::uint16_t>(more) & RunRow::more_max;
  m.stages.edit(stage).running += more;
  m.counters.busy += more;
  std::get<Launch>(s.out.list.back()).more = more;
  if (m.keeps_expected_ends && more > 0) {
    forget_expected_end(m, run);
    note_expected_end(m, run);
  }
}

}  // namespace

void launch_slices(Step& s, StageId stage, Outlook* outlook) {
  Machine& m = s.m;
  const model::JobSpec& job = *m.jobs[m.stages[stage].job].spec;
  const model::StageSpec& spec = job.stages[m.stages[stage].index];
  PlacementPolicy& placement = *m.policies.placement;
  if (m.round.limit && *m.round.limit < Locality::no_preference) {
    return;  // it waits for none of its slots
  }
  while (m.stages[stage].pending > 0) {
    const StageRow& row = m.stages[stage];
    const StageCold& cold = cold_of(m, stage);
    const ExecutorId executor =
        place_task(m, m.slots, placement, job, spec, first_pending(row, cold));
    if (!executor.valid()) {
      return;
    }
    if (row.missing_inputs > 0) {
      end_attempt_without_input(s, stage);
      return;
    }
    const std::int64_t most =
        std::min({m.slots.free_slots(executor, spec.profile), *m.config.max_partitions_per_task,
                  std::int64_t{RunRow::more_max} + 1});
    Slice slice = front_of(row, cold, most);
    if (outlook != nullptr) {
      slice.size = harmless_size(m, *outlook, stage, slice, executor);
    }
    if (slice.size == 0) {
      return;
    }
    placement.taking(m.slots, executor);
    for (std::int32_t i = 0; i < slice.size; ++i) {
      m.slots.take(executor, spec.profile);
    }
    remove_pending(m, stage, slice);
    start_slice(s, stage, slice, executor);
  }
  m.queue.clear_pending(stage, spec.profile);
}

bool is_all_done(const Machine& m, const RunRow& run) {
  return std::ranges::all_of(partitions_of(run), [&m, &run](std::int32_t p) {
    return output_executor(m, run.stage, p) != none_u32;
  });
}

bool runs_in_slice(const Machine& m, StageId stage, std::int32_t partition) {
  if (!has_slices(m)) {
    return false;
  }
  return std::ranges::any_of(live_runs(m, stage), [&m, stage, partition](RunId id) {
    const RunRow& run = m.runs[id];
    return run.attempt == m.stages[stage].attempt && run.covers(partition);
  });
}

}  // namespace rehearse::scheduler
