// Goal: the first 1'000 draws of each distribution are pinned, for good; samples follow the
// distribution they are named after; means are those of the samples, cap included.
// Method: pins by hash and by the first eight values; quantiles and means against libm.
#include "model/support/distribution.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "model/support/draw.hpp"

namespace {

namespace model = rehearse::model;
using model::Distribution;
using model::Duration;
using model::millisecond;

constexpr Duration most = std::numeric_limits<Duration>::max();

Distribution capped(Distribution distribution, Duration cap_ns) {
  distribution.cap_ns = cap_ns;
  return distribution;
}

std::uint64_t bits_of(std::uint32_t partition) {
  static const model::DrawKey key = model::draw_key({.seed = 42,
                                                     .purpose = model::DrawPurpose::duration,
                                                     .job = model::job_key("q"),
                                                     .stage = model::name_key("map")});
  return model::draw(key, {.partition = partition});
}

struct Pin {
  const char* name;
  Distribution distribution;
  std::uint64_t hash;  // of the first 1'000 samples, by mixed_in
  std::array<Duration, 8> first;
};

std::uint64_t mixed_in(std::uint64_t hash, Duration value) {
  return (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15U + (hash >> 29);
}

std::vector<Pin> pins() {
  return {
      {"fixed",
       model::fixed_distribution(100 * millisecond),
       0x27f5410c9717fe13U,
       {100'000'000, 100'000'000, 100'000'000, 100'000'000, 100'000'000, 100'000'000, 100'000'000,
        100'000'000}},
      {"lognormal",
       model::lognormal_distribution({.median_ns = 100 * millisecond, .sigma_e9 = 400'000'000}),
       0xe511af035282ea24U,
       {66'429'505, 58'676'337, 117'611'764, 70'859'010, 110'243'992, 186'910'260, 98'883'480,
        93'389'761}},
      {"wide lognormal",
       model::lognormal_distribution({.median_ns = 40 * millisecond, .sigma_e9 = 1'200'000'000}),
       0x06415b916c74e920U,
       {11'725'815, 8'080'700, 65'074'716, 14'231'322, 53'595'062, 261'191'728, 38'675'080,
        32'580'503}},
      {"exponential",
       model::exponential_distribution(100 * millisecond),
       0x10ba02eff582b973U,
       {16'635'579, 9'573'270, 107'137'365, 21'637'313, 90'711'492, 283'105'962, 67'100'056,
        56'585'081}},
      {"uniform",
       model::uniform_distribution({.min_ns = 50 * millisecond, .max_ns = 150 * millisecond}),
       0xe8c662d0f9942569U,
       {65'325'508, 59'129'311, 115'746'233, 69'456'529, 109'631'278, 144'104'965, 98'880'316,
        93'212'322}},
      {"pareto",
       model::pareto_distribution({.min_ns = 30 * millisecond, .alpha_e9 = 1'500'000'000}),
       0xd997d60cffa2bb4cU,
       {33'518'625, 31'977'073, 61'279'568, 34'655'143, 54'923'464, 198'060'088, 46'924'085,
        43'747'360}},
      {"capped pareto",
       capped(model::pareto_distribution({.min_ns = 10 * millisecond, .alpha_e9 = 900'000'000}),
              1'000 * millisecond),
       0x6a142d2dc0ad7b49U,
       {12'030'257, 11'122'330, 32'884'462, 12'717'763, 27'398'563, 232'341'179, 21'076'133,
        18'752'146}},
      {"empirical",
       model::empirical_distribution(
           {80 * millisecond, 5 * millisecond, 240 * millisecond, 80 * millisecond, 7}),
       0x5cdc0f936a67d1bdU,
       {80'000'000, 80'000'000, 80'000'000, 80'000'000, 240'000'000, 7, 240'000'000, 240'000'000}},
  };
}

// Within two roundings to ns and 1e-7 of the exact value.
bool agrees(double got, long double exact) {
  return std::fabs(static_cast<long double>(got) - exact) <= 2 + 1e-7L * exact;
}

// Bits in the middle of the i-th of n equal parts of all bits.
std::uint64_t stratum(std::uint64_t i, std::uint64_t n) {
  const std::uint64_t width = ~std::uint64_t{0} / n;
  return width * i + width / 2;
}

long double probability_of(std::uint64_t bits) {
  return std::ldexp(static_cast<long double>(bits) + 0.5L, -64);
}

double mean_of_strata(const Distribution& distribution) {
  constexpr std::uint64_t strata = 200'000;
  long double sum = 0;
  for (std::uint64_t i = 0; i < strata; ++i) {
    sum += static_cast<long double>(model::sample(distribution, stratum(i, strata)));
  }
  return static_cast<double>(sum / strata);
}

double mean_of(const Distribution& distribution) {
  return static_cast<double>(model::mean_ns(distribution).value());
}

// E min(X, cap) of a lognormal, in closed form.
long double lognormal_mean(long double median, long double sigma, long double cap) {
  const auto below = [](long double z) {
    return std::erfc(-z / std::numbers::sqrt2_v<long double>) / 2;
  };
  const long double place = std::log(cap / median) / sigma;
  return median * std::exp(sigma * sigma / 2) * below(place - sigma) + cap * below(-place);
}

// E min(X, cap) of a Pareto distribution, in closed form.
long double pareto_mean(long double minimum, long double alpha, long double cap) {
  const long double ratio = std::log(cap / minimum);
  const long double y = (alpha - 1) * ratio;
  return minimum + minimum * ratio * (y == 0 ? 1 : -std::expm1(-y) / y);
}

}  // namespace

TEST_CASE("the first 1'000 draws of each distribution are pinned") {
  for (const Pin& pin : pins()) {
    CAPTURE(pin.name);
    std::uint64_t hash = 0;
    for (std::uint32_t i = 0; i < 1'000; ++i) {
      const Duration value = model::sample(pin.distribution, bits_of(i));
      hash = mixed_in(hash, value);
      if (i < pin.first.size()) {
        CHECK(value == pin.first[i]);
      }
    }
    CHECK(hash == pin.hash);
  }
}

TEST_CASE("samples are the inverse of the cumulative distribution") {
  const Distribution lognormal =
      model::lognormal_distribution({.median_ns = 100 * millisecond, .sigma_e9 = 400'000'000});
  const Distribution exponential = model::exponential_distribution(100 * millisecond);
  const Distribution pareto =
      model::pareto_distribution({.min_ns = 10 * millisecond, .alpha_e9 = 1'500'000'000});
  const Distribution uniform =
      model::uniform_distribution({.min_ns = 10 * millisecond, .max_ns = 20 * millisecond});
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const std::uint64_t bits = stratum(i, 10'000);
    const long double p = probability_of(bits);
    const auto got = [&](const Distribution& d) {
      return static_cast<double>(model::sample(d, bits));
    };
    REQUIRE(agrees(got(exponential), -1e8L * std::log1p(-p)));
    REQUIRE(agrees(got(pareto), 1e7L * std::pow(1 - p, -1 / 1.5L)));
    REQUIRE(agrees(got(uniform), 1e7L + 1e7L * p));
    const long double z = std::log(static_cast<long double>(got(lognormal)) / 1e8L) / 0.4L;
    REQUIRE(std::fabs(std::erfc(-z / std::numbers::sqrt2_v<long double>) / 2 - p) < 1e-7L);
  }
}

TEST_CASE("drawn samples have the mean and the median of their distribution") {
  for (const Pin& pin : pins()) {
    CAPTURE(pin.name);
    const double mean = mean_of(pin.distribution);
    constexpr std::uint32_t count = 200'000;
    double sum = 0;
    std::uint32_t below_median = 0;
    const Duration median = model::sample(pin.distribution, std::uint64_t{1} << 63);
    for (std::uint32_t i = 0; i < count; ++i) {
      const Duration value = model::sample(pin.distribution, bits_of(i));
      sum += static_cast<double>(value);
      below_median += value < median ? 1 : 0;
    }
    // The heaviest tail of the list (alpha 1.5) has no variance: 5% is generous for the others.
    CHECK(sum / count == doctest::Approx(mean).epsilon(0.05));
    if (pin.distribution.kind != model::DistributionKind::empirical) {  // not in order of value
      CHECK(below_median <= count / 2 + 1'200);                         // five deviations
    }
  }
}

TEST_CASE("means of what is not capped") {
  using model::lognormal_distribution;
  using model::pareto_distribution;
  CHECK(model::mean_ns(model::fixed_distribution(7)) == 7);
  CHECK(model::mean_ns(model::exponential_distribution(7)) == 7);
  CHECK(model::mean_ns(model::uniform_distribution({.min_ns = 3, .max_ns = 4})) == 4);
  CHECK(model::mean_ns(model::uniform_distribution({.min_ns = 0, .max_ns = most})) == most / 2 + 1);
  CHECK(model::mean_ns(model::empirical_distribution({1, 2, 6, 2})) == 3);
  CHECK(model::mean_ns(model::empirical_distribution({most, most})) == most);
  CHECK(model::mean_ns(pareto_distribution({.min_ns = 100, .alpha_e9 = 1'500'000'000})) == 300);
  CHECK(model::mean_ns(pareto_distribution({.min_ns = most, .alpha_e9 = 1'000'000'001})) == most);
  CHECK_FALSE(model::mean_ns(pareto_distribution({.min_ns = 1, .alpha_e9 = 1'000'000'000})));
  CHECK_FALSE(model::mean_ns(pareto_distribution({.min_ns = 1, .alpha_e9 = 1})));
  CHECK(mean_of(lognormal_distribution({.median_ns = 1'000'000'000, .sigma_e9 = 1'500'000'000})) ==
        doctest::Approx(1e9 * std::exp(1.125)).epsilon(1e-9));
  CHECK(model::mean_ns(lognormal_distribution({.median_ns = 7, .sigma_e9 = 0})) == 7);
  CHECK(model::mean_ns(lognormal_distribution({.median_ns = 1, .sigma_e9 = most})) == most);
  CHECK(model::mean_ns(lognormal_distribution({.median_ns = 0, .sigma_e9 = most})) == 0);
}

TEST_CASE("means of what is capped, exact kinds") {
  CHECK(model::mean_ns(capped(model::fixed_distribution(7), 5)) == 5);
  CHECK(model::mean_ns(capped(model::empirical_distribution({1, 2, 6, 9}), 3)) == 2);  // 9 / 4
  const Distribution one_to_ten = model::uniform_distribution({.min_ns = 1, .max_ns = 10});
  CHECK(model::mean_ns(capped(one_to_ten, 10)) == 6);  // 5.5
  CHECK(model::mean_ns(capped(one_to_ten, 4)) == 3);   // (1 + 2 + 3 + 7 * 4) / 10 = 3.4
  CHECK(model::mean_ns(capped(one_to_ten, 1)) == 1);
  CHECK(model::mean_ns(capped(one_to_ten, 0)) == 0);
}

TEST_CASE("means of what is capped, against closed forms over wide parameters") {
  for (const Duration base : {1'000'000LL, 100'000'000LL, 3'000'000'000'000LL}) {
    const auto real_base = static_cast<long double>(base);
    for (const std::int64_t cap_percent : {1, 50, 99, 100, 101, 150, 1'000, 100'000, 100'000'000}) {
      const Duration cap = base / 100 * cap_percent;
      const auto real_cap = static_cast<long double>(cap);
      CAPTURE(base);
      CAPTURE(cap_percent);
      const Distribution exponential = capped(model::exponential_distribution(base), cap);
      CHECK(agrees(mean_of(exponential), -real_base * std::expm1(-real_cap / real_base)));
      for (const std::int64_t shape_e9 : {1'000'000LL, 100'000'000LL, 400'000'000LL, 999'999'000LL,
                                          1'000'000'000LL, 1'000'001'000LL, 1'300'000'000LL,
                                          3'000'000'000LL, 10'000'000'000LL, 900'000'000'000LL}) {
        CAPTURE(shape_e9);
        const long double shape = static_cast<long double>(shape_e9) / 1e9L;
        const Distribution lognormal =
            capped(model::lognormal_distribution({.median_ns = base, .sigma_e9 = shape_e9}), cap);
        if (shape_e9 <= 10'000'000'000LL) {
          CHECK(agrees(mean_of(lognormal), lognormal_mean(real_base, shape, real_cap)));
        } else {
          CHECK(mean_of(lognormal) <= static_cast<double>(cap));
        }
        const Distribution pareto =
            capped(model::pareto_distribution({.min_ns = base, .alpha_e9 = shape_e9}), cap);
        const long double pareto_exact =
            cap < base ? real_cap : pareto_mean(real_base, shape, real_cap);
        CHECK(agrees(mean_of(pareto), pareto_exact));
      }
    }
  }
}

TEST_CASE("means of what is capped are means of the samples") {
  for (const Duration cap : {20 * millisecond, 100 * millisecond, 300 * millisecond}) {
    for (const Pin& pin : pins()) {
      CAPTURE(pin.name);
      CAPTURE(cap);
      const Distribution distribution = capped(pin.distribution, cap);
      CHECK(mean_of(distribution) == doctest::Approx(mean_of_strata(distribution)).epsilon(1e-4));
    }
  }
}

TEST_CASE("samples are in range at both ends of the bits and for extreme parameters") {
  const std::vector<Distribution> extremes{
      model::fixed_distribution(most),
      model::lognormal_distribution({.median_ns = most, .sigma_e9 = most}),
      model::lognormal_distribution({.median_ns = 1, .sigma_e9 = 1'000'000'000'000}),
      model::lognormal_distribution({.median_ns = 0, .sigma_e9 = most}),
      model::exponential_distribution(most),
      model::exponential_distribution(0),
      model::uniform_distribution({.min_ns = 0, .max_ns = most}),
      model::uniform_distribution({.min_ns = most, .max_ns = most}),
      model::pareto_distribution({.min_ns = most, .alpha_e9 = 1}),
      model::pareto_distribution({.min_ns = 1, .alpha_e9 = most}),
      model::empirical_distribution({0, most}),
  };
  for (const Distribution& distribution : extremes) {
    CHECK_FALSE(model::defect_of(distribution));
    Duration before = 0;
    for (const std::uint64_t bits :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 62, (std::uint64_t{1} << 63) - 1,
          std::uint64_t{1} << 63, ~std::uint64_t{0} - 1, ~std::uint64_t{0}}) {
      const Duration value = model::sample(distribution, bits);
      CHECK(value >= before);
      before = value;
      const Duration limited = model::sample(capped(distribution, 5), bits);
      CHECK(limited == std::min<Duration>(value, 5));
    }
    if (const auto mean = model::mean_ns(capped(distribution, 5))) {
      CHECK(*mean >= 0);
      CHECK(*mean <= 5);
    }
  }
  const auto highest = ~std::uint64_t{0};
  CHECK(model::sample(extremes[1], highest) == most);
  CHECK(model::sample(extremes[1], 0) == 0);
  CHECK(model::sample(extremes[4], highest) == most);
  CHECK(model::sample(extremes[6], highest) == most);
  CHECK(model::sample(extremes[8], highest) == most);
  CHECK(model::sample(model::uniform_distribution({.min_ns = 3, .max_ns = 9}), 0) == 3);
  CHECK(model::sample(model::uniform_distribution({.min_ns = 3, .max_ns = 9}), highest) == 9);
}

TEST_CASE("defects are named, and equality compares every part") {
  CHECK_FALSE(model::defect_of(Distribution{}));
  CHECK(model::defect_of(model::fixed_distribution(-1)) == "a duration below 0");
  CHECK(model::defect_of(model::empirical_distribution({1, -1})) == "a duration below 0");
  CHECK(model::defect_of(model::empirical_distribution({})) == "no values");
  CHECK(model::defect_of(capped(Distribution{}, -1)) == "a cap below 0");
  CHECK(model::defect_of(model::lognormal_distribution({.median_ns = 1, .sigma_e9 = -1})) ==
        "sigma below 0");
  CHECK(model::defect_of(model::pareto_distribution({.min_ns = 1, .alpha_e9 = 0})) ==
        "alpha not above 0");
  CHECK(model::defect_of(model::uniform_distribution({.min_ns = 2, .max_ns = 1})) ==
        "min above max");

  CHECK(Distribution{} == model::fixed_distribution(0));
  CHECK(model::fixed_distribution(1) != model::exponential_distribution(1));
  CHECK(model::fixed_distribution(1) != capped(model::fixed_distribution(1), 1));
  CHECK(model::empirical_distribution({1, 2}) != model::empirical_distribution({2, 1}));
}
