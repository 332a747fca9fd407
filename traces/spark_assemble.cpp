// registry: none (a part of the reader of Spark event logs)
// Aliases, jobs and their stages, recorded times, and the losses of a Spark log.
#include "traces/spark_assemble.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <set>
#include <utility>

#include "model/support/check.hpp"

namespace rehearse::traces {
namespace {

using model::Error;
using model::Instant;

constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::max();

bool ran(const SparkStage& stage) { return stage.declared && !stage.attempts.empty(); }

std::optional<std::int64_t> first_seen_ms(const SparkStage& stage) {
  std::optional<std::int64_t> first = stage.first_launch_ms;
  for (const SparkAttempt& attempt : stage.attempts) {
    if (attempt.submitted_ms) {
      first = std::min(first.value_or(*attempt.submitted_ms), *attempt.submitted_ms);
    }
  }
  return first;
}

class Assembler {
 public:
  Assembler(SparkLog& log, const std::string& file, const LoadOptions& options)
      : log_(log), file_(file), options_(options), aliases_(spark_aliases(log)) {}

  model::Result<model::Trace> make() {
    count();
    guess_job_times();
    assign_stages();
    set_epoch();
    describe();
    make_spark_cluster(log_, epoch_ms_, trace_);
    for (std::size_t i = 0; i < trace_.cluster.profiles.size(); ++i) {
      profile_index_[std::string(trace_.names.text(trace_.cluster.profiles[i].name))] =
          model::ProfileId(i);
    }
    if (!log_.parents_logged && log_.counts.stages > 0) {
      if (options_.strict) {
        return std::unexpected(Error{.what = "no stage names its parents (Spark before 1.5)",
                                     .file = file_,
                                     .remedy = "read it without --strict: the stages of a job "
                                               "then run one after the other"});
      }
      log_.warnings.add("no stage names its parents: the stages of a job follow one another");
    }
    for (const SparkJob* job : ordered_) {
      if (auto error = add_job(*job)) {
        return std::unexpected(std::move(*error));
      }
    }
    model::link_arrivals(trace_.jobs);
    record_losses();
    if (auto error = judge_loss()) {
      return std::unexpected(std::move(*error));
    }
    summarize();
    return std::move(trace_);
  }

 private:
  // ---- before any job is made ----

  void count() {
    model::TraceCounts& counts = log_.counts;
    counts.aliased_stages = static_cast<std::int64_t>(aliases_.target.size());
    counts.never_run = static_cast<std::int64_t>(aliases_.never_run.size());
    for (const auto& [id, stage] : log_.stages) {
      if (!ran(stage)) {
        continue;
      }
      std::set<std::int64_t> producers;
      for (const std::int64_t parent : stage.parents) {
        producers.insert(aliases_.resolve(parent));
      }
      counts.edges += static_cast<std::int64_t>(producers.size());
    }
    for (const auto& [id, job] : log_.jobs) {
      counts.unfinished += job.ended ? 0 : 1;
    }
  }

  // Spark before 1.4 logs no times of jobs: they are those of their stages.
  void guess_job_times() {
    for (auto& [id, job] : log_.jobs) {
      std::int64_t first = no_time;
      std::int64_t last = -1;
      for (const std::int64_t listed : job.stages) {
        const auto stage = log_.stages.find(listed);
        if (stage == log_.stages.end() || !ran(stage->second)) {
          continue;
        }
        first = std::min(first, first_seen_ms(stage->second).value_or(no_time));
        last = std::max(last, stage->second.last_finish_ms.value_or(-1));
      }
      if (!job.submitted_ms && first != no_time) {
        log_.warnings.add("job without a submission time: that of its first stage is taken");
        job.submitted_ms = first;
      }
      if (job.ended && !job.completed_ms && last >= 0) {
        log_.warnings.add("job without a completion time: that of its last task is taken");
        job.completed_ms = last;
      }
      if (job.completed_ms && job.submitted_ms && *job.completed_ms < *job.submitted_ms) {
        log_.warnings.add("T010: job that ended before it was submitted");
        job.completed_ms = job.submitted_ms;
      }
    }
  }

  // Every stage that ran belongs to one job: the first that lists it and was alive when it ran.
  void assign_stages() {
    for (const auto& [id, job] : log_.jobs) {
      if (job.submitted_ms) {
        ordered_.push_back(&job);
      }
    }
    std::sort(ordered_.begin(), ordered_.end(), [](const SparkJob* a, const SparkJob* b) {
      return std::pair(*a->submitted_ms, a->id) < std::pair(*b->submitted_ms, b->id);
    });
    std::map<std::int64_t, const SparkJob*> first_listing;
    for (const SparkJob* job : ordered_) {
      for (const std::int64_t id : job->stages) {
        const auto stage = log_.stages.find(id);
        if (stage == log_.stages.end() || !ran(stage->second)) {
          continue;
        }
        first_listing.try_emplace(id, job);
        const std::int64_t seen = first_seen_ms(stage->second).value_or(*job->submitted_ms);
        if (job->completed_ms.value_or(no_time) >= seen) {
          owner_.try_emplace(id, job);
        }
      }
    }
    for (const auto& [id, job] : first_listing) {
      owner_.try_emplace(id, job);
    }
  }

  void set_epoch() {
    std::int64_t first = log_.app_start_ms.value_or(no_time);
    for (const SparkJob* job : ordered_) {
      first = std::min(first, *job->submitted_ms);
    }
    for (const auto& [id, stage] : log_.stages) {
      first = std::min(first, first_seen_ms(stage).value_or(no_time));
    }
    if (first == no_time) {
      for (const SparkExecutor& executor : log_.executors) {
        first = std::min(first, executor.added_ms.value_or(no_time));
      }
    }
    epoch_ms_ = first == no_time ? 0 : first;
  }

  void describe() {
    trace_.format = "spark-event-log";
    trace_.origin = trace_.format;
    trace_.version = log_.version;
    trace_.name = log_.app_name;
    trace_.application = log_.app_id;
    trace_.attempt = log_.attempt;
    trace_.epoch_ns = epoch_ms_ * model::millisecond;
    if (!log_.app_start_ms) {
      log_.warnings.add("no ApplicationStart: time 0 is the first job, stage or task");
    }
    if (!log_.app_end_ms) {
      log_.warnings.add("no ApplicationEnd: the log may not be complete");
    }
  }

  [[nodiscard]] Instant instant(std::int64_t at_ms) const {
    return std::max<std::int64_t>(0, at_ms - epoch_ms_) * model::millisecond;
  }
  [[nodiscard]] std::optional<Instant> instant(std::optional<std::int64_t> at_ms) const {
    return at_ms ? std::optional(instant(*at_ms)) : std::nullopt;
  }

  static std::string job_name(std::int64_t id) { return "job-" + std::to_string(id); }
  static std::string stage_name(std::int64_t id) { return "stage-" + std::to_string(id); }

  // ---- one job ----

  // The stages of the job in an order in which producers come first, smallest id first.
  std::vector<std::int64_t> ordered_stages(const SparkJob& job, bool& cyclic) {
    std::map<std::int64_t, std::int64_t> waiting;  // stage -> producers in this job not yet out
    std::map<std::int64_t, std::vector<std::int64_t>> readers;
    for (const std::int64_t id : job.stages) {
      if (const auto owner = owner_.find(id); owner != owner_.end() && owner->second == &job) {
        waiting[id] = 0;
      }
    }
    for (auto& [id, count] : waiting) {
      for (const std::int64_t producer : producers_of(id)) {
        if (waiting.contains(producer)) {
          readers[producer].push_back(id);
          ++count;
        }
      }
    }
    std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> free;
    for (const auto& [id, count] : waiting) {
      if (count == 0) {
        free.push(id);
      }
    }
    std::vector<std::int64_t> order;
    while (!free.empty()) {
      const std::int64_t id = free.top();
      free.pop();
      order.push_back(id);
      for (const std::int64_t reader : readers[id]) {
        if (--waiting[reader] == 0) {
          free.push(reader);
        }
      }
    }
    cyclic = order.size() != waiting.size();
    return order;
  }

  std::set<std::int64_t> producers_of(std::int64_t id) {
    std::set<std::int64_t> producers;
    for (const std::int64_t parent : log_.stages.at(id).parents) {
      producers.insert(aliases_.resolve(parent));
    }
    return producers;
  }

  std::optional<Error> add_job(const SparkJob& source) {
    bool cyclic = false;
    const std::vector<std::int64_t> stages = ordered_stages(source, cyclic);
    if (cyclic) {
      return Error{
          .what = "the stages of job " + std::to_string(source.id) + " read each other in a cycle",
          .file = file_,
          .field = "Parent IDs",
          .code = "T008"};
    }
    if (stages.empty()) {
      log_.warnings.add("job of which no stage ran: left out", {}, job_name(source.id));
      return std::nullopt;
    }
    model::TraceJob job;
    job.spec.name = trace_.names.intern(job_name(source.id));
    job.spec.pool = trace_.names.intern(source.pool.empty() ? "default" : source.pool);
    job.spec.submit = instant(*source.submitted_ms);
    job.recorded.submitted = job.spec.submit;
    job.recorded.outcome = !source.ended      ? model::RecordedOutcome::unfinished
                           : source.succeeded ? model::RecordedOutcome::succeeded
                                              : model::RecordedOutcome::failed;
    if (source.ended) {
      job.recorded.end = instant(source.completed_ms);
    }
    job.recorded.sql = named(source.sql);
    job.recorded.batch = named(source.batch);
    job.recorded.group = named(source.group);
    std::map<std::int64_t, model::StageIndex> local;
    for (const std::int64_t id : stages) {
      local[id] = model::StageIndex(job.spec.stages.size());
      add_stage(log_.stages.at(id), job);
    }
    for (const std::int64_t id : stages) {
      add_edges(id, local, job.spec);
    }
    if (!log_.parents_logged) {
      chain(job.spec);
    }
    job.spec.result = model::sinks_of(job.spec);
    made_.insert(&source);
    trace_.jobs.push_back(std::move(job));
    return std::nullopt;
  }

  model::NameId named(const std::string& text) {
    return text.empty() ? model::NameId() : trace_.names.intern(text);
  }

  void add_stage(SparkStage& source, model::TraceJob& job) {
    model::StageSpec spec;
    spec.name = trace_.names.intern(stage_name(source.id));
    spec.tasks = static_cast<std::int32_t>(source.tasks);
    spec.profile = profile_index_.at(spark_profile_name(source.profile));
    spec.barrier = source.barrier;
    spec.indeterminate = source.indeterminate;

    model::RecordedStage recorded;
    recorded.label = named(source.label);
    recorded.submitted = instant(source.attempts.front().submitted_ms);
    recorded.first_launch = instant(source.first_launch_ms);
    recorded.last_finish =
        instant(source.last_success_ms ? source.last_success_ms : source.last_finish_ms);
    recorded.completed = instant(source.attempts.back().completed_ms);
    recorded.attempts = static_cast<std::int32_t>(source.attempts.size());
    recorded.tasks_failed = static_cast<std::int32_t>(source.failures.size());
    recorded.read_bytes = source.read_bytes;
    recorded.written_bytes = source.written_bytes;
    const bool succeeded = job.recorded.outcome == model::RecordedOutcome::succeeded;
    spec.duration = durations(source, succeeded, recorded.tasks_missing);
    if (succeeded) {
      tasks_expected_ += source.tasks;
      tasks_lost_ += recorded.tasks_missing;
    }
    add_failures(source, job.spec.name, spec.name);
    recorded.parts = std::move(source.done.parts);
    if (!recorded.parts.empty()) {
      recorded.parts.resize(static_cast<std::size_t>(source.tasks));
    }
    source.done = {};
    job.spec.stages.push_back(std::move(spec));
    job.recorded.stages.push_back(std::move(recorded));
  }

  // Launch to finish by partition. A partition without a success takes the median of the others if
  // its job succeeded (its line is lost), else the time of its last failed try, else 0.
  static std::vector<model::Duration> durations(const SparkStage& stage, bool succeeded,
                                                std::int32_t& missing) {
    const auto tasks = static_cast<std::size_t>(stage.tasks);
    std::vector<model::Duration> result(tasks, 0);
    std::vector<std::size_t> absent;
    std::vector<model::Duration> known;
    for (std::size_t p = 0; p < tasks; ++p) {
      if (p < stage.done.finish_ms.size() && stage.done.finish_ms[p] != SparkTasks::no_success) {
        result[p] = std::int64_t{stage.done.duration_ms[p]} * model::millisecond;
      } else {
        absent.push_back(p);
      }
    }
    missing = static_cast<std::int32_t>(absent.size());
    if (absent.empty()) {
      return result;
    }
    if (succeeded) {
      for (std::size_t p = 0, next = 0; p < tasks; ++p) {
        if (next < absent.size() && absent[next] == p) {
          ++next;
        } else {
          known.push_back(result[p]);
        }
      }
      std::sort(known.begin(), known.end());
      const model::Duration median = known.empty() ? 0 : known[(known.size() - 1) / 2];
      for (const std::size_t p : absent) {
        result[p] = median;
      }
      return result;
    }
    for (const SparkFailure& failure : stage.failures) {
      const auto p = static_cast<std::size_t>(failure.partition);
      if (std::binary_search(absent.begin(), absent.end(), p)) {
        result[p] = failure.after_ms * model::millisecond;
      }
    }
    return result;
  }

  void add_failures(const SparkStage& stage, model::NameId job, model::NameId name) {
    for (const SparkFailure& failure : stage.failures) {
      if (failure.partition >= stage.tasks) {
        continue;
      }
      model::TaskFault fault;
      fault.job = job;
      fault.stage = name;
      fault.partition = static_cast<std::int32_t>(failure.partition);
      fault.attempt = failure.stage_attempt;
      fault.try_number = failure.try_number;
      fault.after = failure.after_ms * model::millisecond;
      fault.fetch_fails = failure.fetch;
      if (!failure.fetch) {
        fault.fails = failure.kind;
      }
      trace_.recorded_faults.order.push_back(
          {true, static_cast<std::uint32_t>(trace_.recorded_faults.tasks.size())});
      trace_.recorded_faults.tasks.push_back(fault);
    }
  }

  void add_edges(std::int64_t id, const std::map<std::int64_t, model::StageIndex>& local,
                 model::JobSpec& job) {
    for (const std::int64_t producer : producers_of(id)) {
      const auto known = log_.stages.find(producer);
      const auto owner = owner_.find(producer);
      model::EdgeSpec edge;
      edge.to = {local.at(id)};
      edge.bytes = known == log_.stages.end() ? 0 : known->second.written_bytes;
      if (const auto own = local.find(producer); own != local.end()) {
        edge.from = own->second;
      } else if (owner != owner_.end() && made_.contains(owner->second)) {
        edge.from_job = trace_.names.intern(job_name(owner->second->id));
        edge.from_stage = trace_.names.intern(stage_name(producer));
      } else {
        log_.warnings.add(
            "stage that reads outputs of a stage that is not in the log: read as if "
            "they were there",
            {}, stage_name(id));
        continue;
      }
      job.edges.push_back(std::move(edge));
    }
  }

  static void chain(model::JobSpec& job) {
    for (std::size_t i = 1; i < job.stages.size(); ++i) {
      model::EdgeSpec edge;
      edge.from = model::StageIndex(i - 1);
      edge.to = {model::StageIndex(i)};
      job.edges.push_back(std::move(edge));
    }
  }

  // ---- after all jobs ----

  void record_losses() {
    for (std::size_t i = 0; i < trace_.executor_ends.size(); ++i) {
      const model::ExecutorEnd& end = trace_.executor_ends[i];
      if (!end.leaves || end.cause == model::LossCause::decommission) {
        continue;
      }
      model::TimedFault fault;
      fault.at = end.leaves;
      fault.action = model::LoseExecutor{trace_.cluster.executors[i].name, end.cause, std::nullopt};
      trace_.recorded_faults.order.push_back(
          {false, static_cast<std::uint32_t>(trace_.recorded_faults.timed.size())});
      trace_.recorded_faults.timed.push_back(std::move(fault));
    }
  }

  std::optional<Error> judge_loss() {
    if (tasks_lost_ == 0) {
      return std::nullopt;
    }
    const std::string what = std::to_string(tasks_lost_) + " of " +
                             std::to_string(tasks_expected_) +
                             " expected task ends of jobs that succeeded are missing";
    if (!options_.lossy && tasks_lost_ >= loss_tasks_min &&
        tasks_lost_ * 100 > tasks_expected_ * loss_percent_max) {
      return Error{.what = what,
                   .file = file_,
                   .remedy =
                       "--lossy reads what is there; missing tasks take the median of their "
                       "stage",
                   .code = "T012"};
    }
    log_.warnings.add("task ends are missing: their tasks take the median of their stage", {},
                      what);
    return std::nullopt;
  }

  void summarize() {
    std::int64_t running = 0;
    std::int64_t orphans = 0;
    for (const auto& [id, stage] : log_.stages) {
      running += std::max<std::int64_t>(0, stage.tasks_started - stage.tasks_ended);
      orphans += (stage.tasks_ended > 0 || ran(stage)) && !owner_.contains(id) ? 1 : 0;
    }
    if (running > 0) {
      log_.warnings.add("tasks started without an end", {}, std::to_string(running));
    }
    if (orphans > 0) {
      log_.warnings.add("stages ran for jobs that are not in the log: left out", {},
                        std::to_string(orphans));
    }
    if (log_.counts.unfinished > 0) {
      log_.warnings.add("jobs without an end", {}, std::to_string(log_.counts.unfinished));
    }
    if (!aliases_.never_run.empty()) {
      log_.warnings.add("stages that never ran and are no alias of one that did", {},
                        std::to_string(aliases_.never_run.size()));
    }
    trace_.counts = log_.counts;
    std::vector<model::LoadWarning> all = log_.warnings.list();
    all.insert(all.end(), trace_.load.warnings.begin(), trace_.load.warnings.end());
    trace_.load.warnings = std::move(all);
  }

  SparkLog& log_;
  const std::string& file_;
  const LoadOptions& options_;
  SparkAliases aliases_;
  model::Trace trace_;
  std::int64_t epoch_ms_ = 0;
  std::vector<const SparkJob*> ordered_;           // by submission
  std::map<std::int64_t, const SparkJob*> owner_;  // stage -> job
  std::set<const SparkJob*> made_;                 // looked up only, never walked
  std::map<std::string, model::ProfileId> profile_index_;
  std::int64_t tasks_expected_ = 0;
  std::int64_t tasks_lost_ = 0;
};

}  // namespace

std::int64_t SparkAliases::resolve(std::int64_t stage) const {
  const auto found = target.find(stage);
  return found == target.end() ? stage : found->second;
}

SparkAliases spark_aliases(const SparkLog& log) {
  SparkAliases aliases;
  std::map<std::vector<std::int64_t>, std::int64_t> latest;  // of the stages passed so far
  for (const auto& [id, stage] : log.stages) {
    if (!stage.declared) {
      continue;
    }
    if (ran(stage)) {
      if (stage.writes_shuffle) {
        latest[stage.rdds] = id;
      }
      continue;
    }
    const auto found = latest.find(stage.rdds);
    if (found != latest.end() && !stage.rdds.empty()) {
      aliases.target[id] = found->second;
    } else {
      aliases.never_run.push_back(id);
    }
  }
  return aliases;
}

model::Result<model::Trace> assemble_spark_trace(SparkLog& log, const std::string& file,
                                                 const LoadOptions& options) {
  return Assembler(log, file, options).make();
}

}  // namespace rehearse::traces
