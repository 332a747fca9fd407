// random_runs [--first SEED] [--runs N] [--failures FOLDER] [--must-reach]: a campaign of random
// scenarios. A scenario of which something does not hold is written to FOLDER and named; exit 1.
// With --write FOLDER the scenarios are written there, all of them, and nothing is run.
// With --must-reach a campaign that missed one of the places it should have been at fails as well.
// random_runs --scenario FILE [--first SEED] [--journals]: judges that scenario instead, as seed
// SEED would be, and prints the journals of the run and of the interleaving.
#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/config_support.hpp"
#include "model/support/journal_line.hpp"
#include "tests/random/generate.hpp"
#include "tests/random/interleave.hpp"
#include "tests/random/judge.hpp"
#include "traces/scenario_json.hpp"

namespace {

using namespace rehearse;

struct Options {
  std::uint64_t first = 1;
  std::uint64_t runs = 1000;
  std::string failures = ".";
  std::string scenario;
  std::string write;
  bool must_reach = false;
  bool journals = false;
};

class Printer final : public model::Observer {
 public:
  void begin(const model::NameTable& names) override { names_ = &names; }
  void on(const model::Event& event) override {
    fmt::print("{}\n", model::journal_line(event, *names_));
  }

 private:
  const model::NameTable* names_ = nullptr;
};

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    if (name == "--must-reach") {
      options.must_reach = true;
      continue;
    }
    if (name == "--journals") {
      options.journals = true;
      continue;
    }
    if (i + 1 == count) {
      throw std::invalid_argument(std::string(name) + " needs a value");
    }
    const std::string value = arguments[++i];
    if (name == "--first") {
      options.first = std::stoull(value);
    } else if (name == "--runs") {
      options.runs = std::stoull(value);
    } else if (name == "--failures") {
      options.failures = value;
    } else if (name == "--scenario") {
      options.scenario = value;
    } else if (name == "--write") {
      options.write = value;
    } else {
      throw std::invalid_argument("unknown option " + std::string(name));
    }
  }
  return options;
}

std::vector<std::string> judge_text(const std::string& text, std::uint64_t seed,
                                    testing::Reached& reached, model::Observer* watcher = nullptr) {
  const auto scenario = traces::read_scenario(text, "random.json");
  if (!scenario) {
    return {"it does not load: " + model::to_string(scenario.error())};
  }
  if (const auto error = model::unsupported(*scenario)) {
    return {"this build does not execute it: " + model::to_string(*error)};
  }
  std::vector<std::string> wrong = testing::judge_run(*scenario, reached, watcher);
  for (const std::string& line : testing::judge_interleaving(*scenario, seed, reached, watcher)) {
    wrong.push_back("interleaved: " + line);
  }
  return wrong;
}

std::string write_scenario(std::uint64_t seed, const std::string& folder) {
  std::string path = fmt::format("{}/random_{}.json", folder, seed);
  std::ofstream file(path);
  file << testing::random_scenario(seed) << std::flush;
  if (!file) {
    throw std::runtime_error(path + " cannot be written");
  }
  return path;
}

int write_scenarios(const Options& options) {
  for (std::uint64_t seed = options.first; seed < options.first + options.runs; ++seed) {
    write_scenario(seed, options.write);
  }
  return 0;
}

void report_failure(std::uint64_t seed, const std::vector<std::string>& wrong,
                    const std::string& folder) {
  const std::string path = write_scenario(seed, folder);
  fmt::print("seed {}: {}\n", seed, path);
  for (const std::string& line : wrong) {
    fmt::print("  {}\n", line);
  }
}

int campaign(const Options& options) {
  testing::Reached reached;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = options.first; seed < options.first + options.runs; ++seed) {
    const std::string text = testing::random_scenario(seed);
    if (const auto wrong = judge_text(text, seed, reached); !wrong.empty()) {
      ++failed;
      report_failure(seed, wrong, options.failures);
    }
  }
  for (const auto& [place, count] : reached.counts()) {
    fmt::print("{:>9} {}\n", count, place);
  }
  const std::vector<std::string> missed = reached.missed();
  fmt::print("{} runs from seed {}, {} failed; not reached: {}\n", options.runs, options.first,
             failed, missed.empty() ? "nothing" : fmt::format("{}", fmt::join(missed, ", ")));
  return failed > 0 || (options.must_reach && !missed.empty()) ? 1 : 0;
}

int judge_file(const Options& options) {
  std::ifstream file(options.scenario);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  testing::Reached reached;
  Printer printer;
  const std::vector<std::string> wrong =
      judge_text(text, options.first, reached, options.journals ? &printer : nullptr);
  for (const std::string& line : wrong) {
    fmt::print("{}\n", line);
  }
  return wrong.empty() ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const Options options = read_options(count, arguments);
    if (!options.write.empty()) {
      return write_scenarios(options);
    }
    return options.scenario.empty() ? campaign(options) : judge_file(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "random_runs: {}\n", error.what());
    return 2;
  }
}
