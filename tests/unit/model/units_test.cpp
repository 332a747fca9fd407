// Durations, bytes, rates and decimals: exact both ways, and no value that would be rounded.
#include "model/support/units.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/support/check.hpp"

namespace rehearse::model {

namespace {

constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

using Cases = std::vector<std::pair<std::string_view, std::int64_t>>;

}  // namespace

TEST_CASE("durations are read exactly") {
  const Cases cases{{"0", 0},
                    {"0s", 0},
                    {"250us", 250'000},
                    {"10ms", 10'000'000},
                    {"1.5s", 1'500'000'000},
                    {"2m", 120 * second},
                    {"1.5h", 5400 * second},
                    {"0.5us", 500},
                    {"1ns", 1},
                    {"30.100001s", 30'100'001'000},
                    {"0.10000000000000000000s", 100'000'000},
                    {"9223372036854775807ns", int64_max}};
  for (const auto& [text, ns] : cases) {
    CAPTURE(text);
    const Result<Duration> duration = parse_duration(text);
    REQUIRE(duration.has_value());
    CHECK(*duration == ns);
  }
}

TEST_CASE("what is no duration is refused with a remedy") {
  for (const std::string_view text :
       {"5", "", "ms", "5 ms", "1.ms", ".5s", "1e3ms", "5sec", "-1s", "0.5ns", "1.5.5s", "++1s",
        "9223372036854775808ns", "9999999h", "1e", "nan", "99999999999999999999999999999999s",
        "0.3333333333333333333333333333333333333333s"}) {
    CAPTURE(text);
    const Result<Duration> duration = parse_duration(text);
    REQUIRE_FALSE(duration.has_value());
    CHECK_FALSE(duration.error().what.empty());
    CHECK_FALSE(duration.error().remedy.empty());
  }
  CHECK(parse_duration("5").error().remedy.find("5ms") != std::string::npos);
}

TEST_CASE("durations are written in the largest unit that is exact") {
  const Cases cases{{"0s", 0},
                    {"1.5s", 1'500'000'000},
                    {"12.5ms", 12'500'000},
                    {"2m", 120'000'000'000},
                    {"90s", 90 * second},
                    {"1h", 3600 * second},
                    {"7ns", 7},
                    {"30.100001s", 30'100'001'000}};
  for (const auto& [text, ns] : cases) {
    CHECK(format_duration(ns) == text);
  }
  for (std::int64_t ns = 1; ns > 0 && ns < int64_max / 7; ns = ns * 7 + 3) {
    CHECK(parse_duration(format_duration(ns)).value() == ns);
  }
  CHECK(parse_duration(format_duration(int64_max)).value() == int64_max);
}

TEST_CASE("bytes and rates") {
  CHECK(parse_bytes("32KiB").value() == 32'768);
  CHECK(parse_bytes("1.5GiB").value() == 1'610'612'736);
  CHECK(parse_bytes("10MB").value() == 10'000'000);
  CHECK(parse_bytes("7").value() == 7);
  CHECK(parse_bytes("9223372036854775807").value() == int64_max);
  CHECK_FALSE(parse_bytes("9223372036854775808").has_value());
  CHECK_FALSE(parse_bytes("9000000PiB").has_value());
  CHECK_FALSE(parse_bytes("1.3B").has_value());
  CHECK_FALSE(parse_bytes("-1").has_value());
  CHECK_FALSE(parse_bytes("5 GB").has_value());
  CHECK(parse_rate("1GiB/s").value() == 1'073'741'824);
  CHECK(parse_rate("10Gbit/s").value() == 1'250'000'000);
  CHECK(parse_rate("500/s").value() == 500);
  CHECK_FALSE(parse_rate("1bit/s").has_value());
  CHECK_FALSE(parse_rate("10GB").has_value());
  CHECK_FALSE(parse_rate("/s").has_value());
  CHECK(format_bytes(8'589'934'592) == "8GiB");
  CHECK(format_bytes(10'000'000) == "10MB");
  CHECK(format_bytes(7) == "7");
  CHECK(format_rate(1'250'000'000) == "1.25GB/s");
  for (std::int64_t bytes = 1; bytes > 0 && bytes < int64_max / 5; bytes = bytes * 5 + 1) {
    CHECK(parse_bytes(format_bytes(bytes)).value() == bytes);
    CHECK(parse_rate(format_rate(bytes)).value() == bytes);
  }
}

TEST_CASE("decimals") {
  CHECK(parse_decimal("0.5", 1000).value() == 500);
  CHECK(parse_decimal("2", 1000).value() == 2000);
  CHECK(parse_decimal("-1.25", 1000).value() == -1250);
  CHECK(parse_decimal("1.2500", 1000).value() == 1250);
  CHECK_FALSE(parse_decimal("0.0005", 1000).has_value());
  CHECK_FALSE(parse_decimal("1e3", 1000).has_value());
  CHECK_FALSE(parse_decimal("9223372036854775807", 1000).has_value());
  CHECK(format_decimal(500, 1000) == "0.5");
  CHECK(format_decimal(-1250, 1000) == "-1.25");
  CHECK(format_decimal(2000, 1000) == "2");
}

TEST_CASE("scaling rounds half up, once") {
  CHECK(mul_div_round(7, 1, 2) == 4);
  CHECK(mul_div_round(-7, 1, 2) == -3);
  CHECK(mul_div_round(10'000'000, 1500, 1000) == 15'000'000);
  CHECK(mul_div_round(1, 1, 3) == 0);
  CHECK(mul_div_round(2, 1, 3) == 1);
  CHECK(mul_div_round(int64_max, int64_max, int64_max) == int64_max);
  CHECK_THROWS_AS(static_cast<void>(mul_div_round(int64_max, 2, 1)), InternalFault);
}

}  // namespace rehearse::model
