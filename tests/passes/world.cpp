// What a pass should do, by full sorts and by trying everything.
#include "tests/passes/world.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace rehearse::testing {

using model::Instant;
using model::Overtake;
using model::Placement;
using model::QueueOrder;

std::int64_t World::idle_slots(std::size_t profile) const {
  std::int64_t slots = 0;
  for (const WorldExecutor& executor : executors) {
    slots += executor.profile == profile ? executor.slots : 0;
  }
  return slots;
}

std::int64_t World::free_slots(std::size_t executor, std::size_t profile) const {
  const WorldExecutor& row = executors[executor];
  if (row.held || row.profile != profile) {
    return 0;
  }
  return row.slots - std::ranges::count(running, executor,
                                        [](const WorldRun& run) { return run.task.executor; });
}

std::vector<std::int64_t> World::demand(const WorldJob& job) const {
  std::vector<std::int64_t> demand(profiles, 0);
  for (const WorldStage& stage : job.stages) {
    demand[stage.profile] += stage.tasks;
  }
  return demand;
}

bool knows_places(const World& world) {
  return world.config.placement != Placement::consistent_hash &&
         world.config.placement != Placement::random;
}

namespace {

constexpr Instant no_time = std::numeric_limits<Instant>::max();

// ---- who is next (A18) ----

bool has_something_to_start(const WorldJob& job) {
  return !job.over && std::ranges::any_of(job.stages, [](const WorldStage& stage) {
    return stage.next_task < stage.tasks;
  });
}

std::int64_t running_of(const World& world, const auto& counts) {
  return std::ranges::count_if(
      world.running, [&](const WorldRun& run) { return counts(world.jobs[run.task.job]); });
}

// SS-3.2: who is below its minimum share first, the furthest below of them; then by running tasks
// for each unit of weight. As fractions.
struct Share {
  bool enough = false;
  std::int64_t running = 0;
  std::int64_t of = 1;
};

int compare(const Share& left, const Share& right) {
  if (left.enough != right.enough) {
    return left.enough ? 1 : -1;
  }
  const std::int64_t cross = left.running * right.of - right.running * left.of;
  return cross < 0 ? -1 : cross > 0 ? 1 : 0;
}

Share share_of(const World& world, const std::string& pool) {
  const auto at = std::ranges::find(world.pool_names, pool);
  const model::PoolConfig config =
      at == world.pool_names.end()
          ? model::PoolConfig{}
          : world.config.pools[static_cast<std::size_t>(at - world.pool_names.begin())];
  Share share;
  share.running = running_of(world, [&pool](const WorldJob& job) { return job.pool == pool; });
  share.enough = share.running >= config.min_share;
  share.of = share.enough ? config.weight : std::max<std::int64_t>(config.min_share, 1);
  return share;
}

bool is_fair_inside(const World& world, const std::string& pool) {
  const auto at = std::ranges::find(world.pool_names, pool);
  return at != world.pool_names.end() &&
         world.config.pools[static_cast<std::size_t>(at - world.pool_names.begin())].fair;
}

auto arrival(const WorldJob& job) { return std::pair(job.submitted, job.number); }

std::vector<std::size_t> fair_order(const World& world, std::vector<std::size_t> units) {
  std::map<std::string, std::pair<Instant, std::size_t>> first;  // of a pool, what comes first
  for (const std::size_t unit : units) {
    const WorldJob& job = world.jobs[unit];
    const auto at = first.emplace(job.pool, arrival(job)).first;
    at->second = std::min(at->second, arrival(job));
  }
  std::ranges::sort(units, [&](std::size_t l, std::size_t r) {
    const WorldJob& left = world.jobs[l];
    const WorldJob& right = world.jobs[r];
    if (left.pool != right.pool) {
      const int shares = compare(share_of(world, left.pool), share_of(world, right.pool));
      return shares != 0 ? shares < 0 : first.at(left.pool) < first.at(right.pool);
    }
    const auto runs = [&world](std::size_t unit) {
      return running_of(world, [unit](const WorldJob& job) { return job.number == unit; });
    };
    const bool fair = is_fair_inside(world, left.pool);
    return std::pair(fair ? runs(l) : 0, arrival(left)) <
           std::pair(fair ? runs(r) : 0, arrival(right));
  });
  return units;
}

std::vector<std::size_t> queue_order(const World& world) {
  std::vector<std::size_t> units;
  for (const WorldJob& job : world.jobs) {
    if (has_something_to_start(job)) {
      units.push_back(job.number);
    }
  }
  if (world.config.admission.queue == QueueOrder::fair) {
    return fair_order(world, std::move(units));
  }
  std::ranges::sort(units, {}, [&world](std::size_t unit) {
    const WorldJob& job = world.jobs[unit];
    std::int64_t slots = 0;
    model::Duration work = 0;
    for (const WorldStage& stage : job.stages) {
      slots += stage.tasks;
      work += stage.tasks * stage.each;
    }
    const bool by_size = world.config.admission.queue == QueueOrder::smallest_first;
    const bool by_priority = world.config.admission.queue == QueueOrder::priority;
    return std::tuple(by_priority ? -job.priority : 0, by_size ? slots : 0, by_size ? work : 0,
                      arrival(job));
  });
  return units;
}

// ---- a pass ----

class Pass {
 public:
  Pass(World& world, Instant now) : noted_(world), world_(world), now_(now), last_(world.profiles) {
    for (std::size_t e = 0; e < world_.executors.size(); ++e) {
      at_begin_.push_back(world_.free_slots(e, world_.executors[e].profile));
    }
  }

  std::vector<WorldTask> run() {
    for (const std::size_t unit : queue_order(world_)) {
      if (world_.jobs[unit].gang) {
        admit(unit);
      } else {
        launch(unit);
      }
    }
    if (!knows_places(world_)) {
      for (WorldTask& task : started_) {
        task.executor = 0;
      }
    }
    std::ranges::sort(started_);
    return std::move(started_);
  }

 private:
  // Behind a head that nobody overtakes, executors of a profile that it needs take nothing (A16).
  [[nodiscard]] bool is_barred(std::size_t profile) const {
    return head_ && rule_ == Overtake::never && world_.demand(world_.jobs[*head_])[profile] > 0;
  }

  [[nodiscard]] std::int64_t free_total(std::size_t profile) const {
    std::int64_t total = 0;
    for (std::size_t e = 0; e < world_.executors.size(); ++e) {
      total += is_barred(profile) ? 0 : world_.free_slots(e, profile);
    }
    return total;
  }

  void launch(std::size_t unit) {
    WorldStage& stage = world_.jobs[unit].stages.front();
    while (stage.next_task < stage.tasks && free_total(stage.profile) > 0) {
      if (head_ && rule_ == Overtake::easy && !take_spare({{stage.profile, 1}}, stage.each)) {
        (void)place(stage.profile);
        return;
      }
      start(unit, 0);
    }
  }

  void admit(std::size_t unit) {
    WorldJob& job = world_.jobs[unit];
    const std::vector<std::int64_t> demand = world_.demand(job);
    bool fits = true;
    for (std::size_t p = 0; p < world_.profiles; ++p) {
      fits = fits && demand[p] <= free_total(p);
    }
    if (!fits) {
      refuse(unit);
      return;
    }
    const bool harmless = !head_ || rule_ != Overtake::easy || is_harmless_gang(job);
    const WorldJob before = job;
    const std::size_t running = world_.running.size();
    for (std::size_t stage = 0; stage < job.stages.size(); ++stage) {
      while (job.stages[stage].next_task < job.stages[stage].tasks) {
        start(unit, stage);
      }
    }
    if (!harmless) {
      job = before;
      started_.resize(started_.size() - (world_.running.size() - running));
      world_.running.resize(running);
      refuse(unit);
    }
  }

  void refuse(std::size_t unit) {
    WorldJob& job = noted_.jobs[unit];
    job.refused_at = job.refused_at < 0 ? now_ : job.refused_at;
    if (head_) {
      return;
    }
    head_ = unit;
    rule_ = world_.config.admission.overtake;
    if (rule_ == Overtake::aging) {
      const bool old = now_ - job.refused_at >= world_.config.admission.aging_after;
      rule_ = old ? Overtake::never : Overtake::backfill;
    } else if (rule_ == Overtake::easy) {
      look_ahead();
    }
  }

  void start(std::size_t unit, std::size_t stage) {
    WorldStage& row = world_.jobs[unit].stages[stage];
    const WorldTask task{unit, stage, row.next_task++, place(row.profile)};
    world_.running.push_back({task, now_});
    started_.push_back(task);
  }

  // ---- where (A15) ----

  // A task that finds its place and may not start there (A17) has had its turn of round-robin: the
  // clause does not say, and this is what the core does.
  [[nodiscard]] std::size_t place(std::size_t profile) {
    std::vector<std::size_t> order;  // those with room, the best first
    for (std::size_t e = 0; e < world_.executors.size(); ++e) {
      if (world_.free_slots(e, profile) > 0) {
        order.push_back(e);
      }
    }
    const auto supply = [this](std::size_t e) { return std::pair(-at_begin_[e], e); };
    const std::optional<std::size_t>& last = last_[profile];
    std::ranges::sort(order, {}, [&](std::size_t e) {
      switch (world_.config.placement) {
        case Placement::spread:
          return std::tuple(false, -world_.free_slots(e, profile), e);
        case Placement::pack:
          return std::tuple(false, -at_begin_[e], e);
        case Placement::round_robin:
          return std::tuple(last && supply(e) <= supply(*last), -at_begin_[e], e);
        default:
          return std::tuple(false, std::int64_t{0}, e);
      }
    });
    last_[profile] = order.front();
    return order.front();
  }

  // ---- what does not delay the head (A17) ----

  [[nodiscard]] Instant expected_end(const WorldRun& run) const {
    const WorldStage& stage = world_.jobs[run.task.job].stages[run.task.stage];
    return std::max(now_, run.started + stage.each);
  }

  // Free slots by profile once everything has ended that is expected to by then.
  [[nodiscard]] std::vector<std::int64_t> free_at(Instant at) const {
    std::vector<std::int64_t> free(world_.profiles, 0);
    for (std::size_t e = 0; e < world_.executors.size(); ++e) {
      free[world_.executors[e].profile] += world_.free_slots(e, world_.executors[e].profile);
    }
    for (const WorldRun& run : world_.running) {
      const WorldExecutor& executor = world_.executors[run.task.executor];
      free[executor.profile] += !executor.held && expected_end(run) <= at ? 1 : 0;
    }
    return free;
  }

  void look_ahead() {
    std::vector<Instant> ends{now_};
    for (const WorldRun& run : world_.running) {
      ends.push_back(expected_end(run));
    }
    std::ranges::sort(ends);
    const std::vector<std::int64_t> demand = world_.demand(world_.jobs[*head_]);
    start_ = no_time;
    for (const Instant at : ends) {
      spare_ = free_at(at);
      bool covered = true;
      for (std::size_t p = 0; p < world_.profiles; ++p) {
        spare_[p] -= demand[p];
        covered = covered && spare_[p] >= 0;
      }
      if (covered) {
        start_ = at;
        return;
      }
    }
  }

  // So many tasks by profile, of that length.
  bool take_spare(const std::map<std::size_t, std::int64_t>& tasks, model::Duration each) {
    if (start_ == no_time || now_ + each <= start_) {
      return true;
    }
    for (const auto& [profile, count] : tasks) {
      if (spare_[profile] < count) {
        return false;
      }
    }
    for (const auto& [profile, count] : tasks) {
      spare_[profile] -= count;
    }
    return true;
  }

  bool is_harmless_gang(const WorldJob& job) {
    const std::vector<std::int64_t> before = spare_;
    for (const WorldStage& stage : job.stages) {
      if (!take_spare({{stage.profile, stage.tasks}}, stage.each)) {
        spare_ = before;
        return false;
      }
    }
    return true;
  }

  World& noted_;
  World world_;  // as the pass makes it
  Instant now_;
  std::vector<std::int64_t> at_begin_;            // free slots, by executor
  std::vector<std::optional<std::size_t>> last_;  // by profile
  std::optional<std::size_t> head_;
  Overtake rule_ = Overtake::backfill;
  Instant start_ = no_time;  // of the head, the earliest
  std::vector<std::int64_t> spare_;
  std::vector<WorldTask> started_;
};

}  // namespace

std::vector<WorldTask> right_starts(World& world, Instant now) { return Pass(world, now).run(); }

}  // namespace rehearse::testing
