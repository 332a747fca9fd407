// One rule per code; each returns the reason it found, or nothing.
#include "model/validate.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "model/support/check.hpp"

namespace rehearse::model {

namespace {

struct Rule {
  const JobSpec& job;
  const StageGraph& graph;
  const SchedulerConfig& config;
  const ValidationContext& context;

  [[nodiscard]] std::string stage_name(std::uint32_t stage) const {
    return std::string(context.names->text(job.stages[stage].name));
  }
  [[nodiscard]] bool is_member(std::uint32_t stage) const {
    return graph.group_members.row(graph.group_of[stage]).size() > 1;
  }
  [[nodiscard]] bool pipelined(const EdgeSpec& edge) const {
    return effective_kind(edge, config.edges) == EdgeKind::pipelined;
  }
  [[nodiscard]] bool has_pipelined() const { return !graph.pipelined_children.values().empty(); }
  [[nodiscard]] std::string edge_name(const EdgeSpec& edge) const {
    const std::string from = edge.from.valid()
                                 ? stage_name(edge.from.value)
                                 : std::string(context.names->text(edge.from_job)) + "/" +
                                       std::string(context.names->text(edge.from_stage));
    return from + " -> " + stage_name(edge.to.front().value);
  }
};

using Found = std::optional<std::string>;

// First member stage for which `holds` is true.
Found member_where(const Rule& rule, const std::function<bool(const StageSpec&)>& holds,
                   const char* why) {
  for (std::uint32_t i = 0; i < rule.job.stages.size(); ++i) {
    if (rule.is_member(i) && holds(rule.job.stages[i])) {
      return "stage " + rule.stage_name(i) + " " + why;
    }
  }
  return std::nullopt;
}

Found pipelined_edge_where(const Rule& rule, const std::function<bool(const EdgeSpec&)>& holds,
                           const char* why) {
  for (const EdgeSpec& edge : rule.job.edges) {
    if (rule.pipelined(edge) && holds(edge)) {
      return "edge " + rule.edge_name(edge) + " " + why;
    }
  }
  return std::nullopt;
}

Found dag_cycle(const Rule& rule) {
  if (rule.graph.cycle.empty()) {
    return std::nullopt;
  }
  std::string text = "stages form a cycle:";
  for (const std::uint32_t stage : rule.graph.cycle) {
    text += " " + rule.stage_name(stage) + " ->";
  }
  return text + " " + rule.stage_name(rule.graph.cycle.front());
}

Found group_cycle(const Rule& rule) {
  if (rule.graph.group_cycle.empty()) {
    return std::nullopt;
  }
  const auto group_name = [&rule](std::uint32_t group) {
    std::string text = "{";
    for (const std::uint32_t stage : rule.graph.group_members.row(group)) {
      text += (text.size() > 1 ? " " : "") + rule.stage_name(stage);
    }
    return text + "}";
  };
  std::string text = "groups form a cycle over regular edges:";
  for (const std::uint32_t group : rule.graph.group_cycle) {
    text += " " + group_name(group) + " ->";
  }
  return text + " " + group_name(rule.graph.group_cycle.front());
}

Found regular_inside_group(const Rule& rule) {
  for (const EdgeSpec& edge : rule.job.edges) {
    if (!edge.from.valid() || rule.pipelined(edge)) {
      continue;
    }
    for (const StageIndex to : edge.to) {
      if (rule.graph.group_of[edge.from.index()] == rule.graph.group_of[to.index()]) {
        return "regular edge " + rule.stage_name(edge.from.value) + " -> " +
               rule.stage_name(to.value) + " has both ends in one group";
      }
    }
  }
  return std::nullopt;
}

// F7: written on an edge from another job's stage, `pipelined` can never be served.
Found shared_producer(const Rule& rule) {
  if (rule.config.edges == EdgesAxis::all_regular) {
    return std::nullopt;
  }
  for (const EdgeSpec& edge : rule.job.edges) {
    if (edge.from_job.valid() && edge.kind == EdgeKind::pipelined) {
      return "edge " + rule.edge_name(edge) + " is pipelined and its producer is another job's";
    }
  }
  return std::nullopt;
}

// Groups of these groupings hold regular edges by design: F11 speaks of them, not F5.
bool starts_whole(const Rule& rule) {
  return rule.config.grouping == Grouping::job || rule.config.grouping == Grouping::region;
}

// F11: whole jobs and regions start together, so a regular edge inside cannot be waited for.
Found mixed_job(const Rule& rule) {
  if (rule.config.mixed == Mixed::allowed || !starts_whole(rule)) {
    return std::nullopt;
  }
  if (Found edge = regular_inside_group(rule)) {
    return "mixed: " + *edge;
  }
  return std::nullopt;
}

Found fan_out(const Rule& rule) {
  return pipelined_edge_where(
      rule, [](const EdgeSpec& edge) { return edge.to.size() > 1; }, "has several consumers");
}

Found profile_conflict(const Rule& rule) {
  for (std::size_t group = 0; group < rule.graph.group_members.size(); ++group) {
    const auto members = rule.graph.group_members.row(group);
    if (members.size() < 2) {
      continue;
    }
    const ProfileId first = rule.job.stages[members.front()].profile;
    for (const std::uint32_t stage : members) {
      const ProfileId profile = rule.job.stages[stage].profile;
      const bool conflict = rule.config.profiles == ProfilesAxis::default_only
                                ? profile != ProfileId{0U}
                                : rule.config.profiles == ProfilesAxis::single && profile != first;
      if (conflict) {
        return "stage " + rule.stage_name(stage) + " has a profile its group may not have";
      }
    }
  }
  return std::nullopt;
}

// Also a job that ends in a pipelined shuffle's producer cannot occur here: such a stage has a
// consumer in the job, so it is no sink.
Found adaptive_exchange(const Rule& rule) {
  return pipelined_edge_where(
      rule, [](const EdgeSpec& edge) { return edge.adaptive; }, "is an adaptive exchange");
}

Found non_idempotent_commit(const Rule& rule) {
  if (rule.config.output_commit != OutputCommit::immediate) {
    return std::nullopt;
  }
  return member_where(
      rule, [](const StageSpec& stage) { return stage.commits == Commits::once; },
      "commits once and its group commits outputs at task end");
}

Found dynamic_allocation(const Rule& rule) {
  if (!rule.context.autoscaling) {
    return std::nullopt;
  }
  if (rule.has_pipelined()) {
    return "a pipelined group beside an autoscaled cluster";
  }
  for (std::uint32_t i = 0; i < rule.job.stages.size(); ++i) {
    if (rule.job.stages[i].barrier) {
      return "barrier stage " + rule.stage_name(i) + " beside an autoscaled cluster";
    }
  }
  return std::nullopt;
}

Found when(bool holds, const char* why) { return holds ? Found{why} : Found{}; }

Found indeterminate_producer(const Rule& rule) {
  for (std::uint32_t i = 0; i < rule.job.stages.size(); ++i) {
    if (rule.job.stages[i].indeterminate && !rule.graph.pipelined_children.row(i).empty()) {
      return "stage " + rule.stage_name(i) + " is indeterminate and feeds a pipelined shuffle";
    }
  }
  return std::nullopt;
}

Found apply(Code code, const Rule& rule) {
  switch (code) {
    case Code::dag_cycle:
      return dag_cycle(rule);
    case Code::group_cycle:
      return group_cycle(rule);
    case Code::regular_inside_group:
      return starts_whole(rule) ? std::nullopt : regular_inside_group(rule);
    case Code::mixed_job:
      return mixed_job(rule);
    case Code::shared_producer:
      return shared_producer(rule);
    case Code::fan_out:
      return fan_out(rule);
    case Code::profile_conflict:
      return profile_conflict(rule);
    case Code::barrier_member:
      return member_where(
          rule, [](const StageSpec& stage) { return stage.barrier; }, "is a barrier stage");
    case Code::dynamic_allocation:
      return dynamic_allocation(rule);
    case Code::speculation:
      return when(rule.config.speculation.has_value() && rule.has_pipelined(),
                  "a pipelined group beside speculation");
    case Code::push_merge:
      return pipelined_edge_where(
          rule, [](const EdgeSpec& edge) { return edge.push_merge; }, "uses push-merge");
    case Code::indeterminate_producer:
      return indeterminate_producer(rule);
    case Code::checksum_retry:
      return pipelined_edge_where(
          rule, [](const EdgeSpec& edge) { return edge.checksum_retry; },
          "retries on a checksum mismatch");
    case Code::cached_member:
      return member_where(rule, [](const StageSpec& stage) { return stage.cached; }, "is cached");
    case Code::checkpointed_member:
      return member_where(
          rule, [](const StageSpec& stage) { return stage.checkpoint == Checkpoint::reliable; },
          "has a reliable checkpoint");
    case Code::adaptive_exchange:
      return adaptive_exchange(rule);
    case Code::non_idempotent_commit:
      return non_idempotent_commit(rule);
    case Code::pull_scheduling:
      return when(rule.config.offers == Offers::pull && rule.has_pipelined(),
                  "pipelined edges under pull scheduling");
    default:
      return std::nullopt;  // of the core, or of groupings that component does not form
  }
}

}  // namespace

bool rejects(const SchedulerConfig& config, Code code) {
  return std::ranges::find(config.reject, code) != config.reject.end();
}

std::vector<Rejection> validate(const JobSpec& job, const StageGraph& graph,
                                const SchedulerConfig& config, const ValidationContext& context) {
  RH_CHECK(context.names != nullptr);
  RH_CHECK(graph.group_of.size() == job.stages.size());
  const Rule rule{job, graph, config, context};
  std::vector<Rejection> found;
  for (const Code code : config.reject) {
    if (Found why = apply(code, rule)) {
      found.push_back({code, std::move(*why)});
    }
  }
  return found;
}

}  // namespace rehearse::model
