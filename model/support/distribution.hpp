// Distributions of durations as plain values, and what is drawn from them (scenario.md section 1).
// A sample is a function of one uniform number, computed with integers only, so it is the same on
// every machine. Where the uniform numbers come from is
// draw.hpp's business; where the parameters come from is the reader's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/enum_names.hpp"
#include "model/support/time.hpp"

namespace rehearse::model {

enum class DistributionKind : std::uint8_t {
  fixed,
  lognormal,
  exponential,
  uniform,
  pareto,
  empirical
};
RH_ENUM_NAMES(DistributionKind, "fixed", "lognormal", "exponential", "uniform", "pareto",
              "empirical");

// `shape_e9` counts units of 1e-9: 400'000'000 is 0.4.
inline constexpr std::int64_t shape_scale = 1'000'000'000;

// A distribution of durations of 0 ns and more. Default: always 0. A field that the kind does not
// use is 0 or empty; the makers below see to that, so equality compares meanings.
struct Distribution {
  DistributionKind kind = DistributionKind::fixed;
  // fixed: the value. lognormal: the median. exponential: the mean. uniform, pareto: the minimum.
  Duration base_ns = 0;
  Duration max_ns = 0;              // uniform: the greatest value, itself possible
  std::int64_t shape_e9 = 0;        // lognormal: sigma. pareto: alpha.
  std::vector<Duration> values_ns;  // empirical: equally likely, in the order of the file
  std::optional<Duration> cap_ns;   // every sample above it becomes it

  bool operator==(const Distribution&) const = default;
};

struct LognormalOptions {
  Duration median_ns = 0;
  std::int64_t sigma_e9 = 0;
};
struct UniformOptions {
  Duration min_ns = 0;
  Duration max_ns = 0;
};
struct ParetoOptions {
  Duration min_ns = 0;
  std::int64_t alpha_e9 = 0;
};

[[nodiscard]] Distribution fixed_distribution(Duration value_ns);
[[nodiscard]] Distribution lognormal_distribution(const LognormalOptions& options);
[[nodiscard]] Distribution exponential_distribution(Duration mean_ns);
[[nodiscard]] Distribution uniform_distribution(const UniformOptions& options);
[[nodiscard]] Distribution pareto_distribution(const ParetoOptions& options);
[[nodiscard]] Distribution empirical_distribution(std::vector<Duration> values_ns);

// What makes the value unusable, for the reader of a file to report: a negative duration, sigma or
// cap, alpha of 0 or less, min above max, no values. Nothing when it can be sampled.
[[nodiscard]] std::optional<std::string_view> defect_of(const Distribution& distribution);

// The inverse of the cumulative distribution at (random_bits + 1/2) / 2^64, in ns, rounded half up;
// empirical: the value whose turn it is in the order given. So greater bits give greater samples,
// up to the error of fixed_math and except for empirical. Never negative; what is above the cap
// becomes the cap, and what does not fit becomes the greatest int64. A sigma above 1'000 counts as
// 1'000. Needs a distribution without defect.
[[nodiscard]] Duration sample(const Distribution& distribution, std::uint64_t random_bits);

// The mean of the samples, cap included, rounded half up; the greatest int64 if it does not fit.
// Exact for fixed, uniform and empirical; by fixed-point arithmetic otherwise, within 1e-7 of
// itself and 2 ns. Nothing for pareto with alpha at most 1 and no cap, which has no mean. Takes
// 50 microseconds for lognormal with a cap, else very little. Needs one without defect.
[[nodiscard]] std::optional<Duration> mean_ns(const Distribution& distribution);

// As the journal's first line says it: "5ms", "lognormal[median=100ms,sigma=0.4]", with ",cap=..."
// where there is one; values of `empirical` are not listed.
[[nodiscard]] std::string format_distribution(const Distribution& distribution);

}  // namespace rehearse::model
