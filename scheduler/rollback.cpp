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

// A result that was given away cannot be taken back.
bool has_results(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  if (!is_sink(m, stage)) {
    return false;
  }
  return is_member(m, stage) ? m.gangs[row.gang].committed_once && row.tasks > 0
                             : row.done > 0 || (row.sink_done && row.tasks > 0);
}

bool has_outputs(const Machine& m, StageId stage) {
  return !is_sink(m, stage) && m.stages[stage].done > 0;
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

void undo(Step& s, StageId reached, std::vector<StageId>& stopped) {
  Machine& m = s.m;
  const StageId stage = origin_of(m, reached);
  const StageRow& row = m.stages[stage];
  if (row.gang.valid()) {
    if (m.gangs[row.gang].phase == GangPhase::running) {
      fail_group(s, row.gang, model::Code::fetch_failed);  // what it reads is void (X1)
    } else if (has_readers(m, stage)) {
      // It is committed, or waits to run again.
      drop_outputs(s, stage);
      set_available(s, stage, false);
    }
    return;
  }
  if (row.attempt < 0 || is_rolled_back(row)) {
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
  return row.attempt >= 0 && row.done < row.tasks && !row.gang.valid() && !is_rolled_back(row) &&
         spec_of(m, stage).indeterminate && !is_sink(m, stage);
}

namespace {

// Ended jobs of one query stand or fall with the live one (SS-1.10).
bool counts_in_query(const Machine& m, JobId ended, JobId live) {
  return m.engine.query_level_rollback && m.jobs.has(ended) && m.jobs[ended].query.valid() &&
         m.jobs[ended].query == m.jobs[live].query;
}

// Results of a job that ends with a stage which others read are its outputs.
bool has_given_results(const Machine& m, StageId stage) {
  return has_results(m, stage) && !m.stages[stage].shared;
}

// What of the readers is undone; a job that cannot undo it ends, and nothing of it is.
void judge_readers(Step& s, JobId blamed, const std::vector<StageId>& readers,
                   bool (*given)(const Machine&, StageId), std::vector<StageId>& reached) {
  Machine& m = s.m;
  const auto result = std::ranges::find_if(readers, [&m, given](StageId stage) {
    return given(m, stage) || (m.engine.old_fetch_protocol && has_outputs(m, stage));
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

}  // namespace

void roll_back(Step& s, StageId producer) {
  Machine& m = s.m;
  const GangId gang = m.stages[producer].gang;
  const bool made_again = gang.valid() && m.gangs[gang].phase == GangPhase::running;
  std::vector<StageId> reached;
  for (const StageId row : stand_ins(m, producer)) {
    if (lives(m, m.stages[row].job)) {  // else it is reached through takeovers
      std::vector<StageId> rows = with_readers(m, row);
      if (made_again) {  // what it had is void from its admission on
        std::erase_if(rows,
                      [&m, gang](StageId one) { return m.stages[origin_of(m, one)].gang == gang; });
      }
      judge_readers(s, m.stages[row].job, rows, has_results, reached);
    }
  }
  undo_all(s, reached);
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
    judge_readers(s, lives(m, reader) ? reader : job, readers, has_given_results, reached);
  }
  undo_all(s, reached);
}

void stale_success(Step& s, const RunRow& run) {
  const JobId job = s.m.stages[run.stage].job;
  if (lives(s.m, job) && is_sink(s.m, run.stage) && !is_all_done(s.m, run)) {
    impossible(s, job, run.stage);
    return;
  }
  attempt_maybe_over(s, run.stage);
}

}  // namespace rehearse::scheduler
