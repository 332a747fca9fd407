// What a seed goes in for, and the order in which its parts are made.
// registry: none (the generator)
#include "properties/gen/generate.hpp"

#include <algorithm>
#include <utility>

#include "properties/gen/making.hpp"

namespace rehearse::properties {

model::NameId Making::name(char prefix, std::int64_t number) {
  std::string text(1, prefix);
  text += std::to_string(number);
  return scenario.names.intern(text);
}

namespace {

void choose_faults(Making& making, Draws& draws) {
  Swarm& swarm = making.swarm;
  if (draws.below(100) < 20) {  // what is usual
    swarm.theme = swarm.theme == Theme::flapping_executor || swarm.theme == Theme::cancel_storm ||
                          swarm.theme == Theme::held_cluster
                      ? Theme::none
                      : swarm.theme;
    return;  // no budget: nothing goes wrong
  }
  // Exactly one fault is a common case.
  const std::int64_t size = draws.below(100);
  swarm.fault_budget = size < 25 ? 1 : size < 70 ? draws.range(2, 4) : draws.range(5, 9);
  for (std::int64_t& weight : swarm.fault_weights) {
    weight = draws.percent(45) ? draws.range(1, 20) : 0;
  }
  if (std::ranges::count(swarm.fault_weights, 0) == std::ssize(swarm.fault_weights)) {
    swarm.fault_weights[static_cast<std::size_t>(FaultKind::exception)] = 1;
  }
  swarm.moments = draws.percent(45);
  swarm.heals = draws.percent(85);
}

void choose_jobs(Making& making, Draws& draws) {
  Swarm& swarm = making.swarm;
  swarm.pipelined = draws.percent(93);
  swarm.wrong_shapes = draws.percent(12);
  swarm.barriers = draws.percent(making.shape.groups ? 8 : 25);
  swarm.zero_tasks = draws.percent(15);
  swarm.profiles = draws.percent(25);
  swarm.unbound = draws.percent(40);
  swarm.overheads = draws.percent(40);
  swarm.zero_durations = draws.percent(15);
  swarm.commits = draws.percent(40);
  swarm.preferences = draws.percent(20);
  swarm.other_jobs = draws.percent(25);
  swarm.repeats = draws.percent(10);
  swarm.resubmits = draws.percent(35);
  swarm.priorities = draws.percent(30);
  swarm.gathers = draws.percent(20);
  swarm.times = draws.pick({Times::equal, Times::few_values, Times::per_task, Times::drawn});
  swarm.arrivals = draws.pick({Arrivals::at_once, Arrivals::bursts, Arrivals::spread});
  const bool rejects =
      std::ranges::find(making.scenario.scheduler.reject, model::Code::dynamic_allocation) !=
      making.scenario.scheduler.reject.end();
  // Groups are mostly rejected beside it (F12): then it is rare.
  swarm.autoscaled = draws.percent(rejects && making.shape.groups ? 1 : 6);
  swarm.nobody_there = draws.percent(1);
}

// Where nobody can tell what is right: tasks that prefer executors can spoil the packing of several
// profiles (A4), a stage that stands for another job's is described by that job's line only, and
// where a job is one group, one that reads its own stages through another job waits for ever.
void avoid_doubt(Making& making) {
  Swarm& swarm = making.swarm;
  if (swarm.profiles) {
    swarm.preferences = swarm.preferences && !swarm.unbound;
  }
  swarm.other_jobs = swarm.other_jobs && !swarm.autoscaled;
  swarm.foreign_edges = swarm.other_jobs && !swarm.profiles && !making.shape.whole_jobs;
}

void apply_theme(Making& making) {
  Swarm& swarm = making.swarm;
  switch (swarm.theme) {
    case Theme::exact_fit:
      swarm.profiles = false;
      swarm.pipelined = true;
      swarm.zero_tasks = false;
      break;
    case Theme::all_ties:
      swarm.times = Times::equal;
      swarm.arrivals = Arrivals::at_once;
      swarm.overheads = false;
      making.scenario.ties_shuffled = true;
      break;
    case Theme::many_small_one_large:
      swarm.profiles = false;
      swarm.pipelined = true;
      swarm.repeats = false;  // names of copies and of other jobs would meet
      break;
    case Theme::rerun:
      swarm.resubmits = true;
      swarm.commits = true;
      break;
    default:
      break;
  }
}

}  // namespace

void draw_swarm(Making& making) {
  Draws draws = making.draws(Concern::swarm);
  Swarm& swarm = making.swarm;
  if (draws.percent(30)) {
    swarm.theme = static_cast<Theme>(draws.range(1, themes - 1));
  }
  choose_jobs(making, draws);
  choose_faults(making, draws);
  apply_theme(making);
  avoid_doubt(making);
  model::Scenario& scenario = making.scenario;
  if (draws.percent(25)) {
    scenario.timing = model::Timing::coupled;
  }
  scenario.ties_shuffled = scenario.ties_shuffled || draws.percent(25);
  if (draws.percent(2)) {
    scenario.horizon = draws.ms(5, 60);
  }
  if (draws.percent(6)) {
    const std::int64_t at = draws.below(12);
    scenario.choices.emplace_back("tie@" + (at == 0 ? "0s" : std::to_string(at) + "ms"), 1);
  }
}

model::Scenario generate(const GenOptions& options, std::uint64_t seed) {
  model::SeededDecisions seeded;
  return generate(options, seed, seeded);
}

model::Scenario generate(const GenOptions& options, std::uint64_t seed,
                         model::Decisions& decisions) {
  Making making{.options = options,
                .decisions = decisions,
                .seed = seed,
                .scenario = {},
                .swarm = {},
                .shape = {},
                .capacity = {},
                .executors = {}};
  making.scenario.names = options.names;
  making.scenario.name = "fuzz " + std::to_string(seed);
  making.scenario.seed = seed % 1'000'000'000;
  draw_axes(making);
  draw_swarm(making);
  make_cluster(making);
  make_jobs(making);
  make_faults(making);
  return std::move(making.scenario);
}

}  // namespace rehearse::properties
