// registry: none (how somebody looks for what is broken)
#include "properties/mutants/hunt.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <new>
#include <utility>
#include <variant>

#include "model/support/check.hpp"
#include "properties/expectations.hpp"
#include "properties/explore/cluster_space.hpp"
#include "properties/monitor_set.hpp"
#include "properties/registry.hpp"

namespace rehearse::properties {

namespace {

constexpr std::int64_t chunk_runs = 8;  // one piece of work of a thread
constexpr std::int64_t batch_runs_min = 64;
constexpr std::int64_t batch_runs_max = 1024;
constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

bool is_left_out(const Without& without, std::string_view property) {
  return std::ranges::find(without, property) != without.end();
}

struct Found {
  std::int64_t run = none;  // from 0
  std::string by;
};

// The first find of a batch: each chunk goes up to its own, none behind the best so far.
Found run_batch(const HuntOptions& options, const Harness& harness, std::int64_t first,
                std::int64_t size) {
  const auto chunks = static_cast<std::size_t>((size + chunk_runs - 1) / chunk_runs);
  std::vector<Found> found(chunks);
  std::atomic<std::int64_t> best = none;
  options.for_each(chunks, [&](std::size_t chunk) {
    RunTools tools;
    const std::int64_t begin = first + static_cast<std::int64_t>(chunk) * chunk_runs;
    const std::int64_t end = std::min(begin + chunk_runs, first + size);
    for (std::int64_t run = begin; run < end && run < best.load(); ++run) {
      const std::uint64_t seed = options.first_seed + static_cast<std::uint64_t>(run);
      const auto by =
          find_in_run(generate(options.gen, seed), harness, seed, options.without, &tools);
      if (by) {
        found[chunk] = {run, *by};
        std::int64_t before = best.load();
        while (run < before && !best.compare_exchange_weak(before, run)) {
        }
        return;
      }
    }
  });
  const auto lowest = std::ranges::min_element(found, {}, &Found::run);
  return lowest == found.end() ? Found{} : std::move(*lowest);
}

}  // namespace

std::optional<std::string> find_in_run(const model::Scenario& scenario, const Harness& harness,
                                       std::optional<std::uint64_t> seed, const Without& without,
                                       RunTools* tools) {
  RunWatch watch = seed ? RunWatch{} : full_watch(harness);
  watch.tools = tools;
  const JudgedRun run =
      seed ? run_seed(scenario, *seed, harness, watch) : run_judged(scenario, harness, watch);
  for (const Finding& finding : run.findings) {
    if (!is_left_out(without, finding.violation.property)) {
      return finding.violation.property;
    }
  }
  const bool stopped = run.result.cause == model::RunEndCause::interrupted;
  return run.findings.empty() && stopped ? std::optional(std::string(no_end)) : std::nullopt;
}

Hunt hunt(const HuntOptions& options, const Harness& harness) {
  RH_CHECK(options.for_each != nullptr);
  Hunt result;
  std::int64_t size = batch_runs_min;
  while (!options.out_of_time || !options.out_of_time()) {
    const std::int64_t left = options.runs_max > 0 ? options.runs_max - result.runs : size;
    if (left <= 0) {
      break;
    }
    const std::int64_t runs = std::min(size, left);
    Found found = run_batch(options, harness, result.runs, runs);
    if (found.run == none) {
      result.runs += runs;
      size = std::min(size * 2, batch_runs_max);
      continue;
    }
    const std::uint64_t seed = options.first_seed + static_cast<std::uint64_t>(found.run);
    result.runs = found.run + 1;
    if (!options.is_clean || options.is_clean(generate(options.gen, seed))) {
      result.by = std::move(found.by);
      result.seed = seed;
      return result;
    }
  }
  return result;
}

ScopeHunt hunt_paths(const model::Scenario& scope, const Harness& harness,
                     const SearchOptions& limits, const Without& without) {
  ScopeHunt result;
  const auto policies = harness.policies(scope.scheduler);
  RH_CHECK(policies.has_value());
  try {
    const auto root = ClusterSpace::make(scope, *policies);
    if (!root) {
      return result;  // nothing that can be explored
    }
    const SearchResult search = Search(**root, limits).run();
    result.states = search.states;
    result.complete = search.complete;
    for (const Counterexample& example : search.found) {
      if (!result.by && !is_left_out(without, example.violation.property)) {
        result.by = example.violation.property;
      }
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    result.by = internal_fault;
  }
  return result;
}

namespace {

bool is_expected(const model::Scenario& scenario, std::string_view property) {
  return std::ranges::any_of(scenario.expect, [property](const model::Expectation& one) {
    const auto* invariant = std::get_if<model::ExpectInvariant>(&one);
    return invariant != nullptr && invariant->property == property && !invariant->holds;
  });
}

std::optional<std::string> run_expected(const model::Scenario& scenario,
                                        const scheduler::PolicySet& policies,
                                        const Harness& harness) {
  Expectations expectations(scenario);
  MonitorSet monitors;
  std::vector<model::Observer*> observers{&expectations, &monitors};
  sim::RunOptions options;
  options.promises = promised(scenario.scheduler, scenario.timing);
  options.interrupted = harness.interrupted;
  const sim::RunResult run = sim::run(scenario, policies, observers, options);
  monitors.finish();
  for (const model::Violation& violation : monitors.violations()) {
    if (!is_expected(scenario, violation.property)) {
      return violation.property;
    }
  }
  if (run.cause == model::RunEndCause::interrupted) {
    return std::string(no_end);
  }
  const auto results = expectations.finish({run.journal_hash, &monitors.verdicts(), {}});
  const bool all = std::ranges::all_of(results, &model::ExpectationResult::ok);
  return all ? std::nullopt : std::optional(std::string(broken_expectation));
}

}  // namespace

std::optional<std::string> hunt_expected(const model::Scenario& scenario, const Harness& harness) {
  model::Scenario alone = scenario;
  std::erase_if(alone.expect, [](const model::Expectation& one) {
    return std::holds_alternative<model::ExpectSameJournal>(one);
  });
  const auto policies = harness.policies(alone.scheduler);
  RH_CHECK(policies.has_value());
  try {
    return run_expected(alone, *policies, harness);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return std::string(internal_fault);
  }
}

}  // namespace rehearse::properties
