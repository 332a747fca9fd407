// R1 and R6: names, and the order of what no clause orders.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/relations/order.hpp"
#include "tests/relations/relations.hpp"
#include "tests/relations/rename.hpp"

namespace rehearse::testing {

namespace {

bool is_fixed(const model::Distribution& distribution) {
  return distribution.kind == model::DistributionKind::fixed;
}

// Are times drawn? Draws go by names.
bool draws_times(const model::Scenario& scenario) {
  const model::Overheads& overheads = scenario.cluster.overheads;
  const auto drawn = [](const model::StageSpec& stage) {
    const auto* distribution = std::get_if<model::Distribution>(&stage.duration);
    return distribution != nullptr && !is_fixed(*distribution);
  };
  const auto any_drawn = [&drawn](const model::JobSpec& job) {
    return std::ranges::any_of(job.stages, drawn);
  };
  const bool delays = is_fixed(overheads.launch) && is_fixed(overheads.status) &&
                      is_fixed(overheads.kill) && is_fixed(overheads.loss_detection);
  const auto& autoscale = scenario.cluster.autoscale;
  return !delays || std::ranges::any_of(scenario.jobs, any_drawn) ||
         (autoscale && !is_fixed(autoscale->startup));
}

bool all_differ(std::vector<model::Instant> instants) {
  std::ranges::sort(instants);
  return std::ranges::adjacent_find(instants) == instants.end();
}

// The lines of an instant in the order of their texts. Which member of a group is the last, and has
// no member_finished therefore (C10), is a matter of order.
Journal sorted_by_instant(Journal journal) {
  std::erase_if(journal, [](const JournalLine& line) { return line.event == "member_finished"; });
  std::ranges::sort(journal);
  return journal;
}

std::size_t tasks_of_line(const JournalLine& line) {
  return line.event == "task_end" && line.text.contains("\"status\":\"success\"") ? 1 : 0;
}

// May this line follow from successes alone, with those of an instant in any order?
bool follows_from_successes(const JournalLine& line) {
  static const std::set<std::string> of_others{
      "executor_added", "executor_lost",   "executor_held",    "executor_released",
      "job_submitted",  "job_rejected",    "job_started",      "group_failed",
      "group_formed",   "group_cancelled", "output_discarded", "outputs_lost"};
  if (of_others.contains(line.event)) {
    return false;
  }
  const auto has = [&line](std::string_view text) { return line.text.contains(text); };
  if (has("\"attempt\":") && !has("\"attempt\":0,")) {
    return false;  // of two attempts of a stage one may do what the other has done
  }
  if (line.event == "task_end") {
    return tasks_of_line(line) == 1 && !has("\"counted\":false");
  }
  if (line.event == "job_end") {
    return has("\"outcome\":\"succeeded\"");
  }
  return line.event != "stage_completed" || has("\"status\":\"success\"");
}

// The instants at which several tasks succeed and nothing else comes from outside.
std::vector<model::Instant> instants_of_successes(const Journal& journal) {
  std::vector<model::Instant> instants;
  for (std::size_t from = 0; from < journal.size();) {
    std::size_t end = from;
    std::size_t successes = 0;
    bool only = true;
    for (; end < journal.size() && journal[end].at == journal[from].at; ++end) {
      successes += tasks_of_line(journal[end]);
      only = only && follows_from_successes(journal[end]);
    }
    if (only && successes > 1) {
      instants.push_back(journal[from].at);
    }
    from = end;
  }
  return instants;
}

}  // namespace

// R1: names say who is who, and nothing else; ties go by number. Only Spark's comparator of pools
// compares texts, so there the new names sort as the old ones.
Verdict renamed(const model::Scenario& scenario, const Journal& journal) {
  using enum model::Placement;
  const model::SchedulerConfig& config = scenario.scheduler;
  if (config.placement == consistent_hash || config.placement == random || draws_times(scenario)) {
    return {};
  }
  const bool by_text = config.admission.fair_ties_text;
  Journal changed =
      run_of(with_other_names(scenario, by_text ? NameOrder::kept : NameOrder::reversed));
  for (JournalLine& line : changed) {
    line.job = old_names(line.job);
    line.text = old_names(line.text);
  }
  return {true, first_difference(journal, changed)};
}

// R6: the place of a job in the file orders jobs of one instant only.
Verdict jobs_in_another_order(const model::Scenario& scenario, const Journal& journal) {
  std::vector<model::Instant> submissions;
  for (const JournalLine& line : journal) {
    if (line.event == "job_submitted") {
      submissions.push_back(line.at);
    }
  }
  if (scenario.jobs.size() < 2 || !all_differ(submissions) ||
      scenario.scheduler.admission.queue == model::QueueOrder::unordered) {
    return {};
  }
  return {true, first_difference(journal, run_of(with_jobs_reversed(scenario)))};
}

// R6: so does that of a fault.
Verdict faults_in_another_order(const model::Scenario& scenario, const Journal& journal) {
  std::vector<model::Instant> instants;
  for (const model::TimedFault& fault : scenario.faults.timed) {
    if (fault.at) {
      instants.push_back(*fault.at);
    }
  }
  const model::Scenario changed = with_faults_reordered(scenario);
  if (!all_differ(instants) || changed.faults == scenario.faults) {
    return {};
  }
  return {true, first_difference(journal, run_of(changed))};
}

// R6: executors are numbered by join.
Verdict joins_in_another_order(const model::Scenario& scenario, const Journal& journal) {
  const model::Scenario changed = with_joins_reordered(scenario);
  if (changed.cluster == scenario.cluster) {
    return {};
  }
  return {true, first_difference(journal, run_of(changed))};
}

// R6: nothing goes by the order of edges but the line that lists them, and the first that the words
// of a rejection name.
Verdict edges_in_another_order(const model::Scenario& scenario, const Journal& journal) {
  const model::Scenario changed = with_edges_reversed(scenario);
  if (changed.jobs == scenario.jobs) {
    return {};
  }
  Journal left = journal;
  Journal right = run_of(changed);
  for (Journal* each : {&left, &right}) {
    for (JournalLine& line : *each) {
      const bool rejected = line.event == "job_rejected";
      line.text = line.text.substr(0, line.text.find(rejected ? "\"detail\":" : "\"edges\":"));
    }
  }
  return {true, first_difference(left, right)};
}

// R6: of tasks that succeed at one instant any may be told first, for a pass comes after them all.
// A moment with a number counts in the order of the journal; with `final-stage` the end that
// ends the job decides about the others, with `after-parents` a success is held back or not.
Verdict ends_in_another_order(const model::Scenario& scenario, const Journal& journal) {
  if (!has_fixed_order(scenario) || has_moments(scenario) ||
      scenario.scheduler.completion == model::Completion::final_stage ||
      scenario.scheduler.completion == model::Completion::after_parents) {
    return {};
  }
  const std::vector<model::Instant> instants = instants_of_successes(journal);
  if (instants.empty()) {
    return {};
  }
  return {true,
          first_difference(sorted_by_instant(journal),
                           sorted_by_instant(run_of(with_inputs_reversed(scenario, instants))))};
}

}  // namespace rehearse::testing
