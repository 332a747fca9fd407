// The table of bounds on waiting: complete, and each pair without a bound names what shows it.
#include "model/waiting_bound.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>

using namespace rehearse::model;

TEST_CASE("A7: every pair of queue and overtaking rule has a bound, or a scenario without one") {
  std::set<std::string> shown;
  for (const PairBound& pair : waiting_bounds()) {
    CAPTURE(name_of(pair.queue));
    CAPTURE(name_of(pair.overtake));
    CHECK(&waiting_bound(pair.queue, pair.overtake) == &pair);
    CHECK_FALSE(pair.text.empty());
    CHECK((pair.kind == WaitingBound::unbounded) == !pair.shown_by.empty());
    if (!pair.shown_by.empty()) {
      const std::string name(pair.shown_by);
      CHECK(std::filesystem::exists("tests/spec/scenarios/" + name + ".json"));
      CHECK(shown.insert(name).second);
    }
  }
  CHECK(shown.size() == 14);
}

TEST_CASE("properties.md section 2: which pairs are unbounded") {
  for (const PairBound& pair : waiting_bounds()) {
    const bool listed = pair.overtake == Overtake::backfill ||
                        pair.queue == QueueOrder::unordered || pair.queue == QueueOrder::priority ||
                        pair.queue == QueueOrder::smallest_first;
    CHECK((pair.kind == WaitingBound::unbounded) == listed);
  }
}
