// Rows of what waiting gangs hold; state.hpp holds those of jobs.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduler/ids.hpp"
#include "scheduler/table.hpp"

namespace rehearse::scheduler {

// A task of a gang and where it has a slot.
struct Placed {
  std::uint32_t stage = 0;  // within the job
  std::int32_t partition = 0;
  ExecutorId executor;
  bool operator==(const Placed&) const = default;
};

// What a gang holds while it waits for the rest (A2 bulk); by GangId, none for one that holds
// nothing.
struct BulkRow {
  std::vector<Placed> held;          // by (stage, partition) ascending
  std::vector<std::int32_t> counts;  // of them by profile, one per profile of the cluster
  bool used = false;
  DirtyMark dirty;

  bool operator==(const BulkRow&) const = default;
  [[nodiscard]] std::uint64_t digest(std::uint64_t id) const {
    std::uint64_t hash = hash_of({id, held.size()});
    for (const Placed& slot : held) {
      hash = mix(hash, hash_of({slot.stage, bits(slot.partition), slot.executor.value}));
    }
    return hash;
  }
};

}  // namespace rehearse::scheduler
