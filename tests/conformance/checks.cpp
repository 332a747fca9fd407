// What the core said in the words of a case, and expectations compared with it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

bool matches(const Json& line, const Json& keys) {
  return std::ranges::all_of(keys.items(), [&](const auto& key) {
    return line.contains(key.key()) && line[key.key()] == key.value();
  });
}

std::vector<Json> said(const Run& run, const std::string& event, const Json& keys) {
  std::vector<Json> found;
  std::ranges::copy_if(run.engine->lines, std::back_inserter(found), [&](const Json& line) {
    return line.at("e") == event && line.value("job", "") != "other work" && matches(line, keys);
  });
  return found;
}

std::optional<RunId> running(const Run& run, const Json& keys) {
  std::optional<RunId> found;
  int latest = -1;
  for (const auto& [id, line] : run.engine->running) {
    if (matches(line, keys) && !line.value("held", false) && line.at("try") > latest) {
      found = RunId{id};
      latest = line["try"];
    }
  }
  return found;
}

std::int32_t latest_attempt(const Run& run, const std::string& stage) {
  const std::vector<Json> all = said(run, "stage_submitted", {{"stage", stage}});
  return all.empty() ? 0 : all.back().at("attempt").get<std::int32_t>();
}

Json partitions_of(const Run& run, const std::string& stage, const Json& attempt) {
  const std::vector<Json> all =
      said(run, "stage_submitted", {{"stage", stage}, {"attempt", attempt}});
  const int tasks = all.empty() ? stage_record(run, stage).at("tasks") : all.back().at("tasks");
  const Json whole = {{{"first", 0}, {"last", tasks - 1}}};
  Json partitions = Json::array();
  for (const Json& range : all.empty() ? whole : all.back().value("partitions", whole)) {
    for (int i = range.at("first"); i <= range.at("last"); ++i) {
      partitions.push_back(i);
    }
  }
  return partitions;
}

const JobRow& job_with(const Run& run, const std::string& stage) {
  const auto job = std::find_if(run.jobs.rbegin(), run.jobs.rend(), [&](const JobRow& row) {
    return std::ranges::find(row.stages, stage) != row.stages.end();
  });
  require(job != run.jobs.rend(), "a job with stage " + stage, "none");
  return *job;
}

StageIndex index_in(const JobRow& job, const std::string& stage) {
  const auto found = std::ranges::find(job.stages, base_of(stage), base_of);
  require(found != job.stages.end(), "stage " + stage + " in " + job.name, "none");
  return StageIndex{static_cast<std::size_t>(found - job.stages.begin())};
}

bool live(const Run& run, const std::string& job) {
  return !said(run, "job_started", {{"job", job}}).empty() &&
         said(run, "job_end", {{"job", job}}).empty();
}

namespace {

template <class List>
Json column(const List& lines, const char* key) {
  Json values = Json::array();
  std::ranges::transform(lines, std::back_inserter(values),
                         [key](const Json& line) { return line.at(key); });
  return values;
}

bool grouped(const Run& run, const Json& stage) {
  return std::ranges::any_of(said(run, "group_formed", {}), [&](const Json& group) {
    if (group.at("stages").size() == 1) {
      return false;  // a barrier stage: its outputs are there with each success
    }
    return std::ranges::find(group.at("stages"), stage) != group["stages"].end();
  });
}

// Where the outputs of a shuffle are, partition -> executor row: a counted success registers one,
// in a group only the commit does; outputs_lost takes them away. Stages of a shuffle share them.
std::map<int, std::size_t> outputs(const Run& run, const std::string& stage) {
  std::map<int, std::size_t> found;
  std::map<int, std::size_t> uncommitted;
  for (const Json& line : run.engine->lines) {
    if (base_of(line.value("stage", "")) != base_of(stage)) {
      continue;
    }
    if (matches(line, {{"e", "task_end"}, {"status", "success"}, {"counted", true}})) {
      (grouped(run, line["stage"]) ? uncommitted : found)[line["partition"]] = line["row"];
    } else if (line["e"] == "outputs_registered") {
      found.merge(uncommitted);
    } else if (line["e"] == "outputs_lost") {
      for (const Json& range : line["partitions"]) {
        std::erase_if(found, [&](const auto& output) {
          return output.first >= range["first"] && output.first <= range["last"];
        });
      }
    }
  }
  return found;
}

std::map<int, std::size_t> outputs_of(const Run& run, const Json& e) {
  return outputs(run, stage_of_shuffle(run, e.at("shuffle")));
}

Json open_attempts(const Run& run, const Json& keys) {  // submitted and not completed
  Json open = said(run, "stage_submitted", {});
  for (const Json& end : said(run, "stage_completed", {})) {
    const Json same = {{"job", end["job"]}, {"stage", end["stage"]}, {"attempt", end["attempt"]}};
    std::erase_if(open.get_ref<Json::array_t&>(), [&](const Json& l) { return matches(l, same); });
  }
  std::erase_if(open.get_ref<Json::array_t&>(), [&](const Json& l) { return !matches(l, keys); });
  return open;
}

// Stages of the case that run; that failed, or could not be read, and wait for the timer; or, in a
// job that lives, that are neither and not done.
Json stages(const Run& run, const std::string& state) {
  Names found;
  const bool armed = std::ranges::any_of(run.engine->timers, [&](const Timer& timer) {
    return timer.set.delay == run.options.config.failure.resubmit_delay;
  });
  for (const JobRow& job : run.jobs) {
    for (const std::string& stage : job.stages) {
      const Json success = {{"stage", stage}, {"status", "success"}};
      const bool done =
          outputs(run, stage).size() == partitions_of(run, stage, -1).size() ||
          (stage == job.final_stage && !said(run, "stage_completed", success).empty());
      const std::string now = !open_attempts(run, {{"stage", stage}}).empty() ? "running"
                              : !live(run, job.name)                          ? "over"
                              : armed && run.failed.contains(stage)           ? "failed"
                              : done                                          ? "done"
                                                                              : "waiting";
      found.insert(now == state ? stage : "");
    }
  }
  found.erase("");
  return found;
}

// The suite's reasons by the code they stand for (its README, A.9).
// clang-format off
const std::map<std::string, std::string> reasons{
    {"CANCELLED", " job_cancelled "}, {"EXECUTOR_LOST", " stage_aborted task_failures_exhausted "},
    {"TASK_FAILED",
     " stage_aborted task_failures_exhausted unschedulable_excluded barrier_result_failed "},
    {"STAGE_ATTEMPTS_EXCEEDED", " too_many_consecutive_attempts too_many_total_attempts "},
    {"INDETERMINATE_RESULT",
     " indeterminate_not_rollbackable old_fetch_protocol checksum_running_result "
                             "checksum_completed_result stale_indeterminate_result "},
    {"PROFILE_CONFLICT", " profile_conflict non_default_profile "}, {"FAN_OUT", " fan_out "},
    {"DYNAMIC_ALLOCATION", " barrier_dynamic_allocation dynamic_allocation_unsupported "},
    {"INSUFFICIENT_SLOTS", " barrier_slots insufficient_slots "},
    {"MIXED_JOB", " unsupported_mix "},
    {"SPECULATION", " speculation_unsupported "}, {"CHECKPOINTED_MEMBER", " reliable_checkpoint "},
    {"BARRIER_MEMBER", " barrier_member "}, {"INDETERMINATE_PRODUCER", " indeterminate_producer "},
    {"SHARED_PRODUCER", " cross_job_reuse "}, {"ADAPTIVE_EXCHANGE", " map_stage_of_pipelined "},
    {"FETCH_FAILED", " group_member_fetch_failed "},
    {"REGULAR_INSIDE_GROUP", " regular_edge_inside_group "}};
// clang-format on

// The line that ended or refused a job, or null.
Json end_line(const Run& run, const Json& job) {
  std::vector<Json> found = said(run, "job_end", {{"job", job}});
  std::ranges::copy(said(run, "job_rejected", {{"job", job}}), std::back_inserter(found));
  return found.empty() ? Json() : found.back();
}

// "active", "succeeded", or what ended the job: the expected reason if it stands for the code.
Json outcome_of(const Run& run, const std::string& job, const Json& e) {
  const Json end = end_line(run, job);
  if (end.is_null() || end.value("outcome", "") == "succeeded") {
    return !end.is_null() ? "succeeded" : live(run, job) ? "active" : "not there";
  }
  const std::string code = end.value("code", "CANCELLED");
  const auto words = reasons.find(code);
  const std::string reason = e.value("reason", "");
  const bool named = words != reasons.end() && !reason.empty() &&
                     words->second.find(" " + reason + " ") != std::string::npos;
  return named ? reason : code;
}

Json outcome(const Run& run, const Json& e) { return outcome_of(run, e.at("job"), e); }
Json set_outcome(const Run& run, const Json& e) {
  const std::string set = e.value("set", run.jobs.back().name);
  return outcome_of(run, set.substr(0, set.find('.')), e);
}

std::int64_t ends_of(const Run& run, const Json& e, bool with_success, bool with_failure) {
  return std::ranges::count_if(
      said(run, "stage_completed", {{"stage", e.at("stage")}}),
      [&](const Json& end) { return end["status"] == "success" ? with_success : with_failure; });
}

bool succeeded(const Run& run, const Json& stage, const Json& partition) {
  return !said(run, "task_end",
               {{"stage", stage},
                {"partition", partition},
                {"status", "success"},
                {"counted", true}})
              .empty();
}

// Partitions of a shuffle without an output, or of a stage without a success.
Json missing(const Run& run, const Json& e) {
  const bool of_stage = e.contains("stage");
  const std::string stage = of_stage ? e["stage"] : Json(stage_of_shuffle(run, e.at("shuffle")));
  const auto registered = outputs(run, stage);
  Json found = partitions_of(run, stage, -1);
  std::erase_if(found.get_ref<Json::array_t&>(), [&](const Json& partition) {
    return of_stage ? succeeded(run, stage, partition) : registered.contains(partition);
  });
  return found;
}

Json removals(const Run& run, const Json& e) {  // steps in which outputs went
  std::set<int> steps;
  for (const Json& lost : said(run, "outputs_lost", {})) {
    const ExecutorRow& row = run.engine->executors[run.engine->find(lost["executor"]).value()];
    if (row.host == e.value("host", "") || row.name == e.value("executor", "")) {
      steps.insert(lost["step"].get<int>());
    }
  }
  return steps.size();
}

// What a stage was handed over with. max_task_failures: 1 if one failure of a task ends its job,
// seen on a copy; else the configured number.
Json property(const Run& run, const Json& e) {
  const std::string key = e.at("key");
  const Json job = said(run, "stage_submitted", {{"stage", e.at("stage")}}).back()["job"];
  if (key != "max_task_failures") {
    return key == "pipelined"      ? Json(grouped(run, e["stage"]))
           : key == "priority_job" ? job
                                   : part(part(part(run.given, "properties"), job), key);
  }
  const auto one = running(run, {{"stage", e["stage"]}});
  require(one.has_value(), "a running task", "none");
  const std::vector<Json> said = run.engine->ask_copy(
      scheduler::TaskEnded{*one, model::TaskStatus::failed, model::TaskReason::exception, {}, 0},
      false);
  const bool over =
      std::ranges::any_of(said, [](const Json& l) { return matches(l, {{"e", "job_end"}}); });
  return std::to_string(over ? 1 : run.options.config.failure.max_task_failures);
}

// Lines of tasks of the set a task-level word names: S0.1 is attempt 1 of S0; no set is any.
std::vector<Json> of_set(const Run& run, const Json& word, const std::string& event,
                         const Json& keys) {
  std::vector<Json> found = said(run, event, keys);
  const std::string set = word.value("set", "");
  std::erase_if(found, [&](const Json& line) {
    const std::string stage = line.at("stage");
    const bool named = set == stage || set == stage + "." + line.at("attempt").dump();
    return set.empty() ? stage == "input" || stage == "reader" : !named;
  });
  return found;
}

// Launches of this step: executor -> tasks.
Json placed(const Run& run, const Json& e) {
  Json found = Json::object();
  for (const Json& line : of_set(run, e, "task_start", {{"step", run.engine->step}})) {
    found[line["executor"].get<std::string>()].push_back(line["partition"]);
  }
  return found;
}

std::vector<Json> launched(const Run& run, const Json& e) {
  Json keys = {{"step", run.engine->step}};
  keys.update(e.contains("task") ? Json{{"partition", e["task"]}} : Json::object());
  keys.update(e.contains("locality") ? Json{{"locality", e["locality"]}} : Json::object());
  return of_set(run, e, "task_start", keys);
}

bool ended(const Run& run, const Json& e, Json keys) {
  keys["partition"] = e.at("task");
  keys.update(e.contains("task_attempt") ? Json{{"try", e["task_attempt"]}} : Json::object());
  return !of_set(run, e, "task_end", keys).empty();
}

// What the core says of a stage or a set of the case; the latest set if the word names none.
scheduler::StageReport report(const Run& run, const Json& e) {
  const std::string stage = e.value("stage", e.value("set", run.jobs.back().name));
  const JobRow& job = job_with(run, stage);
  return run.engine->core->report(job.id, index_in(job, stage));
}

// Tasks that had succeeded and would start again, seen on a copy with a new executor.
Json started_again(const Run& run, const Json& /*e*/) {
  scheduler::JoinExecutor join;
  join.spec.name = join.spec.host = run.options.names->intern("new");
  join.spec.resources = {64'000, 64'000};
  Json found = Json::array();
  for (const Json& line : run.engine->ask_copy(join, true)) {
    if (line.contains("row") && succeeded(run, line["stage"], line["partition"])) {
      found.push_back(line["partition"]);
    }
  }
  return found;
}

bool empty_state(const Run& run) {
  const model::Probe probe = run.engine->core->probe(model::ProbeWhen::end);
  const bool others = run.jobs.front().name == "other work";
  return probe.jobs == (others ? 1 : 0) && (others || probe.busy == 0) &&
         probe.groups + probe.reservations + probe.deferred + probe.authorizations + probe.timers ==
             0;
}

// Does the attempt's task of a partition run?
bool owed(const Run& run, const Json& e) {
  return running(run, {{"stage", e.at("stage")},
                       {"attempt", e.at("attempt")},
                       {"partition", e.at("partition")}})
      .has_value();
}

Json job_line(const Run& run, const Json& e) {
  const std::string job =
      e.contains("stage") ? job_with(run, e["stage"]).name : e.value("set", run.jobs.back().name);
  return said(run, "job_submitted", {{"job", job}}).back();
}

// What is compared: an expectation's key; "=text"; with "{" in any order. "?": the fact is whether
// the expectation holds.
struct Word {
  std::string_view word;
  std::string_view wanted;
  Json (*fact)(const Run& run, const Json& e);
};
// clang-format off
#define FACT [](const Run& run [[maybe_unused]], const Json& e [[maybe_unused]]) -> Json
const Word words[] = {
    {"scheduler_alive", "?", FACT {
       return run.engine->core->digest() == run.engine->core->full_digest(); }},
    {"job_active", "=active", outcome},
    {"job_succeeded", "=succeeded", outcome},
    {"no_results", "?", FACT { return outcome(run, e) != "succeeded"; }},
    {"public_api", "ended", FACT { return outcome(run, e) == "succeeded"; }},
    {"failed_job", "reason", outcome},
    {"job_start_event", "?", FACT {
       return !said(run, "job_started", {{"job", e.at("job")}}).empty(); }},
    {"job_end_event", "status", FACT {
       const std::vector<Json> end = said(run, "job_end", {{"job", e.at("job")}});
       const bool success = outcome(run, e) == "succeeded";
       return end.empty() ? "none" : success ? "success" : "failed"; }},
    {"failure_detail", "?", FACT {
       const Json end = end_line(run, e.at("job"));
       return part(end, "need") == Json{{"default", e.at("needed")}} &&
              part(end, "have") == Json{{"default", e.at("free")}}; }},
    {"no_new_launch", "?", FACT {
       return said(run, "stage_submitted", {{"step", run.engine->step}}).empty(); }},
    {"launch_order", "stages", FACT {
       return column(said(run, "stage_submitted", {{"step", run.engine->step}}), "stage"); }},
    {"no_stage_created", "?", FACT {
       return said(run, "stage_submitted", {{"job", e.at("job")}}).empty(); }},
    {"launch_total", "count", FACT { return said(run, "stage_submitted", {}).size(); }},
    {"attempts_submitted", "count", FACT {
       return said(run, "stage_submitted", {{"stage", e.at("stage")}}).size(); }},
    {"running_stages", "{stages", FACT { return stages(run, "running"); }},
    {"waiting", "{stages", FACT { return stages(run, "waiting"); }},
    {"failed_queue", "{stages", FACT { return stages(run, "failed"); }},
    {"skipped_stages", "?", FACT {
       return std::ranges::all_of(e.at("stages"), [&](const Json& stage) {
         return said(run, "stage_submitted", {{"stage", stage}}).empty(); }); }},
    {"fresh_stage", "?", FACT {
       return latest_attempt(run, e.at("stage")) == 0 &&
              job_with(run, e["stage"]).name != job_with(run, e.at("other_than")).name; }},
    {"stage_available", "available", FACT { return missing(run, e).empty(); }},
    {"stage_missing_partitions", "partitions", missing},
    {"missing_partitions", "partitions", missing},
    {"stage_profile", "?", FACT {
       return std::ranges::any_of(job_line(run, e).at("stages"), [&](const Json& stage) {
         return matches(stage, {{"name", e["stage"]}, {"profile", e.at("profile")}}); }); }},
    {"stage_count", "?", FACT {
       return job_line(run, e)["stages"].size() ==
            e.at("map").get<std::size_t>() + e.at("result").get<std::size_t>(); }},
    {"stage_id_order", "stages", FACT { return column(job_line(run, e)["stages"], "name"); }},
    {"parents", "{parents", FACT {
       Json edges = job_line(run, e)["edges"];
       std::erase_if(edges.get_ref<Json::array_t&>(),
                     [&](const Json& edge) { return edge["to"] != e["stage"]; });
       return column(edges, "from"); }},
    {"taskset_property", "value", property},
    {"taskset_property_absent", "?", FACT { return true; }},  // nothing is handed to tasks
    {"outputs_available", "count", FACT { return outputs_of(run, e).size(); }},
    {"output_hosts", "hosts", FACT {
       Json hosts = Json::array();
       for (const auto& output : outputs_of(run, e)) {
         hosts.push_back(run.engine->executors[output.second].host);
       }
       return hosts; }},
    {"outputs_removed", "times", removals},
    {"executor_forgotten", "times", FACT {
       return run.losses.contains(e.at("executor")) ? run.losses.at(e["executor"]) : 0; }},
    {"preferred_hosts", "?", FACT {
       const std::vector<Json> starts = said(run, "task_start", {{"step", run.engine->step},
           {"stage", e.at("stage")}, {"partition", e.at("partition")}});
       return starts.size() == 1 &&
              e.at("hosts").get<Names>().contains(run.engine->executors[starts[0]["row"]].host); }},
    {"stage_completed_event", "?", FACT {
       const bool success = e.at("status") == "success";
       return ends_of(run, e, success, !success) > 0; }},
    {"no_stage_completed_event", "?", FACT { return ends_of(run, e, true, true) == 0; }},
    {"stage_completed_order", "stages", FACT {
       return column(said(run, "stage_completed", {}), "stage"); }},
    {"stage_failed_event_count", "count", FACT { return ends_of(run, e, false, true); }},
    {"event_count", "count", FACT {
       return std::ranges::count_if(said(run, e.at("event"), {{"injected", true}}),
              [](const Json& line) { return line["status"] != "killed"; }); }},
    {"deferred_completions", "?", FACT {
       const bool held = std::ranges::any_of(run.engine->running, [&](const auto& row) {
         return row.second["stage"] == e.at("stage") && row.second.value("held", false); });
       return (held || (missing(run, e).empty() && ends_of(run, e, true, true) == 0)) ==
            (e.at("count") > 0); }},
    {"stage_tasks_killed", "?", FACT {
       return std::ranges::none_of(e.at("stages"), [&](const Json& stage) {
         return said(run, "task_end", {{"stage", stage}, {"status", "killed"}}).empty(); }); }},
    {"no_tasks_killed", "?", FACT {
       return said(run, "task_end", {{"status", "killed"}, {"injected", false}}).empty(); }},
    {"accumulator", "value", FACT {
       return run.accumulators.contains(e.at("name")) ? run.accumulators.at(e["name"]) : 0; }},
    {"empty_state", "?", FACT { return empty_state(run); }},
    {"partition_marked_done", "?", FACT { return !owed(run, e); }},
    {"partition_not_marked_done", "?", FACT { return owed(run, e); }},
    {"task_launched", "?", FACT { return !launched(run, e).empty(); }},
    {"no_task_launched", "?", FACT { return launched(run, e).empty(); }},
    {"launch_count", "count", FACT { return launched(run, e).size(); }},
    {"barrier_addresses", "count", FACT { return launched(run, e).size(); }},
    {"placement", "placement", placed},
    {"not_placed", "?", FACT {
       const Json found = placed(run, e);
       return std::ranges::none_of(e.at("executors"), [&](const Json& name) {
         return found.contains(name.get<std::string>()); }); }},
    {"shared_address", "?", FACT {
       const Json found = placed(run, e);
       return found.size() == 1 && *found.begin() == e.at("tasks"); }},
    {"launch_sequence", "stages", FACT { return column(said(run, "task_start", {}), "stage"); }},
    {"task_end_reported", "?", FACT {
       return ended(run, e, {{"status", e.at("reason")}}) || ended(run, e, {{
            "reason", e["reason"]}}); }},
    {"task_end_count", "count", FACT { return of_set(run, e, "task_end", {}).size(); }},
    {"task_killed", "?", FACT { return ended(run, e, {{"status", "killed"}}); }},
    {"successful", "?", FACT { return ended(run, e, {{"status", "success"}, {"counted", true}}); }},
    {"state_updated_before_report", "?", FACT {
       return ended(run, e, {{"status", "success"}, {"counted", true}}); }},
    {"running_tasks", "count", FACT {
       return std::ranges::count_if(run.engine->running, [&](const auto& entry) {
         return entry.second.at("executor") == e.at("executor"); }); }},
    {"resubmitted", "{tasks", started_again},
    {"taskset_aborted", "reason", set_outcome},
    {"taskset_not_aborted", "?", FACT {
       const Json now = set_outcome(run, e);
       return now == "active" || now == "succeeded" || now == "CANCELLED"; }},
    {"taskset_completed", "?", FACT {
       return !of_set(run, e, "stage_completed", {{"status", "success"}}).empty(); }},
    {"taskset_zombie", "value", FACT {
       const std::size_t ends = of_set(run, e, "stage_completed", {}).size();
       return ends > 0 && ends == of_set(run, e, "stage_submitted", {}).size(); }},
    {"active_attempts", "count", FACT {
       return open_attempts(run, {{"stage", e.at("stage")}}).size(); }},
    {"distinct_names", "?", FACT {
       return std::ranges::none_of(e.at("sets"), [&](const Json& set) {
         return of_set(run, {{"set", set}}, "stage_submitted", {}).empty(); }); }},
    {"available_slots", "count", FACT {
       const auto free = run.engine->core->probe(model::ProbeWhen::end).free;
       return free.at(profile_of(run, e.at("profile")).index()).n; }},
    {"rollback_count", "count", FACT { return report(run, e).rollbacks; }},
    {"commit_answer", "granted", FACT {
       const std::vector<Json> said_now =
           said(run, "commit_answered", {{"step", run.engine->step}});
       return said_now.empty() ? Json() : said_now.back()["granted"]; }},
    {"commit_state_empty", "?", FACT {
       return std::ranges::all_of(run.jobs, [&](const JobRow& job) {
         return std::ranges::all_of(job.stages, [&](const std::string& stage) {
           return report(run, {{"stage", stage}}).commit_rights == 0; }); }); }},
    {"counted_failures", "count", FACT {
       const std::vector<std::int32_t> failures = report(run, e).failures;
       const std::size_t task = e.at("task");
       return task < failures.size() ? Json(failures[task]) : Json(); }},
    {"reject_due_to_delay", "value", FACT { return report(run, e).refused_for_delay; }},
    {"locality_levels", "levels", FACT {
       Json levels = Json::array();
       for (const scheduler::Locality level : report(run, e).levels) {
         levels.push_back(level_names.at(static_cast<std::size_t>(level)));
       }
       return levels; }},
    {"exclude_list_empty", "?", FACT { return true; }},  // the core excludes nothing
    {"in_pool", "pool", FACT {
       const bool fair = run.options.config.admission.queue == model::QueueOrder::fair;
       return fair ? job_line(run, e)["pool"] : "root"; }},
    {"pool_settings", "?", FACT {
       model::PoolConfig pool;
       for (const auto& one : run.options.config.pools) {
         pool = e.at("pool") == run.names.text(one.name) ? one : pool;
       }
       return pool.fair == (e.at("mode") == "FAIR") && pool.weight == e.at("weight") &&
              pool.min_share == e.at("min_share"); }},
};
#undef FACT
// clang-format on

}  // namespace

void check(Run& run, const Json& e) {
  const std::string op = e.at("op");
  const auto* word = std::ranges::find(words, op.substr(op.find('_') + 1), &Word::word);
  if (word == std::end(words)) {
    lacks("answer to " + op);
  }
  const std::string key(word->wanted.substr(word->wanted.starts_with('{') ? 1 : 0));
  Json found = word->fact(run, e);
  Json wanted = key == "?" ? Json(true) : key[0] == '=' ? Json(key.substr(1)) : e.at(key);
  if (key != word->wanted) {
    wanted = wanted.get<std::set<Json>>();
    found = found.get<std::set<Json>>();
  }
  require(found == wanted, e.dump(), found);
}

void check_launches(Run& run, const std::vector<Json>& expected) {
  std::set<Json> wanted;
  std::set<Json> found;
  for (const Json& line : said(run, "stage_submitted", {{"step", run.engine->step}})) {
    found.insert(
        {line["stage"], line["attempt"], partitions_of(run, line["stage"], line["attempt"])});
  }
  for (const Json& e : expected) {
    const std::string stage = e.at("stage");
    const Json attempt =
        e.at("attempt") == "latest" ? Json(latest_attempt(run, stage)) : e["attempt"];
    const bool all = e.at("partitions") == "all";
    wanted.insert({stage, attempt, all ? partitions_of(run, stage, -1) : e["partitions"]});
  }
  require(found == wanted, "launches " + Json(wanted).dump(), found);
}

}  // namespace rehearse::conformance
