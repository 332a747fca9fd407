// registry: none (narrow stages, for marking)
// See narrow.hpp.
#include "traces/narrow.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/support/check.hpp"

namespace rehearse::traces {

std::vector<std::int64_t> narrowed_widths(const std::vector<std::int64_t>& tasks,
                                          WidthTarget target) {
  const std::int64_t total = std::accumulate(tasks.begin(), tasks.end(), std::int64_t{0});
  std::vector<std::int64_t> widths = tasks;
  const auto stages = static_cast<std::int64_t>(
      std::count_if(tasks.begin(), tasks.end(), [](std::int64_t n) { return n > 0; }));
  const std::int64_t slots = std::max(target.slots, stages);
  if (total <= slots) {
    return widths;
  }
  struct Rest {
    std::int64_t remainder = 0;
    std::size_t stage = 0;
  };
  std::vector<Rest> rests;
  std::int64_t used = 0;
  for (std::size_t s = 0; s < tasks.size(); ++s) {
    // A stage has at most 10^8 tasks and so has a cluster: the product fits.
    const std::int64_t share = tasks[s] * slots;
    widths[s] = tasks[s] > 0 ? std::max<std::int64_t>(1, share / total) : 0;
    used += widths[s];
    rests.push_back({share / total >= 1 ? share % total : -1, s});
  }
  std::sort(rests.begin(), rests.end(), [](const Rest& a, const Rest& b) {
    return a.remainder != b.remainder ? a.remainder > b.remainder : a.stage < b.stage;
  });
  for (const Rest& rest : rests) {
    if (used < slots && rest.remainder > 0 && widths[rest.stage] < tasks[rest.stage]) {
      ++widths[rest.stage];
      ++used;
    }
  }
  while (used > slots) {  // stages that were raised to one task: the widest give
    const auto widest = std::max_element(widths.begin(), widths.end());
    --*widest;
    --used;
  }
  return widths;
}

bool can_be_narrowed(const model::StageSpec& stage) {
  const auto* drawn = std::get_if<model::Distribution>(&stage.duration);
  return drawn == nullptr || drawn->kind == model::DistributionKind::fixed;
}

void narrow_stage(model::StageSpec& stage, std::int64_t width) {
  RH_CHECK(width >= 1 && width <= stage.tasks && can_be_narrowed(stage), width);
  const auto slots = static_cast<std::size_t>(width);
  const auto tasks = static_cast<std::size_t>(stage.tasks);
  std::vector<model::Duration> sums(slots, 0);
  const auto* each = std::get_if<std::vector<model::Duration>>(&stage.duration);
  const model::Duration constant =
      each == nullptr ? model::sample(std::get<model::Distribution>(stage.duration), 0) : 0;
  for (std::size_t p = 0; p < tasks; ++p) {
    sums[p % slots] += each == nullptr ? constant : (*each)[p];
  }
  stage.duration = std::move(sums);
  stage.tasks = static_cast<std::int32_t>(width);
  if (!stage.prefers.empty()) {
    stage.prefers.resize(slots);
  }
  if (!stage.limit.empty()) {
    stage.limit.resize(std::min(stage.limit.size(), slots));
  }
}

}  // namespace rehearse::traces
