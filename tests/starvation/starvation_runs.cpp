// starvation_runs [--first SEED] [--runs N] [--steps-min N] [--failures FOLDER]: generated
// workloads, one after the other under every pair of queue order and overtaking rule, judged by all
// monitors that are promised, and counted. Prints per pair how far heads were passed over, beside
// the bound. Exit 1 when something does not hold, when heads wait and are passed in fewer than 30%
// of the runs, or when the scheduler core took fewer steps than asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/config_support.hpp"
#include "model/support/draw.hpp"
#include "model/support/units.hpp"
#include "model/waiting_bound.hpp"
#include "model/workload_gen.hpp"
#include "policies/registry.hpp"
#include "properties/monitor_set.hpp"
#include "properties/registry.hpp"
#include "sim/simulation.hpp"
#include "tests/starvation/bypass_tally.hpp"
#include "tests/starvation/easy_check.hpp"
#include "traces/scenario_json.hpp"

namespace {

using namespace rehearse;

constexpr std::int64_t passed_percent_min = 30;

struct Options {
  std::uint64_t first = 1;
  std::uint64_t runs = 600;
  std::int64_t steps_min = 0;
  std::string failures = ".";
};

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = arguments[i];
    const std::string value = arguments[i + 1];
    if (name == "--first") {
      options.first = std::stoull(value);
    } else if (name == "--runs") {
      options.runs = std::stoull(value);
    } else if (name == "--steps-min") {
      options.steps_min = std::stoll(value);
    } else if (name == "--failures") {
      options.failures = value;
    } else {
      throw std::invalid_argument("unknown option " + std::string(name));
    }
  }
  return options;
}

// What a seed is about, beside its pair.
class Draws {
 public:
  explicit Draws(std::uint64_t seed)
      : key_(model::draw_key({seed, model::DrawPurpose::audit, 2, 0})) {}
  [[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto count = static_cast<std::uint64_t>(high - low + 1);
    return low + static_cast<std::int64_t>(
                     model::uniform_below(model::draw(key_, {next_++, 0, 0}), count));
  }
  [[nodiscard]] bool percent(std::int64_t chance) { return between(1, 100) <= chance; }

 private:
  model::DrawKey key_;
  std::uint32_t next_ = 0;
};

// Mostly small clusters that are kept busy; one in a hundred is large.
model::WorkloadParameters parameters_of(Draws& draws) {
  model::WorkloadParameters p;
  const bool large = draws.percent(1);
  p.executors = large ? draws.between(200, 2000) : draws.between(2, 8);
  p.jobs = draws.between(35, 140);
  p.stages = {1, draws.between(1, 5)};
  p.tasks = {1, large ? draws.between(100, 600) : draws.between(2, 6)};
  p.profiles = draws.percent(60) ? 1 : 2;
  p.pipelined_milli = draws.between(200, 900);
  p.priorities = 3;
  p.pools = 2;
  p.gang_capacity_milli = draws.between(500, 1000);
  // A load of 60 to 140%: mean cpu time of a job by the slots of the cluster.
  const std::int64_t work_ms = (1 + p.stages.high) * (1 + p.tasks.high) * 21 / 8;
  const std::int64_t slots_milli = p.executors * 2500;
  p.mean_gap = work_ms * 1000 * model::millisecond / slots_milli * 100 / draws.between(60, 140);
  return p;
}

void add_faults(Draws& draws, model::WorkloadParameters& p, bool losses) {
  p.task_failure_milli = draws.percent(50) ? draws.between(1, 40) : 0;
  p.holds_milli = draws.percent(50) ? draws.between(100, 500) : 0;
  p.joins = draws.between(0, 2);
  p.cancels_milli = draws.percent(30) ? 50 : 0;
  if (losses) {
    p.losses_milli = draws.percent(50) ? draws.between(100, 500) : 0;
    p.kill_latency = draws.between(0, 3) * model::millisecond;
    p.spread_milli = draws.percent(50) ? 500 : 0;
    p.unbound_milli = draws.percent(50) ? 400 : 0;
  }
}

struct PairCount {
  std::int64_t runs = 0;
  std::int64_t waited = 0;  // runs in which a gang waited,
  std::int64_t passed = 0;  // and was passed
  testing::Bypass most;
};

struct Totals {
  std::vector<PairCount> pairs{model::waiting_bounds().size()};
  std::int64_t steps = 0;
  std::int64_t failed = 0;
  std::int64_t easy_runs = 0;
  std::int64_t easy_heads = 0;
  std::int64_t easy_passed = 0;
  std::int64_t easy_late = 0;
};

using testing::BypassTally;
using testing::EasyCheck;

class Campaign {
 public:
  explicit Campaign(const Options& options) : options_(options) {}

  void run(std::uint64_t seed) {
    const auto bounds = model::waiting_bounds();
    const std::size_t number = seed % bounds.size();
    const model::PairBound& pair = bounds[number];
    Draws draws(seed);
    model::WorkloadParameters parameters = parameters_of(draws);
    // Half of the runs under fifo and easy are such that the earliest start of a head is exact.
    const bool exact = pair.kind == model::WaitingBound::starts_as_planned &&
                       pair.queue == model::QueueOrder::fifo && draws.percent(50);
    add_faults(draws, parameters, !exact);
    model::Scenario scenario = model::generate_workload(seed, parameters);
    scenario.scheduler.admission.queue = pair.queue;
    scenario.scheduler.admission.overtake = pair.overtake;
    scenario.scheduler.admission.aging_after = draws.between(5, 60) * model::millisecond;
    scenario.scheduler.no_executor_grace = 100 * model::millisecond;
    judge(scenario, pair, exact, totals_.pairs[number], seed);
  }

  [[nodiscard]] int report() const;

 private:
  void judge(const model::Scenario& scenario, const model::PairBound& pair, bool exact,
             PairCount& count, std::uint64_t seed) {
    std::vector<std::string> wrong;
    try {
      properties::MonitorSet monitors;
      BypassTally bypass(scenario);
      EasyCheck easy(scenario);
      std::vector<model::Observer*> observers{&monitors, &bypass};
      if (exact) {
        observers.push_back(&easy);
      }
      sim::RunOptions run_options;
      run_options.promises = properties::promised(scenario.scheduler, scenario.timing);
      const auto policies = policies::make(scenario.scheduler);
      const sim::RunResult result = sim::run(scenario, *policies, observers, run_options);
      monitors.finish();
      totals_.steps += result.core_steps;
      for (const model::Violation& violation : monitors.violations()) {
        wrong.push_back(
            fmt::format("{} at {} ns: {}", violation.property, violation.t, violation.detail));
      }
      add(bypass.result(), count);
      check_bound(bypass.result(), pair, wrong);
      if (exact) {
        ++totals_.easy_runs;
        totals_.easy_heads += easy.heads();
        totals_.easy_passed += easy.passed();
        totals_.easy_late += std::ssize(easy.wrong());
        wrong.insert(wrong.end(), easy.wrong().begin(), easy.wrong().end());
      }
    } catch (const std::exception& fault) {
      wrong.push_back(std::string("internal fault: ") + fault.what());
    }
    if (!wrong.empty()) {
      report_failure(scenario, seed, wrong);
    }
  }

  static void add(const testing::Bypass& run, PairCount& count) {
    ++count.runs;
    count.waited += run.waiting_gangs > 0 ? 1 : 0;
    count.passed += run.backfilled ? 1 : 0;
    count.most.passes_max = std::max(count.most.passes_max, run.passes_max);
    count.most.head_passes_max = std::max(count.most.head_passes_max, run.head_passes_max);
    count.most.head_passes_late_max =
        std::max(count.most.head_passes_late_max, run.head_passes_late_max);
    count.most.wait_max = std::max(count.most.wait_max, run.wait_max);
  }

  // Counted here and judged by NO_STARVATION, two implementations of one table.
  static void check_bound(const testing::Bypass& run, const model::PairBound& pair,
                          std::vector<std::string>& wrong) {
    using enum model::WaitingBound;
    if (pair.kind == never_passed && run.head_passes_max > 0) {
      wrong.push_back(fmt::format("a head was passed {} times", run.head_passes_max));
    }
    if (pair.kind == passed_until_aged && run.head_passes_late_max > 0) {
      wrong.push_back(fmt::format("a head was passed {} times when it had waited long enough",
                                  run.head_passes_late_max));
    }
  }

  void report_failure(const model::Scenario& scenario, std::uint64_t seed,
                      const std::vector<std::string>& wrong) {
    ++totals_.failed;
    const std::string path = fmt::format("{}/starvation_{}.json", options_.failures, seed);
    std::ofstream(path) << traces::write_scenario(scenario);
    fmt::print("seed {}: {}\n", seed, path);
    for (std::size_t i = 0; i < std::min<std::size_t>(wrong.size(), 5); ++i) {
      fmt::print("  {}\n", wrong[i]);
    }
  }

  Options options_;
  Totals totals_;
};

int Campaign::report() const {
  std::int64_t runs = 0;
  std::int64_t passed = 0;
  fmt::print("{:<26}{:>6}{:>7}{:>7}{:>8}{:>8}{:>6} {:>15}  {}\n", "pair", "runs", "waited",
             "passed", "passes", "of head", "late", "longest wait", "bound");
  for (std::size_t i = 0; i < totals_.pairs.size(); ++i) {
    const model::PairBound& pair = model::waiting_bounds()[i];
    const PairCount& count = totals_.pairs[i];
    runs += count.runs;
    // Under never a gang is passed by what stands before it, which is no backfilling.
    passed += pair.overtake == model::Overtake::never ? 0 : count.passed;
    fmt::print("{:<26}{:>6}{:>7}{:>7}{:>8}{:>8}{:>6} {:>15}  {}\n",
               fmt::format("{} x {}", name_of(pair.queue), name_of(pair.overtake)), count.runs,
               count.waited, count.passed, count.most.passes_max, count.most.head_passes_max,
               count.most.head_passes_late_max, model::format_duration(count.most.wait_max),
               pair.text);
  }
  const std::int64_t percent = runs == 0 ? 0 : 100 * passed / runs;
  fmt::print("{} runs, {} core steps; in {}% of them a gang waited and others were backfilled\n",
             runs, totals_.steps, percent);
  fmt::print("easy: {} runs with exact estimates, {} heads, {} of them passed, {} late\n",
             totals_.easy_runs, totals_.easy_heads, totals_.easy_passed, totals_.easy_late);
  int status = totals_.failed > 0 ? 1 : 0;
  if (percent < passed_percent_min) {
    fmt::print("too few: at least {}% are needed\n", passed_percent_min);
    status = 1;
  }
  if (totals_.easy_passed == 0) {
    fmt::print("no head under easy was passed: nothing was checked\n");
    status = 1;
  }
  if (totals_.steps < options_.steps_min) {
    fmt::print("too few steps: {} are needed\n", options_.steps_min);
    status = 1;
  }
  fmt::print("{} failed\n", totals_.failed);
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const Options options = read_options(count, arguments);
    Campaign campaign(options);
    for (std::uint64_t seed = options.first; seed < options.first + options.runs; ++seed) {
      campaign.run(seed);
    }
    return campaign.report();
  } catch (const std::exception& error) {
    fmt::print(stderr, "starvation_runs: {}\n", error.what());
    return 2;
  }
}
