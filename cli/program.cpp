// From arguments to an exit code: parsing, the verb, and the three ways it can go wrong.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <new>

#include "cli/console.hpp"
#include "cli/help.hpp"
#include "cli/interrupt.hpp"
#include "cli/policy_watch.hpp"
#include "cli/verbs.hpp"
#include "model/support/check.hpp"
#include "policies/guard.hpp"
#include "policies/registry.hpp"

namespace rehearse::cli {
namespace {

struct VerbEntry {
  std::string_view name;
  VerbResult (*call)(const CommandLine&, const Settings&);
};

constexpr auto entries = std::to_array<VerbEntry>({
    {"run", run_scenarios},
    {"replay", replay_traces},
    {"compare", compare_configurations},
    {"explain", explain_job},
    {"check", check_journal},
    {"explore", explore_scenario},
    {"fuzz", fuzz_scheduler},
    {"mutants", plant_mutants},
    {"list", list_registry},
    {"completion", print_completion},
    {"trace inspect", inspect_traces},
    {"trace convert", convert_trace},
});

int exit_code_of(const model::Error& error) {
  return error.kind == model::ErrorKind::io ? exit_io : exit_input;
}

VerbResult call_verb(const CommandLine& line) {
  const auto settings = read_settings(line);
  if (!settings) {
    return std::unexpected(settings.error());
  }
  for (const VerbEntry& entry : entries) {
    if (entry.name == line.verb->name) {
      return entry.call(line, *settings);
    }
  }
  model::check_failed("every built verb has a function", "", __FILE__, __LINE__, {});
}

int run_parsed(std::span<const std::string> arguments) {
  const auto parsed = parse_command_line(arguments);
  if (!parsed) {
    print_error(parsed.error());
    return exit_input;
  }
  if (const auto* answer = std::get_if<Answer>(&*parsed)) {
    const auto printed = print(answer->text);
    return printed ? exit_done : exit_io;
  }
  const VerbResult result = call_verb(std::get<CommandLine>(*parsed));
  if (!result) {
    print_error(result.error());
    return exit_code_of(result.error());
  }
  return *result;
}

}  // namespace

int guarded(const std::function<int()>& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "rehearse: out of memory\n  give fewer inputs or --threads 1\n");
    return exit_io;
  } catch (const policies::PolicyFault& fault) {
    fmt::print(stderr, "rehearse: {}\n", fault.what());
    return exit_finding;
  } catch (const std::exception& fault) {
    fmt::print(stderr,
               "rehearse: a fault of this program: {}\n  please report it with the input "
               "(rehearse {})\n",
               fault.what(), REHEARSE_VERSION);
    return exit_fault;
  }
}

int run_program(std::span<const std::string> arguments) {
  install_interrupt_handler();
  const PolicyWatch watch;
  policies::introduce();
  return guarded([&] { return run_parsed(arguments); });
}

}  // namespace rehearse::cli
