// Whether the harness notices that a scheduler is broken, and after how many runs: a campaign that
// is over with the first find, every path through a small scope, a scenario with expectations. What
// is broken in the scheduler is the caller's business.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/scenario.hpp"
#include "properties/explore/search.hpp"
#include "properties/fuzz/judged_run.hpp"
#include "properties/gen/generate.hpp"

namespace rehearse::properties {

// Finds that no property makes, beside those of judged_run.hpp.
inline constexpr std::string_view no_end = "NO_END";                   // a run had to be stopped
inline constexpr std::string_view broken_expectation = "EXPECTATION";  // of the scenario

// Properties that are not looked at (ablation).
using Without = std::vector<std::string>;

struct HuntOptions {
  GenOptions gen;
  std::uint64_t first_seed = 1;       // then the numbers after it
  std::int64_t runs_max = 0;          // 0: no bound
  std::function<bool()> out_of_time;  // polled between batches; empty: never
  // Calls work(0) to work(count - 1), each once, on as many threads as one likes.
  std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)> for_each;
  Without without;
  // Is a scenario in which something was found clean when nothing is broken? One that is not says
  // nothing about what is broken now. Called on one thread. Empty: all are.
  std::function<bool(const model::Scenario&)> is_clean;
};

struct Hunt {
  std::optional<std::string> by;  // what was found first; nothing: it went unnoticed
  std::int64_t runs = 0;          // up to the find, that one included, or all
  std::optional<std::uint64_t> seed;
};

// What a run finds, first things first: the run of a seed of a campaign, or of none, which is
// compared with the oracle where the harness knows it. `tools`: see RunWatch.
[[nodiscard]] std::optional<std::string> find_in_run(const model::Scenario& scenario,
                                                     const Harness& harness,
                                                     std::optional<std::uint64_t> seed,
                                                     const Without& without,
                                                     RunTools* tools = nullptr);

// The find of the lowest seed: the same on any number of threads.
[[nodiscard]] Hunt hunt(const HuntOptions& options, const Harness& harness);

// What breaks on some path through the scope. `complete` is false when the search was cut short.
struct ScopeHunt {
  std::optional<std::string> by;
  std::int64_t states = 0;
  bool complete = false;
};
[[nodiscard]] ScopeHunt hunt_paths(const model::Scenario& scope, const Harness& harness,
                                   const SearchOptions& limits, const Without& without);

// What breaks in a run of the scenario as it stands, its expectations included but for those about
// the journals of other files. Expected violations are no finds.
[[nodiscard]] std::optional<std::string> hunt_expected(const model::Scenario& scenario,
                                                       const Harness& harness);

}  // namespace rehearse::properties
