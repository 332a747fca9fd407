// relations [--dialect NAME] [--first SEED] [--runs N] [--must-apply N] [--failures FOLDER]
//           [--mutant NAME]
// Metamorphic relations over scenarios of the mix of `rehearse fuzz`, by default over all axes. A
// difference is shown with its seed and relation, the scenario is written to FOLDER; exit 1. With
// --must-apply each relation must have applied so often. With --mutant, in a build with mutants,
// that bug is planted before, and a run that it stops is passed over. Each relation has a line: how
// often it applied, how often the journals differ.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "model/configuration_text.hpp"
#include "properties/gen/generate.hpp"
#include "scheduler/plant.hpp"
#include "tests/relations/relations.hpp"
#include "traces/scenario_json.hpp"

namespace {

using namespace rehearse;

struct Options {
  properties::GenOptions mix;
  std::uint64_t first = 1;
  std::uint64_t runs = 1000;
  std::int64_t must_apply = 0;
  std::string failures;     // empty: nothing is written
  std::int64_t shown = 20;  // differences of each relation
  model::Mutant mutant = model::Mutant::none;
};

Options read_options(int count, char** arguments) {
  Options options;
  options.mix.drawn = properties::DrawnAxes::all;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    const std::string value = arguments[i + 1];
    if (name == "--dialect") {
      options.mix.scheduler = model::preset(model::parse_dialect(value).value());
      options.mix.drawn = properties::DrawnAxes::settings;
    } else if (name == "--first") {
      options.first = std::stoull(value);
    } else if (name == "--runs") {
      options.runs = std::stoull(value);
    } else if (name == "--must-apply") {
      options.must_apply = std::stoll(value);
    } else if (name == "--mutant") {
      options.mutant = model::parse_enum<model::Mutant>(value).value();
      options.shown = 1;
      scheduler::plant(options.mutant);
    } else if (name == "--failures") {
      options.failures = value;
    } else {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  return options;
}

struct Count {
  std::int64_t applied = 0;
  std::int64_t differ = 0;
};
using Counts = std::map<std::string_view, Count>;

void judge(const Options& options, std::uint64_t seed, Counts& counts) {
  const model::Scenario scenario = properties::generate(options.mix, seed);
  const testing::Journal journal = testing::run_of(scenario);
  for (const testing::Relation& relation : testing::relations()) {
    const testing::Verdict verdict = relation.check(scenario, journal);
    Count& count = counts[relation.name];
    count.applied += verdict.applies ? 1 : 0;
    if (!verdict.difference) {
      continue;
    }
    if (++count.differ <= options.shown) {
      fmt::print("seed {}, {}: {}\n", seed, relation.name, *verdict.difference);
    }
    if (!options.failures.empty()) {
      std::ofstream(fmt::format("{}/relation_{}.json", options.failures, seed))
          << traces::write_scenario(scenario);
    }
  }
}

}  // namespace

int main(int count, char** arguments) try {
  const Options options = read_options(count, arguments);
  Counts counts;
  std::uint64_t broken = 0;
  for (std::uint64_t seed = options.first; seed < options.first + options.runs; ++seed) {
    try {
      judge(options, seed, counts);
    } catch (const std::exception&) {
      if (options.mutant == model::Mutant::none) {
        throw;
      }
      ++broken;
    }
  }
  bool enough = true;
  std::int64_t differences = 0;
  for (const auto& [name, each] : counts) {
    fmt::print("{:>9} {:>7} {}\n", each.applied, each.differ, name);
    enough = enough && each.applied >= options.must_apply;
    differences += each.differ;
  }
  fmt::print("{} scenarios from seed {}, {} stopped by an internal check, {} differences\n",
             options.runs, options.first, broken, differences);
  return differences == 0 && enough ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
