// The healing phase: which files have one, that the generator makes them, that the run of one is
// bounded, and what a journal with one is judged by.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "model/healing.hpp"
#include "policies/registry.hpp"
#include "properties/fuzz/judged_run.hpp"
#include "properties/gen/generate.hpp"
#include "scheduler/policy.hpp"
#include "tests/support/journal_builder.hpp"
#include "tests/unit/properties/sample_journals.hpp"
#include "traces/scenario_json.hpp"

using namespace rehearse;
using namespace rehearse::testing;

namespace {

model::Scenario read(const std::string& text) {
  auto scenario = traces::read_scenario(text, "test");
  REQUIRE_MESSAGE(scenario.has_value(), model::to_string(scenario.error()));
  return std::move(*scenario);
}

// Two executors; what is given stands in the file, the job's keys, the plan and keys of the file.
model::Scenario with(const std::string& plan, const std::string& job = "",
                     const std::string& file = "") {
  return read(R"({ "rehearse": 1, )" + file + R"(
    "cluster": { "executors": [ { "name": "a", "resources": { "cpus": 2 }, "host": "h" },
                                { "name": "b", "resources": { "cpus": 2 }, "host": "h" } ] },
    "jobs": [ { "name": "q", )" +
              job + R"("stages": [ { "name": "s", "tasks": 4, "duration": "5ms" } ] } ],
    "faults": [ )" +
              plan + "] }");
}

constexpr const char* add_at_9 =
    R"({ "at": "9ms", "add_executor": { "name": "x", "resources": { "cpus": 2 } } })";

std::optional<model::Instant> healed_at(const model::Scenario& scenario) {
  const auto healing = model::healing_of(scenario);
  return healing ? std::optional(healing->at) : std::nullopt;
}

properties::Harness plain_harness() {
  properties::Harness harness;
  harness.policies = [](const model::SchedulerConfig& config) { return policies::make(config); };
  return harness;
}

// Two slots for a gang of two, which asks again and again.
std::string gang_that_retries(const std::string& interval, const std::string& other_job) {
  return R"({ "rehearse": 1,
    "cluster": { "profiles": { "default": { "task": { "cpus": 1 } },
                               "other": { "task": { "cpus": 1 } } },
                 "executors": [ { "name": "a", "profile": "default",
                                  "resources": { "cpus": 2 } } ] },
    "scheduler": { "admission": { "short": { "retry": { "interval": ")" +
         interval + R"(", "max": 2000000000 } } } },
    "jobs": [ )" +
         other_job + R"({ "name": "gang",
                "stages": [ { "name": "m", "tasks": 1, "duration": "1ms" },
                            { "name": "n", "tasks": 1, "duration": "1ms" } ],
                "edges": [ { "from": "m", "to": "n", "kind": "pipelined" } ] } ],
    "faults": [ { "at": "1ms", "add_executor": { "name": "x", "profile": "other",
                                                 "resources": { "cpus": 9 } } } ] })";
}

class NoPlace final : public scheduler::PlacementPolicy {
 public:
  [[nodiscard]] std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<NoPlace>();
  }
  void begin(const scheduler::SlotView& /*slots*/) override {}
  [[nodiscard]] scheduler::ExecutorId pick(const scheduler::SlotView& /*slots*/,
                                           const scheduler::TaskView& /*task*/) override {
    return {};
  }
  void taking(const scheduler::SlotView& /*slots*/, scheduler::ExecutorId /*executor*/) override {}
};

}  // namespace

TEST_CASE("what heals, and what takes away or comes later") {
  const std::string add = add_at_9;
  CHECK(healed_at(with(add)) == 9 * model::millisecond);
  CHECK(healed_at(with(R"({ "at": "3ms", "lose_executor": "a" }, )" + add)).has_value());
  // By instant: a loss at the same instant is before the join, a later one is not.
  CHECK(healed_at(with(R"({ "at": "9ms", "lose_executor": "a" }, )" + add)).has_value());
  CHECK_FALSE(healed_at(with(R"({ "at": "10ms", "lose_executor": "a" }, )" + add)).has_value());
  CHECK_FALSE(healed_at(with(R"({ "at": "9ms", "cancel_job": "q" })")).has_value());
  // At a moment: only of who is gone by then.
  const std::string moment = R"({ "moment": "job_end", "do": { "lose_executor": "a" } }, )";
  const std::string host =
      R"({ "moment": "job_end", "do": { "lose_executor": "a", "cause": "host" } }, )";
  const std::string lose_a = R"({ "at": "9ms", "lose_executor": "a" }, )";
  const std::string lose_b = R"({ "at": "9ms", "lose_executor": "b" }, )";
  CHECK_FALSE(healed_at(with(moment + add)).has_value());
  CHECK(healed_at(with(moment + lose_a + add)).has_value());
  CHECK_FALSE(healed_at(with(host + lose_a + add)).has_value());
  CHECK(healed_at(with(host + lose_a + lose_b + add)).has_value());
  CHECK_FALSE(
      healed_at(with(moment +
                     R"({ "at": "9ms", "lose_executor": "a", "cause": "decommission" }, )" + add))
          .has_value());
  CHECK(healed_at(with(R"({ "moment": "job_end", "do": { "cancel_job": "q" } }, )" + add))
            .has_value());
  // What comes.
  CHECK(healed_at(with(add, R"("submit": "9ms", )")).has_value());
  CHECK_FALSE(healed_at(with(add, R"("submit": "10ms", )")).has_value());
  CHECK(healed_at(with(add, R"("repeat": { "count": 4, "every": "3ms" }, )")).has_value());
  CHECK_FALSE(healed_at(with(add, R"("repeat": { "count": 5, "every": "3ms" }, )")).has_value());
  CHECK_FALSE(healed_at(with(add, "", R"("horizon": "1s", )")).has_value());
}

TEST_CASE("many plans have a healing phase, and some need it") {
  properties::GenOptions options;
  properties::Reached reached;
  properties::RunWatch watch;
  watch.reached = &reached;
  int healed = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const model::Scenario scenario = properties::generate(options, seed);
    healed += model::healing_of(scenario) ? 1 : 0;
    CHECK(properties::run_judged(scenario, plain_harness(), watch).findings.empty());
  }
  CHECK(healed > 80);
  CHECK(reached.count(properties::Mark::healing_needed) > 10);
}

TEST_CASE("what goes on for ever ends, and is found") {
  // A gang asks again each nanosecond, and no executor is good enough for it.
  const model::Scenario scenario = read(gang_that_retries("1ns", ""));
  const auto healing = model::healing_of(scenario);
  REQUIRE(healing.has_value());
  properties::Harness harness;
  harness.policies = [](const model::SchedulerConfig& config) {
    auto policies = policies::make(config);
    if (policies) {
      policies->placement = std::make_unique<NoPlace>();
    }
    return policies;
  };
  const auto run = properties::run_judged(scenario, harness, {});
  CHECK(std::ranges::any_of(run.findings, [](const properties::Finding& finding) {
    return finding.violation.property == "PROGRESS" &&
           finding.violation.detail.find("DEADLOCK") != std::string::npos;
  }));
  CHECK(run.result.core_steps > healing->steps_max);
}

TEST_CASE("timers that tick while a task runs are no endless run") {
  const model::Scenario scenario = read(gang_that_retries("1us", R"({ "name": "long",
      "stages": [ { "name": "s", "tasks": 1, "duration": "1s" } ] }, )"));
  const auto healing = model::healing_of(scenario);
  REQUIRE(healing.has_value());
  const auto run = properties::run_judged(scenario, plain_harness(), {});
  CHECK(run.findings.empty());
  CHECK(run.result.core_steps > 10 * healing->steps_max);
}

TEST_CASE("PROGRESS: nobody runs out of time in a healing phase who fits what lives") {
  const auto verdict = [](const char* heal, std::int64_t cpus, model::Code code) {
    JournalBuilder j;
    RunSpec spec;
    if (heal != nullptr) {
      spec.facts = {{"heal", heal}};
    }
    j.run(spec).executor("e0", cpus);
    j.job("f", {{"a", 2}, {"b", 2}}, {{"a", "b", true}}).started("f");
    j.formed("f/a", {"a", "b"}, {{"default", 4}});
    j.waits_for_slots("f/a", {{"default", 4}}, {{"default", cpus}});
    j.at(50).group_cancelled("f/a", model::CancelCause::job_failed).failed("f", code);
    return judge(j.over())->find("PROGRESS")->verdict;
  };
  using enum properties::Verdict;
  CHECK(verdict("20ns", 4, model::Code::admission_timeout) == violated);
  CHECK(verdict("20ns", 3, model::Code::admission_timeout) == held);
  CHECK(verdict("50ns", 4, model::Code::admission_timeout) == held);
  CHECK(verdict(nullptr, 4, model::Code::admission_timeout) == held);
  CHECK(verdict("20ns", 4, model::Code::task_failed) == held);
}
