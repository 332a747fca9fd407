// rehearse run: scenarios with their expectations and every promised property.
#include <fmt/format.h>

#include <algorithm>

#include "cli/console.hpp"
#include "cli/experiment.hpp"
#include "cli/input_path.hpp"
#include "cli/interrupt.hpp"
#include "cli/pool.hpp"
#include "cli/verb_shared.hpp"
#include "cli/verbs.hpp"
#include "traces/input_file.hpp"
#include "traces/scenario_json.hpp"

namespace rehearse::cli {
namespace {

using model::Error;
using model::Result;

// What became of one operand.
struct Piece {
  reports::Input input;
  std::optional<reports::ScenarioRun> run;
  std::optional<Error> error;
  bool interrupted = false;
};

// A scenario that is there to be refused (scenario.md section 6): whether it was, at the place that
// it says. Nothing for any other scenario.
std::optional<reports::ScenarioRun> judge_load_error(const std::string& path) {
  const auto text = traces::read_input_file(path);
  const auto pointer = text ? traces::expected_load_error(*text) : std::nullopt;
  if (!pointer) {
    return std::nullopt;
  }
  const auto loaded = traces::read_scenario(*text, path);
  reports::ScenarioRun run;
  run.scenario = path;
  run.configuration = "refused when loaded";
  model::ExpectationResult result;
  result.ok = !loaded && loaded.error().field == *pointer;
  result.detail = loaded ? fmt::format("expected a load error at {}, it loads", *pointer)
                         : fmt::format("expected a load error at {}, got {}", *pointer,
                                       model::to_string(loaded.error()));
  run.expectations.push_back(std::move(result));
  return run;
}

Result<Experiment> prepare(Piece& piece, const CommandLine& line, const Settings& settings,
                           const std::string& path) {
  auto work = load_workload(path, settings, {.keep_trace = false, .cluster = settings.cluster});
  if (!work) {
    return std::unexpected(std::move(work.error()));
  }
  piece.input = work->input;
  if (work->kind == InputKind::trace) {
    return std::unexpected(Error{.what = "is a trace, expected a scenario",
                                 .file = path,
                                 .remedy = "traces are for rehearse replay and compare"});
  }
  if (work->reduced) {
    work->scenario.expect.clear();
    piece.input.warnings.push_back(
        {std::nullopt, "expectations are not judged, because jobs are left out"});
  }
  auto experiment = make_experiment(
      *work, settings, {.configuration = settings.dialect ? &*settings.dialect : nullptr});
  if (experiment) {
    experiment->command = repeat_command(line, path);
  }
  return experiment;
}

Piece run_one(const CommandLine& line, const Settings& settings, RunNumber number) {
  const std::string& path = line.operands[number.index];
  Piece piece;
  piece.input.path = path;
  piece.input.format = "scenario";
  if (path != "-") {
    piece.run = judge_load_error(path);
    if (piece.run) {
      return piece;
    }
  }
  const auto experiment = prepare(piece, line, settings, path);
  if (!experiment) {
    piece.error = experiment.error();
    return piece;
  }
  auto simulated = simulate(*experiment, {.journal = journal_of(settings, number),
                                          .judge_expectations = true,
                                          .probe_one_in = 1,
                                          .ask_oracle = settings.oracle});
  if (!simulated) {
    piece.error = std::move(simulated.error());
    return piece;
  }
  piece.interrupted = simulated->interrupted;
  if (simulated->oracle_refuses) {
    piece.input.warnings.push_back(
        {std::nullopt, "not compared with the oracle: " + *simulated->oracle_refuses});
  }
  piece.run = std::move(simulated->run);
  return piece;
}

VerbResult print_scenario(const CommandLine& line, const Settings& settings) {
  if (settings.json || line.operands.size() != 1) {
    return std::unexpected(Error{.what = "prints one scenario, which is JSON by itself",
                                 .field = "--print-scenario",
                                 .remedy = "give one scenario and leave out --json"});
  }
  Piece piece;
  const auto experiment = prepare(piece, line, settings, line.operands.front());
  if (!experiment) {
    return std::unexpected(experiment.error());
  }
  const std::string text = traces::write_scenario(experiment->scenario);
  const auto written =
      settings.output && *settings.output != "-" ? save(*settings.output, text) : print(text);
  return written ? VerbResult(exit_done) : std::unexpected(written.error());
}

int exit_code_of(const std::vector<Piece>& pieces) {
  int code = exit_done;
  for (const Piece& piece : pieces) {
    if (piece.run && has_findings(*piece.run) && code == exit_done) {
      code = exit_finding;
    }
  }
  for (const Piece& piece : pieces) {
    if (piece.error) {
      code = piece.error->kind == model::ErrorKind::io ? exit_io : exit_input;
    }
  }
  const bool cut = std::ranges::any_of(pieces, &Piece::interrupted);
  return cut && code == exit_done ? exit_interrupted : code;
}

}  // namespace

VerbResult run_scenarios(const CommandLine& line, const Settings& settings) {
  if (line.has("--print-scenario")) {
    return print_scenario(line, settings);
  }
  if (auto checked = check_outputs(settings); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  const std::size_t count = line.operands.size();
  std::vector<Piece> pieces(count);
  {
    Progress progress({.quiet = settings.quiet, .what = "scenarios", .total = count});
    for_each_index(count, settings.threads, [&](std::size_t i) {
      pieces[i] = run_one(line, settings, {.index = i, .count = count});
      progress.one_done();
    });
  }
  if (count == 1 && pieces.front().error) {
    return std::unexpected(std::move(*pieces.front().error));
  }
  reports::RunDocument document{.envelope = envelope_of(line), .runs = {}};
  std::string last_line;
  for (Piece& piece : pieces) {
    document.envelope.complete = document.envelope.complete && !piece.interrupted;
    if (piece.error) {
      print_error(*piece.error);
      reports::Input skipped = skipped_input(piece.input.path, *piece.error);
      skipped.format = piece.input.format;
      document.envelope.inputs.push_back(std::move(skipped));
      continue;
    }
    document.envelope.inputs.push_back(piece.input);
    if (last_line.empty() && has_findings(*piece.run)) {
      last_line = replay_line(line, piece.input.path);
    }
    document.runs.push_back(*piece.run);
  }
  const bool aside = settings.journal == "-";
  if (auto shown = emit(document, settings, {.last_line = last_line, .aside = aside}); !shown) {
    return std::unexpected(std::move(shown.error()));
  }
  return exit_code_of(pieces);
}

}  // namespace rehearse::cli
