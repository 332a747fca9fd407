// The JSON results against a transcription of the contract: these keys, in this order, of these
// types, and no others.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "reports/writer.hpp"
#include "tests/support/report_comparison.hpp"

namespace {

using namespace rehearse;
using namespace rehearse::reports;
using Json = nlohmann::ordered_json;

// A letter per type: s str, i int, n num, b bool, o object, a array; ? after it: or null.
using Shape = std::vector<std::pair<std::string, std::string>>;

char letter_of(const Json& value) {
  return value.is_string()           ? 's'
         : value.is_boolean()        ? 'b'
         : value.is_number_integer() ? 'i'
         : value.is_number_float()   ? 'n'
         : value.is_object()         ? 'o'
         : value.is_array()          ? 'a'
                                     : '0';
}

void check_shape(const Json& value, const Shape& shape) {
  REQUIRE(value.is_object());
  std::vector<std::string> keys;
  std::vector<std::string> expected;
  for (const auto& [key, part] : value.items()) {
    keys.push_back(key);
  }
  for (const auto& [key, type] : shape) {
    expected.push_back(key);
    REQUIRE_MESSAGE(value.contains(key), key);
    const char seen = letter_of(value[key]);
    const bool fits =
        seen == type[0] || (type[0] == 'n' && seen == 'i') || (seen == '0' && type.ends_with('?'));
    CHECK_MESSAGE(fits, key << " is " << seen << ", not " << type);
  }
  CHECK_EQ(keys, expected);
}

const Shape envelope = {{"command", "s"}, {"version", "s"}, {"complete", "b"}, {"inputs", "a"}};
const Shape input = {{"path", "s"}, {"format", "s"},   {"trace_id", "s?"},
                     {"ok", "b"},   {"warnings", "a"}, {"marking", "o?"}};
const Shape marking = {{"unit", "s"}, {"candidates", "i"}, {"marked", "i"},
                       {"left", "o"}, {"work_share", "n"}, {"narrowed", "o?"}};
const Shape run_head = {{"scenario", "s"}, {"configuration", "s"}, {"dialect", "s"},
                        {"timing", "s"},   {"seed", "i"},          {"journal_hash", "s"},
                        {"end_ns", "i"}};
const Shape run_tail = {
    {"totals", "o"}, {"expectations", "a"}, {"violations", "a"}, {"wall_s", "n"}};
const Shape job = {{"name", "s"},       {"request", "s"},       {"try", "i"},
                   {"outcome", "s"},    {"code", "s?"},         {"submit_ns", "i"},
                   {"start_ns", "i?"},  {"end_ns", "i?"},       {"latency_ns", "i?"},
                   {"queued_ns", "i?"}, {"first_row_ns", "i?"}, {"recorded_latency_ns", "i?"}};
const Shape totals = {{"jobs", "i"},
                      {"requests", "i"},
                      {"stages", "i"},
                      {"tasks", "i"},
                      {"events", "i"},
                      {"slot_busy_ns", "i"},
                      {"slot_reserved_idle_ns", "i"},
                      {"slot_drain_idle_ns", "i"},
                      {"slot_blocked_ns", "i"},
                      {"slot_unusable_ns", "i"},
                      {"slot_idle_ns", "i"},
                      {"slot_time_ns", "i"},
                      {"rejected", "i"},
                      {"failed", "i"},
                      {"cancelled", "i"},
                      {"unfinished", "i"}};
const Shape violation = {{"property", "s"}, {"t", "i"}, {"detail", "s"}};
const Shape recorded = {{"jobs", "i"},          {"stages", "i"},   {"tasks", "i"},
                        {"compared_jobs", "i"}, {"left_out", "a"}, {"reconstruction", "o"},
                        {"prediction", "o"}};
const Shape config = {
    {"name", "s"},        {"cluster", "s"},    {"seeds", "i"},        {"latency", "o"},
    {"queued", "o"},      {"first_row", "o?"}, {"utilization", "n"},  {"reserved_idle", "n"},
    {"makespan_ns", "i"}, {"rejected", "i"},   {"failed", "i"},       {"cancelled", "i"},
    {"unfinished", "i"},  {"totals", "o"},     {"journal_hash", "s"}, {"violations", "a"}};
const Shape dist = {{"p50_ns", "i?"},  {"p90_ns", "i?"}, {"p95_ns", "i?"}, {"p99_ns", "i?"},
                    {"mean_ns", "i?"}, {"max_ns", "i?"}, {"n", "i"},       {"censored", "i"}};
const Shape paired = {{"name", "s"},  {"n", "i"},       {"speedup_median", "n?"},
                      {"ci95", "a?"}, {"faster", "i"},  {"slower", "i"},
                      {"same", "i"},  {"requests", "a"}};
const Shape facts = {{"format", "s"},     {"version", "s"},      {"jobs", "i"},
                     {"stages", "i"},     {"tasks", "i"},        {"executors", "i"},
                     {"unfinished", "i"}, {"failed_tasks", "i"}, {"aliased_stages", "i"},
                     {"edges", "i"},      {"task_ends", "o"},    {"warnings", "a"},
                     {"units", "a"}};

Shape joined(Shape first, const Shape& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Json written(const Document& document, const WriteOptions& options = {}) {
  const std::string text = write_json(document, options).value();
  CHECK(text.ends_with("}\n"));
  CHECK_EQ(text, write_json(document, options).value());
  return Json::parse(text);
}

Input sample_input() {
  Input result;
  result.path = "a.log";
  result.format = "spark-event-log";
  result.warnings = {{3, "odd"}, {std::nullopt, "strange"}};
  result.marking = Marking{.unit = "sql",
                           .candidates = 4,
                           .marked = 3,
                           .left = {{"too-wide", 1}},
                           .work = 8,
                           .work_in_groups = 6,
                           .narrowed = Marking::Narrowed{10, 5},
                           .widest = {}};
  return result;
}

ScenarioRun sample_run() {
  ScenarioRun run;
  run.scenario = "s";
  run.configuration = "psd";
  run.journal_hash = 0xab;
  run.metrics =
      tests::run_of({{"a", 3}, {"b", 4, Outcome::failed}, {"c", 0, Outcome::rejected}}, true);
  run.expectations = {{0, true, "held"}};
  run.violations = {{"GANG", 1, "d"}};
  run.recorded_latency_ns = {3 * model::second};
  return run;
}

TEST_CASE("run") {
  RunDocument document{.envelope = {"run", "0.1.0", true, {sample_input()}},
                       .runs = {sample_run()}};
  const Json json = written(document);
  check_shape(json, joined(envelope, {{"runs", "a"}}));
  check_shape(json["inputs"][0], input);
  check_shape(json["inputs"][0]["marking"], marking);
  CHECK_EQ(json["inputs"][0]["marking"]["work_share"], 0.75);
  check_shape(json["inputs"][0]["marking"]["narrowed"],
              {{"tasks_before", "i"}, {"tasks_after", "i"}});
  check_shape(json["inputs"][0]["warnings"][1], {{"line", "i?"}, {"what", "s"}});
  const Json& run = json["runs"][0];
  check_shape(run, joined(joined(run_head, {{"jobs", "a"}}), run_tail));
  check_shape(run["totals"], totals);
  check_shape(run["violations"][0], violation);
  check_shape(run["expectations"][0], {{"index", "i"}, {"ok", "b"}, {"detail", "s"}});
  CHECK_EQ(run["journal_hash"], "xxh3:00000000000000ab");
  REQUIRE_EQ(run["jobs"].size(), 3);
  for (const Json& row : run["jobs"]) {
    check_shape(row, job);
  }
  CHECK_EQ(run["jobs"][0]["recorded_latency_ns"], 3'000'000'000);
  CHECK(run["jobs"][1]["latency_ns"].is_null());
  CHECK_EQ(run["jobs"][1]["code"], "EXECUTOR_LOST");
  CHECK_EQ(run["jobs"][2]["outcome"], "rejected");
  // Above --max-listed the jobs are counted instead.
  check_shape(written(document, {.listed_max = 2})["runs"][0],
              joined(joined(run_head, {{"jobs_omitted", "i"}}), run_tail));
}

TEST_CASE("replay") {
  ReplayDocument document{
      .envelope = {"replay", "0.1.0", true, {}}, .runs = {sample_run()}, .recorded = {}};
  document.recorded.left_out = {{"j", "not simulated"}};
  document.recorded.prediction.median_ppm = 12'500;
  document.recorded.prediction.p90_ppm = 250'000;
  const Json json = written(document);
  check_shape(json, joined(envelope, {{"runs", "a"}, {"recorded", "o"}}));
  check_shape(json["recorded"], recorded);
  check_shape(json["recorded"]["left_out"][0], {{"job", "s"}, {"why", "s"}});
  check_shape(json["recorded"]["prediction"], {{"median", "n"}, {"p90", "n"}});
  CHECK_EQ(json["recorded"]["prediction"]["median"], 0.0125);
  CHECK(json["recorded"]["reconstruction"]["median"].is_null());
}

TEST_CASE("compare") {
  CompareOptions options;
  options.fail_if = {parse_fail_rule("rejected > 0").value()};
  const CompareDocument document = tests::document_of(tests::comparison_of(
      {{"a", 100}, {"b", 50}}, {{"a", 80}, {"b", 0, Outcome::rejected}}, false, {}, options));
  const Json json = written(document);
  check_shape(json, joined(envelope, {{"finding", "s"},
                                      {"baseline", "s"},
                                      {"percentile_method", "s"},
                                      {"configurations", "a"},
                                      {"paired", "a"},
                                      {"fail_if", "a"}}));
  CHECK_EQ(json["percentile_method"], "nearest-rank");
  check_shape(json["configurations"][1], config);
  check_shape(json["configurations"][1]["latency"], dist);
  check_shape(json["configurations"][1]["totals"], totals);
  check_shape(json["paired"][0], paired);
  CHECK(json["paired"][0]["ci95"].is_null());
  check_shape(json["paired"][0]["requests"][0],
              {{"request", "s"}, {"base_ns", "i"}, {"other_ns", "i"}});
  check_shape(json["fail_if"][0], {{"rule", "s"}, {"tripped", "b"}, {"detail", "s"}});
  CHECK_EQ(json["fail_if"][0]["tripped"], true);
  const Json& slots = json["configurations"][0]["totals"];
  CHECK_EQ(slots["slot_busy_ns"].get<std::int64_t>() + slots["slot_idle_ns"].get<std::int64_t>(),
           slots["slot_time_ns"].get<std::int64_t>());
  CHECK_FALSE(written(document, {.listed_max = 0})["paired"][0].contains("requests"));
}

TEST_CASE("check, list, trace inspect, trace convert") {
  CheckDocument checked{.envelope = {"check", "0.1.0", true, {}},
                        .journal_hash = 1,
                        .properties = {{"GANG", true, Verdict::not_judged}},
                        .violations = {}};
  const Json check = written(checked);
  check_shape(check,
              joined(envelope, {{"journal_hash", "s"}, {"properties", "a"}, {"violations", "a"}}));
  check_shape(check["properties"][0], {{"property", "s"}, {"promised", "b"}, {"verdict", "s"}});
  CHECK_EQ(check["properties"][0]["verdict"], "not judged");

  ListDocument listed{.envelope = {"list", "0.1.0", true, {}},
                      .items = {{"fifo", "first come", std::nullopt, "none"}}};
  check_shape(written(listed)["items"][0],
              {{"name", "s"}, {"what", "s"}, {"default", "s?"}, {"bound", "s?"}});

  TraceWrittenDocument converted{.envelope = {"trace convert", "0.1.0", true, {}},
                                 .trace_id = "xxh3:1",
                                 .jobs = 1,
                                 .stages = 2,
                                 .tasks = 3};
  check_shape(
      written(converted),
      joined(envelope, {{"trace_id", "s"}, {"jobs", "i"}, {"stages", "i"}, {"tasks", "i"}}));
}

TEST_CASE("explore: a violation says how it came about") {
  ExploreDocument document;
  document.envelope = {"explore", "0.1.0", true, {}};
  document.states = 12;
  document.transitions = 30;
  document.paths = {
      {.violation = {"GANG", 4, "half a group (A2)"},
       .faults = 1,
       .steps = {{"q is submitted", {"job_submitted q"}}, {"FAULT: e0 is lost", {}}}}};
  const Json json = written(document);
  check_shape(json, joined(envelope, {{"states", "i"}, {"transitions", "i"}, {"violations", "a"}}));
  check_shape(json["violations"][0], {{"property", "s"}, {"t", "i"}, {"detail", "s"}});
  CHECK(json["violations"][0]["detail"] ==
        "half a group (A2); after: q is submitted, FAULT: e0 is lost");
}

TEST_CASE("trace inspect: one input beside the envelope, several inside their inputs") {
  TraceFacts one;
  one.format = "spark-event-log";
  one.version = "3.5.1";
  one.task_ends = {{"Success", 5}};
  one.units = {{"q72", 6, 1419}};
  InspectDocument document{.envelope = {"trace inspect", "0.1.0", true, {sample_input()}},
                           .facts = {one}};
  const Json json = written(document);
  Shape top = envelope;
  for (const auto& key : facts) {
    if (key.first != "version") {
      top.push_back(key);
    }
  }
  check_shape(json, top);
  CHECK_EQ(json["version"], "0.1.0");
  CHECK_EQ(json["inputs"][0]["version"], "3.5.1");
  CHECK_EQ(json["units"][0]["slots_as_group"], 1419);
  document.envelope.inputs.push_back(sample_input());
  document.facts.push_back(one);
  const Json two = written(document);
  check_shape(two, envelope);
  CHECK_EQ(two["inputs"][1]["units"][0]["name"], "q72");
  for (const auto& [key, type] : facts) {
    CHECK_MESSAGE(two["inputs"][1].contains(key), key);
  }
}

TEST_CASE("text that is no UTF-8 does not stop the document") {
  CompareDocument document =
      tests::document_of(tests::comparison_of({{"a\xff", 100}}, {{"a\xff", 80}}));
  CHECK(written(document)["paired"][0]["requests"][0]["request"].is_string());
}

}  // namespace
