// What runs, waits and is free at an instant, as the journal tells it (scenario.md section 6): the
// state that expectations with `at` look at.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/resources.hpp"
#include "model/support/events.hpp"
#include "model/support/shared_slots.hpp"

namespace rehearse::properties {

// State of one stage of one job.
enum class StagePhase : std::uint8_t {
  unknown,    // the job was never submitted, or has no such stage
  waiting,    // the job lives, no attempt is under way, the stage is not completed
  running,    // an attempt is submitted and not completed
  completed,  // its last attempt ended well
  over,       // not completed, and the job has ended or was rejected
};

class ClusterState {
 public:
  void begin(const model::NameTable& names);
  void apply(const model::Event& event);

  [[nodiscard]] StagePhase phase(std::string_view job, std::string_view stage) const;

  // Sum over live, not held executors that serve the profile of the tasks of it that still fit
  // beside what runs and is reserved. Nothing when the journal names no such profile.
  [[nodiscard]] std::optional<std::int64_t> free(std::string_view profile) const;
  // "e0 1, e1 2": the summands, for messages.
  [[nodiscard]] std::string free_by_executor(std::string_view profile) const;

 private:
  struct Stage {
    model::NameId profile;
    std::int64_t open_attempts = 0;
    bool succeeded = false;
  };
  struct Job {
    bool alive = false;
    std::map<model::NameId, Stage> stages;
  };
  struct Executor {
    bool live = false;
    bool held = false;
    model::NameId profile;  // invalid = unbound
    model::ResourceVector capacity;
    model::ResourceVector used;
    std::map<model::NameId, std::int64_t> reserved;  // slots by profile
  };
  struct ProfileTask {
    model::NameId name;
    model::ResourceVector task;
  };

  void on(const model::RunStart& event);
  void on(const model::ExecutorAdded& event);
  void on(const model::JobSubmitted& event);
  void on(const model::TaskStart& event);
  void on(const model::TaskEnd& event);
  void on(const model::SlotReturned& event);
  void on(const model::Reservation& event);
  void on(const model::StageCompleted& event);
  void on_other(const model::Event& event);

  struct Change {
    model::NameId executor;
    model::NameId profile;
    std::int64_t tasks = 0;  // > 0: taken; < 0: given back
  };
  void change_used(const Change& change);
  [[nodiscard]] model::NameId profile_of(const model::TaskRef& task) const;
  [[nodiscard]] const ProfileTask* find_profile(model::NameId name) const;
  [[nodiscard]] std::int64_t free_on(const Executor& executor, const ProfileTask& profile) const;
  void add_amounts(model::ResourceVector& vector, const model::Amounts& amounts);
  void widen(model::ResourceVector& vector) const;

  const model::NameTable* names_ = nullptr;
  model::SharedSlots shared_;
  std::vector<model::NameId> resources_;
  std::vector<ProfileTask> profiles_;
  std::vector<std::pair<model::NameId, Executor>> executors_;  // by joining
  std::map<model::NameId, std::size_t> executor_index_;
  std::map<model::NameId, Job> jobs_;
};

}  // namespace rehearse::properties
