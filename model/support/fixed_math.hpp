// Elementary functions in fixed point, with integers only, so that a draw has the same bits on
// every machine, compiler and standard library. Knows nothing of distributions.
//
// Format: Fixed is a signed 64-bit integer that counts units of 2^-48 (Q15.48), about +-32'768
// with a resolution of 3.6e-15. Unless said otherwise the absolute error is below 2^-40, which
// tests/unit/model/fixed_math_test.cpp holds against long double arithmetic; the tables reach
// about 2^-43. Functions are pure and allocate nothing.
#pragma once

#include <cstdint>

namespace rehearse::model {

using Fixed = std::int64_t;

inline constexpr int fixed_bits = 48;
inline constexpr Fixed fixed_one = Fixed{1} << fixed_bits;
inline constexpr Fixed fixed_ln2 = 195'103'586'505'167;    // ln 2
inline constexpr Fixed fixed_log2e = 406'082'553'034'800;  // log2 e

// 128-bit integers for products; the compilers' extension under names of ours.
__extension__ using WideUint = unsigned __int128;
__extension__ using WideInt = __int128;

// log2 and ln of a positive integer: 0 to 64, 0 to 44.4.
[[nodiscard]] Fixed log2(std::uint64_t x);
[[nodiscard]] Fixed ln(std::uint64_t x);

// -log2 of the uniform number (bits + 1/2) / 2^64: 0 to 65.
[[nodiscard]] Fixed negative_log2_uniform(std::uint64_t bits);

// 2^x and e^x. Below 2^-49 they are 0; x must be below 15 and 10.39, so that the result fits.
// The error of e^x is that of 2^x plus that of x log2 e, below 2^-40 for results up to 32.
[[nodiscard]] Fixed exp2(Fixed x);
[[nodiscard]] Fixed exp(Fixed x);

// value * 2^exponent, rounded half up, error below 1/2 + value * 2^(exponent - 52). `value` is 0 or
// more; what does not fit becomes the greatest int64.
[[nodiscard]] std::int64_t multiply_exp2(std::int64_t value, Fixed exponent);

// z with Phi(z) = (bits + 1/2) / 2^64, Phi the standard normal distribution function. Between -9.16
// and 9.16; normal_quantile(~bits) is exactly -normal_quantile(bits).
[[nodiscard]] Fixed normal_quantile(std::uint64_t bits);

// Phi(z) in units of 2^-64, rounded to a bit pattern at which normal_quantile is z. For means, not
// for draws: it searches, and takes half a microsecond.
[[nodiscard]] std::uint64_t normal_probability(Fixed z);

// a * b of two Fixed, rounded half up; the product must fit.
[[nodiscard]] constexpr Fixed multiply(Fixed a, Fixed b) {
  return static_cast<Fixed>((WideInt{a} * b + (fixed_one >> 1)) >> fixed_bits);
}

// The high half of a * b: maps uniform bits `a` onto 0 ... b - 1.
[[nodiscard]] constexpr std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((WideUint{a} * b) >> 64);
}

}  // namespace rehearse::model
