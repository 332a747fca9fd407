// registry: none (the comparison as data)
#include "reports/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/support/check.hpp"
#include "reports/numbers.hpp"

namespace rehearse::reports {
namespace {

void add(Totals& sum, const Totals& part) {
  sum.jobs += part.jobs;
  sum.requests += part.requests;
  sum.stages += part.stages;
  sum.tasks += part.tasks;
  sum.events += part.events;
  for (std::size_t use = 0; use < slot_uses; ++use) {
    sum.slot_use[use] += part.slot_use[use];
  }
  sum.slot_time += part.slot_time;
  sum.rejected += part.rejected;
  sum.failed += part.failed;
  sum.cancelled += part.cancelled;
  sum.unfinished += part.unfinished;
}

void add(Configuration& sum, const RunMetrics& run) {
  add(sum.totals, run.totals);
  sum.makespan_ns += run.makespan_ns;
  sum.work += run.work;
  sum.work_in_groups += run.work_in_groups;
  sum.pipelined_edges += run.pipelined_edges;
  sum.slots_max = std::max(sum.slots_max, run.slots_max);
  sum.gangs.admitted += run.gangs.admitted;
  sum.gangs.waited += run.gangs.waited;
  sum.gangs.wait_ns_max = std::max(sum.gangs.wait_ns_max, run.gangs.wait_ns_max);
  sum.gangs.wait_ns_sum += run.gangs.wait_ns_sum;
}

// Dists are over requests that succeeded: others have no latency, and a number over another set
// beside it would be read as one over the same.
void measure(Configuration& configuration) {
  std::vector<const RequestMetrics*> rows;
  for (const RequestMetrics& request : configuration.requests) {
    rows.push_back(&request);
    configuration.rejected += request.outcome == Outcome::rejected ? 1 : 0;
    configuration.failed += request.outcome == Outcome::failed ? 1 : 0;
    configuration.cancelled += request.outcome == Outcome::cancelled ? 1 : 0;
    configuration.unfinished += request.outcome == Outcome::unfinished ? 1 : 0;
  }
  RequestDists dists = request_distributions(rows, configuration.unfinished);
  configuration.latency = dists.latency;
  configuration.queued = dists.queued;
  if (dists.first_row.n > 0) {
    configuration.first_row = dists.first_row;
  }
}

// "logs/q72.zstd" -> "q72.zstd": what names an input in a table.
std::string short_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Configuration gather(ConfigurationRuns&& given, const std::vector<Input>& inputs) {
  RH_CHECK(!given.runs.empty());
  Configuration result;
  result.name = std::move(given.name);
  result.cluster = std::move(given.cluster);
  result.journal_hash = given.journal_hash;
  result.violations = std::move(given.violations);
  for (std::size_t i = 0; i < given.runs.size(); ++i) {
    const RunMetrics& run = given.runs[i];
    add(result, run);
    for (RequestMetrics request : run.requests) {
      if (given.runs.size() > 1) {
        const std::string input =
            i < inputs.size() ? short_name(inputs[i].path) : fmt::format("{}", i + 1);
        request.name = fmt::format("{}: {}", input, request.name);
      }
      result.requests.push_back(std::move(request));
    }
  }
  result.runs = std::move(given.runs);
  measure(result);
  return result;
}

void add_tables(std::vector<DistTable>& tables, const std::vector<RequestDists>& dists,
                const std::string& over, bool change) {
  const std::pair<std::string_view, Dist RequestDists::*> kinds[] = {
      {"latency", &RequestDists::latency},
      {"queued", &RequestDists::queued},
      {"first row", &RequestDists::first_row}};
  for (const auto& [name, member] : kinds) {
    DistTable table;
    table.title = fmt::format("{}, {}", name, over);
    table.change = change;
    std::int64_t n = 0;
    for (const RequestDists& each : dists) {
      table.rows.push_back(each.*member);
      n += table.rows.back().n;
    }
    if (n > 0) {
      tables.push_back(std::move(table));
    }
  }
}

}  // namespace

std::vector<DistTable> dist_tables(const Comparison& comparison) {
  std::vector<DistTable> tables;
  if (comparison.configurations.size() == 2) {
    const Paired& paired = comparison.paired.front();
    add_tables(
        tables, {paired.base, paired.other},
        fmt::format("{} that succeed{} in both", plural(std::ssize(paired.requests), "request"),
                    paired.requests.size() == 1 ? "s" : ""),
        true);
    if (paired.same_set) {
      return tables;
    }
  }
  std::vector<RequestDists> dists;
  dists.reserve(comparison.configurations.size());
  for (const Configuration& configuration : comparison.configurations) {
    dists.push_back({.latency = configuration.latency,
                     .queued = configuration.queued,
                     .first_row = configuration.first_row.value_or(Dist{})});
  }
  add_tables(tables, dists, "all that succeed under each", false);
  return tables;
}

std::string Finding::text() const {
  std::string all = headline;
  for (const std::string& detail : details) {
    all += ' ';
    all += detail;
  }
  return all;
}

Comparison compare(std::vector<ConfigurationRuns> configurations, const std::vector<Input>& inputs,
                   const CompareOptions& options) {
  RH_CHECK(!configurations.empty());
  Comparison result;
  result.min_effect_ppm = options.min_effect_ppm;
  result.assumptions = options.assumptions;
  result.warnings = options.warnings;
  for (ConfigurationRuns& runs : configurations) {
    RH_CHECK(result.configurations.empty() ||
             runs.runs.size() == result.configurations.front().runs.size());
    result.configurations.push_back(gather(std::move(runs), inputs));
  }
  const Configuration& base = result.configurations.front();
  result.baseline = base.name;
  for (std::size_t i = 1; i < result.configurations.size(); ++i) {
    const Configuration& other = result.configurations[i];
    result.paired.push_back(
        pair_requests(other.name, base.requests, other.requests, options.min_effect_ppm));
  }
  if (std::ranges::any_of(result.configurations, [](const Configuration& configuration) {
        return configuration.totals.slot_time != saturated(configuration.totals.slot_time);
      })) {
    result.warnings.emplace_back(
        "slot time is beyond 64 bits of nanoseconds: the JSON results hold the greatest integer "
        "instead; shares are exact");
  }
  for (const FailRule& rule : options.fail_if) {
    result.fail_if.push_back(judge(rule, result.configurations, result.paired));
  }
  result.finding = find(result, inputs);
  return result;
}

}  // namespace rehearse::reports
