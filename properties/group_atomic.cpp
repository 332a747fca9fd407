// A group fails as one (X1, X2, X4, X6): a member's failure fails the group at that instant, its
// other tasks are killed and its members failed at that instant, nobody outside is touched, nothing
// of that attempt starts afterwards, and the first of it ends the job unless the group is rerun.
// The other way round a group fails for its cause only: a task of its own that failed in a way that
// counts, or an executor that was lost (X1, X17).
// Groups of two or more; barrier stages fail as SS-3.6 says. Which losses of finished tasks must
// fail a group (X3, X10) depends on data the journal does not have and is not judged.
// registry: GROUP_ATOMIC
#include <fmt/format.h>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class GroupAtomic final : public MonitorOf<GroupAtomic> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::TaskStart, model::TaskEnd, model::GroupAdmitted, model::GroupFailed>();
  }
  [[nodiscard]] PlainTasks wants_plain_starts() const override { return PlainTasks::of_groups; }
  [[nodiscard]] PlainTasks wants_plain_ends() const override { return PlainTasks::none; }

  void task_start(const model::TaskStart& event, const Seen& seen) override {
    const Group* group = seen.group;
    if (group == nullptr || !group->gang_of_several()) {
      return;
    }
    const bool over = group->state == GroupState::failed || group->state == GroupState::cancelled;
    if (over && group->attempt == event.task.attempt) {
      found(fmt::format("{} launched after its group had failed (X4)", track().name(event.task)));
    } else if (event.task.try_number > 0 && !event.speculative &&
               track().rules().config.failure.member == model::MemberFailure::any) {
      // Under `counted` a kill fails no group, so its task must come again (X1).
      found(fmt::format("{} is a retry inside a group (X2)", track().name(event.task)));
    }
  }

  void task_end(const model::TaskEnd& event, const Seen& seen) override {
    if (event.reason != model::TaskReason::group_failed) {
      return;
    }
    if (seen.group == nullptr || seen.group->attempt != event.task.attempt) {
      found(fmt::format("{} was killed for a group it is not in (X6)", track().name(event.task)));
    }
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (const auto* failed = event.as<model::GroupFailed>()) {
      check_cause(*failed, seen);
      return;
    }
    // X16: a rerun may begin in the instant of the failure, when all of it is over.
    if (seen.group->gang_of_several() && seen.group->failed_in == track().instant()) {
      check_failed(*seen.job, *seen.group);
    }
  }

  void instant_over() override {
    for (const GroupRef ref : track().touched_groups()) {
      const Group& group = track().group(ref);
      if (!group.gang_of_several()) {
        continue;
      }
      const Job& job = track().job(ref.job);
      const bool failed_now = group.failed_in == track().instant();
      if (failed_now && group.state == GroupState::failed) {
        check_failed(job, group);
      } else if (!failed_now && group.task_failed_in == track().instant() &&
                 group.state == GroupState::admitted) {
        found(fmt::format("a member task of {} failed and the group goes on (X1)",
                          track().name(job, group)));
      }
      if (group.task_killed_in == track().instant() && !failed_now) {
        found(fmt::format("tasks of {} were killed for a group failure that did not happen (X6)",
                          track().name(job, group)));
      }
    }
  }

 private:
  void check_cause(const model::GroupFailed& event, const Seen& seen) {
    if (!seen.group->gang_of_several()) {
      return;
    }
    if (event.cause == model::Code::task_failed &&
        seen.group->task_failed_in != track().instant()) {
      found(
          fmt::format("{} failed as TASK_FAILED, and none of its tasks failed so that it counts "
                      "(X1)",
                      track().name(event.group)));
    }
    if (event.cause == model::Code::executor_lost && track().lost_executors().empty()) {
      found(fmt::format("{} failed as EXECUTOR_LOST, and no executor was lost (X1)",
                        track().name(event.group)));
    }
  }

  void check_failed(const Job& job, const Group& group) {
    if (group.running > 0) {
      found(fmt::format("{} failed and {} of its tasks still run (X4)", track().name(job, group),
                        group.running));
    }
    for (const Index member : group.members) {
      const Stage& stage = job.body->stages[member];
      if (stage.state == AttemptState::open) {
        found(fmt::format("{} failed and its member {} goes on (X4)", track().name(job, group),
                          track().name(job, stage)));
      } else if (stage.state == AttemptState::cancelled && stage.closed_in == track().instant()) {
        found(fmt::format("{} failed and its member {} was cancelled, not failed (X4)",
                          track().name(job, group), track().name(job, stage)));
      }
    }
    const bool ends_job = track().rules().config.failure.group == model::GroupFailure::fail_job;
    if (ends_job && job.state != JobState::failed) {
      found(fmt::format("{} failed and its job goes on (X4)", track().name(job, group)));
    }
  }
};

}  // namespace

std::unique_ptr<Monitor> make_group_atomic(const Track& track) {
  return std::make_unique<GroupAtomic>(track);
}

}  // namespace rehearse::properties
