// Free slots and expected ends by profile; linear in what runs whenever a plan is made.
#include "tests/starvation/easy_check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rehearse::testing {

namespace {

std::uint32_t id(model::NameId name) { return static_cast<std::uint32_t>(name.index()); }

}  // namespace

EasyCheck::EasyCheck(const model::Scenario& scenario) : scenario_(scenario) {}

void EasyCheck::on_executor(const model::Event& event) {
  if (const auto* added = event.as<model::ExecutorAdded>()) {
    for (const model::Profile& profile : scenario_.cluster.profiles) {
      if (profile.name == added->profile) {
        executors_[id(added->executor)] = {
            .profile = id(profile.name),
            .slots = added->resources.front().amount / profile.task.front()};
      }
    }
  } else if (const auto* held = event.as<model::ExecutorHeld>()) {
    executors_[id(held->executor)].held = true;
  } else if (const auto* released = event.as<model::ExecutorReleased>()) {
    executors_[id(released->executor)].held = false;
  }
  stale_ = true;
}

void EasyCheck::on_job(const model::JobSubmitted& event, model::Instant now) {
  const auto spec = std::find_if(scenario_.jobs.begin(), scenario_.jobs.end(),
                                 [&](const auto& job) { return job.name == event.job; });
  if (spec == scenario_.jobs.end()) {
    return;
  }
  const std::uint32_t number = next_job_++;
  for (std::uint32_t s = 0; s < event.stages.size(); ++s) {
    stages_[{id(event.job), id(event.stages[s].name)}] = {
        .profile = id(event.stages[s].profile),
        .estimate = spec->stages[s].estimate.value_or(0),
        .rank = {now, number, s}};
  }
}

// The earliest instant at which, by counts, every profile has what the head demands.
std::optional<model::Instant> EasyCheck::earliest_start(model::Instant now) const {
  model::Instant start = now;
  for (const auto& [profile, demand] : demand_.at(*head_)) {
    std::int64_t free = 0;
    for (const auto& [name, executor] : executors_) {
      free += executor.profile == profile && !executor.held ? executor.slots - executor.used : 0;
    }
    std::vector<model::Instant> ends;
    for (const auto& [name, run] : runs_) {
      if (run.profile == profile && !executors_.at(run.executor).held) {
        ends.push_back(std::max(run.end, now));
      }
    }
    std::sort(ends.begin(), ends.end());
    const std::int64_t missing = demand - free;
    if (missing > std::ssize(ends)) {
      return std::nullopt;
    }
    if (missing > 0) {
      start = std::max(start, ends[static_cast<std::size_t>(missing - 1)]);
    }
  }
  return start;
}

void EasyCheck::find_head(model::Instant now) {
  const std::optional<StageName> first =
      waiting_.empty() ? std::nullopt : std::optional(waiting_.begin()->second);
  if (first != head_) {
    head_ = first;
    head_passed_ = false;
    stale_ = true;
  }
  if (head_ && stale_) {
    planned_ = earliest_start(now);
  }
  stale_ = false;
}

void EasyCheck::leave(const model::StageRef& group, bool admitted, model::Instant now) {
  const StageName name{id(group.job), id(group.stage)};
  if (admitted && head_ == name && planned_) {
    ++heads_;
    passed_ += head_passed_ ? 1 : 0;
    if (now > *planned_) {
      wrong_.push_back(fmt::format("{}/{} was head with an earliest start at {} and started at {}",
                                   names_->text(group.job), names_->text(group.stage), *planned_,
                                   now));
    }
  }
  std::erase_if(waiting_, [&](const auto& item) { return item.second == name; });
}

void EasyCheck::on_group(const model::Event& event) {
  if (const auto* formed = event.as<model::GroupFormed>()) {
    const StageName name{id(formed->job), id(formed->stage)};
    for (const model::NameId member : formed->stages) {
      stages_[{name.first, id(member)}].rank = stages_[name].rank;
    }
    for (const model::ProfileCount& item : formed->demand) {
      demand_[name][id(item.profile)] = item.n;
    }
  } else if (const auto* queued = event.as<model::GroupQueued>()) {
    const StageName name{id(queued->job), id(queued->stage)};
    if (queued->reason == model::QueuedReason::slots) {
      waiting_[stages_[name].rank] = name;
    } else {
      leave({queued->job, queued->stage, {}}, false, event.t);
    }
  } else if (const auto* admitted = event.as<model::GroupAdmitted>()) {
    leave(admitted->group, true, event.t);
  } else if (const auto* cancelled = event.as<model::GroupCancelled>()) {
    leave(cancelled->group, false, event.t);
  }
}

void EasyCheck::on_start(const model::TaskStart& event, model::Instant now) {
  const model::TaskRef& task = event.task;
  const Stage& stage = stages_[{id(task.job), id(task.stage)}];
  runs_[{id(task.job), id(task.stage), task.partition, task.attempt, task.try_number}] = {
      .executor = id(task.executor), .profile = stage.profile, .end = now + stage.estimate};
  ++executors_[id(task.executor)].used;
  if (head_) {
    const bool before = stage.rank < stages_[*head_].rank;
    stale_ = stale_ || before;
    head_passed_ = head_passed_ || !before;
  }
}

void EasyCheck::on_end(const model::TaskEnd& event) {
  const model::TaskRef& task = event.task;
  runs_.erase({id(task.job), id(task.stage), task.partition, task.attempt, task.try_number});
  --executors_[id(task.executor)].used;
}

void EasyCheck::on(const model::Event& event) {
  if (const auto* start = event.as<model::TaskStart>()) {
    on_start(*start, event.t);
  } else if (const auto* end = event.as<model::TaskEnd>()) {
    on_end(*end);
  } else if (const auto* submitted = event.as<model::JobSubmitted>()) {
    on_job(*submitted, event.t);
  } else if (event.number() >= model::event_number<model::ExecutorAdded>() &&
             event.number() <= model::event_number<model::ExecutorReleased>()) {
    on_executor(event);
  } else {
    on_group(event);
  }
  find_head(event.t);
}

}  // namespace rehearse::testing
