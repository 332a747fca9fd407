// Reading traces: megabytes of text per second, from a file in memory. The event log of Spark is
// made here, with the keys that a reader needs and one of the long ones that it must skip; the
// native trace is what that log becomes.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "tests/support/spark_log_text.hpp"
#include "traces/native.hpp"
#include "traces/spark_event_log.hpp"

namespace {

namespace model = rehearse::model;
namespace testing = rehearse::testing;
namespace traces = rehearse::traces;

// Jobs of two stages, 50 tasks each.
std::string spark_log(int jobs) {
  testing::SparkLogText log;
  log.start();
  log.executor("1", 100);
  for (int job = 0; job < jobs; ++job) {
    const int first = 2 * job;
    const std::vector<testing::StageText> stages{
        {.id = first, .tasks = 50, .rdds = {first}, .name = std::string(2000, 'x')},
        {.id = first + 1, .tasks = 50, .rdds = {first + 1}, .parents = {first}}};
    const std::int64_t at = 10 * job;
    log.job(job, at, stages);
    log.whole_stage(stages[0], at + 1, at + 4);
    log.whole_stage(stages[1], at + 5, at + 8, "ResultTask");
    log.job_end(job, at + 9);
  }
  log.end(10 * jobs);
  return log.text();
}

template <class Read>
void read_again_and_again(benchmark::State& state, const std::string& path, Read read) {
  for (auto unused : state) {
    const auto trace = read(path);
    if (!trace) {
      state.SkipWithError(trace.error().what.c_str());
      return;
    }
  }
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  state.SetBytesProcessed(state.iterations() * bytes);
}

void BM_spark_event_log(benchmark::State& state) {
  const testing::TestFolder folder("trace-bench");
  const std::string path = folder.file("app", spark_log(static_cast<int>(state.range(0))));
  read_again_and_again(state, path,
                       [](const std::string& name) { return traces::read_spark_event_log(name); });
}
BENCHMARK(BM_spark_event_log)->Arg(200);

void BM_native(benchmark::State& state) {
  const testing::TestFolder folder("trace-bench");
  const auto trace =
      traces::read_spark_event_log(folder.file("app", spark_log(static_cast<int>(state.range(0)))));
  if (!trace || !traces::save_native(*trace, folder.path("app.rtrace"))) {
    state.SkipWithError("the trace cannot be made");
    return;
  }
  read_again_and_again(state, folder.path("app.rtrace"),
                       [](const std::string& name) { return traces::read_native(name); });
}
BENCHMARK(BM_native)->Arg(200);

}  // namespace
