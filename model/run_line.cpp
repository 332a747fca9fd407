// What of the line only the scenario knows; see the header.
#include "model/run_line.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "model/axes.hpp"
#include "model/scheduler_config.hpp"
#include "model/stage_graph.hpp"

namespace rehearse::model {

RunStart run_line(const Scenario& scenario, std::string_view version, NameTable& names) {
  RunStart line;
  line.version = names.intern(version);
  line.format = 1;
  line.seed = static_cast<std::int64_t>(scenario.seed);
  line.timing = scenario.timing;
  line.dialect = names.intern(name_of(scenario.scheduler.dialect));
  const auto axes = resolved_axes(scenario.scheduler, scenario.names);
  line.axes.reserve(axes.size());
  for (const auto& [axis, value] : axes) {
    line.axes.push_back({names.intern(axis), names.intern(value)});
  }
  for (const Profile& profile : scenario.cluster.profiles) {
    ProfileAmounts amounts{profile.name, {}};
    for (std::size_t r = 0; r < profile.task.size(); ++r) {
      if (profile.task[r] != 0) {
        amounts.task.push_back({scenario.cluster.resources[r], profile.task[r]});
      }
    }
    line.profiles.push_back(std::move(amounts));
  }
  return line;
}

std::vector<KeyValue> rejection_facts(const Scenario& scenario, NameTable& names) {
  std::vector<KeyValue> facts;
  if (scenario.cluster.autoscale) {
    facts.push_back({names.intern("autoscale"), names.intern("on")});
  }
  const auto once = [&](NameId job) {
    const auto at = std::ranges::find(scenario.jobs, job, &JobSpec::name);
    return at != scenario.jobs.end() && at->repeat_count == 1;
  };
  const auto asks = [&](const EdgeSpec& edge) {
    return edge.reuse_job.valid() &&
           effective_kind(edge, scenario.scheduler.edges) == EdgeKind::pipelined;
  };
  for (const JobSpec& job : scenario.jobs) {
    const bool told =
        job.repeat_count == 1 && std::ranges::all_of(job.edges, [&](const auto& edge) {
          return !asks(edge) || once(edge.reuse_job);
        });
    for (std::size_t e = 0; told && e < job.edges.size(); ++e) {
      const EdgeSpec& edge = job.edges[e];
      if (!asks(edge)) {
        continue;
      }
      std::string text(scenario.names.text(job.name));
      for (const NameId part :
           {job.stages[edge.from.index()].name, edge.reuse_job, edge.reuse_stage}) {
        text += "/";
        text += scenario.names.text(part);
      }
      facts.push_back({names.intern("reuse"), names.intern(text)});
    }
  }
  return facts;
}

}  // namespace rehearse::model
