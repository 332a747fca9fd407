// The presets of scenario.md section 3, column by column, and the completion of `reject`. Text
// forms of the axes are axes.cpp's business.
#include "model/scheduler_config.hpp"

#include <algorithm>
#include <initializer_list>

#include "model/support/check.hpp"

namespace rehearse::model {

namespace {

bool has(const std::vector<Code>& list, Code code) {
  return std::find(list.begin(), list.end(), code) != list.end();
}

// The codes a dialect names; complete_mandatory adds those that every list has.
std::vector<Code> listed_codes(Dialect dialect) {
  switch (dialect) {
    case Dialect::sequential:
    case Dialect::barrier:
      return {Code::dynamic_allocation};
    case Dialect::psd:
      return {Code::insufficient_slots,     Code::dag_cycle,         Code::group_cycle,
              Code::regular_inside_group,   Code::shared_producer,   Code::barrier_member,
              Code::dynamic_allocation,     Code::speculation,       Code::push_merge,
              Code::indeterminate_producer, Code::checksum_retry,    Code::cached_member,
              Code::checkpointed_member,    Code::adaptive_exchange, Code::non_idempotent_commit};
    case Dialect::spark:
      return {Code::speculation,
              Code::dynamic_allocation,
              Code::mixed_job,
              Code::insufficient_slots,
              Code::fan_out,
              Code::profile_conflict,
              Code::checkpointed_member,
              Code::barrier_member,
              Code::indeterminate_producer,
              Code::checksum_retry,
              Code::push_merge,
              Code::shared_producer,
              Code::adaptive_exchange};
    case Dialect::prototype:
      return {Code::speculation};
    case Dialect::ballista:
      return {};
    case Dialect::ballista_pipelined:
      return {Code::pull_scheduling, Code::dynamic_allocation, Code::profile_conflict};
    case Dialect::trino_phased:
      return {Code::speculation, Code::profile_conflict};
    case Dialect::flink_region:
      return {Code::profile_conflict, Code::speculation, Code::non_idempotent_commit};
  }
  RH_CHECK(false, static_cast<std::int64_t>(dialect));
}

// Every list has these: slots first, then the shape of the graph and its owner, no executors last.
void complete_mandatory(std::vector<Code>& list) {
  std::vector<Code> front;
  for (const Code code : {Code::insufficient_slots, Code::dag_cycle, Code::shared_producer}) {
    if (!has(list, code)) {
      front.push_back(code);
    }
  }
  list.insert(list.begin(), front.begin(), front.end());
  if (!has(list, Code::no_executors)) {
    list.push_back(Code::no_executors);
  }
}

void set_spark(SchedulerConfig& config) {
  config.grouping = Grouping::job;
  config.mixed = Mixed::materialized_prefix;
  config.admission.fair_ties_text = true;  // A18: its default of `ties`, should `fair` be chosen
  config.admission.hold = Hold::check;
  config.admission.when_short = Short::fail;
  config.admission.shortfall = Shortfall::rejection;
  config.admission.capacity = Capacity::free_and_unclaimed;
  config.profiles = ProfilesAxis::default_only;
  config.completion = Completion::after_parents;
  config.task_end = TaskEndAxis::with_release;
  config.failure.member = MemberFailure::counted;
  config.failure.executor_loss = ExecutorLossAxis::running_only;
  config.failure.incomplete = Incomplete::success_then_rerun;
}

void set_prototype(SchedulerConfig& config) {
  config.grouping = Grouping::job;
  config.admission.hold = Hold::check;
  config.admission.when_short = Short::fail;
  config.completion = Completion::after_parents;
  config.task_end = TaskEndAxis::with_release;
  config.failure.executor_loss = ExecutorLossAxis::running_only;
}

void set_barrier(SchedulerConfig& config) {
  config.edges = EdgesAxis::all_regular;
  config.grouping = Grouping::stage;
  config.admission.hold = Hold::check;
  config.admission.when_short = Short::retry;
  config.admission.retry_interval = 15 * second;
  config.admission.retry_max = 40;
  config.admission.overtake = Overtake::backfill;
  config.admission.capacity = Capacity::total;
  config.profiles = ProfilesAxis::single;
  config.completion = Completion::immediate;
}

void set_ballista(SchedulerConfig& config) {
  config.edges = EdgesAxis::all_regular;
  config.admission.queue = QueueOrder::unordered;
  config.admission.hold = Hold::none;
  config.profiles = ProfilesAxis::single;
  config.placement = Placement::pack;
  config.completion = Completion::immediate;
  config.max_partitions_per_task = any_number_of_partitions;
}

void set_ballista_pipelined(SchedulerConfig& config) {
  config.edges = EdgesAxis::all_pipelined;
  config.grouping = Grouping::job;
  config.admission.overtake = Overtake::backfill;
  config.accounting = Accounting::largest_stage;
  config.profiles = ProfilesAxis::single;
  config.placement = Placement::nested;
  config.completion = Completion::final_stage;
  config.failure.executor_loss = ExecutorLossAxis::running_only;
}

void set_trino_phased(SchedulerConfig& config) {
  config.edges = EdgesAxis::all_pipelined;
  config.grouping = Grouping::job;
  config.admission.hold = Hold::none;
  config.profiles = ProfilesAxis::single;
  config.slots = SlotsAxis::shared;
  config.slots_factor = 0;
  config.start = Start::phased;
  config.completion = Completion::final_stage;
  config.failure.executor_loss = ExecutorLossAxis::any_member;
}

void set_flink_region(SchedulerConfig& config) {
  config.grouping = Grouping::region;
  config.admission.hold = Hold::bulk;
  config.admission.bulk_timeout = 300 * second;
  config.admission.overtake = Overtake::backfill;
  config.accounting = Accounting::largest_stage;
  config.profiles = ProfilesAxis::single;
  config.placement = Placement::nested;
  config.completion = Completion::immediate;
  config.failure.group = GroupFailure::rerun_group;
  config.failure.rerun_max = 3;
  config.failure.rerun_delay = second;
}

void set_axes(SchedulerConfig& config) {
  switch (config.dialect) {
    case Dialect::sequential:
      config.edges = EdgesAxis::all_regular;
      config.completion = Completion::immediate;
      return;
    case Dialect::psd:
      return;  // the defaults of the struct are this column
    case Dialect::spark:
      return set_spark(config);
    case Dialect::prototype:
      return set_prototype(config);
    case Dialect::barrier:
      return set_barrier(config);
    case Dialect::ballista:
      return set_ballista(config);
    case Dialect::ballista_pipelined:
      return set_ballista_pipelined(config);
    case Dialect::trino_phased:
      return set_trino_phased(config);
    case Dialect::flink_region:
      return set_flink_region(config);
  }
  RH_CHECK(false, static_cast<std::int64_t>(config.dialect));
}

void add_before_no_executors(std::vector<Code>& list, std::initializer_list<Code> codes) {
  for (const Code code : codes) {
    if (!has(list, code)) {
      list.insert(std::find(list.begin(), list.end(), Code::no_executors), code);
    }
  }
}

}  // namespace

SchedulerConfig preset(Dialect dialect) {
  SchedulerConfig config;
  config.dialect = dialect;
  set_axes(config);
  config.reject = listed_codes(dialect);
  complete_mandatory(config.reject);
  return config;
}

void complete_reject_list(SchedulerConfig& config) {
  complete_mandatory(config.reject);
  const SchedulerConfig base = preset(config.dialect);
  if (config.profiles != base.profiles && config.profiles != ProfilesAxis::vector) {
    add_before_no_executors(config.reject, {Code::profile_conflict});
  }
  const bool whole = config.grouping == Grouping::job || config.grouping == Grouping::region;
  const bool regrouped = config.grouping != base.grouping;
  if ((config.mixed != base.mixed || regrouped) && whole && config.mixed != Mixed::allowed) {
    add_before_no_executors(config.reject, {Code::mixed_job});
  }
  if (regrouped &&
      (config.grouping == Grouping::component || config.grouping == Grouping::bubble)) {
    add_before_no_executors(config.reject, {Code::group_cycle, Code::regular_inside_group});
  }
  if (config.offers != base.offers && config.offers == Offers::pull) {
    add_before_no_executors(config.reject, {Code::pull_scheduling});
  }
}

}  // namespace rehearse::model
