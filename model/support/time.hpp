// Virtual time. Both types are signed 64-bit nanoseconds; instants count from 0 (scenario.md 1, 4).
#pragma once

#include <cstdint>
#include <limits>

namespace rehearse::model {

using Instant = std::int64_t;
using Duration = std::int64_t;

inline constexpr Duration nanosecond = 1;
inline constexpr Duration microsecond = 1'000;
inline constexpr Duration millisecond = 1'000'000;
inline constexpr Duration second = 1'000'000'000;
inline constexpr Instant instant_max = std::numeric_limits<std::int64_t>::max();

}  // namespace rehearse::model
