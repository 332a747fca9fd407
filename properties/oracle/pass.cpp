// The oracle's pass: who stands where (A18), who is admitted (A2 to A8, A16), who goes where (A4,
// A13, A15), and how long it takes (scenario.md 4).
// registry: none (a part of the oracle)
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "model/resources.hpp"
#include "model/support/units.hpp"
#include "properties/oracle/world.hpp"

namespace rehearse::properties::oracle {

using namespace model;

__extension__ using Wide = __int128;

void World::pass() {
  again_ = cut_ = false;
  killed_in_pass_.emplace();
  head_.reset();
  ruled_out_.clear();
  restart();
  for (Job* job : queue_) {  // A18 fifo
    for (Unit& unit : job->units) {
      if (!job->over && !cut_) {
        visit(*job, unit);
      }
    }
  }
  for (const auto& [job, unit] : ruled_out_) {  // decision 3
    if (!cut_ && !job->over && job->units[unit].state == UnitState::waiting) {
      refuse(*job, job->units[unit]);
    }
  }
  head_.reset();
  const auto killed = std::exchange(killed_in_pass_, std::nullopt);
  for (const std::size_t number : *killed) {
    free_slot(number);
    freed_.push_back(tries_[number].executor);
  }
  close_step();
  if (again_) {  // A8: looked at again at this instant, in a round of its own
    at(now_, 6, sequence_++, 0, [] { return true; });
  }
}

void World::visit(Job& job, Unit& unit) {
  if (unit.gang && !unit.group() && unit.state == UnitState::running) {
    return launch_together(job, unit);
  }
  if (!unit.gang || unit.state == UnitState::running) {
    for (const int stage : unit.stages) {  // A18: file order
      launch_stage(job, stage);
    }
    return;
  }
  if (unit.state != UnitState::waiting || unit.ready != Ready::yes) {
    return;
  }
  const Counts need = demand(job, unit);
  const Counts have = at_hand();
  const bool looks_only = config_.admission.hold == Hold::check;
  bool counts_fit = true;
  for (std::size_t p = 0; p < need.size(); ++p) {
    counts_fit = counts_fit && need[p] <= have[p];
  }
  const auto self = std::pair(&job, job.unit_of[unit.stages.front()]);
  const bool in_vain = head_ && config_.admission.overtake == Overtake::never &&
                       std::ranges::none_of(executors_, [](const Executor& e) {
                         return e.takes_tasks() && e.spec.profile.valid();
                       });
  if (unit.withdrawn || (head_ && (!counts_fit || in_vain))) {  // decision 3: not looked at
    ruled_out_.push_back(self);
    return;
  }
  if (unit.starved) {
    return refuse(job, unit);
  }
  if (looks_only && counts_fit) {
    admit(job, unit, {});
    return launch_together(job, unit);
  }
  const auto places = counts_fit && !looks_only ? trial(job, unit, false) : std::nullopt;
  if (places) {
    return admit(job, unit, *places);
  }
  refuse(job, unit);
  if (!head_ && !job.over) {  // A16
    head_ = self;
  }
}

// A6: it does not fit now.
void World::refuse(Job& job, Unit& unit) {
  if (config_.admission.when_short == Short::fail) {
    return end_job(job, JobOutcome::failed, Code::insufficient_slots, &unit);
  }
  unit.told = true;
  if (!std::exchange(unit.refused, true)) {  // C12: once
    const Counts need = demand(job, unit);
    say(GroupQueued{job.name, job.name_of(unit), QueuedReason::slots, named(need, need),
                    named(at_hand(), need)},
        "C12 A6");
  }
}

// A12 under `check`: all tasks of a barrier stage that was let in, or none.
void World::launch_together(Job& job, Unit& unit) {
  const int s = unit.stages.front();
  Attempt* attempt = job.stages[s].open();
  if (attempt == nullptr || attempt->fresh.empty() ||
      free_slots()[job.stages[s].spec->profile.index()] == 0) {
    return;
  }
  if (!inputs_there(job, unit)) {  // X9: launchable, and an input is gone
    return fail_gang(job, unit, Code::fetch_failed);
  }
  Stage& stage = job.stages[s];
  const bool near = config_.locality_wait > 0 && !stage.spec->prefers.empty();
  const Level limit = near ? allowed(stage.delay, levels(*stage.spec, attempt->fresh)) : Level::any;
  const auto places = trial(job, unit, false, limit);
  if (!places) {
    return wait_near(job, stage, limit);
  }
  attempt->fresh.clear();
  for (const Place& place : *places) {
    launch(job, s, place.partition, place.executor);
  }
}

// A7: a regular unit takes what it can, task by task; A13: preferences first.
void World::launch_stage(Job& job, int s) {
  Stage& stage = job.stages[s];
  Attempt* attempt = stage.open();
  if (attempt == nullptr) {
    return;
  }
  const RoomOf room_of = [&](int e) {
    const Executor& x = executors_[e];
    return kept_back(x) ? 0 : room(x, stage.spec->profile, x.used);
  };
  if (waits_near(job, s)) {
    return launch_near(job, s);
  }
  while (!attempt->retries.empty() || !attempt->fresh.empty()) {
    std::set<int>& from = attempt->retries.empty() ? attempt->fresh : attempt->retries;
    const int partition = *from.begin();
    const int executor = choose(*stage.spec, partition, config_.placement, room_of);
    if (executor == nobody) {
      return;
    }
    const bool there = std::ranges::all_of(Job::row(job.graph.regular_parents, s),
                                           [&](auto p) { return available(job.stages[p]); });
    if (!there) {  // X9, X5 (a member that is tried again): launchable, and an input is gone
      return job.unit(s).gang ? fail_gang(job, job.unit(s), Code::fetch_failed)
                              : fail_attempt(job, s, StageReason::fetch_failed);
    }
    from.erase(partition);
    launch(job, s, partition, executor);
  }
}

// A2: in one step, every member submitted and every task on its reserved slot.
void World::admit(Job& job, Unit& unit, std::vector<Place> places) {
  unit.state = UnitState::running;
  unit.told = true;
  if (++unit.attempt > 0 && unit.group()) {  // X10 (b): what was registered is void from here on
    for (const int s : unit.stages) {
      std::ranges::fill(job.stages[s].output, nobody);
      job.stages[s].there = false;
    }
    for (Job* reader : queue_) {
      unready(*reader);
    }
  }
  const Counts need = demand(job, unit);
  say(GroupAdmitted{{job.name, job.name_of(unit), unit.attempt}, named(need, need)}, "A2");
  for (const int s : job.members(unit)) {
    Stage& stage = job.stages[s];
    stage.where.clear();
    stage.authorized.clear();
    stage.finished = false;
    std::vector<int> all(static_cast<std::size_t>(stage.spec->tasks));
    std::iota(all.begin(), all.end(), 0);
    open_attempt(job, s, all);
  }
  if (config_.admission.hold == Hold::reserve) {
    share_out(job, unit, places);
    for (const int s : job.members(unit)) {
      for (const Place& place : places) {
        if (place.stage == s) {
          job.stages[s].open()->fresh.erase(place.partition);
          launch(job, s, place.partition, place.executor);
        }
      }
    }
  }
  for (const int s : job.members(unit)) {  // a member without tasks is done
    if (!unit.group()) {
      check_attempt(job, s);
    } else {
      finish_empty(job, unit, s);
    }
  }
}

void World::finish_empty(Job& job, Unit& unit, int s) {
  const Stage& stage = job.stages[s];
  if (stage.spec->tasks > 0 || stage.finished || job.over) {
    return;
  }
  member_done(job, unit, s);
  for (const std::uint32_t child : Job::row(job.graph.pipelined_children, s)) {
    if (producers_done(job, static_cast<int>(child))) {  // else behind those, in its turn
      finish_empty(job, unit, static_cast<int>(child));
    }
  }
}

void World::open_attempt(Job& job, int s, const std::vector<int>& partitions) {
  Stage& stage = job.stages[s];
  Attempt& attempt = stage.attempts.emplace_back();
  attempt.partitions = partitions;
  attempt.fresh.insert(partitions.begin(), partitions.end());
  const std::vector<Level> list = levels(*stage.spec, attempt.fresh);
  stage.delay = {list.front(), now_, {}, {list.begin(), list.end()}};
  StageSubmitted line{job.ref(s), std::ssize(partitions), {}};
  if (std::ssize(partitions) != stage.spec->tasks) {
    line.partitions = ranges_of(partitions);
  }
  say(std::move(line), "section 7");
}

void World::launch(Job& job, int s, int partition, int executor) {
  Stage& stage = job.stages[s];
  Attempt& attempt = stage.attempts.back();
  Try& task = tries_.emplace_back();
  task.job = &job;
  task.stage = s;
  task.attempt = static_cast<int>(stage.attempts.size()) - 1;
  task.partition = partition;
  task.number = attempt.next_try[partition]++;
  task.executor = executor;
  if (!shares(task)) {
    use(executor, stage.spec->profile, 1);
  }
  say(TaskStart{ref(task), false}, "A2 A7");
  schedule_end(tries_.size() - 1);
}

// Scenario.md 4: launch + d * slow / v, one rounding; faults of this try; its status arrives later.
void World::schedule_end(std::size_t number) {
  Try& task = tries_[number];
  const StageSpec& spec = *task.job->stages[task.stage].spec;
  const auto* list = std::get_if<std::vector<Duration>>(&spec.duration);
  const Duration duration =
      list != nullptr ? (*list)[static_cast<std::size_t>(task.partition)]
                      : drawn(task, DrawPurpose::duration, std::get<Distribution>(spec.duration));
  std::int64_t slow = milli;
  Duration late = drawn(task, DrawPurpose::status, cluster_.overheads.status);
  std::optional<Instant> fails;
  const std::string_view name = out_.names.text(task.job->name);
  for (const FaultPlan::Entry& entry : scenario_.faults.order) {
    if (!entry.task) {
      continue;
    }
    const TaskFault& fault = scenario_.faults.tasks[entry.index];
    const bool named = (fault.job == task.job->spec->name && task.job->resubmission == 0) ||
                       out_.names.text(fault.job) == name;
    if (!named || fault.stage != spec.name || fault.partition != task.partition ||
        fault.attempt != task.attempt || fault.try_number.value_or(task.number) != task.number) {
      continue;
    }
    slow = fault.slow_milli ? slow * *fault.slow_milli / milli : slow;
    late += fault.status_late.value_or(0);
    if ((fault.fails || fault.fetch_fails) && (!fails || now_ + fault.after < *fails)) {
      fails = now_ + fault.after;
      task.fetch = fault.fetch_fails ? &fault : nullptr;
      constexpr std::array reasons{TaskReason::exception, TaskReason::external,
                                   TaskReason::commit_denied, TaskReason::result_lost,
                                   TaskReason::out_of_memory};
      task.reason = fault.fetch_fails ? TaskReason::fetch_failed
                                      : reasons.at(static_cast<std::size_t>(*fault.fails));
    }
  }
  const Executor& executor = executors_[task.executor];
  task.ends = now_ + drawn(task, DrawPurpose::launch, cluster_.overheads.launch) +
              mul_div_round(duration, slow, executor.spec.speed_milli);
  if (fails && *fails <= task.ends) {
    task.ends = *fails;
  } else {
    task.reason.reset();
    task.fetch = nullptr;
  }
  at(task.ends + late, 3, static_cast<std::int64_t>(number), 0,
     [this, number] { return report(number); });
}

// A4 within what is used.
std::int64_t World::room(const Executor& e, ProfileId p, const ResourceVector& used) const {
  if (!e.takes_tasks() || !e.serves(p)) {
    return 0;
  }
  ResourceVector free = e.spec.resources;
  for (std::size_t r = 0; r < free.size(); ++r) {
    free[r] -= used[r];
  }
  return slots_of(free, cluster_.profiles[p.index()].task);
}

// What admission may count on (A2): under `check` what nobody claims, whether it is free or not.
Counts World::at_hand() const {
  return config_.admission.hold == Hold::check ? unclaimed() : free_slots();
}

Counts World::free_slots() const {
  Counts counts(cluster_.profiles.size(), 0);
  for (const Executor& e : executors_) {
    for (std::size_t p = 0; p < counts.size(); ++p) {
      counts[p] += e.takes_tasks() ? room(e, ProfileId{p}, e.used) : 0;
    }
  }
  return counts;
}

// A16: under `never` nothing new starts behind the head where a profile it demands is served.
bool World::kept_back(const Executor& e) const {
  if (!head_ || config_.admission.overtake != Overtake::never) {
    return false;
  }
  const Counts need = demand(*head_->first, head_->first->units[head_->second]);
  for (std::size_t p = 0; p < need.size(); ++p) {
    if (need[p] > 0 && e.serves(ProfileId{p})) {
      return true;
    }
  }
  return false;
}

// A15: by join; those that are due come behind, by when they join (decision 6).
std::pair<Instant, int> World::number_of(int e) const {
  const Executor& executor = executors_[e];
  return executor.number != nobody     ? std::pair(Instant{-1}, executor.number)
         : executor.may_come != nobody ? std::pair(std::numeric_limits<Instant>::max(), e)
                                       : std::pair(executor.spec.joins, e);
}

// A4: stages by dominant share, tasks by partition, each where it would go.
std::optional<std::vector<Place>> World::trial(const Job& job, const Unit& unit, bool idle,
                                               Level limit) const {
  Table<ResourceVector> used;
  for (const Executor& e : executors_) {
    const bool fresh = idle || e.used.empty();
    used.push_back(fresh ? ResourceVector(cluster_.resources.size(), 0) : e.used);
  }
  std::vector<Place> places;
  for (const int s : by_share(job, unit)) {
    const StageSpec& stage = *job.stages[s].spec;
    StageSpec plain = stage;
    plain.prefers.clear();
    for (int partition = 0; partition < stage.tasks; ++partition) {
      const RoomOf room_of = [&](int e) {
        const Executor& x = executors_[e];
        if (idle) {
          Executor free = x;
          free.number = 0;
          free.gone = false;
          free.holds = 0;
          return counts_for_capacity(x) ? room(free, stage.profile, used[e]) : 0;
        }
        return kept_back(x) ? 0 : room(x, stage.profile, used[e]);
      };
      const int chosen =
          near(idle ? plain : stage, partition, config_.placement, room_of, limit).executor;
      if (chosen == nobody) {
        return std::nullopt;
      }
      const ResourceVector& amounts = cluster_.profiles[stage.profile.index()].task;
      for (std::size_t r = 0; r < amounts.size(); ++r) {
        used[chosen][r] += amounts[r];
      }
      places.push_back({s, partition, chosen});
    }
  }
  return places;
}

// The stages that need slots of their own: all, or the widest of each profile (A10); by largest
// task amount over the cluster's total, descending, ties in file order.
std::vector<int> World::by_share(const Job& job, const Unit& unit) const {
  std::vector<int> order;
  for (const int s : unit.stages) {
    const StageSpec& stage = *job.stages[s].spec;
    const bool widest = std::ranges::none_of(unit.stages, [&](int other) {
      const StageSpec& o = *job.stages[other].spec;
      return o.profile == stage.profile &&
             (o.tasks > stage.tasks || (o.tasks == stage.tasks && other < s));
    });
    if (config_.accounting == Accounting::sum || widest) {
      order.push_back(s);
    }
  }
  ResourceVector total(cluster_.resources.size(), 0);
  for (const Executor& e : executors_) {
    for (std::size_t r = 0; r < total.size(); ++r) {
      total[r] += e.lives() ? e.spec.resources[r] : 0;
    }
  }
  const auto share = [&](int s) {  // as a fraction
    std::pair<std::int64_t, std::int64_t> largest{0, 1};
    const ResourceVector& task = cluster_.profiles[job.stages[s].spec->profile.index()].task;
    for (std::size_t r = 0; r < total.size(); ++r) {
      if (total[r] > 0 && Wide{task[r]} * largest.second > Wide{largest.first} * total[r]) {
        largest = {task[r], total[r]};
      }
    }
    return largest;
  };
  std::ranges::sort(order, [&](int a, int b) {
    const auto [x, y] = share(a);
    const auto [u, v] = share(b);
    return Wide{x} * v == Wide{u} * y ? a < b : Wide{x} * v > Wide{u} * y;
  });
  return order;
}

// A10: per executor what the widest stage takes; the others run inside it, preferences first, else
// in number order (decision 8).
void World::share_out(Job& job, const Unit& unit, std::vector<Place>& places) {
  if (config_.accounting == Accounting::sum || !unit.group()) {
    return;
  }
  const auto self = job.unit_of[unit.stages.front()];
  for (const Place& place : places) {
    const ProfileId p = job.stages[place.stage].spec->profile;
    use(place.executor, p, 1);
    const auto found = std::ranges::find_if(shares_, [&](const Share& s) {
      return s.executor == place.executor && s.job == &job && s.unit == self && s.profile == p;
    });
    if (found == shares_.end()) {
      shares_.push_back({place.executor, &job, self, p, 1});
    } else {
      ++found->slots;
    }
  }
  const std::vector<int> placed = by_share(job, unit);
  for (const int s : unit.stages) {
    if (std::ranges::find(placed, s) != placed.end()) {
      continue;
    }
    const StageSpec& stage = *job.stages[s].spec;
    std::map<int, std::int64_t> taken;
    for (int partition = 0; partition < stage.tasks; ++partition) {
      const int e = choose(stage, partition, Placement::nested, [&](int x) {
        for (const Share& share : shares_) {
          if (share.executor == x && share.job == &job && share.unit == self &&
              share.profile == stage.profile) {
            return share.slots - taken[x];
          }
        }
        return std::int64_t{0};
      });
      ++taken[e];
      places.push_back({s, partition, e});
    }
  }
}

}  // namespace rehearse::properties::oracle
