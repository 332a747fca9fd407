// The native format: what is written reads back as the same, and what is wrong is named.
#include "traces/native.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "tests/support/spark_log_text.hpp"
#include "traces/spark_event_log.hpp"

using namespace rehearse;
using testing::TestFolder;

namespace {

constexpr std::string_view head =
    R"({"r":"trace","format":"rehearse-trace","version":1,"minor":0,"time_unit":"ns"})"
    "\n";

// Every kind of record and every key, with some of them left out.
std::string sample_text() {
  std::ifstream file("tests/unit/traces/data/sample.rtrace", std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

model::Result<model::Trace> read(std::string_view text, const traces::LoadOptions& options = {}) {
  const TestFolder folder("native");
  return traces::read_native(folder.file("t.rtrace", text), options);
}

std::string written(const model::Trace& trace) {
  std::string text;
  traces::write_native(trace, [&](std::string_view piece) { text += piece; });
  return text;
}

// "code line field" of the error of a file with these lines behind a good head.
std::string wrong(std::string_view lines) {
  const auto trace = read(std::string(head) + std::string(lines));
  if (trace) {
    return "loads";
  }
  const model::Error& error = trace.error();
  CHECK_FALSE(error.what.empty());
  return error.code + " " + std::to_string(error.line) + " " + error.field;
}

}  // namespace

TEST_CASE("every record of the format is read") {
  const auto trace = read(sample_text());
  if (!trace) {
    FAIL(model::to_string(trace.error()));
  }
  CHECK(trace->origin == "hand");
  REQUIRE(trace->cluster.executors.size() == 3);
  CHECK(trace->names.text(trace->cluster.executors[0].rack) == "r1");
  CHECK(trace->cluster.executors[0].resources == model::ResourceVector{4000, 0});
  CHECK(trace->cluster.executors[1].resources == model::ResourceVector{8000, 1000});
  CHECK(trace->cluster.executors[1].speed_milli == 1500);
  CHECK(trace->executor_ends[1].leaves == 9000);
  CHECK(trace->executor_ends[1].cause == model::LossCause::host);
  CHECK_FALSE(trace->cluster.executors[2].profile.valid());
  REQUIRE(trace->jobs.size() == 2);
  const model::TraceJob& q = trace->jobs[0];
  CHECK(q.spec.priority == 3);
  CHECK(q.recorded.outcome == model::RecordedOutcome::failed);
  CHECK(q.recorded.stages[0].written_bytes == 60);
  CHECK(q.recorded.stages[0].attempts == 2);
  CHECK(q.recorded.stages[0].parts.rest_us == std::vector<std::uint32_t>{4, 4, 4});
  CHECK(std::get<std::vector<model::Duration>>(q.spec.stages[1].duration) ==
        std::vector<model::Duration>{4, 4});
  CHECK(q.spec.stages[1].barrier);
  CHECK(q.spec.edges[0].kind == model::EdgeKind::pipelined);
  CHECK(q.spec.edges[0].bytes == 3);
  CHECK(q.spec.result == std::vector<model::StageIndex>{model::StageIndex(1U)});
  const model::TraceJob& p = trace->jobs[1];
  CHECK(p.spec.after[0].delay == 50);
  CHECK(p.spec.edges[0].bytes == 77);
  CHECK(trace->names.text(p.spec.edges[0].from_stage) == "map");
  CHECK(std::get<model::Distribution>(p.spec.stages[1].duration).cap_ns == 5000);
  CHECK(p.recorded.outcome == model::RecordedOutcome::unfinished);
  CHECK(trace->recorded_faults.timed.size() == 1);
  CHECK(trace->recorded_faults.tasks[0].fetch_fails);
}

TEST_CASE("the writer is canonical: what it writes reads back as the same bytes") {
  const auto trace = read(sample_text());
  REQUIRE(trace);
  const std::string once = written(*trace);
  const auto again = read(once);
  REQUIRE(again);
  CHECK(written(*again) == once);
  CHECK(again->jobs == trace->jobs);
  CHECK(again->executor_ends == trace->executor_ends);
  CHECK(again->recorded_faults == trace->recorded_faults);
  CHECK(traces::trace_id(*again) == traces::trace_id(*trace));
  CHECK(traces::trace_id(*trace).starts_with("xxh3:"));
}

TEST_CASE("a log converted, packed and unpacked is the same trace") {
  testing::SparkLogText log;
  const testing::StageText stage{
      .id = 0, .tasks = 2, .rdds = {1}, .name = "map \\\"at\\\" \\u0001"};
  log.start().executor("1", 2).job(0, 5, {stage}).whole_stage(stage, 7, 20).job_end(0, 21).end(30);
  const TestFolder folder("native-packed");
  const auto spark = traces::read_spark_event_log(folder.file("log", log.text()));
  REQUIRE(spark);
  REQUIRE(traces::save_native(*spark, folder.path("a.rtrace")));
  REQUIRE(traces::save_native(*spark, folder.path("b.rtrace.zst")));
  const auto plain = traces::read_native(folder.path("a.rtrace"));
  const auto packed = traces::read_native(folder.path("b.rtrace.zst"));
  REQUIRE(plain);
  REQUIRE(packed);
  CHECK(traces::trace_id(*plain) == traces::trace_id(*spark));
  CHECK(traces::trace_id(*packed) == traces::trace_id(*spark));
  CHECK(plain->jobs == packed->jobs);
  CHECK_FALSE(traces::save_native(*spark, folder.path("c.rtrace.gz")));
  CHECK_FALSE(traces::save_native(*spark, folder.path("none/c.rtrace")));
}

TEST_CASE("files that are none") {
  CHECK(read("").error().code == "T001");
  CHECK(read("{\"r\":\"job\",\"id\":\"q\",\"at\":0}\n").error().code == "T001");
  CHECK(read("[1,2]\n").error().code == "T001");
  CHECK(read("hello\n").error().code == "T005");
  CHECK(read(R"({"r":"trace","format":"other","version":1,"time_unit":"ns"})").error().code ==
        "T001");
  CHECK(read(R"({"r":"trace","format":"rehearse-trace","version":2,"time_unit":"ns"})")
            .error()
            .code == "T009");
  CHECK(read(R"({"r":"trace","format":"rehearse-trace","version":1,"minor":1,"time_unit":"ns"})")
            .error()
            .code == "T009");
  CHECK(read(R"({"r":"trace","format":"rehearse-trace","version":1,"time_unit":"us"})")
            .error()
            .code == "T009");
}

TEST_CASE("what is wrong is named by code, line and key") {
  constexpr std::string_view job = "{\"r\":\"job\",\"id\":\"q\",\"at\":5}\n";
  const auto with_job = [&](std::string_view line) {
    return wrong(std::string(job) + std::string(line));
  };
  CHECK(wrong("{\"r\":\"jbo\"}\n") == "T011 2 r");
  CHECK(wrong("{\"r\":\"x_mine\",\"a\":1}\n{\"r\":\"end\"}\n") == "loads");
  CHECK(wrong("{\"r\":\"job\",\"id\":\"q\",\"at\":5,\"pipelind\":1}\n") == "T011 2 pipelind");
  CHECK(wrong("{\"r\":\"job\",\"id\":\"q\",\"at\":5,\"at\":6}\n") == "T011 2 at");
  CHECK(wrong("{\"r\":\"job\",\"id\":\"q/r\",\"at\":5}\n") == "T006 2 id");
  CHECK(wrong("{\"r\":\"job\",\"id\":\"q\"}\n") == "T006 2 at");
  CHECK(wrong("{\"r\":\"job\",\"id\":\"q\",\"at\":\"5\"}\n") == "T006 2 at");
  CHECK(wrong("{\"r\":\"job\",\"id\":\"q\",\"at\":0.5}\n") == "T006 2 at");
  CHECK(wrong("{\"r\":\"job\",\"id\":\"q\",\"at\":-1}\n") == "T010 2 at");
  CHECK(wrong("{\"r\":\"job\",\"id\":\"q\",\"at\":99999999999999999999}\n") == "T006 2 at");
  CHECK(wrong("{\"r\":\"job\",\"id\":\"q\",\"at\":4000000000000000000}\n") == "T010 2 at");
  CHECK(wrong("{\"r\":\"job\",\"id\":\"q\",\"at\":5}{}\n") == "T005 2 ");
  CHECK(wrong("{\"r\":\"executor\",\"id\":\"e\"}\n") == "T006 2 resources");
  CHECK(wrong("{\"r\":\"executor\",\"id\":\"e\",\"profile\":4}\n") == "T011 2 profile");
  CHECK(with_job("{\"r\":\"job\",\"id\":\"p\",\"at\":4}\n") == "T011 3 at");
  CHECK(with_job("{\"r\":\"job\",\"id\":\"q\",\"at\":9}\n") == "T007 3 id");
  CHECK(with_job("{\"r\":\"job\",\"id\":\"p\",\"at\":9}\n") == "T011 3 job");  // q has no stage
  CHECK(with_job("{\"r\":\"stage\",\"job\":\"z\",\"id\":\"m\",\"tasks\":1,\"dur\":1}\n") ==
        "T011 3 job");
  CHECK(with_job("{\"r\":\"stage\",\"job\":\"q\",\"id\":\"m\",\"tasks\":2,\"dur\":[1]}\n") ==
        "T011 3 dur");
  CHECK(with_job("{\"r\":\"stage\",\"job\":\"q\",\"id\":\"m\",\"tasks\":1,\"dur\":[1],"
                 "\"in\":[{\"stage\":\"m\"}]}\n") == "T008 3 in");
  CHECK(with_job("{\"r\":\"stage\",\"job\":\"q\",\"id\":\"m\",\"tasks\":1,\"dur\":[1],"
                 "\"in\":[{\"stage\":\"n\"}]}\n") == "T011 3 in");
  CHECK(with_job("{\"r\":\"stage\",\"job\":\"q\",\"id\":\"m\",\"tasks\":1,\"dur\":[1],"
                 "\"in\":[{\"stage\":\"q/m\"}]}\n") == "T011 3 in");
  CHECK(with_job("{\"r\":\"stage\",\"job\":\"q\",\"id\":\"m\",\"tasks\":1,\"dur\":[-1]}\n") ==
        "T010 3 dur");
  CHECK(with_job("{\"r\":\"stage\",\"job\":\"q\",\"id\":\"m\",\"tasks\":1,"
                 "\"dur\":{\"dist\":\"pareto\",\"base\":1,\"shape_e9\":0}}\n") == "T010 3 dur");
  CHECK(with_job("{\"r\":\"observe\",\"job\":\"q\",\"result\":\"ok\"}\n") == "T006 3 result");
  CHECK(with_job("{\"r\":\"fault\",\"kind\":\"executor_lost\",\"executor\":\"e\",\"at\":1}\n") ==
        "T011 3 executor");
}

TEST_CASE("the end record makes a cut certain") {
  std::string text = sample_text();
  text.resize(text.find("{\"r\":\"end\""));
  auto trace = read(text);
  REQUIRE_FALSE(trace);
  CHECK(trace.error().code == "T011");
  CHECK(trace.error().remedy.find("--partial") != std::string::npos);
  traces::LoadOptions partial;
  partial.partial = true;
  trace = read(text, partial);
  REQUIRE(trace);
  CHECK(trace->partial);
  CHECK(trace->jobs.size() == 2);
  trace = read(text + "{\"r\":\"job\",\"id\"", partial);
  REQUIRE(trace);
  CHECK(trace->jobs.size() == 2);

  std::string fewer = sample_text();
  const std::size_t at = fewer.find("{\"r\":\"fault\",\"at\"");
  fewer.erase(at, fewer.find('\n', at) + 1 - at);
  CHECK(read(fewer).error().field == "records");
  CHECK(read(sample_text() + "{\"r\":\"end\"}\n").error().code == "T011");
}

TEST_CASE("mutations of a good trace load or are refused with a place, and nothing escapes") {
  std::uint64_t state = 7;
  const auto next = [&](std::size_t below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::size_t>(state >> 33U) % below;
  };
  constexpr std::string_view letters = "{}[]\",:0-9axr\\ \n";
  int refused = 0;
  const std::string good = sample_text();
  for (int i = 0; i < 400; ++i) {
    std::string text = good;
    for (std::size_t k = 0; k <= next(3); ++k) {
      const std::size_t at = next(text.size());
      switch (next(3)) {
        case 0:
          text[at] = letters[next(letters.size())];
          break;
        case 1:
          text.erase(at, 1 + next(20));
          break;
        default:
          text.insert(at, 1, letters[next(letters.size())]);
          break;
      }
    }
    const auto trace = read(text);
    if (!trace) {
      ++refused;
      CHECK((trace.error().line > 0 || !trace.error().code.empty()));
      CHECK(model::to_string(trace.error()).size() < 1000);
    } else {
      CHECK(read(written(*trace)));
    }
  }
  CHECK(refused > 200);
}
