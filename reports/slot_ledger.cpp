// registry: none (part of the metrics)
//
// The ledger keeps, per executor, how many tasks of each profile hold, block or reserve slots, and
// the executor's share of every sum. A change recomputes one executor's share: O(profiles) where
// all its tasks are of the profile it counts in, O(profiles * resources) otherwise.
#include "reports/slot_ledger.hpp"

#include <algorithm>

#include "model/axes.hpp"
#include "model/resources.hpp"
#include "model/support/check.hpp"
#include "model/support/units.hpp"

namespace rehearse::reports {
namespace {

constexpr std::uint64_t all_profiles = ~std::uint64_t{0};

std::uint64_t bit(std::size_t profile) {
  return std::uint64_t{1} << std::min<std::size_t>(profile, 63);
}

// "exclusive", "shared[factor=2]".
std::int64_t factor_of(std::string_view text) {
  const auto value = model::parse_axis_text(text);
  if (!value || value->value != "shared" || value->parameters.empty()) {
    return 1;
  }
  return model::parse_decimal(value->parameters.front().value.value, 1).value_or(1);
}

bool is_unbounded(std::int64_t slots) { return slots >= model::unbounded_slots; }

}  // namespace

void SlotLedger::run_started(const model::RunStart& run, const model::NameTable& names) {
  RH_CHECK(executors_.empty());
  for (const model::AxisValue& item : run.axes) {
    factor_ = names.text(item.axis) == "slots" ? factor_of(names.text(item.value)) : factor_;
  }
  for (const model::ProfileAmounts& profile : run.profiles) {
    profile_names_.push_back(profile.profile);
    for (const model::Amount& amount : profile.task) {
      resource(amount.resource);
    }
  }
  for (const model::ProfileAmounts& profile : run.profiles) {
    std::vector<std::int64_t> amounts(resources_.size(), 0);
    for (const model::Amount& amount : profile.task) {
      amounts[resource(amount.resource)] = amount.amount;
    }
    tasks_.push_back(std::move(amounts));
  }
  room_.assign(tasks_.size(), 0);
  withheld_.assign(tasks_.size(), 0);
  capacity_.assign(tasks_.size(), 0);
}

std::size_t SlotLedger::resource(model::NameId name) {
  const auto found = std::ranges::find(resources_, name);
  if (found == resources_.end()) {
    resources_.push_back(name);
    return resources_.size() - 1;
  }
  return static_cast<std::size_t>(found - resources_.begin());
}

std::size_t SlotLedger::profile(model::NameId name) const {
  const auto found = std::ranges::find(profile_names_, name);
  return found == profile_names_.end() ? 0
                                       : static_cast<std::size_t>(found - profile_names_.begin());
}

std::int64_t SlotLedger::fit(const std::vector<std::int64_t>& amounts, std::size_t profile) const {
  std::int64_t slots = model::unbounded_slots;
  const std::vector<std::int64_t>& task = tasks_[profile];
  for (std::size_t i = 0; i < task.size(); ++i) {
    if (task[i] > 0) {
      slots = std::min(slots, std::max<std::int64_t>(amounts[i], 0) / task[i]);
    }
  }
  return slots;
}

void SlotLedger::added(const model::ExecutorAdded& event) {
  if (tasks_.empty()) {  // a journal without a run line: one profile that asks for nothing
    tasks_.emplace_back();
    profile_names_.emplace_back();
    room_.assign(1, 0);
    withheld_.assign(1, 0);
    capacity_.assign(1, 0);
  }
  if (event.executor.index() >= index_.size()) {
    index_.resize(event.executor.index() + 1, 0);
  }
  if (index_[event.executor.index()] == 0) {
    executors_.emplace_back();
    index_[event.executor.index()] = static_cast<std::uint32_t>(executors_.size());
  } else {
    lost(event.executor);  // the name is used again
  }
  Executor& executor = executors_[index_[event.executor.index()] - 1];
  executor = Executor{};
  executor.live = true;
  executor.unbound = !event.profile.valid();
  executor.profile = executor.unbound ? 0 : profile(event.profile);
  executor.amounts.assign(resources_.size(), 0);
  for (const model::Amount& amount : event.resources) {
    const auto found = std::ranges::find(resources_, amount.resource);
    if (found != resources_.end()) {
      executor.amounts[static_cast<std::size_t>(found - resources_.begin())] = amount.amount;
    }
  }
  if (executor.unbound) {
    for (std::size_t p = 0; p < tasks_.size(); ++p) {
      executor.slots.push_back(fit(executor.amounts, p));
    }
  } else {
    executor.slots.push_back(fit(executor.amounts, executor.profile));
  }
  executor.held_by.resize(executor.slots.size());
  executor.room.assign(executor.slots.size(), 0);
  count_capacity(executor, +1);
  refresh(executor);
}

SlotLedger::Executor* SlotLedger::find(model::NameId name) {
  if (!name.valid() || name.index() >= index_.size() || index_[name.index()] == 0) {
    return nullptr;
  }
  return &executors_[index_[name.index()] - 1];
}

void SlotLedger::lost(model::NameId name) {
  Executor* executor = find(name);
  if (executor == nullptr || !executor->live) {
    return;
  }
  if (!executor->draining) {
    count_capacity(*executor, -1);
  }
  executor->live = false;
  losses_seen_ = true;
  refresh(*executor);
}

void SlotLedger::held(model::NameId name, bool draining) {
  Executor* executor = find(name);
  if (executor == nullptr || !executor->live) {
    return;
  }
  if (draining && !executor->draining) {
    count_capacity(*executor, -1);
    losses_seen_ = true;
    executor->draining = true;
  }
  executor->held = executor->held || !draining;
  refresh(*executor);
}

void SlotLedger::released(model::NameId name) {
  if (Executor* executor = find(name); executor != nullptr) {
    executor->held = false;
    refresh(*executor);
  }
}

// Of one profile it offers so many times its slots; of several, see recount_shared.
std::int64_t SlotLedger::offered(const Executor& executor, std::size_t place) const {
  const std::int64_t slots = executor.slots[place];
  if (factor_ == 0) {
    return slots == 0 ? 0 : model::no_bound_slots;
  }
  if (factor_ == 1 || slots == 0 || is_unbounded(slots) || executor.slots.size() == 1) {
    return is_unbounded(slots) ? slots : slots * factor_;
  }
  std::vector<std::int64_t> amounts = executor.amounts;
  for (std::int64_t& amount : amounts) {
    amount *= factor_;
  }
  return fit(amounts, place);
}

void SlotLedger::count_capacity(const Executor& executor, std::int64_t sign) {
  for (std::size_t i = 0; i < executor.slots.size(); ++i) {
    capacity_[executor.unbound ? i : executor.profile] += sign * offered(executor, i);
  }
}

SlotLedger::Held* SlotLedger::holder(model::NameId name, std::size_t profile, Executor*& executor) {
  executor = find(name);
  if (executor == nullptr) {
    return nullptr;
  }
  return &executor->held_by[executor->unbound ? profile : 0];
}

void SlotLedger::start(model::NameId executor, std::size_t profile, std::int64_t count) {
  Executor* row = nullptr;
  if (Held* held = holder(executor, profile, row); held != nullptr) {
    held->running += count;
    refresh(*row);
  }
}

void SlotLedger::give_back(model::NameId executor, std::size_t profile, std::int64_t count) {
  Executor* row = nullptr;
  if (Held* held = holder(executor, profile, row); held != nullptr) {
    held->running = std::max<std::int64_t>(held->running - count, 0);
    refresh(*row);
  }
}

void SlotLedger::block(model::NameId executor, std::size_t profile) {
  Executor* row = nullptr;
  Held* held = holder(executor, profile, row);
  if (held != nullptr && held->running > 0) {
    --held->running;
    ++held->blocked;
    refresh(*row);
  }
}

void SlotLedger::unblock(model::NameId executor, std::size_t profile) {
  Executor* row = nullptr;
  Held* held = holder(executor, profile, row);
  if (held != nullptr && held->blocked > 0) {
    --held->blocked;
    ++held->running;
    refresh(*row);
  }
}

void SlotLedger::reserve(model::NameId executor, std::size_t profile, std::int64_t delta) {
  Executor* row = nullptr;
  if (Held* held = holder(executor, profile, row); held != nullptr) {
    held->reserved = std::max<std::int64_t>(held->reserved + delta, 0);
    refresh(*row);
  }
}

void SlotLedger::add_free(const FreeSlots& change, std::int64_t sign) {
  if (change.slots == 0) {
    return;
  }
  for (FreeSlots& entry : free_) {
    if (entry.serves == change.serves && entry.fits == change.fits) {
      entry.slots += sign * change.slots;
      if (entry.slots == 0) {
        entry = free_.back();
        free_.pop_back();
      }
      return;
    }
  }
  RH_CHECK(sign > 0);
  free_.push_back(change);
}

void SlotLedger::refresh(Executor& executor) {
  const auto apply = [&](std::int64_t sign) {
    total_.slots += sign * executor.counted.slots;
    total_.busy += sign * executor.counted.busy;
    total_.blocked += sign * executor.counted.blocked;
    total_.reserved += sign * executor.counted.reserved;
    total_.free_withheld += sign * executor.counted.free_withheld;
    for (std::size_t i = 0; i < executor.room.size(); ++i) {
      std::vector<std::int64_t>& sums = executor.withholds ? withheld_ : room_;
      sums[executor.unbound ? i : executor.profile] += sign * executor.room[i];
    }
    add_free(executor.free, sign);
  };
  apply(-1);
  executor.counted = Sums{};
  executor.free = FreeSlots{};
  executor.withholds = executor.held;
  std::ranges::fill(executor.room, 0);
  if (executor.live) {
    recount(executor);
  }
  apply(+1);
}

void SlotLedger::recount(Executor& executor) const {
  const std::size_t own = executor.unbound ? executor.profile : 0;
  bool mixed = false;
  for (std::size_t i = 0; i < executor.held_by.size(); ++i) {
    const Held& held = executor.held_by[i];
    mixed = mixed || (i != own && held.running + held.blocked + held.reserved > 0);
  }
  if (mixed || executor.slots.size() > 1) {
    recount_mixed(executor);
  } else {
    const Held& held = executor.held_by[own];
    const std::int64_t slots = executor.slots[own];
    Sums& counted = executor.counted;
    // More tasks than slots is a finding of NO_OVERSUBSCRIPTION; time is still counted once.
    counted.busy = std::min(held.running, slots);
    counted.blocked = std::min(held.blocked, slots - counted.busy);
    counted.reserved = std::min(held.reserved, slots - counted.busy - counted.blocked);
    executor.room[own] = slots - counted.busy - counted.blocked - counted.reserved;
  }
  if (factor_ != 1) {
    recount_shared(executor);
  }
  Sums& counted = executor.counted;
  const std::int64_t taken = counted.busy + counted.blocked + counted.reserved;
  const bool unbounded = is_unbounded(executor.slots[own]);
  counted.slots = unbounded ? taken : executor.slots[own];
  const std::int64_t free = counted.slots - taken;
  RH_CHECK(free >= 0, free);
  if (executor.held || executor.draining) {
    counted.free_withheld = free;
    if (executor.draining) {
      std::ranges::fill(executor.room, 0);
    }
    return;
  }
  executor.free.serves = executor.unbound ? all_profiles : bit(executor.profile);
  for (std::size_t i = 0; i < executor.room.size(); ++i) {
    executor.free.fits |= executor.room[i] > 0 ? bit(executor.unbound ? i : executor.profile) : 0;
  }
  executor.free.slots = free;
}

// What more fits where tasks share slots. Busy slots and the like are as counted: at most all.
void SlotLedger::recount_shared(Executor& executor) const {
  std::int64_t tasks = 0;
  std::vector<std::int64_t> amounts = executor.amounts;
  for (std::int64_t& amount : amounts) {
    amount *= factor_;
  }
  for (std::size_t i = 0; i < executor.held_by.size(); ++i) {
    const Held& held = executor.held_by[i];
    const std::int64_t count = held.running + held.blocked + held.reserved;
    tasks += count;
    for (std::size_t r = 0; r < amounts.size() && executor.unbound; ++r) {
      amounts[r] -= count * tasks_[i][r];
    }
  }
  for (std::size_t i = 0; i < executor.room.size(); ++i) {
    const std::int64_t most = offered(executor, i);
    const bool alone = executor.slots.size() == 1 || factor_ == 0 || is_unbounded(most);
    const std::int64_t left = alone ? most - tasks : fit(amounts, i);
    executor.room[i] = most == 0 ? 0 : std::max<std::int64_t>(left, 0);
  }
}

SlotLedger::Sharing SlotLedger::sharing(model::NameId name) const {
  Sharing most;
  if (factor_ == 1 || name.index() >= index_.size() || index_[name.index()] == 0) {
    return most;
  }
  const Executor& executor = executors_[index_[name.index()] - 1];
  const auto look = [&](std::int64_t taken, std::int64_t whole) {
    if (whole > 0 && taken > whole && taken * most.whole > most.taken * whole) {
      most = {.taken = taken, .whole = whole};
    }
  };
  if (executor.slots.size() == 1) {
    look(executor.held_by.front().running, executor.slots.front());
    return most;
  }
  for (std::size_t r = 0; r < executor.amounts.size(); ++r) {
    std::int64_t taken = 0;
    for (std::size_t p = 0; p < executor.held_by.size(); ++p) {
      taken += executor.held_by[p].running * tasks_[p][r];
    }
    look(taken, executor.amounts[r]);
  }
  return most;
}

// Tasks of several profiles share the executor: each use counts for the slots of the counting
// profile that it takes away, running tasks first, then blocked ones, then reservations.
void SlotLedger::recount_mixed(Executor& executor) const {
  std::vector<std::int64_t>& amounts = executor.amounts;
  const auto take = [&](std::int64_t Held::* use, std::int64_t sign) {
    for (std::size_t p = 0; p < executor.held_by.size(); ++p) {
      if (const std::int64_t count = executor.held_by[p].*use; count != 0) {
        for (std::size_t r = 0; r < amounts.size(); ++r) {
          amounts[r] -= sign * count * tasks_[p][r];
        }
      }
    }
  };
  const std::int64_t slots = executor.slots[executor.profile];
  if (is_unbounded(slots)) {
    for (const Held& held : executor.held_by) {
      executor.counted.busy += held.running;
      executor.counted.blocked += held.blocked;
      executor.counted.reserved += held.reserved;
    }
  }
  const auto after = [&](std::int64_t Held::* use, std::int64_t before, std::int64_t& counted) {
    take(use, +1);
    const std::int64_t left = fit(amounts, executor.profile);
    if (!is_unbounded(slots)) {
      counted = before - left;
    }
    return left;
  };
  const std::int64_t beside_busy = after(&Held::running, slots, executor.counted.busy);
  const std::int64_t beside_blocked = after(&Held::blocked, beside_busy, executor.counted.blocked);
  after(&Held::reserved, beside_blocked, executor.counted.reserved);
  for (std::size_t p = 0; p < executor.room.size(); ++p) {
    executor.room[p] = fit(amounts, p);
  }
  take(&Held::running, -1);
  take(&Held::blocked, -1);
  take(&Held::reserved, -1);
}

}  // namespace rehearse::reports
