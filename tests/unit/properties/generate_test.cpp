// What the generator draws loads, is executed, and is as nasty as it claims to be.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "model/config_support.hpp"
#include "model/support/draw.hpp"
#include "policies/registry.hpp"
#include "properties/fuzz/campaign.hpp"
#include "properties/gen/generate.hpp"
#include "traces/scenario_json.hpp"

using namespace rehearse;

namespace {

properties::GenOptions options_of(model::Dialect dialect) {
  properties::GenOptions options;
  options.scheduler = model::preset(dialect);
  return options;
}

properties::GenOptions swarm() {
  properties::GenOptions options;
  options.drawn = properties::DrawnAxes::all;
  return options;
}

properties::Harness plain_harness() {
  properties::Harness harness;
  harness.policies = [](const model::SchedulerConfig& config) { return policies::make(config); };
  return harness;
}

std::uint64_t hash_of(const model::Scenario& scenario) {
  const auto policies = policies::make(scenario.scheduler);
  REQUIRE(policies.has_value());
  return sim::run(scenario, *policies, {}).journal_hash;
}

// Executable, and the same again when it is written and read.
void check_drawn(const properties::GenOptions& options, std::uint64_t seed) {
  CAPTURE(seed);
  const model::Scenario scenario = properties::generate(options, seed);
  CAPTURE(model::name_of(scenario.scheduler.dialect));
  const auto refused = model::unsupported(scenario);
  CHECK(fmt::format("{}", refused ? model::to_string(*refused) : "") == "");
  const std::string text = traces::write_scenario(scenario);
  const auto back = traces::read_scenario(text, "drawn.json");
  REQUIRE_MESSAGE(back.has_value(), model::to_string(back.error()));
  CHECK(traces::write_scenario(*back) == text);
  CHECK(hash_of(*back) == hash_of(scenario));
}

properties::Mix mix_of(const char* what, const properties::GenOptions& options) {
  const properties::Harness harness = plain_harness();
  properties::Mix mix;
  constexpr std::uint64_t seeds = 1000;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const model::Scenario scenario = properties::generate(options, seed);
    mix.add(scenario, properties::run_judged(scenario, harness, {}));
  }
  MESSAGE(std::string(what), ": medians ", properties::Mix::median(mix.jobs), " jobs, ",
          properties::Mix::median(mix.stages), " stages, ", properties::Mix::median(mix.tasks),
          " task starts; two groups ", mix.two_groups, ", a fault fired ", mix.fault_fired,
          ", without faults ", mix.fault_free, " of ", mix.runs);
  return mix;
}

// Of runs, in percent.
bool about_a_fifth(std::int64_t part, std::int64_t runs) {
  return 100 * part >= 17 * runs && 100 * part <= 23 * runs;
}

}  // namespace

TEST_CASE("drawn scenarios are executable and read back as they are") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    check_drawn(swarm(), seed);
    check_drawn(options_of(model::Dialect::psd), seed);
    check_drawn(options_of(model::Dialect::sequential), seed);
  }
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    check_drawn(options_of(model::Dialect::spark), seed);
    check_drawn(options_of(model::Dialect::prototype), seed);
    check_drawn(options_of(model::Dialect::barrier), seed);
    check_drawn(options_of(model::Dialect::ballista), seed);
    check_drawn(options_of(model::Dialect::ballista_pipelined), seed);
  }
}

TEST_CASE("a seed is a scenario, and another seed another one") {
  const properties::GenOptions options = options_of(model::Dialect::psd);
  std::string before;
  for (std::uint64_t seed = 7; seed < 12; ++seed) {
    const std::string text = traces::write_scenario(properties::generate(options, seed));
    CHECK(text == traces::write_scenario(properties::generate(options, seed)));
    CHECK(text != before);
    before = text;
  }
}

TEST_CASE("what is kept is not drawn") {
  properties::GenOptions options = options_of(model::Dialect::psd);
  options.scheduler.failure.max_task_failures = 9;
  options.kept = {"failure.max_task_failures", "speculation"};
  bool other_drawn = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const model::SchedulerConfig config = properties::generate(options, seed).scheduler;
    CHECK(config.failure.max_task_failures == 9);
    CHECK_FALSE(config.speculation.has_value());
    CHECK(config.admission.queue == model::QueueOrder::fifo);
    other_drawn = other_drawn || config.failure.max_stage_attempts != 4;
  }
  CHECK(other_drawn);
  options.drawn = properties::DrawnAxes::none;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CHECK(properties::generate(options, seed).scheduler == options.scheduler);
  }
}

TEST_CASE("the mix of a campaign") {
  const properties::Mix psd = mix_of("psd", options_of(model::Dialect::psd));
  CHECK(properties::Mix::median(psd.jobs) >= 3);
  CHECK(properties::Mix::median(psd.stages) >= 12);
  CHECK(properties::Mix::median(psd.tasks) >= 120);
  CHECK(100 * psd.two_groups >= 60 * psd.runs);
  CHECK(100 * psd.fault_fired >= 70 * psd.runs);
  CHECK(about_a_fifth(psd.fault_free, psd.runs));
}

TEST_CASE("some thousand runs of a dialect have been at every hard place") {
  const properties::Harness harness = plain_harness();
  const properties::GenOptions options = options_of(model::Dialect::psd);
  properties::Reached reached;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    static_cast<void>(
        properties::run_judged(properties::generate(options, seed), harness,
                               {.reached = &reached, .watcher = nullptr, .audit_digest = false}));
  }
  CHECK(fmt::format("{}", fmt::join(reached.missed(options), ", ")) == "");
  CHECK(reached.demanded(options).size() > 60);
  CHECK(reached.patterns() > 100);
  CHECK(reached.states() > 1000);
}

TEST_CASE("the mix where groups fail at once, are whole jobs, or are none") {
  for (const model::Dialect dialect :
       {model::Dialect::spark, model::Dialect::prototype, model::Dialect::sequential,
        model::Dialect::ballista_pipelined}) {
    const std::string name(model::name_of(dialect));
    CAPTURE(name);
    const properties::Mix mix = mix_of(name.c_str(), options_of(dialect));
    CHECK(properties::Mix::median(mix.jobs) >= 3);
    CHECK(properties::Mix::median(mix.stages) >= 12);
    CHECK(properties::Mix::median(mix.tasks) >= 40);
    CHECK((dialect == model::Dialect::sequential || 100 * mix.two_groups >= 50 * mix.runs));
    CHECK(100 * mix.fault_fired >= 67 * mix.runs);
    CHECK(about_a_fifth(mix.fault_free, mix.runs));
  }
}

TEST_CASE("a seed gives the same scenario whoever compiled the generator") {
  // On record: another value belongs to a change of the generator, and to that commit.
  std::uint64_t hash = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const std::string text = traces::write_scenario(properties::generate(swarm(), seed));
    hash = hash * 31 + model::name_key(text);
  }
  CHECK(hash == 6357781955600454502U);
}
