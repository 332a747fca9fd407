// Slot arithmetic of clause A4.
#include "model/resources.hpp"

#include <algorithm>

#include "model/support/check.hpp"

namespace rehearse::model {

std::int64_t slots_of(const ResourceVector& free, const ResourceVector& task) {
  RH_CHECK(free.size() == task.size());
  std::int64_t slots = unbounded_slots;
  for (std::size_t i = 0; i < task.size(); ++i) {
    if (task[i] > 0) {
      slots = std::min(slots, free[i] / task[i]);
    }
  }
  return slots;
}

}  // namespace rehearse::model
