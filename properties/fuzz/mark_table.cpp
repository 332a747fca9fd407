// What marks are called, who demands them, and how they are counted up.
// registry: none (the marks of a campaign)
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>

#include "model/waiting_bound.hpp"
#include "properties/fuzz/marks.hpp"

namespace rehearse::properties {

namespace {

// What a campaign under some options can reach at all.
struct Scope {
  const model::SchedulerConfig& config;
  bool all = false;              // dialects are drawn: everything is there
  bool settings = false;         // limits, copies and slices are drawn
  bool groups = false;           // of several stages
  bool gangs = false;            // groups or barrier stages that somebody admits as one (A2)
  bool defers = false;           // completions of members wait for others
  bool tells_of_finish = false;  // and member_finished says so
  bool waits = false;
};

Scope scope_of(const GenOptions& options) {
  const model::SchedulerConfig& config = options.scheduler;
  Scope scope{.config = config};
  scope.all = options.drawn == DrawnAxes::all;
  scope.settings = options.drawn != DrawnAxes::none;
  scope.groups = scope.all || (config.edges != model::EdgesAxis::all_regular &&
                               config.grouping != model::Grouping::stage);
  scope.gangs = scope.all || config.admission.hold != model::Hold::none;
  scope.defers =
      scope.all || (scope.groups && (config.completion == model::Completion::group ||
                                     config.completion == model::Completion::after_parents));
  scope.tells_of_finish =
      scope.all || (scope.defers && config.task_end == model::TaskEndAxis::at_once);
  scope.waits = scope.all || (scope.gangs && config.admission.when_short == model::Short::wait);
  return scope;
}

struct Row {
  Mark mark;
  std::string_view text;
  bool (*demanded)(const Scope&);
};

bool by_all(const Scope&) { return true; }
bool by_groups(const Scope& scope) { return scope.groups; }
bool by_waiting(const Scope& scope) { return scope.waits && scope.groups; }
// As one job is one group, its prefix is part of it.
bool by_separate_groups(const Scope& scope) {
  return scope.groups &&
         (scope.all || scope.config.grouping == model::Grouping::component ||
          scope.config.grouping == model::Grouping::region) &&
         (scope.all || scope.config.edges == model::EdgesAxis::as_marked);
}
bool by_retry(const Scope& scope) {
  return scope.gangs && (scope.all || scope.config.admission.when_short == model::Short::retry);
}
bool by_deferral(const Scope& scope) { return scope.defers; }
bool by_after_parents(const Scope& scope) {
  return scope.groups && (scope.all || scope.config.completion == model::Completion::after_parents);
}
bool by_counted(const Scope& scope) {
  return scope.groups &&
         (scope.all || scope.config.failure.member == model::MemberFailure::counted);
}

bool by_finish(const Scope& scope) { return scope.tells_of_finish; }
// Between the look and the launches of one pass nobody goes, so only what the look leaves out can
// take a slot: other profiles.
bool by_offers(const Scope& scope) {
  return scope.groups &&
         (scope.all || (scope.config.admission.hold == model::Hold::check &&
                        scope.config.profiles == model::ProfilesAxis::default_only));
}
bool by_rerun(const Scope& scope) {
  return scope.groups &&
         (scope.all || scope.config.failure.group == model::GroupFailure::rerun_group);
}
// Where nobody is admitted and no stage runs again there are timers only of who starves or prefers
// a place: two of one round are a matter of luck.
bool by_timers(const Scope& scope) {
  return scope.gangs || scope.all || scope.config.edges != model::EdgesAxis::all_pipelined;
}
// Pairs that are unbounded have nothing to come to: what ends waiting there is a limit of tries or
// of time, which has marks of its own. That of `easy` no line shows.
bool by_bound(const Scope& scope) {
  const auto kind =
      model::waiting_bound(scope.config.admission.queue, scope.config.admission.overtake).kind;
  return scope.waits && scope.groups &&
         (scope.all || kind == model::WaitingBound::never_passed ||
          kind == model::WaitingBound::passed_until_aged);
}

bool by_bulk(const Scope& scope) {
  return scope.waits && (scope.all || scope.config.admission.hold == model::Hold::bulk);
}

// Under `check` and `none` admission takes nothing, so there is nothing to be kept; where nobody
// waits no slot is kept from anybody.
bool by_reserving(const Scope& scope) {
  return scope.waits && (scope.all || scope.config.admission.hold == model::Hold::reserve ||
                         scope.config.admission.hold == model::Hold::bulk);
}

constexpr auto rows = std::to_array<Row>({
    {Mark::several_codes, "rejected for several codes", by_groups},
    {Mark::five_events_at_once, "five events of one instant", by_all},
    {Mark::zero_task_stage, "stage without tasks", by_all},
    {Mark::prefix_recomputed, "outputs lost and recomputed",
     [](const Scope& scope) {
       return scope.all || scope.config.edges != model::EdgesAxis::all_pipelined;
     }},
    {Mark::old_attempt_counts, "success of an old attempt that counts",
     [](const Scope& scope) {
       return scope.all || scope.config.edges != model::EdgesAxis::all_pipelined;
     }},
    {Mark::uncounted_success, "success that does not count",
     [](const Scope& scope) {
       return scope.all || scope.config.edges != model::EdgesAxis::all_pipelined;
     }},
    {Mark::stale_success, "success told after the loss that gave it up", by_all},
    {Mark::launched_on_dead, "task launched on an executor that had died", by_all},
    {Mark::nobody_there_then_join, "no executor with work pending, then a join", by_all},
    {Mark::loss_of_process, "executor lost: process", by_all},
    {Mark::loss_of_host, "executor lost: host", by_all},
    {Mark::loss_of_exit_by_app, "executor lost: exit_by_app", by_all},
    {Mark::loss_by_decommission, "executor lost: decommission", by_all},
    {Mark::lost_idle, "executor lost: idle", by_all},
    {Mark::lost_with_member, "executor lost: a member ran on it", by_groups},
    {Mark::lost_with_drained_output, "executor lost: output of a finished member on it", by_groups},
    {Mark::lost_last, "executor lost: the last one, with work pending", by_all},
    {Mark::lost_while_held, "executor lost: held", by_all},
    {Mark::lost_while_draining, "executor lost: draining", by_all},
    {Mark::lost_before_it_came, "executor lost: before it joined", by_all},
    {Mark::hold, "executor held", by_all},
    {Mark::join_later, "executor joined later", by_all},
    {Mark::cancelled, "job cancelled", by_all},
    {Mark::cancelled_while_waiting, "job cancelled: a group waited for slots", by_waiting},
    {Mark::cancelled_before_launched, "job cancelled: a group was not launched", by_offers},
    {Mark::cancelled_while_running, "job cancelled: a group ran", by_groups},
    {Mark::cancelled_in_replay_window, "job cancelled: in a replay window", by_finish},
    {Mark::cancelled_before_rerun, "job cancelled: before a rerun", by_rerun},
    {Mark::timers_in_order, "two timers of one round", by_timers},
    {Mark::timers_swapped, "two timers of one round, the later one first", by_timers},
    {Mark::task_exception, "task failed: exception", by_all},
    {Mark::task_killed, "task killed from outside", by_all},
    {Mark::task_commit_denied, "task failed: commit_denied", by_all},
    {Mark::task_result_lost, "task failed: result_lost", by_all},
    {Mark::task_out_of_memory, "task failed: out_of_memory", by_all},
    {Mark::fetch_failed, "task failed: fetch_failed", by_all},
    {Mark::task_slow, "task slowed down", by_all},
    {Mark::status_late, "status late", by_all},
    {Mark::exact_fit, "group admitted at exact fit",
     [](const Scope& scope) { return scope.groups && scope.gangs; }},
    {Mark::two_admitted_at_once, "two groups admitted at once", by_groups},
    {Mark::diamond, "group with two ways from one stage to another", by_groups},
    {Mark::groups_joined_by_edge, "two groups joined by a regular edge", by_separate_groups},
    {Mark::one_task_group, "group of one task", by_groups},
    {Mark::waiting_head, "group waited for slots", by_waiting},
    {Mark::blocked_by_head, "group that fits waits behind another",
     [](const Scope& scope) {
       return scope.waits && scope.groups &&
              (scope.all || scope.config.admission.overtake == model::Overtake::never);
     }},
    {Mark::compete_and_wait, "one group admitted while another begins to wait", by_waiting},
    {Mark::starvation_ends, "starved group admitted after a join", by_waiting},
    {Mark::backfill, "started behind a waiting head",
     [](const Scope& scope) {
       return scope.waits &&
              (scope.all || scope.config.admission.overtake == model::Overtake::backfill);
     }},
    {Mark::healing_needed, "the healing phase was needed", by_all},
    {Mark::waited_to_bound, "group waited as long as its bound allows", by_bound},
    {Mark::retry_succeeds, "admitted by a retry", by_retry},
    {Mark::retry_used_up, "retries used up", by_retry},
    {Mark::failure_in_replay_window, "group failed in its replay window", by_deferral},
    {Mark::failure_after_producer, "group failed after one of its producers finished", by_groups},
    {Mark::prefix_lost_while_group_runs, "input lost while the group that read it runs",
     by_separate_groups},
    {Mark::commits_again, "output committed again by a rerun", by_groups},
    {Mark::used_again_after, "shuffle used again after the end of its job", by_groups},
    {Mark::held_back_then_released, "success held back, then released", by_after_parents},
    {Mark::held_back_then_dropped, "success held back, then dropped", by_after_parents},
    {Mark::harmless_kill, "member killed or denied and the group goes on", by_counted},
    {Mark::success_then_resubmitted, "attempt ended well and was resubmitted",
     [](const Scope& scope) {
       return scope.all || scope.config.failure.incomplete == model::Incomplete::success_then_rerun;
     }},
    {Mark::final_stage_first, "job ended by its final stage, the rest cancelled",
     [](const Scope& scope) {
       return scope.groups &&
              (scope.all || scope.config.completion == model::Completion::final_stage);
     }},
    {Mark::slice_of_several, "slice of several partitions",
     [](const Scope& scope) {
       const bool whole = scope.config.edges == model::EdgesAxis::all_pipelined;
       return scope.settings && (scope.all || !whole);
     }},
    {Mark::collapse_stage, "collapse stage", by_all},
    {Mark::bulk_times_out, "bulk request held slots and timed out", by_bulk},
    {Mark::two_bulks_hold, "two bulk requests hold slots and wait", by_bulk},
    {Mark::reservation_honoured, "slots kept for a group that waited, and launched into",
     by_reserving},
});
static_assert(rows.size() == mark_count);

// A list also has codes that only an axis makes possible, and codes that this version cannot give.
bool can_reject(const Scope& scope, model::Code code) {
  using enum model::Code;
  const bool drawn = scope.all || scope.settings;
  switch (code) {
    case insufficient_slots:
      return scope.gangs || scope.groups;
    case dag_cycle:
    case no_executors:
      return true;
    case speculation:
      return scope.groups && drawn;
    case pull_scheduling:
      return scope.groups && drawn;
    case non_idempotent_commit:
      return scope.groups &&
             (drawn || scope.config.output_commit == model::OutputCommit::immediate);
    case mixed_job:
      return scope.groups && scope.config.mixed != model::Mixed::allowed;
    default:
      return scope.groups;
  }
}

constexpr std::int64_t capped(std::int64_t value, std::int64_t cap) {
  return std::clamp<std::int64_t>(value, 0, cap);
}

// 0, 1, 2, 3 to 4, 5 to 8, 9 to 16, ...
constexpr std::int64_t bucket(std::int64_t value) {
  return value <= 2 ? capped(value, 2)
                    : capped(1 + static_cast<std::int64_t>(
                                     std::bit_width(static_cast<std::uint64_t>(value - 1))),
                             7);
}

}  // namespace

std::string_view text_of(Mark mark) { return std::ranges::find(rows, mark, &Row::mark)->text; }

void BitSet::merge(const BitSet& other) {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    words_[i] |= other.words_[i];
  }
}

std::int64_t BitSet::count() const {
  std::int64_t bits = 0;
  for (const std::uint64_t word : words_) {
    bits += std::popcount(word);
  }
  return bits;
}

namespace {

constexpr std::size_t kinds = model::event_kinds + 1;  // 0: nothing before

}  // namespace

Reached::Reached() : patterns_(kinds * kinds), states_(1U << 18U) {}

void Reached::pattern(int before, int after) {
  patterns_.set(static_cast<std::size_t>(before) * kinds + static_cast<std::size_t>(after));
}

void Reached::state(const State& state) {
  std::int64_t at = capped(state.jobs, 7);
  at = at * 8 + bucket(state.waiting);
  at = at * 8 + capped(state.drained, 7);
  at = at * 8 + capped(state.executors, 7);
  at = at * 8 + bucket(state.free);
  at = at * 8 + bucket(state.running);
  states_.set(static_cast<std::size_t>(at));
}

void Reached::faults(const model::Scenario& scenario, const sim::RunResult& result) {
  hit(Mark::stale_success, result.unseen.late_successes);
  hit(Mark::launched_on_dead, result.unseen.launches_on_dead);
  hit(Mark::lost_before_it_came, result.unseen.never_joined);
  hit(Mark::timers_in_order, result.unseen.timers_in_order);
  hit(Mark::timers_swapped, result.unseen.timers_swapped);
  const model::FaultPlan& plan = scenario.faults;
  std::vector<bool> idle(plan.order.size());
  for (const std::string& line : result.faults_never_fired) {  // "faults/3: ..."
    std::size_t place = 0;
    const char* number = line.data() + line.find('/') + 1;
    std::from_chars(number, line.data() + line.size(), place);
    idle[place] = true;
  }
  for (std::size_t place = 0; place < plan.order.size(); ++place) {
    const model::FaultPlan::Entry entry = plan.order[place];
    if (idle[place]) {
      continue;
    }
    if (entry.task) {
      const model::TaskFault& fault = plan.tasks[entry.index];
      hit(Mark::task_slow, fault.slow_milli ? 1 : 0);
      hit(Mark::status_late, fault.status_late ? 1 : 0);
      continue;
    }
    const model::TimedFault& fault = plan.timed[entry.index];
    if (fault.moment) {
      const auto moment = static_cast<std::size_t>(*fault.moment);
      lost_at_[moment] += std::holds_alternative<model::LoseExecutor>(fault.action) ? 1 : 0;
      cancelled_at_[moment] += std::holds_alternative<model::CancelJob>(fault.action) ? 1 : 0;
    }
  }
}

void Reached::merge(const Reached& other) {
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    marks_[i] += other.marks_[i];
  }
  for (std::size_t i = 0; i < codes_.size(); ++i) {
    codes_[i] += other.codes_[i];
  }
  for (std::size_t i = 0; i < lost_at_.size(); ++i) {
    lost_at_[i] += other.lost_at_[i];
    cancelled_at_[i] += other.cancelled_at_[i];
  }
  patterns_.merge(other.patterns_);
  states_.merge(other.states_);
}

std::vector<Reached::Count> Reached::demanded(const GenOptions& options) const {
  const Scope scope = scope_of(options);
  std::vector<Count> list;
  for (const model::Code code : options.scheduler.reject) {
    if (can_reject(scope, code)) {
      list.push_back({fmt::format("rejected: {}", model::name_of(code)),
                      codes_[static_cast<std::size_t>(code)]});
    }
  }
  for (const Row& row : rows) {
    if (row.demanded(scope)) {
      list.push_back({std::string(row.text), count(row.mark)});
    }
  }
  for (std::size_t m = 0; m < moments; ++m) {
    const auto moment = static_cast<model::Moment>(m);
    const bool possible = (moment != model::Moment::member_finished || scope.tells_of_finish) &&
                          (moment != model::Moment::group_queued || scope.gangs) &&
                          (moment != model::Moment::external_input_lost || scope.all ||
                           scope.config.edges != model::EdgesAxis::all_pipelined);
    if (possible) {
      list.push_back({fmt::format("executor lost at {}", model::name_of(moment)), lost_at_[m]});
      list.push_back(
          {fmt::format("job cancelled at {}", model::name_of(moment)), cancelled_at_[m]});
    }
  }
  return list;
}

std::vector<std::string> Reached::missed(const GenOptions& options) const {
  std::vector<std::string> list;
  for (Count& mark : demanded(options)) {
    if (mark.times == 0) {
      list.push_back(std::move(mark.mark));
    }
  }
  return list;
}

}  // namespace rehearse::properties
