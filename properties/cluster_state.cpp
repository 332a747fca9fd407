// registry: none (state that expectations look at, no property)
// Slots are counted from physical events alone, and reservations from the core's own lines.
#include "properties/cluster_state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rehearse::properties {

using model::NameId;

void ClusterState::begin(const model::NameTable& names) {
  *this = ClusterState();
  names_ = &names;
}

void ClusterState::apply(const model::Event& event) {
  if (const auto* start = event.as<model::TaskStart>()) {
    on(*start);
  } else if (const auto* end = event.as<model::TaskEnd>()) {
    on(*end);
  } else if (const auto* returned = event.as<model::SlotReturned>()) {
    on(*returned);
  } else if (const auto* reservation = event.as<model::Reservation>()) {
    on(*reservation);
  } else if (const auto* completed = event.as<model::StageCompleted>()) {
    on(*completed);
  } else {
    on_other(event);
  }
}

void ClusterState::on_other(const model::Event& event) {
  const auto executor = [&](NameId name) -> Executor* {
    const auto found = executor_index_.find(name);
    return found == executor_index_.end() ? nullptr : &executors_[found->second].second;
  };
  if (const auto* run = event.as<model::RunStart>()) {
    on(*run);
  } else if (const auto* added = event.as<model::ExecutorAdded>()) {
    on(*added);
  } else if (const auto* lost = event.as<model::ExecutorLost>()) {
    if (Executor* found = executor(lost->executor)) {
      found->live = false;
    }
    shared_.lost(lost->executor);
  } else if (const auto* held = event.as<model::ExecutorHeld>()) {
    if (Executor* found = executor(held->executor)) {
      found->held = true;
    }
  } else if (const auto* released = event.as<model::ExecutorReleased>()) {
    if (Executor* found = executor(released->executor)) {
      found->held = false;
    }
  } else if (const auto* submitted = event.as<model::JobSubmitted>()) {
    on(*submitted);
  } else if (const auto* started = event.as<model::JobStarted>()) {
    jobs_[started->job].alive = true;
  } else if (const auto* ended = event.as<model::JobEnd>()) {
    jobs_[ended->job].alive = false;
    shared_.job_over(ended->job);
  } else if (const auto* formed = event.as<model::GroupFormed>()) {
    shared_.formed(*formed);
  } else if (const auto* changed = event.as<model::EdgesChanged>()) {
    shared_.dissolved(*changed);
  } else if (const auto* stage = event.as<model::StageSubmitted>()) {
    Stage& row = jobs_[stage->stage.job].stages[stage->stage.stage];
    ++row.open_attempts;
    row.succeeded = false;
  }
}

void ClusterState::on(const model::RunStart& event) {
  shared_.begin(event, *names_);
  for (const model::ProfileAmounts& profile : event.profiles) {
    ProfileTask& row = profiles_.emplace_back();
    row.name = profile.profile;
    add_amounts(row.task, profile.task);
  }
}

void ClusterState::on(const model::ExecutorAdded& event) {
  Executor executor;
  executor.live = true;
  executor.profile = event.profile;
  add_amounts(executor.capacity, event.resources);
  const auto [found, fresh] = executor_index_.try_emplace(event.executor, executors_.size());
  if (fresh) {
    executors_.emplace_back(event.executor, std::move(executor));
  } else {
    executors_[found->second].second = std::move(executor);
  }
}

void ClusterState::on(const model::JobSubmitted& event) {
  Job& job = jobs_[event.job];
  for (const model::StageItem& stage : event.stages) {
    job.stages[stage.name].profile = stage.profile;
  }
}

void ClusterState::on(const model::StageCompleted& event) {
  Stage& stage = jobs_[event.stage.job].stages[event.stage.stage];
  --stage.open_attempts;
  stage.succeeded = event.status == model::StageStatus::success;
}

void ClusterState::on(const model::TaskStart& event) {
  const NameId profile = profile_of(event.task);
  if (shared_.enabled() && shared_.shares(event.task.job, event.task.stage) &&
      !shared_.start(event.task, profile)) {
    return;
  }
  change_used({.executor = event.task.executor, .profile = profile, .tasks = event.task.size()});
}

void ClusterState::on(const model::TaskEnd& event) {
  if (shared_.enabled() && shared_.shares(event.task.job, event.task.stage)) {
    (void)shared_.end(event.task, profile_of(event.task));
    return;  // its slots come back in a line of their own, or went with the executor
  }
  for (std::int32_t i = 0; shared_.enabled() && event.slot && i < event.task.size(); ++i) {
    shared_.hold(event.task, profile_of(event.task));
  }
  if (!event.slot) {
    change_used({.executor = event.task.executor,
                 .profile = profile_of(event.task),
                 .tasks = -std::int64_t{event.task.size()}});
  }
}

void ClusterState::on(const model::SlotReturned& event) {
  if (shared_.enabled()) {
    (void)shared_.give_back(event);
  }
  change_used({.executor = event.executor, .profile = event.profile, .tasks = -event.count});
}

void ClusterState::on(const model::Reservation& event) {
  if (const auto found = executor_index_.find(event.executor); found != executor_index_.end()) {
    executors_[found->second].second.reserved[event.profile] += event.delta;
  }
}

void ClusterState::change_used(const Change& change) {
  const ProfileTask* profile = find_profile(change.profile);
  const auto found = executor_index_.find(change.executor);
  if (profile == nullptr || found == executor_index_.end()) {
    return;
  }
  Executor& executor = executors_[found->second].second;
  widen(executor.used);
  for (std::size_t i = 0; i < profile->task.size(); ++i) {
    executor.used[i] += profile->task[i] * change.tasks;
  }
}

// A job that reruns a stage of another under its own name ("q.map") has it in its list, or takes
// the profile it has there.
NameId ClusterState::profile_of(const model::TaskRef& task) const {
  const auto job = jobs_.find(task.job);
  if (job != jobs_.end()) {
    const auto stage = job->second.stages.find(task.stage);
    if (stage != job->second.stages.end() && stage->second.profile.valid()) {
      return stage->second.profile;
    }
  }
  const std::string_view name = names_->text(task.stage);
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
       dot = name.find('.', dot + 1)) {
    const auto owner = jobs_.find(names_->find(name.substr(0, dot)));
    if (owner != jobs_.end()) {
      const auto stage = owner->second.stages.find(names_->find(name.substr(dot + 1)));
      if (stage != owner->second.stages.end()) {
        return stage->second.profile;
      }
    }
  }
  return {};
}

const ClusterState::ProfileTask* ClusterState::find_profile(NameId name) const {
  const auto found = std::find_if(profiles_.begin(), profiles_.end(),
                                  [&](const ProfileTask& row) { return row.name == name; });
  return found == profiles_.end() ? nullptr : &*found;
}

void ClusterState::add_amounts(model::ResourceVector& vector, const model::Amounts& amounts) {
  for (const model::Amount& amount : amounts) {
    const auto found = std::find(resources_.begin(), resources_.end(), amount.resource);
    const auto index = static_cast<std::size_t>(found - resources_.begin());
    if (found == resources_.end()) {
      resources_.push_back(amount.resource);
    }
    widen(vector);
    vector[index] += amount.amount;
  }
}

void ClusterState::widen(model::ResourceVector& vector) const {
  vector.resize(std::max(vector.size(), resources_.size()));
}

std::int64_t ClusterState::free_on(const Executor& executor, const ProfileTask& profile) const {
  const bool serves = !executor.profile.valid() || executor.profile == profile.name;
  if (!executor.live || executor.held || !serves) {
    return 0;
  }
  model::ResourceVector left = executor.capacity;
  model::ResourceVector used = executor.used;
  model::ResourceVector task = profile.task;
  widen(left);
  widen(used);
  widen(task);
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] -= used[i];
  }
  for (const auto& [name, slots] : executor.reserved) {
    const ProfileTask* reserved = find_profile(name);
    for (std::size_t i = 0; reserved != nullptr && i < reserved->task.size(); ++i) {
      left[i] -= reserved->task[i] * slots;
    }
  }
  return std::max<std::int64_t>(model::slots_of(left, task), 0);
}

std::optional<std::int64_t> ClusterState::free(std::string_view profile) const {
  const ProfileTask* row = find_profile(names_->find(profile));
  if (row == nullptr) {
    return std::nullopt;
  }
  std::int64_t sum = 0;
  for (const auto& [name, executor] : executors_) {
    sum += free_on(executor, *row);
  }
  return sum;
}

std::string ClusterState::free_by_executor(std::string_view profile) const {
  constexpr std::size_t listed_max = 12;
  const ProfileTask* row = find_profile(names_->find(profile));
  std::string text;
  std::size_t listed = 0;
  for (const auto& [name, executor] : executors_) {
    if (row == nullptr || !executor.live) {
      continue;
    }
    if (++listed > listed_max) {
      return text + ", ...";
    }
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", names_->text(name),
                        free_on(executor, *row), executor.held ? " (held)" : "");
  }
  return text.empty() ? "no live executor" : text;
}

StagePhase ClusterState::phase(std::string_view job, std::string_view stage) const {
  const auto job_row = jobs_.find(names_->find(job));
  if (job_row == jobs_.end()) {
    return StagePhase::unknown;
  }
  const auto row = job_row->second.stages.find(names_->find(stage));
  if (row == job_row->second.stages.end()) {
    return StagePhase::unknown;
  }
  if (row->second.open_attempts > 0) {
    return StagePhase::running;
  }
  if (row->second.succeeded) {
    return StagePhase::completed;
  }
  return job_row->second.alive ? StagePhase::waiting : StagePhase::over;
}

}  // namespace rehearse::properties
