// A scenario as a space of states: the scheduler core with an environment that does what it likes,
// when it likes. What may come, in which order, and what is left out:
//   - jobs are submitted in the order of the file and of their instants, each at any moment; the
//     caller's resubmissions at any moment after;
//   - tasks end well in any order (timing `coupled`: a consumer after its pipelined producers);
//   - a kill takes effect at any moment after its order, within the step where overheads.kill is 0;
//   - executors that join later do so in the order of their instants, each at any moment;
//   - timers fire in any order but one: not before one that was set no later and waits no longer;
//   - a pass is due when the core wants one, and any inputs may come before it: they are of its
//     instant;
//   - faults, within the search's budget: a task fails (exception), a task cannot fetch an output
//   of
//     a stage it reads over a regular edge, an executor is lost (process). A loss comes when it is
//     noticed: before, nothing can be told from tasks that take their time.
// The clock stands still, but for timers and for long waits where a policy reads it (`easy`,
// `aging`, locality): then a time long enough may pass whenever that can change anything.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/error.hpp"
#include "properties/explore/space.hpp"
#include "properties/monitor_set.hpp"
#include "scheduler/core.hpp"
#include "scheduler/policy.hpp"

namespace rehearse::properties {

class ClusterSpace final : public Space {
  struct Setup;
  struct Passkey {};  // only make() makes one

 public:
  // The place before anything happened: the executors that are there from the start have joined.
  // `scenario` must outlive it and all its copies. `listener` sees the journal from the first line
  // on, until finish(); copies are not listened to. Errors: what a scenario asks for that cannot be
  // explored, by field.
  [[nodiscard]] static model::Result<std::unique_ptr<ClusterSpace>> make(
      const model::Scenario& scenario, const scheduler::PolicySet& policies,
      model::Observer* listener = nullptr);

  ClusterSpace(Passkey passkey, std::shared_ptr<const Setup> setup,
               const scheduler::PolicySet& policies, model::Observer* listener);
  ClusterSpace(const ClusterSpace& other) = default;
  ~ClusterSpace() override = default;

  [[nodiscard]] std::unique_ptr<Space> copy() const override;
  void become(const Space& other) override;
  void choices(std::vector<Choice>& list) const override;
  void take(const Choice& choice) override;
  void finish() override;
  void encode(std::vector<std::uint64_t>& words) const override;
  [[nodiscard]] std::int64_t violation_count() const override;
  [[nodiscard]] std::vector<model::Violation> violations() const override;
  [[nodiscard]] std::string text_of(const Choice& choice) const override;

  [[nodiscard]] const scheduler::Core& core() const { return core_; }

 private:
  enum class What : std::uint8_t {
    pass,
    submit,        // a: place among the planned jobs
    resubmit,      // a: place in resubmissions_
    ends,          // a: run
    slot_returns,  // a: run
    timer,         // a: place in timers_
    joins,         // a: executor to come
    time_passes,
    fails,        // a: run
    fetch_fails,  // a: run, b: stage, c: partition
    is_lost,      // a: executor
  };
  struct Run {
    scheduler::Launch launch;
    bool live = false;
    bool killed = false;
    bool returned = false;  // its slot is free, its end is told later (C6)
    bool shared = false;    // killed, and what it shares may be held by others (A10)
  };
  struct Timer {
    scheduler::TimerId id;
    model::Duration delay = 0;
    model::Instant set_at = 0;  // of the journal
    model::Instant due = 0;     // of the core's clock
  };
  enum class JobState : std::uint8_t { none, live, succeeded, failed, cancelled, rejected };
  struct Resubmission {
    std::uint32_t planned = 0;  // place of the first
    std::int32_t number = 0;    // #n
  };

  [[nodiscard]] static Choice choice_of(What what, Choice::Kind kind, std::uint32_t a = 0,
                                        std::uint32_t b = 0, std::uint32_t c = 0) {
    return {kind, static_cast<std::uint8_t>(what), a, b, c};
  }
  void begin();
  [[nodiscard]] model::RunStart first_line() const;
  [[nodiscard]] bool anything_left() const;
  void offer_runs(std::vector<Choice>& list) const;
  void offer_timers(std::vector<Choice>& list) const;
  void offer_faults(std::vector<Choice>& list) const;
  void offer_fetch_failures(std::uint32_t run, std::vector<Choice>& list) const;
  [[nodiscard]] bool waits_for_producers(const Run& run) const;

  void emit(model::EventBody body);
  void step(const scheduler::Input& input);
  void pass();
  void carry_out(const scheduler::Actions& actions);
  void take_note(const model::EventBody& body);
  void start(const scheduler::Launch& launch);
  void end_task(const scheduler::EndTask& end);
  void kill_task(const scheduler::Kill& kill);
  void return_slot(const scheduler::ReturnSlot& back);
  void end_well(std::uint32_t run);
  void slot_returns(std::uint32_t run);
  void submit(std::uint32_t planned, std::int32_t number);
  void fire(std::uint32_t place);
  void join(std::uint32_t expected);
  void lose(std::uint32_t executor);
  void let_time_pass();
  [[nodiscard]] model::TaskRef task_ref(const scheduler::Launch& launch) const;
  [[nodiscard]] const model::JobSpec& spec_of(const scheduler::Launch& launch) const;
  [[nodiscard]] model::NameId profile_of(const scheduler::Launch& launch) const;
  [[nodiscard]] std::string name_of(std::uint32_t run) const;
  [[nodiscard]] std::string_view text(model::NameId name) const;
  [[nodiscard]] scheduler::JobId job_named(model::NameId name) const;
  [[nodiscard]] scheduler::JobId job_id(std::uint32_t planned, std::int32_t number) const;

  std::shared_ptr<const Setup> setup_;
  scheduler::Core core_;
  MonitorSet monitors_;
  model::Observer* listener_ = nullptr;
  model::Instant now_ = 0;    // of the journal: counts instants; not state
  model::Instant clock_ = 0;  // of the core
  bool open_ = false;         // the instant goes on: a pass is due in it
  bool waited_ = true;        // a long wait could change nothing
  std::uint32_t submitted_ = 0;
  std::uint32_t submissions_ = 0;  // resubmissions too: the next one's place in the queue
  std::uint32_t joined_ = 0;
  std::uint32_t faults_ = 0;
  std::uint32_t live_jobs_ = 0;
  std::vector<Run> runs_;      // by RunId
  std::vector<Timer> timers_;  // those that can change anything, in the order of being set
  struct Job {
    model::NameId name;
    JobState state = JobState::none;
  };
  std::vector<Job> jobs_;                    // by JobId
  std::vector<bool> lost_;                   // by ExecutorId
  std::vector<Resubmission> resubmissions_;  // that are to come
};

}  // namespace rehearse::properties
