// An executor runs what fits, and only while it takes launches (A4, A22). Slots are those of
// physical events. Between death and notice an executor is live here as it is for the scheduler
// (X12). Under accounting other than sum the stages of a group share slots (A10): a task takes one
// when its stage runs more there than any stage of the group before, and none of these comes back
// while a task of the group is left there.
// registry: NO_OVERSUBSCRIPTION
#include <fmt/format.h>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class NoOversubscription final : public MonitorOf<NoOversubscription> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::TaskStart, model::SlotReturned>();
  }

  void task_start(const model::TaskStart& event, const Seen& seen) override {
    const Executor& executor = *seen.executor;
    if (!executor.live || executor.held) {
      found(fmt::format("{} launched on {}, which {} (X12, X13)", track().name(event.task),
                        track().text(event.task.executor),
                        executor.live ? "takes no launches" : "is lost"));
      return;
    }
    if (!track().slots().serves(seen.executor_index, seen.stage->profile)) {
      found(fmt::format("{} of profile {} launched on {}, which is bound to {} (A4)",
                        track().name(event.task), track().profile_text(seen.stage->profile),
                        track().text(event.task.executor), track().profile_text(executor.profile)));
      return;
    }
    if (!track().takes_slot(event, seen)) {
      return;
    }
    if (!track().slots().fits_more({.executor = seen.executor_index,
                                    .profile = seen.stage->profile,
                                    .slots = event.task.size(),
                                    .beside_reserved = false})) {
      found(fmt::format("{} launched on {} beside {} taken slots: more than its capacity (A4)",
                        track().name(event.task), track().text(event.task.executor),
                        executor.busy_slots));
    }
  }

  void event(const model::Event& event, const Seen& seen) override {
    const auto* returned = event.as<model::SlotReturned>();
    if (returned == nullptr || !seen.executor->live) {
      return;
    }
    const model::SharedSlots::Share* share = track().shared().find(*returned);
    if (share != nullptr && share->running > 0) {
      found(fmt::format("{} slots returned on {} while {} tasks of {}/{} share them (A10)",
                        returned->count, track().text(returned->executor), share->running,
                        track().text(share->job), track().text(share->group)));
    }
    if (returned->count < 1 || returned->count > seen.executor->busy_slots) {
      found(fmt::format("{} slots returned on {}, where {} are taken (A2)", returned->count,
                        track().text(returned->executor), seen.executor->busy_slots));
    }
  }
};

}  // namespace

std::unique_ptr<Monitor> make_no_oversubscription(const Track& track) {
  return std::make_unique<NoOversubscription>(track);
}

}  // namespace rehearse::properties
