// What was admitted is there, and nobody else takes it (A2). Between group_admitted and the last
// launch of the step the group is owed its slots; what outlives the step must stand in
// `reservation` lines. Free counts come from physical events.
// registry: RESERVATION
#include <fmt/format.h>

#include <algorithm>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class Reservation final : public MonitorOf<Reservation> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::GroupAdmitted, model::Reservation, model::TaskStart, model::TaskEnd>();
  }

  void task_start(const model::TaskStart& event, const Seen& seen) override {
    if (!track().takes_slot(event, seen)) {
      return;  // on a slot that its group holds
    }
    if (track().anything_owed()) {
      check_owed(event, seen);
    }
    if (track().rules().config.accounting == model::Accounting::whole_executor) {
      check_idle(event, seen);
    }
    if (seen.executor->reserved_slots > 0 && (seen.group == nullptr || seen.group->reserved == 0)) {
      const bool fits = track().slots().fits_more({.executor = seen.executor_index,
                                                   .profile = seen.stage->profile,
                                                   .slots = event.task.size(),
                                                   .factor = 1,
                                                   .beside_reserved = true});
      if (!fits) {
        found(fmt::format("{} launched into slots reserved on {} (A2)", track().name(event.task),
                          track().text(event.task.executor)));
      }
    }
  }

  // C3, A10: a slot that is shared does not come back with a task.
  void task_end(const model::TaskEnd& event, const Seen& seen) override {
    if (!event.slot && seen.executor->live && seen.group != nullptr &&
        track().shares_slots(seen.group->members.size())) {
      found(fmt::format("{} gave back a slot that its group shares on {} (A10)",
                        track().name(event.task), track().text(event.task.executor)));
    }
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (const auto* admitted = event.as<model::GroupAdmitted>()) {
      check_admission(*admitted, seen);
    } else if (const auto* line = event.as<model::Reservation>()) {
      const std::int64_t after = seen.group->reserved + line->delta;
      if (line->slots < 0 || after < 0) {
        found(fmt::format("{} has {} slots reserved after {:+} (A2)",
                          track().name(*seen.job, *seen.group), after, line->delta));
      }
    }
  }

  // What is owed at quiescence must be reserved: nothing else would keep others out.
  void instant_over() override {
    for (const GroupRef ref : track().touched_groups()) {
      const Group& group = track().group(ref);
      std::int64_t owed = 0;
      for (const std::int64_t n : group.owed) {
        owed += n;
      }
      const std::string name = track().name(track().job(ref.job), group);
      if (group.state == GroupState::admitted && owed > group.reserved) {
        found(fmt::format("{} was admitted, {} of its slots are neither taken nor reserved (A2)",
                          name, owed - group.reserved));
      }
      if (group.closed_in == track().instant() && group.reserved > 0) {
        found(
            fmt::format("{} has ended and still has {} slots reserved (X4)", name, group.reserved));
      }
    }
  }

 private:
  // A10 whole-executor: nothing of others is on an executor when a group takes it.
  void check_idle(const model::TaskStart& event, const Seen& seen) {
    if (seen.group == nullptr || !seen.group->gang_of_several()) {
      return;
    }
    const model::NameId group = seen.job->body->stages[seen.group->first].name;
    std::int64_t own = 0;
    for (const auto& share : track().shared().on(event.task.executor)) {
      own += share.job == event.task.job && share.group == group ? share.slots : 0;
    }
    if (seen.executor->busy_slots > own) {
      found(fmt::format("{} launched on {}, where {} slots are taken by others (A10)",
                        track().name(event.task), track().text(event.task.executor),
                        seen.executor->busy_slots - own));
    }
  }

  // Slots of the profile that admitted groups have neither taken nor reserved.
  [[nodiscard]] std::int64_t owed(Index profile) const {
    const bool rests = track().rules().config.accounting != model::Accounting::sum;
    const std::int64_t set_aside = rests ? 0 : track().slots().reserved(profile);
    return std::max<std::int64_t>(0, track().owed()[profile] - set_aside);
  }

  void check_admission(const model::GroupAdmitted& event, const Seen& seen) {
    if (!track().rules().exclusive_slots() || seen.group->reserved > 0) {
      return;
    }
    const auto free = track().slots().free();
    for (const model::ProfileCount& item : event.slots) {
      const Index p = track().slots().find_profile(item.profile);
      const std::int64_t left = p == no_index ? item.n : free[p] - owed(p);
      if (item.n > left) {
        found(fmt::format("{} admitted with {} slots of {} where {} are free (A2)",
                          track().name(event.group), item.n, track().text(item.profile), left));
      }
    }
  }

  // The launch of a group takes what is owed to it; any other launch must leave it there.
  void check_owed(const model::TaskStart& event, const Seen& seen) {
    const Index profile = seen.stage->profile;
    const bool own = seen.group != nullptr && seen.group->attempt == event.task.attempt &&
                     profile != no_index && seen.group->owed[profile] > 0;
    if (own || profile == no_index || !track().rules().exclusive_slots()) {
      return;
    }
    // A task of this profile takes one of its slots; of other profiles it takes what the next
    // admission or launch check sees.
    if (track().slots().free()[profile] - event.task.size() < owed(profile)) {
      found(fmt::format("{} launched on {} while {} slots of {} are owed to admitted groups (A2)",
                        track().name(event.task), track().text(event.task.executor), owed(profile),
                        track().profile_text(profile)));
    }
  }
};

}  // namespace

std::unique_ptr<Monitor> make_reservation(const Track& track) {
  return std::make_unique<Reservation>(track);
}

}  // namespace rehearse::properties
