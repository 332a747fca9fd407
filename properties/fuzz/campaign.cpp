// registry: none (the campaign)
#include "properties/fuzz/campaign.hpp"

#include <algorithm>
#include <utility>

#include "model/support/check.hpp"

namespace rehearse::properties {

namespace {

constexpr std::int64_t chunk_runs = 32;  // one piece of work of a thread
constexpr std::int64_t batch_runs_min = 64;
constexpr std::int64_t batch_runs_max = 4096;

// What one thread gathers on its own.
struct Chunk {
  std::int64_t runs = 0;
  std::int64_t core_steps = 0;
  Reached reached;
  Mix mix;
  std::vector<Failure> failures;
};

void run_one(Chunk& chunk, const model::Scenario& scenario, std::optional<std::uint64_t> seed,
             const Harness& harness, RunTools& tools) {
  RunWatch watch = seed ? RunWatch{} : full_watch(harness);
  watch.reached = &chunk.reached;
  watch.tools = &tools;
  JudgedRun run =
      seed ? run_seed(scenario, *seed, harness, watch) : run_judged(scenario, harness, watch);
  ++chunk.runs;
  chunk.core_steps += run.result.core_steps;
  chunk.mix.add(scenario, run);
  for (Finding& finding : run.findings) {
    chunk.failures.push_back({scenario, std::move(finding), seed, run.result.core_steps});
  }
}

// The fastest of each property; of equal ones the first.
void keep(std::vector<Failure>& kept, Failure failure) {
  const auto same = std::ranges::find_if(kept, [&](const Failure& other) {
    return other.finding.violation.property == failure.finding.violation.property;
  });
  if (same == kept.end()) {
    kept.push_back(std::move(failure));
  } else if (failure.cost < same->cost) {
    *same = std::move(failure);
  }
}

void gather(CampaignResult& result, std::vector<Chunk>& chunks) {
  for (Chunk& chunk : chunks) {
    result.runs += chunk.runs;
    result.core_steps += chunk.core_steps;
    result.reached.merge(chunk.reached);
    result.mix.merge(chunk.mix);
    for (Failure& failure : chunk.failures) {
      keep(result.failures, std::move(failure));
    }
  }
}

void run_corpus(CampaignResult& result, const CampaignOptions& options, const Harness& harness) {
  std::vector<Chunk> chunks(options.corpus.size());
  options.for_each(chunks.size(), [&](std::size_t i) {
    RunTools tools;
    run_one(chunks[i], options.corpus[i], std::nullopt, harness, tools);
  });
  gather(result, chunks);
}

// Returns false when the seeds are used up.
bool run_batch(CampaignResult& result, const CampaignOptions& options, const Harness& harness,
               std::int64_t& done, std::int64_t size) {
  const std::int64_t left = options.runs_max > 0 ? options.runs_max - done : size;
  const std::int64_t runs = std::min(size, left);
  if (runs <= 0) {
    return false;
  }
  std::vector<Chunk> chunks(static_cast<std::size_t>((runs + chunk_runs - 1) / chunk_runs));
  options.for_each(chunks.size(), [&](std::size_t i) {
    RunTools tools;
    const std::int64_t first = static_cast<std::int64_t>(i) * chunk_runs;
    for (std::int64_t r = first; r < std::min(first + chunk_runs, runs); ++r) {
      const std::uint64_t seed = options.first_seed + static_cast<std::uint64_t>(done + r);
      run_one(chunks[i], generate(options.gen, seed), seed, harness, tools);
    }
  });
  gather(result, chunks);
  done += runs;
  return true;
}

}  // namespace

void Mix::add(const model::Scenario& scenario, const JudgedRun& run) {
  ++runs;
  const std::size_t faults = scenario.faults.order.size();
  fault_free += faults == 0 ? 1 : 0;
  fault_fired += run.result.faults_never_fired.size() < faults ? 1 : 0;
  two_groups += run.groups >= 2 ? 1 : 0;
  const ScenarioSize size = size_of(scenario);
  jobs.push_back(static_cast<std::int32_t>(scenario.jobs.size()));
  stages.push_back(static_cast<std::int32_t>(size.stages));
  tasks.push_back(static_cast<std::int32_t>(run.tasks));
}

void Mix::merge(const Mix& other) {
  // Medians are of the first runs: enough to say what they are like, and no campaign grows with it.
  constexpr std::size_t kept_max = 100'000;
  runs += other.runs;
  fault_free += other.fault_free;
  fault_fired += other.fault_fired;
  two_groups += other.two_groups;
  if (jobs.size() < kept_max) {
    jobs.insert(jobs.end(), other.jobs.begin(), other.jobs.end());
    stages.insert(stages.end(), other.stages.begin(), other.stages.end());
    tasks.insert(tasks.end(), other.tasks.begin(), other.tasks.end());
  }
}

std::int64_t Mix::median(std::vector<std::int32_t> values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

CampaignResult run_campaign(const CampaignOptions& options, const Harness& harness) {
  RH_CHECK(options.for_each != nullptr);
  CampaignResult result;
  run_corpus(result, options, harness);
  std::int64_t done = 0;
  std::int64_t size = batch_runs_min;
  while (result.failures.empty()) {
    if (harness.interrupted != nullptr && harness.interrupted()) {
      result.interrupted = true;
      break;
    }
    if (options.out_of_time && options.out_of_time()) {
      break;
    }
    if (!run_batch(result, options, harness, done, size)) {
      break;
    }
    size = std::min(size * 2, batch_runs_max);
    if (options.progress) {
      options.progress(result.runs);
    }
  }
  for (const Failure& failure : result.failures) {
    if (options.sink) {
      options.sink(failure);
    }
  }
  return result;
}

}  // namespace rehearse::properties
