// Generated workloads: a function of seed and parameters, and scenarios like any other.
#include "model/workload_gen.hpp"

#include <doctest/doctest.h>

#include <string>

#include "model/config_support.hpp"
#include "traces/scenario_json.hpp"

using namespace rehearse;
using model::generate_workload;
using model::Scenario;
using model::WorkloadParameters;

namespace {

WorkloadParameters everything() {
  WorkloadParameters p;
  p.jobs = 12;
  p.stages = {1, 6};
  p.tasks = {1, 9};
  p.spread_milli = 400;
  p.priorities = 3;
  p.pools = 2;
  p.executors = 6;
  p.profiles = 2;
  p.unbound_milli = 300;
  p.kill_latency = 2 * model::millisecond;
  p.task_failure_milli = 50;
  p.losses_milli = 300;
  p.holds_milli = 300;
  p.joins = 2;
  p.cancels_milli = 100;
  return p;
}

std::int64_t count(const Scenario& scenario, model::EdgeKind kind) {
  std::int64_t n = 0;
  for (const model::JobSpec& job : scenario.jobs) {
    for (const model::EdgeSpec& edge : job.edges) {
      n += edge.kind == kind ? 1 : 0;
    }
  }
  return n;
}

}  // namespace

TEST_CASE("workload_gen: equal seeds and parameters give equal scenarios, others do not") {
  const WorkloadParameters p = everything();
  CHECK(traces::same_scenario(generate_workload(7, p), generate_workload(7, p)));
  CHECK_FALSE(traces::same_scenario(generate_workload(7, p), generate_workload(8, p)));
}

TEST_CASE("workload_gen: one job more changes no other job") {
  WorkloadParameters p = everything();
  const Scenario few = generate_workload(3, p);
  p.jobs += 1;
  const Scenario more = generate_workload(3, p);
  REQUIRE(more.jobs.size() == few.jobs.size() + 1);
  for (std::size_t i = 0; i < few.jobs.size(); ++i) {
    CHECK(few.jobs[i].stages == more.jobs[i].stages);
    CHECK(few.jobs[i].submit == more.jobs[i].submit);
  }
}

TEST_CASE("workload_gen: what it makes loads, is built, and is refused by no check of shapes") {
  const WorkloadParameters p = everything();
  std::int64_t pipelined = 0;
  std::int64_t regular = 0;
  std::size_t faults = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Scenario made = generate_workload(seed, p);
    CAPTURE(seed);
    const std::string text = traces::write_scenario(made);
    const auto read = traces::read_scenario(text, "made.json");
    if (!read) {
      FAIL(model::to_string(read.error()));
    }
    CHECK(traces::write_scenario(*read) == text);
    CHECK(read->jobs.size() == made.jobs.size());
    CHECK(read->faults.order == made.faults.order);
    CHECK_FALSE(model::unsupported(made));
    pipelined += count(made, model::EdgeKind::pipelined);
    regular += count(made, model::EdgeKind::regular);
    faults += made.faults.order.size();
  }
  CHECK(pipelined > 300);
  CHECK(regular > 300);
  CHECK(faults > 100);
}

TEST_CASE("workload_gen: sizes from a handful to thousands of executors") {
  WorkloadParameters p;
  p.jobs = 1;
  p.executors = 1;
  CHECK(generate_workload(1, p).cluster.executors.size() == 1);
  p.jobs = 50;
  p.executors = 5000;
  p.profiles = 3;
  p.tasks = {100, 2000};
  const Scenario large = generate_workload(1, p);
  CHECK(large.cluster.executors.size() == 5000);
  std::int64_t tasks = 0;
  for (const model::JobSpec& job : large.jobs) {
    for (const model::StageSpec& stage : job.stages) {
      tasks += stage.tasks;
    }
  }
  CHECK(tasks > 50'000);
}

TEST_CASE("workload_gen: shares that are all or nothing") {
  WorkloadParameters p;
  p.pipelined_milli = 0;
  CHECK(count(generate_workload(5, p), model::EdgeKind::pipelined) == 0);
  p.pipelined_milli = 1000;
  p.second_input_milli = 0;
  p.cpus = {50, 50};
  CHECK(count(generate_workload(5, p), model::EdgeKind::regular) == 0);
  p.mean_gap = 0;
  for (const model::JobSpec& job : generate_workload(5, p).jobs) {
    CHECK(job.submit == 0);
  }
}
