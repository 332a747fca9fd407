// Sampling by inversion and the means that go with it. Parameters are used as they are given; that
// they make sense is defect_of's word.
#include "model/support/distribution.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/support/check.hpp"
#include "model/support/fixed_math.hpp"
#include "model/support/units.hpp"

namespace rehearse::model {

namespace {

constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t sigma_e9_max = 1'000 * shape_scale;
// log2(e) / 1e9 in units of 2^-78: turns sigma in 1e-9 into an exponent of two.
constexpr std::int64_t log2e_e9_scaled = 436'027'821'190'163;
constexpr int log2e_e9_drop = 78 - fixed_bits;
constexpr Fixed small = fixed_one >> 10;  // below it three terms of a series are exact to 1e-10
constexpr Fixed normal_end = 9 * fixed_one + fixed_one / 4;  // beyond it no uniform number leads

std::int64_t saturate(WideInt value) {
  return value > WideInt{int64_max} ? int64_max : static_cast<std::int64_t>(value);
}

// a * b / c rounded half up; a, b >= 0, c > 0.
std::int64_t multiply_divide(std::int64_t a, std::int64_t b, std::int64_t c) {
  return saturate((WideInt{a} * b + c / 2) / c);
}

// value * factor rounded half up, both 0 or more.
std::int64_t scale(std::int64_t value, Fixed factor) {
  return saturate((WideInt{value} * factor + (fixed_one >> 1)) >> fixed_bits);
}

// sigma * log2(e), which makes an exponent of two out of a standard normal number.
Fixed sigma_log2e(std::int64_t sigma_e9) {
  const WideInt product = WideInt{std::min(sigma_e9, sigma_e9_max)} * log2e_e9_scaled;
  return static_cast<Fixed>(product >> log2e_e9_drop);
}

Duration sample_lognormal(const Distribution& d, std::uint64_t random_bits) {
  const Fixed z = normal_quantile(random_bits);
  return multiply_exp2(d.base_ns, multiply(z, sigma_log2e(d.shape_e9)));
}

Duration sample_pareto(const Distribution& d, std::uint64_t random_bits) {
  const Fixed level = negative_log2_uniform(~random_bits);
  return multiply_exp2(d.base_ns, multiply_divide(level, shape_scale, d.shape_e9));
}

Duration sample_uncapped(const Distribution& d, std::uint64_t random_bits) {
  switch (d.kind) {
    case DistributionKind::fixed:
      return d.base_ns;
    case DistributionKind::lognormal:
      return sample_lognormal(d, random_bits);
    case DistributionKind::exponential:
      return scale(d.base_ns, multiply(negative_log2_uniform(~random_bits), fixed_ln2));
    case DistributionKind::uniform: {
      const auto count = static_cast<std::uint64_t>(d.max_ns - d.base_ns) + 1;
      return d.base_ns + static_cast<Duration>(multiply_high(random_bits, count));
    }
    case DistributionKind::pareto:
      return sample_pareto(d, random_bits);
    case DistributionKind::empirical:
      RH_CHECK(!d.values_ns.empty());
      return d.values_ns[multiply_high(random_bits, d.values_ns.size())];
  }
  RH_CHECK(false, static_cast<std::int64_t>(d.kind));
  return 0;
}

// The mean of the integers min ... max when those above cap become cap.
Duration mean_uniform(const Distribution& d, Duration cap) {
  const Duration top = std::min(cap, d.max_ns);
  if (top <= d.base_ns) {
    return top;
  }
  const WideInt below = WideInt{top} - d.base_ns;  // integers from min to top - 1
  const WideInt count = WideInt{d.max_ns} - d.base_ns + 1;
  // Each integer's distance from min, doubled to stay whole: below * 126 bits at most.
  const WideInt doubled = below * (below - 1) + 2 * below * (count - below);
  return d.base_ns + static_cast<Duration>((doubled + count) / (2 * count));
}

Duration mean_empirical(const Distribution& d, Duration cap) {
  RH_CHECK(!d.values_ns.empty());
  WideInt sum = 0;
  for (const Duration value : d.values_ns) {
    sum += std::min(value, cap);
  }
  const auto count = static_cast<WideInt>(d.values_ns.size());
  return static_cast<Duration>((2 * sum + count) / (2 * count));
}

// (1 - e^-y) / y for y from -8 on.
Fixed decay_ratio(Fixed y) {
  if (y > -small && y < small) {
    return fixed_one - y / 2 + multiply(y, y) / 6;
  }
  const WideInt numerator = WideInt{fixed_one - exp(-y)} << fixed_bits;
  return static_cast<Fixed>(numerator / y);
}

// E min(X, c) = mean (1 - e^-(c / mean)).
Duration mean_exponential(const Distribution& d, Duration cap) {
  if (d.base_ns == 0 || cap / 64 >= d.base_ns) {
    return d.base_ns;
  }
  const auto ratio = static_cast<Fixed>((WideInt{cap} << fixed_bits) / d.base_ns);
  return scale(cap, decay_ratio(ratio));
}

// E min(X, c) = min + min * ln(c / min) * (1 - e^-y) / y with y = (alpha - 1) ln(c / min).
Duration mean_pareto_capped(const Distribution& d, Duration cap) {
  if (cap <= d.base_ns || d.base_ns == 0) {
    return std::min(cap, d.base_ns);
  }
  const Fixed log_ratio =
      ln(static_cast<std::uint64_t>(cap)) - ln(static_cast<std::uint64_t>(d.base_ns));
  const WideInt product = WideInt{d.shape_e9 - shape_scale} * log_ratio / shape_scale;
  if (product > WideInt{64} * fixed_one) {  // e^-y is 0
    const std::int64_t above = multiply_divide(d.base_ns, shape_scale, d.shape_e9 - shape_scale);
    return static_cast<Duration>(std::min(WideInt{d.base_ns} + above, WideInt{cap}));
  }
  const auto y = static_cast<Fixed>(product);
  std::int64_t above = 0;
  if (y >= -8 * fixed_one) {
    above = scale(d.base_ns, multiply(log_ratio, decay_ratio(y)));
  } else {
    const std::int64_t top = multiply_exp2(d.base_ns, multiply(-y, fixed_log2e));
    above = multiply_divide(top - d.base_ns, shape_scale, shape_scale - d.shape_e9);
  }
  return static_cast<Duration>(std::min(WideInt{d.base_ns} + above, WideInt{cap}));
}

// median * e^(sigma^2 / 2).
Duration mean_lognormal(const Distribution& d) {
  if (d.shape_e9 > 100 * shape_scale) {
    return d.base_ns == 0 ? 0 : int64_max;
  }
  const WideInt square = WideInt{d.shape_e9} * d.shape_e9;
  const WideInt exponent = square * fixed_log2e / 2 / (WideInt{shape_scale} * shape_scale);
  return multiply_exp2(d.base_ns, static_cast<Fixed>(exponent));
}

// Simpson's rule for e^(slope y - y^2 / 2) from where it is negligible to `top`. Either slope is 0
// or more and top is 0, or slope is 0 and top is 0 or more: the greatest value is 1.
Fixed integrate_bell(Fixed slope, Fixed top) {
  constexpr std::int64_t steps = 2'048;
  const Fixed reach = 9 * fixed_one;
  Fixed width = reach + top;
  if (slope > 4 * fixed_one) {
    width = static_cast<Fixed>((WideInt{36} << (2 * fixed_bits)) / slope);
  }
  WideInt sum = 0;
  for (std::int64_t i = 0; i <= steps; ++i) {
    const Fixed y = top - static_cast<Fixed>(WideInt{width} * i / steps);
    const Fixed value = exp(multiply(slope, y) - multiply(y, y) / 2);
    const bool end = i == 0 || i == steps;
    sum += WideInt{value} * (end ? 1 : (i % 2 == 1 ? 4 : 2));
  }
  return static_cast<Fixed>((sum * width / (WideInt{3} * steps)) >> fixed_bits);
}

// E min(X, c) = E(X; X < c) + c P(X > c). The first is median / sqrt(2 pi) times the integral of
// e^(sigma z - z^2 / 2) up to the cap's place d; its greatest value is taken out as a power of two,
// so that neither a great sigma nor a far cap loses digits.
Duration mean_lognormal_capped(const Distribution& d, Duration cap) {
  constexpr Fixed log2_sqrt_two_pi = 373'164'905'645'808;
  const std::int64_t sigma_e9 = std::min(d.shape_e9, sigma_e9_max);
  if (d.base_ns == 0 || cap == 0 || sigma_e9 == 0) {
    return std::min(d.base_ns, cap);
  }
  const Fixed log_ratio =
      ln(static_cast<std::uint64_t>(cap)) - ln(static_cast<std::uint64_t>(d.base_ns));
  const auto sigma = static_cast<Fixed>((WideInt{sigma_e9} << fixed_bits) / shape_scale);
  const WideInt place = WideInt{log_ratio} * shape_scale / sigma_e9;
  if (place > WideInt{sigma} + normal_end) {
    return std::min(mean_lognormal(d), cap);
  }
  if (place < -WideInt{normal_end}) {
    return cap;
  }
  const auto cap_z = static_cast<Fixed>(place);
  const Fixed peak = std::min(sigma, cap_z);
  const Fixed area = integrate_bell(sigma - peak, cap_z - peak);
  const Fixed peak_log = multiply(multiply(sigma, peak) - multiply(peak, peak) / 2, fixed_log2e);
  const Fixed area_log = log2(static_cast<std::uint64_t>(area)) - Fixed{fixed_bits} * fixed_one;
  const Duration below = multiply_exp2(d.base_ns, peak_log + area_log - log2_sqrt_two_pi);
  const WideUint above = WideUint{normal_probability(-cap_z)} * static_cast<std::uint64_t>(cap);
  const auto above_rounded = static_cast<std::int64_t>((above + (WideUint{1} << 63)) >> 64);
  return static_cast<Duration>(std::min(WideInt{below} + above_rounded, WideInt{cap}));
}

}  // namespace

Distribution fixed_distribution(Duration value_ns) {
  Distribution result;
  result.base_ns = value_ns;
  return result;
}

Distribution lognormal_distribution(const LognormalOptions& options) {
  Distribution result;
  result.kind = DistributionKind::lognormal;
  result.base_ns = options.median_ns;
  result.shape_e9 = options.sigma_e9;
  return result;
}

Distribution exponential_distribution(Duration mean_ns) {
  Distribution result;
  result.kind = DistributionKind::exponential;
  result.base_ns = mean_ns;
  return result;
}

Distribution uniform_distribution(const UniformOptions& options) {
  Distribution result;
  result.kind = DistributionKind::uniform;
  result.base_ns = options.min_ns;
  result.max_ns = options.max_ns;
  return result;
}

Distribution pareto_distribution(const ParetoOptions& options) {
  Distribution result;
  result.kind = DistributionKind::pareto;
  result.base_ns = options.min_ns;
  result.shape_e9 = options.alpha_e9;
  return result;
}

Distribution empirical_distribution(std::vector<Duration> values_ns) {
  Distribution result;
  result.kind = DistributionKind::empirical;
  result.values_ns = std::move(values_ns);
  return result;
}

std::optional<std::string_view> defect_of(const Distribution& d) {
  const auto negative = [](Duration value) { return value < 0; };
  if (d.base_ns < 0 || d.max_ns < 0 || std::ranges::any_of(d.values_ns, negative)) {
    return "a duration below 0";
  }
  if (d.cap_ns && *d.cap_ns < 0) {
    return "a cap below 0";
  }
  if (d.kind == DistributionKind::lognormal && d.shape_e9 < 0) {
    return "sigma below 0";
  }
  if (d.kind == DistributionKind::pareto && d.shape_e9 <= 0) {
    return "alpha not above 0";
  }
  if (d.kind == DistributionKind::uniform && d.max_ns < d.base_ns) {
    return "min above max";
  }
  if (d.kind == DistributionKind::empirical && d.values_ns.empty()) {
    return "no values";
  }
  return std::nullopt;
}

Duration sample(const Distribution& distribution, std::uint64_t random_bits) {
  const Duration value = sample_uncapped(distribution, random_bits);
  return distribution.cap_ns ? std::min(value, *distribution.cap_ns) : value;
}

std::optional<Duration> mean_ns(const Distribution& distribution) {
  const Duration cap = distribution.cap_ns.value_or(int64_max);
  switch (distribution.kind) {
    case DistributionKind::fixed:
      return std::min(distribution.base_ns, cap);
    case DistributionKind::lognormal:
      return distribution.cap_ns ? mean_lognormal_capped(distribution, cap)
                                 : mean_lognormal(distribution);
    case DistributionKind::exponential:
      return mean_exponential(distribution, cap);
    case DistributionKind::uniform:
      return mean_uniform(distribution, cap);
    case DistributionKind::pareto: {
      if (distribution.cap_ns) {
        return mean_pareto_capped(distribution, cap);
      }
      const std::int64_t alpha_e9 = distribution.shape_e9;
      if (alpha_e9 <= shape_scale) {
        return std::nullopt;
      }
      return multiply_divide(distribution.base_ns, alpha_e9, alpha_e9 - shape_scale);
    }
    case DistributionKind::empirical:
      return mean_empirical(distribution, cap);
  }
  RH_CHECK(false, static_cast<std::int64_t>(distribution.kind));
  return std::nullopt;
}

std::string format_distribution(const Distribution& distribution) {
  const auto value = [](const char* key, Duration ns) {
    return std::string(key) + "=" + format_duration(ns);
  };
  std::string text;
  switch (distribution.kind) {
    case DistributionKind::fixed:
      return format_duration(distribution.cap_ns
                                 ? std::min(distribution.base_ns, *distribution.cap_ns)
                                 : distribution.base_ns);
    case DistributionKind::lognormal:
      text = value("median", distribution.base_ns) +
             ",sigma=" + format_decimal(distribution.shape_e9, shape_scale);
      break;
    case DistributionKind::exponential:
      text = value("mean", distribution.base_ns);
      break;
    case DistributionKind::uniform:
      text = value("min", distribution.base_ns) + "," + value("max", distribution.max_ns);
      break;
    case DistributionKind::pareto:
      text = value("min", distribution.base_ns) +
             ",alpha=" + format_decimal(distribution.shape_e9, shape_scale);
      break;
    case DistributionKind::empirical:
      text = "values=" + std::to_string(distribution.values_ns.size());
      break;
  }
  if (distribution.cap_ns) {
    text += "," + value("cap", *distribution.cap_ns);
  }
  return std::string(name_of(distribution.kind)) + "[" + text + "]";
}

}  // namespace rehearse::model
