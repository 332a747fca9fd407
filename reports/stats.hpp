// Statistics over requests. Percentiles are nearest rank, of exact samples, in integers: the p-th
// of n sorted values is the one at rank ceil(p * n / 100), counted from 1. Means round half up.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/metrics.hpp"
#include "reports/slot_use.hpp"

namespace rehearse::reports {

// Of values sorted in ascending order; `percent` from 1 to 100; nothing for no values.
[[nodiscard]] std::optional<std::int64_t> percentile(std::span<const std::int64_t> sorted,
                                                     std::int64_t percent);

// A distribution over requests. `n` values; censored = requests that had no value because the run
// ended first. Nothing but `n` and `censored` without values.
struct Dist {
  std::optional<model::Duration> p50_ns;
  std::optional<model::Duration> p90_ns;
  std::optional<model::Duration> p95_ns;
  std::optional<model::Duration> p99_ns;
  std::optional<model::Duration> mean_ns;
  std::optional<model::Duration> max_ns;
  std::int64_t n = 0;
  std::int64_t censored = 0;
  bool operator==(const Dist&) const = default;
};

[[nodiscard]] Dist distribution(std::vector<std::int64_t> values, std::int64_t censored);

// What requests took. All three are over requests that succeeded; `queued` and `first_row` over
// those of them that ran a task, or saw a row.
struct RequestDists {
  Dist latency;
  Dist queued;
  Dist first_row;
};

[[nodiscard]] RequestDists request_distributions(std::span<const RequestMetrics* const> requests,
                                                 std::int64_t censored);

// A request that succeeded under both configurations.
struct PairedRequest {
  std::string request;
  model::Duration base_ns = 0;
  model::Duration other_ns = 0;
  bool operator==(const PairedRequest&) const = default;
};

enum class Change : std::uint8_t { faster, slower, same };

// `same` when the change is below `min_effect_ppm` (parts per million) of the smaller latency: of
// the smaller, so that swapping the configurations swaps faster and slower and keeps same.
[[nodiscard]] Change change_of(const PairedRequest& pair, std::int64_t min_effect_ppm);

// Orders by other / base, least first; a latency of 0 counts as 1 ns. Ties by name.
[[nodiscard]] bool gains_more(const PairedRequest& a, const PairedRequest& b);

// One configuration against the baseline, over requests that succeeded in both.
struct Paired {
  std::string name;                     // of the other configuration
  std::vector<PairedRequest> requests;  // order of the baseline's submissions
  std::int64_t faster = 0;
  std::int64_t slower = 0;
  std::int64_t same = 0;
  std::optional<double> speedup_median;  // nearest rank of base / other
  // The pair that is that median; index in `requests`.
  std::optional<std::size_t> median_pair;
  std::optional<std::int64_t> base_sum_ns;  // of latencies
  std::optional<std::int64_t> other_sum_ns;
  RequestDists base;  // over the requests above
  RequestDists other;
  // Nothing succeeds in one configuration alone: numbers over "all that succeeded" are over one
  // set.
  bool same_set = false;
};

// Requests are matched by name; both lists hold each name once.
[[nodiscard]] Paired pair_requests(std::string name, std::span<const RequestMetrics> base,
                                   std::span<const RequestMetrics> other,
                                   std::int64_t min_effect_ppm);

}  // namespace rehearse::reports
