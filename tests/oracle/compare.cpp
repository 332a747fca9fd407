// Left out: `run`, `probe` and `run_end` (they depend on options, scenario.md 5), and the words of
// `detail` (section 5 gives it no text).
#include "tests/oracle/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "model/support/journal_line.hpp"
#include "properties/oracle/oracle.hpp"
#include "tests/oracle/core_run.hpp"

namespace rehearse::oracle_test {

namespace {

using properties::oracle::Expected;
using properties::oracle::expected_journal;

std::optional<std::string> line_of(model::Event event, const model::NameTable& names) {
  const auto is = [&event]<class Body>(std::type_identity<Body>) {
    return event.as<Body>() != nullptr;
  };
  if (is(std::type_identity<model::RunStart>{}) || is(std::type_identity<model::Probe>{}) ||
      is(std::type_identity<model::RunEnd>{})) {
    return std::nullopt;
  }
  if (auto* rejected = std::get_if<model::JobRejected>(&event.body)) {
    rejected->detail = {};
  }
  if (auto* end = std::get_if<model::JobEnd>(&event.body)) {
    end->detail = {};
  }
  return model::journal_line(event, names);
}

// The lines of each instant with the refusals of its passes (group_queued, slots) behind all
// others, in alphabetical order and without `have`, which is what was free where the line stood.
std::vector<std::string> refusals_last(std::vector<std::string> lines) {
  const auto instant = [](const std::string& line) { return line.substr(0, line.find(",\"e\"")); };
  const auto refusal = [](const std::string& line) {
    return line.contains("\"group_queued\"") && line.contains("\"slots\"");
  };
  for (auto first = lines.begin(); first != lines.end();) {
    const std::string now = instant(*first);
    const auto last =
        std::find_if(first, lines.end(), [&](const auto& line) { return instant(line) != now; });
    std::vector<std::string> refusals;
    const auto middle = std::remove_if(first, last, [&](auto& line) {
      const bool moved = refusal(line);
      if (moved) {
        refusals.push_back(line.substr(0, line.find(",\"have\"")));
      }
      return moved;
    });
    std::ranges::sort(refusals);
    std::ranges::move(refusals, middle);
    first = last;
  }
  return lines;
}

std::string difference_at(std::size_t i, const std::vector<std::string>& demanded,
                          const Expected& expected, const std::vector<std::string>& came) {
  constexpr std::size_t before = 6;
  std::string text;
  for (std::size_t k = i > before ? i - before : 0; k < i; ++k) {
    text += fmt::format("      both    {}\n", demanded[k]);
  }
  const bool more = i < demanded.size();
  text += fmt::format("      oracle  {}  [{}]\n", more ? demanded[i] : "(nothing more)",
                      more ? expected.events[i].clause : "");
  text += fmt::format("      core    {}\n", i < came.size() ? came[i] : "(nothing more)");
  return text;
}

}  // namespace

std::vector<std::string> demanded_lines(const model::Scenario& scenario) {
  const Expected expected = expected_journal(scenario);
  std::vector<std::string> lines;
  for (const auto& [event, clause] : expected.events) {
    lines.push_back(model::journal_line(event, expected.names) + "  " + std::string(clause));
  }
  return lines;
}

Comparison compare(const model::Scenario& scenario) {
  Comparison result;
  result.refused = properties::oracle::refusal(scenario);
  if (result.refused) {
    return result;
  }
  const Expected expected = expected_journal(scenario);
  std::vector<std::string> demanded;
  for (const auto& [event, clause] : expected.events) {
    demanded.push_back(line_of(event, expected.names).value_or(""));
  }
  const CoreJournal core = run_core(scenario);
  std::vector<std::string> came;
  for (const model::Event& event : core.events) {
    if (auto line = line_of(event, *core.names)) {
      came.push_back(std::move(*line));
    }
  }
  while (result.events < demanded.size() && result.events < came.size() &&
         demanded[result.events] == came[result.events]) {
    ++result.events;
  }
  if (result.events < std::max(demanded.size(), came.size())) {
    result.refusals_move = refusals_last(demanded) == refusals_last(came);
    if (!result.refusals_move) {
      result.difference = difference_at(result.events, demanded, expected, came);
    }
  }
  return result;
}

}  // namespace rehearse::oracle_test
