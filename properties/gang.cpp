// Gangs start whole and run together (A2, C1). GANG looks at quiescent instants only: within a step
// launches come one after the other. CO_RESIDENT counts running tasks of the current attempt.
// registry: GANG, CO_RESIDENT
#include <fmt/format.h>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class Gang final : public MonitorOf<Gang> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::StageSubmitted, model::TaskStart>();
  }
  [[nodiscard]] PlainTasks wants_plain_starts() const override { return PlainTasks::of_groups; }

  void event(const model::Event& event, const Seen& seen) override {
    const auto* submitted = event.as<model::StageSubmitted>();
    if (submitted == nullptr || seen.group == nullptr) {
      return;
    }
    if (seen.group->state != GroupState::admitted || seen.group->admitted_in != track().instant()) {
      found(fmt::format("{} submitted outside the admission of its group (A2)",
                        track().name(submitted->stage)));
    }
  }

  void task_start(const model::TaskStart& event, const Seen& seen) override {
    if (seen.group != nullptr && seen.group->submitted != seen.group->members.size()) {
      found(fmt::format("{} launched when {} of {} members of {} were submitted (A2)",
                        track().name(event.task), seen.group->submitted, seen.group->members.size(),
                        track().name(*seen.job, *seen.group)));
    }
  }

  void instant_over() override {
    for (const GroupRef ref : track().touched_groups()) {
      const Group& group = track().group(ref);
      if (group.state != GroupState::admitted) {
        continue;
      }
      if (group.submitted != group.members.size()) {
        found(fmt::format("{} was admitted with {} of {} members submitted (A2)",
                          track().name(track().job(ref.job), group), group.submitted,
                          group.members.size()));
      }
      if (group.started > 0 && group.started < group.tasks) {
        found(fmt::format("{} has launched {} of {} tasks (A2)",
                          track().name(track().job(ref.job), group), group.started, group.tasks));
      }
    }
  }
};

class CoResident final : public MonitorOf<CoResident> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override { return kinds<model::TaskEnd>(); }
  [[nodiscard]] PlainTasks wants_plain_ends() const override { return PlainTasks::of_groups; }

  void task_end(const model::TaskEnd& event, const Seen& seen) override {
    if (event.status == model::TaskStatus::success && seen.group != nullptr &&
        seen.group->attempt == event.task.attempt && !seen.group->all_ran) {
      found(fmt::format("{} ended well before all {} tasks of {} were running (C1)",
                        track().name(event.task), seen.group->tasks,
                        track().name(*seen.job, *seen.group)));
    }
  }
};

}  // namespace

std::unique_ptr<Monitor> make_gang(const Track& track) { return std::make_unique<Gang>(track); }

std::unique_ptr<Monitor> make_co_resident(const Track& track) {
  return std::make_unique<CoResident>(track);
}

}  // namespace rehearse::properties
