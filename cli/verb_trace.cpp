// rehearse trace: what is in a trace, and the native form of any.
#include <fmt/format.h>

#include <algorithm>

#include "cli/console.hpp"
#include "cli/input_path.hpp"
#include "cli/pool.hpp"
#include "cli/verb_shared.hpp"
#include "cli/verbs.hpp"
#include "traces/inspect.hpp"
#include "traces/native.hpp"
#include "traces/registry.hpp"

namespace rehearse::cli {
namespace {

using model::Error;
using model::Result;

struct Inspected {
  reports::Input input;
  reports::TraceFacts facts;
  std::optional<Error> error;
};

Result<model::Trace> load(const std::string& given, const Settings& settings) {
  const auto file = InputPath::open(given);
  if (!file) {
    return std::unexpected(file.error());
  }
  auto trace = traces::load_trace(file->path(), settings.load);
  if (!trace) {
    return std::unexpected(file->named(std::move(trace.error())));
  }
  return trace;
}

reports::Input input_of(const std::string& path, const model::Trace& trace) {
  reports::Input input;
  input.path = path;
  input.format = trace.format;
  input.trace_id = traces::trace_id(trace);
  input.warnings = warnings_of(trace);
  return input;
}

reports::TraceFacts facts_of(const traces::TraceSummary& summary,
                             const std::vector<reports::InputWarning>& warnings) {
  reports::TraceFacts facts;
  facts.format = summary.format;
  facts.version = summary.version;
  facts.jobs = summary.jobs;
  facts.stages = summary.stages;
  facts.tasks = summary.tasks;
  facts.executors = summary.executors;
  facts.unfinished = summary.unfinished;
  facts.failed_tasks = summary.failed_tasks;
  facts.aliased_stages = summary.aliased_stages;
  facts.edges = summary.edges;
  facts.task_ends.assign(summary.task_ends.begin(), summary.task_ends.end());
  facts.warnings = warnings;
  for (const traces::UnitSummary& unit : summary.units) {
    facts.units.push_back({unit.name, unit.stages, unit.slots_as_group});
  }
  return facts;
}

Inspected inspect_one(const std::string& path, const Settings& settings) {
  Inspected result;
  const auto trace = load(path, settings);
  if (!trace) {
    result.error = trace.error();
    return result;
  }
  const auto summary = traces::inspect(*trace, settings.by.value_or(traces::Unit::sql));
  if (!summary) {
    result.error = summary.error();
    return result;
  }
  result.input = input_of(path, *trace);
  result.facts = facts_of(*summary, result.input.warnings);
  return result;
}

}  // namespace

VerbResult inspect_traces(const CommandLine& line, const Settings& settings) {
  if (auto checked = check_outputs(settings); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  const std::size_t count = line.operands.size();
  std::vector<Inspected> inspected(count);
  {
    Progress progress({.quiet = settings.quiet, .what = "traces", .total = count});
    for_each_index(count, settings.threads, [&](std::size_t i) {
      inspected[i] = inspect_one(line.operands[i], settings);
      progress.one_done();
    });
  }
  reports::InspectDocument document{.envelope = envelope_of(line), .facts = {}};
  std::optional<Error> first;
  for (std::size_t i = 0; i < count; ++i) {
    Inspected& one = inspected[i];
    if (!one.error) {
      document.envelope.inputs.push_back(std::move(one.input));
      document.facts.push_back(std::move(one.facts));
      continue;
    }
    if (!may_skip(*one.error, settings, count)) {
      return std::unexpected(std::move(*one.error));
    }
    note(settings, fmt::format("left out: {}", model::to_string(*one.error)));
    document.envelope.inputs.push_back(skipped_input(line.operands[i], *one.error));
    document.facts.emplace_back();
    first = first ? first : one.error;
  }
  if (std::ranges::none_of(document.envelope.inputs, &reports::Input::ok) && first) {
    return std::unexpected(std::move(*first));
  }
  const auto shown = emit(document, settings);
  return shown ? VerbResult(exit_done) : std::unexpected(shown.error());
}

VerbResult convert_trace(const CommandLine& line, const Settings& settings) {
  if (!settings.output) {
    return std::unexpected(Error{.what = "a trace is converted into a file",
                                 .field = "--output",
                                 .remedy = "as in -o trace.rtrace, or -o - for stdout"});
  }
  const bool to_stdout = *settings.output == "-";
  if (to_stdout && settings.json) {
    return std::unexpected(Error{.what = "stdout holds the trace already",
                                 .field = "--json",
                                 .remedy = "convert into a file"});
  }
  if (auto checked = check_outputs(settings); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  const std::string& path = line.operands.front();
  const auto trace = load(path, settings);
  if (!trace) {
    return std::unexpected(trace.error());
  }
  Result<void> written;
  if (to_stdout) {
    traces::write_native(*trace, [&](std::string_view text) {
      if (written) {
        written = print(text);
      }
    });
  } else {
    written = traces::save_native(*trace, *settings.output);
  }
  if (!written) {
    return std::unexpected(std::move(written.error()));
  }
  reports::TraceWrittenDocument document{.envelope = envelope_of(line),
                                         .trace_id = traces::trace_id(*trace)};
  document.envelope.inputs.push_back(input_of(path, *trace));
  document.jobs = std::ssize(trace->jobs);
  for (const model::TraceJob& job : trace->jobs) {
    document.stages += std::ssize(job.spec.stages);
    for (const model::StageSpec& stage : job.spec.stages) {
      document.tasks += stage.tasks;
    }
  }
  // The file is the output; what is said about it goes to stdout, or beside the trace.
  Settings shown = settings;
  shown.output.reset();
  if (to_stdout && settings.quiet) {
    return exit_done;
  }
  const auto emitted = emit(document, shown, {.last_line = {}, .aside = to_stdout});
  return emitted ? VerbResult(exit_done) : std::unexpected(emitted.error());
}

}  // namespace rehearse::cli
