// Exact reading and writing of the values of scenario.md section 1. Nothing here rounds silently:
// a value that does not fit its integer unit is an error. Errors carry `what` and `remedy`; the
// caller adds file, line and field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/support/error.hpp"
#include "model/support/time.hpp"

namespace rehearse::model {

// "1.5s" -> 1'500'000'000. Units ns us ms s m h; a bare number is an error, except "0".
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);

// The largest unit that is exact: 1'500'000'000 -> "1.5s"; 0 -> "0s". Parses back to the same.
[[nodiscard]] std::string format_duration(Duration duration);

// "32KiB", "1.5GiB", "10MB", "7" (bytes) -> bytes, exact to 2^63 - 1.
[[nodiscard]] Result<std::int64_t> parse_bytes(std::string_view text);
[[nodiscard]] std::string format_bytes(std::int64_t bytes);

// "1GiB/s", "10Gbit/s" -> bytes per second; "500/s" -> units per second.
[[nodiscard]] Result<std::int64_t> parse_rate(std::string_view text);
[[nodiscard]] std::string format_rate(std::int64_t bytes_per_second);

// "0.5" -> 500 at scale 1000: an exact decimal in units of 1/scale (scale a power of ten).
[[nodiscard]] Result<std::int64_t> parse_decimal(std::string_view text, std::int64_t scale);
[[nodiscard]] std::string format_decimal(std::int64_t value, std::int64_t scale);

// round half up of a * b / c without overflow of the product; c > 0, result must fit int64.
[[nodiscard]] std::int64_t mul_div_round(std::int64_t a, std::int64_t b, std::int64_t c);

}  // namespace rehearse::model
