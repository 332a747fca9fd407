// An engine in one file: worker threads run a word count, scheduler::Core says which task runs
// where and when. One thread owns the core; workers only take tasks and send reports, so the core
// needs no lock and sees one order of events, the order that the journal has. To see it judged:
//
//   build/release/embed --journal words.journal && build/release/rehearse check words.journal
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <deque>
#include <fstream>
#include <limits>
#include <map>
#include <string_view>
#include <thread>
#include <variant>

#include "examples/embed/word_count.hpp"
#include "model/axes.hpp"
#include "model/support/check.hpp"
#include "model/support/journal_line.hpp"
#include "policies/registry.hpp"
#include "scheduler/core.hpp"

namespace embed {
namespace {

using namespace rehearse;

struct Options {
  std::string journal;
  std::uint64_t words = 200'000;
  std::uint32_t workers = 4;
  bool kill_worker = false;
  bool no_deferral = false;
};

// The number of the launch comes back with the report, because a RunId is used again as soon as its
// run is over: what a worker says of a run that the core has given up must not hit the next one.
struct Task {
  scheduler::RunId run;
  std::uint32_t launch = 0;
  Work work;
};
struct TaskReport {
  scheduler::RunId run;
  std::uint32_t launch = 0;
  bool failed = false;
  std::shared_ptr<const Counts> output;
};
struct WorkerGone {
  model::ExecutorId executor;
};
using Report = std::variant<TaskReport, WorkerGone>;
using Mailbox = Channel<Report>;

constexpr std::size_t no_bound = std::numeric_limits<std::size_t>::max();

// What a psd scheduler promises, as far as it is judged (`rehearse list properties`).
constexpr std::string_view promises[] = {
    "NO_OVERSUBSCRIPTION", "RESERVATION",     "GANG",        "CO_RESIDENT",  "CLOSURE",
    "INPUTS_READY",        "DEFERRED",        "JOB_SUCCESS", "GROUP_ATOMIC", "NO_LONE_RETRY",
    "NO_RETRACTION",       "TASK_ACCOUNTING", "COMMIT_ONCE", "FENCED",       "REJECT_PURE",
    "QUIESCENT",           "LEDGER",          "LEGAL_ORDER", "CLAIMS_MATCH", "PROGRESS"};

struct Worker {
  model::NameId name;
  Channel<Task> inbox{no_bound, 1};
  std::jthread thread;  // last: stopped and joined before the inbox goes
};

void work_until_stopped(const std::stop_token& stop, Channel<Task>& inbox, Mailbox& mailbox,
                        const Plan& plan) {
  while (const std::optional<Task> task = inbox.pop(stop)) {
    auto output = std::make_shared<Counts>();
    TaskReport report{task->run, task->launch, false, output};
    try {
      if (!run(task->work, plan, *output)) {
        return;  // without a word about the task
      }
    } catch (const std::exception&) {
      report.failed = true;
    }
    mailbox.push(std::move(report), {});
  }
}

class Engine {
 public:
  explicit Engine(const Options& options)
      : options_(options), plan_(plan_of(options)), core_(make_core()), stored_(plan_.counters) {
    if (!options.journal.empty()) {
      journal_.open(options.journal);
    }
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  // After a fault tasks may still wait for each other, and threads are joined.
  ~Engine() {
    std::ranges::for_each(runs_, [](Run& run) { run.stop.request_stop(); });
  }

  // The code the job ended with; none for a success.
  std::optional<model::Code> run() {
    write(run_line());
    tell_time();
    hire();
    submit();
    decide();
    while (job_live_ || live_runs_ > 0) {
      const std::optional<Report> report = wait();
      tell_time();
      if (report) {
        std::visit([this](const auto& what) { on(what); }, *report);
      }
      fire_timers();
      decide();
    }
    write(core_.probe(model::ProbeWhen::end));
    write(model::RunEnd{model::RunEndCause::done});
    return code_;
  }
  [[nodiscard]] const Counts& counts() const { return *merged_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] bool journal_written() { return !journal_.is_open() || journal_.flush().good(); }

 private:
  struct Run {
    model::TaskRef task{};
    Step step{};
    model::ExecutorId executor;
    std::uint32_t launch = 0;
    std::stop_source stop;
    bool live = false;      // has a slot, or a task_end line to come
    bool killed = false;    // its line is written, its slot comes back with the worker's report
    bool returned = false;  // the reverse
  };

  // ---- what the core is made for ----

  static Plan plan_of(const Options& options) {
    // As many tasks in the group as there are workers: it runs whole or not at all.
    const std::uint32_t generators = std::max(1U, options.workers / 2);
    return {options.words, generators, std::max(1U, options.workers - generators)};
  }

  static model::SchedulerConfig config() {
    model::SchedulerConfig config = model::preset(model::Dialect::psd);
    config.outputs_survive_executor = true;  // stored partitions are memory of the process
    return config;
  }

  scheduler::Core make_core() {
    scheduler::CoreOptions options;
    options.config = config();
    if (options_.no_deferral) {
      // The planted fault: the core is told otherwise than the journal's first line claims.
      options.config.completion = model::Completion::immediate;
    }
    options.profile_names = {default_};
    options.profile_tasks = {{model::milli}};
    options.names = &names_;
    return {options, policies::make(options.config).value()};
  }

  // Says by what the rest is to be judged. No overheads: how long a kill takes is not fixed here.
  model::RunStart run_line() {
    model::RunStart line;
    line.version = names_.intern("embed");
    line.format = 1;
    line.timing = model::Timing::scripted;  // the one that claims nothing about the flow of data
    line.dialect = names_.intern(name_of(config().dialect));
    for (const auto& [axis, value] : model::resolved_axes(config(), names_)) {
      line.axes.push_back({names_.intern(axis), names_.intern(value)});
    }
    line.profiles = {{default_, {{cpus_, model::milli}}}};
    for (const std::string_view promise : promises) {
      line.promises.push_back(names_.intern(promise));
    }
    return line;
  }

  // ---- the loop ----

  void tell_time() {
    now_ = std::chrono::nanoseconds(Clock::now() - start_).count();
    core_.set_now(now_);
  }

  // Nothing if a timer is due first. With no task and no timer left nobody would ever write: that
  // is for the core to judge, not for the engine to hang on (W5).
  std::optional<Report> wait() {
    if (!timers_.empty()) {
      return mailbox_.pop({}, start_ + std::chrono::nanoseconds(timers_.begin()->first));
    }
    if (live_runs_ > 0) {
      return mailbox_.pop({});
    }
    step(scheduler::Stuck{});
    return std::nullopt;
  }

  void step(const scheduler::Input& input) {
    actions_.clear();
    core_.step(input, actions_);
    carry_out();
  }

  void decide() {
    while (core_.wants_pass()) {
      actions_.clear();
      core_.pass(actions_);
      carry_out();
    }
  }

  // No action calls the core: the answer to a launch or a kill is a later report.
  void carry_out() {
    for (const scheduler::Action& action : actions_.list) {
      std::visit([this](const auto& what) { act(what); }, action);
    }
  }

  void write(model::EventBody body) {
    if (journal_.is_open()) {
      journal_ << model::journal_line({now_, std::move(body)}, names_) << '\n';
    }
  }

  // ---- what happens: inputs of the core ----

  void hire() {
    for (std::uint32_t i = 0; i < options_.workers; ++i) {
      Worker& worker = workers_.emplace_back();
      scheduler::JoinExecutor input;
      input.spec.name = worker.name = names_.intern(fmt::format("w{}", i));
      input.spec.host = names_.intern("here");
      input.spec.resources = {model::milli};  // one task at a time: a worker is one thread
      const model::Amounts cpu{{cpus_, model::milli}};
      write(model::ExecutorAdded{worker.name, input.spec.host, {}, cpu, {}, model::milli});
      step(input);
      worker.thread = std::jthread([this, &worker, i](const std::stop_token& stop) {
        work_until_stopped(stop, worker.inbox, mailbox_, plan_);
        // However a thread ends, somebody tells, as an operating system does of a process.
        mailbox_.push(WorkerGone{model::ExecutorId{i}}, {});
      });
    }
  }

  void submit() {
    auto job = std::make_shared<model::JobSpec>();
    job->name = names_.intern("wordcount");
    job->pool = default_;
    const std::pair<const char*, std::uint32_t> stages[] = {
        {"generate", plan_.generators}, {"count", plan_.counters}, {"merge", 1}};
    for (const auto& [name, tasks] : stages) {
      model::StageSpec& stage = job->stages.emplace_back();
      stage.name = names_.intern(name);
      stage.tasks = static_cast<std::int32_t>(tasks);
      stage.profile = model::ProfileId{0U};
    }
    for (std::uint32_t from = 0; from < 2; ++from) {
      model::EdgeSpec& edge = job->edges.emplace_back();
      edge.from = model::StageIndex{from};
      edge.to = {model::StageIndex{from + 1}};
      edge.kind = from == 0 ? model::EdgeKind::pipelined : model::EdgeKind::regular;
    }
    job->result = {model::StageIndex{2U}};
    scheduler::SubmitJob input;
    input.job = scheduler::JobId{0U};
    input.own_stages = static_cast<std::uint32_t>(job->stages.size());
    input.spec = std::move(job);
    input.submitted = now_;
    input.probe = true;
    step(input);
  }

  void on(const TaskReport& report) {
    Run& run = runs_[report.run.index()];
    if (!run.live || run.launch != report.launch) {
      return;
    }
    if (run.killed) {  // how far it came does not matter any more, only that the slot is free
      over(run);
      write(model::SlotReturned{run.task.executor, default_, 1, run.task.job});
      step(scheduler::KillEffective{report.run});
    } else if (report.failed) {
      const auto status = model::TaskStatus::failed;
      step(scheduler::TaskEnded{report.run, status, model::TaskReason::exception, {}, 0});
    } else {
      // Stored before the core knows: it may launch a reader in the same step.
      if (run.step == Step::count) {
        stored_[static_cast<std::size_t>(run.task.partition)] = report.output;
      } else if (run.step == Step::merge) {
        merged_ = report.output;
      }
      step(scheduler::TaskEnded{report.run, model::TaskStatus::success, std::nullopt, {}, 0});
    }
  }

  void on(const WorkerGone& gone) {
    for (Run& run : runs_) {
      if (run.live && run.killed && run.executor == gone.executor) {
        over(run);  // the core has its end; the slot went with the worker
      }
    }
    write(model::ExecutorLost{workers_[gone.executor.index()].name, model::LossCause::process});
    step(scheduler::LoseExecutor{gone.executor, model::LossCause::process});
  }

  void fire_timers() {
    while (!timers_.empty() && timers_.begin()->first <= now_) {
      const scheduler::TimerId timer = timers_.begin()->second;
      timers_.erase(timers_.begin());
      step(scheduler::TimerFired{timer});
    }
  }

  // ---- what is to be done: actions of the core ----

  void act(const scheduler::Entry& action) {
    const model::EventBody& body = actions_.entries[action.index];
    if (std::holds_alternative<model::JobStarted>(body)) {
      job_live_ = true;
    } else if (const auto* rejected = std::get_if<model::JobRejected>(&body)) {
      code_ = rejected->code;
    } else if (const auto* end = std::get_if<model::JobEnd>(&body)) {
      job_live_ = false;
      code_ = end->code;
    }
    write(body);
  }

  void act(const scheduler::Launch& action) {
    runs_.resize(std::max(runs_.size(), action.run.index() + 1));
    Run& run = runs_[action.run.index()] = Run{};
    run.task = {action.job_name, action.stage_name, action.executor_name,
                action.attempt,  action.partition,  action.try_number};
    run.step = static_cast<Step>(action.stage.value);
    run.executor = action.executor;
    run.launch = launches_++;
    run.live = true;
    ++live_runs_;
    write(model::TaskStart{run.task, false});
    Work work;
    work.step = run.step;
    work.partition = static_cast<std::uint32_t>(action.partition);
    work.stop = run.stop.get_token();
    work.dies = options_.kill_worker && run.step == Step::generate && action.partition == 0;
    if (run.step == Step::merge) {
      work.inputs = stored_;
    } else {
      work.exchange = exchange_of(action.attempt);
    }
    workers_[action.executor.index()].inbox.push({action.run, run.launch, std::move(work)}, {});
  }

  std::shared_ptr<Exchange> exchange_of(std::int32_t attempt) {
    constexpr std::size_t batches_max = 4;  // few, so that writers do wait for readers
    std::shared_ptr<Exchange>& exchange = exchanges_[attempt];
    if (!exchange) {
      exchange = std::make_shared<Exchange>();
      for (std::uint32_t i = 0; i < plan_.counters; ++i) {
        exchange->push_back(std::make_unique<Channel<Batch>>(batches_max, plan_.generators));
      }
    }
    return exchange;
  }

  void act(const scheduler::EndTask& action) {
    Run& run = live_run(action.run);
    model::TaskEnd line{run.task, false, action.status, action.reason, {}, {}};
    line.counted = action.counted ? std::nullopt : std::optional(false);
    line.slot = run.returned ? std::optional(model::SlotState::held) : std::nullopt;
    write(line);
    over(run);
  }

  void act(const scheduler::Kill& action) {
    Run& run = live_run(action.run);
    const auto killed = model::TaskStatus::killed;
    write(model::TaskEnd{run.task, false, killed, action.reason, {}, model::SlotState::held});
    run.killed = true;
    run.stop.request_stop();
  }

  void act(const scheduler::ReturnSlot& action) {
    Run& run = live_run(action.run);
    run.returned = true;
    write(model::SlotReturned{run.task.executor, default_, 1, run.task.job});
  }

  // Tasks of this engine commit nothing, so none asks.
  void act(const scheduler::CommitAnswered& /*action*/) {}
  void act(const scheduler::Unschedulable& /*action*/) {}

  // Accounting `sum`: no slot is shared.
  void act(const scheduler::ReturnShared& action) { RH_CHECK(action.count == 0, action.count); }

  void act(const scheduler::SetTimer& action) {
    timers_.emplace(now_ + action.delay, action.timer);
  }

  Run& live_run(scheduler::RunId id) {
    Run& run = runs_[id.index()];
    RH_CHECK(run.live && !run.killed, id.value);
    return run;
  }

  void over(Run& run) {
    run.live = false;
    --live_runs_;
  }

  const Options options_;
  const Plan plan_;
  model::NameTable names_;  // of this thread alone: workers get no names
  const model::NameId default_ = names_.intern("default");
  const model::NameId cpus_ = names_.intern("cpus");
  scheduler::Core core_;
  scheduler::Actions actions_;
  const Clock::time_point start_ = Clock::now();
  model::Instant now_ = 0;
  std::ofstream journal_;

  std::vector<Run> runs_;  // by RunId
  std::int64_t live_runs_ = 0;
  std::uint32_t launches_ = 0;
  std::multimap<model::Instant, scheduler::TimerId> timers_;
  bool job_live_ = false;
  std::optional<model::Code> code_;
  std::map<std::int32_t, std::shared_ptr<Exchange>> exchanges_;  // by attempt of the group
  std::vector<std::shared_ptr<const Counts>> stored_;            // by partition of count
  std::shared_ptr<const Counts> merged_;

  Mailbox mailbox_{no_bound, 1};  // before the workers, who write to the end
  std::deque<Worker> workers_;    // by ExecutorId: the order of joining
};

int count_words(const Options& options) {
  Engine engine(options);
  const std::optional<model::Code> code = engine.run();
  if (!engine.journal_written()) {
    fmt::print(stderr, "embed: cannot write {}\n", options.journal);
    return 1;
  }
  if (code) {
    fmt::print("the job did not succeed: {}\n", name_of(*code));
    return options.kill_worker && *code == model::Code::executor_lost ? 0 : 1;
  }
  if (engine.counts() != plain_counts(engine.plan())) {
    fmt::print("the counts are wrong\n");
    return 1;
  }
  fmt::print("{} words, {} different ones, counted right\n", options.words, engine.counts().size());
  return options.kill_worker ? 1 : 0;  // somebody should have died
}

}  // namespace
}  // namespace embed

int main(int argc, char** argv) {
  embed::Options options;
  CLI::App app("Counts words on worker threads that the scheduler core directs.");
  app.add_option("--journal", options.journal, "Write what happens, for `rehearse check`");
  app.add_option("--words", options.words, "Words to generate and count");
  app.add_option("--workers", options.workers, "Threads that run tasks, one at a time each")
      ->check(CLI::Range(1, 1'000));
  app.add_flag("--kill-worker", options.kill_worker, "A worker dies in the middle of the group");
  app.add_flag("--no-deferral", options.no_deferral, "Plant a fault: members complete too early");
  CLI11_PARSE(app, argc, argv);
  try {
    return embed::count_words(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "embed: {}\n", error.what());
    return 1;
  }
}
