// Members complete together: one block of stage_completed in topological order, group_committed
// right behind it, nothing between (C2, C4). The lines of a block are recognised by their sequence
// numbers, so no other event has to be looked at.
// registry: DEFERRED
#include <fmt/format.h>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class Deferred final : public MonitorOf<Deferred> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::StageCompleted, model::GroupCommitted, model::MemberFinished,
                 model::OutputsRegistered>();
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (seen.group == nullptr || !seen.group->gang_of_several()) {
      return;
    }
    if (event.as<model::OutputsRegistered>() != nullptr) {
      registered_.push_back({{seen.job_index, seen.stage->group}, first_of(seen)});
    } else if (const auto* completed = event.as<model::StageCompleted>()) {
      if (completed->status == model::StageStatus::success) {
        extend(completed->stage, seen);
      }
    } else if (const auto* committed = event.as<model::GroupCommitted>()) {
      close(*committed, seen);
    } else if (const auto* finished = event.as<model::MemberFinished>()) {
      if (seen.stage->done < seen.stage->tasks) {
        found(fmt::format("{} is called finished with {} of {} tasks done (C10)",
                          track().name(finished->stage), seen.stage->done, seen.stage->tasks));
      }
    }
  }

  void instant_over() override {
    if (open_.group != no_index) {
      found(fmt::format("{} completed members without group_committed behind them (C4)",
                        track().name(first_)));
      open_ = {};
    }
    for (const Registered& group : registered_) {
      found(
          fmt::format("{} registered outputs outside its commit (C2)", track().name(group.first)));
    }
    registered_.clear();
  }

 private:
  // What a group is called by; its name is made for a finding only.
  [[nodiscard]] static model::StageRef first_of(const Seen& seen) {
    return {seen.job->name, seen.job->body->stages[seen.group->first].name, {}};
  }

  void extend(const model::StageRef& stage, const Seen& seen) {
    const GroupRef ref{seen.job_index, seen.stage->group};
    const bool goes_on =
        open_.group == ref.group && open_.job == ref.job && track().sequence() == begun_at_ + next_;
    if (!goes_on) {
      if (open_.group != no_index) {
        found(fmt::format("the block of {} was interrupted by {} (C4)", track().name(first_),
                          track().name(stage)));
      }
      open_ = ref;
      first_ = first_of(seen);
      begun_at_ = track().sequence();
      next_ = 0;
      check_all_done(seen);
    }
    const std::vector<Index>& order = seen.group->topological;
    if (next_ >= order.size() || &seen.job->body->stages[order[next_]] != seen.stage) {
      found(fmt::format("{} completed out of topological order in the block of {} (C4)",
                        track().name(stage), track().name(first_)));
    }
    ++next_;
  }

  // C2: the block opens only when every member's last task has succeeded.
  void check_all_done(const Seen& seen) {
    for (const Index member : seen.group->members) {
      const Stage& stage = seen.job->body->stages[member];
      if (stage.done < stage.tasks) {
        found(fmt::format("members of {} completed while {} has {} of {} tasks done (C2)",
                          track().name(first_), track().name(*seen.job, stage), stage.done,
                          stage.tasks));
      }
    }
  }

  void close(const model::GroupCommitted& event, const Seen& seen) {
    const bool whole = open_.group == seen.stage->group && open_.job == seen.job_index &&
                       next_ == seen.group->members.size() &&
                       track().sequence() == begun_at_ + next_;
    if (!whole) {
      found(fmt::format("{} committed without the block of its {} members before it (C4)",
                        track().name(event.group), seen.group->members.size()));
    }
    std::erase_if(registered_, [&seen](const Registered& group) {
      return group.ref.job == seen.job_index && group.ref.group == seen.stage->group;
    });
    open_ = {};
  }

  struct Registered {
    GroupRef ref;
    model::StageRef first;
  };
  std::vector<Registered> registered_;  // in this instant, their commit has not come yet
  GroupRef open_;                       // the group whose block is being read
  model::StageRef first_;               // of its stages, which names it
  std::uint64_t begun_at_ = 0;          // sequence of its first stage_completed
  std::size_t next_ = 0;                // members completed so far
};

}  // namespace

std::unique_ptr<Monitor> make_deferred(const Track& track) {
  return std::make_unique<Deferred>(track);
}

}  // namespace rehearse::properties
