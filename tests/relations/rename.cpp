// A new name is the old one behind a mark with its rank: R007Rmap. So it sorts by the rank, and a
// text that contains it, "R007Rmap" as well as "R001Rq#2/R007Rmap", loses the marks to read as
// before. To sort behind `default`, which stays, a mark is z007z.
#include "tests/relations/rename.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <variant>
#include <vector>

namespace rehearse::testing {

using model::NameId;
using model::Scenario;

namespace {

constexpr std::string_view marks = "Rz";
constexpr std::size_t digits = 3;
constexpr std::size_t mark_size = digits + 2;

void for_names(model::ExecutorSpec& executor, const auto& change) {
  change(executor.name);
  change(executor.host);
  change(executor.rack);
}

void for_names(model::Cluster& cluster, const auto& change) {
  std::ranges::for_each(cluster.resources, change);
  for (model::Profile& profile : cluster.profiles) {
    change(profile.name);
  }
  for (model::ExecutorSpec& executor : cluster.executors) {
    for_names(executor, change);
  }
  if (cluster.autoscale) {
    for_names(cluster.autoscale->executor, change);
  }
}

void for_names(model::JobSpec& job, const auto& change) {
  change(job.name);
  change(job.pool);
  for (model::AfterSpec& after : job.after) {
    change(after.job);
  }
  for (model::StageSpec& stage : job.stages) {
    change(stage.name);
    for (std::vector<NameId>& places : stage.prefers) {
      std::ranges::for_each(places, change);
    }
  }
  for (model::EdgeSpec& edge : job.edges) {
    change(edge.from_job);
    change(edge.from_stage);
    change(edge.reuse_job);
    change(edge.reuse_stage);
  }
}

void for_names(model::FaultPlan& plan, const auto& change) {
  for (model::TimedFault& fault : plan.timed) {
    change(fault.match_job);
    change(fault.match_stage_job);
    change(fault.match_stage);
    change(fault.match_executor);
    if (auto* lose = std::get_if<model::LoseExecutor>(&fault.action)) {
      change(lose->executor);
    } else if (auto* add = std::get_if<model::AddExecutor>(&fault.action)) {
      for_names(add->executor, change);
    } else if (auto* hold = std::get_if<model::HoldExecutors>(&fault.action)) {
      std::ranges::for_each(hold->executors, change);
    } else {
      change(std::get<model::CancelJob>(fault.action).job);
    }
  }
  for (model::TaskFault& fault : plan.tasks) {
    change(fault.job);
    change(fault.stage);
    change(fault.fetch_from_job);
    change(fault.fetch_from);
  }
}

void for_names(Scenario& scenario, const auto& change) {
  for_names(scenario.cluster, change);
  for (model::PoolConfig& pool : scenario.scheduler.pools) {
    change(pool.name);
  }
  for (model::JobSpec& job : scenario.jobs) {
    for_names(job, change);
  }
  for_names(scenario.faults, change);
}

bool is_kept(std::string_view text) {
  return text.empty() || text == "default" || text.starts_with("auto") ||
         text.starts_with("h-auto");
}

// The part of a name that somebody has given: "q" of "q#2", of "q1" and of "q1#2" if job q is
// repeated.
std::string_view given_part(const Scenario& scenario, std::string_view text) {
  const std::string_view name = text.substr(0, text.find('#'));
  std::size_t end = name.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0) {
    --end;
  }
  const NameId stem = scenario.names.find(name.substr(0, end));
  const bool copy = std::ranges::any_of(scenario.jobs, [stem](const model::JobSpec& job) {
    return stem.valid() && job.name == stem && job.repeat_count > 1;
  });
  return copy ? name.substr(0, end) : name;
}

}  // namespace

Scenario with_other_names(const Scenario& scenario, NameOrder order) {
  std::set<std::string> given;
  for (std::uint32_t i = 0; i < scenario.names.size(); ++i) {
    given.emplace(given_part(scenario, scenario.names.text(NameId{i})));
  }
  std::map<std::string, std::string> marked;
  std::size_t rank = order == NameOrder::kept ? 0 : given.size();
  for (const std::string& name : given) {
    const char mark = marks[order == NameOrder::kept && name > "default" ? 1 : 0];
    marked[name] =
        is_kept(name) ? name : fmt::format("{0}{1:0{2}}{0}{3}", mark, rank, digits, name);
    rank = order == NameOrder::kept ? rank + 1 : rank - 1;
  }
  Scenario changed = scenario;
  changed.expect.clear();
  changed.names = model::NameTable{};
  std::vector<NameId> new_id(scenario.names.size());
  for (std::uint32_t i = static_cast<std::uint32_t>(new_id.size()); i-- > 0;) {
    const std::string_view text = scenario.names.text(NameId{i});
    const std::string_view part = given_part(scenario, text);
    new_id[i] =
        changed.names.intern(marked.at(std::string(part)) + std::string(text.substr(part.size())));
  }
  for_names(changed,
            [&new_id](NameId& name) { name = name.valid() ? new_id[name.index()] : name; });
  return changed;
}

std::string old_names(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i, mark_size);
    const bool is_mark =
        rest.size() == mark_size && marks.contains(rest.front()) && rest.back() == rest.front() &&
        std::ranges::all_of(rest.substr(1, digits), [](char c) { return c >= '0' && c <= '9'; });
    if (is_mark) {
      i += mark_size;
    } else {
      plain += text[i++];
    }
  }
  return plain;
}

}  // namespace rehearse::testing
