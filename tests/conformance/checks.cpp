// Expectations, compared with what the core said: as the vocabulary's table has it, in numbers of
// lines or by the facts here.
#include <nlohmann/json.hpp>
#include <ranges>

#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

using namespace scheduler;

namespace {

const Json success{{"status", "success"}, {"counted", true}};

bool grouped(const Run& run, const Json& stage) {
  return std::ranges::any_of(said(run, "group_formed", {}), [&](const Json& group) {
    const Json& members = group.at("stages");  // one: a barrier stage, whose outputs count at once
    return members.size() > 1 && has(members, stage);
  });
}

// Where the outputs of a shuffle are, partition -> host: a counted success registers one, in a
// group only the commit does; outputs_lost takes them away. Stages of a shuffle share them.
std::map<int, Json> outputs(const Run& run, const std::string& stage) {
  std::map<int, Json> found;
  std::map<int, Json> uncommitted;
  for (const Json& line : run.lines) {
    const bool here = base_of(line.value("stage", "")) == base_of(stage);
    if (here && line["e"] == "task_end" && matches(line, success)) {
      (grouped(run, line["stage"]) ? uncommitted : found)[line["partition"]] = line["host"];
    } else if (here && line["e"] == "outputs_registered") {
      found.merge(uncommitted);
    }
    for (const Json& lost : here&& line["e"] == "outputs_lost" ? line["partitions"] : Json()) {
      found.erase(found.lower_bound(lost["first"]), found.upper_bound(lost["last"]));
    }
  }
  return found;
}

// Stages of failures since the delay after failures was last over, with those that could not be
// read.
Names failed_stages(const Run& run) {
  Names found;
  const auto& steps = run.steps.get_ref<const Json::array_t&>();
  for (const Json& step : steps | std::views::take(run.step + 1)) {
    if (step["op"] == "resubmit_timer_fired") {
      found.clear();
    } else if (step["op"] == "tasks_failed" || step["op"] == "fetch_failed") {
      const Job& job = job_with(run, step.at("stage"));
      found.insert(step["stage"]);
      if (step.contains("shuffle")) {
        found.insert(job.stages[index_in(job, stage_of_shuffle(run, step["shuffle"])).index()]);
      }
    }
  }
  return found;
}

// An expectation, and what can be found out about what it names.
struct Check {
  const Run& run;
  const Json& e;

  // The lines of an event that have what the word names, and more.
  Json asked(const std::string& event, Json more = Json::object()) const {
    more.update(about(e));
    return said(run, event, more);
  }
  Json last(const std::string& event, const Json& keys) const {
    const Json lines = said(run, event, keys);
    require(!lines.empty(), "a line " + event + " " + keys.dump());
    return lines.back();
  }
  // The job of the word, or of its set; the latest if it names none.
  std::string job() const {
    return e.value("job", e.value("stage", run.jobs.empty() ? "" : run.jobs.back().name));
  }
  // The stage of the word, or of its shuffle; the latest set if it names none.
  std::string stage() const {
    return e.contains("shuffle") ? stage_of_shuffle(run, e["shuffle"]) : e.value("stage", job());
  }
  StageReport report() const {
    const Job& row = job_with(run, stage());
    return run.core->report(row.id, index_in(row, stage()));
  }
  // The line of the job, or that with the stage, when it was submitted.
  Json submission() const {
    const bool of_stage = e.contains("stage") && run.dag;
    return last("job_submitted", {{"job", of_stage ? job_with(run, e["stage"]).name : job()}});
  }

  // The line that ended or refused the job, or an empty one.
  Json end() const {
    const Json refused = last_said(run, "job_rejected", {{"job", job()}});
    return refused.empty() ? last_said(run, "job_end", {{"job", job()}}) : refused;
  }
  // "active", "succeeded", or what ended the job: the expected reason if it stands for the code.
  Json outcome() const {
    const Json line = end();
    if (line.empty() || line.value("status", "") == "success") {
      return !line.empty() ? "succeeded" : live(run, job()) ? "active" : "not there";
    }
    const std::string code = line.value("code", "CANCELLED");
    const std::string reason = e.value("reason", "");
    return has(part(vocabulary()["reasons"], reason), code) ? reason : code;
  }

  // Attempts that were submitted and are not completed.
  std::size_t open_attempts() const {
    return asked("stage_submitted").size() - asked("stage_completed").size();
  }
  // Partitions of a shuffle without an output, or of a stage without a success.
  Json missing() const {
    const auto registered = outputs(run, stage());
    Json found = Json::array();
    for (const Json& partition : partitions_of(run, stage(), -1)) {
      Json task = success;
      task["partition"] = partition;
      if (e.contains("stage") ? asked("task_end", task).empty() : !registered.contains(partition)) {
        found.push_back(partition);
      }
    }
    return found;
  }
  // Stages of the case that run; that failed, or could not be read, and wait for the timer; or, in
  // a job that lives, that are neither and not done.
  Json stages() const {
    Names found;
    const Names failed = failed_stages(run);
    const bool armed = has(run.timers | std::views::values,
                           run.options.config.failure.resubmit_delay, &SetTimer::delay);
    for (const Job& job : run.jobs) {
      for (const std::string& stage : job.stages) {
        const Check one{run, {{"stage", stage}}};
        const bool done =
            outputs(run, stage).size() == partitions_of(run, stage, -1).size() ||
            (stage == job.final_stage && !one.asked("stage_completed", success).empty());
        const std::string phase = one.open_attempts() > 0           ? "running"
                                  : !live(run, job.name)            ? "over"
                                  : armed && failed.contains(stage) ? "failed"
                                  : done                            ? "done"
                                                                    : "waiting";
        if (e.at("phase") == phase) {
          found.insert(stage);
        }
      }
    }
    return found;
  }

  // What a stage was handed over with. max_task_failures: 1 if one failure of a task ends its job,
  // seen on a copy; else the configured number. What no job of the case has is not judged.
  Json property() const {
    const std::string key = e.at("key");
    const std::string job = last("stage_submitted", about(e))["job"];
    if (key == "max_task_failures") {
      const Json one = running(run, {{"stage", e.at("stage")}});
      require(!one.is_null(), "a running task");
      TaskEnded failure = end_of("exception");
      failure.run = RunId{one["run"].get<std::uint32_t>()};
      const bool over = any(run.ask_copy(failure), {{"e", "job_end"}});
      return std::to_string(over ? 1 : run.options.config.failure.max_task_failures);
    }
    Json properties = run.given["properties"];
    properties[job].update({{"pipelined", grouped(run, e.at("stage"))}, {"priority_job", job}});
    const bool known =
        std::ranges::any_of(properties, [&](const Json& own) { return own.contains(key); });
    return known ? properties[job].value(key, Json()) : Json(Json::value_t::discarded);
  }
  // Launches of this step: executor -> tasks.
  Json placed() const {
    Json found = Json::object();
    for (const Json& line : asked("task_start", {{"step", run.step}})) {
      found[line["executor"].get<std::string>()].push_back(line["partition"]);
    }
    return found;
  }
  // Every launch of a step is expected if any is.
  bool launched() const {
    const std::string stage = e.at("stage");
    const Json attempt =
        e.at("attempt") == "latest" ? Json(latest_attempt(run, stage)) : e["attempt"];
    const Json tasks =
        e.at("partitions") == "all" ? partitions_of(run, stage, -1) : e["partitions"];
    const Json here = said(run, "stage_submitted", {{"step", run.step}});
    const Json others = all(run.then, {{"op", e["op"]}, {"after", e["after"]}});
    return partitions_of(run, stage, attempt) == tasks && here.size() == others.size() &&
           any(here, {{"stage", stage}, {"attempt", attempt}});
  }
  // Tasks that had succeeded and would run again: seen on a copy with a new executor.
  Json resubmitted() const {
    JoinExecutor join;
    join.spec.name = join.spec.host = run.options.names->intern("new");
    join.spec.resources = {64'000, 64'000};
    Json again = Json::array();
    for (const Json& start : all(run.ask_copy(join), {{"e", "task_start"}})) {
      Json ended = success;
      ended.update({{"stage", start["stage"]}, {"partition", start["partition"]}});
      if (!said(run, "task_end", ended).empty()) {
        again.push_back(start["partition"]);
      }
    }
    return again;
  }
  bool empty() const {
    const model::Probe probe = run.core->probe(model::ProbeWhen::end);
    const bool others = !run.jobs.empty() && run.jobs.front().name.starts_with('(');
    return probe.jobs == (others ? 1 : 0) && (others || probe.busy == 0) &&
           probe.groups + probe.reservations + probe.deferred + probe.authorizations +
                   probe.timers ==
               0;
  }
  // Of successes that count, each as the step says that told it (A.9 rule 8).
  std::int64_t accumulated() const {
    std::int64_t sum = 0;
    for (const Json& end : all(said(run, "task_end", success), {{"injected", true}})) {
      const Json& step = run.steps[end["told"].get<std::size_t>()];
      sum += part(step, "accumulators").value(e.at("name"), 0);
    }
    return sum;
  }
};

using Fact = std::function<Json(const Check& c)>;
// clang-format off
const std::map<std::string, Fact> facts{
    {"digests_agree", [](const Check& c) {
       return c.run.core->digest() == c.run.core->full_digest(); }},
    {"outcome", &Check::outcome},
    {"succeeded", [](const Check& c) { return c.outcome() == "succeeded"; }},
    {"failure_detail", [](const Check& c) {
       return matches(c.end(), {{"need", {{"default", c.e.at("needed")}}},
                                {"have", {{"default", c.e.at("free")}}}}); }},
    {"launched", &Check::launched}, {"stages_that_are", &Check::stages},
    {"fresh", [](const Check& c) {
       return latest_attempt(c.run, c.e.at("stage")) == 0 &&
              job_with(c.run, c.e["stage"]).id != job_with(c.run, c.e.at("other_than")).id; }},
    {"missing", &Check::missing}, {"complete", [](const Check& c) { return c.missing().empty(); }},
    {"profile", [](const Check& c) {
       return the(c.submission()["stages"], {{"name", c.e.at("stage")}}).at("profile"); }},
    {"stage_count", [](const Check& c) {
       return c.submission()["stages"].size() ==
              c.e.at("map").get<std::size_t>() + c.e.at("result").get<std::size_t>(); }},
    {"stages", [](const Check& c) { return column(c.submission()["stages"], "name"); }},
    {"parents", [](const Check& c) {
       return column(all(c.submission()["edges"], {{"to", c.e.at("stage")}}), "from"); }},
    {"property", &Check::property},
    {"outputs", [](const Check& c) { return outputs(c.run, c.stage()).size(); }},
    {"output_hosts", [](const Check& c) {
       Json hosts = Json::array();
       std::ranges::copy(outputs(c.run, c.stage()) | std::views::values, std::back_inserter(hosts));
       return hosts; }},
    {"removals", [](const Check& c) {  // steps in which some outputs went
       return column(c.asked("outputs_lost"), "step").get<std::set<Json>>().size(); }},
    {"preferred", [](const Check& c) {
       const Json here = c.asked("task_start", {{"step", c.run.step}});
       return here.size() == 1 && here[0]["locality"] != "ANY" &&
              has(c.e.at("hosts"), here[0]["host"]); }},
    {"injected_ends", [](const Check& c) {
       const Json ends = said(c.run, c.e.at("event"), {{"injected", true}});
       return ends.size() - all(ends, {{"status", "killed"}}).size(); }},
    {"deferred", [](const Check& c) {
       const bool held = !c.asked("task_start", {{"live", true}, {"held", true}}).empty();
       const bool done = c.missing().empty() && c.asked("stage_completed").empty();
       return (held || done) == (c.e.at("count") > 0); }},
    {"accumulated", &Check::accumulated}, {"empty", &Check::empty}, {"placed", &Check::placed},
    {"placed_together", [](const Check& c) {
       const Json found = c.placed();
       return found.size() == 1 ? *found.begin() : Json(); }},
    {"ends_with_reason", [](const Check& c) {
       return c.asked("task_end", {{"status", c.e.at("reason")}}).size() +
              c.asked("task_end", {{"reason", c.e["reason"]}}).size(); }},
    {"resubmitted", &Check::resubmitted},
    {"resubmitted_once", [](const Check& c) {
       return c.resubmitted().size() == c.resubmitted().get<std::set<Json>>().size(); }},
    {"outstanding", [](const Check& c) {
       std::vector<StageOfJob> except;
       for (const std::string set : c.e.at("excluding")) {
         const Job& job = job_with(c.run, set);
         except.push_back({job.id, index_in(job, set)});
       }
       return c.run.core->outstanding(profile_of(c.run, c.e.at("profile")), except); }},
    {"zombie", [](const Check& c) {
       return c.open_attempts() == 0 && !c.asked("stage_completed").empty(); }},
    {"open_attempts", &Check::open_attempts},
    {"free_slots", [](const Check& c) {
       const auto free = c.run.core->probe(model::ProbeWhen::end).free;
       return free.at(profile_of(c.run, c.e.at("profile")).index()).n; }},
    {"commit_rights", [](const Check& c) {
       std::size_t rights = 0;
       for (const Job& job : c.run.jobs) {
         for (const std::string& stage : job.stages) {
           rights += c.run.core->report(job.id, index_in(job, stage)).commit_rights;
         }
       }
       return rights; }},
    {"levels", [](const Check& c) {
       Json levels = Json::array();
       std::ranges::transform(c.report().levels, std::back_inserter(levels),
                              model::name_of<Locality>);
       return levels; }},
    {"counted_failures", [](const Check& c) {
       return c.report().failures.at(c.e.at("task").get<std::size_t>()); }},
    {"speculatable", [](const Check& c) { return c.report().copies_due >= c.e.at("min_tasks"); }},
    {"changed_checksums", [](const Check& c) { return c.report().changed_checksums; }},
    {"rollbacks", [](const Check& c) { return c.report().rollbacks; }},
    {"refused_for_delay", [](const Check& c) { return c.report().refused_for_delay; }},
    {"excluded_places", [](const Check& c) { return c.report().excluded_places; }},
    {"pool", [](const Check& c) {
       const bool fair = c.run.options.config.admission.queue == model::QueueOrder::fair;
       return fair ? c.submission()["pool"] : "root"; }}};
// clang-format on

const Json& row_of(const std::string& op) {
  static const Json none;
  const Json& words = vocabulary()["expectations"];
  const std::string word = op.substr(op.find('_') + 1);
  return op.starts_with("expect_") && words.contains(word) ? words[word] : none;
}

// A fact; or of the lines of an event that have what the expectation names and the row adds, a
// field of each, or how many there are.
Json found_by(const Check& c, const Json& row) {
  if (row.contains("fact")) {
    return facts.at(row["fact"])(c);
  }
  Json more = part(row, "with");
  for (const std::string key : part(row, "by")) {
    more[key] = c.e.at(key);
  }
  if (row.contains("now")) {
    more["step"] = c.run.step;
  }
  const Json lines = c.asked(row["lines"], more);
  return row.contains("take") ? column(lines, row["take"]) : Json(lines.size());
}

// That it is equal to a field of the expectation, as a list or as a set, or one of some values, or
// none of them.
bool as_expected(const Json& found, const Json& row, const Json& e) {
  if (row.contains("set")) {
    return found.get<std::set<Json>>() == e.at(row["set"]).get<std::set<Json>>();
  }
  return row.contains("as")      ? found == e.at(row["as"])
         : row.contains("among") ? has(row["among"], found)
                                 : !has(row["not"], found);
}

}  // namespace

bool is_expectation(const std::string& op) { return !row_of(op).is_null(); }

bool check(const Run& run, const Json& e) {
  const Json& row = row_of(e.at("op"));
  // Arrays are named: what braces around one value mean, compilers do not agree on (CWG 2137).
  const Json once = Json::array({Json()});
  for (const Json& one : row.contains("each") ? e.at(row["each"]) : once) {
    Json word = e;
    word.update(part(row, "with"));
    word.update(row.contains("each") ? Json{{row["of"], one}} : Json::object());
    const Json found =
        row.empty() ? Json(Json::value_t::discarded) : found_by({run, normal(word)}, row);
    if (found.is_discarded()) {
      return false;
    }
    require(as_expected(found, row, e), e.dump(), found.dump());
  }
  return true;
}

}  // namespace rehearse::conformance
