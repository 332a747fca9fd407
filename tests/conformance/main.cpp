// conformance CASES.jsonl --dialect spark|psd [--only ID,...] [--verbose]
//
// Drives the scheduler core with the cases of a suite, in the vocabulary of its README, and prints
// one line for each that fails: id, step, what was expected, what was there; last the counts.
// 0: none failed. 1: some did. 2: the arguments or the file cannot be used.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

void require(bool holds, const std::string& expected, const std::string& actual) {
  if (!holds) {
    throw std::runtime_error("expected " + expected + ", found " + actual);
  }
}

namespace {

struct Arguments {
  std::string file;
  std::string dialect;
  std::vector<std::string> only;  // empty: all
  bool verbose = false;
};

// Why the case fails; empty if it does not.
std::string run_case(Run& run) {
  try {
    begin(run);
    const int last = static_cast<int>(run.steps.size()) - 1;
    for (run.step = -1; run.step <= last; ++run.step) {
      if (run.step >= 0) {
        take_step(run, run.steps[static_cast<std::size_t>(run.step)]);
      }
      for (const Json& e : run.then) {
        if (e.at("after") == run.step || (e["after"] == "end" && run.step == last)) {
          check(run, e);
        }
      }
    }
  } catch (const std::exception& failure) {  // also what is wrong with the record: its field
    return fmt::format("step {}: {}", run.step, failure.what());
  }
  return "";
}

// The same of the first variant that fails.
std::string verdict(const Json& record, const Arguments& arguments, const Json& then) {
  const auto dialect = model::parse_enum<model::Dialect>(arguments.dialect).value();
  const Json steps = normal(record.at("when"));
  const Json holds = normal(then);
  std::string why;
  for (const std::string variant : record.at("given").value("variants", Json{""})) {
    Json given = record["given"];
    Json lines = Json::array();
    Json running = Json::array();
    Run run{dialect, record.at("layer") == "dag", given, steps, holds, lines, running, variant};
    why = why.empty() ? run_case(run) : why;
    for (const Json& line : arguments.verbose ? lines : Json()) {
      fmt::print("  {}\n", line.dump());
    }
  }
  return why;
}

int run_all(const Arguments& arguments) {
  std::ifstream file(arguments.file);
  int number = 0;
  int counts[3] = {};  // passed, failed, not applicable
  try {
    for (std::string line; std::getline(file, line);) {
      ++number;
      const Json record = Json::parse(line);
      const std::string id = record.at("id");
      if (!arguments.only.empty() && !has(arguments.only, id)) {
        continue;
      }
      const Json& here = record.at(arguments.dialect);
      const std::string use = here.at("use");
      const bool skip = use == "skip";
      const std::string why =
          skip ? "" : verdict(record, arguments, use == "own" ? here.at("then") : record.at(use));
      ++counts[skip ? 2 : why.empty() ? 0 : 1];
      if (!why.empty() || arguments.verbose) {
        fmt::print("{} {}\n", id, skip ? "not applicable" : why.empty() ? "passed" : why);
      }
    }
    if (!file.eof() || counts[0] + counts[1] + counts[2] == 0) {
      throw std::runtime_error(number == 0 ? "cannot be read" : "no such case");
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}:{}: {}\n", arguments.file, number, error.what());
    return 2;
  }
  fmt::print("{} passed, {} failed, {} not applicable\n", counts[0], counts[1], counts[2]);
  return counts[1] > 0 ? 1 : 0;
}

}  // namespace

}  // namespace rehearse::conformance

int main(int argc, char** argv) {
  rehearse::conformance::Arguments arguments;
  CLI::App app("Drives the scheduler core with a suite of cases.", "conformance");
  app.add_option("cases", arguments.file, "file of cases, JSON lines")->required();
  auto* dialect = app.add_option("--dialect", arguments.dialect)->required();
  dialect->check(CLI::IsMember({"spark", "psd"}));
  app.add_option("--only", arguments.only, "ids")->delimiter(',');
  app.add_flag("--verbose", arguments.verbose, "print what the core said");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return rehearse::conformance::run_all(arguments);
}
