// Reads a journal once for all monitors: resolves names to rows and keeps the rows current. It
// judges nothing: an event that makes no sense changes nothing here, LEGAL_ORDER reports it. The
// time of a stretch of events with equal t is an instant; `instant()` numbers them.
//
// Cost: O(1) per task event and no allocation, except for a try that starts while an older one of
// its partition runs. Memory follows live jobs: a partition costs 24 bytes from the submission of
// its stage to the end of its job, a job 56 for ever.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/events.hpp"
#include "model/support/shared_slots.hpp"
#include "properties/claim_book.hpp"
#include "properties/monitor.hpp"
#include "properties/rows.hpp"
#include "properties/rules.hpp"
#include "properties/slot_book.hpp"
#include "properties/wait_book.hpp"

namespace rehearse::properties {

struct GroupRef {
  Index job = no_index;
  Index group = no_index;
};

class Track {
 public:
  void begin(const model::NameTable& names) { names_ = &names; }

  // ---- for MonitorSet: one event is resolve, monitors, apply ----

  // Moves the clock; true when an instant with something to judge is over: then monitors are
  // asked and close_instant() follows before the event is resolved.
  [[nodiscard]] bool opens_new_instant(model::Instant t) { return t != now_ && something_changed_; }
  // True when an instant is over at all, judged or not.
  [[nodiscard]] bool leaves_instant(model::Instant t) const { return t != now_; }
  // Before monitors are asked about an instant: gangs whose inputs are all there wait from now on,
  // whether or not somebody has looked at them.
  void settle();
  void close_instant();
  void set_time(model::Instant t);
  const Seen& resolve(const model::Event& event);
  void apply(const model::Event& event);

  // ---- for monitors: the journal up to, not including, the event at hand ----

  [[nodiscard]] const Rules& rules() const { return rules_; }
  [[nodiscard]] const SlotBook& slots() const { return slots_; }
  [[nodiscard]] const WaitBook& waits() const { return waits_; }
  [[nodiscard]] const ClaimBook& claims() const { return claims_; }
  [[nodiscard]] const model::SharedSlots& shared() const { return shared_; }
  // A10: do the stages of a group of so many share slots?
  [[nodiscard]] bool shares_slots(std::size_t members) const {
    return rules_.config.accounting != model::Accounting::sum && members > 1;
  }
  // Does this start take a slot, or run on one that its group holds there?
  [[nodiscard]] bool takes_slot(const model::TaskStart& event, const Seen& seen) const {
    return seen.group == nullptr || seen.stage->profile == no_index ||
           !shares_slots(seen.group->members.size()) ||
           shared_.takes_slot(event.task, slots_.profile_name(seen.stage->profile));
  }
  [[nodiscard]] model::Instant now() const { return now_; }
  [[nodiscard]] std::uint64_t instant() const { return instant_; }
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
  [[nodiscard]] const std::vector<Job>& jobs() const { return jobs_; }
  [[nodiscard]] std::int64_t live_jobs() const { return live_jobs_; }
  [[nodiscard]] std::int64_t live_tasks() const { return live_tasks_; }
  [[nodiscard]] std::int64_t launches() const { return launches_; }
  [[nodiscard]] std::int64_t ordered_kills() const { return ordered_kills_; }
  // By profile: slots of admitted groups whose tasks have not started.
  [[nodiscard]] const std::vector<std::int64_t>& owed() const { return owed_; }
  [[nodiscard]] bool anything_owed() const { return owed_total_ > 0; }

  // What changed in this instant.
  [[nodiscard]] const std::vector<GroupRef>& touched_groups() const { return touched_groups_; }
  [[nodiscard]] const std::vector<Index>& started_jobs() const { return started_jobs_; }
  [[nodiscard]] const std::vector<Index>& ended_jobs() const { return ended_jobs_; }
  [[nodiscard]] const std::vector<Index>& lost_executors() const { return lost_executors_; }
  [[nodiscard]] const Group& group(GroupRef ref) const {
    return jobs_[ref.job].body->groups[ref.group];
  }
  [[nodiscard]] const Job& job(Index index) const { return jobs_[index]; }
  [[nodiscard]] Index latest_job(model::NameId request) const;
  [[nodiscard]] model::NameId name_of(std::string_view text) const { return names_->find(text); }
  [[nodiscard]] UnitKey key_of(Index job, Index stage) const;
  // Of a unit that waits.
  [[nodiscard]] const Group& gang(const UnitKey& key) const {
    const JobBody& body = *jobs_[key.job].body;
    return body.groups[body.stages[key.stage].group];
  }
  // The first regular input of a stage that is not in place and complete; no_index = all are, as
  // far as this job's own stages go.
  [[nodiscard]] Index incomplete_input(const Job& job, const Stage& stage) const;

  // By counts: does every unit of a live job that has not succeeded, or whose outputs are not all
  // there, fit what lives when idle (A5)?
  // False where nobody can tell: of jobs that read stages of others.
  [[nodiscard]] bool fits_what_lives(const Job& job) const;

  // INPUTS_READY: all regular inputs of the stage were in place when it was asked last, and nothing
  // has been lost since.
  [[nodiscard]] bool inputs_were_there(const Seen& seen) const {
    return seen.stage->inputs_ok_at > std::max(seen.job->body->outputs_lost_at, outputs_gone_at_);
  }
  // The name of a regular input of the stage that is not in place; empty = all are.
  [[nodiscard]] std::string missing_input(const Seen& seen) const;

  // ---- texts for details ----
  [[nodiscard]] std::string text(model::NameId name) const;
  [[nodiscard]] std::string_view view(model::NameId name) const { return names_->text(name); }
  [[nodiscard]] std::string name(const Job& job) const { return text(job.name); }
  [[nodiscard]] std::string name(const Job& job, const Stage& stage) const;
  [[nodiscard]] std::string name(const Job& job, const Group& group) const;
  [[nodiscard]] std::string name(
      const model::TaskRef& task) const;  // job/stage/partition, "to" the last
  [[nodiscard]] std::string name(const model::StageRef& stage) const;
  [[nodiscard]] std::string profile_text(Index profile) const;

 private:
  // As Seen, writable.
  struct Target {
    Job* job = nullptr;
    Stage* stage = nullptr;
    Group* group = nullptr;
    Executor* executor = nullptr;
    Partition* partition = nullptr;
    std::size_t older = not_older;  // of task_end: its place in JobBody::older
  };
  static constexpr std::size_t not_older = ~std::size_t{0};

  [[nodiscard]] Index find_job(model::NameId name) const;
  [[nodiscard]] static Index find_stage(const JobBody& body, model::NameId name);
  void resolve_job(model::NameId name);
  void resolve_stage(model::NameId job, model::NameId stage);
  void resolve_executor(model::NameId name);
  void resolve_task(const model::TaskRef& task);
  void resolve_live(const model::TaskRef& task);
  [[nodiscard]] std::optional<std::size_t> find_try(const model::TaskRef& task,
                                                    std::int32_t p) const;
  [[nodiscard]] bool is_whole(const model::TaskRef& task) const;
  [[nodiscard]] std::array<std::int64_t, 4> slice_key(const model::TaskRef& task) const;
  void resolve_group(model::NameId job, model::NameId stage);
  template <class Body>
  void resolve_other(const Body& body);

  // One per kind; track_lifecycle.cpp and track_tasks.cpp.
  void apply_one(const model::RunStart& event);
  void apply_one(const model::ExecutorAdded& event);
  void apply_one(const model::ExecutorLost& event);
  void apply_one(const model::ExecutorHeld& event);
  void apply_one(const model::ExecutorReleased& event);
  void apply_one(const model::JobSubmitted& event);
  void apply_one(const model::JobRejected& event);
  void apply_one(const model::JobStarted& event);
  void apply_one(const model::JobEnd& event);
  void apply_one(const model::GroupFormed& event);
  void apply_one(const model::GroupQueued& event);
  void apply_one(const model::GroupAdmitted& event);
  void apply_one(const model::GroupCommitted& event);
  void apply_one(const model::GroupFailed& event);
  void apply_one(const model::GroupCancelled& event);
  void apply_one(const model::EdgesChanged& event);
  void apply_one(const model::StageSubmitted& event);
  void apply_one(const model::StageCompleted& event);
  void apply_one(const model::TaskStart& event);
  void apply_one(const model::TaskEnd& event);
  void apply_one(const model::SlotReturned& event);
  void apply_one(const model::OutputsRegistered& event);
  void apply_one(const model::OutputsLost& event);
  void apply_one(const model::OutputCommitted& event);
  void apply_one(const model::Reservation& event);

  void add_edges(const model::JobSubmitted& event, JobBody& body) const;
  void add_foreign_edge(std::string_view path, Index to, JobBody& body) const;
  void end_job(JobState state);
  void close_group(GroupState state);
  void touch();
  void begin_waiting(Index job, Group& group);
  void cease_waiting(Index job, Group& group);
  void look_at_groups(Index job);
  void list_stage();  // of the event at hand
  void begin_try(const model::TaskStart& event, std::int32_t p);
  void end_try(std::size_t older_place);
  void note_end(const model::TaskEnd& event, std::int32_t p);
  void wait_again(const model::TaskEnd& event, std::int32_t p);
  void no_longer_waits();                                  // the partition at hand
  void claim(std::int64_t running, std::int64_t waiting);  // the stage at hand
  void claim_no_more(Stage& stage);
  void drop_body(Job& job);
  void succeed(const model::TaskEnd& event);
  [[nodiscard]] bool shares() const;
  void return_slot(const model::TaskEnd& event);
  bool return_shared(const model::SlotReturned& event);
  void end_epochs();
  void adopt_stage(const model::StageSubmitted& event);

  const model::NameTable* names_ = nullptr;
  Rules rules_;
  SlotBook slots_;
  WaitBook waits_;
  ClaimBook claims_;
  model::SharedSlots shared_;
  std::vector<Job> jobs_;
  std::vector<Index> progressed_;      // jobs in which an input may have become complete
  std::vector<Index> job_of_name_;     // by NameId
  std::vector<Index> latest_of_name_;  // by NameId of the first submission: its latest #n
  std::vector<std::int64_t> owed_;
  std::int64_t owed_total_ = 0;
  std::int64_t live_jobs_ = 0, live_tasks_ = 0, launches_ = 0, ordered_kills_ = 0;

  model::Instant now_ = 0;
  std::uint64_t instant_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t outputs_gone_at_ = 0;  // sequence of the last loss that took outputs along
  bool something_changed_ = false;
  bool fetch_failed_ = false;  // in this instant
  std::vector<GroupRef> touched_groups_;
  std::vector<Index> started_jobs_, ended_jobs_, lost_executors_;
  // Of the outputs_lost lines of this instant: where, the epoch that began there if one did, and
  // whether nothing but the end of one can be why.
  struct Struck {
    Index executor = no_index;
    std::uint32_t epoch = 0;
    bool certain = false;
  };
  std::vector<Struck> struck_;

  Seen seen_;
  Target target_;
  // The last stage that was named: events of one stage come in runs.
  model::NameId last_job_name_, last_stage_name_;
  Index last_job_ = no_index, last_stage_ = no_index;
};

}  // namespace rehearse::properties
