// Which tasks share slots under accounting other than `sum` (A10), read from the lines of a journal
// alone. The tasks that a group of two or more stages runs on one executor hold, of each profile,
// the largest number that one of its stages has had running there at a time; a task_start takes a
// slot only when it raises that number, and slot_returned gives the slots back. Judges nothing.
// O(groups on the executor) per task.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/support/events.hpp"
#include "model/support/names.hpp"

namespace rehearse::model {

class SharedSlots {
 public:
  struct Share {
    NameId job;
    NameId group;  // its first stage; invalid: see hold()
    NameId profile;
    std::int64_t slots = 0;
    std::int64_t running = 0;  // tasks whose line of the end has not come
    std::vector<std::pair<NameId, std::int64_t>> by_stage;  // running
  };

  // False under `sum`: then nothing is shared and nothing else need be told or asked.
  [[nodiscard]] bool enabled() const { return enabled_; }

  void begin(const RunStart& run, const NameTable& names);
  void formed(const GroupFormed& group);
  void dissolved(const EdgesChanged& group);
  void job_over(NameId job);

  // Does the stage belong to a group whose stages share?
  [[nodiscard]] bool shares(NameId job, NameId stage) const {
    return groups_.contains({job, stage});
  }
  // Of tasks of stages that share. Does this start take a slot of its executor?
  [[nodiscard]] bool takes_slot(const TaskRef& task, NameId profile) const;
  bool start(const TaskRef& task, NameId profile);  // the same, noted
  // Null: its executor is lost, and what it held there with it. Good until the next change.
  Share* end(const TaskRef& task, NameId profile);

  [[nodiscard]] const Share* find(const TaskRef& task, NameId profile) const;
  // A task that shares nothing has ended, and its line says that its slot is held.
  void hold(const TaskRef& task, NameId profile);
  // The share that a slot_returned line is about, by its size: one of that job that nothing runs
  // in; else, where no slot of hold() is left to return, any. Null: no share.
  [[nodiscard]] const Share* find(const SlotReturned& line) const;
  // Notes the line; the share it was about, as it was before.
  std::optional<Share> give_back(const SlotReturned& line);
  // What groups share on the executor, in the order in which it began.
  [[nodiscard]] std::vector<Share> on(NameId executor) const;
  void lost(NameId executor) { by_executor_.erase(executor); }

 private:
  [[nodiscard]] Share* writable(NameId executor, const Share* share);

  bool enabled_ = false;
  std::map<std::pair<NameId, NameId>, NameId> groups_;  // by (job, stage)
  std::map<NameId, std::vector<Share>> by_executor_;
};

}  // namespace rehearse::model
