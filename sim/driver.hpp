// Ties engine and scheduler core together: delivers the inputs of each instant in their order
// (scenario.md section 4), carries out the core's actions, and writes the physical lines of the
// journal from what was carried out. Internal to sim/; everybody else calls simulation.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/scenario.hpp"
#include "model/stage_graph.hpp"
#include "model/support/decisions.hpp"
#include "model/support/journal_hash.hpp"
#include "scheduler/core.hpp"
#include "sim/driver_rows.hpp"
#include "sim/engine/engine.hpp"
#include "sim/models/client.hpp"
#include "sim/models/faults.hpp"
#include "sim/models/tasks.hpp"
#include "sim/simulation.hpp"

namespace rehearse::sim {

class Driver {
 public:
  Driver(const model::Scenario& scenario, const scheduler::PolicySet& policies,
         std::span<model::Observer* const> observers, const RunOptions& options);

  [[nodiscard]] RunResult run();

 private:
  // ---- the journal (driver.cpp) ----
  template <class Body>
  void emit(Body body) {
    event_.t = now_;
    event_.body.emplace<Body>(std::move(body));
    publish();
  }
  // A line that is filled in where it is, before publish().
  template <class Body>
  [[nodiscard]] Body& begin_line() {
    event_.t = now_;
    return event_.body.emplace<Body>();
  }
  void publish();
  void begin_journal();
  void end_journal(model::RunEndCause cause);

  // ---- the loop (driver.cpp) ----
  [[nodiscard]] model::RunEndCause run_instants();
  // Of the healing phase (docs/decisions/0012).
  [[nodiscard]] bool is_beyond(std::int64_t bounds) const;
  [[nodiscard]] bool never_ends();
  [[nodiscard]] bool awaits_more() const;
  [[nodiscard]] std::optional<model::Instant> next_instant() const;
  void run_round(model::Instant instant);
  void prefetch(const std::vector<Event>& soon) const;
  [[nodiscard]] bool is_stale(const Event& event, model::Instant instant) const;
  void forget_batch();
  void order_round(std::vector<Due>& due);
  void place_ties(std::vector<Due>& due, model::Decisions& decisions);
  void deliver(const Event& event);
  void deliver_task(const Event& event);
  void deliver_late(const Event& event);
  void note_timer_ties(const std::vector<Due>& due);
  void deliver_pending(std::uint32_t slot);
  void step(const scheduler::Input& input);
  void pass();
  void push_pending(model::Instant at, InputKind kind, Pending pending);

  // ---- carrying out actions (driver_actions.cpp) ----
  void carry_out();
  void launch(const scheduler::Launch& action);
  void end_task(const scheduler::EndTask& action);
  void kill(const scheduler::Kill& action);
  void return_slot(const scheduler::ReturnSlot& action);
  void return_shared(const scheduler::ReturnShared& action);
  void entry(model::EventBody& body);
  void job_over(model::NameId job, bool failed_or_rejected, bool was_live);
  void slot_came_back(const Run& run);
  [[nodiscard]] model::TaskRef task_ref(const Run& run) const;
  [[nodiscard]] StageSim& stage_sim(scheduler::JobId job, model::StageIndex stage);
  void add_faults_of_rest(const model::TaskRef& task, model::NameId plain_name, TryFaults& faults);
  [[nodiscard]] model::Duration longest_of_rest(const scheduler::Launch& action,
                                                const model::TaskRef& task);
  [[nodiscard]] model::Duration length_of(const StageSim& stage, const scheduler::Launch& action,
                                          const model::TaskRef& task, const TryFaults& faults);
  [[nodiscard]] model::Instant end_of(const scheduler::Launch& action, const model::TaskRef& task,
                                      StageSim& stage, const TryFaults& faults);
  void will_fail(Run& run, const model::TaskFault* failure);
  void forget_failure(Run& run);
  void schedule_faults(const std::vector<DueFault>& due);

  // ---- tasks that share slots (driver_sharing.cpp) ----
  [[nodiscard]] std::vector<Processor::Resource> resources_of(
      const model::ExecutorSpec& executor) const;
  void push_task(scheduler::RunId run, model::Instant at);
  void launch_shared(const scheduler::Launch& action, const model::TaskRef& task,
                     const TryFaults& faults, model::Duration status);
  void start_computing(scheduler::RunId run_id);
  void expect_ends(model::ExecutorId executor);
  void settle_sharing();  // after each round and pass
  void finish_due(model::ExecutorId executor);
  [[nodiscard]] bool is_stale_shared(scheduler::RunId run_id, model::Instant instant) const;
  void advance_shared(scheduler::RunId run_id);
  void stop_sharing(scheduler::RunId run_id, SharedRun::Phase phase);
  void shared_over(scheduler::RunId run_id);
  void lose_shared(scheduler::RunId run_id);
  [[nodiscard]] bool producers_over(const Run& run) const;

  // ---- executors that come and go by themselves (driver_scaling.cpp) ----
  void start_scaling();
  void fit_candidates();
  void member_joined(std::uint32_t executor, std::uint32_t expected, bool was_due);
  void member_leaves(std::uint32_t executor);
  void member_will_not_come(std::uint32_t expected);
  [[nodiscard]] bool work_to_come() const;
  [[nodiscard]] model::ExecutorSpec spec_of(std::size_t number);
  [[nodiscard]] bool is_idle_step(const Pending& pending, model::Instant instant) const;
  void note_outputs();  // after each logical line
  void settle_scaling();
  void scale();

  // ---- what the environment does (driver_environment.cpp) ----
  void report_task(scheduler::RunId run_id);
  [[nodiscard]] bool ended_by_itself(const Run& run) const;
  [[nodiscard]] bool never_reports(const Run& run) const;
  [[nodiscard]] bool producer_died(const Run& run) const;
  void submit(const Submission& submission);
  void fire_fault(std::uint32_t index);
  void lose(const model::LoseExecutor& fault);
  void die(std::uint32_t executor, const model::LoseExecutor& fault);
  void notice(std::uint32_t executor, model::LossCause cause);
  void join(std::uint32_t expected, const model::ExecutorSpec* spec);
  void hold(const model::HoldExecutors& fault);
  void release(std::uint32_t executor);
  void cancel(model::NameId job);
  void expect_executors();
  [[nodiscard]] std::uint32_t executor_named(model::NameId name) const;

  const model::Scenario& scenario_;
  const RunOptions& options_;
  std::unique_ptr<DriverMemory> own_;  // where the caller keeps none
  DriverMemory& memory_;
  std::shared_ptr<model::NameTable> names_;
  std::vector<model::Observer*> observers_;
  model::SeededDecisions seeded_;
  model::NamedDecisions named_;  // `choices` of the file
  model::Decisions& decisions_;
  std::optional<model::JournalHash> hash_;
  std::int64_t events_ = 0;        // lines that the hash counts
  model::Instant last_event_ = 0;  // of the last of them
  model::Event event_;
  bool watching_moments_ = false;

  scheduler::Core core_;
  scheduler::Actions& actions_;
  scheduler::Actions& nested_;  // of KillEffective: slots that a group shared, at most
  std::int64_t steps_ = 0;
  std::optional<HealingWatch> healing_;
  Unseen unseen_;
  Engine& engine_;
  model::Instant now_ = 0;
  model::Instant idle_until_ = 0;  // the last instant at which only tasks that are over were due
  std::uint32_t next_launch_ = 0;
  std::uint32_t next_sequence_ = 0;
  std::vector<Event>& batch_;
  std::vector<Due>& due_;  // of the round at hand
  std::vector<scheduler::RunId>& freed_at_once_;

  Client client_;
  Faults faults_;
  std::size_t next_planned_ = 0;
  std::int64_t live_jobs_ = 0;
  std::int64_t submissions_ = 0;
  std::int64_t pending_submissions_ = 0;  // that follow from the end of a job
  std::int64_t unnoticed_deaths_ = 0;
  std::optional<Scaling> scaling_;  // absent: no autoscaling

  std::vector<Run>& runs_;
  bool shares_slots_ = false;           // A22; only then:
  std::vector<SharedRun> shared_runs_;  // by RunId
  std::vector<Processor> processors_;   // by ExecutorId
  std::vector<model::ExecutorId> changed_processors_;
  std::vector<scheduler::RunId> waiting_runs_;  // coupled: finished, for their producers
  std::map<std::uint32_t, const model::TaskFault*> failing_;  // by launch number: see Run::fails
  std::vector<JobSim>& jobs_;
  std::vector<scheduler::JobId>& free_jobs_;
  std::vector<scheduler::JobId>& job_named_;    // by name id, the job of that exact name
  std::vector<scheduler::JobId> latest_of_;     // by scenario job: its latest submission
  std::vector<ExecutorSim>& executors_;         // by ExecutorId
  std::vector<ExpectedSim>& expected_;          // by ExpectedId
  std::vector<std::uint32_t>& executor_named_;  // by name id, the latest of that name
  std::vector<Pending>& pending_;
  std::vector<std::uint32_t>& free_pending_;
};

}  // namespace rehearse::sim
