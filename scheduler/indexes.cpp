// Indexes of the pass; see the header for what each is for.
#include "scheduler/indexes.hpp"

#include <algorithm>
#include <utility>

#include "model/support/check.hpp"

namespace rehearse::scheduler {

void MaxTree::grow(std::uint32_t index) {
  const std::uint32_t wanted = std::bit_ceil(std::max<std::uint32_t>(index + 1, 2));
  std::vector<std::int32_t> counts(wanted, 0);
  std::copy(nodes_.begin() + leaves_, nodes_.end(), counts.begin());
  leaves_ = wanted;
  nodes_.assign(std::size_t{2} * wanted, 0);
  std::ranges::copy(counts, nodes_.begin() + wanted);
  for (std::uint32_t node = wanted - 1; node > 0; --node) {
    nodes_[node] = std::max(nodes_[std::size_t{2} * node], nodes_[std::size_t{2} * node + 1]);
  }
}

void MaxTree::set(std::uint32_t index, std::int32_t count) {
  RH_CHECK(count >= 0, count);
  if (index >= leaves_) {
    grow(index);
  }
  std::uint32_t node = leaves_ + index;
  nodes_[node] = count;
  while (node > 1) {
    node /= 2;
    const std::int32_t greatest =
        std::max(nodes_[std::size_t{2} * node], nodes_[std::size_t{2} * node + 1]);
    if (nodes_[node] == greatest) {
      return;  // nothing above changes
    }
    nodes_[node] = greatest;
  }
}

std::uint32_t MaxTree::argmax() const {
  if (leaves_ == 0 || nodes_[1] == 0) {
    return no_position;
  }
  const std::int32_t greatest = nodes_[1];
  std::uint32_t node = 1;
  while (node < leaves_) {
    node = 2 * node + (nodes_[std::size_t{2} * node] == greatest ? 0U : 1U);
  }
  return node - leaves_;
}

std::uint32_t MaxTree::first_positive(std::uint32_t from) const {
  if (from >= leaves_) {
    return no_position;
  }
  std::uint32_t node = leaves_ + from;
  if (nodes_[node] > 0) {
    return from;
  }
  while (node > 1 && ((node & 1U) != 0 || nodes_[node + 1] == 0)) {
    node /= 2;
  }
  if (node <= 1) {
    return no_position;
  }
  ++node;
  while (node < leaves_) {
    node = 2 * node + (nodes_[std::size_t{2} * node] > 0 ? 0U : 1U);
  }
  return node - leaves_;
}

void PositionSets::resize(std::uint32_t positions) {
  const std::size_t words = std::max<std::size_t>((std::size_t{positions} + 63) / 64, 1);
  if (words == level_) {
    return;
  }
  std::size_t levels = 1;
  starts_[1] = static_cast<std::uint32_t>(words);
  for (std::size_t level = words; level > 1; ++levels) {
    level = (level + 63) / 64;
    starts_[levels + 1] = starts_[levels] + static_cast<std::uint32_t>(level);
  }
  const std::size_t stride = starts_[levels];
  std::vector<std::uint64_t> rows(sets_ * stride, 0);
  for (std::size_t set = 0; set < sets_; ++set) {
    std::uint64_t* row = rows.data() + set * stride;
    std::copy_n(row_of(set), std::min(words, level_), row);
    for (std::size_t level = 1; level < levels; ++level) {
      for (std::size_t word = starts_[level - 1]; word < starts_[level]; ++word) {
        const std::size_t below = word - starts_[level - 1];
        row[starts_[level] + below / 64] |= row[word] != 0 ? bit_of(below) : 0;
      }
    }
  }
  words_ = std::move(rows);
  level_ = words;
  stride_ = stride;
}

void PositionSets::add_sets(std::size_t count) {
  RH_CHECK(stride_ > 0);
  constexpr std::size_t sets_min = 16;  // there is room for from the first on
  if (words_.capacity() == 0) {
    words_.reserve(sets_min * stride_);
  }
  sets_ = std::max(sets_, count);
  words_.resize(sets_ * stride_, 0);
}

void PositionSets::note_above(std::uint64_t* row, std::size_t position) const {
  for (std::size_t level = 1; starts_[level] < stride_; ++level) {
    position /= 64;
    row[starts_[level] + position / 64] |= bit_of(position);
  }
}

void PositionSets::forget_above(std::uint64_t* row, std::size_t position) const {
  for (std::size_t level = 1; starts_[level] < stride_; ++level) {
    if (row[starts_[level - 1] + position / 64] != 0) {
      return;
    }
    position /= 64;
    row[starts_[level] + position / 64] &= ~bit_of(position);
  }
}

std::uint32_t PositionSets::next_above(std::size_t set, std::size_t word) const {
  const std::uint64_t* row = row_of(set);
  std::size_t bit = word;  // of the level
  for (std::size_t level = 1; starts_[level] < stride_; ++level) {
    const std::size_t at = starts_[level] + bit / 64;
    if (at >= starts_[level + 1]) {
      return no_position;
    }
    const std::uint64_t left = row[at] & (~std::uint64_t{0} << bit % 64);
    if (left != 0) {
      bit = bit / 64 * 64 + static_cast<std::size_t>(std::countr_zero(left));
      while (level > 0) {
        --level;
        const std::uint64_t below = row[starts_[level] + bit];
        bit = bit * 64 + static_cast<std::size_t>(std::countr_zero(below));
      }
      return static_cast<std::uint32_t>(bit);
    }
    bit = bit / 64 + 1;
  }
  return no_position;
}

void Counts::make_room(std::uint32_t index) {
  counts_.resize(std::bit_ceil(std::max(index + 1, indexes_min)), 0);
  small_.resize(static_cast<std::uint32_t>(counts_.size()));
}

std::int32_t Counts::set(std::uint32_t index, std::int32_t count) {
  RH_CHECK(count >= 0, count);
  if (index >= counts_.size()) {
    if (count == 0) {
      return 0;
    }
    make_room(index);
  }
  const std::int32_t before = counts_[index];
  counts_[index] = count;
  if (before == count) {
    return before;
  }
  if (is_small(before)) {
    const auto set = static_cast<std::size_t>(before);
    used_ &= ~(std::uint64_t{small_.erase(set, index)} << set);
  }
  if (is_small(count)) {
    const auto set = static_cast<std::size_t>(count);
    if (set >= small_.sets()) {
      small_.add_sets(set + 1);
    }
    small_.insert(set, index);
    used_ |= std::uint64_t{1} << set;
  }
  if (before >= small_end || count >= small_end) {
    great_.set(index, count >= small_end ? count : 0);
  }
  return before;
}

std::uint32_t Counts::argmax() const {
  const std::uint32_t great = great_.argmax();
  if (great != no_position || used_ == 0) {
    return great;
  }
  return small_.next(static_cast<std::size_t>(std::bit_width(used_)) - 1, 0);
}

std::uint32_t Counts::first_positive(std::uint32_t from) const {
  std::uint32_t first = great_.first_positive(from);
  for (std::uint64_t left = used_; left != 0; left &= left - 1) {
    first = std::min(first, small_.next(static_cast<std::size_t>(std::countr_zero(left)), from));
  }
  return first;
}

void DemandTree::resize(std::uint32_t blocks) {
  leaves_ = std::bit_ceil(std::max<std::uint32_t>(blocks, 1));
  nodes_.assign(std::size_t{2} * leaves_ * profiles_, absent);
}

void DemandTree::set(std::uint32_t block, std::span<const std::int32_t> demand) {
  RH_CHECK(block < leaves_, block);
  RH_CHECK(demand.empty() || demand.size() == profiles_);
  std::size_t node = std::size_t{leaves_} + block;
  for (std::size_t p = 0; p < profiles_; ++p) {
    nodes_[node * profiles_ + p] = demand.empty() ? absent : demand[p];
  }
  for (node /= 2; node > 0; node /= 2) {
    for (std::size_t p = 0; p < profiles_; ++p) {
      nodes_[node * profiles_ + p] =
          std::min(nodes_[2 * node * profiles_ + p], nodes_[(2 * node + 1) * profiles_ + p]);
    }
  }
}

bool DemandTree::fits(std::size_t node, std::span<const std::int64_t> free) const {
  for (std::size_t p = 0; p < profiles_; ++p) {
    const std::int32_t demand = nodes_[node * profiles_ + p];
    if (demand == absent || demand > free[p]) {
      return false;
    }
  }
  return true;
}

std::uint32_t DemandTree::search(std::size_t node, std::uint32_t low, std::uint32_t width,
                                 std::uint32_t from, std::span<const std::int64_t> free) const {
  if (low + width <= from || !fits(node, free)) {
    return no_position;
  }
  if (width == 1) {
    return low;
  }
  const std::uint32_t half = width / 2;
  const std::uint32_t left = search(2 * node, low, half, from, free);
  return left != no_position ? left : search(2 * node + 1, low + half, half, from, free);
}

std::uint32_t DemandTree::next(std::uint32_t from, std::span<const std::int64_t> free) const {
  return leaves_ == 0 ? no_position : search(1, 0, leaves_, from, free);
}

}  // namespace rehearse::scheduler
