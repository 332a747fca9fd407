// Runs scenario files with their expectations and every monitor, each file twice, and prints one
// line per file: "ok <name> <journal hash>" or "FAIL <name>" with the reasons below it. What the
// tests of the specification and of the shared cases run; users have `rehearse run`.
//
//   spec_runner [--faults-fire] [--odd-locale] [--print] FILE...
//
// --faults-fire: a fault that never fired is a failure, too. --odd-locale: numbers of the C++
// library are printed with a comma and in groups of one, so that a journal that depended on the
// locale would differ. --print: the journal of the first run. Exit 0: all passed, 3: not, 2: usage.
#include <fmt/format.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <locale>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/config_support.hpp"
#include "model/support/journal_hash.hpp"
#include "model/support/journal_line.hpp"
#include "model/support/units.hpp"
#include "policies/registry.hpp"
#include "properties/expectations.hpp"
#include "properties/monitor_set.hpp"
#include "properties/registry.hpp"
#include "sim/simulation.hpp"
#include "traces/scenario_json.hpp"

namespace {

using namespace rehearse;

struct Options {
  bool faults_fire = false;
  bool odd_locale = false;
  bool print = false;
  std::vector<std::filesystem::path> files;
};

struct Outcome {
  std::vector<std::string> failures;
  std::string hash = "-";  // of a file that is not run
};

// Prints each line as it comes.
class Printer final : public model::Observer {
 public:
  void begin(const model::NameTable& names) override { names_ = &names; }
  void on(const model::Event& event) override {
    fmt::print("  {}\n", model::journal_line(event, *names_));
  }

 private:
  const model::NameTable* names_ = nullptr;
};

std::optional<std::string> text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return stream ? std::optional(std::move(text).str()) : std::nullopt;
}

// A scenario that this version can execute, or why there is none.
model::Result<model::Scenario> load(const std::filesystem::path& file) {
  const std::optional<std::string> text = text_of(file);
  if (!text) {
    return std::unexpected(model::Error{
        .what = "cannot be read", .file = file.string(), .kind = model::ErrorKind::io});
  }
  model::Result<model::Scenario> scenario = traces::read_scenario(*text, file.string());
  if (scenario) {
    if (std::optional<model::Error> error = model::unsupported(*scenario)) {
      return std::unexpected(std::move(*error));
    }
  }
  return scenario;
}

sim::RunResult run_observed(const model::Scenario& scenario,
                            std::span<model::Observer* const> observers) {
  const model::Result<scheduler::PolicySet> policies = policies::make(scenario.scheduler);
  if (!policies) {
    throw std::runtime_error(to_string(policies.error()));
  }
  sim::RunOptions options;
  options.promises = properties::promised(scenario.scheduler, scenario.timing);
  options.audit_digest = true;
  return sim::run(scenario, *policies, observers, options);
}

// The lines of the other scenario of a same_journal_as.
std::vector<std::string> lines_of(const std::filesystem::path& file,
                                  const std::vector<model::EventPattern>& except) {
  const model::Result<model::Scenario> scenario = load(file);
  if (!scenario) {
    throw std::runtime_error(to_string(scenario.error()));
  }
  properties::JournalLines lines(except, *scenario);
  std::vector<model::Observer*> observers{&lines};
  static_cast<void>(run_observed(*scenario, observers));
  return lines.lines();
}

// A negative scenario: {"invariant": property, "holds": false}.
bool is_expected(const model::Scenario& scenario, std::string_view property) {
  return std::ranges::any_of(scenario.expect, [property](const model::Expectation& expectation) {
    const auto* invariant = std::get_if<model::ExpectInvariant>(&expectation);
    return invariant != nullptr && invariant->property == property && !invariant->holds;
  });
}

// One run; its hash, and what did not hold.
std::uint64_t run_once(const model::Scenario& scenario, const std::filesystem::path& file,
                       const Options& options, bool print, std::vector<std::string>& failures) {
  properties::Expectations expectations(scenario);
  properties::MonitorSet monitors;
  Printer printer;
  std::vector<model::Observer*> observers{&expectations, &monitors};
  if (print) {
    observers.push_back(&printer);
  }
  std::vector<std::unique_ptr<properties::JournalLines>> own_lines(scenario.expect.size());
  for (std::size_t i = 0; i < scenario.expect.size(); ++i) {
    if (const auto* same = std::get_if<model::ExpectSameJournal>(&scenario.expect[i])) {
      own_lines[i] = std::make_unique<properties::JournalLines>(same->except, scenario);
      observers.push_back(own_lines[i].get());
    }
  }
  const sim::RunResult result = run_observed(scenario, observers);
  monitors.finish();
  properties::RunOutcome outcome{result.journal_hash, &monitors.verdicts(), {}};
  for (std::size_t i = 0; i < scenario.expect.size(); ++i) {
    if (own_lines[i]) {
      const auto& same = std::get<model::ExpectSameJournal>(scenario.expect[i]);
      outcome.differences[static_cast<std::int32_t>(i)] = properties::first_difference(
          own_lines[i]->lines(), lines_of(file.parent_path() / same.file, same.except));
    }
  }
  for (const model::ExpectationResult& expectation : expectations.finish(outcome)) {
    if (!expectation.ok) {
      failures.push_back(fmt::format("/expect/{}: {}", expectation.index, expectation.detail));
    }
  }
  for (const model::Violation& violation : monitors.violations()) {
    if (is_expected(scenario, violation.property)) {
      continue;
    }
    failures.push_back(fmt::format("{} at {}: {}", violation.property,
                                   model::format_duration(violation.t), violation.detail));
  }
  if (options.faults_fire) {
    for (const std::string& fault : result.faults_never_fired) {
      failures.push_back("never fired: " + fault);
    }
  }
  return result.journal_hash;
}

Outcome judge_file(const std::filesystem::path& file, const Options& options) {
  Outcome outcome;
  const std::string text = text_of(file).value_or("");
  const std::optional<std::string> pointer = traces::expected_load_error(text);
  const model::Result<model::Scenario> scenario = load(file);
  if (pointer) {
    if (scenario || scenario.error().field != *pointer) {
      outcome.failures.push_back("expected a load error at " + *pointer + "; " +
                                 (scenario ? "it loads" : to_string(scenario.error())));
    }
    return outcome;
  }
  if (!scenario) {
    outcome.failures.push_back(to_string(scenario.error()));
    return outcome;
  }
  const std::uint64_t hash = run_once(*scenario, file, options, options.print, outcome.failures);
  outcome.hash = model::format_journal_hash(hash);
  std::vector<std::string> again;
  if (run_once(*scenario, file, options, false, again) != hash) {
    outcome.failures.push_back("a second run gave another journal hash");
  }
  return outcome;
}

// Commas for points and digits in groups of one, wherever the C++ library asks its locale.
class OddNumbers final : public std::numpunct<char> {
 public:
  OddNumbers() : std::numpunct<char>(1) {}

 protected:
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\1"; }
};

std::optional<Options> read_arguments(std::span<char*> arguments) {
  Options options;
  for (const std::string_view argument : arguments.subspan(1)) {
    if (argument == "--faults-fire") {
      options.faults_fire = true;
    } else if (argument == "--odd-locale") {
      options.odd_locale = true;
    } else if (argument == "--print") {
      options.print = true;
    } else if (argument.starts_with("-")) {
      return std::nullopt;
    } else {
      options.files.emplace_back(argument);
    }
  }
  return options.files.empty() ? std::nullopt : std::optional(std::move(options));
}

int run_all(const Options& options) {
  int failed = 0;
  for (const std::filesystem::path& file : options.files) {
    Outcome outcome;
    try {
      outcome = judge_file(file, options);
    } catch (const std::exception& fault) {
      outcome.failures.push_back(std::string("fault: ") + fault.what());
    }
    const std::string name = file.stem().string();
    if (outcome.failures.empty()) {
      fmt::print("ok {} {}\n", name, outcome.hash);
      continue;
    }
    ++failed;
    fmt::print("FAIL {}\n", name);
    for (const std::string& failure : outcome.failures) {
      fmt::print("  {}\n", failure);
    }
  }
  return failed == 0 ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options =
      read_arguments(std::span(argv, static_cast<std::size_t>(argc)));
  if (!options) {
    std::fputs("usage: spec_runner [--faults-fire] [--odd-locale] [--print] FILE...\n", stderr);
    return 2;
  }
  std::setlocale(LC_ALL, "");
  OddNumbers numbers;
  const std::locale usual;
  if (options->odd_locale) {
    std::locale::global(std::locale(usual, &numbers));
  }
  const int status = run_all(*options);
  std::locale::global(usual);
  return status;
}
