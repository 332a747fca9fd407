// Thresholds of a comparison: --fail-if 'METRIC.STAT OP NUMBER[%]' (cli.md). The caller decides
// the exit status; here rules are read and judged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/error.hpp"
#include "reports/slot_use.hpp"

namespace rehearse::reports {

struct Configuration;
struct Paired;

enum class FailMetric : std::uint8_t {
  request_latency,
  queued,
  first_row,
  makespan,
  utilization,
  reserved_idle,
  rejected,
  failed
};
enum class FailStat : std::uint8_t { none, mean, p50, p90, p95, p99, max };
enum class FailOp : std::uint8_t { above, at_least, below, at_most };

struct FailRule {
  std::string text;  // as given
  FailMetric metric = FailMetric::request_latency;
  FailStat stat = FailStat::none;  // request_latency, queued, first_row need one, others have none
  FailOp op = FailOp::above;
  bool percent = false;  // NUMBER is the change against the baseline, in percent
  // NUMBER in 1/1,000,000 of its unit: percent, ns, a share of 1, or requests.
  Wide value_micro = 0;
};

struct FailResult {
  std::string rule;
  bool tripped = false;
  std::string detail;  // per configuration what was seen
};

// A duration may carry a unit ("2.5s"); without one it is nanoseconds, as in the JSON results.
// Errors name the part that is wrong and the nearest known name.
[[nodiscard]] model::Result<FailRule> parse_fail_rule(std::string_view text);

// One seed: a scalar is judged itself, for every configuration but the baseline (for the baseline
// when it is alone). A change of latencies is over requests that succeeded in both, as every ratio.
// A configuration without the value trips the rule: what was not measured did not pass.
// `paired` holds one entry per configuration after the first.
[[nodiscard]] FailResult judge(const FailRule& rule,
                               const std::vector<Configuration>& configurations,
                               const std::vector<Paired>& paired);

}  // namespace rehearse::reports
