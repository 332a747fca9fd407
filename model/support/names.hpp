// Interned names. A NameId is stable for the life of its table; equal text has equal id. The table
// is not scheduler state (semantics.md F9): it only gives ids their text.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/support/strong_id.hpp"

namespace rehearse::model {

struct NameTag;
using NameId = Id<NameTag>;

class NameTable {
 public:
  NameTable() = default;
  NameTable(const NameTable& other);
  NameTable& operator=(const NameTable& other);
  NameTable(NameTable&&) noexcept = default;
  NameTable& operator=(NameTable&&) noexcept = default;
  ~NameTable() = default;

  // The id of `text`, new if it was not there.
  NameId intern(std::string_view text);
  // The id of `text`, or an invalid id.
  [[nodiscard]] NameId find(std::string_view text) const;
  // The text of a valid id of this table; "" for an invalid id.
  [[nodiscard]] std::string_view text(NameId name) const;
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // deque: views into it stay valid
  std::unordered_map<std::string_view, std::uint32_t> index_;
};

}  // namespace rehearse::model
