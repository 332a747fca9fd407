// Dense arrays by executor and resource; a task event costs one addition per resource. Free counts
// need divisions, so they are recomputed only when somebody asks, for executors that changed.
// registry: none (derived journal state, used by the slot monitors)
#include "properties/slot_book.hpp"

#include <algorithm>
#include <limits>

#include "model/resources.hpp"
#include "model/support/check.hpp"

namespace rehearse::properties {

void SlotBook::start(const model::RunStart& run, std::int64_t factor) {
  factor_ = factor;
  for (const model::ProfileAmounts& profile : run.profiles) {
    profile_names_.push_back(profile.profile);
    for (const model::Amount& item : profile.task) {
      if (item.amount > 0 && std::find(resource_names_.begin(), resource_names_.end(),
                                       item.resource) == resource_names_.end()) {
        resource_names_.push_back(item.resource);
      }
    }
  }
  width_ = resource_names_.size();
  task_amounts_.assign(profile_names_.size() * width_, 0);
  for (std::size_t p = 0; p < run.profiles.size(); ++p) {
    for (const model::Amount& item : run.profiles[p].task) {
      const auto at = std::find(resource_names_.begin(), resource_names_.end(), item.resource);
      if (at != resource_names_.end()) {
        const auto r = static_cast<std::size_t>(at - resource_names_.begin());
        task_amounts_[p * width_ + r] = item.amount;
      }
    }
  }
  free_.assign(profile_names_.size(), 0);
  bound_free_.assign(profile_names_.size(), 0);
  reserved_slots_.assign(profile_names_.size(), 0);
}

Index SlotBook::add(const model::ExecutorAdded& event) {
  const Index index = static_cast<Index>(executors_.size());
  Executor& added = executors_.emplace_back();
  added.name = event.executor;
  added.host = event.host;
  added.profile = event.profile.valid() ? find_profile(event.profile) : no_index;
  unbound_live_ += event.profile.valid() ? 0 : 1;
  amounts_.resize(amounts_.size() + width_);
  for (const model::Amount& item : event.resources) {
    const auto at = std::find(resource_names_.begin(), resource_names_.end(), item.resource);
    if (at != resource_names_.end()) {
      const auto r = static_cast<std::size_t>(at - resource_names_.begin());
      amounts_[index * width_ + r].capacity = item.amount;
    }
  }
  if (factor_ != 1) {
    stretch(index);
  }
  cached_free_.resize(executors_.size() * profile_names_.size(), 0);
  if (event.executor.index() >= executor_of_name_.size()) {
    executor_of_name_.resize(event.executor.index() + 1, no_index);
  }
  executor_of_name_[event.executor.index()] = index;
  mark(index);
  ++returns_;
  idle_capacity_known_ = open_capacity_known_ = false;
  return index;
}

// A22: so many times the slots of an executor of one profile, so many times the amounts of one that
// serves several; never a profile of which it has no slot at all.
void SlotBook::stretch(Index index) {
  Executor& executor = executors_[index];
  const auto profiles = static_cast<Index>(profile_names_.size());
  const Index only = profiles == 1 ? 0 : executor.profile;
  std::vector<bool> without(profiles, false);
  for (Index p = 0; p < profiles; ++p) {
    if (serves(index, p)) {
      const std::int64_t slots = slots_in(index, p, true);
      without[p] = slots == 0;
      executor.own_slots = std::max(executor.own_slots, slots);
    }
  }
  executor.without = std::move(without);
  for (std::size_t r = 0; r < width_; ++r) {
    std::int64_t& capacity = amounts_[index * width_ + r].capacity;
    const std::int64_t task = only == no_index ? 0 : task_amounts_[only * width_ + r];
    capacity = task > 0 ? executor.own_slots * task * factor_ : capacity * factor_;
  }
}

void SlotBook::lose(Index executor, bool outputs_gone) {
  Executor& lost = executors_[executor];
  RH_CHECK(lost.live, executor);
  lost.live = false;
  lost.outputs_gone = outputs_gone;
  busy_ -= lost.busy_slots;
  unbound_live_ -= lost.profile == no_index ? 1 : 0;
  lost.held_slots.clear();
  idle_capacity_known_ = open_capacity_known_ = false;
  mark(executor);
}

void SlotBook::set_held(Index executor, bool held, bool decommission) {
  executors_[executor].held = held;
  executors_[executor].decommissioned = executors_[executor].decommissioned || decommission;
  idle_capacity_known_ = idle_capacity_known_ && !decommission;
  open_capacity_known_ = false;
  returns_ += held ? 0U : 1U;
  mark(executor);
}

void SlotBook::take(Index executor, Index profile, std::int64_t n) { change(executor, profile, n); }

void SlotBook::give_back(Index executor, Index profile, std::int64_t n) {
  change(executor, profile, -n);
}

void SlotBook::change(Index executor, Index profile, std::int64_t n) {
  Executor& where = executors_[executor];
  where.busy_slots += static_cast<std::int32_t>(n);
  busy_ += where.live ? n : 0;
  returns_ += n < 0 ? 1U : 0U;
  mark(executor);
  if (profile == no_index) {
    unknown_ += n;
    return;  // a profile that the run line does not have: nothing is known about its size
  }
  for (std::size_t r = 0; r < width_; ++r) {
    amounts_[executor * width_ + r].used += n * task_amounts_[profile * width_ + r];
  }
}

void SlotBook::reserve(Index executor, Index profile, std::int64_t delta) {
  executors_[executor].reserved_slots += static_cast<std::int32_t>(delta);
  reserved_slots_[profile] += delta;
  returns_ += delta < 0 ? 1U : 0U;
  for (std::size_t r = 0; r < width_; ++r) {
    amounts_[executor * width_ + r].reserved += delta * task_amounts_[profile * width_ + r];
  }
  mark(executor);
}

namespace {

bool take_out(std::vector<HeldSlot>& list, HeldSlot slot) {
  for (HeldSlot& item : list) {
    if (item.job == slot.job && item.profile == slot.profile) {
      item = list.back();
      list.pop_back();
      return true;
    }
  }
  return false;
}

}  // namespace

bool SlotBook::hold_slot(Index executor, HeldSlot slot) {
  if (take_out(executors_[executor].early_slots, slot)) {
    return false;
  }
  if (!executors_[executor].live) {
    return false;  // its slots went with it
  }
  executors_[executor].held_slots.push_back(slot);
  return true;
}

bool SlotBook::unhold_slot(Index executor, HeldSlot slot) {
  if (take_out(executors_[executor].held_slots, slot)) {
    return true;
  }
  executors_[executor].early_slots.push_back(slot);
  return false;
}

Index SlotBook::find(model::NameId name) const {
  if (name.index() >= executor_of_name_.size()) {
    return no_index;
  }
  return executor_of_name_[name.index()];
}

Index SlotBook::find_profile(model::NameId name) const {
  for (std::size_t p = 0; p < profile_names_.size(); ++p) {
    if (profile_names_[p] == name) {
      return static_cast<Index>(p);
    }
  }
  return no_index;
}

bool SlotBook::serves(Index executor, Index profile) const {
  const Index bound = executors_[executor].profile;
  return bound == no_index || profile == no_index || bound == profile;
}

bool SlotBook::fits_more(const Question& question) const {
  if (question.profile == no_index) {
    return true;
  }
  if (factor_ == 0) {
    return slots_in(question.executor, question.profile, false) >= question.slots;
  }
  const std::int64_t* task = task_amounts_.data() + question.profile * width_;
  for (std::size_t r = 0; r < width_; ++r) {
    const Amounts& amounts = amounts_[question.executor * width_ + r];
    const std::int64_t set_aside = question.beside_reserved ? amounts.reserved : 0;
    const std::int64_t after = amounts.used + set_aside + question.slots * task[r];
    if (task[r] > 0 && after > amounts.capacity) {
      return false;
    }
  }
  return true;
}

std::int64_t SlotBook::slots_in(Index executor, Index profile, bool idle) const {
  if (!serves(executor, profile)) {
    return 0;
  }
  if (const Executor& row = executors_[executor]; factor_ != 1 && !row.without.empty()) {
    if (row.without[profile]) {
      return 0;
    }
    if (factor_ == 0) {
      return model::no_bound_slots + std::min(row.own_slots, model::shared_slots_max) -
             (idle ? 0 : row.busy_slots + row.reserved_slots);
    }
  }
  std::int64_t slots = model::unbounded_slots;
  for (std::size_t r = 0; r < width_; ++r) {
    const std::int64_t task = task_amounts_[profile * width_ + r];
    if (task > 0) {
      const Amounts& amounts = amounts_[executor * width_ + r];
      const std::int64_t left = amounts.capacity - (idle ? 0 : amounts.used + amounts.reserved);
      if (left < task) {
        return 0;
      }
      slots = std::min(slots, left < 2 * task ? 1 : left / task);  // a division is the dear part
    }
  }
  return slots;
}

void SlotBook::mark(Index executor) {
  if (!executors_[executor].stale) {
    executors_[executor].stale = true;
    stale_.push_back(executor);
  }
}

void SlotBook::refresh(Index executor) const {
  const bool open = executors_[executor].live && !executors_[executor].held;
  for (std::size_t p = 0; p < profile_names_.size(); ++p) {
    std::int64_t& cached = cached_free_[executor * profile_names_.size() + p];
    const std::int64_t now = open ? slots_in(executor, static_cast<Index>(p), false) : 0;
    free_[p] += now - cached;
    bound_free_[p] += executors_[executor].profile == no_index ? 0 : now - cached;
    cached = now;
  }
  executors_[executor].stale = false;
}

std::span<const std::int64_t> SlotBook::free() const {
  for (const Index executor : stale_) {
    refresh(executor);
  }
  stale_.clear();
  return free_;
}

std::span<const std::int64_t> SlotBook::bound_free() const {
  static_cast<void>(free());
  return bound_free_;
}

std::vector<std::int64_t> SlotBook::idle_free() const {
  std::vector<std::int64_t> sum(profile_names_.size(), 0);
  for (std::size_t e = 0; e < executors_.size(); ++e) {
    const Executor& executor = executors_[e];
    const bool idle = executor.busy_slots == 0 && executor.reserved_slots == 0;
    for (std::size_t p = 0; idle && executor.live && !executor.held && p < sum.size(); ++p) {
      sum[p] += slots_in(static_cast<Index>(e), static_cast<Index>(p), true);
    }
  }
  return sum;
}

std::span<const std::int64_t> SlotBook::idle_capacity() const {
  if (!idle_capacity_known_) {
    idle_capacity_ = capacity_where([](const Executor& row) { return !row.decommissioned; });
    idle_capacity_known_ = true;
  }
  return idle_capacity_;
}

std::span<const std::int64_t> SlotBook::open_capacity() const {
  if (!open_capacity_known_) {
    open_capacity_ = capacity_where([](const Executor& row) { return !row.held; });
    open_capacity_known_ = true;
  }
  return open_capacity_;
}

// Per profile: what live executors offer when idle, of those for which it holds.
template <class Counts>
std::vector<std::int64_t> SlotBook::capacity_where(Counts counts) const {
  std::vector<std::int64_t> sum(profile_names_.size(), 0);
  for (std::size_t e = 0; e < executors_.size(); ++e) {
    if (executors_[e].live && counts(executors_[e])) {
      for (std::size_t p = 0; p < sum.size(); ++p) {
        sum[p] += slots_in(static_cast<Index>(e), static_cast<Index>(p), true);
      }
    }
  }
  return sum;
}

}  // namespace rehearse::properties
