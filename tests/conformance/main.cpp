// conformance CASES.jsonl --dialect spark|psd [--only ID,...] [--layer NAME] [--verbose]
//
// Drives the scheduler core with the cases of a suite, in the vocabulary of its README, and prints
// one line for each that fails: id, step, what was expected, what was there; last the counts.
// 0: none failed. 1: some did. 2: the arguments or the file cannot be used.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "model/support/check.hpp"
#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

namespace {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

void lacks(const std::string& thing) { throw Failure("the core has no " + thing); }

void require(bool holds, const std::string& expected, const Json& actual) {
  if (!holds) {
    throw Failure("expected " + expected + ", found " + actual.dump());
  }
}

namespace {

struct Arguments {
  std::string file;
  std::string dialect;
  std::vector<std::string> only;  // empty: all
  std::string layer;              // empty: all
  bool verbose = false;
};

void run_case(Run& run) {
  begin(run);
  const int last = static_cast<int>(run.steps.size()) - 1;
  for (int step = -1; step <= last; ++step) {
    if (step >= 0) {
      run.engine->step = step;
      take_step(run, run.steps[static_cast<std::size_t>(step)]);
    }
    std::vector<Json> launches;
    for (const Json& e : run.then) {
      const bool due = e.at("after") == step || (e["after"] == "end" && step == last);
      if (due && e.at("op") == "expect_launched") {
        launches.push_back(e);
      } else if (due) {
        check(run, e);
      }
    }
    if (!launches.empty()) {
      check_launches(run, launches);
    }
  }
  if (part(run.given, "variants").size() > 1) {
    lacks("speculation switch of a job");
  }
}

// Why the case fails; empty if it does not. What is wrong with the record throws, with its field.
std::string verdict(const Json& record, const Arguments& arguments, const Json& then) {
  Run run{model::parse_enum<model::Dialect>(arguments.dialect).value(), record.at("layer") == "dag",
          record.at("given"), record.at("when"), then};
  std::string why;
  try {
    run_case(run);
  } catch (const Failure& failure) {
    why = failure.what();
  } catch (const model::InternalFault& fault) {
    why = std::string("the core stopped: ") + fault.what();
  }
  for (std::size_t i = 0; arguments.verbose && run.engine && i < run.engine->lines.size(); ++i) {
    fmt::print("  {}\n", run.engine->lines[i].dump());
  }
  const int step = run.engine ? run.engine->step : -1;
  return why.empty() ? why : fmt::format("step {}: {}", step, why);
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
      const Json& here = record.at(arguments.dialect);
      const std::string use = here.at("use");
      const auto& only = arguments.only;
      if ((!only.empty() && std::ranges::find(only, id) == only.end()) ||
          (!arguments.layer.empty() && record.at("layer") != arguments.layer)) {
        continue;
      }
      const bool skip = use == "skip";
      const std::string why =
          skip ? "" : verdict(record, arguments, use == "own" ? here.at("then") : record.at(use));
      ++counts[skip ? 2 : why.empty() ? 0 : 1];
      if (!why.empty() || arguments.verbose) {
        fmt::print("{} {}\n", id, skip ? "not applicable" : why.empty() ? "passed" : why);
      }
    }
    if (!file.eof() || number == 0) {
      throw std::runtime_error("cannot be read");
    }
    if (counts[0] + counts[1] + counts[2] == 0) {
      throw std::runtime_error("no such case");
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
  app.add_option("--dialect", arguments.dialect)
      ->required()
      ->check(CLI::IsMember({"spark", "psd"}));
  app.add_option("--only", arguments.only, "ids")->delimiter(',');
  app.add_option("--layer", arguments.layer)
      ->check(CLI::IsMember({"dag", "taskset", "offers", "pool", "commit", "barrier"}));
  app.add_flag("--verbose", arguments.verbose, "print what the core said");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return rehearse::conformance::run_all(arguments);
}
