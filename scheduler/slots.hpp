// The slot ledger (A4): what every executor has, what of it is free, and for each profile how many
// tasks still fit where. Counts include what is reserved as taken. Two ledgers exist: the live one,
// and the idle one on which A5 asks what could ever fit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/resources.hpp"
#include "scheduler/indexes.hpp"
#include "scheduler/policy.hpp"
#include "scheduler/table.hpp"

namespace rehearse::scheduler {

class Ledger final : public SlotView {
 public:
  Ledger() = default;
  // `tasks`: amounts of one task by profile; resources of all vectors agree. `factor` (A22): an
  // executor offers so many times its slots; 0: no bound, then tasks only count.
  explicit Ledger(std::vector<model::ResourceVector> tasks, std::int64_t factor = 1);
  Ledger(const Ledger&) = default;
  Ledger& operator=(const Ledger&) = default;
  Ledger(Ledger&&) = default;
  Ledger& operator=(Ledger&&) = default;

  // A new executor, closed; ids count from 0. `bound` invalid: serves every profile.
  ExecutorId add(const model::ResourceVector& own, ProfileId bound, std::uint64_t name_key = 0);
  // Open executors offer slots; closed ones count 0.
  void open(ExecutorId executor);
  void close(ExecutorId executor);
  [[nodiscard]] std::int64_t free_of(ExecutorId executor, std::size_t resource) const {
    return free_of(executor.index())[resource];
  }
  // Free amounts of an open executor that are not offered now, and their return.
  void withhold(ExecutorId executor, const model::ResourceVector& amounts);
  void restore(ExecutorId executor, const model::ResourceVector& amounts);
  // Two open executors, idle, change their numbers.
  void exchange(ExecutorId left, ExecutorId right);
  [[nodiscard]] bool is_open(ExecutorId executor) const { return rows_[executor.index()].open; }
  [[nodiscard]] bool serves(ExecutorId executor, ProfileId profile) const;

  // One task's amounts; take needs a free slot there unless the executor is closed, give needs one
  // taken.
  void take(ExecutorId executor, ProfileId profile);
  void give(ExecutorId executor, ProfileId profile);
  // Takes back a take() of a trial that failed: nothing came free, so freed() stands still.
  void undo(ExecutorId executor, ProfileId profile);

  // A hint that the executor's amounts will change soon.
  void prefetch(ExecutorId executor) const { __builtin_prefetch(free_of(executor.index())); }

  // Behind a waiting head (A16) only executors bound to a profile it does not demand count.
  void show_bound_only(bool on);

  [[nodiscard]] std::size_t profile_count() const override { return tasks_.size(); }
  [[nodiscard]] std::size_t resource_count() const { return resources_; }
  [[nodiscard]] std::size_t executor_count() const override { return rows_.size(); }
  [[nodiscard]] std::uint64_t name_key(ExecutorId executor) const override {
    return name_keys_[executor.index()];
  }
  [[nodiscard]] std::uint64_t numbering() const override { return numbering_; }
  [[nodiscard]] std::int64_t free_slots(ExecutorId executor, ProfileId profile) const override;
  // The same, whatever show_bound_only() hides.
  [[nodiscard]] std::int64_t room(ExecutorId executor, ProfileId profile) const {
    return slots_[profile.index()].get(executor.value);
  }
  [[nodiscard]] ExecutorId most_free(ProfileId profile) const override;
  [[nodiscard]] ExecutorId first_free(ProfileId profile, std::uint32_t from) const override;

  // Sums over open executors, in slots by profile and in 1/1000 units by resource.
  [[nodiscard]] std::int64_t free_total(ProfileId profile) const {
    return free_total_[profile.index()];
  }
  [[nodiscard]] std::span<const std::int64_t> free_totals() const {
    return {free_total_.data(), free_total_.size()};
  }
  [[nodiscard]] std::int64_t free_amount(std::size_t resource) const {
    return free_amount_[resource];
  }
  // Slots of open executors when idle.
  [[nodiscard]] std::int64_t total_slots(ProfileId profile) const {
    return total_slots_[profile.index()];
  }
  // Amounts of open executors when idle, by resource: the cluster total of A4.
  [[nodiscard]] std::int64_t open_amount(std::size_t resource) const {
    return open_amount_[resource];
  }
  [[nodiscard]] const model::ResourceVector& task(ProfileId profile) const {
    return tasks_[profile.index()];
  }
  // Slots for a task as large as all profiles together, over unbound open executors when idle: that
  // many tasks of any mix surely fit an idle cluster, whatever the placement.
  [[nodiscard]] std::int64_t sure_total() const { return sure_total_; }
  // Counts up whenever a slot of the profile comes free or an executor that serves it opens.
  [[nodiscard]] std::uint64_t freed(ProfileId profile) const { return freed_[profile.index()]; }
  [[nodiscard]] bool any_bound() const { return bound_count_ > 0; }
  [[nodiscard]] bool any_unbound() const { return bound_count_ < rows_.size(); }
  [[nodiscard]] std::int64_t open_count() const { return open_count_; }

  [[nodiscard]] std::uint64_t digest();
  [[nodiscard]] std::uint64_t full_digest() const;
  bool operator==(const Ledger& other) const;

 private:
  struct Row {
    ProfileId bound;
    std::int32_t sure = 0;  // its share of sure_total_
    bool open = false;
    DirtyMark dirty;
    bool operator==(const Row&) const = default;
  };

  // Free amounts, then totals, of one executor: resources_ values each.
  [[nodiscard]] std::int64_t* free_of(std::size_t e) { return &amounts_[2 * e * resources_]; }
  [[nodiscard]] const std::int64_t* free_of(std::size_t e) const {
    return &amounts_[2 * e * resources_];
  }
  [[nodiscard]] const std::int64_t* total_of(std::size_t e) const {
    return free_of(e) + resources_;
  }
  // Tasks of these amounts that fit into `amounts` (as many values as the task has).
  [[nodiscard]] static std::int64_t count(const std::int64_t* amounts,
                                          const model::ResourceVector& task);
  // What an executor of `total` offers under factor_; bars profiles of which it has no slot.
  [[nodiscard]] model::ResourceVector shared_total(std::size_t e,
                                                   const model::ResourceVector& total,
                                                   ProfileId bound);
  // Its part of numbering_; one round more, so that names that change places do not cancel out.
  [[nodiscard]] std::uint64_t numbered(ExecutorId executor) const {
    return hash_of({executor.value, name_key(executor), 0});
  }
  void store(std::size_t e, std::size_t profile, std::int64_t slots);
  // After the amounts of `e` changed; `changed` is the profile whose count moved by `by`.
  void recount(std::size_t e, std::size_t changed, std::int64_t by);
  void recount_all(std::size_t e);
  [[nodiscard]] std::uint64_t row_hash(std::size_t e) const;

  std::size_t resources_ = 0;
  std::int64_t factor_ = 1;
  std::vector<model::ResourceVector> whole_tasks_;  // by profile; only where factor_ is not 1
  std::vector<std::uint8_t> barred_;                // by executor and profile; the same
  std::vector<model::ResourceVector> tasks_;        // by profile
  model::ResourceVector sure_task_;                 // the greatest amount of each resource
  std::vector<bool> limited_;                       // by profile: some amount is above 0
  std::vector<std::int64_t> amounts_;               // see free_of
  std::vector<Row> rows_;                           // by executor
  std::vector<std::uint64_t> name_keys_;            // by executor
  std::uint64_t numbering_ = 0;                     // sum over executors of numbered()
  std::vector<Counts> slots_;                       // by profile
  // By profile, of bound executors only; empty until they are first shown alone.
  std::vector<Counts> bound_slots_;
  std::vector<std::int64_t> free_total_;
  std::vector<std::int64_t> total_slots_;
  std::vector<std::int64_t> free_amount_;
  std::vector<std::int64_t> open_amount_;
  std::vector<std::uint64_t> freed_;
  std::int64_t sure_total_ = 0;
  std::int64_t open_count_ = 0;
  std::size_t bound_count_ = 0;
  bool bound_only_ = false;
  RowDigest digest_;
};

}  // namespace rehearse::scheduler
