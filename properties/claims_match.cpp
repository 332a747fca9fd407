// The core's claims against what was executed: actions against physical lines, admissions against
// launches, `need` and `have` against free slots of physical events (A3, A5, A6). Where a gang is
// only looked at (`hold: check`), or rejected when it does not fit now, `have` and every gang that
// is let in are judged by what the axis `capacity` counts: free slots, all, or all less what other
// work claims (A9, A12). `have` of a job that never fits may count executors that are still due,
// which no line has named yet: there it is bounded from below. Launches and kills need `probe`
// lines; the rest is judged without.
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
    return kinds<model::Probe, model::TaskStart, model::GroupFormed, model::GroupAdmitted,
                 model::GroupQueued, model::JobRejected, model::JobEnd>();
  }
  [[nodiscard]] PlainTasks wants_plain_starts() const override { return PlainTasks::of_groups; }

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
    } else if (const auto* formed = event.as<model::GroupFormed>()) {
      check_formed(*formed, seen);
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
    const model::AdmissionConfig& admission = config().admission;
    if (admission.hold == model::Hold::check && judged_now(admission.capacity) &&
        (admission.shortfall == model::Shortfall::failure || !seen.group->gang_of_several())) {
      check_let_in(event.slots, seen.group->gang_of_several(), Claims::certain,
                   [&] { return track().name(event.group); });
    }
  }

  // A9: under `shortfall: rejection` there is one check, at submission, of every group of several;
  // group_formed comes before anything else of the job.
  void check_formed(const model::GroupFormed& event, const Seen& seen) {
    if (rejects_now() && event.stages.size() > 1 && judged_now(config().admission.capacity)) {
      check_let_in(event.demand, true, Claims::all,
                   [&] { return track().name(*seen.job, *seen.stage); });
    }
  }

  // ---- what a check has at hand ----

  // Of enqueued tasks of regular stages the journal does not always show whether they claim
  // anything when a gang is looked at in a pass (docs/decisions/0019).
  enum class Claims : std::uint8_t { all, certain };

  [[nodiscard]] const model::SchedulerConfig& config() const { return track().rules().config; }
  [[nodiscard]] bool rejects_now() const {
    return config().admission.shortfall == model::Shortfall::rejection &&
           config().admission.hold != model::Hold::none;
  }
  // Does the journal show what that capacity is?
  [[nodiscard]] bool judged_now(model::Capacity capacity) const {
    const bool certain =
        capacity != model::Capacity::free_and_unclaimed || track().claims().certain();
    return certain && config().accounting == model::Accounting::sum;
  }
  [[nodiscard]] std::int64_t at_hand(model::Capacity capacity, std::size_t p,
                                     Claims claims = Claims::all) const {
    if (capacity == model::Capacity::free) {
      return track().slots().free()[p];
    }
    const std::int64_t open = track().slots().open_capacity()[p];
    if (capacity == model::Capacity::total) {
      return open;
    }
    const std::int64_t taken =
        claims == Claims::all ? track().claims().all(p) : track().claims().certainly(p);
    return std::max<std::int64_t>(open - taken, 0);
  }

  // Demand of a gang by profile as a check compares it: where only the default profile may be used,
  // all tasks of a group count there (A9).
  [[nodiscard]] std::vector<std::int64_t> checked(const model::PerProfile& demand,
                                                  bool several) const {
    std::vector<std::int64_t> need(track().slots().profiles(), 0);
    const bool default_only = several && config().profiles == model::ProfilesAxis::default_only;
    for (const model::ProfileCount& item : demand) {
      if (const Index p = track().slots().find_profile(item.profile); p != no_index) {
        need[default_only ? 0 : p] += item.n;
      }
    }
    return need;
  }

  void check_let_in(const model::PerProfile& demand, bool several, Claims claims,
                    const auto& name) {
    const std::vector<std::int64_t> need = checked(demand, several);
    for (std::size_t p = 0; p < need.size(); ++p) {
      const std::int64_t most = at_hand(config().admission.capacity, p, claims);
      if (need[p] > 0 && need[p] > most) {
        found(fmt::format("{} was let in with {} slots of {}, where {} are at hand (A9, A12)",
                          name(), need[p], track().profile_text(static_cast<Index>(p)), most));
      }
    }
  }

  void check_queued(const model::GroupQueued& event, const Seen& seen) {
    if (event.reason != model::QueuedReason::slots || !event.need || !event.have) {
      return;
    }
    const auto name = [&] { return track().name(*seen.job, *seen.group); };
    if (!equal(*event.need, seen.group->demand)) {
      found(fmt::format("{} waits for slots that are not its demand (A3)", name()));
    }
    check_have(*event.have, Exactly::yes, seen.group, name);
  }

  enum class Exactly : std::uint8_t { yes, at_most };

  void check_have(const model::PerProfile& have, Exactly exactly, const Group* group,
                  const auto& name) {
    // Where slots are taken at admission, `have` is what is free, whatever the axis says.
    const model::AdmissionConfig& admission = config().admission;
    if (admission.hold == model::Hold::check && admission.capacity != model::Capacity::free) {
      check_at_hand(have, exactly, name);
      return;
    }
    // A10: a group that takes idle executors only is told of their slots; who else ends is not told
    // by the line.
    const bool idle_only = config().accounting == model::Accounting::whole_executor;
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
        found(fmt::format("{} is told of {} free slots of {}, the journal has {} (A6)", name(), n,
                          track().profile_text(static_cast<Index>(p)), most));
      }
    }
  }

  void check_at_hand(const model::PerProfile& have, Exactly exactly, const auto& name) {
    const model::Capacity capacity = config().admission.capacity;
    for (std::size_t p = 0; judged_now(capacity) && p < track().slots().profiles(); ++p) {
      const std::int64_t n = claimed(have, p);
      const std::int64_t now = at_hand(capacity, p);
      if (n >= 0 && (n > now || (exactly == Exactly::yes && n < now))) {
        found(fmt::format("{} is told of {} slots of {}, {} are at hand (A9, A12)", name(), n,
                          track().profile_text(static_cast<Index>(p)), now));
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
    const bool default_only = config().profiles == model::ProfilesAxis::default_only;
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

  // A9: is the one check of the job's only unit all that can be behind this refusal?
  [[nodiscard]] bool only_check(const Job& job) const {
    return rejects_now() && config().profiles == model::ProfilesAxis::default_only &&
           config().grouping == model::Grouping::job && job.body != nullptr &&
           std::ranges::any_of(job.body->edges_in, [](const Edge& edge) {
             return edge.kind == model::EdgeKind::pipelined;
           });
  }

  // Of a group that did not fit now, or of a unit that never fits: the line does not tell which.
  void check_refused_now(const model::JobRejected& event, const Seen& seen, std::string_view name) {
    const model::Capacity capacity = config().admission.capacity;
    const auto idle = track().slots().idle_capacity();
    const bool only = only_check(*seen.job);
    for (std::size_t p = 0; judged_now(capacity) && p < idle.size(); ++p) {
      const std::int64_t n = claimed(*event.have, p);
      const std::int64_t now = at_hand(capacity, p);
      if (n >= 0 && n != now && (only || n < idle[p])) {
        found(fmt::format("{} is told of {} slots of {}, {} are at hand (A9)", name, n,
                          track().profile_text(static_cast<Index>(p)), now));
      }
    }
    std::int64_t tasks = 0;
    for (std::size_t s = 0; only && s < seen.job->body->stages.size(); ++s) {
      tasks += seen.job->body->stages[s].tasks;
    }
    if (only && claimed(*event.need, 0) != tasks) {
      found(fmt::format("{} is said to need {} slots, its stages have {} tasks (A3, A9)", name,
                        claimed(*event.need, 0), tasks));
    }
    if (only && claimed(*event.need, 0) <= claimed(*event.have, 0)) {
      found(fmt::format("{} was refused {} slots where {} are at hand (A9)", name,
                        claimed(*event.need, 0), claimed(*event.have, 0)));
    }
  }

  void check_rejected(const model::JobRejected& event, const Seen& seen) {
    const bool lacks =
        std::ranges::find(event.codes, model::Code::insufficient_slots) != event.codes.end();
    if (!lacks || !event.need || !event.have) {
      return;
    }
    const std::string name = track().name(*seen.job);
    // Executors that are due count, and those that serve every profile: then a trial decides (A5).
    if (track().text(event.detail).find("by trial") == std::string::npos) {
      check_short(*event.need, *event.have, name);
    }
    check_need(*event.need, seen, name);
    if (config().admission.shortfall == model::Shortfall::rejection) {
      check_refused_now(event, seen, name);
      return;
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

  // Slots that the job's own teardown frees in this step came back after the judgement, and what it
  // claimed is claimed no more.
  void check_end(const model::JobEnd& event, const Seen& seen) {
    if (event.code != model::Code::insufficient_slots || !event.need || !event.have) {
      return;
    }
    const auto name = [&] { return track().name(*seen.job); };
    check_short(*event.need, *event.have, name());
    const bool freed = seen.job->slots_returned_in == track().instant() ||
                       (seen.job->body != nullptr &&
                        std::ranges::any_of(seen.job->body->stages, [&](const Stage& stage) {
                          return stage.closed_in == track().instant() && track().claims().kept();
                        }));
    check_have(*event.have, freed ? Exactly::at_most : Exactly::yes, nullptr, name);
  }
};

}  // namespace

std::unique_ptr<Monitor> make_claims_match(const Track& track) {
  return std::make_unique<ClaimsMatch>(track);
}

}  // namespace rehearse::properties
