// Nobody is passed over more often than model/waiting_bound.hpp says of the run's queue order and
// overtaking rule.
//
// Bounded pairs, event by event: while the first gang of its lane is refused and could run on what
// lives, nothing behind it starts on an executor that serves a profile it demands (A16), under
// `aging` once it has waited `after`; and no task starts while one of an earlier regular stage of
// the same profile waits, for a regular unit takes what it can before those behind it are asked
// (A7), unless the stages wait for places (A13). That a head which nobody passes starts when its
// slots are free is WORK_CONSERVING's. `easy` bounds a time that follows from estimates, which no
// line has: not judged.
//
// Unbounded pairs are promised by nobody; reported is how often the oldest waiting gang was passed
// by units of jobs that were submitted after its own.
// registry: NO_STARVATION
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/waiting_bound.hpp"
#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

using model::WaitingBound;

class NoStarvation final : public MonitorOf<NoStarvation> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::TaskStart, model::GroupQueued, model::GroupAdmitted, model::GroupCancelled,
                 model::GroupFailed, model::EdgesChanged>();
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (const auto* queued = event.as<model::GroupQueued>();
        queued != nullptr && queued->reason == model::QueuedReason::slots) {
      const Victim victim = victim_of(seen);
      oldest_.insert(victim);
    } else {
      if (event.as<model::GroupAdmitted>() != nullptr) {
        admitted_ = admitted_in_ == track().instant() ? admitted_ + 1 : 1;
        admitted_in_ = track().instant();
      }
      if (seen.group != nullptr && !oldest_.empty()) {
        over(victim_of(seen));
      }
    }
  }

  void task_start(const model::TaskStart& event, const Seen& seen) override {
    const bool unbounded = bound() == WaitingBound::unbounded;
    const WaitBook& waits = track().waits();
    if (oldest_.empty() && (unbounded || (waits.gang_count() == 0 && !waits.any_stage()))) {
      return;  // there is nobody to pass
    }
    if (event.speculative || seen.stage->copy || !judged(RunOver::done)) {
      return;
    }
    const bool piecewise = track().rules().config.admission.hold == model::Hold::bulk;
    if (seen.group != nullptr && (piecewise || !track().rules().sets_slots_aside())) {
      return;  // admitted, or its slots were taken, before; it starts past nobody now
    }
    const Index first = seen.group != nullptr
                            ? seen.group->first
                            : static_cast<Index>(seen.stage - seen.job->body->stages.data());
    const UnitKey key = track().key_of(seen.job_index, first);
    if (unbounded) {
      count_pass(key, seen);
      return;
    }
    if (waits.gang_count() > 0 && waits.gangs_queue()) {
      check_head(event, key, seen);
    }
    check_stage(event, key, seen);
  }

  void finish(RunOver /*over*/) override {
    while (!passes_.empty()) {
      over(passes_.begin()->first);
    }
  }

  [[nodiscard]] bool judged(RunOver /*over*/) const override {
    const model::AdmissionConfig& admission = track().rules().config.admission;
    return bound() != WaitingBound::starts_as_planned && !admission.queue_object &&
           !admission.overtake_object;
  }

 private:
  // By submission, whatever the queue order.
  struct Victim {
    model::Instant submitted = 0;
    Index job = no_index;
    Index group = no_index;
    auto operator<=>(const Victim&) const = default;
  };

  [[nodiscard]] WaitingBound bound() const { return track().rules().waiting_bound; }

  static Victim victim_of(const Seen& seen) {
    const auto group = static_cast<Index>(seen.group - seen.job->body->groups.data());
    return {seen.job->body->submitted_at, seen.job_index, group};
  }

  // Refused, and what lives could take it all: neither starved (A14) nor waiting for executors that
  // are still to come. On executors that serve every profile a gang of several may be starved
  // though counts suffice, also for want of an executor that was due, whose fate no line tells.
  [[nodiscard]] bool held_up(const Group& gang) const {
    if (!gang.waits || gang.refused == 0 || gang.state != GroupState::queued) {
      return false;
    }
    const auto capacity = track().slots().idle_capacity();
    std::size_t profiles = 0;
    for (std::size_t p = 0; p < gang.demand.size(); ++p) {
      profiles += gang.demand[p] > 0 ? std::size_t{1} : 0;
      if (gang.demand[p] > capacity[p]) {
        return false;
      }
    }
    return profiles <= 1 || !track().slots().has_unbound();
  }

  // Does the executor serve a profile that the gang demands?
  [[nodiscard]] static bool serves(const Executor& executor, const Group& gang) {
    return executor.profile == no_index ||
           (executor.profile < gang.demand.size() && gang.demand[executor.profile] > 0);
  }

  void check_head(const model::TaskStart& event, const UnitKey& key, const Seen& seen) {
    const WaitBook& waits = track().waits();
    const Index lane = seen.job->body->lane;
    // Among several pools the head may be another gang: one that has waited less, under `aging`, or
    // that demands something else.
    const bool any_head_will_do =
        bound() == WaitingBound::never_passed && track().slots().profiles() == 1;
    const bool certain = waits.one_lane() || waits.gang_count() == 1 || any_head_will_do;
    // A20: a pass that has looked at so many gangs may not have come to this one; then it is no
    // head.
    const bool looked_at =
        admitted_in_ != track().instant() || admitted_ < track().rules().config.admission.depth;
    const UnitKey* first = certain && looked_at ? waits.first_gang(lane) : nullptr;
    if (first == nullptr || !waits.certainly_before(*first, key)) {
      return;
    }
    const Group& head = track().gang(*first);
    const model::Duration waited = track().now() - head.waits_since;
    const bool still_passed = bound() == WaitingBound::passed_until_aged &&
                              waited < track().rules().config.admission.aging_after;
    if (!still_passed && held_up(head) && serves(*seen.executor, head)) {
      found(fmt::format("{} started on {} past {}, which has waited {} ns (A16)",
                        track().name(event.task), track().text(event.task.executor),
                        track().name(track().job(first->job), head), waited));
    }
  }

  void check_stage(const model::TaskStart& event, const UnitKey& key, const Seen& seen) {
    const WaitBook& waits = track().waits();
    const Index profile = seen.stage->profile;
    if (profile == no_index || !waits.ordered() || track().rules().config.locality_wait > 0) {
      return;
    }
    const UnitKey* first = waits.first_stage(seen.job->body->lane, profile, track().jobs());
    if (first == nullptr || !waits.certainly_before(*first, key)) {
      return;
    }
    const Job& job = track().job(first->job);
    const Stage& stage = job.body->stages[first->stage];
    // One that came back within the pass (X9: an input is found gone) has no place in its order.
    if (!stage.copy && stage.submitted_in != track().instant()) {
      found(fmt::format("{} started on {} past {}, of which {} tasks wait (A7)",
                        track().name(event.task), track().text(event.task.executor),
                        track().name(job, stage), stage.waiting));
    }
  }

  void count_pass(const UnitKey& key, const Seen& seen) {
    if (oldest_.empty() || oldest_.begin()->submitted >= key.submitted) {
      return;
    }
    const Victim& victim = *oldest_.begin();
    const Job& job = track().job(victim.job);
    if (job.body == nullptr) {
      oldest_.erase(oldest_.begin());
      return;
    }
    const Group& gang = job.body->groups[victim.group];
    if (held_up(gang) && serves(*seen.executor, gang)) {
      ++passes_[victim];
    }
  }

  void over(const Victim& victim) {
    oldest_.erase(victim);
    const auto passed = passes_.find(victim);
    if (passed == passes_.end()) {
      return;
    }
    const Job& job = track().job(victim.job);
    found(fmt::format(
        "{} was passed {} times while it waited, by units submitted later (A7)",
        job.body == nullptr ? track().name(job) : track().name(job, job.body->groups[victim.group]),
        passed->second));
    passes_.erase(passed);
  }

  std::int64_t admitted_ = 0;  // gangs, in the instant admitted_in_
  std::uint64_t admitted_in_ = no_time_slot;
  std::set<Victim> oldest_;                // gangs that were refused and wait
  std::map<Victim, std::int64_t> passes_;  // unbounded pairs only
};

}  // namespace

std::unique_ptr<Monitor> make_no_starvation(const Track& track) {
  return std::make_unique<NoStarvation>(track);
}

}  // namespace rehearse::properties
