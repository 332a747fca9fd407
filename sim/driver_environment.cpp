// What happens to the cluster and what callers do: task reports, submissions, faults, executors
// coming and going. Each turns into inputs of the core.
#include <algorithm>

#include "model/support/check.hpp"
#include "sim/driver.hpp"

namespace rehearse::sim {

namespace {

constexpr std::uint32_t nobody = 0xFFFFFFFFU;

}  // namespace

// Was its work over, well or not, before its executor died, if that is dead?
bool Driver::ended_by_itself(const Run& run) const {
  const ExecutorSim& executor = executors_[run.executor.index()];
  if (shares_slots_) {
    const SharedRun& row = shared_runs_[static_cast<std::size_t>(&run - runs_.data())];
    return row.phase == SharedRun::Phase::over &&
           (!executor.dead || row.over_at < executor.died_at);
  }
  return (!executor.dead || run.over_at < executor.died_at) && (run.fails || !producer_died(run));
}

// X12: what had not ended before its executor died never reports by itself.
bool Driver::never_reports(const Run& run) const {
  const bool dead = executors_[run.executor.index()].dead;
  const bool coupled = scenario_.timing == model::Timing::coupled;
  return unnoticed_deaths_ > 0 && (dead || coupled) && !ended_by_itself(run);
}

// Coupled: a consumer that does not fail by itself waits for producers whose executor died before
// they ended.
bool Driver::producer_died(const Run& run) const {
  const JobSim& job = jobs_[run.job.index()];
  if (!job.graph) {
    return false;
  }
  const auto producers = job.graph->pipelined_parents.row(run.stage.index());
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Run& other = runs_[i];
    const ExecutorSim& executor = executors_[other.executor.index()];
    if (other.live && !other.killed && other.job == run.job && other.attempt == run.attempt &&
        executor.dead && !executor.lost && other.over_at >= executor.died_at &&
        std::ranges::find(producers, other.stage.value) != producers.end()) {
      return true;
    }
  }
  return false;
}

void Driver::report_task(scheduler::RunId run_id) {
  Run& run = runs_[run_id.index()];
  if (run.killed) {
    run.live = false;
    if (executors_[run.executor.index()].lost) {
      return;  // its slot went with the executor
    }
    if (!run.shared) {
      emit(model::SlotReturned{executors_[run.executor.index()].name,
                               scenario_.cluster.profiles[run.profile].name, run.more + 1,
                               run.job_name});
    }
    step(scheduler::KillEffective{run_id});
    slot_came_back(run);
    return;
  }
  if (never_reports(run)) {
    return;
  }
  scheduler::Input told{std::in_place_type<scheduler::TaskEnded>, run_id};
  auto& input = std::get<scheduler::TaskEnded>(told);
  if (run.fails) {
    const model::TaskFault& fault = *failing_.at(run.launch);
    input.status = model::TaskStatus::failed;
    if (fault.fetch_fails) {
      input.reason = model::TaskReason::fetch_failed;
      const auto stage = client_.stage_named(jobs_[run.job.index()].submission.spec,
                                             fault.fetch_from_job, fault.fetch_from);
      RH_CHECK(stage.has_value(), fault.fetch_from.value);
      input.fetch_from = *stage;
      input.fetch_partition = fault.fetch_partition;
    } else if (*fault.fails == model::TaskFaultKind::killed) {
      input.status = model::TaskStatus::killed;
      input.reason = model::TaskReason::external;
    } else {
      input.reason = model::parse_enum<model::TaskReason>(model::name_of(*fault.fails));
    }
  } else if (options_.checksum && run.more == 0) {  // of a slice (A21) there is none
    input.checksum = options_.checksum(task_ref(run));
  }
  step(told);
}

void Driver::submit(const Submission& submission) {
  scheduler::JobId id;
  if (free_jobs_.empty()) {
    id = scheduler::JobId{jobs_.size()};
    jobs_.emplace_back();
  } else {
    id = free_jobs_.back();
    free_jobs_.pop_back();
  }
  const model::NameId name = names_->intern(client_.name_of(submission));
  scheduler::SubmitJob input = client_.expand(submission, name, *names_);
  input.job = id;
  const std::vector<Client::ForeignRef>& foreign = client_.foreign_of(submission.spec);
  for (std::size_t i = 0; i < foreign.size(); ++i) {
    const scheduler::JobId latest = latest_of_[foreign[i].job.index()];
    const bool kept = latest.valid() && jobs_[latest.index()].shared;
    input.foreign[i].job = kept ? latest : scheduler::JobId{};
  }
  for (const model::JobIndex reused : client_.reused_by(submission.spec)) {
    const scheduler::JobId latest = latest_of_[reused.index()];
    if (latest.valid() && !jobs_[latest.index()].ended) {
      input.reused_job = latest;  // F7: one owner that lives is enough
      break;
    }
  }
  input.probe = submissions_++ % options_.probe_one_in == 0;
  JobSim& job = jobs_[id.index()];
  job = JobSim{};
  job.submission = submission;
  job.name = name;
  job.plain_name = submission.resubmit == 0 ? scenario_.jobs[submission.spec.index()].name : name;
  if (watching_moments_ && job.plain_name != name) {
    faults_.also_called(name, job.plain_name);
  }
  job.spec = input.spec;
  job.key = model::job_key(names_->text(name));
  job.stages.resize(input.spec->stages.size());
  job.shared = !input.shared.empty();
  job.used = true;
  if (scenario_.timing == model::Timing::coupled) {
    model::GraphRules rules = model::graph_rules(scenario_.scheduler);
    rules.own_stages = input.own_stages;
    job.graph =
        std::make_shared<const model::StageGraph>(model::build_stage_graph(*input.spec, rules));
  }
  if (name.index() >= job_named_.size()) {
    job_named_.resize(name.index() + 1);
  }
  job_named_[name.index()] = id;
  latest_of_[submission.spec.index()] = id;
  step(input);
}

// ---- faults ----

void Driver::fire_fault(std::uint32_t index) {
  faults_.mark_fired(index);
  const model::TimedAction& action = faults_.timed(index).action;
  if (const auto* loss = std::get_if<model::LoseExecutor>(&action)) {
    lose(*loss);
  } else if (const auto* addition = std::get_if<model::AddExecutor>(&action)) {
    std::uint32_t expected = nobody;
    for (std::uint32_t i = 0; i < expected_.size(); ++i) {
      if (expected_[i].spec == &addition->executor) {
        expected = i;
      }
    }
    join(expected, &addition->executor);
  } else if (const auto* held = std::get_if<model::HoldExecutors>(&action)) {
    hold(*held);
  } else {
    cancel(std::get<model::CancelJob>(action).job);
  }
}

std::uint32_t Driver::executor_named(model::NameId name) const {
  return name.index() < executor_named_.size() ? executor_named_[name.index()] : nobody;
}

void Driver::lose(const model::LoseExecutor& fault) {
  const std::uint32_t named = executor_named(fault.executor);
  std::optional<model::NameId> host;
  for (std::uint32_t i = 0; i < expected_.size(); ++i) {
    // Decision 13: whom nobody asked for is not there at all.
    const bool unasked = expected_[i].own && !expected_[i].asked;
    if (expected_[i].spec->name != fault.executor || unasked) {
      continue;
    }
    host = expected_[i].spec->host;
    if (expected_[i].due) {
      expected_[i].due = false;
      ++unseen_.never_joined;
      if (scaling_) {
        member_will_not_come(i);
      }
      step(scheduler::GiveUpExecutor{scheduler::ExpectedId{i}});
    }
  }
  if (named != nobody) {
    host = executors_[named].host;
  }
  if (fault.cause != model::LossCause::host) {
    if (named != nobody) {
      die(named, fault);
    }
    return;
  }
  for (std::uint32_t i = 0; i < executors_.size(); ++i) {
    if (executors_[i].host == host) {
      die(i, fault);
    }
  }
}

void Driver::die(std::uint32_t executor, const model::LoseExecutor& fault) {
  ExecutorSim& row = executors_[executor];
  if (row.lost || row.dead || (fault.cause == model::LossCause::decommission && row.draining)) {
    return;
  }
  if (fault.cause != model::LossCause::decommission) {
    row.dead = true;
    row.died_at = now_;
    ++unnoticed_deaths_;
  }
  const model::DecisionPlace where{
      .purpose = model::DrawPurpose::loss_detection,
      .series = model::draw_key({scenario_.seed, model::DrawPurpose::loss_detection,
                                 model::name_key(names_->text(row.name)), 0})};
  const model::Duration delay =
      fault.noticed ? *fault.noticed
                    : drawn(scenario_.cluster.overheads.loss_detection, decisions_, where);
  if (delay == 0) {
    notice(executor, fault.cause);
    return;
  }
  Pending pending;
  pending.what = Pending::What::notice;
  pending.index = executor;
  pending.cause = fault.cause;
  push_pending(later(now_, delay), InputKind::notice, pending);
}

void Driver::notice(std::uint32_t executor, model::LossCause cause) {
  ExecutorSim& row = executors_[executor];
  if (row.lost) {
    return;
  }
  if (scaling_) {
    member_leaves(executor);
  }
  if (cause == model::LossCause::decommission && !row.draining) {
    row.draining = true;
    emit(model::ExecutorHeld{row.name, model::HoldCause::decommission});
    step(scheduler::HoldExecutor{model::ExecutorId{executor}, model::HoldCause::decommission});
  }
  if (cause == model::LossCause::decommission && row.runs > 0) {
    return;  // it leaves with its last task
  }
  row.lost = true;
  unnoticed_deaths_ -= row.dead ? 1 : 0;
  emit(model::ExecutorLost{row.name, cause});
  step(scheduler::LoseExecutor{model::ExecutorId{executor}, cause});
}

void Driver::expect_executors() {
  for (const model::ExecutorSpec& spec : scenario_.cluster.executors) {
    expected_.push_back({&spec, spec.joins, true, expected_.size()});
  }
  for (const DueFault& fault : faults_.planned()) {
    if (const auto* add = std::get_if<model::AddExecutor>(&faults_.timed(fault.index).action)) {
      expected_.push_back({&add->executor, fault.at, true, expected_.size()});
    }
  }
  std::ranges::sort(expected_, {},
                    [](const ExpectedSim& row) { return std::pair{row.at, row.place}; });
  const auto& of_cluster = scenario_.cluster.executors;
  for (std::uint32_t i = 0; i < expected_.size(); ++i) {
    const model::ExecutorSpec* spec = expected_[i].spec;
    step(scheduler::ExpectExecutor{*spec});
    const bool from_cluster =
        !of_cluster.empty() && spec >= &of_cluster.front() && spec <= &of_cluster.back();
    if (from_cluster) {  // the others come by their fault
      Pending pending;
      pending.what = Pending::What::join;
      pending.index = i;
      push_pending(expected_[i].at, InputKind::executor, pending);
    }
  }
}

void Driver::join(std::uint32_t expected, const model::ExecutorSpec* spec) {
  scheduler::JoinExecutor input;
  if (expected != nobody) {
    if (!expected_[expected].due) {
      return;  // lost before it came
    }
    expected_[expected].due = false;
    input.expected = scheduler::ExpectedId{expected};
    spec = expected_[expected].spec;
  } else {
    expected = static_cast<std::uint32_t>(expected_.size());
    expected_.push_back(
        {spec, now_, false, expected_.size()});  // the core counts it among its expected ones too
    input.spec = *spec;
  }
  const bool was_due = input.expected.valid();
  if (spec->name.index() >= executor_named_.size()) {
    executor_named_.resize(std::max(spec->name.index() + 1, names_->size()), nobody);
  }
  executor_named_[spec->name.index()] = static_cast<std::uint32_t>(executors_.size());
  ExecutorSim row;
  row.name = spec->name;
  row.host = spec->host;
  row.speed_milli = spec->speed_milli;
  executors_.push_back(row);
  if (shares_slots_) {
    processors_.emplace_back(resources_of(*spec));
  }
  model::ExecutorAdded line{spec->name, spec->host, spec->rack, {}, {}, spec->speed_milli};
  line.resources.reserve(spec->resources.size());
  for (std::size_t r = 0; r < spec->resources.size(); ++r) {
    if (spec->resources[r] != 0) {
      line.resources.push_back({scenario_.cluster.resources[r], spec->resources[r]});
    }
  }
  if (spec->profile.valid()) {
    line.profile = scenario_.cluster.profiles[spec->profile.index()].name;
  }
  emit(std::move(line));
  if (scaling_) {
    member_joined(static_cast<std::uint32_t>(executors_.size() - 1), expected, was_due);
  }
  step(input);
  if (scaling_) {
    fit_candidates();
  }
}

void Driver::hold(const model::HoldExecutors& fault) {
  for (const model::NameId name : fault.executors) {
    const std::uint32_t executor = executor_named(name);
    if (executor == nobody || executors_[executor].lost) {
      continue;
    }
    if (executors_[executor].holds++ == 0) {
      emit(model::ExecutorHeld{name, model::HoldCause::hold});
    }
    step(scheduler::HoldExecutor{model::ExecutorId{executor}, model::HoldCause::hold});
    Pending pending;
    pending.what = Pending::What::release;
    pending.index = executor;
    push_pending(later(now_, fault.for_ns), InputKind::executor, pending);
  }
}

void Driver::release(std::uint32_t executor) {
  ExecutorSim& row = executors_[executor];
  if (row.lost) {
    return;
  }
  if (--row.holds == 0) {
    emit(model::ExecutorReleased{row.name});
  }
  step(scheduler::ReleaseExecutor{model::ExecutorId{executor}});
}

// A repeated job's bare name stands for all its copies.
void Driver::cancel(model::NameId job) {
  std::vector<scheduler::JobId> matching;
  for (std::uint32_t i = 0; i < jobs_.size(); ++i) {
    const JobSim& row = jobs_[i];
    if (row.used && (row.name == job || row.plain_name == job)) {
      matching.push_back(scheduler::JobId{i});
    }
  }
  std::ranges::sort(matching, {}, [this](scheduler::JobId id) {
    return submission_order(jobs_[id.index()].submission);
  });
  for (const scheduler::JobId id : matching) {
    step(scheduler::CancelJob{id});
  }
}

}  // namespace rehearse::sim
