// One function per verb: what it does, and the exit code (scenario.md section 8). Errors are those
// that end the verb; the caller prints them and maps them to 1 or 2.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "cli/command_line.hpp"
#include "cli/settings.hpp"
#include "model/support/error.hpp"

namespace rehearse::cli {

inline constexpr int exit_done = 0;
inline constexpr int exit_io = 1;
inline constexpr int exit_input = 2;
inline constexpr int exit_finding = 3;
inline constexpr int exit_threshold = 4;
inline constexpr int exit_fault = 70;
inline constexpr int exit_interrupted = 130;

using VerbResult = model::Result<int>;

[[nodiscard]] VerbResult run_scenarios(const CommandLine& line, const Settings& settings);
[[nodiscard]] VerbResult replay_traces(const CommandLine& line, const Settings& settings);
[[nodiscard]] VerbResult compare_configurations(const CommandLine& line, const Settings& settings);
[[nodiscard]] VerbResult explain_job(const CommandLine& line, const Settings& settings);
[[nodiscard]] VerbResult fuzz_scheduler(const CommandLine& line, const Settings& settings);
[[nodiscard]] VerbResult plant_mutants(const CommandLine& line, const Settings& settings);
[[nodiscard]] VerbResult check_journal(const CommandLine& line, const Settings& settings);
[[nodiscard]] VerbResult explore_scenario(const CommandLine& line, const Settings& settings);
[[nodiscard]] VerbResult list_registry(const CommandLine& line, const Settings& settings);
[[nodiscard]] VerbResult print_completion(const CommandLine& line, const Settings& settings);
[[nodiscard]] VerbResult inspect_traces(const CommandLine& line, const Settings& settings);
[[nodiscard]] VerbResult convert_trace(const CommandLine& line, const Settings& settings);

// Calls `body` and turns what it throws into an exit code and a message: a failed check, or any
// other exception, is a fault of the program (70); no memory is a failure at run time (1).
[[nodiscard]] int guarded(const std::function<int()>& body);

// From the arguments behind the program's name to the exit code; prints.
[[nodiscard]] int run_program(std::span<const std::string> arguments);

}  // namespace rehearse::cli
