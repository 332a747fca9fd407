// The fault plan at work: which faults hit which try, and which timed faults a moment sets off
// (scenario.md section 2). Looks at journal events only; executing a fault is the driver's
// business.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/fault_plan.hpp"
#include "model/support/events.hpp"

namespace rehearse::sim {

// What the plan says of one try; several entries combine: slowness multiplies, lateness adds, the
// earliest failure counts (ties: file order).
struct TryFaults {
  std::int64_t slow_milli = model::milli;
  model::Duration status_late = 0;
  const model::TaskFault* failure = nullptr;  // fails or fetch_fails
};

// A timed fault that is due `at`.
struct DueFault {
  std::uint32_t index = 0;  // in FaultPlan::timed
  model::Instant at = 0;
};

class Faults {
 public:
  Faults(const model::FaultPlan& plan, const model::NameTable& names);

  [[nodiscard]] const model::TimedFault& timed(std::uint32_t index) const {
    return plan_.timed[index];
  }
  // Faults with `at`.
  [[nodiscard]] std::vector<DueFault> planned() const;
  // Is any task fault about that stage of a job of that name?
  [[nodiscard]] bool any_about(model::NameId job, model::NameId stage) const;
  [[nodiscard]] bool any_moments() const { return any_moments_; }

  // Those of one partition of the task. Marks the entries that apply as fired. `plain_name`:
  // another name of the task's job, the bare one of a repeated job.
  [[nodiscard]] TryFaults of_try(const model::TaskRef& task, std::int32_t partition,
                                 model::NameId plain_name);

  // Moments of `job` are moments of `plain_name`, too.
  void also_called(model::NameId job, model::NameId plain_name) {
    plain_names_[job.value] = plain_name;
  }

  // An event was journalled, or a timer of a job was armed: the faults it sets off.
  [[nodiscard]] std::vector<DueFault> after_event(const model::Event& event);
  [[nodiscard]] std::vector<DueFault> after_timer(model::NameId job, model::Instant now);

  void mark_fired(std::uint32_t timed_index) { timed_fired_[timed_index] = true; }
  // "faults/3: lose_executor e7": by place in the file.
  [[nodiscard]] std::vector<std::string> never_fired() const;

 private:
  using NameKey = std::uint32_t;                             // value of a name id
  using StageKey = std::pair<std::uint32_t, std::uint32_t>;  // job, stage name ids
  // A set of partitions of the stages of a group, which are few.
  class Partitions {
   public:
    // Was any of the task's new?
    bool insert(const model::TaskRef& task);
    void erase(model::NameId stage, const model::Range& range);
    [[nodiscard]] std::int64_t size() const { return size_; }

   private:
    struct Row {
      model::NameId stage;
      std::vector<bool> has;  // by partition, as far as there was one
    };
    std::vector<Row> rows_;
    std::int64_t size_ = 0;
  };
  struct Attempt {  // of a group, or of a stage that is one of its own
    std::int64_t tasks = 0;
    std::int64_t launched = 0;
    Partitions started = {};
    Partitions done = {};
  };
  struct Occurrence {
    model::Moment moment{};
    model::NameId job;
    std::span<const model::NameId> stages;  // any of them matches
    model::NameId executor;
  };

  void occur(const Occurrence& occurrence, model::Instant now, std::vector<DueFault>& due);
  void forget_done(const model::OutputsLost& lost);
  void follow_formed(const model::GroupFormed& line);
  void follow_submitted(const model::StageSubmitted& line, model::Instant now,
                        std::vector<DueFault>& due);
  void follow_start(const model::TaskStart& start, model::Instant now, std::vector<DueFault>& due);
  void follow_end(const model::TaskEnd& end, model::Instant now, std::vector<DueFault>& due);
  [[nodiscard]] StageKey group_of(model::NameId job, model::NameId stage) const;
  // `stage` must outlive what is returned.
  [[nodiscard]] std::span<const model::NameId> members_of(model::NameId job,
                                                          const model::NameId& stage) const;
  void follow_stages(const model::Event& event, std::vector<DueFault>& due);

  const model::FaultPlan& plan_;
  const model::NameTable& names_;
  bool any_moments_ = false;
  std::map<std::uint32_t, model::NameId> plain_names_;  // by job name
  std::vector<bool> timed_fired_;
  std::vector<bool> task_fired_;
  std::vector<std::int32_t> seen_;  // occurrences that matched, by timed fault
  struct Target {
    NameKey job = 0;
    NameKey stage = 0;
    std::int32_t partition = 0;
    std::uint32_t entry = 0;  // in FaultPlan::tasks
    auto operator<=>(const Target&) const = default;
  };
  struct Range {  // in targets_; end 0: none
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };
  std::vector<Target> targets_;                                   // sorted
  std::vector<Range> targets_of_;                                 // by name id of the job
  std::map<StageKey, StageKey> leader_of_;                        // members of groups
  std::map<StageKey, std::vector<model::NameId>> group_members_;  // by leader
  std::map<StageKey, Attempt> attempts_;                          // live, by leader
};

}  // namespace rehearse::sim
