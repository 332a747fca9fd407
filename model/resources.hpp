// Exact resource amounts: int64 in 1/1000 units (cpus 0.5 = 500; bytes count as units too, so
// memory of 8 GiB is 8 * 2^30 * 1000). No floating point, no rounding (scenario.md section 1).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "model/ids.hpp"
#include "model/support/names.hpp"

namespace rehearse::model {

inline constexpr std::int64_t milli = 1000;  // 1/1000 units per unit

// Amounts by ResourceId, all vectors of one cluster have the same length; a resource an executor
// or task does not name is 0.
using ResourceVector = std::vector<std::int64_t>;

inline constexpr std::int64_t unbounded_slots = std::numeric_limits<std::int32_t>::max();

// A4: tasks of amount `task` that fit into `free`: min over resources of floor(free / task); a task
// amount of 0 is no constraint; capped at unbounded_slots (also when nothing constrains).
[[nodiscard]] std::int64_t slots_of(const ResourceVector& free, const ResourceVector& task);

// A22: an executor that shares its slots without a bound offers so many tasks more than it has
// slots. Slots beyond shared_slots_max count as that many.
inline constexpr std::int64_t no_bound_slots = std::int64_t{1} << 30;
inline constexpr std::int64_t shared_slots_max = std::int64_t{1} << 20;

struct Profile {
  NameId name;
  ResourceVector task;  // amounts of one task
  bool operator==(const Profile&) const = default;
};

}  // namespace rehearse::model
