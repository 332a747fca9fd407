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
    {"slots", {"exclusive", "shared"}, 2},
    {"start", {"eager", "phased"}, 2},
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
  if (config.slots != SlotsAxis::exclusive) {
    return beside("slots", name_of(config.slots), "built is: exclusive");
  }
  return std::nullopt;
}

// W6: a lazy task starts at the first read of its output. Under scripted and coupled timing tasks
// take their durations whatever their inputs do (W8), so nothing is ever read. Phases are an order
// of launches where members are launched one by one.
std::optional<Error> unsupported_start(const SchedulerConfig& config) {
  if (config.start == Start::lazy) {
    return not_built(axis_pointer("start"),
                     "start lazy, which needs a timing in which outputs are read (W6),",
                     "built are: eager, phased");
  }
  if (config.start == Start::phased && config.admission.hold != Hold::none) {
    return not_built(
        axis_pointer("start"),
        fmt::format("start phased beside admission.hold {}", name_of(config.admission.hold)),
        "built is admission.hold none, or start eager");
  }
  return std::nullopt;
}

// What a group shares under A10 is its slots; who would share them with whom besides nobody says.
// And amounts times the factor must stay countable.
std::optional<Error> unsupported_sharing(const SchedulerConfig& config) {
  constexpr std::int64_t factor_max = 1000;
  if (config.slots != SlotsAxis::shared) {
    return std::nullopt;
  }
  if (config.accounting != Accounting::sum) {
    return not_built(axis_pointer("slots"),
                     fmt::format("slots shared beside accounting {}", name_of(config.accounting)),
                     "built is accounting sum, or slots exclusive");
  }
  if (config.slots_factor > factor_max) {
    return not_built(axis_pointer("slots"),
                     fmt::format("slots shared[factor={}]", config.slots_factor),
                     fmt::format("built are 0, which is no bound, to {}", factor_max));
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
  if (std::optional<Error> error = unsupported_start(config)) {
    return error;
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
  if (std::optional<Error> error = unsupported_sharing(config)) {
    return error;
  }
  return unsupported_slices(config);
}

}  // namespace

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
  return unsupported_axes(scenario);
}

}  // namespace rehearse::model
