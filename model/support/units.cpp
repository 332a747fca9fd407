// Reading and writing of durations, byte counts, rates and decimals as exact integers. Where a
// value stands in a file, and whether it makes sense there, is the caller's business.
#include "model/support/units.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>
#include <span>

#include "model/support/check.hpp"

namespace rehearse::model {

namespace {

__extension__ using Wide = __int128;

constexpr Wide int64_max = std::numeric_limits<std::int64_t>::max();
constexpr Wide wide_limit = Wide{1} << 120;

struct Unit {
  std::string_view name;
  std::int64_t size;
};

constexpr std::array<Unit, 6> duration_units{{{"h", 3600 * second},
                                              {"m", 60 * second},
                                              {"s", second},
                                              {"ms", millisecond},
                                              {"us", microsecond},
                                              {"ns", nanosecond}}};

constexpr std::int64_t kilo = 1000;
constexpr std::int64_t kibi = 1024;
// Binary before decimal, great before small: the order in which equally short texts are preferred.
constexpr std::array<Unit, 12> byte_units{{{"PiB", kibi* kibi* kibi* kibi* kibi},
                                           {"TiB", kibi* kibi* kibi* kibi},
                                           {"GiB", kibi* kibi* kibi},
                                           {"MiB", kibi* kibi},
                                           {"KiB", kibi},
                                           {"PB", kilo* kilo* kilo* kilo* kilo},
                                           {"TB", kilo* kilo* kilo* kilo},
                                           {"GB", kilo* kilo* kilo},
                                           {"MB", kilo* kilo},
                                           {"KB", kilo},
                                           {"kB", kilo},
                                           {"B", 1}}};

constexpr std::array<Unit, 5> bit_units{{{"Tbit", kilo* kilo* kilo* kilo},
                                         {"Gbit", kilo* kilo* kilo},
                                         {"Mbit", kilo* kilo},
                                         {"Kbit", kilo},
                                         {"bit", 1}}};

std::unexpected<Error> bad(std::string what, std::string remedy) {
  return std::unexpected(Error{.what = std::move(what), .remedy = std::move(remedy)});
}

// At most 60 characters of what a user wrote, for messages.
std::string shown(std::string_view text) {
  constexpr std::size_t shown_max = 60;
  return fmt::format("\"{}{}\"", text.substr(0, shown_max), text.size() > shown_max ? "..." : "");
}

// A plain decimal as digits and the number of them behind the point.
struct Digits {
  Wide value = 0;
  int behind_point = 0;
  bool negative = false;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "12", "1.5", "-0.25"; nothing if it is not of that form or has too many digits.
std::optional<Digits> parse_digits(std::string_view text) {
  Digits digits;
  if (!text.empty() && text.front() == '-') {
    digits.negative = true;
    text.remove_prefix(1);
  }
  if (text.empty() || !is_digit(text.front()) || !is_digit(text.back())) {
    return std::nullopt;
  }
  bool point = false;
  for (const char c : text) {
    if (c == '.') {
      if (point) {
        return std::nullopt;
      }
      point = true;
      continue;
    }
    if (!is_digit(c) || digits.value > wide_limit / 16) {
      return std::nullopt;
    }
    digits.value = digits.value * 10 + (c - '0');
    digits.behind_point += point ? 1 : 0;
  }
  return digits;
}

enum class Inexact : std::uint8_t { no_number, not_whole, too_large };

// digits x size, when that is a whole number of at most 2^63 - 1.
std::expected<std::int64_t, Inexact> scaled(const Digits& digits, std::int64_t size) {
  Wide value = digits.value;
  int behind_point = digits.behind_point;
  while (behind_point > 0 && value % 10 == 0) {
    value /= 10;
    --behind_point;
  }
  Wide divisor = 1;
  for (int i = 0; i < behind_point; ++i) {
    if (divisor > wide_limit / 16) {
      return std::unexpected(Inexact::not_whole);
    }
    divisor *= 10;
  }
  // Reduced first, so that the product stays small: most of a long fraction cancels.
  const Wide whole = value / divisor;
  const Wide rest = value % divisor;
  if (whole > int64_max / size) {
    return std::unexpected(Inexact::too_large);
  }
  if (rest > wide_limit / size || rest * size % divisor != 0) {
    return std::unexpected(Inexact::not_whole);
  }
  const Wide result = whole * size + rest * size / divisor;
  if (result > int64_max) {
    return std::unexpected(Inexact::too_large);
  }
  return static_cast<std::int64_t>(digits.negative ? -result : result);
}

// Splits "1.5GiB" into its number and its unit.
std::size_t number_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() &&
         (is_digit(text[length]) || text[length] == '.' || text[length] == '-')) {
    ++length;
  }
  return length;
}

const Unit* find_unit(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) {
      return &unit;
    }
  }
  return nullptr;
}

std::string trimmed_decimal(std::int64_t value, std::int64_t size) {
  // The fraction is finite: every size used here divides a power of ten, or the caller checked.
  std::string text = fmt::format("{}", value / size);
  Wide rest = value % size;
  if (rest != 0) {
    text += '.';
    while (rest != 0) {
      rest *= 10;
      text += static_cast<char>('0' + static_cast<int>(rest / size));
      rest %= size;
    }
  }
  return text;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  constexpr std::string_view form = "write a number with a unit: 250us, 10ms, 1.5s, 2m, 1h";
  if (text == "0") {
    return 0;
  }
  const std::size_t length = number_length(text);
  const std::optional<Digits> digits = parse_digits(text.substr(0, length));
  if (!digits) {
    return bad(shown(text) + " is not a duration", std::string(form));
  }
  if (length == text.size()) {
    return bad(shown(text) + " has no unit", fmt::format("write {}ms or {}s", text, text));
  }
  const Unit* unit = find_unit(duration_units, text.substr(length));
  if (unit == nullptr) {
    return bad(fmt::format("{} has an unknown unit", shown(text)), "units are ns us ms s m h");
  }
  if (digits->negative) {
    return bad(shown(text) + " is negative", "durations and instants count from 0");
  }
  const auto value = scaled(*digits, unit->size);
  if (!value) {
    return value.error() == Inexact::too_large
               ? bad(shown(text) + " does not fit 64-bit nanoseconds",
                     "the greatest duration is about 292 years")
               : bad(shown(text) + " is not a whole number of nanoseconds", std::string(form));
  }
  return *value;
}

std::string format_duration(Duration duration) {
  if (duration == 0) {
    return "0s";
  }
  if (duration < 0) {  // only differences are negative; they are shown, never read back
    return duration == std::numeric_limits<Duration>::min() ? fmt::format("{}ns", duration)
                                                            : "-" + format_duration(-duration);
  }
  for (const Unit& unit : duration_units) {
    const bool decimal = unit.size <= second;
    if (duration >= unit.size && (decimal || duration % unit.size == 0)) {
      return trimmed_decimal(duration, unit.size) + std::string(unit.name);
    }
  }
  RH_CHECK(false, duration);
}

Result<std::int64_t> parse_bytes(std::string_view text) {
  constexpr std::string_view form = "write 32KiB, 1.5GiB, 10MB or a whole number of bytes";
  const std::size_t length = number_length(text);
  const std::optional<Digits> digits = parse_digits(text.substr(0, length));
  const Unit* unit =
      length == text.size() ? &byte_units.back() : find_unit(byte_units, text.substr(length));
  if (!digits || unit == nullptr || digits->negative) {
    return bad(shown(text) + " is not a number of bytes", std::string(form));
  }
  const auto value = scaled(*digits, unit->size);
  if (!value) {
    return value.error() == Inexact::too_large
               ? bad(shown(text) + " is more than 2^63 - 1 bytes", std::string(form))
               : bad(shown(text) + " is not a whole number of bytes", std::string(form));
  }
  return *value;
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::int64_t parts = 1000;  // three digits behind the point at most
  std::string best = fmt::format("{}", bytes);
  for (const Unit& unit : byte_units) {
    if (bytes < unit.size || unit.size == 1 || unit.name == "kB") {
      continue;
    }
    const Wide whole = Wide{bytes % unit.size} * parts;
    if (whole % unit.size != 0) {
      continue;
    }
    std::string text = trimmed_decimal(bytes, unit.size) + std::string(unit.name);
    if (text.size() < best.size()) {
      best = std::move(text);
    }
  }
  return best;
}

Result<std::int64_t> parse_rate(std::string_view text) {
  constexpr std::string_view form = "write 1GiB/s, 10Gbit/s or 500/s";
  if (!text.ends_with("/s")) {
    return bad(shown(text) + " is not a rate", std::string(form));
  }
  const std::string_view amount = text.substr(0, text.size() - 2);
  const std::size_t length = number_length(amount);
  if (const Unit* bits = find_unit(bit_units, amount.substr(length))) {
    const std::optional<Digits> digits = parse_digits(amount.substr(0, length));
    const auto value = digits ? scaled(*digits, bits->size) : std::unexpected(Inexact::no_number);
    if (!value || *value < 0 || *value % 8 != 0) {
      return bad(shown(text) + " is not a whole number of bytes per second", std::string(form));
    }
    return *value / 8;
  }
  Result<std::int64_t> bytes = parse_bytes(amount);
  if (!bytes) {
    return bad(shown(text) + " is not a rate", std::string(form));
  }
  return bytes;
}

std::string format_rate(std::int64_t bytes_per_second) {
  return format_bytes(bytes_per_second) + "/s";
}

Result<std::int64_t> parse_decimal(std::string_view text, std::int64_t scale) {
  const std::optional<Digits> digits = parse_digits(text);
  if (!digits) {
    return bad(shown(text) + " is not a plain decimal number",
               "write digits and at most one point: 2, 0.5; no exponent");
  }
  const auto value = scaled(*digits, scale);
  if (!value) {
    return value.error() == Inexact::too_large
               ? bad(shown(text) + " is too large",
                     fmt::format("the greatest value is {}", int64_max / scale))
               : bad(shown(text) + " has too many digits behind the point",
                     fmt::format("the smallest step is {}", format_decimal(1, scale)));
  }
  return *value;
}

std::string format_decimal(std::int64_t value, std::int64_t scale) {
  if (value >= 0) {
    return trimmed_decimal(value, scale);
  }
  RH_CHECK(value != std::numeric_limits<std::int64_t>::min());
  return "-" + trimmed_decimal(-value, scale);
}

std::int64_t mul_div_round(std::int64_t a, std::int64_t b, std::int64_t c) {
  RH_CHECK(c > 0, a, b, c);
  const Wide doubled = Wide{a} * b * 2 + c;
  Wide quotient = doubled / (Wide{c} * 2);
  if (doubled < 0 && doubled % (Wide{c} * 2) != 0) {
    --quotient;  // towards minus infinity, so that halves go up on both sides of 0
  }
  RH_CHECK(quotient <= int64_max && quotient >= -int64_max - 1, a, b, c);
  return static_cast<std::int64_t>(quotient);
}

}  // namespace rehearse::model
