// What was admitted ends, and a live job can always go on (W5): no job ends as DEADLOCK, and when
// the run is done no job and no admitted group is left over. In a healing phase (model/healing.hpp)
// nothing is taken away any more: there nobody runs out of time that would fit (A14), but for bulk
// requests, which may hold what others want (A2).
// registry: PROGRESS
#include <fmt/format.h>

#include <string>
#include <utility>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class Progress final : public MonitorOf<Progress> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::JobEnd, model::StageCompleted, model::GroupCancelled, model::Blocked,
                 model::Unblocked>();
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (event.as<model::Blocked>() != nullptr) {
      ++blocked_;
    } else if (event.as<model::Unblocked>() != nullptr) {
      --blocked_;
    } else if (const auto* stage = event.as<model::StageCompleted>()) {
      if (stage->reason == model::StageReason::job_failed && seen.stage != nullptr) {
        note(seen.job_index, why(*seen.job, *seen.stage));
      }
    } else if (const auto* group = event.as<model::GroupCancelled>()) {
      if (group->cause == model::CancelCause::job_failed && seen.group != nullptr) {
        note(seen.job_index, why(*seen.job, *seen.group));
      }
    } else {
      ended(*event.as<model::JobEnd>(), seen);
    }
  }

  void finish(RunOver over) override {
    if (over != RunOver::done) {
      return;
    }
    for (const Job& job : track().jobs()) {
      if (job.ended()) {
        continue;
      }
      found(fmt::format("{} has not ended and nothing more happens{} (W5)", track().name(job),
                        why(job)));
      for (const Group& group : job.body->groups) {
        if (group.state == GroupState::admitted) {
          found(fmt::format("{} was admitted and never ended (W5)", track().name(job, group)));
        }
      }
    }
  }

  [[nodiscard]] bool judged(RunOver over) const override { return over == RunOver::done; }

 private:
  void ended(const model::JobEnd& end, const Seen& seen) {
    if (end.code == model::Code::deadlock) {
      found(
          fmt::format("{} ended as DEADLOCK with {} tasks blocked{}: nothing could happen any more "
                      "(W5)",
                      track().name(*seen.job), blocked_,
                      reason_of_ == seen.job_index ? reason_ : std::string()));
    } else if (end.code == model::Code::admission_timeout && healed() &&
               track().fits_what_lives(*seen.job)) {
      found(
          fmt::format("{} ran out of time, though it fits what is there since the healing at {} "
                      "ns (A14)",
                      track().name(*seen.job), *track().rules().heals_at));
    }
  }

  // Is it certain that whoever runs out of time now could have run? Where executors serve several
  // profiles (A4) or belong to a group as a whole (A10), counts do not tell.
  [[nodiscard]] bool healed() const {
    const Rules& rules = track().rules();
    return rules.heals_at && track().now() > *rules.heals_at &&
           rules.config.admission.hold != model::Hold::bulk &&
           rules.config.accounting != model::Accounting::whole_executor &&
           (!track().slots().has_unbound() || track().slots().profiles() == 1);
  }

  // ---- reasons ----

  void note(Index job, std::string reason) {
    if (reason_of_ != job && !reason.empty()) {
      reason_of_ = job;
      reason_ = std::move(reason);
    }
  }
  [[nodiscard]] std::string why(const Job& job, const Stage& stage) const {
    return stage.waiting > 0 ? fmt::format(", {} tasks of {} waited for slots", stage.waiting,
                                           track().name(job, stage))
                             : std::string();
  }
  [[nodiscard]] std::string why(const Job& job, const Group& group) const {
    if (group.state != GroupState::queued && group.state != GroupState::formed) {
      return {};
    }
    return fmt::format(", {} waited for {}", track().name(job, group),
                       group.waits ? "slots" : "inputs");
  }
  [[nodiscard]] std::string why(const Job& job) const {
    for (const Group& group : job.body->groups) {
      if (std::string reason = why(job, group); !reason.empty()) {
        return reason;
      }
    }
    for (const Stage& stage : job.body->stages) {
      if (std::string reason = why(job, stage); !reason.empty()) {
        return reason;
      }
    }
    return job.live_tasks > 0 ? fmt::format(", {} tasks run", job.live_tasks) : std::string();
  }

  std::int64_t blocked_ = 0;
  Index reason_of_ = no_index;  // the job that is being torn down
  std::string reason_;
};

}  // namespace

std::unique_ptr<Monitor> make_progress(const Track& track) {
  return std::make_unique<Progress>(track);
}

}  // namespace rehearse::properties
