// The rows that the driver keeps: of tries, jobs and executors, of what is due, of executors that
// come later, and for features that most runs do not use. Internal to sim/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "model/healing.hpp"
#include "model/scenario.hpp"
#include "model/stage_graph.hpp"
#include "model/support/time.hpp"
#include "scheduler/action.hpp"
#include "scheduler/ids.hpp"
#include "sim/engine/engine.hpp"
#include "sim/models/autoscaler.hpp"
#include "sim/models/client.hpp"
#include "sim/models/processor.hpp"
#include "sim/models/tasks.hpp"

namespace rehearse::sim {

// Kinds of inputs in the order of a round; event classes of the engine.
enum class InputKind : std::uint8_t { notice, cancel, task, executor, submission, timer };

// One live try as the environment knows it; indexed by the core's RunId.
struct Run {
  model::NameId job_name;
  scheduler::JobId job;
  model::StageIndex stage;
  model::ExecutorId executor;
  std::int32_t partition = 0;
  std::int16_t attempt = 0;
  std::int16_t try_number = 0;
  std::uint32_t launch = 0;  // launch number; engine events of other numbers are stale
  std::uint16_t profile = 0;
  std::uint16_t more = 0;  // of a slice (A21)
  bool speculative = false;
  bool live = false;
  bool returned = false;       // its slot is free, its line waits (C6)
  bool killed = false;         // only its slots are still held
  bool shared = false;         // with others of its group (A10)
  bool late = false;           // lost with its executor, its success is on the way
  bool fails = false;          // by itself: Driver knows the fault
  model::Instant over_at = 0;  // its work is; of a killed one: its slots are free
};
struct StageSim {
  StageDraws draws;
  bool keyed = false;
  bool targeted = false;          // some task fault is about it; known once it is keyed
  std::int32_t attempt = -1;      // that latest_end belongs to
  model::Instant latest_end = 0;  // of the tasks launched in it (coupled)
  std::int32_t unfinished = 0;    // tries launched in it; where slots are shared
};
struct JobSim {
  Submission submission;
  model::NameId name;
  model::NameId plain_name;  // what faults may call it: the bare name, for a first try
  std::shared_ptr<const model::JobSpec> spec;
  std::shared_ptr<const model::StageGraph> graph;  // coupled timing only
  std::uint64_t key = 0;
  std::vector<StageSim> stages;
  bool shared = false;  // its rows stay after its end
  bool ended = false;
  bool used = false;
};
// What an engine event other than a task's stands for.
struct Pending {
  enum class What : std::uint8_t { fault, notice, join, release, submission, timer, scale };
  What what{};
  std::uint32_t index = 0;  // fault, executor, expected, or timer id
  model::LossCause cause{};
  Submission submission;
};
struct Due {
  InputKind kind{};
  std::uint64_t order = 0;
  Event event;
  Submission submission;  // of a planned one; event is empty then
};

// How far a live try is where slots are shared (A22), beside its Run.
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

// How long the healing phase goes on (docs/decisions/0012).
struct HealingWatch {
  model::Healing phase;
  bool begun = false;
  std::int64_t steps = 0;      // taken when it began, or was looked at
  std::uint32_t launches = 0;  // made when it began
};

// Executors that come and go by themselves.
struct Scaling {
  explicit Scaling(const model::Scenario& scenario);
  Autoscaler policy;
  std::deque<model::ExecutorSpec> specs;  // auto0, auto1, ...
  std::size_t asked = 0;                  // for how many so far: the first of specs
  std::deque<std::uint32_t> candidates;   // ExpectedIds that may still be asked for: the next
  std::optional<model::Instant> armed;    // its next step
};

// What a driver fills while it runs, empty at its start: kept from run to run by who wants to.
struct DriverMemory {
  Engine engine;
  scheduler::Actions actions;
  scheduler::Actions nested;
  std::vector<Event> batch;
  std::vector<Due> due;
  std::vector<scheduler::RunId> freed_at_once;
  std::vector<Run> runs;
  std::vector<JobSim> jobs;
  std::vector<scheduler::JobId> free_jobs;
  std::vector<scheduler::JobId> job_named;
  std::vector<ExecutorSim> executors;
  std::vector<ExpectedSim> expected;
  std::vector<std::uint32_t> executor_named;
  std::vector<Pending> pending;
  std::vector<std::uint32_t> free_pending;
  std::shared_ptr<model::NameTable> names;  // of the last run

  void clear();
  // A table that starts as the scenario's: the last run's again, unless somebody still reads it.
  [[nodiscard]] std::shared_ptr<model::NameTable> table_of(const model::NameTable& scenario_names);
};

}  // namespace rehearse::sim
