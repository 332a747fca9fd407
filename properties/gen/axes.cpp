// The scheduler's configuration, as far as it is drawn: combinations that this version does not
// execute are never made.
// registry: none (a part of the generator)
#include <algorithm>
#include <optional>

#include "properties/gen/making.hpp"

namespace rehearse::properties {

namespace {

using model::SchedulerConfig;

constexpr model::Duration ms = model::millisecond;

void draw_limits(Making& making, Draws& draws) {
  SchedulerConfig& config = making.scenario.scheduler;
  const auto take = [&](std::string_view axis, std::int64_t chance, auto set) {
    const bool chosen = draws.percent(chance);
    if (chosen && !making.keeps(axis)) {
      set();
    }
  };
  take("failure.max_task_failures", 60,
       [&] { config.failure.max_task_failures = draws.range(1, 4); });
  take("failure.max_stage_attempts", 50,
       [&] { config.failure.max_stage_attempts = draws.range(1, 4); });
  take("failure.resubmit_delay", 60,
       [&] { config.failure.resubmit_delay = draws.pick({0 * ms, 1 * ms, 3 * ms, 10 * ms}); });
  take("output_commit", 30, [&] { config.output_commit = model::OutputCommit::at_group_commit; });
  take("outputs_survive_executor", 15, [&] { config.outputs_survive_executor = true; });
  take("no_executor_grace", 20, [&] { config.no_executor_grace = draws.ms(0, 25); });
  take("admission.depth", 8, [&] { config.admission.depth = draws.range(1, 3); });
  take("locality_wait", 15, [&] { config.locality_wait = draws.ms(1, 4); });
  take("locality_reset", 10, [&] {
    config.locality_reset = draws.pick({model::LocalityReset::never, model::LocalityReset::legacy});
  });
  take("offers", 1, [&] { config.offers = model::Offers::pull; });
}

// Copies of tasks or tasks of several partitions, never both.
void draw_copies(Making& making, Draws& draws) {
  SchedulerConfig& config = making.scenario.scheduler;
  const std::int64_t kind = draws.below(100);
  const bool whole = config.edges == model::EdgesAxis::all_regular;
  const bool slices = config.max_partitions_per_task.value_or(1) > 1;
  if (kind < (whole ? 25 : 7) && !making.keeps("speculation") && !slices) {
    config.speculation =
        model::SpeculationConfig{.quantile_milli = draws.pick<std::int64_t>({0, 300, 500, 900}),
                                 .multiplier_milli = draws.pick<std::int64_t>({0, 500, 1000, 1500}),
                                 .min_runtime = draws.ms(0, 2),
                                 .interval = draws.ms(1, 3)};
  } else if (kind >= 75 && !making.keeps("max_partitions_per_task") && !config.speculation) {
    config.max_partitions_per_task =
        draws.pick<std::int64_t>({2, 3, model::any_number_of_partitions});
  }
}

void draw_pools(Making& making, Draws& draws) {
  SchedulerConfig& config = making.scenario.scheduler;
  if (config.admission.queue != model::QueueOrder::fair || making.keeps("pools")) {
    return;
  }
  for (std::int64_t p = 0; p < 2; ++p) {
    config.pools.push_back({.name = making.name('p', p),
                            .fair = draws.percent(50),
                            .weight = draws.range(1, 3),
                            .min_share = draws.below(4)});
  }
}

void draw_admission(SchedulerConfig& config, Draws& draws) {
  using enum model::QueueOrder;
  model::AdmissionConfig& admission = config.admission;
  if (draws.percent(35)) {
    admission.queue = draws.pick({fifo, fair, priority, smallest_first, unordered});
  }
  if (draws.percent(20)) {
    using enum model::Hold;
    admission.hold = draws.pick({reserve, check, none, bulk});
    admission.bulk_timeout = draws.pick({0 * ms, 5 * ms, 20 * ms});
  }
  if (draws.percent(35)) {
    using enum model::Short;
    admission.when_short = draws.pick({wait, fail, retry, fall_back});
    admission.retry_interval = draws.ms(1, 4);
    admission.retry_max = draws.range(1, 6);
    admission.fall_back_after = draws.pick({0 * ms, 3 * ms});
  }
  if (draws.percent(35)) {
    using enum model::Overtake;
    admission.overtake = draws.pick({never, backfill, easy, aging});
    admission.aging_after = draws.ms(1, 8);
  }
}

void draw_rest(SchedulerConfig& config, Draws& draws) {
  if (draws.percent(25)) {
    using enum model::Accounting;
    config.accounting = draws.pick({sum, largest_stage, whole_executor});
  }
  if (draws.percent(50)) {
    using enum model::Placement;
    config.placement = draws.pick({spread, pack, round_robin, nested, consistent_hash, random});
  }
  if (config.edges != model::EdgesAxis::all_regular && draws.percent(20)) {
    using enum model::Completion;
    config.completion = draws.pick({group, after_parents, final_stage, immediate});
    config.task_end = draws.pick({model::TaskEndAxis::at_once, model::TaskEndAxis::with_release});
  }
  if (draws.percent(35)) {
    using enum model::ExecutorLossAxis;
    config.failure.executor_loss = draws.pick({needed, any_member, running_only});
  }
  if (draws.percent(25)) {
    config.failure.group = model::GroupFailure::rerun_group;
    config.failure.rerun_max = draws.range(0, 3);
    config.failure.rerun_delay = draws.ms(0, 2);
  }
  if (draws.percent(10)) {
    config.slots = model::SlotsAxis::shared;
    config.slots_factor = draws.range(0, 3);
  }
  if (draws.percent(30)) {
    config.start = model::Start::phased;
  }
  if (draws.percent(20)) {
    config.failure.member = draws.pick({model::MemberFailure::any, model::MemberFailure::counted});
  }
}

// What is not built beside what.
void make_executable(SchedulerConfig& config) {
  model::AdmissionConfig& admission = config.admission;
  if (admission.hold == model::Hold::bulk) {
    admission.when_short = model::Short::wait;
    admission.shortfall = model::Shortfall::failure;
    config.slots = model::SlotsAxis::exclusive;
    if (admission.overtake == model::Overtake::easy) {
      admission.overtake = model::Overtake::backfill;
    }
  }
  if (config.slots == model::SlotsAxis::shared) {
    config.accounting = model::Accounting::sum;
  }
  if (config.accounting != model::Accounting::sum) {
    const bool piecewise = config.accounting == model::Accounting::largest_stage &&
                           admission.hold == model::Hold::bulk;
    admission.hold = piecewise ? model::Hold::bulk : model::Hold::reserve;
    admission.shortfall = model::Shortfall::failure;
    config.failure.member = model::MemberFailure::any;
    config.task_end = model::TaskEndAxis::at_once;
    if (config.accounting == model::Accounting::whole_executor &&
        admission.overtake == model::Overtake::easy) {
      admission.overtake = model::Overtake::backfill;
    }
  }
  if (admission.shortfall == model::Shortfall::rejection &&
      admission.when_short != model::Short::fail) {
    admission.shortfall = model::Shortfall::failure;
  }
  if (config.start == model::Start::phased && admission.hold != model::Hold::none) {
    config.start = model::Start::eager;
  }
}

void draw_everything(Making& making, Draws& draws) {
  using enum model::Dialect;
  SchedulerConfig& config = making.scenario.scheduler;
  config = model::preset(draws.pick({psd, psd, psd, psd, sequential, spark, prototype, barrier,
                                     ballista, ballista_pipelined, trino_phased, flink_region}));
  draw_admission(config, draws);
  draw_rest(config, draws);
  make_executable(config);
}

}  // namespace

bool Making::keeps(std::string_view axis) const {
  return std::ranges::find(options.kept, axis) != options.kept.end();
}

void draw_axes(Making& making) {
  SchedulerConfig& config = making.scenario.scheduler;
  config = making.options.scheduler;
  if (making.options.drawn != DrawnAxes::none) {
    Draws draws = making.draws(Concern::axes);
    if (making.options.drawn == DrawnAxes::all) {
      draw_everything(making, draws);
    }
    draw_limits(making, draws);
    draw_copies(making, draws);
    draw_pools(making, draws);
    model::complete_reject_list(config);
  }
  Shape& shape = making.shape;
  shape.groups =
      config.edges != model::EdgesAxis::all_regular && config.grouping != model::Grouping::stage;
  shape.whole_jobs = shape.groups && (config.grouping == model::Grouping::job ||
                                      config.edges == model::EdgesAxis::all_pipelined);
  shape.no_mixing = shape.whole_jobs && (config.mixed != model::Mixed::allowed ||
                                         config.edges == model::EdgesAxis::all_pipelined);
  shape.one_profile = config.profiles == model::ProfilesAxis::single;
  shape.by_widest = config.accounting == model::Accounting::largest_stage;
  shape.impatient = config.admission.when_short == model::Short::fail;
  shape.gangs = config.admission.hold != model::Hold::none;
}

}  // namespace rehearse::properties
