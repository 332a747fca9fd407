// What the scheduler core asks of the engine that embeds it, in order. Actions of one step must be
// carried out in their order; the journal is written in that order too. The engine writes physical
// lines (task_start, task_end, slot_returned) itself, from what it did; logical lines come as they
// are to be written.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "model/support/events.hpp"
#include "scheduler/ids.hpp"
#include "scheduler/offers.hpp"

namespace rehearse::scheduler {

// Start this try. All launches of a group come in one step, after its group_admitted and
// stage_submitted lines (A2). The engine answers with TaskEnded, or KillEffective after a Kill.
struct Launch {
  RunId run;
  JobId job;
  StageIndex stage;  // within the job
  ExecutorId executor;
  model::NameId job_name;
  model::NameId stage_name;
  model::NameId executor_name;
  std::int32_t partition = 0;
  std::int32_t attempt = 0;     // of the stage
  std::int32_t try_number = 0;  // of the partition within the attempt
  Locality locality = Locality::any;
  bool speculative = false;  // a copy beside a try that runs (axis speculation)
  // A slice (A21): so many partitions behind the first, in one task, which has a slot for each.
  std::int32_t more = 0;
};

// Write the task_end line of a run that ended by itself or with its executor. First action of the
// step that TaskEnded caused. After it the run id is free.
struct EndTask {
  RunId run;
  model::TaskStatus status = model::TaskStatus::success;
  std::optional<model::TaskReason> reason;
  bool counted = true;
  bool shared = false;  // others of its group hold its slot (A10): write "slot": "held"
};

// Stop this try and write its task_end line, killed. Answer with KillEffective when its slots are
// free; before any other input of a later round if that is at once (overheads.kill 0).
struct Kill {
  RunId run;
  model::TaskReason reason = model::TaskReason::job_ended;
  bool shared = false;  // as EndTask: "slot": "held" however soon it takes effect
};

// The try ended well and its slot is free, but its task_end line waits for an EndTask to come (C6):
// write slot_returned, and "slot": "held" in the later line.
struct ReturnSlot {
  RunId run;
};

// The last task that a group had on an executor is over, and with it what its stages shared there
// (A10): write slot_returned. Comes in the step of TaskEnded or KillEffective.
struct ReturnShared {
  model::NameId job_name;
  model::NameId executor_name;
  model::NameId profile_name;
  std::int32_t count = 0;
};

// Answer with TimerFired{timer} after `delay`, in a later round.
struct SetTimer {
  TimerId timer;
  JobId job;  // whose it is; its end makes it void
  model::Duration delay = 0;
};

// A logical line to be written now: Actions::entries[index].
struct Entry {
  std::uint32_t index = 0;
};

// To CommitAsked.
struct CommitAnswered {
  CommitTry task;
  bool granted = false;
};

// SS-2.7: a task of the stage may run nowhere: every executor is excluded for it. The one named is
// idle and is to be replaced or, where executors come and go by themselves, one more is wanted. If
// nothing is launched until a timer is due the stage is given up.
struct Unschedulable {
  JobId job;
  StageIndex stage;
  ExecutorId replace;  // invalid: one more
};

using Action = std::variant<Entry, Launch, EndTask, Kill, SetTimer, ReturnSlot, ReturnShared,
                            CommitAnswered, Unschedulable>;

// Output of a step; reused by the caller to avoid allocation: clear() before each step.
struct Actions {
  std::vector<Action> list;
  std::vector<model::EventBody> entries;

  void clear() {
    list.clear();
    entries.clear();
  }
  // Built where it stays: a copy of what was just written, field by field, makes processors wait.
  template <class Kind, class... Fields>
  void add(Fields&&... fields) {
    list.emplace_back(std::in_place_type<Kind>, std::forward<Fields>(fields)...);
  }
  void write(model::EventBody body) {
    list.emplace_back(Entry{static_cast<std::uint32_t>(entries.size())});
    entries.push_back(std::move(body));
  }
};

}  // namespace rehearse::scheduler
