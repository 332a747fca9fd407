// Fewer jobs, other times, another cluster.
#include "cli/adjust.hpp"

#include <doctest/doctest.h>

#include "traces/scenario_json.hpp"

using namespace rehearse;

namespace {

constexpr std::string_view three_jobs = R"({ "rehearse": 1,
  "cluster": { "profiles": { "default": { "task": { "cpus": 1 } },
                             "big": { "task": { "cpus": 2, "gpu": 1 } } },
               "executors": [ { "name": "x", "count": 2, "resources": { "cpus": 4, "gpu": 1 },
                                "joins": "3s" } ] },
  "jobs": [
    { "name": "a", "stages": [ { "name": "s", "tasks": 2, "duration": ["1s", "3s"] } ] },
    { "name": "b", "submit": "10s",
      "stages": [ { "name": "s", "tasks": 1, "profile": "big",
                    "duration": { "dist": "lognormal", "median": "2s", "sigma": 0.5 } } ],
      "edges": [ { "from": "a/s", "to": "s" } ] },
    { "name": "c", "after": [ { "job": "b", "delay": "4s" } ],
      "stages": [ { "name": "s", "tasks": 1, "duration": "1s" } ] } ],
  "faults": [ { "at": "5s", "lose_executor": "x1" } ] })";

model::Scenario scenario() {
  auto read = traces::read_scenario(three_jobs, "three.json");
  if (!read) {
    FAIL(model::to_string(read.error()));
  }
  return std::move(*read);
}

std::vector<std::string> names(const model::Scenario& value) {
  std::vector<std::string> result;
  result.reserve(value.jobs.size());
  for (const model::JobSpec& job : value.jobs) {
    result.emplace_back(value.names.text(job.name));
  }
  return result;
}

std::vector<std::string> left(const cli::Reduction& reduction) {
  model::Scenario value = scenario();
  std::vector<model::RecordedJob> recorded(value.jobs.size());
  const auto dropped = cli::reduce(value, recorded, reduction);
  REQUIRE(dropped);
  CHECK(*dropped == 3 - std::ssize(value.jobs));
  CHECK(recorded.size() == value.jobs.size());
  return names(value);
}

}  // namespace

TEST_CASE("a selection keeps what it reads and waits for") {
  CHECK(left({.select = "^a$", .jobs_max = {}, .relink = false}) == std::vector<std::string>{"a"});
  CHECK(left({.select = "^b$", .jobs_max = {}, .relink = false}) ==
        std::vector<std::string>{"a", "b"});
  CHECK(left({.select = "^c$", .jobs_max = {}, .relink = false}) ==
        std::vector<std::string>{"a", "b", "c"});
  CHECK(left({.select = {}, .jobs_max = 1, .relink = false}) == std::vector<std::string>{"a"});
}

TEST_CASE("arrivals of a trace follow what is left") {
  CHECK(left({.select = "^c$", .jobs_max = {}, .relink = true}) == std::vector<std::string>{"c"});
}

TEST_CASE("nothing left is an error") {
  model::Scenario value = scenario();
  std::vector<model::RecordedJob> none;
  const auto dropped = cli::reduce(value, none, {.select = "z", .jobs_max = {}, .relink = false});
  REQUIRE_FALSE(dropped);
  CHECK(dropped.error().field == "--select");
}

TEST_CASE("times are scaled, all of them") {
  model::Scenario value = scenario();
  REQUIRE(cli::scale_time(value, 2'500'000));
  CHECK(std::get<std::vector<model::Duration>>(value.jobs[0].stages[0].duration) ==
        std::vector<model::Duration>{2'500'000'000, 7'500'000'000});
  CHECK(std::get<model::Distribution>(value.jobs[1].stages[0].duration).base_ns ==
        5 * model::second);
  CHECK(value.jobs[1].submit == 25 * model::second);
  CHECK(value.jobs[2].after[0].delay == 10 * model::second);
  CHECK(value.cluster.executors[0].joins == 7'500'000'000);
  CHECK(value.faults.timed[0].at == 12'500'000'000);
  CHECK_FALSE(cli::scale_time(value, 1'000'000'000'000'000));
}

TEST_CASE("a greater load is the same work sooner") {
  model::Scenario value = scenario();
  REQUIRE(cli::scale_load(value, 4'000'000));
  CHECK(value.jobs[1].submit == 2'500'000'000);
  CHECK(value.jobs[2].after[0].delay == model::second);
  CHECK(std::get<std::vector<model::Duration>>(value.jobs[0].stages[0].duration)[0] ==
        model::second);
}

TEST_CASE("a cluster by its size keeps profiles and gives what it names") {
  model::Scenario value = scenario();
  REQUIRE(cli::set_cluster(value, {.spec = "3x8,gpu=2,memory=1GiB", .drop_losses = true}));
  CHECK(cli::cluster_text(value) == "3 executors, 24 slots");
  CHECK(value.faults.timed.empty());
  REQUIRE(value.cluster.resources.size() == 3);
  for (const model::ExecutorSpec& executor : value.cluster.executors) {
    CHECK(executor.resources.size() == 3);
    CHECK(model::slots_of(executor.resources, value.cluster.profiles[1].task) == 2);
  }
  CHECK(value.names.text(value.cluster.executors[2].name) == "e2");
  CHECK(value.names.text(value.cluster.executors[2].host) == "h2");
}

TEST_CASE("faults must find their executors on the new cluster") {
  model::Scenario value = scenario();
  const auto set = cli::set_cluster(value, {.spec = "3x8", .drop_losses = false});
  REQUIRE_FALSE(set);
  CHECK(set.error().what.find("x1") != std::string::npos);
}

TEST_CASE("jobs move between scenarios by name") {
  const model::Scenario source = scenario();
  model::Scenario target = scenario();
  target.names.intern("something first");
  target.jobs.clear();
  const auto job = cli::adopt_job(target, source, source.jobs[1]);
  REQUIRE(job);
  CHECK(target.names.text(job->name) == "b");
  CHECK(target.names.text(job->edges[0].from_job) == "a");
  CHECK(job->stages[0].profile.index() == 1);
  target.cluster.profiles.pop_back();
  CHECK_FALSE(cli::adopt_job(target, source, source.jobs[1]));
}
