// registry: none (scenarios from any trace)
// See to_scenario.hpp. First units are formed as jobs of a trace of their own, then arrivals,
// delays and executors are written down as a scenario says them.
#include "traces/to_scenario.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace rehearse::traces {
namespace {

using model::Duration;
using model::Instant;
using model::NameId;

// A stage of a unit and the job it came from.
struct Origin {
  std::size_t job = 0;    // in Trace::jobs
  std::size_t stage = 0;  // of that job
};

struct UnitJob {
  model::TraceJob job;          // recorded.stages without parts
  std::vector<Origin> origins;  // by stage
};

class Converter {
 public:
  Converter(const model::Trace& trace, const ToScenarioOptions& options)
      : trace_(trace), options_(options) {
    result_.scenario.names = trace.names;
    result_.scenario.name = trace.name;
  }

  TraceScenario convert() {
    form_units();
    keep_names();
    std::vector<model::TraceJob> jobs;
    for (UnitJob& unit : units_) {
      add_edges(unit);
      unit.job.spec.result = model::sinks_of(unit.job.spec);
      set_delays(unit);
      jobs.push_back(std::move(unit.job));
    }
    if (options_.arrivals == Arrivals::recorded) {
      for (model::TraceJob& job : jobs) {
        job.spec.after.clear();
      }
    } else if (relink_) {
      model::link_arrivals(jobs);
    }
    for (model::TraceJob& job : jobs) {
      result_.recorded.push_back(std::move(job.recorded));
      result_.scenario.jobs.push_back(std::move(job.spec));
    }
    make_cluster();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string text(NameId id) const {
    return std::string(result_.scenario.names.text(id));
  }
  NameId intern(std::string_view value) { return result_.scenario.names.intern(value); }

  // ---- units ----

  [[nodiscard]] std::string unit_key(const model::TraceJob& job) const {
    if (options_.by == Unit::sql && job.recorded.sql.valid()) {
      return "sql-" + text(job.recorded.sql);
    }
    if (options_.by == Unit::batch && job.recorded.batch.valid()) {
      return "batch-" + text(job.recorded.batch);
    }
    return {};
  }

  void form_units() {
    std::set<std::string> taken;
    for (const model::TraceJob& job : trace_.jobs) {
      if (unit_key(job).empty()) {
        taken.insert(text(job.spec.name));
      }
    }
    std::map<std::string, std::size_t> known;
    for (std::size_t j = 0; j < trace_.jobs.size(); ++j) {
      const model::TraceJob& job = trace_.jobs[j];
      const std::string key = unit_key(job);
      const auto found = known.find(key);
      if (key.empty() || found == known.end()) {
        unit_of_[job.spec.name] = units_.size();
        if (!key.empty()) {
          known.emplace(key, units_.size());
          relink_ = true;  // `after` names jobs of the trace, and this one has a name of its own
        }
        start_unit(job, key.empty() ? text(job.spec.name) : unique_name(key, taken));
      } else {
        unit_of_[job.spec.name] = found->second;
        extend(units_[found->second].job, job);
      }
      add_stages(units_[unit_of_[job.spec.name]], j);
    }
  }

  static std::string unique_name(std::string name, std::set<std::string>& taken) {
    std::replace(name.begin(), name.end(), '/', '_');
    std::replace(name.begin(), name.end(), '#', '_');
    while (!taken.insert(name).second) {
      name += "'";
    }
    return name;
  }

  void start_unit(const model::TraceJob& job, const std::string& name) {
    UnitJob unit;
    unit.job.spec.name = intern(name);
    unit.job.spec.pool = job.spec.pool;
    unit.job.spec.priority = job.spec.priority;
    unit.job.spec.submit = job.spec.submit;
    unit.job.spec.after = job.spec.after;
    unit.job.recorded.submitted = job.recorded.submitted;
    unit.job.recorded.end = job.recorded.end;
    unit.job.recorded.outcome = job.recorded.outcome;
    unit.job.recorded.sql = job.recorded.sql;
    unit.job.recorded.batch = job.recorded.batch;
    unit.job.recorded.group = job.recorded.group;
    units_.push_back(std::move(unit));
  }

  // A unit lasts until its last job ended, and is as bad as the worst of them.
  static void extend(model::TraceJob& unit, const model::TraceJob& job) {
    model::RecordedJob& seen = unit.recorded;
    seen.submitted = std::min(seen.submitted, job.recorded.submitted);
    seen.end = seen.end && job.recorded.end ? std::optional(std::max(*seen.end, *job.recorded.end))
                                            : std::nullopt;
    seen.outcome = std::max(seen.outcome, job.recorded.outcome);
  }

  void add_stages(UnitJob& unit, std::size_t j) {
    const model::TraceJob& job = trace_.jobs[j];
    for (std::size_t s = 0; s < job.spec.stages.size(); ++s) {
      model::StageSpec stage = job.spec.stages[s];
      const auto& present = unit.job.spec.stages;
      const bool clash = std::any_of(present.begin(), present.end(),
                                     [&](const auto& other) { return other.name == stage.name; });
      if (clash) {
        stage.name = intern(text(job.spec.name) + "." + text(stage.name));
      }
      place_[{job.spec.name, job.spec.stages[s].name}] = {unit_of_[job.spec.name],
                                                          unit.job.spec.stages.size()};
      unit.job.spec.stages.push_back(std::move(stage));
      unit.origins.push_back({j, s});
      model::RecordedStage seen;
      const model::RecordedStage& source = job.recorded.stages[s];
      seen.label = source.label;
      seen.submitted = source.submitted;
      seen.first_launch = source.first_launch;
      seen.last_finish = source.last_finish;
      seen.completed = source.completed;
      seen.attempts = source.attempts;
      seen.tasks_failed = source.tasks_failed;
      seen.tasks_missing = source.tasks_missing;
      seen.read_bytes = source.read_bytes;
      seen.written_bytes = source.written_bytes;
      unit.job.recorded.stages.push_back(std::move(seen));
    }
  }

  // ---- edges: one per producer and kind, with all its readers ----

  void add_edges(UnitJob& unit) {
    model::JobSpec& spec = unit.job.spec;
    const std::size_t own = unit_of_[trace_.jobs[unit.origins.front().job].spec.name];
    std::map<std::pair<std::pair<std::size_t, std::size_t>, model::EdgeKind>, std::size_t> known;
    for (std::size_t s = 0; s < unit.origins.size(); ++s) {
      const model::JobSpec& source = trace_.jobs[unit.origins[s].job].spec;
      for (const model::EdgeSpec& edge : source.edges) {
        if (edge.to.front().index() != unit.origins[s].stage) {
          continue;
        }
        const auto place = edge.from.valid()
                               ? place_.at({source.name, source.stages[edge.from.index()].name})
                               : place_.at({edge.from_job, edge.from_stage});
        const auto [at, fresh] = known.try_emplace({place, edge.kind}, spec.edges.size());
        if (!fresh) {
          spec.edges[at->second].to.emplace_back(s);
          continue;
        }
        model::EdgeSpec merged = edge;
        merged.from = {};
        merged.from_job = {};
        merged.from_stage = {};
        merged.to = {model::StageIndex(s)};
        if (place.first == own) {
          merged.from = model::StageIndex(place.second);
        } else {
          merged.from_job = unit_names_[place.first];
          merged.from_stage = stage_names_[place.first][place.second];
        }
        spec.edges.push_back(std::move(merged));
      }
    }
  }

  // Units are moved away one by one while the edges of later ones still name them.
  void keep_names() {
    for (const UnitJob& unit : units_) {
      unit_names_.push_back(unit.job.spec.name);
      stage_names_.emplace_back();
      for (const model::StageSpec& stage : unit.job.spec.stages) {
        stage_names_.back().push_back(stage.name);
      }
    }
  }

  // ---- delays ----

  void set_delays(UnitJob& unit) const {
    model::JobSpec& spec = unit.job.spec;
    const model::RecordedJob& seen = unit.job.recorded;
    std::vector<Instant> reference(spec.stages.size(), seen.submitted);
    std::vector<bool> root(spec.stages.size(), true);
    std::optional<Instant> last;
    for (const model::RecordedStage& stage : seen.stages) {
      if (stage.last_finish) {
        last = std::max(last.value_or(*stage.last_finish), *stage.last_finish);
      }
    }
    for (const model::EdgeSpec& edge : spec.edges) {
      if (!edge.from.valid()) {
        continue;
      }
      const auto finish = seen.stages[edge.from.index()].last_finish;
      for (const model::StageIndex reader : edge.to) {
        root[reader.index()] = false;
        reference[reader.index()] =
            std::max(reference[reader.index()], finish.value_or(seen.submitted));
      }
    }
    const bool as_recorded = options_.delays == Delays::recorded;
    Duration end_delay = options_.driver.job_end_ns;
    if (as_recorded) {
      end_delay = seen.end && last ? std::max<Duration>(0, *seen.end - *last) : 0;
    }
    for (std::size_t s = 0; s < spec.stages.size(); ++s) {
      const Instant submitted = trace_.jobs[unit.origins[s].job].recorded.submitted;
      const Duration gap = std::max<Duration>(0, submitted - reference[s]);
      Duration delay = gap + options_.driver.stage_start_ns;
      if (as_recorded) {
        const Instant launched = seen.stages[s].first_launch.value_or(reference[s] + gap);
        delay = std::max<Duration>(0, launched - reference[s]);
      }
      spec.stages[s].start_delay = delay + (root[s] ? end_delay : 0);
    }
  }

  // ---- executors ----

  void make_cluster() {
    model::Scenario& scenario = result_.scenario;
    scenario.cluster = trace_.cluster;
    scenario.cluster.executors.clear();
    Instant last_end = 0;
    for (const model::TraceJob& job : trace_.jobs) {
      last_end = std::max(last_end, job.recorded.end.value_or(model::instant_max));
    }
    const auto& executors = trace_.cluster.executors;
    const bool some_join = std::any_of(executors.begin(), executors.end(),
                                       [&](const auto& e) { return e.joins <= last_end; });
    for (std::size_t i = 0; i < executors.size(); ++i) {
      const model::ExecutorSpec& executor = executors[i];
      if (executor.joins > last_end && some_join) {
        ++result_.executors_left_out;
        continue;
      }
      scenario.cluster.executors.push_back(executor);
      const model::ExecutorEnd& end = trace_.executor_ends[i];
      if (!end.leaves || *end.leaves >= last_end) {
        continue;
      }
      model::TimedFault fault;
      fault.at = end.leaves;
      fault.action =
          model::LoseExecutor{executor.name, model::LossCause::decommission, std::nullopt};
      scenario.faults.order.push_back(
          {false, static_cast<std::uint32_t>(scenario.faults.timed.size())});
      scenario.faults.timed.push_back(std::move(fault));
      result_.keeps_outputs = true;
    }
  }

  const model::Trace& trace_;
  const ToScenarioOptions& options_;
  TraceScenario result_;
  std::vector<UnitJob> units_;
  std::map<NameId, std::size_t> unit_of_;  // by job of the trace
  std::map<std::pair<NameId, NameId>, std::pair<std::size_t, std::size_t>> place_;
  std::vector<NameId> unit_names_;
  std::vector<std::vector<NameId>> stage_names_;
  bool relink_ = false;
};

}  // namespace

model::Result<TraceScenario> to_scenario(const model::Trace& trace,
                                         const ToScenarioOptions& options) {
  if (options.inject_recorded_faults) {
    return std::unexpected(
        model::Error{.what = "--inject-recorded-faults is not built yet",
                     .remedy = "leave it out: recorded failures are reported, not repeated"});
  }
  return Converter(trace, options).convert();
}

}  // namespace rehearse::traces
