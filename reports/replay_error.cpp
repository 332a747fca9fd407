// registry: none (part of the results of replay)
#include "reports/replay_error.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/support/check.hpp"
#include "reports/numbers.hpp"
#include "reports/stats.hpp"

namespace rehearse::reports {
namespace {

constexpr Wide ppm = 1'000'000;

bool compared(const ReplayPair& pair) {
  return pair.recorded == Outcome::succeeded && pair.recorded_ns &&
         pair.simulated == Outcome::succeeded && pair.simulated_ns;
}

std::string reason(const ReplayPair& pair) {
  if (!pair.recorded) {
    return "the trace does not say how it ended";
  }
  if (*pair.recorded != Outcome::succeeded) {
    return fmt::format("recorded as {}", name_of(*pair.recorded));
  }
  if (!pair.recorded_ns) {
    return "the trace has no submission or no end";
  }
  if (!pair.simulated) {
    return "not simulated";
  }
  return fmt::format("simulated as {}", name_of(*pair.simulated));
}

}  // namespace

std::int64_t error_ppm(model::Duration recorded, model::Duration simulated) {
  const Wide scale = std::max(recorded, model::second);
  const Wide distance = static_cast<Wide>(simulated) - recorded;
  return saturated(((distance < 0 ? -distance : distance) * ppm + scale / 2) / scale);
}

ReplayError replay_error(std::span<const ReplayPair> pairs, std::size_t worst_max) {
  ReplayError result;
  std::vector<JobError> errors;
  std::vector<std::int64_t> values;
  for (const ReplayPair& pair : pairs) {
    if (!compared(pair)) {
      continue;
    }
    const std::int64_t error = error_ppm(*pair.recorded_ns, *pair.simulated_ns);
    errors.push_back({.job = pair.job,
                      .recorded_ns = *pair.recorded_ns,
                      .simulated_ns = *pair.simulated_ns,
                      .error_ppm = error,
                      .note = pair.note});
    values.push_back(error);
  }
  std::ranges::sort(values);
  result.median_ppm = percentile(values, 50);
  result.p90_ppm = percentile(values, 90);
  std::ranges::sort(errors, [](const JobError& a, const JobError& b) {
    return a.error_ppm != b.error_ppm ? a.error_ppm > b.error_ppm : a.job < b.job;
  });
  errors.resize(std::min(errors.size(), worst_max));
  result.worst = std::move(errors);
  return result;
}

std::vector<LeftOut> left_out(std::span<const ReplayPair> pairs) {
  std::vector<LeftOut> result;
  for (const ReplayPair& pair : pairs) {
    if (!compared(pair)) {
      result.push_back({.job = pair.job, .why = reason(pair)});
    }
  }
  return result;
}

}  // namespace rehearse::reports
