// Dense tables of rows by strong id, with a digest kept along: the sum mod 2^64 of a 64-bit hash of
// each row. An edit marks its row; the marked rows are hashed again when the digest is asked for, so
// an edit costs O(1) (amortized over the edits) and a digest costs the rows edited since the last.
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

// Which rows changed since the digest was last brought up to date.
class RowDigest {
 public:
  void touch(std::size_t row) {
    if (row >= dirty_.size()) {
      dirty_.resize(row + 1, 0);
      hash_.resize(row + 1, 0);
    }
    if (dirty_[row] == 0) {
      dirty_[row] = 1;
      list_.push_back(static_cast<std::uint32_t>(row));
    }
  }

  // hash_row(row) is the row's hash now, 0 for a row that is not in use.
  template <class HashRow>
  [[nodiscard]] std::uint64_t settle(const HashRow& hash_row) {
    for (const std::uint32_t row : list_) {
      const std::uint64_t now = hash_row(row);
      sum_ += now - hash_[row];
      hash_[row] = now;
      dirty_[row] = 0;
    }
    list_.clear();
    return sum_;
  }

 private:
  std::vector<std::uint64_t> hash_;
  std::vector<std::uint8_t> dirty_;
  std::vector<std::uint32_t> list_;
  std::uint64_t sum_ = 0;
};

// Rows recycled last-in first-out, so equal histories give equal ids. Row needs: `bool used`,
// operator== and `std::uint64_t digest(std::uint64_t id) const`.
template <class RowId, class Row>
class Table {
 public:
  [[nodiscard]] const Row& operator[](RowId id) const { return rows_[id.index()]; }
  // Read and write; marks the row for the digest.
  [[nodiscard]] Row& edit(RowId id) {
    digest_.touch(id.index());
    return rows_[id.index()];
  }
  RowId add(Row row) {
    row.used = true;
    RowId id;
    if (free_.empty()) {
      id = RowId{rows_.size()};
      rows_.push_back(std::move(row));
    } else {
      id = free_.back();
      free_.pop_back();
      rows_[id.index()] = std::move(row);
    }
    digest_.touch(id.index());
    return id;
  }
  // At an id of the caller's choice that is not in use; ids of put() and add() are never mixed.
  void put(RowId id, Row row) {
    if (id.index() >= rows_.size()) {
      rows_.resize(id.index() + 1);
    }
    RH_CHECK(!rows_[id.index()].used, id.value);
    row.used = true;
    rows_[id.index()] = std::move(row);
    digest_.touch(id.index());
  }
  void drop(RowId id) {
    RH_CHECK(rows_[id.index()].used, id.value);
    rows_[id.index()] = Row{};
    digest_.touch(id.index());
  }
  [[nodiscard]] bool has(RowId id) const {
    return id.valid() && id.index() < rows_.size() && rows_[id.index()].used;
  }
  void remove(RowId id) {
    RH_CHECK(rows_[id.index()].used, id.value);
    rows_[id.index()] = Row{};
    free_.push_back(id);
    digest_.touch(id.index());
  }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] std::size_t used() const { return rows_.size() - free_.size(); }
  [[nodiscard]] std::uint64_t digest() { return digest_.settle(hasher()); }
  [[nodiscard]] std::uint64_t full_digest() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      sum += hasher()(i);
    }
    return sum;
  }
  bool operator==(const Table& other) const {
    return rows_ == other.rows_ && free_ == other.free_;
  }

 private:
  [[nodiscard]] auto hasher() const {
    return [this](std::size_t row) {
      return rows_[row].used ? rows_[row].digest(row) : std::uint64_t{0};
    };
  }

  std::vector<Row> rows_;
  std::vector<RowId> free_;
  RowDigest digest_;
};

}  // namespace rehearse::scheduler
