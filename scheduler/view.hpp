// The read-only state that policies see. Views are good for one call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/support/time.hpp"
#include "scheduler/ids.hpp"

namespace rehearse::scheduler {

// A unit of admission: a group, or a stage that is a group of its own.
struct UnitView {
  std::int64_t priority = 0;      // of its job, greater first
  std::int64_t demand_slots = 0;  // tasks of all members (A3)
  model::Duration work = 0;       // estimated, all its tasks one after another
  std::int64_t members = 1;
  bool gang = false;
  std::uint64_t random = 0;  // of this unit and the run's seed
};

// The waiting head (A16).
struct HeadView {
  UnitView unit;
  model::Duration waited = 0;  // since the pass that refused it first
};

// A task that is to be placed.
struct TaskView {
  ProfileId profile;
  std::uint64_t key = 0;     // of its names, stable across runs; 0 unless the policy wants it
  std::uint64_t random = 0;  // of the key and the run's seed
};

// Free slots by executor and profile: tasks of the profile that still fit beside what runs or is
// reserved there; 0 on executors that take no launches now or do not serve the profile.
class SlotView {
 public:
  SlotView() = default;
  virtual ~SlotView() = default;

  [[nodiscard]] virtual std::size_t profile_count() const = 0;
  // Executors so far, those that left included; ids are below it.
  [[nodiscard]] virtual std::size_t executor_count() const = 0;
  // A hash of the executor's name, stable across runs.
  [[nodiscard]] virtual std::uint64_t name_key(ExecutorId executor) const = 0;
  // A digest of who has which number (A15): of the pairs (number, name_key) of all executors so
  // far, stable across runs and whoever takes launches now. Where it and executor_count() are the
  // same the executors are the same, also in views of two cores or of a trial, so what a policy
  // made of names and numbers may be kept beside it and used while it stays. O(1).
  [[nodiscard]] virtual std::uint64_t numbering() const = 0;
  [[nodiscard]] virtual std::int64_t free_slots(ExecutorId executor, ProfileId profile) const = 0;
  // The executor with most free slots of the profile, ties to the lowest number; invalid if no
  // executor has one. O(log executors).
  [[nodiscard]] virtual ExecutorId most_free(ProfileId profile) const = 0;
  // The lowest number >= `from` with a free slot of the profile; invalid if none. O(log executors).
  [[nodiscard]] virtual ExecutorId first_free(ProfileId profile, std::uint32_t from) const = 0;

 protected:
  SlotView(const SlotView&) = default;
  SlotView& operator=(const SlotView&) = default;
};

}  // namespace rehearse::scheduler
