// Who holds which slots right now, from the physical events of the journal alone. A second
// accounting beside the scheduler's own. Leaves to others what free slots mean (slot_accounting).
//
// Every executor counts in slots of one profile: a bound one of its own, an unbound one of the
// first. A task of another profile on an unbound executor counts for the slots it takes away: the
// slots that fit without it minus those that fit beside it. An executor whose slots nothing bounds
// counts for the slots that are held, so none of its slots is ever free. Where tasks share slots
// (A22) an executor counts for the slots it has, busy while anything runs on them; what fits there
// is what it offers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/support/events.hpp"

namespace rehearse::reports {

class SlotLedger {
 public:
  // Free slots that are alike: on executors that serve the same profiles and have room for one
  // more task of the same profiles. Bit min(p, 63) stands for profile p.
  struct FreeSlots {
    std::uint64_t serves = 0;
    std::uint64_t fits = 0;
    std::int64_t slots = 0;
  };

  // Reads the profiles, and the axis `slots`; before the first executor.
  void run_started(const model::RunStart& run, const model::NameTable& names);
  void added(const model::ExecutorAdded& event);
  void lost(model::NameId executor);
  // Free slots stop being offered: for a hold until released(), for good when `draining`.
  void held(model::NameId executor, bool draining);
  void released(model::NameId executor);

  // Index of a profile by name; the first profile for a name that the run line does not have.
  [[nodiscard]] std::size_t profile(model::NameId name) const;
  [[nodiscard]] std::size_t profiles() const { return tasks_.size(); }
  [[nodiscard]] model::NameId profile_name(std::size_t profile) const {
    return profile_names_[profile];
  }

  // A task of `profile` takes or gives back so many slots (a slice: several), blocks on one or
  // resumes it. On a bound executor every task is one of the executor's own profile.
  void start(model::NameId executor, std::size_t profile, std::int64_t count = 1);
  void give_back(model::NameId executor, std::size_t profile, std::int64_t count);
  void block(model::NameId executor, std::size_t profile);
  void unblock(model::NameId executor, std::size_t profile);
  // Slots reserved and not launched change by `delta`.
  void reserve(model::NameId executor, std::size_t profile, std::int64_t delta);

  // Sums over live executors, held ones included.
  [[nodiscard]] std::int64_t slots() const { return total_.slots; }
  [[nodiscard]] std::int64_t busy() const { return total_.busy; }
  [[nodiscard]] std::int64_t blocked() const { return total_.blocked; }
  [[nodiscard]] std::int64_t reserved() const { return total_.reserved; }
  // Free slots of held and draining executors.
  [[nodiscard]] std::int64_t free_withheld() const { return total_.free_withheld; }
  // Free slots of the others.
  [[nodiscard]] std::span<const FreeSlots> free() const { return free_; }
  // Tasks of a profile that fit now on live executors that are not withheld.
  [[nodiscard]] std::int64_t room(std::size_t profile) const { return room_[profile]; }
  // Tasks of a profile that would fit now on held executors, draining ones left out.
  [[nodiscard]] std::int64_t room_withheld(std::size_t profile) const { return withheld_[profile]; }
  // Tasks of a profile that fit on idle live executors, draining ones left out (A5, A14).
  [[nodiscard]] std::int64_t capacity(std::size_t profile) const { return capacity_[profile]; }
  [[nodiscard]] bool losses_seen() const { return losses_seen_; }

  // Where tasks share slots (A22): its tasks advance at whole / taken of the speed of the executor.
  struct Sharing {
    std::int64_t taken = 1;  // in slots, or in units of the resource of which most is taken
    std::int64_t whole = 1;  // at most `taken`
  };
  [[nodiscard]] Sharing sharing(model::NameId executor) const;

 private:
  struct Held {                // tasks of one profile on one executor
    std::int64_t running = 0;  // blocked ones not included
    std::int64_t blocked = 0;
    std::int64_t reserved = 0;
  };
  struct Sums {
    std::int64_t slots = 0;
    std::int64_t busy = 0;
    std::int64_t blocked = 0;
    std::int64_t reserved = 0;
    std::int64_t free_withheld = 0;
  };
  struct Executor {
    bool live = false;
    bool held = false;
    bool draining = false;
    bool unbound = false;
    bool withholds = false;             // its room counts in withheld_
    std::size_t profile = 0;            // in which its slots are counted
    std::vector<std::int64_t> amounts;  // by resource
    std::vector<std::int64_t> slots;    // idle slots by profile it serves (bound: one)
    std::vector<Held> held_by;          // as slots
    Sums counted;                       // its share of total_
    std::vector<std::int64_t> room;     // its share of room_ or withheld_, as slots
    FreeSlots free;                     // its share of free_
  };

  Executor* find(model::NameId name);
  [[nodiscard]] Held* holder(model::NameId name, std::size_t profile, Executor*& executor);
  // Takes the executor's share out of the sums, and puts the present one in.
  void refresh(Executor& executor);
  void recount(Executor& executor) const;
  void recount_mixed(Executor& executor) const;
  void recount_shared(Executor& executor) const;
  // Slots of an idle executor for the profile, by place in `slots`.
  [[nodiscard]] std::int64_t offered(const Executor& executor, std::size_t place) const;
  void add_free(const FreeSlots& change, std::int64_t sign);
  void count_capacity(const Executor& executor, std::int64_t sign);
  std::size_t resource(model::NameId name);
  [[nodiscard]] std::int64_t fit(const std::vector<std::int64_t>& amounts,
                                 std::size_t profile) const;

  std::int64_t factor_ = 1;  // slots offered for each one that is there; 0: no bound
  std::vector<model::NameId> profile_names_;
  std::vector<std::vector<std::int64_t>> tasks_;  // by profile: amounts by resource
  std::vector<model::NameId> resources_;
  std::vector<std::uint32_t> index_;  // executor by NameId; 0 = none, else index + 1
  std::vector<Executor> executors_;
  Sums total_;
  std::vector<FreeSlots> free_;
  std::vector<std::int64_t> room_;
  std::vector<std::int64_t> withheld_;
  std::vector<std::int64_t> capacity_;
  bool losses_seen_ = false;
};

}  // namespace rehearse::reports
