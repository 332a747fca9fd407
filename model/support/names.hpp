// Interned names. A NameId is stable for the life of its table; equal text has equal id. The table
// is not scheduler state (semantics.md F9): it only gives ids their text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/support/strong_id.hpp"

namespace rehearse::model {

struct NameTag;
using NameId = Id<NameTag>;

class NameTable {
 public:
  NameTable() = default;
  NameTable(const NameTable& other);
  NameTable& operator=(const NameTable& other);  // into the room that is there
  NameTable(NameTable&&) noexcept = default;
  NameTable& operator=(NameTable&&) noexcept = default;
  ~NameTable() = default;

  // The id of `text`, new if it was not there.
  NameId intern(std::string_view text);
  // The id of `text`, or an invalid id.
  [[nodiscard]] NameId find(std::string_view text) const;
  // The text of a valid id of this table; "" for an invalid id. Stays where it is.
  [[nodiscard]] std::string_view text(NameId name) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    const char* text = nullptr;
    std::uint32_t length = 0;
    std::uint32_t hash = 0;
  };

  // Where `text` is in slots_, or the empty slot in which it would be.
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  void fill_slots(std::size_t count);
  [[nodiscard]] const char* keep(std::string_view text);

  std::vector<Entry> entries_;        // by NameId
  std::vector<std::uint32_t> slots_;  // a power of two: NameIds at or behind their hash, probed
  std::vector<std::vector<char>> blocks_;  // texts, one behind the other; none ever grows
};

}  // namespace rehearse::model
