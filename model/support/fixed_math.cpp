// Piecewise polynomials over tables. Each function finds its segment from the leading bits of the
// argument and evaluates one polynomial of degree six in what is left of them; there is no loop
// whose length depends on the argument, except in normal_probability.
#include "model/support/fixed_math.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "model/support/check.hpp"
#include "model/support/fixed_math_tables.hpp"

namespace rehearse::model {

namespace {

constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
// Octaves of p that normal_quantile reads directly; below 2^-(1 + octaves) it goes by log2.
constexpr int quantile_octaves = 5;
constexpr int quantile_tail_first = 8;  // segments of y in [4, 6) that the table leaves out

// The high half of a product: a times the fraction b / 2^64.
inline std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>((WideInt{a} * b) >> 64);
}

// The polynomial of `segment` at t = position / 2^64, in the table's scale. Pairs first, then pairs
// of pairs: the products do not wait for each other.
inline std::int64_t evaluate(const tables::Segment& segment, std::int64_t position) {
  const auto& c = segment.coefficients;
  const std::int64_t square = times(position, position);
  const std::int64_t low = c[0] + times(c[1], position);
  const std::int64_t middle = c[2] + times(c[3], position);
  const std::int64_t high = c[4] + times(c[5], position) + times(c[6], square);
  return low + times(middle + times(high, square), square);
}

// What follows the leading bits, as a place between -2^63 and 2^63: a signed number keeps the
// products signed, for which the machine has one instruction.
inline std::int64_t position_of(std::uint64_t fraction) {
  return static_cast<std::int64_t>(fraction ^ (std::uint64_t{1} << 63));
}

// The fraction of log2 of a mantissa (bit 63 set), in log2_scale.
inline std::int64_t log2_fraction(std::uint64_t mantissa) {
  const std::size_t segment = (mantissa >> 58) & 31U;
  return evaluate(tables::log2_segments[segment], position_of(mantissa << 6));
}

// 2^fraction for fraction / 2^48 in [0, 1), in exp2_scale.
inline std::int64_t exp2_mantissa(std::uint64_t fraction) {
  const std::size_t segment = fraction >> (fixed_bits - 4);
  return evaluate(tables::exp2_segments[segment], position_of(fraction << (64 - fixed_bits + 4)));
}

inline Fixed round_scale(std::int64_t value, int scale) {
  const int drop = scale - fixed_bits;
  return (value + (std::int64_t{1} << (drop - 1))) >> drop;
}

// -quantile(odd / 2^65) where odd < 2^59, in quantile_scale. Out of line: one draw in 32.
[[gnu::noinline]] std::int64_t quantile_tail(std::uint64_t odd, int leading_zeros) {
  const std::int64_t fraction = log2_fraction(odd << leading_zeros);
  // y = 65 - log2(odd) in units of 2^-57, so that 65 fits 64 bits. At least 6, but for the error
  // of the logarithm.
  const std::uint64_t exact = (static_cast<std::uint64_t>(2 + leading_zeros) << 57) -
                              static_cast<std::uint64_t>(fraction >> 1);
  const std::uint64_t y = std::max(exact, std::uint64_t{6} << 57);
  const int shift = std::countl_zero(y);  // 4 for [4, 8), 0 for [64, 128)
  const std::uint64_t mantissa = y << shift;
  const auto octave = static_cast<std::size_t>(4 - shift);
  const std::size_t segment = octave * 16 + ((mantissa >> 59) & 15U) - quantile_tail_first;
  return evaluate(tables::quantile_tail_segments[segment], position_of(mantissa << 5));
}

}  // namespace

Fixed log2(std::uint64_t x) {
  RH_CHECK(x != 0);
  const int leading_zeros = std::countl_zero(x);
  const Fixed whole = Fixed{63 - leading_zeros} << fixed_bits;
  return whole + round_scale(log2_fraction(x << leading_zeros), tables::log2_scale);
}

Fixed ln(std::uint64_t x) { return multiply(log2(x), fixed_ln2); }

Fixed negative_log2_uniform(std::uint64_t bits) {
  // With bit 63 set the half is below the resolution of the result.
  const bool upper = (bits >> 63) != 0;
  const std::uint64_t scaled = upper ? bits : 2 * bits + 1;
  const Fixed whole = Fixed{upper ? 64 : 65} << fixed_bits;
  const Fixed result = whole - log2(scaled);
  return result < 0 ? 0 : result;
}

Fixed exp2(Fixed x) {
  const std::int64_t whole = x >> fixed_bits;
  if (whole < -fixed_bits - 1) {
    return 0;
  }
  RH_CHECK(whole < 15, x);
  const std::int64_t mantissa = exp2_mantissa(static_cast<std::uint64_t>(x & (fixed_one - 1)));
  // Between 62 (whole = -49) and -1 (whole = 14) bits to drop.
  const int drop = tables::exp2_scale - fixed_bits - static_cast<int>(whole);
  return drop > 0 ? (mantissa + (std::int64_t{1} << (drop - 1))) >> drop : mantissa << -drop;
}

Fixed exp(Fixed x) {
  const WideInt product = WideInt{x} * fixed_log2e + (fixed_one >> 1);
  return exp2(static_cast<Fixed>(product >> fixed_bits));
}

std::int64_t multiply_exp2(std::int64_t value, Fixed exponent) {
  RH_CHECK(value >= 0, value);
  const std::int64_t whole = exponent >> fixed_bits;
  if (value == 0 || whole < -64) {
    return 0;
  }
  if (whole > 62) {
    return int64_max;
  }
  const auto fraction = static_cast<std::uint64_t>(exponent & (fixed_one - 1));
  const auto mantissa = static_cast<std::uint64_t>(exp2_mantissa(fraction));
  const WideUint product = WideUint{static_cast<std::uint64_t>(value)} * mantissa;
  const int drop = tables::exp2_scale - static_cast<int>(whole);  // -1 to 125
  const WideUint rounded =
      drop > 0 ? (product + (WideUint{1} << (drop - 1))) >> drop : product << -drop;
  return rounded > WideUint{int64_max} ? int64_max : static_cast<std::int64_t>(rounded);
}

Fixed normal_quantile(std::uint64_t bits) {
  // All ones in the upper half, whose bits are mirrored; masks, because a branch on a random bit
  // is mispredicted every other time.
  const std::int64_t upper = static_cast<std::int64_t>(bits) >> 63;
  // The nearer tail holds the probability odd / 2^65, odd being any odd number.
  const std::uint64_t odd = 2 * (bits ^ static_cast<std::uint64_t>(upper)) + 1;
  const int leading_zeros = std::countl_zero(odd);
  std::int64_t distance = 0;
  if (leading_zeros < quantile_octaves) [[likely]] {
    const std::uint64_t mantissa = odd << leading_zeros;
    const auto octave = static_cast<std::size_t>(leading_zeros);
    const std::size_t segment = octave * 16 + ((mantissa >> 59) & 15U);
    distance = evaluate(tables::quantile_central_segments[segment], position_of(mantissa << 5));
  } else {
    distance = quantile_tail(odd, leading_zeros);
  }
  const Fixed z = round_scale(distance, tables::quantile_scale);
  return (z ^ ~upper) - ~upper;  // z in the upper half, else -z
}

std::uint64_t normal_probability(Fixed z) {
  std::uint64_t low = 0;
  std::uint64_t high = ~std::uint64_t{0};
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (normal_quantile(middle) < z) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace rehearse::model
