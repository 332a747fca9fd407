// What a monitor is: it sees each event before Track has taken it in, with its names resolved, and
// is told when an instant is over. It knows the journal and nothing else.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/support/events.hpp"
#include "model/violation.hpp"
#include "properties/rows.hpp"

namespace rehearse::properties {

class Track;

// What the names of one event stand for; null = the event names no such thing, or none that is
// known. `group` of a task or stage event is the group its stage is in.
struct Seen {
  Index job_index = no_index;
  const Job* job = nullptr;
  const Stage* stage = nullptr;
  const Group* group = nullptr;
  Index executor_index = no_index;
  const Executor* executor = nullptr;
  const Partition* partition = nullptr;
  const Task* task = nullptr;  // of task_end: the running try that ends
  bool known = true;           // everything the event names exists

  // Of a slice (A21) all its partitions, else the one.
  [[nodiscard]] std::span<const Partition> partitions(const model::TaskRef& ref) const {
    return {partition, static_cast<std::size_t>(ref.size())};
  }
  [[nodiscard]] const Partition& at(const model::TaskRef& ref, std::int32_t p) const {
    return partitions(ref)[static_cast<std::size_t>(p - ref.partition)];
  }
};

// How the journal ended; a journal without run_end counts as interrupted.
using RunOver = model::RunEndCause;

// Plain are the starts and successes of first tries in stages that have had one attempt only, which
// are most of all events: few monitors care for all of them.
enum class PlainTasks : std::uint8_t { all, of_groups, none };

class Monitor {
 public:
  // Violations beyond this number are counted, not kept.
  static constexpr std::size_t kept_max = 100;

  explicit Monitor(const Track& track) : track_(&track) {}
  virtual ~Monitor() = default;

  // A monitor that has seen what this one saw and goes on over `track`, a copy of its track.
  [[nodiscard]] virtual std::unique_ptr<Monitor> copy_over(const Track& track) const = 0;
  // Goes on from what `other`, a monitor of the same property, has seen; over its own track, which
  // must be a copy of the other's by then.
  virtual void continue_from(const Monitor& other) = 0;

  // Numbers of the events it wants (scenario.md section 5).
  [[nodiscard]] virtual std::uint64_t wants() const = 0;
  // Which starts, and which ends, of tasks it wants beside all that are unusual.
  [[nodiscard]] virtual PlainTasks wants_plain_starts() const { return PlainTasks::all; }
  [[nodiscard]] virtual PlainTasks wants_plain_ends() const { return PlainTasks::all; }
  virtual void task_start(const model::TaskStart& /*event*/, const Seen& /*seen*/) {}
  virtual void task_end(const model::TaskEnd& /*event*/, const Seen& /*seen*/) {}
  // Every other event.
  virtual void event(const model::Event& /*event*/, const Seen& /*seen*/) {}
  // An event that names something unknown; no other call is made for it.
  virtual void unknown(const model::Event& /*event*/, const Seen& /*seen*/) {}
  // Of those that want_every_instant(): the same for every instant, also one in which only tasks
  // started or ended.
  [[nodiscard]] virtual bool wants_every_instant() const { return false; }
  virtual void every_instant_over() {}
  // No more events of this instant: the instant is quiescent. Called only for instants in which
  // a group, a job or an executor changed state.
  virtual void instant_over() {}
  virtual void finish(RunOver /*over*/) {}
  // False when the journal lacks what the property is judged by. Asked after finish().
  [[nodiscard]] virtual bool judged(RunOver /*over*/) const { return true; }

  [[nodiscard]] const std::vector<model::Violation>& violations() const { return violations_; }
  [[nodiscard]] std::int64_t violation_count() const { return count_; }
  // Number in the journal, from 1, of the event at which the first was found; of the last one of
  // the instant when it was found at quiescence.
  [[nodiscard]] std::uint64_t first_found_at() const { return first_found_at_; }

 protected:
  template <class... Bodies>
  [[nodiscard]] static constexpr std::uint64_t kinds() {
    return ((std::uint64_t{1} << model::event_number<Bodies>()) | ... | std::uint64_t{0});
  }
  [[nodiscard]] const Track& track() const { return *track_; }
  // `detail` names what was seen and ends with the clause.
  void found(std::string detail);

  Monitor(const Monitor&) = default;
  Monitor& operator=(const Monitor& other) {
    if (this != &other) {
      violations_ = other.violations_;
      count_ = other.count_;
      first_found_at_ = other.first_found_at_;
    }
    return *this;
  }
  void read_from(const Track& track) { track_ = &track; }

 private:
  const Track* track_;
  std::vector<model::Violation> violations_;
  std::int64_t count_ = 0;
  std::uint64_t first_found_at_ = 0;
};

// What every monitor derives from. Its members are values: they hold nothing that points into a
// track.
template <class Self>
// NOLINTNEXTLINE(bugprone-crtp-constructor-accessibility): monitors inherit it, as a public one
class MonitorOf : public Monitor {
 public:
  using Monitor::Monitor;

  [[nodiscard]] std::unique_ptr<Monitor> copy_over(const Track& track) const final {
    auto copy = std::make_unique<Self>(static_cast<const Self&>(*this));
    copy->read_from(track);
    return copy;
  }
  void continue_from(const Monitor& other) final {
    static_cast<Self&>(*this) = static_cast<const Self&>(other);
  }
};

}  // namespace rehearse::properties
