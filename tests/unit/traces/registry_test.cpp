// Which format a file is, and what loading says about it.
#include "traces/registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/spark_log_text.hpp"
#include "traces/capacity.hpp"

using namespace rehearse;
using testing::TestFolder;

TEST_CASE("formats are told by content, then by name") {
  const TestFolder folder("registry");
  const auto format = [&](std::string_view name, std::string_view text) {
    const auto detected = traces::detect_format(folder.file(name, text));
    return detected ? *detected : detected.error().code;
  };
  CHECK(format("a.log", "{\"r\":\"trace\",\"format\":\"rehearse-trace\"}\n") == "native");
  CHECK(format("b", "\n{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3\"}\n") ==
        "spark-event-log");
  CHECK(format("c", "{\"t\":0,\"e\":\"run\",\"version\":\"1\"}\n") == "journal");
  CHECK(format("d", "// mine\n{ \"rehearse\": 1 }") == "scenario");
  CHECK(format("e", "{\n \"schemaVersion\": \"1.5\", \"workflow\": {} }") == "wfformat");
  CHECK(format("f", "; Version: 2\n; MaxJobs: 3\n") == "swf");
  CHECK(format("g", "M1,1,j_1,1,Terminated,1,2,100,0.2\n") == "alibaba-2018");
  CHECK(format("h.swf", "1 0 5 3 1\n") == "swf");
  CHECK(format("i.rtrace", "rubbish\n") == "native");
  CHECK(format("j", "rubbish\n") == "T001");
  CHECK(format("k", "") == "T001");
  folder.file("d2/eventlog", "{\"Event\":\"x\"}\n");
  CHECK(traces::detect_format(folder.path("d2")) == "spark-event-log");
  CHECK_FALSE(traces::detect_format(folder.path("d3")));
}

TEST_CASE("formats that are not built and things that are no trace are refused by name") {
  const TestFolder folder("registry-refused");
  const std::string swf = folder.file("a.swf", "; Version: 2\n; MaxJobs: 3\n");
  auto trace = traces::load_trace(swf);
  REQUIRE_FALSE(trace);
  CHECK(trace.error().what.find("swf is not built yet") != std::string::npos);
  trace = traces::load_trace(folder.file("s", "{\"rehearse\": 1}"));
  REQUIRE_FALSE(trace);
  CHECK(trace.error().what.find("scenario") != std::string::npos);
  trace = traces::load_trace(swf, {}, "sparc-event-log");
  REQUIRE_FALSE(trace);
  CHECK(trace.error().remedy == "did you mean spark-event-log?");
  CHECK(traces::formats().size() == 10);
  CHECK(std::count_if(traces::formats().begin(), traces::formats().end(),
                      [](const traces::Format& f) { return f.built; }) == 2);
}

TEST_CASE("stages and marked groups that fit nowhere are listed at loading") {
  constexpr std::string_view text =
      R"({"r":"trace","format":"rehearse-trace","version":1,"time_unit":"ns"}
{"r":"profile","id":0,"task":{"cpus":1000}}
{"r":"profile","id":1,"task":{"cpus":1000,"gpu":1000}}
{"r":"executor","id":"e","profile":0,"resources":{"cpus":3000}}
{"r":"job","id":"q","at":0}
{"r":"stage","job":"q","id":"a","tasks":2,"dur":1}
{"r":"stage","job":"q","id":"b","tasks":2,"dur":1,"in":[{"stage":"a","kind":"pipelined"}]}
{"r":"stage","job":"q","id":"c","profile":1,"tasks":1,"dur":1,"in":[{"stage":"b"}]}
{"r":"end"}
)";
  const TestFolder folder("registry-infeasible");
  const auto trace = traces::load_trace(folder.file("t.rtrace", text));
  REQUIRE(trace);
  CHECK(trace->load.infeasible == std::vector<std::string>{"q/c", "group of q/a"});
  CHECK(trace->load.warnings.size() == 2);
}

TEST_CASE("idle capacity: counts for bound executors, a trial for unbound ones") {
  model::NameTable names;
  model::Cluster cluster;
  cluster.resources = {names.intern("cpus"), names.intern("gpu")};
  cluster.profiles = {{names.intern("default"), {1000, 0}}, {names.intern("gpu"), {1000, 1000}}};
  for (const char* name : {"a", "b"}) {
    model::ExecutorSpec executor;
    executor.name = names.intern(name);
    executor.resources = {2000, 1000};
    cluster.executors.push_back(executor);
  }
  const model::ProfileId plain(0U);
  const model::ProfileId gpu(1U);
  const traces::IdleCapacity capacity(cluster, {}, {}, 0);
  CHECK(capacity.slots(plain) == 4);
  CHECK(capacity.slots(gpu) == 2);
  CHECK(capacity.fits({{plain, 4}}));
  CHECK_FALSE(capacity.fits({{plain, 3}, {plain, 2}}));
  CHECK(capacity.fits({{plain, 2}, {gpu, 2}}));
  CHECK_FALSE(capacity.fits({{plain, 3}, {gpu, 2}}));  // each count fits, together they do not
  cluster.executors[0].profile = plain;
  const traces::IdleCapacity bound(cluster, {}, {model::ExecutorEnd{}, {5, {}}}, 5);
  CHECK(bound.slots(plain) == 2);
  CHECK(bound.slots(gpu) == 0);
}
