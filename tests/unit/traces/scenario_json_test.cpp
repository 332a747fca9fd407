// Scenario files: what they mean, what is wrong with them and where, and their canonical form.
#include "traces/scenario_json.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "model/config_support.hpp"
#include "tests/support/sample_scenarios.hpp"

namespace rehearse::traces {

using model::Error;
using model::Result;
using model::Scenario;
using testing::rich_scenario;

namespace {

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const std::size_t at = result.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, std::string(from));
  result.replace(at, from.size(), to);
  return result;
}

Scenario read(std::string_view text) {
  Result<Scenario> scenario = read_scenario(text, "dir/s.json");
  if (!scenario) {
    FAIL(model::to_string(scenario.error()));
  }
  return std::move(*scenario);
}

Error error_of(std::string_view text) {
  const Result<Scenario> scenario = read_scenario(text, "dir/s.json");
  REQUIRE_FALSE(scenario.has_value());
  CHECK(scenario.error().file == "dir/s.json");
  CHECK(scenario.error().line > 0);
  CHECK_FALSE(scenario.error().what.empty());
  CHECK_FALSE(scenario.error().remedy.empty());
  return scenario.error();
}

// A scenario with one job of two stages, with `part` put in place of a marker.
struct Place {
  std::string_view stage = "";  // further keys of stage b
  std::string_view edge = "";   // further keys of the edge
  std::string_view job = "";    // further keys of the job
  std::string_view top = "";    // further keys of the file
};
std::string small(const Place& place) {
  std::string text = R"({ "rehearse": 1,
    "cluster": { "executors": 2, "cpus": 4 },
    "jobs": [ { "name": "q", "stages": [ { "name": "a", "tasks": 2, "duration": "1s" },
       { "name": "b", "tasks": 2, "duration": "1s")";
  text += place.stage;
  text += R"( } ],
      "edges": [ { "from": "a", "to": "b")";
  text += place.edge;
  text += " } ]";
  text += place.job;
  text += " } ]";
  text += place.top;
  return text + " }";
}

std::string_view name(const Scenario& scenario, model::NameId id) {
  return scenario.names.text(id);
}

}  // namespace

TEST_CASE("the short cluster form, and defaults") {
  const Scenario scenario = read(small({}));
  CHECK(scenario.name == "s");
  CHECK(scenario.timing == model::Timing::scripted);
  REQUIRE(scenario.cluster.executors.size() == 2);
  const model::ExecutorSpec& executor = scenario.cluster.executors[1];
  CHECK(name(scenario, executor.name) == "e1");
  CHECK(name(scenario, executor.host) == "h1");
  CHECK(executor.profile == model::ProfileId{0U});
  CHECK(executor.resources == model::ResourceVector{4000});
  CHECK(scenario.cluster.profiles[0].task == model::ResourceVector{1000});
  CHECK(scenario.scheduler == model::preset(model::Dialect::psd));
  REQUIRE(scenario.jobs.size() == 1);
  const model::JobSpec& job = scenario.jobs[0];
  CHECK(job.result == std::vector<model::StageIndex>{model::StageIndex{1U}});
  CHECK(job.edges[0].kind == model::EdgeKind::regular);
  CHECK(job.backoff == model::second);
  CHECK(name(scenario, job.pool) == "default");
}

TEST_CASE("the long cluster form: count, {i}, hosts, unbound executors, exact amounts") {
  const Scenario scenario = read(R"({ "rehearse": 1, "jobs": [],
    "cluster": {
      "profiles": { "gpu": { "task": { "cpus": 0.5, "gpu": 1, "memory": "1GiB" } } },
      "executors": [
        { "name": "n", "count": 2, "resources": { "cpus": 2 }, "host": "h{i}", "rack": "r" },
        { "name": "u", "profile": "gpu", "resources": { "gpu": 3, "memory": "8GiB", "disk": 0 },
          "speed": 1.5, "joins": "2s" } ],
      "overheads": { "status": { "dist": "uniform", "min": "1ms", "max": "3ms" } },
      "network": { "bandwidth": "1Gbit/s" },
      "autoscale": { "max": 4 } } })");
  const model::Cluster& cluster = scenario.cluster;
  // "default" is always there: last when the file does not list it.
  REQUIRE(cluster.profiles.size() == 2);
  CHECK(name(scenario, cluster.profiles[1].name) == "default");
  REQUIRE(cluster.resources.size() == 3);
  CHECK(cluster.profiles[0].task == model::ResourceVector{500, 1000, 1024LL * 1024 * 1024 * 1000});
  REQUIRE(cluster.executors.size() == 3);
  CHECK(name(scenario, cluster.executors[0].name) == "n0");
  CHECK(name(scenario, cluster.executors[1].host) == "h1");
  CHECK(name(scenario, cluster.executors[1].rack) == "r");
  CHECK_FALSE(cluster.executors[1].profile.valid());
  CHECK(name(scenario, cluster.executors[2].host) == "h-u");
  CHECK(cluster.executors[2].profile == model::ProfileId{0U});
  CHECK(cluster.executors[2].speed_milli == 1500);
  CHECK(cluster.executors[2].joins == 2 * model::second);
  CHECK(cluster.overheads.status ==
        model::uniform_distribution({.min_ns = 1'000'000, .max_ns = 3'000'000}));
  CHECK(cluster.network.bandwidth == 125'000'000);
  REQUIRE(cluster.autoscale.has_value());
  CHECK(cluster.autoscale->executor.resources == cluster.executors[0].resources);
}

TEST_CASE("jobs: one shuffle with several consumers, results, other jobs' stages") {
  const Scenario scenario = read(rich_scenario);
  const model::JobSpec& q = scenario.jobs[0];
  CHECK(q.edges[0].to.size() == 2);
  CHECK(q.edges[0].kind == model::EdgeKind::pipelined);
  CHECK(q.repeat_count == 3);
  CHECK(q.resubmit == 2);
  CHECK(std::get<std::vector<model::Duration>>(q.stages[0].duration).size() == 4);
  CHECK(q.stages[1].commits == model::Commits::once);
  const model::JobSpec& r = scenario.jobs[1];
  CHECK_FALSE(r.edges[0].from.valid());
  CHECK(name(scenario, r.edges[0].from_job) == "q1");
  CHECK(name(scenario, r.edges[0].from_stage) == "map");
  CHECK(name(scenario, r.after[0].job) == "q");
  CHECK(name(scenario, r.edges[1].reuse_job) == "q1");
  REQUIRE(r.edges[1].stream.has_value());
  CHECK(r.edges[1].stream->per_queue);
  CHECK(r.stages[2].limit == std::vector<std::optional<std::int64_t>>{1, std::nullopt});
}

TEST_CASE("faults and expectations") {
  const Scenario scenario = read(rich_scenario);
  REQUIRE(scenario.faults.order.size() == 8);
  REQUIRE(scenario.faults.timed.size() == 5);
  REQUIRE(scenario.faults.tasks.size() == 3);
  CHECK(scenario.faults.order[1] == model::FaultPlan::Entry{.task = true, .index = 0});
  const model::TaskFault& fetch = scenario.faults.tasks[1];
  CHECK(fetch.fetch_fails);
  CHECK(name(scenario, fetch.fetch_from) == "map");
  CHECK_FALSE(fetch.fetch_from_job.valid());
  CHECK(fetch.after == 3 * model::millisecond);
  CHECK_FALSE(scenario.faults.tasks[2].try_number.has_value());
  CHECK(scenario.faults.tasks[2].slow_milli == 1500);
  const model::TimedFault& moment = scenario.faults.timed[3];
  CHECK(moment.moment == model::Moment::member_finished);
  CHECK(name(scenario, moment.match_stage_job) == "q1");
  CHECK(moment.nth == 2);
  CHECK(std::get<model::LoseExecutor>(moment.action).cause == model::LossCause::host);

  REQUIRE(scenario.expect.size() == 12);
  const auto& event = std::get<model::ExpectEvent>(scenario.expect[4]);
  CHECK(event.pattern.event == "job_rejected");
  CHECK(std::get<model::ListMatch>(event.keys.at("codes")).json ==
        R"(["DAG_CYCLE","SPECULATION"])");
  CHECK(std::get<std::map<std::string, std::int64_t>>(event.keys.at("need")).at("default") == 4);
  const auto& never = std::get<model::ExpectEvent>(scenario.expect[5]);
  CHECK(never.never);
  CHECK(never.pattern.partition == 1);
  const auto& same = std::get<model::ExpectSameJournal>(scenario.expect[10]);
  CHECK(same.except[0].job == "elsewhere");
}

TEST_CASE("the canonical form is a fixed point and loses nothing") {
  const std::string minimal = small({});
  for (const std::string_view text : {std::string_view(rich_scenario), std::string_view(minimal)}) {
    const Scenario scenario = read(text);
    const std::string canonical = write_scenario(scenario);
    const Scenario again = read(canonical);
    CHECK(same_scenario(scenario, again));
    CHECK(write_scenario(again) == canonical);
  }
  // The order of keys is not that of the file.
  CHECK(write_scenario(read(R"({"jobs":[],"cluster":{"cpus":1,"executors":1},"rehearse":1})")) ==
        write_scenario(read(R"({"rehearse":1,"cluster":{"executors":1,"cpus":1},"jobs":[]})")));
  CHECK_FALSE(same_scenario(read(minimal), read(small({.stage = R"(, "barrier": true)"}))));
}

TEST_CASE("errors of values: pointer and remedy") {
  const auto stage = [](std::string_view keys) { return error_of(small({.stage = keys})).field; };
  const auto edge = [](std::string_view keys) { return error_of(small({.edge = keys})).field; };
  const auto job = [](std::string_view keys) { return error_of(small({.job = keys})).field; };
  const auto top = [](std::string_view keys) { return error_of(small({.top = keys})).field; };
  const std::string b = "/jobs/0/stages/1";
  CHECK(stage(R"(, "task": 1)") == b + "/task");
  CHECK(stage(R"(, "profile": "gpu")") == b + "/profile");
  CHECK(stage(R"(, "prefers": [["e0"]])") == b + "/prefers");
  CHECK(stage(R"(, "prefers": [["e0"], ["h7"]])") == b + "/prefers/1/0");
  CHECK(stage(R"(, "commits": "twice")") == b + "/commits");
  CHECK(stage(R"(, "barrier": 1)") == b + "/barrier");
  CHECK(stage(R"(, "estimate": 5)") == b + "/estimate");
  CHECK(stage(R"(, "limit": [1])") == b + "/limit");
  CHECK(stage(R"(, "operator": "sort")") == b + "/operator");
  CHECK(stage(R"(, "input": {})") == b + "/input/rate");
  CHECK(stage(R"(, "input": {"rate": "0/s"})") == b + "/input/rate");
  CHECK(stage(R"(, "width": 3)") == b + "/width");
  CHECK(stage(R"(, "name": "c")") == b + "/name");  // given twice
  const std::string ab = "/jobs/0/edges/0";
  CHECK(edge(R"(, "kind": "fast")") == ab + "/kind");
  CHECK(edge(R"(, "skew": -1)") == ab + "/skew");
  CHECK(edge(R"(, "bytes": "1.5B")") == ab + "/bytes");
  CHECK(edge(R"(, "durable": true)") == ab + "/durable");
  CHECK(edge(R"(, "reuse": "q/a")") == ab + "/reuse");
  CHECK(edge(R"(, "reuse": "z/a")") == ab + "/reuse");
  CHECK(edge(R"(, "reuse": "a")") == ab + "/reuse");
  CHECK(edge(R"(, "stream": {"emit": [[]]})") == ab + "/stream/emit");
  CHECK(edge(R"(, "stream": {"emit": [[], [{"to": [2]}]]})") == ab + "/stream/emit/1/0/to/0");
  CHECK(job(R"(, "result": "a")") == "/jobs/0/result");
  CHECK(job(R"(, "result": [])") == "/jobs/0/result");
  CHECK(job(R"(, "result": ["b", "b"])") == "/jobs/0/result/1");
  CHECK(job(R"(, "repeat": {"count": 1, "every": "1s"})") == "/jobs/0/repeat/count");
  CHECK(job(R"(, "after": [{"job": "q"}])") == "/jobs/0/after/0/job");
  CHECK(job(R"(, "after": [{"job": "x"}])") == "/jobs/0/after/0/job");
  CHECK(job(R"(, "submit": "-1s")") == "/jobs/0/submit");
  CHECK(job(R"(, "priority": 1.5)") == "/jobs/0/priority");
  CHECK(job(R"(, "priority": 9223372036854775808)") == "/jobs/0/priority");
  CHECK(job(R"(, "client": {})") == "/jobs/0/client");
  CHECK(top(R"(, "seed": -1)") == "/seed");
  CHECK(top(R"(, "timing": "quick")") == "/timing");
  CHECK(top(R"(, "ties": "random")") == "/ties");
  CHECK(top(R"(, "horizon": "1")") == "/horizon");
  CHECK(top(R"(, "choices": {"tie@10": 1})") == "/choices/tie@10");
  CHECK(top(R"(, "choices": {"tie@10ms#1": 1})") == "/choices/tie@10ms#1");
  CHECK(top(R"(, "workload": {"trace": "x"})") == "/workload");
  CHECK(top(R"(, "shceduler": {})") == "/shceduler");
  CHECK(top(R"(, "scheduler": {"dialect": "psd", "peer_silence": "1h"})") ==
        "/scheduler/peer_silence");
  CHECK(top(R"(, "scheduler": {"admission": {"short": {"retry": {"interval": "0s"}}}})") ==
        "/scheduler/admission/short/retry/interval");
  CHECK(top(R"(, "scheduler": {"dialect": "spark", "admission": {"short": "retry"}})") ==
        "/scheduler/admission/short");
  CHECK(top(R"(, "scheduler": {"admission": {"depth": "5"}})") == "/scheduler/admission/depth");
  CHECK(top(R"(, "scheduler": {"reject": ["SPECULATIN"]})") == "/scheduler/reject/0");
}

TEST_CASE("errors of faults and expectations") {
  const auto fault = [](std::string_view text) {
    return error_of(small({.top = std::string(R"(, "faults": [)") + std::string(text) + "]"}))
        .field;
  };
  CHECK(fault(R"({"at": "1s"})") == "/faults/0");
  CHECK(fault(R"({"lose_executor": "e0"})") == "/faults/0");
  CHECK(fault(R"({"at": "1s", "lose_executor": "e7"})") == "/faults/0/lose_executor");
  CHECK(fault(R"({"at": "1s", "lose_executor": "e0", "cancel_job": "q"})") ==
        "/faults/0/cancel_job");
  CHECK(fault(R"({"at": "1s", "cancel_job": "q", "cause": "host"})") == "/faults/0/cause");
  CHECK(fault(R"({"at": "1s", "cancel_job": "q#0"})") == "/faults/0/cancel_job");
  CHECK(fault(R"({"at": "1s", "launch_fails": "e0", "for": "1s"})") == "/faults/0/launch_fails");
  CHECK(fault(R"({"at": "1s", "partition_network": {"hosts": ["h0"], "for": "1s"}})") ==
        "/faults/0/partition_network");
  CHECK(fault(R"({"at": "1s", "hold_executors": []})") == "/faults/0/hold_executors");
  CHECK(fault(R"({"at": "1s", "hold_executors": ["e0"]})") == "/faults/0/for");
  CHECK(fault(R"({"at": "1s", "add_executor": {"name": "e0", "resources": {"cpus": 1}}})") ==
        "/faults/0/add_executor/name");
  CHECK(fault(R"({"task": "q/a/2", "slow": 2})") == "/faults/0/task");
  CHECK(fault(R"({"task": "q/a", "slow": 2})") == "/faults/0/task");
  CHECK(fault(R"({"task": "q/x/0", "slow": 2})") == "/faults/0/task");
  CHECK(fault(R"({"task": "q/a/0"})") == "/faults/0");
  CHECK(fault(R"({"task": "q/a/0", "slow": 0})") == "/faults/0/slow");
  CHECK(fault(R"({"task": "q/a/0", "slow": 2, "after": "1s"})") == "/faults/0/after");
  CHECK(fault(R"({"task": "q/b/0", "fetch_fails": {"from": "a", "partition": 2}})") ==
        "/faults/0/fetch_fails/from");
  CHECK(fault(R"({"moment": "teardown"})") == "/faults/0/do");
  CHECK(fault(R"({"moment": "tear", "do": {"cancel_job": "q"}})") == "/faults/0/moment");
  CHECK(fault(R"({"moment": "teardown", "match": {"stage": "q"}, "do": {"cancel_job": "q"}})") ==
        "/faults/0/match/stage");

  const auto expect = [](std::string_view text) {
    return error_of(small({.top = std::string(R"(, "expect": [)") + std::string(text) + "]"}))
        .field;
  };
  CHECK(expect(R"({"job": "q"})") == "/expect/0/ends");
  CHECK(expect(R"({"job": "z", "ends": "failed"})") == "/expect/0/job");
  CHECK(expect(R"({"job": "q", "ends": "failed", "code": "OOPS"})") == "/expect/0/code");
  CHECK(expect(R"({"stage": "q/a"})") == "/expect/0");
  CHECK(expect(R"({"event": "task_ended q"})") == "/expect/0/event");
  CHECK(expect(R"({"event": "task_end q/z"})") == "/expect/0/event");
  CHECK(expect(R"({"event": "job_end q/a"})") == "/expect/0/event");
  CHECK(expect(R"({"event": "probe q"})") == "/expect/0/event");
  CHECK(expect(R"({"event": "task_end q", "statsu": "failed"})") == "/expect/0/statsu");
  CHECK(expect(R"({"never": "task_end q", "status": "sucess"})") == "/expect/0/status");
  CHECK(expect(R"({"never": "task_end q", "count": 1})") == "/expect/0/count");
  CHECK(expect(R"({"at": "1s", "free": {"gpu": 1}})") == "/expect/0/free/gpu");
  CHECK(expect(R"({"at": "1s", "running": ["q"]})") == "/expect/0/running/0");
  CHECK(expect(R"({"order": ["job_end z"]})") == "/expect/0/order/0");
  CHECK(expect(R"({"journal_hash": "xxh3:12"})") == "/expect/0/journal_hash");
  CHECK(expect(R"({"totals": {"evnts": {"max": 1}}})") == "/expect/0/totals/evnts");
  CHECK(expect(R"({"load_error": "/x"}, {"job": "q", "ends": "failed"})") == "/expect/0");
  CHECK(expect(R"({"evnt": "task_end q"})") == "/expect/0/evnt");
  CHECK(expect("{}") == "/expect/0");
}

TEST_CASE("errors of the cluster and of the whole file") {
  const auto cluster = [](std::string_view text) {
    return error_of(R"({"rehearse":1,"jobs":[],"cluster":)" + std::string(text) + "}").field;
  };
  CHECK(cluster("{}") == "/cluster/executors");
  CHECK(cluster("[]") == "/cluster");
  CHECK(cluster(R"({"executors": 2})") == "/cluster/cpus");
  CHECK(cluster(R"({"executors": 2, "cpus": 1, "memory": 3})") == "/cluster/memory");
  CHECK(cluster(R"({"executors": [{"name": "e"}]})") == "/cluster/executors/0/resources");
  CHECK(cluster(R"({"executors": [{"name": "a/b", "resources": {}}]})") ==
        "/cluster/executors/0/name");
  CHECK(cluster(R"({"executors": [{"name": "e{i}", "resources": {}}]})") ==
        "/cluster/executors/0/name");
  CHECK(cluster(R"({"executors": [{"name": "e", "resources": {"cpus": -1}}]})") ==
        "/cluster/executors/0/resources/cpus");
  CHECK(cluster(R"({"executors": [{"name": "e", "resources": {"m": "9000000PiB"}}]})") ==
        "/cluster/executors/0/resources/m");
  CHECK(cluster(R"({"executors": [{"name": "e1", "resources": {}},
                                  {"name": "e", "count": 2, "resources": {}}]})") ==
        "/cluster/executors/1/name");
  CHECK(cluster(R"({"executors": [{"name": "e", "resources": {}, "launch": "1s"}]})") ==
        "/cluster/executors/0/launch");
  CHECK(cluster(R"({"executors": 1, "cpus": 1, "overheads": {"kill": {"dist": "pareto",
                    "min": "1ms", "alpha": 1}}})") == "/cluster/overheads/kill");
  CHECK(cluster(R"({"executors": 1, "cpus": 1, "overheads": {"kill": {"dist": "normal"}}})") ==
        "/cluster/overheads/kill/dist");
  CHECK(cluster(R"({"executors": [], "autoscale": {"max": 3}})") == "/cluster/autoscale/executor");

  CHECK(error_of(R"({"cluster": {"executors": 1, "cpus": 1}, "jobs": []})").field == "/rehearse");
  CHECK(error_of(R"({"rehearse": 2, "cluster": {"executors": 1, "cpus": 1}})").field ==
        "/rehearse");
  CHECK(error_of(R"({"rehearse": 1, "jobs": []})").field == "/cluster");
  CHECK(error_of(R"({"rehearse": 1, "cluster": {"executors": 1, "cpus": 1}})").field == "/jobs");
  CHECK(error_of("").what == "the file is empty");
  CHECK(error_of(" \n\t").what == "the file is empty");
  CHECK(error_of("[]").field == "/");
  CHECK(error_of(std::string(100'000, '[')).what.find("nested") != std::string::npos);
  CHECK(error_of("{\n \"a\": 1,\n \"a\": 2 }").line == 3);
  CHECK(error_of("{\n\n  \"rehearse\": 1,\n  oops }").line == 4);
}

TEST_CASE("pareto without a mean needs an estimate") {
  const std::string text = small({});
  constexpr std::string_view heavy =
      R"("b", "tasks": 2, "duration": {"dist": "pareto", "min": "1ms", "alpha": 0.9})";
  const std::string bad = replaced(text, R"("b", "tasks": 2, "duration": "1s")", heavy);
  CHECK(error_of(bad).field == "/jobs/0/stages/1/duration");
  const std::string good = replaced(bad, "0.9}", R"(0.9}, "estimate": "2ms")");
  CHECK(read(good).jobs[0].stages[1].estimate == 2 * model::millisecond);
}

TEST_CASE("cycles and pipelined reads of other jobs are no load errors") {
  const Scenario scenario = read(R"({ "rehearse": 1, "cluster": { "executors": 1, "cpus": 1 },
    "jobs": [ { "name": "q", "stages": [ { "name": "a", "tasks": 1, "duration": "1s" },
                                         { "name": "b", "tasks": 1, "duration": "1s" } ],
                "edges": [ { "from": "a", "to": "b" }, { "from": "b", "to": "a" } ] },
              { "name": "r", "stages": [ { "name": "x", "tasks": 0, "duration": [] } ],
                "edges": [ { "from": "q/a", "to": "x", "kind": "pipelined" } ] } ] })");
  CHECK(scenario.jobs[0].result.size() == 1);
  CHECK(scenario.jobs[1].edges[0].kind == model::EdgeKind::pipelined);
  CHECK(read(write_scenario(scenario)).jobs == scenario.jobs);
}

TEST_CASE("names that mean two things, and names taken twice") {
  const std::string ambiguous = R"({ "rehearse": 1,
    "cluster": { "executors": [ { "name": "x", "resources": { "cpus": 1 }, "host": "x" } ] },
    "jobs": [ { "name": "q", "stages": [
       { "name": "a", "tasks": 1, "duration": "1s", "prefers": [["x"]] } ] } ] })";
  CHECK(error_of(ambiguous).field == "/jobs/0/stages/0/prefers/0/0");
  const std::string twice = R"({ "rehearse": 1, "cluster": { "executors": 1, "cpus": 1 },
    "jobs": [ { "name": "q", "repeat": { "count": 2, "every": "1s" },
                "stages": [ { "name": "a", "tasks": 1, "duration": "1s" } ] },
              { "name": "q2", "stages": [ { "name": "a", "tasks": 1, "duration": "1s" } ] } ] })";
  CHECK(error_of(twice).field == "/jobs/1/name");
  const std::string waiting = R"({ "rehearse": 1, "cluster": { "executors": 1, "cpus": 1 },
    "jobs": [ { "name": "q", "after": [ { "job": "r" } ],
                "stages": [ { "name": "a", "tasks": 1, "duration": "1s" } ] },
              { "name": "r", "after": [ { "job": "q" } ],
                "stages": [ { "name": "a", "tasks": 1, "duration": "1s" } ] } ] })";
  CHECK(error_of(waiting).field == "/jobs/1/after");
}

TEST_CASE("workloads") {
  const Scenario scenario = read(R"({ "rehearse": 1, "cluster": { "executors": 1, "cpus": 1 },
    "workload": { "trace": "a/b.zstd", "format": "spark-event-log" },
    "expect": [ { "event": "job_end sql-7", "count": 1 } ] })");
  REQUIRE(scenario.workload.has_value());
  CHECK(scenario.workload->trace == "a/b.zstd");
  CHECK(same_scenario(read(write_scenario(scenario)), scenario));
  CHECK(error_of(R"({ "rehearse": 1, "cluster": { "executors": 1, "cpus": 1 },
    "workload": { "synthetic": "tpc" } })")
            .field == "/workload/synthetic");
}

TEST_CASE("an expected load error is looked for before anything is checked") {
  CHECK(expected_load_error(R"({"expect": [{"load_error": "/jobs/0"}], "jobz": 1})") == "/jobs/0");
  CHECK_FALSE(expected_load_error(R"({"expect": []})").has_value());
  CHECK_FALSE(expected_load_error("{").has_value());
  CHECK_FALSE(
      expected_load_error(R"({"expect": [{"load_error": "/a"}, {"job": "q"}]})").has_value());
}

TEST_CASE("every case of the shared collection loads, or is refused where it says") {
  const std::filesystem::path folder = "../shared/cases/bugs";
  if (!std::filesystem::is_directory(folder)) {
    MESSAGE("skipped: no ../shared");
    return;
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") {
      continue;
    }
    ++files;
    CAPTURE(entry.path().filename().string());
    std::stringstream content;
    content << std::ifstream(entry.path()).rdbuf();
    const std::string text = content.str();
    const Result<Scenario> scenario = read_scenario(text, entry.path().string());
    if (const auto pointer = expected_load_error(text)) {
      REQUIRE_FALSE(scenario.has_value());
      CHECK(scenario.error().field == *pointer);
      continue;
    }
    const std::string problem = scenario ? "" : model::to_string(scenario.error());
    REQUIRE_MESSAGE(scenario.has_value(), problem);
    const std::string canonical = write_scenario(*scenario);
    const Result<Scenario> again = read_scenario(canonical, "again");
    REQUIRE(again.has_value());
    CHECK(same_scenario(*scenario, *again));
    CHECK(write_scenario(*again) == canonical);
    if (const auto error = model::unsupported(*scenario)) {
      CHECK(error->what.find("is not built yet") != std::string::npos);
    }
  }
  CHECK(files > 50);
}

}  // namespace rehearse::traces
