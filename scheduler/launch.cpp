// Runs: where a task goes, how a try starts, and how its slot comes back. Whose turn it is belongs
// to admission.cpp.
#include <algorithm>
#include <span>

#include "model/support/draw.hpp"
#include "scheduler/accounting.hpp"
#include "scheduler/duties.hpp"
#include "scheduler/places.hpp"
#include "scheduler/slices.hpp"
#include "scheduler/speculation.hpp"

namespace rehearse::scheduler {

bool is_live(const Machine& m, StageId stage, const StageCold::Launched& entry) {
  const RunRow& run = m.runs[entry.run];
  return run.used && !run.dying && !run.held && run.stage == stage && run.stamp == entry.stamp;
}

namespace {

// Ended runs stay in the list until they are most of a long one: an end costs nothing here.
void note_launch(Machine& m, StageId stage, StageCold& cold, RunId run, std::uint32_t stamp) {
  const StageRow& row = m.stages[stage];
  const std::int64_t live = std::int64_t{row.running} + row.old_running;
  if (static_cast<std::int64_t>(cold.launched.size()) >= 4 * live + 1024) {
    std::erase_if(cold.launched, [&m, stage](const StageCold::Launched& entry) {
      return !is_live(m, stage, entry);
    });
    if (m.config.speculation) {
      launches_moved(m, stage);
    }
  }
  reserve_first(cold.launched);
  cold.launched.push_back({run, stamp});
}

// Of the executors in `list`, the one with room that ranks first (A4, A15): by the policy, a copy
// of which keeps the order of all executors as it is; without one by number. The copy is nothing
// for spread and nested; policies that keep an order of all executors are copied with it.
ExecutorId best_of(const Choice& choice, std::span<const ExecutorId> list) {
  const ProfileId profile = choice.task.profile;
  if (list.empty() || (list.size() == 1 && choice.slots.free_slots(list.front(), profile) == 0)) {
    return ExecutorId{};
  }
  if (list.size() == 1) {
    return list.front();
  }
  const ThesePlaces these(choice.slots, list);
  return choice.placement == nullptr ? these.first_free(profile, 0)
                                     : choice.placement->clone()->pick(these, choice.task);
}

}  // namespace

const Place& place_of(const Machine& m, model::NameId name) {
  static const Place nowhere;
  const auto found = m.place_by_name.find(name.value);
  return found == m.place_by_name.end() ? nowhere : found->second;
}

std::span<const ExecutorId> live_on_host(const Machine& m, model::NameId host) {
  const auto found = m.on_host.find(host.value);
  return found == m.on_host.end() ? std::span<const ExecutorId>{} : found->second;
}

std::span<const ExecutorId> live_on_rack(const Machine& m, model::NameId rack) {
  const auto found = m.on_rack.find(rack.value);
  return found == m.on_rack.end() ? std::span<const ExecutorId>{} : found->second;
}

namespace {

// The first choice at one level near one preferred place.
ExecutorId best_near(const Machine& m, const Choice& choice, model::NameId name, Locality level) {
  if (level == Locality::process) {
    const auto found = m.by_name.find(name.value);
    return found == m.by_name.end() ? ExecutorId{} : best_of(choice, {&found->second, 1});
  }
  const Place& place = place_of(m, name);
  if (level == Locality::node) {
    return best_of(choice, live_on_host(m, place.host));
  }
  for (const model::NameId rack : place.racks) {
    if (const ExecutorId best = best_of(choice, live_on_rack(m, rack)); best.valid()) {
      return best;
    }
  }
  return ExecutorId{};
}

}  // namespace

ExecutorId preferred_at(const Machine& m, const Choice& choice,
                        const std::vector<model::NameId>& prefers, Locality level) {
  for (const model::NameId name : prefers) {
    if (const ExecutorId best = best_near(m, choice, name, level); best.valid()) {
      return best;
    }
  }
  return ExecutorId{};
}

ExecutorId preferred(const Machine& m, const Choice& choice,
                     const std::vector<model::NameId>& prefers) {
  for (const Locality level : {Locality::process, Locality::node, Locality::rack}) {
    const ExecutorId executor = preferred_at(m, choice, prefers, level);
    if (executor.valid()) {
      return executor;
    }
  }
  return ExecutorId{};
}

TaskView task_view(const Machine& m, const model::JobSpec& job, const model::StageSpec& stage,
                   std::int32_t partition) {
  TaskView view;
  view.profile = stage.profile;
  if (m.wants_task_keys) {
    view.key = hash_of({model::name_key(m.names->text(job.name)),
                        model::name_key(m.names->text(stage.name)), bits(partition)});
    view.random = hash_of({m.seed, view.key});
  }
  return view;
}

ExecutorId place_task(Machine& m, const SlotView& slots, PlacementPolicy& placement,
                      const model::JobSpec& job, const model::StageSpec& spec,
                      std::int32_t partition) {
  const TaskView task = task_view(m, job, spec, partition);
  if (!spec.prefers.empty()) {
    const ExecutorId executor =
        preferred(m, {slots, task, &placement}, spec.prefers[static_cast<std::size_t>(partition)]);
    if (executor.valid()) {
      return executor;
    }
  }
  const ExecutorId executor = placement.pick(slots, task);
  RH_CHECK(!executor.valid() || slots.free_slots(executor, spec.profile) > 0, executor.value);
  return executor;
}

Locality nearness(const Machine& m, const std::vector<model::NameId>& prefers,
                  ExecutorId executor) {
  if (prefers.empty()) {
    return Locality::no_preference;
  }
  const ExecutorRow& row = m.executors[executor];
  Locality best = Locality::any;
  for (const model::NameId name : prefers) {
    if (name == row.name) {
      return Locality::process;
    }
    const Place& place = place_of(m, name);
    if (place.host == row.host) {
      best = Locality::node;
    } else if (row.rack.valid() && std::ranges::find(place.racks, row.rack) != place.racks.end()) {
      best = std::min(best, Locality::rack);
    }
  }
  return best;
}

RunId start_run(Step& s, StageId stage, std::int32_t partition, ExecutorId executor,
                bool speculative) {
  Machine& m = s.m;
  StageRow& row = m.stages.edit(stage);
  RH_CHECK(row.phase == StagePhase::running, stage.value);
  RH_CHECK(partition >= 0 && partition < row.tasks, partition, row.tasks);
  std::int32_t try_number = 0;
  StageCold& cold = cold_of(m, stage);
  if (!cold.tries.empty()) {
    const auto found = std::ranges::find(cold.tries, partition, &StageCold::Tries::partition);
    if (found != cold.tries.end()) {
      try_number = found->tries++;
    }
  }
  RH_CHECK(try_number < 32000, try_number);
  const RunId id = m.runs.add_blank();
  RunRow& run = m.runs.edit(id);
  run.stage = stage;
  run.executor = executor;
  run.partition = partition;
  run.epoch = m.executors[executor].epoch;
  run.attempt = row.attempt;
  run.try_number = static_cast<std::int16_t>(try_number);
  run.profile = static_cast<std::uint8_t>(row.profile);
  run.stamp = static_cast<std::uint32_t>(m.counters.launches);
  note_launch(m, stage, cold, id, run.stamp);
  if (m.keeps_expected_ends) {
    note_expected_end(m, id);
  }
  if (m.config.speculation) {
    note_started(m, id);
  }
  ExecutorRow& where = m.executors.edit(executor);
  reserve_first(where.runs);
  where.runs.push_back(id);
  ++row.running;
  ++m.counters.busy;
  ++m.counters.launches;
  const model::JobSpec& spec = *m.jobs[row.job].spec;
  const model::StageSpec& of_stage = spec.stages[row.index];
  const Locality near =
      of_stage.prefers.empty()
          ? Locality::no_preference
          : nearness(m, of_stage.prefers[static_cast<std::size_t>(partition)], executor);
  s.out.add<Launch>(id, row.job, StageIndex{row.index}, executor, spec.name, of_stage.name,
                    where.name, partition, row.attempt, try_number, near, speculative);
  if (planted(Mutant::act02)) {
    std::get<Launch>(s.out.list.back()).executor = ExecutorId{0U};
    std::get<Launch>(s.out.list.back()).executor_name = m.executors[ExecutorId{0U}].name;
  }
  if (planted(Mutant::act03) && try_number > 0) {
    std::get<Launch>(s.out.list.back()).partition = 0;
  }
  return id;
}

std::vector<RunId> live_runs(const Machine& m, StageId stage) {
  std::vector<RunId> runs;
  if (m.stages[stage].cold != none_u32) {
    for (const StageCold::Launched& entry : m.colds[m.stages[stage].cold].launched) {
      if (is_live(m, stage, entry)) {
        runs.push_back(entry.run);
      }
    }
  }
  return runs;
}

void unlink_from_stage(Machine& m, RunId run) {
  if (m.config.speculation) {
    note_over(m, run);
  }
  const RunRow& row = m.runs[run];
  StageRow& stage = m.stages.edit(row.stage);
  const bool live_attempt = stage.phase == StagePhase::running && row.attempt == stage.attempt;
  std::int32_t& count = live_attempt ? stage.running : stage.old_running;
  count -= row.slots();
  RH_CHECK(count >= 0, count, run.value);
}

void free_slot(Step& s, RunId run) {
  Machine& m = s.m;
  const RunRow row = m.runs[run];
  ExecutorRow& where = m.executors.edit(row.executor);
  const auto place = std::ranges::find(where.runs, run);
  RH_CHECK(place != where.runs.end(), row.executor.value);
  where.runs.erase(place);
  if (m.keeps_expected_ends) {
    forget_expected_end(m, run);
  }
  if (in_share(m, run)) {
    leave_share(s, run);
  } else if (!row.dying || !planted(Mutant::m64)) {
    give_slots(m, row);
  }
  if (row.dying && !m.reruns.empty()) {
    kill_took_effect(m, run);
  }
  m.wants_pass = m.wants_pass || !planted(Mutant::mu44);
}

void free_run(Step& s, RunId run) {
  free_slot(s, run);
  s.m.runs.remove(run);
}

// Takes what it can, task by task (A7); a regular unit never blocks those behind it.
void launch_pending(Step& s, StageId stage, Outlook* outlook) {
  Machine& m = s.m;
  const model::JobSpec& job = *m.jobs[m.stages[stage].job].spec;
  const model::StageSpec& spec = job.stages[m.stages[stage].index];
  PlacementPolicy& placement = *m.policies.placement;
  if (m.round.limit && *m.round.limit < Locality::no_preference) {
    return;  // it waits for none of its slots
  }
  while (m.stages[stage].pending > 0) {
    StageCold& cold = cold_of(m, stage);
    const bool again = !cold.again.empty();
    const std::int32_t partition = again ? cold.again.back() : m.stages[stage].next_partition;
    const ExecutorId executor = place_task(m, m.slots, placement, job, spec, partition);
    if (!executor.valid()) {
      return;
    }
    if (m.stages[stage].missing_inputs > 0) {
      if (m.stages[stage].gang.valid()) {
        fail_group(s, m.stages[stage].gang, model::Code::fetch_failed);
      } else {
        end_attempt_without_input(s, stage);
      }
      return;
    }
    if (outlook != nullptr && !is_harmless(m, *outlook, stage, partition, executor)) {
      return;
    }
    placement.taking(m.slots, executor);
    m.slots.take(executor, spec.profile);
    if (again) {
      cold.again.pop_back();
    } else {
      ++m.stages.edit(stage).next_partition;
    }
    --m.stages.edit(stage).pending;
    start_run(s, stage, partition, executor);
  }
  if (m.config.speculation) {
    launch_copies(s, stage, outlook, Locality::any);
  }
  if (!copies_due(m, stage)) {
    m.queue.clear_pending(stage, spec.profile);
  }
}

}  // namespace rehearse::scheduler
