// Everything free goes through one interface: what a seed decided replays from a tape, ties replay
// from names, and every order of ties can be gone through one after the other.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/support/decisions.hpp"
#include "model/support/units.hpp"
#include "policies/registry.hpp"
#include "properties/explore/cluster_space.hpp"
#include "properties/explore/search.hpp"
#include "properties/gen/generate.hpp"
#include "sim/simulation.hpp"
#include "traces/scenario_json.hpp"

using namespace rehearse;

namespace {

model::Scenario read(const std::string& text) {
  auto scenario = traces::read_scenario(text, "test");
  REQUIRE_MESSAGE(scenario.has_value(), model::to_string(scenario.error()));
  return std::move(*scenario);
}

// Three jobs and a cancel at one instant, ends of tasks that meet, and what depends on who is
// first.
model::Scenario meeting(const std::string& keys = "") {
  return read(R"({ "rehearse": 1, )" + keys + R"(
    "cluster": { "executors": [ { "name": "e", "resources": { "cpus": 2 } } ] },
    "jobs": [ { "name": "a", "stages": [ { "name": "s", "tasks": 2, "duration": "2ms" } ] },
              { "name": "b", "stages": [ { "name": "s", "tasks": 1, "duration": "2ms" } ] },
              { "name": "c", "stages": [ { "name": "s", "tasks": 1, "duration": "1ms" } ] } ],
    "faults": [ { "task": "a/s/0", "fails": "exception", "after": "2ms" } ] })");
}

// Times that are drawn, and delays of everything.
model::Scenario drawn(std::uint64_t seed) {
  return read(R"({ "rehearse": 1, "ties": "shuffled", "seed": )" + std::to_string(seed) + R"(,
    "cluster": { "executors": [ { "name": "e", "count": 3, "resources": { "cpus": 2 } } ],
                 "overheads": { "launch": { "dist": "uniform", "min": "0s", "max": "2ms" },
                                "status": { "dist": "exponential", "mean": "1ms" },
                                "kill": { "dist": "uniform", "min": "0s", "max": "2ms" },
                                "loss_detection": { "dist": "uniform", "min": "1ms",
                                                    "max": "3ms" } } },
    "jobs": [ { "name": "q", "repeat": { "count": 3, "every": "0s" },
                "on_failure": { "resubmit": 1, "backoff": "1ms" },
                "stages": [ { "name": "m", "tasks": 3, "duration": { "dist": "lognormal",
                                                   "median": "5ms", "sigma": 0.4 } },
                            { "name": "n", "tasks": 2, "duration": "3ms" } ],
                "edges": [ { "from": "m", "to": "n", "kind": "pipelined" } ] } ],
    "faults": [ { "at": "6ms", "lose_executor": "e1" },
                { "at": "9ms", "add_executor": { "name": "x", "resources": { "cpus": 2 } } } ] })");
}

std::uint64_t hash_of(const model::Scenario& scenario, model::Decisions* decisions = nullptr) {
  const auto policies = policies::make(scenario.scheduler);
  REQUIRE(policies.has_value());
  sim::RunOptions options;
  options.decisions = decisions;
  return sim::run(scenario, *policies, {}, options).journal_hash;
}

// Choices that say the same as the ties of a run that was recorded.
model::NamedDecisions::Named names_of(std::span<const model::Decision> recorded) {
  model::NamedDecisions::Named named;
  for (const model::Decision& decision : recorded) {
    if (decision.where.purpose == model::DrawPurpose::ties && decision.value > 0) {
      std::string name = "tie@" + model::format_duration(decision.where.at);
      if (decision.where.point.partition > 0) {
        name += '#' + std::to_string(decision.where.point.partition + 1);
      }
      named.emplace_back(std::move(name), static_cast<std::int64_t>(decision.value));
    }
  }
  return named;
}

}  // namespace

TEST_CASE("what a seed decides is on the tape, and the tape decides it again") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    model::SeededDecisions seeded;
    model::RecordedDecisions recorded(seeded);
    const std::uint64_t hash = hash_of(drawn(seed));
    CHECK(hash_of(drawn(seed), &recorded) == hash);  // whoever asks: the run of the file
    CHECK(recorded.list().size() > 20);
    // Under another seed only the tape can know.
    auto tape = model::TapeDecisions::of(recorded.list());
    CHECK(hash_of(drawn(seed + 1000), &tape) == hash);
    CHECK(hash_of(drawn(seed + 1000)) != hash);
    // One number of it turned: not the same run, unless it was a tie between equals.
    std::vector<std::uint64_t> turned;
    for (const model::Decision& decision : recorded.list()) {
      turned.push_back(decision.count == 0 ? ~decision.value : decision.value);
    }
    model::TapeDecisions other(turned);
    CHECK(hash_of(drawn(seed), &other) != hash);
  }
}

TEST_CASE("a tape that ends reads 0: the least times, in the order of the file") {
  model::TapeDecisions empty({});
  const std::string plain = R"({ "rehearse": 1,
    "cluster": { "executors": [ { "name": "e", "resources": { "cpus": 2 } } ]OVERHEADS },
    "jobs": [ { "name": "q", "stages": [ { "name": "s", "tasks": 3, "duration": TIME } ] },
              { "name": "r", "stages": [ { "name": "s", "tasks": 1, "duration": "1ms" } ] } ] })";
  const auto filled = [&plain](const std::string& overheads, const std::string& time) {
    std::string text = plain;
    text.replace(text.find("OVERHEADS"), 9, overheads);
    text.replace(text.find("TIME"), 4, time);
    return read(text);
  };
  const model::Scenario least = filled(R"(, "overheads": { "status": "1ms" })", R"("2ms")");
  const model::Scenario free =
      filled(R"(, "overheads": { "status": { "dist": "uniform", "min": "1ms", "max": "9ms" } })",
             R"({ "dist": "uniform", "min": "2ms", "max": "7ms" })");
  CHECK(hash_of(free, &empty) == hash_of(least));
  CHECK(hash_of(free) != hash_of(least));
}

TEST_CASE("ties of a run, as choices of a file") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const model::Scenario shuffled =
        meeting(R"("ties": "shuffled", "seed": )" + std::to_string(seed) + ",");
    model::SeededDecisions seeded;
    model::RecordedDecisions recorded(seeded);
    const std::uint64_t hash = hash_of(shuffled, &recorded);
    CHECK(hash == hash_of(shuffled));
    model::Scenario chosen = meeting();
    chosen.choices = names_of(recorded.list());
    CHECK(hash_of(chosen) == hash);
  }
}

TEST_CASE("every order of ties: by the odometer, and by seeds") {
  const model::Scenario scenario = meeting();
  std::set<std::uint64_t> enumerated;
  model::EnumeratedDecisions odometer(8);
  int runs = 0;
  do {
    enumerated.insert(hash_of(scenario, &odometer));
    ++runs;
  } while (odometer.next());
  std::set<std::uint64_t> drawn_ones;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    drawn_ones.insert(
        hash_of(meeting(R"("ties": "shuffled", "seed": )" + std::to_string(seed) + ",")));
  }
  CHECK(enumerated == drawn_ones);
  CHECK(enumerated.contains(hash_of(scenario)));
  // Six orders of the submissions, two of the ends at 2 ms and two of those at 4 ms.
  CHECK(runs == 24);
  CHECK(enumerated.size() == 24);
}

TEST_CASE("every path of a small space: by the odometer, and by the search") {
  const model::Scenario scenario = read(R"({ "rehearse": 1,
    "cluster": { "executors": [ { "name": "e", "resources": { "cpus": 2 } } ] },
    "jobs": [ { "name": "a", "stages": [ { "name": "m", "tasks": 1, "duration": "1ms" },
                                         { "name": "n", "tasks": 1, "duration": "1ms" } ],
                "edges": [ { "from": "m", "to": "n", "kind": "pipelined" } ] },
              { "name": "b", "stages": [ { "name": "s", "tasks": 1, "duration": "1ms" } ] } ] })");
  const auto policies = policies::make(scenario.scheduler);
  REQUIRE(policies.has_value());
  const auto root = properties::ClusterSpace::make(scenario, *policies);
  REQUIRE(root.has_value());
  properties::SearchOptions options;
  options.faults_max = 0;
  properties::Search search(**root, options);
  const properties::SearchResult searched = search.run();
  REQUIRE(searched.complete);

  std::set<std::vector<std::uint64_t>> places;
  std::set<std::vector<std::uint64_t>> ends;
  model::EnumeratedDecisions odometer(64);
  std::int64_t paths = 0;
  do {
    const std::unique_ptr<properties::Space> place = (*root)->copy();
    std::vector<properties::Choice> choices;
    for (std::uint32_t depth = 0;; ++depth) {
      std::vector<std::uint64_t> words;
      place->encode(words);
      places.insert(words);
      place->choices(choices);
      std::erase_if(choices, [](const properties::Choice& choice) {
        return choice.kind == properties::Choice::Kind::fault;
      });
      if (choices.empty()) {
        ends.insert(words);
        break;
      }
      const model::DecisionPlace where{
          model::DrawPurpose::audit, {}, {depth, 0, 0}, model::Instant{0}};
      place->take(choices[odometer.choose(where, choices.size())]);
      CHECK(search.has_seen(*place));
    }
    ++paths;
  } while (odometer.next());
  CHECK(std::ssize(places) == searched.states);
  CHECK(std::ssize(ends) == searched.ends);
  MESSAGE(paths, " paths through ", places.size(), " states");
  CHECK(paths > searched.states);
}

TEST_CASE("a drawn scenario is what was decided: a tape draws it again, an empty one nothing odd") {
  properties::GenOptions options;
  options.drawn = properties::DrawnAxes::all;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    model::SeededDecisions seeded;
    model::RecordedDecisions recorded(seeded);
    const std::string text = traces::write_scenario(properties::generate(options, seed, recorded));
    CHECK(text == traces::write_scenario(properties::generate(options, seed)));
    auto tape = model::TapeDecisions::of(recorded.list());
    CHECK(text == traces::write_scenario(properties::generate(options, seed, tape)));
    // Half of a tape makes a scenario, too.
    std::vector<model::Decision> half(recorded.list().begin(),
                                      recorded.list().begin() + std::ssize(recorded.list()) / 2);
    auto cut = model::TapeDecisions::of(half);
    const std::string other = traces::write_scenario(properties::generate(options, seed, cut));
    CHECK(traces::read_scenario(other, "half.json").has_value());
  }
  model::TapeDecisions empty({});
  const model::Scenario plain = properties::generate(options, 1, empty);
  CHECK(plain.faults.order.empty());
  CHECK_FALSE(plain.ties_shuffled);
  CHECK(plain.choices.empty());
  CHECK_FALSE(plain.horizon.has_value());
  CHECK(plain.timing == model::Timing::scripted);
}

TEST_CASE("the odometer goes through all numbers, also where later questions follow from answers") {
  model::EnumeratedDecisions odometer(5);
  std::vector<std::string> seen;
  do {
    std::string way;
    const std::uint64_t first = odometer.choose({}, 3);
    way += std::to_string(first);
    CHECK(odometer.choose({}, 100) == 0);  // too many to go through
    CHECK(odometer.choose({}, 1) == 0);
    for (std::uint64_t i = 0; i < first; ++i) {
      way += odometer.happens({}, 20) ? 'y' : 'n';
    }
    seen.push_back(way);
  } while (odometer.next());
  const std::vector<std::string> all = {"0", "1n", "1y", "2nn", "2ny", "2yn", "2yy"};
  CHECK(seen == all);
}
