// A campaign finds what is planted between a run and its monitors, says the same on any number of
// threads, and counts what it reached.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "policies/registry.hpp"
#include "properties/fuzz/campaign.hpp"
#include "properties/fuzz/timeline.hpp"
#include "traces/scenario_json.hpp"

using namespace rehearse;

namespace {

properties::Harness plain_harness() {
  properties::Harness harness;
  harness.policies = [](const model::SchedulerConfig& config) { return policies::make(config); };
  return harness;
}

// A journal that lacks every end of a task that was killed.
class Forgetful final : public model::Observer {
 public:
  explicit Forgetful(model::Observer& monitors) : monitors_(monitors) {}
  void begin(const model::NameTable& names) override { monitors_.begin(names); }
  void on(const model::Event& event) override {
    const auto* end = event.as<model::TaskEnd>();
    if (end == nullptr || end->status != model::TaskStatus::killed) {
      monitors_.on(event);
    }
  }

 private:
  model::Observer& monitors_;
};

properties::Harness forgetful_harness() {
  properties::Harness harness = plain_harness();
  harness.between = [](model::Observer& monitors) { return std::make_unique<Forgetful>(monitors); };
  return harness;
}

void in_turn(std::size_t count, const std::function<void(std::size_t)>& work) {
  for (std::size_t i = 0; i < count; ++i) {
    work(i);
  }
}

void on_three_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (std::size_t at = next.fetch_add(1); at < count; at = next.fetch_add(1)) {
        work(at);
      }
    });
  }
}

properties::CampaignOptions options_of(std::int64_t runs) {
  properties::CampaignOptions options;
  options.first_seed = 1;
  options.runs_max = runs;
  options.for_each = in_turn;
  return options;
}

}  // namespace

TEST_CASE("the canary: what monitors must miss is found, told before it is shrunk, and shrunk") {
  properties::CampaignOptions options = options_of(5000);
  int told = 0;
  options.sink = [&](const properties::Failure&) { ++told; };
  const properties::Harness harness = forgetful_harness();
  const auto result = properties::run_campaign(options, harness);
  REQUIRE_FALSE(result.failures.empty());
  CHECK(result.runs < 5000);
  CHECK(told == static_cast<int>(result.failures.size()));
  const properties::Failure& failure = result.failures.front();
  const auto shrunk =
      properties::shrink(failure.scenario, failure.finding, properties::judge_of(harness), {});
  const properties::ScenarioSize size = properties::size_of(shrunk.scenario);
  CHECK(size.jobs <= 2);
  CHECK(size.stages <= 4);
  CHECK(size.faults <= 1);
  CHECK(shrunk.finding.same_as(failure.finding));
  // Run again, and from its text: the same find in the same journal.
  const auto run = properties::run_judged(shrunk.scenario, harness, {});
  const auto back = traces::read_scenario(traces::write_scenario(shrunk.scenario), "back.json");
  REQUIRE(back.has_value());
  const auto again = properties::run_judged(*back, harness, {});
  CHECK(again.result.journal_hash == run.result.journal_hash);
  REQUIRE_FALSE(again.findings.empty());
  CHECK(again.findings.front().same_as(run.findings.front()));
  CHECK(again.found_at == run.found_at);
  // The story ends where it was found or later.
  const auto rows = properties::timeline_of(shrunk.scenario, harness);
  REQUIRE_FALSE(rows.empty());
  CHECK(rows.back().number >= run.found_at);
}

TEST_CASE("the same on one thread and on three") {
  for (const bool broken : {false, true}) {
    const properties::Harness harness = broken ? forgetful_harness() : plain_harness();
    properties::CampaignOptions options = options_of(400);
    const auto one = properties::run_campaign(options, harness);
    options.for_each = on_three_threads;
    const auto three = properties::run_campaign(options, harness);
    CHECK(one.runs == three.runs);
    CHECK(one.core_steps == three.core_steps);
    CHECK(one.reached.patterns() == three.reached.patterns());
    CHECK(one.reached.states() == three.reached.states());
    CHECK(one.reached.missed(options.gen) == three.reached.missed(options.gen));
    REQUIRE(one.failures.size() == three.failures.size());
    CHECK(one.failures.empty() != broken);
    for (std::size_t i = 0; i < one.failures.size(); ++i) {
      CHECK(one.failures[i].seed == three.failures[i].seed);
      CHECK(one.failures[i].finding.same_as(three.failures[i].finding));
    }
  }
}

TEST_CASE("a run that goes otherwise the second time is told from the first event on") {
  const auto scenario = traces::read_scenario(R"({ "rehearse": 1,
    "cluster": { "executors": [ { "name": "a", "resources": { "cpus": 1 } },
                                { "name": "b", "resources": { "cpus": 2 } } ] },
    "jobs": [ { "name": "q", "stages": [ { "name": "s", "tasks": 1, "duration": "1ms" } ] } ] })",
                                              "test");
  REQUIRE(scenario.has_value());
  properties::Harness harness = plain_harness();
  CHECK(properties::run_judged_twice(*scenario, harness, {}).findings.empty());
  int runs = 0;  // a policy with a memory: the most free executor, then the first
  harness.policies = [&runs](model::SchedulerConfig config) {
    config.placement = runs++ == 0 ? model::Placement::spread : model::Placement::nested;
    return policies::make(config);
  };
  const auto run = properties::run_judged_twice(*scenario, harness, {});
  REQUIRE(run.findings.size() == 1);
  const model::Violation& found = run.findings.front().violation;
  CHECK(found.property == properties::not_deterministic);
  CHECK(found.detail.find("task_start") != std::string::npos);
  CHECK(found.detail.find(R"("executor":"b")") < found.detail.find("and in the second run"));
}

// What a run says of itself.
std::string told(const properties::JudgedRun& run) {
  std::string text = std::to_string(run.result.journal_hash) + " " +
                     std::to_string(run.result.core_steps) + " " + std::to_string(run.tasks) + " " +
                     std::to_string(run.found_at);
  for (const properties::Finding& finding : run.findings) {
    text += " " + std::string(finding.violation.property) + " at " +
            std::to_string(finding.violation.t) + ": " + finding.violation.detail;
  }
  return text;
}

TEST_CASE("runs with the tools of runs before them are as runs with tools of their own") {
  properties::GenOptions options;
  options.drawn = properties::DrawnAxes::all;
  properties::Harness plain = plain_harness();
  properties::Harness broken = forgetful_harness();
  properties::Harness thrown = plain_harness();
  thrown.policies = [](const model::SchedulerConfig&) -> model::Result<scheduler::PolicySet> {
    throw std::runtime_error("no policies");
  };
  properties::RunTools tools;
  std::size_t finds = 0;
  for (std::uint64_t seed = 1; seed < 400; ++seed) {
    const model::Scenario scenario = properties::generate(options, seed);
    const properties::Harness& harness = seed % 3 == 0 ? broken : seed % 7 == 0 ? thrown : plain;
    properties::Reached marks;
    properties::Reached marks_of_own;
    properties::RunWatch watch;
    watch.reached = &marks_of_own;
    const auto own = properties::run_judged(scenario, harness, watch);
    watch.reached = &marks;
    watch.tools = &tools;
    const auto kept = properties::run_judged(scenario, harness, watch);
    CHECK(told(kept) == told(own));
    CHECK(marks == marks_of_own);
    finds += own.findings.size();
  }
  CHECK(finds > 100);
}

TEST_CASE("a policy that throws is a find, not the end of the campaign") {
  properties::Harness harness = plain_harness();
  harness.policies =
      [](const model::SchedulerConfig& config) -> model::Result<scheduler::PolicySet> {
    if (config.failure.max_task_failures == 2) {
      throw std::runtime_error("key() gave two keys");
    }
    return policies::make(config);
  };
  const auto result = properties::run_campaign(options_of(200), harness);
  REQUIRE(result.failures.size() == 1);
  CHECK(result.failures.front().finding.violation.property == properties::policy_fault);
}

TEST_CASE("earlier finds are run first") {
  const properties::Harness harness = forgetful_harness();
  properties::CampaignOptions options = options_of(5000);
  const auto found = properties::run_campaign(options, harness);
  REQUIRE_FALSE(found.failures.empty());
  options.corpus = {found.failures.front().scenario};
  const auto again = properties::run_campaign(options, harness);
  CHECK(again.runs == 1);
  REQUIRE_FALSE(again.failures.empty());
  CHECK_FALSE(again.failures.front().seed.has_value());
}

TEST_CASE("one bucket is one sentence of a monitor, whoever it speaks of") {
  model::NameTable names;
  names.intern("query");
  const auto bucket = [&](const std::string& detail) {
    return properties::bucket_of({.property = "GANG", .t = 0, .detail = detail}, names);
  };
  CHECK(bucket("query has launched 3 of 4 tasks (A2)") ==
        bucket("j7 has launched 1 of 9 tasks (A2)"));
  CHECK(bucket("query/a has not ended") == bucket("j1/s2 has not ended"));
  CHECK(bucket("query was admitted twice") != bucket("query was never admitted"));
  CHECK(bucket("it ended (A2)") != bucket("it ended (A3)"));
}

TEST_CASE("a campaign that has reached nothing has missed every mark") {
  const properties::Reached nothing;
  properties::GenOptions options;
  CHECK(nothing.missed(options).size() == nothing.demanded(options).size());
  CHECK(nothing.demanded(options).size() > 60);
  options.scheduler = model::preset(model::Dialect::sequential);
  for (const auto& mark : nothing.demanded(options)) {
    CHECK(mark.mark != "group admitted at exact fit");
  }
}
