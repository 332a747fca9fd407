// All monitors over one journal, online: an observer that says at the end which properties held.
// The first line of the journal says which are promised and how to judge.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "model/support/events.hpp"
#include "model/violation.hpp"
#include "properties/property.hpp"
#include "properties/registry.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

// One line of `rehearse check`.
struct PropertyVerdict {
  std::string_view property;
  bool promised = false;
  Verdict verdict = Verdict::not_judged;
  std::int64_t violation_count = 0;          // 0 when not judged
  std::uint64_t first_found_at = 0;          // event number of the first, from 1; 0: none
  std::vector<model::Violation> violations;  // the first ones, in order of time
};

class MonitorSet final : public model::Observer {
 public:
  MonitorSet();
  ~MonitorSet() override;
  // A copy has seen the same journal so far, and goes on by itself.
  MonitorSet(const MonitorSet& other);
  MonitorSet& operator=(const MonitorSet& other);
  // As a new one, without a listener, but with the memory that it has: for one journal after
  // another.
  void reset();

  // One more listener, which judges nothing: it is told everything that it wants, as a monitor is,
  // after the monitors. Before begin().
  void listen(std::unique_ptr<Monitor> listener);
  [[nodiscard]] const Track& track() const { return track_; }

  void begin(const model::NameTable& names) override;
  void on(const model::Event& event) override;

  // After the last event, once. Without a run_end line the journal counts as interrupted.
  void finish();

  // No more events come at t: what is judged when an instant is over is judged now, not at the
  // next event.
  void leave(model::Instant t);

  // Of promised properties so far, at any time: how many violations, and the first of them.
  [[nodiscard]] std::int64_t violation_count() const;
  [[nodiscard]] std::vector<model::Violation> violations_so_far() const;

  // After finish(), in the order of the registry; properties without a monitor are not judged.
  [[nodiscard]] const std::vector<PropertyVerdict>& verdicts() const { return verdicts_; }
  [[nodiscard]] const PropertyVerdict* find(std::string_view property) const;
  // What makes a run fail (exit 3): violations of promised properties, by time.
  [[nodiscard]] const std::vector<model::Violation>& violations() const { return violations_; }

 private:
  struct Entry {
    const Property* property = nullptr;
    std::unique_ptr<Monitor> monitor;
    bool promised = false;
  };

  void make_monitors();
  void enlist(Monitor& monitor);
  void delist_listener();
  // Of one kind of task event: monitors that do not want every plain one.
  struct TaskListeners {
    std::vector<Monitor*> of_groups;
    std::vector<Monitor*> unusual;
  };
  [[nodiscard]] std::vector<Monitor*>& listeners_of(const Monitor& monitor, std::size_t number);
  template <class Tell>
  static void tell_some(const TaskListeners& listeners, const Seen& seen, bool plain,
                        const Tell& tell);
  void read_promises(const model::RunStart& run);
  void end_instant();
  void leave_instant();
  void move_to(model::Instant t);
  void sort_violations();

  Track track_;
  const model::NameTable* names_ = nullptr;
  std::vector<Entry> entries_;  // in the order of the registry
  std::unique_ptr<Monitor> listener_;
  // By event number.
  std::array<std::vector<Monitor*>, model::event_kinds + 1> listeners_;
  TaskListeners starts_;  // not in listeners_
  TaskListeners ends_;
  std::vector<Monitor*> every_instant_;
  std::optional<model::RunEndCause> run_end_;
  std::vector<PropertyVerdict> verdicts_;
  std::vector<model::Violation> violations_;
  bool finished_ = false;
};

}  // namespace rehearse::properties
