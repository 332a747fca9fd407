// The journal: one ordered stream of typed events (scenario.md section 5). The index of a body in
// the variant + 1 is the event's number on the wire; append only. Every body has `name` and
// keys(self, f), so readers, writers and the hash are written once for all kinds.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

#include "model/support/events_flow.hpp"
#include "model/support/events_groups.hpp"
#include "model/support/events_run.hpp"
#include "model/support/events_tasks.hpp"
#include "model/support/time.hpp"

namespace rehearse::model {

using EventBody =
    std::variant<RunStart, ExecutorAdded, ExecutorLost, ExecutorHeld, ExecutorReleased,
                 JobSubmitted, JobRejected, JobStarted, JobEnd, GroupFormed, GroupQueued,
                 GroupAdmitted, GroupCommitted, GroupFailed, GroupCancelled, EdgesChanged,
                 StageSubmitted, StageCompleted, TaskStart, TaskEnd, SlotReturned, MemberFinished,
                 OutputsRegistered, OutputsLost, OutputCommitted, OutputDiscarded, Reservation,
                 Blocked, Unblocked, RecordLatency, Message, Probe, FirstRow, RowsDelivered,
                 DiskUsed, RunEnd>;

struct Event {
  Instant t = 0;
  EventBody body;

  // 1 to 36, the number of scenario.md section 5.
  [[nodiscard]] int number() const { return static_cast<int>(body.index()) + 1; }
  [[nodiscard]] std::string_view name() const {
    return std::visit([](const auto& event) { return event.name; }, body);
  }
  template <class Body>
  [[nodiscard]] const Body* as() const {
    return std::get_if<Body>(&body);
  }
  bool operator==(const Event&) const = default;
};

inline constexpr int event_kinds = static_cast<int>(std::variant_size_v<EventBody>);

// The wire number of a body type.
template <class Body>
[[nodiscard]] constexpr int event_number() {
  return []<class... Bodies>(std::type_identity<std::variant<Bodies...>>) {
    int number = 0;
    int position = 0;
    ((++position, std::is_same_v<Bodies, Body> ? number = position : 0), ...);
    return number;
  }(std::type_identity<EventBody>{});
}

// Whoever wants to know what happens: monitors, metrics, writers, the hash. Called in journal
// order.
class Observer {
 public:
  virtual ~Observer() = default;
  // Before the first event. `names` gives every NameId of the journal its text; it grows during the
  // run and outlives it.
  virtual void begin(const NameTable& names) = 0;
  virtual void on(const Event& event) = 0;
};

}  // namespace rehearse::model
