// registry: native
// The strict reader of native traces: every record either becomes part of the trace or ends the
// reading with an error that names line and key.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "model/resources.hpp"
#include "traces/native.hpp"
#include "traces/native_record.hpp"

namespace rehearse::traces {
namespace {

using model::Error;
using model::NameId;

constexpr std::int64_t version_read = 1;
constexpr std::int64_t minor_read = 0;

template <class Number>
std::vector<Number> narrowed(const std::vector<std::int64_t>& values) {
  std::vector<Number> result;
  result.reserve(values.size());
  for (const std::int64_t value : values) {
    result.push_back(static_cast<Number>(value));
  }
  return result;
}

std::int64_t sum_of(const std::vector<std::int64_t>& values) {
  std::int64_t sum = 0;
  for (const std::int64_t value : values) {
    sum = std::min(record_bytes_max, sum + value);
  }
  return sum;
}

// ---- executors and profiles ----

class ClusterRecords {
 public:
  explicit ClusterRecords(model::Trace& trace) : trace_(trace) {}

  void profile(const RecordValue& record) {
    const RecordFields fields(record, "a profile record", {"r", "id", "name", "task", "executor"});
    auto& profiles = trace_.cluster.profiles;
    const std::int64_t id = fields.integer("id");
    if (id != static_cast<std::int64_t>(profiles.size())) {
      fail_record("T011", "id",
                  "is " + std::to_string(id) + ", expected " + std::to_string(profiles.size()) +
                      ": profiles are numbered from 0");
    }
    const NameId name =
        intern(fields.text_or("name", id == 0 ? "default" : "profile-" + std::to_string(id)));
    if (std::any_of(profiles.begin(), profiles.end(),
                    [&](const model::Profile& other) { return other.name == name; })) {
      fail_record("T007", "name", "a profile of this name is there already");
    }
    if ((id == 0) != (name == intern("default"))) {
      fail_record("T006", "name",
                  "is \"" + std::string(trace_.names.text(name)) +
                      "\"; profile 0, and no other, is \"default\"");
    }
    model::ResourceVector task = amounts(fields, "task");
    model::ResourceVector executor = amounts(fields, "executor");
    resize(task);
    profiles.push_back({name, std::move(task)});
    executor_amounts_.push_back(std::move(executor));
  }

  void node(const RecordValue& record) {
    const RecordFields fields(record, "a node record", {"r", "id", "rack"});
    const std::string id = fields.text("id");
    if (!racks_.emplace(id, fields.text("rack")).second) {
      fail_record("T007", "id", "node \"" + id + "\" is there twice");
    }
  }

  void executor(const RecordValue& record) {
    const RecordFields fields(
        record, "an executor record",
        {"r", "id", "node", "profile", "from", "to", "cause", "resources", "speed"});
    const std::string id = fields.id("id");
    if (!ids_.insert(id).second) {
      fail_record("T007", "id", "executor \"" + id + "\" is there twice");
    }
    model::ExecutorSpec executor;
    model::ExecutorEnd end;
    executor.name = intern(id);
    const std::string node = fields.text_or("node", "h-" + id);
    executor.host = intern(node);
    if (const auto rack = racks_.find(node); rack != racks_.end()) {
      executor.rack = intern(rack->second);
    }
    executor.joins = fields.number_or("from", 0, record_time_max_ns);
    end.leaves = fields.number_if("to");
    if (end.leaves && *end.leaves < executor.joins) {
      fail_record("T010", "to", "is before \"from\"");
    }
    if (fields.has("cause")) {
      end.cause = fields.choice<model::LossCause>("cause");
    }
    executor.speed_milli = fields.number_or("speed", model::milli, 1'000'000'000);
    if (executor.speed_milli == 0) {
      fail_record("T010", "speed", "is 0");
    }
    if (fields.has("profile")) {
      executor.profile = profile_of(fields.integer("profile"));
    }
    if (!fields.has("resources") && !executor.profile.valid()) {
      fail_record("T006", "resources", "is missing, and there is no profile to take it from");
    }
    executor.resources = fields.has("resources") ? amounts(fields, "resources")
                                                 : executor_amounts_[executor.profile.index()];
    trace_.cluster.executors.push_back(std::move(executor));
    trace_.executor_ends.push_back(end);
  }

  // Without any profile record there is one, `default`, of one cpu.
  model::ProfileId profile_of(std::int64_t number) {
    auto& profiles = trace_.cluster.profiles;
    if (profiles.empty() && number == 0) {
      add_default();
    }
    if (number < 0 || number >= static_cast<std::int64_t>(profiles.size())) {
      fail_record("T011", "profile", std::to_string(number) + " is not defined before its use");
    }
    return model::ProfileId(static_cast<std::size_t>(number));
  }

  [[nodiscard]] bool has_executor(std::string_view id) const { return ids_.contains(id); }

  // All amounts get the length of the list of resources, which may have grown since.
  void finish() {
    if (trace_.cluster.profiles.empty()) {
      add_default();
    }
    for (model::Profile& profile : trace_.cluster.profiles) {
      resize(profile.task);
    }
    for (model::ExecutorSpec& executor : trace_.cluster.executors) {
      resize(executor.resources);
    }
  }

 private:
  NameId intern(std::string_view text) { return trace_.names.intern(text); }

  void resize(model::ResourceVector& vector) const {
    vector.resize(trace_.cluster.resources.size(), 0);
  }

  void add_default() {
    model::ResourceVector task;
    const std::size_t cpus = resource_of("cpus");
    resize(task);
    task[cpus] = model::milli;
    trace_.cluster.profiles.push_back({intern("default"), std::move(task)});
    executor_amounts_.emplace_back();
  }

  std::size_t resource_of(std::string_view text) {
    auto& resources = trace_.cluster.resources;
    const NameId id = intern(text);
    const auto found = std::find(resources.begin(), resources.end(), id);
    if (found == resources.end()) {
      resources.push_back(id);
      return resources.size() - 1;
    }
    return static_cast<std::size_t>(found - resources.begin());
  }

  model::ResourceVector amounts(const RecordFields& fields, std::string_view key) {
    model::ResourceVector vector;
    const RecordValue* value = fields.find(key);
    if (value == nullptr) {
      return vector;
    }
    const auto* members = std::get_if<RecordMembers>(&value->data);
    if (members == nullptr) {
      fail_record("T006", key, "is no object of amounts");
    }
    for (const auto& [resource, amount] : *members) {
      const auto* number = std::get_if<std::int64_t>(&amount.data);
      if (number == nullptr || *number < 0) {
        fail_record("T006", key, "\"" + resource + "\" is no whole number of 1/1000 units");
      }
      const std::size_t index = resource_of(resource);
      resize(vector);
      vector[index] = *number;
    }
    return vector;
  }

  model::Trace& trace_;
  std::vector<model::ResourceVector> executor_amounts_;  // by profile, of its executors
  std::set<std::string, std::less<>> ids_;
  std::map<std::string, std::string, std::less<>> racks_;
};

// ---- jobs and what was seen of them ----

class JobRecords {
 public:
  JobRecords(model::Trace& trace, ClusterRecords& cluster) : trace_(trace), cluster_(cluster) {}

  void job(const RecordValue& record) {
    const RecordFields fields(record, "a job record",
                              {"r", "id", "at", "pool", "priority", "after", "tags"});
    model::TraceJob job;
    const std::string id = fields.id("id");
    if (!jobs_.emplace(id, trace_.jobs.size()).second) {
      fail_record("T007", "id", "job \"" + id + "\" is there twice");
    }
    job.spec.name = intern(id);
    job.spec.submit = fields.time("at");
    if (!trace_.jobs.empty() && job.spec.submit < trace_.jobs.back().spec.submit) {
      fail_record("T011", "at",
                  "goes back: " + std::to_string(job.spec.submit) + " after " +
                      std::to_string(trace_.jobs.back().spec.submit));
    }
    close();
    job.spec.pool = intern(fields.text_or("pool", "default"));
    job.spec.priority = fields.has("priority") ? fields.integer("priority") : 0;
    for (const RecordValue& item : fields.list("after")) {
      const RecordFields after(item, "an entry of \"after\"", {"job", "delay"});
      const std::string other = after.text("job");
      if (!jobs_.contains(other) || other == id) {
        fail_record("T011", "after", "job \"" + other + "\" is not defined before its use");
      }
      job.spec.after.push_back({intern(other), after.number_or("delay", 0, record_time_max_ns)});
    }
    if (const RecordValue* tags = fields.find("tags")) {
      const RecordFields known(*tags, "\"tags\"", {"sql", "batch", "group"});
      for (const auto& [key, target] :
           {std::pair("sql", &job.recorded.sql), std::pair("batch", &job.recorded.batch),
            std::pair("group", &job.recorded.group)}) {
        if (known.has(key)) {
          *target = intern(known.text(key));
        }
      }
    }
    job.recorded.submitted = job.spec.submit;
    trace_.jobs.push_back(std::move(job));
  }

  // A job must have had a stage before the next one begins.
  void close() {
    if (!trace_.jobs.empty() && trace_.jobs.back().spec.stages.empty()) {
      fail_record("T011", "job", "\"" + text(trace_.jobs.back().spec.name) + "\" has no stage");
    }
    local_.clear();
  }

  void stage(const RecordValue& record) {
    const RecordFields fields(record, "a stage record",
                              {"r", "job", "id", "profile", "tasks", "in", "dur", "read", "write",
                               "barrier", "indeterminate", "label"});
    const std::string of = fields.id("job");
    if (trace_.jobs.empty() || text(trace_.jobs.back().spec.name) != of) {
      fail_record("T011", "job", "\"" + of + "\" is not the job of the last job record");
    }
    model::TraceJob& job = trace_.jobs.back();
    model::StageSpec stage;
    model::RecordedStage seen;
    stage.name = intern(fields.id("id"));
    stage.tasks = static_cast<std::int32_t>(fields.number("tasks", record_tasks_max));
    stage.profile = cluster_.profile_of(fields.number_or("profile", 0, record_tasks_max));
    stage.barrier = fields.flag("barrier");
    stage.indeterminate = fields.flag("indeterminate");
    stage.duration = durations(fields, static_cast<std::size_t>(stage.tasks));
    if (fields.has("write")) {
      seen.written_bytes =
          sum_of(fields.column("write", static_cast<std::size_t>(stage.tasks), record_bytes_max));
    }
    if (fields.has("label")) {
      seen.label = intern(fields.text("label"));
    }
    const model::StageIndex index(job.spec.stages.size());
    const NameId own = stage.name;
    const auto tasks = static_cast<std::size_t>(stage.tasks);
    if (!local_.emplace(own, index).second) {
      fail_record("T007", "id", "stage \"" + text(own) + "\" is there twice in its job");
    }
    all_stages_.emplace(job.spec.name, own);
    job.spec.stages.push_back(std::move(stage));
    job.recorded.stages.push_back(std::move(seen));
    edges(fields, own, index, tasks);
  }

  void seen(const RecordValue& record) {
    const RecordFields fields(
        record, "an observe record",
        {"r", "job", "stage", "start", "end", "result", "submitted", "first", "last", "completed",
         "attempts", "failed", "missing", "read", "written", "parts_us"});
    model::TraceJob& job = job_of(fields.text("job"));
    if (!fields.has("stage")) {
      job.recorded.submitted = fields.number_or("start", job.spec.submit, record_time_max_ns);
      job.recorded.end = fields.number_if("end");
      job.recorded.outcome = fields.choice<model::RecordedOutcome>("result");
      return;
    }
    const std::size_t index = stage_of(job, fields.text("stage"));
    model::RecordedStage& stage = job.recorded.stages[index];
    stage.submitted = fields.number_if("submitted");
    stage.first_launch = fields.number_if("first");
    stage.last_finish = fields.number_if("last");
    stage.completed = fields.number_if("completed");
    const auto count = [&](std::string_view key, std::int64_t absent) {
      return static_cast<std::int32_t>(fields.number_or(key, absent, record_tasks_max));
    };
    stage.attempts = count("attempts", 1);
    stage.tasks_failed = count("failed", 0);
    stage.tasks_missing = count("missing", 0);
    stage.read_bytes = fields.number_or("read", 0, record_bytes_max);
    stage.written_bytes = fields.number_or("written", stage.written_bytes, record_bytes_max);
    if (const RecordValue* parts = fields.find("parts_us")) {
      stage.parts = parts_of(*parts, static_cast<std::size_t>(job.spec.stages[index].tasks));
    }
  }

  void fault(const RecordValue& record) {
    const RecordFields fields(record, "a fault record",
                              {"r", "at", "kind", "executor", "cause", "job", "stage", "task",
                               "attempt", "try", "after", "reason", "of"});
    const std::string kind = fields.text("kind");
    if (kind == "executor_lost") {
      const std::string executor = fields.text("executor");
      if (!cluster_.has_executor(executor)) {
        fail_record("T011", "executor", "\"" + executor + "\" is not defined before its use");
      }
      model::TimedFault lost;
      lost.at = fields.time("at");
      const auto cause = fields.has("cause") ? fields.choice<model::LossCause>("cause")
                                             : model::LossCause::process;
      lost.action = model::LoseExecutor{intern(executor), cause, std::nullopt};
      keep(false, trace_.recorded_faults.timed.size());
      trace_.recorded_faults.timed.push_back(std::move(lost));
    } else if (kind == "task_fail") {
      task_fault(fields);
    } else {
      fail_record("T011", "kind", "is \"" + kind + "\", expected executor_lost or task_fail");
    }
  }

  model::TraceJob& job_of(const std::string& id) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) {
      fail_record("T011", "job", "\"" + id + "\" is not defined before its use");
    }
    return trace_.jobs[found->second];
  }

 private:
  NameId intern(std::string_view value) { return trace_.names.intern(value); }
  [[nodiscard]] std::string text(NameId id) const { return std::string(trace_.names.text(id)); }

  static model::TaskDurations durations(const RecordFields& fields, std::size_t tasks) {
    const RecordValue* value = fields.find("dur");
    if (value == nullptr || !std::holds_alternative<RecordMembers>(value->data)) {
      return fields.column("dur", tasks, record_time_max_ns);
    }
    const RecordFields given(*value, "\"dur\"",
                             {"dist", "base", "max", "shape_e9", "values", "cap"});
    model::Distribution drawn;
    drawn.kind = given.choice<model::DistributionKind>("dist");
    drawn.base_ns = given.number_or("base", 0, record_time_max_ns);
    drawn.max_ns = given.number_or("max", 0, record_time_max_ns);
    drawn.shape_e9 = given.number_or("shape_e9", 0, record_bytes_max);
    if (const RecordValue* values = given.find("values")) {
      const auto* list = std::get_if<std::vector<std::int64_t>>(&values->data);
      drawn.values_ns =
          column_of("values", *values, list == nullptr ? 1 : list->size(), record_time_max_ns);
    }
    if (given.has("cap")) {
      drawn.cap_ns = given.time("cap");
    }
    if (const auto defect = model::defect_of(drawn)) {
      fail_record("T010", "dur", std::string(*defect));
    }
    return drawn;
  }

  void edges(const RecordFields& fields, NameId own, model::StageIndex index, std::size_t tasks) {
    model::JobSpec& job = trace_.jobs.back().spec;
    const std::vector<RecordValue>& in = fields.list("in");
    const std::vector<std::int64_t> read = read_bytes(fields, in.size(), tasks);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const RecordFields given(in[i], "an entry of \"in\"", {"stage", "kind", "bytes"});
      model::EdgeSpec edge = edge_from(given.text("stage"), own);
      if (given.has("kind")) {
        edge.kind = given.choice<model::EdgeKind>("kind");
      }
      edge.bytes = given.number_or("bytes", read.empty() ? 0 : read[i], record_bytes_max);
      edge.to = {index};
      job.edges.push_back(std::move(edge));
    }
  }

  // `read`: one column per entry of `in`; what is kept is the sum of each.
  static std::vector<std::int64_t> read_bytes(const RecordFields& fields, std::size_t edges,
                                              std::size_t tasks) {
    std::vector<std::int64_t> sums;
    const RecordValue* value = fields.find("read");
    if (value == nullptr) {
      return sums;
    }
    if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value->data)) {
      for (const std::int64_t number : *numbers) {
        sums.push_back(sum_of(column_of("read", {number}, tasks, record_bytes_max)));
      }
    } else {
      for (const RecordValue& column : fields.list("read")) {
        sums.push_back(sum_of(column_of("read", column, tasks, record_bytes_max)));
      }
    }
    if (sums.size() != edges) {
      fail_record("T011", "read",
                  "has " + std::to_string(sums.size()) + " columns, expected " +
                      std::to_string(edges) + ", one per entry of \"in\"");
    }
    return sums;
  }

  model::EdgeSpec edge_from(const std::string& stage, NameId own) {
    model::EdgeSpec edge;
    const auto slash = stage.find('/');
    if (slash == std::string::npos) {
      const NameId producer = intern(stage);
      const auto found = local_.find(producer);
      if (producer == own) {
        fail_record("T008", "in", "stage \"" + stage + "\" reads itself");
      }
      if (found == local_.end()) {
        fail_record("T011", "in", "stage \"" + stage + "\" is not defined before its use");
      }
      edge.from = found->second;
      return edge;
    }
    edge.from_job = intern(stage.substr(0, slash));
    edge.from_stage = intern(stage.substr(slash + 1));
    if (!all_stages_.contains({edge.from_job, edge.from_stage}) ||
        edge.from_job == trace_.jobs.back().spec.name) {
      fail_record("T011", "in", "\"" + stage + "\" is no stage of a job before this one");
    }
    return edge;
  }

  static model::TaskParts parts_of(const RecordValue& value, std::size_t tasks) {
    const RecordFields fields(value, "\"parts_us\"",
                              {"deserialize", "fetch_wait", "write", "serialize", "rest"});
    const auto column = [&](std::string_view key) {
      return narrowed<std::uint32_t>(
          fields.column(key, tasks, std::numeric_limits<std::uint32_t>::max()));
    };
    return {column("deserialize"), column("fetch_wait"), column("write"), column("serialize"),
            column("rest")};
  }

  std::size_t stage_of(const model::TraceJob& job, const std::string& id) {
    const NameId wanted = trace_.names.find(id);
    const auto& stages = job.spec.stages;
    const auto found = std::find_if(stages.begin(), stages.end(), [&](const auto& stage) {
      return wanted.valid() && stage.name == wanted;
    });
    if (found == stages.end()) {
      fail_record("T011", "stage", "\"" + id + "\" is not defined before its use");
    }
    return static_cast<std::size_t>(found - stages.begin());
  }

  void task_fault(const RecordFields& fields) {
    const model::TraceJob& job = job_of(fields.text("job"));
    const model::StageSpec& stage = job.spec.stages[stage_of(job, fields.text("stage"))];
    model::TaskFault fault;
    fault.job = job.spec.name;
    fault.stage = stage.name;
    if (stage.tasks == 0) {
      fail_record("T010", "task", "of a stage without tasks");
    }
    fault.partition = static_cast<std::int32_t>(fields.number("task", stage.tasks - 1));
    fault.attempt = static_cast<std::int32_t>(fields.number_or("attempt", 0, record_tasks_max));
    fault.try_number = static_cast<std::int32_t>(fields.number_or("try", 0, record_tasks_max));
    fault.after = fields.number_or("after", 0, record_time_max_ns);
    const std::string reason = fields.text("reason");
    fault.fetch_fails = reason == "fetch_failed";
    if (!fault.fetch_fails) {
      fault.fails = fields.choice<model::TaskFaultKind>("reason");
    }
    keep(true, trace_.recorded_faults.tasks.size());
    trace_.recorded_faults.tasks.push_back(fault);
  }

  void keep(bool task, std::size_t index) {
    trace_.recorded_faults.order.push_back({task, static_cast<std::uint32_t>(index)});
  }

  model::Trace& trace_;
  ClusterRecords& cluster_;
  std::map<std::string, std::size_t, std::less<>> jobs_;
  std::map<NameId, model::StageIndex> local_;       // stages of the last job
  std::set<std::pair<NameId, NameId>> all_stages_;  // (job, stage)
};

// ---- the file ----

class NativeReader {
 public:
  void read(std::string_view line) {
    const RecordValue record = parser_.parse(line);
    const auto* members = std::get_if<RecordMembers>(&record.data);
    const auto* kind = members == nullptr || members->empty() || members->front().key != "r"
                           ? nullptr
                           : std::get_if<std::string>(&members->front().value.data);
    if (kind == nullptr) {
      fail_record(records_ == 0 ? "T001" : "T006", "r", "is missing: no record");
    }
    if (ended_) {
      fail_record("T011", "r", "a record after the end record");
    }
    if ((records_ == 0) != (*kind == "trace")) {
      fail_record(records_ == 0 ? "T001" : "T011", "r",
                  records_ == 0 ? "the first record is \"" + *kind + "\", expected \"trace\""
                                : "a second trace record");
    }
    if (!kind->starts_with("x_")) {
      dispatch(*kind, record);
    }
    ++records_;
  }

  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool any() const { return records_ > 0; }

  model::Trace finish() {
    cluster_.finish();
    if (!trace_.jobs.empty() && trace_.jobs.back().spec.stages.empty()) {
      trace_.jobs.pop_back();  // cut before its first stage; nothing can refer to it yet
    }
    for (model::TraceJob& job : trace_.jobs) {
      job.spec.result = model::sinks_of(job.spec);
    }
    count();
    return std::move(trace_);
  }

  model::Trace& trace() { return trace_; }

 private:
  void dispatch(const std::string& kind, const RecordValue& record) {
    if (kind == "stage") {
      jobs_.stage(record);
    } else if (kind == "job") {
      jobs_.job(record);
    } else if (kind == "observe") {
      jobs_.seen(record);
    } else if (kind == "fault") {
      jobs_.fault(record);
    } else if (kind == "executor") {
      cluster_.executor(record);
    } else if (kind == "profile") {
      cluster_.profile(record);
    } else if (kind == "node") {
      cluster_.node(record);
    } else if (kind == "trace") {
      header(record);
    } else if (kind == "end") {
      end(record);
    } else {
      static constexpr auto known = std::to_array<std::string_view>(
          {"trace", "profile", "node", "executor", "job", "stage", "fault", "observe", "end"});
      const std::string near = model::nearest_name(kind, known.data(), known.data() + known.size());
      fail_record("T011", "r", "\"" + kind + "\" is no record",
                  (near.empty() ? "" : "did you mean " + near + "? ") +
                      std::string("records of your own begin with x_"));
    }
  }

  void header(const RecordValue& record) {
    const RecordFields fields(
        record, "a trace record",
        {"r", "format", "version", "minor", "time_unit", "epoch_ns", "name", "origin", "flags"});
    if (const std::string format = fields.text("format"); format != "rehearse-trace") {
      fail_record("T001", "format", "is \"" + format + "\", expected \"rehearse-trace\"");
    }
    const std::int64_t version = fields.integer("version");
    const std::int64_t minor = fields.number_or("minor", 0, record_tasks_max);
    if (version != version_read || minor > minor_read) {
      fail_record("T009", "version",
                  "is " + std::to_string(version) + "." + std::to_string(minor) +
                      ", this program reads 1.0");
    }
    if (const std::string unit = fields.text("time_unit"); unit != "ns") {
      fail_record("T009", "time_unit", "is \"" + unit + "\", expected \"ns\"");
    }
    trace_.format = "native";
    trace_.epoch_ns = fields.number_or("epoch_ns", 0, std::numeric_limits<std::int64_t>::max());
    if (const RecordValue* name = fields.find("name")) {
      const auto* text = std::get_if<std::string>(&name->data);
      trace_.name = text == nullptr ? "" : *text;
    }
    if (const RecordValue* origin = fields.find("origin")) {
      const RecordFields known(*origin, "\"origin\"",
                               {"kind", "version", "app", "attempt", "path"});
      trace_.origin = known.text_or("kind", "");
      trace_.version = known.text_or("version", "");
      trace_.application = known.text_or("app", "");
      trace_.attempt = known.text_or("attempt", "");
    }
    for (const RecordValue& flag : fields.list("flags")) {
      const auto* text = std::get_if<std::string>(&flag.data);
      trace_.partial = trace_.partial || (text != nullptr && *text == "partial");
    }
  }

  void end(const RecordValue& record) {
    jobs_.close();
    const RecordFields fields(record, "an end record", {"r", "records", "jobs", "stages", "tasks"});
    std::int64_t stages = 0;
    std::int64_t tasks = 0;
    for (const model::TraceJob& job : trace_.jobs) {
      stages += static_cast<std::int64_t>(job.spec.stages.size());
      for (const model::StageSpec& stage : job.spec.stages) {
        tasks += stage.tasks;
      }
    }
    const std::array<std::pair<std::string_view, std::int64_t>, 4> seen{
        {{"records", records_},
         {"jobs", static_cast<std::int64_t>(trace_.jobs.size())},
         {"stages", stages},
         {"tasks", tasks}}};
    for (const auto& [key, count] : seen) {
      if (const auto said = fields.number_if(key); said && *said != count) {
        fail_record("T011", key,
                    "says " + std::to_string(*said) + ", seen were " + std::to_string(count),
                    "a part of the file is missing; --partial reads files without an end record");
      }
    }
    ended_ = true;
  }

  // What the trace says by itself; the numbers of the log it came from are not in it.
  void count() {
    model::TraceCounts& counts = trace_.counts;
    counts.jobs = static_cast<std::int64_t>(trace_.jobs.size());
    counts.executors = static_cast<std::int64_t>(trace_.cluster.executors.size());
    for (const model::TraceJob& job : trace_.jobs) {
      counts.unfinished += job.recorded.outcome == model::RecordedOutcome::unfinished ? 1 : 0;
      counts.edges += static_cast<std::int64_t>(job.spec.edges.size());
      for (std::size_t s = 0; s < job.spec.stages.size(); ++s) {
        counts.stages += job.recorded.stages[s].attempts;
        counts.tasks += job.spec.stages[s].tasks - job.recorded.stages[s].tasks_missing;
      }
    }
    if (counts.tasks > 0) {
      counts.task_ends["Success"] = counts.tasks;
    }
    for (const model::TaskFault& fault : trace_.recorded_faults.tasks) {
      ++counts.failed_tasks;
      ++counts.tasks;
      ++counts.task_ends[fault.fails ? std::string(model::name_of(*fault.fails)) : "fetch_failed"];
    }
  }

  model::Trace trace_;
  RecordParser parser_;
  ClusterRecords cluster_{trace_};
  JobRecords jobs_{trace_, cluster_};
  std::int64_t records_ = 0;
  bool ended_ = false;
};

// Nothing when the file ends as it should.
std::optional<Error> judge_end(NativeReader& reader, const LineReader& lines,
                               const std::string& path, const LoadOptions& options) {
  if (!reader.any()) {
    return Error{.what = "is empty",
                 .file = path,
                 .remedy = "expected a trace record first",
                 .code = "T001"};
  }
  if (reader.ended()) {
    return std::nullopt;
  }
  if (!options.partial) {
    Error error = lines.damage().value_or(Error{.what = "has no end record: a part is missing",
                                                .file = path,
                                                .line = lines.lines(),
                                                .field = "r",
                                                .code = "T011"});
    error.remedy = "--partial reads what is there";
    return error;
  }
  reader.trace().partial = true;
  reader.trace().load.warnings.push_back(
      {lines.lines(), "no end record: the trace is partial", {}});
  return std::nullopt;
}

}  // namespace

model::Result<model::Trace> read_native(const std::string& path, const LoadOptions& options) {
  auto lines = LineReader::open(path, options.stream);
  if (!lines) {
    return std::unexpected(std::move(lines.error()));
  }
  NativeReader reader;
  while (auto line = lines->next()) {
    try {
      reader.read(line->text);
    } catch (const RecordError& thrown) {
      if (!line->terminated && (lines->damage() || options.partial)) {
        break;  // the beginning of a record: what comes after it is missing
      }
      return std::unexpected(Error{.what = thrown.what,
                                   .file = path,
                                   .line = line->number,
                                   .field = thrown.field,
                                   .remedy = thrown.remedy,
                                   .code = thrown.code});
    }
  }
  if (auto error = judge_end(reader, *lines, path, options)) {
    return std::unexpected(std::move(*error));
  }
  model::Trace trace = reader.finish();
  trace.load.lines = lines->lines();
  trace.load.bytes = lines->raw_bytes();
  return trace;
}

}  // namespace rehearse::traces
