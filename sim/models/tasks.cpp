// Task durations and delays: a fixed value costs nothing, anything else one hash and one sample.
#include "sim/models/tasks.hpp"

#include <algorithm>

#include "model/support/distribution.hpp"
#include "model/support/units.hpp"

namespace rehearse::sim {

namespace {

model::DrawPoint point_of(const TryKey& which) {
  return {static_cast<std::uint32_t>(which.partition), static_cast<std::uint32_t>(which.attempt),
          static_cast<std::uint32_t>(which.try_number)};
}

model::Duration drawn(const model::Distribution& distribution, model::DrawKey key,
                      const TryKey& which) {
  if (distribution.kind == model::DistributionKind::fixed) {
    return distribution.cap_ns ? std::min(distribution.base_ns, *distribution.cap_ns)
                               : distribution.base_ns;
  }
  return model::sample(distribution, model::draw(key, point_of(which)));
}

}  // namespace

StageDraws::StageDraws(std::uint64_t seed, std::uint64_t job_key, std::uint64_t stage_key)
    : duration_(model::draw_key({seed, model::DrawPurpose::duration, job_key, stage_key})),
      launch_(model::draw_key({seed, model::DrawPurpose::launch, job_key, stage_key})),
      status_(model::draw_key({seed, model::DrawPurpose::status, job_key, stage_key})),
      kill_(model::draw_key({seed, model::DrawPurpose::kill, job_key, stage_key})) {}

model::Duration StageDraws::duration(const model::StageSpec& stage, const TryKey& which) const {
  if (const auto* list = std::get_if<std::vector<model::Duration>>(&stage.duration)) {
    return (*list)[static_cast<std::size_t>(which.partition)];
  }
  return drawn(std::get<model::Distribution>(stage.duration), duration_, which);
}

model::Duration StageDraws::launch(const model::Overheads& delays, const TryKey& which) const {
  return drawn(delays.launch, launch_, which);
}

model::Duration StageDraws::status(const model::Overheads& delays, const TryKey& which) const {
  return drawn(delays.status, status_, which);
}

model::Duration StageDraws::kill(const model::Overheads& delays, const TryKey& which) const {
  return drawn(delays.kill, kill_, which);
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
