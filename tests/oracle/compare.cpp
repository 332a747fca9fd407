#include "tests/oracle/compare.hpp"

#include <fmt/format.h>

#include <array>

#include "model/support/journal_line.hpp"
#include "policies/registry.hpp"
#include "properties/oracle/oracle.hpp"
#include "properties/recorder.hpp"
#include "sim/simulation.hpp"

namespace rehearse::oracle_test {

namespace oracle = properties::oracle;

std::vector<std::string> demanded_lines(const model::Scenario& scenario) {
  const oracle::Expected expected = oracle::expected_journal(scenario);
  std::vector<std::string> lines;
  for (const auto& [event, clause] : expected.events) {
    lines.push_back(model::journal_line(event, expected.names) + "  " + std::string(clause));
  }
  return lines;
}

oracle::Comparison compare(const model::Scenario& scenario) {
  if (auto refused = oracle::refusal(scenario)) {
    oracle::Comparison result;
    result.refused = std::move(refused);
    return result;
  }
  const auto policies = policies::make(scenario.scheduler);
  properties::Recorder journal;
  const std::array<model::Observer*, 1> observers{&journal};
  const sim::RunResult result = sim::run(scenario, *policies, observers, {});
  return oracle::compare(scenario, journal.events, *result.names);
}

std::string text_of(const oracle::Difference& difference) {
  const auto shown = [](const std::string& line) { return line.empty() ? "(nothing more)" : line; };
  std::string text;
  for (const std::string& line : difference.before) {
    text += fmt::format("      both    {}\n", line);
  }
  text += fmt::format("      oracle  {}  [{}]\n", shown(difference.demanded), difference.clause);
  text += fmt::format("      core    {}\n", shown(difference.came));
  return text;
}

}  // namespace rehearse::oracle_test
