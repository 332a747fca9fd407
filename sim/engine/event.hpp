// What the engine queues: 16 bytes of plain data. Neither field means anything to it but order.
#pragma once

#include <compare>
#include <cstdint>

#include "model/support/time.hpp"

namespace rehearse::sim {

// Order within one instant and whom the event is for; the caller gives all three their meaning.
struct EventTag {
  static constexpr std::uint32_t event_class_max = (1U << 4) - 1;
  static constexpr std::uint32_t payload_max = (1U << 28) - 1;

  std::uint32_t event_class = 0;  // first: lower classes come first within an instant
  std::uint32_t sequence = 0;     // then: usually the order in which events were made
  std::uint32_t payload = 0;      // last: usually an index into the caller's table

  bool operator==(const EventTag&) const = default;
};

// Ordered by instant, then class, sequence and payload. Two equal events are two events.
struct Event {
  std::uint64_t time = 0;  // an instant, 0 or more
  std::uint64_t key = 0;   // class (4 bits), sequence (32), payload (28), from the top

  [[nodiscard]] static constexpr Event make(model::Instant instant, const EventTag& tag) {
    return {static_cast<std::uint64_t>(instant),
            std::uint64_t{tag.event_class} << 60 | std::uint64_t{tag.sequence} << 28 | tag.payload};
  }
  [[nodiscard]] constexpr model::Instant instant() const {
    return static_cast<model::Instant>(time);
  }
  [[nodiscard]] constexpr EventTag tag() const {
    return {static_cast<std::uint32_t>(key >> 60), static_cast<std::uint32_t>(key >> 28),
            static_cast<std::uint32_t>(key & EventTag::payload_max)};
  }
  constexpr auto operator<=>(const Event&) const = default;
};
static_assert(sizeof(Event) == 16);

}  // namespace rehearse::sim
