// Task durations and delays: a fixed value costs nothing, anything else one hash and one sample.
#include "sim/models/tasks.hpp"

#include <algorithm>

#include "model/support/distribution.hpp"
#include "model/support/units.hpp"

namespace rehearse::sim {

StageDraws::StageDraws(model::Decisions& decisions, std::uint64_t seed, std::uint64_t job_key,
                       std::uint64_t stage_key)
    : decisions_(&decisions),
      duration_(model::draw_key({seed, model::DrawPurpose::duration, job_key, stage_key})),
      launch_(model::draw_key({seed, model::DrawPurpose::launch, job_key, stage_key})),
      status_(model::draw_key({seed, model::DrawPurpose::status, job_key, stage_key})),
      kill_(model::draw_key({seed, model::DrawPurpose::kill, job_key, stage_key})) {}

namespace {

model::Duration fixed(const model::Distribution& distribution) {
  return distribution.cap_ns ? std::min(distribution.base_ns, *distribution.cap_ns)
                             : distribution.base_ns;
}

}  // namespace

model::Duration drawn(const model::Distribution& distribution, model::Decisions& decisions,
                      const model::DecisionPlace& place) {
  return distribution.kind == model::DistributionKind::fixed
             ? fixed(distribution)
             : model::sample(distribution, decisions.choose(place, 0));
}

// As drawn(), but the place is only made where somebody is asked: delays are fixed, mostly.
model::Duration StageDraws::of_try(const model::Distribution& distribution,
                                   model::DrawPurpose purpose, const model::DrawKey& series,
                                   const TryKey& which) const {
  if (distribution.kind == model::DistributionKind::fixed) {
    return fixed(distribution);
  }
  const model::DrawPoint point{static_cast<std::uint32_t>(which.partition),
                               static_cast<std::uint32_t>(which.attempt),
                               static_cast<std::uint32_t>(which.try_number)};
  return model::sample(
      distribution, decisions_->choose({.purpose = purpose, .series = series, .point = point}, 0));
}

model::Duration StageDraws::duration(const model::StageSpec& stage, const TryKey& which) const {
  if (const auto* list = std::get_if<std::vector<model::Duration>>(&stage.duration)) {
    return (*list)[static_cast<std::size_t>(which.partition)];
  }
  return of_try(std::get<model::Distribution>(stage.duration), model::DrawPurpose::duration,
                duration_, which);
}

model::Duration StageDraws::launch(const model::Overheads& delays, const TryKey& which) const {
  return of_try(delays.launch, model::DrawPurpose::launch, launch_, which);
}

model::Duration StageDraws::status(const model::Overheads& delays, const TryKey& which) const {
  return of_try(delays.status, model::DrawPurpose::status, status_, which);
}

model::Duration StageDraws::kill(const model::Overheads& delays, const TryKey& which) const {
  return of_try(delays.kill, model::DrawPurpose::kill, kill_, which);
}

model::Duration stretched(model::Duration d, std::int64_t slow_milli, std::int64_t speed_milli) {
  return slow_milli == speed_milli ? d : model::mul_div_round(d, slow_milli, speed_milli);
}

std::vector<std::int64_t> slots_of(const model::Cluster& cluster,
                                   const model::ExecutorSpec& executor) {
  std::vector<std::int64_t> slots;
  for (std::uint32_t p = 0; p < cluster.profiles.size(); ++p) {
    const bool serves = !executor.profile.valid() || executor.profile.value == p;
    slots.push_back(serves ? model::slots_of(executor.resources, cluster.profiles[p].task) : 0);
  }
  return slots;
}

model::Instant later(model::Instant a, model::Duration b) {
  return b > model::instant_max - a ? model::instant_max : a + b;
}

}  // namespace rehearse::sim
