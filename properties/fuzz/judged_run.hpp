// One run of a scenario with every monitor, and what they found in it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/error.hpp"
#include "properties/fuzz/marks.hpp"
#include "properties/monitor_set.hpp"
#include "properties/shrink/shrink.hpp"
#include "scheduler/policy.hpp"
#include "sim/simulation.hpp"

namespace rehearse::properties {

// What runs are made with. Called from several threads.
struct Harness {
  std::function<model::Result<scheduler::PolicySet>(const model::SchedulerConfig&)> policies;
  // What stands between a run and its monitors, if anything: it passes events on to `monitors` or
  // does not. For tests of the harness itself.
  std::function<std::unique_ptr<model::Observer>(model::Observer& monitors)> between;
  bool (*interrupted)() = nullptr;  // ends a run early; may be null
  // One seed in so many of a campaign is compared with the oracle, where it models the scenario;
  // 0: none. The oracle looks at everything in every pass: it takes four times as long as a run.
  std::uint64_t oracle_one_in = 0;
};

inline constexpr std::uint64_t oracle_share = 8;  // what campaigns use for oracle_one_in

// Findings that no monitor makes; oracle/compare.hpp has one more.
inline constexpr std::string_view internal_fault = "INTERNAL_FAULT";  // a check of this program
inline constexpr std::string_view policy_fault = "POLICY_FAULT";      // a policy broke its contract
inline constexpr std::string_view not_deterministic = "DETERMINISTIC";

struct JudgedRun {
  sim::RunResult result;          // empty after a fault
  std::vector<Finding> findings;  // of promised properties, by time; or one fault
  std::uint64_t found_at = 0;     // number of the event of the first, from 1
  std::int64_t tasks = 0;         // starts
  std::int64_t groups = 0;        // of several stages, formed
};

// What one thread keeps from run to run: memory and nothing else. A run with it is as one without
// it, which run_judged_twice() looks after.
struct RunTools {
  MonitorSet monitors;
  sim::RunMemory memory;
};

// `reached`, if any, gets the marks of the run; `watcher`, if any, every event.
struct RunWatch {
  Reached* reached = nullptr;
  model::Observer* watcher = nullptr;
  RunTools* tools = nullptr;  // null: the run makes its own
  bool hash = true;           // else RunResult::journal_hash is 0
  bool audit_digest = false;
  bool oracle = false;  // compare the journal with the oracle's
};
[[nodiscard]] JudgedRun run_judged(const model::Scenario& scenario, const Harness& harness,
                                   const RunWatch& watch);
// Of a run that is of no seed: all that may have been found is looked for, the digest audited, and
// against the oracle where the harness knows it.
[[nodiscard]] RunWatch full_watch(const Harness& harness);

// The same with the digest audited, and once more without tools if nothing was found: a run with
// another journal or other marks, or in which something is found, is not_deterministic, from the
// first event that differs on. For one seed in so many of a campaign. Has a watcher of its own, so
// `watch` has none.
inline constexpr std::uint64_t twice_one_in = 100;
[[nodiscard]] JudgedRun run_judged_twice(const model::Scenario& scenario, const Harness& harness,
                                         RunWatch watch);

// How the run of one seed is watched: each so manieth twice, each so manieth against the oracle.
// Only of those that are run twice the journal is hashed.
[[nodiscard]] JudgedRun run_seed(const model::Scenario& scenario, std::uint64_t seed,
                                 const Harness& harness, RunWatch watch);

// run_judged() as the shrinker asks for it, with full_watch().
[[nodiscard]] Judge judge_of(const Harness& harness);

// Findings of one property that say the same are in one bucket: the words of the detail without
// names and numbers, so that it is the same check that failed.
[[nodiscard]] std::string bucket_of(const model::Violation& violation,
                                    const model::NameTable& names);

}  // namespace rehearse::properties
