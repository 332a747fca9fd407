// Parts of the cluster: the places that a task prefers (A15), and those where tasks of a stage must
// not start, with exclusion (SS-2.7), which says so. Where nothing is excluded nothing of that is
// reached, but for one branch at each place. Internal to scheduler/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

struct ShutPlaces {
  std::vector<ExecutorId> executors;
  std::vector<model::NameId> hosts;
};

[[nodiscard]] bool is_shut(const Machine& m, const ShutPlaces& shut, ExecutorId executor);

// The free slots of the cluster without those of shut places.
class OpenPlaces final : public SlotView {
 public:
  OpenPlaces(const Machine& machine, ShutPlaces shut) : m_(machine), shut_(std::move(shut)) {}

  [[nodiscard]] std::size_t profile_count() const override { return m_.slots.profile_count(); }
  [[nodiscard]] std::size_t executor_count() const override { return m_.slots.executor_count(); }
  [[nodiscard]] std::uint64_t name_key(ExecutorId executor) const override {
    return m_.slots.name_key(executor);
  }
  [[nodiscard]] std::uint64_t numbering() const override { return m_.slots.numbering(); }
  [[nodiscard]] std::int64_t free_slots(ExecutorId executor, ProfileId profile) const override {
    return is_shut(m_, shut_, executor) ? 0 : m_.slots.free_slots(executor, profile);
  }
  [[nodiscard]] ExecutorId most_free(ProfileId profile) const override;
  [[nodiscard]] ExecutorId first_free(ProfileId profile, std::uint32_t from) const override;

 private:
  const Machine& m_;
  ShutPlaces shut_;
};

// Some executors, few of all: what a task prefers.
class ThesePlaces final : public SlotView {
 public:
  ThesePlaces(const SlotView& all, std::span<const ExecutorId> list) : all_(all), list_(list) {}

  [[nodiscard]] std::size_t profile_count() const override { return all_.profile_count(); }
  [[nodiscard]] std::size_t executor_count() const override { return all_.executor_count(); }
  [[nodiscard]] std::uint64_t name_key(ExecutorId executor) const override {
    return all_.name_key(executor);
  }
  [[nodiscard]] std::uint64_t numbering() const override { return all_.numbering(); }
  [[nodiscard]] std::int64_t free_slots(ExecutorId executor, ProfileId profile) const override;
  [[nodiscard]] ExecutorId most_free(ProfileId profile) const override;
  [[nodiscard]] ExecutorId first_free(ProfileId profile, std::uint32_t from) const override;

 private:
  const SlotView& all_;
  std::span<const ExecutorId> list_;  // by number
};

// The placement policy as ever, so that its order stays that of all executors; where it names a
// shut place, a copy of it chooses among the open ones.
class OpenPlacement final : public PlacementPolicy {
 public:
  explicit OpenPlacement(Machine& machine) : m_(machine) {}
  [[nodiscard]] std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<OpenPlacement>(*this);
  }
  void begin(const SlotView& /*slots*/) override {}
  [[nodiscard]] ExecutorId pick(const SlotView& slots, const TaskView& task) override;
  void taking(const SlotView& /*slots*/, ExecutorId /*executor*/) override {}

 private:
  Machine& m_;
};

// ---- exclusion (exclusion.cpp) ----
// Is some place excluded for the stage or one of its partitions? Not of a group: its members retry
// nothing, and what it is admitted to holds (F10).
[[nodiscard]] bool excludes(const Machine& m, StageId stage);
// Places that get no try of the partition; of -1: those that get none of the stage.
[[nodiscard]] ShutPlaces excluded_places(const Machine& m, StageId stage, std::int32_t partition);
// A try of the live attempt failed there, and that counts towards the limit (X9).
void note_failure(Machine& m, StageId stage, std::int32_t partition, ExecutorId executor);
void end_exclusion_of_attempt(Machine& m, StageId stage);
void end_exclusion(Machine& m, StageId stage);  // its job is over
// At the end of a pass: stages with a task that may run nowhere. `launches`: when it began.
void judge_schedulable(Step& s, std::int64_t launches);
void unschedulable_too_long(Step& s, const TimerRow& timer);
[[nodiscard]] std::uint64_t exclusion_hash(const Machine& m);

}  // namespace rehearse::scheduler
