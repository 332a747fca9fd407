// The oracle's chapters 4 and 7: what a task's end does, completion and commit, what is ready then.
// registry: none (a part of the oracle)
#include <algorithm>
#include <iterator>

#include "model/support/check.hpp"
#include "properties/oracle/world.hpp"

namespace rehearse::properties::oracle {

using namespace model;

Ranges ranges_of(const std::vector<int>& partitions) {
  Ranges ranges;
  for (const int p : partitions) {
    if (!ranges.empty() && ranges.back().last + 1 == p) {
      ranges.back().last = p;
    } else {
      ranges.push_back({p, p});
    }
  }
  return ranges;
}

TaskRef World::ref(const Try& task) const {
  return {.job = task.job->name,
          .stage = task.job->stages[task.stage].spec->name,
          .executor = executors_[task.executor].spec.name,
          .attempt = task.attempt,
          .partition = task.partition,
          .try_number = task.number};
}

// A result stage gives its result to the job; whatever is read by somebody is no result.
bool World::sink(const Job& job, int s) {
  const auto own = [&job](std::uint32_t child) { return static_cast<int>(child) < job.own; };
  return s < job.own && Job::row(job.graph.pipelined_children, s).empty() &&
         std::ranges::none_of(Job::row(job.graph.regular_children, s), own);
}

bool World::available(const Stage& stage) {
  if (stage.dormant) {
    return stage.original != nullptr && available(*stage.original);
  }
  return stage.spec->tasks == 0 ? stage.there
                                : std::ranges::find(stage.output, nobody) == stage.output.end();
}

// A1.
bool World::inputs_there(const Job& job, const Unit& unit) {
  return std::ranges::all_of(unit.stages, [&](int s) {
    return std::ranges::all_of(Job::row(job.graph.regular_parents, s),
                               [&](auto parent) { return available(job.stages[parent]); });
  });
}

bool World::shares(const Try& task) const {
  return config_.accounting != Accounting::sum && task.job->unit(task.stage).group();
}

// X12: a dead executor says nothing, and what was killed is not listened to.
bool World::report(std::size_t number) {
  Try& task = tries_[number];
  const Executor& executor = executors_[task.executor];
  if (task.over || (executor.died && *executor.died <= task.ends)) {
    return false;
  }
  task.over = true;
  if (task.reason) {
    fail_task(number);
  } else if (task.job->unit(task.stage).group()) {
    succeed_member(number);
  } else {
    succeed_regular(number);
  }
  return true;
}

// ---- lines of ends, and slots (scenario.md 5) ----

void World::use(int executor, ProfileId profile, std::int64_t count) {
  const ResourceVector& amounts = cluster_.profiles[profile.index()].task;
  for (std::size_t r = 0; r < amounts.size(); ++r) {
    executors_[executor].used[r] += amounts[r] * count;
  }
}

void World::free_slot(std::size_t number) {
  Try& task = tries_[number];
  if (std::exchange(task.busy, false) && !shares(task)) {
    use(task.executor, task.job->stages[task.stage].spec->profile, -1);
  }
}

SlotReturned World::returned(const Try& task, ProfileId profile, std::int64_t count) const {
  return {executors_[task.executor].spec.name, cluster_.profiles[profile.index()].name, count,
          task.job->name};
}

// A10: the slots of a group on an executor come back with its last task there, profile by profile.
std::vector<SlotReturned> World::share_over(const Try& task) {
  const auto same = [&](const Job* job, int unit, int executor) {
    return job == task.job && unit == task.job->unit_of[task.stage] && executor == task.executor;
  };
  std::vector<SlotReturned> lines;
  if (std::ranges::any_of(tries_, [&](const Try& other) {
        return other.busy && same(other.job, other.job->unit_of[other.stage], other.executor);
      })) {
    return lines;
  }
  std::ranges::sort(shares_, {}, &Share::profile);
  std::erase_if(shares_, [&](const Share& share) {
    if (!same(share.job, share.unit, share.executor)) {
      return false;
    }
    use(task.executor, share.profile, -share.slots);
    lines.push_back(returned(task, share.profile, share.slots));
    return true;
  });
  return lines;
}

void World::tell_end(std::size_t number, TaskStatus status, std::optional<TaskReason> reason,
                     bool counted) {
  const Try& task = tries_[number];
  const bool early = !task.busy;  // C6: its slot came back before
  TaskEnd line{ref(task), false, status, reason, {}, {}};
  if (!counted) {
    line.counted = false;
  }
  const bool lives = executors_[task.executor].lives();
  if (early || (shares(task) && lives)) {
    line.slot = SlotState::held;
  }
  free_slot(number);
  say(line, "C3");
  if (shares(task)) {
    for (const SlotReturned& back : share_over(task)) {
      say(back, "A10");
    }
  }
  leave_if_idle(task.executor);
}

// An order to kill: the end is told now, the slot comes back when it took effect.
void World::kill(std::size_t number, TaskReason reason) {
  Try& task = tries_[number];
  task.over = true;
  const Duration delay = drawn(task, DrawPurpose::kill, cluster_.overheads.kill);
  TaskEnd line{ref(task), false, TaskStatus::killed, reason, {}, {}};
  if (delay > 0 || shares(task)) {
    line.slot = SlotState::held;
  }
  say(line, "X4 X14");
  if (delay > 0) {
    at(now_ + delay, 3, static_cast<std::int64_t>(number), 1, [this, number] {
      const Try& killed = tries_[number];
      if (!killed.busy) {
        return false;
      }
      free_slot(number);
      if (!shares(killed)) {
        say(returned(killed, killed.job->stages[killed.stage].spec->profile, 1), "X4");
      } else {
        for (const SlotReturned& back : share_over(killed)) {
          say(back, "A10");
        }
      }
      leave_if_idle(killed.executor);
      return true;
    });
    return;
  }
  if (killed_in_pass_ && !shares(task)) {
    killed_in_pass_->push_back(number);
    return;
  }
  free_slot(number);
  freed_.push_back(task.executor);
  if (shares(task)) {
    std::ranges::copy(share_over(task), std::back_inserter(after_step_));
  }
}

// ---- regular and barrier stages ----

// X9: a success counts once per partition, of any attempt, if its executor's epoch is still good
// (FENCED: of a result stage, too, whatever SS-1.6 says).
void World::succeed_regular(std::size_t number) {
  const Try& task = tries_[number];
  Job& job = *task.job;
  Stage& stage = job.stages[task.stage];
  const bool result = sink(job, task.stage) && !stage.shared;
  const bool done = result ? stage.result[task.partition] : stage.output[task.partition] != nobody;
  const bool stale = number < executors_[task.executor].epoch;
  const bool undone = task.attempt < stage.undone;
  const bool counts = !done && !stale && !undone;
  tell_end(number, TaskStatus::success, {}, counts);
  if (undone) {  // SS-1.6: a result cannot be taken back
    return result && !done ? end_job(job, JobOutcome::failed, Code::indeterminate_result) : void();
  }
  if (counts) {
    stage.result[task.partition] = result;
    stage.output[task.partition] = task.executor;
    for (std::size_t other = 0; other < tries_.size(); ++other) {
      const Try& running = tries_[other];
      if (!running.over && running.job == &job && running.stage == task.stage &&
          running.partition == task.partition) {
        kill(other, TaskReason::other_attempt);
      }
    }
    commit(number);
  }
  const bool ticked = config_.failure.incomplete == Incomplete::success_then_rerun && stale;
  if (Attempt* open = stage.open(); open && (counts || ticked)) {
    open->fresh.erase(task.partition);
    open->retries.erase(task.partition);
    open->done.insert(task.partition);
  }
  check_attempt(job, task.stage);
}

// C8: at most once per partition of a job.
void World::commit(std::size_t number) {
  const Try& task = tries_[number];
  Stage& stage = task.job->stages[task.stage];
  if (stage.spec->commits != Commits::none && stage.committed.insert(task.partition).second) {
    say(OutputCommitted{ref(task)}, "C8");
  }
}

// X9: an attempt of which nothing is left to do ends: well, or with outputs missing.
void World::check_attempt(Job& job, int s) {
  Stage& stage = job.stages[s];
  Unit& unit = job.unit(s);
  const Attempt* open = stage.open();
  const auto attempt = static_cast<int>(stage.attempts.size()) - 1;
  if (open != nullptr) {
    const bool busy = std::ranges::any_of(tries_, [&](const Try& task) {
      return !task.over && task.job == &job && task.stage == s && task.attempt == attempt &&
             !open->done.contains(task.partition);
    });
    if (busy || !open->fresh.empty() || !open->retries.empty()) {
      return;
    }
    const bool all = missing(job, s).empty();
    if (!all && unit.gang) {
      return fail_barrier(job, unit, Code::executor_lost);
    }
    if (!all && config_.failure.incomplete == Incomplete::rerun) {
      return fail_attempt(job, s, StageReason::incomplete);
    }
    unit.state = all ? UnitState::resting : UnitState::waiting;
    stage.failed_in_row = 0;
    complete(job, s, StageStatus::success, {}, "X9");
    if (unit.gang) {
      unit.committed = true;
      say(GroupCommitted{{job.name, stage.spec->name, unit.attempt}}, "A12");
    }
    if (all) {
      stage.given = true;
      wake(job, s);
    }
  }
  settle(job);
  end_if_done(job);
}

std::vector<int> World::missing(const Job& job, int s) {
  const Stage& stage = job.stages[s];
  std::vector<int> list;
  for (int p = 0; p < stage.spec->tasks; ++p) {
    if (sink(job, s) && !stage.shared ? !stage.result[p] : stage.output[p] == nobody) {
      list.push_back(p);
    }
  }
  return list;
}

void World::complete(Job& job, int s, StageStatus status, std::optional<StageReason> reason,
                     std::string_view clause) {
  Stage& stage = job.stages[s];
  stage.attempts.back().open = false;
  stage.completed_once = stage.completed_once || status == StageStatus::success;
  stage.there = stage.there || status == StageStatus::success;
  say(StageCompleted{job.ref(s), status, reason}, clause);
}

// ---- members of groups ----

bool World::producers_done(const Job& job, int s) {
  return std::ranges::all_of(Job::row(job.graph.pipelined_parents, s),
                             [&](auto parent) { return !job.stages[parent].attempts.back().open; });
}

void World::succeed_member(std::size_t number) {
  Try& task = tries_[number];
  Job& job = *task.job;
  Unit& unit = job.unit(task.stage);
  Stage& stage = job.stages[task.stage];
  stage.where[task.partition] = task.executor;
  const bool waits =
      config_.completion == Completion::after_parents && !producers_done(job, task.stage);
  task.held_back = waits && config_.task_end == TaskEndAxis::with_release;
  if (task.held_back) {
    stage.held_back.push_back(number);
  } else {
    tell_end(number, TaskStatus::success, {});
  }
  if (config_.output_commit == OutputCommit::immediate) {
    commit(number);
  } else if (stage.spec->commits != Commits::none && !stage.committed.contains(task.partition)) {
    stage.authorized[task.partition] = number;
  }
  if (task.held_back && task.busy) {
    free_slot(number);
    say(returned(task, stage.spec->profile, 1), "C6");
    leave_if_idle(task.executor);
  }
  if (std::ssize(stage.where) == stage.spec->tasks) {
    member_done(job, unit, task.stage);
  }
}

void World::member_done(Job& job, Unit& unit, int s) {
  Stage& stage = job.stages[s];
  stage.finished = true;
  const bool all = std::ranges::all_of(unit.stages, [&](int m) { return job.stages[m].finished; });
  switch (config_.completion) {
    case Completion::group:  // C2, C4, C10
      if (all) {
        commit_group(job, unit);
      } else if (stage.spec->tasks > 0) {
        say(MemberFinished{job.ref(s)}, "C10");
      }
      return;
    case Completion::after_parents:  // C6
      if (producers_done(job, s)) {
        release(job, unit, s);
      } else if (config_.task_end == TaskEndAxis::at_once && stage.spec->tasks > 0) {
        say(MemberFinished{job.ref(s)}, "C10");
      }
      break;
    default:  // C7
      complete(job, s, StageStatus::success, {}, "C7");
      break;
  }
  const bool completed =
      std::ranges::all_of(unit.stages, [&](int m) { return job.stages[m].open() == nullptr; });
  if (config_.completion == Completion::after_parents && completed) {
    end_group(job, unit);
  }
  if (config_.completion == Completion::final_stage && completed) {
    unit.state = UnitState::resting;  // its commit comes with the end of the job
  }
  if (!job.over) {
    settle(job);
    end_if_done(job);
  }
}

// C6: a member whose producers are complete tells what it held back, completes when it is done, and
// releases its consumers.
void World::release(Job& job, Unit& unit, int s) {
  tell_held_back(job, s, true);
  if (!job.stages[s].finished || job.stages[s].open() == nullptr) {
    return;
  }
  complete(job, s, StageStatus::success, {}, "C6");
  for (const std::uint32_t child : Job::row(job.graph.pipelined_children, s)) {
    if (producers_done(job, static_cast<int>(child))) {
      release(job, unit, static_cast<int>(child));
    }
  }
}

// C4: one block.
void World::commit_group(Job& job, Unit& unit) {
  for (const int s : job.members(unit)) {
    if (job.stages[s].read) {
      say(OutputsRegistered{job.ref(s)}, "C4");
    }
  }
  commit_authorized(job, unit);
  for (const int s : job.members(unit)) {
    complete(job, s, StageStatus::success, {}, "C4");
  }
  end_group(job, unit);
  for (const int s : job.members(unit)) {
    announced_[s];
  }
  for (const int s : job.members(unit)) {
    wake(job, s);
  }
  settle(job);
  end_if_done(job);
}

void World::commit_authorized(Job& job, const Unit& unit) {
  for (const int s : unit.stages) {  // by (stage, partition)
    for (const auto& [partition, number] : std::exchange(job.stages[s].authorized, {})) {
      commit(number);
    }
  }
}

// The last member is complete: outputs are there for readers outside, results for the job.
void World::end_group(Job& job, Unit& unit) {
  for (const int s : unit.stages) {
    Stage& stage = job.stages[s];
    stage.given = true;
    for (const auto& [partition, executor] : stage.where) {
      stage.result[partition] = !stage.shared;
      stage.output[partition] = executor;
    }
  }
  if (config_.completion == Completion::after_parents) {
    commit_authorized(job, unit);
  }
  unit.state = UnitState::resting;
  unit.committed = true;
  say(GroupCommitted{{job.name, job.name_of(unit), unit.attempt}}, "C4 C6");
}

// ---- who is ready, who is done ----

void World::settle(Job& job) {
  while (!job.over && settle_once(job)) {
  }
}

// One change of one unit, the first in file order that has one.
bool World::settle_once(Job& job) {
  for (Unit& unit : job.units) {
    if (unit.state != UnitState::waiting) {
      continue;
    }
    const int first = unit.stages.front();
    if (!unit.group() && job.stages[first].spec->tasks > 0 && missing(job, first).empty()) {
      unit.state = UnitState::resting;  // stragglers did it all
      return true;
    }
    if (inputs_there(job, unit)) {
      if (start(job, unit)) {
        return true;
      }
    } else if (unit.gang && unit.ready != Ready::no) {  // C12, X15
      queue_for_inputs(job, unit);
      return true;
    } else if (want_inputs(job, unit)) {
      return true;
    }
  }
  return false;
}

void World::queue_for_inputs(const Job& job, Unit& unit) {
  unit.ready = Ready::no;
  unit.refused = false;
  unit.told = true;
  say(GroupQueued{job.name, job.name_of(unit), QueuedReason::inputs, {}, {}}, "C12 X15");
}

// X15: gangs that were ready and are not, by what they read.
void World::unready(Job& job) {
  for (int s = 0; s < std::ssize(job.stages); ++s) {
    if (!job.rejected && !available(job.stages[s])) {
      unready(job, s);
      for (const auto& [reader, stage] : stand_ins(job.stages[s])) {
        unready(*reader, stage);
      }
    }
  }
}

void World::unready(Job& job, int s) {
  for (const std::uint32_t child : Job::row(job.graph.regular_children, s)) {
    Unit& unit = job.unit(child);
    if (unit.state == UnitState::waiting && unit.gang && unit.ready == Ready::yes) {
      queue_for_inputs(job, unit);
    }
  }
}

// A1: the readers of a stage, in the step that makes it available; one that reads several of those
// that end in this step is ready when the last of them tells it.
void World::wake(Job& job, int stage) {
  announced_[stage];
  for (const std::uint32_t child : Job::row(job.graph.regular_children, stage)) {
    Unit& unit = job.unit(child);
    announced_[stage].insert(static_cast<int>(child));
    const auto untold = [&](const auto& parent) {
      const auto row = Job::row(job.graph.regular_parents, static_cast<int>(child));
      return std::ranges::find(row, static_cast<std::uint32_t>(parent.first)) != row.end() &&
             !parent.second.contains(static_cast<int>(child));
    };
    if (unit.state == UnitState::waiting && inputs_there(job, unit) &&
        std::ranges::none_of(announced_, untold)) {
      start(job, unit);
    }
  }
  announced_.erase(stage);
  wake_others(job.stages[stage]);
}

// A unit that is ready: submitted, or queued for the pass.
bool World::start(Job& job, Unit& unit) {
  const int first = unit.stages.front();
  if (!unit.gang) {
    unit.state = UnitState::running;
    roll_back_again(job, unit);
    if (job.over) {
      return true;
    }
    open_attempt(job, first, missing(job, first));
    if (job.stages[first].spec->tasks == 0) {  // A19
      unit.state = UnitState::resting;
      complete(job, first, StageStatus::success, {}, "A19");
      wake(job, first);
      end_if_done(job);
    }
    return true;
  }
  if (unit.ready == Ready::yes) {
    return false;
  }
  unit.ready = Ready::yes;
  unit.withdrawn = false;
  const Counts need = demand(job, unit);
  const bool empty = std::ranges::none_of(need, [](std::int64_t n) { return n > 0; });
  if (empty || (unit.group() && config_.admission.shortfall == Shortfall::rejection)) {  // A19, A9
    admit(job, unit, {});
  }
  return true;
}

// X15, X10: what a waiting unit reads and nobody makes is made again.
bool World::want_inputs(Job& job, const Unit& unit) {
  bool any = false;
  for (const int s : job.members(unit)) {
    for (const std::uint32_t parent : Job::row(job.graph.regular_parents, s)) {
      any = (!job.over && want(job, static_cast<int>(parent))) || any;
    }
  }
  return any;
}

// The stage is needed: what makes it is submitted, or queued, or what that lacks is wanted first.
bool World::want(Job& job, int s) {
  if (!make_again(job, s)) {
    return false;
  }
  if (job.over) {
    return true;
  }
  Unit& unit = job.unit(s);
  if (inputs_there(job, unit)) {
    return start(job, unit);
  }
  if (unit.gang) {
    queue_for_inputs(job, unit);
  }
  want_inputs(job, unit);
  return true;
}

bool World::make_again(Job& job, int stage) {
  Unit& producer = job.unit(stage);
  Stage& made = job.stages[stage];
  if (available(made) || producer.state != UnitState::resting ||
      (made.dormant && made.owner != nullptr && !made.owner->over)) {
    return false;
  }
  if (made.dormant) {
    roll_back_again(job, producer);
    if (job.over || !made.dormant) {
      return job.over;  // else who was undone has wanted it meanwhile
    }
  }
  made.dormant = false;
  if (producer.group() && producer.reruns++ >= config_.failure.max_stage_attempts) {
    end_job(job, JobOutcome::failed, Code::stage_attempts_exceeded);
    return true;
  }
  producer.state = UnitState::waiting;
  producer.ready = Ready::unknown;
  producer.refused = false;
  producer.told = false;
  wanted_.emplace_back(&job, job.unit_of[stage]);
  if (producer.gang && !producer.group()) {
    drop_outputs(job, stage);  // A12: it runs whole, what is left of it is void
  }
  if (producer.gang) {
    roll_back_again(job, producer);
  }
  return true;
}

// C9, C7.
void World::end_if_done(Job& job) {
  if (job.over) {
    return;
  }
  bool done = true;
  if (config_.completion == Completion::final_stage) {
    for (const StageIndex s : job.spec->result) {
      const Stage& stage = job.stages[s.index()];
      done = done && stage.completed_once && stage.open() == nullptr;
    }
  } else {
    for (int s = 0; s < std::ssize(job.stages); ++s) {
      const Stage& stage = job.stages[s];
      const bool given = stage.spec->tasks == 0 ? stage.completed_once
                         : stage.shared         ? stage.given
                                                : missing(job, s).empty();
      done = done && (!sink(job, s) || given);
    }
    done = done &&
           std::ranges::all_of(job.units, [](const Unit& u) { return !u.group() || u.committed; });
  }
  if (done) {
    end_job(job, JobOutcome::succeeded, {});
  }
}

}  // namespace rehearse::properties::oracle
