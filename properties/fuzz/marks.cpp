// The listener that sees the hard places of one run. Rows are as Track had them before the event.
// registry: none (the marks of a campaign)
#include "properties/fuzz/marks.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "model/support/check.hpp"
#include "model/waiting_bound.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class MarkListener final : public Monitor {
 public:
  MarkListener(const Track& track, const model::Scenario& scenario, Reached& reached)
      : Monitor(track),
        reached_(reached),
        with_release_(scenario.scheduler.task_end == model::TaskEndAxis::with_release) {
    for (const model::JobSpec& job : scenario.jobs) {
      for (const model::StageSpec& stage : job.stages) {
        if (stage.width) {
          gathers_.insert({job.name, stage.name});
        }
      }
      for (const model::EdgeSpec& edge : job.edges) {
        if (edge.reuse_job.valid()) {
          reused_.emplace(job.name, edge.reuse_job);
        }
      }
    }
    last_of_job_.resize(scenario.jobs.size() * 2 + 8);
  }

  // It counts for one campaign: a MonitorSet that has it is never copied.
  [[nodiscard]] std::unique_ptr<Monitor> copy_over(const Track& /*track*/) const override {
    RH_CHECK(false);
    return nullptr;
  }
  void continue_from(const Monitor& /*other*/) override { RH_CHECK(false); }

  [[nodiscard]] std::uint64_t wants() const override {
    return kinds<model::ExecutorAdded, model::ExecutorLost, model::ExecutorHeld,
                 model::JobSubmitted, model::JobRejected, model::JobStarted, model::JobEnd,
                 model::GroupFormed, model::GroupQueued, model::GroupAdmitted,
                 model::GroupCommitted, model::GroupFailed, model::GroupCancelled,
                 model::StageSubmitted, model::StageCompleted, model::TaskStart, model::TaskEnd,
                 model::MemberFinished, model::OutputsLost, model::OutputCommitted,
                 model::Reservation>();
  }
  // A success that was held back looks like any other.
  [[nodiscard]] PlainTasks wants_plain_starts() const override { return wants_plain_ends(); }
  [[nodiscard]] PlainTasks wants_plain_ends() const override {
    return with_release_ ? PlainTasks::all : PlainTasks::none;
  }

  void task_start(const model::TaskStart& event, const Seen& seen) override {
    follow(seen.job_index, model::event_number<model::TaskStart>());
    reached_.hit(Mark::slice_of_several, event.task.more > 0 ? 1 : 0);
  }

  void task_end(const model::TaskEnd& event, const Seen& seen) override {
    follow(seen.job_index, model::event_number<model::TaskEnd>());
    if (event.status == model::TaskStatus::success) {
      const bool counted = event.counted.value_or(true);
      const bool old = event.task.attempt < seen.stage->attempt;
      reached_.hit(Mark::uncounted_success, counted ? 0 : 1);
      reached_.hit(Mark::old_attempt_counts, counted && old ? 1 : 0);
      if (with_release_ && event.slot && seen.group != nullptr) {
        release(counted, seen);
      }
      return;
    }
    if (event.reason) {
      failed(*event.reason, seen);
    }
  }

  void event(const model::Event& event, const Seen& seen) override {
    if (seen.job != nullptr) {
      follow(seen.job_index, event.number());
    }
    std::visit([&](const auto& body) { on(body, seen); }, event.body);
  }

  void instant_over() override {
    settle_kills();
    settle_kept();
    const std::uint64_t events = track().sequence() - sequence_;
    sequence_ = track().sequence();
    reached_.hit(Mark::five_events_at_once, events >= 5 ? 1 : 0);
    if (admitted_now_ > 1) {
      reached_.hit(Mark::two_admitted_at_once);
    }
    if (admitted_now_ > 0 && queued_now_ > 0) {
      reached_.hit(Mark::compete_and_wait);
    }
    admitted_now_ = queued_now_ = 0;
    joined_now_ = false;
    gave_up_.clear();
    std::int64_t free = 0;
    for (const std::int64_t slots : track().slots().free()) {
      free += slots;
    }
    reached_.state({.jobs = track().live_jobs(),
                    .waiting = static_cast<std::int64_t>(track().waits().gang_count()),
                    .drained = drained_,
                    .executors = executors_,
                    .free = free,
                    .running = track().live_tasks()});
  }

 private:
  // The kinds that nobody looks at.
  template <class Body>
  void on(const Body& /*body*/, const Seen& /*seen*/) {}

  // C6: its line stands where it is released or where the group is given up.
  void release(bool counted, const Seen& seen) {
    reached_.hit(counted ? Mark::held_back_then_released : Mark::held_back_then_dropped);
    if (!counted) {
      dropped_groups_.emplace_back(seen.job->name, seen.job->body->stages[seen.group->first].name);
    }
  }

  // ---- executors ----

  void on(const model::ExecutorAdded& /*body*/, const Seen& /*seen*/) {
    if (track().now() == track().rules().heals_at && !healed_) {
      healed_ = true;
      reached_.hit(Mark::healing_needed, needs_healing() ? 1 : 0);
    }
    reached_.hit(Mark::nobody_there_then_join, ever_ && executors_ == 0 && track().live_jobs() > 0);
    reached_.hit(Mark::join_later, track().now() > 0 ? 1 : 0);
    joined_now_ = true;
    ++executors_;
    ever_ = true;
  }
  void on(const model::ExecutorLost& body, const Seen& seen) {
    --executors_;
    if (seen.executor != nullptr) {
      note_state_of_lost(body.cause == model::LossCause::decommission, seen);
    }
    using enum model::LossCause;
    reached_.hit(body.cause == process       ? Mark::loss_of_process
                 : body.cause == host        ? Mark::loss_of_host
                 : body.cause == exit_by_app ? Mark::loss_of_exit_by_app
                                             : Mark::loss_by_decommission);
    lost_ = true;
  }
  void on(const model::ExecutorHeld& /*body*/, const Seen& /*seen*/) { reached_.hit(Mark::hold); }

  // Could somebody who lives not run if nobody came?
  [[nodiscard]] bool needs_healing() const {
    return std::ranges::any_of(track().jobs(), [this](const Job& job) {
      return !job.ended() && !track().fits_what_lives(job);
    });
  }
  // One that is decommissioned leaves by plan, with nothing on it.
  void note_state_of_lost(bool leaves, const Seen& seen) {
    const Executor& executor = *seen.executor;
    const bool open = !executor.held && !executor.decommissioned;
    reached_.hit(Mark::lost_last, executors_ == 0 && track().live_jobs() > 0 ? 1 : 0);
    if (leaves) {
      return;
    }
    reached_.hit(Mark::lost_idle, open && executor.busy_slots == 0 ? 1 : 0);
    reached_.hit(Mark::lost_while_held, executor.held && !executor.decommissioned ? 1 : 0);
    reached_.hit(Mark::lost_while_draining, executor.decommissioned ? 1 : 0);
    reached_.hit(Mark::lost_with_drained_output, has_drained_output(seen.executor_index) ? 1 : 0);
  }
  // Did a finished member of a group that still runs leave an output there?
  [[nodiscard]] bool has_drained_output(Index executor) const {
    const auto finished_there = [executor](const Stage& stage) {
      return stage.tasks > 0 && stage.done == stage.tasks &&
             std::ranges::find(stage.partitions, executor, &Partition::executor) !=
                 stage.partitions.end();
    };
    const auto runs_on = [&](const Job& job, const Group& group) {
      return group.gang_of_several() && group.state == GroupState::admitted &&
             std::ranges::any_of(group.members, [&](Index member) {
               return finished_there(job.body->stages[member]);
             });
    };
    return std::ranges::any_of(track().jobs(), [&](const Job& job) {
      return job.body && !job.ended() &&
             std::ranges::any_of(job.body->groups,
                                 [&](const Group& group) { return runs_on(job, group); });
    });
  }

  // ---- jobs ----

  // F7: the shuffle of a job that is over is free for another.
  void on(const model::JobStarted& body, const Seen& /*seen*/) {
    const auto [first, last] = reused_.equal_range(body.job);
    for (auto at = first; at != last; ++at) {
      const Index other = track().latest_job(at->second);
      reached_.hit(Mark::used_again_after, other != no_index && track().job(other).ended() ? 1 : 0);
    }
  }
  void on(const model::JobSubmitted& body, const Seen& /*seen*/) { edges_ = body.edges; }
  void on(const model::JobRejected& body, const Seen& /*seen*/) {
    for (const model::Code code : body.codes) {
      reached_.rejected(code);
    }
    reached_.hit(Mark::several_codes, body.codes.size() > 1 ? 1 : 0);
  }
  void on(const model::JobEnd& body, const Seen& seen) {
    reached_.hit(Mark::cancelled, body.outcome == model::JobOutcome::cancelled ? 1 : 0);
    if (body.outcome == model::JobOutcome::cancelled && seen.job->body) {
      // Groups that lived have a line of their own.
      const auto waits = [](const Group& group) {
        return group.rerun && group.state == GroupState::failed;
      };
      reached_.hit(Mark::cancelled_before_rerun,
                   std::ranges::any_of(seen.job->body->groups, waits) ? 1 : 0);
    }
    const bool retries = track().rules().config.admission.when_short == model::Short::retry;
    reached_.hit(Mark::retry_used_up, retries && body.code == model::Code::insufficient_slots);
    const bool gave_up = std::ranges::find(gave_up_, body.job) != gave_up_.end();
    reached_.hit(Mark::bulk_times_out,
                 gave_up && body.code == model::Code::admission_timeout ? 1 : 0);
  }

  // ---- groups ----

  void on(const model::GroupFormed& body, const Seen& /*seen*/) {
    std::int64_t demand = 0;
    for (const auto& item : body.demand) {
      demand += item.n;
    }
    reached_.hit(Mark::one_task_group, demand == 1 ? 1 : 0);
    const auto inside = [&](model::NameId stage) {
      return std::ranges::find(body.stages, stage) != body.stages.end();
    };
    std::size_t pipelined = 0;
    for (const auto& edge : edges_) {
      const bool joins = edge.kind == model::EdgeKind::pipelined;
      pipelined += joins && inside(edge.from) && inside(edge.to) ? 1U : 0U;
      // A regular edge into this group from a stage of one that was formed before, or the reverse.
      if (!joins && inside(edge.from) != inside(edge.to)) {
        const model::NameId other = inside(edge.from) ? edge.to : edge.from;
        reached_.hit(Mark::groups_joined_by_edge,
                     std::ranges::find(grouped_, std::pair{body.job, other}) != grouped_.end());
      }
    }
    reached_.hit(Mark::diamond, pipelined >= body.stages.size() ? 1 : 0);
    for (const model::NameId stage : body.stages) {
      grouped_.emplace_back(body.job, stage);
    }
  }
  void on(const model::GroupQueued& body, const Seen& seen) {
    if (body.reason != model::QueuedReason::slots || seen.group == nullptr) {
      return;
    }
    ++queued_now_;
    reached_.hit(Mark::waiting_head);
    reached_.hit(Mark::blocked_by_head, covers(body.have, body.need) ? 1 : 0);
    waited_[{body.job, body.stage}] = track().key_of(seen.job_index, seen.group->first);
    note_starved(body, *seen.group);
  }
  // Enough is free, and it has to wait all the same.
  [[nodiscard]] static bool covers(const std::optional<model::PerProfile>& have,
                                   const std::optional<model::PerProfile>& need) {
    return have && need && std::ranges::all_of(*need, [&](const model::ProfileCount& item) {
             const auto found =
                 std::ranges::find(*have, item.profile, &model::ProfileCount::profile);
             return found != have->end() && found->n >= item.n;
           });
  }
  void note_starved(const model::GroupQueued& body, const Group& group) {
    const auto capacity = track().slots().idle_capacity();
    for (std::size_t p = 0; p < group.demand.size(); ++p) {
      if (lost_ && group.demand[p] > capacity[p]) {
        starved_.insert({body.job, body.stage});
      }
    }
  }
  // A2 bulk: what a group holds before it is admitted. What it gives back at its end comes before
  // its job's last line, in the same instant.
  void on(const model::Reservation& body, const Seen& seen) {
    if (track().rules().config.admission.hold != model::Hold::bulk || seen.group == nullptr ||
        seen.group->state == GroupState::admitted) {
      return;
    }
    std::int64_t& held = bulk_[{body.job, body.stage}];
    held += body.delta;
    if (held <= 0) {
      bulk_.erase({body.job, body.stage});
      gave_up_.push_back(body.job);
    }
    reached_.hit(Mark::two_bulks_hold, bulk_.size() > 1 ? 1 : 0);
  }
  void on(const model::GroupAdmitted& body, const Seen& seen) {
    const std::pair key{body.group.job, body.group.stage};
    const bool held = bulk_.erase(key) > 0;
    ++admitted_now_;
    reached_.hit(Mark::exact_fit, fits_exactly(body.slots) ? 1 : 0);
    const bool retries = track().rules().config.admission.when_short == model::Short::retry;
    const bool waited = waited_.erase(key) > 0;
    reached_.hit(Mark::retry_succeeds, retries && waited ? 1 : 0);
    const bool starved = starved_.erase(key) > 0;
    reached_.hit(Mark::starvation_ends, starved ? 1 : 0);
    if (!waited && seen.group != nullptr && behind_a_head(seen)) {
      reached_.hit(Mark::backfill);
      passed_ = true;
    }
    if (seen.group != nullptr && (held || (waited && kept_from_another(seen)))) {
      kept_.push_back({seen.job_index, seen.job->body->stages[seen.group->first].group});
    }
    if (waited && !starved && seen.group != nullptr) {
      reached_.hit(Mark::waited_to_bound, waited_to_bound(*seen.group) ? 1 : 0);
    }
  }
  // Was it kept waiting for as long as model/waiting_bound.hpp allows? Where nobody passes, to the
  // end of the last task that ran; under `aging` past its time, after others had started first.
  [[nodiscard]] bool waited_to_bound(const Group& group) const {
    const model::AdmissionConfig& admission = track().rules().config.admission;
    const model::Duration waited = track().now() - group.waits_since;
    switch (model::waiting_bound(admission.queue, admission.overtake).kind) {
      case model::WaitingBound::never_passed:
        return waited > 0 && track().live_tasks() == 0 && !joined_now_;
      case model::WaitingBound::passed_until_aged:
        return passed_ && waited >= admission.aging_after;
      default:
        return false;  // `easy`: no line shows what was planned
    }
  }
  // All that is free and not promised to groups that were admitted before it.
  [[nodiscard]] bool fits_exactly(const model::PerProfile& slots) const {
    return !slots.empty() && std::ranges::all_of(slots, [this](const model::ProfileCount& item) {
      const Index profile = track().slots().find_profile(item.profile);
      return item.n == track().slots().free()[profile] - track().owed()[profile];
    });
  }
  // Does one that was refused and is no starved one (A14) stand before it and wait on?
  [[nodiscard]] bool behind_a_head(const Seen& seen) const {
    const WaitBook& waits = track().waits();
    if (!waits.one_lane() || !waits.ordered()) {
      return false;
    }
    const UnitKey key = track().key_of(seen.job_index, seen.group->first);
    const auto capacity = track().slots().idle_capacity();
    return std::ranges::any_of(waited_, [&](const auto& other) {
      const JobBody* body = track().job(other.second.job).body.get();
      const Index group = body == nullptr ? no_index : body->stages[other.second.stage].group;
      return group != no_index && waits.certainly_before(other.second, key) &&
             std::ranges::equal(body->groups[group].demand, capacity, std::less_equal{});
    });
  }
  // A2 reserve: from its admission on its slots are its own. Does one wait behind this head that
  // would fit, by counts, into what is free?
  [[nodiscard]] bool kept_from_another(const Seen& seen) const {
    const WaitBook& waits = track().waits();
    if (track().rules().config.admission.hold != model::Hold::reserve || !waits.one_lane() ||
        !waits.ordered()) {
      return false;
    }
    const UnitKey key = track().key_of(seen.job_index, seen.group->first);
    const auto fits = [this](const Group& group) {
      bool all = group.state == GroupState::queued;
      for (Index p = 0; all && p < group.demand.size(); ++p) {
        all = group.demand[p] <= track().slots().free()[p] - track().owed()[p];
      }
      return all;
    };
    return std::ranges::any_of(waited_, [&](const auto& other) {
      const JobBody* body = track().job(other.second.job).body.get();
      const Index group = body == nullptr ? no_index : body->stages[other.second.stage].group;
      return group != no_index && waits.certainly_before(key, other.second) &&
             fits(body->groups[group]);
    });
  }
  // What was kept for them, have they launched into all of it?
  void settle_kept() {
    for (const GroupRef ref : kept_) {
      const Group& group = track().group(ref);
      const bool all = std::ranges::all_of(group.owed, [](std::int64_t n) { return n == 0; });
      reached_.hit(Mark::reservation_honoured,
                   group.state == GroupState::admitted && group.started > 0 && all ? 1 : 0);
    }
    kept_.clear();
  }
  void on(const model::GroupCommitted& /*body*/, const Seen& seen) {
    close(seen, Mark::held_back_then_released);
  }
  void on(const model::GroupFailed& body, const Seen& seen) {
    if (seen.group != nullptr) {
      const auto& stages = seen.job->body->stages;
      const bool one_done = std::ranges::any_of(seen.group->members, [&](Index member) {
        const Stage& stage = stages[member];
        return stage.tasks > 0 && !stage.sink && stage.done == stage.tasks;
      });
      reached_.hit(Mark::failure_after_producer, one_done ? 1 : 0);
    }
    failed_groups_.emplace_back(body.group.job, body.group.stage);
    const bool dropped =
        std::ranges::find(dropped_groups_, failed_groups_.back()) != dropped_groups_.end();
    if (close(seen, Mark::held_back_then_dropped) || dropped) {
      reached_.hit(Mark::failure_in_replay_window);
    }
  }
  void on(const model::GroupCancelled& body, const Seen& seen) {
    if (body.cause == model::CancelCause::job_cancelled && seen.group != nullptr) {
      note_state_of_cancelled(seen);
    }
    waited_.erase({body.group.job, body.group.stage});
    starved_.erase({body.group.job, body.group.stage});
    close(seen, Mark::held_back_then_dropped);
  }
  void note_state_of_cancelled(const Seen& seen) {
    const Group& group = *seen.group;
    if (group.state != GroupState::admitted) {
      reached_.hit(group.rerun ? Mark::cancelled_before_rerun : Mark::cancelled_while_waiting,
                   group.rerun || group.refused > 0 ? 1 : 0);
      return;
    }
    const bool window = drained_of_.contains({seen.job_index, group.first});
    reached_.hit(group.started < group.tasks ? Mark::cancelled_before_launched
                 : window                    ? Mark::cancelled_in_replay_window
                                             : Mark::cancelled_while_running);
  }
  void on(const model::MemberFinished& /*body*/, const Seen& seen) {
    if (seen.group != nullptr) {
      ++drained_;
      ++drained_of_[{seen.job_index, seen.group->first}];
    }
  }
  // The group ends; true when one of its members had finished before.
  bool close(const Seen& seen, Mark mark) {
    if (seen.group == nullptr) {
      return false;
    }
    const auto found = drained_of_.find({seen.job_index, seen.group->first});
    if (found == drained_of_.end()) {
      return false;
    }
    drained_ -= found->second;
    drained_of_.erase(found);
    reached_.hit(mark);
    return true;
  }

  // ---- stages and tasks ----

  void on(const model::StageSubmitted& body, const Seen& seen) {
    const std::pair key{body.stage.job, body.stage.stage};
    reached_.hit(Mark::zero_task_stage, body.tasks == 0 ? 1 : 0);
    reached_.hit(Mark::collapse_stage, gathers_.contains(key) ? 1 : 0);
    if (seen.stage != nullptr && body.stage.attempt.value_or(0) > 0 && seen.group == nullptr) {
      reached_.hit(Mark::success_then_resubmitted,
                   seen.stage->state == AttemptState::succeeded ? 1 : 0);
      reached_.hit(Mark::prefix_recomputed, lost_outputs_.contains(key) ? 1 : 0);
    }
  }
  void on(const model::StageCompleted& body, const Seen& /*seen*/) {
    reached_.hit(Mark::final_stage_first, body.status == model::StageStatus::cancelled &&
                                              body.reason == model::StageReason::job_done);
  }
  void on(const model::OutputsLost& body, const Seen& seen) {
    lost_outputs_.insert({body.job, body.stage});
    if (seen.job == nullptr || seen.job->body == nullptr || seen.stage == nullptr) {
      return;
    }
    const JobBody& job = *seen.job->body;
    for (const Edge& edge : job.edges_in) {
      const Stage& reader = job.stages[edge.to];
      if (edge.kind == model::EdgeKind::regular && &job.stages[edge.from] == seen.stage &&
          reader.group != no_index && job.groups[reader.group].state == GroupState::admitted) {
        reached_.hit(Mark::prefix_lost_while_group_runs);
      }
    }
  }
  void on(const model::OutputCommitted& body, const Seen& /*seen*/) {
    const bool resubmitted = track().text(body.task.job).find('#') != std::string::npos;
    reached_.hit(Mark::commits_again, body.task.attempt > 0 || resubmitted ? 1 : 0);
  }

  void failed(model::TaskReason reason, const Seen& seen) {
    using enum model::TaskReason;
    switch (reason) {
      case exception:
        return reached_.hit(Mark::task_exception);
      case fetch_failed:
        return reached_.hit(Mark::fetch_failed);
      case result_lost:
        return reached_.hit(Mark::task_result_lost);
      case out_of_memory:
        return reached_.hit(Mark::task_out_of_memory);
      case executor_lost:
        return reached_.hit(Mark::lost_with_member,
                            seen.group != nullptr && seen.group->gang_of_several() ? 1 : 0);
      case commit_denied:
      case external:
        reached_.hit(reason == external ? Mark::task_killed : Mark::task_commit_denied);
        if (seen.group != nullptr && seen.group->gang_of_several()) {
          harmed_.emplace_back(seen.job->name, seen.job->body->stages[seen.group->first].name);
        }
        return;
      default:
        return;
    }
  }
  // A group that has not failed at the instant at which a member was killed or denied goes on.
  void settle_kills() {
    for (const auto& group : harmed_) {
      const bool failed = std::ranges::find(failed_groups_, group) != failed_groups_.end();
      reached_.hit(Mark::harmless_kill, failed ? 0 : 1);
    }
    harmed_.clear();
    failed_groups_.clear();
    dropped_groups_.clear();
  }

  // Pairs of kinds that follow each other in one job.
  void follow(Index job, int number) {
    if (job >= last_of_job_.size()) {
      last_of_job_.resize(job + 8);
    }
    reached_.pattern(last_of_job_[job], number);
    last_of_job_[job] = number;
  }

  using StageName = std::pair<model::NameId, model::NameId>;  // job and stage

  Reached& reached_;
  const bool with_release_;
  std::set<StageName> gathers_;
  std::vector<int> last_of_job_;
  std::vector<model::EdgeItem> edges_;  // of the job that was submitted last
  std::vector<StageName> grouped_;
  std::multimap<model::NameId, model::NameId> reused_;  // of which job another asks for a shuffle
  std::map<StageName, UnitKey> waited_;                 // refused, not admitted since
  std::set<StageName> starved_;
  std::set<StageName> lost_outputs_;
  std::map<std::pair<Index, Index>, std::int64_t> drained_of_;  // by job and first stage
  std::map<StageName, std::int64_t> bulk_;                      // slots held by groups that wait
  std::vector<model::NameId> gave_up_;  // jobs whose groups gave back all of them just now
  std::vector<GroupRef> kept_;          // admitted in this instant to slots that were kept for them
  std::vector<StageName> harmed_;
  std::vector<StageName> failed_groups_;
  std::vector<StageName> dropped_groups_;
  std::int64_t admitted_now_ = 0;
  std::int64_t queued_now_ = 0;
  std::int64_t drained_ = 0;
  std::int64_t executors_ = 0;
  std::uint64_t sequence_ = 0;
  bool ever_ = false;
  bool lost_ = false;
  bool healed_ = false;
  bool passed_ = false;      // by some group, behind a waiting head
  bool joined_now_ = false;  // somebody, in this instant
};

}  // namespace

std::unique_ptr<Monitor> make_mark_listener(const Track& track, const model::Scenario& scenario,
                                            Reached& reached) {
  return std::make_unique<MarkListener>(track, scenario, reached);
}

}  // namespace rehearse::properties
