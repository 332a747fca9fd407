// A case as configuration and jobs.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ranges>
#include <span>

#include "model/configuration_text.hpp"
#include "tests/conformance/run.hpp"

namespace rehearse::scheduler {
// What the vocabulary's rows of options set.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ExclusionOptions, on_failure, unschedulable_timeout)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(EngineOptions, unregister_outputs_on_host,
                                                ignore_decommission_fetch_failures,
                                                old_fetch_protocol, max_total_stage_attempts,
                                                reports_after_loss, refuse_commits, tracked_outputs,
                                                query_level_rollback, reducer_preferred_milli,
                                                speculation_threshold, decommission_kill, exclusion)
}  // namespace rehearse::scheduler

namespace rehearse::conformance {

using namespace scheduler;

namespace {

std::int32_t milli(double amount) { return static_cast<std::int32_t>(std::lround(amount * 1000)); }

// How the core is to be: the options of the case, as the vocabulary's table has them, and what else
// of the case asks for it. What the core has no place for is told.
void read_options(Run& run) {
  const Json& asked = run.given["config"];
  Json options = asked;
  bool survive = false;  // A.9 rule 2
  // The seed's specification knows no status after the notice (X12). Where the attempt ends the
  // task again the loss had ended it, and it was tried anew.
  Json late = Json::object();  // by stage and attempt: how its last end was launched
  for (const Json& step : run.steps) {
    survive = step["op"] == "executor_lost" || (survive && step["op"] != "tasks_resubmitted");
    if (step["op"] == "tasks_finished") {
      late[step.at("stage").dump() + step.at("attempt").dump()] = step.value("launched", "");
    }
  }
  if (run.dag && survive) {
    options.emplace("external_shuffle_service", true);
  }
  // In one variant the job asks for it; elsewhere a copy that ends may be all that says it.
  const bool speculation = asked.value("speculation", false) && run.variant != "job_property";
  options["speculation"] = speculation || any(run.steps, {{"speculative", true}});
  Json record;  // so that errors name the field of the case
  Json& engine = record["given"]["config"];
  engine = {{"tracked_outputs", true}, {"refuse_commits", run.given["refuse_all"]}};
  engine["reports_after_loss"] =
      run.dialect == model::Dialect::spark && has(late, "before_executor_loss");
  engine["query_level_rollback"] = any(run.given["stages"], {{"query_level_rollback", true}});
  // Failures are also counted where the case asks what they excluded.
  engine["exclusion"]["on_failure"] =
      asked.contains("exclude_ms") || any(run.then, {{"op", "expect_exclude_list_empty"}});
  // Nobody is to prefer anything where the case says where tasks run (also A.2: of map stages),
  // but it may ask what a task that reads prefers.
  if (asked.contains("reducer_preferred_fraction") ||
      (any(run.then, {{"op", "expect_preferred_hosts"}}) && run.given["cached"].empty())) {
    engine["reducer_preferred_milli"] = milli(asked.value("reducer_preferred_fraction", 0.2));
  }
  const std::string dialect{model::name_of(run.dialect)};
  auto axes = vocabulary()["dialects"][dialect].get<Names>();
  for (const auto& [key, value] : options.items()) {
    const Json& known = vocabulary()["options"];
    demand(known.contains(key), "/given/config: unknown word " + key);
    const Json& row = known[key];
    require(value == row.value("only", value), "option " + key);
    demand(!row.contains("unless") || value.is_boolean(), "/given/config: true or false: " + key);
    const bool holds = value != row.value("unless", Json()) && row.value("in", dialect) == dialect;
    if (holds && row.contains("axis")) {
      axes.insert(fmt::format(fmt::runtime(row["axis"].get<std::string>()), value.dump()));
    } else if (row.contains("engine")) {
      const std::int64_t unit = row.value("unit", 1);
      engine[Json::json_pointer(row["engine"].get<std::string>())] =
          value.is_number() ? Json(value.get<std::int64_t>() * unit) : value;
    }
  }
  const auto text =
      model::parse_configuration(fmt::format("{}[{}]", dialect, fmt::join(axes, ",")));
  const model::Result<model::SchedulerConfig> config =
      text ? model::resolve_configuration(*text, run.names) : std::unexpected(text.error());
  demand(config.has_value(), "/given/config: " + (config ? "" : model::to_string(config.error())));
  run.options.config = *config;
  run.options.engine = engine.get<EngineOptions>();
  run.options.autoscaling = asked.value("dynamic_allocation", false);
}

// Resources are cpus and gpus; a set may say what its tasks need.
void read_profiles(Run& run) {
  CoreOptions& options = run.options;
  const double cpus_per_task = run.given["config"].value("cpus_per_task", 1.0);
  const auto add = [&](const std::string& name, const Json& task) {
    const model::NameId id = run.names.intern(name);
    if (!has(options.profile_names, id)) {
      options.profile_names.push_back(id);
      options.profile_tasks.emplace_back();
    }
    options.profile_tasks[profile_of(run, name).index()] = {
        milli(task.value("cpus", cpus_per_task)), milli(task.value("gpu", 0.0))};
  };
  add("default", Json::object());
  for (const Json& bound : run.given["executor_profiles"]) {
    add(bound, Json::object());
  }
  for (const auto& [name, profile] : run.given["profiles"].items()) {
    add(name, profile.at("task"));
  }
  for (const Json& set : run.given["tasksets"]) {
    add(set.value("profile", "default"), set);
  }
}

// The last job that made this stage itself; or null.
const Job* maker_of(const Run& run, const std::string& stage) {
  const auto job = std::find_if(run.jobs.rbegin(), run.jobs.rend(), [&](const Job& row) {
    return has(std::span(row.stages).first(row.own), base_of(stage), base_of);
  });
  return job == run.jobs.rend() ? nullptr : &*job;
}

// A map-stage job ends in the next incarnation of its shuffle's stage that no earlier job has.
std::string final_stage_of(const Run& run, const Json& job) {
  if (job.at("kind") != "map_stage") {
    return job.value("final_stage", "");
  }
  std::string last;
  for (const std::string stage : column(run.given["stages"], "id")) {
    const auto taken = [&](const Job& earlier) { return has(earlier.stages, last); };
    if (base_of(stage) == stage_of_shuffle(run, job.at("shuffle")) &&
        (last.empty() || std::ranges::any_of(run.jobs, taken))) {
      last = stage;
    }
  }
  return last;
}

// The stages a job is made of, in the order of the file, in which parents come first. Behind its
// own those of which it reads the outputs of an earlier job.
Job job_row(const Run& run, const Json& job) {
  Job row{job.at("id"), JobId{run.jobs.size()}, {}, 0, final_stage_of(run, job)};
  Names needed{row.final_stage};
  std::vector<std::string> foreign;
  const auto ids = column(run.given["stages"], "id").get<std::vector<std::string>>();
  for (const std::string& stage : ids | std::views::reverse) {
    const bool read = std::ranges::any_of(run.given["edges"], [&](const Json& edge) {
      return edge.at("from") == stage && needed.contains(edge.at("to"));
    });
    if (read || stage == row.final_stage) {
      needed.insert(stage);
      const bool taken = maker_of(run, stage) != nullptr &&
                         !any(run.given["edges"], {{"from", stage}, {"kind", "pipelined"}});
      auto& list = taken ? foreign : row.stages;
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
    edge.kind = enum_of<model::EdgeKind>(record.at("kind"), "/given");
    const Job* maker = maker_of(run, from);
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
  spec.profile = profile_of(run, record.value("profile", "default"));
  spec.barrier = record.value("barrier", false);
  const std::string checkpoint = record.value("checkpoint", "none");
  spec.checkpoint =
      enum_of<model::Checkpoint>(checkpoint.substr(0, checkpoint.find('_')), "/given");
  // Data that lies in a reliable checkpoint is what it is, whatever it was made from (SS-1.10).
  spec.indeterminate =
      record.value("deterministic", "") == "indeterminate" && checkpoint != "reliable_done";
  const Json& narrow = part(run.given["narrow_preferred"], record["id"]);
  const Json preferred = record.value("preferred", narrow);
  for (const auto& [partition, places] : preferred.items()) {
    spec.prefers.resize(static_cast<std::size_t>(spec.tasks));
    for (const std::string place : places) {  // host, or host/executor: that, then its host
      auto& prefers = spec.prefers.at(std::stoul(partition));
      prefers.push_back(run.names.intern(place.substr(place.find('/') + 1)));
      prefers.push_back(run.names.intern(place.substr(0, place.find('/'))));
    }
  }
  return spec;
}

// What is known by now to be cached of the stages of a job.
std::vector<CachedPartition> cached_in(Run& run, const Job& row) {
  std::vector<CachedPartition> found;
  const bool known = run.step >= run.given["cached_from_step"];
  for (std::size_t i = 0; known && i < row.stages.size(); ++i) {
    for (const auto& [partition, hosts] : part(run.given["cached"], row.stages[i]).items()) {
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
  const Json& named = run.given["shuffles"];
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
  for (const auto& [key, value] : vocabulary()["given"].items()) {
    given.emplace(key, value);
  }
  for (const char* key : {"user_code", "dataset_profiles"}) {
    require(!given.contains(key), std::string("input for ") + key);
  }
  run.narrow = given["cluster"].contains("slots");
  if (given.contains("taskset") || given.contains("tasks")) {  // the only one: S
    const Json met = {{"tasks", given.value("tasks", 0)}, {"barrier", true}};
    given["tasksets"].push_back(given.value("taskset", met));
    given["tasksets"].back()["set"] = "S";
  }
  given["tasksets"] = normal(given["tasksets"]);
  read_profiles(run);
  read_options(run);
  model::SchedulerConfig& config = run.options.config;
  if (given["mode"] == "FAIR") {
    config.admission.queue = model::QueueOrder::fair;
  }
  for (const auto& [name, pool] : given["pools"].items()) {
    config.pools.push_back({run.names.intern(name), pool.value("mode", "FIFO") == "FAIR",
                            pool.value("weight", 1), pool.value("min_share", 0)});
  }
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
    if (index.index() >= row.own) {
      const Job& maker = *maker_of(run, stage);
      input.foreign.push_back(
          {maker.id, index_in(maker, stage), run.names.intern(maker.name + "/" + base_of(stage))});
    } else if (map_stage ||
               (run.dag && any(run.given["edges"], {{"from", stage}, {"kind", "regular"}}))) {
      input.shared.push_back(index);
    }
  }
  const std::size_t last = place_of(row.stages, row.final_stage, "stage " + row.final_stage);
  spec.result = {StageIndex{last}};
  if (const Json& some = part(job, "partitions"); some.is_array()) {  // told how many, not which
    require(some.empty() || some.back() == some.size() - 1, "the first ones", some.dump());
    spec.stages[last].tasks = static_cast<std::int32_t>(some.size());
  }
  if (map_stage && run.given["shuffle_kinds"].value(job["shuffle"], "") == "pipelined") {
    input.pipelined_ends = spec.result;
  }
  if (const Json& query = part(run.given["query"], row.name); query.is_string()) {
    input.query = run.names.intern(query.get<std::string>());
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
