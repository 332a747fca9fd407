// What keys every event of the journal has, derived from the event types: for readers that must
// name an unknown key, and for expectations that name keys.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rehearse::model {

enum class KeyKind : std::uint8_t {
  name,  // interned text; absent when invalid
  integer,
  boolean,
  enumeration,  // one of `texts`
  counts,       // an object name -> integer (per profile, amounts)
  list,
};

struct EventKey {
  std::string_view name;
  KeyKind kind = KeyKind::name;
  bool optional = false;                         // may be absent; names always may
  std::span<const std::string_view> texts = {};  // of an enumeration, or of a list of one
};

struct EventSchema {
  std::string_view name;
  std::vector<EventKey> keys;  // in wire order

  // The key of that name, or null.
  [[nodiscard]] const EventKey* find(std::string_view key) const;
};

// By event number - 1 (scenario.md section 5).
[[nodiscard]] const std::vector<EventSchema>& event_schemas();

// The schema of that event, or null.
[[nodiscard]] const EventSchema* find_event(std::string_view name);

}  // namespace rehearse::model
