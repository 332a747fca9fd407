// A job succeeds when every sink has all its partitions, each accepted once, and every group has
// committed (C9); under `completion: final-stage` only groups with a sink must have (C7).
// registry: JOB_SUCCESS
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class JobSuccess final : public MonitorOf<JobSuccess> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::JobEnd, model::StageCompleted, model::TaskEnd>();
  }

  void task_end(const model::TaskEnd& event, const Seen& seen) override {
    if (seen.stage->sink && seen.partition->done && all_done(seen.partitions(event.task)) &&
        event.status == model::TaskStatus::success && event.counted.value_or(true)) {
      found(fmt::format("result partition {} was accepted a second time (C9)",
                        track().name(event.task)));
    }
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (event.as<model::StageCompleted>() != nullptr) {
      const Stage& stage = *seen.stage;
      const bool member = seen.group != nullptr && seen.group->gang_of_several();
      if (stage.sink && (stage.done == stage.tasks || (member && stage.all_succeeded()))) {
        complete_.insert({seen.job_index, stage.name.value});
      }
      return;
    }
    const auto* end = event.as<model::JobEnd>();
    if (end == nullptr) {
      return;
    }
    if (end->outcome == model::JobOutcome::succeeded && seen.job->body != nullptr) {
      check_success(*seen.job->body, seen);
    }
    complete_.erase(complete_.lower_bound({seen.job_index, 0}),
                    complete_.lower_bound({seen.job_index + 1, 0}));
  }

 private:
  void check_success(const JobBody& body, const Seen& seen) {
    for (const Stage& stage : body.stages) {
      if (!stage.sink) {
        continue;
      }
      const bool complete_once = complete_.contains({seen.job_index, stage.name.value});
      if (stage.done < stage.tasks && !complete_once) {
        found(fmt::format("{} succeeded with {} of {} partitions of {} (C9)",
                          track().name(*seen.job), stage.done, stage.tasks,
                          track().name(*seen.job, stage)));
      } else if (stage.tasks == 0 && stage.state != AttemptState::succeeded) {
        found(fmt::format("{} succeeded and {} was never completed (C9)", track().name(*seen.job),
                          track().name(*seen.job, stage)));
      }
    }
    for (const Group& group : body.groups) {
      if (must_commit(body, group) && !group.committed_once() &&
          group.state != GroupState::dissolved) {
        found(fmt::format("{} succeeded and its group {} has not committed (C9)",
                          track().name(*seen.job), track().name(*seen.job, group)));
      }
    }
  }

  // C9: every group; C7: those with result stages. What was committed once may be on its way again
  // (X10).
  [[nodiscard]] bool must_commit(const JobBody& body, const Group& group) const {
    if (track().rules().config.completion != model::Completion::final_stage) {
      return true;
    }
    return std::any_of(group.members.begin(), group.members.end(),
                       [&](Index member) { return body.stages[member].sink; });
  }

  // Sinks of live jobs that had all their partitions: a result that was accepted stays accepted,
  // also when its outputs, which another job reads, are lost since.
  std::set<std::pair<Index, std::uint32_t>> complete_;
};

}  // namespace

std::unique_ptr<Monitor> make_job_success(const Track& track) {
  return std::make_unique<JobSuccess>(track);
}

}  // namespace rehearse::properties
