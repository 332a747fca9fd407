// `trace inspect` against counts made by an independent reader, for every log of the collection
// that is beside the tree. Prints each disagreement.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/stage_graph.hpp"
#include "traces/inspect.hpp"
#include "traces/marking.hpp"
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
      CHECK(summary->version == counts.at("version").get<std::string>());
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

TEST_CASE("marks on every log make groups that can be scheduled, and as much work as expected") {
  if (!std::filesystem::exists(logs)) {
    MESSAGE("skipped: no ../shared");
    return;
  }
  int with_a_fifth = 0;
  const nlohmann::json all = expected();
  for (const auto& [name, counts] : all.items()) {
    CAPTURE(name);
    const auto trace = traces::load_trace((logs / name).string());
    REQUIRE(trace);
    for (const auto too_wide :
         {traces::TooWide::leave, traces::TooWide::reject, traces::TooWide::fit}) {
      traces::ToScenarioOptions options;
      options.by = traces::Unit::sql;
      auto made = traces::to_scenario(*trace, options);
      REQUIRE(made);
      traces::MarkingOptions marks = *traces::parse_pipelined("all");
      marks.too_wide = too_wide;
      const auto report = traces::mark_edges(made->scenario, made->recorded, marks);
      REQUIRE(report);
      std::int64_t left = 0;
      for (const auto& [reason, edges] : report->left) {
        left += reason == "other-unit" || reason == "idiom" ? 0 : edges;
      }
      CHECK(report->candidates == report->marked + left);
      for (const model::JobSpec& job : made->scenario.jobs) {
        const auto graph = model::build_stage_graph(job, {});
        CHECK(graph.cycle.empty());
        CHECK(graph.group_cycle.empty());
        for (const model::EdgeSpec& edge : job.edges) {
          for (const model::StageIndex reader : edge.to) {
            const bool inside = edge.from.valid() &&
                                graph.group_of[edge.from.index()] == graph.group_of[reader.index()];
            CHECK(inside == (edge.kind == model::EdgeKind::pipelined));
          }
        }
      }
      const bool q72 = name.starts_with("spark35_nds_q72");
      if (too_wide == traces::TooWide::fit) {
        with_a_fifth += report->work_in_groups_us * 5 >= report->work_us && report->marked > 0;
        CHECK((!q72 || report->work_in_groups_us * 100 >= report->work_us * 85));
      }
      if (q72 && too_wide == traces::TooWide::leave) {
        CHECK(report->work_in_groups_us * 100 < report->work_us);
        CHECK(report->widest_group_slots == 1419);
        CHECK(report->widest_group_stages == 6);
      }
    }
  }
  CHECK(with_a_fifth >= 12);
}
