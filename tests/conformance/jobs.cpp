// A case as configuration and jobs.
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

using namespace scheduler;

namespace {

// In words of the suite's README. Nothing is to be switched on for these.
constexpr std::string_view no_switches =
    " concurrent_stages cache_lookup order_independent_checksum kill_excluded exclude_ms ";

std::int32_t milli(double amount) { return static_cast<std::int32_t>(std::lround(amount * 1000)); }

void read_config(Run& run, Json keys) {
  const auto option = [&keys](const char* key, auto otherwise) {
    const auto value = keys.value(key, otherwise);
    keys.erase(key);
    return value;
  };
  model::SchedulerConfig& config = run.options.config;
  auto& failure = config.failure;
  failure.max_stage_attempts = option("max_consecutive_stage_attempts", failure.max_stage_attempts);
  failure.max_task_failures = option("max_task_failures", failure.max_task_failures);
  bool survive = false;  // A.9 rule 2
  for (const Json& step : run.steps) {
    survive = step["op"] == "executor_lost" || (survive && step["op"] != "tasks_resubmitted");
  }
  const bool service = option("external_shuffle_service", run.dag && survive);
  config.outputs_survive_executor = option("reliable_shuffle_storage", false) || service;
  config.locality_wait = option("locality_wait_ms", 0) * model::millisecond;
  if (option("legacy_locality_wait_reset", false)) {
    config.locality_reset = model::LocalityReset::legacy;
  }
  // In one variant the job asks for it; elsewhere a copy that ends may be all that says it.
  if ((option("speculation", false) && run.variant != "job_property") ||
      first(run.steps, {{"speculative", true}}) != nullptr) {
    config.speculation.emplace();
  }
  // The seed's specification has no such switch.
  if (!option("pipelined_slot_check", true) && run.dialect == model::Dialect::spark) {
    config.admission.hold = model::Hold::none;
  }
  run.options.autoscaling = option("dynamic_allocation", false);
  EngineOptions& engine = run.options.engine;
  engine.unregister_outputs_on_host = option("unregister_outputs_on_host", false);
  engine.ignore_decommission_fetch_failures = option("ignore_decommission_fetch_failures", false);
  engine.old_fetch_protocol = option("old_fetch_protocol", false);
  engine.max_total_stage_attempts = option("max_total_stage_attempts", std::int64_t{0});
  // The seed's specification knows no status after the notice (X12). Where the attempt ends the
  // task again the loss had ended it, and it was tried anew.
  std::map<std::string, bool> late;  // by stage and attempt: its last end
  for (const Json& step : run.steps) {
    if (step["op"] == "tasks_finished") {
      late[step["stage"].dump() + step["attempt"].dump()] =
          step.value("launched", "") == "before_executor_loss";
    }
  }
  engine.reports_after_loss =
      run.dialect == model::Dialect::spark &&
      std::ranges::any_of(late, [](const auto& entry) { return entry.second; });
  engine.refuse_commits = run.given.value("refuse_all", false);
  engine.tracked_outputs = true;
  engine.query_level_rollback =
      first(run.given["stages"], {{"query_level_rollback", true}}) != nullptr;
  // Nobody is to prefer anything where the case says where tasks run (also A.2: of map stages),
  // but it may ask what a task that reads prefers.
  const bool asks =
      keys.contains("reducer_preferred_fraction") ||
      (first(run.then, {{"op", "expect_preferred_hosts"}}) && !run.given.contains("cached"));
  const double fraction = option("reducer_preferred_fraction", 0.2);
  engine.reducer_preferred_milli = asks ? milli(fraction) : 0;
  engine.speculation_threshold = option("speculation_threshold_ms", 0) * model::millisecond;
  engine.decommission_kill = option("decommission_kill_ms", 0) * model::millisecond;
  engine.exclusion.on_failure = keys.contains("exclude_ms");
  engine.exclusion.unschedulable_timeout = option("unschedulable_timeout_s", 120) * model::second;
  for (const auto& [key, value] : keys.items()) {
    require(listed(no_switches, key) || value == false, "option " + key);
  }
}

// Resources are cpus and gpus; a set may say what its tasks need.
void read_profiles(Run& run) {
  Json tasks = {{"default", Json::object()}};
  for (const Json& bound : part(run.given, "executor_profiles")) {
    tasks[bound.get<std::string>()] = Json::object();
  }
  for (const auto& [name, profile] : part(run.given, "profiles").items()) {
    tasks[name] = profile.at("task");
  }
  for (const Json& set : part(run.given, "tasksets")) {
    tasks[set.value("profile", "default")] = set;
  }
  const auto add = [&run](const std::string& name, const Json& task) {
    run.options.profile_names.push_back(run.names.intern(name));
    run.options.profile_tasks.push_back(
        {milli(task.value("cpus", 1.0)), milli(task.value("gpu", 0.0))});
  };
  add("default", tasks["default"]);  // the first
  tasks.erase("default");
  for (const auto& [name, task] : tasks.items()) {
    add(name, task);
  }
}

// The earlier job whose outputs of this stage can be read, and its place there; or null.
const ForeignStage* owner_of(const Run& run, const std::string& stage) {
  const auto owner = run.owners.find(base_of(stage));
  const Json pipelined = {{"from", stage}, {"kind", "pipelined"}};
  return owner == run.owners.end() || first(run.given["edges"], pipelined) ? nullptr
                                                                           : &owner->second;
}

// A map-stage job ends in the next incarnation of its shuffle's stage that no earlier job has.
std::string final_stage_of(const Run& run, const Json& job) {
  std::string last = job.value("final_stage", "");
  for (const std::string stage : column(run.given["stages"], "id")) {
    const bool taken = std::ranges::any_of(
        run.jobs, [&](const Job& earlier) { return has(earlier.stages, last); });
    if (job.at("kind") == "map_stage" && (last.empty() || taken) &&
        base_of(stage) == stage_of_shuffle(run, job.at("shuffle"))) {
      last = stage;
    }
  }
  return last;
}

// The stages a job is made of, in the order of the file, in which parents come first.
Job job_row(const Run& run, const Json& job) {
  Job row{job.at("id"), JobId{run.jobs.size()}, {}, 0, final_stage_of(run, job)};
  Names needed;
  std::vector<std::string> foreign;  // behind its own
  for (auto record = run.given["stages"].rbegin(); record != run.given["stages"].rend(); ++record) {
    const std::string stage = record->at("id");
    const bool read = std::ranges::any_of(run.given["edges"], [&](const Json& edge) {
      return edge.at("from") == stage && needed.contains(edge.at("to"));
    });
    if (read || stage == row.final_stage) {
      needed.insert(stage);
      auto& list = owner_of(run, stage) ? foreign : row.stages;
      list.insert(list.begin(), stage);
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
    const auto owner = run.owners.find(base_of(from));
    const std::string other =
        owner == run.owners.end() ? "" : run.jobs[owner->second.job.index()].name;
    if (edge.from.index() >= row.own) {
      edge.from_job = run.names.intern(other);
      continue;
    }
    edge.kind = model::parse_enum<model::EdgeKind>(record.at("kind").get<std::string>()).value();
    if (edge.kind == model::EdgeKind::pipelined && live(run, other)) {  // F7: the same shuffle
      input.reused_job = owner->second.job;
      edge.reuse_job = run.names.intern(other);
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
  spec.checkpoint =
      model::parse_enum<model::Checkpoint>(checkpoint.substr(0, checkpoint.find('_'))).value();
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

const Json& part(const Json& object, const std::string& key) {
  static const Json none = Json::object();
  return object.contains(key) ? object[key] : none;
}

bool listed(std::string_view words, const std::string& word) {
  return words.find(" " + word + " ") != std::string_view::npos;
}

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
  return ProfileId{place_of(run.options.profile_names, run.names.find(profile), profile)};
}

void read_case(Run& run) {
  Json& given = run.given;
  for (const char* key : {"user_code", "dataset_profiles"}) {
    require(!given.contains(key), std::string("input for ") + key);
  }
  given.emplace("edges", Json::array());
  Json& sets = *given.emplace("tasksets", Json::array()).first;
  if (given.contains("taskset") || given.contains("tasks")) {  // the only one: S
    const Json met = {{"tasks", given.value("tasks", 0)}, {"barrier", true}};
    sets.push_back(given.value("taskset", met));
    sets.back()["set"] = "S";
  }
  sets = normal(sets);
  for (Json& record : *given.emplace("stages", Json::array()).first) {
    record["preferred"] = part(part(given, "narrow_preferred"), record.at("id"));
  }
  model::SchedulerConfig& config = run.options.config;
  config = model::preset(run.dialect);
  if (run.dialect == model::Dialect::psd) {
    config.admission.when_short = model::Short::fail;
    config.admission.capacity = model::Capacity::free;
  }
  read_config(run, part(given, "config"));
  const auto fair = [](const Json& record) { return record.value("mode", "FIFO") == "FAIR"; };
  config.admission.queue = fair(given) ? model::QueueOrder::fair : config.admission.queue;
  for (const auto& [name, pool] : part(given, "pools").items()) {
    config.pools.push_back(
        {run.names.intern(name), fair(pool), pool.value("weight", 1), pool.value("min_share", 0)});
  }
  model::complete_reject_list(config);
  read_profiles(run);
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
    Json record = the(run.given["stages"], {{"id", stage}});
    if (const Json& some = part(job, "partitions"); stage == row.final_stage) {
      spec.result = {index};
      if (some.is_array()) {  // a core is told how many, not which
        require(some.back() == some.size() - 1, "the first partitions", some.dump());
        record["tasks"] = some.size();
      }
    }
    spec.stages.push_back(stage_spec(run, record));
    if (index.index() >= row.own) {
      input.foreign.push_back(*owner_of(run, stage));
    } else {
      const std::string text = row.name + "/" + base_of(stage);
      run.owners[base_of(stage)] = {row.id, index, run.names.intern(text)};
      const Json regular = {{"from", stage}, {"kind", "regular"}};
      if (map_stage || (run.dag && first(run.given["edges"], regular) != nullptr)) {
        input.shared.push_back(index);
      }
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

void submit_chain(Run& run, Json job, const std::vector<Json>& stages) {
  for (const Json& record : stages) {
    if (&record != &stages.front()) {
      run.given["edges"].push_back({{"from", run.given["stages"].back().at("id")},
                                    {"to", record.at("id")},
                                    {"kind", record.value("input", "regular")},
                                    {"shuffle", run.given["stages"].back().at("id")}});
    }
    run.given["stages"].push_back(record);
  }
  job.update({{"kind", "result"}, {"final_stage", stages.back().at("id")}});
  submit_job(run, job);
}

void tell_cached(Run& run) {
  for (const Job& row : run.jobs) {
    for (const CachedPartition& partition : cached_in(run, row)) {
      run.feed(CachePartition{row.id, partition});
    }
  }
}

}  // namespace rehearse::conformance
