// What was admitted ends, and a live job can always go on (W5): no job ends as DEADLOCK, and when
// the run is done no job and no admitted group is left over.
// registry: PROGRESS
#include <fmt/format.h>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class Progress final : public MonitorOf<Progress> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::JobEnd, model::Blocked, model::Unblocked>();
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (event.as<model::Blocked>() != nullptr) {
      ++blocked_;
    } else if (event.as<model::Unblocked>() != nullptr) {
      --blocked_;
    } else if (event.as<model::JobEnd>()->code == model::Code::deadlock) {
      found(
          fmt::format("{} ended as DEADLOCK with {} tasks blocked: nothing could happen any more "
                      "(W5)",
                      track().name(*seen.job), blocked_));
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
      found(fmt::format("{} has not ended and nothing more happens (W5)", track().name(job)));
      for (const Group& group : job.body->groups) {
        if (group.state == GroupState::admitted) {
          found(fmt::format("{} was admitted and never ended (W5)", track().name(job, group)));
        }
      }
    }
  }

  [[nodiscard]] bool judged(RunOver over) const override { return over == RunOver::done; }

 private:
  std::int64_t blocked_ = 0;
};

}  // namespace

std::unique_ptr<Monitor> make_progress(const Track& track) {
  return std::make_unique<Progress>(track);
}

}  // namespace rehearse::properties
