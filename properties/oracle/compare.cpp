// registry: none (a part of the oracle)
#include "properties/oracle/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/support/journal_line.hpp"
#include "properties/oracle/oracle.hpp"

namespace rehearse::properties::oracle {

namespace {

constexpr std::size_t lines_before = 6;

bool is_compared(const model::Event& event) {
  return event.as<model::RunStart>() == nullptr && event.as<model::Probe>() == nullptr &&
         event.as<model::RunEnd>() == nullptr;
}

std::string line_of(model::Event event, const model::NameTable& names) {
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

}  // namespace

Comparison compare(const model::Scenario& scenario, std::span<const model::Event> journal,
                   const model::NameTable& names) {
  Comparison result;
  result.refused = refusal(scenario);
  if (result.refused) {
    return result;
  }
  const Expected expected = expected_journal(scenario);
  std::vector<std::string> demanded;
  for (const auto& [event, clause] : expected.events) {
    demanded.push_back(line_of(event, expected.names));
  }
  std::vector<std::string> came;
  std::vector<const model::Event*> compared;
  for (const model::Event& event : journal) {
    if (is_compared(event)) {
      came.push_back(line_of(event, names));
      compared.push_back(&event);
    }
  }
  std::size_t& i = result.events;
  while (i < demanded.size() && i < came.size() && demanded[i] == came[i]) {
    ++i;
  }
  if (i == std::max(demanded.size(), came.size())) {
    return result;
  }
  result.refusals_move = refusals_last(demanded) == refusals_last(came);
  if (result.refusals_move) {
    return result;
  }
  const model::Event& first = i < demanded.size() ? expected.events[i].event : *compared[i];
  Difference difference;
  difference.t = first.t;
  difference.kind = first.name();
  if (i < demanded.size()) {
    difference.clause = expected.events[i].clause;
    difference.demanded = demanded[i];
  }
  difference.came = i < came.size() ? came[i] : "";
  for (std::size_t k = i - std::min(i, lines_before); k < i; ++k) {
    difference.before.push_back(demanded[k]);
  }
  result.difference = std::move(difference);
  return result;
}

model::Violation violation_of(const Difference& difference) {
  const auto shown = [](const std::string& line) { return line.empty() ? "nothing more" : line; };
  model::Violation violation;
  violation.property = contradiction;
  violation.t = difference.t;
  violation.detail = difference.clause.empty()
                         ? fmt::format("no clause demands {}", shown(difference.came))
                         : fmt::format("{} demands {}; there came {}", difference.clause,
                                       shown(difference.demanded), shown(difference.came));
  return violation;
}

}  // namespace rehearse::properties::oracle
