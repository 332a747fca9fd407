// One event per call; see the header.
#include "tests/support/journal_builder.hpp"

#include "model/support/check.hpp"

namespace rehearse::testing {

namespace {

using namespace model;

std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const std::size_t slash = path.find('/');
  RH_CHECK(slash != std::string_view::npos);
  return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

StageRef JournalBuilder::stage_ref(std::string_view path, std::optional<std::int32_t> attempt) {
  const auto [job, stage] = split(path);
  return {id(job), id(stage), attempt};
}

TaskRef JournalBuilder::task_ref(const TrySpec& task) {
  const auto [job, rest] = split(task.task);
  const auto [stage, partition] = split(rest);
  return {.job = id(job),
          .stage = id(stage),
          .executor = id(task.executor),
          .attempt = task.attempt,
          .partition = static_cast<std::int32_t>(std::stoi(std::string(partition))),
          .try_number = task.try_number,
          .more = task.more};
}

PerProfile JournalBuilder::per_profile(const Slots& slots) {
  PerProfile counts;
  for (const auto& [profile, n] : slots) {
    counts.push_back({id(profile), n});
  }
  return counts;
}

std::vector<EdgeItem> JournalBuilder::edge_items(const std::vector<EdgeSpec>& edges) {
  std::vector<EdgeItem> items;
  for (const EdgeSpec& edge : edges) {
    items.push_back(
        {id(edge.from), id(edge.to), edge.pipelined ? EdgeKind::pipelined : EdgeKind::regular});
  }
  return items;
}

// ---- the run and executors ----

JournalBuilder& JournalBuilder::run(const RunSpec& spec) {
  RunStart run;
  run.version = id("1");
  run.format = 1;
  run.timing = spec.timing;
  run.dialect = id(spec.dialect);
  for (const auto& [axis, value] : spec.axes) {
    run.axes.push_back({id(axis), id(value)});
  }
  run.profiles = {{id("default"), {{id("cpus"), 1000}}},
                  {id("wide"), {{id("cpus"), 2000}}},
                  {id("gpu"), {{id("cpus"), 1000}, {id("gpus"), 1000}}}};
  run.overheads = {{id("kill"), id(spec.kill)}};
  for (const auto& [key, value] : spec.facts) {
    run.overheads.push_back({id(key), id(value)});
  }
  for (const std::string& promise : spec.promises) {
    run.promises.push_back(id(promise));
  }
  return add(std::move(run));
}

JournalBuilder& JournalBuilder::executor(std::string_view name, std::int64_t cpus,
                                         std::string_view profile) {
  ExecutorAdded added;
  added.executor = id(name);
  added.host = id("host of " + std::string(name));
  added.resources = {{id("cpus"), 1000 * cpus}};
  added.profile = id(profile);
  added.speed = 1000;
  return add(std::move(added));
}

JournalBuilder& JournalBuilder::lost(std::string_view executor, LossCause cause) {
  return add(ExecutorLost{id(executor), cause});
}

JournalBuilder& JournalBuilder::held(std::string_view executor, HoldCause cause) {
  return add(ExecutorHeld{id(executor), cause});
}

JournalBuilder& JournalBuilder::released(std::string_view executor) {
  return add(ExecutorReleased{id(executor)});
}

// ---- jobs ----

JournalBuilder& JournalBuilder::job(std::string_view name, const std::vector<StageSpec>& stages,
                                    const std::vector<EdgeSpec>& edges) {
  JobSubmitted submitted;
  submitted.job = id(name);
  submitted.pool = id("default");
  for (const StageSpec& stage : stages) {
    submitted.stages.push_back(
        {id(stage.name), stage.tasks, id(stage.profile), stage.barrier, stage.commits});
  }
  submitted.edges = edge_items(edges);
  return add(std::move(submitted));
}

JournalBuilder& JournalBuilder::started(std::string_view job) { return add(JobStarted{id(job)}); }

JournalBuilder& JournalBuilder::rejected(std::string_view job, Code code, const Slots& need,
                                         const Slots& have) {
  JobRejected rejected;
  rejected.job = id(job);
  rejected.code = code;
  rejected.codes = {code};
  if (!need.empty()) {
    rejected.need = per_profile(need);
    rejected.have = per_profile(have);
  }
  return add(std::move(rejected));
}

JournalBuilder& JournalBuilder::succeeded(std::string_view job) {
  JobEnd end;
  end.job = id(job);
  return add(end);
}

JournalBuilder& JournalBuilder::failed(std::string_view job, Code code, const Slots& need,
                                       const Slots& have) {
  JobEnd end;
  end.job = id(job);
  end.outcome = JobOutcome::failed;
  end.code = code;
  if (!need.empty()) {
    end.need = per_profile(need);
    end.have = per_profile(have);
  }
  return add(end);
}

JournalBuilder& JournalBuilder::cancelled(std::string_view job) {
  JobEnd end;
  end.job = id(job);
  end.outcome = JobOutcome::cancelled;
  end.code = Code::cancelled;
  return add(end);
}

// ---- groups ----

JournalBuilder& JournalBuilder::formed(std::string_view group,
                                       const std::vector<std::string>& stages,
                                       const Slots& demand) {
  const StageRef ref = stage_ref(group, {});
  GroupFormed formed{.job = ref.job, .stage = ref.stage, .stages = {}, .demand = {}};
  for (const std::string& stage : stages) {
    formed.stages.push_back(id(stage));
  }
  formed.demand = per_profile(demand);
  return add(std::move(formed));
}

JournalBuilder& JournalBuilder::waits_for_inputs(std::string_view group) {
  const StageRef ref = stage_ref(group, {});
  return add(GroupQueued{ref.job, ref.stage, QueuedReason::inputs, {}, {}});
}

JournalBuilder& JournalBuilder::waits_for_slots(std::string_view group, const Slots& need,
                                                const Slots& have) {
  const StageRef ref = stage_ref(group, {});
  return add(
      GroupQueued{ref.job, ref.stage, QueuedReason::slots, per_profile(need), per_profile(have)});
}

JournalBuilder& JournalBuilder::admitted(std::string_view group, const Slots& slots,
                                         std::int32_t attempt) {
  return add(GroupAdmitted{stage_ref(group, attempt), per_profile(slots)});
}

JournalBuilder& JournalBuilder::committed(std::string_view group, std::int32_t attempt) {
  return add(GroupCommitted{stage_ref(group, attempt)});
}

JournalBuilder& JournalBuilder::group_failed(std::string_view group, Code cause,
                                             std::int32_t attempt) {
  return add(GroupFailed{stage_ref(group, attempt), cause});
}

JournalBuilder& JournalBuilder::group_cancelled(std::string_view group, CancelCause cause) {
  return add(GroupCancelled{stage_ref(group, {}), cause});
}

JournalBuilder& JournalBuilder::edges_changed(std::string_view group,
                                              const std::vector<EdgeSpec>& edges) {
  const StageRef ref = stage_ref(group, {});
  return add(EdgesChanged{ref.job, ref.stage, edge_items(edges)});
}

// ---- stages ----

JournalBuilder& JournalBuilder::submitted(std::string_view stage, std::int64_t tasks,
                                          std::int32_t attempt, std::optional<Ranges> partitions) {
  return add(StageSubmitted{stage_ref(stage, attempt), tasks, std::move(partitions)});
}

JournalBuilder& JournalBuilder::completed(std::string_view stage, std::int32_t attempt,
                                          StageStatus status, std::optional<StageReason> reason) {
  return add(StageCompleted{stage_ref(stage, attempt), status, reason});
}

JournalBuilder& JournalBuilder::finished_member(std::string_view stage, std::int32_t attempt) {
  return add(MemberFinished{stage_ref(stage, attempt)});
}

JournalBuilder& JournalBuilder::registered(std::string_view stage, std::int32_t attempt) {
  return add(OutputsRegistered{stage_ref(stage, attempt)});
}

JournalBuilder& JournalBuilder::outputs_lost(std::string_view stage, std::string_view executor,
                                             const Ranges& partitions) {
  const StageRef ref = stage_ref(stage, {});
  return add(OutputsLost{ref.job, ref.stage, id(executor), partitions});
}

// ---- tasks ----

JournalBuilder& JournalBuilder::start(const TrySpec& task, bool speculative) {
  return add(TaskStart{task_ref(task), speculative});
}

JournalBuilder& JournalBuilder::success(const TrySpec& task, std::optional<bool> counted) {
  TaskEnd end;
  end.task = task_ref(task);
  end.counted = counted;
  return add(end);
}

JournalBuilder& JournalBuilder::failure(const TrySpec& task, TaskReason reason) {
  TaskEnd end;
  end.task = task_ref(task);
  end.status = TaskStatus::failed;
  end.reason = reason;
  return add(end);
}

JournalBuilder& JournalBuilder::kill(const TrySpec& task, TaskReason reason,
                                     std::optional<SlotState> slot) {
  TaskEnd end;
  end.task = task_ref(task);
  end.status = TaskStatus::killed;
  end.reason = reason;
  end.slot = slot;
  return add(end);
}

JournalBuilder& JournalBuilder::slots_back(std::string_view executor, std::int64_t count,
                                           std::string_view job) {
  return add(SlotReturned{id(executor), id("default"), count, id(job)});
}

JournalBuilder& JournalBuilder::commit(const TrySpec& task) {
  return add(OutputCommitted{task_ref(task)});
}

JournalBuilder& JournalBuilder::reserve(std::string_view group, std::string_view executor,
                                        std::int64_t slots, std::int64_t delta) {
  const StageRef ref = stage_ref(group, {});
  return add(Reservation{ref.job, ref.stage, id(executor), id("default"), slots, delta});
}

// ---- the end ----

JournalBuilder& JournalBuilder::probe(const Probe& probe, const Slots& free) {
  Probe line = probe;
  line.free = per_profile(free);
  return add(std::move(line));
}

JournalBuilder& JournalBuilder::over(RunEndCause cause) { return add(RunEnd{cause}); }

}  // namespace rehearse::testing
