// Members that complete one by one (C6, C7): successes that wait for pipelined producers, the
// completion of one member, and the group's when its last member is done.
#include <algorithm>

#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

namespace {

bool completed(const StageRow& row) {
  return row.phase == StagePhase::done && row.done == row.tasks;
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

void release_held(Step& s, StageId stage);

void complete_member(Step& s, StageId stage) {
  Machine& m = s.m;
  const JobId job = m.stages[stage].job;
  const GangId gang = m.stages[stage].gang;
  complete_attempt(s, stage, model::StageStatus::success, std::nullopt);
  StageRow& row = m.stages.edit(stage);
  row.registered = true;
  if (is_sink(m, stage) && !row.sink_done) {
    row.sink_done = true;
    --m.jobs.edit(job).sinks_left;
  }
  const bool last = --m.gangs.edit(gang).members_left == 0;
  set_available(s, stage, true);
  const std::shared_ptr<const model::StageGraph> graph = m.jobs[job].graph;
  for (const std::uint32_t child : graph->pipelined_children.row(m.stages[stage].index)) {
    if (lives(m, job)) {
      release_held(s, stage_of(m, job, child));
    }
  }
  if (last && lives(m, job) && m.config.completion != model::Completion::final_stage) {
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
  const StageRow& row = m.stages[stage];
  if (row.phase == StagePhase::running && row.done == row.tasks) {
    complete_member(s, stage);
  }
}

}  // namespace

bool waits_for_producers(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  const auto parents = m.jobs[row.job].graph->pipelined_parents.row(row.index);
  return std::ranges::any_of(parents, [&m, &row](std::uint32_t parent) {
    return !completed(m.stages[stage_of(m, row.job, parent)]);
  });
}

void hold_success(Step& s, RunId id) {
  Machine& m = s.m;
  const RunRow run = m.runs[id];
  ++m.counters.deferred;
  if (m.config.task_end == model::TaskEndAxis::with_release) {
    s.out.list.emplace_back(ReturnSlot{id});
    unlink_from_stage(m, id);
    free_slot(m, id);
    m.runs.edit(id).held = true;
    cold_of(m, run.stage).held.push_back({id, run.executor, run.partition});
    return;
  }
  s.out.list.emplace_back(EndTask{id, model::TaskStatus::success, std::nullopt, true});
  unlink_from_stage(m, id);
  free_run(m, id);
  cold_of(m, run.stage).held.push_back({RunId{}, run.executor, run.partition});
}

void drop_held(Step& s, StageId stage) {
  Machine& m = s.m;
  const std::uint32_t cold = m.stages[stage].cold;
  if (cold == none_u32) {
    return;
  }
  for (const StageCold::HeldSuccess& success : m.colds[cold].held) {
    --m.counters.deferred;
    if (success.run.valid()) {
      s.out.list.emplace_back(
          EndTask{success.run, model::TaskStatus::success, std::nullopt, false});
      m.runs.remove(success.run);
    }
  }
  m.colds[cold].held.clear();
}

void count_member_success(Step& s, StageId stage) {
  if (s.m.stages[stage].done == s.m.stages[stage].tasks) {
    complete_member(s, stage);
  }
}

void complete_empty_members(Step& s, GangId gang) {
  Machine& m = s.m;
  const JobId job = m.gangs[gang].job;
  const std::vector<std::uint32_t> members = m.gangs[gang].members;
  for (const std::uint32_t member : members) {
    const StageId stage = stage_of(m, job, member);
    if (!lives(m, job)) {
      return;
    }
    if (m.stages[stage].phase == StagePhase::running && m.stages[stage].tasks == 0 &&
        !(m.config.completion == model::Completion::after_parents &&
          waits_for_producers(m, stage))) {
      complete_member(s, stage);
    }
  }
}

}  // namespace rehearse::scheduler
