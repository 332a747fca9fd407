// The one call everybody uses: a scenario in, a journal out (to observers), and how it ended.
// Deterministic: equal scenario and policies give the same journal on any machine, build, thread
// count or locale. Never reads a clock, never prints.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/decisions.hpp"
#include "model/support/events.hpp"
#include "scheduler/policy.hpp"

namespace rehearse::sim {

struct DriverMemory;

// Memory that runs use one after another, so that each need not ask for it anew; nothing of a run
// is in it at the start of the next. For one run at a time.
class RunMemory {
 public:
  RunMemory();
  ~RunMemory();
  RunMemory(const RunMemory&) = delete;
  RunMemory& operator=(const RunMemory&) = delete;

 private:
  friend class Driver;
  [[nodiscard]] DriverMemory& driver();  // emptied

  std::unique_ptr<DriverMemory> driver_;
};

struct RunOptions {
  // Property ids written into the first line (scenario.md 5, `promises`); the caller resolves them.
  std::vector<std::string> promises;
  // Probes round one rejection in this many, by job number (1 = every rejection).
  std::int64_t probe_one_in = 1;
  // Compare the incremental digest of the core with a full one at every probe and now and then.
  bool audit_digest = false;
  bool hash = true;             // false: RunResult::journal_hash is 0
  RunMemory* memory = nullptr;  // null: the run's own
  // Polled between instants; true ends the run as interrupted. May be null.
  bool (*interrupted)() = nullptr;
  // Decide how long everything takes and the order of ties, whatever the file says of it (only used
  // during the run). Null: the seed decides, and of ties `ties` and `choices`.
  model::Decisions* decisions = nullptr;
  // What the engine that is played reports as the checksum of a try's output, when the try succeeds
  // (SS-1.10); a scenario has no such thing. Empty: nothing is reported.
  std::function<std::uint64_t(const model::TaskRef&)> checksum;
};

// What happened in a run that no line of its journal shows, and how often.
struct Unseen {
  std::int64_t late_successes = 0;    // X12: told to the core after the loss that gave them up
  std::int64_t launches_on_dead = 0;  // X12: between the death of an executor and its notice
  std::int64_t never_joined = 0;      // executors that were lost before they came
  std::int64_t timers_in_order = 0;   // pairs that were due in one round, in the order in which
  std::int64_t timers_swapped = 0;    // they were set, and in the other
};

struct RunResult {
  model::RunEndCause cause = model::RunEndCause::done;
  model::Instant end_ns = 0;       // of the last event; 0 when there was none
  std::uint64_t journal_hash = 0;  // XXH3-64 of scenario.md section 5
  std::int64_t events = 0;         // journal lines that the hash counts
  std::int64_t core_steps = 0;     // inputs and passes fed to the scheduler core
  Unseen unseen;
  std::vector<std::string> faults_never_fired;    // "faults/3: lose_executor e7", file order
  std::shared_ptr<const model::NameTable> names;  // text of every NameId of the journal
};

// Observers get every event in order, on the calling thread. `scenario` must have passed
// traces' loading checks and model::unsupported(); a broken promise of those is RH_CHECK.
[[nodiscard]] RunResult run(const model::Scenario& scenario, const scheduler::PolicySet& policies,
                            std::span<model::Observer* const> observers,
                            const RunOptions& options = {});

}  // namespace rehearse::sim
