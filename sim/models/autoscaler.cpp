// Rounds and idleness of the autoscaler; the rules are those of Spark's ExecutorAllocationManager
// where the specification is silent.
#include "sim/models/autoscaler.hpp"

#include <algorithm>
#include <numeric>

#include "model/resources.hpp"
#include "model/support/check.hpp"
#include "sim/models/tasks.hpp"

namespace rehearse::sim {

Autoscaler::Autoscaler(const model::Autoscale& options, std::vector<std::int64_t> profile_slots)
    : options_(options),
      profile_slots_(std::move(profile_slots)),
      running_(profile_slots_.size(), 0) {}

// ---- the pool ----

Autoscaler::Member* Autoscaler::member(model::ExecutorId executor) {
  const bool known = executor.index() < rows_.size() && !rows_[executor.index()].running.empty();
  return known ? &rows_[executor.index()] : nullptr;
}

bool Autoscaler::is_member(model::ExecutorId executor) const {
  return executor.index() < rows_.size() && !rows_[executor.index()].running.empty();
}

void Autoscaler::scheduled() { ++scheduled_; }

void Autoscaler::given_up() {
  RH_CHECK(scheduled_ > 0);
  --scheduled_;
}

void Autoscaler::request_given_up() {
  RH_CHECK(requested_ > 0);
  --requested_;
}

std::int64_t Autoscaler::room() const {
  return std::max<std::int64_t>(options_.max - members_ - scheduled_ - requested_, 0);
}

std::int64_t Autoscaler::below_min() const {
  return std::clamp<std::int64_t>(options_.min - members_ - scheduled_ - requested_, 0, room());
}

void Autoscaler::joined(model::ExecutorId executor, bool requested, bool was_due,
                        model::Instant now) {
  if (was_due) {
    requested ? request_given_up() : given_up();
  }
  if (executor.index() >= rows_.size()) {
    rows_.resize(executor.index() + 1);
  }
  Member& row = rows_[executor.index()];
  RH_CHECK(row.running.empty(), executor.value);
  row.running.assign(profile_slots_.size(), 0);
  row.idle_since = now;
  idle_.emplace(now, executor.value);
  ++members_;
}

void Autoscaler::left(model::ExecutorId executor) {
  Member* row = member(executor);
  if (row == nullptr) {
    return;
  }
  for (std::size_t p = 0; p < running_.size(); ++p) {
    running_[p] -= row->running[p];
  }
  idle_.erase({row->idle_since, executor.value});
  unsettled_.erase(executor.value);
  std::erase(keeping_, executor.value);
  *row = Member{};
  --members_;
}

// ---- what members do ----

void Autoscaler::started(model::ExecutorId executor, model::ProfileId profile, std::int64_t slots) {
  Member* row = member(executor);
  if (row == nullptr) {
    return;
  }
  if (row->slots == 0) {
    idle_.erase({row->idle_since, executor.value});
    row->idle_since = -1;
    unsettled_.erase(executor.value);
    std::erase(keeping_, executor.value);
  }
  row->running[profile.index()] += slots;
  row->slots += slots;
  running_[profile.index()] += slots;
}

void Autoscaler::ended(model::ExecutorId executor, model::ProfileId profile, std::int64_t slots) {
  Member* row = member(executor);
  if (row == nullptr) {
    return;
  }
  row->running[profile.index()] -= slots;
  row->slots -= slots;
  running_[profile.index()] -= slots;
  RH_CHECK(row->running[profile.index()] >= 0, executor.value, profile.value);
  if (row->slots == 0) {
    unsettled_.insert(executor.value);
  }
}

void Autoscaler::look_again() {
  unsettled_.insert(keeping_.begin(), keeping_.end());
  keeping_.clear();
}

std::vector<model::ExecutorId> Autoscaler::unsettled() const {
  return {unsettled_.begin(), unsettled_.end()};
}

void Autoscaler::settled(model::ExecutorId executor, bool holds_outputs, model::Instant now) {
  Member* row = member(executor);
  RH_CHECK(row != nullptr && row->slots == 0, executor.value);
  unsettled_.erase(executor.value);
  if (holds_outputs) {
    keeping_.push_back(executor.value);
    return;
  }
  row->idle_since = now;
  idle_.emplace(now, executor.value);
}

// ---- decisions ----

bool Autoscaler::is_waiting(const scheduler::Backlog& backlog) const {
  for (std::size_t p = 0; p < profile_slots_.size(); ++p) {
    if (profile_slots_[p] > 0 && backlog.waiting[p] > 0) {
      return true;
    }
  }
  return false;
}

std::int64_t Autoscaler::needed(const scheduler::Backlog& backlog) const {
  std::int64_t count = 0;
  for (std::size_t p = 0; p < profile_slots_.size(); ++p) {
    if (const std::int64_t each = profile_slots_[p]; each > 0) {
      const std::int64_t tasks = backlog.waiting[p] + running_[p];
      count += tasks / each + (tasks % each > 0 ? 1 : 0);
    }
  }
  // What waits although nothing runs fits on the members in number, but not as they are.
  if (is_waiting(backlog) && !backlog.busy && requested_ == 0) {
    count = std::max(count, members_ + 1);
  }
  return std::min<std::int64_t>(count, options_.max);
}

std::optional<model::Instant> Autoscaler::settle(model::Instant now,
                                                 const scheduler::Backlog& backlog) {
  RH_CHECK(unsettled_.empty());
  if (!is_waiting(backlog)) {
    waiting_since_.reset();
  } else if (!waiting_since_) {
    waiting_since_ = now;
    next_round_ = later(now, options_.backlog);
    add_ = 1;
  }
  if (below_min() > 0) {
    return now;
  }
  const std::int64_t wanted = needed(backlog);
  std::optional<model::Instant> next;
  if (waiting_since_ && wanted > members_ + requested_ && room() > 0) {
    if (next_round_ <= now && options_.backlog > 0) {
      // Rounds went by with nothing to ask for: the next one begins anew.
      const model::Duration since = now - *waiting_since_;
      next_round_ = later(now, options_.backlog - since % options_.backlog);
      add_ = 1;
    }
    next = std::max(next_round_, now);
  }
  if (!idle_.empty() && members_ > std::max<std::int64_t>(options_.min, wanted)) {
    const model::Instant end = std::max(later(idle_.begin()->first, options_.idle), now);
    next = next ? std::min(*next, end) : end;
  }
  return next;
}

Autoscaler::Steps Autoscaler::act(model::Instant now, const scheduler::Backlog& backlog) {
  Steps steps;
  steps.requests = below_min();
  requested_ += steps.requests;
  const std::int64_t wanted = needed(backlog);
  const std::int64_t missing = std::min(wanted - members_ - requested_, room());
  if (waiting_since_ && is_waiting(backlog) && next_round_ <= now && missing > 0) {
    const std::int64_t count = std::min(add_, missing);
    steps.requests += count;
    requested_ += count;
    add_ = count == add_ ? 2 * add_ : 1;
    next_round_ = later(now, options_.backlog);
  }
  std::int64_t spare = members_ - std::max<std::int64_t>(options_.min, wanted);
  for (const auto& [since, executor] : idle_) {
    if (spare-- <= 0 || later(since, options_.idle) > now) {
      break;
    }
    steps.leaving.emplace_back(executor);
  }
  return steps;
}

}  // namespace rehearse::sim
