// rehearse compare: every input under every configuration, paired per request. Marks are set once
// per input, so that all configurations run the same work.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/adjust.hpp"
#include "cli/console.hpp"
#include "cli/experiment.hpp"
#include "cli/pool.hpp"
#include "cli/verb_shared.hpp"
#include "cli/verbs.hpp"
#include "reports/compare.hpp"

namespace rehearse::cli {
namespace {

using model::Error;
using model::Result;

constexpr std::int64_t probe_one_in = 20;

// The cluster that marks are judged by: --cluster, else the baseline's own, else the input's.
std::optional<std::string> marking_cluster(const Settings& settings) {
  return settings.cluster ? settings.cluster : settings.with.front().cluster;
}

Result<std::vector<Experiment>> make_experiments(const CommandLine& line, const Settings& settings,
                                                 const std::vector<Workload>& works) {
  std::vector<Experiment> experiments;
  for (const Workload& work : works) {
    for (const model::ConfigurationText& configuration : settings.with) {
      auto experiment =
          make_experiment(work, settings, {.configuration = &configuration, .set_wins = false});
      if (!experiment) {
        return std::unexpected(std::move(experiment.error()));
      }
      experiment->command = repeat_command(line, work.path);
      experiments.push_back(std::move(*experiment));
    }
  }
  return experiments;
}

Result<std::vector<Simulated>> run_all(const Settings& settings,
                                       const std::vector<Experiment>& experiments) {
  const std::size_t count = experiments.size();
  std::vector<std::optional<Result<Simulated>>> results(count);
  {
    Progress progress({.quiet = settings.quiet, .what = "runs", .total = count});
    for_each_index(count, settings.threads, [&](std::size_t i) {
      results[i] =
          simulate(experiments[i], {.journal = journal_of(settings, {.index = i, .count = count}),
                                    .judge_expectations = false,
                                    .probe_one_in = probe_one_in});
      progress.one_done();
    });
  }
  std::vector<Simulated> simulated;
  for (std::optional<Result<Simulated>>& result : results) {
    if (!*result) {
      return std::unexpected(std::move(result->error()));
    }
    simulated.push_back(std::move(**result));
  }
  return simulated;
}

// Runs are by input, then configuration; a report wants them by configuration.
std::vector<reports::ConfigurationRuns> by_configuration(const Settings& settings,
                                                         const std::vector<Experiment>& experiments,
                                                         std::vector<Simulated>& simulated) {
  const std::size_t columns = settings.with.size();
  std::vector<reports::ConfigurationRuns> result(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    reports::ConfigurationRuns& runs = result[c];
    runs.name = settings.with[c].label;
    runs.cluster = experiments[c].cluster;
    runs.journal_hash = simulated[c].run.journal_hash;
    for (std::size_t i = c; i < simulated.size(); i += columns) {
      if (experiments[i].cluster != experiments[c].cluster) {
        runs.cluster = "as each input has it";
      }
      for (model::Violation& violation : simulated[i].run.violations) {
        if (simulated.size() > columns) {
          violation.detail = fmt::format("{}: {}", experiments[i].path, violation.detail);
        }
        runs.violations.push_back(std::move(violation));
      }
      runs.runs.push_back(std::move(simulated[i].run.metrics));
    }
  }
  return result;
}

// Reports name requests by the last part of their input's path: two inputs of one name are told
// apart by a number.
std::vector<reports::Input> named_apart(const std::vector<Workload>& works) {
  std::vector<reports::Input> inputs;
  std::set<std::string> taken;
  for (const Workload& work : works) {
    reports::Input input = work.input;
    const std::size_t slash = input.path.find_last_of('/', input.path.find_last_not_of('/'));
    std::string name = slash == std::string::npos ? input.path : input.path.substr(slash + 1);
    while (name.ends_with('/')) {
      name.pop_back();
    }
    std::string unique = name;
    for (int number = 2; !taken.insert(unique).second; ++number) {
      unique = fmt::format("{} ({})", name, number);
    }
    input.path = std::move(unique);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::vector<std::string> assumptions_of(const Settings& settings,
                                        const std::vector<Workload>& works,
                                        const std::vector<Experiment>& experiments) {
  std::vector<std::string> result;
  const auto add = [&](std::string text) {
    if (std::ranges::find(result, text) == result.end()) {
      result.push_back(std::move(text));
    }
  };
  const bool coupled = std::ranges::any_of(experiments, [](const Experiment& experiment) {
    return experiment.scenario.timing == model::Timing::coupled;
  });
  add(coupled ? "Timing coupled: a task of a pipelined consumer ends no earlier than the last task "
                "of each of its pipelined producers: a bound, not a data-flow model."
              : "Timing scripted: a task takes its duration, whatever its inputs do.");
  for (const Workload& work : works) {
    for (const std::string& text : work.notes) {
      add(text);
    }
  }
  if (std::ranges::any_of(works,
                          [](const Workload& work) { return work.kind == InputKind::trace; })) {
    add("Failures that a trace recorded are not repeated.");
  }
  if (settings.time_scale_ppm != scale_one_ppm || settings.load_scale_ppm != scale_one_ppm) {
    add("Times or the density of arrivals are scaled, as asked for.");
  }
  const bool own_cluster = std::ranges::any_of(
      settings.with, [](const model::ConfigurationText& with) { return with.cluster.has_value(); });
  if (own_cluster) {
    add(fmt::format("Configurations run on clusters of their own; marks are judged by {}.",
                    settings.cluster ? "that of --cluster" : "that of the baseline or the input"));
  }
  return result;
}

// The findings of compare: a violation outranks a threshold.
int exit_code_of(const reports::Comparison& comparison, bool cut) {
  for (const reports::Configuration& configuration : comparison.configurations) {
    if (!configuration.violations.empty()) {
      return exit_finding;
    }
  }
  if (std::ranges::any_of(comparison.fail_if, &reports::FailResult::tripped)) {
    return exit_threshold;
  }
  return cut ? exit_interrupted : exit_done;
}

}  // namespace

VerbResult compare_configurations(const CommandLine& line, const Settings& settings) {
  if (auto checked = check_outputs(settings); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  if (settings.journal == "-") {
    return std::unexpected(Error{.what = "there are several journals",
                                 .field = "--journal",
                                 .remedy = "give the name of a file: each gets its number"});
  }
  auto loaded =
      load_inputs(line, settings, {.keep_trace = false, .cluster = marking_cluster(settings)});
  if (!loaded) {
    return std::unexpected(std::move(loaded.error()));
  }
  const auto experiments = make_experiments(line, settings, loaded->usable);
  if (!experiments) {
    return std::unexpected(experiments.error());
  }
  auto simulated = run_all(settings, *experiments);
  if (!simulated) {
    return std::unexpected(std::move(simulated.error()));
  }
  const bool cut = std::ranges::any_of(*simulated, &Simulated::interrupted);
  std::string last_line;
  for (std::size_t i = 0; i < simulated->size() && last_line.empty(); ++i) {
    if (!(*simulated)[i].run.violations.empty()) {
      last_line = replay_line(line, (*experiments)[i].path);
    }
  }
  reports::CompareDocument document{.envelope = envelope_of(line), .comparison = {}};
  document.envelope.complete = !cut;
  document.envelope.inputs = loaded->inputs;
  document.comparison = reports::compare(
      by_configuration(settings, *experiments, *simulated), named_apart(loaded->usable),
      {.min_effect_ppm = settings.min_effect_ppm,
       .fail_if = settings.fail_if,
       .assumptions = assumptions_of(settings, loaded->usable, *experiments),
       .warnings = {}});
  if (auto shown = emit(document, settings, {.last_line = last_line}); !shown) {
    return std::unexpected(std::move(shown.error()));
  }
  return exit_code_of(document.comparison, cut);
}

}  // namespace rehearse::cli
