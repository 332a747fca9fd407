// The core's claims against what was executed: actions against physical lines, admissions against
// launches, `need` and `have` against free slots of physical events (A3, A5, A6). `have` of a job
// that never fits may count executors that are still due, which no line has named yet: there it is
// bounded from below. Launches and kills need `probe` lines; the rest is judged without.
// registry: CLAIMS_MATCH
#include <fmt/format.h>

#include <algorithm>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class ClaimsMatch final : public MonitorOf<ClaimsMatch> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::Probe, model::TaskStart, model::GroupAdmitted, model::GroupQueued,
                 model::JobRejected, model::JobEnd>();
  }

  void task_start(const model::TaskStart& event, const Seen& seen) override {
    const Group* group = seen.group;
    const Index profile = seen.stage->profile;
    if (group == nullptr || profile == no_index) {
      return;
    }
    if (group->state != GroupState::admitted || group->attempt != event.task.attempt) {
      found(fmt::format("{} launched without an admission of its group (A2)",
                        track().name(event.task)));
    } else if (group->owed[profile] == 0 && track().takes_slot(event, seen) &&
               event.task.try_number == 0 && !event.speculative) {
      found(fmt::format("{} launched beyond the slots its group was admitted with (A2)",
                        track().name(event.task)));
    }
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (const auto* probe = event.as<model::Probe>()) {
      check_probe(*probe);
    } else if (const auto* admitted = event.as<model::GroupAdmitted>()) {
      check_admitted(*admitted, seen);
    } else if (const auto* queued = event.as<model::GroupQueued>()) {
      check_queued(*queued, seen);
    } else if (const auto* rejected = event.as<model::JobRejected>()) {
      check_rejected(*rejected, seen);
    } else if (const auto* end = event.as<model::JobEnd>()) {
      check_end(*end, seen);
    }
  }

 private:
  void check_probe(const model::Probe& probe) {
    if (probe.launches != track().launches()) {
      found(fmt::format("the core ordered {} launches, {} tasks started (F9)", probe.launches,
                        track().launches()));
    }
    if (probe.kills != track().ordered_kills()) {
      found(fmt::format("the core ordered {} kills, {} tasks were killed for it (F9)", probe.kills,
                        track().ordered_kills()));
    }
  }

  // n of a profile in a claim, -1 if it is not in it.
  [[nodiscard]] std::int64_t claimed(const model::PerProfile& claim, std::size_t profile) const {
    for (const model::ProfileCount& item : claim) {
      if (item.profile == track().slots().profile_name(static_cast<Index>(profile))) {
        return item.n;
      }
    }
    return -1;
  }

  // Claimed equals wanted, where only profiles with wanted > 0 may be named.
  [[nodiscard]] bool equal(const model::PerProfile& claim,
                           const std::vector<std::int64_t>& wanted) const {
    for (std::size_t p = 0; p < wanted.size(); ++p) {
      const std::int64_t n = claimed(claim, p);
      if (wanted[p] > 0 ? n != wanted[p] : n > 0) {
        return false;
      }
    }
    return true;
  }

  void check_admitted(const model::GroupAdmitted& event, const Seen& seen) {
    if (!equal(event.slots, seen.group->demand)) {
      found(fmt::format("{} was admitted with slots that are not its demand (A2)",
                        track().name(event.group)));
    }
  }

  void check_queued(const model::GroupQueued& event, const Seen& seen) {
    if (event.reason != model::QueuedReason::slots || !event.need || !event.have) {
      return;
    }
    const std::string name = track().name(*seen.job, *seen.group);
    if (!equal(*event.need, seen.group->demand)) {
      found(fmt::format("{} waits for slots that are not its demand (A3)", name));
    }
    check_have(*event.have, Exactly::yes, seen.group, name);
  }

  enum class Exactly : std::uint8_t { yes, at_most };

  void check_have(const model::PerProfile& have, Exactly exactly, const Group* group,
                  std::string_view name) {
    if (track().rules().config.admission.capacity != model::Capacity::free) {
      return;
    }
    // A10: a group that takes idle executors only is told of their slots; who else ends is not told
    // by the line.
    const bool idle_only = track().rules().config.accounting == model::Accounting::whole_executor;
    const auto free = track().slots().free();
    const std::vector<std::int64_t> idle =
        idle_only ? track().slots().idle_free() : std::vector(free.begin(), free.end());
    for (std::size_t p = 0; p < free.size(); ++p) {
      const std::int64_t n = claimed(have, p);
      // What is admitted and not launched yet may or may not be taken off already.
      const bool several = group != nullptr && group->gang_of_several();
      const std::int64_t most = several ? idle[p] : free[p];
      const std::int64_t low = group == nullptr || several ? idle[p] : free[p];
      const std::int64_t least = exactly == Exactly::yes ? low - track().owed()[p] : 0;
      if (n >= 0 && (n > most || n < least)) {
        found(fmt::format("{} is told of {} free slots of {}, the journal has {} (A6)", name, n,
                          track().profile_text(static_cast<Index>(p)), most));
      }
    }
  }

  // Some profile must be short, unless a placement on unbound executors may have failed (A4).
  void check_short(const model::PerProfile& need, const model::PerProfile& have,
                   std::string_view name) {
    const bool is_short = std::any_of(need.begin(), need.end(), [&](const auto& item) {
      const Index p = track().slots().find_profile(item.profile);
      return p != no_index && item.n > claimed(have, p);
    });
    if (!is_short && !track().slots().has_unbound()) {
      found(fmt::format("{} ended for lack of slots where need is within have (A5)", name));
    }
  }

  // No unit needs more than all stages of its job together (A3); where only the default profile
  // may be used, all of them are counted there (A9).
  void check_need(const model::PerProfile& need, const Seen& seen, std::string_view name) {
    const bool default_only = track().rules().config.profiles == model::ProfilesAxis::default_only;
    for (std::size_t p = 0; seen.job->body != nullptr && p < track().slots().profiles(); ++p) {
      std::int64_t total = 0;
      for (const Stage& stage : seen.job->body->stages) {
        total += stage.profile == p || (default_only && p == 0) ? stage.tasks : 0;
      }
      if (claimed(need, p) > total) {
        found(fmt::format("{} is said to need {} slots of {}, all its stages have {} tasks (A3)",
                          name, claimed(need, p), track().profile_text(static_cast<Index>(p)),
                          total));
      }
    }
  }

  void check_rejected(const model::JobRejected& event, const Seen& seen) {
    if (event.code != model::Code::insufficient_slots || !event.need || !event.have) {
      return;
    }
    const std::string name = track().name(*seen.job);
    // Executors that are due count, and those that serve every profile: then a trial decides (A5).
    if (track().text(event.detail).find("by trial") == std::string::npos) {
      check_short(*event.need, *event.have, name);
    }
    check_need(*event.need, seen, name);
    if (track().rules().config.admission.shortfall == model::Shortfall::rejection) {
      return;  // the same code also says "not now", and the line does not tell which
    }
    const auto capacity = track().slots().idle_capacity();
    for (std::size_t p = 0; p < capacity.size(); ++p) {
      const std::int64_t n = claimed(*event.have, p);
      if (n >= 0 && n < capacity[p]) {
        found(fmt::format("{} is told that {} slots of {} exist, the journal has {} (A5)", name, n,
                          track().profile_text(static_cast<Index>(p)), capacity[p]));
      }
    }
  }

  // Slots that the job's own teardown frees in this step came back after the judgement.
  void check_end(const model::JobEnd& event, const Seen& seen) {
    if (event.code != model::Code::insufficient_slots || !event.need || !event.have) {
      return;
    }
    const std::string name = track().name(*seen.job);
    check_short(*event.need, *event.have, name);
    const bool freed = seen.job->slots_returned_in == track().instant();
    check_have(*event.have, freed ? Exactly::at_most : Exactly::yes, nullptr, name);
  }
};

}  // namespace

std::unique_ptr<Monitor> make_claims_match(const Track& track) {
  return std::make_unique<ClaimsMatch>(track);
}

}  // namespace rehearse::properties
