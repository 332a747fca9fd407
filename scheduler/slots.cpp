// The slot ledger: exact amounts per executor, counts per profile in sets.
#include "scheduler/slots.hpp"

#include <algorithm>
#include <utility>

#include "model/support/check.hpp"

namespace rehearse::scheduler {

namespace {

// Without a bound every task is one of a resource that nothing else is.
std::vector<model::ResourceVector> offered_tasks(std::vector<model::ResourceVector> tasks,
                                                 std::int64_t factor) {
  if (factor == 0) {
    tasks.assign(tasks.size(), {1});
  }
  return tasks;
}

}  // namespace

Ledger::Ledger(std::vector<model::ResourceVector> tasks, std::int64_t factor)
    : resources_(tasks.empty() ? 0
                 : factor == 0 ? 1
                               : tasks.front().size()),
      factor_(factor),
      whole_tasks_(factor == 1 ? std::vector<model::ResourceVector>{} : tasks),
      tasks_(offered_tasks(std::move(tasks), factor)),
      sure_task_(resources_, 0),
      slots_(tasks_.size()),
      free_total_(tasks_.size(), 0),
      total_slots_(tasks_.size(), 0),
      free_amount_(resources_, 0),
      open_amount_(resources_, 0),
      freed_(tasks_.size(), 0) {
  for (const model::ResourceVector& task : tasks_) {
    RH_CHECK(task.size() == resources_);
    bool limited = false;
    for (std::size_t r = 0; r < resources_; ++r) {
      sure_task_[r] = std::max(sure_task_[r], task[r]);
      limited = limited || task[r] > 0;
    }
    limited_.push_back(limited);
  }
}

model::ResourceVector Ledger::shared_total(std::size_t e, const model::ResourceVector& total,
                                           ProfileId bound) {
  const std::size_t profiles = tasks_.size();
  barred_.resize((e + 1) * profiles, 0);
  std::int64_t most = 0;
  for (std::size_t p = 0; p < profiles; ++p) {
    if (!bound.valid() || bound.index() == p) {
      const std::int64_t slots = count(total.data(), whole_tasks_[p]);
      barred_[e * profiles + p] = slots == 0 ? 1 : 0;
      most = std::max(most, slots);
    }
  }
  if (factor_ == 0) {
    return {most == 0 ? 0 : model::no_bound_slots + std::min(most, model::shared_slots_max)};
  }
  model::ResourceVector offered = total;
  const bool alone = bound.valid() || profiles == 1;
  for (std::size_t r = 0; r < offered.size(); ++r) {
    const std::int64_t task = alone ? whole_tasks_[bound.valid() ? bound.index() : 0][r] : 0;
    // Of one profile it offers so many times its slots, not what its amounts times that would give.
    offered[r] = task > 0 ? factor_ * most * task : factor_ * offered[r];
  }
  return offered;
}

ExecutorId Ledger::add(const model::ResourceVector& own, ProfileId bound, std::uint64_t name_key) {
  RH_CHECK(factor_ == 0 || own.size() == resources_);
  RH_CHECK(!bound.valid() || bound.index() < tasks_.size(), bound.value);
  const ExecutorId executor{rows_.size()};
  model::ResourceVector shared;
  if (factor_ != 1) {
    shared = shared_total(executor.index(), own, bound);
  }
  const model::ResourceVector& total = factor_ == 1 ? own : shared;
  reserve_first(amounts_);
  amounts_.insert(amounts_.end(), total.begin(), total.end());
  amounts_.insert(amounts_.end(), total.begin(), total.end());
  if (planted(Mutant::mu03)) {
    const auto both = 2 * static_cast<std::ptrdiff_t>(resources_);
    std::for_each(amounts_.end() - both, amounts_.end(), [](std::int64_t& amount) { amount *= 2; });
  }
  reserve_first(rows_);
  reserve_first(name_keys_);
  rows_.push_back({bound, 0, false, {}});
  name_keys_.push_back(name_key);
  numbering_ += numbered(executor);
  bound_count_ += bound.valid() ? 1U : 0U;
  digest_.touch(executor.index(), rows_.back().dirty.on);
  return executor;
}

bool Ledger::serves(ExecutorId executor, ProfileId profile) const {
  const ProfileId bound = rows_[executor.index()].bound;
  const bool barred =
      !barred_.empty() && barred_[executor.index() * tasks_.size() + profile.index()] != 0;
  if (planted(Mutant::mu04)) {
    return !barred;
  }
  return (!bound.valid() || bound == profile) && !barred;
}

std::int64_t Ledger::count(const std::int64_t* free, const model::ResourceVector& task) {
  std::int64_t slots = model::unbounded_slots;
  for (std::size_t r = 0; r < task.size(); ++r) {
    if (task[r] > 0) {
      slots = std::min(slots, free[r] / task[r]);
    }
  }
  return slots;
}

void Ledger::store(std::size_t e, std::size_t profile, std::int64_t slots) {
  const auto index = static_cast<std::uint32_t>(e);
  const auto now = static_cast<std::int32_t>(slots);
  const std::int32_t before = slots_[profile].set(index, now);
  if (before == now) {
    return;
  }
  free_total_[profile] += now - before;
  if (!bound_slots_.empty() && rows_[e].bound.valid()) {
    bound_slots_[profile].set(index, now);
  }
}

void Ledger::show_bound_only(bool on) {
  bound_only_ = on;
  if (!on || !bound_slots_.empty()) {
    return;
  }
  bound_slots_.resize(tasks_.size());
  for (std::uint32_t e = 0; e < rows_.size(); ++e) {
    for (std::size_t p = 0; p < tasks_.size() && rows_[e].bound.valid(); ++p) {
      bound_slots_[p].set(e, slots_[p].get(e));
    }
  }
}

void Ledger::recount_all(std::size_t e) {
  const bool open = rows_[e].open;
  for (std::size_t p = 0; p < tasks_.size(); ++p) {
    if (serves(ExecutorId{e}, ProfileId{p})) {
      store(e, p, open ? count(free_of(e), tasks_[p]) : 0);
    }
  }
  bool sure_counts = open && !rows_[e].bound.valid();
  for (std::size_t p = 0; p < tasks_.size() && !barred_.empty(); ++p) {
    sure_counts = sure_counts && barred_[e * tasks_.size() + p] == 0;
  }
  const auto sure = static_cast<std::int32_t>(sure_counts ? count(total_of(e), sure_task_) : 0);
  sure_total_ += sure - rows_[e].sure;
  rows_[e].sure = sure;
}

void Ledger::recount(std::size_t e, std::size_t changed, std::int64_t by) {
  if (rows_[e].bound.valid()) {
    store(e, changed, slots_[changed].get(static_cast<std::uint32_t>(e)) + by);
    return;
  }
  const std::size_t profiles = tasks_.size();
  const std::int64_t* free = free_of(e);
  for (std::size_t p = 0; p < profiles; ++p) {
    if (!barred_.empty() && barred_[e * profiles + p] != 0) {
      continue;
    }
    // Taking one task lowers every quotient of its own profile by exactly one.
    store(
        e, p,
        p == changed ? slots_[p].get(static_cast<std::uint32_t>(e)) + by : count(free, tasks_[p]));
  }
}

void Ledger::open(ExecutorId executor) {
  const std::size_t e = executor.index();
  RH_CHECK(!rows_[e].open, executor.value);
  rows_[e].open = true;
  ++open_count_;
  for (std::size_t r = 0; r < resources_; ++r) {
    free_amount_[r] += free_of(e)[r];
    open_amount_[r] += total_of(e)[r];
  }
  recount_all(e);
  for (std::size_t p = 0; p < tasks_.size(); ++p) {
    freed_[p] += serves(executor, ProfileId{p}) ? 1U : 0U;
    total_slots_[p] += serves(executor, ProfileId{p}) ? count(total_of(e), tasks_[p]) : 0;
  }
  digest_.touch(e, rows_[e].dirty.on);
}

void Ledger::close(ExecutorId executor) {
  const std::size_t e = executor.index();
  RH_CHECK(rows_[e].open, executor.value);
  rows_[e].open = false;
  --open_count_;
  for (std::size_t r = 0; r < resources_; ++r) {
    free_amount_[r] -= free_of(e)[r];
    open_amount_[r] -= total_of(e)[r];
  }
  recount_all(e);
  for (std::size_t p = 0; p < tasks_.size(); ++p) {
    total_slots_[p] -= serves(executor, ProfileId{p}) ? count(total_of(e), tasks_[p]) : 0;
  }
  digest_.touch(e, rows_[e].dirty.on);
}

void Ledger::withhold(ExecutorId executor, const model::ResourceVector& amounts) {
  const std::size_t e = executor.index();
  RH_CHECK(rows_[e].open, executor.value);
  for (std::size_t r = 0; r < resources_; ++r) {
    free_of(e)[r] -= amounts[r];
    free_amount_[r] -= amounts[r];
    RH_CHECK(free_of(e)[r] >= 0, executor.value);
  }
  recount_all(e);
  digest_.touch(e, rows_[e].dirty.on);
}

void Ledger::restore(ExecutorId executor, const model::ResourceVector& amounts) {
  const std::size_t e = executor.index();
  RH_CHECK(rows_[e].open, executor.value);
  for (std::size_t r = 0; r < resources_; ++r) {
    free_of(e)[r] += amounts[r];
    free_amount_[r] += amounts[r];
    RH_CHECK(free_of(e)[r] <= total_of(e)[r], executor.value);
  }
  recount_all(e);
  digest_.touch(e, rows_[e].dirty.on);
}

void Ledger::exchange(ExecutorId left, ExecutorId right) {
  close(left);
  close(right);
  const auto width = static_cast<std::ptrdiff_t>(2 * resources_);
  const auto from = amounts_.begin() + width * static_cast<std::ptrdiff_t>(left.index());
  const auto to = amounts_.begin() + width * static_cast<std::ptrdiff_t>(right.index());
  std::swap_ranges(from, from + width, to);
  std::swap(rows_[left.index()].bound, rows_[right.index()].bound);
  numbering_ -= numbered(left) + numbered(right);
  std::swap(name_keys_[left.index()], name_keys_[right.index()]);
  numbering_ += numbered(left) + numbered(right);
  for (std::size_t p = 0; p < tasks_.size() && !barred_.empty(); ++p) {
    std::swap(barred_[left.index() * tasks_.size() + p],
              barred_[right.index() * tasks_.size() + p]);
  }
  open(left);
  open(right);
}

void Ledger::take(ExecutorId executor, ProfileId profile) {
  const std::size_t e = executor.index();
  RH_CHECK(rows_[e].open, executor.value);
  RH_CHECK(slots_[profile.index()].get(executor.value) > 0, executor.value, profile.value);
  std::int64_t* free = free_of(e);
  const model::ResourceVector& task = tasks_[profile.index()];
  for (std::size_t r = 0; r < resources_; ++r) {
    free[r] -= task[r];
    free_amount_[r] -= task[r];
  }
  recount(e, profile.index(), limited_[profile.index()] ? -1 : 0);
  digest_.touch(e, rows_[e].dirty.on);
}

void Ledger::undo(ExecutorId executor, ProfileId profile) {
  const std::size_t e = executor.index();
  const bool open = rows_[e].open;
  std::int64_t* free = free_of(e);
  std::int64_t* sum = free_amount_.data();
  const std::int64_t* task = tasks_[profile.index()].data();
  const std::size_t resources = resources_;
  for (std::size_t r = 0; r < resources; ++r) {
    free[r] += task[r];
    sum[r] += open ? task[r] : 0;
    RH_CHECK(free[r] <= free[resources + r], executor.value, profile.value);  // of its total
  }
  digest_.touch(e, rows_[e].dirty.on);
  if (!open) {
    return;
  }
  recount(e, profile.index(), limited_[profile.index()] ? 1 : 0);
}

void Ledger::give(ExecutorId executor, ProfileId profile) {
  undo(executor, profile);
  if (!rows_[executor.index()].open) {
    return;
  }
  for (std::size_t p = 0; p < tasks_.size(); ++p) {
    freed_[p] += serves(executor, ProfileId{p}) ? 1U : 0U;
  }
}

std::int64_t Ledger::free_slots(ExecutorId executor, ProfileId profile) const {
  if (bound_only_ && !rows_[executor.index()].bound.valid()) {
    return 0;
  }
  return slots_[profile.index()].get(executor.value);
}

ExecutorId Ledger::most_free(ProfileId profile) const {
  const auto& slots = bound_only_ ? bound_slots_ : slots_;
  const std::uint32_t index = slots[profile.index()].argmax();
  return index == no_position ? ExecutorId{} : ExecutorId{index};
}

ExecutorId Ledger::first_free(ProfileId profile, std::uint32_t from) const {
  const auto& slots = bound_only_ ? bound_slots_ : slots_;
  const std::uint32_t index = slots[profile.index()].first_positive(from);
  return index == no_position ? ExecutorId{} : ExecutorId{index};
}

std::uint64_t Ledger::row_hash(std::size_t e) const {
  std::uint64_t hash = hash_of({e, bits(rows_[e].bound.value), rows_[e].open ? 1U : 0U});
  for (std::size_t r = 0; r < resources_; ++r) {
    hash = mix(mix(hash, bits(free_of(e)[r])), bits(total_of(e)[r]));
  }
  return hash;
}

std::uint64_t Ledger::digest() {
  return digest_.settle(rows_.size(), [this](std::size_t e) {
    rows_[e].dirty.on = false;
    return row_hash(e);
  });
}

std::uint64_t Ledger::full_digest() const {
  std::uint64_t sum = 0;
  for (std::size_t e = 0; e < rows_.size(); ++e) {
    sum += row_hash(e);
  }
  return sum;
}

bool Ledger::operator==(const Ledger& other) const {
  return tasks_ == other.tasks_ && amounts_ == other.amounts_ && rows_ == other.rows_;
}

}  // namespace rehearse::scheduler
