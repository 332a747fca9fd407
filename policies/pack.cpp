// Placement pack (A15): executors by (free slots descending, number) as they stood when the pass
// began, each filled before the next.
// registry: pack
#include <algorithm>
#include <vector>

#include "policies/policy_file.hpp"

namespace rehearse::policies {

namespace {

using scheduler::ExecutorId;
using scheduler::ProfileId;
using scheduler::SlotView;
using scheduler::TaskView;

class Pack final : public scheduler::PlacementPolicy {
 public:
  [[nodiscard]] std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<Pack>(*this);
  }

  void begin(const SlotView& /*slots*/) override {
    touched_.clear();
    full_.clear();
    last_.executor = ExecutorId{};
  }

  // Executors that nobody took from since begin() still have their first count, so the best of them
  // is the view's; the others are few: those being filled. An executor that was taken from and
  // still is the view's best had more at the start than every untouched one.
  [[nodiscard]] ExecutorId pick(const SlotView& slots, const TaskView& task) override {
    const ProfileId profile = task.profile;
    bring_back(slots);
    const Touched* best = nullptr;
    for (const Touched& row : touched_) {
      if (slots.free_slots(row.executor, profile) > 0 &&
          (best == nullptr || before(row, *best, profile))) {
        best = &row;
      }
    }
    const ExecutorId fresh = slots.most_free(profile);
    if (best == nullptr || !fresh.valid() || find(fresh) != nullptr) {
      return best == nullptr ? fresh : best->executor;
    }
    const std::int64_t fresh_free = slots.free_slots(fresh, profile);
    const std::int64_t best_free = best->free_at_begin[profile.index()];
    const bool fresh_first =
        fresh_free > best_free || (fresh_free == best_free && fresh < best->executor);
    return fresh_first ? fresh : best->executor;
  }

  void taking(const SlotView& slots, ExecutorId executor) override {
    bring_back(slots);
    last_.executor = executor;
    last_.free_at_begin.clear();
    for (std::size_t p = 0; p < slots.profile_count(); ++p) {
      last_.free_at_begin.push_back(slots.free_slots(executor, ProfileId{p}));
    }
    if (find(executor) != nullptr) {
      return;
    }
    const auto filled = std::ranges::partition(
        touched_, [&slots](const Touched& row) { return !full(slots, row.executor); });
    full_.insert(full_.end(), filled.begin(), filled.end());
    touched_.erase(filled.begin(), filled.end());
    touched_.push_back(last_);
  }

 private:
  struct Touched {
    ExecutorId executor;
    std::vector<std::int64_t> free_at_begin;  // by profile
  };

  // Is as much free where the last slot was taken as before it was? One profile that lost by it
  // says no, and that is nearly always the first.
  [[nodiscard]] bool last_came_back(const SlotView& slots) const {
    for (std::size_t p = 0; p < slots.profile_count(); ++p) {
      if (slots.free_slots(last_.executor, ProfileId{p}) < last_.free_at_begin[p]) {
        return false;
      }
    }
    return true;
  }

  // A trial that failed gives back all that it took, and so what it took last: then those that it
  // filled have room again, and their first count is not what is free there.
  void bring_back(const SlotView& slots) {
    if (!last_.executor.valid() || !last_came_back(slots)) {
      return;
    }
    const auto back = std::ranges::partition(
        full_, [&slots](const Touched& row) { return full(slots, row.executor); });
    touched_.insert(touched_.end(), back.begin(), back.end());
    full_.erase(back.begin(), back.end());
    last_.executor = ExecutorId{};
  }

  static bool full(const SlotView& slots, ExecutorId executor) {
    for (std::size_t p = 0; p < slots.profile_count(); ++p) {
      if (slots.free_slots(executor, ProfileId{p}) > 0) {
        return false;
      }
    }
    return true;
  }
  static bool before(const Touched& left, const Touched& right, ProfileId profile) {
    const std::int64_t l = left.free_at_begin[profile.index()];
    const std::int64_t r = right.free_at_begin[profile.index()];
    return l > r || (l == r && left.executor < right.executor);
  }
  [[nodiscard]] const Touched* find(ExecutorId executor) const {
    const auto found = std::ranges::find(touched_, executor, &Touched::executor);
    return found == touched_.end() ? nullptr : &*found;
  }

  std::vector<Touched> touched_;  // taken from since begin() and not yet full
  std::vector<Touched> full_;     // of the others that were taken from
  Touched last_;                  // what was free where the last slot was taken, before it was
};

}  // namespace

std::unique_ptr<scheduler::PlacementPolicy> make_pack() { return std::make_unique<Pack>(); }

}  // namespace rehearse::policies
