// The queue of units: order, insertion in the middle, renumbering, and what waits where.
#include "scheduler/queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/support/draw.hpp"

using namespace rehearse;
using namespace rehearse::scheduler;

namespace {

constexpr std::size_t profiles = 2;

UnitKey key(model::Instant submitted, std::uint64_t rank, std::uint32_t stage = 0) {
  return {0, submitted, rank, stage};
}

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
  queue.add(StageId{0U}, key(10, 0));
  queue.add(StageId{1U}, key(30, 1));
  queue.set_pending(StageId{0U}, ProfileId{0U});
  queue.set_pending(StageId{1U}, ProfileId{0U});
  const std::vector<std::int32_t> demand{2, 1};
  queue.add(StageId{2U}, key(20, 2));  // between them
  queue.set_pending(StageId{2U}, ProfileId{0U});
  queue.add(StageId{3U}, key(5, 3));  // before all
  queue.set_waiting(StageId{3U}, demand);
  CHECK(pending(queue, 0) == std::vector<std::uint32_t>{0, 2, 1});
  CHECK(waiting(queue) == std::vector<std::uint32_t>{3});
  CHECK(queue.position(StageId{3U}) < queue.position(StageId{0U}));
  queue.remove(StageId{2U});
  CHECK(pending(queue, 0) == std::vector<std::uint32_t>{0, 1});
  queue.clear_pending(StageId{0U});
  CHECK(pending(queue, 0) == std::vector<std::uint32_t>{1});
}

TEST_CASE("only demands that no profile exceeds are found") {
  UnitQueue queue(profiles);
  const std::vector<std::int32_t> wide{3, 0};
  const std::vector<std::int32_t> both{1, 1};
  queue.add(StageId{0U}, key(0, 0));
  queue.add(StageId{1U}, key(0, 1));
  queue.set_waiting(StageId{0U}, wide);
  queue.set_waiting(StageId{1U}, both);
  const std::vector<std::int64_t> free{2, 2};
  const std::uint32_t at = queue.next_fitting(0, free);
  REQUIRE(at != no_position);
  CHECK(queue.unit_at(at) == StageId{1U});
  queue.clear_waiting(StageId{1U});
  CHECK(queue.next_fitting(0, free) == no_position);
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
  std::map<std::uint32_t, Unit> units;  // by leader; leaders are used again
  for (std::uint32_t change = 0; change < 6000; ++change) {
    const std::uint32_t leader = below(300);
    const auto found = units.find(leader);
    if (found == units.end()) {
      // Mostly later than all before, sometimes not.
      const auto submitted = static_cast<model::Instant>(below(8) == 0 ? below(6000) : change);
      units[leader].key = key(submitted, change, leader);
      queue.add(StageId{leader}, units[leader].key);
    } else if (below(3) == 0) {
      queue.remove(StageId{leader});
      units.erase(found);
    } else if (below(2) == 0) {
      Unit& unit = found->second;
      if (unit.profile) {
        queue.clear_pending(StageId{leader});
        unit.profile.reset();
      } else {
        unit.profile = below(profiles);
        queue.set_pending(StageId{leader}, ProfileId{*unit.profile});
      }
    } else {
      Unit& unit = found->second;
      unit.waits = !unit.waits;
      const std::vector<std::int32_t> demand{1, 2};
      unit.waits ? queue.set_waiting(StageId{leader}, demand)
                 : queue.clear_waiting(StageId{leader});
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
