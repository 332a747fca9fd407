// Output is committed once (C8): per partition at most once in an attempt, for `once` at most once
// in a job, only after a success of that partition, and all of it by the success of the job. Under
// `at-group-commit` members commit in the instant of the group's commit. Whether a denied commit
// was denied rightly is not judged: the journal does not say who holds an authorization.
// registry: COMMIT_ONCE
#include <fmt/format.h>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class CommitOnce final : public MonitorOf<CommitOnce> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::OutputCommitted, model::JobEnd>();
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (const auto* committed = event.as<model::OutputCommitted>()) {
      check_commit(committed->task, seen);
    } else if (const auto* end = event.as<model::JobEnd>()) {
      if (end->outcome == model::JobOutcome::succeeded && seen.job->body != nullptr) {
        check_all_committed(seen);
      }
    }
  }

  // The line of a commit may stand before that of the success it belongs to: both are of one step.
  void instant_over() override {
    for (const Commit& commit : commits_) {
      const JobBody* body = track().job(commit.job).body.get();
      if (body == nullptr || body->outputs_lost_at > commit.sequence) {
        continue;
      }
      const Stage& stage = body->stages[commit.stage];
      const Partition& partition = stage.partitions[commit.partition];
      const bool done = partition.succeeded || told_later(partition);
      if (!done && stage.submitted_in != track().instant()) {
        found(fmt::format("{}/{} was committed without a success (C8)",
                          track().name(track().job(commit.job), stage), commit.partition));
      }
      const Group* group = stage.group == no_index ? nullptr : &body->groups[stage.group];
      const bool late =
          track().rules().config.output_commit == model::OutputCommit::at_group_commit;
      if (late && group != nullptr && group->gang_of_several() &&
          group->committed_in != track().instant()) {
        found(fmt::format("{}/{} was committed before its group (C4)",
                          track().name(track().job(commit.job), stage), commit.partition));
      }
    }
    commits_.clear();
  }

 private:
  struct Commit {
    Index job = no_index;
    Index stage = no_index;
    std::size_t partition = 0;
    std::uint64_t sequence = 0;
  };

  // C3, C6: it ended and commits, its line waits for the end of its producers; its slot came back
  // in the step of the commit.
  [[nodiscard]] bool told_later(const Partition& partition) const {
    return partition.live && track().rules().config.task_end == model::TaskEndAxis::with_release &&
           track().slots().executor(partition.last.executor).returned_in == track().instant();
  }

  void check_commit(const model::TaskRef& task, const Seen& seen) {
    const Stage& stage = *seen.stage;
    const auto partition = static_cast<std::size_t>(task.partition);
    if (stage.commits == model::Commits::none) {
      found(fmt::format("{} was committed, its stage commits nothing (C8)", track().name(task)));
    }
    const std::int32_t before = stage.commit_attempt.empty() ? -1 : stage.commit_attempt[partition];
    if (before == task.attempt) {
      found(fmt::format("{} was committed twice in attempt {} (C8)", track().name(task),
                        task.attempt));
    } else if (before != -1 && stage.commits == model::Commits::once) {
      found(fmt::format("{} must be committed once and was in attempts {} and {} (C8)",
                        track().name(task), before, task.attempt));
    }
    commits_.push_back({.job = seen.job_index,
                        .stage = static_cast<Index>(seen.stage - seen.job->body->stages.data()),
                        .partition = partition,
                        .sequence = track().sequence()});
  }

  void check_all_committed(const Seen& seen) {
    for (const Stage& stage : seen.job->body->stages) {
      if (!stage.sink || stage.commits == model::Commits::none || stage.tasks == 0) {
        continue;
      }
      std::int64_t committed = 0;
      for (const std::int32_t attempt : stage.commit_attempt) {
        committed += attempt == -1 ? 0 : 1;
      }
      if (committed < stage.tasks) {
        found(fmt::format("{} succeeded with {} of {} partitions of {} committed (C8)",
                          track().name(*seen.job), committed, stage.tasks,
                          track().name(*seen.job, stage)));
      }
    }
  }

  std::vector<Commit> commits_;  // of this instant
};

}  // namespace

std::unique_ptr<Monitor> make_commit_once(const Track& track) {
  return std::make_unique<CommitOnce>(track);
}

}  // namespace rehearse::properties
