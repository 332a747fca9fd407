// Recorded workloads as scenarios: arrivals, delays, units, executors.
#include "traces/to_scenario.hpp"

#include <doctest/doctest.h>

#include "tests/support/spark_log_text.hpp"
#include "traces/inspect.hpp"
#include "traces/marking.hpp"
#include "traces/spark_event_log.hpp"

using namespace rehearse;
using testing::SparkLogText;
using testing::StageText;
using traces::ToScenarioOptions;

namespace {

constexpr model::Duration ms = model::millisecond;

// Two jobs of one SQL execution and one of none. Job 0: map 0 (110 to 200) and side 1 (120 to 150),
// both read by nobody in it. Job 1, 60 ms of planning later, reads map 0 by an alias. Job 2 stands
// alone.
model::Trace trace_of_query() {
  const StageText map{.id = 0, .tasks = 2, .rdds = {1}};
  const StageText side{.id = 1, .rdds = {2}};
  const StageText alias{.id = 2, .tasks = 2, .rdds = {1}};
  const StageText reduce{.id = 3, .rdds = {3}, .parents = {2}};
  const StageText lone{.id = 4, .rdds = {4}};
  constexpr std::string_view query = R"({"spark.sql.execution.id":"5"})";
  SparkLogText log;
  log.start().executor("1", 4).executor("2", 4).executor("3", 4, 5000);
  log.job(0, 100, {map, side}, query).whole_stage(map, 110, 200).whole_stage(side, 120, 150);
  log.job_end(0, 204).job(1, 260, {alias, reduce}, query);
  log.whole_stage(reduce, 285, 400, "ResultTask").job_end(1, 407).removed("2", 450);
  log.job(2, 500, {lone}).whole_stage(lone, 505, 600, "ResultTask").job_end(2, 601);
  const testing::TestFolder folder("to-scenario");
  auto trace = traces::read_spark_event_log(folder.file("log", log.end(9000).text()));
  REQUIRE(trace);
  return std::move(*trace);
}

traces::TraceScenario convert(const model::Trace& trace, const ToScenarioOptions& options) {
  auto converted = traces::to_scenario(trace, options);
  REQUIRE(converted);
  return std::move(*converted);
}

std::vector<model::Duration> start_delays(const model::JobSpec& job) {
  std::vector<model::Duration> delays;
  for (const model::StageSpec& stage : job.stages) {
    delays.push_back(stage.start_delay);
  }
  return delays;
}

}  // namespace

TEST_CASE("recorded delays: first launch after what it waits for, and the end before the roots") {
  const model::Trace trace = trace_of_query();
  ToScenarioOptions options;
  options.delays = traces::Delays::recorded;
  const auto made = convert(trace, options);
  REQUIRE(made.scenario.jobs.size() == 3);
  // map launched 10 ms and side 20 ms after the submission; the job ended 4 ms after its last task.
  CHECK(start_delays(made.scenario.jobs[0]) == std::vector<model::Duration>{14 * ms, 24 * ms});
  CHECK(start_delays(made.scenario.jobs[1]) == std::vector<model::Duration>{32 * ms});
  CHECK(made.recorded[1].submitted == 260 * ms);
  CHECK(made.recorded[1].end == 407 * ms);
}

TEST_CASE("model delays: the constants of the driver model, whatever was recorded") {
  ToScenarioOptions options;
  options.driver = {.stage_start_ns = 7 * ms, .job_end_ns = 2 * ms};
  const auto made = convert(trace_of_query(), options);
  CHECK(start_delays(made.scenario.jobs[0]) == std::vector<model::Duration>{9 * ms, 9 * ms});
  CHECK(start_delays(made.scenario.jobs[2]) == std::vector<model::Duration>{9 * ms});
}

TEST_CASE("arrivals: after the job before, or at the recorded offset") {
  const model::Trace trace = trace_of_query();
  ToScenarioOptions options;
  const auto after = convert(trace, options);
  REQUIRE(after.scenario.jobs[1].after.size() == 1);
  CHECK(after.scenario.jobs[1].after[0].delay == 56 * ms);
  CHECK(after.scenario.jobs[0].after.empty());
  options.arrivals = traces::Arrivals::recorded;
  const auto recorded = convert(trace, options);
  CHECK(recorded.scenario.jobs[1].after.empty());
  CHECK(recorded.scenario.jobs[1].submit == 260 * ms);
}

TEST_CASE("a unit is one job: its edges inside, its think time as a start delay") {
  const model::Trace trace = trace_of_query();
  ToScenarioOptions options;
  options.by = traces::Unit::sql;
  options.driver = {.stage_start_ns = 7 * ms, .job_end_ns = 2 * ms};
  const auto made = convert(trace, options);
  const auto& jobs = made.scenario.jobs;
  REQUIRE(jobs.size() == 2);
  CHECK(made.scenario.names.text(jobs[0].name) == "sql-5");
  CHECK(made.scenario.names.text(jobs[1].name) == "job-2");
  REQUIRE(jobs[0].stages.size() == 3);
  REQUIRE(jobs[0].edges.size() == 1);
  CHECK(jobs[0].edges[0].from == model::StageIndex(0U));
  CHECK(jobs[0].edges[0].to == std::vector<model::StageIndex>{model::StageIndex(2U)});
  // reduce: its job came 60 ms after the end of map.
  CHECK(start_delays(jobs[0]) == std::vector<model::Duration>{9 * ms, 9 * ms, 67 * ms});
  CHECK(made.recorded[0].submitted == 100 * ms);
  CHECK(made.recorded[0].end == 407 * ms);
  REQUIRE(jobs[1].after.size() == 1);
  CHECK(made.scenario.names.text(jobs[1].after[0].job) == "sql-5");
  CHECK(jobs[1].after[0].delay == 93 * ms);
  CHECK(jobs[0].result ==
        std::vector<model::StageIndex>{model::StageIndex(1U), model::StageIndex(2U)});
}

TEST_CASE("between units an edge stays one from another job; its readers share it") {
  const model::Trace trace = trace_of_query();
  const auto made = convert(trace, {});
  const auto& edges = made.scenario.jobs[1].edges;
  REQUIRE(edges.size() == 1);
  CHECK_FALSE(edges[0].from.valid());
  CHECK(made.scenario.names.text(edges[0].from_job) == "job-0");
  CHECK(made.scenario.names.text(edges[0].from_stage) == "stage-0");
}

TEST_CASE("executors that leave are decommissioned then, late ones are left out") {
  const auto made = convert(trace_of_query(), {});
  CHECK(made.scenario.cluster.executors.size() == 2);
  CHECK(made.executors_left_out == 1);
  CHECK(made.keeps_outputs);
  REQUIRE(made.scenario.faults.timed.size() == 1);
  REQUIRE(made.scenario.faults.order.size() == 1);
  CHECK(made.scenario.faults.timed[0].at == 450 * ms);
  const auto* lost = std::get_if<model::LoseExecutor>(&made.scenario.faults.timed[0].action);
  REQUIRE(lost != nullptr);
  CHECK(made.scenario.names.text(lost->executor) == "2");
  CHECK(lost->cause == model::LossCause::decommission);
}

TEST_CASE("what is not built is refused by name") {
  ToScenarioOptions options;
  options.inject_recorded_faults = true;
  const auto refused = traces::to_scenario(trace_of_query(), options);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what.find("--inject-recorded-faults") != std::string::npos);
}

TEST_CASE("stages of one name in one unit are told apart by their job") {
  model::Trace trace;
  trace.cluster.profiles = {{trace.names.intern("default"), {}}};
  for (const char* name : {"a", "b"}) {
    model::TraceJob job;
    job.spec.name = trace.names.intern(name);
    job.recorded.batch = trace.names.intern("q:1");
    job.recorded.end = 10;
    model::StageSpec stage;
    stage.name = trace.names.intern("map");
    stage.profile = model::ProfileId(0U);
    job.spec.stages.push_back(stage);
    job.recorded.stages.resize(1);
    trace.jobs.push_back(job);
  }
  ToScenarioOptions options;
  options.by = traces::Unit::batch;
  const auto made = convert(trace, options);
  REQUIRE(made.scenario.jobs.size() == 1);
  CHECK(made.scenario.names.text(made.scenario.jobs[0].name) == "batch-q:1");
  CHECK(made.scenario.names.text(made.scenario.jobs[0].stages[0].name) == "map");
  CHECK(made.scenario.names.text(made.scenario.jobs[0].stages[1].name) == "b.map");
}

TEST_CASE("inspect says what was read and how wide each unit could be") {
  const auto summary = traces::inspect(trace_of_query());
  REQUIRE(summary);
  CHECK(summary->format == "spark-event-log");
  CHECK(summary->jobs == 3);
  CHECK(summary->stages == 4);
  CHECK(summary->tasks == 5);
  CHECK(summary->executors == 3);
  CHECK(summary->aliased_stages == 1);
  CHECK(summary->edges == 1);
  REQUIRE(summary->units.size() == 2);
  CHECK(summary->units[0].name == "sql-5");
  CHECK(summary->units[0].slots_as_group == 3);
  CHECK(summary->units[1].slots_as_group == 0);
}
