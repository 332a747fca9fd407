// What the driver keeps of executors that come later, and for features that most runs do not use.
// Internal to sim/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "model/scenario.hpp"
#include "model/support/time.hpp"
#include "sim/models/autoscaler.hpp"
#include "sim/models/processor.hpp"

namespace rehearse::sim {

// How far a live try is where slots are shared (A22), beside its Driver::Run.
struct SharedRun {
  enum class Phase : std::uint8_t { launching, computing, finished, over, stopped };
  Phase phase = Phase::launching;  // finished: its work; over: known of when its status arrives
  Processor::Mark mark = 0;        // while it computes
  Processor::Load load;
  model::Duration work = 0;
  model::Duration status = 0;
  model::Instant due = -1;       // of its next event; other instants are stale
  model::Instant fails_at = -1;  // -1: never
  model::Instant over_at = -1;
  const model::TaskFault* failure = nullptr;
};

// An executor, by ExecutorId.
struct ExecutorSim {
  model::NameId name;
  model::NameId host;
  std::int64_t speed_milli = model::milli;
  std::int64_t runs = 0;  // slots in use
  std::int32_t holds = 0;
  bool dead = false;  // physically; deaths show only at the notice
  model::Instant died_at = 0;
  bool lost = false;  // noticed
  bool draining = false;
};

// An executor that the core was told to expect, by ExpectedId.
struct ExpectedSim {
  const model::ExecutorSpec* spec = nullptr;
  model::Instant at = 0;
  bool due = true;
  std::size_t place = 0;  // in the file: cluster first, then faults
  bool own = false;       // of the autoscaler: comes only when
  bool asked = false;     // it was asked for
};

// Executors that come and go by themselves.
struct Scaling {
  explicit Scaling(const model::Scenario& scenario);
  Autoscaler policy;
  std::deque<model::ExecutorSpec> specs;  // auto0, auto1, ...
  std::deque<std::uint32_t> candidates;   // ExpectedIds that may still be asked for
  std::optional<model::Instant> armed;    // its next step
};

}  // namespace rehearse::sim
