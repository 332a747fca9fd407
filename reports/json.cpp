// registry: json
//
// The JSON results of the contract (cli.md): these keys, in this order, of these types. Bytes are
// deterministic: keys keep their order, integers are exact, decimals are the shortest that read
// back as the same number, text that is not UTF-8 is replaced.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/support/check.hpp"
#include "reports/numbers.hpp"
#include "reports/writer.hpp"

namespace rehearse::reports {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json count_map(const std::vector<std::pair<std::string, std::int64_t>>& counts) {
  Json json = Json::object();
  for (const auto& [key, count] : counts) {
    json[key] = count;
  }
  return json;
}

double share(Wide part, Wide whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

// ---- parts ----

Json warnings_json(const std::vector<InputWarning>& warnings) {
  Json json = Json::array();
  for (const InputWarning& warning : warnings) {
    json.push_back({{"line", or_null(warning.line)}, {"what", warning.what}});
  }
  return json;
}

Json marking_json(const std::optional<Marking>& marking) {
  if (!marking) {
    return nullptr;
  }
  Json narrowed = nullptr;
  if (marking->narrowed) {
    narrowed = {{"tasks_before", marking->narrowed->tasks_before},
                {"tasks_after", marking->narrowed->tasks_after}};
  }
  return {{"unit", marking->unit},
          {"candidates", marking->candidates},
          {"marked", marking->marked},
          {"left", count_map(marking->left)},
          {"work_share", share(marking->work_in_groups, marking->work)},
          {"narrowed", std::move(narrowed)}};
}

Json input_json(const Input& input) {
  return {{"path", input.path},
          {"format", input.format},
          {"trace_id", or_null(input.trace_id)},
          {"ok", input.ok},
          {"warnings", warnings_json(input.warnings)},
          {"marking", marking_json(input.marking)}};
}

Json envelope_json(const Envelope& envelope) {
  Json inputs = Json::array();
  for (const Input& input : envelope.inputs) {
    inputs.push_back(input_json(input));
  }
  return {{"command", envelope.command},
          {"version", envelope.version},
          {"complete", envelope.complete},
          {"inputs", std::move(inputs)}};
}

Json violations_json(const std::vector<model::Violation>& violations) {
  Json json = Json::array();
  for (const model::Violation& violation : violations) {
    json.push_back(
        {{"property", violation.property}, {"t", violation.t}, {"detail", violation.detail}});
  }
  return json;
}

Json totals_json(const Totals& totals) {
  return {{"jobs", totals.jobs},
          {"requests", totals.requests},
          {"stages", totals.stages},
          {"tasks", totals.tasks},
          {"events", totals.events},
          {"slot_busy_ns", saturated(totals.use(SlotUse::busy))},
          {"slot_reserved_idle_ns", saturated(totals.use(SlotUse::reserved_idle))},
          {"slot_drain_idle_ns", saturated(totals.use(SlotUse::drain_idle))},
          {"slot_blocked_ns", saturated(totals.use(SlotUse::blocked))},
          {"slot_unusable_ns", saturated(totals.use(SlotUse::unusable))},
          {"slot_idle_ns", saturated(totals.use(SlotUse::idle))},
          {"slot_time_ns", saturated(totals.slot_time)},
          {"rejected", totals.rejected},
          {"failed", totals.failed},
          {"cancelled", totals.cancelled},
          {"unfinished", totals.unfinished}};
}

Json code_json(const std::optional<model::Code>& code) {
  return code ? Json(model::name_of(*code)) : Json(nullptr);
}

// ---- run and replay ----

Json job_json(const JobMetrics& job, std::optional<model::Duration> recorded) {
  return {{"name", job.name},
          {"request", job.request},
          {"try", job.try_number},
          {"outcome", name_of(job.outcome)},
          {"code", code_json(job.code)},
          {"submit_ns", job.submit_ns},
          {"start_ns", or_null(job.start_ns)},
          {"end_ns", or_null(job.end_ns)},
          {"latency_ns", or_null(job.latency_ns())},
          {"queued_ns", or_null(job.queued_ns())},
          {"first_row_ns", or_null(job.first_row_ns)},
          {"recorded_latency_ns", or_null(recorded)}};
}

Json run_json(const ScenarioRun& run, const WriteOptions& options) {
  const RunMetrics& metrics = run.metrics;
  Json json = {{"scenario", run.scenario},   {"configuration", run.configuration},
               {"dialect", metrics.dialect}, {"timing", model::name_of(metrics.timing)},
               {"seed", metrics.seed},       {"journal_hash", hash_text(run.journal_hash)},
               {"end_ns", metrics.end_ns}};
  if (std::ssize(metrics.jobs) > options.listed_max) {
    json["jobs_omitted"] = metrics.jobs.size();
  } else {
    Json jobs = Json::array();
    for (std::size_t i = 0; i < metrics.jobs.size(); ++i) {
      jobs.push_back(job_json(metrics.jobs[i], i < run.recorded_latency_ns.size()
                                                   ? run.recorded_latency_ns[i]
                                                   : std::nullopt));
    }
    json["jobs"] = std::move(jobs);
  }
  json["totals"] = totals_json(metrics.totals);
  Json expectations = Json::array();
  for (const model::ExpectationResult& result : run.expectations) {
    expectations.push_back({{"index", result.index}, {"ok", result.ok}, {"detail", result.detail}});
  }
  json["expectations"] = std::move(expectations);
  json["violations"] = violations_json(run.violations);
  json["wall_s"] = run.wall_s;
  return json;
}

Json runs_json(const std::vector<ScenarioRun>& runs, const WriteOptions& options) {
  Json json = Json::array();
  for (const ScenarioRun& run : runs) {
    json.push_back(run_json(run, options));
  }
  return json;
}

Json error_json(const ReplayError& error) {
  const auto fraction = [](const std::optional<std::int64_t>& ppm) {
    return ppm ? Json(static_cast<double>(*ppm) / 1e6) : Json(nullptr);
  };
  return {{"median", fraction(error.median_ppm)}, {"p90", fraction(error.p90_ppm)}};
}

Json recorded_json(const Recorded& recorded) {
  Json omitted = Json::array();
  for (const LeftOut& entry : recorded.left_out) {
    omitted.push_back({{"job", entry.job}, {"why", entry.why}});
  }
  return {{"jobs", recorded.jobs},
          {"stages", recorded.stages},
          {"tasks", recorded.tasks},
          {"compared_jobs", recorded.compared_jobs},
          {"left_out", std::move(omitted)},
          {"reconstruction", error_json(recorded.reconstruction)},
          {"prediction", error_json(recorded.prediction)}};
}

// ---- compare ----

Json dist_json(const Dist& dist) {
  return {{"p50_ns", or_null(dist.p50_ns)},
          {"p90_ns", or_null(dist.p90_ns)},
          {"p95_ns", or_null(dist.p95_ns)},
          {"p99_ns", or_null(dist.p99_ns)},
          {"mean_ns", or_null(dist.mean_ns)},
          {"max_ns", or_null(dist.max_ns)},
          {"n", dist.n},
          {"censored", dist.censored}};
}

Json configuration_json(const Configuration& configuration) {
  return {
      {"name", configuration.name},
      {"cluster", configuration.cluster},
      {"seeds", configuration.seeds},
      {"latency", dist_json(configuration.latency)},
      {"queued", dist_json(configuration.queued)},
      {"first_row", configuration.first_row ? dist_json(*configuration.first_row) : Json(nullptr)},
      {"utilization", utilization(configuration.totals)},
      {"reserved_idle", reserved_idle(configuration.totals)},
      {"makespan_ns", configuration.makespan_ns},
      {"rejected", configuration.rejected},
      {"failed", configuration.failed},
      {"cancelled", configuration.cancelled},
      {"unfinished", configuration.unfinished},
      {"totals", totals_json(configuration.totals)},
      {"journal_hash", hash_text(configuration.journal_hash)},
      {"violations", violations_json(configuration.violations)}};
}

Json paired_json(const Paired& paired, const WriteOptions& options) {
  Json json = {{"name", paired.name},
               {"n", paired.requests.size()},
               {"speedup_median", or_null(paired.speedup_median)},
               {"ci95", nullptr},
               {"faster", paired.faster},
               {"slower", paired.slower},
               {"same", paired.same}};
  if (std::ssize(paired.requests) <= options.listed_max) {
    Json requests = Json::array();
    for (const PairedRequest& pair : paired.requests) {
      requests.push_back(
          {{"request", pair.request}, {"base_ns", pair.base_ns}, {"other_ns", pair.other_ns}});
    }
    json["requests"] = std::move(requests);
  }
  return json;
}

void add_compare(Json& json, const Comparison& comparison, const WriteOptions& options) {
  json["finding"] = comparison.finding.text();
  json["baseline"] = comparison.baseline;
  json["percentile_method"] = "nearest-rank";
  json["configurations"] = Json::array();
  for (const Configuration& configuration : comparison.configurations) {
    json["configurations"].push_back(configuration_json(configuration));
  }
  json["paired"] = Json::array();
  for (const Paired& paired : comparison.paired) {
    json["paired"].push_back(paired_json(paired, options));
  }
  json["fail_if"] = Json::array();
  for (const FailResult& result : comparison.fail_if) {
    json["fail_if"].push_back(
        {{"rule", result.rule}, {"tripped", result.tripped}, {"detail", result.detail}});
  }
}

// ---- the other documents ----

std::string_view verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::held:
      return "held";
    case Verdict::violated:
      return "violated";
    case Verdict::not_judged:
      return "not judged";
  }
  return "";
}

void add_check(Json& json, const CheckDocument& document) {
  json["journal_hash"] = hash_text(document.journal_hash);
  json["properties"] = Json::array();
  for (const CheckedProperty& property : document.properties) {
    json["properties"].push_back({{"property", property.property},
                                  {"promised", property.promised},
                                  {"verdict", verdict_text(property.verdict)}});
  }
  json["violations"] = violations_json(document.violations);
}

// A violation's detail says how it came about.
void add_explore(Json& json, const ExploreDocument& document) {
  json["states"] = document.states;
  json["transitions"] = document.transitions;
  std::vector<model::Violation> violations;
  for (const ExploredPath& path : document.paths) {
    model::Violation& violation = violations.emplace_back(path.violation);
    std::string_view separator = "; after: ";
    for (const ExploredPath::Step& step : path.steps) {
      violation.detail += separator;
      violation.detail += step.what;
      separator = ", ";
    }
  }
  json["violations"] = violations_json(violations);
}

void add_list(Json& json, const ListDocument& document) {
  json["items"] = Json::array();
  for (const ListItem& item : document.items) {
    json["items"].push_back({{"name", item.name},
                             {"what", item.what},
                             {"default", or_null(item.default_value)},
                             {"bound", or_null(item.bound)}});
  }
}

void add_fuzz(Json& json, const FuzzDocument& document) {
  json["runs"] = document.runs;
  json["runs_per_s"] = document.runs_per_s;
  json["seed"] = document.seed;
  json["coverage"] = {{"patterns", document.patterns}, {"states", document.states}};
  json["marks_missed"] = document.marks_missed;
  json["counterexamples"] = Json::array();
  for (const Counterexample& found : document.counterexamples) {
    json["counterexamples"].push_back({{"property", found.property},
                                       {"scenario", found.scenario},
                                       {"seed", found.seed},
                                       {"original_size", found.original.sum()},
                                       {"shrunk_size", found.shrunk.sum()},
                                       {"shrink_steps", found.shrink_steps}});
  }
}

Json shrunk_json(const ShrunkFind& shrunk) {
  return {{"scenario", shrunk.scenario},  {"jobs", shrunk.size.jobs},
          {"stages", shrunk.size.stages}, {"faults", shrunk.size.faults},
          {"tasks", shrunk.size.tasks},   {"executors", shrunk.size.executors},
          {"replays", shrunk.replays}};
}

void add_mutants(Json& json, const MutantsDocument& document) {
  json["mutants"] = Json::array();
  for (const MutantResult& mutant : document.mutants) {
    Json one = {{"id", mutant.id},
                {"what", mutant.what},
                {"killed", mutant.killed},
                {"by", or_null(mutant.by)},
                {"after_runs", or_null(mutant.after_runs)}};
    if (document.shrinks) {
      one["shrunk"] = mutant.shrunk ? shrunk_json(*mutant.shrunk) : Json();
    }
    json["mutants"].push_back(std::move(one));
  }
  json["killed"] = document.killed();
  json["total"] = document.mutants.size();
}

// Some keys stand in an Input already (format, warnings): there they are the same thing.
void add_facts(Json& json, const TraceFacts& facts) {
  json["format"] = facts.format;
  json["version"] = facts.version;
  json["jobs"] = facts.jobs;
  json["stages"] = facts.stages;
  json["tasks"] = facts.tasks;
  json["executors"] = facts.executors;
  json["unfinished"] = facts.unfinished;
  json["failed_tasks"] = facts.failed_tasks;
  json["aliased_stages"] = facts.aliased_stages;
  json["edges"] = facts.edges;
  json["task_ends"] = count_map(facts.task_ends);
  json["warnings"] = warnings_json(facts.warnings);
  json["units"] = Json::array();
  for (const UnitWidth& unit : facts.units) {
    json["units"].push_back(
        {{"name", unit.name}, {"stages", unit.stages}, {"slots_as_group", unit.slots_as_group}});
  }
}

// With one input the keys stand beside the document's own `version`, which is the program's; the
// trace's stands in the Input then, where it stands with several inputs.
void add_inspect(Json& json, const InspectDocument& document) {
  RH_CHECK(document.facts.size() == document.envelope.inputs.size() || document.facts.size() == 1);
  if (document.facts.size() == 1) {
    const Json version = json["version"];
    add_facts(json, document.facts.front());
    json["version"] = version;
    if (!json["inputs"].empty()) {
      json["inputs"][0]["version"] = document.facts.front().version;
    }
    return;
  }
  for (std::size_t i = 0; i < document.facts.size(); ++i) {
    add_facts(json["inputs"][i], document.facts[i]);
  }
}

void add_explain(Json& json, const Explanation& explanation) {
  json["job"] = explanation.job;
  json["latency_ns"] = explanation.latency_ns();
  Json parts = Json::array();
  for (const ExplainPart& part : explanation.parts) {
    parts.push_back({{"kind", part.kind},
                     {"from_ns", part.from_ns},
                     {"to_ns", part.to_ns},
                     {"detail", part.detail}});
  }
  json["parts"] = std::move(parts);
  json["helps"] = explanation.helps;
}

void add_written(Json& json, const TraceWrittenDocument& document) {
  json["trace_id"] = document.trace_id;
  json["jobs"] = document.jobs;
  json["stages"] = document.stages;
  json["tasks"] = document.tasks;
}

Json to_json(const Document& document, const WriteOptions& options) {
  return std::visit(
      [&](const auto& body) {
        using Body = std::decay_t<decltype(body)>;
        Json json = envelope_json(body.envelope);
        if constexpr (std::is_same_v<Body, RunDocument>) {
          json["runs"] = runs_json(body.runs, options);
        } else if constexpr (std::is_same_v<Body, ReplayDocument>) {
          json["runs"] = runs_json(body.runs, options);
          json["recorded"] = recorded_json(body.recorded);
        } else if constexpr (std::is_same_v<Body, CompareDocument>) {
          add_compare(json, body.comparison, options);
        } else if constexpr (std::is_same_v<Body, CheckDocument>) {
          add_check(json, body);
        } else if constexpr (std::is_same_v<Body, ExploreDocument>) {
          add_explore(json, body);
        } else if constexpr (std::is_same_v<Body, ListDocument>) {
          add_list(json, body);
        } else if constexpr (std::is_same_v<Body, InspectDocument>) {
          add_inspect(json, body);
        } else if constexpr (std::is_same_v<Body, ExplainDocument>) {
          add_explain(json, body.explanation);
        } else if constexpr (std::is_same_v<Body, FuzzDocument>) {
          add_fuzz(json, body);
        } else if constexpr (std::is_same_v<Body, MutantsDocument>) {
          add_mutants(json, body);
        } else {
          add_written(json, body);
        }
        return json;
      },
      document);
}

}  // namespace

std::string hash_text(std::uint64_t journal_hash) {
  return fmt::format("xxh3:{:016x}", journal_hash);
}

model::Result<std::string> write_json(const Document& document, const WriteOptions& options) {
  return to_json(document, options).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rehearse::reports
