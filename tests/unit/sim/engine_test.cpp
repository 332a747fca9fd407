// Goal: the engine moves time forward only, keeps tags whole, gives an instant in order, and lets a
// caller merge arrivals that are never queued.
#include "sim/engine/engine.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/support/check.hpp"

namespace {

namespace model = rehearse::model;
using rehearse::sim::Engine;
using rehearse::sim::Event;
using rehearse::sim::EventTag;

}  // namespace

TEST_CASE("a tag comes back as it went in") {
  for (const EventTag tag : {EventTag{}, EventTag{15, 0xffffffffU, EventTag::payload_max},
                             EventTag{3, 0x80000001U, 0x0abcdef1U}}) {
    const Event event = Event::make(model::instant_max, tag);
    CHECK(event.tag() == tag);
    CHECK(event.instant() == model::instant_max);
  }
  CHECK(Event::make(1, {.event_class = 1}) > Event::make(1, {.sequence = 0xffffffffU}));
  CHECK(Event::make(1, {.sequence = 1}) > Event::make(1, {.payload = EventTag::payload_max}));
  CHECK(Event::make(2, {}) > Event::make(1, {.event_class = 15}));
}

TEST_CASE("a batch is one instant, by class, then sequence, then payload") {
  Engine engine;
  engine.push(5, {.event_class = 1, .sequence = 1, .payload = 10});
  engine.push(6, {.event_class = 0, .sequence = 2, .payload = 11});
  engine.push(5, {.event_class = 0, .sequence = 4, .payload = 12});
  engine.push(5, {.event_class = 0, .sequence = 3, .payload = 14});
  engine.push(5, {.event_class = 0, .sequence = 3, .payload = 13});
  CHECK(engine.size() == 5);
  CHECK(engine.peek_time() == 5);
  CHECK(engine.now() == 0);

  std::vector<Event> batch;
  engine.pop_batch(5, batch);
  std::vector<std::uint32_t> payloads;
  for (const Event& event : batch) {
    payloads.push_back(event.tag().payload);
  }
  CHECK(payloads == std::vector<std::uint32_t>{13, 14, 12, 10});
  CHECK(engine.now() == 5);

  engine.push(5, {.sequence = 9, .payload = 15});  // work of no length: the next round
  batch.clear();
  engine.pop_batch(5, batch);
  CHECK(batch.size() == 1);
  CHECK(engine.pop().tag().payload == 11);
  CHECK(engine.now() == 6);
  CHECK(engine.empty());
}

TEST_CASE("arrivals are merged without being queued") {
  // Each arrival makes an end 30 later; arrivals are earlier and later than queued events, or tied.
  const std::vector<model::Instant> arrivals{0, 10, 30, 30, 41, 100};
  Engine engine;
  std::vector<model::Instant> ends;
  std::vector<Event> batch;
  std::size_t next = 0;
  std::uint32_t sequence = 0;
  while (next < arrivals.size() || !engine.empty()) {
    const model::Instant arrival = next < arrivals.size() ? arrivals[next] : model::instant_max;
    const model::Instant queued = engine.peek_time().value_or(model::instant_max);
    const model::Instant instant = std::min(arrival, queued);
    batch.clear();
    engine.pop_batch(instant, batch);
    CHECK(engine.now() == instant);
    for (const Event& event : batch) {
      ends.push_back(event.instant());
    }
    for (; next < arrivals.size() && arrivals[next] == instant; ++next) {
      engine.push(instant + 30, {.sequence = sequence++});
    }
  }
  CHECK(ends == std::vector<model::Instant>{30, 40, 60, 60, 71, 130});
}

TEST_CASE("time never goes back, and tags must fit") {
  Engine engine;
  std::vector<Event> batch;
  CHECK_THROWS_AS(engine.push(-1, {}), model::InternalFault);
  engine.pop_batch(10, batch);  // an instant with nothing queued
  CHECK(engine.now() == 10);
  CHECK_THROWS_AS(engine.push(9, {}), model::InternalFault);
  CHECK_THROWS_AS(engine.pop_batch(9, batch), model::InternalFault);
  CHECK_THROWS_AS(engine.push(10, {.event_class = 16}), model::InternalFault);
  CHECK_THROWS_AS(engine.push(10, {.payload = EventTag::payload_max + 1}), model::InternalFault);
  CHECK(engine.empty());
  engine.push(10, {});
  engine.clear();
  CHECK(engine.now() == 0);
  CHECK(engine.empty());
}
