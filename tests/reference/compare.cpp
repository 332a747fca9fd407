// Compares the reference scheduler with the real one, line by line, on scenarios without marks.
//
//   reference [--against] [--list] [--text] [--random FIRST COUNT] FILE|LOG...
//
// Without --against the reference's journal is printed; with --text the scenario as it is compared.
// With --against each scenario is run by both; the first difference ends its comparison and is
// shown with the lines before it (--list: only its name). Not compared: `run` and `probe`, which
// the journal hash leaves out, too, and the free text of `detail`. Exit 0: all equal, 1: a
// difference, 2: usage.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/journal_line.hpp"
#include "policies/registry.hpp"
#include "sim/simulation.hpp"
#include "tests/random/generate.hpp"
#include "tests/reference/reference.hpp"
#include "tests/reference/scenarios.hpp"
#include "traces/scenario_json.hpp"

namespace {

using namespace rehearse;
using Lines = std::vector<std::string>;

struct Options {
  bool against = false;
  bool list = false;
  bool text = false;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::vector<std::string> files;
};

struct Totals {
  std::int64_t scenarios = 0;
  std::int64_t events = 0;
  std::int64_t different = 0;
  std::int64_t left_out = 0;
};

// ---- journals ----

std::optional<std::string> line_of(model::Event event, const model::NameTable& names) {
  if (event.as<model::RunStart>() != nullptr || event.as<model::Probe>() != nullptr) {
    return std::nullopt;
  }
  if (auto* rejected = std::get_if<model::JobRejected>(&event.body)) {
    rejected->detail = {};
  }
  if (auto* end = std::get_if<model::JobEnd>(&event.body)) {
    end->detail = {};
  }
  return model::journal_line(event, names);
}

class Recorder final : public model::Observer {
 public:
  void begin(const model::NameTable& names) override { names_ = &names; }
  void on(const model::Event& event) override {
    if (auto line = line_of(event, *names_)) {
      lines.push_back(std::move(*line));
    }
  }
  Lines lines;

 private:
  const model::NameTable* names_ = nullptr;
};

Lines lines_of_reference(const model::Scenario& scenario) {
  model::NameTable names = scenario.names;
  Lines lines;
  for (const model::Event& event : reference::journal(scenario, names)) {
    if (auto line = line_of(event, names)) {
      lines.push_back(std::move(*line));
    }
  }
  return lines;
}

Lines lines_of_core(const model::Scenario& scenario) {
  const auto policies = policies::make(scenario.scheduler);
  if (!policies) {
    throw std::runtime_error(model::to_string(policies.error()));
  }
  Recorder recorder;
  std::vector<model::Observer*> observers{&recorder};
  static_cast<void>(sim::run(scenario, *policies, observers));
  return std::move(recorder.lines);
}

// ---- comparing ----

void show(const std::string& name, const Lines& ours, const Lines& cores) {
  constexpr std::ptrdiff_t before = 12;
  const auto [mine, theirs] = std::ranges::mismatch(ours, cores);
  const std::ptrdiff_t at = mine - ours.begin();
  fmt::print("{}: line {} differs\n", name, at + 1);
  for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(0, at - before); i < at; ++i) {
    fmt::print("            {}\n", ours[static_cast<std::size_t>(i)]);
  }
  fmt::print("  reference {}\n", mine == ours.end() ? "(ends)" : *mine);
  fmt::print("  core      {}\n", theirs == cores.end() ? "(ends)" : *theirs);
}

void compare(const std::string& name, model::Scenario scenario, const Options& options,
             Totals& totals) {
  if (!reference::narrow(scenario)) {
    ++totals.left_out;
    return;
  }
  if (options.text) {
    fmt::print("{}\n", traces::write_scenario(scenario));
    return;
  }
  Lines ours;
  Lines cores;
  try {
    ours = lines_of_reference(scenario);
    if (!options.against) {
      fmt::print("{}\n", fmt::join(ours, "\n"));
      return;
    }
    cores = lines_of_core(scenario);
  } catch (const std::exception& fault) {
    ++totals.different;
    fmt::print("{}: {}\n", name, fault.what());
    return;
  }
  ++totals.scenarios;
  totals.events += std::ssize(cores);
  if (ours == cores) {
    return;
  }
  ++totals.different;
  if (options.list) {
    fmt::print("{}\n", name);
  } else {
    show(name, ours, cores);
  }
}

std::optional<Options> read_arguments(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--against") {
      options.against = true;
    } else if (argument == "--text") {
      options.text = true;
    } else if (argument == "--list") {
      options.list = true;
    } else if (argument == "--random" && i + 2 < argc) {
      options.first = std::strtoull(argv[++i], nullptr, 10);
      options.count = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument.starts_with("-")) {
      return std::nullopt;
    } else {
      options.files.emplace_back(argument);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = read_arguments(argc, argv);
  if (!options || (options->files.empty() && options->count == 0)) {
    std::fputs(
        "usage: reference [--against] [--list] [--text] [--random FIRST COUNT] FILE|LOG...\n",
        stderr);
    return 2;
  }
  Totals totals;
  for (const std::string& file : options->files) {
    auto scenario = reference::load(file);
    if (scenario) {
      compare(file, std::move(*scenario), *options, totals);
    } else {
      ++totals.left_out;
      fmt::print(stderr, "left out: {}\n", model::to_string(scenario.error()));
    }
  }
  for (std::uint64_t seed = options->first; seed < options->first + options->count; ++seed) {
    auto scenario = traces::read_scenario(rehearse::testing::random_scenario(seed), "random");
    compare(fmt::format("random {}", seed), std::move(*scenario), *options, totals);
  }
  if (options->against) {
    fmt::print("{} scenarios, {} events, {}; {} left out\n", totals.scenarios, totals.events,
               totals.different == 0 ? "equal" : fmt::format("{} different", totals.different),
               totals.left_out);
  }
  return totals.different == 0 ? 0 : 1;
}
