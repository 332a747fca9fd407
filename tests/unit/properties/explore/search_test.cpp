// The search over spaces small enough to count by hand.
#include <doctest/doctest.h>

#include "model/support/check.hpp"
#include "properties/explore/search.hpp"

using namespace rehearse::properties;

namespace {

// Two counters that go up one at a time; a fault sets the first back to 0. Somewhere something may
// be wrong.
struct Grid final : Space {
  std::uint32_t side = 3;
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t faults = 0;
  bool ended = false;
  std::int64_t wrong = 0;
  std::uint32_t wrong_x = 99;
  std::uint32_t wrong_y = 99;
  bool wrong_at_end = false;
  std::uint32_t faulty_x = 99;

  [[nodiscard]] std::unique_ptr<Space> copy() const override {
    return std::make_unique<Grid>(*this);
  }
  void become(const Space& other) override {
    const auto& grid = static_cast<const Grid&>(other);
    x = grid.x;
    y = grid.y;
    faults = grid.faults;
    wrong = grid.wrong;
  }
  void choices(std::vector<Choice>& list) const override {
    list.clear();
    if (x < side) {
      list.push_back({Choice::Kind::ordinary, 0, 0, 0, 0});
    }
    if (y < side) {
      list.push_back({Choice::Kind::ordinary, 1, 0, 0, 0});
    }
    if (x > 0) {
      list.push_back({Choice::Kind::fault, 2, 0, 0, 0});
    }
  }
  void take(const Choice& choice) override {
    x = choice.what == 0 ? x + 1 : choice.what == 2 ? 0 : x;
    y += choice.what == 1 ? 1 : 0;
    faults += choice.what == 2 ? 1 : 0;
    RH_CHECK(x != faulty_x || y != 1, x);
    wrong += x == wrong_x && y == wrong_y ? 1 : 0;
  }
  void finish() override { wrong += wrong_at_end ? 1 : 0; }
  void encode(std::vector<std::uint64_t>& words) const override {
    words.insert(words.end(), {x, y, faults});
  }
  [[nodiscard]] std::int64_t violation_count() const override { return wrong; }
  [[nodiscard]] std::vector<rehearse::model::Violation> violations() const override {
    return {{"WRONG", 0, "it is"}};
  }
  [[nodiscard]] std::string text_of(const Choice& choice) const override {
    return choice.what == 2 ? "back" : choice.what == 0 ? "x" : "y";
  }
};

// Places in a row, each leads to those of its list; -1 behind a place: by a pass.
struct Net final : Space {
  struct Step {
    std::uint32_t to = 0;
    bool pass = false;
  };
  std::vector<std::vector<Step>> steps;
  std::uint32_t at = 0;

  [[nodiscard]] std::unique_ptr<Space> copy() const override {
    return std::make_unique<Net>(*this);
  }
  void become(const Space& other) override { at = static_cast<const Net&>(other).at; }
  void choices(std::vector<Choice>& list) const override {
    list.clear();
    for (const Step& step : steps[at]) {
      list.push_back({step.pass ? Choice::Kind::pass : Choice::Kind::ordinary, 0, step.to, 0, 0});
    }
  }
  void take(const Choice& choice) override { at = choice.a; }
  void finish() override {}
  void encode(std::vector<std::uint64_t>& words) const override { words.push_back(at); }
  [[nodiscard]] std::int64_t violation_count() const override { return 0; }
  [[nodiscard]] std::vector<rehearse::model::Violation> violations() const override { return {}; }
  [[nodiscard]] std::string text_of(const Choice& /*choice*/) const override { return {}; }
};

SearchResult search(const Space& root, int faults, bool backwards = false) {
  return Search(root, {.faults_max = faults, .stop = {}, .backwards = backwards}).run();
}

std::string text_of(const Space& root, const Counterexample& example) {
  std::string text;
  const auto place = root.copy();
  for (const Choice& choice : example.path) {
    text += (text.empty() ? "" : " ") + place->text_of(choice);
    place->take(choice);
  }
  return text;
}

}  // namespace

TEST_CASE("a space of known size is counted") {
  const Grid grid;
  const SearchResult plain = search(grid, 0);
  CHECK(plain.complete);
  CHECK(plain.states == 16);
  CHECK(plain.transitions == 24);
  CHECK(plain.ends == 1);
  CHECK(plain.depth_max == 6);
  CHECK(plain.found.empty());

  // A fault leads from each of the 12 states with x > 0 to one of 4 of the next number of faults,
  // from where all 16 are reached again.
  const SearchResult faulty = search(grid, 2);
  CHECK(faulty.states_by_faults == std::vector<std::int64_t>{16, 16, 16});
  CHECK(faulty.transitions == 3 * 24 + 2 * 12);
  CHECK(faulty.ends == 3);
}

TEST_CASE("the order of choices changes paths and no count") {
  const Grid grid;
  const SearchResult forwards = search(grid, 2);
  const SearchResult backwards = search(grid, 2, true);
  CHECK(forwards.states == backwards.states);
  CHECK(forwards.transitions == backwards.transitions);
  CHECK(forwards.ends == backwards.ends);
  CHECK(forwards.depth_max == backwards.depth_max);
}

TEST_CASE("what is found has the fewest faults and then the fewest choices") {
  Grid grid;
  grid.wrong_x = 2;
  grid.wrong_y = 1;
  const SearchResult found = search(grid, 2);
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].violation.property == "WRONG");
  CHECK(found.found[0].faults == 0);
  CHECK(found.found[0].path.size() == 3);
  CHECK_FALSE(found.found[0].at_end);
  CHECK(found.states < 48);  // what lies behind it only is left out

  Grid back;
  back.wrong_x = 0;  // only a fault leads back to it, and to y = 2 first
  back.wrong_y = 2;
  back.y = 2;
  const SearchResult behind_fault = search(back, 3);
  REQUIRE(behind_fault.found.size() == 1);
  CHECK(behind_fault.found[0].faults == 1);
  CHECK(text_of(back, behind_fault.found[0]) == "x back");
  CHECK(search(back, 0).found.empty());
}

TEST_CASE("an end is judged, and every end once") {
  Grid grid;
  grid.wrong_at_end = true;
  const SearchResult found = search(grid, 0);
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].at_end);
  CHECK(found.found[0].path.size() == 6);
}

TEST_CASE("a check that fails on the way says which way it was") {
  Grid grid;
  grid.faulty_x = 2;
  std::string said;
  try {
    static_cast<void>(search(grid, 1));
  } catch (const rehearse::model::InternalFault& fault) {
    said = fault.what();
  }
  CHECK(said.ends_with("after: x, x, y"));
}

TEST_CASE("limits cut a search short and say so") {
  Grid grid;
  grid.side = 60;
  const SearchResult few = Search(grid, {.faults_max = 0, .states_max = 100, .stop = {}}).run();
  CHECK_FALSE(few.complete);
  CHECK(few.states <= 103);
  const SearchResult stopped = Search(grid, {.faults_max = 0, .stop = [] { return true; }}).run();
  CHECK_FALSE(stopped.complete);
  const SearchResult whole = Search(grid, {.faults_max = 0, .states_max = 3721, .stop = {}}).run();
  CHECK(whole.complete);
  CHECK(whole.states == 3721);
}

TEST_CASE("where no end can be reached any more is a livelock, a detour is none") {
  Net net;
  //         0: start       1: end  2 and 3: round and round   4: back and forth with 0
  net.steps = {{{1}, {2}, {4}}, {}, {{3}}, {{2}}, {{0}}};
  const SearchResult found = search(net, 0);
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].violation.property == "NO_LIVELOCK");
  CHECK(found.found[0].path.size() == 1);  // 2 is where it begins
  CHECK(found.found[0].path[0].a == 2);

  net.steps[3].push_back({1});
  CHECK(search(net, 0).found.empty());
}

TEST_CASE("passes that come back are a livelock even where something else leads out") {
  Net net;
  net.steps = {{{1, true}}, {{2, true}, {3}}, {{1, true}, {3}}, {}};
  const SearchResult found = search(net, 0);
  REQUIRE(found.found.size() == 1);
  CHECK(found.found[0].violation.property == "NO_LIVELOCK");
  net.steps[2] = {{3}};
  CHECK(search(net, 0).found.empty());
}

TEST_CASE("a place is known by what it is, not by the way to it") {
  const Grid grid;
  Search searched(grid, {.faults_max = 0, .stop = {}});
  CHECK(searched.run().complete);
  Grid inside;
  inside.x = 3;
  inside.y = 2;
  CHECK(searched.has_seen(inside));
  inside.faults = 1;
  CHECK_FALSE(searched.has_seen(inside));
}
