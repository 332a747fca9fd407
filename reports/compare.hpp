// A comparison of configurations over the same work, as data. The first configuration is the
// baseline. Requests are paired by name; a number over pairs is over requests that succeeded in
// both, never against a failed or cut-off run (cli.md, Metrics). One seed: no confidence interval.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/violation.hpp"
#include "reports/fail_if.hpp"
#include "reports/marking.hpp"
#include "reports/metrics.hpp"
#include "reports/stats.hpp"

namespace rehearse::reports {

// What was run: one configuration over every input.
struct ConfigurationRuns {
  std::string name;
  std::string cluster;
  std::vector<RunMetrics> runs;    // one per input, in their order; at least one
  std::uint64_t journal_hash = 0;  // of the first
  std::vector<model::Violation> violations;
};

struct CompareOptions {
  std::int64_t min_effect_ppm = 10'000;  // parts per million: 1%
  std::vector<FailRule> fail_if;
  std::vector<std::string> assumptions;  // of the run: timing, arrivals, narrowing, ...
  std::vector<std::string> warnings;     // of the run; those of inputs stand with the inputs
};

struct Configuration {
  std::string name;
  std::string cluster;
  std::int64_t seeds = 1;
  Dist latency;                     // over requests that succeeded
  Dist queued;                      // start - submit, over requests that succeeded and ran a task
  std::optional<Dist> first_row;    // over requests that succeeded; absent when nobody saw a row
  model::Duration makespan_ns = 0;  // of several inputs: the sum
  std::int64_t rejected = 0;        // requests, by the outcome of their last try
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
  std::int64_t unfinished = 0;
  Totals totals;
  GangWaits gangs;
  Wide work = 0;
  Wide work_in_groups = 0;
  std::int64_t pipelined_edges = 0;
  std::int64_t slots_max = 0;
  std::uint64_t journal_hash = 0;
  std::vector<model::Violation> violations;
  std::vector<RequestMetrics> requests;  // of all inputs; named "input: request" if several
  std::vector<RunMetrics> runs;
};

enum class FindingKind : std::uint8_t {
  faster,
  slower,
  no_difference,
  mixed,
  nothing_in_groups,
  rejected,
  failed,
  nothing_compared
};

struct Finding {
  FindingKind kind = FindingKind::nothing_compared;
  std::string headline;                    // one sentence, complete in itself
  std::vector<std::string> details;        // further sentences, most important first
  [[nodiscard]] std::string text() const;  // all of it, one line
};

struct Comparison {
  Finding finding;
  std::string baseline;
  std::int64_t min_effect_ppm = 0;
  std::vector<Configuration> configurations;  // the baseline first
  std::vector<Paired> paired;                 // one per other configuration
  std::vector<FailResult> fail_if;
  std::vector<std::string> assumptions;
  std::vector<std::string> warnings;
};

// At least one configuration; all have runs of the same inputs. Names of configurations differ.
[[nodiscard]] Comparison compare(std::vector<ConfigurationRuns> configurations,
                                 const std::vector<Input>& inputs, const CompareOptions& options);

// The finding in words, computed from the numbers alone; swapping baseline and other swaps it.
[[nodiscard]] Finding find(const Comparison& comparison, const std::vector<Input>& inputs);

// Distributions to show beside each other, one per configuration, over sets that may be compared.
struct DistTable {
  std::string title;       // "latency, 12 requests that succeed in both"
  std::vector<Dist> rows;  // by configuration
  bool change = false;     // two rows over the same requests: their change says something
};

// Latency, queued and first row: with two configurations over the requests that succeed in both;
// if that leaves some out, or with more configurations, over all that succeeded under each.
// Distributions of nothing are left out.
[[nodiscard]] std::vector<DistTable> dist_tables(const Comparison& comparison);

// What every number of a report means, in the order of the report.
struct Definition {
  std::string_view term;
  std::string_view meaning;
};
[[nodiscard]] const std::vector<Definition>& definitions();

}  // namespace rehearse::reports
