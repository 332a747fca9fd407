// Axis `start: phased` (W6): members of a group admitted without slots whose tasks wait until all
// tasks of others are launched.
#include "model/phases.hpp"

#include <algorithm>

#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

void plan_phases(const Machine& m, JobRow& job) {
  if (m.config.start == model::Start::phased) {
    job.phases = std::make_shared<const model::Rows>(model::phases_before(*job.spec, *job.graph));
  }
}

bool is_held_back(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  const JobRow& job = m.jobs[row.job];
  return job.phases && row.gang.valid() &&
         std::ranges::any_of(job.phases->row(row.index), [&](std::uint32_t other) {
           return m.stages[stage_of(m, row.job, other)].pending > 0;
         });
}

}  // namespace rehearse::scheduler
