// Processor sharing against a simulation in ticks of a nanosecond with exact fractions.
#include "sim/models/processor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "model/support/draw.hpp"

namespace rehearse::sim {

namespace {

using model::Duration;
using model::Instant;

struct Arrival {
  Instant at = 0;
  std::uint32_t profile = 0;
  std::int64_t tasks = 1;
  Duration work = 0;
  Instant stopped_at = -1;  // before it ends by itself; -1: never
};

// One resource; `slots` by profile, each divides the greatest.
std::vector<Processor::Resource> resources(const std::vector<std::int64_t>& slots) {
  const std::int64_t whole = *std::ranges::max_element(slots);
  Processor::Resource resource{whole, {}};
  for (const std::int64_t count : slots) {
    resource.task_amount.push_back(whole / count);
  }
  return {resource};
}

// Ends by arrival, -1 of those that were stopped.
std::vector<Instant> by_processor(const std::vector<std::int64_t>& slots,
                                  const std::vector<Arrival>& arrivals) {
  Processor processor(resources(slots));
  std::vector<Processor::Mark> marks(arrivals.size());
  std::vector<Instant> ends(arrivals.size(), -1);
  std::vector<bool> there(arrivals.size());
  const auto load = [&](std::size_t i) {
    return Processor::Load{arrivals[i].profile, arrivals[i].tasks};
  };
  const auto end_those_due = [&](Instant now) {
    while (true) {
      const Processor::Ends next = processor.next_ends();
      if (next.orders.empty() || next.at > now) {
        return;
      }
      REQUIRE(next.at == now);
      for (const std::uint64_t i : next.orders) {
        processor.leave(now, load(i), marks[i], i);
        ends[i] = now;
        there[i] = false;
      }
    }
  };
  for (Instant now = 0; now < 3000; ++now) {
    end_those_due(now);
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      if (there[i] && arrivals[i].stopped_at == now) {
        processor.leave(now, load(i), marks[i], i);
        there[i] = false;
      } else if (arrivals[i].at == now) {
        marks[i] = processor.enter(now, load(i), arrivals[i].work, i);
        there[i] = true;
      }
    }
    end_those_due(now);
  }
  return ends;
}

std::vector<Instant> by_ticks(const std::vector<std::int64_t>& slots,
                              const std::vector<Arrival>& arrivals) {
  constexpr std::int64_t fine = 720720;  // divisible by all loads up to 16
  std::int64_t whole = 1;
  for (const std::int64_t count : slots) {
    whole = std::max(whole, count);  // each divides the greatest
  }
  std::map<std::size_t, std::int64_t> left;  // in 1/fine ns of work
  std::vector<Instant> ends(arrivals.size(), -1);
  const auto load = [&] {
    std::int64_t sum = 0;
    for (const auto& [i, work] : left) {
      sum += arrivals[i].tasks * (whole / slots[arrivals[i].profile]);
    }
    return std::max(sum, whole);
  };
  const auto end_those_due = [&](Instant now) {
    for (bool again = true; again;) {  // done are those that end within half a tick
      again = false;
      const std::int64_t taken = load();
      for (auto at = left.begin(); at != left.end();) {
        if (2 * at->second * taken < fine * whole) {
          ends[at->first] = now;
          at = left.erase(at);
          again = true;
        } else {
          ++at;
        }
      }
    }
  };
  for (Instant now = 0; now < 3000; ++now) {
    end_those_due(now);
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      if (arrivals[i].stopped_at == now) {
        left.erase(i);
      } else if (arrivals[i].at == now) {
        left[i] = arrivals[i].work * fine;
      }
    }
    end_those_due(now);
    const std::int64_t each = fine * whole / load();
    for (auto& [i, work] : left) {
      work -= each;
    }
  }
  return ends;
}

}  // namespace

TEST_CASE("alone and up to the slots every task has full speed") {
  const std::vector<Arrival> two{{.at = 0, .work = 10}, {.at = 3, .work = 10}};
  CHECK(by_processor({2}, two) == std::vector<Instant>{10, 13});
}

TEST_CASE("beyond the slots all are slower alike") {
  // Two on one slot: the first has done 3 when the second comes; then each has half of the speed.
  const std::vector<Arrival> two{{.at = 0, .work = 10}, {.at = 3, .work = 10}};
  CHECK(by_processor({1}, two) == std::vector<Instant>{17, 20});
  // Three on two slots take 30 for 20 each.
  const std::vector<Arrival> three(3, {.at = 0, .work = 20});
  CHECK(by_processor({2}, three) == std::vector<Instant>{30, 30, 30});
}

TEST_CASE("ends are rounded half up, and count as reached") {
  // Three of work 1 on two slots end after 1.5.
  const std::vector<Arrival> three(3, {.at = 0, .work = 1});
  CHECK(by_processor({2}, three) == std::vector<Instant>{2, 2, 2});
}

TEST_CASE("who is stopped leaves its part to the others") {
  const std::vector<Arrival> two{{.at = 0, .work = 10}, {.at = 0, .work = 10, .stopped_at = 4}};
  CHECK(by_processor({1}, two) == std::vector<Instant>{12, -1});
}

TEST_CASE("profiles count by what a task takes of the whole") {
  // Four slots of the first, two of the second: two and one fill it, two and two are 1.5 times too
  // many.
  const std::vector<std::int64_t> slots{4, 2};
  const std::vector<Arrival> fit{{.profile = 0, .tasks = 2, .work = 10},
                                 {.profile = 1, .work = 10}};
  CHECK(by_processor(slots, fit) == std::vector<Instant>{10, 10});
  const std::vector<Arrival> more{{.profile = 0, .tasks = 2, .work = 10},
                                  {.profile = 1, .tasks = 2, .work = 10}};
  CHECK(by_processor(slots, more) == std::vector<Instant>{15, 15});
}

TEST_CASE("the resource of which most is taken decides") {
  // Four cpus and one gpu. Three tasks of a cpu and one of the gpu leave everything at full speed;
  // a second one of the gpu halves it, however many cpus are left.
  const std::vector<Processor::Resource> both{{4000, {1000, 0}}, {1000, {0, 1000}}};
  Processor processor(both);
  (void)processor.enter(0, {0, 3}, 10, 0);
  (void)processor.enter(0, {1, 1}, 10, 1);
  CHECK(processor.next_ends().at == 10);
  const auto mark = processor.enter(0, {1, 1}, 10, 2);
  CHECK(processor.next_ends().at == 20);
  processor.leave(10, {1, 1}, mark, 2);
  CHECK(processor.next_ends().at == 15);
  Processor boundless({});
  (void)boundless.enter(0, {0, 1000}, 10, 0);
  CHECK(boundless.next_ends().at == 10);
}

TEST_CASE("very long work and very many tasks overflow nothing") {
  Processor processor(resources({1}));
  for (std::uint64_t i = 0; i < 1000; ++i) {
    (void)processor.enter(0, {}, model::instant_max / 2000, i);
  }
  const auto ends = processor.next_ends();
  CHECK(ends.orders.size() == 1000);
  CHECK(ends.at == model::instant_max / 2000 * 1000);
  (void)processor.enter(0, {}, model::instant_max, 1000);
  Processor full(resources({1}));
  (void)full.enter(5, {}, model::instant_max, 0);
  CHECK(full.next_ends().at == model::instant_max);
}

TEST_CASE("random arrivals end as in the simulation by ticks") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const model::DrawKey key = model::draw_key({seed, model::DrawPurpose::workload, 0, 0});
    std::uint32_t counter = 0;
    const auto below = [&](std::uint64_t count) {
      return static_cast<std::int64_t>(
          model::uniform_below(model::draw(key, {counter++, 0, 0}), count));
    };
    const std::vector<std::int64_t> slots =
        below(2) == 0 ? std::vector<std::int64_t>{1 + below(4)} : std::vector<std::int64_t>{4, 2};
    std::vector<Arrival> arrivals;
    const std::int64_t count = 1 + below(8);
    for (std::int64_t i = 0; i < count; ++i) {
      Arrival arrival;
      arrival.at = below(60);
      arrival.profile = static_cast<std::uint32_t>(below(slots.size()));
      arrival.work = below(5) == 0 ? below(3) : below(120);
      if (below(6) == 0) {
        arrival.stopped_at = arrival.at + 1 + below(40);
      }
      arrivals.push_back(arrival);
    }
    CAPTURE(seed);
    CHECK(by_processor(slots, arrivals) == by_ticks(slots, arrivals));
  }
}

}  // namespace rehearse::sim
