// registry: none (how a campaign runs a scenario)
#include "properties/fuzz/judged_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "model/support/check.hpp"
#include "model/support/journal_line.hpp"
#include "properties/oracle/compare.hpp"
#include "properties/oracle/oracle.hpp"
#include "properties/recorder.hpp"
#include "properties/registry.hpp"

namespace rehearse::properties {

namespace {

// Sizes of a run, for the mix of a campaign.
class Counter final : public model::Observer {
 public:
  void begin(const model::NameTable& /*names*/) override {}
  void on(const model::Event& event) override {
    tasks += event.number() == model::event_number<model::TaskStart>() ? 1 : 0;
    if (const auto* formed = event.as<model::GroupFormed>()) {
      groups += formed->stages.size() > 1 ? 1 : 0;
    }
  }
  std::int64_t tasks = 0;
  std::int64_t groups = 0;
};

std::vector<Finding> findings_of(const MonitorSet& monitors, const model::NameTable& names) {
  std::vector<Finding> list;
  for (const model::Violation& violation : monitors.violations()) {
    Finding finding{violation, bucket_of(violation, names)};
    const bool known =
        std::ranges::any_of(list, [&](const Finding& other) { return other.same_as(finding); });
    if (!known) {
      list.push_back(std::move(finding));
    }
  }
  return list;
}

Finding fault(std::string_view property, const std::exception& thrown) {
  Finding finding;
  finding.violation.property = property;
  finding.violation.detail = thrown.what();
  finding.bucket = bucket_of(finding.violation, {});
  return finding;
}

// What the oracle says of a run, behind what monitors found.
void ask_oracle(const model::Scenario& scenario, const Recorder& journal, JudgedRun& run) {
  if (run.result.cause == model::RunEndCause::interrupted) {
    return;
  }
  const oracle::Comparison compared = oracle::compare(scenario, journal.events, *run.result.names);
  if (const auto& difference = compared.difference) {
    run.findings.push_back(
        {oracle::violation_of(*difference), difference->clause + " " + difference->kind});
    run.found_at = compared.events + 1;
  }
}

void run_with(MonitorSet& monitors, Counter& counter, const model::Scenario& scenario,
              const Harness& harness, const RunWatch& watch, JudgedRun& run) {
  const auto policies = harness.policies(scenario.scheduler);
  if (!policies) {
    throw std::invalid_argument(model::to_string(policies.error()));
  }
  const auto between = harness.between ? harness.between(monitors) : nullptr;
  std::vector<model::Observer*> observers{between ? between.get() : &monitors, &counter};
  if (watch.watcher != nullptr) {
    observers.push_back(watch.watcher);
  }
  Recorder journal;
  const bool compares = watch.oracle && !oracle::refusal(scenario);
  if (compares) {
    observers.push_back(&journal);
  }
  sim::RunOptions options;
  options.promises = promised(scenario.scheduler, scenario.timing);
  options.audit_digest = watch.audit_digest;
  options.hash = watch.hash;
  options.memory = watch.tools != nullptr ? &watch.tools->memory : nullptr;
  options.interrupted = harness.interrupted;
  run.result = sim::run(scenario, *policies, observers, options);
  monitors.finish();
  run.findings = findings_of(monitors, scenario.names);
  if (compares) {
    ask_oracle(scenario, journal, run);
  }
}

}  // namespace

JudgedRun run_judged(const model::Scenario& scenario, const Harness& harness,
                     const RunWatch& watch) {
  JudgedRun run;
  std::optional<RunTools> own;
  MonitorSet& monitors = watch.tools != nullptr ? watch.tools->monitors : own.emplace().monitors;
  monitors.reset();
  if (watch.reached != nullptr) {
    monitors.listen(make_mark_listener(monitors.track(), scenario, *watch.reached));
  }
  Counter counter;
  try {
    run_with(monitors, counter, scenario, harness, watch, run);
    if (!monitors.violations().empty()) {
      run.found_at = monitors.find(run.findings.front().violation.property)->first_found_at;
    }
    if (watch.reached != nullptr) {
      watch.reached->faults(scenario, run.result);
    }
  } catch (const model::InternalFault& thrown) {
    run.findings = {fault(internal_fault, thrown)};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& thrown) {
    run.findings = {fault(policy_fault, thrown)};
  }
  run.tasks = counter.tasks;
  run.groups = counter.groups;
  return run;
}

namespace {

struct Journal {
  const std::vector<model::Event>& events;
  const model::NameTable& names;

  [[nodiscard]] std::string line(std::size_t i) const {
    return i < events.size() ? model::journal_line(events[i], names) : "nothing more";
  }
};

// The first event in which two runs of one scenario differ (VE-N1).
model::Violation divergence(const Journal& first, const Journal& second) {
  std::size_t i = 0;
  while (i < first.events.size() && i < second.events.size() && first.line(i) == second.line(i)) {
    ++i;
  }
  model::Violation violation;
  violation.property = not_deterministic;
  violation.t = i < first.events.size() ? first.events[i].t : 0;
  violation.detail = fmt::format("event {} was {}, and in the second run {}", i + 1, first.line(i),
                                 second.line(i));
  return violation;
}

}  // namespace

RunWatch full_watch(const Harness& harness) {
  RunWatch watch;
  watch.audit_digest = true;
  watch.oracle = harness.oracle_one_in > 0;
  return watch;
}

JudgedRun run_judged_twice(const model::Scenario& scenario, const Harness& harness,
                           RunWatch watch) {
  RH_CHECK(watch.watcher == nullptr);
  Recorder first;
  Recorder second;
  Reached* const total = watch.reached;
  Reached marks;
  Reached marks_again;
  watch.audit_digest = true;
  watch.hash = true;
  watch.watcher = &first;
  watch.reached = &marks;
  JudgedRun run = run_judged(scenario, harness, watch);
  if (total != nullptr) {
    total->merge(marks);
  }
  if (!run.findings.empty() || run.result.cause == model::RunEndCause::interrupted) {
    return run;
  }
  watch = {};
  watch.watcher = &second;
  watch.reached = &marks_again;
  const JudgedRun again = run_judged(scenario, harness, watch);
  if (!again.findings.empty()) {
    const model::Violation& other = again.findings.front().violation;
    Finding& finding = run.findings.emplace_back();
    finding.violation.property = not_deterministic;
    finding.violation.t = other.t;
    finding.violation.detail =
        fmt::format("only the second run finds {}: {}", other.property, other.detail);
    finding.bucket = "finds more";
  } else if (again.result.journal_hash != run.result.journal_hash) {
    Finding& finding = run.findings.emplace_back();
    finding.violation =
        divergence({first.events, *run.result.names}, {second.events, *again.result.names});
    finding.bucket = "diverges";
  } else if (!(marks == marks_again)) {
    Finding& finding = run.findings.emplace_back();
    finding.violation.property = not_deterministic;
    finding.violation.detail = "the second run has the same journal and reaches other marks";
    finding.bucket = "other marks";
  }
  return run;
}

JudgedRun run_seed(const model::Scenario& scenario, std::uint64_t seed, const Harness& harness,
                   RunWatch watch) {
  watch.oracle = harness.oracle_one_in > 0 && seed % harness.oracle_one_in == 0;
  watch.hash = false;
  return seed % twice_one_in == 0 ? run_judged_twice(scenario, harness, watch)
                                  : run_judged(scenario, harness, watch);
}

Judge judge_of(const Harness& harness) {
  return [&harness](const model::Scenario& scenario) {
    return run_judged(scenario, harness, full_watch(harness)).findings;
  };
}

std::string bucket_of(const model::Violation& violation, const model::NameTable& names) {
  std::string bucket;
  const std::string_view text = violation.detail;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    std::string_view word = text.substr(start, end - start);
    start = end + 1;
    const std::string_view whole = word;
    while (!word.empty() && std::string_view(",.:;()").find(word.back()) != word.npos) {
      word.remove_suffix(1);
    }
    const bool clause = whole.starts_with('(');
    const bool numbered = std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
    const bool named = word.find('/') != std::string_view::npos || names.find(word).valid();
    if (clause || (!numbered && !named)) {
      bucket += bucket.empty() ? "" : " ";
      bucket += whole;
    }
  }
  return bucket;
}

}  // namespace rehearse::properties
