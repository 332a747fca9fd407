// Thresholds: what is read, and when they trip.
#include <doctest/doctest.h>

#include "tests/support/report_comparison.hpp"

namespace {

using namespace rehearse;
using namespace rehearse::reports;
using tests::comparison_of;

FailResult judged(std::string_view rule, bool swapped = false) {
  const auto parsed = parse_fail_rule(rule);
  REQUIRE_MESSAGE(parsed.has_value(), std::string(rule));
  CompareOptions options;
  options.fail_if = {*parsed};
  return comparison_of({{"a", 100}, {"b", 50}},
                       {{"a", 110}, {"b", 50}, {"c", 0, Outcome::rejected}}, swapped, {}, options)
      .fail_if.at(0);
}

TEST_CASE("a change is judged against the baseline") {
  const FailResult result = judged("request_latency.p99 > 5%");
  CHECK(result.tripped);
  CHECK_EQ(result.rule, "request_latency.p99 > 5%");
  CHECK_EQ(result.detail, "psd: 100 s -> 110 s (+10.0%)");
  CHECK_FALSE(judged("request_latency.p99 > 10%").tripped);
  CHECK(judged("request_latency.p99>=10%").tripped);
  CHECK(judged("request_latency.max > +9.99%").tripped);
  CHECK_FALSE(judged("request_latency.p50 > 0%").tripped);
  CHECK(judged("request_latency.p99 < -9%", true).tripped);
}

TEST_CASE("a value is judged itself: unit or nanoseconds, counts, shares") {
  CHECK(judged("request_latency.p99 > 109s").tripped);
  CHECK_FALSE(judged("request_latency.p99 > 110s").tripped);
  CHECK(judged("request_latency.p99 > 109999999999").tripped);
  CHECK(judged("makespan >= 110s").tripped);
  CHECK(judged("rejected > 0").tripped);
  CHECK_FALSE(judged("rejected > 1").tripped);
  CHECK_FALSE(judged("failed > 0").tripped);
  CHECK(judged("utilization < 0.9").tripped);
  CHECK_FALSE(judged("reserved_idle > 0").tripped);
}

TEST_CASE("a change is over requests that succeeded in both") {
  CompareOptions options;
  options.fail_if = {parse_fail_rule("request_latency.max > 0%").value()};
  // Only b succeeds in both; what a took in one of them is no reason to trip.
  const FailResult result = comparison_of({{"a", 10, Outcome::failed}, {"b", 50}},
                                          {{"a", 90}, {"b", 50}}, false, {}, options)
                                .fail_if.at(0);
  CHECK_FALSE(result.tripped);
  CHECK_EQ(result.detail, "psd: 50.0 s -> 50.0 s (0.0%) over 1 request in both");
}

TEST_CASE("from nothing to something is a change without bound; nothing to nothing is none") {
  CHECK(judged("rejected > 1000%").tripped);
  CHECK_FALSE(judged("failed > 0%").tripped);
}

TEST_CASE("what was not measured did not pass") {
  const FailResult result = judged("first_row.p50 > 5s");
  CHECK(result.tripped);
  CHECK(result.detail.find("not measured") != std::string::npos);
}

TEST_CASE("what cannot be read is named, with the nearest known word") {
  const auto message = [](std::string_view rule) {
    const auto parsed = parse_fail_rule(rule);
    return parsed ? std::string("read") : parsed.error().what + " | " + parsed.error().remedy;
  };
  CHECK(message("request_latncy.p50 > 5%").find("did you mean 'request_latency'") !=
        std::string::npos);
  CHECK(message("request_latency > 5%").find("needs one of its statistics") != std::string::npos);
  CHECK(message("request_latency.p42 > 5%").find("p42") != std::string::npos);
  CHECK(message("makespan.p50 > 5%").find("has no statistics") != std::string::npos);
  CHECK(message("makespan = 5").find("no comparison") != std::string::npos);
  for (const std::string_view rule :
       {"makespan >", "makespan > x", "makespan > 5 %%", "rejected > 2s", "", "> 5"}) {
    CHECK_NE(message(rule), "read");
  }
}

}  // namespace
