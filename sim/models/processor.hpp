// The processor of an executor that more tasks share than it has slots for (A22, `slots: shared`):
// as long as they are no more than the slots each runs at full speed, beyond that all run at
// slots / tasks of it. Where profiles differ, what counts is the resource of which most is taken.
//
// One clock per executor measures work done per task, in 2^-20 ns: all tasks advance alike, so each
// has a fixed mark on it at which it is done, and the earliest mark is the next end. The clock is
// settled at every change, rounded down; an end is a quotient rounded half up to the nanosecond,
// and its task counts as done then (docs/decisions/0014-shared-slots.md).
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "model/support/time.hpp"

namespace rehearse::sim {

class Processor {
 public:
  __extension__ using Mark = __int128;  // on its clock

  // Something that tasks take of the executor, in any unit.
  struct Resource {
    std::int64_t capacity = 0;              // above 0
    std::vector<std::int64_t> task_amount;  // by profile, of one task
  };
  explicit Processor(std::vector<Resource> resources);

  // So many tasks of a profile that begin and end as one.
  struct Load {
    std::uint32_t profile = 0;
    std::int64_t tasks = 1;
  };
  // It begins now, with `work`, how long it takes alone. Its mark identifies it, together with
  // `order`, which is unique (ties end in its order).
  [[nodiscard]] Mark enter(model::Instant now, const Load& load, model::Duration work,
                           std::uint64_t order);
  // It ends, or is stopped.
  void leave(model::Instant now, const Load& load, Mark mark, std::uint64_t order);

  // When the next task ends if nothing changes, and which ones then; instant_max and nobody if none
  // is there. Not earlier than the last change.
  struct Ends {
    model::Instant at = 0;
    std::vector<std::uint64_t> orders;
  };
  [[nodiscard]] Ends next_ends() const;
  [[nodiscard]] model::Instant next_end() const;  // instant_max: of nothing

 private:
  void settle(model::Instant now);
  void change(const Load& load, std::int64_t sign);
  [[nodiscard]] model::Instant end_of(Mark mark) const;

  std::vector<Resource> resources_;
  std::vector<std::int64_t> taken_;  // by resource
  // All run at whole_ / load_ of the speed: of the resource of which most is taken, or both 1.
  std::int64_t whole_ = 1;
  std::int64_t load_ = 1;
  Mark clock_ = 0;
  model::Instant settled_at_ = 0;
  std::set<std::pair<Mark, std::uint64_t>> tasks_;
};

}  // namespace rehearse::sim
