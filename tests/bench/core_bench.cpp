// Steps of the scheduler core alone: no driver, no journal, no monitors. A job of one stage, or of
// a pipelined pair, runs from its submission to its end; every task ends in the order of its
// launch. One item is one task, of which the core sees its launch in a pass and its end as an
// input.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "policies/registry.hpp"
#include "scheduler/core.hpp"

namespace {

namespace model = rehearse::model;
namespace policies = rehearse::policies;
namespace scheduler = rehearse::scheduler;

constexpr std::int64_t cores_each = 16;

class Engine {
 public:
  explicit Engine(std::int64_t executors) : core_(made()) {
    for (std::int64_t i = 0; i < executors; ++i) {
      scheduler::JoinExecutor join;
      join.spec.name = names_.intern("E" + std::to_string(i));
      join.spec.host = names_.intern("h" + std::to_string(i));
      join.spec.resources = {cores_each * model::milli};
      step(join);
    }
  }

  // Runs the job to its end; the number of tasks that ended.
  std::int64_t run(const std::shared_ptr<const model::JobSpec>& spec) {
    const scheduler::JobId job{0U};
    scheduler::SubmitJob submit;
    submit.job = job;
    submit.spec = spec;
    submit.own_stages = static_cast<std::uint32_t>(spec->stages.size());
    submit.submitted = ++now_;
    core_.set_now(now_);
    step(submit);
    std::int64_t ended = 0;
    while (true) {
      while (core_.wants_pass()) {
        out_.clear();
        core_.pass(out_);
        note_launches();
      }
      if (running_.empty()) {
        break;
      }
      scheduler::TaskEnded done;
      done.run = running_.front();
      running_.pop_front();
      core_.set_now(++now_);
      step(done);
      ++ended;
    }
    step(scheduler::ForgetJob{job});
    return ended;
  }

  [[nodiscard]] model::NameTable& names() { return names_; }

 private:
  scheduler::Core made() {
    scheduler::CoreOptions options;
    options.config = model::preset(model::Dialect::psd);
    options.profile_names = {names_.intern("default")};
    options.profile_tasks = {{model::milli}};
    options.names = &names_;
    return {options, *policies::make(options.config)};
  }

  void step(const scheduler::Input& input) {
    out_.clear();
    core_.step(input, out_);
    note_launches();
  }

  void note_launches() {
    for (const scheduler::Action& action : out_.list) {
      if (const auto* launch = std::get_if<scheduler::Launch>(&action)) {
        running_.push_back(launch->run);
      }
    }
  }

  model::NameTable names_;
  scheduler::Core core_;
  scheduler::Actions out_;
  std::deque<scheduler::RunId> running_;
  model::Instant now_ = 0;
};

std::shared_ptr<const model::JobSpec> job_of(model::NameTable& names, std::int32_t stages,
                                             std::int32_t tasks) {
  auto spec = std::make_shared<model::JobSpec>();
  spec->name = names.intern("A");
  spec->pool = names.intern("default");
  for (std::int32_t i = 0; i < stages; ++i) {
    model::StageSpec& stage = spec->stages.emplace_back();
    stage.name = names.intern("s" + std::to_string(i));
    stage.tasks = tasks;
    stage.duration = model::Distribution{};
    stage.profile = model::ProfileId{std::uint32_t{0}};
    if (i > 0) {
      model::EdgeSpec& edge = spec->edges.emplace_back();
      edge.from = model::StageIndex{static_cast<std::uint32_t>(i - 1)};
      edge.to = {model::StageIndex{static_cast<std::uint32_t>(i)}};
      edge.kind = model::EdgeKind::pipelined;
    }
  }
  return spec;
}

// Arguments: executors, stages (two: a pipelined pair), tasks of each.
void BM_core(benchmark::State& state) {
  Engine engine(state.range(0));
  const auto spec = job_of(engine.names(), static_cast<std::int32_t>(state.range(1)),
                           static_cast<std::int32_t>(state.range(2)));
  std::int64_t tasks = 0;
  for (auto unused : state) {
    tasks += engine.run(spec);
  }
  if (tasks != state.iterations() * state.range(1) * state.range(2)) {
    state.SkipWithError("not every task ran");
  }
  state.SetItemsProcessed(tasks);
}
BENCHMARK(BM_core)->Args({100, 1, 10'000})->Args({10'000, 1, 66'000})->Args({100, 2, 800});

}  // namespace
