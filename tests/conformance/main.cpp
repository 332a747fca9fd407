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

namespace {

struct Session {
  std::string file;
  std::string dialect;
  std::vector<std::string> only;  // empty: all
  bool verbose = false;
  std::map<std::string, int> verdicts{};
  std::map<std::string, int> unjudged{};  // expectations, by word
};

// Tells before anything runs what would else be passed over.
void demand_known(const Run& run, int last) {
  for (const auto& [field, list, known] :
       {std::tuple{"/when", &run.steps, &is_input}, {"/then", &run.then, &is_expectation}}) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string op = list->at(i).at("op");
      demand(known(op), fmt::format("{}/{}/op: unknown word {}", field, i, op));
    }
  }
  for (const Json& e : run.then) {
    demand(e.at("after") == "end" || (e["after"] >= -1 && e["after"] <= last),
           "/then/after: no such step in " + e.dump());
  }
}

// Why the case fails; empty if it does not. What is wrong with its record goes on as an exception.
std::string run_case(Run& run, Session& session) {
  const int last = static_cast<int>(run.steps.size()) - 1;
  demand_known(run, last);
  try {
    begin(run);
    for (run.step = -1; run.step <= last; ++run.step) {
      if (run.step >= 0) {
        take_step(run, run.steps[static_cast<std::size_t>(run.step)]);
      }
      for (const Json& e : run.then) {
        const bool now = e["after"] == run.step || (e["after"] == "end" && run.step == last);
        if (now && !check(run, e)) {
          ++session.unjudged[e["op"]];
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
std::string verdict(Json record, Session& session) {
  const Json& here = record.at(session.dialect);
  const std::string use = here.at("use");
  if (use == "skip") {
    return "not applicable";
  }
  record["then"] = normal(use == "own" ? here.at("then") : record.at(use));
  record["when"] = normal(record.at("when"));
  const auto dialect = enum_of<model::Dialect>(session.dialect, "--dialect");
  for (const std::string variant : record.at("given").value("variants", Json::array({""}))) {
    Json copy = record;
    Json lines = Json::array();
    const bool dag = record.at("layer") == "dag";
    Run run{copy["given"], copy["when"], copy["then"], lines, dialect, dag, variant};
    const std::string why = run_case(run, session);
    for (const Json& line : session.verbose ? lines : Json()) {
      fmt::print("  {}\n", line.dump());
    }
    if (!why.empty()) {
      return why;
    }
  }
  return "passed";
}

int run_all(Session& session) {
  auto& [path, dialect, only, verbose, verdicts, unjudged] = session;
  std::ifstream file(path);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    try {
      const Json record = Json::parse(line);
      const std::string id = record.at("id");
      if (only.empty() || has(only, id)) {
        const std::string what = verdict(record, session);
        const bool fine = what == "passed" || what == "not applicable";
        ++verdicts[fine ? what : "failed"];
        fmt::print("{}", fine && !verbose ? "" : fmt::format("{} {}\n", id, what));
      }
    } catch (const std::exception& error) {
      ++verdicts["unusable"];
      fmt::print(stderr, "{}:{}: {}\n", path, number, error.what());
    }
  }
  if (!file.eof() || verdicts.empty()) {
    fmt::print(stderr, "{}: {}\n", path, file.eof() ? "no such case" : "cannot be read");
    return 2;
  }
  for (const auto& [word, count] : unjudged) {
    fmt::print("not judged: {} of {}\n", count, word);
  }
  fmt::print("{} passed, {} failed, {} not applicable\n", verdicts["passed"], verdicts["failed"],
             verdicts["not applicable"]);
  return verdicts["unusable"] > 0 ? 2 : verdicts["failed"] > 0 ? 1 : 0;
}

}  // namespace

}  // namespace rehearse::conformance

int main(int argc, char** argv) {
  rehearse::conformance::Session session;
  CLI::App app("Drives the scheduler core with a suite of cases.", "conformance");
  app.add_option("cases", session.file, "file of cases, JSON lines")->required();
  auto* dialect = app.add_option("--dialect", session.dialect)->required();
  dialect->check(CLI::IsMember({"spark", "psd"}));
  app.add_option("--only", session.only, "ids")->delimiter(',');
  app.add_flag("--verbose", session.verbose, "print what the core said");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return rehearse::conformance::run_all(session);
}
