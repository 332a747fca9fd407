// The cluster as a space of states: that states are told apart, that what the simulator does is one
// of its paths, and that what is broken is found on the shortest one.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "model/support/draw.hpp"
#include "model/support/journal_line.hpp"
#include "policies/registry.hpp"
#include "properties/explore/cluster_space.hpp"
#include "properties/explore/search.hpp"
#include "sim/simulation.hpp"
#include "traces/scenario_json.hpp"

using namespace rehearse;
using namespace rehearse::properties;

namespace {

constexpr std::string_view cluster_of_two =
    R"("cluster": { "profiles": { "default": { "task": { "cpus": 1 } } },
        "executors": [ { "name": "e", "count": 2, "resources": { "cpus": 1 },
                         "profile": "default" } ], "overheads": { "kill": "1ms" } })";
constexpr std::string_view pair_stages =
    R"("stages": [ { "name": "a", "tasks": 1, "duration": "1s" },
                   { "name": "b", "tasks": 1, "duration": "1s" } ],
       "edges": [ { "from": "a", "to": "b", "kind": "pipelined" } ])";

model::Scenario scenario_of(const std::string& text) {
  auto scenario = traces::read_scenario(text, "test.json");
  REQUIRE_MESSAGE(scenario.has_value(), model::to_string(scenario.error()));
  return std::move(*scenario);
}

model::Scenario scope(const std::string& name) {
  std::ifstream file("tests/explore/scopes/" + name + ".json");
  std::ostringstream text;
  text << file.rdbuf();
  return scenario_of(text.str());
}

model::Scenario two_jobs(const std::string& further = "") {
  return scenario_of(fmt::format(
      R"({{ "rehearse": 1, {}, "jobs": [
          {{ "name": "p", {} }},
          {{ "name": "s", "stages": [ {{ "name": "a", "tasks": 1, "duration": "1s" }} ] }} ]
          {} }})",
      cluster_of_two, pair_stages, further));
}

std::unique_ptr<ClusterSpace> space_of(const model::Scenario& scenario,
                                       model::Observer* listener = nullptr) {
  auto place = ClusterSpace::make(scenario, *policies::make(scenario.scheduler), listener);
  REQUIRE_MESSAGE(place.has_value(), model::to_string(place.error()));
  return std::move(*place);
}

using Words = std::vector<std::uint64_t>;

Words words_of(const Space& place) {
  Words words;
  place.encode(words);
  return words;
}

// All states by their words in full, depth first: another search, without a hash.
void collect(const Space& place, std::uint64_t faults_left, std::set<Words>& all) {
  if (!all.insert(words_of(place)).second) {
    return;
  }
  std::vector<Choice> choices;
  place.choices(choices);
  for (const Choice& choice : choices) {
    const std::uint64_t cost = choice.kind == Choice::Kind::fault ? 1 : 0;
    if (cost <= faults_left) {
      const auto next = place.copy();
      next->take(choice);
      collect(*next, faults_left - cost, all);
    }
  }
}

// Lines as text without their time; not those that depend on options.
class Lines final : public model::Observer {
 public:
  void begin(const model::NameTable& names) override { names_ = &names; }
  void on(const model::Event& event) override {
    if (event.as<model::RunStart>() != nullptr || event.as<model::RunEnd>() != nullptr ||
        event.as<model::Probe>() != nullptr) {
      return;
    }
    lines.push_back(model::journal_line({0, event.body}, *names_));
  }
  std::vector<std::string> lines;

 private:
  const model::NameTable* names_ = nullptr;
};

// Is there a path from the start that writes these lines? Walks those that agree so far and checks
// that each of their places was seen.
class Follower {
 public:
  Follower(const model::Scenario& scenario, const Search& search, std::vector<std::string> lines)
      : scenario_(scenario), search_(search), lines_(std::move(lines)) {}

  [[nodiscard]] bool is_a_path() { return follow({}); }
  std::size_t furthest = 0;

 private:
  bool follow(const std::vector<Choice>& path) {
    Lines written;
    const auto place = space_of(scenario_, &written);
    for (const Choice& choice : path) {
      place->take(choice);
    }
    if (written.lines.size() > lines_.size() ||
        !std::equal(written.lines.begin(), written.lines.end(), lines_.begin())) {
      return false;
    }
    furthest = std::max(furthest, written.lines.size());
    if (!search_.has_seen(*place) ||
        !been_.insert({written.lines.size(), words_of(*place)}).second) {
      return false;
    }
    std::vector<Choice> choices;
    place->choices(choices);
    if (choices.empty() || written.lines.size() == lines_.size()) {
      return written.lines.size() == lines_.size();
    }
    for (const Choice& choice : choices) {
      std::vector<Choice> longer = path;
      longer.push_back(choice);
      if (follow(longer)) {
        return true;
      }
    }
    return false;
  }

  const model::Scenario& scenario_;
  const Search& search_;
  std::vector<std::string> lines_;
  std::set<std::pair<std::size_t, Words>> been_;
};

// The scenario with durations, submissions and a fault drawn by the seed.
model::Scenario drawn(const model::Scenario& from, std::uint64_t seed) {
  model::Scenario scenario = from;
  const model::DrawKey key = model::draw_key({seed, model::DrawPurpose::audit, 7, 0});
  std::uint32_t draws = 0;
  const auto below = [&](std::uint64_t count) {
    return static_cast<std::int64_t>(
        model::uniform_below(model::draw(key, {draws++, 0, 0}), count));
  };
  model::Instant submit = 0;
  std::vector<std::pair<model::NameId, model::NameId>> tasks;
  for (model::JobSpec& job : scenario.jobs) {
    submit += below(3) * model::second;
    job.submit = submit;
    for (model::StageSpec& stage : job.stages) {
      stage.duration = std::vector<model::Duration>(static_cast<std::size_t>(stage.tasks),
                                                    (1 + below(4)) * model::second);
      tasks.emplace_back(job.name, stage.name);
    }
  }
  const std::int64_t what = below(4);
  if (what == 0) {
    return scenario;
  }
  if (what == 1) {
    const auto& executors = scenario.cluster.executors;
    model::TimedFault fault;
    fault.at = (1 + below(9)) * model::second;  // at 0 it would never join
    model::LoseExecutor loss;
    loss.executor = executors[static_cast<std::size_t>(below(executors.size()))].name;
    fault.action = loss;
    scenario.faults.timed.push_back(fault);
    scenario.faults.order.push_back({false, 0});
    return scenario;
  }
  const auto& [job, stage] = tasks[static_cast<std::size_t>(below(tasks.size()))];
  model::TaskFault fault;
  fault.job = job;
  fault.stage = stage;
  fault.fails = model::TaskFaultKind::exception;
  fault.after = below(4) * model::second;
  scenario.faults.tasks.push_back(fault);
  scenario.faults.order.push_back({true, 0});
  return scenario;
}

}  // namespace

TEST_CASE("hashes tell all states of a scope apart") {
  for (const char* name : {"e1_pair_and_chain", "e4_aging_priority", "e3_diamond"}) {
    CAPTURE(name);
    const model::Scenario scenario = scope(name);
    const auto root = space_of(scenario);
    std::set<Words> all;
    collect(*root, 1, all);
    const SearchResult result = Search(*root, {.faults_max = 1, .stop = {}}).run();
    CHECK(result.complete);
    CHECK(result.states == std::ssize(all));
  }
}

TEST_CASE("the order of choices changes no count") {
  for (const char* name : {"e1_pair_and_chain", "e2_two_pairs_and_a_single", "e4_easy_fifo"}) {
    CAPTURE(name);
    const model::Scenario scenario = scope(name);
    const auto root = space_of(scenario);
    const SearchResult forwards = Search(*root, {.faults_max = 1, .stop = {}}).run();
    const SearchResult backwards =
        Search(*root, {.faults_max = 1, .stop = {}, .backwards = true}).run();
    CHECK(forwards.states == backwards.states);
    CHECK(forwards.transitions == backwards.transitions);
    CHECK(forwards.ends == backwards.ends);
    CHECK(forwards.states_by_faults == backwards.states_by_faults);
  }
}

TEST_CASE("ids of runs and launch numbers make no difference") {
  // Both jobs run; the run that is free is another one, depending on which started first.
  const model::Scenario scenario = scope("e1_pair_and_chain");
  const auto text_path = [&](const std::vector<std::string>& path) {
    auto place = space_of(scenario);
    for (const std::string& text : path) {
      std::vector<Choice> choices;
      place->choices(choices);
      const auto choice = std::ranges::find_if(
          choices, [&](const Choice& one) { return place->text_of(one) == text; });
      REQUIRE_MESSAGE(choice != choices.end(), text);
      place->take(*choice);
    }
    return words_of(*place);
  };
  const std::string pass = "the scheduler passes";
  const Words a_first = text_path({pass, "p is submitted", pass, "p/a/0 ends well", pass,
                                   "p/b/0 ends well", pass, "c is submitted", pass});
  const Words b_first = text_path({pass, "p is submitted", pass, "p/b/0 ends well", pass,
                                   "p/a/0 ends well", pass, "c is submitted", pass});
  CHECK(a_first == b_first);
  CHECK(a_first != text_path({pass, "p is submitted", pass}));
}

TEST_CASE("D5: what the simulator does inside a scope is a path of its exploration") {
  for (const char* name : {"e1_pair_and_chain", "e2_two_pairs_and_a_single"}) {
    const model::Scenario plain = scope(name);
    const auto root = space_of(plain);
    Search search(*root, {.faults_max = 1, .stop = {}});
    CHECK(search.run().complete);
    int with_faults = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      CAPTURE(name);
      CAPTURE(seed);
      const model::Scenario scenario = drawn(plain, seed);
      Lines lines;
      std::vector<model::Observer*> observers{&lines};
      const auto run = sim::run(scenario, *policies::make(scenario.scheduler), observers);
      with_faults += !scenario.faults.order.empty() && run.faults_never_fired.empty() ? 1 : 0;
      Follower follower(plain, search, lines.lines);
      const bool found = follower.is_a_path();
      CHECK_MESSAGE(found, (follower.furthest < lines.lines.size() ? lines.lines[follower.furthest]
                                                                   : "the end"));
    }
    CHECK(with_faults > 20);
  }
}

TEST_CASE("a rule that is broken is found on the shortest way to it") {
  // The configuration says never, and the policy lets everything pass the head.
  const model::Scenario scenario = scenario_of(fmt::format(
      R"({{ "rehearse": 1, {}, "scheduler": {{ "dialect": "psd" }}, "jobs": [
          {{ "name": "s", "stages": [ {{ "name": "a", "tasks": 1, "duration": "1s" }} ] }},
          {{ "name": "p", {} }},
          {{ "name": "t", "stages": [ {{ "name": "a", "tasks": 1, "duration": "1s" }} ] }} ] }})",
      cluster_of_two, pair_stages));
  model::SchedulerConfig other = scenario.scheduler;
  other.admission.overtake = model::Overtake::backfill;
  scheduler::PolicySet broken = *policies::make(scenario.scheduler);
  broken.overtake = policies::make(other)->overtake->clone();
  const auto root = ClusterSpace::make(scenario, broken);
  REQUIRE(root.has_value());
  const SearchResult result = Search(**root, {.faults_max = 1, .stop = {}}).run();
  REQUIRE_FALSE(result.found.empty());
  const Counterexample& first = result.found.front();
  CHECK(first.violation.property == "NO_STARVATION");
  CHECK(first.faults == 0);
  // All three are submitted, and one pass starts s and t past p.
  CHECK(first.path.size() == 4);
  const auto sound = space_of(scenario);
  CHECK(Search(*sound, {.faults_max = 1, .stop = {}}).run().found.empty());
}

TEST_CASE("scenarios that cannot be explored are refused by field") {
  const auto field_of = [](const std::string& further) {
    const model::Scenario scenario = two_jobs(further);
    const auto place = ClusterSpace::make(scenario, *policies::make(scenario.scheduler));
    return place ? std::string() : place.error().field;
  };
  CHECK(field_of("").empty());
  CHECK(field_of(R"(, "faults": [ { "at": "1s", "cancel_job": "p" } ])") == "/faults");
  CHECK(field_of(R"(, "horizon": "1s")") == "/horizon");
  CHECK(field_of(R"(, "scheduler": { "dialect": "psd", "speculation": {} })") ==
        "/scheduler/speculation");
}

TEST_CASE("coupled: a consumer ends after its producers") {
  const model::Scenario scenario = two_jobs(R"(, "timing": "coupled")");
  const auto root = space_of(scenario);
  std::vector<Choice> choices;
  const auto texts = [&choices, &root] {
    root->choices(choices);
    std::set<std::string> list;
    for (const Choice& choice : choices) {
      list.insert(root->text_of(choice));
    }
    return list;
  };
  const auto take = [&](const std::string& text) {
    root->choices(choices);
    const auto choice = std::ranges::find_if(
        choices, [&](const Choice& one) { return root->text_of(one) == text; });
    REQUIRE_MESSAGE(choice != choices.end(), text);
    root->take(*choice);
  };
  take("p is submitted");
  take("the scheduler passes");
  CHECK(texts().contains("p/a/0 ends well"));
  CHECK_FALSE(texts().contains("p/b/0 ends well"));
  CHECK(texts().contains("FAULT: p/b/0 fails"));
  take("p/a/0 ends well");
  CHECK(texts().contains("p/b/0 ends well"));
}
