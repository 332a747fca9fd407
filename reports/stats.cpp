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

std::optional<std::int64_t> percentile(std::span<const std::int64_t> sorted, std::int64_t percent) {
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

RequestDists request_distributions(std::span<const RequestMetrics* const> requests,
                                   std::int64_t censored) {
  std::vector<std::int64_t> latency;
  std::vector<std::int64_t> queued;
  std::vector<std::int64_t> first_row;
  for (const RequestMetrics* request : requests) {
    if (!request->latency_ns()) {
      continue;
    }
    latency.push_back(*request->latency_ns());
    if (const auto value = request->queued_ns()) {
      queued.push_back(*value);
    }
    if (request->first_row_ns) {
      first_row.push_back(*request->first_row_ns);
    }
  }
  return {.latency = distribution(std::move(latency), censored),
          .queued = distribution(std::move(queued), censored),
          .first_row = distribution(std::move(first_row), censored)};
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
  std::unordered_map<std::string_view, const RequestMetrics*> succeeded;
  for (const RequestMetrics& request : other) {
    if (request.latency_ns()) {
      succeeded.emplace(request.name, &request);
    }
  }
  std::vector<const RequestMetrics*> base_rows;
  std::vector<const RequestMetrics*> other_rows;
  std::size_t base_succeeded = 0;
  Wide base_sum = 0;
  Wide other_sum = 0;
  for (const RequestMetrics& request : base) {
    const auto found = succeeded.find(request.name);
    base_succeeded += request.latency_ns() ? 1U : 0U;
    if (!request.latency_ns() || found == succeeded.end()) {
      continue;
    }
    const PairedRequest pair{request.name, *request.latency_ns(),
                             found->second->latency_ns().value_or(0)};
    switch (change_of(pair, min_effect_ppm)) {
      case Change::faster:
        ++paired.faster;
        break;
      case Change::slower:
        ++paired.slower;
        break;
      case Change::same:
        ++paired.same;
        break;
    }
    base_rows.push_back(&request);
    other_rows.push_back(found->second);
    base_sum += pair.base_ns;
    other_sum += pair.other_ns;
    paired.requests.push_back(pair);
  }
  paired.base = request_distributions(base_rows, 0);
  paired.other = request_distributions(other_rows, 0);
  paired.same_set = base_succeeded == base_rows.size() && succeeded.size() == other_rows.size();
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
