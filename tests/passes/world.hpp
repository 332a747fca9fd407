// A small cluster and what waits for it, kept as plain lists; and what a pass should start there,
// found by going through all of it (A4, A7, A15 to A18). Executors are bound to one profile each,
// or there is one profile, so that counts say what fits. Nothing is lost, nothing fails.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/scheduler_config.hpp"
#include "model/support/time.hpp"

namespace rehearse::testing {

struct WorldExecutor {
  std::size_t profile = 0;
  std::int64_t slots = 0;
  bool held = false;
};

struct WorldStage {
  std::size_t profile = 0;
  std::int32_t tasks = 0;
  model::Duration each = 0;    // that the scheduler believes of a task
  std::int32_t next_task = 0;  // tasks start by partition
};

struct WorldJob {
  std::size_t number = 0;  // its rank among those of one instant, too
  model::Instant submitted = 0;
  std::int64_t priority = 0;
  std::string pool;
  bool gang = false;  // starts whole: two stages, or a barrier stage
  std::vector<WorldStage> stages;
  model::Instant refused_at = -1;  // by the first pass that did not let the gang in
  bool over = false;
};

struct WorldTask {
  std::size_t job = 0;
  std::size_t stage = 0;
  std::int32_t partition = 0;
  std::size_t executor = 0;
  auto operator<=>(const WorldTask&) const = default;
};

struct WorldRun {
  WorldTask task;
  model::Instant started = 0;
};

struct World {
  model::SchedulerConfig config;
  std::vector<std::string> pool_names;  // of config.pools
  std::size_t profiles = 1;
  std::vector<WorldExecutor> executors;
  std::vector<WorldJob> jobs;
  std::vector<WorldRun> running;

  [[nodiscard]] std::int64_t idle_slots(std::size_t profile) const;
  [[nodiscard]] std::int64_t free_slots(std::size_t executor, std::size_t profile) const;
  [[nodiscard]] std::vector<std::int64_t> demand(const WorldJob& job) const;  // by profile
};

// What a pass at `now` starts, sorted. Under placements that draw or hash, executors are 0. The
// world is as before, but for what is noted of gangs that were refused.
[[nodiscard]] std::vector<WorldTask> right_starts(World& world, model::Instant now);
// Does the placement follow from the world?
[[nodiscard]] bool knows_places(const World& world);

}  // namespace rehearse::testing
