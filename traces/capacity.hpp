// What an idle cluster has room for (A4, A5): used to say beforehand which gangs can never be
// admitted. Counts for executors bound to a profile; a trial placement where unbound executors
// could serve several demanded profiles.
#pragma once

#include <cstdint>
#include <vector>

#include "model/cluster.hpp"
#include "model/fault_plan.hpp"
#include "model/trace.hpp"

namespace rehearse::traces {

// Tasks of one stage, for a placement in which stages matter.
struct StageDemand {
  model::ProfileId profile;
  std::int64_t tasks = 0;
};

class IdleCapacity {
 public:
  // Executors that live at `at` or join later, without those that a fault plan or `ends` (by index
  // of Cluster::executors; may be empty) takes away at or before `at`; with those it adds.
  IdleCapacity(const model::Cluster& cluster, const model::FaultPlan& faults,
               const std::vector<model::ExecutorEnd>& ends, model::Instant at);

  // Slots of a profile, everything idle, nothing else there.
  [[nodiscard]] std::int64_t slots(model::ProfileId profile) const;
  // A5: whether all tasks of the stages fit at once.
  [[nodiscard]] bool fits(const std::vector<StageDemand>& stages) const;

 private:
  [[nodiscard]] bool fits_by_trial(const std::vector<StageDemand>& stages) const;

  const model::Cluster& cluster_;
  std::vector<const model::ExecutorSpec*> executors_;
  std::vector<std::int64_t> slots_;  // by profile
  bool unbound_ = false;
};

// Fills trace.load.infeasible (T013): per stage whether one task fits on any executor of the trace,
// per group of the marks that the trace carries whether all its tasks do.
void find_infeasible(model::Trace& trace);

}  // namespace rehearse::traces
