// How long tasks take (timings scripted and coupled), and the delays around them. Pure functions of
// the scenario, the seed and which try it is (scenario.md sections 1 and 4).
#pragma once

#include <cstdint>
#include <vector>

#include "model/cluster.hpp"
#include "model/job.hpp"
#include "model/support/decisions.hpp"
#include "model/support/draw.hpp"
#include "model/support/time.hpp"

namespace rehearse::sim {

// Which try of which partition.
struct TryKey {
  std::int32_t partition = 0;
  std::int32_t attempt = 0;
  std::int32_t try_number = 0;
};

// The draws of one stage, keyed once.
class StageDraws {
 public:
  StageDraws() = default;
  // `decisions` outlives it.
  StageDraws(model::Decisions& decisions, std::uint64_t seed, std::uint64_t job_key,
             std::uint64_t stage_key);

  // Computing time at speed 1, ns >= 0.
  [[nodiscard]] model::Duration duration(const model::StageSpec& stage, const TryKey& which) const;
  [[nodiscard]] model::Duration launch(const model::Overheads& delays, const TryKey& which) const;
  [[nodiscard]] model::Duration status(const model::Overheads& delays, const TryKey& which) const;
  [[nodiscard]] model::Duration kill(const model::Overheads& delays, const TryKey& which) const;

 private:
  [[nodiscard]] model::Duration of_try(const model::Distribution& distribution,
                                       model::DrawPurpose purpose, const model::DrawKey& series,
                                       const TryKey& which) const;

  model::Decisions* decisions_ = nullptr;
  model::DrawKey duration_;
  model::DrawKey launch_;
  model::DrawKey status_;
  model::DrawKey kill_;
};

// What it gives by that decision; a fixed one asks nobody.
[[nodiscard]] model::Duration drawn(const model::Distribution& distribution,
                                    model::Decisions& decisions, const model::DecisionPlace& place);

// d * slow / speed, one division, rounded half up; both in 1/1000, speed > 0.
[[nodiscard]] model::Duration stretched(model::Duration d, std::int64_t slow_milli,
                                        std::int64_t speed_milli);

// Slots of an idle executor by profile (A4), 0 of those that it does not serve.
[[nodiscard]] std::vector<std::int64_t> slots_of(const model::Cluster& cluster,
                                                 const model::ExecutorSpec& executor);

// a + b, or the greatest instant where that does not fit.
[[nodiscard]] model::Instant later(model::Instant a, model::Duration b);

}  // namespace rehearse::sim
