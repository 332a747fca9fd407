// Every start has exactly one end, by the end of its job at the latest, and a partition counts once
// (X9, C3): a second counted success would apply its accumulators twice.
// registry: TASK_ACCOUNTING
#include <fmt/format.h>

#include <utility>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class TaskAccounting final : public MonitorOf<TaskAccounting> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::TaskStart, model::TaskEnd>();
  }

  void task_start(const model::TaskStart& event, const Seen& seen) override {
    for (const Partition& partition : seen.partitions(event.task)) {
      const std::pair last{partition.last.attempt, partition.last.try_number};
      if (std::pair{event.task.attempt, event.task.try_number} <= last) {
        found(fmt::format("{} attempt {} try {} started after try {} of attempt {} (X9)",
                          track().name(event.task), event.task.attempt, event.task.try_number,
                          last.second, last.first));
        return;
      }
    }
  }

  // A21: a slice counts for those of its partitions that no other try has done.
  void task_end(const model::TaskEnd& event, const Seen& seen) override {
    if (event.status == model::TaskStatus::success && event.counted.value_or(true) &&
        seen.partition->done && all_done(seen.partitions(event.task))) {
      found(fmt::format("{} counts a second success (X9)", track().name(event.task)));
    }
  }

  void unknown(const model::Event& event, const Seen& /*seen*/) override {
    if (const auto* end = event.as<model::TaskEnd>()) {
      found(fmt::format("{} attempt {} try {} ended and was not running (C3)",
                        track().name(end->task), end->task.attempt, end->task.try_number));
    }
  }

  void instant_over() override {
    for (const Index index : track().ended_jobs()) {
      if (track().job(index).live_tasks > 0) {
        found(fmt::format("{} ended and {} of its tasks have not (X14)",
                          track().name(track().job(index)), track().job(index).live_tasks));
      }
    }
  }

  void finish(RunOver over) override {
    if (over == RunOver::done && track().live_tasks() > 0) {
      found(fmt::format("{} tasks that started never ended (C3)", track().live_tasks()));
    }
  }
};

}  // namespace

std::unique_ptr<Monitor> make_task_accounting(const Track& track) {
  return std::make_unique<TaskAccounting>(track);
}

}  // namespace rehearse::properties
