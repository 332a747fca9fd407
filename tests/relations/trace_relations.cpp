// R9, R10 and D2: what is added to a run and leaves no trace.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "tests/passes/checked_policies.hpp"
#include "tests/relations/change.hpp"
#include "tests/relations/relations.hpp"

namespace rehearse::testing {

namespace {

// Between the line and what happens next there is time: the first instant of it, and the last.
struct Gap {
  model::Instant first = 0;
  model::Instant last = 0;
};

// The first gap at or behind that line in which an instant can pass, and another.
std::optional<Gap> gap_behind(const Journal& journal, std::size_t line) {
  for (std::size_t i = line; i + 1 < journal.size(); ++i) {
    if (journal[i + 1].at - journal[i].at > 3) {
      return Gap{journal[i].at + 1, journal[i + 1].at - 1};
    }
  }
  return std::nullopt;
}

bool is_of_cancelled(const JournalLine& line) { return line.job == cancelled_name; }

}  // namespace

// R9: a gang that is cancelled before it was admitted leaves the rest as if it had never come. With
// `backfill` nothing waits behind it, so it may wait long; otherwise it comes and goes while
// nothing else happens. Who holds slots while they wait, counts as backlog or is refused at once
// does leave something; `easy` looks at the clock in every pass.
Verdict cancelled_early(const model::Scenario& scenario, const Journal& journal) {
  const model::AdmissionConfig& admission = scenario.scheduler.admission;
  const bool passed_over =
      admission.overtake == model::Overtake::backfill && !admission.overtake_object;
  const bool looks_ahead = admission.overtake == model::Overtake::easy;
  if (!has_fixed_order(scenario) || has_moments(scenario) || scenario.cluster.autoscale ||
      admission.hold == model::Hold::bulk || admission.hold == model::Hold::none || looks_ahead ||
      admission.depth < 64 || journal.empty()) {
    return {};
  }
  const auto come = gap_behind(journal, journal.size() / 4);
  const auto go = passed_over ? gap_behind(journal, journal.size() / 2) : come;
  if (!come || !go) {
    return {};
  }
  const model::Instant gone = std::max(go->last, come->first + 1);
  const auto changed = with_cancelled_gang(scenario, come->first, gone);
  if (!changed) {
    return {};
  }
  Journal rest = run_of(*changed);
  const bool waited = std::ranges::any_of(rest, [](const JournalLine& line) {
    return is_of_cancelled(line) && line.text.contains("\"outcome\":\"cancelled\"");
  });
  const bool started = std::ranges::any_of(rest, [](const JournalLine& line) {
    return is_of_cancelled(line) &&
           (line.event == "group_admitted" || line.event == "stage_submitted");
  });
  if (!waited || started) {
    return {};
  }
  std::erase_if(rest, is_of_cancelled);
  Journal plain = journal;
  const Journal refused = take_refusals(plain);
  const Journal still_refused = take_refusals(rest);
  const auto difference = first_difference(plain, rest);
  return {true, difference ? difference : first_difference(refused, still_refused)};
}

// R10: faults at moments and on tries that do not come.
Verdict faults_that_never_come(const model::Scenario& scenario, const Journal& journal) {
  return {true, first_difference(journal, run_of(with_faults_that_never_come(scenario)))};
}

// D2: policies that are looked at while they work say what is computed anew from all they see.
Verdict policies_recomputed(const model::Scenario& scenario, const Journal& journal) {
  const auto complaints = std::make_shared<Complaints>();
  const Journal same = run_of(scenario, checked_policies(scenario.scheduler, complaints));
  Verdict verdict{complaints->answers > 0, first_difference(journal, same)};
  if (!complaints->lines.empty()) {
    verdict.difference = complaints->lines.front();
  }
  return verdict;
}

}  // namespace rehearse::testing
