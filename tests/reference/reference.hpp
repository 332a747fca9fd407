// A second scheduler for jobs without pipelined edges (F3): slow, short and written from the
// specification alone, so that what the core does can be compared with it line for line. Lists are
// scanned, inputs are closures in an ordered map. It knows the regular part of the semantics under
// scripted timing, ties in order, `fifo` and `spread`; barrier stages, speculation and autoscaling
// are not its business.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/draw.hpp"
#include "model/support/events.hpp"

namespace rehearse::reference {

using model::Duration;
using model::Instant;
using model::NameId;

struct Job;

struct Executor {
  model::ExecutorSpec spec;
  bool due = false;      // will join, as far as is known
  bool joined = false;   // and not gone
  bool leaving = false;  // decommissioned
  bool goes = false;     // and idle
  int holds = 0;
  Instant died = model::instant_max;  // what the scheduler learns later
  int epoch = 0;                      // X9: how many fetch failures named it
  model::ResourceVector free;
};

// One attempt of a stage; the last one runs until `live` is false.
struct Attempt {
  bool live = true;
  std::set<int> own;      // its partitions
  std::set<int> open;     // those not ticked off
  std::set<int> pending;  // those to launch
  std::map<int, int> tries;
  std::map<int, int> failures;
};

enum class StageState { asleep, waiting, running, delayed, done };

struct Stage {
  Job* job = nullptr;
  const model::StageSpec* spec = nullptr;
  NameId name;
  std::vector<Stage*> parents;
  bool sink = false;
  bool copy = false;                   // of another job's stage (decision 1),
  const model::JobSpec* of = nullptr;  // of this job's
  Stage* original = nullptr;           // which it stands for until it is awake
  StageState state = StageState::waiting;
  bool empty_done = false;        // a stage without tasks has completed
  bool finished = false;          // was complete once: a sink counts (C9)
  std::vector<Executor*> output;  // by partition; null: none
  std::vector<bool> given;        // by partition: a success has counted
  std::set<int> committed;
  std::vector<Attempt> attempts;
  int failed_attempts = 0;  // since the last success
  int undone = -1;          // attempts up to this one were rolled back
  bool delay_armed = false;
  bool delay_over = false;

  [[nodiscard]] int number() const { return static_cast<int>(attempts.size()) - 1; }
  [[nodiscard]] bool running() const { return !attempts.empty() && attempts.back().live; }
};

struct Job {
  const model::JobSpec* spec = nullptr;
  std::size_t file = 0;
  int copy = 0;      // of `repeat`
  int resubmit = 0;  // by the caller
  NameId name;
  Instant submitted = 0;
  bool alive = false;
  int grace = 0;  // odd: its no_executor_grace runs (A14)
  std::deque<Stage> stages;
};

// Partitions whose outputs are gone.
struct Struck {
  Stage* stage = nullptr;
  std::set<int> partitions;
};

// A launched task, by launch number.
struct Task {
  std::int64_t launch = 0;
  Stage* stage = nullptr;
  model::TaskRef ref;
  Executor* executor = nullptr;
  int epoch = 0;  // of the executor at the launch
  Instant ends = 0;
  std::optional<model::TaskReason> failure;
  const model::TaskFault* fetch = nullptr;
};

bool has(const auto& list, const auto& value) {
  return std::ranges::find(list, value) != std::ranges::end(list);
}

[[nodiscard]] model::StageRef ref_of(const Stage& stage);
[[nodiscard]] model::Ranges ranges_of(const std::set<int>& partitions);

class Reference {
 public:
  explicit Reference(const model::Scenario& scenario);
  void run();

  model::NameTable names;
  std::vector<model::Event> events;  // all but `run` and `probe`

 private:
  using Key = std::tuple<Instant, int, std::int64_t, std::int64_t, std::int64_t>;
  using Act = std::function<void()>;

  // ---- world.cpp: inputs, rounds, what really happens to executors and tasks ----
  void at(Instant t, int kind, std::int64_t first, std::int64_t second, Act act);
  void one_round();
  void emit(model::EventBody body);
  void watch(const model::Event& event);
  void moment(model::Moment what, NameId job, NameId stage, NameId executor);
  void plan_fault(const model::TimedFault& fault, Instant t);
  void lose(const model::LoseExecutor& loss);
  void lose_one(Executor& executor, const model::LoseExecutor& loss);
  void join(Executor& executor);
  void hold(const model::HoldExecutors& fault);
  void plan_submissions();
  void plan_job(std::size_t file, int copy, int resubmit, Instant t);
  void job_is_over(const Job& job, bool again);
  bool means(NameId name, const Job& job) const;
  Duration drawn(model::DrawPurpose purpose, const model::Distribution& distribution,
                 const Task& task) const;
  void start(Stage& stage, int partition, Executor& executor);
  void plan_end(Task task);
  void stop(const Task& task, model::TaskReason reason);
  void free_slot(const Task& task);
  Executor* find_executor(NameId name);

  // ---- the scheduler: submission.cpp, stages.cpp, tasks.cpp, losses.cpp ----
  void submit_job(std::size_t file, int copy, int resubmit);
  bool reject(const Job& job);
  void make_stages(Job& job);
  NameId joined(NameId job, std::string_view mark, NameId stage);
  Stage* copy_of(Job& job, NameId from_job, NameId from_stage);
  [[nodiscard]] std::int64_t capacity(model::ProfileId profile) const;
  [[nodiscard]] bool available(const Stage& stage) const;
  [[nodiscard]] bool complete(const Stage& stage) const;
  [[nodiscard]] bool missing(const Stage& stage, int partition) const;
  void want(Stage& stage);
  void try_submit(Stage& stage, bool wants = true);
  void submit(Stage& stage);
  void tell_readers(const Stage& stage);
  void end_if_done(Job& job);
  void settled(Stage& stage);
  void finish_attempt(Stage& stage);
  void end_attempt(Stage& stage, model::StageReason reason);
  [[nodiscard]] bool used_up(const Stage& stage) const;
  void come_again(Stage& stage, const std::vector<Stage*>& producers);
  void task_reports(std::int64_t launch);
  void task_succeeded(const Task& task);
  void task_failed(const Task& task);
  void fetch_failed(const Task& task);
  void count_failure(const Task& task, bool counts);
  void commit(const Task& task);
  [[nodiscard]] bool is_read(const Stage& stage) const;
  [[nodiscard]] bool kept(const Stage& stage) const;
  void again(const Stage& stage);
  std::vector<Struck> strike(const std::function<bool(const Stage&, const Executor&)>& gone);
  void roll_back(Stage& first);
  void undo(Stage& stage);
  void gone(Executor* executor, model::LossCause cause);
  [[nodiscard]] bool idle(const Executor& executor) const;
  void leave_if_idle(Executor& executor);
  void check_starved();
  void check_starved(Job& job);
  void cancel(NameId job);
  void end_job(Job& job, model::JobOutcome outcome, std::optional<model::Code> code);
  void stop_tasks_of(const Stage& stage, model::TaskReason reason);
  void pass();
  bool start_one(Stage& stage);
  Executor* place(const Stage& stage, int partition);

  const model::Scenario& scenario_;
  Instant now_ = 0;
  std::map<Key, Act> inputs_;
  std::int64_t created_ = 0;
  std::deque<Executor> executors_;                       // file order, then by faults
  std::vector<Executor*> joined_;                        // A15: by join
  std::vector<std::unique_ptr<Job>> jobs_;               // by rank (A18)
  std::map<const model::JobSpec*, Job*> latest_;         // submission; null: rejected
  std::map<std::int64_t, Task> running_;                 // believed to run
  std::map<std::int64_t, Task> dying_;                   // killed, the slot still held
  std::map<const model::TimedFault*, int> seen_;         // moments that matched
  std::map<std::size_t, std::pair<int, Instant>> over_;  // by job: copies that are over, the last
  std::multiset<const Stage*> untold_;                   // by input that is done
  std::int64_t launches_ = 0;
  bool pass_again_ = false;
  bool job_ended_ = false;
};

}  // namespace rehearse::reference
