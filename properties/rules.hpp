// What the first line of a journal says about how to judge the rest: the axes as resolved, the one
// overhead that decides when a slot must be back, and facts that no other line shows. Nothing here
// comes from a scenario file.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "model/scheduler_config.hpp"
#include "model/support/events_run.hpp"
#include "model/support/names.hpp"
#include "model/waiting_bound.hpp"

namespace rehearse::properties {

// A job asks for a pipelined shuffle of another one (F7, `reuse`): the stage of its own that takes
// the place of that job's stage.
struct Reuse {
  std::string reader;  // jobs without "#n"
  std::string from;
  std::string owner;
  std::string stage;
  auto operator<=>(const Reuse&) const = default;
};

struct Rules {
  model::SchedulerConfig config;  // axes a line does not have keep the value of its dialect
  model::WaitingBound waiting_bound = model::WaitingBound::unbounded;  // A7, of its pair
  model::Timing timing = model::Timing::scripted;
  // overheads.kill when it is one fixed duration; absent when it is drawn or not written.
  std::optional<model::Duration> kill_latency_ns;
  // False when the lines of jobs submitted at one instant do not come in the order of their ranks
  // (A18): inputs are permuted, or jobs come in several rounds of it.
  bool ties_in_order = true;
  // Stages of a recorded system count as ready some time after their inputs are there; no line says
  // when.
  bool delayed_starts = false;
  bool indeterminate = false;  // stages of which a second attempt may give other outputs (SS-1.10)
  bool autoscaled = false;     // executors come and go by themselves
  // From here on nothing is taken away and nothing new comes (model/healing.hpp).
  std::optional<model::Instant> heals_at;
  std::vector<Reuse> reuses;  // by reader

  // C4: members complete in one block and register their outputs there.
  [[nodiscard]] bool commits_as_group() const {
    return config.completion == model::Completion::group;
  }
  // A2: slots are set aside at admission (or taken one by one while waiting).
  [[nodiscard]] bool sets_slots_aside() const {
    return config.admission.hold == model::Hold::reserve ||
           config.admission.hold == model::Hold::bulk;
  }
  // A22: an executor offers so many times its slots; 0: no bound.
  [[nodiscard]] std::int64_t slots_factor() const {
    return config.slots == model::SlotsAxis::shared ? config.slots_factor : 1;
  }
};

// Axes and values this version does not know are left at the dialect's own: a journal of another
// system is judged by what it does say.
[[nodiscard]] Rules rules_of(const model::RunStart& run, const model::NameTable& names);

}  // namespace rehearse::properties
