// Rows of executors; state.hpp holds those of jobs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/cluster.hpp"
#include "scheduler/ids.hpp"
#include "scheduler/table.hpp"

namespace rehearse::scheduler {

enum class ExecutorPhase : std::uint8_t { unused, live, lost };

// Stages that may have outputs on one of 64 neighbouring executors: an index for losses, derived
// from the outputs and so no part of the state. Coarse, so that noting an output seldom writes.
struct OutputIndex {
  static constexpr std::size_t executors_each = 64;
  std::array<StageId, 64> recent{};  // by id modulo 64: surely in `stages`
  std::vector<StageId> stages;       // with repetitions, and stages that ended since
};

struct ExecutorRow {
  model::NameId name;
  model::NameId host;
  model::NameId rack;
  ProfileId bound;
  std::int64_t speed_milli = model::milli;
  std::vector<RunId> runs;            // that hold a slot here, dying ones too, in launch order
  model::Instant draining_since = 0;  // kept where EngineOptions::decommission_kill needs it
  std::uint32_t epoch = 0;            // ends at a fetch failure that names it (X9)
  ExecutorPhase phase = ExecutorPhase::unused;
  std::uint8_t holds = 0;        // live HoldExecutor count
  bool draining = false;         // decommission: never launches again
  bool outputs_gone = false;     // lost, and the outputs there with it
  std::uint32_t idle_index = 0;  // in the idle ledger
  bool used = false;
  DirtyMark dirty;

  bool operator==(const ExecutorRow&) const = default;
  [[nodiscard]] std::uint64_t digest(std::uint64_t id) const {
    return hash_of({id, name.value, runs.size(), epoch, bits(phase), bits(holds),
                    bits(draining | outputs_gone << 1)});
  }
};

// Where an executor or a host is: preferences reach from a name to its host, then to its rack
// (A15).
struct Place {
  model::NameId host;
  std::vector<model::NameId> racks;  // of a host all that its executors have told
};

// An executor that is due to join (A5 counts it).
struct ExpectedRow {
  model::ExecutorSpec spec;
  std::uint32_t idle_index = 0;
  bool due = true;  // neither joined nor given up
  bool operator==(const ExpectedRow&) const = default;
};

}  // namespace rehearse::scheduler
