// Roll-back (X9, SS-1.10): a second attempt of an indeterminate stage may give other outputs than
// the first, so whatever was computed from the first is undone with it.
#include <algorithm>

#include "scheduler/duties_data.hpp"
#include "scheduler/slices.hpp"

namespace rehearse::scheduler {

namespace {

bool is_rolled_back(const StageRow& row) { return row.rolled_back == row.attempt; }

// The rows that stand for one stage: it and the takeovers of other jobs that read its outputs.
std::vector<StageId> stand_ins(const Machine& m, StageId stage) {
  std::vector<StageId> rows{stage};
  if (m.stages[stage].cold != none_u32) {
    for (const StageId reader : m.colds[m.stages[stage].cold].foreign_readers) {
      if (m.stages[reader].phase == StagePhase::dormant) {
        rows.push_back(reader);
      }
    }
  }
  return rows;
}

// What else is undone with the stage: members of a gang that is done, which is undone as a whole
// (X10). A gang that runs has given nothing yet.
void reach_members(const Machine& m, StageId stage, std::vector<std::uint32_t>& reached) {
  const GangId gang = m.stages[stage].gang;
  if (gang.valid() && m.gangs[gang].phase != GangPhase::running) {
    reached.insert(reached.end(), m.gangs[gang].members.begin(), m.gangs[gang].members.end());
  }
}

// The stage and all that read it, directly or not, in its job: producers first.
std::vector<StageId> with_readers(const Machine& m, StageId stage) {
  const JobRow& job = m.jobs[m.stages[stage].job];
  const model::StageGraph& graph = *job.graph;
  std::vector<bool> found(job.stages, false);
  std::vector<std::uint32_t> reached{m.stages[stage].index};
  while (!reached.empty()) {
    const std::uint32_t index = reached.back();
    reached.pop_back();
    if (found[index]) {
      continue;
    }
    found[index] = true;
    reach_members(m, StageId{job.first_stage.value + index}, reached);
    for (const auto children :
         {graph.regular_children.row(index), graph.pipelined_children.row(index)}) {
      reached.insert(reached.end(), children.begin(), children.end());
    }
  }
  std::vector<StageId> list;
  for (const std::uint32_t index : graph.topological) {
    if (found[index]) {
      list.push_back(StageId{job.first_stage.value + index});
    }
  }
  return list;
}

// Of a sink that other jobs read they are outputs, which can be made again.
bool gives_results(const Machine& m, StageId stage) {
  return is_sink(m, stage) && !m.stages[stage].shared;
}

// A result that was given away cannot be taken back.
bool has_results(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  if (!gives_results(m, stage)) {
    return false;
  }
  return is_member(m, stage) ? m.gangs[row.gang].committed_once && row.tasks > 0
                             : row.done > 0 || (row.sink_done && row.tasks > 0);
}

bool has_outputs(const Machine& m, StageId stage) {
  return !gives_results(m, stage) && m.stages[stage].done > 0;
}

void impossible(Step& s, JobId job, StageId stage) {
  Machine& m = s.m;
  end_job(s, job,
          {model::JobOutcome::failed, model::Code::indeterminate_result,
           m.names->intern("stage " + std::string(m.names->text(stage_name(m, stage))) +
                           " has given results of indeterminate data that must be computed anew"),
           std::nullopt, std::nullopt});
}

// The running attempt of a singleton ends; it comes again as after a fetch failure.
void stop_attempt(Step& s, StageId stage) {
  Machine& m = s.m;
  const std::int16_t attempt = m.stages[stage].attempt;
  for (const RunId run : live_runs(m, stage)) {
    if (m.runs[run].attempt == attempt) {
      kill_run(s, run, model::TaskReason::superseded);
    }
  }
  complete_attempt(s, stage, model::StageStatus::failed, model::StageReason::rolled_back);
  StageRow& row = m.stages.edit(stage);
  row.phase = StagePhase::stalled;
  row.failures = static_cast<std::uint8_t>(std::min(row.failures + 1, 255));
}

// It is committed, or waits to run again.
void undo_gang(Step& s, GangId gang) {
  Machine& m = s.m;
  std::vector<StageId> members;
  for (const std::uint32_t member : m.gangs[gang].members) {
    if (const StageId stage = stage_of(m, m.gangs[gang].job, member); has_readers(m, stage)) {
      members.push_back(stage);
    }
  }
  for (const StageId stage : members) {
    m.stages.edit(stage).rolled_back = m.stages[stage].attempt;
    drop_outputs(s, stage);
  }
  for (const StageId stage : members) {
    if (m.stages[stage].used) {
      set_available(s, stage, false);
    }
  }
}

void undo(Step& s, StageId reached, std::vector<StageId>& stopped) {
  Machine& m = s.m;
  const StageId stage = origin_of(m, reached);
  const StageRow& row = m.stages[stage];
  if (row.gang.valid()) {
    if (m.gangs[row.gang].phase == GangPhase::running) {
      fail_group(s, row.gang, model::Code::fetch_failed);  // what it reads is void (X1)
    } else {
      undo_gang(s, row.gang);
    }
    return;
  }
  if (row.attempt < 0 || !row.registered || is_rolled_back(row)) {
    return;
  }
  m.stages.edit(stage).rolled_back = row.attempt;
  ++cold_of(m, stage).rollbacks;
  if (row.phase == StagePhase::running) {
    stop_attempt(s, stage);
    stopped.push_back(stage);
  }
  drop_outputs(s, stage);
  set_available(s, stage, false);
}

}  // namespace

bool must_roll_back(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  return row.attempt >= 0 && row.registered && row.done < row.tasks && !row.gang.valid() &&
         !is_rolled_back(row) && spec_of(m, stage).indeterminate && !gives_results(m, stage);
}

namespace {

// Ended jobs of one query stand or fall with the live one (SS-1.10).
bool counts_in_query(const Machine& m, JobId ended, JobId live) {
  return m.engine.query_level_rollback && m.jobs.has(ended) && m.jobs[ended].query.valid() &&
         m.jobs[ended].query == m.jobs[live].query;
}

// What of the readers is undone; a job that cannot undo it ends, and nothing of it is.
void judge_readers(Step& s, JobId blamed, const std::vector<StageId>& readers,
                   std::vector<StageId>& reached) {
  Machine& m = s.m;
  const auto result = std::ranges::find_if(readers, [&m](StageId stage) {
    return has_results(m, stage) || (m.engine.old_fetch_protocol && has_outputs(m, stage));
  });
  if (result != readers.end()) {
    impossible(s, blamed, *result);
  } else {
    reached.insert(reached.end(), readers.begin(), readers.end());
  }
}

void undo_all(Step& s, const std::vector<StageId>& reached) {
  Machine& m = s.m;
  std::vector<StageId> stopped;
  for (const StageId stage : reached) {
    if (m.stages[stage].used && m.jobs.has(m.stages[stage].job) &&
        (lives(m, m.stages[stage].job) || m.engine.query_level_rollback)) {
      undo(s, stage, stopped);
    }
  }
  for (const StageId stage : stopped) {
    if (m.stages[stage].used && lives(m, m.stages[stage].job) &&
        m.stages[stage].phase == StagePhase::stalled) {
      resubmit_later(s, stage, none_u32);
    }
  }
}

// Where what goes with the producer is read: of a gang as a whole (X10), but of one that runs,
// where members give what they have made before the end, of this member alone.
std::vector<StageId> void_rows(const Machine& m, StageId producer) {
  const StageRow& row = m.stages[producer];
  if (!row.gang.valid() || m.gangs[row.gang].phase == GangPhase::running) {
    return stand_ins(m, producer);
  }
  std::vector<StageId> rows;
  for (const std::uint32_t member : m.gangs[row.gang].members) {
    const std::vector<StageId> more = stand_ins(m, stage_of(m, row.job, member));
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace

void roll_back(Step& s, StageId producer) {
  Machine& m = s.m;
  const GangId gang = m.stages[producer].gang;
  const bool goes_on = gang.valid() && m.gangs[gang].phase == GangPhase::running;
  std::vector<StageId> reached;
  for (const StageId row : void_rows(m, producer)) {
    if (!m.stages[row].used || !lives(m, m.stages[row].job)) {
      continue;  // its job ended with the row before, or it is reached through takeovers
    }
    std::vector<StageId> rows = with_readers(m, row);
    if (goes_on) {
      std::erase_if(rows,
                    [&m, gang](StageId one) { return m.stages[origin_of(m, one)].gang == gang; });
    }
    judge_readers(s, m.stages[row].job, rows, reached);
  }
  if (m.stages[producer].used && !lives(m, m.stages[producer].job)) {
    std::vector<StageId> none;
    undo(s, producer, none);  // whoever reads it, or will, makes it anew
  }
  undo_all(s, reached);
}

void roll_back_gang(Step& s, GangId gang) {
  const Machine& m = s.m;
  const GangRow& row = m.gangs[gang];
  StageId producer;
  for (const std::uint32_t member : row.members) {
    const StageId stage = stage_of(m, row.job, member);
    if (is_rolled_back(m.stages[stage])) {
      return;  // that is why it runs again
    }
    if (spec_of(m, stage).indeterminate && !gives_results(m, stage)) {
      producer = stage;
    }
  }
  if (producer.valid()) {
    roll_back(s, producer);
  }
}

void roll_back_readers(Step& s, StageId producer) {
  Machine& m = s.m;
  const JobId job = m.stages[producer].job;
  std::vector<StageId> rows = stand_ins(m, producer);
  const StageId origin = m.colds[m.stages[producer].cold].foreign;
  if (origin.valid()) {
    const std::vector<StageId> others = stand_ins(m, origin);
    rows.insert(rows.end(), others.begin(), others.end());
  }
  std::vector<StageId> reached;
  for (const StageId row : rows) {
    const JobId reader = m.stages[row].job;
    if (!lives(m, job) || (!lives(m, reader) && !counts_in_query(m, reader, job))) {
      continue;
    }
    std::vector<StageId> readers = with_readers(m, row);
    std::erase(readers, row);
    judge_readers(s, lives(m, reader) ? reader : job, readers, reached);
  }
  undo_all(s, reached);
}

void stale_success(Step& s, const RunRow& run) {
  const JobId job = s.m.stages[run.stage].job;
  if (lives(s.m, job) && gives_results(s.m, run.stage) && !is_all_done(s.m, run)) {
    impossible(s, job, run.stage);
    return;
  }
  attempt_maybe_over(s, run.stage);
}

}  // namespace rehearse::scheduler
