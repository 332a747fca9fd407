// Nothing that may start and fits is left waiting when an instant is over (A8, A16, A20): neither
// tasks of regular stages nor gangs that are ready, whether or not somebody has looked at them.
// What cannot be told from a journal counts as not allowed or not fitting: what `easy` lets pass
// behind a head, the order of queues that go by demand, seed or running tasks when there is a
// head, the tasks of stages that wait for a place near their data (A13), and a trial on executors
// that serve every profile when several profiles are asked for (A4). Gangs under `retry` and under
// `hold: none` do not queue; with a `capacity` other than free they are not judged.
// registry: WORK_CONSERVING
#include <fmt/format.h>

#include <algorithm>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

using model::Overtake;

// Gangs looked at where each of them might be the head.
constexpr std::size_t heads_max = 64;

class WorkConserving final : public MonitorOf<WorkConserving> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::RunStart, model::GroupAdmitted>();
  }
  [[nodiscard]] bool wants_every_instant() const override { return true; }

  void event(const model::Event& event, const Seen& /*seen*/) override {
    if (event.as<model::GroupAdmitted>() != nullptr) {
      ++admitted_;
    }
  }

  void every_instant_over() override {
    const WaitBook& waits = track().waits();
    if ((waits.gang_count() > 0 || waits.any_stage()) && track().slots().certain() &&
        judged(RunOver::done)) {
      check_all();
    }
    admitted_ = 0;
  }

  [[nodiscard]] bool judged(RunOver /*over*/) const override {
    const model::AdmissionConfig& admission = config().admission;
    return admission.hold != model::Hold::bulk && !admission.queue_object &&
           !admission.overtake_object &&
           config().accounting != model::Accounting::whole_executor;  // free is not idle
  }

 private:
  [[nodiscard]] const model::SchedulerConfig& config() const { return track().rules().config; }

  // Free slots are counted last: at most instants nothing waits, or nothing came back.
  void check_all() {
    const WaitBook& waits = track().waits();
    if (waits.gang_count() > 0 && gangs_changed()) {
      check_gangs();
    }
    const bool stages = waits.any_stage() && config().locality_wait == 0;
    for (std::size_t lane = 0; stages && lane < waits.lanes(); ++lane) {
      for (std::size_t profile = 0; profile < track().slots().profiles(); ++profile) {
        check_stages(static_cast<Index>(lane), static_cast<Index>(profile));
      }
    }
  }

  // Slots left for a profile beside what admitted gangs have not launched yet (A2 check).
  [[nodiscard]] std::int64_t left(std::int64_t free, std::size_t profile) const {
    return track().rules().sets_slots_aside() ? free : free - track().owed()[profile];
  }

  // What did not fit when it was looked at last still does not, unless something came back or a
  // gang came or went.
  [[nodiscard]] bool gangs_changed() {
    const SlotBook& slots = track().slots();
    const bool same_gangs = looked_at_ == track().waits().gang_changes();
    looked_at_ = track().waits().gang_changes();
    if (same_gangs && returns_ == slots.returns() && track().rules().sets_slots_aside()) {
      return false;
    }
    returns_ = slots.returns();
    const auto free = slots.free();
    bool changed = !same_gangs || free_.size() != free.size();
    for (std::size_t p = 0; p < free.size() && !changed; ++p) {
      changed = left(free[p], p) > free_[p];
    }
    free_.resize(free.size());
    for (std::size_t p = 0; p < free.size(); ++p) {
      free_[p] = left(free[p], p);
    }
    return changed;
  }

  // For certain: tasks of one profile find every slot, and slots of bound executors are nobody
  // else's.
  [[nodiscard]] bool fits(const Group& gang) const {
    if (config().admission.capacity != model::Capacity::free) {
      return false;
    }
    const auto& demand = gang.demand;
    const auto profiles =
        demand.size() - static_cast<std::size_t>(std::count(demand.begin(), demand.end(), 0));
    const auto free = profiles > 1 ? track().slots().bound_free() : track().slots().free();
    for (std::size_t p = 0; p < demand.size(); ++p) {
      if (demand[p] > 0 && demand[p] > left(free[p], p)) {
        return false;
      }
    }
    return true;
  }

  // May whatever fits start, whoever is the head (A7)?
  [[nodiscard]] bool everybody_may() const {
    if (config().admission.overtake != Overtake::aging) {
      return config().admission.overtake == Overtake::backfill;
    }
    const WaitBook& waits = track().waits();
    if (waits.gang_count() > heads_max) {
      return false;
    }
    for (std::size_t lane = 0; lane < waits.lanes(); ++lane) {
      for (const UnitKey& key : waits.gangs(static_cast<Index>(lane))) {
        if (track().now() - track().gang(key).waits_since >= config().admission.aging_after) {
          return false;
        }
      }
    }
    return true;
  }

  void check_gangs() {
    const WaitBook& waits = track().waits();
    const auto depth = static_cast<std::size_t>(
        std::max<std::int64_t>(0, config().admission.depth - static_cast<std::int64_t>(admitted_)));
    const bool in_order = waits.one_lane() && waits.ordered() && track().rules().ties_in_order;
    if (depth == 0) {
      return;  // what lies deeper waits for the next pass (A20)
    }
    if (everybody_may() && (in_order || waits.gang_count() <= depth)) {
      look_at(depth);
    } else if (waits.gang_count() == 1) {
      look_at(1);
    } else if (waits.one_lane()) {
      if (const UnitKey* first = waits.first_gang(0)) {
        check_gang(*first);
      }
    }
  }

  void look_at(std::size_t count) {
    const WaitBook& waits = track().waits();
    for (std::size_t lane = 0; lane < waits.lanes(); ++lane) {
      for (const UnitKey& key : waits.gangs(static_cast<Index>(lane))) {
        if (count == 0) {
          return;
        }
        --count;
        check_gang(key);
      }
    }
  }

  void check_gang(const UnitKey& key) {
    const Group& gang = track().gang(key);
    const Job& job = track().job(key.job);
    const auto ready = [&](Index member) {
      return track().incomplete_input(job, job.body->stages[member]) == no_index;
    };
    if (fits(gang) && std::all_of(gang.members.begin(), gang.members.end(), ready)) {
      found(
          fmt::format("{} is ready and fits, and was not admitted (A8)", track().name(job, gang)));
    }
  }

  // Nothing but a head that is before it, and might be one, keeps a regular task from a free slot.
  [[nodiscard]] bool may_start(const UnitKey& stage, Index profile) const {
    const WaitBook& waits = track().waits();
    if (waits.gang_count() == 0 || everybody_may()) {
      return true;
    }
    if (waits.one_lane()) {
      const UnitKey* first = waits.first_gang(0);
      if (first != nullptr && waits.certainly_before(stage, *first)) {
        return true;
      }
    }
    // Under `easy` unbound executors make totals of resources count, over all of them (A17).
    const bool by_totals =
        config().admission.overtake == Overtake::easy && track().slots().has_unbound();
    return !by_totals && track().slots().bound_free()[profile] > 0 && !demanded(profile);
  }

  // Does any gang that waits demand the profile? In doubt yes.
  [[nodiscard]] bool demanded(Index profile) const {
    const WaitBook& waits = track().waits();
    if (waits.gang_count() > heads_max) {
      return true;
    }
    for (std::size_t lane = 0; lane < waits.lanes(); ++lane) {
      for (const UnitKey& key : waits.gangs(static_cast<Index>(lane))) {
        if (track().gang(key).demand[profile] > 0) {
          return true;
        }
      }
    }
    return false;
  }

  void check_stages(Index lane, Index profile) {
    const UnitKey* first = track().waits().first_stage(lane, profile, track().jobs());
    if (first != nullptr && track().slots().free()[profile] > 0 && may_start(*first, profile)) {
      const Job& job = track().job(first->job);
      const Stage& stage = job.body->stages[first->stage];
      if (config().start != model::Start::eager && stage.group != no_index) {
        return;  // W6: it may have to wait for others of its group, no line says for which
      }
      found(fmt::format("{} tasks of {} wait and {} slots of {} are free (A8)", stage.waiting,
                        track().name(job, stage), track().slots().free()[profile],
                        track().profile_text(profile)));
    }
  }

  std::size_t admitted_ = 0;     // in this instant; they count towards the depth of its passes
  std::uint64_t looked_at_ = 0;  // changes among gangs, and returns of slots, by then
  std::uint64_t returns_ = 0;
  std::vector<std::int64_t> free_;  // when gangs were looked at last
};

}  // namespace

std::unique_ptr<Monitor> make_work_conserving(const Track& track) {
  return std::make_unique<WorkConserving>(track);
}

}  // namespace rehearse::properties
