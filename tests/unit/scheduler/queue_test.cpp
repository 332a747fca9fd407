// The queue of units: order, insertion in the middle, renumbering, and what waits where.
#include "scheduler/queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "model/support/draw.hpp"

using namespace rehearse;
using namespace rehearse::scheduler;

namespace {

constexpr std::size_t profiles = 2;

UnitKey key(model::Instant submitted, std::uint64_t rank, std::uint32_t stage = 0) {
  return {{}, submitted, rank, stage};
}

// What units are, beside the queue, as the core keeps it in its tables.
class Table final : public UnitFacts {
 public:
  std::map<std::uint32_t, UnitKey> keys;
  std::map<std::uint32_t, std::vector<std::int32_t>> demands;

  [[nodiscard]] UnitKey key(StageId leader) const override { return keys.at(leader.value); }
  [[nodiscard]] std::span<const std::int32_t> demand(StageId leader) const override {
    return demands.at(leader.value);
  }
};

// Leaders of what has pending tasks of the profile, in queue order.
std::vector<std::uint32_t> pending(const UnitQueue& queue, std::uint32_t profile) {
  std::vector<std::uint32_t> leaders;
  for (std::uint32_t at = queue.next_pending(ProfileId{profile}, 0); at != no_position;
       at = queue.next_pending(ProfileId{profile}, at + 1)) {
    leaders.push_back(queue.unit_at(at).value);
  }
  return leaders;
}

std::vector<std::uint32_t> waiting(const UnitQueue& queue) {
  std::vector<std::uint32_t> leaders;
  for (std::uint32_t at = queue.next_waiting(0); at != no_position;
       at = queue.next_waiting(at + 1)) {
    leaders.push_back(queue.unit_at(at).value);
  }
  return leaders;
}

}  // namespace

TEST_CASE("a unit that ranks before others is put between them, and all keep what they wait for") {
  UnitQueue queue(profiles);
  Table table;
  table.keys = {{0, key(10, 0)}, {1, key(30, 1)}, {2, key(20, 2)}, {3, key(5, 3)}};
  table.demands = {{3, {2, 1}}};
  queue.add(StageId{0U}, table);
  queue.add(StageId{1U}, table);
  queue.set_pending(StageId{0U}, ProfileId{0U});
  queue.set_pending(StageId{1U}, ProfileId{0U});
  queue.add(StageId{2U}, table);  // between them
  queue.set_pending(StageId{2U}, ProfileId{0U});
  queue.add(StageId{3U}, table);  // before all
  queue.set_waiting(StageId{3U}, table);
  CHECK(pending(queue, 0) == std::vector<std::uint32_t>{0, 2, 1});
  CHECK(waiting(queue) == std::vector<std::uint32_t>{3});
  CHECK(queue.position(StageId{3U}) < queue.position(StageId{0U}));
  queue.remove(StageId{2U}, table);
  CHECK(pending(queue, 0) == std::vector<std::uint32_t>{0, 1});
  queue.clear_pending(StageId{0U}, ProfileId{0U});
  CHECK(pending(queue, 0) == std::vector<std::uint32_t>{1});
}

TEST_CASE("only demands that no profile exceeds are found") {
  UnitQueue queue(profiles);
  // One block of positions holds the first two, and (3, 0) with (0, 3) looks as if (0, 0) waited.
  Table table;
  table.demands = {{0, {3, 0}}, {1, {1, 1}}, {99, {0, 3}}, {100, {2, 2}}};
  for (std::uint32_t leader = 0; leader < 200; ++leader) {
    table.keys[leader] = key(0, leader);
    queue.add(StageId{leader}, table);
  }
  for (const auto& [leader, demand] : table.demands) {
    queue.set_waiting(StageId{leader}, table);
  }
  const std::vector<std::int64_t> free{2, 2};
  const auto first = [&](std::uint32_t from) {
    const std::uint32_t at = queue.next_fitting(from, free, table);
    return at == no_position ? no_position : queue.unit_at(at).value;
  };
  CHECK(first(0) == 1);
  CHECK(first(2) == 100);
  CHECK(first(101) == no_position);
  queue.clear_waiting(StageId{1U}, table);
  CHECK(first(0) == 100);
  queue.clear_waiting(StageId{100U}, table);
  CHECK(first(0) == no_position);
  queue.clear_waiting(StageId{99U}, table);
  CHECK(waiting(queue) == std::vector<std::uint32_t>{0});
}

TEST_CASE("thousands of units come and go in key order") {
  struct Unit {
    UnitKey key;
    std::optional<std::uint32_t> profile;
    bool waits = false;
  };
  const model::DrawKey draws = model::draw_key({5, model::DrawPurpose::audit, 0, 0});
  std::uint32_t next = 0;
  const auto below = [&](std::uint32_t count) {
    return static_cast<std::uint32_t>(
        model::uniform_below(model::draw(draws, {next++, 0, 0}), count));
  };
  UnitQueue queue(profiles);
  Table table;
  std::map<std::uint32_t, Unit> units;  // by leader; leaders are used again
  for (std::uint32_t change = 0; change < 6000; ++change) {
    const std::uint32_t leader = below(300);
    const auto found = units.find(leader);
    if (found == units.end()) {
      // Mostly later than all before, sometimes not.
      const auto submitted = static_cast<model::Instant>(below(8) == 0 ? below(6000) : change);
      units[leader].key = key(submitted, change, leader);
      table.keys[leader] = units[leader].key;
      table.demands[leader] = {1, 2};
      queue.add(StageId{leader}, table);
    } else if (below(3) == 0) {
      queue.remove(StageId{leader}, table);
      units.erase(found);
    } else if (below(2) == 0) {
      Unit& unit = found->second;
      if (unit.profile) {
        queue.clear_pending(StageId{leader}, ProfileId{*unit.profile});
        unit.profile.reset();
      } else {
        unit.profile = below(profiles);
        queue.set_pending(StageId{leader}, ProfileId{*unit.profile});
      }
    } else {
      Unit& unit = found->second;
      unit.waits = !unit.waits;
      unit.waits ? queue.set_waiting(StageId{leader}, table)
                 : queue.clear_waiting(StageId{leader}, table);
    }
    if (change % 50 != 0) {
      continue;
    }
    std::vector<std::pair<UnitKey, std::uint32_t>> order;
    for (const auto& [id, unit] : units) {
      order.emplace_back(unit.key, id);
    }
    std::ranges::sort(order);
    std::vector<std::uint32_t> expected_waiting;
    std::vector<std::vector<std::uint32_t>> expected_pending(profiles);
    for (const auto& [unit_key, id] : order) {
      const Unit& unit = units.at(id);
      if (unit.waits) {
        expected_waiting.push_back(id);
      }
      if (unit.profile) {
        expected_pending[*unit.profile].push_back(id);
      }
    }
    REQUIRE(waiting(queue) == expected_waiting);
    for (std::uint32_t p = 0; p < profiles; ++p) {
      REQUIRE(pending(queue, p) == expected_pending[p]);
    }
  }
}
