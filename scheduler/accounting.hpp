// What the stages of one group reserve together (A10): on each executor the largest number of slots
// that any one of its stages uses there (`largest-stage`), or all of an idle one
// (`whole-executor`). Every profile counts for itself: a slot is one of a profile. Concerns groups
// of two or more stages; under accounting `sum` no row exists and nothing here is called but
// in_share. Internal to scheduler/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

[[nodiscard]] inline bool shares_slots(const Machine& m, std::size_t members) {
  return m.config.accounting != model::Accounting::sum && members > 1;
}
[[nodiscard]] inline bool takes_idle_only(const Machine& m, std::size_t members) {
  return m.config.accounting == model::Accounting::whole_executor && members > 1;
}

// Demand and amounts of a unit by its widest stage of each profile, in place of their sums.
void count_widest(const Machine& m, const model::JobSpec& spec,
                  std::span<const std::uint32_t> members, GangRow& unit);

// Slots of one profile on one executor.
struct Part {
  ExecutorId executor;
  ProfileId profile;
  std::int32_t slots = 0;
};
// The largest number that one stage uses, by (executor, profile) ascending.
[[nodiscard]] std::vector<Part> parts_of(const model::JobSpec& spec,
                                         std::span<const Placed> placed);

// Stages in the order of the trial: dominant share descending, ties in file order (A4).
[[nodiscard]] std::vector<std::uint32_t> trial_order(const Ledger& slots,
                                                     const model::JobSpec& spec,
                                                     const GangRow& gang);
// A4, A10: as trial(). The widest stage of each profile is placed and takes its slots; the others
// of that profile run inside them, in number order from the first, so the reservation is as wide as
// the widest stage, whatever is preferred. Stages follow one another in `placed`, each by
// partition.
[[nodiscard]] Fit shared_trial(Machine& m, const TrialOn& on, const JobRow& job,
                               const GangRow& gang, std::vector<Placed>& placed);
// Of each profile the stage whose tasks take the slots: the first in `order` that is as wide as the
// demand; none_u32 where there is none.
[[nodiscard]] std::vector<std::uint32_t> widest_stages(const model::JobSpec& spec,
                                                       const GangRow& gang,
                                                       std::span<const std::uint32_t> order);
// Places the tasks of all other stages inside what those in `placed` took.
void place_others(const Machine& m, const TrialOn& on, const JobRow& job, const GangRow& gang,
                  std::vector<Placed>& placed);
// Gives back what a trial that succeeded took.
void undo_shared(Ledger& slots, const model::JobSpec& spec, std::span<const Placed> placed);
// A17, for a gang behind the head: takes what would not be back by its start from `outlook`; false
// if the head would miss it.
[[nodiscard]] bool shares_are_harmless(Machine& m, Outlook& outlook, JobId job,
                                       std::span<const Placed> placed);

// In the step of the admission: the rows of what the trial took, under whole-executor with the rest
// of each executor; then each run, as it starts; then the `reservation` lines of the rests.
void open_shares(Step& s, GangId gang, std::span<const Placed> placed);
void join_share(Machine& m, GangId gang, RunId run);
void tell_rests(Step& s, GangId gang);

[[nodiscard]] inline bool in_share(const Machine& m, RunId run) {
  return run.index() < m.share_of.size() && m.share_of[run.index()].valid();
}
// The run is over and its slot free. The last one gives all of its share back.
void leave_share(Step& s, RunId run);
// X4, X14: the attempt is over; rests are free at once, slots when the kills took effect.
void close_shares(Step& s, GangId gang);

// Slots by profile on executors that are idle.
void count_idle(const Machine& m, std::vector<std::int64_t>& have);
// Adds the slots of all shares, by profile.
void add_shared(const Machine& m, std::vector<std::int64_t>& slots);
// Shares with a rest: reservations that outlive their step.
[[nodiscard]] std::int64_t rests(const Machine& m);

}  // namespace rehearse::scheduler
