// What several verbs do alike: envelopes, journals of several runs, inputs that cannot be used.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/settings.hpp"
#include "cli/workload.hpp"
#include "model/support/error.hpp"
#include "reports/results.hpp"

namespace rehearse::cli {

[[nodiscard]] reports::Envelope envelope_of(const CommandLine& line);

// --output and --journal, looked at before anything long begins.
[[nodiscard]] model::Result<void> check_outputs(const Settings& settings);

// The journal of one run of several: "out.journal.zst" becomes "out-3.journal.zst" for the third.
// Nothing without --journal.
struct RunNumber {
  std::size_t index = 0;
  std::size_t count = 1;
};
[[nodiscard]] std::optional<std::string> journal_of(const Settings& settings, RunNumber run);

// Inputs of a verb that reads traces. One that cannot be read is left out with a warning when
// others are there, unless --strict; then `input.ok` is false.
struct LoadedInputs {
  std::vector<Workload> usable;
  std::vector<reports::Input> inputs;  // all, in the order given
};
[[nodiscard]] model::Result<LoadedInputs> load_inputs(const CommandLine& line,
                                                      const Settings& settings,
                                                      const WorkloadOptions& options);

// True when a problem of one input leaves the others alone: --strict was not given, there are
// others, and it is about the content of a trace.
[[nodiscard]] bool may_skip(const model::Error& error, const Settings& settings,
                            std::size_t inputs);
// The input that was left out, with the reason as its warning.
[[nodiscard]] reports::Input skipped_input(const std::string& path, const model::Error& error);

// "to replay: rehearse run a.json --seed 3".
[[nodiscard]] std::string replay_line(const CommandLine& line, std::string_view path);

}  // namespace rehearse::cli
