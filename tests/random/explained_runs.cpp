// explained_runs [--first SEED] [--runs N] [--name]: random scenarios, and every request and try of
// them explained. Parts must tile from the submission to the end that the metrics know, and few of
// them may be unexplained. Prints how often each kind was met; with --name also the seed and the
// job of each part that is unexplained. Exit 1 when something does not hold.
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/config_support.hpp"
#include "policies/registry.hpp"
#include "reports/explain.hpp"
#include "reports/metrics.hpp"
#include "sim/simulation.hpp"
#include "tests/random/generate.hpp"
#include "traces/scenario_json.hpp"

namespace {

using namespace rehearse;

// Parts that may be unexplained, in a thousand.
constexpr std::int64_t unexplained_max = 5;

struct Options {
  std::uint64_t first = 1;
  std::uint64_t runs = 1000;
  bool name = false;
};

struct Tally {
  std::map<std::string, std::int64_t> kinds;
  std::int64_t parts = 0;
  std::int64_t known_parts = 0;  // of runs without what the reports do not know yet
  std::int64_t known_unexplained = 0;
  std::int64_t explanations = 0;
  std::int64_t wrong = 0;
};

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    if (name == "--name") {
      options.name = true;
    } else if (i + 1 < count && (name == "--first" || name == "--runs")) {
      (name == "--first" ? options.first : options.runs) = std::stoull(arguments[++i]);
    } else {
      throw std::invalid_argument("unknown option " + std::string(name));
    }
  }
  return options;
}

std::vector<std::string> names_of(const model::Scenario& scenario) {
  std::vector<std::string> names;
  for (const model::JobSpec& job : scenario.jobs) {
    const std::string base(scenario.names.text(job.name));
    for (std::int32_t copy = 1; copy <= job.repeat_count; ++copy) {
      const std::string name = job.repeat_count > 1 ? fmt::format("{}{}", base, copy) : base;
      names.push_back(name);
      for (std::int32_t number = 1; number <= job.resubmit; ++number) {
        names.push_back(fmt::format("{}#{}", name, number));
      }
    }
  }
  return names;
}

// What is wrong with one explanation; empty = nothing.
std::string judge(const reports::Explanation& found, const reports::RunMetrics& metrics,
                  std::optional<model::Instant> horizon) {
  model::Instant at = found.submit_ns;
  for (const reports::ExplainPart& part : found.parts) {
    if (part.from_ns != at || part.to_ns < part.from_ns || part.detail.empty()) {
      return fmt::format("{}: a part at {} ns does not follow", found.job, part.from_ns);
    }
    at = part.to_ns;
  }
  if (at != found.end_ns) {
    return fmt::format("{}: parts end at {} ns, not at {} ns", found.job, at, found.end_ns);
  }
  const reports::JobMetrics* first = nullptr;
  const reports::JobMetrics* last = nullptr;
  for (const reports::JobMetrics& job : metrics.jobs) {
    if (job.name == found.job || job.request == found.job) {
      first = first == nullptr ? &job : first;
      last = &job;
    }
  }
  const model::Instant run_end = std::max(metrics.end_ns, horizon.value_or(0));
  if (first == nullptr || first->submit_ns != found.submit_ns ||
      (last->end_ns ? *last->end_ns != found.end_ns : found.end_ns > run_end) ||
      last->outcome != found.outcome) {
    return fmt::format("{}: submission, end or outcome is not that of the metrics", found.job);
  }
  return {};
}

void explain_run(std::uint64_t seed, const Options& options, Tally& tally) {
  const auto scenario = traces::read_scenario(testing::random_scenario(seed), "random.json");
  if (!scenario || model::unsupported(*scenario)) {
    ++tally.wrong;
    fmt::print("seed {}: it does not load\n", seed);
    return;
  }
  // What shares a slot and which copies are due is not told by the reports yet.
  const bool known =
      scenario->scheduler.accounting == model::Accounting::sum && !scenario->scheduler.speculation;
  const auto policies = policies::make(scenario->scheduler);
  std::vector<std::unique_ptr<reports::Explain>> explains;
  reports::Metrics metrics;
  std::vector<model::Observer*> observers{&metrics};
  for (const std::string& name : names_of(*scenario)) {
    explains.push_back(std::make_unique<reports::Explain>(
        reports::ExplainOptions{.job = name, .horizon = scenario->horizon, .start_delays = {}}));
    observers.push_back(explains.back().get());
  }
  const sim::RunResult result = sim::run(*scenario, *policies, observers);
  const reports::RunMetrics measured = metrics.finish();
  for (const auto& explain : explains) {
    const auto found = explain->finish();
    if (!found) {
      continue;
    }
    ++tally.explanations;
    if (const std::string text = judge(*found, measured, scenario->horizon); !text.empty()) {
      ++tally.wrong;
      fmt::print("seed {}: {}\n", seed, text);
    }
    for (const reports::ExplainPart& part : found->parts) {
      ++tally.parts;
      ++tally.kinds[part.kind];
      tally.known_parts += known ? 1 : 0;
      tally.known_unexplained += known && part.kind == "unexplained" ? 1 : 0;
      if (options.name && part.kind == "unexplained") {
        fmt::print("seed {}: {} {} {} {}\n", seed, found->job, part.from_ns, part.to_ns,
                   part.detail);
      }
    }
  }
}

int campaign(const Options& options) {
  Tally tally;
  for (std::uint64_t seed = options.first; seed < options.first + options.runs; ++seed) {
    try {
      explain_run(seed, options, tally);
    } catch (const std::exception& fault) {
      ++tally.wrong;
      fmt::print("seed {}: {}\n", seed, fault.what());
    }
  }
  for (const auto& [kind, count] : tally.kinds) {
    fmt::print("{:>9} {}\n", count, kind);
  }
  const std::int64_t unexplained = tally.kinds["unexplained"];
  fmt::print("{} explanations, {} parts, {} unexplained, {} wrong\n", tally.explanations,
             tally.parts, unexplained, tally.wrong);
  fmt::print("without shared slots and copies: {} parts, {} unexplained\n", tally.known_parts,
             tally.known_unexplained);
  const bool too_many = tally.known_unexplained * 1000 > tally.known_parts * unexplained_max;
  return tally.wrong > 0 || too_many ? 1 : 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return campaign(read_options(count, arguments));
  } catch (const std::exception& fault) {
    fmt::print(stderr, "explained_runs: {}\n", fault.what());
    return 2;
  }
}
