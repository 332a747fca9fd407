// What is dead decides nothing (X9, X12): no success counts from a lost executor, from an attempt
// of a group that is not the current one, or, where others read the output, from an executor whose
// epoch ended after the task had started. Old attempts of regular stages may still deliver. At the
// notice of a loss every task there ends.
// registry: FENCED
#include <fmt/format.h>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class Fenced final : public MonitorOf<Fenced> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::TaskEnd, model::OutputsLost, model::ExecutorLost>();
  }

  void task_end(const model::TaskEnd& event, const Seen& seen) override {
    if (event.status != model::TaskStatus::success || !event.counted.value_or(true)) {
      return;
    }
    const Group* group = seen.group;
    // C6: its slot came back when it really ended, before the loss.
    const bool ended_before = event.slot.has_value() && !seen.executor->early_slots.empty();
    if (!seen.executor->live && !ended_before) {
      found(fmt::format("success of {} counts, its executor {} was lost before (X12)",
                        track().name(event.task), track().text(event.task.executor)));
    } else if (group != nullptr && group->gang_of_several()) {
      if (group->attempt != event.task.attempt || group->state != GroupState::admitted) {
        found(fmt::format("success of {} counts for attempt {} of a group that is over (X4)",
                          track().name(event.task), event.task.attempt));
      }
    } else if (!seen.stage->sink && seen.task->epoch < seen.executor->fenced_epoch) {
      found(fmt::format("success of {} counts, the epoch of {} ended while it ran (X9)",
                        track().name(event.task), track().text(event.task.executor)));
    }
  }

  void event(const model::Event& event, const Seen& seen) override {
    const auto* lost = event.as<model::OutputsLost>();
    if (lost == nullptr || seen.stage == nullptr) {
      return;
    }
    const auto size = static_cast<std::int64_t>(seen.stage->partitions.size());
    for (const model::Range& range : lost->partitions) {
      for (std::int64_t p = range.first; p <= range.last; ++p) {
        const bool there =
            p >= 0 && p < size && seen.stage->partitions[static_cast<std::size_t>(p)].output &&
            seen.stage->partitions[static_cast<std::size_t>(p)].executor == seen.executor_index;
        if (!there) {
          found(fmt::format("output {}/{}/{} was struck off on {} and is not there (X9)",
                            track().text(lost->job), track().text(lost->stage), p,
                            track().text(lost->executor)));
          return;
        }
      }
    }
  }

  void instant_over() override {
    for (const Index index : track().lost_executors()) {
      const Executor& executor = track().slots().executor(index);
      const auto ended = static_cast<std::int32_t>(executor.early_slots.size());  // C6
      if (executor.live_tasks > ended) {
        found(fmt::format("{} was lost and {} of its tasks go on (X12)",
                          track().text(executor.name), executor.live_tasks - ended));
      }
    }
  }
};

}  // namespace

std::unique_ptr<Monitor> make_fenced(const Track& track) { return std::make_unique<Fenced>(track); }

}  // namespace rehearse::properties
