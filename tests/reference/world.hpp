// What happens around the reference scheduler: inputs in their order, executors that come and die,
// tasks that take their time, callers (scenario.md 2 and 4). Lists are scanned, nothing is indexed.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/draw.hpp"
#include "model/support/events.hpp"

namespace rehearse::reference {

using model::AddExecutor, model::CancelJob, model::Code, model::Distribution, model::DrawPurpose,
    model::Duration, model::Event, model::EventBody, model::ExecutorSpec, model::HoldExecutors,
    model::Instant, model::JobOutcome, model::JobSpec, model::LoseExecutor, model::LossCause,
    model::Moment, model::NameId, model::NameTable, model::Profile, model::ProfileId,
    model::ResourceVector, model::Scenario, model::StageRef, model::StageSpec, model::TaskFault,
    model::TaskReason, model::TaskRef, model::TaskStatus, model::TimedFault, model::instant_max;
namespace ranges = std::ranges;
using Number = std::array<std::int64_t, 4>;  // orders the inputs of one kind

struct Executor {
  enum State { unknown, due, joined, gone };  // as the scheduler knows
  const ExecutorSpec* spec = nullptr;
  State state = unknown;
  bool leaving = false;        // decommissioned
  int busy = 0, holds = 0;     // slots that are taken; hold_executors
  int epoch = 0;               // fetch failures that named it (X9)
  Instant died = instant_max;  // what the scheduler learns later (X12)
  ResourceVector free{};
};

struct Partition {
  enum State { pending, launched, ticked, other };  // in the last attempt; other: not of it
  int number = 0;
  State state = other;
  int tries = 0, failures = 0;
  Executor* output = nullptr;
  bool given = false, committed = false;  // a success has counted, was committed
};

struct Stage {
  enum State { idle, waiting, running, failed, exhausted, delayed };  // idle: done, or never needed
  struct Job* job = nullptr;
  const JobSpec* home = nullptr;  // whose stage it is, or is a copy of
  const StageSpec* spec = nullptr;
  NameId name;
  std::size_t number = 0;  // in its job
  State state = idle;
  Stage* original = nullptr;        // of another job, which a copy stands for until it is needed
  bool sink = false, read = false;  // no stage of its job reads it; some job's stage does
  bool commits = false;
  Duration delay = 0;             // before it comes (again)
  int attempt = -1, undone = -1;  // the last, the last that was rolled back
  int failed_attempts = 0;        // since the last success
  int untold = 0;                 // inputs that are done and have not told it yet
  std::vector<Partition> partitions{};
  std::vector<Stage*> parents{};
  Stage* missed = nullptr;  // of them, what the last attempt could not read

  Stage* real() { return original != nullptr ? original : this; }
  [[nodiscard]] StageRef ref() const;
};

struct Job {
  const JobSpec* spec = nullptr;
  Number number{};  // again or a copy, place in the file, copy, resubmission
  NameId name;
  bool alive = false, cyclic = false;
  int grace = 0;  // odd: no_executor_grace runs (A14)
  std::deque<Stage> stages{};
};

struct Task {
  TaskRef ref;
  Stage* stage = nullptr;
  Partition* partition = nullptr;
  Executor* executor = nullptr;
  int epoch = 0;  // of the executor at the launch
  std::int64_t launch = 0;
  Instant ends = 0;
  TaskStatus status = TaskStatus::success;
  std::optional<TaskReason> failure{};
  const TaskFault* fault = nullptr;
  std::vector<Stage*> unread{};  // the input that could not be fetched
};

inline StageRef Stage::ref() const { return {job->name, name, attempt}; }

template <class By = std::identity>
bool has(const auto& list, const auto& value, By by = {}) {
  return ranges::find(list, value, by) != ranges::end(list);
}

class World {
 public:
  World(const Scenario& scenario, NameTable& names);
  virtual ~World() = default;
  std::vector<Event> run();

 protected:
  // ---- the scheduler ----
  virtual void submit_job(Job& job) = 0;
  virtual void report(const Task& task) = 0;
  virtual void lost(const Executor& executor, LossCause cause, const std::vector<Task>& ended) = 0;
  virtual void end_job(Job& job, JobOutcome outcome, std::optional<Code> code) = 0;
  virtual void settle() = 0;  // at the end of each step
  virtual void pass() = 0;

  // ---- inputs: by kind and number; what one makes due at once comes behind all others ----
  using Act = std::function<void()>;
  using Test = std::function<bool()>;  // whether the input is still an event
  void at(Instant t, int kind, Act act, Number number = {}, Test matters = {});
  // A latency of 0 acts within the step.
  void after(Duration delay, int kind, const Act& act, Number number = {},
             const Test& matters = {});
  void emit(const EventBody& body);
  void moment(Moment what, const Job* job, NameId stage = {}, NameId executor = {});

  // ---- what the scheduler orders, and asks ----
  void over(const Job& job, bool again);  // it ended, or was rejected
  void start(Stage& stage, Partition& one, Executor& executor);
  void stop(TaskReason reason, const Stage* stage, const Partition* one);
  Executor* find(NameId name);
  [[nodiscard]] bool read_by_others(const Job& job, NameId stage) const;
  [[nodiscard]] const Profile& profile(ProfileId id) const {
    return scenario_.cluster.profiles[id.index()];
  }
  auto all_stages() {  // by rank (A18), in file order
    return jobs_ | std::views::values | std::views::transform(&Job::stages) | std::views::join;
  }

  const Scenario& scenario_;
  NameTable& names_;
  Instant now_ = -1;
  std::deque<Executor> executors_;  // in file order
  std::vector<Executor*> joined_;   // by join (A15); those that are lost, too
  std::map<std::pair<Instant, Number>, Job> jobs_;

 private:
  std::vector<Task> running(const std::function<bool(const Task&)>& meant) const;
  bool deadlock();
  void end_step();
  void lose(Executor& executor, LossCause cause);
  void let_go(Executor& one);
  void take(const Task& task, int slots);  // or gives back, below 0
  void submit(const JobSpec& spec, const Number& number);
  void make_stages(Job& job);
  Stage& stage_of(Job& job, const JobSpec& home, NameId name);
  NameId composed(NameId job, const char* mark, NameId stage);
  void plan(const TimedFault& fault, Instant t);
  void plan(const JobSpec& spec);
  void plan(const JobSpec& spec, Instant t, std::int64_t copy, std::int64_t resubmission);
  void happen(const LoseExecutor& loss);
  void happen(const AddExecutor& add) { join(*find(add.executor.name)); }
  void happen(const HoldExecutors& hold);
  void happen(const CancelJob& cancel);
  void join(Executor& executor);
  void notice(Executor& executor, LossCause cause);
  Duration drawn(DrawPurpose purpose, const Distribution& from, const TaskRef& ref) const;
  Instant plan_end(Task& task) const;

  std::vector<Event> events_;
  std::map<std::int64_t, Task> running_;  // as the scheduler knows, by launch
  std::map<std::tuple<Instant, int, int, Number, std::int64_t>, std::pair<Act, Test>> inputs_;
  int wave_ = 0;  // of inputs that inputs of this instant made due
  std::int64_t created_ = 0, launches_ = 0;
  std::map<const Stage*, int> launched_;   // the last attempt of which a task was launched
  std::map<const TimedFault*, int> seen_;  // moments that agreed
  std::map<NameId, int> ended_;            // copies of a job
  std::map<NameId, Instant> over_;         // jobs whose copies all ended
  std::map<const JobSpec*, Job*> latest_;  // submission
};

}  // namespace rehearse::reference
