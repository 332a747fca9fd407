// A case as configuration and jobs.
#include <algorithm>
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
  std::int64_t& attempts = config.failure.max_stage_attempts;
  attempts = option("max_consecutive_stage_attempts", attempts);
  config.failure.max_task_failures = option("max_task_failures", config.failure.max_task_failures);
  const bool service = option("external_shuffle_service", false);
  config.outputs_survive_executor = option("reliable_shuffle_storage", false) || service;
  config.locality_wait = option("locality_wait_ms", 0) * model::millisecond;
  if (option("legacy_locality_wait_reset", false)) {
    config.locality_reset = model::LocalityReset::legacy;
  }
  // In one variant the job asks for it; elsewhere a copy that ends may be all that says it.
  if ((option("speculation", false) && run.variant != "job_property") ||
      any_word(run.steps, {{"speculative", true}})) {
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
  engine.refuse_commits = run.given.value("refuse_all", false);
  engine.tracked_outputs = true;
  engine.query_level_rollback = any_word(run.stages, {{"query_level_rollback", true}});
  // Nobody is to prefer anything where the case says where tasks run (also A.2: of map stages),
  // but it may ask what a task that reads prefers.
  const bool asks =
      keys.contains("reducer_preferred_fraction") ||
      (any_word(run.then, {{"op", "expect_preferred_hosts"}}) && !run.given.contains("cached"));
  const double fraction = option("reducer_preferred_fraction", 0.2);
  engine.reducer_preferred_milli = asks ? milli(fraction) : 0;
  engine.speculation_threshold = option("speculation_threshold_ms", 0) * model::millisecond;
  engine.decommission_kill = option("decommission_kill_ms", 0) * model::millisecond;
  engine.exclusion.on_failure = keys.contains("exclude_ms");
  engine.exclusion.unschedulable_timeout = option("unschedulable_timeout_s", 120) * model::second;
  for (const auto& [key, value] : keys.items()) {
    lacks(!listed(no_switches, key) && value != false, "option " + key);
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
  std::vector<model::NameId>& ids = run.options.profile_names;
  ids = {run.names.intern("default")};  // the first
  for (const auto& item : tasks.items()) {
    ids.insert(ids.end(), item.key() == "default" ? 0 : 1, run.names.intern(item.key()));
  }
  for (const model::NameId id : ids) {
    const Json& task = tasks[std::string(run.names.text(id))];
    run.options.profile_tasks.push_back(
        {milli(task.value("cpus", 1.0)), milli(task.value("gpu", 0.0))});
  }
}

bool read_by(const Run& run, const std::string& stage, const char* kind) {
  return any_word(run.edges, {{"from", stage}, {"kind", kind}});
}

// The earlier job whose outputs of this stage can be read, and its place there.
std::optional<ForeignStage> owner_of(const Run& run, const std::string& stage) {
  const auto owner = run.owners.find(base_of(stage));
  return owner == run.owners.end() || read_by(run, stage, "pipelined")
             ? std::nullopt
             : std::optional(owner->second);
}

// A map-stage job ends in the next incarnation of its shuffle's stage that no earlier job has.
std::string final_stage_of(const Run& run, const Json& job) {
  std::string last = job.value("final_stage", "");
  for (const Json& record : run.stages) {
    const std::string stage = record.at("id");
    const bool taken = std::ranges::any_of(run.jobs, [&](const JobRow& row) {
      return std::ranges::find(row.stages, last) != row.stages.end();
    });
    if (job.at("kind") == "map_stage" && (last.empty() || taken) &&
        base_of(stage) == stage_of_shuffle(run, job.at("shuffle"))) {
      last = stage;
    }
  }
  return last;
}

// The stages a job is made of, in the order of the file, in which parents come first.
JobRow job_row(const Run& run, const Json& job) {
  JobRow row{job.at("id"), JobId{run.jobs.size()}, {}, 0, final_stage_of(run, job)};
  Names needed;
  std::vector<std::string> foreign;  // behind its own
  for (auto record = run.stages.rbegin(); record != run.stages.rend(); ++record) {
    const std::string stage = record->at("id");
    const bool read = std::ranges::any_of(run.edges, [&](const Json& edge) {
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
void add_edges(Run& run, const JobRow& row, model::JobSpec& spec, SubmitJob& input) {
  std::map<std::string, std::size_t> by_shuffle;
  for (const Json& record : run.edges) {
    const std::string from = record.at("from");
    const auto first = std::ranges::find(row.stages, from);
    const auto second = std::ranges::find(row.stages, record.at("to").get<std::string>());
    if (first == row.stages.end() || second == row.stages.end()) {
      continue;
    }
    const auto place = by_shuffle.emplace(record.at("shuffle"), spec.edges.size()).first->second;
    spec.edges.resize(std::max(spec.edges.size(), place + 1));
    model::EdgeSpec& edge = spec.edges[place];
    edge.from = StageIndex{static_cast<std::size_t>(first - row.stages.begin())};
    edge.to.emplace_back(static_cast<std::size_t>(second - row.stages.begin()));
    edge.checksum_retry = stage_record(run, from).value("checksum_retry", false);
    const auto owner = run.owners.find(base_of(from));
    if (edge.from.index() >= row.own) {
      edge.from_job = run.names.intern(run.jobs[owner->second.job.index()].name);
      continue;
    }
    edge.kind = model::parse_enum<model::EdgeKind>(record.at("kind").get<std::string>()).value();
    if (owner != run.owners.end() && edge.kind == model::EdgeKind::pipelined &&
        live(run, run.jobs[owner->second.job.index()].name)) {  // F7: the same shuffle there
      input.reused_job = owner->second.job;
      edge.reuse_job = run.names.intern(run.jobs[input.reused_job.index()].name);
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
std::vector<CachedPartition> cached_in(Run& run, const JobRow& row) {
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

bool any_word(const Json& list, const Json& keys) {
  return std::ranges::any_of(list, [&](const Json& word) { return matches(word, keys); });
}

Json normal(Json words) {
  for (Json& word : words) {
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
  }
  return words;
}

std::string base_of(const std::string& stage) { return stage.substr(0, stage.find('@')); }

const Json& stage_record(const Run& run, const std::string& stage) {
  const auto found =
      std::ranges::find_if(run.stages, [&](const Json& s) { return s.at("id") == stage; });
  require(found != run.stages.end(), "a stage " + stage, "none");
  return *found;
}

std::string stage_of_shuffle(const Run& run, const std::string& shuffle) {
  const auto edge = std::ranges::find_if(
      run.edges, [&](const Json& one) { return one.at("shuffle") == shuffle; });
  const Json& named = part(run.given, "shuffles");
  return base_of(named.contains(shuffle) ? named[shuffle] : edge->at("from"));
}

ProfileId profile_of(const Run& run, const std::string& profile) {
  const std::vector<model::NameId>& ids = run.options.profile_names;
  const auto found = std::ranges::find(ids, run.names.find(profile));
  require(found != ids.end(), "a profile " + profile, "none");
  return ProfileId{static_cast<std::size_t>(found - ids.begin())};
}

void read_case(Run& run) {
  const Json& given = run.given;
  for (const char* key : {"user_code", "dataset_profiles"}) {
    lacks(given.contains(key), std::string("input for ") + key);
  }
  run.edges = given.value("edges", Json::array());
  run.stages = given.value("stages", Json::array());
  for (Json& record : run.stages) {
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
  JobRow row = job_row(run, job);
  model::JobSpec spec;
  SubmitJob input;
  const bool map_stage = job.at("kind") == "map_stage";
  spec.name = run.names.intern(row.name);
  spec.pool = run.names.intern(job.value("pool", "default"));
  add_edges(run, row, spec, input);
  for (const std::string& stage : row.stages) {
    const StageIndex index{spec.stages.size()};
    Json record = stage_record(run, stage);
    if (const Json& some = part(job, "partitions"); stage == row.final_stage) {
      spec.result = {index};
      if (some.is_array()) {  // a core is told how many, not which
        require(some.back() == some.size() - 1, "the first partitions", some);
        record["tasks"] = some.size();
      }
    }
    spec.stages.push_back(stage_spec(run, record));
    if (index.index() >= row.own) {
      input.foreign.push_back(owner_of(run, stage).value());
    } else {
      const std::string text = row.name + "/" + base_of(stage);
      run.owners[base_of(stage)] = {row.id, index, run.names.intern(text)};
      if (map_stage || (run.dag && read_by(run, stage, "regular"))) {
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
      run.edges.push_back({{"from", run.stages.back().at("id")},
                           {"to", record.at("id")},
                           {"kind", record.value("input", "regular")},
                           {"shuffle", run.stages.back().at("id")}});
    }
    run.stages.push_back(record);
  }
  job.update({{"kind", "result"}, {"final_stage", stages.back().at("id")}});
  submit_job(run, job);
}

void tell_cached(Run& run) {
  for (const JobRow& row : run.jobs) {
    for (const CachedPartition& partition : cached_in(run, row)) {
      run.feed(CachePartition{row.id, partition});
    }
  }
}

}  // namespace rehearse::conformance
