// Task faults are found by (job, stage, partition); moments are counted over the journal.
#include "sim/models/faults.hpp"

#include <algorithm>
#include <span>

#include "model/support/check.hpp"
#include "model/support/units.hpp"
#include "sim/models/tasks.hpp"

namespace rehearse::sim {

using model::Moment;
using model::NameId;

Faults::Faults(const model::FaultPlan& plan, const model::NameTable& names)
    : plan_(plan),
      names_(names),
      timed_fired_(plan.timed.size(), false),
      task_fired_(plan.tasks.size(), false),
      seen_(plan.timed.size(), 0) {
  for (const model::TimedFault& fault : plan.timed) {
    any_moments_ = any_moments_ || fault.moment.has_value();
  }
  for (std::uint32_t i = 0; i < plan.tasks.size(); ++i) {
    const model::TaskFault& fault = plan.tasks[i];
    targets_.push_back({fault.job.value, fault.stage.value, fault.partition, i});
  }
  std::ranges::sort(targets_);
  for (std::uint32_t i = 0; i < targets_.size(); ++i) {
    const std::size_t job = targets_[i].job;
    if (job >= targets_of_.size()) {
      targets_of_.resize(job + 1);
    }
    Range& range = targets_of_[job];
    range = {.first = range.end == 0 ? i : range.first, .end = i + 1};
  }
}

std::vector<DueFault> Faults::planned() const {
  std::vector<DueFault> due;
  for (std::uint32_t i = 0; i < plan_.timed.size(); ++i) {
    if (plan_.timed[i].at) {
      due.push_back({i, *plan_.timed[i].at});
    }
  }
  return due;
}

bool Faults::any_about(NameId job, NameId stage) const {
  if (job.index() >= targets_of_.size()) {
    return false;
  }
  const Range range = targets_of_[job.index()];
  const std::span own = std::span(targets_).subspan(range.first, range.end - range.first);
  return std::ranges::binary_search(own, stage.value, {}, &Target::stage);
}

TryFaults Faults::of_try(const model::TaskRef& task, std::int32_t partition, NameId plain_name) {
  TryFaults result;
  std::vector<std::uint32_t> entries;
  const auto collect = [&](NameId job) {
    if (job.index() >= targets_of_.size()) {
      return;
    }
    const Range range = targets_of_[job.index()];
    const std::span own = std::span(targets_).subspan(range.first, range.end - range.first);
    const Target first{job.value, task.stage.value, partition, 0};
    for (auto it = std::ranges::lower_bound(own, first);
         it != own.end() && it->stage == first.stage && it->partition == first.partition; ++it) {
      entries.push_back(it->entry);
    }
  };
  collect(task.job);
  if (plain_name != task.job) {
    collect(plain_name);
  }
  if (entries.empty()) {
    return result;
  }
  std::ranges::sort(entries);
  for (const std::uint32_t entry : entries) {
    const model::TaskFault& fault = plan_.tasks[entry];
    if (fault.attempt != task.attempt ||
        (fault.try_number && *fault.try_number != task.try_number)) {
      continue;
    }
    task_fired_[entry] = true;
    if (fault.slow_milli) {
      result.slow_milli = model::mul_div_round(result.slow_milli, *fault.slow_milli, model::milli);
    }
    result.status_late += fault.status_late.value_or(0);
    const bool failure = fault.fails.has_value() || fault.fetch_fails;
    if (failure && (result.failure == nullptr || fault.after < result.failure->after)) {
      result.failure = &fault;
    }
  }
  return result;
}

void Faults::occur(const Occurrence& occurrence, model::Instant now, std::vector<DueFault>& due) {
  for (std::uint32_t i = 0; i < plan_.timed.size(); ++i) {
    const model::TimedFault& fault = plan_.timed[i];
    if (fault.moment != occurrence.moment) {
      continue;
    }
    const auto is_job = [&](NameId name) {
      const auto plain = plain_names_.find(occurrence.job.value);
      return name == occurrence.job || (plain != plain_names_.end() && name == plain->second);
    };
    const bool stage_matches =
        !fault.match_stage.valid() ||
        (is_job(fault.match_stage_job) &&
         std::ranges::find(occurrence.stages, fault.match_stage) != occurrence.stages.end());
    if (!stage_matches || (fault.match_job.valid() && !is_job(fault.match_job)) ||
        (fault.match_executor.valid() && fault.match_executor != occurrence.executor)) {
      continue;
    }
    if (++seen_[i] == fault.nth) {
      due.push_back({i, later(now, fault.after)});
    }
  }
}

Faults::StageKey Faults::group_of(NameId job, NameId stage) const {
  const StageKey key{job.value, stage.value};
  const auto found = leader_of_.find(key);
  return found == leader_of_.end() ? key : found->second;
}

std::span<const NameId> Faults::members_of(NameId job, const NameId& stage) const {
  const auto found = group_members_.find(group_of(job, stage));
  return found == group_members_.end() ? std::span(&stage, 1) : std::span(found->second);
}

bool Faults::Partitions::insert(const model::TaskRef& task) {
  auto row = std::ranges::find(rows_, task.stage, &Row::stage);
  if (row == rows_.end()) {
    row = rows_.insert(row, {task.stage, {}});
  }
  const auto first = static_cast<std::size_t>(task.partition);
  const auto end = static_cast<std::size_t>(task.last()) + 1;
  if (row->has.size() < end) {
    constexpr std::size_t word = 64;  // takes no more room than one bit
    row->has.resize(std::max((end + word - 1) / word * word, 2 * row->has.size()));
  }
  bool fresh = false;
  for (std::size_t p = first; p < end; ++p) {
    if (!row->has[p]) {
      row->has[p] = true;
      ++size_;
      fresh = true;
    }
  }
  return fresh;
}

void Faults::Partitions::erase(NameId stage, const model::Range& range) {
  const auto row = std::ranges::find(rows_, stage, &Row::stage);
  if (row == rows_.end()) {
    return;
  }
  const auto end = std::min(row->has.size(), static_cast<std::size_t>(range.last) + 1);
  for (auto p = static_cast<std::size_t>(range.first); p < end; ++p) {
    size_ -= row->has[p] ? 1 : 0;
    row->has[p] = false;
  }
}

// ---- launches and ends of the live attempt of each group, and what they amount to ----

void Faults::follow_formed(const model::GroupFormed& line) {
  const StageKey leader{line.job.value, line.stage.value};
  group_members_[leader] = line.stages;
  for (const NameId member : line.stages) {
    leader_of_[{line.job.value, member.value}] = leader;
  }
}

void Faults::follow_submitted(const model::StageSubmitted& line, model::Instant now,
                              std::vector<DueFault>& due) {
  const StageKey leader = group_of(line.stage.job, line.stage.stage);
  const bool alone = group_members_.find(leader) == group_members_.end();
  Attempt& attempt = attempts_[leader];
  if (alone) {  // of a group an attempt begins with its admission
    attempt = {};
  }
  attempt.tasks += line.tasks;
  if (alone) {
    occur({Moment::group_admitted, line.stage.job, std::span(&line.stage.stage, 1), {}}, now, due);
  }
}

void Faults::follow_start(const model::TaskStart& start, model::Instant now,
                          std::vector<DueFault>& due) {
  const model::TaskRef& task = start.task;
  const auto found = attempts_.find(group_of(task.job, task.stage));
  if (found == attempts_.end()) {
    return;
  }
  Attempt& attempt = found->second;
  const auto happen = [&](Moment moment) {
    occur({moment, task.job, members_of(task.job, task.stage), task.executor}, now, due);
  };
  if (attempt.launched == 0) {
    happen(Moment::first_launch);
  }
  ++attempt.launched;
  if (attempt.started.insert(task) && attempt.started.size() == attempt.tasks) {
    happen(Moment::all_launched);
  }
}

void Faults::follow_end(const model::TaskEnd& end, model::Instant now, std::vector<DueFault>& due) {
  if (end.status != model::TaskStatus::success || !end.counted.value_or(true)) {
    return;
  }
  const model::TaskRef& task = end.task;
  const auto found = attempts_.find(group_of(task.job, task.stage));
  if (found == attempts_.end()) {
    return;
  }
  Attempt& attempt = found->second;
  if (attempt.done.insert(task) && attempt.done.size() == attempt.tasks - 1) {
    occur({Moment::last_but_one_task, task.job, members_of(task.job, task.stage), task.executor},
          now, due);
  }
}

// What is lost is to be done again.
void Faults::forget_done(const model::OutputsLost& lost) {
  const auto found = attempts_.find(group_of(lost.job, lost.stage));
  if (found == attempts_.end()) {
    return;
  }
  for (const model::Range& range : lost.partitions) {
    found->second.done.erase(lost.stage, range);
  }
}

void Faults::follow_stages(const model::Event& event, std::vector<DueFault>& due) {
  const auto at_group = [&](Moment moment, const model::StageRef& ref) {
    occur({moment, ref.job, members_of(ref.job, ref.stage), {}}, event.t, due);
  };
  if (const auto* line = event.as<model::StageCompleted>()) {
    const StageKey key = group_of(line->stage.job, line->stage.stage);
    if (group_members_.find(key) == group_members_.end()) {
      at_group(
          line->status == model::StageStatus::success ? Moment::group_commit : Moment::teardown,
          line->stage);
    }
  } else if (const auto* admitted = event.as<model::GroupAdmitted>()) {
    attempts_.erase(group_of(admitted->group.job, admitted->group.stage));
    at_group(Moment::group_admitted, admitted->group);
  } else if (const auto* queued = event.as<model::GroupQueued>()) {
    at_group(Moment::group_queued, {queued->job, queued->stage, std::nullopt});
  } else if (const auto* finished = event.as<model::MemberFinished>()) {
    occur({Moment::member_finished, finished->stage.job, std::span(&finished->stage.stage, 1), {}},
          event.t, due);
  } else if (const auto* committed = event.as<model::GroupCommitted>()) {
    at_group(Moment::group_commit, committed->group);
  } else if (const auto* failed = event.as<model::GroupFailed>()) {
    at_group(Moment::teardown, failed->group);
  } else if (const auto* cancelled = event.as<model::GroupCancelled>()) {
    at_group(Moment::teardown, cancelled->group);
  }
}

std::vector<DueFault> Faults::after_event(const model::Event& event) {
  std::vector<DueFault> due;
  if (const auto* start = event.as<model::TaskStart>()) {  // most are one or the other
    follow_start(*start, event.t, due);
    return due;
  }
  if (const auto* end = event.as<model::TaskEnd>()) {
    follow_end(*end, event.t, due);
    return due;
  }
  follow_stages(event, due);
  if (const auto* formed = event.as<model::GroupFormed>()) {
    follow_formed(*formed);
  } else if (const auto* submitted = event.as<model::StageSubmitted>()) {
    follow_submitted(*submitted, event.t, due);
  } else if (const auto* line = event.as<model::JobEnd>()) {
    occur({Moment::job_end, line->job, {}, {}}, event.t, due);
  } else if (const auto* lost = event.as<model::ExecutorLost>()) {
    occur({Moment::executor_lost, {}, {}, lost->executor}, event.t, due);
  } else if (const auto* outputs = event.as<model::OutputsLost>()) {
    forget_done(*outputs);
    occur({Moment::external_input_lost, outputs->job, std::span(&outputs->stage, 1),
           outputs->executor},
          event.t, due);
  }
  return due;
}

std::vector<DueFault> Faults::after_timer(NameId job, model::Instant now) {
  std::vector<DueFault> due;
  occur({Moment::timer_armed, job, {}, {}}, now, due);
  return due;
}

namespace {

struct KeyOf {
  std::string operator()(const model::LoseExecutor& fault) const {
    return "lose_executor " + std::string(names.text(fault.executor));
  }
  std::string operator()(const model::AddExecutor& fault) const {
    return "add_executor " + std::string(names.text(fault.executor.name));
  }
  std::string operator()(const model::HoldExecutors& fault) const {
    return "hold_executors " +
           std::string(fault.executors.empty() ? "" : names.text(fault.executors.front()));
  }
  std::string operator()(const model::CancelJob& fault) const {
    return "cancel_job " + std::string(names.text(fault.job));
  }
  const model::NameTable& names;
};

}  // namespace

std::vector<std::string> Faults::never_fired() const {
  std::vector<std::string> list;
  for (std::size_t place = 0; place < plan_.order.size(); ++place) {
    const model::FaultPlan::Entry& entry = plan_.order[place];
    if (entry.task ? task_fired_[entry.index] : timed_fired_[entry.index]) {
      continue;
    }
    std::string what;
    if (entry.task) {
      const model::TaskFault& fault = plan_.tasks[entry.index];
      what = "task " + std::string(names_.text(fault.job)) + "/" +
             std::string(names_.text(fault.stage)) + "/" + std::to_string(fault.partition);
    } else {
      what = std::visit(KeyOf{names_}, plan_.timed[entry.index].action);
    }
    list.push_back("faults/" + std::to_string(place) + ": " + what);
  }
  return list;
}

}  // namespace rehearse::sim
