// passes [--first SEED] [--runs N] [--mutant NAME]: small random worlds, every pass of the core
// compared with what the clauses say should start, every answer of a policy with one that is
// computed anew. A difference is named with its seed; exit 1. With --mutant, in a build with
// mutants, that bug is planted before.
#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "scheduler/plant.hpp"
#include "tests/passes/engine.hpp"

int main(int count, char** arguments) try {
  using namespace rehearse;
  std::uint64_t first = 1;
  std::uint64_t runs = 1000;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    const std::string value = arguments[i + 1];
    if (name == "--first") {
      first = std::stoull(value);
    } else if (name == "--runs") {
      runs = std::stoull(value);
    } else if (name == "--mutant") {
      scheduler::plant(model::parse_enum<model::Mutant>(value).value());
    } else {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  testing::PassTally tally;
  std::int64_t differences = 0;
  constexpr std::int64_t most_shown = 5;
  for (std::uint64_t seed = first; seed < first + runs; ++seed) {
    if (const auto wrong = testing::judge_passes(seed, tally)) {
      if (++differences <= most_shown) {
        fmt::print("seed {}: {}\n", seed, *wrong);
      }
    }
  }
  fmt::print(
      "{} worlds from seed {}: {} passes, {} of them past a waiting gang, {} tasks, {} "
      "answers of policies; {} differ\n",
      runs, first, tally.passes, tally.overtakings, tally.starts, tally.answers, differences);
  return differences == 0 ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
