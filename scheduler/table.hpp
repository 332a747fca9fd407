// Dense tables of rows by strong id, with a digest kept along: the sum mod 2^64 of a 64-bit hash of
// each row. An edit marks its row; the marked rows are hashed again when the digest is asked for,
// so an edit costs O(1) (amortized over the edits) and a digest costs the rows edited since the
// last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "model/support/check.hpp"

namespace rehearse::scheduler {

// A stable mix of integers; order matters.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 29U);
}

[[nodiscard]] constexpr std::uint64_t hash_of(std::initializer_list<std::uint64_t> values) {
  std::uint64_t hash = 0x2545F4914F6CDD1DU;
  for (const std::uint64_t value : values) {
    hash = mix(hash, value);
  }
  return hash;
}

template <class T>
[[nodiscard]] constexpr std::uint64_t bits(T value) {
  return static_cast<std::uint64_t>(value);
}

// A row's mark for RowDigest; no part of the row's value.
struct DirtyMark {
  bool on = false;
  bool operator==(const DirtyMark& /*other*/) const { return true; }
};

// Most tables are small: they have room for some rows from the first on, instead of growing to it.
template <class T>
void reserve_first(std::vector<T>& rows) {
  constexpr std::size_t first = 16;
  if (rows.capacity() == 0) {
    rows.reserve(first);
  }
}

// Which rows changed since the digest was last brought up to date. The mark itself stands in the
// row (its owner says where), beside what the edit touches anyway.
class RowDigest {
 public:
  // `marked` is the row's mark, a bit that is part of nothing else.
  template <class Mark>
  void touch(std::size_t row, Mark&& marked) {
    if (!marked) {
      marked = true;
      reserve_first(list_);
      list_.push_back(static_cast<std::uint32_t>(row));
    }
  }

  // hash_row(row) is the row's hash now, 0 for a row that is not in use; it clears the mark.
  template <class HashRow>
  [[nodiscard]] std::uint64_t settle(std::size_t rows, const HashRow& hash_row) {
    if (rows > 0) {
      reserve_first(hash_);
    }
    hash_.resize(rows, 0);
    for (const std::uint32_t row : list_) {
      const std::uint64_t now = hash_row(row);
      sum_ += now - hash_[row];
      hash_[row] = now;
    }
    list_.clear();
    return sum_;
  }

 private:
  std::vector<std::uint64_t> hash_;
  std::vector<std::uint32_t> list_;
  std::uint64_t sum_ = 0;
};

// Rows recycled last-in first-out, so equal histories give equal ids. Row needs: `bool used`, a
// `DirtyMark dirty`, operator== and `std::uint64_t digest(std::uint64_t id) const`.
template <class RowId, class Row>
class Table {
 public:
  [[nodiscard]] const Row& operator[](RowId id) const { return rows_[id.index()]; }
  // Read and write; marks the row for the digest.
  [[nodiscard]] Row& edit(RowId id) {
    Row& row = rows_[id.index()];
    digest_.touch(id.index(), row.dirty.on);
    return row;
  }
  RowId add(Row row) {
    const RowId id = add_blank();
    replace(id, std::move(row));
    rows_[id.index()].used = true;
    return id;
  }
  // A row at its default value, to be filled in where it is.
  [[nodiscard]] RowId add_blank() {
    RowId id{rows_.size()};
    if (free_.empty()) {
      reserve_first(rows_);
      rows_.emplace_back();
    } else {
      id = free_.back();
      free_.pop_back();
    }
    edit(id).used = true;
    return id;
  }
  // A hint that the row will be read soon.
  void prefetch(RowId id) const {
    if (id.index() < rows_.size()) {
      __builtin_prefetch(&rows_[id.index()]);
    }
  }
  // At an id of the caller's choice that is not in use; ids of put() and add() are never mixed.
  void put(RowId id, Row row) {
    if (id.index() >= rows_.size()) {
      rows_.resize(id.index() + 1);
    }
    RH_CHECK(!rows_[id.index()].used, id.value);
    row.used = true;
    replace(id, std::move(row));
  }
  void drop(RowId id) {
    RH_CHECK(rows_[id.index()].used, id.value);
    replace(id, Row{});
  }
  [[nodiscard]] bool has(RowId id) const {
    return id.valid() && id.index() < rows_.size() && rows_[id.index()].used;
  }
  void remove(RowId id) {
    RH_CHECK(rows_[id.index()].used, id.value);
    replace(id, Row{});
    reserve_first(free_);
    free_.push_back(id);
  }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] std::size_t used() const { return rows_.size() - free_.size(); }
  [[nodiscard]] std::uint64_t digest() {
    return digest_.settle(rows_.size(), [this](std::size_t row) {
      rows_[row].dirty.on = false;
      return hash_row(row);
    });
  }
  [[nodiscard]] std::uint64_t full_digest() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      sum += hash_row(i);
    }
    return sum;
  }
  bool operator==(const Table& other) const { return rows_ == other.rows_ && free_ == other.free_; }

 private:
  [[nodiscard]] std::uint64_t hash_row(std::size_t row) const {
    return rows_[row].used ? rows_[row].digest(row) : std::uint64_t{0};
  }
  // Keeps the mark: the id may be in the list already.
  void replace(RowId id, Row row) {
    Row& place = rows_[id.index()];
    const bool marked = place.dirty.on;
    place = std::move(row);
    place.dirty.on = marked;
    digest_.touch(id.index(), place.dirty.on);
  }

  std::vector<Row> rows_;
  std::vector<RowId> free_;
  RowDigest digest_;
};

}  // namespace rehearse::scheduler
