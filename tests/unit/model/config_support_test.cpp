// What this version does not execute is refused by name, and nothing else is.
#include "model/config_support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/axes.hpp"

namespace rehearse::model {

namespace {

// Two stages of one task each, a to b.
Scenario scenario_of(Dialect dialect, EdgeKind kind) {
  Scenario scenario;
  scenario.scheduler = preset(dialect);
  JobSpec job;
  job.name = scenario.names.intern("q");
  for (const std::string_view name : {"a", "b"}) {
    StageSpec stage;
    stage.name = scenario.names.intern(name);
    stage.tasks = 1;
    stage.profile = ProfileId{0U};
    job.stages.push_back(stage);
  }
  EdgeSpec edge;
  edge.from = StageIndex{0U};
  edge.to = {StageIndex{1U}};
  edge.kind = kind;
  job.edges.push_back(edge);
  job.result = {StageIndex{1U}};
  scenario.jobs.push_back(job);
  return scenario;
}

void set(Scenario& scenario, std::string_view axis, std::string_view value) {
  const Result<AxisText> text = parse_axis_text(value);
  REQUIRE(text.has_value());
  REQUIRE(set_axis(scenario.scheduler, scenario.names, axis, *text).has_value());
}

std::string refused_at(const Scenario& scenario) {
  const std::optional<Error> error = unsupported(scenario);
  if (!error) {
    return "";
  }
  CHECK(error->what.find("is not built yet") != std::string::npos);
  CHECK_FALSE(error->remedy.empty());
  return error->field;
}

}  // namespace

TEST_CASE("the built presets run") {
  CHECK(refused_at(scenario_of(Dialect::psd, EdgeKind::pipelined)).empty());
  CHECK(refused_at(scenario_of(Dialect::psd, EdgeKind::regular)).empty());
  CHECK(refused_at(scenario_of(Dialect::sequential, EdgeKind::pipelined)).empty());
  Scenario coupled = scenario_of(Dialect::psd, EdgeKind::pipelined);
  coupled.timing = Timing::coupled;
  coupled.ties_shuffled = true;
  coupled.choices = {{"tie@10ms", 1}};
  CHECK(refused_at(coupled).empty());
}

TEST_CASE("every dialect is executed, timings of data flow are refused") {
  for (std::size_t i = 0; i < EnumNames<Dialect>::texts.size(); ++i) {
    CHECK(refused_at(scenario_of(static_cast<Dialect>(i), EdgeKind::pipelined)).empty());
  }
  for (const Timing timing : {Timing::flow, Timing::packet}) {
    Scenario scenario = scenario_of(Dialect::psd, EdgeKind::pipelined);
    scenario.timing = timing;
    CHECK(refused_at(scenario) == "/timing");
  }
}

TEST_CASE("axis values") {
  using Values = std::vector<std::pair<std::string_view, std::string_view>>;
  for (const auto& [axis, value] : Values{{"admission.short", "fail"},
                                          {"admission.overtake", "backfill"},
                                          {"admission.depth", "1"},
                                          {"placement", "pack"},
                                          {"edges", "all-regular"},
                                          {"edges", "all-pipelined"},
                                          {"mixed", "rejected"},
                                          {"output_commit", "at-group-commit"},
                                          {"failure.member", "counted"},
                                          {"failure.executor_loss", "running-only"},
                                          {"failure.executor_loss", "any-member"},
                                          {"failure.max_task_failures", "1"},
                                          {"failure.resubmit_delay", "0s"},
                                          {"completion", "immediate"},
                                          {"completion", "final-stage"},
                                          {"grouping", "job"},
                                          {"accounting", "largest-stage"},
                                          {"accounting", "whole-executor"},
                                          {"admission.hold", "check"},
                                          {"admission.hold", "bulk[timeout=1s]"},
                                          {"admission.short", "retry"},
                                          {"admission.overtake", "easy"},
                                          {"failure.group", "rerun-group[max=1]"},
                                          {"locality_reset", "legacy"},
                                          {"locality_wait", "3s"},  // no stage has preferences
                                          {"outputs_survive_executor", "true"},
                                          {"no_executor_grace", "0s"},
                                          {"pools", "[a[weight=2]]"},
                                          {"slots", "shared[factor=0]"},
                                          {"slots", "shared[factor=1000]"},
                                          {"speculation", "[]"},
                                          {"max_partitions_per_task", "3"},
                                          {"max_partitions_per_task", "unbounded"},
                                          {"reject", "[]"}}) {
    CAPTURE(axis);
    CAPTURE(value);
    Scenario scenario = scenario_of(Dialect::psd, EdgeKind::pipelined);
    set(scenario, axis, value);
    CHECK(refused_at(scenario).empty());
  }
  for (const auto& [axis, value] : Values{{"slots", "shared[factor=1001]"},
                                          {"start", "lazy"},
                                          {"start", "phased"},
                                          {"read_cap", "2"}}) {
    CAPTURE(axis);
    CAPTURE(value);
    Scenario scenario = scenario_of(Dialect::psd, EdgeKind::pipelined);
    set(scenario, axis, value);
    std::string pointer = "/scheduler/" + std::string(axis);
    for (char& c : pointer) {
      c = c == '.' ? '/' : c;
    }
    CHECK(refused_at(scenario) == pointer);
  }
}

TEST_CASE("no copies of slices") {
  for (const auto& [most, refused] : std::vector<std::pair<std::string_view, bool>>{
           {"none", false}, {"1", false}, {"2", true}, {"unbounded", true}}) {
    CAPTURE(most);
    Scenario scenario = scenario_of(Dialect::ballista, EdgeKind::regular);
    set(scenario, "max_partitions_per_task", most);
    CHECK(refused_at(scenario).empty());
    set(scenario, "speculation", "[]");
    CHECK(refused_at(scenario) == (refused ? "/scheduler/max_partitions_per_task" : ""));
  }
}

TEST_CASE("what is shared is reserved at admission") {
  using Values = std::vector<std::pair<std::string_view, std::string_view>>;
  for (const std::string_view accounting : {"largest-stage", "whole-executor"}) {
    for (const auto& [axis, value] : Values{{"admission.hold", "check"},
                                            {"admission.hold", "none"},
                                            {"admission.shortfall", "rejection"},
                                            {"failure.member", "counted"},
                                            {"task_end", "with-release"}}) {
      CAPTURE(value);
      Scenario scenario = scenario_of(Dialect::psd, EdgeKind::pipelined);
      set(scenario, axis, value);
      CHECK(refused_at(scenario).empty());
      set(scenario, "accounting", accounting);
      CHECK(refused_at(scenario) == "/scheduler/accounting");
    }
  }
  Scenario scenario = scenario_of(Dialect::psd, EdgeKind::pipelined);
  set(scenario, "admission.overtake", "easy");
  set(scenario, "accounting", "largest-stage");
  CHECK(refused_at(scenario).empty());
  set(scenario, "accounting", "whole-executor");
  CHECK(refused_at(scenario) == "/scheduler/accounting");
}

TEST_CASE("a bulk request says itself how it waits") {
  using Values = std::vector<std::pair<std::string_view, std::string_view>>;
  for (const auto& [axis, value] : Values{{"admission.short", "fail"},
                                          {"admission.short", "retry"},
                                          {"admission.short", "fall-back"},
                                          {"admission.shortfall", "rejection"},
                                          {"admission.overtake", "easy"}}) {
    CAPTURE(value);
    Scenario scenario = scenario_of(Dialect::psd, EdgeKind::pipelined);
    set(scenario, axis, value);
    CHECK(refused_at(scenario).empty());
    set(scenario, "admission.hold", "bulk[timeout=1s]");
    CHECK(refused_at(scenario) == "/scheduler/admission/hold");
  }
  Scenario scenario = scenario_of(Dialect::flink_region, EdgeKind::pipelined);
  set(scenario, "accounting", "sum");
  set(scenario, "slots", "shared[factor=2]");
  CHECK(refused_at(scenario) == "/scheduler/admission/hold");
  set(scenario, "slots", "exclusive");
  CHECK(refused_at(scenario).empty());
  for (const auto& [axis, value] : Values{{"accounting", "sum"},
                                          {"admission.overtake", "never"},
                                          {"accounting", "largest-stage"}}) {
    set(scenario, axis, value);
    CHECK(refused_at(scenario).empty());
  }
  set(scenario, "accounting", "whole-executor");
  CHECK(refused_at(scenario) == "/scheduler/accounting");
}

TEST_CASE("slots are shared by tasks or by stages of a group, not by both") {
  Scenario scenario = scenario_of(Dialect::ballista_pipelined, EdgeKind::pipelined);
  set(scenario, "slots", "shared[factor=2]");
  CHECK(refused_at(scenario) == "/scheduler/slots");
  set(scenario, "accounting", "sum");
  CHECK(refused_at(scenario).empty());
}

TEST_CASE("phases are an order of launches one by one") {
  Scenario scenario = scenario_of(Dialect::psd, EdgeKind::pipelined);
  set(scenario, "start", "phased");
  set(scenario, "admission.hold", "check");
  CHECK(refused_at(scenario) == "/scheduler/start");
  set(scenario, "admission.hold", "none");
  CHECK(refused_at(scenario).empty());
}

TEST_CASE("autoscaling runs, whatever the jobs") {
  Scenario scaled = scenario_of(Dialect::psd, EdgeKind::pipelined);
  scaled.cluster.autoscale.emplace();
  CHECK(refused_at(scaled).empty());
  set(scaled, "edges", "all-regular");
  CHECK(refused_at(scaled).empty());
}

}  // namespace rehearse::model
