// Which places there are, and what of a journal counts as having been there.
#include "tests/random/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/support/check.hpp"
#include "model/support/enum_names.hpp"

namespace rehearse::testing {

namespace {

// Every one of these must be reached by a campaign of some thousand runs.
constexpr auto places = std::to_array<std::string_view>({
    "group admitted",
    "rest of an executor reserved",
    "shared slots returned together",
    "slots held by a bulk request",
    "two bulk requests hold at once",
    "held slots given up while waiting",
    "bulk request admitted with what it held",
    "bulk request timed out",
    "executor asked for",
    "idle executor left",
    "two groups admitted at one instant",
    "group waited for slots",
    "group waited for inputs",
    "group backfilled behind a head",
    "stage backfilled behind a head",
    "ready group lost an input",
    "group committed",
    "group of demand 0 committed",
    "member finished",
    "group failed: TASK_FAILED",
    "group failed: EXECUTOR_LOST",
    "group failed: FETCH_FAILED",
    "group failed in its replay window",
    "group cancelled: queued",
    "group cancelled: running",
    "committed group rerun",
    "outputs registered",
    "outputs lost",
    "output committed",
    "output discarded",
    "stage resubmitted",
    "stage resubmitted in part",
    "stage without tasks",
    "takeover run",
    "stage failed: fetch_failed",
    "stage failed: incomplete",
    "stage failed: task_failed",
    "stage failed: executor_lost",
    "task failed: exception",
    "task failed: fetch_failed",
    "task failed: result_lost",
    "task failed: out_of_memory",
    "task failed: commit_denied",
    "task failed: executor_lost",
    "task killed: external",
    "task killed: group_failed",
    "task killed: job_ended",
    "task killed: cancelled",
    "task killed: other_attempt",
    "task retried",
    "straggler counted",
    "straggler uncounted",
    "copy started",
    "copy won",
    "copy lost to the original",
    "copy failed",
    "copy on a lost executor",
    "original failed beside its copy",
    "copied again",
    "slice started",
    "slice tried again",
    "slice counted in part",
    "slice uncounted",
    "slice failed",
    "slice killed",
    "slice on a lost executor",
    "slots of a slice held after a kill",
    "collapse stage",
    "success uncounted",
    "slot held after a kill",
    "executor lost: process",
    "executor lost: host",
    "executor lost: decommission",
    "executor lost: exit_by_app",
    "executor held",
    "executor joined later",
    "job succeeded",
    "job resubmitted",
    "job cancelled",
    "job failed: INSUFFICIENT_SLOTS",
    "job failed: ADMISSION_TIMEOUT",
    "job failed: TASK_FAILED",
    "job failed: EXECUTOR_LOST",
    "job failed: FETCH_FAILED",
    "job failed: STAGE_ATTEMPTS_EXCEEDED",
    "job failed: DEADLOCK",
    "horizon",
    "rejected: INSUFFICIENT_SLOTS",
    "rejected: DAG_CYCLE",
    "rejected: GROUP_CYCLE",
    "rejected: REGULAR_INSIDE_GROUP",
    "rejected: SHARED_PRODUCER",
    "rejected: FAN_OUT",
    "rejected: BARRIER_MEMBER",
    "rejected: DYNAMIC_ALLOCATION",
    "rejected: SPECULATION",
    "rejected: PUSH_MERGE",
    "rejected: INDETERMINATE_PRODUCER",
    "rejected: CHECKSUM_RETRY",
    "rejected: CACHED_MEMBER",
    "rejected: CHECKPOINTED_MEMBER",
    "rejected: ADAPTIVE_EXCHANGE",
    "rejected: NON_IDEMPOTENT_COMMIT",
    "rejected: NO_EXECUTORS",
    "rejected for several codes",
});

template <class Enum>
std::string with(std::string_view what, Enum value) {
  return std::string(what) + ": " + std::string(model::name_of(value));
}

}  // namespace

Reached::Reached() {
  for (const std::string_view place : places) {
    counts_.emplace(place, 0);
  }
}

void Reached::add(std::string_view place, std::int64_t count) {
  const auto found = counts_.find(place);
  if (found == counts_.end()) {
    counts_.emplace(place, count);
  } else {
    found->second += count;
  }
}

void Reached::add(const Reached& other) {
  for (const auto& [place, count] : other.counts_) {
    add(place, count);
  }
}

std::vector<std::string> Reached::missed() const {
  std::vector<std::string> list;
  for (const std::string_view place : places) {
    if (counts_.find(place)->second == 0) {
      list.emplace_back(place);
    }
  }
  return list;
}

namespace {

// A4: a trial that starts with what tasks prefer may miss every packing, on an idle cluster too.
// The wait that never ends is reported, as it must be (W5); it is no bug of the core.
bool preferences_can_spoil(const model::Scenario& scenario) {
  const auto& executors = scenario.cluster.executors;
  const bool unbound = std::ranges::any_of(
      executors, [](const model::ExecutorSpec& spec) { return !spec.profile.valid(); });
  return unbound && scenario.cluster.profiles.size() > 1 &&
         std::ranges::any_of(scenario.jobs, [](const model::JobSpec& job) {
           return std::ranges::any_of(
               job.stages, [](const model::StageSpec& stage) { return !stage.prefers.empty(); });
         });
}

}  // namespace

std::vector<std::string> certain_violations(const std::vector<model::Violation>& violations,
                                            const model::Scenario& scenario,
                                            const Reached& of_run) {
  const bool hidden =
      scenario.cluster.profiles.size() > 1 && of_run.counts().find("takeover run")->second > 0;
  std::vector<std::string> lines;
  for (const model::Violation& violation : violations) {
    const bool of_slots = violation.property == "LEDGER" || violation.property == "QUIESCENT" ||
                          violation.property == "CLAIMS_MATCH";
    const bool spoiled = violation.property == "PROGRESS" && preferences_can_spoil(scenario) &&
                         violation.detail.find("DEADLOCK") != std::string::npos;
    if (!spoiled && (!hidden || !of_slots)) {
      lines.push_back(
          fmt::format("{} at {} ns: {}", violation.property, violation.t, violation.detail));
    }
  }
  return lines;
}

Tally::Tally(const model::Scenario& scenario, Reached& reached)
    : backfills_(scenario.scheduler.admission.overtake == model::Overtake::backfill),
      shares_(scenario.scheduler.accounting != model::Accounting::sum),
      bulk_(scenario.scheduler.admission.hold == model::Hold::bulk),
      reached_(reached) {
  for (const model::JobSpec& job : scenario.jobs) {
    for (const model::StageSpec& stage : job.stages) {
      if (stage.width) {
        gathers_.insert({job.name.value, stage.name.value});
      }
    }
  }
}

void Tally::begin(const model::NameTable& names) { names_ = &names; }

void Tally::on(const model::Event& event) {
  if (event.t != instant_) {
    instant_ = event.t;
    groups_this_instant_ = 0;
  }
  const int number = event.number();
  if (number >= model::event_number<model::ExecutorAdded>() &&
      number <= model::event_number<model::ExecutorReleased>()) {
    on_executor(event);
  } else if (number >= model::event_number<model::JobSubmitted>() &&
             number <= model::event_number<model::JobEnd>()) {
    on_job(event);
  } else if (number >= model::event_number<model::GroupFormed>() &&
             number <= model::event_number<model::GroupCancelled>()) {
    on_group(event);
  } else {
    on_stage(event);
    on_task(event);
  }
}

void Tally::on_executor(const model::Event& event) {
  if (const auto* lost = event.as<model::ExecutorLost>()) {
    reached_.add(with("executor lost", lost->cause));
    if (lost->cause == model::LossCause::decommission && is_autoscaled(lost->executor)) {
      reached_.add("idle executor left");
    }
  } else if (event.as<model::ExecutorHeld>() != nullptr) {
    reached_.add("executor held");
  } else if (const auto* added = event.as<model::ExecutorAdded>();
             added != nullptr && is_autoscaled(added->executor)) {
    reached_.add("executor asked for");
  } else if (added != nullptr && event.t > 0) {
    reached_.add("executor joined later");
  }
}

bool Tally::is_autoscaled(model::NameId executor) const {
  return names_->text(executor).starts_with("auto");
}

void Tally::on_job(const model::Event& event) {
  if (const auto* line = event.as<model::JobSubmitted>()) {
    for (const model::StageItem& stage : line->stages) {
      units_[{line->job.value, stage.name.value}] = {.rank = next_rank_++};
    }
    if (names_->text(line->job).find('#') != std::string_view::npos) {
      reached_.add("job resubmitted");
    }
  } else if (const auto* rejected = event.as<model::JobRejected>()) {
    for (const model::Code code : rejected->codes) {
      reached_.add(with("rejected", code));
    }
    if (rejected->codes.size() > 1) {
      reached_.add("rejected for several codes");
    }
  } else if (const auto* end = event.as<model::JobEnd>()) {
    if (end->outcome == model::JobOutcome::failed) {
      reached_.add(with("job failed", *end->code));
      const bool timed_out = names_->text(end->detail).find("bulk timeout") != std::string::npos;
      reached_.add("bulk request timed out", timed_out ? 1 : 0);
    } else {
      reached_.add(end->outcome == model::JobOutcome::succeeded ? "job succeeded"
                                                                : "job cancelled");
    }
    for (auto& [key, unit] : units_) {
      unit.waiting = unit.waiting && key.first != end->job.value;
    }
  }
}

void Tally::on_group(const model::Event& event) {
  if (const auto* formed = event.as<model::GroupFormed>()) {
    for (const model::NameId stage : formed->stages) {
      leader_[{formed->job.value, stage.value}] = {formed->job.value, formed->stage.value};
      units_[{formed->job.value, stage.value}].member = true;
    }
  } else if (const auto* queued = event.as<model::GroupQueued>()) {
    Unit& unit = units_[{queued->job.value, queued->stage.value}];
    const bool for_slots = queued->reason == model::QueuedReason::slots;
    reached_.add(for_slots ? "group waited for slots" : "group waited for inputs");
    if (!for_slots && unit.waiting) {
      reached_.add("ready group lost an input");
    }
    unit.waiting = for_slots;
  } else if (const auto* admitted = event.as<model::GroupAdmitted>()) {
    Unit& unit = units_[{admitted->group.job.value, admitted->group.stage.value}];
    unit.waiting = unit.replays = false;
    reached_.add("group admitted");
    if (admitted->slots.empty()) {
      reached_.add("group of demand 0 committed");
    } else if (backfills_ && behind_a_head(unit.rank)) {
      reached_.add("group backfilled behind a head");
    }
    if (admitted->group.attempt.value_or(0) > 0) {
      reached_.add("committed group rerun");
    }
    if (++groups_this_instant_ == 2) {
      reached_.add("two groups admitted at one instant");
    }
  } else if (event.as<model::GroupCommitted>() != nullptr) {
    reached_.add("group committed");
  } else if (const auto* failed = event.as<model::GroupFailed>()) {
    reached_.add(with("group failed", failed->cause));
    if (units_[{failed->group.job.value, failed->group.stage.value}].replays) {
      reached_.add("group failed in its replay window");
    }
  } else if (const auto* cancelled = event.as<model::GroupCancelled>()) {
    Unit& unit = units_[{cancelled->group.job.value, cancelled->group.stage.value}];
    unit.waiting = false;
    reached_.add(cancelled->group.attempt ? "group cancelled: running" : "group cancelled: queued");
  }
}

void Tally::on_stage(const model::Event& event) {
  if (const auto* submitted = event.as<model::StageSubmitted>()) {
    const model::StageRef& stage = submitted->stage;
    Unit& unit = units_[{stage.job.value, stage.stage.value}];
    unit.attempt = stage.attempt.value_or(0);
    if (!unit.member && unit.attempt > 0) {
      reached_.add(submitted->partitions ? "stage resubmitted in part" : "stage resubmitted");
    }
    if (submitted->tasks == 0) {
      reached_.add("stage without tasks");
    }
    if (names_->text(stage.stage).find('.') != std::string_view::npos) {
      reached_.add("takeover run");
    }
  } else if (const auto* completed = event.as<model::StageCompleted>()) {
    if (completed->status == model::StageStatus::failed &&
        completed->reason != model::StageReason::group_failed) {
      reached_.add(with("stage failed", *completed->reason));
    }
  } else if (const auto* finished = event.as<model::MemberFinished>()) {
    reached_.add("member finished");
    units_[leader_[{finished->stage.job.value, finished->stage.stage.value}]].replays = true;
  } else if (event.as<model::OutputsRegistered>() != nullptr) {
    reached_.add("outputs registered");
  } else if (const auto* lost = event.as<model::OutputsLost>()) {
    reached_.add("outputs lost");
    for (const model::Range& range : lost->partitions) {
      for (std::int32_t p = range.first; p <= range.last; ++p) {
        done_.erase({lost->job.value, lost->stage.value, p});
      }
    }
  } else if (event.as<model::OutputCommitted>() != nullptr) {
    reached_.add("output committed");
  } else if (event.as<model::OutputDiscarded>() != nullptr) {
    reached_.add("output discarded");
  } else if (const auto* end = event.as<model::RunEnd>()) {
    reached_.add("horizon", end->cause == model::RunEndCause::horizon ? 1 : 0);
  }
}

void Tally::on_task(const model::Event& event) {
  if (const auto* start = event.as<model::TaskStart>()) {
    const Unit& unit = units_[{start->task.job.value, start->task.stage.value}];
    if (start->speculative) {
      on_copy_start(start->task);
    } else if (start->task.try_number > 0) {
      reached_.add("task retried");
    }
    on_slice_start(start->task);
    if (!unit.member && backfills_ && behind_a_head(unit.rank)) {
      reached_.add("stage backfilled behind a head");
    }
    return;
  }
  if (const auto* line = event.as<model::Reservation>()) {
    on_reservation(*line);
  }
  if (const auto* line = event.as<model::SlotReturned>();
      shares_ && line != nullptr && line->count > 1) {
    reached_.add("shared slots returned together");
  }
  const auto* end = event.as<model::TaskEnd>();
  if (end == nullptr) {
    return;
  }
  on_try_end(*end);
  on_slice_end(*end);
  if (end->slot && end->status == model::TaskStatus::killed) {
    reached_.add("slot held after a kill");
  }
  if (end->status != model::TaskStatus::success) {
    reached_.add(with(end->status == model::TaskStatus::failed ? "task failed" : "task killed",
                      *end->reason));
    return;
  }
  const bool counted = end->counted.value_or(true);
  const Unit& unit = units_[{end->task.job.value, end->task.stage.value}];
  if (end->task.attempt < unit.attempt) {
    reached_.add(counted ? "straggler counted" : "straggler uncounted");
  }
  reached_.add("success uncounted", counted ? 0 : 1);
}

void Tally::on_reservation(const model::Reservation& line) {
  if (!bulk_) {
    reached_.add("rest of an executor reserved", line.delta > 0 ? 1 : 0);
    return;
  }
  const StageKey gang{line.job.value, line.stage.value};
  held_[gang] += line.delta;
  if (line.delta > 0) {
    reached_.add("slots held by a bulk request");
    const auto holding =
        std::ranges::count_if(held_, [](const auto& one) { return one.second > 0; });
    reached_.add("two bulk requests hold at once", holding > 1 ? 1 : 0);
  } else {
    reached_.add(units_[gang].waiting ? "held slots given up while waiting"
                                      : "bulk request admitted with what it held");
  }
}

void Tally::on_slice_start(const model::TaskRef& task) {
  if (task.more > 0) {
    reached_.add(task.try_number > 0 ? "slice tried again" : "slice started");
  }
  if (gathers_.contains({task.job.value, task.stage.value})) {
    reached_.add("collapse stage");
  }
}

void Tally::on_slice_end(const model::TaskEnd& end) {
  const model::TaskRef& task = end.task;
  const bool success = end.status == model::TaskStatus::success;
  const bool counts = success && end.counted.value_or(true);
  bool done_elsewhere = false;
  for (std::int32_t p = task.partition; counts && p <= task.last(); ++p) {
    const bool fresh = done_.insert({task.job.value, task.stage.value, p}).second;
    done_elsewhere = done_elsewhere || !fresh;
  }
  if (task.more == 0) {
    return;
  }
  if (success) {
    reached_.add("slice counted in part", done_elsewhere ? 1 : 0);
    reached_.add("slice uncounted", counts ? 0 : 1);
  } else if (end.status == model::TaskStatus::killed) {
    reached_.add("slice killed");
    reached_.add("slots of a slice held after a kill", end.slot ? 1 : 0);
  } else {
    reached_.add(end.reason == model::TaskReason::executor_lost ? "slice on a lost executor"
                                                                : "slice failed");
  }
}

void Tally::on_copy_start(const model::TaskRef& task) {
  reached_.add("copy started");
  const int copies = ++copies_[{task.job.value, task.stage.value, task.attempt, task.partition}];
  reached_.add("copied again", copies > 1 ? 1 : 0);
}

void Tally::on_try_end(const model::TaskEnd& end) {
  const model::TaskRef& task = end.task;
  const bool success = end.status == model::TaskStatus::success;
  if (end.speculative) {
    if (success) {
      reached_.add("copy won", end.counted.value_or(true) ? 1 : 0);
    } else if (end.reason == model::TaskReason::other_attempt) {
      reached_.add("copy lost to the original");
    } else if (end.reason == model::TaskReason::executor_lost) {
      reached_.add("copy on a lost executor");
    } else if (end.status == model::TaskStatus::failed) {
      reached_.add("copy failed");
    }
  } else if (end.status == model::TaskStatus::failed &&
             copies_.contains({task.job.value, task.stage.value, task.attempt, task.partition})) {
    reached_.add("original failed beside its copy");
  }
}

bool Tally::behind_a_head(std::int64_t rank) const {
  for (const auto& [key, unit] : units_) {
    if (unit.waiting && unit.rank < rank) {
      return true;
    }
  }
  return false;
}

}  // namespace rehearse::testing
