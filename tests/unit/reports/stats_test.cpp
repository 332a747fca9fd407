// Percentiles, distributions, pairs.
#include <doctest/doctest.h>

#include "reports/stats.hpp"

namespace {

using namespace rehearse::reports;

RequestMetrics request(std::string name, std::int64_t latency,
                       Outcome outcome = Outcome::succeeded) {
  RequestMetrics row;
  row.name = std::move(name);
  row.outcome = outcome;
  row.end_ns = latency;
  return row;
}

TEST_CASE("percentiles are nearest rank") {
  const std::vector<std::int64_t> values = {10, 20, 30, 40};
  CHECK_EQ(percentile(values, 50), 20);
  CHECK_EQ(percentile(values, 51), 30);
  CHECK_EQ(percentile(values, 90), 40);
  CHECK_EQ(percentile(values, 1), 10);
  CHECK_EQ(percentile(values, 100), 40);
  CHECK_EQ(percentile(std::vector<std::int64_t>{}, 50), std::nullopt);
}

TEST_CASE("a distribution of nothing has only its counts") {
  const Dist dist = distribution({}, 3);
  CHECK_FALSE(dist.p50_ns);
  CHECK_FALSE(dist.max_ns);
  CHECK_EQ(dist.n, 0);
  CHECK_EQ(dist.censored, 3);
  const Dist some = distribution({5, 1, 2}, 0);
  CHECK_EQ(some.p50_ns, 2);
  CHECK_EQ(some.mean_ns, 3);  // 8 / 3 rounded half up
  CHECK_EQ(some.max_ns, 5);
}

TEST_CASE("only requests that succeeded in both are paired") {
  const std::vector<RequestMetrics> base = {request("a", 100), request("b", 100, Outcome::failed),
                                            request("c", 100), request("d", 100)};
  const std::vector<RequestMetrics> other = {request("a", 80), request("b", 1),
                                             request("c", 1, Outcome::rejected), request("d", 125)};
  const Paired paired = pair_requests("other", base, other, 10'000);
  REQUIRE_EQ(paired.requests.size(), 2);
  CHECK_EQ(paired.requests[0], PairedRequest{"a", 100, 80});
  CHECK_EQ(paired.requests[1], PairedRequest{"d", 100, 125});
  CHECK_EQ(paired.faster, 1);
  CHECK_EQ(paired.slower, 1);
  CHECK_EQ(paired.same, 0);
  CHECK_EQ(paired.speedup_median, doctest::Approx(0.8));  // lower of two: nearest rank
}

TEST_CASE("same is below the smallest effect, and stays the same when swapped") {
  CHECK_EQ(change_of({"", 1000, 1009}, 10'000), Change::same);
  CHECK_EQ(change_of({"", 1000, 1010}, 10'000), Change::slower);
  CHECK_EQ(change_of({"", 1010, 1000}, 10'000), Change::faster);
  CHECK_EQ(change_of({"", 1009, 1000}, 10'000), Change::same);
  CHECK_EQ(change_of({"", 0, 0}, 0), Change::same);
  CHECK_EQ(change_of({"", 0, 1}, 10'000), Change::slower);
}

TEST_CASE("a latency of nothing gives no infinite speedup") {
  const Paired paired =
      pair_requests("other", std::vector{request("a", 50)}, std::vector{request("a", 0)}, 10'000);
  CHECK_EQ(paired.speedup_median, doctest::Approx(50.0));
}

}  // namespace
