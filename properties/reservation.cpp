// What was admitted is there, and nobody else takes it (A2). Between group_admitted and the last
// launch of the step the group is owed its slots; what outlives the step must stand in
// `reservation` lines. Under `hold: bulk` gangs that wait hold slots by such lines: free ones, of
// what they lack, where tasks can be launched; they give them up when the executor goes or they
// wait no more, and with their admission they launch into them. Free counts come from physical
// events.
// registry: RESERVATION
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class Reservation final : public MonitorOf<Reservation> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::GroupAdmitted, model::Reservation, model::ExecutorHeld, model::TaskStart,
                 model::TaskEnd>();
  }
  [[nodiscard]] PlainTasks wants_plain_ends() const override { return PlainTasks::of_groups; }

  void task_start(const model::TaskStart& event, const Seen& seen) override {
    if (!track().takes_slot(event, seen)) {
      return;  // on a slot that its group holds
    }
    if (track().anything_owed()) {
      check_owed(event, seen);
    }
    if (!turned_.empty() && seen.group != nullptr) {
      launch_into_held(seen);
    }
    if (track().rules().config.accounting == model::Accounting::whole_executor) {
      check_idle(event, seen);
    }
    if (seen.executor->reserved_slots > 0 && (seen.group == nullptr || seen.group->reserved == 0)) {
      const bool fits = track().slots().fits_more({.executor = seen.executor_index,
                                                   .profile = seen.stage->profile,
                                                   .slots = event.task.size(),
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
      note(*line, seen);
    } else if (event.as<model::ExecutorHeld>() != nullptr) {
      closed_.push_back(seen.executor_index);
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
      const auto name = [&] { return track().name(track().job(ref.job), group); };
      if (group.state == GroupState::admitted && owed > group.reserved) {
        found(fmt::format("{} was admitted, {} of its slots are neither taken nor reserved (A2)",
                          name(), owed - group.reserved));
      }
      const bool again = piecewise() && group.live();  // it ended and waits anew in this instant
      if (group.closed_in == track().instant() && group.reserved > 0 && !again) {
        found(fmt::format("{} has ended and still has {} slots reserved (X4)", name(),
                          group.reserved));
      }
      if (piecewise() && group.state == GroupState::queued && !group.waits && group.reserved > 0) {
        found(fmt::format("{} is not ready and still has {} slots reserved (X15)", name(),
                          group.reserved));
      }
    }
    check_closed_executors();
    for (const auto& [place, slots] : turned_) {
      found(fmt::format("{} slots on {} were held for a group that launched nothing into them (A2)",
                        slots, track().text(track().slots().executor(place[2]).name)));
    }
    turned_.clear();
  }

 private:
  using Place = std::array<Index, 4>;  // job, first stage of the group, executor, profile

  [[nodiscard]] bool piecewise() const {
    return track().rules().config.admission.hold == model::Hold::bulk;
  }

  void note(const model::Reservation& line, const Seen& seen) {
    const Place place{seen.job_index, seen.group->first, seen.executor_index,
                      track().slots().find_profile(line.profile)};
    const std::int64_t after = (reserved_[place] += line.delta);
    if (after != line.slots) {
      found(fmt::format("{} has {} slots reserved on {}, the line says {} (A2)",
                        track().name(*seen.job, *seen.group), after, track().text(line.executor),
                        line.slots));
    }
    if (after <= 0) {
      reserved_.erase(place);
    }
    if (!piecewise()) {
      return;
    }
    if (line.delta > 0) {
      check_held(line, place, seen);
    } else if (seen.group->state == GroupState::admitted) {
      turned_[place] -= line.delta;
    }
  }

  // A2 bulk: what a gang holds is a part of its demand, on slots that are free.
  void check_held(const model::Reservation& line, const Place& place, const Seen& seen) {
    const std::string name = track().name(*seen.job, *seen.group);
    if (seen.group->state != GroupState::queued || !seen.group->waits) {
      found(fmt::format("{} reserves slots and does not wait for any (A2)", name));
    }
    const bool open = seen.executor->live && !seen.executor->held &&
                      track().slots().serves(seen.executor_index, place[3]);
    if (!open || !track().slots().fits_more({.executor = seen.executor_index,
                                             .profile = place[3],
                                             .slots = line.delta,
                                             .beside_reserved = true})) {
      found(fmt::format("{} reserves {} slots of {} on {} that are not free (A2)", name, line.delta,
                        track().text(line.profile), track().text(line.executor)));
    }
    std::int64_t held = 0;
    for (auto at = reserved_.lower_bound({place[0], place[1], 0, 0});
         at != reserved_.end() && at->first[0] == place[0] && at->first[1] == place[1]; ++at) {
      held += at->first[3] == place[3] ? at->second : 0;
    }
    if (held > seen.group->demand[place[3]]) {
      found(fmt::format("{} holds {} slots of {} and demands {} (A2)", name, held,
                        track().text(line.profile), seen.group->demand[place[3]]));
    }
  }

  void launch_into_held(const Seen& seen) {
    const auto turned =
        turned_.find({seen.job_index, seen.group->first, seen.executor_index, seen.stage->profile});
    if (turned != turned_.end() && --turned->second == 0) {
      turned_.erase(turned);
    }
  }

  // Where no task can be launched any more nothing stays held.
  void check_closed_executors() {
    if (closed_.empty() && track().lost_executors().empty()) {
      return;
    }
    for (const auto& [place, slots] : reserved_) {
      const Executor& executor = track().slots().executor(place[2]);
      if (piecewise() && (!executor.live || executor.held)) {
        found(fmt::format("{} slots are held on {}, which takes no launches (A2)", slots,
                          track().text(executor.name)));
      }
    }
    closed_.clear();
  }

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
    // Rests, and what waiting gangs hold, are no part of what is owed.
    const bool beside = piecewise() || track().rules().config.accounting != model::Accounting::sum;
    const std::int64_t set_aside = beside ? 0 : track().slots().reserved(profile);
    return std::max<std::int64_t>(0, track().owed()[profile] - set_aside);
  }

  void check_admission(const model::GroupAdmitted& event, const Seen& seen) {
    if (seen.group->reserved > 0 && !piecewise()) {
      return;
    }
    std::vector<std::int64_t> held(track().slots().profiles(), 0);  // by itself
    for (auto at = reserved_.lower_bound({seen.job_index, seen.group->first, 0, 0});
         at != reserved_.end() && at->first[0] == seen.job_index &&
         at->first[1] == seen.group->first;
         ++at) {
      held[at->first[3]] += at->second;
    }
    const auto free = track().slots().free();
    for (const model::ProfileCount& item : event.slots) {
      const Index p = track().slots().find_profile(item.profile);
      const std::int64_t left = p == no_index ? item.n : free[p] + held[p] - owed(p);
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
    if (own || profile == no_index) {
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

  std::map<Place, std::int64_t> reserved_;  // by `reservation` lines; above 0
  std::map<Place, std::int64_t> turned_;    // given up by an admission, not launched into yet
  std::vector<Index> closed_;               // executors that take no launches since the last look
};

}  // namespace

std::unique_ptr<Monitor> make_reservation(const Track& track) {
  return std::make_unique<Reservation>(track);
}

}  // namespace rehearse::properties
