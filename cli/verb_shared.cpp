// See verb_shared.hpp.
#include "cli/verb_shared.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/console.hpp"
#include "cli/pool.hpp"

namespace rehearse::cli {

reports::Envelope envelope_of(const CommandLine& line) {
  return {.command = std::string(line.verb->name),
          .version = REHEARSE_VERSION,
          .complete = true,
          .inputs = {}};
}

model::Result<void> check_outputs(const Settings& settings) {
  for (const auto& path : {settings.output, settings.journal}) {
    if (path) {
      if (auto checked = check_writable(*path); !checked) {
        return checked;
      }
    }
  }
  return {};
}

std::optional<std::string> journal_of(const Settings& settings, RunNumber run) {
  if (!settings.journal || run.count == 1 || *settings.journal == "-") {
    return settings.journal;
  }
  const std::filesystem::path path(*settings.journal);
  const std::string name = path.filename().string();
  const std::size_t dot = name.find('.', 1);
  const std::string stem = name.substr(0, dot);
  const std::string ending = dot == std::string::npos ? "" : name.substr(dot);
  return (path.parent_path() / fmt::format("{}-{}{}", stem, run.index + 1, ending)).string();
}

bool may_skip(const model::Error& error, const Settings& settings, std::size_t inputs) {
  return !settings.load.strict && inputs > 1 && !error.code.empty();
}

reports::Input skipped_input(const std::string& path, const model::Error& error) {
  reports::Input input;
  input.path = path;
  input.ok = false;
  input.warnings.push_back(
      {error.line > 0 ? std::optional(error.line) : std::nullopt,
       error.code.empty() ? error.what : fmt::format("{}: {}", error.code, error.what)});
  return input;
}

model::Result<LoadedInputs> load_inputs(const CommandLine& line, const Settings& settings,
                                        const WorkloadOptions& options) {
  const std::size_t count = line.operands.size();
  std::vector<std::optional<model::Result<Workload>>> loaded(count);
  {
    Progress progress({.quiet = settings.quiet, .what = "inputs read", .total = count});
    for_each_index(count, settings.threads, [&](std::size_t i) {
      loaded[i] = load_workload(line.operands[i], settings, options);
      progress.one_done();
    });
  }
  LoadedInputs result;
  std::optional<model::Error> first;
  for (std::size_t i = 0; i < count; ++i) {
    if (*loaded[i]) {
      result.inputs.push_back((*loaded[i])->input);
      result.usable.push_back(std::move(**loaded[i]));
      continue;
    }
    model::Error& error = loaded[i]->error();
    if (!may_skip(error, settings, count)) {
      return std::unexpected(std::move(error));
    }
    note(settings, fmt::format("left out: {}", model::to_string(error)));
    result.inputs.push_back(skipped_input(line.operands[i], error));
    first = first ? first : error;
  }
  if (result.usable.empty() && first) {
    return std::unexpected(std::move(*first));
  }
  return result;
}

std::string replay_line(const CommandLine& line, std::string_view path) {
  return fmt::format("to replay: {}", repeat_command(line, path));
}

}  // namespace rehearse::cli
