// Members that complete one by one (C6, C7): successes that wait for pipelined producers, the
// completion of one member, and the group's when its last member is done.
#include <algorithm>

#include "scheduler/accounting.hpp"
#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

namespace {

// Of a group that runs; outputs that were lost since do not count (X10 (b)).
bool completed(const StageRow& row) { return row.phase == StagePhase::done; }

// Mutant: all its tasks ended, whether or not they count yet.
bool has_ended(const StageRow& row) {
  return row.phase == StagePhase::running && row.pending == 0 && row.running == 0;
}

// Every task succeeded and counts; some outputs may be lost again.
bool all_succeeded(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  return row.phase == StagePhase::running && row.pending == 0 && row.running == 0 &&
         (row.cold == none_u32 || m.colds[row.cold].held.empty());
}

// All members are done: readers outside find what was lost meanwhile (X10 (b)).
void finish_group(Step& s, GangId gang) {
  Machine& m = s.m;
  commit_authorized(s, gang);
  GangRow& row = m.gangs.edit(gang);
  const JobId job = row.job;
  s.write(model::GroupCommitted{stage_ref(m, gang_leader(m, gang))});
  row.phase = GangPhase::committed;
  --m.counters.live_gangs;
  if (!row.committed_once) {
    row.committed_once = true;
    --m.jobs.edit(job).gangs_left;
  }
  const std::vector<std::uint32_t> members = row.members;
  for (const std::uint32_t member : members) {
    const StageId stage = stage_of(m, job, member);
    if (lives(m, job) && m.stages[stage].done < m.stages[stage].tasks) {
      want_if_awaited(s, stage);
    }
  }
}

// C7: with the last result stage the job ends, which commits its groups.
bool ends_job(const Machine& m, JobId job) {
  return m.config.completion == model::Completion::final_stage && m.jobs[job].sinks_left == 0;
}

void release_held(Step& s, StageId stage);

void complete_member(Step& s, StageId stage) {
  Machine& m = s.m;
  const JobId job = m.stages[stage].job;
  const GangId gang = m.stages[stage].gang;
  const std::uint32_t index = m.stages[stage].index;
  const std::shared_ptr<const model::StageGraph> graph = m.jobs[job].graph;  // outlives the job
  complete_attempt(s, stage, model::StageStatus::success, std::nullopt);
  StageRow& row = m.stages.edit(stage);
  row.registered = true;
  if (is_sink(m, stage) && !row.sink_done) {
    row.sink_done = true;
    --m.jobs.edit(job).sinks_left;
  }
  const bool last = --m.gangs.edit(gang).members_left == 0;
  const bool lost = m.config.failure.executor_loss == model::ExecutorLossAxis::running_only &&
                    drop_gone_outputs(s, stage);
  if (!lost && m.stages[stage].done == m.stages[stage].tasks) {
    set_available(s, stage, true);
  }
  for (const std::uint32_t child : graph->pipelined_children.row(index)) {
    if (lives(m, job)) {
      release_held(s, stage_of(m, job, child));
    }
  }
  if (last && lives(m, job) && !ends_job(m, job)) {
    finish_group(s, gang);
  }
  if (lives(m, job)) {
    check_job_done(s, job);
  }
}

// Its producers may all be done now: what it had ready counts, in the order in which it came.
void release_held(Step& s, StageId stage) {
  Machine& m = s.m;
  const std::uint32_t cold = m.stages[stage].cold;
  if (planted(Mutant::m03) && cold != none_u32 && waits_for_producers(m, stage)) {
    m.colds[cold].held.clear();
  }
  if (cold == none_u32 || waits_for_producers(m, stage)) {
    return;
  }
  const std::vector<StageCold::HeldSuccess> held = std::move(m.colds[cold].held);
  m.colds[cold].held.clear();
  for (const StageCold::HeldSuccess& success : held) {
    if (success.run.valid()) {
      s.out.list.emplace_back(EndTask{success.run, model::TaskStatus::success, std::nullopt, true});
      m.runs.remove(success.run);
    }
    --m.counters.deferred;
    record_output(m, stage, success.partition, success.executor);
    ++m.stages.edit(stage).done;
    --m.gangs.edit(m.stages[stage].gang).unfinished;
  }
  count_member_success(s, stage);
}

}  // namespace

bool waits_for_producers(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  const auto parents = m.jobs[row.job].graph->pipelined_parents.row(row.index);
  return std::ranges::any_of(parents, [&m, &row](std::uint32_t parent) {
    if (planted(Mutant::m26) && has_ended(m.stages[stage_of(m, row.job, parent)])) {
      return false;
    }
    return !completed(m.stages[stage_of(m, row.job, parent)]);
  });
}

void hold_success(Step& s, RunId id) {
  Machine& m = s.m;
  const RunRow run = m.runs[id];
  ++m.counters.deferred;
  note_location(m, run.stage, run.executor);
  if (m.config.task_end == model::TaskEndAxis::with_release) {
    s.out.list.emplace_back(ReturnSlot{id});
    if (planted(Mutant::mu17)) {
      s.out.list.emplace_back(EndTask{id, model::TaskStatus::success, std::nullopt, true});
    }
    unlink_from_stage(m, id);
    free_slot(s, id);
    m.runs.edit(id).held = true;
    cold_of(m, run.stage).held.push_back({id, run.executor, run.partition});
    return;
  }
  s.out.list.emplace_back(
      EndTask{id, model::TaskStatus::success, std::nullopt, true, in_share(m, id)});
  unlink_from_stage(m, id);
  free_run(s, id);
  std::vector<StageCold::HeldSuccess>& held = cold_of(m, run.stage).held;
  held.push_back({RunId{}, run.executor, run.partition});
  const StageRow& row = m.stages[run.stage];
  if (row.done + std::ssize(held) == row.tasks) {
    s.write(model::MemberFinished{stage_ref(m, run.stage)});  // C10
  }
}

void drop_held(Step& s, StageId stage) {
  Machine& m = s.m;
  const std::uint32_t cold = m.stages[stage].cold;
  if (cold == none_u32) {
    return;
  }
  for (const StageCold::HeldSuccess& success : m.colds[cold].held) {
    m.counters.deferred -= planted(Mutant::m02) ? 0 : 1;
    if (planted(Mutant::m08) && success.run.valid()) {
      s.out.list.emplace_back(EndTask{success.run, model::TaskStatus::success, std::nullopt, true});
      m.runs.remove(success.run);
      continue;
    }
    if (success.run.valid() && !planted(Mutant::m24)) {
      s.out.list.emplace_back(
          EndTask{success.run, model::TaskStatus::success, std::nullopt, false});
      m.runs.remove(success.run);
    }
  }
  m.colds[cold].held.clear();
}

void count_member_success(Step& s, StageId stage) {
  if (all_succeeded(s.m, stage)) {
    complete_member(s, stage);
  }
}

void complete_empty_members(Step& s, GangId gang) {
  Machine& m = s.m;
  const JobId job = m.gangs[gang].job;
  const std::vector<std::uint32_t> members = m.gangs[gang].members;
  for (const std::uint32_t member : members) {
    if (!lives(m, job)) {
      return;
    }
    const StageId stage = stage_of(m, job, member);
    if (m.stages[stage].phase == StagePhase::running && m.stages[stage].tasks == 0 &&
        !(m.config.completion == model::Completion::after_parents &&
          waits_for_producers(m, stage))) {
      complete_member(s, stage);
    }
  }
}

}  // namespace rehearse::scheduler
