// Nothing is tried for ever (VE-L6, VE-L7): within one instant nothing comes back to where it was
// more often than all budgets together allow, and the budgets of the run line are kept: tries of a
// task and attempts of a stage (X9), reruns of a group (X16, X10), checks under `retry` (A6).
// registry: NO_LIVELOCK
//
// Delays of one unit are kept, too: that of rerun-group, and the interval of `retry`, between whose
// timers nobody looks. `resubmit_delay` is one timer for all stages of a job that wait for it, so
// that one of them may wait for less: not judged.
#include <fmt/format.h>

#include <algorithm>

#include <map>
#include <tuple>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

// Repeats within one instant that no budget explains: causes from outside (a task that is killed
// again and again) have none.
constexpr std::int64_t repeats_spare = 100;

class NoLivelock final : public MonitorOf<NoLivelock> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::TaskStart, model::TaskEnd, model::StageSubmitted, model::StageCompleted,
                 model::GroupQueued, model::GroupAdmitted, model::GroupFailed,
                 model::GroupCancelled, model::JobEnd, model::ExecutorAdded, model::ExecutorLost,
                 model::ExecutorHeld>();
  }

  // A plain success ends nothing that was counted.
  [[nodiscard]] PlainTasks wants_plain_starts() const override { return PlainTasks::none; }
  [[nodiscard]] PlainTasks wants_plain_ends() const override { return PlainTasks::none; }

  void task_start(const model::TaskStart& event, const Seen& seen) override {
    const bool first = event.task.try_number == 0 || tries_.empty();
    if (first || event.speculative) {
      return;
    }
    for (std::int32_t p = event.task.partition; p <= event.task.last(); ++p) {
      const auto at = tries_.find(key_of(p, seen));
      if (at != tries_.end() && at->second.attempt == event.task.attempt &&
          at->second.counted >= config().failure.max_task_failures) {
        found(fmt::format("{} is tried again after {} failures of {} (X9)",
                          track().name(event.task), at->second.counted,
                          config().failure.max_task_failures));
        return;
      }
    }
  }

  void task_end(const model::TaskEnd& event, const Seen& seen) override {
    using enum model::TaskReason;
    if (event.status == model::TaskStatus::killed && event.reason != external) {
      return;
    }
    // Late successes complete a stage without a line, when its attempt had failed before.
    if (event.status == model::TaskStatus::success && !attempts_.empty() &&
        event.counted.value_or(true) &&
        seen.stage->outputs + fresh(event.task, seen) >= seen.stage->tasks) {
      attempts_.erase({seen.job_index, stage_index(seen)});
    }
    for (std::int32_t p = event.task.partition; p <= event.task.last(); ++p) {
      if (event.task.more > 0 && seen.at(event.task, p).done) {
        continue;  // A21: another try did it
      }
      if (event.status != model::TaskStatus::success) {
        count_failure(event, p, seen);
      } else if (event.task.try_number > 0 && event.counted.value_or(true)) {
        if (const auto at = tries_.find(key_of(p, seen)); at != tries_.end()) {
          at->second.counted = 0;  // what failed before a success is forgotten
        }
      }
    }
  }

  // Outputs that a success adds: of a slice those that no other try had made (A21).
  [[nodiscard]] static std::int64_t fresh(const model::TaskRef& task, const Seen& seen) {
    const auto partitions = seen.partitions(task);
    return task.more == 0 ? 1
                          : std::count_if(partitions.begin(), partitions.end(),
                                          [](const Partition& one) { return !one.output; });
  }

  void count_failure(const model::TaskEnd& event, std::int32_t p, const Seen& seen) {
    using enum model::TaskReason;
    Tries& tries = tries_[key_of(p, seen)];
    if (tries.attempt != event.task.attempt) {
      tries.attempt = event.task.attempt;
      tries.counted = 0;
    }
    tries.counted +=
        event.reason == exception || event.reason == result_lost || event.reason == out_of_memory
            ? 1
            : 0;
    if (repeats(tries.here)) {
      found(fmt::format("{} fails again and again within one instant (VE-L6)",
                        track().name(event.task)));
    }
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (event.as<model::ExecutorAdded>() != nullptr || event.as<model::ExecutorLost>() != nullptr ||
        event.as<model::ExecutorHeld>() != nullptr) {
      capacity_changed_at_ = track().now();
    } else if (const auto* submitted = event.as<model::StageSubmitted>()) {
      check_attempt(*submitted, seen);
    } else if (const auto* completed = event.as<model::StageCompleted>()) {
      count_attempt(*completed, seen);
    } else if (event.as<model::JobEnd>() != nullptr) {
      forget(seen.job_index);
    } else if (event.as<model::GroupQueued>() != nullptr) {
      on_queued(*event.as<model::GroupQueued>(), seen);
    } else if (event.as<model::GroupAdmitted>() != nullptr) {
      const bool waited = seen.group->state == GroupState::queued;
      // One that starts without waiting takes a look of its pass, too (A20).
      most_waiting_ = std::max(most_waiting_, waiting_ + (waited ? 0 : 1));
      waiting_ -= waited ? 1 : 0;
      on_admitted(seen);
    } else if (event.as<model::GroupFailed>() != nullptr) {
      Runs& runs = runs_of(seen);
      ++runs.failed;
      runs.failed_at = track().now();
    } else if (event.as<model::GroupCancelled>() != nullptr) {
      waiting_ -= seen.group->state == GroupState::queued ? 1 : 0;
      check_retry(seen, runs_of(seen));
    }
  }

 private:
  struct Here {  // how often in this instant
    std::uint64_t instant = no_time_slot;
    std::int64_t count = 0;
  };
  struct Tries {
    std::int32_t attempt = -1;
    std::int64_t counted = 0;  // failures that use up a try, in that attempt
    Here here;
  };
  struct Runs {  // of a group
    std::int64_t failed = 0;
    model::Instant failed_at = 0;
    std::int64_t after_commit = 0;
    std::int64_t queued = 0;
    model::Instant refused_at = 0;
    Here admitted;
    Here requeued;
  };
  using TaskKey = std::tuple<Index, Index, std::int32_t>;  // job, stage, partition
  using RowKey = std::tuple<Index, Index>;                 // job, stage or group

  [[nodiscard]] const model::SchedulerConfig& config() const { return track().rules().config; }

  [[nodiscard]] static Index stage_index(const Seen& seen) {
    return static_cast<Index>(seen.stage - seen.job->body->stages.data());
  }
  [[nodiscard]] static TaskKey key_of(std::int32_t partition, const Seen& seen) {
    return {seen.job_index, stage_index(seen), partition};
  }
  [[nodiscard]] Runs& runs_of(const Seen& seen) {
    return runs_[{seen.job_index, static_cast<Index>(seen.group - seen.job->body->groups.data())}];
  }

  // Once more in this instant: is that beyond what budgets explain? True once.
  [[nodiscard]] bool repeats(Here& here) const {
    if (here.instant != track().instant()) {
      here = {.instant = track().instant(), .count = 0};
    }
    const model::FailureConfig& failure = config().failure;
    const std::int64_t budget =
        failure.max_task_failures * failure.max_stage_attempts + failure.rerun_max;
    return ++here.count == budget + repeats_spare;
  }

  // X9 and SS-3.6: what counts are fetch failures, and every failure of a barrier stage.
  void count_attempt(const model::StageCompleted& event, const Seen& seen) {
    if (seen.group != nullptr && seen.group->gang_of_several()) {
      return;
    }
    const RowKey key{seen.job_index, stage_index(seen)};
    if (event.status == model::StageStatus::success) {
      attempts_.erase(key);
    } else if (event.status == model::StageStatus::failed &&
               (event.reason == model::StageReason::fetch_failed || seen.stage->barrier)) {
      ++attempts_[key];
    }
  }

  void check_attempt(const model::StageSubmitted& event, const Seen& seen) {
    const auto at = attempts_.find({seen.job_index, stage_index(seen)});
    if (at != attempts_.end() && at->second >= config().failure.max_stage_attempts) {
      found(fmt::format("{} is submitted again after {} failed attempts of {} (X9)",
                        track().name(event.stage), at->second,
                        config().failure.max_stage_attempts));
    }
  }

  void on_queued(const model::GroupQueued& event, const Seen& seen) {
    Runs& runs = runs_of(seen);
    ++runs.queued;
    waiting_ += seen.group->state == GroupState::queued ? 0 : 1;
    most_waiting_ = std::max(most_waiting_, waiting_);
    // One that lost an input in between is checked anew.
    runs.refused_at = event.reason == model::QueuedReason::slots ? track().now() : -1;
    if (repeats(runs.requeued)) {
      found(fmt::format("{} is queued again and again within one instant (VE-L6)",
                        track().name(*seen.job, *seen.group)));
    }
  }

  void on_admitted(const Seen& seen) {
    Runs& runs = runs_of(seen);
    const Group& group = *seen.group;
    const model::FailureConfig& failure = config().failure;
    const auto name = [&] { return track().name(*seen.job, group); };
    // A12: a barrier stage, a gang of one, runs again as SS-3.6 says, whatever the axis; how often
    // is a matter of its attempts.
    const bool several = group.gang_of_several();
    if (several && runs.failed > failure.rerun_max &&
        failure.group == model::GroupFailure::rerun_group) {
      found(fmt::format("{} runs again after {} failures, {} reruns are allowed (X16)", name(),
                        runs.failed, failure.rerun_max));
    }
    if (runs.failed > 0 && group.state == GroupState::failed &&
        track().now() - runs.failed_at < (several ? failure.rerun_delay : failure.resubmit_delay)) {
      found(fmt::format("{} runs again {} ns after its failure, before its delay (X16)", name(),
                        track().now() - runs.failed_at));
    }
    runs.after_commit += group.state == GroupState::committed ? 1 : 0;
    if (runs.after_commit > failure.max_stage_attempts) {
      found(fmt::format("{} runs again after its commit for the {}th time (X10)", name(),
                        runs.after_commit));
    }
    if (repeats(runs.admitted)) {
      found(fmt::format("{} is admitted again and again within one instant (VE-L6)", name()));
    }
    check_retry(seen, runs);
    const model::AdmissionConfig& admission = config().admission;
    // A20: what lies deeper than a pass goes waits for the next one.
    const bool judged = under_retry(runs, group) && runs.queued == 1 && group.waits &&
                        most_waiting_ <= admission.depth;
    if (judged && (track().now() - runs.refused_at) % admission.retry_interval != 0) {
      found(fmt::format("{} was admitted between two checks (A6)", name()));
    }
  }

  // Refused once, not run yet, and not starved meanwhile: a starved gang uses up no checks (A14,
  // VE-L7). Starved by trial it may be without a line that tells.
  [[nodiscard]] bool under_retry(const Runs& runs, const Group& group) const {
    const model::AdmissionConfig& admission = config().admission;
    if (admission.when_short != model::Short::retry || admission.retry_interval <= 0 ||
        group.attempt >= 0 || group.refused != 1 || capacity_changed_at_ > runs.refused_at) {
      return false;
    }
    const auto capacity = track().slots().idle_capacity();
    std::int64_t profiles = 0;
    for (std::size_t p = 0; p < group.demand.size(); ++p) {
      profiles += group.demand[p] > 0 ? 1 : 0;
      if (group.demand[p] > capacity[p]) {
        return false;
      }
    }
    return profiles <= 1 || !track().slots().has_unbound();
  }

  // A6: further checks only when the timer fires, at most max of them. One that lost an input in
  // between is checked anew, and one that lay too deep for a pass later (A20): both are left out.
  void check_retry(const Seen& seen, const Runs& runs) {
    const model::AdmissionConfig& admission = config().admission;
    const Group& group = *seen.group;
    if (!under_retry(runs, group) || group.state != GroupState::queued ||
        runs.refused_at != group.waits_since || most_waiting_ > admission.depth) {
      return;
    }
    const model::Duration waited = track().now() - runs.refused_at;
    if (waited / admission.retry_interval > admission.retry_max) {
      found(fmt::format("{} waits on after its last check (A6)", track().name(*seen.job, group)));
    }
  }

  void forget(Index job) {
    tries_.erase(tries_.lower_bound({job, 0, 0}), tries_.lower_bound({job + 1, 0, 0}));
    attempts_.erase(attempts_.lower_bound({job, 0}), attempts_.lower_bound({job + 1, 0}));
    runs_.erase(runs_.lower_bound({job, 0}), runs_.lower_bound({job + 1, 0}));
  }

  std::map<TaskKey, Tries> tries_;           // only of tasks that failed
  std::map<RowKey, std::int64_t> attempts_;  // consecutive, that count
  std::map<RowKey, Runs> runs_;
  std::int64_t waiting_ = 0;                 // gangs now,
  std::int64_t most_waiting_ = 0;            // and at any time so far
  model::Instant capacity_changed_at_ = -1;  // by executors that came, left or are to leave
};

}  // namespace

std::unique_ptr<Monitor> make_no_livelock(const Track& track) {
  return std::make_unique<NoLivelock>(track);
}

}  // namespace rehearse::properties
