// The indexes that keep a pass from scanning: counts by executor (which has most), a set of queue
// positions (which unit is next), and a tree of minimum demands (which waiting gang could fit,
// A20). All are derived from the tables and therefore no part of the state's digest.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace rehearse::scheduler {

inline constexpr std::uint32_t no_position = std::numeric_limits<std::uint32_t>::max();

// Maximum of non-negative counts with the lowest index among equals. Grows by doubling.
class MaxTree {
 public:
  // O(log n). Index may be beyond the present size.
  void set(std::uint32_t index, std::int32_t count);
  [[nodiscard]] std::int32_t get(std::uint32_t index) const {
    return index < leaves_ ? nodes_[leaves_ + index] : 0;
  }
  // Lowest index with the greatest count; no_position if all counts are 0.
  [[nodiscard]] std::uint32_t argmax() const;
  // Lowest index >= from with a count above 0; no_position if none.
  [[nodiscard]] std::uint32_t first_positive(std::uint32_t from) const;

 private:
  void grow(std::uint32_t index);

  std::uint32_t leaves_ = 0;         // a power of two, or 0
  std::vector<std::int32_t> nodes_;  // nodes_[1] is the root, leaves from leaves_ on
};

// Sets of positions with first-at-or-after in three word reads at most per 64^3 positions. All of
// them have room for the same positions and stand one behind the other: few positions take a word.
// A word above says which below are not 0, so it is touched only when one of these becomes 0 or
// ceases to be.
class PositionSets {
 public:
  void resize(std::uint32_t positions);  // keeps members that there is room for
  void add_sets(std::size_t count);      // so that there are as many
  [[nodiscard]] std::size_t sets() const { return sets_; }
  void insert(std::size_t set, std::uint32_t position) {
    if (stride_ == 1) {
      words_[set] |= bit_of(position);
      return;
    }
    std::uint64_t* row = row_of(set);
    const bool first = row[position / 64] == 0;
    row[position / 64] |= bit_of(position);
    if (first) {
      note_above(row, position);
    }
  }
  // Returns whether the set is empty now.
  bool erase(std::size_t set, std::uint32_t position) {
    if (stride_ == 1) {
      words_[set] &= ~bit_of(position);
      return words_[set] == 0;
    }
    std::uint64_t* row = row_of(set);
    row[position / 64] &= ~bit_of(position);
    if (row[position / 64] == 0) {
      forget_above(row, position);
    }
    return row[stride_ - 1] == 0;
  }
  [[nodiscard]] bool contains(std::size_t set, std::uint32_t position) const {
    return (row_of(set)[position / 64] & bit_of(position)) != 0;
  }
  // Lowest member >= from; no_position if none.
  [[nodiscard]] std::uint32_t next(std::size_t set, std::uint32_t from) const {
    const std::size_t word = from / 64;
    if (word >= level_) {
      return no_position;
    }
    const std::uint64_t left = row_of(set)[word] & (~std::uint64_t{0} << from % 64);
    if (left != 0) {
      return static_cast<std::uint32_t>(word * 64) +
             static_cast<std::uint32_t>(std::countr_zero(left));
    }
    return stride_ == 1 ? no_position : next_above(set, word + 1);
  }
  void clear() { std::ranges::fill(words_, 0); }

 private:
  static std::uint64_t bit_of(std::size_t position) { return std::uint64_t{1} << position % 64; }
  [[nodiscard]] std::uint64_t* row_of(std::size_t set) { return words_.data() + set * stride_; }
  [[nodiscard]] const std::uint64_t* row_of(std::size_t set) const {
    return words_.data() + set * stride_;
  }
  // After the word of `position` was 0, and after it became 0.
  void note_above(std::uint64_t* row, std::size_t position) const;
  void forget_above(std::uint64_t* row, std::size_t position) const;
  // Lowest member in the words from `word` on.
  [[nodiscard]] std::uint32_t next_above(std::size_t set, std::size_t word) const;

  // Of one set: words with a bit per position, words with a bit per word of these, and so on until
  // it is one word.
  static constexpr std::size_t levels_max = 6;  // enough for 2^32 positions
  std::size_t level_ = 0;                       // words of the first kind
  std::size_t stride_ = 0;                      // words in all
  std::size_t sets_ = 0;
  std::array<std::uint32_t, levels_max + 1> starts_{};  // of each kind, then stride_
  std::vector<std::uint64_t> words_;
};

class PositionSet {
 public:
  void resize(std::uint32_t positions) {
    one_.resize(positions);
    one_.add_sets(1);
  }
  void insert(std::uint32_t position) { one_.insert(0, position); }
  void erase(std::uint32_t position) { one_.erase(0, position); }
  [[nodiscard]] bool contains(std::uint32_t position) const { return one_.contains(0, position); }
  [[nodiscard]] std::uint32_t next(std::uint32_t from) const { return one_.next(0, from); }
  void clear() { one_.clear(); }

 private:
  PositionSets one_;
};

// What MaxTree answers, and faster where counts are small, as slots of an executor are: the indexes
// of every count below 64 are a set, and a change moves one from set to set, in a word or two. Only
// greater counts go into a tree.
class Counts {
 public:
  // Returns the count before.
  std::int32_t set(std::uint32_t index, std::int32_t count);
  [[nodiscard]] std::int32_t get(std::uint32_t index) const {
    return index < counts_.size() ? counts_[index] : 0;
  }
  // Lowest index with the greatest count; no_position if all counts are 0.
  [[nodiscard]] std::uint32_t argmax() const;
  // Lowest index >= from with a count above 0; no_position if none.
  [[nodiscard]] std::uint32_t first_positive(std::uint32_t from) const;

 private:
  static constexpr std::int32_t small_end = 64;
  static constexpr std::uint32_t indexes_min = 16;  // there is room for from the first on
  static bool is_small(std::int32_t count) { return count > 0 && count < small_end; }
  void make_room(std::uint32_t index);

  std::vector<std::int32_t> counts_;
  PositionSets small_;      // by count; as far as one was ever there
  std::uint64_t used_ = 0;  // bit per count: its set has members
  MaxTree great_;           // of the others 0
};

// Minimum demand per profile over ranges of blocks; empty blocks demand infinitely much.
class DemandTree {
 public:
  static constexpr std::int32_t absent = std::numeric_limits<std::int32_t>::max();

  DemandTree() = default;
  explicit DemandTree(std::size_t profiles) : profiles_(profiles) {}
  void resize(std::uint32_t blocks);  // forgets everything
  // `demand` by profile, or empty to remove.
  void set(std::uint32_t block, std::span<const std::int32_t> demand);
  // Lowest block >= from whose demand does not exceed `free` in any profile (exact at the leaf).
  [[nodiscard]] std::uint32_t next(std::uint32_t from, std::span<const std::int64_t> free) const;

 private:
  [[nodiscard]] bool fits(std::size_t node, std::span<const std::int64_t> free) const;
  [[nodiscard]] std::uint32_t search(std::size_t node, std::uint32_t low, std::uint32_t width,
                                     std::uint32_t from, std::span<const std::int64_t> free) const;

  std::size_t profiles_ = 0;
  std::uint32_t leaves_ = 0;
  std::vector<std::int32_t> nodes_;  // profiles_ values per node
};

}  // namespace rehearse::scheduler
