// The name table: one copy of each text, looked up by hash, never iterated by hash.
#include "model/support/names.hpp"

#include "model/support/check.hpp"

namespace rehearse::model {

NameTable::NameTable(const NameTable& other) : texts_(other.texts_) {
  index_.reserve(2 * texts_.size());  // a copy is made to grow
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    index_.emplace(texts_[i], static_cast<std::uint32_t>(i));
  }
}

NameTable& NameTable::operator=(const NameTable& other) {
  if (this != &other) {
    NameTable copy(other);
    *this = std::move(copy);
  }
  return *this;
}

NameId NameTable::intern(std::string_view text) {
  if (const auto found = index_.find(text); found != index_.end()) {
    return NameId{found->second};
  }
  RH_CHECK(texts_.size() < NameId::none_value);
  const NameId name{texts_.size()};
  texts_.emplace_back(text);
  index_.emplace(texts_.back(), name.value);
  return name;
}

NameId NameTable::find(std::string_view text) const {
  const auto found = index_.find(text);
  return found == index_.end() ? NameId{} : NameId{found->second};
}

std::string_view NameTable::text(NameId name) const {
  if (!name.valid()) {
    return {};
  }
  RH_CHECK(name.index() < texts_.size(), name.value);
  return texts_[name.index()];
}

}  // namespace rehearse::model
