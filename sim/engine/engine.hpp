// The generic engine: it holds what is to happen and moves virtual time. It knows instants and tags
// and nothing of clusters; who an event is for, and what follows, is the driver's business.
//
// Cancellation is the caller's: an event once pushed will come. Let the payload name an entry of a
// table whose generation the caller raises when the event is no longer wanted, and drop the event
// when it comes.
//
// Arrivals from a sorted trace need not be queued: the caller takes the earlier of its next arrival
// and peek_time(), and calls pop_batch with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/support/check.hpp"
#include "model/support/time.hpp"
#include "sim/engine/event.hpp"
#include "sim/engine/radix_heap.hpp"

namespace rehearse::sim {

class Engine {
 public:
  // The instant of the last batch or event, 0 at first. Never goes back.
  [[nodiscard]] model::Instant now() const { return now_; }

  // Lets an event happen at `instant`, now or later; at now() it comes with the next pop_batch of
  // the same instant.
  void push(model::Instant instant, const EventTag& tag) {
    RH_CHECK(instant >= now_, instant, now_);
    RH_CHECK(tag.event_class <= EventTag::event_class_max && tag.payload <= EventTag::payload_max,
             tag.event_class, tag.payload);
    queue_.push(Event::make(instant, tag));
  }

  // The instant of the earliest event; nothing when there is none. Does not move time.
  [[nodiscard]] std::optional<model::Instant> peek_time() const {
    const std::optional<std::uint64_t> time = queue_.peek_time();
    return time ? std::optional{static_cast<model::Instant>(*time)} : std::nullopt;
  }

  // Moves time to `instant`, which no queued event may precede, and appends to `out` all events of
  // exactly that instant, by class, sequence, payload; there may be none.
  void pop_batch(model::Instant instant, std::vector<Event>& out) {
    RH_CHECK(instant >= now_, instant, now_);
    queue_.pop_batch(static_cast<std::uint64_t>(instant), out);
    now_ = instant;
  }

  // Some of the events that come next, if it is known which; see RadixHeap::soon().
  [[nodiscard]] const std::vector<Event>& soon() const { return queue_.soon(); }

  // Moves time to the least event and takes it out. There must be one.
  [[nodiscard]] Event pop() {
    const Event event = queue_.pop();
    now_ = event.instant();
    return event;
  }

  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  [[nodiscard]] bool empty() const { return queue_.empty(); }
  // Back to instant 0 without events; keeps the storage for the next run.
  void clear() {
    queue_.clear();
    now_ = 0;
  }

 private:
  RadixHeap queue_;
  model::Instant now_ = 0;
};

}  // namespace rehearse::sim
