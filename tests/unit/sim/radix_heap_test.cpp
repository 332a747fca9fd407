// Goal: the radix heap gives exactly the order of std::priority_queue, whatever comes when.
// Method: long random programs of pushes, pops, batches and peeks run on both, with times that are
// spread, tied, quantised, close to the borders of digits, or pushed into the instant at hand.
#include "sim/engine/radix_heap.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "model/support/check.hpp"
#include "model/support/draw.hpp"

namespace {

namespace model = rehearse::model;
using rehearse::sim::Event;
using rehearse::sim::EventTag;
using rehearse::sim::RadixHeap;

constexpr std::uint64_t time_end = std::uint64_t{1} << 63;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : key_(model::draw_key({.seed = seed})) {}
  std::uint64_t bits() { return model::draw(key_, {.partition = count_++}); }
  std::uint64_t below(std::uint64_t count) { return model::uniform_below(bits(), count); }

 private:
  model::DrawKey key_;
  std::uint32_t count_ = 0;
};

// The reference: a heap by (time, key).
class Reference {
 public:
  void push(const Event& event) { queue_.push(event); }
  [[nodiscard]] bool empty() const { return queue_.empty(); }
  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  [[nodiscard]] const Event& top() const { return queue_.top(); }
  Event pop() {
    const Event event = queue_.top();
    queue_.pop();
    return event;
  }
  std::vector<Event> pop_batch(std::uint64_t time) {
    std::vector<Event> batch;
    while (!queue_.empty() && queue_.top().time == time) {
      batch.push_back(pop());
    }
    return batch;
  }

 private:
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
};

// How far after the last popped time a new event lies.
using Increment = std::function<std::uint64_t(Dice&)>;

struct Pattern {
  const char* name;
  Increment increment;
};

std::vector<Pattern> patterns() {
  return {
      {"spread", [](Dice& dice) { return dice.below(1'000'000'000); }},
      {"any magnitude", [](Dice& dice) { return dice.bits() >> (24 + dice.below(40)); }},
      {"tied", [](Dice& dice) { return dice.below(3); }},
      {"always now", [](Dice&) { return std::uint64_t{0}; }},
      {"quantised", [](Dice& dice) { return dice.below(40) * 100'000'000; }},
      {"bimodal",
       [](Dice& dice) { return dice.below(10) == 0 ? 1'000'000'000'000 : 1 + dice.below(5); }},
      {"borders of digits",
       [](Dice& dice) {
         const std::uint64_t border = std::uint64_t{1} << (6 * dice.below(8));
         return border * (1 + dice.below(2)) - 1 + dice.below(3);
       }},
      {"mostly one far instant",
       [](Dice& dice) { return dice.below(20) == 0 ? dice.below(100) : std::uint64_t{1} << 40; }},
  };
}

// One random program. `fill` is the number of events around which the size wanders.
void run_program(const Pattern& pattern, std::uint64_t seed, std::size_t fill) {
  CAPTURE(pattern.name);
  CAPTURE(seed);
  CAPTURE(fill);
  Dice dice(seed);
  RadixHeap heap;
  Reference reference;
  std::uint64_t last = 0;
  std::uint32_t sequence = 0;
  const auto push = [&] {
    const std::uint64_t time = last + pattern.increment(dice);
    const EventTag tag{.event_class = static_cast<std::uint32_t>(dice.below(16)),
                       .sequence = dice.below(8) == 0 ? sequence : sequence++,
                       .payload = static_cast<std::uint32_t>(dice.below(4))};
    const Event event = Event::make(static_cast<model::Instant>(time), tag);
    heap.push(event);
    reference.push(event);
  };
  for (int step = 0; step < 4'000; ++step) {
    const bool grow = dice.below(2 * fill) >= reference.size();
    const std::uint64_t choice = dice.below(8);
    if (reference.empty() || (grow && choice < 6) || choice < 3) {
      push();
    } else if (choice < 6) {
      const Event expected = reference.pop();
      REQUIRE(heap.pop() == expected);
      last = expected.time;
    } else if (choice < 7) {
      // A batch, more for the same instant while it is dealt with, and the next round.
      last = reference.top().time;
      for (int round = 0; round < 3; ++round) {
        std::vector<Event> batch{Event{.time = 1, .key = 2}};  // what is there stays
        heap.pop_batch(last, batch);
        REQUIRE(batch.front() == Event{.time = 1, .key = 2});
        batch.erase(batch.begin());
        REQUIRE(batch == reference.pop_batch(last));
        push();
      }
    } else {
      // An instant before the next event: nothing is there, and nothing changes.
      const std::uint64_t early = last + dice.below(reference.top().time - last + 1);
      if (early < reference.top().time) {
        std::vector<Event> batch;
        heap.pop_batch(early, batch);
        REQUIRE(batch.empty());
      }
    }
    REQUIRE(heap.size() == reference.size());
    REQUIRE(heap.peek_time() ==
            (reference.empty() ? std::nullopt : std::optional{reference.top().time}));
  }
  while (!reference.empty()) {
    REQUIRE(heap.pop() == reference.pop());
  }
  CHECK(heap.empty());
  CHECK_FALSE(heap.peek_time());
}

}  // namespace

TEST_CASE("random programs give the order of a binary heap") {
  for (const Pattern& pattern : patterns()) {
    for (const std::size_t fill : {2U, 12U, 100U, 1'500U}) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        run_program(pattern, seed, fill);
      }
    }
  }
}

TEST_CASE("peek does not move the base: earlier events may still come") {
  RadixHeap heap;
  Reference reference;
  const auto push = [&](std::uint64_t time) {
    const Event event{.time = time, .key = reference.size()};
    heap.push(event);
    reference.push(event);
  };
  push(time_end - 1);
  for (std::uint64_t time = std::uint64_t{1} << 62; time > 0; time /= 3) {
    push(time);
    CHECK(heap.peek_time() == time);
    std::vector<Event> none;
    heap.pop_batch(time - 1, none);
    CHECK(none.empty());
  }
  push(0);
  while (!reference.empty()) {
    CHECK(heap.pop() == reference.pop());
  }
}

TEST_CASE("events pushed at the current instant come in order of class, before and after the run") {
  // Enough events for a run, then pushes that belong before what is left of it, and behind it.
  for (const std::uint32_t count : {1U, 8U, 9U, 64U, 65U, 500U}) {
    CAPTURE(count);
    RadixHeap heap;
    Reference reference;
    const auto push = [&](std::uint32_t event_class, std::uint32_t sequence) {
      const Event event =
          Event::make(7'000'000, {.event_class = event_class, .sequence = sequence});
      heap.push(event);
      reference.push(event);
    };
    for (std::uint32_t i = 0; i < count; ++i) {
      push(i % 4 + 4, i);
    }
    for (std::uint32_t i = 0; i < 3 * count; ++i) {
      REQUIRE(heap.pop() == reference.pop());
      if (i < count) {
        push(0, 2 * count - i);
        push(15, i);
      }
    }
    std::vector<Event> batch;
    if (!reference.empty()) {
      heap.pop_batch(7'000'000, batch);
    }
    CHECK(batch == reference.pop_batch(7'000'000));
    CHECK(heap.empty());
  }
}

TEST_CASE("a copy goes on like the original, and apart from it") {
  Dice dice(1);
  RadixHeap heap;
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    heap.push({.time = dice.below(1'000), .key = i});
  }
  for (int i = 0; i < 300; ++i) {
    (void)heap.pop();
  }
  RadixHeap copy = heap;
  std::vector<Event> from_heap;
  while (!heap.empty()) {
    from_heap.push_back(heap.pop());
  }
  CHECK(copy.size() == 700);
  std::vector<Event> from_copy;
  while (!copy.empty()) {
    from_copy.push_back(copy.pop());
  }
  CHECK(from_copy == from_heap);
}

TEST_CASE("storage follows the greatest number queued and then stays") {
  for (const bool quantised : {false, true}) {
    Dice dice(2);
    RadixHeap heap;
    const auto increment = [&] {
      const std::uint64_t exact = dice.below(1'000'000'000);
      return quantised ? (exact / 100'000'000 + 1) * 100'000'000 : exact;
    };
    constexpr std::uint32_t pending = 20'000;
    std::uint32_t sequence = 0;
    for (; sequence < pending; ++sequence) {
      heap.push({.time = increment(), .key = sequence});
    }
    std::size_t warm = 0;
    for (std::uint32_t i = 0; i < 20 * pending; ++i) {
      const Event event = heap.pop();
      heap.push({.time = event.time + increment(), .key = sequence++});
      warm = i == 10 * pending ? heap.capacity() : warm;
    }
    CHECK(heap.capacity() <
          pending + std::size_t{300} * 64);  // a chunk that is not full per bucket in use
    CHECK(heap.capacity() <= warm + std::size_t{10} * 64);
    heap.clear();
    CHECK(heap.empty());
    CHECK_FALSE(heap.peek_time());
    heap.push({.time = 3, .key = 1});  // the last time is forgotten
    CHECK(heap.pop() == Event{.time = 3, .key = 1});
  }
}

TEST_CASE("what is said to come soon is queued, and comes before what is not") {
  Dice dice(11);
  RadixHeap heap;
  std::vector<Event> queued;
  for (int i = 0; i < 2000; ++i) {
    const Event event = Event::make(static_cast<model::Instant>(dice.below(1'000'000)), {});
    heap.push(event);
    queued.push_back(event);
  }
  std::ranges::sort(queued);
  std::size_t popped = 0;
  std::size_t said = 0;
  for (std::vector<Event> batch; !heap.empty(); batch.clear()) {
    heap.pop_batch(*heap.peek_time(), batch);
    popped += batch.size();
    for (const Event& event : heap.soon()) {
      // At most the bucket it was in, which is of one chunk, lies before it.
      const auto place = std::ranges::lower_bound(queued, event) - queued.begin();
      CHECK(place < static_cast<std::ptrdiff_t>(popped + 64));
      CHECK(place + static_cast<std::ptrdiff_t>(batch.size()) >=
            static_cast<std::ptrdiff_t>(popped));
      ++said;
    }
  }
  CHECK(popped == queued.size());
  CHECK(said > queued.size() / 2);
}

TEST_CASE("what is said to come soon does not pile up, whichever way events are popped") {
  Dice dice(12);
  RadixHeap heap;
  constexpr std::size_t queued = 500;
  std::uint64_t time = 0;
  for (std::size_t i = 0; i < queued; ++i) {
    heap.push(Event::make(static_cast<model::Instant>(dice.below(1'000'000)), {}));
  }
  std::size_t most = 0;
  for (int i = 0; i < 20'000; ++i) {
    time = heap.pop().time;
    most = std::max(most, heap.soon().size());
    heap.push(Event::make(static_cast<model::Instant>(time + dice.below(1'000'000)), {}));
  }
  CHECK(most > 0);
  CHECK(most <= 11 * 64);  // one chunk of each level at most
}

TEST_CASE("misuse is a broken invariant") {
  RadixHeap heap;
  std::vector<Event> batch;
  CHECK_THROWS_AS((void)heap.pop(), model::InternalFault);
  CHECK_THROWS_AS(heap.push({.time = time_end, .key = 0}), model::InternalFault);
  heap.push({.time = 10, .key = 0});
  heap.push({.time = 20, .key = 0});
  CHECK_THROWS_AS(heap.pop_batch(15, batch), model::InternalFault);  // would pass over 10
  CHECK(heap.pop().time == 10);
  CHECK_THROWS_AS(heap.push({.time = 9, .key = 0}), model::InternalFault);
  heap.push({.time = 10, .key = 0});
  CHECK(heap.size() == 2);
}
