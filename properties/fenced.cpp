// What is dead decides nothing (X9, X12): no success counts from a lost executor, from an attempt
// of a group that is not the current one, or, where others read the output, from an executor whose
// epoch ended after the task had started. Old attempts of regular stages may still deliver. At the
// notice of a loss every task there ends. A fetch that fails in a member ends the epoch of the
// executor that it names: what others can read there is struck off, too (X5, X9). No line names it,
// so it is judged only where every executor that the task may have read from has an output that
// somebody reads, and none of them lost any. To find one is linear in what is there; that is done
// once for each such failure, which ends a group.
// registry: FENCED
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
    if (event.status != model::TaskStatus::success) {
      if (event.reason == model::TaskReason::fetch_failed) {
        note_fetch(event, seen);
      }
      return;
    }
    if (!event.counted.value_or(true)) {
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
    if (lost == nullptr) {
      return;
    }
    for (Fetch& fetch : fetches_) {
      fetch.struck = fetch.struck ||
                     std::ranges::find(fetch.sources, seen.executor_index) != fetch.sources.end();
    }
    if (seen.stage == nullptr) {
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
    for (const Fetch& fetch : std::exchange(fetches_, {})) {
      const bool all_live = std::ranges::none_of(
          fetch.witnesses, [&](Index job) { return track().job(job).ended(); });
      if (!fetch.struck && all_live) {
        found(
            fmt::format("{} could not fetch from any of {} executors and nothing there was struck "
                        "off (X5)",
                        fetch.task, fetch.sources.size()));
      }
    }
  }

 private:
  // Of a member, in this instant.
  struct Fetch {
    std::string task;
    std::vector<Index> sources;    // executors that it may have read from
    std::vector<Index> witnesses;  // jobs with an output there that is read, one for each
    bool struck = false;           // a line says that one of them lost some
  };

  void note_fetch(const model::TaskEnd& event, const Seen& seen) {
    const Group* group = seen.group;
    if (group == nullptr || !group->gang_of_several() || group->attempt != event.task.attempt ||
        group->state != GroupState::admitted) {
      return;
    }
    Fetch fetch;
    fetch.task = track().name(event.task);
    if (!note_sources(*seen.job->body, *seen.stage, fetch.sources) || fetch.sources.empty()) {
      return;
    }
    // A job that ends with its group takes its outputs along without a line.
    const bool goes_on = track().rules().config.failure.group == model::GroupFailure::rerun_group;
    for (const Index source : fetch.sources) {
      const std::optional<Index> witness = reader_of(source, goes_on ? no_index : seen.job_index);
      if (!witness) {
        return;
      }
      fetch.witnesses.push_back(*witness);
    }
    fetches_.push_back(std::move(fetch));
  }

  // False if the fetch may have named something that is nowhere yet, or another job's. A success
  // that waits for its producers (C6) is nowhere yet, even where its task_end has been told.
  [[nodiscard]] bool note_sources(const JobBody& body, const Stage& stage,
                                  std::vector<Index>& sources) const {
    const bool waits = track().rules().config.completion == model::Completion::after_parents;
    for (const ForeignEdge& edge : body.foreign) {
      if (edge.to < body.stages.size() && &body.stages[edge.to] == &stage) {
        return false;
      }
    }
    for (Index i = stage.in_first; i < stage.in_first + stage.in_count; ++i) {
      const Edge& edge = body.edges_in[i];
      const Stage& producer = body.stages[edge.from];
      const bool regular = edge.kind == model::EdgeKind::regular;
      if (!regular && waits && producer.state != AttemptState::succeeded) {
        return false;
      }
      for (const Partition& partition : producer.partitions) {
        if (!(regular ? partition.output : partition.done) || partition.executor == no_index) {
          return false;
        }
        if (std::ranges::find(sources, partition.executor) == sources.end()) {
          sources.push_back(partition.executor);
        }
      }
    }
    return true;
  }

  // A live job, other than `except`, with a registered output on the executor that one of its own
  // stages reads; members count from the commit of their group on.
  [[nodiscard]] std::optional<Index> reader_of(Index executor, Index except) const {
    for (Index j = 0; j < track().jobs().size(); ++j) {
      const Job& job = track().job(j);
      if (j == except || job.body == nullptr || job.ended()) {
        continue;
      }
      for (const Edge& edge : job.body->edges_in) {
        const Stage& stage = job.body->stages[edge.from];
        const Group* group = stage.group == no_index ? nullptr : &job.body->groups[stage.group];
        const bool registered =
            group == nullptr || !group->gang_of_several() || group->state == GroupState::committed;
        const auto there = [executor](const Partition& partition) {
          return partition.output && partition.executor == executor;
        };
        if (edge.kind == model::EdgeKind::regular && registered && stage.outputs > 0 &&
            std::ranges::any_of(stage.partitions, there)) {
          return j;
        }
      }
    }
    return std::nullopt;
  }

  std::vector<Fetch> fetches_;
};

}  // namespace

std::unique_ptr<Monitor> make_fenced(const Track& track) { return std::make_unique<Fenced>(track); }

}  // namespace rehearse::properties
