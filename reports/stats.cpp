// registry: none (statistics shared by reports)
#include "reports/stats.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "model/support/check.hpp"
#include "reports/numbers.hpp"

namespace rehearse::reports {
namespace {

constexpr std::int64_t ppm = 1'000'000;

std::int64_t positive(model::Duration latency) { return std::max<std::int64_t>(latency, 1); }

}  // namespace

std::optional<std::int64_t> percentile(std::span<const std::int64_t> sorted,
                                       std::int64_t percent) {
  RH_CHECK(percent >= 1 && percent <= 100, percent);
  if (sorted.empty()) {
    return std::nullopt;
  }
  const auto n = static_cast<Wide>(sorted.size());
  return sorted[static_cast<std::size_t>((n * percent + 99) / 100 - 1)];
}

Dist distribution(std::vector<std::int64_t> values, std::int64_t censored) {
  Dist dist;
  dist.n = static_cast<std::int64_t>(values.size());
  dist.censored = censored;
  if (values.empty()) {
    return dist;
  }
  std::ranges::sort(values);
  Wide sum = 0;
  for (const std::int64_t value : values) {
    sum += value;
  }
  dist.p50_ns = percentile(values, 50);
  dist.p90_ns = percentile(values, 90);
  dist.p95_ns = percentile(values, 95);
  dist.p99_ns = percentile(values, 99);
  dist.mean_ns = static_cast<std::int64_t>((sum + dist.n / 2) / dist.n);
  dist.max_ns = values.back();
  return dist;
}

Change change_of(const PairedRequest& pair, std::int64_t min_effect_ppm) {
  const Wide base = pair.base_ns;
  const Wide other = pair.other_ns;
  const Wide distance = other > base ? other - base : base - other;
  if (distance == 0 || distance * ppm < std::min(base, other) * min_effect_ppm) {
    return Change::same;
  }
  return other < base ? Change::faster : Change::slower;
}

bool gains_more(const PairedRequest& a, const PairedRequest& b) {
  const Wide left = static_cast<Wide>(positive(a.other_ns)) * positive(b.base_ns);
  const Wide right = static_cast<Wide>(positive(b.other_ns)) * positive(a.base_ns);
  return left != right ? left < right : a.request < b.request;
}

Paired pair_requests(std::string name, std::span<const RequestMetrics> base,
                     std::span<const RequestMetrics> other, std::int64_t min_effect_ppm) {
  Paired paired;
  paired.name = std::move(name);
  std::unordered_map<std::string_view, model::Duration> latencies;
  for (const RequestMetrics& request : other) {
    if (const auto latency = request.latency_ns()) {
      latencies.emplace(request.name, *latency);
    }
  }
  std::vector<std::int64_t> base_values;
  std::vector<std::int64_t> other_values;
  Wide base_sum = 0;
  Wide other_sum = 0;
  for (const RequestMetrics& request : base) {
    const auto found = latencies.find(request.name);
    if (!request.latency_ns() || found == latencies.end()) {
      continue;
    }
    const PairedRequest pair{request.name, *request.latency_ns(), found->second};
    switch (change_of(pair, min_effect_ppm)) {
      case Change::faster: ++paired.faster; break;
      case Change::slower: ++paired.slower; break;
      case Change::same: ++paired.same; break;
    }
    base_values.push_back(pair.base_ns);
    other_values.push_back(pair.other_ns);
    base_sum += pair.base_ns;
    other_sum += pair.other_ns;
    paired.requests.push_back(pair);
  }
  paired.base = distribution(std::move(base_values), 0);
  paired.other = distribution(std::move(other_values), 0);
  if (!paired.requests.empty()) {
    paired.base_sum_ns = saturated(base_sum);
    paired.other_sum_ns = saturated(other_sum);
    std::vector<std::size_t> order(paired.requests.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Speedups in ascending order: those that gain most come last.
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return gains_more(paired.requests[b], paired.requests[a]);
    });
    paired.median_pair = order[(order.size() + 1) / 2 - 1];
    const PairedRequest& median = paired.requests[*paired.median_pair];
    paired.speedup_median = static_cast<double>(positive(median.base_ns)) /
                            static_cast<double>(positive(median.other_ns));
  }
  return paired;
}

}  // namespace rehearse::reports
