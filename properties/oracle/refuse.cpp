// What the oracle does not model, by name. What is not named here is modelled.
// registry: none (a part of the oracle)
#include <algorithm>
#include <array>
#include <initializer_list>

#include "properties/oracle/oracle.hpp"

namespace rehearse::properties::oracle {

using namespace model;

namespace {

using Refusal = std::optional<std::string>;

template <class E>
Refusal other_than(std::string_view axis, E value, std::initializer_list<E> modelled) {
  if (std::ranges::find(modelled, value) != modelled.end()) {
    return std::nullopt;
  }
  return std::string(axis) + " " + std::string(name_of(value));
}

Refusal when(bool holds, const char* what) { return holds ? Refusal(what) : std::nullopt; }

Refusal of_axes(const SchedulerConfig& c) {
  const AdmissionConfig& a = c.admission;
  const bool job = c.grouping == Grouping::job;
  const bool once = a.hold == Hold::check && a.shortfall == Shortfall::rejection;
  const std::array refusals{
      other_than("grouping", c.grouping, {Grouping::component, Grouping::job}),
      other_than("admission.queue", a.queue, {QueueOrder::fifo}),
      other_than("admission.hold", a.hold, {Hold::reserve, Hold::check}),
      other_than("admission.short", a.when_short, {Short::wait, Short::fail}),
      other_than("admission.overtake", a.overtake, {Overtake::never, Overtake::backfill}),
      other_than("admission.capacity", a.capacity, {Capacity::free, Capacity::free_and_unclaimed}),
      other_than("accounting", c.accounting, {Accounting::sum, Accounting::largest_stage}),
      other_than("slots", c.slots, {SlotsAxis::exclusive}),
      other_than("placement", c.placement, {Placement::spread, Placement::nested}),
      other_than("start", c.start, {Start::eager}),
      other_than("completion", c.completion,
                 {Completion::group, Completion::after_parents, Completion::final_stage,
                  Completion::immediate}),
      other_than("failure.group", c.failure.group, {GroupFailure::fail_job}),
      when(a.queue_object || a.overtake_object || c.placement_object, "a policy of an object"),
      when((a.hold == Hold::check || a.shortfall == Shortfall::rejection) && !once,
           "admission.hold check without shortfall rejection, or the reverse"),
      when(once != (a.capacity == Capacity::free_and_unclaimed), "that admission.capacity"),
      when((c.completion == Completion::after_parents || c.completion == Completion::final_stage) &&
               !job,
           "completion after-parents or final-stage without grouping job"),
      when(c.completion == Completion::immediate && c.edges != EdgesAxis::all_regular,
           "completion immediate with groups"),
      when(c.task_end == TaskEndAxis::with_release && c.completion != Completion::after_parents,
           "task_end with-release without after-parents"),
      when(c.failure.member == MemberFailure::counted && !once && c.accounting != Accounting::sum,
           "failure.member counted with reserved slots that are shared"),
      when(c.speculation.has_value(), "speculation"),
      when(c.max_partitions_per_task.value_or(1) > 1, "max_partitions_per_task"),
      when(c.read_cap.has_value(), "read_cap"),
      when(a.depth < 64, "admission.depth"),
  };
  for (const Refusal& refusal : refusals) {
    if (refusal) {
      return refusal;
    }
  }
  return std::nullopt;
}

Refusal of_jobs(const Scenario& scenario) {
  for (const JobSpec& job : scenario.jobs) {
    for (const StageSpec& stage : job.stages) {
      if (stage.start_delay > 0) {
        return "start_delay";
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refusal(const Scenario& scenario) {
  const std::array refusals{
      other_than("timing", scenario.timing, {Timing::scripted}),
      when(scenario.ties_shuffled, "ties shuffled"),
      when(!scenario.choices.empty(), "choices"),
      when(scenario.workload.has_value(), "a workload"),
      of_axes(scenario.scheduler),
      of_jobs(scenario),
  };
  const auto found = std::ranges::find_if(refusals, [](const Refusal& r) { return r.has_value(); });
  return found == refusals.end() ? std::nullopt : *found;
}

}  // namespace rehearse::properties::oracle
