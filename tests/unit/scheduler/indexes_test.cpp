// The indexes of the pass against what a scan gives, on random changes.
#include "scheduler/indexes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "model/support/draw.hpp"

using namespace rehearse;
using namespace rehearse::scheduler;

namespace {

class Draws {
 public:
  explicit Draws(std::uint64_t seed)
      : key_(model::draw_key({seed, model::DrawPurpose::audit, 2, 0})) {}
  [[nodiscard]] std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>(
        model::uniform_below(model::draw(key_, {next_++, 0, 0}), count));
  }

 private:
  model::DrawKey key_;
  std::uint32_t next_ = 0;
};

std::uint32_t scan_argmax(const std::vector<std::int32_t>& counts) {
  std::uint32_t best = no_position;
  for (std::uint32_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0 && (best == no_position || counts[i] > counts[best])) {
      best = i;
    }
  }
  return best;
}

std::uint32_t scan_positive(const std::vector<std::int32_t>& counts, std::uint32_t from) {
  for (std::uint32_t i = from; i < counts.size(); ++i) {
    if (counts[i] > 0) {
      return i;
    }
  }
  return no_position;
}

}  // namespace

TEST_CASE("an empty tournament tree has nobody") {
  const MaxTree tree;
  CHECK(tree.argmax() == no_position);
  CHECK(tree.first_positive(0) == no_position);
  CHECK(tree.get(7) == 0);
}

TEST_CASE("the tournament tree finds the greatest, the lowest of equals, and the first above 0") {
  for (const std::uint32_t size : {1U, 2U, 3U, 8U, 65U, 300U}) {
    Draws draws(size);
    MaxTree tree;
    std::vector<std::int32_t> counts(size, 0);
    for (int change = 0; change < 600; ++change) {
      const std::uint32_t index = draws.below(size);
      counts[index] = static_cast<std::int32_t>(draws.below(change % 3 == 0 ? 2 : 5));
      tree.set(index, counts[index]);
      REQUIRE(tree.get(index) == counts[index]);
      REQUIRE(tree.argmax() == scan_argmax(counts));
      const std::uint32_t from = draws.below(size + 2);
      REQUIRE(tree.first_positive(from) == scan_positive(counts, from));
    }
  }
}

TEST_CASE("counts, small and great, answer as the tournament tree") {
  for (const std::uint32_t size : {1U, 3U, 65U, 300U}) {
    Draws draws(100 + size);
    Counts counts;
    CHECK(counts.argmax() == no_position);
    std::vector<std::int32_t> plain(size, 0);
    for (int change = 0; change < 900; ++change) {
      const std::uint32_t index = draws.below(size);
      // Few small ones, all sizes around the limit of 64, then few small ones again.
      const std::uint32_t most = change % 300 < 150 ? 4 : 130;
      plain[index] = static_cast<std::int32_t>(draws.below(most));
      counts.set(index, plain[index]);
      REQUIRE(counts.get(index) == plain[index]);
      REQUIRE(counts.argmax() == scan_argmax(plain));
      const std::uint32_t from = draws.below(size + 2);
      REQUIRE(counts.first_positive(from) == scan_positive(plain, from));
    }
  }
}

TEST_CASE("a set of positions finds the first at or after, also after it grew") {
  Draws draws(3);
  PositionSet set;
  std::set<std::uint32_t> plain;
  std::uint32_t positions = 64;
  set.resize(positions);
  for (int change = 0; change < 4000; ++change) {
    if (change % 500 == 499) {
      positions *= 3;  // keeps its members, from one level to several
      set.resize(positions);
    }
    const std::uint32_t position = draws.below(positions);
    if (draws.below(2) == 0) {
      set.insert(position);
      plain.insert(position);
    } else {
      set.erase(position);
      plain.erase(position);
    }
    const std::uint32_t from = draws.below(positions);
    const auto next = plain.lower_bound(from);
    REQUIRE(set.next(from) == (next == plain.end() ? no_position : *next));
    REQUIRE(set.contains(position) == plain.contains(position));
  }
  set.clear();
  CHECK(set.next(0) == no_position);
}

TEST_CASE("the demand tree finds the first that fits in every profile") {
  Draws draws(4);
  constexpr std::uint32_t positions = 70;
  constexpr std::size_t profiles = 3;
  DemandTree tree(profiles);
  tree.resize(positions);
  std::vector<std::vector<std::int32_t>> demands(positions);
  for (int change = 0; change < 3000; ++change) {
    const std::uint32_t position = draws.below(positions);
    demands[position].clear();
    if (draws.below(3) != 0) {
      for (std::size_t p = 0; p < profiles; ++p) {
        demands[position].push_back(static_cast<std::int32_t>(draws.below(6)));
      }
    }
    tree.set(position, demands[position]);
    std::vector<std::int64_t> free;
    for (std::size_t p = 0; p < profiles; ++p) {
      free.push_back(draws.below(6));
    }
    const std::uint32_t from = draws.below(positions);
    std::uint32_t expected = no_position;
    for (std::uint32_t at = from; at < positions && expected == no_position; ++at) {
      bool fits = !demands[at].empty();
      for (std::size_t p = 0; fits && p < profiles; ++p) {
        fits = demands[at][p] <= free[p];
      }
      expected = fits ? at : no_position;
    }
    REQUIRE(tree.next(from, free) == expected);
  }
}
