// The oracle's autoscaler (scenario.md 2, A5, W5, decision 13): who belongs to its pool, what is
// needed, its rounds, and who idles.
// registry: none (a part of the oracle)
#include <algorithm>
#include <tuple>

#include "model/resources.hpp"
#include "properties/oracle/world.hpp"

namespace rehearse::properties::oracle {

using namespace model;

// What may come stands in the table from the beginning, without a name; that so many of them are
// capacity, `counts_for_capacity` says.
void World::expect_scaling() {
  if (!cluster_.autoscale) {
    return;
  }
  for (int n = 0; n < cluster_.autoscale->max; ++n) {
    Executor& one = executors_.emplace_back();
    one.spec = cluster_.autoscale->executor;
    one.spec.name = {};
    one.spec.host = {};
    one.due = false;
    one.may_come = n;
  }
  at(0, 4, created(), 0, [this] { return scale(); });
}

// Whom the autoscaler could replace, of whatever origin.
bool World::pooled(const Executor& e) const {
  const ExecutorSpec& like = cluster_.autoscale->executor;
  return e.may_come == nobody && e.is_capacity() && e.spec.profile == like.profile &&
         e.spec.resources == like.resources;
}

// How many more there may be, whoever is due.
int World::room_in_pool() const {
  const auto all =
      std::ranges::count_if(executors_, [this](const Executor& e) { return pooled(e); });
  return std::max(cluster_.autoscale->max - static_cast<int>(all), 0);
}

// Who is there, and whom the autoscaler asked for.
int World::pool_size() const {
  return static_cast<int>(std::ranges::count_if(
      executors_, [this](const Executor& e) { return pooled(e) && (e.lives() || e.asked_for); }));
}

int World::lacking() const { return std::min(needed() - pool_size(), room_in_pool()); }

// A5: those that live, are due, or lie within the maximum.
bool World::counts_for_capacity(const Executor& e) const {
  if (e.may_come == nobody) {
    return e.is_capacity();
  }
  return e.may_come < room_in_pool();
}

// No job lives and none is to come.
bool World::all_over() const {
  return std::ranges::all_of(callers_, [](const Caller& c) { return c.submitted && c.open == 0; });
}

std::int64_t World::slots_of_one(std::size_t profile) const {
  const ExecutorSpec& like = cluster_.autoscale->executor;
  const bool serves = !like.profile.valid() || like.profile == ProfileId{profile};
  return serves ? slots_of(like.resources, cluster_.profiles[profile].task) : 0;
}

// By profile: tasks of submitted stages that do not run, and gangs that wait for slots.
Counts World::waiting() const {
  Counts counts(cluster_.profiles.size(), 0);
  for (const Job& job : jobs_) {
    for (const Unit& unit : job.units) {
      if (job.over || unit.starved) {
        continue;
      }
      if (unit.gang && unit.state == UnitState::waiting && unit.ready == Ready::yes) {
        const Counts need = demand(job, unit);
        for (std::size_t p = 0; p < counts.size(); ++p) {
          counts[p] += need[p];
        }
      }
      for (const int s : unit.stages) {
        if (const Attempt* open = job.stages[s].open()) {
          counts[job.stages[s].spec->profile.index()] +=
              std::ssize(open->fresh) + std::ssize(open->retries);
        }
      }
    }
  }
  for (std::size_t p = 0; p < counts.size(); ++p) {
    counts[p] = slots_of_one(p) > 0 ? counts[p] : 0;
  }
  return counts;
}

bool World::anything_waits() const {
  return std::ranges::any_of(waiting(), [](std::int64_t n) { return n > 0; });
}

// How many executors the pool should have.
int World::needed() const {
  const Counts waits = waiting();
  Counts tasks = waits;
  bool nothing_runs = true;
  for (const Try& task : tries_) {
    nothing_runs = nothing_runs && !task.busy;
    if (task.busy && pooled(executors_[task.executor])) {
      ++tasks[task.job->stages[task.stage].spec->profile.index()];
    }
  }
  std::int64_t count = 0;
  for (std::size_t p = 0; p < tasks.size(); ++p) {
    const std::int64_t slots = slots_of_one(p);
    count += slots > 0 ? tasks[p] / slots + (tasks[p] % slots != 0 ? 1 : 0) : 0;
  }
  const bool on_the_way = std::ranges::any_of(executors_, [this](const Executor& e) {
    return pooled(e) && e.asked_for && e.number == nobody;
  });
  if (anything_waits() && nothing_runs && !on_the_way) {
    count = std::max<std::int64_t>(count, pool_size() + 1);
  }
  return static_cast<int>(std::min<std::int64_t>(count, cluster_.autoscale->max));
}

// `startup` later it joins, unless everything is over then.
void World::ask_for_one() {
  const Autoscale& rule = *cluster_.autoscale;
  const std::string number = std::to_string(asked_++);
  const std::string name = "auto" + number;
  std::string host = "h-" + name;
  if (rule.executor.host.valid()) {
    host = out_.names.text(rule.executor.host);
    if (const std::size_t i = host.find("{i}"); i != std::string::npos) {
      host.replace(i, 3, number);
    }
  }
  const DrawScope scope{scenario_.seed, DrawPurpose::startup, name_key(name), 0};
  const Duration startup = sample(rule.startup, model::draw(draw_key(scope), {}));
  Executor& one = executors_.emplace_back();
  one.spec = rule.executor;
  one.asked_for = true;
  one.spec.name = out_.names.intern(name);
  one.spec.host = out_.names.intern(host);
  one.spec.joins = now_ + startup;
  const int e = static_cast<int>(executors_.size()) - 1;
  at(now_ + startup, 4, created(), 0, [this, e] { return !all_over() && join(e); });
}

// A scale step: what is due of rounds and leaves.
bool World::scale() {
  if (all_over()) {
    return false;
  }
  bool acted = false;
  while (below_min()) {
    ask_for_one();
    acted = true;
  }
  if (next_round_ == now_) {
    next_round_.reset();
    last_round_ = now_;
    const int asked = std::min(round_size_, lacking());
    for (int n = 0; n < asked; ++n) {
      ask_for_one();
      acted = true;
    }
    round_size_ = asked < round_size_ ? 1 : 2 * round_size_;
  }
  while (const std::optional<int> e = next_leave_ == now_ ? longest_idle() : std::nullopt) {
    if (executors_[*e].idle_since.value() + cluster_.autoscale->idle > now_ || !one_too_many()) {
      break;
    }
    notice(*e, LossCause::decommission);
    close_step();
    acted = true;
  }
  next_leave_ = next_leave_ == now_ ? std::nullopt : next_leave_;
  return acted;
}

bool World::below_min() const {
  const Autoscale& rule = *cluster_.autoscale;
  return room_in_pool() > rule.max - rule.min;  // who is due counts
}

bool World::one_too_many() const {
  const auto there = std::ranges::count_if(
      executors_, [this](const Executor& e) { return pooled(e) && e.lives(); });
  return there > std::max(cluster_.autoscale->min, needed());
}

// It runs nothing, and nothing that a live job may read, or a group has not committed, lies there.
bool World::idles(int e) const {
  const Executor& executor = executors_[e];
  if (!pooled(executor) || !executor.lives() ||
      std::ranges::any_of(tries_, [e](const Try& t) { return t.busy && t.executor == e; })) {
    return false;
  }
  const auto here = [e](const auto& finished) { return finished.second == e; };
  const auto lies = [e](const Stage& stage) {
    return std::ranges::find(stage.output, e) != stage.output.end();
  };
  const auto holds = [&](const Stage& stage) {  // what outlives executors is held by none
    return !config_.outputs_survive_executor && stage.read && lies(stage);
  };
  return std::ranges::none_of(jobs_, [&](const Job& job) {
    for (int s = 0; s < std::ssize(job.stages) && !job.over; ++s) {
      const Stage& stage = job.stages[s];
      const Unit& unit = job.unit(s);
      const bool gang = unit.gang && unit.state == UnitState::running;
      const bool barrier = gang && !unit.group();
      if ((gang && std::ranges::any_of(stage.where, here)) || (barrier && lies(stage)) ||
          holds(stage) || (stage.dormant && stage.original != nullptr && holds(*stage.original))) {
        return true;
      }
    }
    return false;
  });
}

std::optional<int> World::longest_idle() const {
  std::optional<int> found;
  for (int e = 0; e < std::ssize(executors_); ++e) {
    const auto rank = [this](int i) {
      return std::tuple(*executors_[i].idle_since, executors_[i].number);
    };
    if (executors_[e].idle_since && idles(e) && (!found || rank(e) < rank(*found))) {
      found = e;
    }
  }
  return found;
}

// Behind a pass: since when somebody idles and work waits; behind the last of an instant: when to
// act on it.
void World::watch_scaling() {
  if (!cluster_.autoscale) {
    return;
  }
  for (int e = 0; e < std::ssize(executors_); ++e) {
    std::optional<Instant>& since = executors_[e].idle_since;
    since = idles(e) ? since.value_or(now_) : std::optional<Instant>();
  }
  if (!anything_waits()) {
    waits_since_.reset();
    next_round_.reset();
  } else if (!waits_since_) {
    waits_since_ = last_round_ = now_;
    round_size_ = 1;
  }
  const bool more = std::ranges::any_of(dues_, [this](const Due& due) { return due.at == now_; });
  if (more || all_over()) {
    return;
  }
  plan_round();
  plan_leave();
}

// None is armed that would have nothing to ask for; the rhythm stays that of the first.
void World::plan_round() {
  const Duration backlog = cluster_.autoscale->backlog;
  if (!waits_since_ || lacking() <= 0) {
    next_round_.reset();
    return;
  }
  const Duration waited = now_ - *waits_since_;
  const Instant next = backlog == 0 ? now_ : *waits_since_ + (waited / backlog + 1) * backlog;
  if (next > last_round_ + backlog) {  // what was left out asked for less than its number
    round_size_ = 1;
  }
  if (next_round_ != next) {
    next_round_ = next;
    at(next, 4, created(), 0, [this] { return scale(); });
  }
}

void World::plan_leave() {
  const Autoscale& rule = *cluster_.autoscale;
  const std::optional<int> idle = longest_idle();
  std::optional<Instant> next;
  if (below_min()) {
    next = now_;
  } else if (idle && one_too_many()) {
    next = std::max(now_, *executors_[*idle].idle_since + rule.idle);
  }
  if (next && next_leave_ != next) {
    at(*next, 4, created(), 0, [this] { return scale(); });
  }
  next_leave_ = next;
}

}  // namespace rehearse::properties::oracle
