// The oracle's places: preferences (A13, A15) and delay scheduling (SS-2.5).
// registry: none (a part of the oracle)
#include <algorithm>

#include "properties/oracle/world.hpp"

namespace rehearse::properties::oracle {

using namespace model;

namespace {

std::span<const NameId> preferred(const StageSpec& stage, int partition) {
  return stage.prefers.empty() ? std::span<const NameId>{}
                               : stage.prefers[static_cast<std::size_t>(partition)];
}

// The places of a task at one level, best first: executors, then their hosts, then racks.
std::vector<NameId> places_at(Level level, std::span<const NameId> names,
                              const Table<Executor>& executors) {
  if (level == Level::process) {
    return {names.begin(), names.end()};
  }
  std::vector<NameId> places;
  for (const NameId name : names) {
    for (const Executor& e : executors) {
      const NameId place = level == Level::node ? e.spec.host : e.spec.rack;
      if ((e.spec.name == name || e.spec.host == name) && place.valid()) {
        places.push_back(place);
      }
    }
  }
  return places;
}

// The first level that a stage has, from this one on.
Level as_far_as(const std::vector<Level>& offered, Level from) {
  return *std::ranges::find_if(offered, [from](Level level) { return level >= from; });
}

bool lies_at(Level level, const Executor& e, NameId place) {
  return place == (level == Level::process ? e.spec.name
                   : level == Level::node  ? e.spec.host
                                           : e.spec.rack);
}

}  // namespace

// A15: the first of its executors, then hosts, then racks with room, else as `placement` ranks; no
// farther than `limit`.
Found World::near(const StageSpec& stage, int partition, Placement rule, const RoomOf& room_of,
                  Level limit) const {
  const auto best = [&](const std::function<bool(const Executor&)>& fits) {
    int found = nobody;
    for (int e = 0; e < std::ssize(executors_); ++e) {
      if (!fits(executors_[e]) || room_of(e) <= 0) {
        continue;
      }
      const auto rank = [&](int i) {
        const std::int64_t spread = rule == Placement::spread ? -room_of(i) : 0;
        return std::pair(spread, number_of(i));
      };
      found = found == nobody || rank(e) < rank(found) ? e : found;
    }
    return found;
  };
  const std::span<const NameId> names = preferred(stage, partition);
  for (const Level level : {Level::process, Level::node, Level::rack}) {
    if (level > limit) {
      break;
    }
    for (const NameId place : places_at(level, names, executors_)) {
      const int e = best([&](const Executor& x) { return lies_at(level, x, place); });
      if (e != nobody) {
        return {e, level};
      }
    }
  }
  if (limit < (names.empty() ? Level::none : Level::any)) {
    return {};
  }
  // SS-2.5: what prefers nothing is as near as can be wherever it is.
  return {best([](const Executor&) { return true; }), names.empty() ? Level::process : Level::any};
}

// A13: of regular stages.
bool World::waits_near(const Job& job, int s) const {
  return config_.locality_wait > 0 && !job.stages[s].spec->prefers.empty() && !job.unit(s).gang;
}

Duration World::wait_at(Level level) const {
  return level == Level::none || level == Level::any ? 0 : config_.locality_wait;
}

// Where some pending task has a target that lives; `any` in any case.
std::vector<Level> World::levels(const StageSpec& stage, const std::set<int>& pending) const {
  std::vector<Level> list;
  for (const Level level : {Level::process, Level::node, Level::none, Level::rack}) {
    const auto has_target = [&](int partition) {
      const std::span<const NameId> names = preferred(stage, partition);
      if (level == Level::none || names.empty()) {
        return level == Level::none && names.empty();
      }
      return std::ranges::any_of(places_at(level, names, executors_), [&](NameId place) {
        return std::ranges::any_of(
            executors_, [&](const Executor& e) { return e.lives() && lies_at(level, e, place); });
      });
    };
    if (std::ranges::any_of(pending, has_target)) {
      list.push_back(level);
    }
  }
  list.push_back(Level::any);
  return list;
}

// How far tasks may go now: back to a nearer level that the stage never had; a level at which
// nothing is left is passed at once, another when its wait is over.
Level World::allowed(Delay& delay, const std::vector<Level>& offered) const {
  const auto fresh =
      std::ranges::find_if(offered, [&](Level l) { return !delay.known.contains(l); });
  delay.level = fresh == offered.end() ? delay.level : std::min(delay.level, *fresh);
  delay.known.insert(offered.begin(), offered.end());
  auto level = std::ranges::find(offered, as_far_as(offered, delay.level));
  if (*level != delay.level && *level != Level::any) {
    delay.since = now_;
  }
  while (*level != Level::any && now_ - delay.since >= wait_at(*level)) {
    delay.since += wait_at(*level);
    ++level;
  }
  delay.level = *level;
  return *level;
}

// One round of offers: at each level the pending tasks that find a place so near.
void World::launch_near(Job& job, int s) {
  Stage& stage = job.stages[s];
  Attempt& attempt = *stage.open();
  const RoomOf room_of = [&](int e) {
    const Executor& x = executors_[e];
    return kept_back(x) ? 0 : room(x, stage.spec->profile, x.used);
  };
  const auto any_room = [&] {
    for (int e = 0; e < std::ssize(executors_); ++e) {
      if (room_of(e) > 0) {
        return true;
      }
    }
    return false;
  };
  const auto pending = [&attempt] {
    std::set<int> all = attempt.fresh;
    all.insert(attempt.retries.begin(), attempt.retries.end());
    return all;
  };
  if (pending().empty() || !any_room()) {
    return;
  }
  if (!inputs_there(job, job.unit(s))) {
    return fail_attempt(job, s, StageReason::fetch_failed);
  }
  const std::vector<Level> offered = levels(*stage.spec, pending());
  std::optional<Level> nearest;
  Level limit = Level::any;
  for (const Level level : offered) {
    limit = allowed(stage.delay, offered);
    const Level reach = level == Level::none ? level : std::min(level, limit);
    for (const int partition : pending()) {
      const Found found = near(*stage.spec, partition, config_.placement, room_of, reach);
      if (found.executor == nobody) {
        continue;
      }
      attempt.fresh.erase(partition);
      attempt.retries.erase(partition);
      launch(job, s, partition, found.executor);
      nearest = std::min(found.level, nearest.value_or(Level::any));
      if (config_.locality_reset == LocalityReset::legacy && level != Level::none) {
        stage.delay.level = as_far_as(offered, found.level);
        stage.delay.since = now_;
      }
    }
  }
  const bool refused = !pending().empty() && any_room();
  if (config_.locality_reset == LocalityReset::spark && !refused && nearest) {
    stage.delay.level = as_far_as(offered, *nearest);  // all was taken
    stage.delay.since = now_;
  }
  if (!refused) {
    return;
  }
  const Level next = allowed(stage.delay, levels(*stage.spec, pending()));
  again_ = again_ || next > limit;
  wait_near(job, stage, next);
}

// Until tasks that may go so far may go farther.
void World::wait_near(const Job& job, Stage& stage, Level limit) {
  const Instant due = stage.delay.since + wait_at(limit);
  if (limit != Level::any && due > now_ && stage.delay.armed != due) {
    stage.delay.armed = due;
    arm(job, due, [&job] { return !job.over; });
  }
}

}  // namespace rehearse::properties::oracle
