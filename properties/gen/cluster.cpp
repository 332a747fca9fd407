// Executors, profiles and delays; few slots, so that jobs are in each other's way.
// registry: none (a part of the generator)
#include <algorithm>

#include "properties/gen/making.hpp"

namespace rehearse::properties {

namespace {

using model::milli;

model::Distribution delay(const Making& making, Draws& draws) {
  if (!making.swarm.overheads || draws.percent(40)) {
    return {};
  }
  if (making.swarm.times == Times::drawn && draws.percent(40)) {
    return model::uniform_distribution({.min_ns = 0, .max_ns = 4 * model::millisecond});
  }
  return model::fixed_distribution(draws.ms(1, 4));
}

void make_profiles(Making& making, Draws& draws) {
  model::Cluster& cluster = making.scenario.cluster;
  model::NameTable& names = making.scenario.names;
  const bool several = making.swarm.profiles;
  cluster.resources = {names.intern("cpus")};
  if (several) {
    cluster.resources.push_back(names.intern("gpus"));
  }
  const auto amounts = [several](std::int64_t cpus, std::int64_t gpus) {
    return several ? model::ResourceVector{cpus * milli, gpus * milli}
                   : model::ResourceVector{cpus * milli};
  };
  cluster.profiles = {{names.intern("default"), amounts(1, 0)}};
  if (several) {
    const std::int64_t kind = draws.below(4);
    cluster.profiles.push_back({names.intern("big"), amounts(kind == 0   ? 2
                                                             : kind == 1 ? 3
                                                                         : 1,
                                                             kind == 2 ? 1 : 0)});
  }
}

void add_capacity(Making& making, const model::ExecutorSpec& executor) {
  const auto& profiles = making.scenario.cluster.profiles;
  const std::size_t profile = executor.profile.valid() ? executor.profile.index() : 0;
  making.capacity[profile] += model::slots_of(executor.resources, profiles[profile].task);
}

}  // namespace

model::ExecutorSpec make_executor(Making& making, Draws& draws, model::NameId name) {
  const model::Cluster& cluster = making.scenario.cluster;
  model::ExecutorSpec executor;
  executor.name = name;
  executor.resources.assign(cluster.resources.size(), 0);
  executor.resources[0] = draws.range(3, 14) * milli;
  const bool several = cluster.profiles.size() > 1;
  if (several) {
    executor.resources[1] = draws.below(4) * milli;
  }
  if (!making.swarm.unbound || draws.percent(25)) {
    executor.profile = model::ProfileId{several && draws.percent(40) ? 1U : 0U};
  }
  if (draws.percent(50)) {
    executor.host = making.name('h', draws.below(3));
  } else {
    executor.host =
        making.scenario.names.intern("h-" + std::string(making.scenario.names.text(executor.name)));
  }
  if (draws.percent(10)) {
    executor.rack = making.name('r', draws.below(2));
  }
  if (draws.percent(10)) {
    executor.speed_milli = draws.pick<std::int64_t>({500, 2000, 3000});
  }
  return executor;
}

void make_cluster(Making& making) {
  Draws draws = making.draws(Concern::cluster);
  make_profiles(making, draws);
  model::Cluster& cluster = making.scenario.cluster;
  making.capacity.assign(cluster.profiles.size(), 0);
  const std::int64_t count = making.swarm.nobody_there ? 0 : draws.range(2, 8);
  for (std::int64_t i = 0; i < count; ++i) {
    model::ExecutorSpec executor = make_executor(making, draws, making.name('e', i));
    const bool joins = making.swarm.fault_weights[static_cast<std::size_t>(FaultKind::join)] > 0;
    if (joins && i > 0 && draws.percent(15)) {
      executor.joins = draws.ms(1, 25);
    }
    add_capacity(making, executor);
    making.executors.push_back(executor.name);
    cluster.executors.push_back(std::move(executor));
  }
  if (making.swarm.overheads) {
    cluster.overheads = {.launch = delay(making, draws),
                         .status = delay(making, draws),
                         .kill = delay(making, draws),
                         .loss_detection = delay(making, draws)};
  }
  if (making.swarm.autoscaled && count > 0) {
    model::Autoscale scale;
    scale.max = static_cast<std::int32_t>(count + draws.range(0, 3));
    scale.backlog = draws.ms(0, 3);
    scale.idle = draws.ms(1, 20);
    scale.startup = model::fixed_distribution(draws.ms(0, 8));
    scale.executor.name = making.scenario.names.intern("auto");
    scale.executor.resources = cluster.executors.front().resources;
    scale.executor.profile = cluster.executors.front().profile;
    cluster.autoscale = std::move(scale);
  }
}

}  // namespace rehearse::properties
