// Explores scopes and compares the numbers of their states and transitions with those on record: a
// number that changed is a change of behaviour that somebody has to explain.
//
//   explore_scopes COUNTS [--only NAME]... [--seconds-max N] [--show]
//
// COUNTS has a line per scope: its file beside COUNTS in scopes/, the faults allowed, and what an
// exploration must count. With REHEARSE_UPDATE_GOLDEN=1 the lines are written anew. --show prints
// time and speed. Exit 0: all as on record, 3: not, 2: usage.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/config_support.hpp"
#include "policies/registry.hpp"
#include "properties/explore/cluster_space.hpp"
#include "properties/explore/search.hpp"
#include "traces/scenario_json.hpp"

namespace {

using namespace rehearse;
using Clock = std::chrono::steady_clock;

struct Options {
  std::filesystem::path counts;
  std::vector<std::string> only;
  std::int64_t seconds_max = 600;
  bool show = false;
};

struct Scope {
  std::string name;
  int faults = 0;
  std::string counts;  // as on record
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error("cannot read " + path.string());
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const bool more = i + 1 < count;
    if (word == "--only" && more) {
      options.only.emplace_back(arguments[++i]);
    } else if (word == "--seconds-max" && more) {
      options.seconds_max = std::stoll(arguments[++i]);
    } else if (word == "--show") {
      options.show = true;
    } else if (options.counts.empty() && !word.starts_with("--")) {
      options.counts = word;
    } else {
      throw std::runtime_error("what is " + word + "?");
    }
  }
  if (options.counts.empty()) {
    throw std::runtime_error("give the file of counts");
  }
  return options;
}

std::string counts_of(const properties::SearchResult& result) {
  return fmt::format("states {} transitions {} ends {} depth {} violations {}", result.states,
                     result.transitions, result.ends, result.depth_max, result.found.size());
}

void print_path(const properties::ClusterSpace& root, const properties::Counterexample& found) {
  fmt::print("  {} with {} faults: {}\n", found.violation.property, found.faults,
             found.violation.detail);
  const auto place = root.copy();
  for (const properties::Choice& choice : found.path) {
    fmt::print("    {}\n", place->text_of(choice));
    place->take(choice);
  }
}

// True when it counts what is on record; puts what it counts into the scope.
bool explore(Scope& scope, const Options& options) {
  const std::filesystem::path path =
      options.counts.parent_path() / "scopes" / (scope.name + ".json");
  auto scenario = traces::read_scenario(read_file(path), path.string());
  if (!scenario) {
    throw std::runtime_error(model::to_string(scenario.error()));
  }
  if (const auto error = model::unsupported(*scenario)) {
    throw std::runtime_error(path.string() + ": " + model::to_string(*error));
  }
  const auto policies = policies::make(scenario->scheduler);
  const auto root = properties::ClusterSpace::make(*scenario, *policies);
  if (!root) {
    throw std::runtime_error(path.string() + ": " + model::to_string(root.error()));
  }
  const auto begun = Clock::now();
  const auto until = begun + std::chrono::seconds(options.seconds_max);
  properties::SearchOptions limits;
  limits.faults_max = scope.faults;
  limits.stop = [until] { return Clock::now() > until; };
  properties::Search search(**root, limits);
  const properties::SearchResult result = search.run();
  const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  const std::string counts = counts_of(result);
  const bool same = result.complete && counts == scope.counts;
  fmt::print("{} {} with {} faults: {}{}\n", same ? "ok" : "FAIL", scope.name, scope.faults, counts,
             result.complete ? "" : ", cut short");
  if (!same && result.complete) {
    fmt::print("  on record: {}\n", scope.counts);
  }
  if (options.show) {
    fmt::print("  {:.1f} s, {:.0f} states/s; states by faults:", seconds,
               static_cast<double>(result.states) / seconds);
    for (const std::int64_t states : result.states_by_faults) {
      fmt::print(" {}", states);
    }
    fmt::print("\n");
  }
  for (const properties::Counterexample& found : result.found) {
    print_path(**root, found);
  }
  std::fflush(stdout);
  if (result.complete) {
    scope.counts = counts;
  }
  return same;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const Options options = read_options(count, arguments);
    std::istringstream lines(read_file(options.counts));
    std::string written;
    bool all_same = true;
    for (std::string line; std::getline(lines, line);) {
      Scope scope;
      std::istringstream words(line);
      words >> scope.name >> scope.faults >> std::ws;
      std::getline(words, scope.counts);
      const bool wanted = !line.empty() && !line.starts_with("#") &&
                          (options.only.empty() ||
                           std::ranges::find(options.only, scope.name) != options.only.end());
      if (wanted) {
        all_same = explore(scope, options) && all_same;
        line = fmt::format("{} {} {}", scope.name, scope.faults, scope.counts);
      }
      written += line + "\n";
    }
    const char* update = std::getenv("REHEARSE_UPDATE_GOLDEN");
    if (update != nullptr && std::string_view(update) == "1") {
      std::ofstream(options.counts) << written;
      return 0;
    }
    return all_same ? 0 : 3;
  } catch (const std::exception& error) {
    fmt::print(stderr, "explore_scopes: {}\n", error.what());
    return 2;
  }
}
