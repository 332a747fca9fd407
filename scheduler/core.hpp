// The scheduler core: a state machine in the manner of sans-I/O protocols. It has no clock, no
// threads and no randomness; it is told what happened and says what to do. A Core is a regular
// value: a copy is a snapshot, and equal cores given equal inputs give equal actions.
//
// Typical use: step() the inputs of one instant in their order, carrying out the actions of each
// before the next; then, while wants_pass(), pass(). Kill actions whose slot comes back at once are
// answered with KillEffective before the pass.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/cluster.hpp"
#include "model/scheduler_config.hpp"
#include "scheduler/action.hpp"
#include "scheduler/exclusion.hpp"
#include "scheduler/input.hpp"
#include "scheduler/offers.hpp"
#include "scheduler/policy.hpp"

namespace rehearse::scheduler {

struct Machine;

// What only the behaviour of Spark names (F10): off by default, set by no scenario.
struct EngineOptions {
  // A fetch failure strikes off the outputs of the whole host (where outputs survive executors).
  bool unregister_outputs_on_host = false;
  // A failure to fetch an output that lies on an executor which is leaving uses up no attempt.
  bool ignore_decommission_fetch_failures = false;
  // Readers cannot tell attempts apart: a stage with outputs cannot be rolled back.
  bool old_fetch_protocol = false;
  // Attempts of a stage in all, whatever succeeded between them; 0: no bound.
  std::int64_t max_total_stage_attempts = 0;
  // What runs on an executor whose loss is told ends by its own report, not by the notice (X12).
  bool reports_after_loss = false;
  // Nobody may commit.
  bool refuse_commits = false;
  // Outputs outlive jobs as in one tracker of all shuffles: a takeover does what is missing of them
  // and no more, in attempts that follow those of the stage it stands for (SS-1.4).
  bool tracked_outputs = false;
  // SS-1.10: with a changed checksum also what ended jobs of the same query made of it is void.
  bool query_level_rollback = false;
  // Tasks prefer hosts on which at least this part, in 1/1000, of what they read over regular edges
  // lies (SS-1.5); 0: none.
  std::int32_t reducer_preferred_milli = 0;
  // SS-2.4: a try of a stage of one task that runs longer than this gets a copy; 0: none.
  model::Duration speculation_threshold = 0;
  // A decommissioned executor is gone this long after: tries that cannot end before get a copy
  // (SS-2.4); 0: not known.
  model::Duration decommission_kill = 0;
  ExclusionOptions exclusion{};  // SS-2.7
};

// What the core is made for. Executors are told by inputs, not here.
struct CoreOptions {
  model::SchedulerConfig config;
  std::vector<model::NameId> profile_names;          // by ProfileId
  std::vector<model::ResourceVector> profile_tasks;  // amounts of one task, by ProfileId
  // Executors come and go by themselves (F12: DYNAMIC_ALLOCATION). Those that may still come are
  // told as expected (A5).
  bool autoscaling = false;
  std::uint64_t seed = 0;  // of policies that draw
  EngineOptions engine;
  model::Duration expected_launch = 0;  // what easy believes of each task (A17)
  model::Duration expected_status = 0;
  model::NameTable* names = nullptr;  // outlives the core and its copies; not state
};

// What makes executors worth having.
struct Backlog {
  std::vector<std::int64_t> waiting;  // by profile: tasks that wait for a slot, starved ones not
  bool busy = false;                  // some slot is in use
};

class Core {
 public:
  Core(const CoreOptions& options, const PolicySet& policies);
  Core(const Core& other);
  Core& operator=(const Core& other);
  Core(Core&&) noexcept;
  Core& operator=(Core&&) noexcept;
  ~Core();

  // The instant of the inputs and passes that follow; never earlier than before. Not state.
  void set_now(model::Instant now);
  // Appends actions to `out`. An input about something that is over changes nothing.
  void step(const Input& input, Actions& out);

  // Hints that the end of the run will be told soon: first the one, for several runs, then the
  // other for the same. They only move memory closer.
  void prefetch_run(RunId run) const;
  void prefetch_end(RunId run) const;

  // Will TimerFired change anything? Not for a timer that is void.
  [[nodiscard]] bool is_set(TimerId timer) const;

  // A8: something changed since the last pass that can let a task start.
  [[nodiscard]] bool wants_pass() const;
  // The decisions at the end of a round (scenario.md section 4).
  void pass(Actions& out);
  // The same over some executors only (offers.hpp).
  void offer(const OfferRound& round, Actions& out);
  // How a stage of a live job stands; empty for others.
  [[nodiscard]] StageReport report(JobId job, StageIndex stage) const;
  // A9: slots of the profile that running and enqueued tasks of live attempts take, those of some
  // stages of live jobs left out.
  [[nodiscard]] std::int64_t outstanding(ProfileId profile,
                                         std::span<const StageOfJob> except) const;

  // As of the last pass, and what happened since. Linear in units that wait.
  [[nodiscard]] Backlog backlog() const;
  // Would its orderly leave cost work: does it hold outputs that a live job may read, or that its
  // group has not committed?
  [[nodiscard]] bool holds_needed_outputs(ExecutorId executor) const;

  // Counts of the `probe` line, for the end of a run.
  [[nodiscard]] model::Probe probe(model::ProbeWhen when);

  // Stable across builds; brought up to date for what changed since it was last asked for.
  [[nodiscard]] std::uint64_t digest();
  // The same value computed from all rows: what digest() is audited with.
  [[nodiscard]] std::uint64_t full_digest() const;
  // Appends the state as words, for collecting states: two cores of one configuration that give
  // equal words behave alike under equal inputs, but for the ids of runs, timers and rows, and the
  // order of kills within a step. Instants count from now. Not with the axis speculation.
  void encode(std::vector<std::uint64_t>& words) const;
  // Every table, member by member.
  bool operator==(const Core& other) const;

 private:
  std::unique_ptr<Machine> machine_;
};

}  // namespace rehearse::scheduler
