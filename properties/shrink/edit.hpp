// Parts of a scenario taken out, with what refers to them: what is left is a scenario that a
// reader would accept. The passes of the shrinker are made of these.
#pragma once

#include <cstddef>
#include <functional>

#include "model/scenario.hpp"

namespace rehearse::properties {

// Items first to first + count - 1 of a list.
struct Part {
  std::size_t first = 0;
  std::size_t count = 1;
};

// None of these repairs; whoever composes a candidate calls repair() once.
void remove_faults(model::Scenario& scenario, const Part& part);  // of FaultPlan::order
void remove_jobs(model::Scenario& scenario, const Part& part);
void remove_executors(model::Scenario& scenario, const Part& part);
void remove_stages(model::JobSpec& job, const Part& part);
// The same for one stage, whose readers read what it read: over a pipelined edge when both were.
void contract_stage(model::JobSpec& job, std::size_t stage);

// Drops faults, edges, preferences and waits that name what is not there any more, cuts lists to
// the number of tasks, and makes every sink a result.
void repair(model::Scenario& scenario);

// The job that a name means, its copies and resubmissions included; jobs.size() when there is none.
[[nodiscard]] std::size_t job_named(const model::Scenario& scenario, model::NameId name);

// Everything to the profile "default", and no resource but those it names.
void merge_profiles(model::Scenario& scenario);

// Jobs A, B, ..., stages s1, s2, ..., executors E1, E2, ..., hosts as few as they are; names that
// nobody uses are forgotten.
void rename(model::Scenario& scenario);
// Has rename() been here?
[[nodiscard]] bool is_renamed(const model::Scenario& scenario);

}  // namespace rehearse::properties
