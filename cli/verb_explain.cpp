// rehearse explain: one input under one configuration, and where the time of one of its jobs went.
#include <fmt/format.h>

#include <algorithm>

#include "cli/console.hpp"
#include "cli/experiment.hpp"
#include "cli/verb_shared.hpp"
#include "cli/verbs.hpp"
#include "reports/explain.hpp"
#include "reports/numbers.hpp"

namespace rehearse::cli {
namespace {

using model::Error;
using model::Result;

constexpr std::int64_t probe_one_in = 20;

// Every name that a job of the scenario can have: copies of a repeated one, tries that its caller
// would make.
std::vector<std::string> names_of(const model::Scenario& scenario, const model::JobSpec& job) {
  const std::string name(scenario.names.text(job.name));
  std::vector<std::string> names;
  for (std::int32_t copy = 1; copy <= job.repeat_count; ++copy) {
    names.push_back(job.repeat_count > 1 ? fmt::format("{}{}", name, copy) : name);
  }
  const std::size_t requests = names.size();
  for (std::size_t i = 0; i < requests; ++i) {
    for (std::int32_t number = 1; number <= job.resubmit; ++number) {
      names.push_back(fmt::format("{}#{}", names[i], number));
    }
  }
  return names;
}

// The job of that name. Errors name the nearest one.
Result<const model::JobSpec*> find_job(const Experiment& experiment, std::string_view wanted) {
  std::vector<std::string> all;
  for (const model::JobSpec& job : experiment.scenario.jobs) {
    for (std::string& name : names_of(experiment.scenario, job)) {
      if (name == wanted) {
        return &job;
      }
      all.push_back(std::move(name));
    }
  }
  const std::vector<std::string_view> views(all.begin(), all.end());
  std::string near = model::nearest_name(wanted, views.data(), views.data() + views.size());
  if (near.empty() && !all.empty()) {
    near = all.front();
    return std::unexpected(Error{
        .what = fmt::format("no job is named \"{}\"", wanted),
        .file = experiment.path,
        .field = "--job",
        .remedy =
            fmt::format("there are {}, as {}", reports::plural(std::ssize(all), "name"), near)});
  }
  return std::unexpected(Error{
      .what = fmt::format("no job is named \"{}\"", wanted),
      .file = experiment.path,
      .field = "--job",
      .remedy = near.empty() ? "the input has no jobs" : fmt::format("did you mean {}?", near)});
}

reports::ExplainOptions options_of(const model::Scenario& scenario, const model::JobSpec& job,
                                   const std::string& wanted) {
  reports::ExplainOptions options;
  options.job = wanted;
  options.horizon = scenario.horizon;
  for (const model::StageSpec& stage : job.stages) {
    if (stage.start_delay > 0) {
      options.start_delays.emplace(scenario.names.text(stage.name), stage.start_delay);
    }
  }
  return options;
}

// A job that comes after others: which of them its submission followed. It changes when the job
// began, not how long it took.
std::optional<std::string> submitted_after(const model::Scenario& scenario,
                                           const model::JobSpec& job,
                                           const reports::RunMetrics& metrics,
                                           model::Instant submitted) {
  for (const model::AfterSpec& after : job.after) {
    const std::string_view name = scenario.names.text(after.job);
    for (const reports::RequestMetrics& request : metrics.requests) {
      if (request.name == name && request.end_ns && *request.end_ns + after.delay == submitted) {
        return fmt::format(
            "{} was submitted {} after the end of {} (after): what lets that end "
            "earlier makes it begin earlier.",
            scenario.names.text(job.name), reports::duration_text(after.delay), name);
      }
    }
  }
  return std::nullopt;
}

Error not_submitted(const Experiment& experiment, const std::string& wanted) {
  return {.what = fmt::format("job {} was not submitted in this run", wanted),
          .file = experiment.path,
          .field = "--job",
          .remedy = wanted.find('#') == std::string::npos
                        ? "the run ended before: give a later --horizon"
                        : "an earlier try was the last one, or the run ended before"};
}

}  // namespace

VerbResult explain_job(const CommandLine& line, const Settings& settings) {
  if (auto checked = check_outputs(settings); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  const std::string& path = line.operands.front();
  auto work = load_workload(path, settings, {.keep_trace = false, .cluster = settings.cluster});
  if (!work) {
    return std::unexpected(std::move(work.error()));
  }
  auto experiment = make_experiment(
      *work, settings, {.configuration = settings.dialect ? &*settings.dialect : nullptr});
  if (!experiment) {
    return std::unexpected(std::move(experiment.error()));
  }
  experiment->command = repeat_command(line, path);
  const auto job = find_job(*experiment, settings.job);
  if (!job) {
    return std::unexpected(job.error());
  }
  reports::Explain explain(options_of(experiment->scenario, **job, settings.job));
  auto simulated = simulate(*experiment, {.journal = settings.journal,
                                          .judge_expectations = false,
                                          .probe_one_in = probe_one_in,
                                          .listener = &explain});
  if (!simulated) {
    return std::unexpected(std::move(simulated.error()));
  }
  auto found = explain.finish();
  if (!found) {
    return std::unexpected(not_submitted(*experiment, settings.job));
  }
  reports::ExplainDocument document{.envelope = envelope_of(line),
                                    .explanation = std::move(*found)};
  document.envelope.complete = !simulated->interrupted;
  document.envelope.inputs = {work->input};
  if (auto text = submitted_after(experiment->scenario, **job, simulated->run.metrics,
                                  document.explanation.submit_ns)) {
    document.explanation.helps.push_back(std::move(*text));
  }
  const bool violated = !simulated->run.violations.empty();
  const std::string last_line = violated ? replay_line(line, path) : "";
  const bool aside = settings.journal == "-";
  if (auto shown = emit(document, settings, {.last_line = last_line, .aside = aside}); !shown) {
    return std::unexpected(std::move(shown.error()));
  }
  return violated ? exit_finding : simulated->interrupted ? exit_interrupted : exit_done;
}

}  // namespace rehearse::cli
