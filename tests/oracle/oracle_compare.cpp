// Runs scenarios by the core and by the oracle. Usage:
//   oracle_compare --known FILE [--verbose] SCENARIO...
//   oracle_compare --print SCENARIO: the journal that the oracle demands, with clauses
//   oracle_compare --known FILE [--verbose] --dialect NAME --first N --runs N [--write]
// With --write the drawn scenarios are printed and nothing is run.
// Known disagreements are lines "KEY | who is right | clause | what", where KEY is a file's name or
// "DIALECT SEED". Exit status 3: a disagreement that is not listed, or one listed that is none.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/axes.hpp"
#include "properties/gen/generate.hpp"
#include "properties/oracle/oracle.hpp"
#include "tests/oracle/compare.hpp"
#include "traces/scenario_json.hpp"

namespace {

using namespace rehearse;

struct Arguments {
  std::string known;
  std::string dialect;
  std::uint64_t first = 1;
  std::uint64_t runs = 2000;
  bool verbose = false;
  bool write = false;
  bool print = false;
  std::vector<std::string> files;
};

struct Tally {
  std::map<std::string, int> refused;  // by reason
  std::vector<std::string> wrong;
  std::set<std::string> known;
  int agreed = 0;
  int moved = 0;
  int listed = 0;
  std::size_t events = 0;

  void add(const std::string& key, const properties::oracle::Comparison& one) {
    if (one.refused) {
      ++refused[*one.refused];
      return;
    }
    events += one.events;
    const bool expected = known.contains(key);
    if (one.difference.has_value() == expected) {
      ++(expected ? listed : one.refusals_move ? moved : agreed);
      return;
    }
    wrong.push_back(key);
    fmt::print("{}: {}\n{}", key, expected ? "listed as a disagreement, and is none" : "differs",
               one.difference ? oracle_test::text_of(*one.difference) : "");
  }

  int report(bool verbose) const {
    int out = 0;
    for (const auto& [reason, count] : refused) {
      out += count;
      if (verbose) {
        fmt::print("  not modelled: {} ({})\n", reason, count);
      }
    }
    fmt::print(
        "{} agree ({} events), {} but for the place of refusals, {} known disagreements, {} new, "
        "{} not modelled\n",
        agreed, events, moved, listed, wrong.size(), out);
    return wrong.empty() ? 0 : 3;
  }
};

std::set<std::string> read_known(const std::string& path) {
  std::set<std::string> keys;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const std::size_t bar = line.find(" |");
    if (!line.empty() && line.front() != '#' && bar != std::string::npos) {
      keys.insert(line.substr(0, bar));
    }
  }
  return keys;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string key = argv[i];
    const auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (key == "--known") {
      arguments.known = value();
    } else if (key == "--dialect") {
      arguments.dialect = value();
    } else if (key == "--first") {
      arguments.first = std::strtoull(value().c_str(), nullptr, 10);
    } else if (key == "--runs") {
      arguments.runs = std::strtoull(value().c_str(), nullptr, 10);
    } else if (key == "--verbose") {
      arguments.verbose = true;
    } else if (key == "--write") {
      arguments.write = true;
    } else if (key == "--print") {
      arguments.print = true;
    } else {
      arguments.files.push_back(key);
    }
  }
  return arguments;
}

// A scenario of the campaign mix, as far as the specification decides it: not the order of inputs
// that a seed shuffles, and scripted times; axes that the oracle refuses are not drawn.
model::Scenario draw(model::Dialect dialect, std::uint64_t seed) {
  properties::GenOptions options;
  options.scheduler = model::preset(dialect);
  options.kept = {"speculation", "max_partitions_per_task", "admission.depth"};
  model::Scenario scenario = properties::generate(options, seed);
  scenario.timing = model::Timing::scripted;
  scenario.ties_shuffled = false;
  scenario.choices.clear();
  return scenario;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  Tally tally;
  tally.known = read_known(arguments.known);
  if (!arguments.dialect.empty()) {
    const auto dialect = model::parse_enum<model::Dialect>(arguments.dialect);
    if (!dialect) {
      fmt::print("no dialect {}\n", arguments.dialect);
      return 2;
    }
    for (std::uint64_t seed = arguments.first; seed < arguments.first + arguments.runs; ++seed) {
      const model::Scenario scenario = draw(*dialect, seed);
      if (arguments.write) {
        fmt::print("{}", traces::write_scenario(scenario));
        continue;
      }
      tally.add(fmt::format("{} {}", arguments.dialect, seed), oracle_test::compare(scenario));
    }
  }
  for (const std::string& path : arguments.files) {
    std::ifstream in(path);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (traces::expected_load_error(text)) {
      continue;
    }
    const auto scenario = traces::read_scenario(text, path);
    if (!scenario) {
      continue;  // of a feature that is not built, or of no scenario
    }
    if (const auto refused = properties::oracle::refusal(*scenario); arguments.print && refused) {
      fmt::print(stderr, "not modelled: {}\n", *refused);
      return 2;
    }
    if (arguments.print) {
      fmt::print("{}\n", fmt::join(oracle_test::demanded_lines(*scenario), "\n"));
      continue;
    }
    tally.add(path.substr(path.rfind('/') + 1), oracle_test::compare(*scenario));
  }
  return arguments.write || arguments.print ? 0 : tally.report(arguments.verbose);
}
