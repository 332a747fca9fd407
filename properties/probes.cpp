// What the scheduler's own counters must agree with. Without `probe` lines none of these is judged.
// registry: REJECT_PURE, QUIESCENT, LEDGER
#include <fmt/format.h>

#include <optional>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

// F9: a rejection leaves the core equal, digest and counters, and only its own lines between.
class RejectPure final : public MonitorOf<RejectPure> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::Probe, model::JobRejected>();
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (event.as<model::JobRejected>() != nullptr) {
      rejected_ = track().name(*seen.job);
      return;
    }
    const auto& probe = *event.as<model::Probe>();
    probed_ = true;
    if (probe.when == model::ProbeWhen::after_reject) {
      compare(probe);
      before_.reset();
      return;
    }
    if (before_) {
      found("a probe before a rejection has none after it (F9)");
      before_.reset();
    }
    if (probe.when == model::ProbeWhen::before_reject) {
      before_ = probe;
      before_at_ = track().sequence();
      rejected_.clear();
    }
  }

  [[nodiscard]] bool judged(RunOver /*over*/) const override { return probed_; }

 private:
  // job_submitted and job_rejected
  static constexpr std::uint64_t lines_between_max = 2;

  void compare(const model::Probe& after) {
    if (!before_) {
      found("a probe after a rejection has none before it (F9)");
      return;
    }
    if (rejected_.empty() || track().sequence() - before_at_ - 1 > lines_between_max) {
      found(fmt::format("more than a rejection happened between its probes{}{} (F9)",
                        rejected_.empty() ? "" : ": ", rejected_));
    }
    model::Probe expected = *before_;
    expected.when = after.when;
    if (expected == after) {
      return;
    }
    const bool counters = expected.jobs == after.jobs && expected.groups == after.groups &&
                          expected.reservations == after.reservations &&
                          expected.deferred == after.deferred &&
                          expected.authorizations == after.authorizations &&
                          expected.timers == after.timers && expected.busy == after.busy;
    found(fmt::format(
        "the rejection of {} changed the core: {} (F9)", rejected_,
        counters ? "counters are equal, digest, slots or actions are not" : "its counters differ"));
  }

  std::optional<model::Probe> before_;
  std::uint64_t before_at_ = 0;
  std::string rejected_;
  bool probed_ = false;
};

// Nothing is left of a job after its end plus the kill latency, nothing at all after the last.
class Quiescent final : public MonitorOf<Quiescent> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::Probe, model::JobEnd, model::SlotReturned>();
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (const auto* probe = event.as<model::Probe>()) {
      if (probe->when == model::ProbeWhen::end) {
        probed_end_ = true;
        check_end(*probe);
      }
    } else if (const auto* returned = event.as<model::SlotReturned>()) {
      check_return(*returned, seen);
    }
  }

  void instant_over() override {
    for (const Index index : track().ended_jobs()) {
      const Job& job = track().job(index);
      if (job.live_tasks > 0) {
        found(fmt::format("{} has ended and {} of its tasks hold slots (X14)", track().name(job),
                          job.live_tasks));
      }
      if (job.body == nullptr) {
        continue;
      }
      for (const Group& group : job.body->groups) {
        if (group.reserved > 0) {
          found(fmt::format("{} has ended and {} slots stay reserved for {} (X14)",
                            track().name(job), group.reserved, track().name(job, group)));
        }
      }
    }
  }

  void finish(RunOver over) override {
    if (over != RunOver::done) {
      return;
    }
    for (const Job& job : track().jobs()) {
      if (job.held_slots > 0) {
        found(
            fmt::format("{} slots of {} never came back (X4)", job.held_slots, track().name(job)));
      }
    }
  }

  [[nodiscard]] bool judged(RunOver over) const override {
    return probed_end_ && over == RunOver::done;
  }

 private:
  void check_end(const model::Probe& probe) {
    struct Counter {
      std::string_view name;
      std::int64_t value;
    };
    const Counter counters[] = {{"jobs", probe.jobs},
                                {"groups", probe.groups},
                                {"reservations", probe.reservations},
                                {"deferred completions", probe.deferred},
                                {"commit authorizations", probe.authorizations},
                                {"timers", probe.timers},
                                {"busy slots", probe.busy}};
    for (const Counter& counter : counters) {
      if (counter.value != 0) {
        found(fmt::format("{} {} are left at the end (F9)", counter.value, counter.name));
      }
    }
  }

  void check_return(const model::SlotReturned& event, const Seen& seen) {
    const auto latency = track().rules().kill_latency_ns;
    if (latency && seen.job->ended() && track().now() > seen.job->ended_at + *latency) {
      found(fmt::format("{} slots of {} came back {} ns after its end, kills take {} (X4)",
                        event.count, track().name(*seen.job), track().now() - seen.job->ended_at,
                        *latency));
    }
  }

  bool probed_end_ = false;
};

// Free and busy slots and live jobs, as the core counts them and as the journal shows them.
class Ledger final : public MonitorOf<Ledger> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override { return kinds<model::Probe>(); }

  void event(const model::Event& event, const Seen& /*seen*/) override {
    const auto& probe = *event.as<model::Probe>();
    probed_ = true;
    if (probe.jobs != track().live_jobs()) {
      found(fmt::format("the core counts {} live jobs, the journal {} (F9)", probe.jobs,
                        track().live_jobs()));
    }
    if (probe.busy != track().slots().busy()) {
      found(fmt::format("the core counts {} busy slots, the journal {} (A4)", probe.busy,
                        track().slots().busy()));
    }
    const auto free = track().slots().free();
    for (std::size_t p = 0; p < free.size(); ++p) {
      std::int64_t claimed = 0;
      for (const model::ProfileCount& item : probe.free) {
        claimed += item.profile == track().slots().profile_name(static_cast<Index>(p)) ? item.n : 0;
      }
      if (claimed != free[p]) {
        found(fmt::format("the core counts {} free slots of {}, the journal {} (A4)", claimed,
                          track().profile_text(static_cast<Index>(p)), free[p]));
      }
    }
  }

  [[nodiscard]] bool judged(RunOver /*over*/) const override { return probed_; }

 private:
  bool probed_ = false;
};

}  // namespace

std::unique_ptr<Monitor> make_reject_pure(const Track& track) {
  return std::make_unique<RejectPure>(track);
}

std::unique_ptr<Monitor> make_quiescent(const Track& track) {
  return std::make_unique<Quiescent>(track);
}

std::unique_ptr<Monitor> make_ledger(const Track& track) { return std::make_unique<Ledger>(track); }

}  // namespace rehearse::properties
