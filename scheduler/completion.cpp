// What a success does: at once for a regular task (X9), together for a group (C2 to C5, C8 to C10),
// and when a job is done (C9).
#include <algorithm>

#include "scheduler/accounting.hpp"
#include "scheduler/duties_data.hpp"
#include "scheduler/places.hpp"
#include "scheduler/slices.hpp"
#include "scheduler/speculation.hpp"

namespace rehearse::scheduler {

namespace {

model::TaskRef task_ref(const Machine& m, StageId stage, std::int32_t partition,
                        const RunRow& run) {
  const StageRow& row = m.stages[stage];
  return {job_name(m, row.job),
          stage_name(m, stage),
          m.executors[run.executor].name,
          run.attempt,
          partition,
          run.try_number};
}

bool insert_sorted(std::vector<std::int32_t>& list, std::int32_t value) {
  reserve_first(list);
  const auto at = std::ranges::lower_bound(list, value);
  if (at != list.end() && *at == value) {
    return false;
  }
  list.insert(at, value);
  return true;
}

// C8 for a singleton: a partition commits once, at the task end that counts.
void commit_output(Step& s, StageId stage, const RunRow& run) {
  if (!s.m.stages[stage].commits) {
    return;
  }
  if (insert_sorted(cold_of(s.m, stage).committed, run.partition)) {
    if (planted(Mutant::log05) && run.partition + 1 == s.m.stages[stage].tasks) {
      return;
    }
    s.write(model::OutputCommitted{task_ref(s.m, stage, run.partition, run)});
  }
}

// X9: every other running try of the partition, in any attempt; of slices those that have nothing
// left to do (A21).
void kill_other_tries(Step& s, StageId stage, std::int32_t partition) {
  Machine& m = s.m;
  for (const RunId run : live_runs(m, stage)) {
    if (m.runs[run].covers(partition) && is_all_done(m, m.runs[run])) {
      kill_run(s, run, model::TaskReason::other_attempt);
    }
  }
}

// All partitions are there: the live attempt, if any, succeeded.
void stage_is_done(Step& s, StageId stage) {
  Machine& m = s.m;
  const JobId job = m.stages[stage].job;
  if (m.stages[stage].phase == StagePhase::running) {
    complete_attempt(s, stage, model::StageStatus::success, std::nullopt);
  }
  StageRow& row = m.stages.edit(stage);
  row.phase = StagePhase::done;
  row.failures = 0;
  end_commits(cold_of(m, stage));  // SS-1.11: with the stage, not with its attempt
  no_longer_starved(m, stage);
  if (is_sink(m, stage) && !row.sink_done) {  // one that others read may be done a second time
    row.sink_done = true;
    --m.jobs.edit(job).sinks_left;
  }
  if (row.gang.valid()) {
    barrier_done(s, row.gang);
  }
  set_available(s, stage, true);
  if (m.jobs.has(job)) {
    check_job_done(s, job);
  }
}

// C8 for a member.
void commit_or_authorize(Step& s, StageId stage, const RunRow& run) {
  Machine& m = s.m;
  if (planted(Mutant::mu19)) {
    commit_output(s, stage, run);
    return;
  }
  if (m.config.output_commit == model::OutputCommit::immediate) {
    commit_output(s, stage, run);
  } else if (m.stages[stage].commits &&
             !std::ranges::binary_search(cold_of(m, stage).committed, run.partition)) {
    auto& list = cold_of(m, stage).authorized;
    const auto at =
        std::ranges::lower_bound(list, run.partition, {}, &StageCold::Authorized::partition);
    RH_CHECK(at == list.end() || at->partition != run.partition, stage.value, run.partition);
    list.insert(at, {run.partition, run.executor, run.try_number});
    ++m.counters.authorizations;
  }
}

void member_succeeded(Step& s, const RunRow& run) {
  Machine& m = s.m;
  const StageId stage = run.stage;
  const GangId gang = m.stages[stage].gang;
  record_output(m, stage, run.partition, run.executor);
  StageRow& row = m.stages.edit(stage);
  ++row.done;
  GangRow& group = m.gangs.edit(gang);
  --group.unfinished;
  commit_or_authorize(s, stage, run);
  if (m.config.completion != model::Completion::group) {
    count_member_success(s, stage);
    return;
  }
  ++m.counters.deferred;
  if (planted(Mutant::mu09) && row.done == row.tasks && is_sink(m, stage)) {
    group.unfinished = 0;
  }
  if (group.unfinished == 0) {
    commit_group(s, gang);
  } else if (row.done == row.tasks || (planted(Mutant::log02) && row.done == 1)) {
    s.write(model::MemberFinished{stage_ref(m, stage)});
    if (planted(Mutant::mu11)) {
      complete_attempt(s, stage, model::StageStatus::success, std::nullopt);
    }
  }
}

}  // namespace

// C4: authorized outputs, by (stage, partition).
void commit_authorized(Step& s, GangId gang) {
  Machine& m = s.m;
  std::vector<std::uint32_t> members = m.gangs[gang].members;
  std::ranges::sort(members);
  for (const std::uint32_t member : members) {
    const StageId stage = stage_of(m, m.gangs[gang].job, member);
    StageCold& cold = cold_of(m, stage);
    for (const auto& [partition, executor, try_number] : cold.authorized) {
      RunRow run;
      run.executor = executor;
      run.try_number = try_number;
      run.attempt = m.stages[stage].attempt;
      s.write(model::OutputCommitted{task_ref(m, stage, partition, run)});
      insert_sorted(cold.committed, partition);
      --m.counters.authorizations;
    }
    cold.authorized.clear();
  }
}

namespace {

// What failed before a success is forgotten, should its output be lost and the task run again.
void forget_failures(StageCold& cold, std::int32_t partition) {
  const auto found = std::ranges::find(cold.tries, partition, &StageCold::Tries::partition);
  if (found != cold.tries.end()) {
    found->failures = 0;
  }
}

// The live attempt, if any, need not start the partition any more.
void no_longer_pending(Machine& m, StageId stage, std::int32_t partition) {
  StageCold& cold = cold_of(m, stage);
  const auto pending = std::ranges::find(cold.again, partition);
  if (pending == cold.again.end()) {
    return;
  }
  cold.again.erase(pending);
  if (std::ranges::find(cold.tries, partition, &StageCold::Tries::partition) == cold.tries.end()) {
    cold.tries.push_back({partition, 0, 0});  // no try of this attempt began
  }
  StageRow& row = m.stages.edit(stage);
  if (--row.pending > 0) {
    return;
  }
  no_longer_starved(m, stage);  // A14: what is left of it runs
  if (!copies_due(m, stage)) {
    m.queue.clear_pending(stage, ProfileId{std::uint32_t{row.profile}});
  }
}

// X9, success-then-rerun: neither what is pending nor what runs of it is waited for.
void tick_off(Machine& m, StageId stage, std::int32_t partition) {
  no_longer_pending(m, stage, partition);
  if (m.stages[stage].phase == StagePhase::running &&
      output_executor(m, stage, partition) == none_u32) {
    cold_of(m, stage).ticked_off.push_back(partition);
  }
}

// Of one partition; what it means for the stage comes after all that are told of together.
[[gnu::always_inline]] inline void partition_succeeded(Step& s, const RunRow& run) {
  Machine& m = s.m;
  const StageId stage = run.stage;
  record_output(m, stage, run.partition, run.executor);
  if (run.try_number > 0) {
    forget_failures(cold_of(m, stage), run.partition);
  }
  StageRow& row = m.stages.edit(stage);
  ++row.done;
  const bool of_live_attempt = row.phase == StagePhase::running && run.attempt == row.attempt;
  if (row.old_running > 0 || !of_live_attempt || runs_now(m, stage, run.partition)) {
    no_longer_pending(m, stage, run.partition);
    kill_other_tries(s, stage, run.partition);
  }
  commit_output(s, stage, run);
  give_to_origin(s, stage, run);
}

// Mutant: complete with as many outputs as its first reader has tasks.
bool done_as_its_reader(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  const auto readers = m.jobs[row.job].graph->regular_children.row(row.index);
  return !readers.empty() && !row.available &&
         row.done == m.stages[stage_of(m, row.job, readers.front())].tasks;
}

void regular_succeeded(Step& s, const RunRow& run, const TaskEnded& input) {
  Machine& m = s.m;
  const StageId stage = run.stage;
  RunRow one = run;
  one.more = 0;
  for (; one.partition <= run.last(); ++one.partition) {
    // Of a slice another try may have done some (A21); a task that counts has what is not done.
    if (run.more == 0 || output_executor(m, stage, one.partition) == none_u32) {
      partition_succeeded(s, one);
    }
  }
  if (note_output(m, run, input)) {
    const JobId job = m.stages[stage].job;
    roll_back_readers(s, stage);
    if (!lives(m, job)) {
      return;
    }
  }
  if (planted(Mutant::m48) && done_as_its_reader(m, stage)) {
    stage_is_done(s, stage);
    return;
  }
  if (m.stages[stage].done == m.stages[stage].tasks) {
    stage_is_done(s, stage);
  } else {
    attempt_maybe_over(s, stage);
  }
}

// A success of a regular task counts if its executor's epoch is still good and its partition (of a
// slice: one of them) is not done, and its attempt was not rolled back; checked before anything is
// ticked off (X9).
bool counts(const Machine& m, const RunRow& run) {
  if (is_stale(m, run)) {
    return false;
  }
  if (planted(Mutant::c05)) {
    return !is_all_done(m, run);
  }
  // Only with a second attempt can a partition be done while a try of it still runs.
  return m.executors[run.executor].epoch == run.epoch &&
         (m.stages[run.stage].attempt == 0 || !is_all_done(m, run));
}

}  // namespace

void task_ended(Step& s, const TaskEnded& input) {
  Machine& m = s.m;
  if (!m.runs.has(input.run) || m.runs[input.run].dying || m.runs[input.run].held) {
    return;  // X12: a late status changes nothing
  }
  const RunRow run = m.runs[input.run];
  const bool member = is_member(m, run.stage);
  const bool success = input.status == model::TaskStatus::success;
  if (success && member && m.config.completion == model::Completion::after_parents &&
      waits_for_producers(m, run.stage)) {
    commit_or_authorize(s, run.stage, run);
    hold_success(s, input.run);
    return;
  }
  const bool fenced = planted(Mutant::m29) && m.executors[run.executor].epoch != run.epoch;
  const bool counted = !success || (member && !fenced) || counts(m, run);
  s.out.add<EndTask>(input.run, input.status, input.reason, counted, in_share(m, input.run));
  if (m.config.speculation && success && counted) {
    note_duration(m, input.run);
  }
  unlink_from_stage(m, input.run);
  free_run(s, input.run);
  if (!success) {
    task_failed(s, run, input);
  } else if (!counted && is_stale(m, run)) {
    stale_success(s, run);
  } else if (!counted) {
    if (m.config.failure.incomplete == model::Incomplete::success_then_rerun) {
      for (const std::int32_t p : partitions_of(run)) {
        tick_off(m, run.stage, p);
      }
    }
    attempt_maybe_over(s, run.stage);
  } else if (member) {
    member_succeeded(s, run);
  } else {
    regular_succeeded(s, run, input);
  }
}

void complete_attempt(Step& s, StageId stage, model::StageStatus status,
                      std::optional<model::StageReason> reason) {
  Machine& m = s.m;
  RH_CHECK(m.stages[stage].phase == StagePhase::running, stage.value);
  if (!planted(Mutant::c14) || status != model::StageStatus::cancelled) {
    s.write(model::StageCompleted{stage_ref(m, stage), status, reason});
  }
  StageRow& row = m.stages.edit(stage);
  row.old_running += row.running;
  row.running = 0;
  row.pending = 0;
  row.phase = StagePhase::done;
  m.queue.clear_pending(stage, ProfileId{std::uint32_t{row.profile}});
  if (m.config.speculation) {
    stop_speculating(m, stage);
  }
  if (!m.excluding.empty()) {
    end_exclusion_of_attempt(m, stage);
  }
  if (row.gang.valid()) {
    no_longer_starved(m, stage);  // a member's next attempt is the group's
  }
}

namespace {

// Are all tries that run in the live attempt of partitions that were ticked off?
bool runs_ticked_off_only(const Machine& m, StageId stage) {
  const std::vector<std::int32_t>& ticked = m.colds[m.stages[stage].cold].ticked_off;
  if (ticked.empty()) {
    return false;
  }
  return std::ranges::all_of(live_runs(m, stage), [&](RunId id) {
    const RunRow& run = m.runs[id];
    return run.attempt != m.stages[stage].attempt ||
           std::ranges::all_of(partitions_of(run), [&ticked](std::int32_t p) {
             return std::ranges::find(ticked, p) != ticked.end();
           });
  });
}

}  // namespace

void attempt_maybe_over(Step& s, StageId stage) {
  Machine& m = s.m;
  const StageRow& row = m.stages[stage];
  if (row.phase != StagePhase::running || is_member(m, stage) || row.pending > 0 ||
      (row.running > 0 && !runs_ticked_off_only(m, stage))) {
    return;
  }
  if (row.done == row.tasks) {
    stage_is_done(s, stage);
    return;
  }
  if (row.gang.valid()) {
    fail_group(s, row.gang, model::Code::executor_lost);  // a barrier stage that lost outputs
    return;
  }
  // X9: outputs are missing (lost since, or never counted): again, at once.
  if (m.config.failure.incomplete == model::Incomplete::success_then_rerun) {
    complete_attempt(s, stage, model::StageStatus::success, std::nullopt);
    m.stages.edit(stage).failures = 0;  // Spark's reading: a success, and then once more
    want(s, stage);
    return;
  }
  complete_attempt(s, stage, model::StageStatus::failed, model::StageReason::incomplete);
  StageRow& failed = m.stages.edit(stage);
  failed.failures = static_cast<std::uint8_t>(std::min(failed.failures + 1, 255));
  if (failed.failures >= m.config.failure.max_stage_attempts) {
    abort_stage(s, stage, model::Code::stage_attempts_exceeded,
                m.names->intern("outputs missing after the last attempt"));
    return;
  }
  want(s, stage);
}

void renew_member(Step& s, StageId stage, std::int32_t attempt) {
  Machine& m = s.m;
  end_commits(cold_of(m, stage));  // a rerun starts with every right free (C8)
  const std::int32_t tasks = m.stages[stage].tasks;
  for (std::int32_t p = 0; p < tasks; ++p) {
    clear_output(m, stage, p);
  }
  cold_of(m, stage).outputs.assign(static_cast<std::size_t>(tasks), none_u32);
  StageRow& row = m.stages.edit(stage);
  const bool one_behind = planted(Mutant::m34) && attempt > 0 && stage != gang_leader(m, row.gang);
  row.attempt = static_cast<std::int16_t>(one_behind ? attempt - 1 : attempt);
  row.phase = StagePhase::running;
  row.done = 0;
  row.pending = 0;
  row.next_partition = row.tasks;
  row.registered = m.config.completion == model::Completion::immediate || !is_member(m, stage);
  cold_of(m, stage).tries.clear();
  cold_of(m, stage).again.clear();
  cold_of(m, stage).ticked_off.clear();
  set_available(s, stage, false);
}

namespace {

// After a commit: readers outside become ready, or meet what was lost before it (X10 (b)); that is
// possible only where the loss of a finished task does not fail the group (X3).
void tell_readers(Step& s, JobId job, const std::vector<std::uint32_t>& members) {
  Machine& m = s.m;
  std::vector<StageId> incomplete;
  if (m.config.failure.executor_loss == model::ExecutorLossAxis::running_only) {
    for (const std::uint32_t member : members) {
      if (drop_gone_outputs(s, stage_of(m, job, member))) {
        incomplete.push_back(stage_of(m, job, member));
      }
    }
  }
  for (const std::uint32_t member : members) {
    if (!m.jobs.has(job) || m.jobs[job].phase != JobPhase::live) {
      return;
    }
    const StageId stage = stage_of(m, job, member);
    if (planted(Mutant::act05)) {
      continue;
    }
    if (std::ranges::find(incomplete, stage) == incomplete.end()) {
      set_available(s, stage, true);
    }
  }
  for (const StageId stage : incomplete) {
    want_if_awaited(s, stage);
  }
}

}  // namespace

void commit_group(Step& s, GangId gang) {
  Machine& m = s.m;
  const JobId job = m.gangs[gang].job;
  const std::vector<std::uint32_t> members = m.gangs[gang].members;
  for (const std::uint32_t member : members) {
    const StageId stage = stage_of(m, job, member);
    if (has_readers(m, stage)) {
      s.write(model::OutputsRegistered{stage_ref(m, stage)});
    }
    m.stages.edit(stage).registered = true;
  }
  commit_authorized(s, gang);
  for (const std::uint32_t member : members) {
    const StageId stage = stage_of(m, job, member);
    m.counters.deferred -= m.stages[stage].tasks;
    if (planted(Mutant::mu11) && m.stages[stage].phase != StagePhase::running) {
      continue;
    }
    complete_attempt(s, stage, model::StageStatus::success, std::nullopt);
  }
  s.write(model::GroupCommitted{stage_ref(m, gang_leader(m, gang))});
  GangRow& row = m.gangs.edit(gang);
  row.phase = GangPhase::committed;
  m.counters.live_gangs -= planted(Mutant::mu29) ? 2 : 1;
  if (!row.committed_once) {
    row.committed_once = true;
    --m.jobs.edit(job).gangs_left;
    for (const std::uint32_t member : members) {
      m.jobs.edit(job).sinks_left -= is_sink(m, stage_of(m, job, member)) ? 1 : 0;
    }
  }
  tell_readers(s, job, members);
  if (m.jobs.has(job)) {
    check_job_done(s, job);
  }
}

void check_job_done(Step& s, JobId job) {
  const JobRow& row = s.m.jobs[job];
  const bool by_results = s.m.config.completion == model::Completion::final_stage;  // C7
  if (planted(Mutant::mu53) && row.phase == JobPhase::live && row.sinks_left == 1) {
    end_job(s, job, {model::JobOutcome::succeeded, std::nullopt, {}, std::nullopt, std::nullopt});
    return;
  }
  if (row.phase == JobPhase::live && row.sinks_left == 0 && (by_results || row.gangs_left == 0)) {
    end_job(s, job, {model::JobOutcome::succeeded, std::nullopt, {}, std::nullopt, std::nullopt});
  }
}

}  // namespace rehearse::scheduler
