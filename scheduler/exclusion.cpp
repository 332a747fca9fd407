// Exclusion after failures (SS-2.7): where tasks must not start, and stages that can start nowhere.
#include "scheduler/exclusion.hpp"

#include <algorithm>
#include <string>

#include "scheduler/duties_data.hpp"
#include "scheduler/places.hpp"

namespace rehearse::scheduler {

namespace {

using Excluded = StageCold::Excluded;
using FailedOn = StageCold::FailedOn;

void watch(Machine& m, StageId stage) {
  const auto at = std::ranges::lower_bound(m.excluding, stage);
  if (at == m.excluding.end() || *at != stage) {
    m.excluding.insert(at, stage);
  }
}

bool watched(const Machine& m, StageId stage) {
  return std::ranges::binary_search(m.excluding, stage);
}

void add(std::vector<Excluded>& list, const Excluded& entry) {
  if (std::ranges::find(list, entry) == list.end()) {
    list.push_back(entry);
  }
}

bool on_host(const Machine& m, ExecutorId executor, model::NameId host) {
  return host.valid() && m.executors[executor].host == host;
}

// Executors of the host that are excluded for the whole stage, because of failures.
std::int32_t excluded_on(const Machine& m, const StageCold& cold, model::NameId host) {
  return static_cast<std::int32_t>(
      std::ranges::count_if(cold.excluded_by_failures, [&](const Excluded& entry) {
        return entry.partition < 0 && entry.executor.valid() && on_host(m, entry.executor, host);
      }));
}

}  // namespace

void exclude(Machine& m, const Exclude& input) {
  if (!m.jobs.has(input.job) || !lives(m, input.job)) {
    return;
  }
  const StageId stage = stage_of(m, input.job, input.stage.value);
  add(cold_of(m, stage).excluded, {input.partition, input.executor, input.host});
  watch(m, stage);
  m.wants_pass = m.wants_pass || m.stages[stage].pending > 0;  // it may be schedulable no more
}

void note_failure(Machine& m, StageId stage, std::int32_t partition, ExecutorId executor) {
  const ExclusionOptions& limits = m.engine.exclusion;
  StageCold& cold = cold_of(m, stage);
  const auto found = std::ranges::find_if(cold.failed_on, [&](const FailedOn& entry) {
    return entry.partition == partition && entry.executor == executor;
  });
  if (found == cold.failed_on.end()) {
    cold.failed_on.push_back({partition, executor, 1});
  } else {
    ++found->failures;
  }
  watch(m, stage);
  const model::NameId host = m.executors[executor].host;
  std::int32_t on_executor = 0;  // failures of the task
  std::int32_t there = 0;        // on the host
  std::int32_t tasks = 0;        // that failed on the executor
  for (const FailedOn& entry : cold.failed_on) {
    const bool same_task = entry.partition == partition;
    const bool here = entry.executor == executor;
    on_executor += same_task && here ? entry.failures : 0;
    there += same_task && on_host(m, entry.executor, host) ? entry.failures : 0;
    tasks += here ? 1 : 0;
  }
  std::vector<Excluded>& list = cold.excluded_by_failures;
  if (on_executor >= limits.task_attempts_per_executor) {
    add(list, {partition, executor, {}});
  }
  if (there >= limits.task_attempts_per_host && host.valid()) {
    add(list, {partition, {}, host});
  }
  if (tasks >= limits.failed_tasks_per_executor) {
    add(list, {-1, executor, {}});
    if (excluded_on(m, cold, host) >= limits.failed_executors_per_host && host.valid()) {
      add(list, {-1, {}, host});
    }
  }
}

bool excludes(const Machine& m, StageId stage) {
  if (m.excluding.empty() || !watched(m, stage) || m.stages[stage].gang.valid()) {
    return false;
  }
  const StageCold& cold = m.colds[m.stages[stage].cold];
  return !cold.excluded.empty() || !cold.excluded_by_failures.empty();
}

ShutPlaces excluded_places(const Machine& m, StageId stage, std::int32_t partition) {
  ShutPlaces shut;
  if (!excludes(m, stage)) {
    return shut;
  }
  const StageCold& cold = m.colds[m.stages[stage].cold];
  for (const std::vector<Excluded>* list : {&cold.excluded, &cold.excluded_by_failures}) {
    for (const Excluded& entry : *list) {
      if (entry.partition >= 0 && entry.partition != partition) {
        continue;
      }
      if (entry.executor.valid()) {
        shut.executors.push_back(entry.executor);
      }
      if (entry.host.valid()) {
        shut.hosts.push_back(entry.host);
      }
    }
  }
  return shut;
}

namespace {

void void_timers(Machine& m, auto which) {
  std::erase_if(m.timers, [&](const TimerRow& timer) {
    return timer.kind == TimerKind::unschedulable && which(timer);
  });
}

bool is_of(const Machine& m, const TimerRow& timer, StageId stage) {
  return timer.job == m.stages[stage].job && timer.consumer == m.stages[stage].index;
}

}  // namespace

void end_exclusion_of_attempt(Machine& m, StageId stage) {
  if (!watched(m, stage)) {
    return;
  }
  StageCold& cold = cold_of(m, stage);
  cold.failed_on.clear();
  cold.excluded_by_failures.clear();
  void_timers(m, [&](const TimerRow& timer) { return is_of(m, timer, stage); });
  if (cold.excluded.empty()) {
    std::erase(m.excluding, stage);
  }
}

void end_exclusion(Machine& m, StageId stage) {
  if (watched(m, stage)) {
    cold_of(m, stage).excluded.clear();
    end_exclusion_of_attempt(m, stage);
  }
}

namespace {

// May it ever start a task of the stage, as far as it lives?
bool could_serve(const Machine& m, StageId stage, ExecutorId executor) {
  const ExecutorRow& row = m.executors[executor];
  return row.phase == ExecutorPhase::live && !row.draining &&
         m.slots.serves(executor, ProfileId{std::uint32_t{m.stages[stage].profile}});
}

// There are executors, and the places are all of them.
bool nowhere(const Machine& m, StageId stage, const ShutPlaces& shut) {
  bool any = false;
  for (std::size_t i = 0; i < m.executors.size(); ++i) {
    const ExecutorId executor{i};
    if (could_serve(m, stage, executor)) {
      any = true;
      if (!is_shut(m, shut, executor)) {
        return false;
      }
    }
  }
  return any;
}

bool is_pending(const Machine& m, StageId stage, std::int32_t partition) {
  const std::vector<std::int32_t>& again = m.colds[m.stages[stage].cold].again;
  return partition >= m.stages[stage].next_partition ||
         std::ranges::find(again, partition) != again.end();
}

// The stage could start tasks, but for a pending one there is no place.
bool is_unschedulable(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  if (!excludes(m, stage) || row.phase != StagePhase::running || row.pending == 0 ||
      row.missing_inputs > 0) {
    return false;
  }
  if (nowhere(m, stage, excluded_places(m, stage, -1))) {
    return true;
  }
  const auto has_no_place = [&](const Excluded& entry) {
    return entry.partition >= 0 && entry.partition < row.tasks &&
           is_pending(m, stage, entry.partition) &&
           nowhere(m, stage, excluded_places(m, stage, entry.partition));
  };
  const StageCold& cold = m.colds[row.cold];
  return std::ranges::any_of(cold.excluded, has_no_place) ||
         std::ranges::any_of(cold.excluded_by_failures, has_no_place);
}

void give_up(Step& s, StageId stage) {
  Machine& m = s.m;
  const std::string detail = "a task of stage " + std::string(m.names->text(stage_name(m, stage))) +
                             " is excluded from every executor";
  complete_attempt(s, stage, model::StageStatus::failed, model::StageReason::task_failed);
  abort_stage(s, stage, model::Code::task_failed, m.names->intern(detail));
}

ExecutorId idle_executor(const Machine& m, StageId stage) {
  for (std::size_t i = 0; i < m.executors.size(); ++i) {
    const ExecutorId executor{i};
    if (could_serve(m, stage, executor) && m.executors[executor].runs.empty()) {
      return executor;
    }
  }
  return ExecutorId{};
}

// All executors are excluded for it.
void ask_for_a_place(Step& s, StageId stage) {
  Machine& m = s.m;
  const StageRow& row = m.stages[stage];
  if (std::ranges::any_of(m.timers, [&](const TimerRow& timer) {
        return timer.kind == TimerKind::unschedulable && is_of(m, timer, stage);
      })) {
    return;  // asked for already
  }
  const ExecutorId idle = idle_executor(m, stage);
  if (!idle.valid() && !m.autoscaling) {
    give_up(s, stage);
    return;
  }
  s.out.list.emplace_back(Unschedulable{row.job, StageIndex{row.index}, idle});
  const model::Duration timeout = m.engine.exclusion.unschedulable_timeout;
  if (timeout == 0) {
    give_up(s, stage);
    return;
  }
  set_timer(s, {{}, TimerKind::unschedulable, row.job, row.index, none_u32}, timeout);
}

}  // namespace

// What starts a task in this pass waits for the next: by then others may have ended.
void judge_schedulable(Step& s, std::int64_t launches) {
  Machine& m = s.m;
  if (m.counters.launches > launches) {
    void_timers(m, [](const TimerRow& /*timer*/) { return true; });
  }
  std::vector<StageId> stages;
  for (const StageId stage : m.excluding) {
    const std::vector<StageCold::Launched>& launched = m.colds[m.stages[stage].cold].launched;
    const bool launched_now =
        !launched.empty() && launched.back().stamp >= static_cast<std::uint32_t>(launches);
    if (!launched_now && is_unschedulable(m, stage)) {
      stages.push_back(stage);
    }
  }
  std::ranges::sort(stages, {}, [&m](StageId stage) { return m.queue.position(stage); });
  for (const StageId stage : stages) {
    if (watched(m, stage) && is_unschedulable(m, stage)) {  // its job still lives
      ask_for_a_place(s, stage);
    }
  }
}

void unschedulable_too_long(Step& s, const TimerRow& timer) {
  const StageId stage = stage_of(s.m, timer.job, timer.consumer);
  if (s.m.stages[stage].phase == StagePhase::running && s.m.stages[stage].pending > 0) {
    give_up(s, stage);
  }
}

std::uint64_t exclusion_hash(const Machine& m) {
  std::uint64_t sum = 0;
  for (const StageId stage : m.excluding) {
    const StageCold& cold = m.colds[m.stages[stage].cold];
    for (const Excluded& entry : cold.excluded) {
      sum +=
          hash_of({stage.value, 0, bits(entry.partition), entry.executor.value, entry.host.value});
    }
    for (const Excluded& entry : cold.excluded_by_failures) {
      sum +=
          hash_of({stage.value, 1, bits(entry.partition), entry.executor.value, entry.host.value});
    }
    for (const FailedOn& entry : cold.failed_on) {
      sum += hash_of(
          {stage.value, 2, bits(entry.partition), entry.executor.value, bits(entry.failures)});
    }
  }
  return sum;
}

}  // namespace rehearse::scheduler
