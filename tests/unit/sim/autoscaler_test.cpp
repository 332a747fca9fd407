// Rounds, bounds and idleness of the autoscaler, without a driver.
#include "sim/models/autoscaler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "model/support/draw.hpp"

namespace rehearse::sim {

namespace {

using model::ExecutorId;
using model::Instant;
using model::ProfileId;
using model::second;

constexpr ProfileId plain{0U};

model::Autoscale options(std::int32_t min, std::int32_t max) {
  model::Autoscale autoscale;
  autoscale.min = min;
  autoscale.max = max;
  autoscale.backlog = second;
  autoscale.idle = 60 * second;
  autoscale.executor.resources = {4 * model::milli};
  return autoscale;
}

scheduler::Backlog waiting(std::int64_t tasks, bool busy = true) { return {{tasks}, busy}; }

// Rounds of a backlog that does not change, as pairs of instant and requests; nobody joins.
std::vector<std::pair<Instant, std::int64_t>> rounds(Autoscaler& scaler,
                                                     const scheduler::Backlog& backlog) {
  std::vector<std::pair<Instant, std::int64_t>> list;
  std::optional<Instant> next = scaler.settle(0, backlog);
  while (next && list.size() < 50) {
    list.emplace_back(*next, scaler.act(*next, backlog).requests);
    next = scaler.settle(*next, backlog);
  }
  return list;
}

using Rounds = std::vector<std::pair<Instant, std::int64_t>>;

}  // namespace

TEST_CASE("rounds double until what the tasks need is asked for") {
  Autoscaler scaler(options(0, 100), {4});
  CHECK(rounds(scaler, waiting(41)) ==
        Rounds{{second, 1}, {2 * second, 2}, {3 * second, 4}, {4 * second, 4}});
  CHECK(scaler.room() == 89);
}

TEST_CASE("rounds end at max, and there are none while nothing waits") {
  Autoscaler scaler(options(0, 6), {4});
  CHECK(scaler.settle(0, waiting(0)) == std::nullopt);
  CHECK(rounds(scaler, waiting(1000)) == Rounds{{second, 1}, {2 * second, 2}, {3 * second, 3}});
  CHECK(scaler.room() == 0);
}

TEST_CASE("min is asked for at once, whatever waits") {
  Autoscaler scaler(options(3, 6), {4});
  scaler.scheduled();
  CHECK(rounds(scaler, waiting(0)) == Rounds{{0, 2}});
}

TEST_CASE("a backlog of zero asks in rounds of one instant") {
  model::Autoscale quick = options(0, 100);
  quick.backlog = 0;
  Autoscaler scaler(quick, {1});
  CHECK(rounds(scaler, waiting(7)) == Rounds{{0, 1}, {0, 2}, {0, 4}});
}

TEST_CASE("a wait that ends takes its round along; the next begins with one") {
  Autoscaler scaler(options(0, 100), {4});
  CHECK(scaler.settle(0, waiting(40)) == second);
  CHECK(scaler.act(second, waiting(40)).requests == 1);
  CHECK(scaler.settle(second, waiting(40)) == 2 * second);
  CHECK(scaler.settle(second + 5, waiting(0)) == std::nullopt);
  CHECK(scaler.settle(second + 7, waiting(40)) == 2 * second + 7);
  CHECK(scaler.act(2 * second + 7, waiting(40)).requests == 1);
}

TEST_CASE("rounds with nothing to ask for leave the rhythm and start small") {
  Autoscaler scaler(options(0, 100), {4});
  CHECK(rounds(scaler, waiting(12)) == Rounds{{second, 1}, {2 * second, 2}});
  // Still waiting, so the rounds count from the first.
  const Instant later_on = 5 * second + second / 2;
  CHECK(scaler.settle(later_on, waiting(400)) == 6 * second);
  CHECK(scaler.act(6 * second, waiting(400)).requests == 1);
}

TEST_CASE("what runs is needed, too; what is of another profile is not") {
  Autoscaler scaler(options(0, 100), {4, 0});
  scaler.joined(ExecutorId{0U}, false, false, 0);
  scaler.started(ExecutorId{0U}, plain, 4);
  CHECK(scaler.settle(0, {{0, 9}, true}) == std::nullopt);
  CHECK(scaler.settle(0, {{1, 9}, true}) == second);
  CHECK(scaler.act(second, {{1, 9}, true}).requests == 1);
  CHECK(scaler.settle(second, {{4, 9}, true}) == std::nullopt);
}

TEST_CASE("what waits beside an idle cluster needs more than counts say") {
  Autoscaler scaler(options(0, 2), {4});
  scaler.joined(ExecutorId{0U}, false, false, 0);
  CHECK(scaler.settle(0, waiting(3, true)) == std::nullopt);
  CHECK(scaler.settle(0, waiting(3, false)) == second);
}

TEST_CASE("an executor leaves after its idleness, the longest idle first, down to min") {
  Autoscaler scaler(options(1, 10), {4});
  for (std::uint32_t i = 0; i < 3; ++i) {
    scaler.joined(ExecutorId{i}, false, false, i);
  }
  scaler.started(ExecutorId{0U}, plain, 1);
  scaler.ended(ExecutorId{0U}, plain, 1);
  REQUIRE(scaler.unsettled() == std::vector{ExecutorId{0U}});
  scaler.settled(ExecutorId{0U}, false, 5);
  CHECK(scaler.settle(5, waiting(0, false)) == 60 * second + 1);
  const auto steps = scaler.act(60 * second + 5, waiting(0, false));
  CHECK(steps.leaving == std::vector{ExecutorId{1U}, ExecutorId{2U}});
  scaler.left(ExecutorId{1U});
  scaler.left(ExecutorId{2U});
  CHECK(scaler.settle(60 * second + 5, waiting(0, false)) == std::nullopt);
}

TEST_CASE("outputs that are needed keep an executor, and idleness counts from their end") {
  Autoscaler scaler(options(0, 10), {4});
  scaler.joined(ExecutorId{0U}, false, false, 0);
  scaler.started(ExecutorId{0U}, plain, 2);
  CHECK(scaler.settle(1, waiting(0)) == std::nullopt);
  scaler.ended(ExecutorId{0U}, plain, 2);
  scaler.settled(ExecutorId{0U}, true, 10);
  CHECK(scaler.settle(10, waiting(0)) == std::nullopt);
  scaler.look_again();
  REQUIRE(scaler.unsettled().size() == 1);
  scaler.settled(ExecutorId{0U}, false, 20);
  CHECK(scaler.settle(20, waiting(0)) == 60 * second + 20);
}

TEST_CASE("nobody leaves whom waiting tasks need") {
  Autoscaler scaler(options(0, 10), {4});
  scaler.joined(ExecutorId{0U}, false, false, 0);
  scaler.joined(ExecutorId{1U}, false, false, 0);
  CHECK(scaler.settle(0, waiting(8)) == std::nullopt);
  CHECK(scaler.act(100 * second, waiting(8)).leaving.empty());
  CHECK(scaler.settle(100 * second, waiting(4)) == 100 * second);
  CHECK(scaler.act(100 * second, waiting(4)).leaving == std::vector{ExecutorId{0U}});
}

// A second bookkeeping: whatever happens, the pool stays within its bounds, nobody who runs a task
// leaves, and everything comes to rest.
TEST_CASE("random pools keep their bounds") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const model::DrawKey key = model::draw_key({seed, model::DrawPurpose::workload, 0, 0});
    std::uint32_t counter = 0;
    const auto below = [&](std::uint64_t count) {
      return static_cast<std::int64_t>(
          model::uniform_below(model::draw(key, {counter++, 0, 0}), count));
    };
    const auto min = static_cast<std::int32_t>(below(3));
    const auto max = static_cast<std::int32_t>(min + below(6));
    Autoscaler scaler(options(min, max), {2});
    std::vector<std::pair<std::uint32_t, int>> live;  // executor, running
    std::int64_t starting = 0;
    std::uint32_t next_executor = 0;
    std::int64_t tasks = 0;
    Instant now = 0;
    std::optional<Instant> wanted = scaler.settle(0, waiting(0, false));
    for (int i = 0; i < 400; ++i) {
      const bool acts = wanted && below(2) == 0;
      now = acts ? std::max(now, *wanted) : std::min(wanted.value_or(now + second), now + second);
      if (acts) {
        const auto steps = scaler.act(now, waiting(tasks));
        starting += steps.requests;
        for (const ExecutorId leaving : steps.leaving) {
          const auto at =
              std::ranges::find(live, leaving.value, &decltype(live)::value_type::first);
          REQUIRE(at != live.end());
          REQUIRE(at->second == 0);
          live.erase(at);
          scaler.left(leaving);
        }
      } else if (starting > 0 && below(2) == 0) {
        --starting;
        live.emplace_back(next_executor, 0);
        scaler.joined(ExecutorId{next_executor++}, true, true, now);
      } else if (below(3) == 0) {
        tasks = below(20);
      } else if (!live.empty()) {
        auto& row = live[static_cast<std::size_t>(below(live.size()))];
        const bool starts = row.second < 2 && below(2) == 0;
        if (starts) {
          scaler.started(ExecutorId{row.first}, plain, 1);
          ++row.second;
        } else if (row.second > 0) {
          scaler.ended(ExecutorId{row.first}, plain, 1);
          --row.second;
        }
      }
      for (const ExecutorId quiet : scaler.unsettled()) {
        scaler.settled(quiet, below(4) == 0, now);
      }
      if (below(10) == 0) {
        scaler.look_again();
        for (const ExecutorId quiet : scaler.unsettled()) {
          scaler.settled(quiet, false, now);
        }
      }
      const auto pool = static_cast<std::int64_t>(live.size()) + starting;
      REQUIRE(pool <= max);
      REQUIRE(scaler.room() == max - pool);
      wanted = scaler.settle(now, waiting(tasks));
      REQUIRE((!wanted || *wanted >= now));
    }
    const auto pool = static_cast<std::int64_t>(live.size()) + starting;
    REQUIRE((pool >= min || wanted == now));
  }
}

}  // namespace rehearse::sim
