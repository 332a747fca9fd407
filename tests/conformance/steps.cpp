// Steps of a case as inputs, and where its tasks run: what its later steps say of their ends.
#include <nlohmann/json.hpp>
#include <ranges>

#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

using namespace scheduler;

namespace {

// The name of what a step is done with, or null.
const Json& input_of(const Json& step) {
  return vocabulary()["inputs"].at(step.at("op").get<std::string>());
}

// A job of stages of which each reads the one in front of it, over an edge of the kind "input".
void submit_chain(Run& run, Json job, const Json& stages) {
  for (const Json& record : stages) {
    if (job.contains("final_stage")) {
      run.given["edges"].push_back({{"from", job["final_stage"]},
                                    {"to", record.at("id")},
                                    {"kind", record.value("input", "regular")},
                                    {"shuffle", job["final_stage"]}});
    }
    run.given["stages"].push_back(record);
    job["final_stage"] = record.at("id");
  }
  job["kind"] = "result";
  submit_job(run, job);
}

void make_cluster(Run& run) {
  if (run.narrow) {
    const Json& cluster = run.given["cluster"];
    const int slots = cluster["slots"].value("default", 0);
    model::ExecutorSpec spec;
    spec.resources = {(slots == 0 ? 1000 : slots) * 1000LL};  // 0 slots: those of a held executor
    (void)run.join("cluster", "cluster", spec);
    if (cluster.value("held", false)) {
      run.hold(0, model::HoldCause::hold);
    }
    if (const Json& busy = part(cluster, "busy"); !busy.empty()) {
      const Json stage = {{"id", "(busy)"}, {"tasks", busy.at("default")}};
      submit_chain(run, {{"id", "(others)"}}, Json::array({stage}));
    }
    return;
  }
  auto named = column(run.given["executors"], "id").get<Names>();
  const Json preferred = {run.given["narrow_preferred"], run.given["cached"]};
  for (const Json& host : preferred.flatten()) {
    if (host.is_string()) {
      named.insert(host.get<std::string>() + "-exec");
    }
  }
  if (!run.dag && named.empty()) {
    named.insert("(hidden)");  // A5: where there is no executor, no job starts
  }
  for (const std::string& name : named) {
    if (!any(run.steps, {{"op", "executor_added"}, {"executor", name}})) {
      (void)executor_of(run, name);
    }
  }
}

// ---- where tasks run, and how they end ----

// Attempts that the core never makes are read as the nearest of those it made.
std::int32_t attempt_of(const Run& run, const Json& step) {
  const Json made = column(said(run, "stage_submitted", {{"stage", step.at("stage")}}), "attempt");
  if (step.at("attempt") == "latest" || made.empty()) {
    return latest_attempt(run, step["stage"]);
  }
  return std::clamp<std::int32_t>(step["attempt"], made.front(), made.back());
}

// The tasks a step ends, in an attempt: partition, and executor where it is said; "all" are those
// that the case has not ended before.
Json tasks_of(const Run& run, const Json& step, const Json& attempt) {
  if (step.contains("task")) {
    return Json::array({step});
  }
  const Json of = {{"stage", step.at("stage")}, {"attempt", attempt}, {"injected", true}};
  const Json over = column(said(run, "task_end", of), "partition");
  const Json& some = part(step, "partitions");
  Json tasks = step.value("tasks", Json::array());
  for (const Json& partition : some == "all" ? partitions_of(run, step["stage"], attempt) : some) {
    if (some != "all" || !has(over, partition)) {
      tasks.push_back({{"partition", partition}});
    }
  }
  for (std::size_t i = 0; i < std::min(tasks.size(), part(step, "executors").size()); ++i) {
    tasks[i]["executor"] = step["executors"][i];
  }
  return tasks;
}

// The next tick of speculation comes, and what it starts. The core arms ticks in its passes: where
// slots are offered one by one, in one that offers nothing.
void tick(Run& run, const Json& /*step*/) {
  if (!run.dag) {
    run.offer({{}, RoundKind::single, {}});
  }
  run.elapse(run.options.config.speculation.value_or(model::SpeculationConfig{}).interval);
  run.settle();
}

// The start of the run that a step ends, or null if that is over: it has no id any more, so an
// engine drops what it says.
Json ended_run(Run& run, const Json& step, Json keys, const std::string& executor) {
  if (step.contains("task")) {
    if (said(run, "task_start", keys).empty()) {
      keys.erase("try");  // one that the core never makes is read as the latest
    }
    require(!said(run, "task_start", keys).empty(), "a start of " + keys.dump());
  }
  Json copy = keys;
  copy["speculative"] = true;
  for (int i = 0; step.value("speculative", false) && i < 10 && running(run, copy).is_null(); ++i) {
    tick(run, step);
  }
  const Json any = running(run, keys);
  if (step["op"] == "tasks_finished" && !executor.empty() && !run.narrow) {
    keys["executor"] = executor;
  }
  const Json found = running(run, keys);
  require(!found.is_null() || any.is_null() || lost(run, executor), keys.dump(),
          "on another executor");
  return found;
}

void end_tasks(Run& run, const Json& step) {
  const bool fetch = step["op"] == "fetch_failed";
  TaskEnded ended = end_of(step.value("reason", fetch ? "fetch_failed" : "success"));
  ended.fetch_from = StageIndex{0U};  // of a set: its "(input)"
  if (step.contains("checksum")) {
    ended.checksum = step["checksum"].get<std::uint64_t>();
  }
  if (fetch) {
    require(step.at("map").is_number() && step["map"] >= 0, "no push-based merge");
    const Job& reader = job_with(run, step.at("stage"));
    ended.fetch_from = index_in(reader, stage_of_shuffle(run, step.at("shuffle")));
    ended.fetch_partition = step["map"];
  }
  Json keys = step.contains("task")
                  ? about(step)
                  : Json{{"stage", step.at("stage")}, {"attempt", attempt_of(run, step)}};
  for (const Json& task : tasks_of(run, step, keys.value("attempt", 0))) {
    const std::int32_t partition = task.at("partition");
    keys["partition"] = partition;
    const Json start = ended_run(run, step, keys, task.value("executor", ""));
    if (start.is_null()) {
      continue;
    }
    const std::string stage = start["stage"];
    if (const Json& sizes = part(run.given["output_sizes"], stage); !sizes.empty()) {
      ended.output_bytes = sizes.at(static_cast<std::size_t>(partition)).get<std::int64_t>();
    }
    run.end(start, ended, true);
    if (const Json& to = part(run.given["outputs_migrated_to"], std::to_string(partition));
        to.is_string() && !ended.reason) {
      const Job& job = job_with(run, stage);
      run.feed(
          MoveOutput{job.id, index_in(job, stage), partition, ExecutorId{executor_of(run, to)}});
    }
  }
}

// One task fails until the core gives up: at once in a group, else as often as it may.
void give_up(Run& run, const Json& step) {
  Json keys = {{"stage", step.at("stage")}, {"attempt", attempt_of(run, step)}};
  Json start = running(run, keys);
  require(!start.is_null(), "a running task of the set");
  keys["partition"] = start["partition"];
  const std::int64_t enough = run.options.config.failure.max_task_failures;
  for (std::int64_t i = 0; i < enough && !start.is_null(); ++i, start = running(run, keys)) {
    run.end(start, end_of("exception"), false);
    run.settle();
  }
}

// A loss with no tasks_resubmitted after it is that of the host, with outputs that survive
// executors (as configured), unless the case says what survives.
void lose(Run& run, const Json& step) {
  const std::size_t lost = executor_of(run, step.at("executor"), false);
  if (step.at("reason") == "pending") {
    run.hold(lost, model::HoldCause::hold);  // the notice comes with the cause
    return;
  }
  const Json& config = run.given["config"];
  const bool said =
      config.contains("external_shuffle_service") || config.contains("reliable_shuffle_storage");
  const bool host =
      step.value("worker_lost", false) || (run.options.config.outputs_survive_executor && !said);
  const auto cause = step.value("caused_by_app", false) ? model::LossCause::exit_by_app
                     : host                             ? model::LossCause::host
                                                        : model::LossCause::process;
  for (std::size_t i = 0; i < run.executors.size(); ++i) {
    if (i == lost || (host && run.executors[i].host == run.executors[lost].host)) {
      run.lose(i, cause);
    }
  }
}

// Of the job that a step names, or of that with its stage; all if it names neither.
void cancel(Run& run, const Json& step) {
  for (const Job& row : run.jobs) {
    if (step.value("job", row.name) == row.name &&
        has(row.stages, step.value("stage", row.final_stage))) {
      run.feed(CancelJob{row.id});
    }
  }
}

void resubmit(Run& run, const Json& /*step*/) {
  run.fire(run.options.config.failure.resubmit_delay);
}

// ---- task level: a set is a job of one stage named as the set; where the case needs more, there
// is a stage "(input)" in front of it or a "(reader)" behind it ----

// Gives the set its input, on a new executor that nothing else uses.
void run_input(Run& run, const std::string& set) {
  model::ExecutorSpec spec;
  spec.resources = {1'000'000'000, 1'000'000};
  const ExecutorId fresh{run.join("(hidden)", "(hidden)", spec)};
  const OfferRound one{{{fresh, {}}}, RoundKind::single, {}};
  run.offer(one);
  resubmit(run, {});
  run.offer(one);
  if (const Json start = running(run, {{"stage", "(input)" + set}}); !start.is_null()) {
    run.end(start, {}, false);
  }
}

// As the case has it of the set, or of a partition of it: S.0.
void exclude(Run& run, const Job& job) {
  for (const auto& [name, places] : run.given["excluded"].items()) {
    const Json word = normal({{"set", name}});
    const Json here = word["stage"] == job.name ? places : Json();
    for (const auto& [kind, of_kind] : here.items()) {
      for (const std::string place : of_kind) {
        Exclude input{job.id, index_in(job, job.name), word.value("attempt", -1), {}, {}};
        if (kind == "executors") {
          input.executor = ExecutorId{executor_of(run, place)};
        } else {
          input.host = run.names.intern(place);
        }
        run.feed(input);
      }
    }
  }
}

// A set that is submitted again replaces its earlier attempt: the input is lost, the attempt ends
// as by a fetch failure when a task could be launched, and the next one follows the new input.
void submit_set(Run& run, const Json& word) {
  const std::string set = word.at("stage");
  if (has(run.jobs, set, &Job::name)) {
    run.lose(executor_of(run, "(hidden)"), model::LossCause::process);
    run_input(run, set);
    return;
  }
  const Json& sets = run.given["tasksets"];
  const Json* named = first(sets, {{"stage", set}});
  Json record = named != nullptr ? *named : the(sets, {{"stage", "S"}});  // like the only one
  record["id"] = set;
  const bool pipelined = record.value("pipelined", false);
  const bool input = word.contains("attempt") || any(run.steps, {{"reason", "fetch_failed"}});
  Json stages = Json::array({record});
  if (input) {
    stages.insert(stages.begin(), Json{{"id", "(input)" + set}, {"tasks", 1}});
  }
  if (pipelined || any(run.then, {{"op", "expect_resubmitted"}}) ||
      any(run.then, {{"op", "expect_counted_failures"}})) {
    const char* kind = pipelined ? "pipelined" : "regular";
    stages.push_back({{"id", "(reader)" + set}, {"tasks", 1}, {"input", kind}});
  }
  submit_chain(run, record, stages);
  if (record.value("zombie", false)) {
    run.feed(CancelJob{run.jobs.back().id});  // given up before any of its tasks ran
  }
  exclude(run, run.jobs.back());
  if (input) {
    run_input(run, set);
  }
}

// A single offer is one slot of the executor, or as many as a group needs to be admitted where
// slots are reserved (A2), the reader's beside it. A round that leaves out an executor is partial.
void offer(Run& run, const Json& step) {
  OfferRound round{{}, RoundKind::single, {}};
  Json free = step.value("free", Json::object());
  if (step["op"] == "offer_round") {
    const bool all = std::ranges::all_of(run.executors, [&](const Executor& row) {
      return lost(run, row.name) || row.name.starts_with('(') || free.contains(row.name);
    });
    round.kind = all ? RoundKind::complete : RoundKind::partial;
  } else {
    const Json* group = first(run.given["tasksets"], {{"stage", "S"}, {"pipelined", true}});
    const bool reserved =
        group != nullptr && run.options.config.admission.hold == model::Hold::reserve;
    free[step.value("executor", "e0")] = reserved ? group->at("tasks") : Json(1);
    if (reserved) {
      free[run.executors[executor_of(run, "(hidden)")].name] = 1;
    }
    round.limit = enum_of<Locality>(step.value("max_locality", "ANY"), "/when/max_locality");
  }
  for (const auto& [name, slots] : free.items()) {
    round.offers.push_back({ExecutorId{executor_of(run, name)},
                            model::ResourceVector{slots.get<int>() * 1000LL, 1'000'000}});
  }
  for (int i = 0; i < step.value("count", 1); ++i) {
    run.offer(round);
  }
}

// ---- rights to commit: of a stage whose tasks nobody starts, in a job J1 ----

void open_rights(Run& run, const Json& step) {
  if (run.jobs.empty()) {  // else another attempt of it
    const int tasks = step.at("max_partition").get<int>() + 1;
    const Json stage = {{"id", step.at("stage")}, {"tasks", tasks}};
    submit_chain(run, {{"id", "J1"}}, Json::array({stage}));
  }
}

template <class Kind>
void commit(Run& run, const Json& step) {
  const Job& job = job_with(run, step.at("stage"));
  run.feed(Kind{{job.id, index_in(job, step["stage"]), step.at("attempt"), step.at("partition"),
                 step.at("try")}});
}

// clang-format off
const std::map<std::string, void (*)(Run&, const Json&)> inputs{
    {"submit", [](Run& run, const Json& step) {
       submit_job(run, the(run.given["jobs"], {{"id", step.at("job")}})); }},
    {"submit_set", submit_set}, {"cancel", cancel}, {"end_tasks", end_tasks}, {"give_up", give_up},
    {"resubmit", resubmit}, {"lose", lose}, {"offer", offer}, {"tick", tick},
    {"open_rights", open_rights}, {"ask_commit", commit<CommitAsked>},
    {"end_commit", commit<CommitEnded>},
    {"nothing", [](Run&, const Json&) {}},  // the core does so itself at the loss
    {"lose_where_it_runs", [](Run& run, const Json& step) {  // lost: with its executor
       const Json start = running(run, about(step));
       require(!start.is_null(), "a running task");
       run.lose(start["row"], model::LossCause::process); }},
    {"join", [](Run& run, const Json& step) { (void)executor_of(run, step.at("executor")); }},
    {"drain", [](Run& run, const Json& step) {
       run.hold(executor_of(run, step.at("executor")), model::HoldCause::decommission); }},
    {"elapse", [](Run& run, const Json& step) {
       run.elapse(step.at("ms").get<std::int64_t>() * model::millisecond); }}};
// clang-format on

}  // namespace

std::size_t executor_of(Run& run, const std::string& name, bool open) {
  for (std::size_t i = run.executors.size(); i-- > 0;) {
    const bool gone = open && any(run.lines, {{"row", i}, {"gone", true}});
    if (run.narrow || (run.executors[i].name == name && !gone)) {
      return i;
    }
  }
  // hostA-exec and hostA-exec1 are on hostA, if neither the case's list nor a step says otherwise.
  Json record = {{"host", name.substr(0, name.find('-'))}};
  for (const Json& own : all(run.given["executors"], {{"id", name}})) {
    record.update(own);
  }
  bool offers = run.dag;
  for (const Json& step : run.steps) {
    const bool here = matches(step, {{"executor", name}}) && step.contains("host");
    record["host"] = here ? step["host"] : record["host"];
    offers |= step["op"].get<std::string>().starts_with("offer");
  }
  const std::string host = record["host"];
  model::ExecutorSpec spec;
  spec.resources = {(offers ? 1'000'000 : record.value("cpus", 64)) * 1000LL,
                    (run.dag ? 1'000'000 : part(record, "resources").value("gpu", 0)) * 1000LL};
  if (const Json& racks = run.given["racks"]; racks.contains(host)) {
    spec.rack = run.names.intern(racks[host].get<std::string>());
  }
  if (const Json& bound = run.given["executor_profiles"]; bound.contains(name)) {
    spec.profile = profile_of(run, bound[name]);
  }
  return run.join(name, host, spec);
}

TaskEnded end_of(const std::string& reason) {
  TaskEnded ended;
  if (reason != "success") {
    const bool killed = reason == "killed";
    ended.status = killed ? model::TaskStatus::killed : model::TaskStatus::failed;
    ended.reason = model::parse_enum<model::TaskReason>(killed ? "external" : reason);
    demand(ended.reason || has(vocabulary()["ends_not_done"], reason),
           "/when/reason: unknown word " + reason);
    require(ended.reason.has_value(), "an input for " + reason);
  }
  return ended;
}

// On the executor of the first later step that ends its partition in its attempt or, failing that,
// in one that is read as the latest. Copies run where nothing else does.
std::size_t where(Run& run, const Json& start) {
  if (start["speculative"]) {
    return executor_of(run, "copies");
  }
  const Json& stage = start.at("stage");
  const bool map = any(run.given["stages"], {{"id", stage}, {"kind", "map"}});
  const auto& steps = run.steps.get_ref<const Json::array_t&>();
  for (const bool as_latest : {false, true}) {
    for (const Json& step : steps | std::views::drop(run.step + 1)) {
      if (input_of(step) != "end_tasks" || step.at("stage") != stage) {
        continue;
      }
      const Json& attempt = step.at("attempt");
      const bool latest = attempt == "latest" || attempt > latest_attempt(run, stage);
      const Json tasks = tasks_of(run, step, start["attempt"]);
      const Json* task = first(tasks, {{"partition", start["partition"]}});
      std::string executor = task != nullptr ? task->value("executor", "") : "";
      const bool gone = lost(run, executor) && step.value("launched", "").starts_with("before");
      if (task == nullptr || gone || !(as_latest ? latest : attempt == start["attempt"])) {
        continue;
      }
      if (executor.empty() && step["op"] == "tasks_finished" && map) {
        executor = std::string("host") + char('A' + (task - &tasks.front()) % 26) + "-exec";  // A.2
      }
      return executor_of(run, executor.empty() ? "spare" : executor);
    }
  }
  return executor_of(run, "spare");
}

bool is_input(const std::string& op) { return vocabulary()["inputs"].contains(op); }

void begin(Run& run) {
  read_case(run);
  run.start();
  make_cluster(run);
  run.settle();
  const bool later = any(run.steps, {{"op", "taskset_submitted"}});
  for (const Json& set : later ? Json::array() : run.given["tasksets"]) {
    submit_set(run, set);
  }
}

void take_step(Run& run, const Json& step) {
  const Json& input = input_of(step);
  require(!input.is_null(), "an input for " + step["op"].dump());
  inputs.at(input)(run, step);
  run.settle();
  if (!run.dag) {
    run.elapse(0);
  }
  if (run.step == run.given["cached_from_step"]) {
    tell_cached(run);
  }
}

}  // namespace rehearse::conformance
