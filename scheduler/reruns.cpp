// Groups that start anew after a failure (X16), and barrier stages, gangs of one stage with rules
// of their own (A12, SS-3.6).
#include <algorithm>

#include "scheduler/bulk.hpp"
#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

namespace {

void note_if_due(Machine& m, const RerunRow& row) {
  m.wants_pass = m.wants_pass || (row.delay_over && row.dying.empty());
}

// The gang starts anew once its kills took effect and `delay` passed.
void plan_rerun(Step& s, GangId gang, model::Duration delay) {
  delay = planted(Mutant::mu52) ? 0 : delay;
  Machine& m = s.m;
  GangRow& row = m.gangs.edit(gang);
  row.phase = GangPhase::again;
  row.told = false;
  RerunRow rerun{row.job, row.leader, {}, delay == 0};
  for (const std::uint32_t member : row.members) {
    const StageId stage = stage_of(m, row.job, member);
    for (const StageCold::Launched& entry : cold_of(m, stage).launched) {
      const RunRow& run = m.runs[entry.run];
      if (run.used && run.dying && run.stage == stage && run.stamp == entry.stamp) {
        rerun.dying.push_back(entry.run);
      }
    }
  }
  if (delay > 0) {
    set_timer(s, {{}, TimerKind::rerun, row.job, row.leader, none_u32}, delay);
  }
  m.reruns.push_back(std::move(rerun));
  note_if_due(m, m.reruns.back());
}

// What members had finished is void; readers outside learn it where it was theirs already.
void forget_outputs(Step& s, GangId gang) {
  Machine& m = s.m;
  const JobId job = m.gangs[gang].job;
  const std::vector<std::uint32_t> members = m.gangs[gang].members;
  for (const std::uint32_t member : members) {
    const StageId stage = stage_of(m, job, member);
    if (m.stages[stage].sink_done && !m.gangs[gang].committed_once) {
      m.stages.edit(stage).sink_done = false;  // C7: its results fell with the group
      ++m.jobs.edit(job).sinks_left;
    }
    if (m.stages[stage].registered && has_readers(m, stage)) {
      drop_outputs(s, stage);
      set_available(s, stage, false);
      continue;
    }
    for (std::int32_t p = 0; p < m.stages[stage].tasks; ++p) {
      clear_output(m, stage, p);
    }
    m.stages.edit(stage).done = 0;
  }
}

}  // namespace

void rerun_committed_group(Step& s, GangId gang) {
  Machine& m = s.m;
  GangRow& row = m.gangs.edit(gang);
  if (row.reruns >= m.config.failure.max_stage_attempts) {
    end_job(s, row.job,
            {model::JobOutcome::failed, model::Code::stage_attempts_exceeded,
             m.names->intern("a committed group was rerun too often"), std::nullopt, std::nullopt});
    return;
  }
  ++row.reruns;
  row.told = false;
  ++m.counters.live_gangs;
  row.phase = GangPhase::inputs;  // it is on its way: nobody wants it a second time
  const JobId job = row.job;
  if (row.barrier) {
    drop_outputs(s, gang_leader(m, gang));  // SS-1.8: a barrier stage is done anew as a whole
  }
  roll_back_gang(s, gang);
  if (!lives(m, job)) {
    return;
  }
  group_wants(s, gang);
  if (lives(m, job)) {
    judge_starvation(s, gang_leader(m, gang));
  }
}

void rerun_failed_group(Step& s, GangId gang) {
  Machine& m = s.m;
  const JobId job = m.gangs[gang].job;
  if (m.gangs[gang].group_reruns >= m.config.failure.rerun_max) {
    m.gangs.edit(gang).phase = GangPhase::failed;
    --m.counters.live_gangs;
    end_job(s, job,
            {model::JobOutcome::failed, model::Code::group_failed,
             m.names->intern("a group failed after its last rerun"), std::nullopt, std::nullopt});
    return;
  }
  ++m.gangs.edit(gang).group_reruns;
  m.gangs.edit(gang).patient = true;
  forget_outputs(s, gang);
  plan_rerun(s, gang, m.config.failure.rerun_delay);
}

void kill_took_effect(Machine& m, RunId run) {
  for (RerunRow& row : m.reruns) {
    if (std::erase(row.dying, run) > 0) {
      note_if_due(m, row);
      return;
    }
  }
}

void start_reruns(Step& s) {
  Machine& m = s.m;
  if (m.reruns.empty()) {
    return;
  }
  std::vector<RerunRow> due;
  for (const RerunRow& row : m.reruns) {
    if (row.delay_over && row.dying.empty()) {
      due.push_back(row);
    }
  }
  std::erase_if(m.reruns, [](const RerunRow& row) { return row.delay_over && row.dying.empty(); });
  for (const RerunRow& row : due) {
    for (const StageId other : m.queued_gangs) {
      if (planted(Mutant::mu25)) {
        lend_held(m, m.stages[other].gang);
      }
    }
    if (lives(m, row.job)) {
      const StageId leader = stage_of(m, row.job, row.leader);
      group_wants(s, m.stages[leader].gang);
      if (lives(m, row.job)) {
        judge_starvation(s, leader);
      }
    }
  }
}

model::StageReason barrier_reason(model::Code cause) {
  return cause == model::Code::fetch_failed    ? model::StageReason::fetch_failed
         : cause == model::Code::executor_lost ? model::StageReason::executor_lost
                                               : model::StageReason::task_failed;
}

void barrier_done(Step& s, GangId gang) {
  Machine& m = s.m;
  GangRow& row = m.gangs.edit(gang);
  s.write(model::GroupCommitted{stage_ref(m, gang_leader(m, gang))});
  row.phase = GangPhase::committed;
  --m.counters.live_gangs;
  if (!row.committed_once) {
    row.committed_once = true;
    --m.jobs.edit(row.job).gangs_left;
  }
}

// SS-3.6: a result stage ends the job; another one is done anew, all of it.
void barrier_failed(Step& s, GangId gang, model::Code cause) {
  Machine& m = s.m;
  const JobId job = m.gangs[gang].job;
  const StageId stage = gang_leader(m, gang);
  const bool used_up = ++m.stages.edit(stage).failures >= m.config.failure.max_stage_attempts;
  if (is_sink(m, stage) || used_up) {
    m.gangs.edit(gang).phase = GangPhase::failed;
    --m.counters.live_gangs;
    end_job(s, job,
            {model::JobOutcome::failed,
             is_sink(m, stage) ? cause : model::Code::stage_attempts_exceeded,
             m.names->intern("a barrier stage failed"), std::nullopt, std::nullopt});
    return;
  }
  forget_outputs(s, gang);
  plan_rerun(s, gang, m.config.failure.resubmit_delay);
}

void gang_timer_fired(Step& s, const TimerRow& timer) {
  Machine& m = s.m;
  const StageId leader = stage_of(m, timer.job, timer.consumer);
  const GangId gang = m.stages[leader].gang;
  if (timer.kind == TimerKind::locality) {
    m.wants_pass = true;
    return;
  }
  if (!gang.valid()) {
    return;
  }
  if (timer.kind == TimerKind::rerun) {
    for (RerunRow& row : m.reruns) {
      if (row.job == timer.job && row.leader == timer.consumer) {
        row.delay_over = true;
        note_if_due(m, row);
      }
    }
    return;
  }
  if (m.gangs[gang].phase != GangPhase::slots) {
    return;  // admitted, or an input is gone again
  }
  if (timer.kind == TimerKind::fall_back) {
    dissolve(s, gang);
  } else if (timer.kind == TimerKind::bulk) {
    if (!planted(Mutant::mu37)) {
      bulk_timed_out(s, gang);
    }
  } else if (m.gangs[gang].resting) {
    m.gangs.edit(gang).resting = false;
    m.queue.set_waiting(leader, Units{m});
    m.newly_ready.push_back(leader);
    m.wants_pass = true;
  }
}

}  // namespace rehearse::scheduler
