// Rows of what groups reserve for several stages together; state.hpp holds those of jobs.
#pragma once

#include <cstdint>
#include <vector>

#include "model/support/names.hpp"
#include "scheduler/ids.hpp"
#include "scheduler/table.hpp"

namespace rehearse::scheduler {

// What a group reserves on one executor for its stages together (A10); none under accounting `sum`.
struct ShareRow {
  struct Part {
    ProfileId profile;
    std::int32_t slots = 0;  // that its tasks run on
    std::int32_t rest = 0;   // kept from others beyond those, under whole-executor
    bool operator==(const Part&) const = default;
  };
  GangId gang;          // invalid once its attempt is over: only kills have yet to take effect
  model::NameId job;    // names for lines that come after the job's end
  model::NameId group;  // first stage
  ExecutorId executor;
  std::vector<Part> parts;  // by profile ascending
  std::vector<RunId> runs;  // that use it, dying ones too; the last takes it along
  bool used = false;
  DirtyMark dirty;

  bool operator==(const ShareRow&) const = default;
  [[nodiscard]] std::uint64_t digest(std::uint64_t id) const {
    std::uint64_t hash = hash_of({id, gang.value, executor.value, runs.size()});
    for (const Part& part : parts) {
      hash = mix(hash, hash_of({part.profile.value, bits(part.slots), bits(part.rest)}));
    }
    return hash;
  }
};

}  // namespace rehearse::scheduler
