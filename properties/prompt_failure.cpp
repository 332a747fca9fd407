// A failure is over at once (X4, VE-L8, VE-L10): when its instant is over no peer of a failed
// member, nor of a failed task of a barrier stage, runs in that attempt; and every slot that a kill
// left taken comes back within the kill latency of the order, unless its executor is lost. A
// latency that is drawn bounds nothing that a journal shows: then slots need only come back. That a
// head which fits now is admitted is WORK_CONSERVING's.
// registry: PROMPT_FAILURE
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class PromptFailure final : public MonitorOf<PromptFailure> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::TaskEnd, model::SlotReturned, model::ExecutorLost, model::GroupAdmitted>();
  }

  [[nodiscard]] PlainTasks wants_plain_ends() const override {
    return PlainTasks::none;
  }  // kills only

  void task_end(const model::TaskEnd& event, const Seen& seen) override {
    const Index profile = seen.stage->profile;
    if (event.status != model::TaskStatus::killed || !event.slot || !seen.executor->live ||
        profile == no_index) {
      return;
    }
    if (seen.group != nullptr && track().shares_slots(seen.group->members.size())) {
      return;  // A10: it comes back with the last task that shares it
    }
    const auto& early = seen.executor->early_slots;
    const bool back = std::any_of(early.begin(), early.end(), [&](const HeldSlot& slot) {
      return slot.job == seen.job_index && slot.profile == profile;
    });
    if (!back) {
      std::vector<model::Instant>& since = held_[{seen.executor_index, seen.job_index, profile}];
      since.insert(since.end(), static_cast<std::size_t>(event.task.size()), track().now());
    }
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (const auto* returned = event.as<model::SlotReturned>()) {
      give_back(*returned, seen);
    } else if (event.as<model::ExecutorLost>() != nullptr) {
      const Index lost = seen.executor_index;
      held_.erase(held_.lower_bound({lost, 0, 0}), held_.lower_bound({lost + 1, 0, 0}));
    } else if (event.as<model::GroupAdmitted>() != nullptr) {
      check_peers(*seen.job, *seen.group);  // a rerun may begin in the instant of the failure
    }
  }

  void instant_over() override {
    for (const GroupRef ref : track().touched_groups()) {
      check_peers(track().job(ref.job), track().group(ref));
    }
  }

  void finish(RunOver over) override {
    for (const auto& [key, since] : held_) {
      const auto& [executor, job, profile] = key;
      const auto& latency = track().rules().kill_latency_ns;
      const auto overdue = [&](model::Instant at) {
        return over == RunOver::done || (latency && track().now() - at > *latency);
      };
      const auto count = std::count_if(since.begin(), since.end(), overdue);
      if (count > 0) {
        found(fmt::format("{} slots of killed tasks of {} on {} never came back (X4)", count,
                          track().name(track().job(job)),
                          track().text(track().slots().executor(executor).name)));
      }
    }
  }

 private:
  using Place = std::tuple<Index, Index, Index>;  // executor, job, profile

  void give_back(const model::SlotReturned& event, const Seen& seen) {
    const auto at = held_.find(
        {seen.executor_index, seen.job_index, track().slots().find_profile(event.profile)});
    if (at == held_.end()) {
      return;  // of a task that was not killed, or before its line
    }
    std::vector<model::Instant>& since = at->second;
    const auto count =
        std::min(static_cast<std::size_t>(std::max<std::int64_t>(event.count, 0)), since.size());
    const auto end = since.begin() + static_cast<std::ptrdiff_t>(count);
    const auto& latency = track().rules().kill_latency_ns;
    const auto late = std::count_if(since.begin(), end, [&](model::Instant killed) {
      return latency && track().now() - killed > *latency;
    });
    if (late > 0) {
      found(
          fmt::format("{} slots of {} on {} came back {} ns after the kill, the latency is {} ns "
                      "(X4)",
                      late, track().name(*seen.job), track().text(event.executor),
                      track().now() - since.front(), *latency));
    }
    since.erase(since.begin(), end);
    if (since.empty()) {
      held_.erase(at);
    }
  }

  void check_peers(const Job& job, const Group& group) {
    if (group.running == 0 || job.body == nullptr) {
      return;
    }
    const std::uint64_t now = track().instant();
    bool failed = group.failed_in == now && group.state == GroupState::failed;
    if (group.gang_of_several()) {
      failed = failed || (group.task_failed_in == now && group.failed_in != now &&
                          group.state == GroupState::admitted);
    } else {
      const Stage& stage = job.body->stages[group.first];
      failed = failed || (stage.state == AttemptState::failed && stage.closed_in == now &&
                          stage.attempt == group.attempt);
    }
    if (failed) {
      found(fmt::format("{} failed and {} of its tasks still run (X4)", track().name(job, group),
                        group.running));
    }
  }

  std::map<Place, std::vector<model::Instant>> held_;  // when they were killed, oldest first
};

}  // namespace

std::unique_ptr<Monitor> make_prompt_failure(const Track& track) {
  return std::make_unique<PromptFailure>(track);
}

}  // namespace rehearse::properties
