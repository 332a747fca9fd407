// The name table: one copy of each text, looked up by hash, never iterated by hash. A run makes one
// and looks up its names in it, so it is made of few pieces: texts in blocks, and a table of ids
// with linear probing, at most half full.
#include "model/support/names.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>

#include "model/support/check.hpp"

namespace rehearse::model {

namespace {

constexpr std::size_t block_size_min = 2048;
constexpr std::size_t slots_min = 64;

std::uint32_t hash_of(std::string_view text) {
  return static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size()));
}

}  // namespace

NameTable::NameTable(const NameTable& other) { *this = other; }

// Blocks hold the texts of all entries in the order of these, and nothing else.
NameTable& NameTable::operator=(const NameTable& other) {
  if (this == &other) {
    return *this;
  }
  entries_.reserve(2 * other.entries_.size());  // a copy is made to grow
  entries_ = other.entries_;
  slots_ = other.slots_;
  std::size_t size = 0;
  for (const std::vector<char>& block : other.blocks_) {
    size += block.size();
  }
  if (blocks_.empty() || blocks_.back().capacity() < size) {
    blocks_.clear();
    blocks_.emplace_back().reserve(2 * size + block_size_min);
  }
  blocks_.erase(blocks_.begin(), blocks_.end() - 1);  // the last one is the greatest
  std::vector<char>& texts = blocks_.back();
  texts.clear();
  for (const std::vector<char>& block : other.blocks_) {
    texts.insert(texts.end(), block.begin(), block.end());
  }
  const char* text = texts.data();
  for (Entry& entry : entries_) {
    entry.text = text;
    text += entry.length;
  }
  return *this;
}

std::size_t NameTable::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != NameId::none_value) {
    const Entry& entry = entries_[slots_[slot]];
    if (entry.hash == hash && std::string_view(entry.text, entry.length) == text) {
      break;
    }
    slot = (slot + 1) & mask;
  }
  return slot;
}

void NameTable::fill_slots(std::size_t count) {
  slots_.assign(count, NameId::none_value);
  entries_.reserve(count / 2);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t slot = entries_[i].hash & (count - 1);
    while (slots_[slot] != NameId::none_value) {
      slot = (slot + 1) & (count - 1);
    }
    slots_[slot] = static_cast<std::uint32_t>(i);
  }
}

const char* NameTable::keep(std::string_view text) {
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < text.size()) {
    const std::size_t before = blocks_.empty() ? 0 : blocks_.back().capacity();
    blocks_.emplace_back().reserve(std::max({block_size_min, 2 * before, text.size()}));
  }
  std::vector<char>& block = blocks_.back();
  return std::to_address(block.insert(block.end(), text.begin(), text.end()));
}

NameId NameTable::intern(std::string_view text) {
  if (slots_.size() < 2 * (entries_.size() + 1)) {
    fill_slots(std::bit_ceil(std::max(4 * (entries_.size() + 1), slots_min)));
  }
  const std::uint32_t hash = hash_of(text);
  const std::size_t slot = slot_of(text, hash);
  if (slots_[slot] != NameId::none_value) {
    return NameId{slots_[slot]};
  }
  RH_CHECK(entries_.size() < NameId::none_value);
  const NameId name{entries_.size()};
  entries_.push_back({keep(text), static_cast<std::uint32_t>(text.size()), hash});
  slots_[slot] = name.value;
  return name;
}

NameId NameTable::find(std::string_view text) const {
  if (slots_.empty()) {
    return {};
  }
  const std::uint32_t found = slots_[slot_of(text, hash_of(text))];
  return found == NameId::none_value ? NameId{} : NameId{found};
}

std::string_view NameTable::text(NameId name) const {
  if (!name.valid()) {
    return {};
  }
  RH_CHECK(name.index() < entries_.size(), name.value);
  return {entries_[name.index()].text, entries_[name.index()].length};
}

}  // namespace rehearse::model
