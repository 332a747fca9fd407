// Tasks that are tried again, and how often (X9, decision 2). What a failure does beside that to a
// stage or a group belongs to failure.cpp.
#include <algorithm>
#include <string>

#include "scheduler/accounting.hpp"
#include "scheduler/duties_data.hpp"
#include "scheduler/places.hpp"
#include "scheduler/slices.hpp"
#include "scheduler/speculation.hpp"

namespace rehearse::scheduler {

namespace {

// Counts a failure of the partition; the number so far.
std::int32_t count_failure(Machine& m, StageId stage, std::int32_t partition) {
  StageCold& cold = cold_of(m, stage);
  auto found = std::ranges::find(cold.tries, partition, &StageCold::Tries::partition);
  if (found == cold.tries.end()) {
    cold.tries.push_back({partition, 1, 0});
    found = cold.tries.end() - 1;
  }
  return planted(Mutant::c03) ? found->failures++ : ++found->failures;
}

bool counts_towards_limit(std::optional<model::TaskReason> reason) {
  return reason == model::TaskReason::exception || reason == model::TaskReason::result_lost ||
         reason == model::TaskReason::out_of_memory;
}

void used_up(Step& s, StageId stage, std::int32_t partition, model::Code cause) {
  Machine& m = s.m;
  const std::string detail = "partition " + std::to_string(partition) + " of stage " +
                             std::string(m.names->text(stage_name(m, stage))) +
                             " used up its tries";
  if (!is_member(m, stage)) {  // a group's attempt is torn down with its job
    complete_attempt(s, stage, model::StageStatus::failed,
                     cause == model::Code::executor_lost ? model::StageReason::executor_lost
                                                         : model::StageReason::task_failed);
  }
  abort_stage(s, stage, cause, m.names->intern(detail));
}

// Failures that do not count have no limit in the configuration; a task that fails so for ever has
// failed all the same (decision 2).
bool tried_for_ever(const Machine& m, StageId stage, std::int32_t partition) {
  constexpr std::int32_t tries_max = 1'000;
  const std::vector<StageCold::Tries>& tries = m.colds[m.stages[stage].cold].tries;
  const auto found = std::ranges::find(tries, partition, &StageCold::Tries::partition);
  return found != tries.end() && found->tries >= tries_max;
}

}  // namespace

bool below_limit(Step& s, const RunRow& run, std::int32_t partition, model::Code cause) {
  Machine& m = s.m;
  if (m.engine.exclusion.on_failure) {
    note_failure(m, run.stage, partition, run.executor);
  }
  if (count_failure(m, run.stage, partition) < m.config.failure.max_task_failures) {
    return true;
  }
  used_up(s, run.stage, partition, cause);
  return false;
}

void retry_partition(Machine& m, StageId stage, std::int32_t partition) {
  if (runs_now(m, stage, partition) || runs_in_slice(m, stage, partition)) {
    return;  // its copy, or what it was a copy of, goes on; or a slice of which it is a part
  }
  StageCold& cold = cold_of(m, stage);
  const auto found = std::ranges::find(cold.tries, partition, &StageCold::Tries::partition);
  if (found == cold.tries.end()) {
    cold.tries.push_back({partition, 1, 0});
  }
  const auto at = std::ranges::lower_bound(cold.again, partition, std::ranges::greater{});
  RH_CHECK(at == cold.again.end() || *at != partition, stage.value, partition);
  cold.again.insert(at, partition);
  StageRow& row = m.stages.edit(stage);
  if (row.pending++ == 0) {
    m.queue.set_pending(stage, ProfileId{std::uint32_t{row.profile}});
  }
  m.wants_pass = true;
}

void retry_failed_run(Step& s, const RunRow& run, std::optional<model::TaskReason> reason) {
  Machine& m = s.m;
  const StageId stage = run.stage;
  if (is_all_done(m, run)) {
    attempt_maybe_over(s, stage);  // another try of it had counted
    return;
  }
  for (const std::int32_t p : partitions_of(run)) {
    if (output_executor(m, stage, p) != none_u32) {
      continue;
    }
    if (tried_for_ever(m, stage, p)) {
      used_up(s, stage, p, model::Code::task_failed);
      return;
    }
    if (!counts_towards_limit(reason) || below_limit(s, run, p, model::Code::task_failed)) {
      retry_partition(m, stage, p);
    } else {
      return;  // its job is over
    }
  }
  judge_starvation(s, stage);  // A14: until now all of it may have run
}

void retry_member(Step& s, const RunRow& run) {
  if (tried_for_ever(s.m, run.stage, run.partition)) {
    used_up(s, run.stage, run.partition, model::Code::task_failed);
    return;
  }
  retry_partition(s.m, run.stage, run.partition);
  judge_starvation(s, run.stage);  // A14: until now all of it may have run
}

}  // namespace rehearse::scheduler
