// Copies of slow tries (axis speculation, SS-2.4). An attempt that has reached its quantile is
// looked at when something changed in it, and at a tick; what runs longer than the threshold is due
// for a copy, found by launch order: what was launched earlier runs longer. A tick is armed for the
// first multiple of the interval at which that can find anything.
#include "scheduler/speculation.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>

#include "scheduler/places.hpp"

namespace rehearse::scheduler {

namespace {

__extension__ using Wide = __int128;

constexpr model::Duration never = std::numeric_limits<model::Duration>::max();

bool reached(const Speculation& row) {
  return static_cast<std::int64_t>(row.low.size() + row.high.size()) >= row.finished_min;
}

void note_change(Machine& m, StageId stage, Speculation& row) {
  if (reached(row) && !row.listed) {
    row.listed = true;
    m.speculation_changed.push_back(stage);
  }
}

void push(std::vector<model::Duration>& heap, model::Duration value, auto order) {
  heap.push_back(value);
  std::ranges::push_heap(heap, order);
}

model::Duration pop(std::vector<model::Duration>& heap, auto order) {
  std::ranges::pop_heap(heap, order);
  const model::Duration value = heap.back();
  heap.pop_back();
  return value;
}

// A try must run longer than this: whole nanoseconds exceed a fraction when they exceed its floor.
model::Duration threshold_of(const Machine& m, const Speculation& row) {
  if (row.low.empty()) {
    return m.engine.speculation_threshold;  // the attempt of one task
  }
  const model::SpeculationConfig& config = *m.config.speculation;
  const model::Duration left = row.low.front();
  const model::Duration right = row.low.size() > row.high.size() ? left : row.high.front();
  const Wide slow = (Wide{left} + right) * config.multiplier_milli / (2 * model::milli);
  return std::max(config.min_runtime, slow > never ? never : static_cast<model::Duration>(slow));
}

bool contains(const std::vector<StageCold::Launched>& list, const StageCold::Launched& entry) {
  return std::ranges::find(list, entry) != list.end();
}

auto pair_of(auto& row, std::int32_t partition) {
  const auto at = std::ranges::lower_bound(row.pairs, partition, {}, &Speculation::Pair::partition);
  return at != row.pairs.end() && at->partition == partition ? at : row.pairs.end();
}

// Runs in the live attempt, no other try beside it, and its partition is not done.
bool runs_alone(const Machine& m, StageId stage, const Speculation& row,
                const StageCold::Launched& entry) {
  if (!is_live(m, stage, entry)) {
    return false;
  }
  const RunRow& run = m.runs[entry.run];
  return run.attempt == m.stages[stage].attempt &&
         output_executor(m, stage, run.partition) == none_u32 &&
         pair_of(row, run.partition) == row.pairs.end();
}

// The first candidate of StageCold::launched; null if there is none.
const StageCold::Launched* next_candidate(const Machine& m, StageId stage, Speculation& row) {
  const std::vector<StageCold::Launched>& launched = m.colds[m.stages[stage].cold].launched;
  while (row.next < launched.size()) {
    const StageCold::Launched& entry = launched[row.next];
    if (runs_alone(m, stage, row, entry) && !contains(row.due, entry) &&
        !contains(row.alone, entry)) {
      return &entry;
    }
    ++row.next;
  }
  return nullptr;
}

model::Instant started(const Machine& m, const StageCold::Launched& entry) {
  return m.started_at[entry.run.index()];
}

// SS-2.4: its executor will be gone before the try, at that length, can end.
bool is_doomed(const Machine& m, const StageCold::Launched& entry, model::Duration threshold) {
  const ExecutorRow& where = m.executors[m.runs[entry.run].executor];
  return where.draining && Wide{started(m, entry)} + threshold >
                               Wide{where.draining_since} + m.engine.decommission_kill;
}

// Tries that are to get a copy because of where they run, in launch order.
std::vector<StageCold::Launched> doomed_tries(const Machine& m, StageId stage,
                                              const Speculation& row) {
  std::vector<StageCold::Launched> list;
  if (m.engine.decommission_kill == 0) {
    return list;
  }
  const model::Duration threshold = threshold_of(m, row);
  std::ranges::copy_if(m.colds[m.stages[stage].cold].launched, std::back_inserter(list),
                       [&](const StageCold::Launched& entry) {
                         return runs_alone(m, stage, row, entry) && !contains(row.due, entry) &&
                                is_doomed(m, entry, threshold);
                       });
  return list;
}

void find_slow_tries(Machine& m, StageId stage, Speculation& row) {
  const model::Duration threshold = threshold_of(m, row);
  const auto is_slow = [&](const StageCold::Launched& entry) {
    return m.now - started(m, entry) > threshold;
  };
  const std::size_t before = row.due.size();
  std::erase_if(row.alone, [&](const StageCold::Launched& entry) {
    const bool alone = runs_alone(m, stage, row, entry);
    if (alone && is_slow(entry)) {
      row.due.push_back(entry);
    }
    return !alone || is_slow(entry);
  });
  const StageCold::Launched* entry = next_candidate(m, stage, row);
  while (entry != nullptr && is_slow(*entry)) {
    row.due.push_back(*entry);
    ++row.next;
    entry = next_candidate(m, stage, row);
  }
  for (const StageCold::Launched& doomed : doomed_tries(m, stage, row)) {
    row.due.push_back(doomed);
    std::erase(row.alone, doomed);
  }
  if (row.due.size() > before) {
    std::ranges::sort(row.due, {}, &StageCold::Launched::stamp);
    m.queue.set_pending(stage, ProfileId{std::uint32_t{m.stages[stage].profile}});
    m.wants_pass = true;
  }
}

// The first multiple of the interval after now at which the try runs longer than the threshold.
model::Instant tick_for(const Machine& m, model::Instant started, model::Duration threshold) {
  const model::Duration interval = m.config.speculation->interval;
  const Wide from = std::max(Wide{started} + threshold, Wide{m.now}) + 1;
  const Wide due = (from + interval - 1) / interval * interval;
  return due > never ? never : static_cast<model::Instant>(due);
}

void arm(Step& s, StageId stage, Speculation& row) {
  Machine& m = s.m;
  std::erase_if(row.alone, [&](const StageCold::Launched& entry) {
    return !runs_alone(m, stage, row, entry);
  });
  model::Instant earliest = never;
  for (const StageCold::Launched& entry : row.alone) {
    earliest = std::min(earliest, started(m, entry));
  }
  if (const StageCold::Launched* entry = next_candidate(m, stage, row); entry != nullptr) {
    earliest = std::min(earliest, started(m, *entry));
  }
  const bool any = earliest < never;
  model::Instant at = any ? tick_for(m, earliest, threshold_of(m, row)) : never;
  if (!doomed_tries(m, stage, row).empty()) {
    at = std::min(at, tick_for(m, m.now, 0));
  }
  if (row.tick.valid() && row.tick_at <= at && at < never) {
    return;  // it will look again
  }
  if (row.tick.valid()) {
    void_timer(m, row.tick);
    row.tick = TimerId{};
  }
  if (at < never) {
    const StageRow& of = m.stages[stage];
    row.tick_at = at;
    row.tick = set_timer(s, {{}, TimerKind::speculation, of.job, of.index, none_u32}, at - m.now);
  }
}

bool tried_twice(const Machine& m, StageId stage, std::int32_t partition) {
  const std::vector<StageCold::Tries>& tries = m.colds[m.stages[stage].cold].tries;
  return std::ranges::find(tries, partition, &StageCold::Tries::partition) != tries.end();
}

// Where the copy of this run may go: to hosts where no try of its task ran and it is not excluded.
// The policy's own place in its order stays what it was: a pick among some executors only must not
// move it.
ExecutorId place_copy(Machine& m, StageId stage, RunId original, Locality limit) {
  const RunRow& run = m.runs[original];
  ShutPlaces shut = excluded_places(m, stage, run.partition);
  if (!planted(Mutant::c01)) {
    shut.hosts.push_back(m.executors[run.executor].host);
  }
  if (tried_twice(m, stage, run.partition)) {
    for (const Speculation::Over& over : m.speculated.at(stage).over) {
      if (over.partition == run.partition) {
        shut.hosts.push_back(over.host);
      }
    }
  }
  const OpenPlaces slots(m, std::move(shut));
  const std::unique_ptr<PlacementPolicy> placement = m.policies.placement->clone();
  return place_within(m, slots, *placement, stage, run.partition, limit);
}

void start_copy(Step& s, StageId stage, const StageCold::Launched& original, ExecutorId executor) {
  Machine& m = s.m;
  const std::int32_t partition = m.runs[original.run].partition;
  m.policies.placement->taking(m.slots, executor);
  m.slots.take(executor, spec_of(m, stage).profile);
  if (!tried_twice(m, stage, partition)) {
    cold_of(m, stage).tries.push_back({partition, 1, 0});
  }
  const RunId copy = start_run(s, stage, partition, executor, true);
  std::vector<Speculation::Pair>& pairs = m.speculated.at(stage).pairs;
  const auto at = std::ranges::lower_bound(pairs, partition, {}, &Speculation::Pair::partition);
  pairs.insert(at, {partition, original, {copy, m.runs[copy].stamp}});
}

}  // namespace

void speculate_on(Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  const bool by_time = row.pending == 1 && m.engine.speculation_threshold > 0;
  if (row.pending < 2 && !by_time) {
    return;  // its only success is its end; gangs have no attempts of this kind
  }
  Speculation speculation;
  if (!by_time) {
    const model::SpeculationConfig& config = *m.config.speculation;
    speculation.finished_min =
        std::max<std::int64_t>(config.quantile_milli * row.pending / model::milli, 1);
  }
  m.speculated.insert_or_assign(stage, std::move(speculation));
}

void stop_speculating(Machine& m, StageId stage) {
  if (const auto found = m.speculated.find(stage); found != m.speculated.end()) {
    if (found->second.tick.valid()) {
      void_timer(m, found->second.tick);
    }
    m.speculated.erase(found);
  }
}

void note_started(Machine& m, RunId run) {
  if (run.index() >= m.started_at.size()) {
    m.started_at.resize(run.index() + 1, 0);
  }
  m.started_at[run.index()] = m.now;
  const StageId stage = m.runs[run].stage;
  const auto found = m.speculated.find(stage);
  if (found != m.speculated.end() && !found->second.tick.valid()) {
    note_change(m, stage, found->second);  // it may be the only candidate
  }
}

void note_duration(Machine& m, RunId run) {
  const StageId stage = m.runs[run].stage;
  const auto found = m.speculated.find(stage);
  if (found == m.speculated.end() || m.runs[run].attempt != m.stages[stage].attempt) {
    return;
  }
  Speculation& row = found->second;
  const model::Duration length = m.now - m.started_at[run.index()];
  push(row.low, length, std::less{});
  push(row.high, pop(row.low, std::less{}), std::greater{});
  if (row.high.size() > row.low.size()) {
    push(row.low, pop(row.high, std::greater{}), std::less{});
  }
  note_change(m, stage, row);
}

void note_over(Machine& m, RunId run) {
  const RunRow& of = m.runs[run];
  const auto found = m.speculated.find(of.stage);
  if (found == m.speculated.end() || of.attempt != m.stages[of.stage].attempt) {
    return;
  }
  Speculation& row = found->second;
  row.over.push_back({of.partition, m.executors[of.executor].host});
  if (const auto pair = pair_of(row, of.partition); pair != row.pairs.end()) {
    row.alone.push_back(pair->copy.run == run ? pair->original : pair->copy);
    row.pairs.erase(pair);
  }
  note_change(m, of.stage, row);  // the tick may have been for it
}

void launches_moved(Machine& m, StageId stage) {
  if (const auto found = m.speculated.find(stage); found != m.speculated.end()) {
    found->second.next = 0;
  }
}

bool runs_now(const Machine& m, StageId stage, std::int32_t partition) {
  if (!m.config.speculation) {
    return false;
  }
  const auto found = m.speculated.find(stage);
  return found != m.speculated.end() &&
         std::ranges::any_of(found->second.alone, [&](const StageCold::Launched& entry) {
           return is_live(m, stage, entry) && m.runs[entry.run].partition == partition;
         });
}

void note_draining(Machine& m, ExecutorId executor) {
  for (const RunId run : m.executors[executor].runs) {
    const StageId stage = m.runs[run].stage;
    if (const auto found = m.speculated.find(stage); found != m.speculated.end()) {
      note_change(m, stage, found->second);
      m.wants_pass = true;  // it arms the tick
    }
  }
}

std::size_t copies_wanted(const Machine& m, StageId stage) {
  const auto found = m.speculated.find(stage);
  if (found == m.speculated.end()) {
    return 0;
  }
  const Speculation& row = found->second;
  return static_cast<std::size_t>(std::ranges::count_if(
      row.due, [&](const StageCold::Launched& entry) { return runs_alone(m, stage, row, entry); }));
}

bool copies_due(const Machine& m, StageId stage) {
  if (!m.config.speculation) {
    return false;
  }
  const auto found = m.speculated.find(stage);
  return found != m.speculated.end() && !found->second.due.empty();
}

void take_ticks(Step& s) {
  Machine& m = s.m;
  if (m.now % m.config.speculation->interval != 0) {
    return;
  }
  for (const StageId stage : m.speculation_changed) {
    if (const auto found = m.speculated.find(stage);
        found != m.speculated.end() && found->second.listed) {
      find_slow_tries(m, stage, found->second);
    }
  }
  m.wants_pass = false;  // this is it
}

void arm_ticks(Step& s) {
  Machine& m = s.m;
  for (const StageId stage : m.speculation_changed) {
    if (const auto found = m.speculated.find(stage);
        found != m.speculated.end() && found->second.listed) {
      found->second.listed = false;
      arm(s, stage, found->second);
    }
  }
  m.speculation_changed.clear();
}

void tick(Step& s, const TimerRow& timer) {
  Machine& m = s.m;
  const StageId stage = stage_of(m, timer.job, timer.consumer);
  Speculation& row = m.speculated.at(stage);
  row.tick = TimerId{};
  find_slow_tries(m, stage, row);
  arm(s, stage, row);
}

void launch_copies(Step& s, StageId stage, Outlook* outlook, Locality limit) {
  Machine& m = s.m;
  const auto found = m.speculated.find(stage);
  if (found == m.speculated.end() || found->second.due.empty()) {
    return;
  }
  Speculation& row = found->second;
  const Locality farthest = std::min(limit, m.round.limit.value_or(limit));
  const ProfileId profile = spec_of(m, stage).profile;
  std::erase_if(row.due, [&](const StageCold::Launched& entry) {
    return !runs_alone(m, stage, row, entry);  // it ended meanwhile
  });
  std::size_t kept = 0;
  std::size_t at = 0;
  for (; at < row.due.size() && m.slots.most_free(profile).valid(); ++at) {
    const StageCold::Launched entry = row.due[at];
    const std::int32_t partition = m.runs[entry.run].partition;
    const bool inputs_there = m.stages[stage].missing_inputs == 0;
    const ExecutorId executor = inputs_there || planted(Mutant::c02)
                                    ? place_copy(m, stage, entry.run, farthest)
                                    : ExecutorId{};
    if (executor.valid() &&
        (outlook == nullptr || is_harmless(m, *outlook, stage, partition, executor))) {
      start_copy(s, stage, entry, executor);
    } else {
      row.due[kept++] = entry;
    }
  }
  row.due.erase(row.due.begin() + static_cast<std::ptrdiff_t>(kept),
                row.due.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace rehearse::scheduler
