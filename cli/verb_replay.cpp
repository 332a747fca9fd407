// rehearse replay: traces under one configuration, and how far the simulation is from what they
// recorded (traces.md, Two errors). The errors have runs of their own: sequential, scripted, on the
// recorded cluster.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/console.hpp"
#include "cli/experiment.hpp"
#include "cli/pool.hpp"
#include "cli/verb_shared.hpp"
#include "cli/verbs.hpp"

namespace rehearse::cli {
namespace {

using model::Error;
using model::Result;

constexpr std::int64_t probe_one_in = 20;

// One trace: the run that was asked for and the pairs of both errors.
struct Piece {
  reports::Input input;
  std::optional<Error> error;
  std::optional<reports::ScenarioRun> run;
  std::int64_t jobs = 0;
  std::int64_t stages = 0;
  std::int64_t tasks = 0;
  std::vector<reports::ReplayPair> prediction;
  std::vector<reports::ReplayPair> reconstruction;
  bool interrupted = false;
};

std::optional<reports::Outcome> outcome_of(model::RecordedOutcome outcome) {
  switch (outcome) {
    case model::RecordedOutcome::succeeded:
      return reports::Outcome::succeeded;
    case model::RecordedOutcome::failed:
      return reports::Outcome::failed;
    case model::RecordedOutcome::unfinished:
      break;
  }
  return std::nullopt;
}

std::optional<model::Duration> recorded_latency(const model::RecordedJob& job) {
  return job.end && job.outcome == model::RecordedOutcome::succeeded
             ? std::optional(*job.end - job.submitted)
             : std::nullopt;
}

// Why a simulation of this job may differ from what was recorded, as far as the trace tells.
std::string known_reason(const model::RecordedJob& job) {
  std::int64_t failed = 0;
  std::int64_t missing = 0;
  std::int64_t again = 0;
  for (const model::RecordedStage& stage : job.stages) {
    failed += stage.tasks_failed;
    missing += stage.tasks_missing;
    again += stage.attempts > 1 ? 1 : 0;
  }
  std::vector<std::string> parts;
  const auto part = [&](std::int64_t count, std::string_view what) {
    if (count > 0) {
      parts.push_back(fmt::format("{} {}", count, what));
    }
  };
  part(failed, "task failures are not repeated");
  part(again, "stages ran in several attempts");
  part(missing, "durations are guesses");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<reports::ReplayPair> pairs_of(const traces::TraceScenario& source,
                                          const reports::RunMetrics& metrics) {
  std::map<std::string_view, const reports::JobMetrics*> simulated;
  for (const reports::JobMetrics& job : metrics.jobs) {
    simulated.emplace(job.name, &job);
  }
  std::vector<reports::ReplayPair> pairs;
  for (std::size_t j = 0; j < source.scenario.jobs.size(); ++j) {
    const model::RecordedJob& recorded = source.recorded[j];
    reports::ReplayPair pair;
    pair.job = source.scenario.names.text(source.scenario.jobs[j].name);
    pair.recorded = outcome_of(recorded.outcome);
    pair.recorded_ns = recorded_latency(recorded);
    pair.note = known_reason(recorded);
    if (const auto found = simulated.find(pair.job); found != simulated.end()) {
      pair.simulated = found->second->outcome;
      pair.simulated_ns = found->second->latency_ns();
    }
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

// Runs the trace as it was recorded and adds what is found to `violations`.
Result<std::vector<reports::ReplayPair>> error_run(Piece& piece, const Workload& work,
                                                   const Settings& settings,
                                                   traces::Delays delays) {
  auto source = recorded_scenario(*work.trace, settings, delays);
  if (!source) {
    return std::unexpected(std::move(source.error()));
  }
  Experiment experiment;
  experiment.scenario = source->scenario;
  experiment.scenario.timing = model::Timing::scripted;
  experiment.scenario.scheduler = model::preset(model::Dialect::sequential);
  experiment.scenario.scheduler.outputs_survive_executor = source->keeps_outputs;
  experiment.path = work.path;
  experiment.configuration = "sequential";
  experiment.command = fmt::format("rehearse replay {}", work.path);
  auto simulated = simulate(
      experiment,
      {.journal = std::nullopt, .judge_expectations = false, .probe_one_in = probe_one_in});
  if (!simulated) {
    return std::unexpected(std::move(simulated.error()));
  }
  piece.interrupted = piece.interrupted || simulated->interrupted;
  std::ranges::move(simulated->run.violations, std::back_inserter(piece.run->violations));
  return pairs_of(*source, simulated->run.metrics);
}

void add_recorded(reports::ScenarioRun& run, const Workload& work) {
  std::map<std::string_view, model::Duration> recorded;
  for (std::size_t j = 0; j < work.scenario.jobs.size(); ++j) {
    if (const auto latency = recorded_latency(work.recorded[j])) {
      recorded.emplace(work.scenario.names.text(work.scenario.jobs[j].name), *latency);
    }
  }
  for (const reports::JobMetrics& job : run.metrics.jobs) {
    const auto found = recorded.find(job.name);
    run.recorded_latency_ns.push_back(found == recorded.end() ? std::nullopt
                                                              : std::optional(found->second));
  }
}

Result<void> replay_one(Piece& piece, const CommandLine& line, const Settings& settings,
                        RunNumber number) {
  const std::string& path = line.operands[number.index];
  auto work = load_workload(path, settings, {.keep_trace = true, .cluster = settings.cluster});
  if (!work) {
    return std::unexpected(std::move(work.error()));
  }
  piece.input = work->input;
  if (work->kind != InputKind::trace) {
    return std::unexpected(Error{.what = "is a scenario, expected a trace",
                                 .file = path,
                                 .remedy = "scenarios are for rehearse run and compare"});
  }
  auto experiment = make_experiment(
      *work, settings, {.configuration = settings.dialect ? &*settings.dialect : nullptr});
  if (!experiment) {
    return std::unexpected(std::move(experiment.error()));
  }
  experiment->command = repeat_command(line, path);
  auto simulated = simulate(*experiment, {.journal = journal_of(settings, number),
                                          .judge_expectations = false,
                                          .probe_one_in = probe_one_in});
  if (!simulated) {
    return std::unexpected(std::move(simulated.error()));
  }
  piece.interrupted = simulated->interrupted;
  piece.run = std::move(simulated->run);
  add_recorded(*piece.run, *work);
  piece.jobs = work->trace->counts.jobs;
  piece.stages = work->trace->counts.stages;
  piece.tasks = work->trace->counts.tasks;
  auto prediction = error_run(piece, *work, settings, traces::Delays::model);
  if (!prediction) {
    return std::unexpected(std::move(prediction.error()));
  }
  auto reconstruction = error_run(piece, *work, settings, traces::Delays::recorded);
  if (!reconstruction) {
    return std::unexpected(std::move(reconstruction.error()));
  }
  piece.prediction = std::move(*prediction);
  piece.reconstruction = std::move(*reconstruction);
  return {};
}

std::string short_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/', path.find_last_not_of('/'));
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

void append(std::vector<reports::ReplayPair>& all, std::vector<reports::ReplayPair>& part,
            const std::string& prefix) {
  for (reports::ReplayPair& pair : part) {
    pair.job = prefix + pair.job;
    all.push_back(std::move(pair));
  }
}

reports::Recorded recorded_of(std::vector<Piece>& pieces) {
  reports::Recorded recorded;
  std::vector<reports::ReplayPair> prediction;
  std::vector<reports::ReplayPair> reconstruction;
  for (Piece& piece : pieces) {
    recorded.jobs += piece.jobs;
    recorded.stages += piece.stages;
    recorded.tasks += piece.tasks;
    const std::string prefix =
        pieces.size() > 1 ? fmt::format("{}: ", short_name(piece.input.path)) : "";
    append(prediction, piece.prediction, prefix);
    append(reconstruction, piece.reconstruction, prefix);
  }
  recorded.left_out = reports::left_out(prediction);
  recorded.compared_jobs = std::ssize(prediction) - std::ssize(recorded.left_out);
  recorded.prediction = reports::replay_error(prediction);
  recorded.reconstruction = reports::replay_error(reconstruction);
  return recorded;
}

// Errors of single traces among several are warnings; the others end the verb.
Result<void> settle(std::vector<Piece>& pieces, const CommandLine& line, const Settings& settings) {
  std::optional<Error> first;
  std::size_t usable = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    Piece& piece = pieces[i];
    if (!piece.error) {
      ++usable;
      continue;
    }
    if (!may_skip(*piece.error, settings, pieces.size())) {
      return std::unexpected(std::move(*piece.error));
    }
    note(settings, fmt::format("left out: {}", model::to_string(*piece.error)));
    piece.input = skipped_input(line.operands[i], *piece.error);
    piece.run.reset();
    first = first ? first : piece.error;
  }
  if (usable == 0 && first) {
    return std::unexpected(std::move(*first));
  }
  return {};
}

}  // namespace

VerbResult replay_traces(const CommandLine& line, const Settings& settings) {
  if (auto checked = check_outputs(settings); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  const std::size_t count = line.operands.size();
  std::vector<Piece> pieces(count);
  {
    Progress progress({.quiet = settings.quiet, .what = "traces", .total = count});
    for_each_index(count, settings.threads, [&](std::size_t i) {
      if (auto replayed = replay_one(pieces[i], line, settings, {.index = i, .count = count});
          !replayed) {
        pieces[i].error = std::move(replayed.error());
      }
      progress.one_done();
    });
  }
  if (auto settled = settle(pieces, line, settings); !settled) {
    return std::unexpected(std::move(settled.error()));
  }
  reports::ReplayDocument document{
      .envelope = envelope_of(line), .runs = {}, .recorded = recorded_of(pieces)};
  std::string last_line;
  bool cut = false;
  for (const Piece& piece : pieces) {
    cut = cut || piece.interrupted;
    document.envelope.inputs.push_back(piece.input);
    if (piece.run) {
      document.runs.push_back(*piece.run);
      if (last_line.empty() && has_findings(*piece.run)) {
        last_line = replay_line(line, piece.input.path);
      }
    }
  }
  document.envelope.complete = !cut;
  const bool aside = settings.journal == "-";
  if (auto shown = emit(document, settings, {.last_line = last_line, .aside = aside}); !shown) {
    return std::unexpected(std::move(shown.error()));
  }
  return !last_line.empty() ? exit_finding : cut ? exit_interrupted : exit_done;
}

}  // namespace rehearse::cli
