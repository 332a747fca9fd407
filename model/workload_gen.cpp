// One series of draws per thing that is made: the cluster, each job, each executor's fate.
#include "model/workload_gen.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/support/check.hpp"
#include "model/support/draw.hpp"

namespace rehearse::model {

namespace {

class Draws {
 public:
  Draws(std::uint64_t seed, std::string_view what)
      : key_(draw_key({seed, DrawPurpose::workload, name_key(what), 0})) {}

  [[nodiscard]] std::uint64_t bits() { return draw(key_, {next_++, 0, 0}); }
  [[nodiscard]] std::int64_t between(const IntRange& range) {
    const auto count = static_cast<std::uint64_t>(range.high - range.low + 1);
    return range.low + static_cast<std::int64_t>(uniform_below(bits(), count));
  }
  [[nodiscard]] std::int64_t below(std::int64_t count) { return between({0, count - 1}); }
  [[nodiscard]] bool happens(std::int64_t chance_milli) { return below(1000) < chance_milli; }

 private:
  DrawKey key_;
  std::uint32_t next_ = 0;
};

std::string numbered(std::string_view prefix, std::int64_t number) {
  return std::string(prefix) + std::to_string(number);
}

std::uint32_t index_of(std::int64_t number) { return static_cast<std::uint32_t>(number); }

class Generator {
 public:
  Generator(std::uint64_t seed, const WorkloadParameters& parameters)
      : seed_(seed), parameters_(parameters) {
    check_parameters();
    scenario_.name = numbered("workload ", static_cast<std::int64_t>(seed % 1'000'000'000));
    scenario_.seed = seed;
    scenario_.scheduler = preset(Dialect::psd);
    complete_reject_list(scenario_.scheduler);
  }

  [[nodiscard]] Scenario make() {
    make_cluster();
    Draws arrivals(seed_, "arrivals");
    const Distribution gaps = exponential_distribution(parameters_.mean_gap);
    for (std::int64_t i = 0; i < parameters_.jobs; ++i) {
      if (parameters_.mean_gap > 0 && i > 0) {
        last_submit_ += sample(gaps, arrivals.bits());
      }
      make_job(i);
    }
    make_executor_faults();
    return std::move(scenario_);
  }

 private:
  // Stages in file order that pipelined edges join.
  struct Block {
    std::int64_t first = 0;
    std::vector<std::int64_t> demand;  // by profile
  };

  void check_parameters() const {
    const WorkloadParameters& p = parameters_;
    RH_CHECK(p.jobs > 0 && p.executors > 0 && p.profiles > 0 && p.profiles <= p.executors);
    for (const IntRange& range : {p.stages, p.tasks, p.duration_ms, p.cpus}) {
      RH_CHECK(range.low >= 0 && range.low <= range.high, range.low, range.high);
    }
    RH_CHECK(p.stages.low > 0 && p.tasks.low > 0 && p.cpus.low > 0);
    RH_CHECK(p.priorities > 0 && p.pools > 0 && p.mean_gap >= 0 && p.joins >= 0);
  }

  // ---- the cluster ----

  [[nodiscard]] static std::int64_t cpus_of(std::int64_t profile) { return 1 + profile % 2; }

  ExecutorSpec make_executor(Draws& draws, const std::string& name, std::int64_t number) {
    const std::int64_t profile = number % parameters_.profiles;
    ExecutorSpec executor;
    executor.name = scenario_.names.intern(name);
    executor.host = scenario_.names.intern("h-" + name);
    const bool bound = number < parameters_.profiles || !draws.happens(parameters_.unbound_milli);
    if (bound) {
      executor.profile = ProfileId{index_of(profile)};
    }
    // At least one slot of every profile it may have to serve.
    const std::int64_t cpus = std::max(draws.between(parameters_.cpus), cpus_of(profile));
    executor.resources = {cpus * milli};
    if (bound) {
      capacity_[static_cast<std::size_t>(profile)] += cpus / cpus_of(profile);
    }
    return executor;
  }

  void make_cluster() {
    Cluster& cluster = scenario_.cluster;
    cluster.resources = {scenario_.names.intern("cpus")};
    for (std::int64_t p = 0; p < parameters_.profiles; ++p) {
      const std::string name = p == 0 ? "default" : numbered("p", p);
      cluster.profiles.push_back({scenario_.names.intern(name), {cpus_of(p) * milli}});
    }
    capacity_.assign(cluster.profiles.size(), 0);
    Draws draws(seed_, "cluster");
    for (std::int64_t e = 0; e < parameters_.executors; ++e) {
      cluster.executors.push_back(make_executor(draws, numbered("e", e), e));
    }
    cluster.overheads.kill = fixed_distribution(parameters_.kill_latency);
  }

  // ---- jobs ----

  [[nodiscard]] std::int64_t group_room(const Block& block, std::size_t profile) const {
    // What a fault may take away for good is not counted on.
    return capacity_[profile] * parameters_.gang_capacity_milli / 1000 - block.demand[profile];
  }

  void connect(JobSpec& job, std::int64_t from, std::int64_t to, EdgeKind kind) {
    EdgeSpec edge;
    edge.from = StageIndex{index_of(from)};
    edge.to = {StageIndex{index_of(to)}};
    edge.kind = kind;
    job.edges.push_back(std::move(edge));
  }

  void make_job(std::int64_t number) {
    const std::string name = numbered("j", number);
    Draws draws(seed_, name);
    JobSpec job;
    job.name = scenario_.names.intern(name);
    const std::int64_t pool = draws.below(parameters_.pools);
    job.pool = scenario_.names.intern(pool == 0 ? "default" : numbered("p", pool));
    job.priority = draws.below(parameters_.priorities);
    job.submit = last_submit_;
    Block block{.first = 0, .demand = std::vector<std::int64_t>(capacity_.size(), 0)};
    const std::int64_t count = draws.between(parameters_.stages);
    for (std::int64_t s = 0; s < count; ++s) {
      add_stage(draws, job, block, s);
    }
    add_results(job);
    add_task_faults(draws, job);
    if (draws.happens(parameters_.cancels_milli)) {
      add_timed(job.submit + draws.between({0, 40}) * millisecond, CancelJob{job.name});
    }
    scenario_.jobs.push_back(std::move(job));
  }

  void add_stage(Draws& draws, JobSpec& job, Block& block, std::int64_t s) {
    const auto profile = static_cast<std::size_t>(draws.below(parameters_.profiles));
    const std::int64_t tasks = draws.between(parameters_.tasks);
    const bool joins = draws.happens(parameters_.pipelined_milli) && s > 0;
    const std::int64_t from = s == 0 ? 0 : draws.below(s);
    if (joins && group_room(block, profile) > 0) {
      // The last stage of the block, or any of it, is its producer.
      const std::int64_t producer = std::max(from, block.first);
      connect(job, producer, s, EdgeKind::pipelined);
    } else {
      block.first = s;
      std::ranges::fill(block.demand, 0);
      if (s > 0) {
        connect(job, from, s, EdgeKind::regular);
      }
    }
    if (draws.happens(parameters_.second_input_milli) && block.first > 0) {
      const std::int64_t other = draws.below(block.first);
      if (block.first != s || other != from) {
        connect(job, other, s, EdgeKind::regular);
      }
    }
    StageSpec stage;
    stage.name = scenario_.names.intern(numbered("s", s));
    const std::int64_t room = std::max<std::int64_t>(1, group_room(block, profile));
    stage.tasks = static_cast<std::int32_t>(std::min(tasks, room));
    block.demand[profile] += stage.tasks;
    stage.profile = ProfileId{index_of(static_cast<std::int64_t>(profile))};
    const Duration mean = draws.between(parameters_.duration_ms) * millisecond;
    const Duration spread = mean / 1000 * parameters_.spread_milli;
    stage.duration = spread > 0
                         ? uniform_distribution({.min_ns = std::max<Duration>(0, mean - spread),
                                                 .max_ns = mean + spread})
                         : fixed_distribution(mean);
    stage.estimate = mean;
    job.stages.push_back(std::move(stage));
  }

  // All sinks, as a file that names none gets them.
  static void add_results(JobSpec& job) {
    std::vector<bool> read(job.stages.size(), false);
    for (const EdgeSpec& edge : job.edges) {
      read[edge.from.index()] = true;
    }
    for (std::uint32_t s = 0; s < job.stages.size(); ++s) {
      if (!read[s]) {
        job.result.push_back(StageIndex{s});
      }
    }
  }

  // ---- faults ----

  void add_timed(Instant at, TimedAction action) {
    TimedFault fault;
    fault.at = at;
    fault.action = std::move(action);
    scenario_.faults.order.push_back({false, index_of(std::ssize(scenario_.faults.timed))});
    scenario_.faults.timed.push_back(std::move(fault));
  }

  void add_task_faults(Draws& draws, const JobSpec& job) {
    if (parameters_.task_failure_milli == 0) {
      return;
    }
    for (const StageSpec& stage : job.stages) {
      for (std::int32_t partition = 0; partition < stage.tasks; ++partition) {
        if (!draws.happens(parameters_.task_failure_milli)) {
          continue;
        }
        TaskFault fault;
        fault.job = job.name;
        fault.stage = stage.name;
        fault.partition = partition;
        fault.fails = TaskFaultKind::exception;
        fault.after = *stage.estimate / 2;
        scenario_.faults.order.push_back({true, index_of(std::ssize(scenario_.faults.tasks))});
        scenario_.faults.tasks.push_back(fault);
      }
    }
  }

  // Within the time in which jobs arrive and a little more.
  [[nodiscard]] Instant some_instant(Draws& draws) {
    const std::int64_t span_ms = last_submit_ / millisecond + 4 * parameters_.duration_ms.high;
    return draws.between({0, span_ms}) * millisecond;
  }

  void make_executor_faults() {
    for (std::int64_t e = parameters_.profiles; e < parameters_.executors; ++e) {
      const NameId name = scenario_.cluster.executors[static_cast<std::size_t>(e)].name;
      Draws draws(seed_, "fate of " + numbered("e", e));
      if (draws.happens(parameters_.losses_milli)) {
        LoseExecutor lose;
        lose.executor = name;
        add_timed(some_instant(draws), lose);
      } else if (draws.happens(parameters_.holds_milli)) {
        const Instant at = some_instant(draws);
        add_timed(at, HoldExecutors{{name}, draws.between({1, 20}) * millisecond});
      }
    }
    Draws draws(seed_, "joins");
    for (std::int64_t i = 0; i < parameters_.joins; ++i) {
      const Instant at = some_instant(draws);
      AddExecutor add{make_executor(draws, numbered("x", i), parameters_.executors + i)};
      add_timed(at, std::move(add));
    }
  }

  std::uint64_t seed_;
  const WorkloadParameters& parameters_;
  Scenario scenario_;
  std::vector<std::int64_t> capacity_;  // by profile: slots of executors bound to it
  Instant last_submit_ = 0;
};

}  // namespace

Scenario generate_workload(std::uint64_t seed, const WorkloadParameters& parameters) {
  return Generator(seed, parameters).make();
}

}  // namespace rehearse::model
