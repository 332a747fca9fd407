// `trace inspect` against counts made by an independent reader, for every log of the collection
// that is beside the tree. Prints each disagreement.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "traces/inspect.hpp"
#include "traces/native.hpp"
#include "traces/registry.hpp"

using namespace rehearse;

namespace {

const std::filesystem::path logs = "../shared/data/spark";

nlohmann::json expected() {
  std::ifstream file(logs / "EXPECTED.json");
  return nlohmann::json::parse(file);
}

std::int64_t executors_of(const nlohmann::json& counts) {
  std::int64_t executors = 0;
  for (const auto& registrations : counts.at("executors_added")) {
    executors += static_cast<std::int64_t>(registrations.size());
  }
  return executors;
}

}  // namespace

TEST_CASE("inspect agrees with the counts of an independent reader") {
  if (!std::filesystem::exists(logs)) {
    MESSAGE("skipped: no ../shared");
    return;
  }
  int read = 0;
  const nlohmann::json all = expected();
  for (const auto& [name, counts] : all.items()) {
    CAPTURE(name);
    const auto trace = traces::load_trace((logs / name).string());
    if (!trace) {
      FAIL_CHECK(model::to_string(trace.error()));
      continue;
    }
    const auto summary = traces::inspect(*trace);
    REQUIRE(summary);
    ++read;
    CHECK(summary->jobs == counts.at("jobs"));
    CHECK(summary->stages == counts.at("stage_attempts_submitted"));
    CHECK(summary->tasks == counts.at("task_ends"));
    CHECK(summary->task_ends ==
          counts.at("task_end_reasons").get<std::map<std::string, std::int64_t>>());
    CHECK(summary->executors == executors_of(counts));
    CHECK(summary->aliased_stages == counts.at("skipped_aliased"));
    CHECK(trace->counts.never_run ==
          static_cast<std::int64_t>(counts.at("skipped_unresolved").size()));
    CHECK(summary->edges == counts.at("edges_after_alias"));
    CHECK(summary->unfinished == static_cast<std::int64_t>(counts.at("jobs_without_end").size()));
    CHECK(trace->load.lines == counts.at("lines"));
    if (!counts.at("version").is_null()) {
      CHECK(summary->version == counts.at("version"));
    }
    std::int64_t written = 0;
    std::int64_t bytes_read = 0;
    for (const model::TraceJob& job : trace->jobs) {
      for (const model::RecordedStage& stage : job.recorded.stages) {
        written += stage.written_bytes;
        bytes_read += stage.read_bytes;
      }
    }
    if (trace->load.warnings.empty()) {  // nothing was lost
      CHECK(written == counts.at("shuffle_bytes_written"));
      CHECK(bytes_read == counts.at("shuffle_bytes_read"));
    }
  }
  CHECK(read == 49);
}

TEST_CASE("every log survives conversion: native, read again, the same trace") {
  if (!std::filesystem::exists(logs)) {
    MESSAGE("skipped: no ../shared");
    return;
  }
  const auto path = std::filesystem::temp_directory_path() / "rehearse-converted.rtrace.zst";
  const nlohmann::json all = expected();
  for (const auto& [name, counts] : all.items()) {
    CAPTURE(name);
    const auto trace = traces::load_trace((logs / name).string());
    REQUIRE(trace);
    REQUIRE(traces::save_native(*trace, path.string()));
    const auto again = traces::load_trace(path.string());
    if (!again) {
      FAIL_CHECK(model::to_string(again.error()));
      continue;
    }
    CHECK(traces::trace_id(*again) == traces::trace_id(*trace));
    CHECK(again->jobs.size() == trace->jobs.size());
    const auto units = traces::inspect(*trace)->units;
    const auto units_again = traces::inspect(*again)->units;
    REQUIRE(units.size() == units_again.size());
    for (std::size_t i = 0; i < units.size(); ++i) {
      CHECK(units[i].name == units_again[i].name);
      CHECK(units[i].slots_as_group == units_again[i].slots_as_group);
    }
  }
  std::filesystem::remove(path);
}
