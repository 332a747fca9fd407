// What the journal so far says about jobs, groups, stages and running tasks: plain rows, filled by
// Track and read by monitors. Names are resolved once; rows are reached by index, never by hash.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "model/support/event_types.hpp"
#include "model/support/names.hpp"
#include "model/support/time.hpp"
#include "properties/slot_book.hpp"

namespace rehearse::properties {

inline constexpr std::uint64_t no_time_slot = ~std::uint64_t{0};

enum class JobState : std::uint8_t { submitted, rejected, started, succeeded, failed, cancelled };
enum class AttemptState : std::uint8_t { none, open, succeeded, failed, cancelled };
enum class GroupState : std::uint8_t {
  formed,
  queued,
  admitted,
  committed,
  failed,
  cancelled,
  dissolved
};

// A try that started and has not ended.
struct Task {
  std::int32_t attempt = -1;
  std::int32_t try_number = -1;
  Index executor = no_index;
  std::uint32_t epoch : 31 = 0;  // of its executor when it started
  std::uint32_t speculative : 1 = 0;
};

// The last try is kept in place: with few exceptions it is the only one. `last` stays as it was
// when that try has ended.
struct Partition {
  Task last;
  bool live : 1 = false;       // `last` is running
  bool more : 1 = false;       // older tries run too: JobBody::older
  bool done : 1 = false;       // a success counts (for a member: in this attempt of its group)
  bool succeeded : 1 = false;  // the same, whatever became of its output since
  bool output : 1 = false;     // registered and not lost
  bool waits : 1 = false;      // for a launch in the last attempt
  Index executor = no_index;   // of the success that counted last
};

[[nodiscard]] inline bool all_done(std::span<const Partition> partitions) {
  return std::all_of(partitions.begin(), partitions.end(),
                     [](const Partition& partition) { return partition.done; });
}

// A running try of a partition whose `last` is a newer one.
struct OlderTry {
  Index stage = no_index;
  std::int32_t partition = 0;
  Task task;
};

// What every task event reads comes first.
struct Stage {
  std::vector<Partition> partitions;  // empty until first submitted
  model::NameId name;
  Index group = no_index;  // of its job; no_index = a singleton that is no gang
  Index profile = no_index;
  std::int32_t attempt = -1;  // the last one submitted
  AttemptState state = AttemptState::none;
  bool sink = true;  // nothing of its job reads it
  bool barrier = false;
  bool copy = false;    // of another job's stage: its place in the file is not known
  bool listed = false;  // in WaitBook
  model::Commits commits{};
  std::int32_t waiting = 0;  // partitions that wait for a launch
  std::int32_t running = 0;  // tries of the open attempt; only where claims are kept (ClaimBook)
  std::int64_t tasks = 0;
  std::int64_t done = 0;                      // partitions
  std::int64_t outputs = 0;                   // partitions
  Index in_first = 0, in_count = 0;           // of JobBody::edges_in
  std::int64_t submitted = 0;                 // tasks of the last attempt
  std::uint64_t submitted_in = no_time_slot;  // instant of stage_submitted
  std::uint64_t closed_in = no_time_slot;     // instant of stage_completed
  // A cached answer: the sequence at which all regular inputs were last seen in place.
  mutable std::uint64_t inputs_ok_at = 0;
  std::vector<std::int32_t> commit_attempt;  // by partition, -1 = none; empty until one commits
  model::Ranges subset;                      // partitions of the last attempt when not all

  // A1: every output is there; a stage without tasks is complete when it is completed.
  [[nodiscard]] bool available() const {
    return outputs == tasks && (tasks > 0 || state == AttemptState::succeeded);
  }
  // Of a member in this attempt; X10 (b): what was lost since is done again after the commit.
  [[nodiscard]] bool all_succeeded() const {
    return std::ranges::all_of(partitions, [](const Partition& task) { return task.succeeded; });
  }
};

struct Group {
  Index first = no_index;            // its first stage in file order names it
  std::vector<Index> members;        // file order
  std::vector<Index> topological;    // smallest file index first
  std::vector<std::int64_t> demand;  // by profile, sum of member tasks
  std::vector<std::int64_t> owed;    // by profile: admitted, not launched yet
  GroupState state = GroupState::formed;
  std::int32_t attempt = -1;  // of the last admission
  std::int64_t tasks = 0;     // submitted in that attempt
  std::int64_t started = 0;
  std::int64_t running = 0;
  std::int64_t reserved = 0;  // slots of `reservation` lines
  std::size_t submitted = 0;  // members submitted in that attempt
  bool all_ran = false;       // all its tasks were running at one instant
  bool rerun = false;         // it failed and is to run again (X16)
  bool waits = false;         // ready, refused or not looked at yet: in WaitBook
  model::Instant waits_since = 0;
  std::int32_t refused = 0;  // group_queued lines with reason slots
  Index watched = no_index;  // a stage whose outputs were not there when it was last looked at
  std::uint64_t touched_in = no_time_slot;
  std::uint64_t admitted_in = no_time_slot;
  std::uint64_t closed_in = no_time_slot;       // committed, failed or cancelled
  std::uint64_t failed_in = no_time_slot;       // group_failed; kept when it is admitted again
  std::uint64_t committed_in = no_time_slot;    // group_committed; the same
  std::uint64_t task_failed_in = no_time_slot;  // a member task failed (X1)
  std::uint64_t task_killed_in = no_time_slot;  // a member task was killed as group_failed (X4)

  [[nodiscard]] bool gang_of_several() const { return members.size() > 1; }
  [[nodiscard]] bool committed_once() const { return committed_in != no_time_slot; }
  [[nodiscard]] bool live() const {
    return state == GroupState::formed || state == GroupState::queued ||
           state == GroupState::admitted;
  }
};

struct Edge {
  Index from = no_index;
  Index to = no_index;
  model::EdgeKind kind{};  // after marks and axis
};

// A regular edge from a stage of another job.
struct ForeignEdge {
  model::NameId job;        // as written
  Index writer = no_index;  // its latest resubmission when the reader was submitted
  model::NameId stage;
  model::NameId copy;        // "job.stage": what the reader runs itself when the job is gone
  Index profile = no_index;  // of that stage, if its job lived at submission
  Index to = no_index;       // of the reading job
};

// What is only needed while a job lives; freed when the instant of its end is over.
struct JobBody {
  struct Named {
    model::NameId name;
    Index stage = no_index;
  };
  model::Instant submitted_at = 0;
  std::int64_t priority = 0;
  Index lane = 0;              // of WaitBook
  std::vector<Stage> stages;   // file order
  model::NameId first_name;    // of the first of them
  std::vector<Named> by_name;  // sorted
  std::vector<Group> groups;
  std::vector<Edge> edges_in;  // by `to`
  std::vector<ForeignEdge> foreign;
  std::vector<OlderTry> older;  // few, and most of the time none
  // Slices that run (A21), by stage, first partition, attempt and try: partitions behind the first.
  std::map<std::array<std::int64_t, 4>, std::int32_t> slices;
  std::uint64_t outputs_lost_at = 0;  // sequence
};

// Null, or a body of its own: a copy copies it.
class BodyPtr {
 public:
  BodyPtr() = default;
  ~BodyPtr() = default;
  BodyPtr(const BodyPtr& other) : body_(other.copied()) {}
  BodyPtr(BodyPtr&&) noexcept = default;
  BodyPtr& operator=(const BodyPtr& other) {
    if (this == &other) {
      return *this;
    }
    if (body_ && other.body_) {
      *body_ = *other.body_;
    } else {
      body_ = other.copied();
    }
    return *this;
  }
  BodyPtr& operator=(BodyPtr&&) noexcept = default;

  void make() { body_ = std::make_unique<JobBody>(); }
  void reset() { body_.reset(); }
  [[nodiscard]] JobBody* get() const { return body_.get(); }
  [[nodiscard]] JobBody* operator->() const { return body_.get(); }
  [[nodiscard]] JobBody& operator*() const { return *body_; }
  [[nodiscard]] bool operator==(std::nullptr_t) const { return body_ == nullptr; }
  [[nodiscard]] explicit operator bool() const { return body_ != nullptr; }

 private:
  [[nodiscard]] std::unique_ptr<JobBody> copied() const {
    return body_ ? std::make_unique<JobBody>(*body_) : nullptr;
  }

  std::unique_ptr<JobBody> body_;
};

struct Job {
  model::NameId name;
  JobState state = JobState::submitted;
  model::Instant ended_at = 0;  // when ended()
  std::int32_t live_tasks = 0;
  std::int32_t held_slots = 0;                     // of ended tasks, on live executors
  std::uint64_t slots_returned_in = no_time_slot;  // instant of its last task_end that freed a slot
  BodyPtr body;                                    // null after its end

  [[nodiscard]] bool ended() const {
    return state == JobState::succeeded || state == JobState::failed ||
           state == JobState::cancelled || state == JobState::rejected;
  }
};

}  // namespace rehearse::properties
