// A case as configuration and jobs.
#include <cmath>
#include <nlohmann/json.hpp>
#include <variant>

#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

using namespace scheduler;

namespace {

std::int32_t milli(double amount) { return static_cast<std::int32_t>(std::lround(amount * 1000)); }

template <class Enum>
Enum enum_of(const std::string& text) {
  const auto value = model::parse_enum<Enum>(text);
  demand(value.has_value(), "/given: unknown word " + text);
  return *value;
}

// Options of the case as those of the core; what it has no place for is told.
void read_options(Run& run) {
  model::SchedulerConfig& config = run.options.config;
  EngineOptions& engine = run.options.engine;
  bool legacy_reset = false;
  bool slot_check = true;
  bool speculation = false;
  bool survive = false;  // A.9 rule 2
  for (const Json& step : run.steps) {
    survive = step["op"] == "executor_lost" || (survive && step["op"] != "tasks_resubmitted");
  }
  bool service = run.dag && survive;
  // Numbers in the unit that the name ends with.
  const std::map<std::string, std::variant<bool*, std::int64_t*>> options{
      {"max_consecutive_stage_attempts", &config.failure.max_stage_attempts},
      {"max_task_failures", &config.failure.max_task_failures},
      {"max_total_stage_attempts", &engine.max_total_stage_attempts},
      {"locality_wait_ms", &config.locality_wait},
      {"speculation_threshold_ms", &engine.speculation_threshold},
      {"decommission_kill_ms", &engine.decommission_kill},
      {"unschedulable_timeout_s", &engine.exclusion.unschedulable_timeout},
      {"external_shuffle_service", &service},
      {"reliable_shuffle_storage", &config.outputs_survive_executor},
      {"unregister_outputs_on_host", &engine.unregister_outputs_on_host},
      {"ignore_decommission_fetch_failures", &engine.ignore_decommission_fetch_failures},
      {"old_fetch_protocol", &engine.old_fetch_protocol},
      {"legacy_locality_wait_reset", &legacy_reset},
      {"pipelined_slot_check", &slot_check},
      {"speculation", &speculation},
      {"dynamic_allocation", &run.options.autoscaling}};
  const Json& other = vocabulary()["options"];  // with the value with which nothing is asked
  for (const auto& [key, value] : part(run.given, "config").items()) {
    if (const auto option = options.find(key); option == options.end()) {
      demand(other.contains(key), "/given/config: unknown word " + key);
      require(other[key].is_null() || value == other[key], "option " + key);
    } else if (bool* const* flag = std::get_if<bool*>(&option->second)) {
      **flag = value;
    } else {
      *std::get<std::int64_t*>(option->second) =
          value.get<std::int64_t>() * (key.ends_with("_ms")  ? model::millisecond
                                       : key.ends_with("_s") ? model::second
                                                             : 1);
    }
  }
  config.outputs_survive_executor |= service;
  config.locality_reset = legacy_reset ? model::LocalityReset::legacy : config.locality_reset;
  // In one variant the job asks for it; elsewhere a copy that ends may be all that says it.
  if ((speculation && run.variant != "job_property") || any(run.steps, {{"speculative", true}})) {
    config.speculation.emplace();
  }
  // The seed's specification has no such switch.
  if (!slot_check && run.dialect == model::Dialect::spark) {
    config.admission.hold = model::Hold::none;
  }
}

// What the core does for engines only, as the rest of the case has it.
void read_engine(Run& run) {
  EngineOptions& engine = run.options.engine;
  // The seed's specification knows no status after the notice (X12). Where the attempt ends the
  // task again the loss had ended it, and it was tried anew.
  Json late = Json::object();  // by stage and attempt: how its last end was launched
  for (const Json& step : run.steps) {
    if (step["op"] == "tasks_finished") {
      late[step.at("stage").dump() + step.at("attempt").dump()] = step.value("launched", "");
    }
  }
  engine.reports_after_loss =
      run.dialect == model::Dialect::spark && has(late, "before_executor_loss");
  engine.refuse_commits = run.given.value("refuse_all", false);
  engine.tracked_outputs = true;
  engine.query_level_rollback = any(run.given["stages"], {{"query_level_rollback", true}});
  // Nobody is to prefer anything where the case says where tasks run (also A.2: of map stages),
  // but it may ask what a task that reads prefers.
  const Json& config = part(run.given, "config");
  if (config.contains("reducer_preferred_fraction") ||
      (any(run.then, {{"op", "expect_preferred_hosts"}}) && !run.given.contains("cached"))) {
    engine.reducer_preferred_milli = milli(config.value("reducer_preferred_fraction", 0.2));
  }
  // Failures are also counted where the case asks what they excluded.
  engine.exclusion.on_failure =
      config.contains("exclude_ms") || any(run.then, {{"op", "expect_exclude_list_empty"}});
}

// Resources are cpus and gpus; a set may say what its tasks need.
void read_profiles(Run& run) {
  const double cpus_per_task = part(run.given, "config").value("cpus_per_task", 1.0);
  Json tasks = {{"default", Json::object()}};
  for (const Json& bound : part(run.given, "executor_profiles")) {
    tasks[bound.get<std::string>()] = Json::object();
  }
  for (const auto& [name, profile] : part(run.given, "profiles").items()) {
    tasks[name] = profile.at("task");
  }
  for (const Json& set : run.given["tasksets"]) {
    tasks[set.value("profile", "default")] = set;
  }
  for (const bool first : {true, false}) {
    for (const auto& [name, task] : tasks.items()) {
      if ((name == "default") == first) {
        run.options.profile_names.push_back(run.names.intern(name));
        run.options.profile_tasks.push_back(
            {milli(task.value("cpus", cpus_per_task)), milli(task.value("gpu", 0.0))});
      }
    }
  }
}

bool has_edge(const Run& run, const std::string& from, const char* kind) {
  return any(run.given["edges"], {{"from", from}, {"kind", kind}});
}

// The last job that made this stage itself, and the stage's place there; or null.
const Job* maker_of(const Run& run, const std::string& stage) {
  const auto made = [&](const Job& job) {
    const auto place = std::ranges::find(job.stages, base_of(stage), base_of);
    return place < job.stages.begin() + static_cast<std::ptrdiff_t>(job.own);
  };
  const auto job = std::find_if(run.jobs.rbegin(), run.jobs.rend(), made);
  return job == run.jobs.rend() ? nullptr : &*job;
}

// A stage of which the outputs of an earlier job are read.
bool taken_over(const Run& run, const std::string& stage) {
  return maker_of(run, stage) != nullptr && !has_edge(run, stage, "pipelined");
}

// A map-stage job ends in the next incarnation of its shuffle's stage that no earlier job has.
std::string final_stage_of(const Run& run, const Json& job) {
  std::string last = job.value("final_stage", "");
  for (const Json& record : job.at("kind") == "map_stage" ? run.given["stages"] : Json()) {
    const bool taken = std::ranges::any_of(
        run.jobs, [&](const Job& earlier) { return has(earlier.stages, last); });
    if ((last.empty() || taken) &&
        base_of(record["id"]) == stage_of_shuffle(run, job.at("shuffle"))) {
      last = record["id"];
    }
  }
  return last;
}

// The stages a job is made of, in the order of the file, in which parents come first.
Job job_row(const Run& run, const Json& job) {
  Job row{job.at("id"), JobId{run.jobs.size()}, {}, 0, final_stage_of(run, job)};
  Names needed{row.final_stage};
  std::vector<std::string> foreign;  // behind its own
  const Json ids = column(run.given["stages"], "id");
  for (auto stage = ids.rbegin(); stage != ids.rend(); ++stage) {
    const bool read = std::ranges::any_of(run.given["edges"], [&](const Json& edge) {
      return edge.at("from") == *stage && needed.contains(edge.at("to"));
    });
    if (read || *stage == row.final_stage) {
      needed.insert(*stage);
      auto& list = taken_over(run, *stage) ? foreign : row.stages;
      list.insert(list.begin(), *stage);
    }
  }
  row.own = row.stages.size();
  row.stages.insert(row.stages.end(), foreign.begin(), foreign.end());
  return row;
}

// One edge per shuffle of a job.
void add_edges(Run& run, const Job& row, model::JobSpec& spec, SubmitJob& input) {
  std::map<std::string, std::size_t> by_shuffle;
  for (const Json& record : run.given["edges"]) {
    const std::string from = record.at("from");
    const std::string to = record.at("to");
    if (!has(row.stages, from) || !has(row.stages, to)) {
      continue;
    }
    const auto place = by_shuffle.emplace(record.at("shuffle"), spec.edges.size()).first->second;
    spec.edges.resize(std::max(spec.edges.size(), place + 1));
    model::EdgeSpec& edge = spec.edges[place];
    edge.from = StageIndex{place_of(row.stages, from, from)};
    edge.to.emplace_back(place_of(row.stages, to, to));
    edge.checksum_retry = the(run.given["stages"], {{"id", from}}).value("checksum_retry", false);
    const Job* maker = maker_of(run, from);
    if (edge.from.index() >= row.own) {
      edge.from_job = run.names.intern(maker->name);
      continue;
    }
    edge.kind = enum_of<model::EdgeKind>(record.at("kind"));
    if (edge.kind == model::EdgeKind::pipelined && maker != nullptr && live(run, maker->name)) {
      input.reused_job = maker->id;  // F7: the same shuffle
      edge.reuse_job = run.names.intern(maker->name);
      edge.reuse_stage = run.names.intern(base_of(from));
    }
  }
}

model::StageSpec stage_spec(Run& run, const Json& record) {
  model::StageSpec spec;
  spec.name = run.names.intern(record.at("id").get<std::string>());
  spec.tasks = record.at("tasks");
  spec.duration = model::Distribution{};
  spec.profile = profile_of(run, record.value("profile", "default"));
  spec.barrier = record.value("barrier", false);
  const std::string checkpoint = record.value("checkpoint", "none");
  spec.checkpoint = enum_of<model::Checkpoint>(checkpoint.substr(0, checkpoint.find('_')));
  // Data that lies in a reliable checkpoint is what it is, whatever it was made from (SS-1.10).
  spec.indeterminate =
      record.value("deterministic", "") == "indeterminate" && checkpoint != "reliable_done";
  for (const auto& [partition, places] : part(record, "preferred").items()) {
    spec.prefers.resize(static_cast<std::size_t>(spec.tasks));
    for (const std::string place : places) {  // host, or host/executor: that, then its host
      auto& preferred = spec.prefers.at(std::stoul(partition));
      preferred.push_back(run.names.intern(place.substr(place.find('/') + 1)));
      preferred.push_back(run.names.intern(place.substr(0, place.find('/'))));
    }
  }
  return spec;
}

// What is known by now to be cached of the stages of a job.
std::vector<CachedPartition> cached_in(Run& run, const Job& row) {
  std::vector<CachedPartition> found;
  const bool known = run.step >= run.given.value("cached_from_step", -1);
  for (std::size_t i = 0; known && i < row.stages.size(); ++i) {
    for (const auto& [partition, hosts] : part(part(run.given, "cached"), row.stages[i]).items()) {
      CachedPartition& one = found.emplace_back(StageIndex{i}, std::stoi(partition));
      for (const std::string host : hosts) {
        one.places.push_back(run.names.intern(host));
      }
    }
  }
  return found;
}

}  // namespace

Json normal(Json word) {
  if (word.is_array()) {
    std::ranges::transform(word, word.begin(), normal);
    return word;
  }
  if (word.contains("set")) {  // S0.1: attempt 1 of S0
    const std::string set = word["set"];
    word["stage"] = set.substr(0, set.find('.'));
    if (set.contains('.')) {
      word["attempt"] = std::stoi(set.substr(set.find('.') + 1));
    }
  }
  for (const auto& [from, to] : {std::pair{"task", "partition"}, {"task_attempt", "try"}}) {
    if (word.contains(from)) {
      word[to] = word[from];
    }
  }
  return word;
}

std::string base_of(const std::string& stage) { return stage.substr(0, stage.find('@')); }

std::string stage_of_shuffle(const Run& run, const std::string& shuffle) {
  const Json& named = part(run.given, "shuffles");
  return base_of(named.contains(shuffle)
                     ? named[shuffle]
                     : the(run.given["edges"], {{"shuffle", shuffle}}).at("from"));
}

ProfileId profile_of(const Run& run, const std::string& profile) {
  return ProfileId{
      place_of(run.options.profile_names, run.names.find(profile), "profile " + profile)};
}

void read_case(Run& run) {
  Json& given = run.given;
  for (const char* key : {"user_code", "dataset_profiles"}) {
    require(!given.contains(key), std::string("input for ") + key);
  }
  given.emplace("edges", Json::array());
  given.emplace("stages", Json::array());
  run.narrow = part(given, "cluster").contains("slots");
  Json& sets = *given.emplace("tasksets", Json::array()).first;
  if (given.contains("taskset") || given.contains("tasks")) {  // the only one: S
    const Json met = {{"tasks", given.value("tasks", 0)}, {"barrier", true}};
    sets.push_back(given.value("taskset", met));
    sets.back()["set"] = "S";
  }
  sets = normal(sets);
  for (Json& record : given["stages"]) {
    record["preferred"] = part(part(given, "narrow_preferred"), record.at("id"));
  }
  model::SchedulerConfig& config = run.options.config;
  config = model::preset(run.dialect);
  if (run.dialect == model::Dialect::psd) {
    config.admission.when_short = model::Short::fail;
    config.admission.capacity = model::Capacity::free;
  }
  read_profiles(run);
  read_options(run);
  read_engine(run);
  const auto fair = [](const Json& record) { return record.value("mode", "FIFO") == "FAIR"; };
  config.admission.queue = fair(given) ? model::QueueOrder::fair : config.admission.queue;
  for (const auto& [name, pool] : part(given, "pools").items()) {
    config.pools.push_back(
        {run.names.intern(name), fair(pool), pool.value("weight", 1), pool.value("min_share", 0)});
  }
  model::complete_reject_list(config);
  run.options.names = &run.names;
}

void submit_job(Run& run, const Json& job) {
  Job row = job_row(run, job);
  model::JobSpec spec;
  SubmitJob input;
  const bool map_stage = job.at("kind") == "map_stage";
  spec.name = run.names.intern(row.name);
  spec.pool = run.names.intern(job.value("pool", "default"));
  add_edges(run, row, spec, input);
  for (const std::string& stage : row.stages) {
    const StageIndex index{spec.stages.size()};
    spec.stages.push_back(stage_spec(run, the(run.given["stages"], {{"id", stage}})));
    if (const Json& some = part(job, "partitions"); stage == row.final_stage) {
      spec.result = {index};
      if (some.is_array()) {  // a core is told how many, not which
        require(some.empty() || some.back() == some.size() - 1, "the first ones", some.dump());
        spec.stages.back().tasks = static_cast<std::int32_t>(some.size());
      }
    }
    if (index.index() >= row.own) {
      const Job& maker = *maker_of(run, stage);
      input.foreign.push_back(
          {maker.id, index_in(maker, stage), run.names.intern(maker.name + "/" + base_of(stage))});
    } else if (map_stage || (run.dag && has_edge(run, stage, "regular"))) {
      input.shared.push_back(index);
    }
  }
  if (map_stage && part(run.given, "shuffle_kinds").value(job["shuffle"], "") == "pipelined") {
    input.pipelined_ends = spec.result;
  }
  if (const std::string query = part(run.given, "query").value(row.name, ""); !query.empty()) {
    input.query = run.names.intern(query);
  }
  input.job = row.id;
  input.own_stages = static_cast<std::uint32_t>(row.own);
  input.rank = row.id.value;
  input.submitted = job.value("priority", 0);
  input.speculation = run.variant == "job_property";
  input.cached = cached_in(run, row);
  input.spec = std::make_shared<const model::JobSpec>(std::move(spec));
  run.jobs.push_back(std::move(row));
  run.feed(input);
}

void tell_cached(Run& run) {
  for (const Job& row : run.jobs) {
    for (const CachedPartition& partition : cached_in(run, row)) {
      run.feed(CachePartition{row.id, partition});
    }
  }
}

}  // namespace rehearse::conformance
