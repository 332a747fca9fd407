// registry: none (formatting shared by the writers)
#include "reports/numbers.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string_view>

namespace rehearse::reports {
namespace {

Wide rounded(Wide a, Wide b) { return (a + b / 2) / b; }  // half up; a >= 0, b > 0

// value / unit with three significant digits, where 1 <= value / unit < 1000.
std::string three_digits(Wide value, Wide unit, std::string_view name) {
  if (value * 100 < unit * 999 + unit / 2) {
    const auto hundredths = static_cast<std::int64_t>(rounded(value * 100, unit));
    return fmt::format("{}.{:02} {}", hundredths / 100, hundredths % 100, name);
  }
  if (value * 10 < unit * 999 + unit / 2) {
    const auto tenths = static_cast<std::int64_t>(rounded(value * 10, unit));
    return fmt::format("{}.{} {}", tenths / 10, tenths % 10, name);
  }
  return fmt::format("{} {}", static_cast<std::int64_t>(rounded(value, unit)), name);
}

std::string two_units(Wide value, Wide unit, std::string_view small, std::int64_t per_big,
                      std::string_view big) {
  const auto count = static_cast<std::int64_t>(rounded(value, unit));
  return fmt::format("{} {} {:02} {}", count / per_big, big, count % per_big, small);
}

std::string magnitude(Wide value) {
  constexpr Wide us = 1000;
  constexpr Wide ms = 1000 * us;
  constexpr Wide s = 1000 * ms;
  constexpr Wide min = 60 * s;
  constexpr Wide hour = 60 * min;
  if (value == 0) {
    return "0 s";
  }
  if (value < us) {
    return fmt::format("{} ns", static_cast<std::int64_t>(value));
  }
  if (value * 2 < ms * 2 - us) {
    return three_digits(value, us, "us");
  }
  if (value * 2 < s * 2 - ms) {
    return three_digits(value, ms, "ms");
  }
  if (value * 2 < 2 * min * 2 - s) {
    return three_digits(value, s, "s");
  }
  if (value * 2 < 2 * hour * 2 - s) {
    return two_units(value, s, "s", 60, "min");
  }
  if (value * 2 < 48 * hour * 2 - min) {
    return two_units(value, min, "min", 60, "h");
  }
  return two_units(value, hour, "h", 24, "d");
}

Wide absolute(Wide value) { return value < 0 ? -value : value; }

}  // namespace

std::string duration_text(model::Duration duration) {
  const std::string text = magnitude(absolute(duration));
  return duration < 0 ? "-" + text : text;
}

std::string count_text(std::int64_t count, bool separators) {
  std::string text = fmt::format("{}", count);
  if (!separators) {
    return text;
  }
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string slot_time_text(Wide slot_ns, bool separators) {
  const Wide tenths = rounded(absolute(slot_ns), 100'000'000);
  return fmt::format("{}.{} slot s", count_text(saturated(tenths / 10), separators),
                     static_cast<int>(tenths % 10));
}

std::string share_text(Wide part, Wide whole) {
  if (whole == 0) {
    return "-";
  }
  const std::int64_t permille = saturated(rounded(part * 1000, whole));
  return fmt::format("{}.{}%", permille / 10, permille % 10);
}

std::string change_text(Wide before, Wide after) {
  if (before == after) {
    return "0.0%";
  }
  if (before == 0) {
    return "-";
  }
  const char sign = after > before ? '+' : '-';
  const Wide distance = absolute(after - before);
  const std::int64_t permille = saturated(rounded(distance * 1000, before));
  if (permille >= 10) {
    return fmt::format("{}{}.{}%", sign, permille / 10, permille % 10);
  }
  const std::int64_t fine = saturated(rounded(distance * 10'000, before));
  return fmt::format("{}{}.{:02}%", sign, fine / 100, fine % 100);
}

std::string speedup_text(Wide before, Wide after) {
  if (after == 0) {
    return "-";
  }
  const std::int64_t hundredths = saturated(rounded(before * 100, after));
  return fmt::format("{}.{:02}x", hundredths / 100, hundredths % 100);
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::int64_t saturated(Wide value) {
  constexpr std::int64_t low = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max();
  return value < low ? low : value > high ? high : static_cast<std::int64_t>(value);
}

}  // namespace rehearse::reports
