// The scheduler, clause by clause: regular stages, `fifo`, `spread`. It scans.
#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>

#include "model/resources.hpp"
#include "model/stage_graph.hpp"
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

bool available(Stage* stage) {
  const Stage* real = stage->real();
  const auto lacks = [real](const Partition& one) { return missing(*real, one); };
  return real != nullptr && (real->spec->tasks > 0 || real->attempt >= 0) &&
         ranges::none_of(real->partitions, lacks);
}

bool counts(const Executor& one) {  // A5
  return (one.state == Executor::due || one.state == Executor::joined) && !one.leaving;
}

class Scheduler final : public World {
 public:
  using World::World;

 private:
  // ---- submission (C12, A5, F13) ----

  void submit_job(const JobSpec& spec, const Number& number) override {
    Job& job = jobs_[{now_, number}];
    std::string name(names_.text(spec.name));
    name += number[2] > 0 ? std::to_string(number[2]) : "";
    name += number[3] > 0 ? "#" + std::to_string(number[3]) : "";
    job = {&spec, number, names_.intern(name)};
    JobSubmitted line{job.name, spec.pool, spec.priority, {}, {}};
    for (const StageSpec& stage : spec.stages) {
      line.stages.push_back(
          {stage.name, stage.tasks, profile(stage.profile).name, stage.barrier, stage.commits});
    }
    for (const EdgeSpec& edge : spec.edges) {
      const NameId from = edge.from.valid() ? spec.stages[edge.from.index()].name
                                            : joined(edge.from_job, "/", edge.from_stage);
      for (const StageIndex to : edge.to) {
        line.edges.push_back({from, spec.stages[to.index()].name, EdgeKind::regular});
      }
    }
    emit(line);
    const bool cycle = make_stages(job);
    latest_[&spec] = &job;
    job.alive = accept(job, cycle);
    if (job.alive) {
      ranges::for_each(job.stages, [this](Stage& stage) { try_submit(stage); });
    } else {
      over(job, true);
    }
  }

  NameId joined(NameId job, const char* mark, NameId stage) {
    return names_.intern(std::string(names_.text(job)).append(mark).append(names_.text(stage)));
  }

  // Behind its own stages stand copies of those of other jobs that it reads, and of their inputs;
  // each stands for that of the latest submission until it is needed (decision 1). True: a cycle.
  bool make_stages(Job& job) {
    JobSpec& whole = job.whole = *job.spec;
    Stages originals(whole.stages.size());
    for (std::size_t e = 0; e < whole.edges.size(); ++e) {  // more come while it goes
      const EdgeSpec edge = whole.edges[e];
      if (edge.from.valid()) {
        continue;
      }
      const JobSpec& other = *ranges::find(scenario_.jobs, edge.from_job, &JobSpec::name);
      const auto spec = ranges::find(other.stages, edge.from_stage, &StageSpec::name);
      const StageIndex place(static_cast<std::size_t>(spec - other.stages.begin()));
      const bool own = &other == job.spec;
      const NameId name = own ? spec->name : joined(other.name, ".", spec->name);
      const auto found = ranges::find(whole.stages, name, &StageSpec::name);
      const StageIndex from(static_cast<std::size_t>(found - whole.stages.begin()));
      whole.edges[e].from = from;
      if (found != whole.stages.end()) {
        continue;
      }
      Job* latest = latest_[&other];
      originals.push_back(latest != nullptr ? &latest->stages[place.index()] : nullptr);
      whole.stages.push_back(*spec);
      whole.stages.back().name = name;
      whole.stages.back().commits = Commits::none;
      for (EdgeSpec input : other.edges) {
        if (!has(input.to, place)) {
          continue;
        }
        if (input.from.valid()) {
          input.from_job = other.name;
          input.from_stage = other.stages[input.from.index()].name;
        }
        input.from = {};
        input.to = {from};
        whole.edges.push_back(input);
      }
    }
    GraphRules rules;
    rules.edges = EdgesAxis::all_regular;
    const StageGraph graph = build_stage_graph(whole, rules);
    const std::size_t own = job.spec->stages.size();
    job.stages.resize(whole.stages.size());
    for (std::size_t s = 0; s < job.stages.size(); ++s) {
      const auto readers = graph.regular_children.row(s);
      Stage& stage = job.stages[s];
      stage.job = &job;
      stage.spec = &whole.stages[s];
      stage.state = s < own ? Stage::waiting : Stage::asleep;
      stage.original = originals[s];
      stage.sink = s < own && (readers.empty() || readers.front() >= own);
      stage.read = !readers.empty() || read_by_others(job, stage.spec->name);
      stage.start_delay = stage.spec->start_delay;
      for (int p = 0; p < stage.spec->tasks; ++p) {
        stage.partitions.push_back({p});
      }
      for (const std::uint32_t parent : graph.regular_parents.row(s)) {
        stage.parents.push_back(&job.stages[parent]);
      }
    }
    return graph.topological.empty();
  }

  // Whether an edge of the scenario names the stage, or any of the job's.
  [[nodiscard]] bool read_by_others(const Job& job, NameId stage) const {
    const auto edges = scenario_.jobs | std::views::transform(&JobSpec::edges) | std::views::join;
    return ranges::any_of(edges, [&](const EdgeSpec& edge) {
      return edge.from_job == job.spec->name && (!stage.valid() || edge.from_stage == stage);
    });
  }

  // A4
  [[nodiscard]] std::int64_t slots(const Executor& one, const ResourceVector& amounts,
                                   ProfileId id) const {
    const ProfileId bound = one.spec->profile;
    return bound.valid() && bound != id ? 0 : slots_of(amounts, profile(id).task);
  }

  // A5, A14
  [[nodiscard]] bool never_fits(const StageSpec& stage) const {
    return stage.tasks > 0 && ranges::none_of(executors_, [&](const Executor& one) {
             return counts(one) && slots(one, one.spec->resources, stage.profile) > 0;
           });
  }

  bool accept(const Job& job, bool cycle) {
    const auto never = [this](const StageSpec& stage) { return never_fits(stage); };
    const auto lacks = ranges::find_if(job.spec->stages, never);
    const bool none = ranges::none_of(executors_, counts);
    JobRejected line{job.name, {}, {}, {}, {}, {}};
    if (lacks != job.spec->stages.end()) {
      line.codes = {none ? Code::no_executors : Code::insufficient_slots};
      line.need = PerProfile{{profile(lacks->profile).name, 1}};
      line.have = PerProfile{{profile(lacks->profile).name, 0}};
    }
    if (cycle) {
      line.codes.insert(none ? line.codes.begin() : line.codes.end(), Code::dag_cycle);
    }
    if (line.codes.empty()) {
      emit(JobStarted{job.name});
      return true;
    }
    line.code = line.codes.front();
    emit(line);
    return false;
  }

  // ---- readiness (A1, A19, X15; decision 2) ----

  // Sees to it that a stage whose outputs are missing gives them again.
  void want(Stage* stage) {
    const bool asleep = stage->state == Stage::asleep;
    const bool stands = asleep && stage->original != nullptr && stage->original->job->alive;
    if (!available(stage) && !stands && (asleep || stage->state == Stage::done)) {
      stage->state = Stage::waiting;
      if (never_fits(*stage->spec)) {
        check_starved(*stage->job);
      }
      try_submit(*stage);
    }
  }

  // X15: whoever waits for a stage that lost outputs gets them back.
  void again(Stage* stage) {
    for (Stage& reader : all_stages()) {
      for (Stage* parent : reader.parents) {
        if (reader.job->alive && reader.state == Stage::waiting && parent->real() == stage) {
          want(parent);
        }
      }
    }
  }

  void try_submit(Stage& stage, bool told = false) {
    if (stage.job->alive && stage.state == Stage::waiting && !told) {
      ranges::for_each(stage.parents, [this](Stage* parent) { want(parent); });
    }
    if (!stage.job->alive || stage.state != Stage::waiting || untold_.contains(&stage) ||
        !ranges::all_of(stage.parents, available)) {
      return;
    }
    stage.state = Stage::delayed;
    if (const Duration delay = std::exchange(stage.start_delay, 0); delay > 0) {
      come(stage, {}, delay);
    } else {
      submit(stage);
    }
  }

  void submit(Stage& stage) {
    if (stage.spec->indeterminate && !stage.sink && stage.attempt > stage.undone) {
      roll_back(stage);
    }
    if (!stage.job->alive) {
      return;
    }
    stage.state = Stage::running;
    stage.launches = 0;
    ++stage.attempt;
    StageSubmitted line{stage.ref(), 0, Ranges{}};
    for (Partition& one : stage.partitions) {
      one.state = missing(stage, one) ? Partition::pending : Partition::other;
      one.tries = one.failures = 0;
      if (one.state == Partition::pending) {
        ++line.tasks;
        add(*line.partitions, one.number);
      }
    }
    if (line.tasks == stage.spec->tasks) {
      line.partitions.reset();
    }
    emit(line);
    moment(Moment::group_admitted, stage);
    finish_if_done(stage);
  }

  // A stage is done: its readers in file order, those of its own job first; each may be done at
  // once, and tells its own before the next. One is looked at when all its inputs have told it.
  void tell_readers(Stage& stage) {
    Stages readers;
    for (const bool own : {true, false}) {
      for (Stage& reader : all_stages()) {
        if ((reader.job == stage.job) == own && has(reader.parents, &stage, &Stage::real)) {
          readers.push_back(&reader);
        }
      }
    }
    untold_.insert(readers.begin(), readers.end());
    for (Stage* reader : readers) {
      untold_.erase(untold_.find(reader));
      try_submit(*reader, true);
    }
  }

  // ---- ends of attempts, stages and jobs (X9, C9, X14) ----

  void complete(Stage& stage, StageStatus status, std::optional<StageReason> reason) {
    const bool success = status == StageStatus::success;
    stage.state = Stage::delayed;
    stage.failed_attempts = success ? 0 : stage.failed_attempts + 1;
    emit(StageCompleted{stage.ref(), status, reason});
    moment(success ? Moment::group_commit : Moment::teardown, stage);
  }

  void finish_if_done(Stage& stage) {
    if (has(stage.partitions, Partition::pending, &Partition::state) ||
        has(stage.partitions, Partition::launched, &Partition::state)) {
      return;
    }
    if (available(&stage)) {
      complete(stage, StageStatus::success, {});
      settle(stage);
    } else {
      complete(stage, StageStatus::failed, StageReason::incomplete);
      come_again(stage, {}, 0);
    }
  }

  void settle(Stage& stage) {
    const auto done = [](const Stage& one) { return !one.sink || one.state == Stage::done; };
    if (available(&stage)) {
      stage.state = Stage::done;
      tell_readers(stage);
      if (ranges::all_of(stage.job->stages, done)) {
        end_job(*stage.job, JobOutcome::succeeded, {});
      }
    }
  }

  [[nodiscard]] bool used_up(const Stage& stage) const {
    return stage.failed_attempts >= scenario_.scheduler.failure.max_stage_attempts;
  }

  // After a failed attempt; the producers that were missed come before it.
  void come_again(Stage& stage, const Stages& missed, Duration delay) {
    if (used_up(stage)) {
      end_job(*stage.job, JobOutcome::failed, Code::stage_attempts_exceeded);
      return;
    }
    come(stage, missed, delay);
    if (delay > 0 && stage.job->alive) {
      moment(Moment::timer_armed, stage);
    }
  }

  void come(Stage& stage, const Stages& missed, Duration delay) {
    const auto waits = [&stage, attempt = stage.attempt] {  // unless stragglers finished it
      return stage.job->alive && stage.state == Stage::delayed && stage.attempt == attempt;
    };
    const auto act = [this, &stage, missed, waits] {
      if (waits()) {
        stage.state = Stage::waiting;
        ranges::for_each(missed, [this](Stage* producer) { want(producer); });
        try_submit(stage);
      }
    };
    after(delay, 6, act, {}, waits);
  }

  void end_job(Job& job, JobOutcome outcome, std::optional<Code> code) override {
    using enum StageReason;
    constexpr std::array reasons{job_done, job_failed, job_cancelled};
    const bool cancels = outcome == JobOutcome::cancelled;
    if (!std::exchange(job.alive, false)) {
      return;
    }
    for (Stage& stage : job.stages) {
      stop(cancels ? TaskReason::cancelled : TaskReason::job_ended,
           [&stage](const Task& task) { return task.stage == &stage; });
      if (stage.state == Stage::running) {
        complete(stage, StageStatus::cancelled, reasons.at(static_cast<std::size_t>(outcome)));
      }
    }
    emit(JobEnd{job.name, outcome, code, {}, {}, {}});
    moment(Moment::job_end, &job);
    over(job, outcome == JobOutcome::failed);
    job_ended_ = true;
    at(now_, 7, [] {});  // another pass
    ranges::for_each(job.stages, [this](Stage& stage) { again(&stage); });
  }

  void check_starved() override {
    ranges::for_each(jobs_ | std::views::values, [this](Job& job) { check_starved(job); });
  }

  // A14: grace runs for each job with a stage left to do that nothing could ever serve.
  void check_starved(Job& job) {
    const bool starved =
        job.alive && ranges::any_of(job.stages, [this](const Stage& one) {
          return one.state != Stage::asleep && one.state != Stage::done && never_fits(*one.spec);
        });
    if (starved == (job.grace % 2 == 1)) {
      return;
    }
    ++job.grace;
    if (starved) {
      const auto end = [this, &job] { end_job(job, JobOutcome::failed, Code::admission_timeout); };
      const auto matters = [&job, grace = job.grace] { return job.grace == grace; };
      moment(Moment::timer_armed, &job);
      at(now_ + scenario_.scheduler.no_executor_grace, 6, end, {}, matters);
    }
  }

  // ---- ends of tasks (X9, C3, C8) ----

  void report(const Task& task) override {
    if (!task.failure) {
      succeeded(task);
    } else {
      const bool killed = task.failure == TaskReason::external;
      const TaskStatus status = killed ? TaskStatus::killed : TaskStatus::failed;
      emit(TaskEnd{task.ref, false, status, task.failure, {}, {}});
      failed(task, !killed && task.failure != TaskReason::commit_denied);
    }
  }

  void succeeded(const Task& task) {
    Stage& stage = *task.stage;
    Partition& one = *task.partition;
    const bool undone = task.ref.attempt <= stage.undone;
    const bool counts = !undone && task.epoch == task.executor->epoch && missing(stage, one);
    TaskEnd line{task.ref, false, TaskStatus::success, {}, {}, {}};
    line.counted = counts ? std::nullopt : std::optional(false);
    emit(line);
    if (undone && stage.sink) {  // decision 5
      end_job(*stage.job, JobOutcome::failed, Code::indeterminate_result);
    }
    if (counts) {
      one.output = task.executor;
      one.given = true;
      stop(TaskReason::other_attempt,
           [&one](const Task& other) { return other.partition == &one; });
      if (stage.spec->commits != Commits::none && !std::exchange(one.committed, true)) {
        emit(OutputCommitted{task.ref});
      }
      const auto lacks = [&stage](const Partition& other) { return missing(stage, other); };
      if (ranges::count_if(stage.partitions, lacks) == 1) {
        moment(Moment::last_but_one_task, stage, task.executor);
      }
    }
    if (stage.state == Stage::running && (counts || task.ref.attempt == stage.attempt)) {
      one.state = Partition::ticked;
      finish_if_done(stage);
    } else if (counts) {
      settle(stage);
    }
  }

  // Of the running attempt only: the partition is to be done again, or its tries are used up.
  void failed(const Task& task, bool counts) {
    Stage& stage = *task.stage;
    const bool lost = task.failure == TaskReason::executor_lost;
    if (task.ref.attempt != stage.attempt) {
      return;
    }
    if (task.failure == TaskReason::fetch_failed) {
      fetch_failed(stage, *task.fault);
      return;
    }
    if (stage.state != Stage::running) {
      return;
    }
    task.partition->state = Partition::pending;
    task.partition->failures += counts ? 1 : 0;
    if (counts && task.partition->failures >= scenario_.scheduler.failure.max_task_failures) {
      complete(stage, StageStatus::failed,
               lost ? StageReason::executor_lost : StageReason::task_failed);
      end_job(*stage.job, JobOutcome::failed, lost ? Code::executor_lost : Code::task_failed);
    }
  }

  void fetch_failed(Stage& stage, const TaskFault& fault) {
    const NameId job = fault.fetch_from_job;
    const bool own = !job.valid() || job == stage.job->spec->name;
    const NameId name = own ? fault.fetch_from : joined(job, ".", fault.fetch_from);
    const auto named = ranges::find(stage.parents, name, [](auto* one) { return one->spec->name; });
    const bool first = stage.state == Stage::running;
    if (first) {
      complete(stage, StageStatus::failed, StageReason::fetch_failed);
    }
    Stages missed;
    bool same_attempt = true;
    if (named != stage.parents.end()) {  // else no input of it: there is nothing to strike off
      const Stage& real = *(*named)->real();
      const int attempt = real.attempt;
      Executor* source = real.partitions[static_cast<std::size_t>(fault.fetch_partition)].output;
      if (source != nullptr) {
        ++source->epoch;
        ranges::for_each(strike(source, nullptr, false), [this](Stage* lost) { again(lost); });
      }
      missed = {*named};
      same_attempt = real.attempt == attempt;
    }
    if (first) {
      come_after(stage, missed, same_attempt);
    }
  }

  // The stage after the inputs that it missed; what those that are indeterminate gave is void.
  void come_after(Stage& stage, const Stages& missed, bool same_attempts) {
    for (Stage* parent : missed) {
      if (parent->spec->indeterminate && same_attempts && !used_up(stage)) {
        roll_back(*parent->real());
      }
    }
    come_again(stage, missed, scenario_.scheduler.failure.resubmit_delay);
  }

  // ---- outputs and executors that go (X9, X13; decisions 4 and 5) ----

  // Strikes off the outputs on an executor, or of a stage. Where `repeat`, running attempts do
  // theirs again.
  Stages strike(const Executor* on, const Stage* of, bool repeat) {
    Stages struck;
    for (Stage& stage : all_stages()) {
      for (Executor* executor : joined_) {
        Ranges lost;
        for (Partition& one : stage.partitions) {
          if (one.output == executor && (on == executor || of == &stage)) {
            one.output = nullptr;
            add(lost, one.number);
            if (repeat && stage.state == Stage::running && one.state == Partition::ticked &&
                missing(stage, one)) {
              one.state = Partition::pending;
            }
          }
        }
        if (!lost.empty()) {
          struck.push_back(&stage);
        }
        if (!lost.empty() && stage.read && (stage.job->alive || read_by_others(*stage.job, {}))) {
          emit(OutputsLost{stage.job->name, stage.spec->name, executor->spec->name, lost});
          moment(Moment::external_input_lost, stage, executor);
        }
      }
    }
    return struck;
  }

  // What reads an indeterminate stage, directly or not, is undone, each once per attempt.
  void roll_back(Stage& first) {
    Stages order{&first};
    for (std::size_t before = 0; before != order.size();) {
      before = order.size();
      for (Stage& stage : all_stages()) {
        const auto reads = [&order](Stage* parent) { return has(order, parent->real()); };
        if (stage.job->alive && !has(order, &stage) && ranges::any_of(stage.parents, reads)) {
          order.push_back(&stage);
        }
      }
    }
    for (Stage* stage : order) {
      if (stage->sink && stage->attempt > stage->undone &&
          has(stage->partitions, true, &Partition::given)) {
        end_job(*stage->job, JobOutcome::failed, Code::indeterminate_result);
      }
    }
    for (Stage* stage : order) {
      if (stage->job->alive) {
        undo(*stage);
        again(stage);
      }
    }
  }

  void undo(Stage& stage) {
    const bool runs = stage.state == Stage::running;
    if (std::exchange(stage.undone, stage.attempt) == stage.attempt) {
      return;
    }
    if (runs) {
      stop(TaskReason::superseded, [&stage](const Task& task) { return task.stage == &stage; });
      complete(stage, StageStatus::failed, StageReason::rolled_back);
    }
    strike(nullptr, &stage, false);
    if (runs) {
      come_again(stage, {}, scenario_.scheduler.failure.resubmit_delay);
    }
  }

  // One notice: what ran there has ended, then outputs are struck off, then partitions come again.
  void lose(Executor& executor, LossCause cause) override {
    if (std::exchange(executor.state, Executor::gone) == Executor::gone) {
      return;
    }
    emit(ExecutorLost{executor.spec->name, cause});
    moment(Moment::executor_lost, nullptr, {}, executor.spec->name);
    auto ended = running([&executor](const Task& task) { return task.executor == &executor; });
    for (Task& task : ended) {
      task.failure = TaskReason::executor_lost;
      running_.erase(task.launch);
      emit(TaskEnd{task.ref, false, TaskStatus::failed, task.failure, {}, {}});
    }
    for (const Task& task : ended) {
      failed(task, cause == LossCause::exit_by_app);
    }
    const bool survive = scenario_.scheduler.outputs_survive_executor;
    Stages struck;
    for (const Executor* one : joined_) {
      const bool of_host = cause == LossCause::host && one->state == Executor::gone &&
                           one->spec->host == executor.spec->host;
      if (of_host || (one == &executor && !survive)) {
        // SS-2.6 (1): where outputs survive executors, an attempt does not repeat a host's.
        ranges::copy(strike(one, nullptr, !survive), std::back_inserter(struck));
      }
    }
    ranges::for_each(struck, [this](Stage* stage) { again(stage); });
    check_starved();
  }

  // ---- the pass (A7, A13, A15, A18) ----

  // How far from what the partition prefers: an executor that it names, the host of one, its rack,
  // elsewhere; then by order in its list.
  std::size_t distance(const Executor& one, const std::vector<NameId>& names) {
    std::size_t least = 3 * names.size();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Executor* named = find(names[i]);
      const NameId host = named != nullptr ? named->spec->host : names[i];
      const auto near = [&](const Executor& there) {
        return there.spec->host == host && there.spec->rack.valid() &&
               there.spec->rack == one.spec->rack;
      };
      const bool same_rack = ranges::any_of(executors_, near);
      const std::size_t step = &one == named            ? 0U
                               : one.spec->host == host ? 1U
                               : same_rack              ? 2U
                                                        : 3U;
      least = std::min(least, step * names.size() + i);
    }
    return least;
  }

  // The nearest with room, of equal ones that with most free slots, then the first to join.
  Executor* place(const Stage& stage, const Partition& partition) {
    const auto& prefers = stage.spec->prefers;
    const auto names = prefers.empty() ? std::vector<NameId>{}
                                       : prefers[static_cast<std::size_t>(partition.number)];
    std::map<std::pair<std::size_t, std::int64_t>, Executor*> best;
    for (Executor* one : joined_) {
      const bool takes = one->state == Executor::joined && !one->leaving && one->holds == 0;
      const std::int64_t room = takes ? slots(*one, one->free, stage.spec->profile) : 0;
      if (room > 0) {
        best.emplace(std::pair(distance(*one, names), -room), one);
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
    } else {  // X9
      complete(stage, StageStatus::failed, StageReason::fetch_failed);
      come_after(stage, missed, true);
      at(now_, 7, [] {});  // another pass
    }
    return missed.empty();
  }

  // A job that ends in a pass ends the pass: what it leaves is judged from the start (A8).
  void pass() override {
    job_ended_ = false;
    for (Stage& stage : all_stages()) {
      while (!job_ended_ && start_one(stage)) {
      }
    }
  }

  std::map<const JobSpec*, Job*> latest_;  // submission
  std::multiset<const Stage*> untold_;     // by an input that is done
  bool job_ended_ = false;                 // in this pass
};

}  // namespace

std::vector<Event> journal(const Scenario& scenario, NameTable& names) {
  return Scheduler(scenario, names).run();
}

}  // namespace rehearse::reference
