// Who may commit (SS-1.11): for engines whose tasks ask before they commit. Of a partition one try
// at most holds the right while the stage lives; what it committed stays, so success keeps it.
#include <algorithm>

#include "scheduler/duties.hpp"
#include "scheduler/slices.hpp"

namespace rehearse::scheduler {

namespace {

using Try = StageCold::CommitTry;

bool is_known(const Machine& m, const CommitTry& key) {
  return m.jobs.has(key.job) && lives(m, key.job) && key.stage.value < m.jobs[key.job].stages;
}

void release(StageCold& cold, const Try& ended) {
  cold.failed_commits.push_back(ended);
  std::erase(cold.commit_holders, ended);
}

}  // namespace

void commit_asked(Step& s, const CommitAsked& input) {
  Machine& m = s.m;
  bool granted = false;
  if (is_known(m, input.task) && !m.engine.refuse_commits) {
    const StageId stage = stage_of(m, input.task.job, input.task.stage.value);
    const StageRow& row = m.stages[stage];
    const bool open = row.attempt >= 0 && row.phase != StagePhase::done;
    StageCold& cold = cold_of(m, stage);
    const Try asks{input.task.partition, input.task.attempt, input.task.try_number};
    const bool free = std::ranges::find(cold.commit_holders, asks.partition, &Try::partition) ==
                      cold.commit_holders.end();
    const bool failed = std::ranges::find(cold.failed_commits, asks) != cold.failed_commits.end();
    granted = open && free && !failed;
    if (granted) {
      cold.commit_holders.push_back(asks);
    }
  }
  s.out.list.emplace_back(CommitAnswered{input.task, granted});
}

void commit_ended(Machine& m, const CommitEnded& input) {
  if (is_known(m, input.task)) {
    release(cold_of(m, stage_of(m, input.task.job, input.task.stage.value)),
            {input.task.partition, input.task.attempt, input.task.try_number});
  }
}

void release_commit(Machine& m, const RunRow& run) {
  const std::uint32_t cold = m.stages[run.stage].cold;
  if (cold != none_u32 && !m.colds[cold].commit_holders.empty()) {
    for (const std::int32_t p : partitions_of(run)) {
      release(m.colds[cold], {p, run.attempt, run.try_number});
    }
  }
}

void end_commits(StageCold& cold) {
  cold.commit_holders.clear();
  cold.failed_commits.clear();
}

}  // namespace rehearse::scheduler
