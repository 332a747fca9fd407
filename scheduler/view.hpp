// The read-only state that policies see. Views are good for one call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scheduler/ids.hpp"

namespace rehearse::scheduler {

// A unit of admission: a group, or a stage that is a group of its own.
struct UnitView {
  std::int64_t priority = 0;      // of its job, greater first
  std::int64_t demand_slots = 0;  // tasks of all members
  std::int64_t members = 1;
  bool gang = false;
};

// Free slots by executor and profile: tasks of the profile that still fit beside what runs or is
// reserved there; 0 on executors that take no launches now or do not serve the profile.
class SlotView {
 public:
  SlotView() = default;
  virtual ~SlotView() = default;

  [[nodiscard]] virtual std::size_t profile_count() const = 0;
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
