// What the core said in the words of a case, and expectations compared with it.
#include <nlohmann/json.hpp>

#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

namespace {

// The lines of an event that have what the word names, and more.
Json asked(const Run& run, const Json& e, const std::string& event, Json more) {
  more.update(about(e));
  if (more.erase("now") > 0) {
    more["step"] = run.step;
  }
  return said(run, event, more);
}

using Fact = std::function<Json(const Run& run, const Json& e)>;

// How many lines of an event there are that have what the word names, and more; or their stages.
Fact lines(const std::string& event, const Json& more = Json::object()) {
  return [=](const Run& run, const Json& e) { return asked(run, e, event, more).size(); };
}
Fact stages_of(const std::string& event, const Json& more = Json::object()) {
  return [=](const Run& run, const Json& e) { return column(asked(run, e, event, more), "stage"); };
}
const Json now{{"now", true}};
const Fact submitted = lines("stage_submitted");
const Fact starts = lines("task_start", now);
const Fact successes = lines("task_end", {{"status", "success"}, {"counted", true}});

// The stage of a word, or of its shuffle.
std::string stage_of(const Run& run, const Json& e) {
  return e.contains("stage") ? e["stage"] : Json(stage_of_shuffle(run, e.at("shuffle")));
}

bool grouped(const Run& run, const Json& stage) {
  return std::ranges::any_of(said(run, "group_formed", {}), [&](const Json& group) {
    const Json& members = group.at("stages");  // one: a barrier stage, whose outputs count at once
    return members.size() > 1 && has(members, stage);
  });
}

// Where the outputs of a shuffle are, partition -> executor row: a counted success registers one,
// in a group only the commit does; outputs_lost takes them away. Stages of a shuffle share them.
std::map<int, std::size_t> outputs(const Run& run, const std::string& stage) {
  std::map<int, std::size_t> found;
  std::map<int, std::size_t> uncommitted;
  for (const Json& line : run.lines) {
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

// Attempts that were submitted and are not completed.
std::size_t open_attempts(const Run& run, const Json& e) {
  return asked(run, e, "stage_submitted", {}).size() - asked(run, e, "stage_completed", {}).size();
}

// Stages of the case that run; that failed, or could not be read, and wait for the timer; or, in a
// job that lives, that are neither and not done.
Json stages(const Run& run, const std::string& state) {
  Names found;
  const bool armed = std::ranges::any_of(run.timers, [&](const auto& timer) {
    return timer.second.delay == run.options.config.failure.resubmit_delay;
  });
  for (const Job& job : run.jobs) {
    for (const std::string& stage : job.stages) {
      const Json success = {{"stage", stage}, {"status", "success"}};
      const bool done =
          outputs(run, stage).size() == partitions_of(run, stage, -1).size() ||
          (stage == job.final_stage && !said(run, "stage_completed", success).empty());
      const std::string phase = open_attempts(run, {{"stage", stage}}) > 0 ? "running"
                                : !live(run, job.name)                     ? "over"
                                : armed && run.failed.contains(stage)      ? "failed"
                                : done                                     ? "done"
                                                                           : "waiting";
      found.insert(phase == state ? stage : "");
    }
  }
  found.erase("");
  return found;
}

// The suite's reasons and the codes that stand for them (its README, A.9).
constexpr std::string_view reasons =
    " job_cancelled=CANCELLED stage_aborted=EXECUTOR_LOST stage_aborted=TASK_FAILED "
    "task_failures_exhausted=EXECUTOR_LOST task_failures_exhausted=TASK_FAILED "
    "unschedulable_excluded=TASK_FAILED barrier_result_failed=TASK_FAILED fan_out=FAN_OUT "
    "too_many_consecutive_attempts=STAGE_ATTEMPTS_EXCEEDED unsupported_mix=MIXED_JOB "
    "too_many_total_attempts=STAGE_ATTEMPTS_EXCEEDED profile_conflict=PROFILE_CONFLICT "
    "indeterminate_not_rollbackable=INDETERMINATE_RESULT old_fetch_protocol=INDETERMINATE_RESULT "
    "checksum_running_result=INDETERMINATE_RESULT checksum_completed_result=INDETERMINATE_RESULT "
    "stale_indeterminate_result=INDETERMINATE_RESULT non_default_profile=PROFILE_CONFLICT "
    "barrier_dynamic_allocation=DYNAMIC_ALLOCATION barrier_slots=INSUFFICIENT_SLOTS "
    "dynamic_allocation_unsupported=DYNAMIC_ALLOCATION insufficient_slots=INSUFFICIENT_SLOTS "
    "speculation_unsupported=SPECULATION reliable_checkpoint=CHECKPOINTED_MEMBER "
    "barrier_member=BARRIER_MEMBER indeterminate_producer=INDETERMINATE_PRODUCER "
    "cross_job_reuse=SHARED_PRODUCER map_stage_of_pipelined=ADAPTIVE_EXCHANGE "
    "group_member_fetch_failed=FETCH_FAILED regular_edge_inside_group=REGULAR_INSIDE_GROUP ";

// The job of a word, or of its set; the latest if it names none.
std::string job_of(const Run& run, const Json& e) {
  return e.value("job", e.value("stage", run.jobs.back().name));
}

// The line that ended or refused the job, or null.
Json end_line(const Run& run, const Json& e) {
  const Json ended = said(run, "job_end", {{"job", job_of(run, e)}});
  const Json refused = said(run, "job_rejected", {{"job", job_of(run, e)}});
  return !refused.empty() ? refused.back() : ended.empty() ? Json() : ended.back();
}

// "active", "succeeded", or what ended the job: the expected reason if it stands for the code.
Json outcome(const Run& run, const Json& e) {
  const Json end = end_line(run, e);
  if (end.is_null()) {
    return live(run, job_of(run, e)) ? "active" : "not there";
  }
  if (end.value("outcome", "") == "succeeded") {
    return "succeeded";
  }
  const std::string code = end.value("code", "CANCELLED");
  const std::string reason = e.value("reason", "");
  return listed(reasons, reason + "=" + code) ? reason : code;
}

// Partitions of a shuffle without an output, or of a stage without a success.
Json missing(const Run& run, const Json& e) {
  const std::string stage = stage_of(run, e);
  const auto registered = outputs(run, stage);
  Json found = partitions_of(run, stage, -1);
  std::erase_if(found.get_ref<Json::array_t&>(), [&](const Json& partition) {
    const Json task = {{"stage", stage}, {"partition", partition}};
    return e.contains("stage") ? successes(run, task) > 0 : registered.contains(partition);
  });
  return found;
}

// What a stage was handed over with. max_task_failures: 1 if one failure of a task ends its job,
// seen on a copy; else the configured number.
Json property(const Run& run, const Json& e) {
  const std::string key = e.at("key");
  const Json job = asked(run, e, "stage_submitted", {}).back()["job"];
  if (key != "max_task_failures") {
    return key == "pipelined"      ? Json(grouped(run, e["stage"]))
           : key == "priority_job" ? job
                                   : part(part(part(run.given, "properties"), job), key);
  }
  const Json one = running(run, {{"stage", e["stage"]}});
  require(!one.is_null(), "a running task");
  scheduler::TaskEnded failure = end_of("exception");
  failure.run = RunId{one["run"].get<std::uint32_t>()};
  const bool over = first(run.ask_copy(failure), {{"e", "job_end"}}) != nullptr;
  return std::to_string(over ? 1 : run.options.config.failure.max_task_failures);
}

// Launches of this step: executor -> tasks.
Json placed(const Run& run, const Json& e) {
  Json found = Json::object();
  for (const Json& line : asked(run, e, "task_start", {{"now", true}})) {
    found[line["executor"].get<std::string>()].push_back(line["partition"]);
  }
  return found;
}

// What the core says of a stage or a set of the case; the latest set if the word names none.
scheduler::StageReport report(const Run& run, const Json& e) {
  const std::string stage = e.value("stage", run.jobs.back().name);
  const Job& job = job_with(run, stage);
  return run.core->report(job.id, index_in(job, stage));
}

Json job_line(const Run& run, const Json& e) {
  const bool of_stage = e.contains("stage") && run.dag;
  const std::string job = of_stage ? job_with(run, e["stage"]).name : job_of(run, e);
  return said(run, "job_submitted", {{"job", job}}).back();
}

// Every launch of a step is expected if any is.
Json was_launched(const Run& run, const Json& e) {
  const std::string stage = e.at("stage");
  const Json attempt =
      e.at("attempt") == "latest" ? Json(latest_attempt(run, stage)) : e["attempt"];
  const Json tasks = e.at("partitions") == "all" ? partitions_of(run, stage, -1) : e["partitions"];
  const Json same = {{"step", run.step}, {"stage", stage}, {"attempt", attempt}};
  const Json others = all(run.then, {{"op", e["op"]}, {"after", e["after"]}});
  return partitions_of(run, stage, attempt) == tasks &&
         !said(run, "stage_submitted", same).empty() &&
         said(run, "stage_submitted", {{"step", run.step}}).size() == others.size();
}

// What is compared: an expectation's key; "=text"; with "{" in any order. "?": the fact is whether
// the expectation holds; "some", "none": it is a number.
struct Word {
  std::string_view word;
  std::string_view wanted;
  Fact fact;
};
// clang-format off
#define FACT [](const Run& run [[maybe_unused]], const Json& e [[maybe_unused]]) -> Json
const Word words[] = {
    {"scheduler_alive", "?", FACT {
       return run.core->digest() == run.core->full_digest(); }},
    {"job_active", "=active", outcome}, {"job_succeeded", "=succeeded", outcome},
    {"no_results", "?", FACT { return outcome(run, e) != "succeeded"; }},
    {"public_api", "ended", FACT { return outcome(run, e) == "succeeded"; }},
    {"failed_job", "reason", outcome},
    {"job_start_event", "some", lines("job_started")},
    {"job_end_event", "status", FACT {
       const bool won = outcome(run, e) == "succeeded";
       return asked(run, e, "job_end", {}).empty() ? "none" : won ? "success" : "failed"; }},
    {"failure_detail", "?", FACT {
       return matches(end_line(run, e), {{"need", {{"default", e.at("needed")}}},
                                         {"have", {{"default", e.at("free")}}}}); }},
    {"launched", "?", was_launched},
    {"no_new_launch", "none", lines("stage_submitted", now)},
    {"launch_order", "stages", stages_of("stage_submitted", now)},
    {"no_stage_created", "none", submitted}, {"launch_total", "count", submitted},
    {"attempts_submitted", "count", submitted},
    {"running_stages", "{stages", FACT { return stages(run, "running"); }},
    {"waiting", "{stages", FACT { return stages(run, "waiting"); }},
    {"failed_queue", "{stages", FACT { return stages(run, "failed"); }},
    {"skipped_stages", "?", FACT {
       return std::ranges::all_of(e.at("stages"), [&](const Json& stage) {
         return submitted(run, {{"stage", stage}}) == 0; }); }},
    {"fresh_stage", "?", FACT {
       return latest_attempt(run, e.at("stage")) == 0 &&
              job_with(run, e["stage"]).name != job_with(run, e.at("other_than")).name; }},
    {"stage_available", "available", FACT { return missing(run, e).empty(); }},
    {"stage_missing_partitions", "partitions", missing},
    {"missing_partitions", "partitions", missing},
    {"stage_profile", "profile", FACT {
       return the(job_line(run, e).at("stages"), {{"name", e["stage"]}}).at("profile"); }},
    {"stage_count", "?", FACT {
       return job_line(run, e)["stages"].size() ==
              e.at("map").get<std::size_t>() + e.at("result").get<std::size_t>(); }},
    {"stage_id_order", "stages", FACT { return column(job_line(run, e)["stages"], "name"); }},
    {"parents", "{parents", FACT {
       return column(all(job_line(run, e)["edges"], {{"to", e["stage"]}}), "from"); }},
    {"taskset_property", "value", property},
    {"taskset_property_absent", "?", FACT { return property(run, e).empty(); }},
    {"outputs_available", "count", FACT { return outputs(run, stage_of(run, e)).size(); }},
    {"output_hosts", "hosts", FACT {
       Json hosts = Json::array();
       for (const auto& output : outputs(run, stage_of(run, e))) {
         hosts.push_back(run.executors[output.second].host);
       }
       return hosts; }},
    {"outputs_removed", "times", FACT {  // steps in which some went
       Names steps;
       for (const Executor& row : run.executors) {
         const bool here = row.host == e.value("host", "") || row.name == e.value("executor", "");
         for (const Json& lost : said(run, "outputs_lost", {{"executor", row.name}})) {
           steps.insert(here ? lost["step"].dump() : "");
         }
       }
       steps.erase("");
       return steps.size(); }},
    {"executor_forgotten", "times", FACT {
       return run.losses.contains(e.at("executor")) ? run.losses.at(e["executor"]) : 0; }},
    {"checksum_mismatches", "count", FACT { return report(run, e).changed_checksums; }},
    {"preferred_hosts", "?", FACT {
       const Json here = asked(run, e, "task_start", now);
       return here.size() == 1 && here[0]["locality"] != "ANY" &&
              e.at("hosts").get<Names>().contains(run.executors[here[0]["row"]].host); }},
    {"stage_completed_event", "some", FACT {
       return asked(run, e, "stage_completed", {{"status", e.at("status")}}).size(); }},
    {"no_stage_completed_event", "none", lines("stage_completed")},
    {"stage_completed_order", "stages", stages_of("stage_completed")},
    {"stage_failed_event_count", "count", lines("stage_completed", {{"status", "failed"}})},
    {"event_count", "count", FACT {
       return std::ranges::count_if(said(run, e.at("event"), {{"injected", true}}),
              [](const Json& line) { return line["status"] != "killed"; }); }},
    {"deferred_completions", "?", FACT {
       const bool held = !all(run.running, {{"stage", e.at("stage")}, {"held", true}}).empty();
       const bool done = missing(run, e).empty() && asked(run, e, "stage_completed", {}).empty();
       return (held || done) == (e.at("count") > 0); }},
    {"stage_tasks_killed", "?", FACT {
       return std::ranges::none_of(e.at("stages"), [&](const Json& stage) {
         return said(run, "task_end", {{"stage", stage}, {"status", "killed"}}).empty(); }); }},
    {"no_tasks_killed", "none", lines("task_end", {{"status", "killed"}, {"injected", false}})},
    {"accumulator", "value", FACT {
       return run.accumulators.contains(e.at("name")) ? run.accumulators.at(e["name"]) : 0; }},
    {"empty_state", "?", FACT {
       const model::Probe probe = run.core->probe(model::ProbeWhen::end);
       const bool others = run.jobs.front().name.starts_with('(');
       return probe.jobs == (others ? 1 : 0) && (others || probe.busy == 0) &&
              probe.groups + probe.reservations + probe.deferred + probe.authorizations +
              probe.timers == 0; }},
    {"partition_marked_done", "?", FACT { return running(run, about(e)).is_null(); }},
    {"partition_not_marked_done", "?", FACT { return !running(run, about(e)).is_null(); }},
    {"task_launched", "some", starts}, {"no_task_launched", "none", starts},
    {"launch_count", "count", starts}, {"barrier_addresses", "count", starts},
    {"placement", "placement", placed},
    {"not_placed", "?", FACT {
       const Json found = placed(run, e);
       return std::ranges::none_of(e.at("executors"), [&](const Json& name) {
         return found.contains(name.get<std::string>()); }); }},
    {"shared_address", "?", FACT {
       const Json found = placed(run, e);
       return found.size() == 1 && *found.begin() == e.at("tasks"); }},
    {"launch_sequence", "stages", stages_of("task_start")},
    {"task_end_reported", "some", FACT {
       return asked(run, e, "task_end", {{"status", e.at("reason")}}).size() +
              asked(run, e, "task_end", {{"reason", e["reason"]}}).size(); }},
    {"task_end_count", "count", lines("task_end")},
    {"task_killed", "some", lines("task_end", {{"status", "killed"}})},
    {"successful", "some", successes}, {"state_updated_before_report", "some", successes},
    {"running_tasks", "count", FACT { return all(run.running, about(e)).size(); }},
    {"resubmitted", "{tasks", FACT {  // that had succeeded: seen on a copy with a new executor
       scheduler::JoinExecutor join;
       join.spec.name = join.spec.host = run.options.names->intern("new");
       join.spec.resources = {64'000, 64'000};
       Json again = Json::array();
       for (const Json& start : all(run.ask_copy(join), {{"e", "task_start"}})) {
         const Json task = {{"stage", start["stage"]}, {"partition", start["partition"]}};
         if (successes(run, task) > 0) {
           again.push_back(start["partition"]);
         }
       }
       return again; }},
    {"speculatable", "?", FACT { return report(run, e).copies_due >= e.at("min_tasks"); }},
    {"outstanding_tasks", "count", FACT {
       std::vector<scheduler::StageOfJob> except;
       for (const std::string set : e.at("excluding")) {
         const Job& job = job_with(run, set);
         except.push_back({job.id, index_in(job, set)});
       }
       return run.core->outstanding(profile_of(run, e.at("profile")), except); }},
    {"taskset_aborted", "reason", outcome},
    {"taskset_not_aborted", "?", FACT {
       const Json state = outcome(run, e);
       return state == "active" || state == "succeeded" || state == "CANCELLED"; }},
    {"taskset_completed", "some", lines("stage_completed", {{"status", "success"}})},
    {"taskset_zombie", "value", FACT {
       return open_attempts(run, e) == 0 && !asked(run, e, "stage_completed", {}).empty(); }},
    {"active_attempts", "count", open_attempts},
    {"distinct_names", "?", FACT {
       return std::ranges::none_of(e.at("sets"), [&](const Json& set) {
         return submitted(run, normal({{"set", set}})) == 0; }); }},
    {"executor_kill_requested", "some", lines("unschedulable", now)},
    {"unschedulable_event", "some", lines("unschedulable", {{"now", true}, {"executor", ""}})},
    {"available_slots", "count", FACT {
       const auto free = run.core->probe(model::ProbeWhen::end).free;
       return free.at(profile_of(run, e.at("profile")).index()).n; }},
    {"rollback_count", "count", FACT { return report(run, e).rollbacks; }},
    {"commit_answer", "some", lines("commit_answered", now)},
    {"commit_state_empty", "?", FACT {
       return std::ranges::all_of(run.jobs, [&](const Job& job) {
         return std::ranges::all_of(job.stages, [&](const std::string& stage) {
           return report(run, {{"stage", stage}}).commit_rights == 0; }); }); }},
    {"counted_failures", "count", FACT {
       return report(run, e).failures.at(e.at("task").get<std::size_t>()); }},
    {"reject_due_to_delay", "value", FACT { return report(run, e).refused_for_delay; }},
    {"locality_levels", "levels", FACT {
       Json levels = Json::array();
       for (const scheduler::Locality level : report(run, e).levels) {
         levels.push_back(level_names.at(static_cast<std::size_t>(level)));
       }
       return levels; }},
    {"exclude_list_empty", "?", FACT { return report(run, e).excluded_places == 0; }},
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

void check(const Run& run, const Json& e) {
  const std::string op = e.at("op");
  const auto* word = std::ranges::find(words, op.substr(op.find('_') + 1), &Word::word);
  require(word != std::end(words), "an answer to " + op);
  const std::string key(word->wanted.substr(word->wanted.starts_with('{') ? 1 : 0));
  Json found = word->fact(run, e);
  const bool some = key == "some";
  if (some || key == "none") {
    require((found > 0) == some, e.dump(), found.dump());
    return;
  }
  Json wanted = key == "?" ? Json(true) : key[0] == '=' ? Json(key.substr(1)) : e.at(key);
  if (key != word->wanted) {
    wanted = wanted.get<std::set<Json>>();
    found = found.get<std::set<Json>>();
  }
  require(found == wanted, e.dump(), found.dump());
}

}  // namespace rehearse::conformance
