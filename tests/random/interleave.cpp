// The environment writes the physical lines of the journal itself, as any engine does, so that the
// monitors can judge the run.
#include "tests/random/interleave.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <memory>
#include <optional>

#include "model/run_line.hpp"
#include "model/support/check.hpp"
#include "model/support/draw.hpp"
#include "policies/registry.hpp"
#include "properties/monitor_set.hpp"
#include "properties/registry.hpp"
#include "scheduler/core.hpp"
#include "sim/models/client.hpp"
#include "tests/random/actions.hpp"

namespace rehearse::testing {

namespace {

using namespace scheduler;
using model::Scenario;

constexpr int steps_max = 600;

class Environment {
 public:
  Environment(const Scenario& scenario, std::uint64_t seed, std::vector<model::Observer*> observers)
      : scenario_(scenario),
        names_(scenario.names),
        observers_(std::move(observers)),
        key_(model::draw_key({seed, model::DrawPurpose::audit, 1, 0})),
        core_(options(), *policies::make(scenario.scheduler)),
        client_(scenario),
        latest_of_(scenario.jobs.size()),
        failed_(scenario.jobs.size()) {}

  std::vector<std::string> run() {
    begin();
    for (int i = 0; i < steps_max && wrong_.empty(); ++i) {
      one_step();
    }
    finish();
    return std::move(wrong_);
  }

 private:
  struct Run {
    Launch launch;
    model::NameId profile;
    bool live = false;
    bool killed = false;
    bool returned = false;  // its slot is free, its end is told later (C6)
    bool shared = false;    // killed, and what it shares may be held by others (A10)
  };
  struct Timer {
    TimerId id;
    model::Instant due = 0;
  };
  struct Executor {
    model::ExecutorSpec spec;
    int runs = 0;
    int holds = 0;
    bool lost = false;
    bool draining = false;
  };
  struct Job {
    std::shared_ptr<const model::JobSpec> spec;
    std::uint32_t scenario_job = 0;
    std::uint32_t own_stages = 0;
    bool shared = false;
    bool live = false;
    bool used = false;
  };

  [[nodiscard]] CoreOptions options() {
    CoreOptions options;
    options.config = scenario_.scheduler;
    for (const model::Profile& profile : scenario_.cluster.profiles) {
      options.profile_names.push_back(profile.name);
      options.profile_tasks.push_back(profile.task);
    }
    options.autoscaling = scenario_.cluster.autoscale.has_value();
    options.names = &names_;
    return options;
  }

  [[nodiscard]] int below(std::size_t count) {
    return static_cast<int>(model::uniform_below(model::draw(key_, {next_draw_++, 0, 0}), count));
  }
  [[nodiscard]] bool percent(int chance) { return below(100) < chance; }

  void emit(model::EventBody body) {
    const model::Event event{now_, std::move(body)};
    for (model::Observer* observer : observers_) {
      observer->on(event);
    }
  }

  void begin() {
    for (model::Observer* observer : observers_) {
      observer->begin(names_);
    }
    model::RunStart line = model::run_line(scenario_, "test", names_);
    line.seed = 0;
    line.timing = model::Timing::scripted;  // no time passes by itself
    // Kills take as long as the environment likes.
    line.overheads = {{names_.intern("kill"), names_.intern("1h")}};
    for (const std::string& promise : properties::promised(scenario_.scheduler, scenario_.timing)) {
      // It passes when it likes, so that no instant is quiescent.
      if (promise != "PROMPT_FAILURE" && promise != "WORK_CONSERVING") {
        line.promises.push_back(names_.intern(promise));
      }
    }
    emit(std::move(line));
    for (const model::ExecutorSpec& spec : scenario_.cluster.executors) {
      step(ExpectExecutor{spec});
      due_.push_back(static_cast<std::uint32_t>(expected_.size()));
      expected_.push_back(spec);
      if (percent(75)) {
        join();
      }
    }
  }

  // ---- feeding the core and its copy ----

  void step(const Input& input) {
    actions_.clear();
    core_.set_now(now_);
    core_.step(input, actions_);
    if (copy_) {
      of_copy_.clear();
      copy_->set_now(now_);
      copy_->step(input, of_copy_);
    }
    after_feeding();
    if (is_report(input)) {
      repeat(input);
    }
  }

  // What an engine may tell twice, or tell of what is over (X12, FENCED).
  static bool is_report(const Input& input) {
    return std::holds_alternative<TaskEnded>(input) ||
           std::holds_alternative<KillEffective>(input) ||
           std::holds_alternative<LoseExecutor>(input) ||
           std::holds_alternative<CancelJob>(input) || std::holds_alternative<TimerFired>(input);
  }

  // The core has heard it: again, it does nothing and changes nothing.
  void repeat(const Input& input) {
    const std::uint64_t before = core_.full_digest();
    const bool wanted = core_.wants_pass();
    Actions again;
    core_.step(input, again);
    if (!again.list.empty()) {
      wrong_.push_back(fmt::format("told again, input {} does something", input.index()));
    } else if (core_.full_digest() != before || core_.wants_pass() != wanted ||
               (copy_ && !(core_ == *copy_))) {
      wrong_.push_back(fmt::format("told again, input {} changes something", input.index()));
    }
  }

  void pass() {
    actions_.clear();
    core_.set_now(now_);
    core_.pass(actions_);
    if (copy_) {
      of_copy_.clear();
      copy_->set_now(now_);
      copy_->pass(of_copy_);
    }
    after_feeding();
  }

  void after_feeding() {
    if (core_.digest() != core_.full_digest()) {
      wrong_.emplace_back("digest() is not full_digest()");
    }
    if (copy_) {
      if (!same_actions(actions_, of_copy_)) {
        wrong_.emplace_back("the copy gives other actions");
      } else if (!(core_ == *copy_) || core_.digest() != copy_->digest() ||
                 core_.wants_pass() != copy_->wants_pass()) {
        wrong_.emplace_back("the copy is not equal any more");
      }
    }
    Actions carried;
    std::swap(carried, actions_);
    carry_out(carried);
  }

  void carry_out(Actions& actions) {
    for (const Action& action : actions.list) {
      if (const auto* entry = std::get_if<Entry>(&action)) {
        take_note(actions.entries[entry->index]);
        emit(actions.entries[entry->index]);
      } else if (const auto* launch = std::get_if<Launch>(&action)) {
        start(*launch);
      } else if (const auto* end = std::get_if<EndTask>(&action)) {
        end_task(*end);
      } else if (const auto* kill = std::get_if<Kill>(&action)) {
        kill_task(*kill);
      } else if (const auto* back = std::get_if<ReturnSlot>(&action)) {
        return_slot(*back);
      } else if (const auto* shared = std::get_if<ReturnShared>(&action)) {
        emit(model::SlotReturned{shared->executor_name, shared->profile_name, shared->count,
                                 shared->job_name});
      } else {
        const auto& timer = std::get<SetTimer>(action);
        timers_.push_back({timer.timer, now_ + timer.delay});
      }
    }
  }

  void take_note(const model::EventBody& body) {
    if (const auto* end = std::get_if<model::JobEnd>(&body)) {
      failed_[jobs_[job_named_.at(end->job.value).index()].scenario_job] =
          end->outcome == model::JobOutcome::failed;
      job_over(end->job);
    } else if (const auto* rejected = std::get_if<model::JobRejected>(&body)) {
      rejected_ = true;
      job_over(rejected->job);
    }
  }

  void job_over(model::NameId name) {
    const JobId id = job_named_.at(name.value);
    jobs_[id.index()].live = false;
    if (rejected_ || !jobs_[id.index()].shared) {
      forget(id);
    }
  }

  void forget(JobId id) {
    jobs_[id.index()].used = false;
    free_jobs_.push_back(id);
    JobId& latest = latest_of_[jobs_[id.index()].scenario_job];
    latest = latest == id ? JobId{} : latest;
  }

  [[nodiscard]] model::TaskRef task_ref(const Launch& launch) const {
    return {launch.job_name,  launch.stage_name, launch.executor_name, launch.attempt,
            launch.partition, launch.try_number, launch.more};
  }

  void start(const Launch& launch) {
    if (launch.run.index() >= runs_.size()) {
      runs_.resize(launch.run.index() + 1);
    }
    const model::StageSpec& stage = jobs_[launch.job.index()].spec->stages[launch.stage.index()];
    const model::NameId profile = scenario_.cluster.profiles[stage.profile.index()].name;
    Run& run = runs_[launch.run.index()];
    RH_CHECK(!run.live, launch.run.value);
    run = {launch, profile, true, false, false, false};
    ++executors_[launch.executor.index()].runs;
    emit(model::TaskStart{task_ref(launch), launch.speculative});
  }

  void end_task(const EndTask& end) {
    Run& run = runs_[end.run.index()];
    RH_CHECK(run.live && !run.killed, end.run.value);
    model::TaskEnd line{task_ref(run.launch), run.launch.speculative, end.status,
                        end.reason,           std::nullopt,           std::nullopt};
    if (!end.counted) {
      line.counted = false;
    }
    run.live = false;
    if (end.shared) {
      line.slot = model::SlotState::held;
    }
    if (run.returned) {
      line.slot = model::SlotState::held;
    } else {
      --executors_[run.launch.executor.index()].runs;
    }
    emit(line);
  }

  void return_slot(const ReturnSlot& back) {
    Run& run = runs_[back.run.index()];
    RH_CHECK(run.live && !run.killed && !run.returned, back.run.value);
    run.returned = true;
    --executors_[run.launch.executor.index()].runs;
    emit(model::SlotReturned{run.launch.executor_name, run.profile, 1, run.launch.job_name});
  }

  void kill_task(const Kill& kill) {
    Run& run = runs_[kill.run.index()];
    RH_CHECK(run.live && !run.killed, kill.run.value);
    run.killed = true;
    run.shared = kill.shared;
    emit(model::TaskEnd{task_ref(run.launch), run.launch.speculative, model::TaskStatus::killed,
                        kill.reason, std::nullopt, model::SlotState::held});
  }

  // ---- what may happen next ----

  void one_step() {
    ++now_;
    if (core_.wants_pass() && percent(70)) {
      pass();
      return;
    }
    if (percent(15)) {
      check_nothing_is_asleep();
    }
    if (!copy_ && percent(4)) {
      copy_.emplace(core_);
      if (!(core_ == *copy_) || copy_->digest() != core_.digest()) {
        wrong_.emplace_back("a copy is not equal to what it was made of");
      }
    } else if (copy_ && percent(3)) {
      std::swap(core_, *copy_);  // either may go on
      copy_.reset();
    }
    const int what = below(100);
    if (what < 14) {
      submit_next();
    } else if (what < 74) {
      something_ends();
    } else if (what < 82) {
      fire_timer();
    } else if (what < 94) {
      executor_event();
    } else if (what < 96) {
      cancel();
    } else if (what < 98) {
      forget_some();
    } else {
      late_input();
    }
  }

  // A8: where no pass is wanted, a pass changes nothing. Gangs beyond the depth wait for it (A20),
  // and a locality wait ends with its timer, which comes late here.
  void check_nothing_is_asleep() {
    const bool late_timer = scenario_.scheduler.locality_wait > 0 && !timers_.empty();
    if (core_.wants_pass() || scenario_.scheduler.admission.depth < 64 || late_timer) {
      return;
    }
    Core probed(core_);
    of_copy_.clear();
    probed.set_now(now_);
    probed.pass(of_copy_);
    if (!of_copy_.list.empty()) {
      std::string what = "something";
      if (const auto* launch = std::get_if<Launch>(&of_copy_.list.front())) {
        what = fmt::format("{}/{}/{}", names_.text(launch->job_name),
                           names_.text(launch->stage_name), launch->partition);
      }
      wrong_.push_back(what + " could start and no pass was wanted");
    }
  }

  void submit_next() {
    if (submitted_ >= 2 * scenario_.jobs.size()) {
      return;
    }
    const auto index = static_cast<std::uint32_t>(submitted_ % scenario_.jobs.size());
    const auto round = static_cast<std::int32_t>(submitted_ / scenario_.jobs.size());
    if (round > 0 && !failed_[index]) {
      submitted_ += percent(50) ? 1U : 0U;  // it may fail yet
      return;
    }
    ++submitted_;
    const sim::Submission submission{now_, model::JobIndex{index}, 0, round};
    const model::NameId name = names_.intern(client_.name_of(submission));
    SubmitJob input = client_.expand(submission, name, names_);
    JobId id{jobs_.size()};
    if (free_jobs_.empty()) {
      jobs_.emplace_back();
    } else {
      id = free_jobs_.back();
      free_jobs_.pop_back();
    }
    input.job = id;
    const auto& foreign = client_.foreign_of(model::JobIndex{index});
    for (std::size_t i = 0; i < foreign.size(); ++i) {
      const JobId latest = latest_of_[foreign[i].job.index()];
      input.foreign[i].job = latest.valid() && jobs_[latest.index()].shared ? latest : JobId{};
    }
    for (const model::JobIndex reused : client_.reused_by(model::JobIndex{index})) {
      const JobId latest = latest_of_[reused.index()];
      if (latest.valid() && jobs_[latest.index()].live) {
        input.reused_job = latest;
        break;
      }
    }
    input.probe = true;
    jobs_[id.index()] = {input.spec, index, input.own_stages, !input.shared.empty(), true, true};
    job_named_[name.value] = id;
    latest_of_[index] = id;
    const Core before(core_);
    rejected_ = false;
    step(input);
    if (rejected_ && !(core_ == before)) {
      wrong_.emplace_back("a rejection changed the core");
    }
    rejected_ = false;
  }

  [[nodiscard]] std::vector<RunId> live_runs() const {
    std::vector<RunId> list;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i].live && !runs_[i].returned) {
        list.emplace_back(i);
      }
    }
    return list;
  }

  void something_ends() {
    const std::vector<RunId> live = live_runs();
    if (live.empty()) {
      return;
    }
    const RunId id = live[static_cast<std::size_t>(below(live.size()))];
    if (runs_[id.index()].killed) {
      slot_returns(id);
      return;
    }
    TaskEnded input{id, model::TaskStatus::success, std::nullopt, {}, 0};
    const int how = below(100);
    if (how < 12) {
      input.status = model::TaskStatus::failed;
      constexpr std::array reasons{model::TaskReason::exception, model::TaskReason::result_lost,
                                   model::TaskReason::out_of_memory,
                                   model::TaskReason::commit_denied};
      input.reason = reasons[static_cast<std::size_t>(below(reasons.size()))];
    } else if (how < 15) {
      input.status = model::TaskStatus::killed;
      input.reason = model::TaskReason::external;
    } else if (how < 23) {
      miss_input(runs_[id.index()].launch, input);
    }
    step(input);
    maybe_leaves(runs_[id.index()].launch.executor);
  }

  void slot_returns(RunId id) {
    Run& run = runs_[id.index()];
    run.live = false;
    --executors_[run.launch.executor.index()].runs;
    if (!run.shared) {
      emit(model::SlotReturned{run.launch.executor_name, run.profile, run.launch.more + 1,
                               run.launch.job_name});
    }
    step(KillEffective{id});
    maybe_leaves(run.launch.executor);
  }

  // Of the stages the task's stage reads, if any, one output that cannot be fetched.
  void miss_input(const Launch& launch, TaskEnded& input) {
    const model::JobSpec& spec = *jobs_[launch.job.index()].spec;
    std::vector<model::StageIndex> inputs;
    for (const model::EdgeSpec& edge : spec.edges) {
      if (std::ranges::find(edge.to, launch.stage) != edge.to.end() &&
          spec.stages[edge.from.index()].tasks > 0) {
        inputs.push_back(edge.from);
      }
    }
    if (inputs.empty()) {
      return;
    }
    input.status = model::TaskStatus::failed;
    input.reason = model::TaskReason::fetch_failed;
    input.fetch_from = inputs[static_cast<std::size_t>(below(inputs.size()))];
    const std::int32_t tasks = spec.stages[input.fetch_from.index()].tasks;
    input.fetch_partition = below(static_cast<std::size_t>(tasks));
  }

  void fire_timer() {
    if (timers_.empty()) {
      return;
    }
    const auto at = timers_.begin() + below(timers_.size());
    const Timer timer = *at;
    timers_.erase(at);
    now_ = std::max(now_, timer.due);  // others may come late, none comes early
    fired_.push_back(timer.id);
    step(TimerFired{timer.id});
  }

  // ---- executors ----

  void join() {
    const std::uint32_t expected = due_.front();
    due_.erase(due_.begin());
    const model::ExecutorSpec& spec = expected_[expected];
    added(spec);
    JoinExecutor input;
    input.expected = ExpectedId{expected};
    step(input);
  }

  void added(const model::ExecutorSpec& spec) {
    executors_.push_back({spec});
    model::ExecutorAdded line{spec.name, spec.host, spec.rack, {}, {}, spec.speed_milli};
    for (std::size_t r = 0; r < spec.resources.size(); ++r) {
      if (spec.resources[r] != 0) {
        line.resources.push_back({scenario_.cluster.resources[r], spec.resources[r]});
      }
    }
    if (spec.profile.valid()) {
      line.profile = scenario_.cluster.profiles[spec.profile.index()].name;
    }
    emit(std::move(line));
  }

  void executor_event() {
    const int what = below(10);
    if (what < 3) {
      if (!due_.empty() && percent(80)) {
        join();
      } else if (!due_.empty()) {
        const std::uint32_t expected = due_.back();
        due_.pop_back();
        step(GiveUpExecutor{ExpectedId{expected}});
      } else if (!expected_.empty() && executors_.size() < 12) {
        model::ExecutorSpec spec =
            scenario_.cluster
                .executors[static_cast<std::size_t>(below(scenario_.cluster.executors.size()))];
        spec.name = names_.intern(fmt::format("more{}", executors_.size()));
        expected_.push_back(spec);
        added(spec);
        JoinExecutor input;
        input.spec = spec;
        step(input);
      }
      return;
    }
    std::vector<std::uint32_t> there;
    for (std::uint32_t i = 0; i < executors_.size(); ++i) {
      if (!executors_[i].lost) {
        there.push_back(i);
      }
    }
    if (there.empty()) {
      return;
    }
    const std::uint32_t chosen = there[static_cast<std::size_t>(below(there.size()))];
    if (what < 6) {
      constexpr std::array causes{model::LossCause::process, model::LossCause::exit_by_app,
                                  model::LossCause::host};
      lose(chosen, causes[static_cast<std::size_t>(below(causes.size()))]);
    } else if (what < 9) {
      hold_or_release(chosen);
    } else {
      drain(chosen);
    }
  }

  void lose(std::uint32_t index, model::LossCause cause) {
    const model::NameId host = executors_[index].spec.host;
    for (std::uint32_t i = 0; i < executors_.size(); ++i) {
      const bool with_host = cause == model::LossCause::host && executors_[i].spec.host == host;
      if (!executors_[i].lost && (i == index || with_host)) {
        lose_one(i, cause);
      }
    }
  }

  void lose_one(std::uint32_t index, model::LossCause cause) {
    Executor& row = executors_[index];
    row.lost = true;
    for (Run& run : runs_) {
      if (run.live && run.killed && run.launch.executor.value == index) {
        run.live = false;  // its slot goes with the executor
        --row.runs;
      }
    }
    emit(model::ExecutorLost{row.spec.name, cause});
    step(LoseExecutor{ExecutorId{index}, cause});
  }

  void hold_or_release(std::uint32_t index) {
    Executor& row = executors_[index];
    if (row.holds == 0 || percent(20)) {
      if (row.holds++ == 0) {
        emit(model::ExecutorHeld{row.spec.name, model::HoldCause::hold});
      }
      step(HoldExecutor{ExecutorId{index}, model::HoldCause::hold});
    } else {
      release(index);
    }
  }

  void release(std::uint32_t index) {
    if (--executors_[index].holds == 0) {
      emit(model::ExecutorReleased{executors_[index].spec.name});
    }
    step(ReleaseExecutor{ExecutorId{index}});
  }

  void drain(std::uint32_t index) {
    Executor& row = executors_[index];
    if (row.draining) {
      return;
    }
    row.draining = true;
    emit(model::ExecutorHeld{row.spec.name, model::HoldCause::decommission});
    step(HoldExecutor{ExecutorId{index}, model::HoldCause::decommission});
    maybe_leaves(ExecutorId{index});
  }

  void maybe_leaves(ExecutorId id) {
    const Executor& row = executors_[id.index()];
    if (row.draining && !row.lost && row.runs == 0) {
      lose(id.value, model::LossCause::decommission);
    }
  }

  // ---- callers ----

  void cancel() {
    if (!jobs_.empty()) {
      step(CancelJob{JobId{static_cast<std::uint32_t>(below(jobs_.size()))}});
    }
  }

  // Ended jobs whose outputs nobody will ask for any more.
  void forget_some() {
    if (std::ranges::any_of(jobs_, &Job::live)) {
      return;
    }
    for (std::uint32_t i = 0; i < jobs_.size(); ++i) {
      if (jobs_[i].used && !jobs_[i].live && percent(30)) {
        step(ForgetJob{JobId{i}});
        forget(JobId{i});
        return;
      }
    }
  }

  // Reports of all that is over, by any status: they change nothing.
  void late_input() {
    const Core before(core_);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (!runs_[i].live) {
        repeat(TaskEnded{RunId{i}, model::TaskStatus::success, std::nullopt, {}, 0});
        repeat(TaskEnded{
            RunId{i}, model::TaskStatus::failed, model::TaskReason::out_of_memory, {}, 0});
        repeat(KillEffective{RunId{i}});
      } else if (runs_[i].killed || runs_[i].returned) {
        repeat(TaskEnded{RunId{i}, model::TaskStatus::success, std::nullopt, {}, 0});
      }
    }
    for (std::uint32_t i = 0; i < executors_.size(); ++i) {
      if (executors_[i].lost) {
        repeat(LoseExecutor{ExecutorId{i}, model::LossCause::host});
      }
    }
    for (const TimerId timer : fired_) {
      repeat(TimerFired{timer});
    }
    if (!(core_ == before)) {
      wrong_.emplace_back("an input about something that is over changed the core");
    }
  }

  // ---- the end ----

  // Nothing fails any more: everything that is live goes on until nothing can happen.
  void finish() {
    for (std::uint32_t i = 0; i < executors_.size(); ++i) {
      while (executors_[i].holds > 0 && !executors_[i].lost) {
        release(i);
      }
    }
    for (int i = 0; i < 20 * steps_max && wrong_.empty(); ++i) {
      ++now_;
      const std::vector<RunId> live = live_runs();
      if (core_.wants_pass()) {
        pass();
      } else if (!live.empty()) {
        if (runs_[live.front().index()].killed) {
          slot_returns(live.front());
        } else {
          step(TaskEnded{live.front(), model::TaskStatus::success, std::nullopt, {}, 0});
          maybe_leaves(runs_[live.front().index()].launch.executor);
        }
      } else if (!timers_.empty()) {
        fire_timer();
      } else if (std::ranges::any_of(jobs_, &Job::live)) {
        step(Stuck{});
        RH_CHECK(std::ranges::none_of(jobs_, &Job::live));
      } else {
        emit(core_.probe(model::ProbeWhen::end));
        emit(model::RunEnd{model::RunEndCause::done});
        return;
      }
    }
    if (wrong_.empty()) {
      wrong_.emplace_back("the run does not come to an end");
    }
  }

  const Scenario& scenario_;
  model::NameTable names_;
  std::vector<model::Observer*> observers_;
  model::DrawKey key_;
  std::uint32_t next_draw_ = 0;
  model::Instant now_ = 0;
  Core core_;
  std::optional<Core> copy_;
  Actions actions_;
  Actions of_copy_;
  sim::Client client_;
  std::vector<std::string> wrong_;
  std::vector<Run> runs_;
  std::vector<Executor> executors_;
  std::vector<model::ExecutorSpec> expected_;
  std::vector<std::uint32_t> due_;
  std::vector<Job> jobs_;
  std::vector<JobId> free_jobs_;
  std::vector<JobId> latest_of_;
  std::vector<bool> failed_;
  std::map<std::uint32_t, JobId> job_named_;
  std::vector<Timer> timers_;
  std::vector<TimerId> fired_;
  std::size_t submitted_ = 0;
  bool rejected_ = false;
};

}  // namespace

std::vector<std::string> judge_interleaving(const Scenario& scenario, std::uint64_t seed,
                                            Reached& reached, model::Observer* watcher) {
  try {
    properties::MonitorSet monitors;
    Reached of_run;
    Tally tally(scenario, of_run);
    std::vector<model::Observer*> observers{&monitors, &tally};
    if (watcher != nullptr) {
      observers.push_back(watcher);
    }
    Environment environment(scenario, seed, std::move(observers));
    std::vector<std::string> wrong = environment.run();
    monitors.finish();
    reached.add(of_run);
    for (const std::string& line : certain_violations(monitors.violations(), scenario, of_run)) {
      if (!line.contains("between two checks")) {  // A6: timers, and passes after them, come late
        wrong.push_back(line);
      }
    }
    return wrong;
  } catch (const std::exception& fault) {
    return {std::string("internal fault: ") + fault.what()};
  }
}

}  // namespace rehearse::testing
