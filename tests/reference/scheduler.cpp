// The scheduler, clause by clause: regular stages, `fifo`, `spread`. After each step it looks
// through all stages for what can be done now; it keeps nothing that a table can be asked for.
#include <algorithm>

#include "model/resources.hpp"
#include "tests/reference/reference.hpp"
#include "tests/reference/world.hpp"

namespace rehearse::reference {

using namespace model;

namespace {

using Stages = std::vector<Stage*>;

void add(Ranges& list, int partition) {
  if (list.empty() || list.back().last + 1 != partition) {
    list.push_back({partition, partition});
  }
  list.back().last = partition;
}

// A result that was given and that nobody reads is never missing.
bool missing(const Stage& stage, const Partition& one) {
  return one.output == nullptr && (stage.read || !one.given);
}

std::int64_t missing(const Stage& stage) {
  return ranges::count_if(stage.partitions, [&](const auto& one) { return missing(stage, one); });
}

// Decision 5: what other jobs read are outputs, which can be made again.
bool gives_results(const Stage& stage) { return stage.sink && !stage.read; }

bool changes(const Stage& stage) {  // if it is submitted again
  return stage.spec->indeterminate && !gives_results(stage) && stage.attempt > stage.undone;
}

// A1: of a copy that is not needed yet, the original's.
bool available(Stage* stage) {
  const Stage& real = *stage->real();
  const bool ran = real.state != Stage::running && (real.spec->tasks > 0 || real.attempt >= 0);
  return ran && missing(real) == 0;
}

bool counts(const Executor& one) {  // A5
  return (one.state == Executor::due || one.state == Executor::joined) && !one.leaving;
}

class Scheduler final : public World {
 public:
  using World::World;

 private:
  // ---- submission (A4, A5, C12, F13) ----

  std::int64_t slots(const Executor& one, const ResourceVector& amounts, const Stage& stage) {
    const ProfileId id = stage.spec->profile, bound = one.spec->profile;
    return bound.valid() && bound != id ? 0 : slots_of(amounts, profile(id).task);
  }

  // An attempt demands a slot only while a task of it has none (decision 19).
  bool never_fits(const Stage& stage) {
    const auto serves = [&](const Executor& one) {
      return counts(one) && slots(one, one.spec->resources, stage) > 0;
    };
    const bool demands = stage.state == Stage::running
                             ? has(stage.partitions, Partition::pending, &Partition::state)
                             : stage.state != Stage::idle && stage.spec->tasks > 0;
    return demands && ranges::none_of(executors_, serves);
  }

  void submit_job(Job& job) override {
    const auto lacks = ranges::find_if(job.stages, std::bind_front(&Scheduler::never_fits, this));
    const bool none = ranges::none_of(executors_, counts);
    JobRejected line{job.name, {}, {}, {}, {}, {}};
    if (lacks != job.stages.end()) {
      line.codes = {none ? Code::no_executors : Code::insufficient_slots};
      line.need = PerProfile{{profile(lacks->spec->profile).name, 1}};
      line.have = PerProfile{{profile(lacks->spec->profile).name, 0}};
    }
    if (job.cyclic) {
      line.codes.insert(none ? line.codes.begin() : line.codes.end(), Code::dag_cycle);
    }
    job.alive = line.codes.empty();
    if (job.alive) {
      emit(JobStarted{job.name});
    } else {
      line.code = line.codes.front();
      emit(line);
      over(job, true);
    }
  }

  // ---- what can be done now (A1, A14, A19, C9, X9, X15; decision 2) ----

  void settle() override {
    do {
      again();
    } while (ranges::any_of(all_stages(), [this](Stage& stage) { return advance(stage); }));
    ranges::for_each(jobs_ | std::views::values, [this](Job& job) { check_starved(job); });
  }

  // A stage that is left to do; true: something was done about it.
  bool advance(Stage& stage) {
    const auto ended = [](const Partition& one) { return one.state >= Partition::ticked; };
    const bool runs = stage.state == Stage::running;
    if (!stage.job->alive || stage.state == Stage::idle ||
        (runs && !ranges::all_of(stage.partitions, ended))) {
      return false;
    }
    const bool waits = stage.state == Stage::waiting;
    if (runs && missing(stage) == 0) {
      complete(stage, StageStatus::success, {});
      done(stage);
    } else if (runs) {
      complete(stage, StageStatus::failed, StageReason::incomplete);
    } else if (available(&stage)) {  // stragglers gave what was missing
      done(stage);
    } else if (stage.state == Stage::exhausted) {
      end_job(*stage.job, JobOutcome::failed, Code::stage_attempts_exceeded);
    } else if (stage.state == Stage::failed) {
      wait(stage);
    } else if (waits && stage.missed != nullptr) {
      want(*std::exchange(stage.missed, nullptr));
    } else if (waits && ranges::any_of(stage.parents, [this](Stage* in) { return want(*in); })) {
      return true;  // it may be there now
    } else if (waits && ranges::all_of(stage.parents, available)) {
      stage.delay > 0 ? wait(stage) : submit(stage);
    } else {
      return false;
    }
    return true;
  }

  // A waiting reader's input comes again if it is missing. A copy stands for the original while
  // that, or its job, is there (decision 1).
  bool want(Stage& stage) {
    const bool stands = stage.original != nullptr && stage.original->job->alive;
    if (stage.state != Stage::idle || stands || available(&stage)) {
      return false;
    }
    if (stage.original != nullptr && changes(*stage.original)) {
      roll_back(*stage.original);
      if (!stage.job->alive || stage.state != Stage::idle) {
        return true;
      }
    }
    stage.original = nullptr;
    stage.state = Stage::waiting;
    if (never_fits(stage)) {
      check_starved(*stage.job);
    }
    while (advance(stage)) {
    }
    return true;
  }

  // A1, A19: its readers at once, each with its own readers, and as soon as all its inputs that are
  // done have told it; then C9.
  void done(Stage& stage) {
    Stages readers;
    stage.state = Stage::idle;
    for (Stage& reader : all_stages()) {
      if (has(reader.parents, &stage, &Stage::real)) {
        readers.push_back(&reader);
        ++reader.untold;
      }
    }
    for (Stage* reader : readers) {
      --reader->untold;
      while (reader->untold == 0 && ranges::all_of(reader->parents, available) &&
             advance(*reader)) {
      }
    }
    const auto left = [](const Stage& one) { return one.sink && one.state != Stage::idle; };
    if (ranges::none_of(stage.job->stages, left)) {
      end_job(*stage.job, JobOutcome::succeeded, {});
    }
  }

  // A14: grace runs for each job with a stage left to do that nothing could ever serve.
  void check_starved(Job& job) {
    const auto starves = [this](const Stage& one) { return never_fits(one); };
    const bool starved = job.alive && ranges::any_of(job.stages, starves);
    const bool runs = job.grace % 2 == 1;
    job.grace += starved != runs ? 1 : 0;
    if (starved && !runs) {
      const auto end = [this, &job] { end_job(job, JobOutcome::failed, Code::admission_timeout); };
      const auto matters = [&job, grace = job.grace] { return job.grace == grace; };
      moment(Moment::timer_armed, &job);
      at(now_ + scenario_.scheduler.no_executor_grace, 6, end, {}, matters);
    }
  }

  // ---- attempts and jobs, from submission to end (X9, C9, X14) ----

  void submit(Stage& stage) {
    if (changes(stage)) {
      roll_back(stage);
    }
    if (!stage.job->alive) {
      return;
    }
    stage.state = Stage::running;
    ++stage.attempt;
    Ranges numbers;
    for (Partition& one : stage.partitions) {
      one.tries = one.failures = 0;
      one.state = missing(stage, one) ? Partition::pending : Partition::other;
      if (one.state == Partition::pending) {
        add(numbers, one.number);
      }
    }
    const std::int64_t tasks = missing(stage);
    const bool whole = tasks == stage.spec->tasks;
    emit(StageSubmitted{stage.ref(), tasks, whole ? std::nullopt : std::optional(numbers)});
  }

  // One line for each attempt; a failed one comes again after its delay (decision 2).
  void complete(Stage& stage, StageStatus status, std::optional<StageReason> reason) {
    const auto& rules = scenario_.scheduler.failure;
    stage.failed_attempts = reason ? stage.failed_attempts + 1 : 0;
    const bool exhausted = stage.failed_attempts >= rules.max_stage_attempts;
    stage.state = exhausted ? Stage::exhausted : Stage::failed;
    stage.delay = !reason || reason == StageReason::incomplete ? 0 : rules.resubmit_delay;
    emit(StageCompleted{stage.ref(), status, reason});
  }

  // Void where stragglers finish it, or another attempt began.
  void wait(Stage& stage) {
    const Duration delay = std::exchange(stage.delay, 0);
    const auto matters = [&stage, attempt = stage.attempt] {
      return stage.job->alive && stage.state == Stage::delayed && stage.attempt == attempt;
    };
    stage.state = Stage::delayed;
    after(delay, 6, [&stage] { stage.state = Stage::waiting; }, {}, matters);
    if (delay > 0) {
      moment(Moment::timer_armed, stage.job, stage.name);
    }
  }

  void end_job(Job& job, JobOutcome outcome, std::optional<Code> code) override {
    const bool cancels = outcome == JobOutcome::cancelled;
    const StageReason reason = cancels                            ? StageReason::job_cancelled
                               : outcome == JobOutcome::succeeded ? StageReason::job_done
                                                                  : StageReason::job_failed;
    if (!std::exchange(job.alive, false)) {
      return;
    }
    for (Stage& stage : job.stages) {
      stop(cancels ? TaskReason::cancelled : TaskReason::job_ended, &stage, nullptr);
      if (stage.state == Stage::running) {
        complete(stage, StageStatus::cancelled, reason);
      }
    }
    emit(JobEnd{job.name, outcome, code, {}, {}, {}});
    over(job, outcome == JobOutcome::failed);
    ranges::for_each(job.stages, [this](Stage& stage) { lost_.push_back(&stage); });
    again();
    job_ended_ = true;
  }

  // ---- ends of tries (X9, C3, C8; decision 5) ----

  void report(const Task& task) override {
    Stage& stage = *task.stage;
    Partition& one = *task.partition;
    const bool undone = task.ref.attempt <= stage.undone;
    const bool gives =
        !task.failure && !undone && task.epoch == task.executor->epoch && missing(stage, one);
    const auto left = [&stage](const Partition& other) {
      return other.state != Partition::other && missing(stage, other);
    };
    const auto counted = task.failure || gives ? std::nullopt : std::optional(false);
    emit(TaskEnd{task.ref, false, task.status, task.failure, counted, {}});
    if (task.failure) {
      const bool denied = task.failure == TaskReason::commit_denied;
      failed(task, task.status == TaskStatus::failed && !denied);
    } else if (undone && gives_results(stage)) {
      end_job(*stage.job, JobOutcome::failed, Code::indeterminate_result);
    } else if (gives) {
      one.state = Partition::ticked;
      one.output = task.executor;
      one.given = true;
      stop(TaskReason::other_attempt, &stage, &one);
      if (stage.commits && !std::exchange(one.committed, true)) {
        emit(OutputCommitted{task.ref});
      }
      if (ranges::count_if(stage.partitions, left) == 1) {
        moment(Moment::last_but_one_task, stage.job, stage.name, task.ref.executor);
      }
    } else if (task.ref.attempt == stage.attempt) {
      one.state = Partition::ticked;
    }
  }

  // Of the last attempt only: the partition is to be done again, or its tries are used up (X17).
  void failed(const Task& task, bool counts) {
    Stage& stage = *task.stage;
    Partition& one = *task.partition;
    const bool lost = task.failure == TaskReason::executor_lost;
    if (task.ref.attempt != stage.attempt) {
      return;
    }
    if (task.failure == TaskReason::fetch_failed) {
      miss(stage, task.unread, task.fault->fetch_partition);
      return;
    }
    one.state = Partition::pending;
    one.failures += counts ? 1 : 0;
    constexpr int tries_max = 1'000;  // decision 2: of failures that do not count, too
    if (stage.state == Stage::running &&
        (one.failures >= scenario_.scheduler.failure.max_task_failures ||
         (!lost && one.tries >= tries_max))) {
      complete(stage, StageStatus::failed,
               lost ? StageReason::executor_lost : StageReason::task_failed);
      end_job(*stage.job, JobOutcome::failed, lost ? Code::executor_lost : Code::task_failed);
    }
  }

  // ---- inputs, outputs and executors that go (X9, X13; decisions 4 and 5) ----

  // Inputs that cannot be read end the attempt; the executor of the output that could not be
  // fetched loses all, an indeterminate input all that it gave.
  void miss(Stage& stage, const Stages& inputs, std::optional<std::size_t> partition) {
    const bool first = stage.state == Stage::running;
    if (first) {
      complete(stage, StageStatus::failed, StageReason::fetch_failed);
      stage.missed = inputs.empty() ? nullptr : inputs.front();
    }
    for (Stage* input : inputs) {
      const int attempt = input->real()->attempt;
      Executor* source = partition ? input->real()->partitions[*partition].output : nullptr;
      if (source != nullptr) {
        ++source->epoch;
        strike(*source, nullptr, false);
        again();
      }
      if (first && input->spec->indeterminate && stage.state != Stage::exhausted &&
          input->real()->attempt == attempt) {
        roll_back(*input->real());
      }
    }
  }

  // X15: what is lost and waited for is given again.
  void again() {
    for (Stage* stage : std::exchange(lost_, {})) {
      for (Stage& reader : all_stages()) {
        for (Stage* in : reader.parents) {
          if (reader.job->alive && reader.state == Stage::waiting && in->real() == stage) {
            want(*in);
          }
        }
      }
    }
  }

  // The outputs on an executor, of one stage or of all; where `repeat`, running attempts give
  // theirs again.
  void strike(const Executor& on, const Stage* of, bool repeat) {
    for (Stage& stage : all_stages()) {
      Ranges lost;
      for (Partition& one : stage.partitions) {
        if (one.output == &on && (of == nullptr || of == &stage)) {
          one.output = nullptr;
          add(lost, one.number);
          const bool again = repeat && one.state == Partition::ticked && missing(stage, one);
          one.state = again ? Partition::pending : one.state;
        }
      }
      if (!lost.empty()) {
        lost_.push_back(&stage);
      }
      if (!lost.empty() && stage.read && (stage.job->alive || read_by_others(*stage.job, {}))) {
        emit(OutputsLost{stage.job->name, stage.name, on.spec->name, lost});
      }
    }
  }

  // What reads an indeterminate stage, directly or not, is undone, each once per attempt.
  void roll_back(Stage& first) {
    Stages order{&first};
    for (std::size_t before = 0; before != order.size();) {
      before = order.size();
      for (Stage& stage : all_stages()) {
        const auto reads = [&order](Stage* parent) { return has(order, parent->real()); };
        const bool there = stage.job->alive || read_by_others(*stage.job, {});
        if (there && !has(order, &stage) && ranges::any_of(stage.parents, reads)) {
          order.push_back(&stage);
        }
      }
    }
    for (Stage* stage : order) {
      if (stage->job->alive && gives_results(*stage) && stage->attempt > stage->undone &&
          has(stage->partitions, true, &Partition::given)) {
        end_job(*stage->job, JobOutcome::failed, Code::indeterminate_result);
      }
    }
    for (Stage* stage : order) {
      const bool there = stage->job->alive || read_by_others(*stage->job, {});
      if (!there || std::exchange(stage->undone, stage->attempt) == stage->attempt) {
        continue;
      }
      if (stage->state == Stage::running) {
        stop(TaskReason::superseded, stage, nullptr);
        complete(*stage, StageStatus::failed, StageReason::rolled_back);
      }
      ranges::for_each(joined_, [&](const Executor* one) { strike(*one, stage, false); });
      if (stage->job->alive) {  // a copy that is wanted for it comes behind what is undone
        again();
      }
    }
  }

  // What ran there has ended; of a host that is lost all executors lose their outputs.
  void lost(const Executor& executor, LossCause cause, const std::vector<Task>& ended) override {
    for (const Task& task : ended) {
      failed(task, cause == LossCause::exit_by_app);
    }
    const bool survive = scenario_.scheduler.outputs_survive_executor;
    for (const Executor* one : joined_) {
      const bool of_host = cause == LossCause::host && one->state == Executor::gone &&
                           one->spec->host == executor.spec->host;
      if (of_host || (one == &executor && !survive)) {
        // SS-2.6: where outputs survive executors, an attempt does not repeat a host's.
        strike(*one, nullptr, !survive);
      }
    }
  }

  // ---- the pass (A7, A8, A13, A15, A18) ----

  // 0: the executor that is preferred, 1: its host or the preferred one, 2: the rack, 3: elsewhere.
  int distance(const ExecutorSpec& one, NameId preferred) {
    const auto is = [preferred](const Executor& there) {
      return there.spec->name == preferred || there.spec->host == preferred;
    };
    const auto there = ranges::find_if(executors_, is);
    const bool known = there != executors_.end();
    const bool host = known && there->spec->host == one.host;
    const bool rack = known && one.rack.valid() && there->spec->rack == one.rack;
    return one.name == preferred ? 0 : host ? 1 : rack ? 2 : 3;
  }

  // The nearest with room, of equal ones that with most free slots, then the first to join.
  Executor* place(const Stage& stage, const Partition& partition) {
    using Rank = std::tuple<int, std::size_t, std::int64_t>;
    const auto number = static_cast<std::size_t>(partition.number);
    const auto& prefers = stage.spec->prefers;
    std::map<Rank, Executor*> best;
    for (Executor* one : joined_) {
      const bool takes = one->state == Executor::joined && !one->leaving && one->holds == 0;
      const std::int64_t room = takes ? slots(*one, one->free, stage) : 0;
      Rank rank(3, 0, -room);
      for (std::size_t i = 0; number < prefers.size() && i < prefers[number].size(); ++i) {
        rank = std::min(rank, Rank(distance(*one->spec, prefers[number][i]), i, -room));
      }
      if (room > 0) {
        best.emplace(rank, one);
      }
    }
    return best.empty() ? nullptr : best.begin()->second;
  }

  bool start_one(Stage& stage) {
    const auto next = ranges::find(stage.partitions, Partition::pending, &Partition::state);
    const bool waits = stage.state == Stage::running && next != stage.partitions.end();
    Executor* executor = waits ? place(stage, *next) : nullptr;
    if (executor == nullptr) {
      return false;
    }
    Stages missed = stage.parents;
    std::erase_if(missed, available);
    if (missed.empty()) {
      start(stage, *next, *executor);
    } else {
      miss(stage, missed, {});
      settle();
      at(now_, 7, [] {});  // another pass
    }
    return true;
  }

  // A job that ends in a pass ends the pass: what it leaves is judged from the start.
  void pass() override {
    job_ended_ = false;
    for (Stage& stage : all_stages()) {
      while (!job_ended_ && start_one(stage)) {
      }
    }
  }

  Stages lost_;             // whose readers were not looked at yet
  bool job_ended_ = false;  // in this pass
};

}  // namespace

std::vector<Event> journal(const Scenario& scenario, NameTable& names) {
  return Scheduler(scenario, names).run();
}

}  // namespace rehearse::reference
