// All that can happen to the tables of the oracle, by chapter of semantics.md, one source file
// each. Private to properties/oracle.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/draw.hpp"
#include "properties/oracle/oracle.hpp"
#include "properties/oracle/tables.hpp"

namespace rehearse::properties::oracle {

class World {
 public:
  explicit World(const model::Scenario& scenario);
  Expected run();

 private:
  using Action = std::function<bool()>;  // false: it had lost its meaning
  using RoomOf = std::function<std::int64_t(int)>;
  using Gangs = std::vector<std::pair<Job*, int>>;  // jobs and their units, or stages
  using Progress = std::map<const Unit*, std::set<std::pair<NameId, std::int32_t>>>;

  // clock.cpp: scenario.md 4, faults, callers
  void at(Instant when, int kind, std::int64_t first, std::int64_t second, Action act);
  [[nodiscard]] std::int64_t created();
  void arm(const Job& job, Instant when, Action act);  // a timer of the scheduler
  bool round();
  void close_step();
  void tell_returned();
  [[nodiscard]] bool means(NameId name, NameId run) const;
  void say(model::EventBody body, std::string_view clause);
  void moments(const model::EventBody& body);
  void reach(model::Moment moment, NameId job, NameId stage, NameId executor, bool of_members);
  [[nodiscard]] const Unit* unit_of(NameId job, NameId stage) const;
  std::pair<std::int64_t, std::int64_t> progress(Progress& of, const model::TaskRef& task);
  bool strike(const model::TimedAction& action);
  bool cancel(NameId name);
  bool lose(const model::LoseExecutor& loss);
  bool hold(const model::HoldExecutors& hold);
  void expect_executor(const model::ExecutorSpec& spec, Instant when, std::int64_t order);
  bool join(int executor);
  void leave_if_idle(int executor);
  void call(std::size_t spec);
  void job_over(Job& job, model::JobOutcome outcome);
  [[nodiscard]] const Caller& caller(NameId job) const;
  [[nodiscard]] Duration drawn(const Try& task, model::DrawPurpose purpose,
                               const model::Distribution& from) const;

  // submit.cpp: formation, rejection, capacity
  bool submit(std::size_t origin, int copy, int resubmission);
  void form(Job& job);
  [[nodiscard]] std::vector<model::Code> codes(Job& job, model::JobRejected& line);
  [[nodiscard]] bool reused(const Job& job) const;
  [[nodiscard]] Counts unclaimed() const;
  [[nodiscard]] Counts demand(const Job& job, const Unit& unit) const;
  [[nodiscard]] Counts asked(const Job& job, const Unit& unit) const;
  [[nodiscard]] Counts idle_slots() const;
  [[nodiscard]] bool can_ever_fit(const Job& job, const Unit& unit) const;
  [[nodiscard]] model::PerProfile named(const Counts& counts, const Counts& need) const;

  // foreign.cpp: stages of other jobs
  [[nodiscard]] Foreign named(const model::EdgeSpec& edge) const;
  [[nodiscard]] std::vector<Foreign> foreign_of(std::size_t reader) const;
  [[nodiscard]] bool shared(std::size_t job, std::size_t stage) const;
  void carry_along(Job& job);
  void stand_in(Job& job);
  [[nodiscard]] NameId shown(const Job& job, model::StageIndex from);
  void wake_others(const Stage& original);
  void make_yourselves(const Job& over);
  void want_others(const Stage& original);
  [[nodiscard]] Gangs stand_ins(const Stage& original);

  // scale.cpp: the autoscaler
  void expect_scaling();
  bool scale();
  void ask_for_one();
  void watch_scaling();
  void plan_round();
  void plan_leave();
  [[nodiscard]] bool pooled(const Executor& e) const;
  [[nodiscard]] int pool_size() const;
  [[nodiscard]] int room_in_pool() const;
  [[nodiscard]] int lacking() const;
  [[nodiscard]] bool counts_for_capacity(const Executor& e) const;
  [[nodiscard]] bool all_over() const;
  [[nodiscard]] std::int64_t slots_of_one(std::size_t profile) const;
  [[nodiscard]] Counts waiting() const;
  [[nodiscard]] bool anything_waits() const;
  [[nodiscard]] int needed() const;
  [[nodiscard]] bool below_min() const;
  [[nodiscard]] bool one_too_many() const;
  [[nodiscard]] bool idles(int executor) const;
  [[nodiscard]] std::optional<int> longest_idle() const;

  // pass.cpp: queue, admission, placement
  void pass();
  void visit(Job& job, Unit& unit);
  void refuse(Job& job, Unit& unit);
  void launch_stage(Job& job, int stage);
  void launch_together(Job& job, Unit& unit);
  void admit(Job& job, Unit& unit, std::vector<Place> places);
  void finish_empty(Job& job, Unit& unit, int stage);
  void open_attempt(Job& job, int stage, const std::vector<int>& partitions);
  void launch(Job& job, int stage, int partition, int executor);
  void schedule_end(std::size_t number);
  void share_out(Job& job, const Unit& unit, std::vector<Place>& places);
  [[nodiscard]] std::int64_t room(const Executor& e, model::ProfileId p,
                                  const model::ResourceVector& used) const;
  [[nodiscard]] Counts free_slots() const;
  [[nodiscard]] Counts at_hand() const;
  [[nodiscard]] bool kept_back(const Executor& e) const;
  [[nodiscard]] int choose(const model::StageSpec& stage, int partition, model::Placement rule,
                           const RoomOf& room_of) const {
    return near(stage, partition, rule, room_of, Level::any).executor;
  }
  [[nodiscard]] std::pair<Instant, int> number_of(int executor) const;
  [[nodiscard]] std::optional<std::vector<Place>> trial(const Job& job, const Unit& unit, bool idle,
                                                        Level limit = Level::any) const;
  [[nodiscard]] std::vector<int> by_share(const Job& job, const Unit& unit) const;

  // near.cpp: preferences, and how long they are waited for
  [[nodiscard]] Found near(const model::StageSpec& stage, int partition, model::Placement rule,
                           const RoomOf& room_of, Level limit) const;
  [[nodiscard]] bool waits_near(const Job& job, int stage) const;
  void launch_near(Job& job, int stage);
  void wait_near(const Job& job, Stage& stage, Level limit);
  [[nodiscard]] std::vector<Level> levels(const model::StageSpec& stage,
                                          const std::set<int>& pending) const;
  [[nodiscard]] Level allowed(Delay& delay, const std::vector<Level>& offered) const;
  [[nodiscard]] Duration wait_at(Level level) const;

  // finish.cpp: running and completion
  bool report(std::size_t number);
  void succeed_regular(std::size_t number);
  void succeed_member(std::size_t number);
  void member_done(Job& job, Unit& unit, int stage);
  void release(Job& job, Unit& unit, int stage);
  void commit_group(Job& job, Unit& unit);
  void commit_authorized(Job& job, const Unit& unit);
  void end_group(Job& job, Unit& unit);
  void commit(std::size_t number);
  void complete(Job& job, int stage, model::StageStatus status,
                std::optional<model::StageReason> reason, std::string_view clause);
  void check_attempt(Job& job, int stage);
  void settle(Job& job);
  void unready(Job& job);
  void unready(Job& job, int stage);
  bool settle_once(Job& job);
  void wake(Job& job, int stage);
  bool start(Job& job, Unit& unit);
  bool want_inputs(Job& job, const Unit& unit);
  bool want(Job& job, int stage);
  bool make_again(Job& job, int stage);
  void end_if_done(Job& job);
  void tell_end(std::size_t number, model::TaskStatus status,
                std::optional<model::TaskReason> reason, bool counted = true);
  void kill(std::size_t number, model::TaskReason reason);
  void free_slot(std::size_t number);
  void use(int executor, model::ProfileId profile, std::int64_t count);
  std::vector<model::SlotReturned> share_over(const Try& task);
  [[nodiscard]] model::SlotReturned returned(const Try& task, model::ProfileId profile,
                                             std::int64_t count) const;
  [[nodiscard]] bool shares(const Try& task) const;
  [[nodiscard]] static std::vector<int> missing(const Job& job, int stage);
  [[nodiscard]] static bool available(const Stage& stage);
  [[nodiscard]] static bool inputs_there(const Job& job, const Unit& unit);
  [[nodiscard]] static bool producers_done(const Job& job, int stage);
  [[nodiscard]] static bool sink(const Job& job, int stage);
  [[nodiscard]] model::TaskRef ref(const Try& task) const;

  // fail.cpp: failures, losses, ends of jobs, starvation
  void notice(int executor, model::LossCause cause);
  void leave(int executor, model::LossCause cause);
  void lost_members(int executor, bool outputs_go, Gangs& gangs);
  void strike_off(int executor, bool repeat);
  [[nodiscard]] std::vector<int> without_outputs(int executor, model::LossCause cause);
  [[nodiscard]] static bool awaited(const Job& job, int stage);
  void drop_output(int executor, Job& job, int stage, bool repeat);
  void tell_held_back(Job& job, int stage, bool counted);
  void discard(Job& job, int stage);
  void drop_outputs(Job& job, int stage);
  void kill_all(Job& job, int stage, model::TaskReason reason);
  void fail_task(std::size_t number);
  void fail_regular(std::size_t number, bool by_app);
  void fail_fetch(std::size_t number);
  void fail_attempt(Job& job, int stage, model::StageReason reason);
  void retry_attempt(Job& job, int stage, Duration delay, int source = nobody);
  void fail_gang(Job& job, Unit& unit, model::Code cause);
  void fail_barrier(Job& job, Unit& unit, model::Code cause);
  void restart();
  void settle_all();
  void queue_for_inputs(const Job& job, Unit& unit);
  void end_job(Job& job, model::JobOutcome outcome, std::optional<model::Code> code,
               const Unit* short_of = nullptr);
  void tear_down(Job& job, model::JobOutcome outcome);
  void watch_starvation();
  [[nodiscard]] bool starves(const Job& job, const Unit& unit) const;
  void begin_grace(Job& job);
  [[nodiscard]] int read_from(const Try& task) const;
  [[nodiscard]] int read_stage(const Try& task) const;

  // rollback.cpp: indeterminate stages (SS-1.10, decision 5)
  void roll_back(Job& job, int stage);
  void roll_back_named(Job& reader, int reading, int stage);
  void undo(Job& job, Unit& unit, bool source, Gangs& stopped);
  void roll_back_again(Job& job, const Unit& unit);
  [[nodiscard]] std::map<Job*, std::set<int>> read_by(Job& job, int stage);

  const model::Scenario& scenario_;
  const model::SchedulerConfig& config_;
  const model::Cluster& cluster_;
  Expected out_;
  Instant now_ = 0;
  std::vector<Due> dues_;
  std::int64_t sequence_ = 0;
  Table<Executor> executors_;  // in the order of the file, then of faults
  int joined_ = 0;
  Table<Job> jobs_;          // by submission
  std::vector<Job*> queue_;  // by rank (A18)
  Table<Try> tries_;         // by launch
  std::vector<Share> shares_;
  Table<Caller> callers_;  // by job of the file
  std::vector<Choice> moments_;
  Progress launched_, finished_;
  bool loss_noticed_ = false;
  bool again_ = false;  // A8: the pass changed what a pass looks at
  std::optional<std::vector<std::size_t>> killed_in_pass_;  // their slots are for the next
  bool cut_ = false;  // a job ended in it: the rest of the pass is for the next round
  std::optional<std::pair<Job*, int>> head_;  // A16, of the pass at hand
  std::map<int, std::set<int>> announced_;    // in this step: a parent, and whom it was told to
  Gangs ruled_out_;                           // of the pass at hand
  std::vector<int> freed_;                    // in this step, by kills: executors
  Gangs wanted_;                              // in this step: of what is to be done again
  std::vector<Restart> restarts_;             // by failure
  std::optional<Instant> waits_since_, next_round_, next_leave_;  // of the autoscaler
  Instant last_round_ = 0;
  int round_size_ = 1, asked_ = 0;
  std::vector<model::SlotReturned> after_step_;  // slots of A10 that a kill returns
};

}  // namespace rehearse::properties::oracle
