// The relations; see docs/relations.md for what each says and where it applies.
#include "tests/relations/relations.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "tests/relations/change.hpp"

namespace rehearse::testing {

namespace {

// R2: an executor that no job can use changes nothing but the numbers of those that join later.
Verdict unused_executor(const model::Scenario& scenario, const Journal& journal) {
  using enum model::Placement;
  // A random place is drawn by number, and without any executor the code of a rejection differs.
  if (!has_fixed_order(scenario) || scenario.scheduler.placement == random ||
      scenario.scheduler.placement_object || scenario.cluster.autoscale ||
      says(journal, "NO_EXECUTORS")) {
    return {};
  }
  Journal changed = run_of(with_unused_executor(scenario));
  std::erase_if(changed, [](const JournalLine& line) {
    return line.event == "executor_added" &&
           line.text.find(fmt::format("\"executor\":\"{}\"", unused_name)) != std::string::npos;
  });
  Journal plain = journal;
  for (Journal* each : {&plain, &changed}) {
    sort_refusals(*each);
    for (JournalLine& line : *each) {
      line.text = line.event == "executor_added" ? line.text.substr(0, line.text.find("resources"))
                                                 : line.text;
    }
  }
  return {true, first_difference(plain, changed)};
}

// R3: with one more idle executor, what all succeeded without faults still does, unless gangs wait
// for a limited time or hold slots while they wait.
Verdict one_more_executor(const model::Scenario& scenario, const Journal& journal) {
  if (has_faults(scenario) || !all_succeed(journal) || scenario.cluster.executors.empty() ||
      scenario.cluster.autoscale || scenario.scheduler.admission.when_short != model::Short::wait ||
      scenario.scheduler.admission.hold == model::Hold::bulk) {
    return {};
  }
  const Journal changed = run_of(with_one_more_executor(scenario));
  // A4: a trial on other executors may miss the packing that it found before. F7: a shuffle is
  // refused while the job that it belongs to lives, so other times are other verdicts.
  if (says(changed, "by trial") || says(changed, "SHARED_PRODUCER")) {
    return {};
  }
  Verdict verdict{true, std::nullopt};
  if (!all_succeed(changed)) {
    verdict.difference = "with one more executor some job does not succeed";
  }
  return verdict;
}

// R4: all times threefold, and everything happens after three times as long.
Verdict scaled_times(const model::Scenario& scenario, const Journal& journal) {
  constexpr std::int64_t factor = 3;
  const auto changed = with_scaled_times(scenario, factor);
  if (!changed || !has_fixed_order(scenario)) {
    return {};
  }
  Journal expected = journal;
  for (JournalLine& line : expected) {
    line.at *= factor;
  }
  return {true, first_difference(expected, run_of(*changed))};
}

// R5: everything later, and the journal is that much later; who is there from the start stays.
Verdict shifted_times(const model::Scenario& scenario, const Journal& journal) {
  constexpr model::Duration by = 7 * model::millisecond;
  const auto at_start = [](const model::TimedFault& fault) { return fault.at == 0; };
  if (scenario.cluster.autoscale || !has_fixed_order(scenario) || scenario.scheduler.speculation ||
      std::ranges::any_of(scenario.faults.timed, at_start)) {
    return {};
  }
  std::set<std::string> there;  // from the start
  for (const model::ExecutorSpec& executor : scenario.cluster.executors) {
    there.insert(fmt::format("\"executor\":\"{}\"", scenario.names.text(executor.name)));
  }
  Journal expected = journal;
  for (JournalLine& line : expected) {
    const bool stays = line.event == "executor_added" && line.at == 0 &&
                       there.contains(line.text.substr(
                           line.text.find("\"executor\":"),
                           line.text.find(",\"host\"") - line.text.find("\"executor\":")));
    line.at += stays ? 0 : by;
  }
  return {true, first_difference(expected, run_of(with_shifted_times(scenario, by)))};
}

// R7: a job that comes when all is over changes nothing of what was before.
Verdict appended_job(const model::Scenario& scenario, const Journal& journal) {
  if (journal.empty() || says(journal, "DEADLOCK") || scenario.horizon ||
      scenario.cluster.autoscale || !has_fixed_order(scenario)) {
    return {};
  }
  return {true, first_difference(
                    journal, run_of(with_job_at(scenario, journal.back().at + 100 * model::second)),
                    true)};
}

// R7: without a job that was rejected everything else is the same.
Verdict without_rejected(const model::Scenario& scenario, const Journal& journal) {
  const auto rejected = std::ranges::find(journal, "job_rejected", &JournalLine::event);
  if (rejected == journal.end() || !has_fixed_order(scenario)) {
    return {};
  }
  const std::string name = rejected->job;
  const auto of_it = [&name](const JournalLine& line) {
    return line.job == name || line.job.starts_with(name + "#");
  };
  // A later try of the request may be accepted; and "unordered" draws by number.
  const bool accepted = std::ranges::any_of(journal, [&of_it](const JournalLine& line) {
    return of_it(line) && line.event != "job_submitted" && line.event != "job_rejected";
  });
  const auto changed = without_job(scenario, name);
  if (accepted || !changed || scenario.cluster.autoscale ||
      scenario.scheduler.admission.queue == model::QueueOrder::unordered) {
    return {};
  }
  Journal rest = journal;
  std::erase_if(rest, of_it);
  return {true, first_difference(rest, run_of(*changed))};
}

// Outcomes of jobs and what they committed.
std::set<std::string> results_of(const Journal& journal) {
  std::set<std::string> results;
  for (const JournalLine& line : journal) {
    if (line.event == "job_end" || line.event == "job_rejected") {
      results.insert(line.job + " " + line.event);
    } else if (line.event == "output_committed") {
      const std::size_t partition = line.text.find("\"partition\"");
      results.insert(line.text.substr(0, line.text.find("\"attempt\"")) +
                     line.text.substr(partition, line.text.find(',', partition) - partition));
    }
  }
  return results;
}

// R11: pipelined edges made regular change when things happen, not what comes out.
Verdict regular_edges(const model::Scenario& scenario, const Journal& /*journal*/) {
  if (has_faults(scenario) || scenario.cluster.autoscale ||
      scenario.scheduler.edges == model::EdgesAxis::all_regular || scenario.horizon ||
      scenario.scheduler.completion != model::Completion::group) {
    return {};
  }
  model::Scenario ample = with_ample_slots(scenario);
  const Journal pipelined = run_of(ample);
  ample.scheduler.edges = model::EdgesAxis::all_regular;
  const Journal regular = run_of(ample);
  if (!all_succeed(pipelined) || !all_succeed(regular)) {
    return {};  // an idiom that goes with one kind only
  }
  Verdict verdict{true, std::nullopt};
  if (results_of(pipelined) != results_of(regular)) {
    const auto before = results_of(pipelined);
    const auto after = results_of(regular);
    verdict.difference = fmt::format("{} | {}", fmt::join(before, "; "), fmt::join(after, "; "));
  }
  return verdict;
}

// R12: whatever is done with gangs that do not fit, it makes no difference where all fit.
Verdict short_rules(const model::Scenario& scenario, const Journal& /*journal*/) {
  model::Scenario ample = with_ample_slots(scenario);
  model::AdmissionConfig& admission = ample.scheduler.admission;
  if (!has_fixed_order(scenario) || admission.hold != model::Hold::reserve ||
      scenario.cluster.autoscale || admission.shortfall == model::Shortfall::rejection) {
    return {};
  }
  admission.when_short = model::Short::wait;
  const Journal waiting = run_of(ample);
  if (says(waiting, "\"reason\":\"slots\"") || says(waiting, "INSUFFICIENT_SLOTS") ||
      says(waiting, "NO_EXECUTORS") || says(waiting, "executor_lost") ||
      says(waiting, "executor_held")) {
    return {};
  }
  admission.when_short = model::Short::fail;
  return {true, first_difference(waiting, run_of(ample))};
}

constexpr auto table =
    std::to_array<Relation>({{"renamed", renamed},
                             {"unused executor", unused_executor},
                             {"one more executor", one_more_executor},
                             {"scaled times", scaled_times},
                             {"shifted times", shifted_times},
                             {"jobs in another order", jobs_in_another_order},
                             {"faults in another order", faults_in_another_order},
                             {"joins in another order", joins_in_another_order},
                             {"edges in another order", edges_in_another_order},
                             {"ends in another order", ends_in_another_order},
                             {"appended job", appended_job},
                             {"without a rejected job", without_rejected},
                             {"cancelled while it waits", cancelled_early},
                             {"faults that never come", faults_that_never_come},
                             {"regular edges", regular_edges},
                             {"short rules", short_rules},
                             {"policies recomputed", policies_recomputed}});

}  // namespace

std::span<const Relation> relations() { return table; }

}  // namespace rehearse::testing
