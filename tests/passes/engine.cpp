// The engine: draws what happens, tells the core, and keeps the world as the core says it is.
#include "tests/passes/engine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/core.hpp"
#include "tests/passes/checked_policies.hpp"
#include "tests/passes/world.hpp"
#include "tests/random/draws.hpp"

namespace rehearse::testing {

namespace {

using namespace scheduler;

constexpr int rounds = 60;

class PassEngine {
 public:
  PassEngine(std::uint64_t seed, PassTally& tally)
      : draws_(seed), tally_(tally), complaints_(std::make_shared<Complaints>()) {
    draw_configuration();
    CoreOptions options;
    options.config = world_.config;
    for (std::size_t p = 0; p < world_.profiles; ++p) {
      options.profile_names.push_back(names_.intern(p == 0 ? "default" : fmt::format("p{}", p)));
      options.profile_tasks.push_back({model::milli});
    }
    options.names = &names_;
    options.seed = seed;
    core_.emplace(options, checked_policies(world_.config, complaints_));
  }

  std::optional<std::string> run() {
    for (int n = draws_.range(1, 4); n > 0; --n) {
      join();
    }
    for (int round = 0; round < rounds && !wrong_; ++round) {
      now_ += draws_.below(3);
      core_->set_now(now_);
      for (int n = draws_.range(1, 3); n > 0; --n) {
        something_happens();
      }
      while (core_->wants_pass() && !wrong_) {
        pass();
      }
      check_nothing_is_asleep();
    }
    tally_.answers += complaints_->answers;
    if (!wrong_ && !complaints_->lines.empty()) {
      wrong_ = complaints_->lines.front();
    }
    return std::move(wrong_);
  }

 private:
  void draw_configuration() {
    using enum model::QueueOrder;
    using enum model::Placement;
    model::SchedulerConfig& config = world_.config;
    config = model::preset(model::Dialect::psd);
    config.admission.queue = draws_.of(std::vector{fifo, fair, priority, smallest_first});
    config.admission.overtake =
        draws_.of(std::vector{model::Overtake::never, model::Overtake::backfill,
                              model::Overtake::easy, model::Overtake::aging});
    config.admission.aging_after = draws_.range(1, 6);
    config.placement =
        draws_.of(std::vector{spread, pack, round_robin, nested, consistent_hash, random});
    world_.profiles = static_cast<std::size_t>(draws_.range(1, 2));
    for (const char* pool : {"a", "b"}) {
      if (draws_.percent(70)) {
        world_.pool_names.emplace_back(pool);
        config.pools.push_back({names_.intern(pool), draws_.percent(50), draws_.range(1, 3),
                                draws_.percent(50) ? draws_.range(1, 3) : 0});
      }
    }
  }

  // ---- what happens ----

  void something_happens() {
    const int what = draws_.below(100);
    if (what < 35) {
      submit();
    } else if (what < 80) {
      end_some_task();
    } else if (what < 90) {
      hold_or_release();
    } else if (what < 94 && world_.executors.size() < 6) {
      join();
    } else if (what < 98) {
      cancel();
    }
  }

  void join() {
    WorldExecutor& row = world_.executors.emplace_back();
    row.profile = static_cast<std::size_t>(draws_.below(static_cast<int>(world_.profiles)));
    row.slots = draws_.range(1, 4);
    JoinExecutor input;
    input.spec.name = names_.intern(fmt::format("e{}", world_.executors.size()));
    input.spec.host = names_.intern(fmt::format("h{}", world_.executors.size()));
    input.spec.profile = ProfileId{row.profile};
    input.spec.resources = {row.slots * model::milli};
    step(input);
  }

  void hold_or_release() {
    const auto e =
        static_cast<std::size_t>(draws_.below(static_cast<int>(world_.executors.size())));
    WorldExecutor& row = world_.executors[e];
    row.held = !row.held;
    if (row.held) {
      step(HoldExecutor{ExecutorId{e}, model::HoldCause::hold});
    } else {
      step(ReleaseExecutor{ExecutorId{e}});
    }
  }

  // One that an idle cluster has room for.
  void submit() {
    WorldJob job;
    job.number = world_.jobs.size();
    job.submitted = now_;
    job.priority = draws_.below(3);
    job.pool = draws_.pick({"a", "b", "c"});
    const bool barrier = draws_.percent(15);
    job.gang = barrier || draws_.percent(50);
    for (int n = job.gang && !barrier ? 2 : 1; n > 0; --n) {
      WorldStage stage;
      stage.profile = static_cast<std::size_t>(draws_.below(static_cast<int>(world_.profiles)));
      stage.tasks = draws_.range(1, 4);
      stage.each = draws_.range(1, 8);
      job.stages.push_back(stage);
    }
    const std::vector<std::int64_t> demand = world_.demand(job);
    for (std::size_t p = 0; p < world_.profiles; ++p) {
      const std::int64_t need = job.gang ? demand[p] : std::min<std::int64_t>(demand[p], 1);
      if (need > world_.idle_slots(p)) {
        return;
      }
    }
    SubmitJob input;
    input.spec = spec_of(job, barrier);
    input.job = JobId{job.number};
    input.own_stages = static_cast<std::uint32_t>(job.stages.size());
    input.submitted = now_;
    input.rank = job.number;
    world_.jobs.push_back(std::move(job));
    step(input);
  }

  std::shared_ptr<const model::JobSpec> spec_of(const WorldJob& job, bool barrier) {
    auto spec = std::make_shared<model::JobSpec>();
    spec->name = names_.intern(fmt::format("q{}", job.number));
    spec->pool = names_.intern(job.pool);
    spec->priority = job.priority;
    for (const WorldStage& row : job.stages) {
      model::StageSpec& stage = spec->stages.emplace_back();
      stage.name = names_.intern(fmt::format("s{}", spec->stages.size()));
      stage.tasks = row.tasks;
      stage.duration = model::fixed_distribution(row.each);
      stage.profile = ProfileId{row.profile};
      stage.barrier = barrier;
    }
    if (spec->stages.size() > 1) {
      model::EdgeSpec& edge = spec->edges.emplace_back();
      edge.from = StageIndex{std::uint32_t{0}};
      edge.to = {StageIndex{std::uint32_t{1}}};
      edge.kind = model::EdgeKind::pipelined;
    }
    spec->result = {StageIndex{spec->stages.size() - 1}};
    return spec;
  }

  void end_some_task() {
    if (world_.running.empty()) {
      return;
    }
    const WorldTask task = draws_.of(world_.running).task;
    step(TaskEnded{runs_.at(task), model::TaskStatus::success, std::nullopt, {}, 0});
  }

  void cancel() {
    if (!world_.jobs.empty()) {
      const auto job =
          static_cast<std::uint32_t>(draws_.below(static_cast<int>(world_.jobs.size())));
      if (!world_.jobs[job].over) {
        step(CancelJob{JobId{job}});
      }
    }
  }

  // ---- the core ----

  void step(const Input& input) {
    Actions actions;
    core_->step(input, actions);
    (void)carry_out(actions);
  }

  void pass() {
    const bool gang_waits = std::ranges::any_of(world_.jobs, [](const WorldJob& job) {
      return !job.over && job.refused_at >= 0 && job.stages.front().next_task == 0;
    });
    const std::vector<WorldTask> right = right_starts(world_, now_);
    Actions actions;
    core_->pass(actions);
    std::vector<WorldTask> started = carry_out(actions);
    if (!knows_places(world_)) {
      for (WorldTask& task : started) {
        task.executor = 0;
      }
    }
    std::ranges::sort(started);
    ++tally_.passes;
    tally_.starts += static_cast<std::int64_t>(started.size());
    tally_.overtakings += gang_waits && !started.empty() ? 1 : 0;
    if (started != right && !wrong_) {
      const auto text = [](const std::vector<WorldTask>& tasks) {
        std::string list;
        for (const WorldTask& task : tasks) {
          list += fmt::format(" q{}/s{}/{} on e{}", task.job, task.stage + 1, task.partition,
                              task.executor + 1);
        }
        return list.empty() ? std::string(" nothing") : list;
      };
      const model::AdmissionConfig& admission = world_.config.admission;
      wrong_ =
          fmt::format("{} x {} x {}, pass at {}: started{}, by the clauses{}",
                      model::name_of(admission.queue), model::name_of(admission.overtake),
                      model::name_of(world_.config.placement), now_, text(started), text(right));
    }
  }

  // A8: where no pass is wanted, none would start anything. What easy holds back may become
  // harmless as time goes by, and under fair what a pass starts changes the order of the next
  // (A18): neither wakes anybody.
  void check_nothing_is_asleep() {
    const model::AdmissionConfig& admission = world_.config.admission;
    if (wrong_ || admission.overtake == model::Overtake::easy ||
        admission.queue == model::QueueOrder::fair) {
      return;
    }
    World probed = world_;
    if (!right_starts(probed, now_).empty()) {
      wrong_ =
          fmt::format("{} x {}: no pass is wanted at {}, and something could start",
                      model::name_of(admission.queue), model::name_of(admission.overtake), now_);
    }
  }

  // The tasks that start.
  std::vector<WorldTask> carry_out(const Actions& actions) {
    std::vector<WorldTask> started;
    std::vector<RunId> killed;
    for (const Action& action : actions.list) {
      if (const auto* launch = std::get_if<Launch>(&action)) {
        const WorldTask task{launch->job.index(), launch->stage.index(), launch->partition,
                             launch->executor.index()};
        started.push_back(task);
        runs_[task] = launch->run;
        world_.running.push_back({task, now_});
        world_.jobs[task.job].stages[task.stage].next_task = task.partition + 1;
      } else if (const auto* end = std::get_if<EndTask>(&action)) {
        forget(end->run);
      } else if (const auto* kill = std::get_if<Kill>(&action)) {
        forget(kill->run);
        killed.push_back(kill->run);
      } else if (const auto* entry = std::get_if<Entry>(&action)) {
        take_note(actions.entries[entry->index]);
      }
    }
    for (const RunId run : killed) {
      step(KillEffective{run});
    }
    return started;
  }

  void forget(RunId run) {
    const auto at = std::ranges::find(runs_, run, &std::pair<const WorldTask, RunId>::second);
    std::erase_if(world_.running, [&at](const WorldRun& row) { return row.task == at->first; });
    runs_.erase(at);
  }

  void take_note(const model::EventBody& body) {
    if (const auto* end = std::get_if<model::JobEnd>(&body)) {
      for (WorldJob& job : world_.jobs) {
        job.over = job.over || names_.text(end->job) == fmt::format("q{}", job.number);
      }
    } else if (std::holds_alternative<model::JobRejected>(body)) {
      wrong_ = "a job that fits was rejected";
    }
  }

  Draws draws_;
  PassTally& tally_;
  std::shared_ptr<Complaints> complaints_;
  model::NameTable names_;
  World world_;
  std::optional<Core> core_;
  model::Instant now_ = 0;
  std::map<WorldTask, RunId> runs_;
  std::optional<std::string> wrong_;
};

}  // namespace

std::optional<std::string> judge_passes(std::uint64_t seed, PassTally& tally) {
  return PassEngine(seed, tally).run();
}

}  // namespace rehearse::testing
