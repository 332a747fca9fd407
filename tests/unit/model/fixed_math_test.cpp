// Goal: every function of fixed_math is within the error its header states, over its whole domain.
// Method: a million points each, spread over all magnitudes, and all segment borders, against long
// double. The normal quantile has no such reference: one Newton step on erfcl gives its error.
#include "model/support/fixed_math.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "model/support/check.hpp"
#include "model/support/draw.hpp"

namespace {

using rehearse::model::Fixed;
using rehearse::model::fixed_one;
namespace model = rehearse::model;

constexpr int points = 1'000'000;
const long double error_max = std::ldexp(1.0L, -40);

long double real(Fixed value) { return std::ldexp(static_cast<long double>(value), -48); }

std::uint64_t random_bits(int index) {
  return model::draw({0x5eed}, {.partition = static_cast<std::uint32_t>(index)});
}

// Random bits of a random magnitude: leading zeros from 0 to 63 equally likely.
std::uint64_t any_magnitude(int index) {
  const std::uint64_t bits = random_bits(index);
  return (bits | (std::uint64_t{1} << 63)) >> (bits & 63U);
}

// Powers of two, the borders of 32 segments in each octave, and what is next to them.
std::vector<std::uint64_t> border_values() {
  std::vector<std::uint64_t> values;
  for (int shift = 0; shift < 64; ++shift) {
    for (std::uint64_t part = 32; part < 64; ++part) {
      const std::uint64_t border = (part << 58) >> shift;
      for (const std::uint64_t value : {border - 1, border, border + 1}) {
        if (value != 0) {
          values.push_back(value);
        }
      }
    }
  }
  values.push_back(std::numeric_limits<std::uint64_t>::max());
  return values;
}

// How far `z` is from the quantile at (bits + 1/2) / 2^64.
long double quantile_error(std::uint64_t bits, Fixed fixed_z) {
  const bool upper = (bits >> 63) != 0;
  const long double z = real(upper ? -fixed_z : fixed_z);  // of the nearer, lower tail
  const long double tail = static_cast<long double>(upper ? ~bits : bits) + 0.5L;
  const long double wanted = std::ldexp(tail, -64);
  const long double got = std::erfc(-z / std::numbers::sqrt2_v<long double>) / 2;
  const long double density = std::exp(-z * z / 2) * std::numbers::inv_sqrtpi_v<long double> /
                              std::numbers::sqrt2_v<long double>;
  return std::fabs((got - wanted) / density);
}

}  // namespace

TEST_CASE("log2 and ln are within 2^-40 over all positive integers") {
  long double log2_error = 0;
  long double ln_error = 0;
  const auto judge = [&](std::uint64_t x) {
    const auto exact = static_cast<long double>(x);
    log2_error = std::max(log2_error, std::fabs(real(model::log2(x)) - std::log2(exact)));
    ln_error = std::max(ln_error, std::fabs(real(model::ln(x)) - std::log(exact)));
  };
  for (int i = 0; i < points; ++i) {
    judge(any_magnitude(i));
  }
  for (const std::uint64_t x : border_values()) {
    judge(x);
  }
  INFO("log2 of the greatest error: ", static_cast<double>(std::log2(log2_error)));
  CHECK(log2_error < error_max);
  CHECK(ln_error < error_max);
  CHECK(model::log2(1) == 0);
  CHECK(model::log2(std::uint64_t{1} << 63) == 63 * fixed_one);
  CHECK_THROWS_AS((void)model::log2(0), model::InternalFault);
}

TEST_CASE("negative_log2_uniform is within 2^-40 of -log2((bits + 1/2) / 2^64)") {
  long double error = 0;
  const auto judge = [&](std::uint64_t bits) {
    const long double uniform = std::ldexp(static_cast<long double>(bits) + 0.5L, -64);
    error =
        std::max(error, std::fabs(real(model::negative_log2_uniform(bits)) + std::log2(uniform)));
  };
  for (int i = 0; i < points; ++i) {
    judge(any_magnitude(i));
    judge(~any_magnitude(i));
  }
  for (const std::uint64_t bits : border_values()) {
    judge(bits);
  }
  CHECK(error < error_max);
  CHECK(model::negative_log2_uniform(0) == 65 * fixed_one);
  CHECK(model::negative_log2_uniform(~std::uint64_t{0}) == 0);
}

TEST_CASE("exp2 is within 2^-40 for every exponent it takes, exp for results up to 32") {
  long double exp2_error = 0;
  long double exp_error = 0;
  const auto judge = [&](Fixed x) {
    exp2_error = std::max(exp2_error, std::fabs(real(model::exp2(x)) - std::exp2(real(x))));
    const Fixed natural = x / 3;  // up to 5: e^5 = 148
    if (real(natural) <= 5 * std::numbers::ln2_v<long double>) {
      exp_error =
          std::max(exp_error, std::fabs(real(model::exp(natural)) - std::exp(real(natural))));
    }
  };
  for (int i = 0; i < points; ++i) {
    const std::uint64_t offset =
        model::uniform_below(random_bits(i), 65U << 16) << 32 | (random_bits(i) & 0xffffffffU);
    judge(static_cast<Fixed>(offset) - 50 * fixed_one);
  }
  for (Fixed part = Fixed{-50} * 16; part < Fixed{15} * 16; ++part) {
    for (const Fixed nudge : {-1, 0, 1}) {
      judge(part * (fixed_one / 16) + nudge);
    }
  }
  INFO("log2 of the greatest error: ", static_cast<double>(std::log2(exp2_error)));
  CHECK(exp2_error < error_max);
  CHECK(exp_error < error_max);
  CHECK(model::exp2(0) == fixed_one);
  CHECK(model::exp2(-49 * fixed_one - 1) == 0);
  CHECK(model::exp2(std::numeric_limits<Fixed>::min()) == 0);
  CHECK_THROWS_AS((void)model::exp2(15 * fixed_one), model::InternalFault);
}

TEST_CASE("multiply_exp2 rounds half up and saturates") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(model::multiply_exp2(0, 100 * fixed_one) == 0);
  CHECK(model::multiply_exp2(12'345, 0) == 12'345);
  CHECK(model::multiply_exp2(most, 0) == most);
  CHECK(model::multiply_exp2(most, 1) == most);
  CHECK(model::multiply_exp2(1, 62 * fixed_one) == std::int64_t{1} << 62);
  CHECK(model::multiply_exp2(1, 63 * fixed_one) == most);
  CHECK(model::multiply_exp2(3, -fixed_one) == 2);
  CHECK(model::multiply_exp2(1, -fixed_one) == 1);
  CHECK(model::multiply_exp2(1, -2 * fixed_one) == 0);
  CHECK(model::multiply_exp2(most, -63 * fixed_one) == 1);
  CHECK(model::multiply_exp2(most, -65 * fixed_one) == 0);
  CHECK(model::multiply_exp2(7, std::numeric_limits<Fixed>::max()) == most);
  CHECK(model::multiply_exp2(7, std::numeric_limits<Fixed>::min()) == 0);
  CHECK_THROWS_AS((void)model::multiply_exp2(-1, 0), model::InternalFault);

  // The promise of the header: half a unit, and 2^-52 of the result.
  long double excess = 0;
  for (int i = 0; i < points; ++i) {
    const auto value = static_cast<std::int64_t>(any_magnitude(i) >> 1);
    const Fixed exponent =
        static_cast<Fixed>(model::uniform_below(random_bits(i), 40 * (1ULL << 48))) -
        20 * fixed_one;
    const std::int64_t got = model::multiply_exp2(value, exponent);
    const long double exact = static_cast<long double>(value) * std::exp2(real(exponent));
    if (exact < static_cast<long double>(most)) {
      const long double error = std::fabs(static_cast<long double>(got) - exact);
      excess = std::max(excess, (error - 0.5L) / exact);
    }
  }
  INFO("log2 of the greatest relative error: ", static_cast<double>(std::log2(excess)));
  CHECK(excess < std::ldexp(1.0L, -52));
}

TEST_CASE("normal_quantile is within 2^-40 in the middle and in both tails, and antisymmetric") {
  long double error = 0;
  const auto judge = [&](std::uint64_t bits) {
    const Fixed z = model::normal_quantile(bits);
    error = std::max(error, quantile_error(bits, z));
    REQUIRE(model::normal_quantile(~bits) == -z);
  };
  for (int i = 0; i < points; ++i) {
    judge(random_bits(i));
    judge(any_magnitude(i));
  }
  for (const std::uint64_t bits : border_values()) {
    judge(bits);
  }
  judge(0);
  INFO("log2 of the greatest error: ", static_cast<double>(std::log2(error)));
  CHECK(error < error_max);
  CHECK(real(model::normal_quantile(0)) == doctest::Approx(-9.15529));
}

TEST_CASE("normal_quantile grows with its bits up to its error, over all borders of segments") {
  std::vector<std::uint64_t> values = border_values();
  for (int i = 0; i < 100'000; ++i) {
    values.push_back(random_bits(i));
  }
  std::ranges::sort(values);
  Fixed before = model::normal_quantile(values.front());
  Fixed step_back_max = 0;
  for (const std::uint64_t bits : values) {
    const Fixed z = model::normal_quantile(bits);
    step_back_max = std::max(step_back_max, before - z);
    before = z;
  }
  CHECK(step_back_max <= fixed_one >> 40);
}

TEST_CASE("normal_probability inverts normal_quantile") {
  for (int i = 0; i < 2'000; ++i) {
    const auto z =
        static_cast<Fixed>(model::uniform_below(random_bits(i), 16ULL << 48)) - 8 * fixed_one;
    const long double got = std::ldexp(static_cast<long double>(model::normal_probability(z)), -64);
    const long double exact = std::erfc(-real(z) / std::numbers::sqrt2_v<long double>) / 2;
    REQUIRE(std::fabs(got - exact) < error_max);
  }
  CHECK(model::normal_probability(-10 * fixed_one) == 0);
  CHECK(model::normal_probability(10 * fixed_one) == ~std::uint64_t{0});
}

TEST_CASE("multiply rounds half up, multiply_high takes the high half") {
  CHECK(model::multiply(3 * fixed_one / 2, fixed_one / 2) == 3 * fixed_one / 4);
  CHECK(model::multiply(fixed_one / 2, 1) == 1);
  CHECK(model::multiply(-fixed_one / 2, 1) == 0);
  CHECK(model::multiply(-3 * fixed_one, 2 * fixed_one) == -6 * fixed_one);
  CHECK(model::multiply_high(~std::uint64_t{0}, 10) == 9);
  CHECK(model::multiply_high(0, 10) == 0);
}
