// Parts of the cluster as views of the slots; the header says whose.
#include "scheduler/places.hpp"

#include <algorithm>

namespace rehearse::scheduler {

bool is_shut(const Machine& m, const ShutPlaces& shut, ExecutorId executor) {
  return std::ranges::find(shut.executors, executor) != shut.executors.end() ||
         std::ranges::find(shut.hosts, m.executors[executor].host) != shut.hosts.end();
}

std::int64_t ThesePlaces::free_slots(ExecutorId executor, ProfileId profile) const {
  return std::ranges::binary_search(list_, executor) ? all_.free_slots(executor, profile) : 0;
}

ExecutorId ThesePlaces::most_free(ProfileId profile) const {
  ExecutorId best;
  std::int64_t most = 0;
  for (const ExecutorId executor : list_) {
    if (const std::int64_t free = all_.free_slots(executor, profile); free > most) {
      best = executor;
      most = free;
    }
  }
  return best;
}

ExecutorId ThesePlaces::first_free(ProfileId profile, std::uint32_t from) const {
  for (auto at = std::ranges::lower_bound(list_, ExecutorId{from}); at != list_.end(); ++at) {
    if (all_.free_slots(*at, profile) > 0) {
      return *at;
    }
  }
  return ExecutorId{};
}

ExecutorId OpenPlaces::most_free(ProfileId profile) const {
  ExecutorId best = m_.slots.most_free(profile);
  if (!best.valid() || free_slots(best, profile) > 0) {
    return best;
  }
  best = ExecutorId{};
  std::int64_t most = 0;
  for (ExecutorId at = first_free(profile, 0); at.valid(); at = first_free(profile, at.value + 1)) {
    if (const std::int64_t free = free_slots(at, profile); free > most) {
      best = at;
      most = free;
    }
  }
  return best;
}

ExecutorId OpenPlaces::first_free(ProfileId profile, std::uint32_t from) const {
  ExecutorId at = m_.slots.first_free(profile, from);
  while (at.valid() && free_slots(at, profile) == 0) {
    at = m_.slots.first_free(profile, at.value + 1);
  }
  return at;
}

ExecutorId OpenPlacement::pick(const SlotView& slots, const TaskView& task) {
  const ExecutorId first = m_.policies.placement->pick(m_.slots, task);
  return first.valid() && slots.free_slots(first, task.profile) == 0
             ? m_.policies.placement->clone()->pick(slots, task)
             : first;
}

}  // namespace rehearse::scheduler
