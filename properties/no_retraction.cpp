// What was said stays said (C11): one terminal event per stage attempt, group attempt and job, and
// by the end of a job each of them has had it. `group_cancelled` is terminal.
// registry: NO_RETRACTION
#include <fmt/format.h>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class NoRetraction final : public MonitorOf<NoRetraction> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::StageCompleted, model::GroupCommitted, model::GroupFailed,
                 model::GroupCancelled, model::JobEnd, model::JobRejected>();
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (const auto* completed = event.as<model::StageCompleted>()) {
      check_stage(*completed, seen);
    } else if (event.as<model::JobEnd>() != nullptr) {
      if (seen.job->ended()) {
        found(fmt::format("{} ended a second time (C11)", track().name(*seen.job)));
      } else {
        check_all_ended(seen);
      }
    } else if (event.as<model::JobRejected>() != nullptr) {
      if (seen.job->state != JobState::submitted) {
        found(fmt::format("{} was rejected after it had {} (C11)", track().name(*seen.job),
                          seen.job->ended() ? "ended" : "started"));
      }
    } else if (seen.group->state == GroupState::committed ||
               seen.group->state == GroupState::cancelled ||
               (seen.group->state == GroupState::failed &&
                event.as<model::GroupCancelled>() == nullptr)) {
      found(fmt::format("{} got {} after its end (C11)", track().name(*seen.job, *seen.group),
                        event.name()));
    }
  }

  // The end of a job takes its rows along; whatever ends something of it later contradicts it.
  void unknown(const model::Event& event, const Seen& seen) override {
    if (seen.job != nullptr && seen.job->ended()) {
      found(fmt::format("{} had ended when {} came (C11)", track().name(*seen.job), event.name()));
    }
  }

 private:
  void check_stage(const model::StageCompleted& event, const Seen& seen) {
    const std::int32_t attempt = event.stage.attempt.value_or(-1);
    if (attempt == seen.stage->attempt && seen.stage->state != AttemptState::open &&
        seen.stage->state != AttemptState::none) {
      found(fmt::format("{} attempt {} was completed a second time, now as {} (C11)",
                        track().name(event.stage), attempt, model::name_of(event.status)));
    }
  }

  void check_all_ended(const Seen& seen) {
    if (seen.job->body == nullptr) {
      return;
    }
    for (const Stage& stage : seen.job->body->stages) {
      if (stage.state == AttemptState::open) {
        found(fmt::format("{} ended and attempt {} of {} was never completed (X14)",
                          track().name(*seen.job), stage.attempt, track().name(*seen.job, stage)));
      }
    }
    for (const Group& group : seen.job->body->groups) {
      if (group.live()) {
        found(fmt::format("{} ended and its group {} has no terminal event (X14)",
                          track().name(*seen.job), track().name(*seen.job, group)));
      }
    }
  }
};

}  // namespace

std::unique_ptr<Monitor> make_no_retraction(const Track& track) {
  return std::make_unique<NoRetraction>(track);
}

}  // namespace rehearse::properties
