// The table of built axis values, and the rules that depend on the jobs. A feature that becomes
// built leaves this file; nothing else has to know.
#include "model/config_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include "model/axes.hpp"

namespace rehearse::model {

namespace {

struct BuiltAxis {
  std::string_view axis;
  std::array<std::string_view, 6> values;
  std::size_t count;
};

constexpr std::array built_axes = std::to_array<BuiltAxis>({
    {"grouping", {"component", "region", "job", "stage", "bubble"}, 5},
    {"admission.queue", {"fifo", "fair", "priority", "smallest-first", "unordered"}, 5},
    {"admission.hold", {"reserve", "check", "bulk", "none"}, 4},
    {"accounting", {"sum", "largest-stage", "whole-executor"}, 3},
    {"slots", {"exclusive"}, 1},
    {"start", {"eager"}, 1},
    {"offers", {"push", "pull"}, 2},
    {"read_cap", {"none"}, 1},
});

Error not_built(std::string field, const std::string& what, std::string remedy) {
  return {
      .what = what + " is not built yet", .field = std::move(field), .remedy = std::move(remedy)};
}

std::string axis_pointer(std::string_view axis) {
  std::string pointer = "/scheduler/" + std::string(axis);
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return pointer;
}

// The kind of an edge after the axis `edges`; a stage of another job is always read regularly.
bool is_pipelined(const SchedulerConfig& config, const EdgeSpec& edge) {
  if (!edge.from.valid() || config.edges == EdgesAxis::all_regular) {
    return false;
  }
  return config.edges == EdgesAxis::all_pipelined || edge.kind == EdgeKind::pipelined;
}

// By stage: has it a pipelined edge?
std::vector<bool> group_members(const SchedulerConfig& config, const JobSpec& job) {
  std::vector<bool> member(job.stages.size());
  for (const EdgeSpec& edge : job.edges) {
    if (is_pipelined(config, edge)) {
      member[edge.from.index()] = true;
      for (const StageIndex to : edge.to) {
        member[to.index()] = true;
      }
    }
  }
  return member;
}

bool rejects(const SchedulerConfig& config, Code code) {
  return std::find(config.reject.begin(), config.reject.end(), code) != config.reject.end();
}

// What is shared is a reservation made at admission for tasks that start there and then; with axes
// that make none, or that start tasks of a group later, semantics.md does not say what is shared.
std::optional<Error> unsupported_accounting(const SchedulerConfig& config) {
  if (config.accounting == Accounting::sum) {
    return std::nullopt;
  }
  const std::string accounting = fmt::format("accounting {}", name_of(config.accounting));
  const auto beside = [&accounting](std::string_view axis, std::string_view value,
                                    std::string remedy) {
    return not_built(axis_pointer("accounting"),
                     fmt::format("{} beside {} {}", accounting, axis, value), std::move(remedy));
  };
  const bool whole = config.accounting == Accounting::whole_executor;
  const bool piecewise = config.admission.hold == Hold::bulk && !whole;
  if (config.admission.hold != Hold::reserve && !piecewise) {
    return beside("admission.hold", name_of(config.admission.hold),
                  whole ? "built is: reserve" : "built are: reserve, bulk");
  }
  if (config.admission.shortfall == Shortfall::rejection) {
    return beside("admission.shortfall", "rejection", "built is: failure");
  }
  if (config.failure.member == MemberFailure::counted) {
    return beside("failure.member", "counted", "built is: any");
  }
  if (config.task_end == TaskEndAxis::with_release) {
    return beside("task_end", "with-release", "built is: at-once");
  }
  if (config.admission.overtake_object) {
    return beside("admission.overtake", "of a shared object", "built are: never, backfill, aging");
  }
  if (whole && config.admission.overtake == Overtake::easy) {
    return beside("admission.overtake", "easy", "built are: never, backfill, aging");
  }
  return std::nullopt;
}

// A bulk request says itself what happens while not all of it is there: what is free is held, until
// the timeout. Counts of what is expected to come free (A17) know nothing of slots that are held.
std::optional<Error> unsupported_bulk(const SchedulerConfig& config) {
  const AdmissionConfig& admission = config.admission;
  if (admission.hold != Hold::bulk) {
    return std::nullopt;
  }
  const auto beside = [](std::string_view axis, std::string_view value, std::string remedy) {
    return not_built(axis_pointer("admission.hold"),
                     fmt::format("admission.hold bulk beside {} {}", axis, value),
                     std::move(remedy));
  };
  if (admission.when_short != Short::wait) {
    return beside("admission.short", name_of(admission.when_short), "built is: wait");
  }
  if (admission.shortfall == Shortfall::rejection) {
    return beside("admission.shortfall", "rejection", "built is: failure");
  }
  if (admission.overtake_object || admission.overtake == Overtake::easy) {
    return beside("admission.overtake", admission.overtake_object ? "of a shared object" : "easy",
                  "built are: never, backfill, aging");
  }
  return std::nullopt;
}

// A copy is of one partition, a slice of several: what a copy of a slice would be nobody says.
std::optional<Error> unsupported_slices(const SchedulerConfig& config) {
  if (!config.speculation || config.max_partitions_per_task.value_or(1) == 1) {
    return std::nullopt;
  }
  return not_built(axis_pointer("max_partitions_per_task"),
                   "max_partitions_per_task above 1 beside speculation",
                   "built are: none and 1, or speculation off");
}

std::optional<Error> unsupported_axes(const Scenario& scenario) {
  const SchedulerConfig& config = scenario.scheduler;
  if (!is_built(config.dialect)) {
    return not_built(axis_pointer("dialect"),
                     fmt::format("dialect \"{}\"", name_of(config.dialect)),
                     "built are: sequential, psd, spark, prototype, barrier, ballista, "
                     "ballista-pipelined, flink-region");
  }
  for (const BuiltAxis& row : built_axes) {
    const AxisText value = get_axis(config, scenario.names, row.axis);
    const auto last = row.values.begin() + static_cast<std::ptrdiff_t>(row.count);
    const bool object = row.axis == "admission.queue" && config.admission.queue_object;
    if (!object && std::find(row.values.begin(), last, value.value) == last) {
      return not_built(axis_pointer(row.axis), fmt::format("{} {}", row.axis, to_string(value)),
                       fmt::format("built are: {}", fmt::join(row.values.begin(), last, ", ")));
    }
  }
  if (std::optional<Error> error = unsupported_accounting(config)) {
    return error;
  }
  if (std::optional<Error> error = unsupported_bulk(config)) {
    return error;
  }
  return unsupported_slices(config);
}

// Rejected jobs never reach the missing feature; `autoscale` is a setting beside a job that this
// dialect may reject.
std::optional<Error> unsupported_job(const Scenario& scenario, std::size_t index) {
  const SchedulerConfig& config = scenario.scheduler;
  const JobSpec& job = scenario.jobs[index];
  const std::vector<bool> member = group_members(config, job);
  const bool grouped = std::find(member.begin(), member.end(), true) != member.end();
  const std::string_view name = scenario.names.text(job.name);
  if (scenario.cluster.autoscale && !(grouped && rejects(config, Code::dynamic_allocation))) {
    return not_built("/cluster/autoscale",
                     fmt::format("autoscaling for a job that is not rejected (\"{}\")", name),
                     "leave it out");
  }
  return std::nullopt;
}

}  // namespace

bool is_built(Dialect dialect) {
  return dialect == Dialect::sequential || dialect == Dialect::psd || dialect == Dialect::spark ||
         dialect == Dialect::prototype || dialect == Dialect::barrier ||
         dialect == Dialect::ballista || dialect == Dialect::ballista_pipelined ||
         dialect == Dialect::flink_region;
}

std::span<const std::string_view> built_values(std::string_view axis) {
  for (const BuiltAxis& row : built_axes) {
    if (row.axis == axis) {
      return {row.values.data(), row.count};
    }
  }
  return {};
}

std::optional<Error> unsupported(const Scenario& scenario) {
  if (scenario.timing != Timing::scripted && scenario.timing != Timing::coupled) {
    return not_built("/timing", fmt::format("timing \"{}\"", name_of(scenario.timing)),
                     "built are: scripted, coupled");
  }
  if (std::optional<Error> error = unsupported_axes(scenario)) {
    return error;
  }
  for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
    if (std::optional<Error> error = unsupported_job(scenario, i)) {
      return error;
    }
  }
  return std::nullopt;
}

}  // namespace rehearse::model
