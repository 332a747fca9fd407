// Text for a terminal: the finding is the first line; separators and colour only when asked.
#include <doctest/doctest.h>

#include "reports/writer.hpp"
#include "tests/support/report_comparison.hpp"

namespace {

using namespace rehearse;
using namespace rehearse::reports;

CompareDocument document() {
  return tests::document_of(tests::comparison_of({{"a", 2000}, {"b", 50}}, {{"a", 80}, {"b", 40}}));
}

TEST_CASE("the first line of a comparison is its finding") {
  const CompareDocument compared = document();
  const std::string text = write_text(compared, {.columns = 60}).value();
  CHECK_EQ(text.substr(0, text.find('\n')), compared.comparison.finding.headline);
  CHECK(text.find("drain idle") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find(",0") == std::string::npos);
}

TEST_CASE("a terminal gets separators, and colour when it wants it") {
  const std::string text =
      write_text(document(), {.terminal = true, .color = true, .columns = 100}).value();
  CHECK(text.find("8,000.0 slot s") != std::string::npos);
  CHECK(text.starts_with("\x1b[1m"));
}

TEST_CASE("a run says whether it held, and why not") {
  RunDocument document;
  ScenarioRun run;
  run.scenario = "early";
  run.configuration = "psd";
  run.metrics = tests::run_of({{"a", 3}}, true);
  run.expectations = {{0, true, ""}, {1, false, "expected q to fail, it succeeded"}};
  run.violations = {{"GANG", 15, "half a group"}};
  document.runs = {run, run};
  document.runs[1].expectations = {};
  document.runs[1].violations = {};
  const std::string text = write_text(document, {}).value();
  CHECK(text.starts_with("FAILED early (psd): 1 job in 3.00 s"));
  CHECK(text.find("expectation 1: expected q to fail") != std::string::npos);
  CHECK(text.find("GANG at 15 ns: half a group") != std::string::npos);
  CHECK(text.find("1 of 2 runs ok") != std::string::npos);
}

TEST_CASE("an exploration shows the way to what broke, step by step") {
  ExploreDocument document;
  document.envelope.complete = true;
  document.states = 12;
  document.transitions = 30;
  document.faults_max = 1;
  document.states_by_faults = {5, 7};
  std::string text = write_text(document, {.columns = 80}).value();
  CHECK(
      text.starts_with("12 states, 30 transitions, at most 1 fault: every interleaving was seen"));
  CHECK(text.find("no promised property breaks") != std::string::npos);
  document.envelope.complete = false;
  document.paths = {{.violation = {"GANG", 4, "half a group (A2)"},
                     .faults = 1,
                     .steps = {{"q is submitted", {"job_submitted q", "job_started q"}},
                               {"FAULT: e0 is lost", {}}}}};
  text = write_text(document, {.columns = 80}).value();
  CHECK(text.find("not every interleaving was seen") != std::string::npos);
  CHECK(text.find("GANG after 1 fault and 2 steps") != std::string::npos);
  CHECK(text.find("job_submitted q, job_started q") != std::string::npos);
  CHECK(text.find("half a group") < text.find("q is submitted"));
  CHECK(text.find("q is submitted") < text.find("FAULT: e0 is lost"));
}

TEST_CASE("an incomplete result says so") {
  CompareDocument compared = document();
  compared.envelope.complete = false;
  CHECK(write_text(compared, {}).value().find("Incomplete") != std::string::npos);
}

}  // namespace
