// Inputs by their content: scenarios, scenarios that name a trace, traces.
#include "cli/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "cli/adjust.hpp"
#include "cli/input_path.hpp"
#include "traces/input_file.hpp"
#include "traces/native.hpp"
#include "traces/registry.hpp"
#include "traces/scenario_json.hpp"

namespace rehearse::cli {
namespace {

using model::Error;
using model::Result;

// The order of traces.md.
constexpr auto reasons =
    std::to_array<std::string_view>({"other-unit", "inside", "cycle", "too-wide", "idiom"});

traces::ToScenarioOptions conversion(const Settings& settings) {
  return {.arrivals = settings.arrivals,
          .delays = settings.delays,
          .by = settings.unit(),
          .inject_recorded_faults = false,
          .driver = {}};
}

Result<std::int64_t> reduce_to(model::Scenario& scenario, std::vector<model::RecordedJob>& recorded,
                               const Settings& settings, bool relink) {
  if (!settings.select && !settings.jobs_max) {
    return 0;
  }
  return reduce(scenario, recorded,
                {.select = settings.select, .jobs_max = settings.jobs_max, .relink = relink});
}

void note_trace(Workload& work, const Settings& settings) {
  work.notes.emplace_back(
      settings.arrivals == traces::Arrivals::after
          ? "A job of a trace is submitted after the job that had ended before it, plus the "
            "recorded gap."
          : "Jobs of a trace are submitted at their recorded offsets.");
  work.notes.emplace_back(
      settings.delays == traces::Delays::model
          ? "What the recorded driver did between stages is one model with the same constants for "
            "every trace (docs/model.md)."
          : "What the recorded driver did between stages takes as long as recorded.");
  if (work.keeps_outputs) {
    work.notes.emplace_back(
        "Executors leave as recorded; outputs survive them (outputs_survive_executor), because "
        "the recorded system did not lose them.");
  }
}

Result<void> fill_from_trace(Workload& work, const Settings& settings,
                             const WorkloadOptions& options, const std::string& format) {
  auto trace = traces::load_trace(work.path, settings.load, format);
  if (!trace) {
    return std::unexpected(std::move(trace.error()));
  }
  work.kind = InputKind::trace;
  work.input.format = trace->format;
  work.input.trace_id = traces::trace_id(*trace);
  work.input.warnings = warnings_of(*trace);
  auto converted = traces::to_scenario(*trace, conversion(settings));
  if (!converted) {
    return std::unexpected(std::move(converted.error()));
  }
  work.scenario = std::move(converted->scenario);
  work.recorded = std::move(converted->recorded);
  work.keeps_outputs = converted->keeps_outputs;
  work.scenario.timing = model::Timing::coupled;  // W8: the default for traces
  work.scenario.scheduler = model::preset(model::Dialect::psd);
  if (converted->executors_left_out > 0) {
    work.input.warnings.push_back(
        {std::nullopt, fmt::format("{} executors that joined after the last job ended are left out",
                                   converted->executors_left_out)});
  }
  if (work.scenario.name.empty()) {
    work.scenario.name = std::filesystem::path(work.input.path).filename().string();
  }
  note_trace(work, settings);
  if (options.keep_trace) {
    work.trace = std::move(*trace);
  }
  return {};
}

// A scenario whose jobs come from a trace beside it.
Result<void> fill_workload(Workload& work, const Settings& settings) {
  const model::WorkloadSpec spec = *work.scenario.workload;
  const std::filesystem::path beside = std::filesystem::path(work.path).parent_path() / spec.trace;
  auto trace = traces::load_trace(beside.string(), settings.load, spec.format);
  if (!trace) {
    return std::unexpected(std::move(trace.error()));
  }
  for (reports::InputWarning& warning : warnings_of(*trace)) {
    work.input.warnings.push_back(std::move(warning));
  }
  auto converted = traces::to_scenario(*trace, conversion(settings));
  if (!converted) {
    return std::unexpected(std::move(converted.error()));
  }
  for (const model::JobSpec& job : converted->scenario.jobs) {
    auto adopted = adopt_job(work.scenario, converted->scenario, job);
    if (!adopted) {
      adopted.error().file = work.path;
      return std::unexpected(std::move(adopted.error()));
    }
    work.scenario.jobs.push_back(std::move(*adopted));
  }
  work.recorded = std::move(converted->recorded);
  work.scenario.workload.reset();
  note_trace(work, settings);
  return {};
}

Result<void> fill_from_scenario(Workload& work, const Settings& settings) {
  const auto text = traces::read_input_file(work.path);
  if (!text) {
    return std::unexpected(text.error());
  }
  auto scenario = traces::read_scenario(*text, work.path);
  if (!scenario) {
    return std::unexpected(std::move(scenario.error()));
  }
  work.input.format = "scenario";
  work.scenario = std::move(*scenario);
  return work.scenario.workload ? fill_workload(work, settings) : Result<void>{};
}

// The unit that would need most slots, before anything is marked or narrowed.
std::optional<reports::Marking::Widest> widest_unit(const model::Scenario& scenario) {
  const std::vector<std::int64_t> slots = traces::slots_as_group(scenario);
  const auto widest = std::ranges::max_element(slots);
  if (widest == slots.end() || *widest == 0) {
    return std::nullopt;
  }
  const model::JobSpec& job = scenario.jobs[static_cast<std::size_t>(widest - slots.begin())];
  return reports::Marking::Widest{std::string(scenario.names.text(job.name)), 0, *widest};
}

Result<void> mark(Workload& work, const Settings& settings) {
  if (settings.marking.rule == traces::PipelinedRule::none) {
    return {};
  }
  std::optional<reports::Marking::Widest> widest = widest_unit(work.scenario);
  auto report = traces::mark_edges(work.scenario, work.recorded, settings.marking);
  if (!report) {
    return std::unexpected(std::move(report.error()));
  }
  reports::Marking marking;
  marking.unit = model::name_of(settings.unit());
  marking.candidates = report->candidates;
  marking.marked = report->marked;
  for (const std::string_view reason : reasons) {
    if (const auto found = report->left.find(std::string(reason)); found != report->left.end()) {
      marking.left.emplace_back(reason, found->second);
    }
  }
  marking.work = reports::Wide{report->work_us} * model::microsecond;
  marking.work_in_groups = reports::Wide{report->work_in_groups_us} * model::microsecond;
  if (report->narrowed) {
    marking.narrowed = {report->tasks_before, report->tasks_after};
    work.notes.push_back(fmt::format(
        "{}: stages of groups that were too wide are narrowed as a pipelined deployment would "
        "configure them, {} tasks to {}, with the same work: a what-if.",
        work.path, report->tasks_before, report->tasks_after));
  }
  if (report->widest_group_slots > 0) {
    marking.widest = reports::Marking::Widest{
        widest ? widest->unit : "", report->widest_group_stages, report->widest_group_slots};
  }
  if (work.kind == InputKind::trace && marking.marked > 0) {
    work.notes.push_back(fmt::format(
        "{}: marks on a log of batch jobs are hypothetical: the recorded system ran these "
        "shuffles one stage after the other.",
        work.path));
  }
  work.input.marking = std::move(marking);
  return {};
}

// Smaller, other times, other cluster, then marks: these are judged by the slots that are there.
Result<void> shape(Workload& work, const Settings& settings, const WorkloadOptions& options) {
  const bool relink = work.kind == InputKind::trace && settings.arrivals == traces::Arrivals::after;
  const auto dropped = reduce_to(work.scenario, work.recorded, settings, relink);
  if (!dropped) {
    return std::unexpected(dropped.error());
  }
  if (*dropped > 0) {
    work.reduced = true;
    work.input.warnings.push_back(
        {std::nullopt, fmt::format("{} of {} jobs are left out, as asked for", *dropped,
                                   *dropped + std::ssize(work.scenario.jobs))});
  }
  if (settings.time_scale_ppm != scale_one_ppm) {
    if (auto scaled = scale_time(work.scenario, settings.time_scale_ppm); !scaled) {
      return scaled;
    }
  }
  if (settings.load_scale_ppm != scale_one_ppm) {
    if (auto scaled = scale_load(work.scenario, settings.load_scale_ppm); !scaled) {
      return scaled;
    }
  }
  if (options.cluster) {
    if (auto set = set_cluster(work.scenario, {.spec = *options.cluster,
                                               .drop_losses = work.kind == InputKind::trace});
        !set) {
      return set;
    }
    work.keeps_outputs = false;
  }
  return mark(work, settings);
}

}  // namespace

std::vector<reports::InputWarning> warnings_of(const model::Trace& trace) {
  std::vector<reports::InputWarning> result;
  result.reserve(trace.load.warnings.size() + trace.load.infeasible.size());
  for (const model::LoadWarning& warning : trace.load.warnings) {
    result.push_back(
        {warning.line > 0 ? std::optional(warning.line) : std::nullopt,
         warning.file.empty() ? warning.what : fmt::format("{}: {}", warning.file, warning.what)});
  }
  for (const std::string& entry : trace.load.infeasible) {
    result.push_back({std::nullopt, fmt::format("T013: {}", entry)});
  }
  return result;
}

Result<Workload> load_workload(const std::string& path, const Settings& settings,
                               const WorkloadOptions& options) {
  auto file = InputPath::open(path);
  if (!file) {
    return std::unexpected(std::move(file.error()));
  }
  Workload work;
  work.path = file->path();
  work.input.path = path;
  auto format = traces::detect_format(work.path);
  if (!format) {
    return std::unexpected(file->named(std::move(format.error())));
  }
  if (*format == "journal") {
    return std::unexpected(Error{.what = "is a journal, expected a scenario or a trace",
                                 .file = path,
                                 .remedy = "journals are for rehearse check"});
  }
  auto filled = *format == "scenario" ? fill_from_scenario(work, settings)
                                      : fill_from_trace(work, settings, options, *format);
  if (!filled) {
    return std::unexpected(file->named(std::move(filled.error())));
  }
  work.path = path;
  if (auto shaped = shape(work, settings, options); !shaped) {
    return std::unexpected(std::move(shaped.error()));
  }
  return work;
}

Result<traces::TraceScenario> recorded_scenario(const model::Trace& trace, const Settings& settings,
                                                traces::Delays delays) {
  auto converted = traces::to_scenario(trace, {.arrivals = traces::Arrivals::after,
                                               .delays = delays,
                                               .by = traces::Unit::job,
                                               .inject_recorded_faults = false,
                                               .driver = {}});
  if (!converted) {
    return converted;
  }
  // Names of units are none of jobs: a selection of units leaves the jobs alone.
  if (settings.unit() == traces::Unit::job) {
    if (auto dropped = reduce_to(converted->scenario, converted->recorded, settings, true);
        !dropped) {
      return std::unexpected(dropped.error());
    }
  }
  return converted;
}

}  // namespace rehearse::cli
