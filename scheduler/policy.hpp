// What a policy decides, as small interfaces over a read-only view. A policy may keep state of its
// own but no reference into the view beyond the call; it must be copyable (clone) and say what its
// state is (digest), because a copy of the core is a snapshot of everything. Built-in policies and
// shared objects use the same interfaces.
#pragma once

#include <cstdint>
#include <memory>

#include "scheduler/view.hpp"

namespace rehearse::scheduler {

class Policy {
 public:
  Policy() = default;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;
  // A stable digest of the policy's own state; 0 when it keeps none.
  [[nodiscard]] virtual std::uint64_t digest() const { return 0; }

 protected:
  Policy(const Policy&) = default;
};

// Smaller goes first; ties go by submit time, then file order.
struct QueueKey {
  std::int64_t first = 0;
  std::int64_t second = 0;
  auto operator<=>(const QueueKey&) const = default;
};

// Axis admission.queue (A18): the key of a unit. It must depend on the view only; it is asked again
// whenever the queue is put in order anew.
class QueuePolicy : public Policy {
 public:
  [[nodiscard]] virtual std::unique_ptr<QueuePolicy> clone() const = 0;
  [[nodiscard]] virtual QueueKey key(const UnitView& unit) const = 0;
  // Does key() read UnitView::work? It costs the means of the durations.
  [[nodiscard]] virtual bool reads_work() const { return false; }
};

// What units behind a waiting head may do on executors that serve a profile it demands.
enum class Overtaking : std::uint8_t {
  nobody,    // start nothing there
  anybody,   // start whatever fits
  harmless,  // start what does not delay the head beyond its earliest start (A17)
};

// Axis admission.overtake (A7, A16): asked once a pass, when the head is found.
class OvertakePolicy : public Policy {
 public:
  [[nodiscard]] virtual std::unique_ptr<OvertakePolicy> clone() const = 0;
  [[nodiscard]] virtual Overtaking rule(const HeadView& head) const = 0;
  // Can it say `harmless`? Then the core keeps the expected ends of what runs.
  [[nodiscard]] virtual bool looks_ahead() const { return false; }
};

// Axis placement (A15): the executor that is first in rank among those with room for one more task
// of the profile, or an invalid id if there is none. Preferences of tasks are not its business.
class PlacementPolicy : public Policy {
 public:
  [[nodiscard]] virtual std::unique_ptr<PlacementPolicy> clone() const = 0;
  // A pass, or a trial placement on another view, begins.
  virtual void begin(const SlotView& slots) = 0;
  [[nodiscard]] virtual ExecutorId pick(const SlotView& slots, const TaskView& task) = 0;
  // A slot of this executor is about to be taken, for the first time or again since begin().
  virtual void taking(const SlotView& slots, ExecutorId executor) = 0;
  // Does pick() read TaskView::key or random? They cost a hash per task.
  [[nodiscard]] virtual bool wants_task_key() const { return false; }
};

// The policies of one core. A value: copying clones.
struct PolicySet {
  std::unique_ptr<QueuePolicy> queue;
  std::unique_ptr<OvertakePolicy> overtake;
  std::unique_ptr<PlacementPolicy> placement;

  PolicySet() = default;
  PolicySet(const PolicySet& other)
      : queue(other.queue ? other.queue->clone() : nullptr),
        overtake(other.overtake ? other.overtake->clone() : nullptr),
        placement(other.placement ? other.placement->clone() : nullptr) {}
  PolicySet& operator=(const PolicySet& other) {
    if (this != &other) {
      *this = PolicySet(other);
    }
    return *this;
  }
  PolicySet(PolicySet&&) = default;
  PolicySet& operator=(PolicySet&&) = default;
  ~PolicySet() = default;
};

}  // namespace rehearse::scheduler
