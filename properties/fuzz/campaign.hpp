// A campaign: many random scenarios under every monitor, until a property breaks or it was enough.
// Its results depend on the options and, where it ends by time, on how many runs that allowed;
// never on how many threads there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "properties/fuzz/judged_run.hpp"
#include "properties/gen/generate.hpp"
#include "properties/shrink/shrink.hpp"

namespace rehearse::properties {

// A scenario in which something was found.
struct Failure {
  model::Scenario scenario;
  Finding finding;
  std::optional<std::uint64_t> seed;  // nothing: of the corpus
  std::int64_t cost = 0;              // steps of the core in its run: what makes it fast
};

struct CampaignOptions {
  GenOptions gen;
  std::uint64_t first_seed = 0;       // then the numbers after it
  std::int64_t runs_max = 0;          // 0: no bound
  std::function<bool()> out_of_time;  // polled between batches; empty: never
  // Calls work(0) to work(count - 1), each once, on as many threads as one likes.
  std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)> for_each;
  std::vector<model::Scenario> corpus;  // earlier finds, run first
  // Told of each failure that is kept, before anything is shrunk.
  std::function<void(const Failure&)> sink;
  std::function<void(std::int64_t runs)> progress;  // after each batch; may be empty
};

// What the runs were like.
struct Mix {
  std::int64_t runs = 0;
  std::int64_t fault_free = 0;
  std::int64_t fault_fired = 0;
  std::int64_t two_groups = 0;                    // or more
  std::vector<std::int32_t> jobs, stages, tasks;  // by run; task starts

  void add(const model::Scenario& scenario, const JudgedRun& run);
  void merge(const Mix& other);
  [[nodiscard]] static std::int64_t median(std::vector<std::int32_t> values);
};

struct CampaignResult {
  std::int64_t runs = 0;
  std::int64_t core_steps = 0;
  Reached reached;
  Mix mix;
  std::vector<Failure> failures;  // the fastest of each property, by first appearance
  bool interrupted = false;
};

// Seeds go in batches that grow; the batch in which something is found is the last one. Each
// hundredth run is run twice and must give the same journal.
[[nodiscard]] CampaignResult run_campaign(const CampaignOptions& options, const Harness& harness);

}  // namespace rehearse::properties
