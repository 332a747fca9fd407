// Inputs to the core, what its actions do to the environment, and the physical lines that come of
// them: the same duties that sim/driver has, without a clock.
// registry: none (an environment of the core)
#include <algorithm>

#include "model/run_line.hpp"
#include "model/support/check.hpp"
#include "properties/explore/cluster_setup.hpp"
#include "properties/explore/cluster_space.hpp"
#include "properties/registry.hpp"

namespace rehearse::properties {

using scheduler::JobId;
using scheduler::RunId;

namespace {

// Are the times that a monitor checks kept? A timer may come late here, and at the instant of
// something else.
bool keeps_times(std::string_view property, const model::SchedulerConfig& config) {
  const bool retries = config.admission.when_short == model::Short::retry;
  const bool reruns = config.failure.group == model::GroupFailure::rerun_group;
  return property != "NO_LIVELOCK" || (!retries && !reruns);
}

}  // namespace

// ---- the journal ----

void ClusterSpace::emit(model::EventBody body) {
  const model::Event event{now_, std::move(body)};
  monitors_.on(event);
  if (listener_ != nullptr) {
    listener_->on(event);
  }
}

model::RunStart ClusterSpace::first_line() const {
  const model::Scenario& scenario = setup_->scenario;
  const auto name = [this](std::string_view text) { return setup_->names->intern(text); };
  model::RunStart line = model::run_line(scenario, "explore", *setup_->names);
  // Kills take as long as they like: longer than every wait.
  line.overheads = {{name("kill"), name(setup_->kills_at_once ? "0s" : "100000h")}};
  for (const std::string& promise : promised(scenario.scheduler, scenario.timing)) {
    if (keeps_times(promise, scenario.scheduler)) {
      line.promises.push_back(name(promise));
    }
  }
  return line;
}

void ClusterSpace::begin() {
  monitors_.begin(*setup_->names);
  if (listener_ != nullptr) {
    listener_->begin(*setup_->names);
  }
  emit(first_line());
  for (const model::ExecutorSpec* spec : setup_->executors) {
    step(scheduler::ExpectExecutor{*spec});
  }
  while (joined_ < setup_->executors.size() && setup_->executors[joined_]->joins == 0) {
    join(joined_);
  }
  open_ = core_.wants_pass();
}

// ---- moving on ----

void ClusterSpace::take(const Choice& choice) {
  now_ += open_ ? 0 : 1;
  faults_ += choice.kind == Choice::Kind::fault ? 1 : 0;
  switch (static_cast<What>(choice.what)) {
    case What::pass:
      pass();
      break;
    case What::submit:
      submit(submitted_++, 0);
      break;
    case What::resubmit: {
      const Resubmission again = resubmissions_[choice.a];
      resubmissions_.erase(resubmissions_.begin() + choice.a);
      submit(again.planned, again.number);
      break;
    }
    case What::ends:
      step(scheduler::TaskEnded{RunId{choice.a}, model::TaskStatus::success, std::nullopt, {}, 0});
      break;
    case What::slot_returns:
      slot_returns(choice.a);
      break;
    case What::timer:
      fire(choice.a);
      break;
    case What::joins:
      join(choice.a);
      break;
    case What::time_passes:
      let_time_pass();
      break;
    case What::fails:
      step(scheduler::TaskEnded{
          RunId{choice.a}, model::TaskStatus::failed, model::TaskReason::exception, {}, 0});
      break;
    case What::fetch_fails:
      step(scheduler::TaskEnded{RunId{choice.a}, model::TaskStatus::failed,
                                model::TaskReason::fetch_failed, model::StageIndex{choice.b},
                                static_cast<std::int32_t>(choice.c)});
      break;
    case What::is_lost:
      lose(choice.a);
      break;
  }
  open_ = core_.wants_pass();
  if (!open_) {
    monitors_.leave(now_);
  }
}

void ClusterSpace::finish() {
  ++now_;
  if (live_jobs_ > 0) {
    step(scheduler::Stuck{});
    RH_CHECK(live_jobs_ == 0, live_jobs_);
  }
  emit(core_.probe(model::ProbeWhen::end));
  emit(model::RunEnd{model::RunEndCause::done});
  monitors_.finish();
}

void ClusterSpace::step(const scheduler::Input& input) {
  scheduler::Actions actions;
  core_.set_now(clock_);
  core_.step(input, actions);
  carry_out(actions);
}

void ClusterSpace::pass() {
  scheduler::Actions actions;
  core_.set_now(clock_);
  core_.pass(actions);
  carry_out(actions);
}

void ClusterSpace::carry_out(const scheduler::Actions& actions) {
  std::vector<RunId> freed_at_once;
  for (const scheduler::Action& action : actions.list) {
    if (const auto* entry = std::get_if<scheduler::Entry>(&action)) {
      take_note(actions.entries[entry->index]);
      emit(actions.entries[entry->index]);
    } else if (const auto* launch = std::get_if<scheduler::Launch>(&action)) {
      start(*launch);
    } else if (const auto* end = std::get_if<scheduler::EndTask>(&action)) {
      end_task(*end);
    } else if (const auto* kill = std::get_if<scheduler::Kill>(&action)) {
      kill_task(*kill);
      if (setup_->kills_at_once) {
        freed_at_once.push_back(kill->run);
      }
    } else if (const auto* back = std::get_if<scheduler::ReturnSlot>(&action)) {
      return_slot(*back);
    } else if (const auto* shared = std::get_if<scheduler::ReturnShared>(&action)) {
      emit(model::SlotReturned{shared->executor_name, shared->profile_name, shared->count,
                               shared->job_name});
    } else {
      const auto& timer = std::get<scheduler::SetTimer>(action);
      timers_.push_back({timer.timer, timer.delay, now_, clock_ + timer.delay});
    }
  }
  for (const RunId run : freed_at_once) {
    step(scheduler::KillEffective{run});
  }
  std::erase_if(timers_, [this](const Timer& timer) { return !core_.is_set(timer.id); });
}

void ClusterSpace::take_note(const model::EventBody& body) {
  const auto over = [this](model::NameId name, JobState state) {
    const JobId id = job_named(name);
    jobs_[id.index()].state = state;
    --live_jobs_;
    const std::uint32_t planned = setup_->planned_of(id);
    const auto number = static_cast<std::int32_t>(id.value / setup_->client.planned().size()) + 1;
    const bool again = state == JobState::failed || state == JobState::rejected;
    if (again && number <= setup_->scenario.jobs[setup_->scenario_job_of(id)].resubmit) {
      const auto at = std::ranges::lower_bound(resubmissions_, planned, {}, &Resubmission::planned);
      resubmissions_.insert(at, {planned, number});
    }
  };
  if (const auto* end = std::get_if<model::JobEnd>(&body)) {
    over(end->job, end->outcome == model::JobOutcome::succeeded ? JobState::succeeded
                   : end->outcome == model::JobOutcome::failed  ? JobState::failed
                                                                : JobState::cancelled);
  } else if (const auto* rejected = std::get_if<model::JobRejected>(&body)) {
    over(rejected->job, JobState::rejected);
  } else if (const auto* queued = std::get_if<model::GroupQueued>(&body)) {
    const bool ages = setup_->scenario.scheduler.admission.overtake == model::Overtake::aging;
    waited_ = waited_ && !(ages && queued->reason == model::QueuedReason::slots);
  }
}

// ---- tasks ----

model::TaskRef ClusterSpace::task_ref(const scheduler::Launch& launch) const {
  return {launch.job_name,  launch.stage_name, launch.executor_name, launch.attempt,
          launch.partition, launch.try_number, launch.more};
}

const model::JobSpec& ClusterSpace::spec_of(const scheduler::Launch& launch) const {
  return setup_->scenario.jobs[setup_->scenario_job_of(launch.job)];
}

model::NameId ClusterSpace::profile_of(const scheduler::Launch& launch) const {
  const model::StageSpec& stage = spec_of(launch).stages[launch.stage.index()];
  return setup_->scenario.cluster.profiles[stage.profile.index()].name;
}

void ClusterSpace::start(const scheduler::Launch& launch) {
  if (launch.run.index() >= runs_.size()) {
    runs_.resize(launch.run.index() + 1);
  }
  Run& run = runs_[launch.run.index()];
  RH_CHECK(!run.live && !lost_[launch.executor.index()], launch.run.value);
  run = {launch, true, false, false, false};
  emit(model::TaskStart{task_ref(launch), launch.speculative});
  waited_ = waited_ && setup_->scenario.scheduler.admission.overtake != model::Overtake::easy;
}

void ClusterSpace::end_task(const scheduler::EndTask& end) {
  Run& run = runs_[end.run.index()];
  RH_CHECK(run.live && !run.killed, end.run.value);
  model::TaskEnd line{task_ref(run.launch), run.launch.speculative, end.status,
                      end.reason,           std::nullopt,           std::nullopt};
  if (!end.counted) {
    line.counted = false;
  }
  if (end.shared || run.returned) {
    line.slot = model::SlotState::held;
  }
  run = Run{};
  emit(line);
}

void ClusterSpace::return_slot(const scheduler::ReturnSlot& back) {
  Run& run = runs_[back.run.index()];
  RH_CHECK(run.live && !run.killed && !run.returned, back.run.value);
  run.returned = true;
  emit(model::SlotReturned{run.launch.executor_name, profile_of(run.launch), 1,
                           run.launch.job_name});
}

void ClusterSpace::kill_task(const scheduler::Kill& kill) {
  Run& run = runs_[kill.run.index()];
  RH_CHECK(run.live && !run.killed, kill.run.value);
  model::TaskEnd line{task_ref(run.launch), run.launch.speculative, model::TaskStatus::killed,
                      kill.reason,          std::nullopt,           std::nullopt};
  if (kill.shared || !setup_->kills_at_once) {
    line.slot = model::SlotState::held;
  }
  run.killed = true;
  run.shared = kill.shared;
  if (setup_->kills_at_once) {
    run = Run{};
  }
  emit(line);
}

void ClusterSpace::slot_returns(std::uint32_t index) {
  const Run run = runs_[index];
  runs_[index] = Run{};
  if (!run.shared) {
    emit(model::SlotReturned{run.launch.executor_name, profile_of(run.launch), run.launch.more + 1,
                             run.launch.job_name});
  }
  step(scheduler::KillEffective{RunId{index}});
}

// ---- callers, executors, time ----

JobId ClusterSpace::job_id(std::uint32_t planned, std::int32_t number) const {
  const auto count = static_cast<std::uint32_t>(setup_->client.planned().size());
  return JobId{planned + static_cast<std::uint32_t>(number) * count};
}

JobId ClusterSpace::job_named(model::NameId name) const {
  const auto at = std::ranges::find(jobs_, name, &Job::name);
  RH_CHECK(at != jobs_.end(), name.value);
  return JobId{static_cast<std::uint32_t>(at - jobs_.begin())};
}

void ClusterSpace::submit(std::uint32_t planned, std::int32_t number) {
  sim::Submission submission = setup_->client.planned()[planned];
  submission.at = submissions_++;  // its rank: as they come
  submission.resubmit = number;
  const model::NameId name = setup_->names->intern(setup_->client.name_of(submission));
  scheduler::SubmitJob input = setup_->client.expand(submission, name, *setup_->names);
  input.job = job_id(planned, number);
  input.probe = true;
  if (input.job.index() >= jobs_.size()) {
    jobs_.resize(input.job.index() + 1);
  }
  jobs_[input.job.index()] = {name, JobState::live};
  ++live_jobs_;
  step(input);
}

void ClusterSpace::fire(std::uint32_t place) {
  const Timer timer = timers_[place];
  timers_.erase(timers_.begin() + place);
  if (!open_) {
    now_ = std::max(now_, timer.set_at + timer.delay);
  }
  if (setup_->reads_clock) {
    clock_ = std::max(clock_, timer.due);
  }
  step(scheduler::TimerFired{timer.id});
}

void ClusterSpace::join(std::uint32_t expected) {
  const model::ExecutorSpec& spec = *setup_->executors[expected];
  const model::Cluster& cluster = setup_->scenario.cluster;
  model::ExecutorAdded line{spec.name, spec.host, spec.rack, {}, {}, spec.speed_milli};
  for (std::size_t r = 0; r < spec.resources.size(); ++r) {
    if (spec.resources[r] != 0) {
      line.resources.push_back({cluster.resources[r], spec.resources[r]});
    }
  }
  if (spec.profile.valid()) {
    line.profile = cluster.profiles[spec.profile.index()].name;
  }
  emit(std::move(line));
  ++joined_;
  lost_.push_back(false);
  scheduler::JoinExecutor input;
  input.expected = scheduler::ExpectedId{expected};
  step(input);
}

void ClusterSpace::lose(std::uint32_t executor) {
  lost_[executor] = true;
  for (Run& run : runs_) {
    if (run.live && run.killed && run.launch.executor.value == executor) {
      run = Run{};  // its slot goes with the executor
    }
  }
  constexpr auto cause = model::LossCause::process;
  emit(model::ExecutorLost{setup_->executors[executor]->name, cause});
  step(scheduler::LoseExecutor{scheduler::ExecutorId{executor}, cause});
}

void ClusterSpace::let_time_pass() {
  now_ += setup_->long_wait;
  clock_ += setup_->long_wait;
  waited_ = true;
}

}  // namespace rehearse::properties
