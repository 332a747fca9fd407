// Spark event logs: what is read from small logs written by hand, and what is tolerated.
#include "traces/spark_event_log.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/spark_log_text.hpp"
#include "traces/native.hpp"

using namespace rehearse;
using testing::SparkLogText;
using testing::StageText;
using testing::TestFolder;

namespace {

constexpr model::Duration ms = model::millisecond;

model::Trace read(const SparkLogText& log, const traces::LoadOptions& options = {}) {
  const TestFolder folder("spark-log");
  auto trace = traces::read_spark_event_log(folder.file("log", log.text()), options);
  if (!trace) {
    FAIL(model::to_string(trace.error()));
  }
  return std::move(*trace);
}

model::Error error_of(const SparkLogText& log, const traces::LoadOptions& options = {}) {
  const TestFolder folder("spark-log-error");
  auto trace = traces::read_spark_event_log(folder.file("log", log.text()), options);
  REQUIRE_FALSE(trace);
  return trace.error();
}

bool warns(const model::Trace& trace, std::string_view text, std::int64_t line = -1) {
  return std::any_of(trace.load.warnings.begin(), trace.load.warnings.end(), [&](const auto& w) {
    return w.what.find(text) != std::string::npos && (line < 0 || w.line == line);
  });
}

const std::vector<model::Duration>& durations(const model::Trace& trace, std::size_t job,
                                              std::size_t stage) {
  return std::get<std::vector<model::Duration>>(trace.jobs[job].spec.stages[stage].duration);
}

// Job 0 runs map 0 and result 1; job 1 lists map 0 again as stage 2, skips it and runs 3.
SparkLogText reused_shuffle() {
  const StageText map{.id = 0, .tasks = 2, .rdds = {1, 2}};
  const StageText again{.id = 2, .tasks = 2, .rdds = {2, 1}};
  const StageText first{.id = 1, .tasks = 1, .rdds = {3}, .parents = {0}};
  const StageText second{.id = 3, .tasks = 1, .rdds = {4}, .parents = {2}};
  SparkLogText log;
  log.start().executor("1", 4);
  log.job(0, 100, {first, map}).whole_stage(map, 110, 200);
  log.whole_stage(first, 210, 300, "ResultTask").job_end(0, 310);
  log.job(1, 400, {again, second}).whole_stage(second, 420, 500, "ResultTask").job_end(1, 505);
  return log.end(600);
}

}  // namespace

TEST_CASE("jobs, stages, durations and times of a plain log") {
  const model::Trace trace = read(reused_shuffle());
  CHECK(trace.version == "3.5.1");
  CHECK(trace.application == "app-1");
  CHECK(trace.epoch_ns == testing::base_ms * ms);
  REQUIRE(trace.jobs.size() == 2);
  const model::TraceJob& job = trace.jobs[0];
  CHECK(trace.names.text(job.spec.name) == "job-0");
  CHECK(job.spec.submit == 100 * ms);
  CHECK(job.recorded.end == 310 * ms);
  CHECK(job.recorded.outcome == model::RecordedOutcome::succeeded);
  REQUIRE(job.spec.stages.size() == 2);
  CHECK(durations(trace, 0, 0) == std::vector<model::Duration>{90 * ms, 90 * ms});
  CHECK(job.recorded.stages[0].first_launch == 110 * ms);
  CHECK(job.recorded.stages[0].last_finish == 200 * ms);
  REQUIRE(job.spec.edges.size() == 1);
  CHECK(job.spec.edges[0].from == model::StageIndex(0U));
  CHECK(job.spec.edges[0].to == std::vector<model::StageIndex>{model::StageIndex(1U)});
  CHECK(job.spec.result == std::vector<model::StageIndex>{model::StageIndex(1U)});
  CHECK(trace.load.warnings.empty());
}

TEST_CASE("a skipped stage is an alias of the stage with the same RDDs") {
  const model::Trace trace = read(reused_shuffle());
  CHECK(trace.counts.aliased_stages == 1);
  CHECK(trace.counts.never_run == 0);
  CHECK(trace.counts.edges == 2);
  const model::JobSpec& job = trace.jobs[1].spec;
  REQUIRE(job.edges.size() == 1);
  CHECK_FALSE(job.edges[0].from.valid());
  CHECK(trace.names.text(job.edges[0].from_job) == "job-0");
  CHECK(trace.names.text(job.edges[0].from_stage) == "stage-0");
  REQUIRE(job.after.size() == 1);
  CHECK(job.after[0].delay == 90 * ms);  // the think time of the driver
}

TEST_CASE("stages without RDDs are nobody's alias") {
  SparkLogText log;
  const StageText map{.id = 0};
  const StageText skipped{.id = 1};
  const StageText reader{.id = 2, .rdds = {7}, .parents = {1}};
  log.start().executor("1", 1).job(0, 10, {map}).whole_stage(map, 20, 30).job_end(0, 40);
  log.job(1, 50, {skipped, reader}).whole_stage(reader, 60, 70, "ResultTask").job_end(1, 80);
  const model::Trace trace = read(log.end(90));
  CHECK(trace.counts.aliased_stages == 0);
  CHECK(trace.counts.never_run == 1);
  CHECK(trace.counts.edges == 1);
  CHECK(trace.jobs[1].spec.edges.empty());
  CHECK(warns(trace, "not in the log"));
}

TEST_CASE("the order of lines is not the order of time") {
  SparkLogText log;
  const StageText late{.id = 0, .rdds = {1}};
  const StageText early{.id = 1, .rdds = {2}};
  log.start().executor("1", 1);
  log.job(5, 500, {late}).whole_stage(late, 510, 520, "ResultTask").job_end(5, 530);
  log.job(2, 100, {early}).whole_stage(early, 110, 120, "ResultTask").job_end(2, 130);
  const model::Trace trace = read(log.end(600));
  REQUIRE(trace.jobs.size() == 2);
  CHECK(trace.names.text(trace.jobs[0].spec.name) == "job-2");
  CHECK(trace.jobs[1].spec.after.size() == 1);
}

TEST_CASE("retries, speculation and resubmission: the last success of a partition counts") {
  SparkLogText log;
  const StageText stage{.id = 0, .tasks = 2, .rdds = {1}};
  log.start().executor("1", 2).executor("2", 2);
  log.job(0, 0, {stage}).submitted(stage, 0);
  log.task_end({.id = 0, .index = 0, .launch = 0, .finish = 50, .reason = "ExceptionFailure"});
  log.task_end({.id = 1, .index = 1, .launch = 0, .finish = 80});
  log.task_end({.id = 2, .index = 0, .launch = 60, .finish = 100, .executor = "2", .attempt = 1});
  log.task_end({.id = 2, .index = 0, .launch = 60, .finish = 100, .executor = "2", .attempt = 1});
  log.removed("2", 110);
  log.task_end({.id = 2,
                .index = 0,
                .launch = 60,
                .finish = 100,
                .executor = "2",
                .reason = "Resubmitted",
                .attempt = 1});
  log.task_end({.id = 3, .index = 0, .launch = 120, .finish = 145, .attempt = 2});
  log.completed(stage, 0, 145).job_end(0, 150);
  log.task_end({.id = 4, .index = 1, .launch = 70, .finish = 160, .reason = "TaskKilled"});
  const model::Trace trace = read(log.end(200));
  CHECK(durations(trace, 0, 0) == std::vector<model::Duration>{25 * ms, 80 * ms});
  CHECK(trace.counts.tasks == 7);
  CHECK(trace.counts.task_ends.at("Success") == 4);
  CHECK(trace.counts.task_ends.at("Resubmitted") == 1);
  CHECK(trace.counts.failed_tasks == 1);
  CHECK(warns(trace, "task end repeated"));
  REQUIRE(trace.recorded_faults.tasks.size() == 1);
  CHECK(trace.recorded_faults.tasks[0].after == 50 * ms);
  REQUIRE(trace.executor_ends.size() == 2);
  CHECK(trace.executor_ends[1].leaves == 110 * ms);
  CHECK(trace.executor_ends[1].cause == model::LossCause::process);
  CHECK_FALSE(trace.executor_ends[0].leaves);
}

TEST_CASE("attempts of a stage are one stage") {
  SparkLogText log;
  const StageText first{.id = 0, .tasks = 3, .rdds = {1}};
  const StageText again{.id = 0, .tasks = 1, .rdds = {1}, .attempt = 1};
  log.start().executor("1", 4).job(0, 0, {first}).submitted(first, 5);
  for (int i = 0; i < 3; ++i) {
    log.task_end({.id = i, .index = i, .launch = 10, .finish = 20});
  }
  log.completed(first, 5, 20).submitted(again, 30);
  log.line(R"({"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":1,)"
           R"("Task Type":"ShuffleMapTask","Task End Reason":{"Reason":"Success"},)"
           R"("Task Info":{"Task ID":9,"Index":0,"Partition ID":2,"Launch Time":1700000000040,)"
           R"("Executor ID":"1","Finish Time":1700000000047}})");
  log.completed(again, 30, 47).job_end(0, 50);
  const model::Trace trace = read(log.end(60));
  CHECK(trace.counts.stages == 2);
  REQUIRE(trace.jobs[0].spec.stages.size() == 1);
  CHECK(trace.jobs[0].recorded.stages[0].attempts == 2);
  CHECK(trace.jobs[0].recorded.stages[0].completed == 47 * ms);
  CHECK(durations(trace, 0, 0) == std::vector<model::Duration>{10 * ms, 10 * ms, 7 * ms});
}

TEST_CASE("executors come, go, come again, and are sometimes only seen at work") {
  SparkLogText log;
  const StageText stage{.id = 0, .tasks = 3, .rdds = {1}};
  log.start().executor("1", 4, 50).removed("1", 500).executor("1", 8, 600);
  log.job(0, 0, {stage}).submitted(stage, 0);
  log.task_start({.id = 0, .index = 0, .launch = 10, .executor = "9"});
  log.task_start({.id = 1, .index = 1, .launch = 10, .executor = "9"});
  log.task_end({.id = 0, .index = 0, .launch = 10, .finish = 20, .executor = "9"});
  log.task_end({.id = 1, .index = 1, .launch = 10, .finish = 20, .executor = "9"});
  log.task_end({.id = 2, .index = 2, .launch = 30, .finish = 60, .executor = "9"});
  const model::Trace trace = read(log.completed(stage, 0, 60).job_end(0, 65).end(700));
  const auto& executors = trace.cluster.executors;
  REQUIRE(executors.size() == 3);
  CHECK(trace.names.text(executors[0].name) == "1");
  CHECK(executors[0].resources[0] == 4000);
  CHECK(executors[0].joins == 50 * ms);
  CHECK(trace.executor_ends[0].leaves == 500 * ms);
  CHECK(trace.names.text(executors[1].name) == "1:2");
  CHECK(executors[1].resources[0] == 8000);
  CHECK(executors[2].resources[0] == 2000);  // two tasks at once
  CHECK(executors[2].joins == 0);
  CHECK(warns(trace, "never registered"));
  CHECK(trace.counts.executors == 2);
}

TEST_CASE("resource profiles: shares of a device are the number of tasks that share it") {
  SparkLogText log;
  log.start();
  log.line(R"({"Event":"SparkListenerResourceProfileAdded","Resource Profile Id":1,)"
           R"("Executor Resource Requests":{"cores":{"Resource Name":"cores","Amount":8},)"
           R"("gpu":{"Resource Name":"gpu","Amount":1}},)"
           R"("Task Resource Requests":{"cpus":{"Resource Name":"cpus","Amount":0.5},)"
           R"("gpu":{"Resource Name":"gpu","Amount":0.0625}}})");
  log.executor("1", 8, 0, R"(,"Resource Profile Id":1)");
  const StageText stage{.id = 0, .tasks = 1, .rdds = {1}, .profile = 1};
  log.job(0, 0, {stage}).whole_stage(stage, 10, 20, "ResultTask").job_end(0, 30);
  const model::Trace trace = read(log.end(40));
  REQUIRE(trace.cluster.profiles.size() == 2);
  CHECK(trace.names.text(trace.cluster.profiles[1].name) == "profile-1");
  CHECK(trace.jobs[0].spec.stages[0].profile == model::ProfileId(1U));
  CHECK(model::slots_of(trace.cluster.executors[0].resources, trace.cluster.profiles[1].task) ==
        16);
}

TEST_CASE("units, pools and the marks of stages") {
  SparkLogText log;
  const StageText stage{.id = 0, .rdds = {1}, .extra_rdd = R"(,"Barrier":true)"};
  const StageText other{
      .id = 1, .rdds = {2}, .extra_rdd = R"(,"DeterministicLevel":"INDETERMINATE")"};
  log.start().executor("1", 1);
  log.job(0, 0, {stage},
          R"({"spark.sql.execution.id":"7","spark.scheduler.pool":"etl",)"
          R"("spark.jobGroup.id":"g"})");
  log.whole_stage(stage, 10, 20).job_end(0, 30);
  log.job(1, 40, {other},
          R"({"spark.sql.execution.id":"8","spark.sql.execution.root.id":"7",)"
          R"("sql.streaming.queryId":"q","streaming.sql.batchId":"3"})");
  log.whole_stage(other, 50, 60).job_end(1, 70);
  const model::Trace trace = read(log.end(80));
  CHECK(trace.names.text(trace.jobs[0].spec.pool) == "etl");
  CHECK(trace.names.text(trace.jobs[0].recorded.sql) == "7");
  CHECK(trace.names.text(trace.jobs[0].recorded.group) == "g");
  CHECK(trace.jobs[0].spec.stages[0].barrier);
  CHECK(trace.names.text(trace.jobs[1].recorded.sql) == "7");  // of the root
  CHECK(trace.names.text(trace.jobs[1].recorded.batch) == "q:3");
  CHECK(trace.jobs[1].spec.stages[0].indeterminate);
}

TEST_CASE("parts of a task are kept apart") {
  SparkLogText log;
  const StageText stage{.id = 0, .rdds = {1}};
  log.start().executor("1", 1).job(0, 0, {stage}).submitted(stage, 0);
  testing::TaskText task{.id = 0, .launch = 0, .finish = 100};
  task.metrics = R"({"Executor Deserialize Time":3,"Executor Run Time":80,)"
                 R"("Result Serialization Time":2,"Shuffle Read Metrics":{"Fetch Wait Time":11,)"
                 R"("Remote Bytes Read":5,"Local Bytes Read":6},"Shuffle Write Metrics":)"
                 R"({"Shuffle Bytes Written":40,"Shuffle Write Time":7000000}})";
  log.task_end(task);
  const model::Trace trace = read(log.completed(stage, 0, 100).job_end(0, 101).end(102));
  const model::RecordedStage& seen = trace.jobs[0].recorded.stages[0];
  CHECK(seen.read_bytes == 11);
  CHECK(seen.written_bytes == 40);
  REQUIRE(seen.parts.deserialize_us.size() == 1);
  CHECK(seen.parts.deserialize_us[0] == 3000);
  CHECK(seen.parts.fetch_wait_us[0] == 11'000);
  CHECK(seen.parts.write_us[0] == 7000);
  CHECK(seen.parts.serialize_us[0] == 2000);
  CHECK(seen.parts.rest_us[0] == 15'000);
  CHECK(seen.parts.compute_ns(0, 100 * ms) == 62 * ms);
}

TEST_CASE("unfinished and failed jobs are kept as what they are") {
  SparkLogText log;
  const StageText good{.id = 0, .tasks = 2, .rdds = {1}};
  const StageText bad{.id = 1, .tasks = 2, .rdds = {2}};
  const StageText open{.id = 2, .tasks = 2, .rdds = {3}};
  log.start().executor("1", 4).job(0, 0, {good}).whole_stage(good, 0, 10).job_end(0, 11);
  log.job(1, 20, {bad}).submitted(bad, 20);
  log.task_end({.stage = 1,
                .id = 101,
                .index = 1,
                .launch = 20,
                .finish = 33,
                .reason = "ExceptionFailure"});
  log.job_end(1, 40, "JobFailed");
  log.job(2, 50, {open}).submitted(open, 50);
  log.task_start({.stage = 2, .id = 201, .index = 0, .launch = 55});
  const model::Trace trace = read(log);
  REQUIRE(trace.jobs.size() == 3);
  CHECK(trace.jobs[1].recorded.outcome == model::RecordedOutcome::failed);
  CHECK(durations(trace, 1, 0) == std::vector<model::Duration>{0, 13 * ms});
  CHECK(trace.jobs[2].recorded.outcome == model::RecordedOutcome::unfinished);
  CHECK_FALSE(trace.jobs[2].recorded.end);
  CHECK(trace.counts.unfinished == 1);
  CHECK(warns(trace, "tasks started without an end: 1"));
  CHECK(warns(trace, "no ApplicationEnd"));
}

TEST_CASE("lost lines: named, filled with the median, refused when they are too many") {
  const auto log_with = [](int seen, int tasks) {
    SparkLogText log;
    const StageText stage{.id = 0, .tasks = tasks, .rdds = {1}};
    log.start().executor("1", 4).job(0, 0, {stage}).submitted(stage, 0);
    for (int i = 0; i < seen; ++i) {
      log.task_end({.id = i, .index = i, .launch = 0, .finish = 10 + i});
    }
    return log.completed(stage, 0, 900).job_end(0, 901).end(902);
  };
  const model::Trace few = read(log_with(3, 4));
  CHECK(durations(few, 0, 0).back() == 11 * ms);
  CHECK(few.jobs[0].recorded.stages[0].tasks_missing == 1);
  CHECK(warns(few, "1 of 4 expected"));
  CHECK(error_of(log_with(70, 100)).code == "T012");
  traces::LoadOptions lossy;
  lossy.lossy = true;
  CHECK(read(log_with(70, 100), lossy).jobs[0].recorded.stages[0].tasks_missing == 30);
}

TEST_CASE("jobs whose start is lost are left out and named") {
  SparkLogText log;
  const StageText stage{.id = 4, .rdds = {1}};
  log.start().executor("1", 1).whole_stage(stage, 0, 10).job_end(3, 11);
  const model::Trace trace = read(log.end(20));
  CHECK(trace.jobs.empty());
  CHECK(trace.counts.jobs == 0);
  CHECK(trace.counts.stages == 1);
  CHECK(warns(trace, "job end without a job start"));
  CHECK(warns(trace, "stages ran for jobs that are not in the log"));
}

TEST_CASE("logs that name no parents: stages of a job follow one another") {
  SparkLogText log;
  const StageText map{.id = 0, .rdds = {1}, .name_parents = false};
  const StageText reduce{.id = 1, .rdds = {2}, .name_parents = false};
  log.start().executor("1", 1).job(0, 0, {reduce, map});
  log.whole_stage(map, 0, 10).whole_stage(reduce, 11, 20, "ResultTask").job_end(0, 21).end(22);
  const model::Trace trace = read(log);
  CHECK(trace.counts.edges == 0);
  CHECK(trace.jobs[0].spec.edges.size() == 1);
  traces::LoadOptions strict;
  strict.strict = true;
  CHECK(error_of(log, strict).what.find("parents") != std::string::npos);
}

TEST_CASE("wrong lines: counted and named, or the first is an error with its place") {
  SparkLogText log = reused_shuffle();
  log.line(R"({"Event":"SparkListenerTaskEnd","Stage ID":0,)");
  log.line(R"({"Event":"SparkListenerJobStart","Job ID":"5"})");
  log.line(R"({"Event":"com.example.Label","x":1})");
  log.line(R"({"no":"event"})");
  log.line(R"({"x":1,"Event":"SparkListenerJobEnd","Job ID":77})");
  const model::Trace trace = read(log);
  CHECK(warns(trace, "T005", 19));
  CHECK(warns(trace, "T006: Job ID", 20));
  CHECK(warns(trace, "unknown kind: skipped: com.example.Label", 21));
  CHECK(warns(trace, "without an event", 22));
  CHECK(warns(trace, "job end without a job start", 23));  // the name may come later in the line
  traces::LoadOptions strict;
  strict.strict = true;
  const model::Error error = error_of(log, strict);
  CHECK(error.code == "T005");
  CHECK(error.line == 19);
  CHECK_FALSE(error.remedy.empty());
}

TEST_CASE("values that cannot be are errors of their line") {
  traces::LoadOptions strict;
  strict.strict = true;
  const auto code_of = [&](std::string_view line) {
    SparkLogText log;
    log.start().line(line);
    return error_of(log, strict).code;
  };
  CHECK(code_of(R"({"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":1,)"
                R"("Number of Tasks":-4}})") == "T010");
  CHECK(code_of(R"({"Event":"SparkListenerTaskEnd","Stage ID":1,"Task Info":{"Task ID":1,)"
                R"("Index":-1,"Launch Time":1700000000000}})") == "T010");
  CHECK(code_of(R"({"Event":"SparkListenerJobEnd","Job ID":1,"Completion Time":9e99})") == "T006");
  CHECK(code_of(R"({"Event":"SparkListenerJobEnd","Job ID":1,"Completion Time":99999999999999})") ==
        "T010");
  CHECK(code_of(R"({"Event":"SparkListenerTaskEnd","Stage ID":1})") == "T006");
}

TEST_CASE("one job id with two contents") {
  SparkLogText log;
  const StageText one{.id = 0, .rdds = {1}};
  const StageText two{.id = 1, .rdds = {2}};
  log.start().executor("1", 1).job(0, 0, {one}).job(0, 0, {one}).job(0, 9, {two});
  log.whole_stage(one, 0, 10).job_end(0, 11).end(12);
  const model::Trace trace = read(log);
  CHECK(trace.jobs.size() == 1);
  CHECK(warns(trace, "T007", 6));
  traces::LoadOptions strict;
  strict.strict = true;
  CHECK(error_of(log, strict).code == "T007");
}

TEST_CASE("stages that read each other in a cycle") {
  SparkLogText log;
  const StageText one{.id = 0, .rdds = {1}, .parents = {1}};
  const StageText two{.id = 1, .rdds = {2}, .parents = {0}};
  log.start().executor("1", 1).job(0, 0, {one, two}).whole_stage(one, 0, 1);
  CHECK(error_of(log.whole_stage(two, 2, 3).job_end(0, 4)).code == "T008");
}

TEST_CASE("invalid UTF-8, an empty file, another text, a last line that is cut") {
  SparkLogText log = reused_shuffle();
  log.line("{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":9,\"Note\":\"\xE9\xFF\"}");
  CHECK(warns(read(log), "invalid UTF-8"));
  CHECK(error_of(SparkLogText()).code == "T001");
  SparkLogText other;
  CHECK(error_of(other.line("STAGE_ID=0 STATUS=COMPLETED")).code == "T001");
  const TestFolder folder("spark-log-cut");
  std::string text = reused_shuffle().text();
  text.resize(text.size() - 20);
  traces::LoadOptions strict;
  strict.strict = true;
  const auto trace = traces::read_spark_event_log(folder.file("log", text), strict);
  REQUIRE(trace);
  CHECK(warns(*trace, "last line is cut", 18));
}

TEST_CASE("every prefix of a log is read or refused, and never gives more than the whole") {
  const TestFolder folder("spark-log-prefix");
  const std::string text = reused_shuffle().text();
  for (std::size_t size = 1; size < text.size(); size += 97) {
    const auto trace = traces::read_spark_event_log(folder.file("log", text.substr(0, size)));
    if (trace) {
      CHECK(trace->counts.tasks <= 4);
      CHECK_FALSE(traces::trace_id(*trace).empty());
    } else {
      CHECK_FALSE(trace.error().what.empty());
    }
  }
}

TEST_CASE("a log cut into the parts of a rolling directory is the same log") {
  const TestFolder folder("spark-log-rolling");
  const std::string text = reused_shuffle().text();
  const auto whole = traces::read_spark_event_log(folder.file("log", text));
  REQUIRE(whole);
  const std::size_t cut = text.find("SparkListenerJobEnd");
  const std::size_t at = text.rfind('\n', cut) + 1;
  folder.file("eventlog_v2_a/events_1_a", text.substr(0, at));
  folder.file("eventlog_v2_a/events_2_a", text.substr(at));
  folder.file("eventlog_v2_a/appstatus_a", "");
  const std::string directory = folder.path("eventlog_v2_a");
  auto parts = traces::read_spark_event_log(directory);
  REQUIRE(parts);
  CHECK(traces::trace_id(*parts) == traces::trace_id(*whole));
  CHECK(parts->load.warnings.empty());

  folder.file("eventlog_v2_a/events_4_a", "");
  parts = traces::read_spark_event_log(directory);
  REQUIRE_FALSE(parts);
  CHECK(parts.error().code == "T004");
  CHECK(parts.error().what.find("events_3") != std::string::npos);
  traces::LoadOptions partial;
  partial.partial = true;
  parts = traces::read_spark_event_log(directory, partial);
  REQUIRE(parts);
  CHECK(parts->partial);
}

TEST_CASE("a compacted part replaces what comes before it; numbers are numbers, not text") {
  const TestFolder folder("spark-log-compact");
  const std::string text = reused_shuffle().text();
  const std::size_t at = text.rfind('\n', text.find("\"Job ID\":1,\"Sub")) + 1;
  folder.file("d/events_1_a", "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"0\"}\n");
  folder.file("d/events_9_a.compact", text.substr(0, at));
  folder.file("d/events_10_a", text.substr(at));
  const auto trace = traces::read_spark_event_log(folder.path("d"));
  REQUIRE(trace);
  CHECK(trace->version == "3.5.1");
  CHECK(trace->partial);
  CHECK(trace->jobs.size() == 2);
  traces::LoadOptions strict;
  strict.strict = true;
  CHECK_FALSE(traces::read_spark_event_log(folder.path("d"), strict));
}

TEST_CASE("the file without a date is the newest in the layout of Databricks") {
  const TestFolder folder("spark-log-databricks");
  const std::string text = reused_shuffle().text();
  const std::size_t at = text.rfind('\n', text.find("\"Job ID\":1,\"Sub")) + 1;
  folder.file("d/eventlog", text.substr(at));
  folder.file("d/eventlog-2021-06-15--15-00", text.substr(0, at));
  folder.file("d/.eventlog.crc", "x");
  const auto trace = traces::read_spark_event_log(folder.path("d"));
  REQUIRE(trace);
  CHECK(trace->jobs.size() == 2);
}

TEST_CASE("directories that are no log say what they are") {
  const TestFolder folder("spark-log-none");
  const auto empty = traces::read_spark_event_log(folder.path());
  REQUIRE_FALSE(empty);
  CHECK(empty.error().what.find("without event logs") != std::string::npos);
  folder.file("app-1", "x");
  const auto several = traces::read_spark_event_log(folder.path());
  REQUIRE_FALSE(several);
  CHECK(several.error().remedy.find("app-1") != std::string::npos);
}
