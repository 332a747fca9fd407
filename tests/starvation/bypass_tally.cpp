// Linear in the gangs that wait, for each start: the workloads are small enough.
#include "tests/starvation/bypass_tally.hpp"

#include <algorithm>

namespace rehearse::testing {

namespace {

std::uint32_t id(model::NameId name) { return static_cast<std::uint32_t>(name.index()); }

bool demands(const model::PerProfile& demand, model::NameId profile) {
  return std::any_of(demand.begin(), demand.end(), [&](const model::ProfileCount& item) {
    return item.profile == profile && item.n > 0;
  });
}

}  // namespace

// Every profile's demand within the slots of executors bound to it (one resource: cpus).
bool BypassTally::could_run(const Gang& gang) const {
  for (const model::ProfileCount& item : gang.demand) {
    const auto profile =
        std::find_if(scenario_.cluster.profiles.begin(), scenario_.cluster.profiles.end(),
                     [&](const model::Profile& row) { return row.name == item.profile; });
    std::int64_t slots = 0;
    for (const auto& [name, executor] : executors_) {
      slots += executor.profile == item.profile ? executor.cpus_milli / profile->task.front() : 0;
    }
    if (item.n > slots) {
      return false;
    }
  }
  return true;
}

void BypassTally::on_start(const model::TaskStart& event, model::Instant now) {
  if (waiting_.empty()) {
    return;
  }
  const Job& starter = jobs_[id(event.task.job)];
  const auto executor = executors_.find(id(event.task.executor));
  for (const Unit& unit : waiting_) {
    Gang& gang = gangs_[unit];
    if (starter.submitted <= gang.job.submitted || executor == executors_.end() ||
        !demands(gang.demand, executor->second.profile) || !could_run(gang)) {
      continue;
    }
    result_.backfilled = true;
    result_.passes_max = std::max(result_.passes_max, ++gang.passes);
    if (starter.pool == gang.job.pool && surely_head(unit)) {
      result_.head_passes_max = std::max(result_.head_passes_max, ++gang.as_head);
      gang.late += now - gang.since >= scenario_.scheduler.admission.aging_after ? 1 : 0;
      result_.head_passes_late_max = std::max(result_.head_passes_late_max, gang.late);
    }
  }
}

// Gangs of one instant are told apart by nobody here.
bool BypassTally::surely_head(const Unit& unit) const {
  if (waiting_.size() == 1) {
    return true;
  }
  const Gang& gang = gangs_.at(unit);
  return scenario_.scheduler.admission.queue == model::QueueOrder::fifo &&
         std::all_of(waiting_.begin(), waiting_.end(), [&](const Unit& other) {
           return other == unit || gangs_.at(other).job.submitted > gang.job.submitted;
         });
}

void BypassTally::end_wait(const model::StageRef& group, model::Instant now) {
  const Unit unit{id(group.job), id(group.stage)};
  const auto gang = gangs_.find(unit);
  if (gang != gangs_.end() && gang->second.waits) {
    gang->second.waits = false;
    std::erase(waiting_, unit);
    result_.wait_max = std::max(result_.wait_max, now - gang->second.since);
  }
}

void BypassTally::on(const model::Event& event) {
  if (const auto* start = event.as<model::TaskStart>()) {
    on_start(*start, event.t);
  } else if (const auto* added = event.as<model::ExecutorAdded>()) {
    executors_[id(added->executor)] = {added->profile, added->resources.front().amount};
  } else if (const auto* lost = event.as<model::ExecutorLost>()) {
    executors_.erase(id(lost->executor));
  } else if (const auto* submitted = event.as<model::JobSubmitted>()) {
    jobs_[id(submitted->job)] = {event.t, submitted->pool};
  } else if (const auto* formed = event.as<model::GroupFormed>()) {
    Gang gang;
    gang.job = jobs_[id(formed->job)];
    gang.demand = formed->demand;
    gangs_[{id(formed->job), id(formed->stage)}] = std::move(gang);
  } else if (const auto* queued = event.as<model::GroupQueued>()) {
    const model::StageRef group{queued->job, queued->stage, {}};
    end_wait(group, event.t);
    if (queued->reason == model::QueuedReason::slots) {
      const Unit unit{id(queued->job), id(queued->stage)};
      gangs_[unit].waits = true;
      gangs_[unit].since = event.t;
      waiting_.push_back(unit);
      ++result_.waiting_gangs;
    }
  } else if (const auto* admitted = event.as<model::GroupAdmitted>()) {
    end_wait(admitted->group, event.t);
  } else if (const auto* cancelled = event.as<model::GroupCancelled>()) {
    end_wait(cancelled->group, event.t);
  }
}

}  // namespace rehearse::testing
