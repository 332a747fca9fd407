// Executors and what is taken on them, derived from physical events alone: executor_*, task_start,
// task_end and slot_returned (scenario.md section 5: "every slot monitor uses these"), beside what
// `reservation` lines set aside. Judges nothing; monitors ask it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/support/events.hpp"
#include "model/support/names.hpp"
#include "model/support/time.hpp"

namespace rehearse::properties {

using Index = std::uint32_t;
inline constexpr Index no_index = 0xffff'ffff;

// A slot whose task has ended and that is not back yet.
struct HeldSlot {
  Index job = no_index;
  Index profile = no_index;
};

// What every task event reads comes first.
struct Executor {
  Index profile = no_index;     // no_index = unbound: serves every profile (A4)
  bool live = true;             // no executor_lost yet
  bool held = false;            // takes no launches, free counts 0, still live
  bool decommissioned = false;  // as held, and no part of what A5 counts
  bool outputs_gone = false;    // lost in a way that takes its regular outputs along
  mutable bool stale = false;   // its cached free counts are out of date
  std::int32_t live_tasks = 0;
  std::int32_t busy_slots = 0;  // running tasks and held slots
  std::int32_t reserved_slots = 0;
  std::int64_t own_slots = 0;      // the most of any profile; only where slots are shared
  std::uint32_t epoch = 0;         // goes up whenever outputs here are struck off, and at its loss
  std::uint32_t fenced_epoch = 0;  // epochs before this one are over for certain (X9)
  model::NameId name;
  model::NameId host;
  std::vector<bool> without;  // by profile: it has no slot; only where slots are shared
  std::vector<HeldSlot> held_slots;
  std::vector<HeldSlot> early_slots;              // came back before the line of their task (C6)
  std::uint64_t returned_in = ~std::uint64_t{0};  // instant of the last slot_returned line about it
};

class SlotBook {
 public:
  // Profiles of the run line; their order is that of every per-profile vector. `factor`: executors
  // offer so many times their slots (A22); 0: without a bound.
  void start(const model::RunStart& run, std::int64_t factor);

  Index add(const model::ExecutorAdded& event);
  void lose(Index executor, bool outputs_gone);
  void set_held(Index executor, bool held, bool decommission);

  void take(Index executor, Index profile, std::int64_t n);       // a task starts
  void give_back(Index executor, Index profile, std::int64_t n);  // n slots return
  void reserve(Index executor, Index profile, std::int64_t delta);

  // A task ended and its slot stays taken; false if it came back before or went with a loss.
  bool hold_slot(Index executor, HeldSlot slot);
  // A slot came back at another time than its task's line: forgets one held slot of that job and
  // profile; false if there is none, then a task_end that says `held` is still to come.
  bool unhold_slot(Index executor, HeldSlot slot);

  // The last executor of that name, dead ones too; no_index if there was none.
  [[nodiscard]] Index find(model::NameId name) const;
  [[nodiscard]] Index find_profile(model::NameId name) const;
  [[nodiscard]] Executor& executor(Index index) { return executors_[index]; }
  [[nodiscard]] const Executor& executor(Index index) const { return executors_[index]; }
  // Its rows will be read soon.
  void prefetch(Index index) const {
    __builtin_prefetch(&executors_[index]);
    __builtin_prefetch(amounts_.data() + index * width_);
  }
  [[nodiscard]] std::size_t executors() const { return executors_.size(); }
  [[nodiscard]] std::size_t profiles() const { return profile_names_.size(); }
  [[nodiscard]] model::NameId profile_name(Index profile) const { return profile_names_[profile]; }

  // So many slots more of the profile stay within what the executor offers, beside what is taken
  // and, when `beside_reserved`, what is reserved there.
  struct Question {
    Index executor = no_index;
    Index profile = no_index;
    std::int64_t slots = 1;
    bool beside_reserved = false;
  };
  [[nodiscard]] bool fits_more(const Question& question) const;
  // Bound to that profile, or unbound; an unknown profile is given the benefit of the doubt.
  [[nodiscard]] bool serves(Index executor, Index profile) const;

  // Per profile, over live executors that take launches: tasks that fit beside what is taken and
  // reserved (scenario.md section 6). Recomputes only executors that changed since the last call.
  [[nodiscard]] std::span<const std::int64_t> free() const;
  // The same over executors that are bound to a profile.
  [[nodiscard]] std::span<const std::int64_t> bound_free() const;
  // Goes up whenever free counts may have grown.
  [[nodiscard]] std::uint64_t returns() const { return returns_; }
  // Per profile: the same over executors on which nothing runs or is reserved (A10). Linear in
  // executors.
  [[nodiscard]] std::vector<std::int64_t> idle_free() const;
  // Per profile: what executors that live and are not decommissioned offer when idle (A5). Linear
  // in executors after one came, left or was decommissioned, else O(1).
  [[nodiscard]] std::span<const std::int64_t> idle_capacity() const;
  // Per profile: what executors that take launches offer when idle (A9, A12). Linear in executors
  // after one came, left, or opened or closed, else O(1).
  [[nodiscard]] std::span<const std::int64_t> open_capacity() const;
  // Slots that `reservation` lines set aside for a profile.
  [[nodiscard]] std::int64_t reserved(Index profile) const { return reserved_slots_[profile]; }
  // Slots taken on live executors.
  [[nodiscard]] std::int64_t busy() const { return busy_; }
  [[nodiscard]] bool has_unbound() const { return unbound_live_ > 0; }
  // Is the profile of everything known that takes a slot? Else free counts are too high.
  [[nodiscard]] bool certain() const { return unknown_ == 0; }

 private:
  void change(Index executor, Index profile, std::int64_t n);
  void mark(Index executor);
  void refresh(Index executor) const;
  [[nodiscard]] std::int64_t slots_in(Index executor, Index profile, bool idle) const;
  // Of an executor whose slots are shared: what it offers instead of what it has.
  void stretch(Index executor);
  template <class Counts>
  [[nodiscard]] std::vector<std::int64_t> capacity_where(Counts counts) const;

  std::size_t width_ = 0;  // resources that a profile names
  std::int64_t factor_ = 1;
  std::vector<model::NameId> resource_names_;
  std::vector<model::NameId> profile_names_;
  std::vector<std::int64_t> task_amounts_;  // [profile * width_ + resource]
  std::vector<Executor> executors_;
  struct Amounts {
    std::int64_t used = 0;
    std::int64_t reserved = 0;
    std::int64_t capacity = 0;
  };
  std::vector<Amounts> amounts_;              // [executor * width_ + resource]
  std::vector<std::int64_t> reserved_slots_;  // by profile
  std::vector<Index> executor_of_name_;       // by NameId
  // Answers kept until an executor changes.
  mutable std::vector<std::int64_t> cached_free_;    // [executor * profiles + profile]
  mutable std::vector<std::int64_t> free_;           // by profile
  mutable std::vector<std::int64_t> bound_free_;     // by profile
  mutable std::vector<std::int64_t> idle_capacity_;  // by profile
  mutable std::vector<std::int64_t> open_capacity_;  // by profile
  mutable bool idle_capacity_known_ = false;
  mutable bool open_capacity_known_ = false;
  mutable std::vector<Index> stale_;
  std::uint64_t returns_ = 0;
  std::int64_t busy_ = 0;
  std::int64_t unknown_ = 0;  // slots taken by tasks of an unknown profile
  std::int64_t unbound_live_ = 0;
};

}  // namespace rehearse::properties
