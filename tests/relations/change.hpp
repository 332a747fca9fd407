// Scenarios made from scenarios. What is returned may be run as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/scenario.hpp"

namespace rehearse::testing {

inline constexpr std::string_view unused_name = "zz-unused";
inline constexpr std::string_view cancelled_name = "zz-cancelled";

// An executor of a profile and with a resource of which nobody else has anything, there from the
// start.
[[nodiscard]] model::Scenario with_unused_executor(model::Scenario scenario);
// One like the first, but at speed 1, there from the start, serving what that serves.
[[nodiscard]] model::Scenario with_one_more_executor(model::Scenario scenario);
// Every executor a thousand times as large.
[[nodiscard]] model::Scenario with_ample_slots(model::Scenario scenario);

// Every duration and instant times `factor`, those of the configuration too. Nothing where not all
// times are given outright (draws, speeds), or where work shares slots and is rounded.
[[nodiscard]] std::optional<model::Scenario> with_scaled_times(model::Scenario scenario,
                                                               std::int64_t factor);
// Every instant later, but for executors that are there from the start.
[[nodiscard]] model::Scenario with_shifted_times(model::Scenario scenario, model::Duration by);

// One more job, of one task.
[[nodiscard]] model::Scenario with_job_at(model::Scenario scenario, model::Instant submit);
// Nothing when anything else speaks of the job, when it reads stages of others, whose outputs are
// told of for that reason, or when faults count events of any job.
[[nodiscard]] std::optional<model::Scenario> without_job(model::Scenario scenario,
                                                         std::string_view name);

// A last job, of two stages that start together and need every slot for `default` that executors of
// the file have, submitted and cancelled. Nothing if those are too few.
[[nodiscard]] std::optional<model::Scenario> with_cancelled_gang(model::Scenario scenario,
                                                                 model::Instant submitted,
                                                                 model::Instant cancelled);
// Every kind of fault, at every kind of moment of which there are never so many, and on attempts of
// tasks that nobody gets to.
[[nodiscard]] model::Scenario with_faults_that_never_come(model::Scenario scenario);

}  // namespace rehearse::testing
