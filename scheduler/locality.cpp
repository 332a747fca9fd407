// Delay scheduling (A13, SS-2.5): tasks of regular stages with preferences wait for a local slot
// before they take one farther away. Each pass offers every free slot; a stage keeps the level it
// has come to and the instant from which its wait counts.
#include <algorithm>

#include "scheduler/places.hpp"
#include "scheduler/speculation.hpp"

namespace rehearse::scheduler {

namespace {

const std::vector<model::NameId>& preferences(const model::StageSpec& spec,
                                              std::int32_t partition) {
  static const std::vector<model::NameId> none;
  return spec.prefers.empty() ? none : spec.prefers[static_cast<std::size_t>(partition)];
}

// Has a task of these preferences a live target of its own at this level?
bool has_target(const Machine& m, const std::vector<model::NameId>& names, Locality level) {
  switch (level) {
    case Locality::process:
      return std::ranges::any_of(
          names, [&m](model::NameId name) { return m.by_name.contains(name.value); });
    case Locality::node:
      return std::ranges::any_of(names, [&m](model::NameId name) {
        return !live_on_host(m, place_of(m, name).host).empty();
      });
    case Locality::rack:
      return std::ranges::any_of(names, [&m](model::NameId name) {
        return std::ranges::any_of(place_of(m, name).racks, [&m](model::NameId rack) {
          return !live_on_rack(m, rack).empty();
        });
      });
    case Locality::no_preference:
      return names.empty();
    case Locality::any:
      return true;
  }
  return true;
}

// Levels at which some pending task has a target; ends with `any`.
std::vector<Locality> levels_of(const Machine& m, const model::StageSpec& spec,
                                const std::vector<std::int32_t>& pending) {
  std::vector<Locality> levels;
  for (const Locality level :
       {Locality::process, Locality::node, Locality::no_preference, Locality::rack}) {
    if (std::ranges::any_of(pending, [&](std::int32_t partition) {
          return has_target(m, preferences(spec, partition), level);
        })) {
      levels.push_back(level);
    }
  }
  levels.push_back(Locality::any);
  return levels;
}

// The stage's level from this one on: one that none of its tasks has a target at is no step.
Locality level_from(const std::vector<Locality>& levels, Locality from) {
  return *std::ranges::find_if(levels, [from](Locality level) { return level >= from; });
}

model::Duration wait_of(const Machine& m, Locality level) {
  return level == Locality::no_preference || level == Locality::any ? 0 : m.config.locality_wait;
}

std::uint8_t bit_of(Locality level) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(level));
}

// A nearer level that it never had, as of an executor that joined: it goes back to that (SS-2.5).
void meet_levels(StageCold::Delay& delay, const std::vector<Locality>& levels) {
  const auto fresh = std::ranges::find_if(
      levels, [&delay](Locality level) { return (delay.known & bit_of(level)) == 0; });
  if (fresh != levels.end() && *fresh < delay.level) {
    delay.level = *fresh;
  }
  for (const Locality level : levels) {
    delay.known |= bit_of(level);
  }
}

// How far from their preferences its tasks may go now; moves the stage's level on.
Locality allowed_level(const Machine& m, StageCold& cold, const std::vector<Locality>& levels) {
  StageCold::Delay& delay = cold.delay;
  meet_levels(delay, levels);
  std::size_t i = 0;
  while (i + 1 < levels.size() && levels[i] < delay.level) {
    ++i;
  }
  if (levels[i] != delay.level && levels[i] != Locality::any) {
    delay.since = m.now;  // nothing is left at the level it was at
  }
  while (i + 1 < levels.size() && m.now - delay.since >= wait_of(m, levels[i])) {
    delay.since += wait_of(m, levels[i]);
    ++i;
  }
  delay.level = levels[i];
  return levels[i];
}

// The next instant at which the stage may go farther, if it waits for one.
void arm(Step& s, StageId stage, Locality allowed) {
  Machine& m = s.m;
  if (allowed == Locality::any) {
    return;
  }
  StageCold::Delay& delay = cold_of(m, stage).delay;
  const model::Instant due = delay.since + wait_of(m, allowed);
  if (due <= m.now || delay.armed == due) {
    return;
  }
  delay.armed = due;
  const StageRow& row = m.stages[stage];
  set_timer(s, {{}, TimerKind::locality, row.job, row.index, none_u32}, due - m.now);
}

struct Found {
  ExecutorId executor;
  Locality level = Locality::any;
};

struct Where {
  const SlotView& slots;
  PlacementPolicy& placement;
};

Found place_near(Machine& m, const Where& where, StageId stage, std::int32_t partition,
                 Locality limit) {
  const StageRow& row = m.stages[stage];
  const model::JobSpec& job = *m.jobs[row.job].spec;
  const model::StageSpec& spec = job.stages[row.index];
  const std::vector<model::NameId>& names = preferences(spec, partition);
  if (names.empty()) {
    if (limit < Locality::no_preference) {
      return {};
    }
    return {place_task(m, where.slots, where.placement, job, spec, partition),
            Locality::process};  // SS-2.5: what prefers nothing is nowhere far
  }
  const TaskView task = task_view(m, job, spec, partition);
  for (const Locality level : {Locality::process, Locality::node, Locality::rack}) {
    if (level > limit) {
      return {};
    }
    const ExecutorId executor =
        preferred_at(m, {where.slots, task, &where.placement}, names, level);
    if (executor.valid()) {
      return {executor, level};
    }
  }
  if (limit < Locality::any) {
    return {};
  }
  return {place_task(m, where.slots, where.placement, job, spec, partition), Locality::any};
}

// The same, but where the task is excluded; `excluding`: some task of the stage is.
Found place_pending(Machine& m, StageId stage, std::int32_t partition, Locality limit,
                    bool excluding) {
  if (!excluding) {
    return place_near(m, {m.slots, *m.policies.placement}, stage, partition, limit);
  }
  const OpenPlaces slots(m, excluded_places(m, stage, partition));
  OpenPlacement placement(m);
  return place_near(m, {slots, placement}, stage, partition, limit);
}

// Lists what is pending, so that any of it can be started first.
void list_pending(Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  if (row.next_partition == row.tasks) {
    return;
  }
  std::vector<std::int32_t> list;
  for (std::int32_t p = row.tasks; p-- > row.next_partition;) {
    list.push_back(p);
  }
  std::vector<std::int32_t>& again = cold_of(m, stage).again;
  again.insert(again.begin(), list.begin(), list.end());
  m.stages.edit(stage).next_partition = row.tasks;
}

// Is a slot free that a pending task could take if nothing had to be near?
bool has_room(const Machine& m, StageId stage, bool excluding) {
  const ProfileId profile{std::uint32_t{m.stages[stage].profile}};
  if (!excluding || m.slots.free_total(profile) == 0) {
    return m.slots.free_total(profile) > 0;
  }
  const std::vector<std::int32_t>& pending = m.colds[m.stages[stage].cold].again;
  return std::ranges::any_of(pending, [&](std::int32_t partition) {
    return OpenPlaces(m, excluded_places(m, stage, partition)).most_free(profile).valid();
  });
}

void start_delayed(Step& s, StageId stage, std::int32_t partition, ExecutorId executor) {
  Machine& m = s.m;
  m.policies.placement->taking(m.slots, executor);
  m.slots.take(executor, spec_of(m, stage).profile);
  std::erase(cold_of(m, stage).again, partition);
  --m.stages.edit(stage).pending;
  start_run(s, stage, partition, executor);
}

}  // namespace

bool is_delayed(const Machine& m, StageId stage) {
  return m.config.locality_wait > 0 && m.config.admission.hold != model::Hold::none &&
         !spec_of(m, stage).prefers.empty() && !is_member(m, stage);
}

bool chooses_places(const Machine& m, StageId stage) {
  return excludes(m, stage) ||
         (m.round.limit && !spec_of(m, stage).prefers.empty() && !m.stages[stage].gang.valid());
}

std::vector<Locality> locality_levels(const Machine& m, StageId stage) {
  const model::StageSpec& spec = spec_of(m, stage);
  const StageRow& row = m.stages[stage];
  if (spec.prefers.empty() || row.cold == none_u32) {
    return {};
  }
  return levels_of(m, spec, m.colds[row.cold].again);
}

ExecutorId place_within(Machine& m, const SlotView& slots, PlacementPolicy& placement,
                        StageId stage, std::int32_t partition, Locality limit) {
  return place_near(m, {slots, placement}, stage, partition, limit).executor;
}

void begin_delay(Machine& m, StageId stage) {
  StageCold::Delay& delay = cold_of(m, stage).delay;
  delay = {Locality::any, m.now, -1, true};
  if (is_delayed(m, stage)) {
    std::vector<std::int32_t> pending;
    for (std::int32_t p = 0; p < m.stages[stage].tasks; ++p) {
      if (output_executor(m, stage, p) == none_u32) {
        pending.push_back(p);
      }
    }
    meet_levels(delay, levels_of(m, spec_of(m, stage), pending));
  }
}

namespace {

// After a round that left the stage at `allowed` and launched at `nearest` at best: does its wait
// begin anew, and when may its tasks go farther?
void settle_delay(Step& s, StageId stage, const std::vector<Locality>& levels, Locality allowed,
                  std::optional<Locality> nearest, bool refused) {
  Machine& m = s.m;
  StageCold::Delay& delay = cold_of(m, stage).delay;
  if (m.config.locality_reset == model::LocalityReset::spark) {
    const bool counts =
        m.round.kind == RoundKind::complete || (m.round.kind == RoundKind::partial && delay.clean);
    if (refused) {
      delay.clean = false;
    } else if (nearest && counts) {  // everything offered was taken: the wait starts anew
      delay.level = level_from(levels, *nearest);
      delay.since = m.now;
      delay.clean = true;
    }
  }
  delay.refused = refused;
  if (refused) {
    // What was launched may have left only tasks that need not wait at this level any more.
    const Locality next = allowed_level(m, cold_of(m, stage),
                                        levels_of(m, spec_of(m, stage), cold_of(m, stage).again));
    m.wants_pass = m.wants_pass || next > allowed;
    arm(s, stage, next);
  }
}

}  // namespace

void launch_delayed(Step& s, StageId stage, Outlook* outlook) {
  Machine& m = s.m;
  const model::StageSpec& spec = spec_of(m, stage);
  if (m.stages[stage].pending > 0 && m.stages[stage].missing_inputs > 0) {
    end_attempt_without_input(s, stage);
    return;
  }
  list_pending(m, stage);
  const bool delayed = is_delayed(m, stage);
  const bool excluding = excludes(m, stage);
  const std::vector<Locality> levels = levels_of(m, spec, cold_of(m, stage).again);
  const bool legacy = delayed && m.config.locality_reset == model::LocalityReset::legacy;
  std::optional<Locality> nearest;
  Locality allowed = Locality::any;
  for (const Locality level : levels) {
    if (m.round.limit && level > *m.round.limit) {
      break;
    }
    allowed = delayed ? allowed_level(m, cold_of(m, stage), levels) : Locality::any;
    const Locality limit = level == Locality::no_preference ? level : std::min(level, allowed);
    std::vector<std::int32_t> pending = cold_of(m, stage).again;
    std::ranges::reverse(pending);
    for (const std::int32_t partition : pending) {
      const Found found = place_pending(m, stage, partition, limit, excluding);
      if (!found.executor.valid() ||
          (outlook != nullptr && !is_harmless(m, *outlook, stage, partition, found.executor))) {
        continue;
      }
      start_delayed(s, stage, partition, found.executor);
      nearest = nearest ? std::min(*nearest, found.level) : found.level;
      if (legacy && level != Locality::no_preference) {
        cold_of(m, stage).delay.level = level_from(levels, found.level);
        cold_of(m, stage).delay.since = m.now;
      }
    }
  }
  if (m.config.speculation) {
    launch_copies(s, stage, outlook, m.stages[stage].pending > 0 ? allowed : Locality::any);
  }
  const bool waits = m.stages[stage].pending > 0;
  if (!waits && !copies_due(m, stage)) {
    m.queue.clear_pending(stage, spec.profile);
  }
  if (delayed) {
    settle_delay(s, stage, levels, allowed, nearest, waits && has_room(m, stage, excluding));
  }
}

bool placed_within_delay(Step& s, StageId stage, std::vector<Placed>& placed) {
  Machine& m = s.m;
  const StageRow& row = m.stages[stage];
  const model::StageSpec& spec = spec_of(m, stage);
  std::vector<std::int32_t> all;
  for (std::int32_t p = 0; p < row.tasks; ++p) {
    all.push_back(p);
  }
  const Locality allowed = allowed_level(m, cold_of(m, stage), levels_of(m, spec, all));
  for (const std::int32_t partition : all) {
    const Found found = place_near(m, {m.slots, *m.policies.placement}, stage, partition, allowed);
    if (!found.executor.valid()) {
      for (const Placed& task : placed) {
        m.slots.undo(task.executor, spec.profile);
      }
      placed.clear();
      if (m.slots.free_total(spec.profile) > 0) {
        arm(s, stage, allowed);
      }
      return false;
    }
    m.policies.placement->taking(m.slots, found.executor);
    m.slots.take(found.executor, spec.profile);
    placed.push_back({row.index, partition, found.executor});
  }
  return true;
}

}  // namespace rehearse::scheduler
