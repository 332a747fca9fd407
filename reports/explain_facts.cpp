// registry: none (part of the explanation)
//
// Rows of the request's tries from the events that name it. What its units wait for is looked at in
// explain_waits.cpp, whenever time advances.
#include "reports/explain_facts.hpp"

#include <algorithm>
#include <charconv>

#include "model/support/check.hpp"

namespace rehearse::reports {
namespace {

// Serves whatever profile asks.
constexpr std::size_t unbound = no_index;

// "q#1" -> "q"; anything else is its own request.
std::string_view request_of(std::string_view name) { return name.substr(0, name.rfind('#')); }

std::array<std::int64_t, 4> key_of(const TaskRun& run) {
  return {static_cast<std::int64_t>(run.stage), run.attempt, run.partition, run.try_number};
}

// The job that an event is about; none for the others.
model::NameId job_of(const auto& body) {
  if constexpr (requires { body.task.job; }) {
    return body.task.job;
  } else if constexpr (requires { body.stage.job; }) {
    return body.stage.job;
  } else if constexpr (requires { body.group.job; }) {
    return body.group.job;
  } else if constexpr (requires { body.job; }) {
    return body.job;
  } else {
    return {};
  }
}

}  // namespace

void ExplainFacts::on(const model::Event& event) {
  RH_CHECK(names_ != nullptr);
  settle(event.t);
  work_.at(event.t);
  std::visit(
      [&](const auto& body) {
        apply(body);
        touched_ = touched_ || (live_ && job_of(body) == tries_.back().job);
      },
      event.body);
}

bool ExplainFacts::wanted(model::NameId job) const {
  return live_ && !tries_.empty() && tries_.back().job == job;
}

StageFacts* ExplainFacts::stage(model::NameId job, model::NameId name) {
  if (!wanted(job)) {
    return nullptr;
  }
  const auto found = stage_of_name_.find(name);
  return found == stage_of_name_.end() ? nullptr : &tries_.back().stages[found->second];
}

GangFacts* ExplainFacts::gang(const model::StageRef& ref) {
  const StageFacts* first = stage(ref.job, ref.stage);
  return first == nullptr || !first->gang ? nullptr : &tries_.back().gangs[*first->gang];
}

// ---- the run and its executors ----

void ExplainFacts::apply(const model::RunStart& event) {
  ledger_.run_started(event, *names_);
  work_.run_started(event, *names_);
  rules_.coupled = event.timing == model::Timing::coupled;
  for (const model::ProfileAmounts& profile : event.profiles) {
    profiles_.push_back(profile.profile);
  }
  for (const model::AxisValue& axis : event.axes) {
    const std::string_view name = names_->text(axis.axis);
    const std::string_view value = names_->text(axis.value);
    if (name == "admission.queue") {
      rules_.queue = value;
    } else if (name == "admission.overtake") {
      rules_.overtake = value;
    } else if (name == "admission.short") {
      rules_.short_rule = value;
    } else if (name == "admission.depth") {
      std::from_chars(value.data(), value.data() + value.size(), rules_.depth);
    } else if (name == "locality_wait") {
      rules_.locality_wait = value;
    }
  }
  for (const model::KeyValue& overhead : event.overheads) {
    const std::string_view key = names_->text(overhead.key);
    if (key == "launch" || key == "status") {
      (key == "launch" ? rules_.launch_overhead : rules_.status_overhead) =
          names_->text(overhead.value);
    }
  }
}

void ExplainFacts::apply(const model::ExecutorAdded& event) {
  ledger_.added(event);
  Bound row;
  if (event.profile.valid()) {
    row.profile = ledger_.profile(event.profile);
  }
  executors_[event.executor] = row;
  unbound_seen_ = unbound_seen_ || !row.profile;
}

void ExplainFacts::apply(const model::ExecutorLost& event) {
  ledger_.lost(event.executor);
  std::erase_if(reserved_, [&](const auto& entry) {
    if (entry.first[2] != event.executor.value) {
      return false;
    }
    hold(model::NameId{std::size_t{entry.first[0]}}, event.executor, -entry.second);
    return true;
  });
}

void ExplainFacts::apply(const model::ExecutorHeld& event) {
  ledger_.held(event.executor, event.cause == model::HoldCause::decommission);
  executors_[event.executor].held = event.cause == model::HoldCause::hold;
}

void ExplainFacts::apply(const model::ExecutorReleased& event) {
  ledger_.released(event.executor);
  executors_[event.executor].held = false;
}

// Slots that a job runs in or has reserved, by what they could serve.
void ExplainFacts::hold(model::NameId job, model::NameId executor, std::int64_t delta) {
  const auto found = executors_.find(executor);
  const std::size_t serves =
      found == executors_.end() ? unbound : found->second.profile.value_or(unbound);
  std::int64_t& slots = held_slots_[{job, serves}];
  slots += delta;
  if (slots == 0) {
    held_slots_.erase({job, serves});
  }
}

model::Duration ExplainFacts::shared_until_now(model::NameId executor) {
  Bound& row = executors_[executor];
  const model::Duration passed = now_ - row.since_ns;
  const auto [taken, whole] = row.sharing;
  // Of a part in which nothing changed: what is left of it had each advanced at full speed.
  row.shared_ns += passed / taken * (taken - whole) + passed % taken * (taken - whole) / taken;
  row.since_ns = now_;
  row.sharing = ledger_.sharing(executor);
  return row.shared_ns;
}

// ---- jobs ----

void ExplainFacts::apply(const model::JobSubmitted& event) {
  work_.submitted(event, ledger_);
  order_[event.job] = submissions_++;
  const std::string_view name = names_->text(event.job);
  if (name != wanted_ && request_of(name) != wanted_) {
    return;
  }
  TryFacts row;
  row.job = event.job;
  row.submit_ns = now_;
  stage_of_name_.clear();
  run_of_task_.clear();
  for (const model::StageItem& item : event.stages) {
    stage_of_name_[item.name] = row.stages.size();
    StageFacts stage;
    stage.name = item.name;
    stage.profile = ledger_.profile(item.profile);
    row.stages.push_back(std::move(stage));
  }
  add_edges(row, event);
  tries_.push_back(std::move(row));
  live_ = true;
  changed_ = true;
}

void ExplainFacts::add_edges(TryFacts& row, const model::JobSubmitted& event) {
  for (const model::EdgeItem& edge : event.edges) {
    const auto to = stage_of_name_.find(edge.to);
    if (to == stage_of_name_.end()) {
      continue;
    }
    StageFacts& reader = row.stages[to->second];
    if (const auto from = stage_of_name_.find(edge.from); from != stage_of_name_.end()) {
      row.stages[from->second].sink = false;
      (edge.kind == model::EdgeKind::regular ? reader.regular : reader.pipelined)
          .push_back(from->second);
      continue;
    }
    const std::string_view text = names_->text(edge.from);
    const std::size_t slash = text.find('/');
    if (slash != std::string_view::npos) {
      reader.foreign.push_back(row.foreign.size());
      row.foreign.push_back({.edge = edge.from,
                             .job = std::string(request_of(text.substr(0, slash))),
                             .stage = std::string(text.substr(slash + 1)),
                             .done = {}});
    }
  }
}

template <class Ending>
void ExplainFacts::end_try(const Ending& event) {
  TryFacts& row = tries_.back();
  row.code = event.code;
  row.end_ns = now_;
  row.detail = names_->text(event.detail);
  row.need = event.need.value_or(model::PerProfile{});
  row.have = event.have.value_or(model::PerProfile{});
  live_ = false;
  waiters_.clear();
}

void ExplainFacts::apply(const model::JobRejected& event) {
  if (wanted(event.job)) {
    tries_.back().rejected = true;
    end_try(event);
  }
  work_.gone(event.job);
  order_.erase(event.job);
}

void ExplainFacts::apply(const model::JobEnd& event) {
  if (wanted(event.job)) {
    tries_.back().outcome = event.outcome;
    end_try(event);
  }
  work_.gone(event.job);
  order_.erase(event.job);
}

// ---- groups and stages ----

void ExplainFacts::apply(const model::GroupFormed& event) {
  work_.formed(event, ledger_);
  if (!wanted(event.job)) {
    return;
  }
  TryFacts& row = tries_.back();
  GangFacts gang;
  gang.leader = event.stage;
  for (const model::NameId name : event.stages) {
    if (const auto found = stage_of_name_.find(name); found != stage_of_name_.end()) {
      gang.stages.push_back(found->second);
      row.stages[found->second].gang = row.gangs.size();
    }
  }
  for (const model::ProfileCount& count : event.demand) {
    gang.demand.emplace_back(ledger_.profile(count.profile), count.n);
  }
  row.gangs.push_back(std::move(gang));
}

void ExplainFacts::apply(const model::GroupAdmitted& event) {
  work_.admitted(event.group);
  if (GangFacts* row = gang(event.group); row != nullptr) {
    row->attempts.push_back({.attempt = event.group.attempt.value_or(0),
                             .admit_ns = now_,
                             .failed_ns = std::nullopt,
                             .cause = std::nullopt});
  }
}

void ExplainFacts::apply(const model::GroupFailed& event) {
  work_.over(event.group);
  if (GangFacts* row = gang(event.group); row != nullptr && !row->attempts.empty()) {
    row->attempts.back().failed_ns = now_;
    row->attempts.back().cause = event.cause;
  }
}

void ExplainFacts::apply(const model::EdgesChanged& event) {
  work_.dissolved(event);
  if (GangFacts* row = gang({event.job, event.stage, {}}); row != nullptr) {
    row->dissolved_ns = now_;
  }
}

void ExplainFacts::apply(const model::StageSubmitted& event) {
  work_.stage_submitted(event, ledger_);
  if (!wanted(event.stage.job)) {
    return;
  }
  StageFacts* row = stage(event.stage.job, event.stage.stage);
  if (row == nullptr) {  // a stage of another job that this job runs itself
    TryFacts& owner = tries_.back();
    stage_of_name_[event.stage.stage] = owner.stages.size();
    owner.stages.emplace_back();
    row = &owner.stages.back();
    row->name = event.stage.stage;
    row->sink = false;
    row->copy = true;
    adopt(owner, owner.stages.size() - 1);
  }
  row->uncounted = false;
  row->attempts.push_back({.attempt = event.stage.attempt.value_or(0),
                           .submit_ns = now_,
                           .end_ns = std::nullopt,
                           .status = model::StageStatus::success,
                           .reason = std::nullopt});
}

// "q.map" is the job's own run of q/map: its readers read it from now on.
void ExplainFacts::adopt(TryFacts& row, std::size_t copy) const {
  const std::string_view name = names_->text(row.stages[copy].name);
  for (std::size_t f = 0; f < row.foreign.size(); ++f) {
    std::string edge(names_->text(row.foreign[f].edge));
    edge[edge.find('/')] = '.';
    if (edge != name) {
      continue;
    }
    row.stages[copy].copy_of = f;
    for (StageFacts& reader : row.stages) {
      if (std::ranges::find(reader.foreign, f) != reader.foreign.end()) {
        reader.regular.push_back(copy);
      }
    }
  }
}

void ExplainFacts::apply(const model::StageCompleted& event) {
  work_.stage_completed(event);
  note_foreign(event);
  StageFacts* row = stage(event.stage.job, event.stage.stage);
  if (row == nullptr) {
    return;
  }
  const auto found =
      std::ranges::find(row->attempts, event.stage.attempt.value_or(0), &StageAttempt::attempt);
  if (found != row->attempts.end()) {
    found->end_ns = now_;
    found->status = event.status;
    found->reason = event.reason;
  }
}

// Stages of other jobs that the request reads, whichever try of theirs completes them.
void ExplainFacts::note_foreign(const model::StageCompleted& event) {
  if (!live_ || tries_.back().foreign.empty() || event.status != model::StageStatus::success) {
    return;
  }
  for (ForeignStage& foreign : tries_.back().foreign) {
    if (foreign.stage == names_->text(event.stage.stage) &&
        foreign.job == request_of(names_->text(event.stage.job))) {
      foreign.done.emplace_back(now_, event.stage.job);
    }
  }
}

// ---- tasks and their slots ----

void ExplainFacts::apply(const model::TaskStart& event) {
  const LiveStage* live = work_.find(event.task.job, event.task.stage);
  ledger_.start(event.task.executor, live == nullptr ? 0 : live->profile, event.task.size());
  work_.task_started(event);
  hold(event.task.job, event.task.executor, event.task.size());
  const model::Duration shared = shared_until_now(event.task.executor);
  StageFacts* row = stage(event.task.job, event.task.stage);
  if (row == nullptr) {
    if (live_ && order_[event.task.job] > order_[tries_.back().job]) {
      const auto found = executors_.find(event.task.executor);
      started_now_.emplace_back(event.task.job, found == executors_.end()
                                                    ? unbound
                                                    : found->second.profile.value_or(unbound));
    }
    return;
  }
  TryFacts& owner = tries_.back();
  TaskRun run;
  run.stage = static_cast<std::size_t>(row - owner.stages.data());
  run.attempt = event.task.attempt;
  run.partition = event.task.partition;
  run.more = event.task.more;
  run.try_number = event.task.try_number;
  run.executor = event.task.executor;
  run.start_ns = now_;
  run.shared_ns = -shared;  // until its end is known
  run_of_task_[key_of(run)] = owner.runs.size();
  row->runs.push_back(owner.runs.size());
  owner.runs.push_back(run);
}

void ExplainFacts::apply(const model::TaskEnd& event) {
  const LiveStage* live = work_.find(event.task.job, event.task.stage);
  if (!event.slot) {
    ledger_.give_back(event.task.executor, live == nullptr ? 0 : live->profile, event.task.size());
    hold(event.task.job, event.task.executor, -std::int64_t{event.task.size()});
  }
  const model::Duration shared = shared_until_now(event.task.executor);
  work_.task_ended(event);
  StageFacts* row = stage(event.task.job, event.task.stage);
  if (row == nullptr) {
    return;
  }
  row->uncounted = row->uncounted || !event.counted.value_or(true);
  TryFacts& owner = tries_.back();
  TaskRun ended;
  ended.stage = static_cast<std::size_t>(row - owner.stages.data());
  ended.attempt = event.task.attempt;
  ended.partition = event.task.partition;
  ended.try_number = event.task.try_number;
  const auto found = run_of_task_.find(key_of(ended));
  if (found == run_of_task_.end()) {
    return;
  }
  TaskRun& run = owner.runs[found->second];
  run.end_ns = now_;
  run.shared_ns += shared;
  run.status = event.status;
  run.reason = event.reason;
  run.counted = event.counted.value_or(true);
  run_of_task_.erase(found);
  if (event.status != model::TaskStatus::success) {
    changed_ = true;
  }
}

void ExplainFacts::apply(const model::SlotReturned& event) {
  ledger_.give_back(event.executor, ledger_.profile(event.profile), event.count);
  hold(event.job, event.executor, -event.count);
  shared_until_now(event.executor);
}

void ExplainFacts::apply(const model::OutputsLost& event) {
  work_.outputs_lost(event);
  if (const StageFacts* row = stage(event.job, event.stage); row != nullptr) {
    TryFacts& owner = tries_.back();
    owner.losses.push_back({.t = now_,
                            .stage = static_cast<std::size_t>(row - owner.stages.data()),
                            .executor = event.executor});
  }
}

void ExplainFacts::apply(const model::Reservation& event) {
  const std::array<std::uint64_t, 4> key = {event.job.value, event.stage.value,
                                            event.executor.value, event.profile.value};
  std::int64_t& slots = reserved_[key];
  const std::int64_t delta = event.slots - slots;
  ledger_.reserve(event.executor, ledger_.profile(event.profile), delta);
  if (delta != 0) {
    hold(event.job, event.executor, delta);
  }
  slots = event.slots;
  if (slots == 0) {
    reserved_.erase(key);
  }
}

}  // namespace rehearse::reports
