// Comparisons made from latencies written by hand, for the tests of reports/.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "reports/compare.hpp"
#include "reports/results.hpp"
#include "tests/support/report_journal.hpp"

namespace rehearse::tests {

// A request of one configuration: its latency in seconds, or what became of it.
struct Fate {
  std::string request;
  std::int64_t seconds = 0;
  reports::Outcome outcome = reports::Outcome::succeeded;
};

// One job per request, each on an executor of its own; pipelined and in a group of two stages when
// `grouped`.
inline reports::RunMetrics run_of(const std::vector<Fate>& fates, bool grouped) {
  ReportJournal journal;
  std::vector<std::pair<model::Instant, const Fate*>> ends;
  for (const Fate& fate : fates) {
    const std::string executor = "e-" + fate.request;
    journal.executor(executor, 2);
    if (grouped) {
      journal.submit(fate.request, {{"p", 1}, {"c", 1}}, {{"p", "c", model::EdgeKind::pipelined}});
    } else {
      journal.submit(fate.request, {{"p", 1}, {"c", 1}}, {{"p", "c"}});
    }
    if (fate.outcome == reports::Outcome::rejected) {
      journal.reject(fate.request, model::Code::insufficient_slots, "needs more than there is");
      continue;
    }
    if (grouped) {
      journal.form(fate.request, {"p", "c"}, {{"default", 2}}).admit(fate.request, "p");
    }
    journal.submit_stage(fate.request, "p", 1).start(fate.request, "p", 0, executor);
    journal.submit_stage(fate.request, "c", 1).start(fate.request, "c", 0, executor);
    ends.emplace_back(fate.seconds * model::second, &fate);
  }
  std::ranges::sort(ends, {}, [](const auto& end) { return std::pair(end.first, end.second); });
  for (const auto& [t, fate] : ends) {
    if (fate->outcome == reports::Outcome::unfinished) {
      continue;
    }
    const bool good = fate->outcome == reports::Outcome::succeeded;
    const auto status = good ? model::TaskStatus::success : model::TaskStatus::failed;
    const auto stage = good ? model::StageStatus::success : model::StageStatus::failed;
    const std::string executor = "e-" + fate->request;
    journal.at(t).end(fate->request, "p", 0, executor, status);
    journal.end(fate->request, "c", 0, executor, status);
    journal.complete_stage(fate->request, "p", stage).complete_stage(fate->request, "c", stage);
    if (good) {
      journal.end_job(fate->request);
    } else {
      journal.end_job(fate->request, model::JobOutcome::failed, model::Code::executor_lost);
    }
  }
  return journal.finish().metrics();
}

inline reports::ConfigurationRuns configuration(std::string name, const std::vector<Fate>& fates,
                                                bool grouped) {
  reports::ConfigurationRuns result;
  result.name = std::move(name);
  result.cluster = "test";
  result.runs.push_back(run_of(fates, grouped));
  result.journal_hash = 0x0123456789abcdef;
  return result;
}

// `sequential` against `psd`, whose jobs run as groups; `swapped` makes psd the baseline.
inline reports::Comparison comparison_of(const std::vector<Fate>& sequential,
                                         const std::vector<Fate>& psd, bool swapped = false,
                                         const std::vector<reports::Input>& inputs = {},
                                         const reports::CompareOptions& options = {},
                                         bool grouped = true) {
  std::vector<reports::ConfigurationRuns> configurations;
  configurations.push_back(configuration("sequential", sequential, false));
  configurations.push_back(configuration("psd", psd, grouped));
  if (swapped) {
    std::swap(configurations[0], configurations[1]);
  }
  return reports::compare(std::move(configurations), inputs, options);
}

inline reports::CompareDocument document_of(reports::Comparison comparison,
                                            std::vector<reports::Input> inputs = {}) {
  return {.envelope = {.command = "compare",
                       .version = "0.1.0",
                       .complete = true,
                       .inputs = std::move(inputs)},
          .comparison = std::move(comparison)};
}

}  // namespace rehearse::tests
