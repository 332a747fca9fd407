// Steps of a case as inputs, and where its tasks run: what its later steps say of their ends.
#include <nlohmann/json.hpp>

#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

using namespace scheduler;

// ---- the cluster: at stage level large enough for everything, unless the case counts slots; at
// task level larger than what is offered of it ----

std::size_t executor_of(Run& run, const std::string& name) {
  const auto found = std::ranges::find_if(run.executors, [&](const Executor& row) {
    return run.narrow || (row.name == name && row.live && !row.draining);
  });
  if (found != run.executors.end()) {
    return static_cast<std::size_t>(found - run.executors.begin());
  }
  Json record = {{"host", name.substr(0, name.find('-'))}};
  if (const Json* row = first(part(run.given, "executors"), {{"id", name}})) {
    record.update(*row);
  }
  bool offers = run.dag;
  for (const Json& step : run.steps) {
    const bool here = matches(step, {{"executor", name}}) && step.contains("host");
    record["host"] = here ? step["host"] : record["host"];
    offers |= step.at("op").get<std::string>().starts_with("offer");
  }
  const std::string host = record["host"];
  model::ExecutorSpec spec;
  spec.resources = {(offers ? 1'000'000 : record.value("cpus", 64)) * 1000LL,
                    (run.dag ? 1'000'000 : part(record, "resources").value("gpu", 0)) * 1000LL};
  if (const Json& racks = part(run.given, "racks"); racks.contains(host)) {
    spec.rack = run.names.intern(racks[host].get<std::string>());
  }
  if (const Json& bound = part(run.given, "executor_profiles"); bound.contains(name)) {
    spec.profile = profile_of(run, bound[name]);
  }
  return run.join(name, host, spec);
}

namespace {

void make_cluster(Run& run) {
  const Json& cluster = part(run.given, "cluster");
  run.narrow = cluster.contains("slots");
  if (run.narrow) {
    const int slots = cluster["slots"].at("default");
    model::ExecutorSpec spec;
    spec.resources = {(slots == 0 ? 1000 : slots) * 1000LL};  // 0 slots: those of a held executor
    (void)run.join("cluster", "cluster", spec);
    if (cluster.value("held", false)) {
      run.hold(0, model::HoldCause::hold);
    }
    if (const Json& busy = part(cluster, "busy"); !busy.empty()) {
      const Json stage = {{"id", "(busy)"}, {"tasks", busy.at("default")}};
      submit_chain(run, {{"id", "(others)"}}, {stage});
    }
    return;
  }
  auto named = column(part(run.given, "executors"), "id").get<Names>();
  const Json preferred = {part(run.given, "narrow_preferred"), part(run.given, "cached")};
  for (const Json& host : preferred.flatten()) {
    if (host.is_string()) {
      named.insert(host.get<std::string>() + "-exec");
    }
  }
  if (!run.dag && named.empty()) {
    named.insert("(hidden)");  // A5: where there is no executor, no job starts
  }
  for (const std::string& name : named) {
    if (first(run.steps, {{"op", "executor_added"}, {"executor", name}}) == nullptr) {
      (void)executor_of(run, name);
    }
  }
}

// ---- where tasks run, and how they end ----

// Attempts that the core never makes are read as the nearest of those it made.
std::int32_t attempt_of(const Run& run, const Json& step) {
  const Json all = said(run, "stage_submitted", {{"stage", step.at("stage")}});
  const std::int32_t latest = latest_attempt(run, step["stage"]);
  return step.at("attempt") == "latest" || all.empty()
             ? latest
             : std::clamp<std::int32_t>(step["attempt"], all.front().at("attempt"), latest);
}

// The tasks a step ends, in an attempt: partition, and executor where it is said; "all" are those
// that the case has not ended before.
Json tasks_of(const Run& run, const Json& step, const Json& attempt) {
  Json tasks = step.contains("task") ? Json::array({step}) : step.value("tasks", Json::array());
  const bool all = part(step, "partitions") == "all";
  for (const Json& partition :
       all ? partitions_of(run, step["stage"], attempt) : part(step, "partitions")) {
    const Json over = {{"injected", true},
                       {"stage", step.at("stage")},
                       {"attempt", attempt},
                       {"partition", partition}};
    if (!all || said(run, "task_end", over).empty()) {
      tasks.push_back({{"partition", partition}});
    }
  }
  for (std::size_t i = 0; i < std::min(tasks.size(), part(step, "executors").size()); ++i) {
    tasks[i]["executor"] = step["executors"][i];
  }
  return tasks;
}

}  // namespace

TaskEnded end_of(const std::string& reason) {
  TaskEnded ended;
  if (reason != "success") {
    const bool killed = reason == "killed";
    ended.status = killed ? model::TaskStatus::killed : model::TaskStatus::failed;
    ended.reason = model::parse_enum<model::TaskReason>(killed ? "external" : reason);
    require(ended.reason.has_value(), "a task end " + reason);
  }
  return ended;
}

std::size_t where(Run& run, const Json& start) {
  const std::string stage = start.at("stage");
  const bool map = first(run.given["stages"], {{"id", stage}, {"kind", "map"}}) != nullptr;
  enum { none, as_latest, same } best = start["speculative"] ? same : none;  // a copy: elsewhere
  std::string place;
  for (auto i = static_cast<std::size_t>(run.step) + 1; i < run.steps.size(); ++i) {
    const Json& step = run.steps[i];
    const std::string op = step.at("op");
    if (!listed(" tasks_finished fetch_failed tasks_failed ", op) || step.at("stage") != stage) {
      continue;
    }
    const Json& attempt = step.at("attempt");
    const bool read = attempt == "latest" || attempt > latest_attempt(run, stage);
    const auto here = attempt == start.at("attempt") ? same : read ? as_latest : none;
    const Json tasks = tasks_of(run, step, start["attempt"]);
    const Json* task = first(tasks, {{"partition", start.at("partition")}});
    const std::string executor = task != nullptr ? task->value("executor", "") : "";
    const bool gone =
        run.losses.contains(executor) && step.value("launched", "").starts_with("before");
    if (task != nullptr && here > best && !gone) {
      best = here;
      place = executor;
      if (place.empty() && op == "tasks_finished" && map) {
        place = std::string("host") + char('A' + (task - &tasks.front()) % 26) + "-exec";  // A.2
      }
    }
  }
  return executor_of(run, place.empty() ? "spare" : place);
}

namespace {

// The next tick of speculation comes, and what it starts. The core arms ticks in its passes: where
// slots are offered one by one, in one that offers nothing.
void tick(Run& run, const Json& /*step*/) {
  if (!run.dag) {
    run.offer({{}, RoundKind::single, {}});
  }
  run.elapse(run.options.config.speculation.value_or(model::SpeculationConfig{}).interval);
  run.settle();
}

// What the ends of a step have in common.
TaskEnded ends_of(Run& run, const Json& step) {
  const std::string op = step.at("op");
  TaskEnded ended = end_of(step.value("reason", op == "fetch_failed" ? op : "success"));
  ended.fetch_from = StageIndex{0U};  // of a set: its "(input)"
  if (step.contains("checksum")) {
    ended.checksum = step["checksum"].get<std::uint64_t>();
  }
  if (ended.reason) {
    run.failed.insert(step.value("stage", ""));
  }
  if (op == "fetch_failed") {
    require(step.at("map").is_number() && step["map"] >= 0, "no push-based merge");
    const Job& job = job_with(run, step["stage"]);
    ended.fetch_from = index_in(job, stage_of_shuffle(run, step.at("shuffle")));
    ended.fetch_partition = step["map"];
    run.failed.insert(job.stages[ended.fetch_from.index()]);
  }
  return ended;
}

// The start of the run that a step ends, or null if that is over.
Json ended_run(Run& run, const Json& step, Json keys, const std::string& executor) {
  if (step.contains("task")) {
    if (said(run, "task_start", keys).empty()) {
      keys.erase("try");  // one that the core never makes is read as the latest
    }
    require(!said(run, "task_start", keys).empty(), "a start of " + keys.dump());
    return running(run, keys);
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
  // A run that is over has no id any more, so an engine drops what it says.
  require(!found.is_null() || any.is_null() || run.losses.contains(executor), keys.dump(),
          "on another executor");
  return found;
}

void end_tasks(Run& run, const Json& step) {
  TaskEnded ended = ends_of(run, step);
  const bool of_set = step.contains("task");
  Json keys =
      of_set ? about(step) : Json{{"stage", step.at("stage")}, {"attempt", attempt_of(run, step)}};
  for (const Json& task : tasks_of(run, step, keys.value("attempt", 0))) {
    const std::int32_t partition = task.at("partition");
    keys["partition"] = partition;
    const Json start = ended_run(run, step, keys, task.value("executor", ""));
    if (start.is_null()) {
      continue;
    }
    const std::string stage = start["stage"];
    if (const Json& sizes = part(part(run.given, "output_sizes"), stage); !sizes.empty()) {
      ended.output_bytes = sizes.at(static_cast<std::size_t>(partition)).get<std::int64_t>();
    }
    run.end(start, ended, true);
    const bool counts = !ended.reason && run.lines.back().value("counted", true);
    for (const auto& [name, value] : part(step, "accumulators").items()) {
      run.accumulators[name] += counts ? value.get<int>() : 0;
    }
    if (const Json& to = part(part(run.given, "outputs_migrated_to"), std::to_string(partition));
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
  const std::string name = step.at("executor");
  const std::size_t lost = executor_of(run, name);
  if (step.at("reason") == "pending") {
    run.hold(lost, model::HoldCause::hold);  // the notice comes with the cause
    return;
  }
  const Json& keys = part(run.given, "config");
  const bool said =
      keys.contains("external_shuffle_service") || keys.contains("reliable_shuffle_storage");
  const bool host =
      step.value("worker_lost", false) || (run.options.config.outputs_survive_executor && !said);
  const auto cause = step.value("caused_by_app", false) ? model::LossCause::exit_by_app
                     : host                             ? model::LossCause::host
                                                        : model::LossCause::process;
  ++run.losses[name];
  for (std::size_t i = 0; i < run.executors.size(); ++i) {
    if (i == lost || (host && run.executors[i].host == run.executors[lost].host)) {
      run.lose(i, cause);
    }
  }
}

void submit(Run& run, const Json& step) {
  submit_job(run, the(run.given.at("jobs"), {{"id", step.at("job")}}));
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
  run.failed.clear();
  run.fire(run.options.config.failure.resubmit_delay);
}

// ---- task level: a set is a job of one stage named as the set; where the case needs more, there
// is a stage "(input)" in front of it or a "(reader)" behind it ----

// A set that no list names is like the only one.
const Json& set_record(const Run& run, const std::string& set) {
  const Json* named = first(run.given["tasksets"], {{"stage", set}});
  return named != nullptr ? *named : the(run.given["tasksets"], {{"stage", "S"}});
}

// Gives the set its input, on a new executor that nothing else uses.
void run_input(Run& run, const std::string& set) {
  run.input_executor = executor_of(run, "(hidden" + std::to_string(run.executors.size()));
  const OfferRound one{{{ExecutorId{run.input_executor}, {}}}, RoundKind::single, {}};
  run.offer(one);
  resubmit(run, {});
  run.offer(one);
  if (const Json start = running(run, {{"stage", "(input)" + set}}); !start.is_null()) {
    run.end(start, {}, false);
  }
}

void exclude(Run& run, const Job& job) {
  for (const auto& [name, places] : part(run.given, "excluded").items()) {
    const Json word = normal({{"set", name}});  // S.0: only its partition 0
    for (const auto& [kind, list] : places.items()) {
      for (const std::string place : word["stage"] == job.name ? list : Json::array()) {
        Exclude input{job.id, index_in(job, job.name), word.value("attempt", -1), {}, {}};
        if (kind == "hosts") {
          input.host = run.names.intern(place);
        } else {
          input.executor = ExecutorId{executor_of(run, place)};
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
    run.lose(run.input_executor, model::LossCause::process);
    run_input(run, set);
    return;
  }
  Json record = set_record(run, set);
  const bool pipelined = record.value("pipelined", false);
  const bool input =
      word.contains("attempt") || first(run.steps, {{"reason", "fetch_failed"}}) != nullptr;
  const bool reader = pipelined || first(run.then, {{"op", "expect_resubmitted"}}) != nullptr ||
                      first(run.then, {{"op", "expect_counted_failures"}}) != nullptr;
  record["id"] = set;
  std::vector<Json> stages{record};
  if (input) {
    stages.insert(stages.begin(), Json{{"id", "(input)" + set}, {"tasks", 1}});
  }
  if (reader) {
    const char* kind = pipelined ? "pipelined" : "regular";
    stages.push_back(Json{{"id", "(reader)" + set}, {"tasks", 1}, {"input", kind}});
  }
  submit_chain(run, record, stages);
  if (record.value("zombie", false)) {
    run.feed(CancelJob{run.jobs.back().id});  // given up before any of its tasks ran
  }
  exclude(run, run.jobs.back());
  if (input) {
    run_input(run, set);
  } else if (pipelined) {
    run.input_executor = executor_of(run, "(hidden)");  // where the reader runs
  }
}

// A single offer is one slot of the executor, or as many as a group needs to be admitted where
// slots are reserved (A2), the reader's beside it. A round that leaves out an executor is partial.
void offer(Run& run, const Json& step) {
  const Json& sets = run.given["tasksets"];
  const bool reserves = run.options.config.admission.hold == model::Hold::reserve;
  const Json* group = reserves ? first(sets, {{"stage", "S"}, {"pipelined", true}}) : nullptr;
  const bool single = step.at("op") != "offer_round";
  Json free = step.value("free", Json::object());
  OfferRound round{{}, RoundKind::single, {}};
  if (single) {
    free[step.value("executor", "e0")] = group != nullptr ? group->at("tasks") : Json(1);
    round.limit = static_cast<Locality>(
        place_of(level_names, step.value("max_locality", "ANY"), "a level of locality"));
  } else {
    const bool all = std::ranges::all_of(run.executors, [&](const Executor& row) {
      return !row.live || row.name.starts_with('(') || free.contains(row.name);
    });
    round.kind = all ? RoundKind::complete : RoundKind::partial;
  }
  if (single && group != nullptr) {
    free[run.executors[run.input_executor].name] = 1;
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

template <class Kind>
void commit(Run& run, const Json& step) {
  const Job& job = job_with(run, step.at("stage"));
  run.feed(Kind{{job.id, index_in(job, step["stage"]), step.at("attempt"), step.at("partition"),
                 step.at("try")}});
}

// clang-format off
const std::map<std::string, void (*)(Run&, const Json&)> words{
    {"job_submitted", submit}, {"map_stage_job_submitted", submit},
    {"job_cancelled", cancel}, {"all_jobs_cancelled", cancel}, {"kill_all_attempts", cancel},
    {"stage_ended", cancel},
    {"tasks_finished", end_tasks}, {"tasks_failed", end_tasks}, {"fetch_failed", end_tasks},
    {"tasks_resubmitted", [](Run&, const Json&) {}},  // the core does so itself at the loss
    {"taskset_aborted", give_up}, {"resubmit_timer_fired", resubmit}, {"executor_lost", lose},
    {"executor_added", [](Run& run, const Json& step) {
       (void)executor_of(run, step.at("executor")); }},
    {"executor_decommissioned", [](Run& run, const Json& step) {
       run.hold(executor_of(run, step.at("executor")), model::HoldCause::decommission); }},
    {"offer", offer}, {"offer_round", offer}, {"offer_repeated", offer},
    {"taskset_submitted", submit_set},
    {"stage_started", [](Run& run, const Json& step) {
       if (run.jobs.empty()) {  // else another attempt of it
         const int tasks = step.at("max_partition").get<int>() + 1;
         const Json stage = {{"id", step.at("stage")}, {"tasks", tasks}};
         submit_chain(run, {{"id", "J1"}}, {stage});
       } }},
    {"task_finished", end_tasks}, {"task_failed", end_tasks},
    {"task_status", [](Run& run, const Json& step) {  // lost: it takes its executor with it
       const Json start = running(run, about(step));
       ++run.losses[start.at("executor")];
       run.lose(start["row"], model::LossCause::process); }},
    {"commit_requested", commit<CommitAsked>}, {"task_completed", commit<CommitEnded>},
    {"speculation_check", tick},
    {"clock_advanced", [](Run& run, const Json& step) {
       run.elapse(step.at("ms").get<std::int64_t>() * model::millisecond); }}};
// clang-format on

}  // namespace

void begin(Run& run) {
  read_case(run);
  run.start();
  make_cluster(run);
  run.settle();
  const bool later = first(run.steps, {{"op", "taskset_submitted"}}) != nullptr;
  for (const Json& set : later ? Json::array() : run.given["tasksets"]) {
    submit_set(run, set);
  }
}

void take_step(Run& run, const Json& step) {
  const std::string op = step.at("op");
  const auto word = words.find(op);
  require(word != words.end(), "an input for " + op);
  word->second(run, step);
  run.settle();
  if (!run.dag) {
    run.elapse(0);
  }
  if (run.step == run.given.value("cached_from_step", -1)) {
    tell_cached(run);
  }
}

}  // namespace rehearse::conformance
