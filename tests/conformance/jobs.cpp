// A case as configuration and jobs.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

using namespace scheduler;

namespace {

// In words of the suite's README.
constexpr std::string_view known_options =
    " concurrent_stages cache_lookup locality_wait_ms legacy_locality_wait_reset speculation "
    "max_task_failures max_consecutive_stage_attempts max_total_stage_attempts dynamic_allocation "
    "external_shuffle_service reliable_shuffle_storage unregister_outputs_on_host "
    "old_fetch_protocol ignore_decommission_fetch_failures ";
constexpr std::string_view unknown_inputs =
    " cached excluded outputs_migrated_to shuffle_kinds user_code dataset_profiles ";

bool listed(std::string_view words, const std::string& word) {
  return words.find(" " + word + " ") != std::string_view::npos;
}

void read_config(Run& run, const Json& keys) {
  for (const auto& [key, value] : keys.items()) {
    if (!listed(known_options, key) && value != false) {
      lacks("option " + key);
    }
  }
  model::SchedulerConfig& config = run.options.config;
  model::FailureConfig& failure = config.failure;
  failure.max_stage_attempts =
      keys.value("max_consecutive_stage_attempts", failure.max_stage_attempts);
  failure.max_task_failures = keys.value("max_task_failures", failure.max_task_failures);
  config.outputs_survive_executor = keys.value("external_shuffle_service", false) ||
                                    keys.value("reliable_shuffle_storage", false);
  config.locality_wait = keys.value("locality_wait_ms", 0) * model::millisecond;
  if (keys.value("legacy_locality_wait_reset", false)) {
    config.locality_reset = model::LocalityReset::legacy;
  }
  if (keys.value("speculation", false)) {
    config.speculation.emplace();
  }
  // The seed's specification has no such switch.
  if (!keys.value("pipelined_slot_check", true) && run.dialect == model::Dialect::spark) {
    config.admission.hold = model::Hold::none;
  }
  run.options.autoscaling = keys.value("dynamic_allocation", false);
  run.options.engine = {keys.value("unregister_outputs_on_host", false),
                        keys.value("ignore_decommission_fetch_failures", false),
                        keys.value("old_fetch_protocol", false),
                        keys.value("max_total_stage_attempts", std::int64_t{0}),
                        run.given.value("refuse_all", false)};
}

// Resources are cpus and gpus, in 1/1000.
void add_profile(Run& run, const std::string& name, const Json& task) {
  const auto milli = [&](const char* key, double otherwise) {
    return std::int64_t{std::llround(task.value(key, otherwise) * 1000)};
  };
  std::vector<model::NameId>& ids = run.options.profile_names;
  const auto place =
      static_cast<std::size_t>(std::ranges::find(ids, run.names.intern(name)) - ids.begin());
  ids.resize(std::max(ids.size(), place + 1), run.names.intern(name));
  run.options.profile_tasks.resize(ids.size());
  run.options.profile_tasks[place] = {milli("cpus", 1), milli("gpu", 0)};
}

bool read_by(const Run& run, const std::string& stage, const char* kind) {
  return std::ranges::any_of(part(run.given, "edges"), [&](const Json& edge) {
    return matches(edge, {{"from", stage}, {"kind", kind}});
  });
}

// Place of the stage's shuffle among the own stages of a job; their number if it is not there.
std::size_t place_in(const JobRow& job, const std::string& stage) {
  std::size_t i = 0;
  while (i < job.own && base_of(job.stages[i]) != base_of(stage)) {
    ++i;
  }
  return i;
}

// The earlier job whose outputs of this stage can be read.
const JobRow* owner_of(const Run& run, const std::string& stage) {
  const auto found = std::ranges::find_if(
      run.jobs, [&](const JobRow& job) { return place_in(job, stage) < job.own; });
  return found == run.jobs.end() || read_by(run, stage, "pipelined") ? nullptr : &*found;
}

// A map-stage job ends in the next incarnation of its shuffle's stage that no earlier job has.
std::string final_stage_of(const Run& run, const Json& job) {
  std::string last = job.value("final_stage", "");
  for (const Json& record : run.given.at("stages")) {
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

// The stages a job is made of, in the order of the file, own ones first.
JobRow job_row(Run& run, const Json& job) {
  JobRow row{job.at("id"), JobId{run.next_job++}, {}, 0, final_stage_of(run, job)};
  Names needed{row.final_stage};
  for (std::size_t before = 0; before != needed.size();) {
    before = needed.size();
    for (const Json& edge : part(run.given, "edges")) {
      needed.insert(needed.contains(edge.at("to")) ? edge.at("from") : Json(row.final_stage));
    }
  }
  std::vector<std::string> foreign;  // behind its own
  for (const Json& record : run.given.at("stages")) {
    if (needed.contains(record.at("id"))) {
      const std::string stage = record["id"];
      (owner_of(run, stage) == nullptr ? row.stages : foreign).push_back(stage);
    }
  }
  row.own = row.stages.size();
  row.stages.insert(row.stages.end(), foreign.begin(), foreign.end());
  return row;
}

// One edge per shuffle of a job.
void add_edges(Run& run, const JobRow& row, model::JobSpec& spec, SubmitJob& input) {
  std::map<std::string, std::size_t> by_shuffle;
  for (const Json& record : part(run.given, "edges")) {
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
    if (edge.from.index() >= row.own) {
      edge.from_job = run.names.intern(owner_of(run, from)->name);
      continue;
    }
    edge.kind = model::parse_enum<model::EdgeKind>(record.at("kind").get<std::string>()).value();
    for (const JobRow& other : run.jobs) {  // F7: the same pipelined shuffle in a job that lives
      if (edge.kind == model::EdgeKind::pipelined && place_in(other, from) < other.own &&
          live(run, other.name)) {
        input.reused_job = other.id;
        edge.reuse_job = run.names.intern(other.name);
        edge.reuse_stage = run.names.intern(base_of(from));
      }
    }
  }
}

void submit(Run& run, JobRow row, model::JobSpec spec, SubmitJob input) {
  spec.name = run.names.intern(row.name);
  input.job = row.id;
  input.own_stages = static_cast<std::uint32_t>(row.own);
  input.rank = row.id.value;
  run.jobs.push_back(std::move(row));
  input.spec = std::make_shared<const model::JobSpec>(std::move(spec));
  run.engine->feed(input);
}

}  // namespace

const Json& part(const Json& object, const std::string& key) {
  static const Json none = Json::object();
  return object.contains(key) ? object[key] : none;
}

std::string base_of(const std::string& stage) { return stage.substr(0, stage.find('@')); }

void read_options(Run& run) {
  model::SchedulerConfig& config = run.options.config;
  config = model::preset(run.dialect);
  if (run.dialect == model::Dialect::psd) {
    config.admission.when_short = model::Short::fail;
    config.admission.capacity = model::Capacity::free;
  }
  for (const auto& item : run.given.items()) {
    if (listed(unknown_inputs, item.key())) {
      lacks("input for " + item.key());
    }
  }
  read_config(run, part(run.given, "config"));
  const auto fair = [](const Json& record) { return record.value("mode", "FIFO") == "FAIR"; };
  config.admission.queue = fair(run.given) ? model::QueueOrder::fair : config.admission.queue;
  for (const auto& [name, pool] : part(run.given, "pools").items()) {
    config.pools.push_back(
        {run.names.intern(name), fair(pool), pool.value("weight", 1), pool.value("min_share", 0)});
  }
  model::complete_reject_list(config);
  add_profile(run, "default", Json::object());
  for (const auto& bound : part(run.given, "executor_profiles").items()) {
    add_profile(run, bound.value(), Json::object());
  }
  for (const auto& profile : part(run.given, "profiles").items()) {
    add_profile(run, profile.key(), profile.value().at("task"));
  }
  for (const Json& set : part(run.given, "tasksets")) {
    add_profile(run, set.value("profile", "default"), set);
  }
  run.options.names = &run.names;
}

const Json& stage_record(const Run& run, const std::string& stage) {
  const Json& stages = run.given.at("stages");
  const auto found =
      std::ranges::find_if(stages, [&](const Json& s) { return s.at("id") == stage; });
  require(found != stages.end(), "a stage " + stage, "none");
  return *found;
}

std::string stage_of_shuffle(const Run& run, const std::string& shuffle) {
  const Json& named = part(run.given, "shuffles");
  for (const Json& edge : part(run.given, "edges")) {
    if (!named.contains(shuffle) && edge.at("shuffle") == shuffle) {
      return base_of(edge.at("from"));
    }
  }
  return named.at(shuffle);
}

ProfileId profile_of(const Run& run, const std::string& profile) {
  const std::vector<model::NameId>& ids = run.options.profile_names;
  const auto found = std::ranges::find(ids, run.names.find(profile));
  require(found != ids.end(), "a profile " + profile, "none");
  return ProfileId{static_cast<std::size_t>(found - ids.begin())};
}

model::StageSpec plain_stage(Run& run, const std::string& name, const Json& record) {
  model::StageSpec spec;
  spec.name = run.names.intern(name);
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

void submit_job(Run& run, const Json& job) {
  JobRow row = job_row(run, job);
  model::JobSpec spec;
  SubmitJob input;
  spec.pool = run.names.intern("default");
  for (const std::string& stage : row.stages) {
    const StageIndex index{spec.stages.size()};
    Json record = stage_record(run, stage);
    record["preferred"] = part(part(run.given, "narrow_preferred"), stage);
    if (const Json& some = part(job, "partitions"); stage == row.final_stage) {
      spec.result = {index};
      if (some.is_array()) {  // a core is told how many, not which
        require(some.back() == some.size() - 1, "the first partitions", some);
        record["tasks"] = some.size();
      }
    }
    spec.stages.push_back(plain_stage(run, stage, record));
    if (const JobRow* owner = index.index() < row.own ? nullptr : owner_of(run, stage)) {
      const StageIndex place{place_in(*owner, stage)};
      input.foreign.push_back(
          {owner->id, place, run.names.intern(owner->name + "/" + base_of(stage))});
    } else if (read_by(run, stage, "regular") || job.at("kind") == "map_stage") {
      input.shared.push_back(index);
    }
  }
  add_edges(run, row, spec, input);
  submit(run, std::move(row), std::move(spec), std::move(input));
}

// A job whose stages are all its own; those that nothing reads are its result.
void submit_plain(Run& run, const std::string& name, model::JobSpec spec, const Json& record) {
  JobRow row{name, JobId{run.next_job++}, {}, spec.stages.size(), {}};
  for (std::size_t i = 0; i < spec.stages.size(); ++i) {
    row.stages.emplace_back(run.names.text(spec.stages[i].name));
    if (std::ranges::none_of(spec.edges, [&](const auto& e) { return e.from == StageIndex{i}; })) {
      spec.result.emplace_back(i);
    }
  }
  spec.pool = run.names.intern(record.value("pool", "default"));
  SubmitJob input;
  input.submitted = record.value("priority", 0);
  submit(run, std::move(row), std::move(spec), std::move(input));
}

}  // namespace rehearse::conformance
