// Steps of a case as inputs, and where its tasks run: what its later steps say of their ends.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

using namespace scheduler;

namespace {

bool any_word(const Json& list, const Json& keys) {
  return std::ranges::any_of(list, [&](const Json& word) { return matches(word, keys); });
}

// ---- the cluster: at stage level large enough for everything, unless the case counts slots; at
// task level larger than what is offered of it ----

// The live executor of that name that takes launches; hostA-exec and hostA-exec1 are on hostA, if
// neither the case's list nor a step says another host.
std::size_t executor(Run& run, const std::string& name) {
  const auto found = run.engine->find(name);
  if (run.narrow ||
      (found && run.engine->executors[*found].live && !run.engine->executors[*found].draining)) {
    return found.value_or(0);
  }
  Json record = {{"host", name.substr(0, name.find('-'))}};
  for (const Json& row : part(run.given, "executors")) {
    record.update(row.at("id") == name ? row : Json::object());
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
  const std::string rack = part(run.given, "racks").value(host, "");
  spec.rack = rack.empty() ? model::NameId{} : run.names.intern(rack);
  const Json& bound = part(run.given, "executor_profiles");
  spec.profile = bound.contains(name) ? profile_of(run, bound[name]) : ProfileId{};
  return run.engine->join(name, host, spec);
}

void settle(Run& run);
void make_cluster(Run& run) {
  const Json& given = run.given;
  if (const Json& cluster = part(given, "cluster"); cluster.contains("slots")) {
    run.narrow = true;
    const int slots = cluster["slots"].at("default");
    model::ExecutorSpec spec;
    spec.resources = {(slots == 0 ? 1000 : slots) * 1000LL};  // 0 slots: those of a held executor
    (void)run.engine->join("cluster", "cluster", spec);
    if (cluster.value("held", false)) {
      run.engine->hold(0);
    }
    if (const Json& busy = part(cluster, "busy"); !busy.empty()) {
      model::JobSpec other;
      other.stages = {plain_stage(run, "busy", {{"tasks", busy.at("default")}})};
      submit_plain(run, "other work", std::move(other), Json::object());
    }
    return;
  }
  Names named;
  for (const Json& row : part(given, "executors")) {
    named.insert(row.at("id"));
  }
  for (const auto& stage : part(given, "narrow_preferred").items()) {
    named.insert(stage.value().begin()->at(0).get<std::string>() + "-exec");
  }
  for (const std::string& name : named) {
    if (!any_word(run.steps, {{"op", "executor_added"}, {"executor", name}})) {
      (void)executor(run, name);
    }
  }
  if (!run.dag && run.engine->executors.empty()) {
    (void)executor(run, "hidden");  // A5: where there is none, no job starts
  }
}

// ---- stage level ----

// Attempts that the core never makes are read as the latest one.
std::int32_t attempt_of(const Run& run, const Json& step) {
  const std::int32_t latest = latest_attempt(run, step.at("stage"));
  return step.at("attempt") == "latest" ? latest : std::min(step["attempt"].get<int>(), latest);
}

// Partition and executor ("": not said) of the tasks a step ends, in an attempt; "all" are those
// that the case has not ended before.
std::vector<std::pair<int, std::string>> tasks_of(const Run& run, const Json& step, int attempt) {
  std::vector<std::pair<int, std::string>> tasks;
  for (const Json& task : part(step, "tasks")) {
    tasks.emplace_back(task.at("partition"), task.value("executor", ""));
  }
  const std::string stage = step.at("stage");
  const bool all = part(step, "partitions") == "all";
  for (const Json& partition :
       all ? partitions_of(run, stage, attempt) : part(step, "partitions")) {
    if (!all ||
        said(run, "task_end",
             {{"injected", true}, {"stage", stage}, {"attempt", attempt}, {"partition", partition}})
            .empty()) {
      tasks.emplace_back(partition, "");
    }
  }
  for (std::size_t i = 0; i < std::min(tasks.size(), part(step, "executors").size()); ++i) {
    tasks[i].second = step["executors"][i];
  }
  return tasks;
}

// Where a task runs: on the executor of the first later step that ends its partition in its attempt
// or, failing that, in one that is read as the latest.
std::size_t where(Run& run, const Json& start) {
  const std::string stage = start.at("stage");
  const std::int32_t latest = latest_attempt(run, stage);
  std::string place;
  bool known = false;
  for (int i = run.engine->step + 1; i < static_cast<int>(run.steps.size()); ++i) {
    const Json& step = run.steps[static_cast<std::size_t>(i)];
    const std::string op = step.at("op");
    if ((op != "tasks_finished" && op != "fetch_failed" && op != "tasks_failed") ||
        step.at("stage") != stage) {
      continue;
    }
    const auto tasks = tasks_of(run, step, start.at("attempt"));
    const auto task = std::ranges::find_if(
        tasks, [&](const auto& one) { return start.at("partition") == one.first; });
    const bool same = step.at("attempt") == start["attempt"];
    const bool as_latest = step["attempt"] == "latest" || step["attempt"] > latest;
    // What ran on a lost executor before its loss is gone.
    if (task == tasks.end() || (!same && (!as_latest || known)) ||
        (run.losses.contains(task->second) && step.value("launched", "").starts_with("before"))) {
      continue;
    }
    known = true;
    place = task->second;
    if (place.empty() && op == "tasks_finished" && stage_record(run, stage).at("kind") == "map") {
      place = std::string("host") + char('A' + (task - tasks.begin()) % 26) + "-exec";  // A.2
    }
    if (same) {
      break;
    }
  }
  return executor(run, place.empty() ? "spare" : place);
}

void settle(Run& run) {
  if (run.dag) {
    const std::size_t spare = executor(run, "spare");
    run.engine->settle(spare, executor(run, "marker"),
                       [&run](const Json& start) { return where(run, start); });
  }
}

TaskEnded end_of(const std::string& reason) {
  const bool killed = reason == "killed";
  const auto known = model::parse_enum<model::TaskReason>(killed ? "external" : reason);
  require(known.has_value(), "a task end " + reason, "none in the core");
  return {{}, killed ? model::TaskStatus::killed : model::TaskStatus::failed, known, {}, 0};
}

// The ends of tasks, by success or as the step says.
void end_tasks(Run& run, const Json& step) {
  const std::string op = step.at("op");
  const std::string stage = step.at("stage");
  const bool success = op == "tasks_finished";
  TaskEnded ended;
  if (!success) {
    ended = end_of(op == "fetch_failed" ? op : step.at("reason").get<std::string>());
    run.failed.insert(stage);
  }
  if (op == "fetch_failed") {
    const JobRow& job = job_with(run, stage);
    ended.fetch_from = index_in(job, stage_of_shuffle(run, step.at("shuffle")));
    ended.fetch_partition = step.at("map");
    run.failed.insert(job.stages[ended.fetch_from.index()]);
  }
  const std::int32_t attempt = attempt_of(run, step);
  for (const auto& [partition, executor] : tasks_of(run, step, attempt)) {
    Json keys = {{"stage", stage}, {"attempt", attempt}, {"partition", partition}};
    const auto any = running(run, keys);
    const bool placed = success && !executor.empty() && !run.narrow;
    keys.update(placed ? Json{{"executor", executor}} : Json::object());
    const auto found = running(run, keys);
    // A run that is over has no id any more, so an engine drops what it says.
    require(found || !any || run.losses.contains(executor), keys.dump(), "on another executor");
    if (found) {
      run.engine->end(*found, ended, true);
      const bool counts = success && run.engine->lines.back().value("counted", true);
      for (const auto& [name, value] : part(step, "accumulators").items()) {
        run.accumulators[name] += counts ? value.get<int>() : 0;
      }
    }
  }
}

// One task fails until the core gives up: at once in a group, else as often as it may.
void give_up(Run& run, const Json& step) {
  Json keys = {{"stage", step.at("stage")}, {"attempt", attempt_of(run, step)}};
  require(running(run, keys).has_value(), "a running task of the set", "none");
  keys["partition"] = run.engine->running.at(running(run, keys)->value)["partition"];
  for (std::int64_t i = 0; i < run.options.config.failure.max_task_failures; ++i) {
    if (const auto found = running(run, keys)) {
      run.engine->end(*found, end_of("exception"), false);
      settle(run);
    }
  }
}

// A loss with no tasks_resubmitted after it is that of the host, with outputs that survive
// executors (configured in begin), unless the case says what survives.
void lose(Run& run, const Json& step) {
  const std::string name = step.at("executor");
  const std::size_t lost = executor(run, name);
  if (step.at("reason") == "pending") {
    run.engine->hold(lost);  // the notice comes with the cause
    return;
  }
  const Json& keys = part(run.given, "config");
  const bool said =
      keys.contains("external_shuffle_service") || keys.contains("reliable_shuffle_storage");
  const bool host =
      step.value("worker_lost", false) || (run.options.config.outputs_survive_executor && !said);
  ++run.losses[name];
  for (std::size_t i = 0; i < run.engine->executors.size(); ++i) {
    if (i == lost || (host && run.engine->executors[i].host == run.engine->executors[lost].host)) {
      run.engine->lose(i, step.value("caused_by_app", false) ? model::LossCause::exit_by_app
                          : host                             ? model::LossCause::host
                                                             : model::LossCause::process);
    }
  }
}

void submit_named(Run& run, const Json& step) {
  for (const Json& job : run.given.at("jobs")) {
    if (job.at("id") == step.at("job")) {
      submit_job(run, job);
    }
  }
}

void cancel(Run& run, const std::string& job) {  // empty: all
  for (const JobRow& row : run.jobs) {
    if (job.empty() || row.name == job) {
      run.engine->feed(CancelJob{row.id});
    }
  }
}

void resubmit(Run& run, const Json& /*step*/) {
  run.failed.clear();
  run.engine->fire([&](const Timer& timer) {
    return timer.set.delay == run.options.config.failure.resubmit_delay;
  });
}

// ---- task level: a set is a job of one stage named as the set; where the case needs more, there
// is a stage "input" in front of it or a "reader" behind it ----

Json set_record(const Run& run, const std::string& set) {
  const Json& given = run.given;
  Json found = given.value("taskset", Json{{"tasks", given.value("tasks", 0)}, {"barrier", true}});
  for (const Json& record : part(given, "tasksets")) {
    found = record.at("set") == set ? record : found;
  }
  return found;
}

// Gives the set its input, on a new executor that nothing else uses.
void run_input(Run& run) {
  run.input_executor = executor(run, "hidden" + std::to_string(run.engine->executors.size()));
  const OfferRound one{{{ExecutorId{run.input_executor}, {}}}, RoundKind::single, {}};
  run.engine->offer(one);
  resubmit(run, {});
  run.engine->offer(one);
  if (const auto found = running(run, {{"stage", "input"}})) {
    run.engine->end(*found, {}, false);
  }
}

void submit_set(Run& run, const std::string& set) {
  const Json record = set_record(run, set);
  if (record.contains("zombie")) {
    lacks("count of outstanding tasks");
  }
  const std::string name = set.substr(0, set.find('.'));
  const bool pipelined = record.value("pipelined", false);
  const bool input = name != set || any_word(run.steps, {{"reason", "fetch_failed"}});
  const bool reader = pipelined || any_word(run.then, {{"op", "expect_resubmitted"}}) ||
                      any_word(run.then, {{"op", "expect_counted_failures"}});
  model::JobSpec spec;
  if (input) {
    spec.stages.push_back(plain_stage(run, "input", {{"tasks", 1}}));
  }
  spec.stages.push_back(plain_stage(run, name, record));
  if (reader) {
    spec.stages.push_back(plain_stage(run, "reader", {{"tasks", 1}}));
  }
  for (std::size_t i = 1; i < spec.stages.size(); ++i) {
    model::EdgeSpec& edge = spec.edges.emplace_back();
    edge.from = StageIndex{i - 1};
    edge.to = {StageIndex{i}};
    edge.kind = pipelined && i + 1 == spec.stages.size() ? model::EdgeKind::pipelined
                                                         : model::EdgeKind::regular;
  }
  submit_plain(run, name, std::move(spec), record);
  if (input) {
    run_input(run);
  } else if (pipelined) {
    run.input_executor = executor(run, "hidden");  // where the reader runs
  }
}

// A set that is submitted again replaces its earlier attempt: the input is lost, the attempt ends
// as by a fetch failure when a task could be launched, and the next one follows the new input.
void submit_or_replace(Run& run, const Json& step) {
  const std::string set = step.at("set");
  if (std::ranges::find(run.jobs, set.substr(0, set.find('.')), &JobRow::name) == run.jobs.end()) {
    submit_set(run, set);
    return;
  }
  run.engine->lose(run.input_executor, model::LossCause::process);
  run_input(run);
}

// A single offer is one slot of the executor, or as many as a group needs to be admitted where
// slots are reserved (A2), the reader's beside it. A round that leaves out an executor is partial.
void offer(Run& run, const Json& step) {
  OfferRound round{{}, RoundKind::single, {}};
  const auto add = [&](std::size_t executor, std::int64_t slots) {
    round.offers.push_back({ExecutorId{executor}, model::ResourceVector{slots * 1000, 1'000'000}});
  };
  for (const auto& [name, free] : part(step, "free").items()) {
    add(executor(run, name), free);
  }
  if (step.at("op") == "offer") {
    const Json record = set_record(run, "");
    const bool whole = record.value("pipelined", false) &&
                       run.options.config.admission.hold == model::Hold::reserve;
    add(executor(run, step.at("executor")), whole ? record.at("tasks").get<std::int64_t>() : 1);
    if (whole) {
      add(run.input_executor, 1);
    }
    const Json& farthest = step.at("max_locality");
    const auto level = std::ranges::find(level_names, farthest.get<std::string>());
    require(level != level_names.end(), "a level of locality", farthest);
    round.limit = static_cast<Locality>(level - level_names.begin());
  } else if (step["op"] == "offer_round") {
    const bool all = std::ranges::all_of(run.engine->executors, [&](const ExecutorRow& row) {
      return !row.live || row.name.starts_with("hidden") || step["free"].contains(row.name);
    });
    round.kind = all ? RoundKind::complete : RoundKind::partial;
  } else {
    add(executor(run, "e0"), 1);
  }
  for (int i = 0; i < step.value("count", 1); ++i) {
    run.engine->offer(round);
  }
}

// ---- rights to commit: of a stage whose tasks nobody starts, in a job J1 ----

void start_stage(Run& run, const Json& step) {
  if (run.jobs.empty()) {  // else another attempt of it
    model::JobSpec spec;
    const int tasks = step.at("max_partition").get<int>() + 1;
    spec.stages = {plain_stage(run, step.at("stage"), {{"tasks", tasks}})};
    submit_plain(run, "J1", std::move(spec), step);
  }
}

CommitTry try_of(const Run& run, const Json& step) {
  const JobRow& job = job_with(run, step.at("stage"));
  return {job.id, index_in(job, step["stage"]), step.at("attempt"), step.at("partition"),
          step.at("task_attempt")};
}

void end_task(Run& run, const Json& step) {
  Json keys = {{"partition", step.at("task")}};
  keys.update(step.contains("task_attempt") ? Json{{"try", step["task_attempt"]}} : Json::object());
  keys.update(step.contains("set") ? Json{{"stage", step["set"]}} : Json::object());
  const auto found = running(run, keys);
  require(!said(run, "task_start", keys).empty(), "a start of " + keys.dump(), "none");
  if (found && step.at("op") == "task_status") {  // a task reported lost takes its executor with it
    const std::size_t place = run.engine->running.at(found->value)["row"];
    ++run.losses[run.engine->executors[place].name];
    run.engine->lose(place, model::LossCause::process);
  } else if (found) {
    TaskEnded ended = step["op"] == "task_finished" ? TaskEnded{} : end_of(step.at("reason"));
    ended.fetch_from = StageIndex{0U};  // stage "input"
    run.engine->end(*found, ended, true);
  }
}

// clang-format off
const std::map<std::string, void (*)(Run&, const Json&)> words{
    {"job_submitted", submit_named}, {"map_stage_job_submitted", submit_named},
    {"job_cancelled", [](Run& run, const Json& step) { cancel(run, step.at("job")); }},
    {"all_jobs_cancelled", [](Run& run, const Json&) { cancel(run, ""); }},
    {"kill_all_attempts", [](Run& run, const Json& step) { cancel(run, step.at("set")); }},
    {"tasks_finished", end_tasks}, {"tasks_failed", end_tasks}, {"fetch_failed", end_tasks},
    {"tasks_resubmitted", [](Run&, const Json&) {}},  // the core does so itself at the loss
    {"speculation_check", [](Run&, const Json&) {}},  // its timer came due with the clock
    {"taskset_aborted", give_up}, {"resubmit_timer_fired", resubmit}, {"executor_lost", lose},
    {"executor_added", [](Run& run, const Json& step) {
       (void)executor(run, step.at("executor")); }},
    {"executor_decommissioned", [](Run& run, const Json& step) {
       run.engine->decommission(executor(run, step.at("executor"))); }},
    {"offer", offer}, {"offer_round", offer}, {"offer_repeated", offer},
    {"taskset_submitted", submit_or_replace}, {"task_finished", end_task},
    {"task_failed", end_task}, {"task_status", end_task},
    {"stage_started", start_stage},
    {"stage_ended", [](Run& run, const Json&) { cancel(run, ""); }},
    {"commit_requested", [](Run& run, const Json& step) {
       run.engine->feed(CommitAsked{try_of(run, step)}); }},
    {"task_completed", [](Run& run, const Json& step) {
       run.engine->feed(CommitEnded{try_of(run, step)}); }},
    {"clock_advanced", [](Run& run, const Json& step) {
       run.engine->now += step.at("ms").get<std::int64_t>() * model::millisecond;
       run.engine->fire([&](const Timer& timer) { return timer.due <= run.engine->now; }); }}};
// clang-format on

}  // namespace

void begin(Run& run) {
  read_options(run);
  const Json& steps = run.steps;
  bool survive = false;
  for (const Json& step : steps) {
    survive = step["op"] == "executor_lost" || (survive && step["op"] != "tasks_resubmitted");
  }
  if (run.dag && !part(run.given, "config").contains("external_shuffle_service")) {
    run.options.config.outputs_survive_executor |= survive;
  }
  run.engine = std::make_unique<Engine>(run.options, !run.dag);
  make_cluster(run);
  settle(run);
  const bool later = any_word(steps, {{"op", "taskset_submitted"}});
  for (const Json& set : later ? part(run.given, "") : part(run.given, "tasksets")) {
    submit_set(run, set.at("set"));
  }
  if (!later && (run.given.contains("taskset") || run.given.contains("tasks"))) {
    submit_set(run, "S");
  }
}

void take_step(Run& run, const Json& step) {
  const std::string op = step.at("op");
  const auto word = words.find(op);
  if (word == words.end()) {
    lacks("input for " + op);
  }
  if (step.contains("checksum") || (op == "fetch_failed" && step.contains("speculative"))) {
    lacks(step.contains("checksum") ? "checksums of outputs" : "speculative copies");
  }
  if (op == "fetch_failed" && !(step.at("map").is_number() && step["map"] >= 0)) {
    lacks("push-based merge");
  }
  word->second(run, step);
  settle(run);
}

}  // namespace rehearse::conformance
