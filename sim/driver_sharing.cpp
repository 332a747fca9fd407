// Tasks that share the slots of their executor (A22, `slots: shared`): when a try ends is known
// only when it does, as every launch and end there moves the others.
//
// A try computes once its launch is over, and until it has done its work, fails, or is ordered to
// stop; then others have its part of the processor, though its slot may come back later. Under
// timing coupled it may then have to wait for its producers, which costs no part.
#include <algorithm>

#include "model/support/check.hpp"
#include "sim/driver.hpp"

namespace rehearse::sim {

namespace {

std::uint64_t order_of(std::uint32_t launch, scheduler::RunId run) {
  return std::uint64_t{launch} << 32U | run.value;
}

scheduler::RunId run_of(std::uint64_t order) {
  return scheduler::RunId{static_cast<std::uint32_t>(order)};
}

}  // namespace

// Of an executor of one profile, its slots; else every amount, as the ledgers of slots have it.
std::vector<Processor::Resource> Driver::resources_of(const model::ExecutorSpec& executor) const {
  const std::vector<model::Profile>& profiles = scenario_.cluster.profiles;
  std::vector<Processor::Resource> resources;
  if (executor.profile.valid() || profiles.size() == 1) {
    const std::vector<std::int64_t> slots = slots_of(scenario_.cluster, executor);
    if (const std::int64_t most = *std::ranges::max_element(slots); most > 0) {
      resources.push_back({most, std::vector<std::int64_t>(profiles.size(), 1)});
    }
    return resources;
  }
  for (std::size_t r = 0; r < executor.resources.size(); ++r) {
    Processor::Resource resource{executor.resources[r], {}};
    for (const model::Profile& profile : profiles) {
      // A profile that the executor has too little of for a task never runs there.
      resource.task_amount.push_back(std::min(profile.task[r], executor.resources[r]));
    }
    if (resource.capacity > 0) {
      resources.push_back(std::move(resource));
    }
  }
  return resources;
}

void Driver::push_task(scheduler::RunId run, model::Instant at) {
  engine_.push(at,
               {static_cast<std::uint32_t>(InputKind::task), runs_[run.index()].launch, run.value});
}

// Its task_start is written.
void Driver::launch_shared(const scheduler::Launch& action, const model::TaskRef& task,
                           const TryFaults& faults, model::Duration status) {
  const Run& run = runs_[action.run.index()];
  shared_runs_.resize(std::max(shared_runs_.size(), runs_.size()));
  SharedRun& row = shared_runs_[action.run.index()];
  row = SharedRun{};
  StageSim& stage = stage_sim(action.job, action.stage);
  row.work = length_of(stage, action, task, faults);
  row.load = {run.profile, run.more + 1};
  row.status = status;
  stage.unfinished = stage.attempt == action.attempt ? stage.unfinished + 1 : 1;
  stage.attempt = action.attempt;
  if (executors_[run.executor.index()].dead) {
    return;  // X12
  }
  if (faults.failure != nullptr) {
    row.failure = faults.failure;
    row.fails_at = later(now_, faults.failure->after);
    push_task(action.run, row.fails_at);
  }
  const TryKey which{action.partition, action.attempt, action.try_number};
  row.due = later(now_, stage.draws.launch(scenario_.cluster.overheads, which));
  if (row.due == now_) {
    start_computing(action.run);
  } else {
    push_task(action.run, row.due);
  }
}

void Driver::start_computing(scheduler::RunId run_id) {
  const Run& run = runs_[run_id.index()];
  SharedRun& row = shared_runs_[run_id.index()];
  row.phase = SharedRun::Phase::computing;
  row.due = -1;
  row.mark = processors_[run.executor.index()].enter(now_, row.load, row.work,
                                                     order_of(run.launch, run_id));
  expect_ends(run.executor);
}

// Something changed on the executor: its next tasks end at another instant. Many changes of one
// round are looked at once, in settle_sharing.
void Driver::expect_ends(model::ExecutorId executor) { changed_processors_.push_back(executor); }

void Driver::settle_sharing() {
  std::ranges::sort(changed_processors_);
  const auto repeated = std::ranges::unique(changed_processors_);
  changed_processors_.erase(repeated.begin(), repeated.end());
  for (const model::ExecutorId executor : changed_processors_) {
    const Processor::Ends ends = processors_[executor.index()].next_ends();
    for (const std::uint64_t order : ends.orders) {
      SharedRun& row = shared_runs_[run_of(order).index()];
      // What was pushed for this instant may have been looked at already.
      if (row.due != ends.at || ends.at == now_) {
        row.due = ends.at;
        push_task(run_of(order), ends.at);
      }
    }
  }
  changed_processors_.clear();
}

// Those that end now leave together: what little the clock says is left of them counts as done.
void Driver::finish_due(model::ExecutorId executor) {
  Processor& processor = processors_[executor.index()];
  const Processor::Ends ends = processor.next_ends();
  if (ends.at != now_) {
    return;
  }
  for (const std::uint64_t order : ends.orders) {
    SharedRun& row = shared_runs_[run_of(order).index()];
    processor.leave(now_, row.load, row.mark, order);
    row.phase = SharedRun::Phase::finished;
  }
  expect_ends(executor);
}

bool Driver::is_stale_shared(scheduler::RunId run_id, model::Instant instant) const {
  const Run& run = runs_[run_id.index()];
  const SharedRun& row = shared_runs_[run_id.index()];
  using Phase = SharedRun::Phase;
  if (row.phase == Phase::over || row.phase == Phase::stopped) {
    return row.due != instant;
  }
  if (executors_[run.executor.index()].dead) {
    return true;  // X12
  }
  if (row.fails_at == instant) {
    return false;
  }
  return row.due != instant ||
         (row.phase == Phase::computing && processors_[run.executor.index()].next_end() != instant);
}

// One of its events is due.
void Driver::advance_shared(scheduler::RunId run_id) {
  Run& run = runs_[run_id.index()];
  SharedRun& row = shared_runs_[run_id.index()];
  using Phase = SharedRun::Phase;
  if (row.phase == Phase::over) {
    row.due = -1;
    report_task(run_id);
    return;
  }
  if (row.fails_at == now_) {
    will_fail(run, row.failure);
    shared_over(run_id);
    return;
  }
  if (row.phase == Phase::launching) {
    start_computing(run_id);
    if (processors_[run.executor.index()].next_end() != now_) {
      return;
    }
  }
  if (row.phase == Phase::computing) {
    finish_due(run.executor);
  }
  if (row.phase != Phase::finished) {
    return;
  }
  if (!producers_over(run)) {
    row.due = -1;
    waiting_runs_.push_back(run_id);
    return;
  }
  shared_over(run_id);
}

// Its part of the processor is free, and consumers that wait for it look again.
void Driver::stop_sharing(scheduler::RunId run_id, SharedRun::Phase phase) {
  const Run& run = runs_[run_id.index()];
  SharedRun& row = shared_runs_[run_id.index()];
  using Phase = SharedRun::Phase;
  if (row.phase == Phase::over || row.phase == Phase::stopped) {
    row.phase = phase;
    row.due = -1;
    return;
  }
  const bool computing = row.phase == Phase::computing;
  row.phase = phase;
  row.due = -1;
  if (computing) {
    processors_[run.executor.index()].leave(now_, row.load, row.mark, order_of(run.launch, run_id));
    expect_ends(run.executor);
  }
  StageSim& stage = stage_sim(run.job, run.stage);
  stage.unfinished -= stage.attempt == run.attempt ? 1 : 0;
  std::erase(waiting_runs_, run_id);
  std::erase_if(waiting_runs_, [&](scheduler::RunId waiting) {
    if (runs_[waiting.index()].job != run.job) {
      return false;
    }
    shared_runs_[waiting.index()].due = now_;
    push_task(waiting, now_);
    return true;  // if it has to wait on, it says so again
  });
}

void Driver::shared_over(scheduler::RunId run_id) {
  stop_sharing(run_id, SharedRun::Phase::over);
  SharedRun& row = shared_runs_[run_id.index()];
  row.over_at = now_;
  if (row.status == 0) {
    report_task(run_id);
    return;
  }
  row.due = later(now_, row.status);
  push_task(run_id, row.due);
}

// Its executor is lost: nothing there computes any more.
void Driver::lose_shared(scheduler::RunId run_id) {
  SharedRun& row = shared_runs_[run_id.index()];
  if (row.phase == SharedRun::Phase::computing) {
    row.phase = SharedRun::Phase::finished;  // with the clock of its executor
  }
  stop_sharing(run_id, SharedRun::Phase::stopped);
}

// Coupled: has every try of its pipelined producers that was launched in this attempt ended?
bool Driver::producers_over(const Run& run) const {
  const JobSim& job = jobs_[run.job.index()];
  if (!job.graph) {
    return true;
  }
  return std::ranges::all_of(job.graph->pipelined_parents.row(run.stage.index()),
                             [&](std::uint32_t producer) {
                               const StageSim& source = job.stages[producer];
                               return source.attempt != run.attempt || source.unfinished == 0;
                             });
}

}  // namespace rehearse::sim
