// registry: none (a part of the reader of Spark event logs)
// See spark_apply.hpp.
#include "traces/spark_apply.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace rehearse::traces {
namespace {

std::uint32_t cut32(std::int64_t value) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::uint32_t>::max()));
}

SparkAttempt* attempt_of(SparkStage& stage, std::int64_t id) {
  const auto found = std::find_if(stage.attempts.begin(), stage.attempts.end(),
                                  [&](const SparkAttempt& known) { return known.id == id; });
  return found == stage.attempts.end() ? nullptr : &*found;
}

void note_launch(SparkExecutor& executor, const SparkStage& stage, std::int64_t at_ms) {
  executor.first_launch_ms = std::min(executor.first_launch_ms.value_or(at_ms), at_ms);
  if (!executor.seen_profile) {
    executor.seen_profile = stage.profile;
  }
}

}  // namespace

void SparkTasks::resize(std::size_t tasks) {
  if (finish_ms.size() >= tasks) {
    return;
  }
  finish_ms.resize(tasks, no_success);
  task_id.resize(tasks, 0);
  duration_ms.resize(tasks, 0);
  parts.resize(tasks);
}

void SparkApply::warn(std::string_view what, std::string_view detail) {
  log_.warnings.add(what, place_, detail);
}

SparkStage& SparkApply::stage_of(std::int64_t id) {
  if (last_stage_ == nullptr || last_stage_->id != id) {
    last_stage_ = &log_.stages.try_emplace(id).first->second;
    last_stage_->id = id;
  }
  return *last_stage_;
}

SparkStage& SparkApply::declare(SparkStageInfo& info) {
  SparkStage& stage = stage_of(*info.id);
  log_.parents_logged = log_.parents_logged || info.parents.has_value();
  if (stage.declared) {
    return stage;
  }
  stage.declared = true;
  stage.label = std::move(info.label);
  stage.tasks = std::max(*info.tasks, stage.tasks);
  stage.rdds = std::move(info.rdds);
  stage.profile = info.profile;
  stage.barrier = info.barrier;
  stage.indeterminate = info.indeterminate;
  if (info.parents) {
    stage.parents = std::move(*info.parents);
  }
  return stage;
}

SparkExecutor& SparkApply::executor_of(const SparkTaskInfo& task) {
  const auto found = log_.executor_index.find(task.executor);
  if (found != log_.executor_index.end()) {
    return log_.executors[found->second];
  }
  log_.executor_index.emplace(task.executor, log_.executors.size());
  SparkExecutor& executor = log_.executors.emplace_back();
  executor.id = task.executor;
  executor.host = task.host;
  return executor;
}

void SparkApply::executor_added(SparkExecutor added) {
  ++log_.counts.executors;
  const auto found = log_.executor_index.find(added.id);
  if (found == log_.executor_index.end()) {
    log_.executor_index.emplace(added.id, log_.executors.size());
    log_.executors.push_back(std::move(added));
    return;
  }
  SparkExecutor& known = log_.executors[found->second];
  if (!known.added_ms) {  // it was seen running tasks before its own line came
    added.first_launch_ms = known.first_launch_ms;
    added.seen_profile = known.seen_profile;
    added.running = known.running;
    added.running_max = known.running_max;
    known = std::move(added);
    return;
  }
  if (known.added_ms == added.added_ms && known.cores == added.cores) {
    warn("executor registered twice with the same line");
    return;
  }
  if (!known.removed_ms) {
    warn("executor id registered again; the later registration counts from its time", known.id);
    known.removed_ms = std::max(*known.added_ms, *added.added_ms);
    known.removed_reason = "registered again";
  }
  found->second = log_.executors.size();
  log_.executors.push_back(std::move(added));
}

void SparkApply::executor_removed(const SparkExecutorRemoved& removed) {
  const auto found = log_.executor_index.find(removed.id);
  if (found == log_.executor_index.end()) {
    warn("removal of an executor that was never seen", removed.id);
    return;
  }
  SparkExecutor& executor = log_.executors[found->second];
  executor.removed_ms = removed.at_ms;
  executor.removed_reason = removed.reason;
}

bool SparkApply::job_start(SparkJobStart start) {
  ++log_.counts.jobs;
  const auto known = log_.jobs.find(start.job.id);
  if (known != log_.jobs.end()) {
    warn("job start repeated");
    return known->second.stages == start.job.stages &&
           known->second.submitted_ms == start.job.submitted_ms;
  }
  for (SparkStageInfo& info : start.stages) {
    declare(info);
  }
  const std::int64_t id = start.job.id;
  log_.jobs.emplace(id, std::move(start.job));
  return true;
}

void SparkApply::job_end(const SparkJobEnd& end) {
  const auto job = log_.jobs.find(end.job);
  if (job == log_.jobs.end()) {
    ++log_.job_ends_alone;
    warn("job end without a job start: the job is left out", "job " + std::to_string(end.job));
    return;
  }
  job->second.ended = true;
  job->second.succeeded = end.succeeded;
  job->second.completed_ms = end.completed_ms;
}

void SparkApply::stage_submitted(SparkStageInfo info) {
  SparkStage& stage = declare(info);
  ++log_.counts.stages;
  if (attempt_of(stage, info.attempt) != nullptr) {
    warn("stage attempt submitted twice");
    return;
  }
  stage.attempts.push_back({info.attempt, info.submitted_ms, std::nullopt});
}

void SparkApply::stage_completed(SparkStageInfo info) {
  SparkStage& stage = declare(info);
  SparkAttempt* attempt = attempt_of(stage, info.attempt);
  if (attempt == nullptr) {
    warn("stage completed that was never submitted");
    attempt = &stage.attempts.emplace_back();
    attempt->id = info.attempt;
  }
  if (!attempt->submitted_ms) {
    attempt->submitted_ms = info.submitted_ms;
  }
  attempt->completed_ms = info.completed_ms;
}

void SparkApply::task_start(const SparkTaskStart& start) {
  SparkStage& stage = stage_of(start.stage);
  ++stage.tasks_started;
  const std::int64_t launch = *start.task.launch_ms;
  stage.first_launch_ms = std::min(stage.first_launch_ms.value_or(launch), launch);
  SparkExecutor& executor = executor_of(start.task);
  note_launch(executor, stage, launch);
  executor.running_max = std::max(executor.running_max, ++executor.running);
}

void SparkApply::task_end(const SparkTaskEnd& end, std::int64_t partition) {
  ++log_.counts.tasks;
  ++log_.counts.task_ends[end.reason];
  if (end.reason == "Resubmitted") {
    executor_of(end.task).lost_tasks = true;
    return;  // a task that had succeeded and whose output is lost; its new try has its own lines
  }
  SparkStage& stage = stage_of(*end.stage);
  ++stage.tasks_ended;
  stage.writes_shuffle = stage.writes_shuffle || end.writes_shuffle;
  SparkExecutor& executor = executor_of(end.task);
  note_launch(executor, stage, *end.task.launch_ms);
  executor.running = std::max<std::int64_t>(0, executor.running - 1);
  executor.running_max = std::max<std::int64_t>(executor.running_max, 1);
  const std::int64_t launch = *end.task.launch_ms;
  stage.first_launch_ms = std::min(stage.first_launch_ms.value_or(launch), launch);
  if (end.task.finish_ms > 0) {
    stage.last_finish_ms = std::max(stage.last_finish_ms.value_or(launch), end.task.finish_ms);
  }
  if (end.reason == "Success") {
    success(stage, end, partition);
  } else {
    failure(stage, executor, end, partition);
  }
}

void SparkApply::success(SparkStage& stage, const SparkTaskEnd& end, std::int64_t partition) {
  if (partition >= stage.tasks) {
    if (stage.declared) {
      warn("task of a partition that its stage does not have");
      return;
    }
    stage.tasks = partition + 1;
  }
  const auto tasks = static_cast<std::size_t>(stage.tasks);
  stage.done.resize(stage.declared ? tasks : std::bit_ceil(tasks));
  std::int64_t duration = end.task.finish_ms - *end.task.launch_ms;
  if (duration < 0) {
    warn("T010: task that finished before its launch; its duration counts as 0");
    duration = 0;
  }
  const auto p = static_cast<std::size_t>(partition);
  const auto id = static_cast<std::uint32_t>(static_cast<std::uint64_t>(*end.task.id));
  SparkTasks& done = stage.done;
  if (done.finish_ms[p] != SparkTasks::no_success && done.task_id[p] == id) {
    warn("task end repeated");
    return;
  }
  constexpr std::int64_t bytes_max = std::int64_t{1} << 60U;
  stage.read_bytes = std::min(bytes_max, stage.read_bytes + end.metrics.read_bytes);
  stage.written_bytes = std::min(bytes_max, stage.written_bytes + end.metrics.written_bytes);
  stage.last_success_ms =
      std::max(stage.last_success_ms.value_or(end.task.finish_ms), end.task.finish_ms);
  if (done.finish_ms[p] > end.task.finish_ms) {
    return;
  }
  done.finish_ms[p] = end.task.finish_ms;
  done.task_id[p] = id;
  done.duration_ms[p] = cut32(duration);
  if (end.metrics.present) {
    const SparkTaskMetrics& m = end.metrics;
    done.parts.deserialize_us[p] = cut32(m.deserialize_ms * 1000);
    done.parts.fetch_wait_us[p] = cut32(m.fetch_wait_ms * 1000);
    done.parts.write_us[p] = cut32(m.write_ns / 1000);
    done.parts.serialize_us[p] = cut32(m.serialize_ms * 1000);
    done.parts.rest_us[p] = cut32((duration - m.deserialize_ms - m.run_ms - m.serialize_ms) * 1000);
  }
}

void SparkApply::failure(SparkStage& stage, SparkExecutor& executor, const SparkTaskEnd& end,
                         std::int64_t partition) {
  if (end.reason == "TaskKilled") {
    return;
  }
  ++log_.counts.failed_tasks;
  executor.lost_tasks = executor.lost_tasks || end.reason == "ExecutorLostFailure";
  SparkFailure failed;
  failed.partition = partition;
  failed.stage_attempt = static_cast<std::int32_t>(end.stage_attempt);
  failed.try_number = static_cast<std::int32_t>(end.task.attempt);
  failed.after_ms = std::max<std::int64_t>(0, end.task.finish_ms - *end.task.launch_ms);
  failed.fetch = end.reason == "FetchFailed";
  failed.kind = end.reason == "TaskResultLost"     ? model::TaskFaultKind::result_lost
                : end.reason == "TaskCommitDenied" ? model::TaskFaultKind::commit_denied
                                                   : model::TaskFaultKind::exception;
  stage.failures.push_back(failed);
}

}  // namespace rehearse::traces
