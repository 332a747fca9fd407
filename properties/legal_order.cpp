// Every task, stage, group and job follows its automaton, the run line is first, run_end is last
// and time never goes back (C12 and "Order within a step" of scenario.md section 5). Under
// `completion: after-parents` a member's success counts behind its pipelined producers (C6); where
// task_end comes at once it does so with stage_completed only, so that is what is judged. Whatever
// names something that does not exist is reported here; the other monitors never see it.
// registry: LEGAL_ORDER
#include <fmt/format.h>

#include <algorithm>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

std::int64_t size_of(const model::Ranges& ranges) {
  std::int64_t size = 0;
  for (const model::Range& range : ranges) {
    size += std::int64_t{range.last} - range.first + 1;
  }
  return size;
}

bool contains(const model::Ranges& ranges, std::int32_t partition) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const model::Range& range) {
    return range.first <= partition && partition <= range.last;
  });
}

class LegalOrder final : public MonitorOf<LegalOrder> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override { return ~std::uint64_t{0}; }

  void task_start(const model::TaskStart& event, const Seen& seen) override {
    check_time();
    const Stage& stage = *seen.stage;
    if (stage.state != AttemptState::open || stage.attempt != event.task.attempt) {
      found(fmt::format("{} started in attempt {}, which is not submitted (C12)",
                        track().name(event.task), event.task.attempt));
      return;
    }
    for (std::int32_t p = event.task.partition; p <= event.task.last(); ++p) {
      check_partition(event, p, seen);
    }
    if (event.task.more > 0 && seen.group != nullptr) {
      found(fmt::format("{} started as a slice inside a gang (A21)", track().name(event.task)));
    }
  }

  void task_end(const model::TaskEnd& event, const Seen& seen) override {
    check_time();
    const bool success = event.status == model::TaskStatus::success;
    const bool killed = event.status == model::TaskStatus::killed;
    const bool fits =
        success ? !event.reason
                : event.reason && (*event.reason >= model::TaskReason::group_failed) == killed;
    if (!fits || (event.counted && !success)) {
      found(fmt::format("{} ended as {} with a reason that does not belong to it",
                        track().name(event.task), model::name_of(event.status)));
    }
    if (event.speculative != (seen.task->speculative != 0)) {
      found(fmt::format("{} started and ended with different marks of speculation",
                        track().name(event.task)));
    }
    if (success && event.counted.value_or(true) && seen.group != nullptr &&
        track().rules().config.task_end == model::TaskEndAxis::with_release &&
        seen.group->attempt == event.task.attempt) {
      check_producers(seen, [&] { return track().name(event.task); });
    }
  }

  void event(const model::Event& event, const Seen& seen) override {
    check_time();
    if (over_) {
      found(fmt::format("{} after run_end", event.name()));
    }
    check_frame(event);
    over_ = over_ || event.as<model::RunEnd>() != nullptr;
    std::visit(
        [&](const auto& body) {
          if constexpr (requires { this->check(body, seen); }) {
            check(body, seen);
          }
        },
        event.body);
  }

  void unknown(const model::Event& event, const Seen& seen) override {
    check_time();
    if (event.as<model::RunStart>() != nullptr) {
      check_frame(event);
      return;
    }
    std::string what = "something that is not there";
    if (seen.job != nullptr && seen.job->ended()) {
      what = fmt::format("{}, which has ended", track().name(*seen.job));
    } else if (seen.job != nullptr) {
      what = fmt::format("something of {} that is not there", track().name(*seen.job));
    } else if (seen.executor != nullptr) {
      what = fmt::format("{}, which {}", track().text(seen.executor->name),
                         seen.executor->live ? "lives" : "is lost");
    }
    found(fmt::format("{} names {} (C12)", event.name(), what));
  }

 private:
  void check_frame(const model::Event& event) {
    if ((event.as<model::RunStart>() != nullptr) != (track().sequence() == 1)) {
      found(fmt::format("{} where the {} line must stand", event.name(),
                        track().sequence() == 1 ? "run" : "next"));
    }
  }

  // C6: one of the producers has not completed in this attempt of the group.
  template <class Name>
  void check_producers(const Seen& seen, Name name) {
    if (track().rules().config.completion != model::Completion::after_parents) {
      return;
    }
    const JobBody& body = *seen.job->body;
    const Stage& stage = *seen.stage;
    for (Index i = stage.in_first; i < stage.in_first + stage.in_count; ++i) {
      const Edge& edge = body.edges_in[i];
      const Stage& producer = body.stages[edge.from];
      if (edge.kind == model::EdgeKind::pipelined && producer.group == stage.group &&
          producer.state != AttemptState::succeeded) {
        found(fmt::format("{} succeeds before its producer {} has completed (C6)", name(),
                          track().name(*seen.job, producer)));
        return;
      }
    }
  }

  void check_partition(const model::TaskStart& event, std::int32_t p, const Seen& seen) {
    const Partition& partition = seen.at(event.task, p);
    if (!seen.stage->subset.empty() && !contains(seen.stage->subset, p)) {
      found(fmt::format("{} is no partition of attempt {} (C12)", track().name(event.task),
                        event.task.attempt));
    }
    if (partition.done) {
      found(fmt::format("{} started and is done already (X9)", track().name(event.task)));
    }
    if (event.speculative || partition.live || partition.more) {
      check_beside(event, p, seen);
    }
  }

  // X9: tries of one attempt do not run beside each other, but for one copy, on another host.
  void check_beside(const model::TaskStart& event, std::int32_t p, const Seen& seen) {
    const Partition& partition = seen.at(event.task, p);
    int beside = 0;
    bool same_host = false;
    const auto look_at = [&](const Task& task) {
      if (task.attempt == event.task.attempt) {
        ++beside;
        same_host =
            same_host || track().slots().executor(task.executor).host == seen.executor->host;
      }
    };
    if (partition.live) {
      look_at(partition.last);
    }
    if (partition.more) {
      const auto stage = static_cast<Index>(seen.stage - seen.job->body->stages.data());
      for (const OlderTry& older : seen.job->body->older) {
        if (older.stage == stage && older.partition == p) {
          look_at(older.task);
        }
      }
    }
    if (!event.speculative && beside > 0) {
      found(fmt::format("{} started while a try of the same attempt runs (X9)",
                        track().name(event.task)));
    } else if (event.speculative && beside != 1) {
      found(fmt::format("{} started as a copy beside {} tries of the same attempt (X9)",
                        track().name(event.task), beside));
    } else if (event.speculative && seen.group != nullptr) {
      found(fmt::format("{} started as a copy inside a gang (X2)", track().name(event.task)));
    } else if (event.speculative && same_host) {
      found(fmt::format("{} started as a copy on the host of the other try (X9)",
                        track().name(event.task)));
    }
  }

  void check_time() {
    if (track().now() < last_t_) {
      found(fmt::format("time goes back from {} to {}", last_t_, track().now()));
    }
    last_t_ = track().now();
  }

  void check(const model::JobSubmitted& event, const Seen& seen) {
    if (seen.job != nullptr) {
      found(fmt::format("{} was submitted a second time (X8)", track().text(event.job)));
    }
  }

  void check(const model::JobRejected& event, const Seen& seen) {
    if (seen.job->state != JobState::submitted) {
      found(fmt::format("{} was rejected after job_started (C12)", track().name(*seen.job)));
    }
    if (event.codes.empty() || event.codes.front() != event.code) {
      found(fmt::format("{} was rejected with a code that is not the first of its codes (F13)",
                        track().name(*seen.job)));
    }
  }

  void check(const model::JobStarted& /*event*/, const Seen& seen) {
    if (seen.job->state != JobState::submitted) {
      found(fmt::format("{} started a second time or after its rejection (C12)",
                        track().name(*seen.job)));
    }
  }

  void check(const model::JobEnd& event, const Seen& seen) {
    if (seen.job->state != JobState::started) {
      found(fmt::format("{} ended without running (C12)", track().name(*seen.job)));
    }
    if ((event.outcome == model::JobOutcome::succeeded) == event.code.has_value()) {
      found(fmt::format("{} ended as {} {} a code (X17)", track().name(*seen.job),
                        model::name_of(event.outcome), event.code ? "with" : "without"));
    }
  }

  void check(const model::GroupFormed& event, const Seen& seen) {
    if (seen.group != nullptr || seen.job->state != JobState::started) {
      found(fmt::format("group {}/{} formed twice or before job_started (C12)",
                        track().text(event.job), track().text(event.stage)));
    }
  }

  void check(const model::GroupQueued& event, const Seen& seen) {
    expect_group(seen, may_start(seen), "queued");
    if (event.reason == model::QueuedReason::slots && (!event.need || !event.have)) {
      found(fmt::format("{} queued for slots without need and have (A6)",
                        track().name(*seen.job, *seen.group)));
    }
  }

  void check(const model::GroupAdmitted& event, const Seen& seen) {
    const Group& group = *seen.group;
    expect_group(seen, may_start(seen), "admitted");
    if (event.group.attempt.value_or(-1) <= group.attempt) {
      found(fmt::format("{} admitted as attempt {} after attempt {} (X10)",
                        track().name(event.group), event.group.attempt.value_or(-1),
                        group.attempt));
    }
  }

  void check(const model::GroupCommitted& event, const Seen& seen) {
    expect_group(seen, of_admitted(event.group, seen), "committed");
  }

  void check(const model::GroupFailed& event, const Seen& seen) {
    expect_group(seen, of_admitted(event.group, seen), "failed");
  }

  void check(const model::GroupCancelled& /*event*/, const Seen& seen) {
    expect_group(seen, seen.group->live() || seen.group->state == GroupState::failed, "cancelled");
  }

  void check(const model::EdgesChanged& /*event*/, const Seen& seen) {
    expect_group(seen, seen.group->live() && seen.group->state != GroupState::admitted,
                 "dissolved");
  }

  static bool of_admitted(const model::StageRef& group, const Seen& seen) {
    return seen.group->state == GroupState::admitted && group.attempt == seen.group->attempt;
  }

  // Waits or is admitted: for the first time, after a failure (X16) or commit (X10), or as a
  // barrier stage whose attempt failed, which writes no group event (A12).
  static bool may_start(const Seen& seen) {
    const Group& group = *seen.group;
    if (group.state == GroupState::admitted) {
      return !group.gang_of_several() &&
             seen.job->body->stages[group.first].state == AttemptState::failed;
    }
    return group.state != GroupState::cancelled && group.state != GroupState::dissolved;
  }

  void expect_group(const Seen& seen, bool legal, std::string_view verb) {
    if (!legal) {
      found(fmt::format("group {} cannot be {} from where it is (C12)",
                        track().name(*seen.job, *seen.group), verb));
    }
  }

  void check(const model::StageSubmitted& event, const Seen& seen) {
    const Stage& stage = *seen.stage;
    const std::int32_t attempt = event.stage.attempt.value_or(-1);
    const auto name = [&] { return track().name(event.stage); };
    if (stage.state == AttemptState::open) {
      found(fmt::format("{} attempt {} submitted while attempt {} is open (X9)", name(), attempt,
                        stage.attempt));
    }
    if (stage.attempt >= 0 ? attempt != stage.attempt + 1 : attempt < 0) {
      found(fmt::format("{} attempt {} follows attempt {} (X9)", name(), attempt, stage.attempt));
    }
    if (event.partitions ? size_of(*event.partitions) != event.tasks : event.tasks != stage.tasks) {
      found(fmt::format("{} submitted with {} tasks that are not its partitions (C12)", name(),
                        event.tasks));
    }
    const bool reruns_missing =
        seen.group == nullptr &&
        track().rules().config.failure.incomplete == model::Incomplete::rerun;
    if (reruns_missing && event.tasks != stage.tasks - stage.done) {
      found(fmt::format("{} submitted with {} tasks where {} are missing (X9)", name(), event.tasks,
                        stage.tasks - stage.done));
    }
  }

  void check(const model::StageCompleted& event, const Seen& seen) {
    const Stage& stage = *seen.stage;
    if (stage.state != AttemptState::open || stage.attempt != event.stage.attempt) {
      found(fmt::format("{} attempt {} completed and is not open (C12)", track().name(event.stage),
                        event.stage.attempt.value_or(-1)));
      return;
    }
    const bool success = event.status == model::StageStatus::success;
    const bool gang = seen.group != nullptr && seen.group->gang_of_several();
    if (success && event.reason) {
      found(fmt::format("{} completed well with a reason (C12)", track().name(event.stage)));
    }
    if (success && gang) {
      check_producers(seen, [&] { return track().name(event.stage); });
    }
    const bool all_done = stage.done == stage.tasks || (gang && stage.all_succeeded());
    if (success && !all_done &&
        track().rules().config.failure.incomplete == model::Incomplete::rerun) {
      found(fmt::format("{} completed well with {} of {} tasks done (X9)",
                        track().name(event.stage), stage.done, stage.tasks));
    }
  }

  void check(const model::MemberFinished& event, const Seen& seen) {
    if (seen.group == nullptr || seen.stage->state != AttemptState::open) {
      found(fmt::format("{} finished and is no running member (C10)", track().name(event.stage)));
    }
  }

  void check(const model::OutputsRegistered& event, const Seen& seen) {
    if (seen.group == nullptr || seen.stage->done < seen.stage->tasks) {
      found(fmt::format("{} registered outputs without being a finished member (C4)",
                        track().name(event.stage)));
    }
  }

  void check(const model::ExecutorReleased& event, const Seen& seen) {
    if (!seen.executor->held) {
      found(fmt::format("{} was released and was not held", track().text(event.executor)));
    }
  }

  model::Instant last_t_ = 0;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<Monitor> make_legal_order(const Track& track) {
  return std::make_unique<LegalOrder>(track);
}

}  // namespace rehearse::properties
