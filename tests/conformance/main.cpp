// conformance CASES.jsonl --dialect spark|psd [--only ID,...] [--verbose]
//
// Drives the scheduler core with the cases of a suite, in the vocabulary of its README, and prints
// one line for each that fails: id, step, what was expected, what was there; then the expectations
// that the core's headers do not let it judge, and last the counts.
// 0: none failed. 1: some did. 2: the arguments, the file or a line of it cannot be used; the other
// lines are judged all the same.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

void demand(bool holds, const std::string& what) {
  if (!holds) {
    throw std::invalid_argument(what);
  }
}

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

struct Counts {
  std::map<std::string, int> verdicts{};
  std::map<std::string, int> unjudged{};  // expectations, by word
};

// Tells before anything runs what would else be passed over.
void demand_words(const Json& list, const std::string& field, bool (*known)(const std::string&)) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string op = list[i].at("op");
    demand(known(op), fmt::format("{}/{}/op: unknown word {}", field, i, op));
  }
}

// Why the case fails; empty if it does not. What is wrong with its record goes on as an exception.
std::string run_case(Run& run, Counts& counts) {
  demand_words(run.steps, "/when", is_input);
  demand_words(run.then, "/then", is_expectation);
  const int last = static_cast<int>(run.steps.size()) - 1;
  for (const Json& e : run.then) {
    demand(e.at("after") == "end" || (e["after"] >= -1 && e["after"] <= last),
           "/then/after: no such step in " + e.dump());
  }
  try {
    begin(run);
    for (run.step = -1; run.step <= last; ++run.step) {
      if (run.step >= 0) {
        take_step(run, run.steps[static_cast<std::size_t>(run.step)]);
      }
      for (const Json& e : run.then) {
        const bool now = e["after"] == run.step || (e["after"] == "end" && run.step == last);
        if (now && !check(run, e)) {
          ++counts.unjudged[e["op"]];
        }
      }
    }
  } catch (const Json::exception&) {
    throw;
  } catch (const std::invalid_argument&) {
    throw;
  } catch (const std::exception& failure) {
    return fmt::format("step {}: {}", run.step, failure.what());
  }
  return "";
}

// "not applicable", "passed", or why the first variant that fails does so.
std::string verdict(Json record, const Arguments& arguments, Counts& counts) {
  const Json& here = record.at(arguments.dialect);
  const std::string use = here.at("use");
  if (use == "skip") {
    return "not applicable";
  }
  record["then"] = normal(use == "own" ? here.at("then") : record.at(use));
  record["when"] = normal(record.at("when"));
  for (const std::string variant : record.at("given").value("variants", Json::array({""}))) {
    Json copy = record;
    Json lines = Json::array();
    Run run{copy["given"], copy["when"], copy["then"], lines};
    run.dialect = model::parse_enum<model::Dialect>(arguments.dialect).value();
    run.dag = record.at("layer") == "dag";
    run.variant = variant;
    const std::string why = run_case(run, counts);
    for (const Json& line : arguments.verbose ? lines : Json()) {
      fmt::print("  {}\n", line.dump());
    }
    if (!why.empty()) {
      return why;
    }
  }
  return "passed";
}

int run_all(const Arguments& arguments) {
  std::ifstream file(arguments.file);
  Counts counts;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    try {
      const Json record = Json::parse(line);
      const std::string id = record.at("id");
      if (arguments.only.empty() || has(arguments.only, id)) {
        const std::string what = verdict(record, arguments, counts);
        const bool fine = what == "passed" || what == "not applicable";
        ++counts.verdicts[fine ? what : "failed"];
        fmt::print("{}", fine && !arguments.verbose ? "" : fmt::format("{} {}\n", id, what));
      }
    } catch (const std::exception& error) {
      ++counts.verdicts["unusable"];
      fmt::print(stderr, "{}:{}: {}\n", arguments.file, number, error.what());
    }
  }
  if (!file.eof() || counts.verdicts.empty()) {
    fmt::print(stderr, "{}: {}\n", arguments.file, file.eof() ? "no such case" : "cannot be read");
    return 2;
  }
  for (const auto& [word, count] : counts.unjudged) {
    fmt::print("not judged: {} of {}\n", count, word);
  }
  auto& [verdicts, unjudged] = counts;
  fmt::print("{} passed, {} failed, {} not applicable\n", verdicts["passed"], verdicts["failed"],
             verdicts["not applicable"]);
  return verdicts["unusable"] > 0 ? 2 : verdicts["failed"] > 0 ? 1 : 0;
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
