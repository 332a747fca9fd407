// Counterparts of the policies, as slow as they are plain.
#include "tests/passes/checked_policies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <optional>
#include <utility>

#include "policies/registry.hpp"

namespace rehearse::testing {

using namespace scheduler;
using model::Placement;
using model::QueueOrder;

void Complaints::add(std::string line) {
  constexpr std::size_t most = 5;
  if (lines.size() < most) {
    lines.push_back(std::move(line));
  }
}

namespace {

using Sink = std::shared_ptr<Complaints>;

// ---- queue orders (A18) ----

// Which of two units the order puts first, ties left to submission; nothing: by the seed.
std::optional<std::strong_ordering> documented(QueueOrder order, const UnitView& left,
                                               const UnitView& right) {
  switch (order) {
    case QueueOrder::fifo:
    case QueueOrder::fair:
      return std::strong_ordering::equal;
    case QueueOrder::priority:
      return right.priority <=> left.priority;
    case QueueOrder::smallest_first:
      return std::pair(left.demand_slots, left.work) <=> std::pair(right.demand_slots, right.work);
    case QueueOrder::unordered:
      break;
  }
  return std::nullopt;
}

bool same_unit(const UnitView& left, const UnitView& right) {
  return left.priority == right.priority && left.demand_slots == right.demand_slots &&
         left.work == right.work && left.members == right.members && left.gang == right.gang &&
         left.random == right.random;
}

class CheckedQueue final : public QueuePolicy {
 public:
  CheckedQueue(std::unique_ptr<QueuePolicy> policy, QueueOrder order, Sink sink)
      : policy_(std::move(policy)), order_(order), sink_(std::move(sink)) {}
  CheckedQueue(const CheckedQueue& other)
      : QueuePolicy(other),
        policy_(other.policy_->clone()),
        order_(other.order_),
        sink_(other.sink_),
        seen_(other.seen_) {}
  [[nodiscard]] std::uint64_t digest() const override { return policy_->digest(); }
  [[nodiscard]] std::unique_ptr<QueuePolicy> clone() const override {
    return std::make_unique<CheckedQueue>(*this);
  }
  [[nodiscard]] bool reads_work() const override { return policy_->reads_work(); }
  [[nodiscard]] QueueKey key(const UnitView& unit) const override {
    const QueueKey key = policy_->key(unit);
    for (const auto& [view, before] : seen_) {
      ++sink_->answers;
      const auto right = documented(order_, view, unit);
      if ((right && (before <=> key) != *right) || (same_unit(view, unit) && before != key)) {
        sink_->add(fmt::format("queue {}: keys {}, {} and {}, {} stand otherwise than their units",
                               model::name_of(order_), before.first, before.second, key.first,
                               key.second));
      }
    }
    constexpr std::size_t most = 40;
    if (seen_.size() < most) {
      seen_.emplace_back(unit, key);
    }
    return key;
  }

 private:
  std::unique_ptr<QueuePolicy> policy_;
  QueueOrder order_;
  Sink sink_;
  mutable std::vector<std::pair<UnitView, QueueKey>> seen_;
};

// ---- what may overtake (A7, A17) ----

class CheckedOvertake final : public OvertakePolicy {
 public:
  CheckedOvertake(std::unique_ptr<OvertakePolicy> policy, const model::AdmissionConfig& admission,
                  Sink sink)
      : policy_(std::move(policy)),
        axis_(admission.overtake),
        after_(admission.aging_after),
        sink_(std::move(sink)) {}
  CheckedOvertake(const CheckedOvertake& other)
      : OvertakePolicy(other),
        policy_(other.policy_->clone()),
        axis_(other.axis_),
        after_(other.after_),
        sink_(other.sink_) {}
  [[nodiscard]] std::uint64_t digest() const override { return policy_->digest(); }
  [[nodiscard]] std::unique_ptr<OvertakePolicy> clone() const override {
    return std::make_unique<CheckedOvertake>(*this);
  }
  [[nodiscard]] bool looks_ahead() const override { return policy_->looks_ahead(); }
  [[nodiscard]] Overtaking rule(const HeadView& head) const override {
    const Overtaking answer = policy_->rule(head);
    ++sink_->answers;
    if (answer != documented_rule(head)) {
      sink_->add(fmt::format("overtake {}: another rule for a head that waited {}",
                             model::name_of(axis_), head.waited));
    }
    return answer;
  }

 private:
  [[nodiscard]] Overtaking documented_rule(const HeadView& head) const {
    const bool old = axis_ == model::Overtake::aging && head.waited >= after_;
    if (axis_ == model::Overtake::never || old) {
      return Overtaking::nobody;
    }
    return axis_ == model::Overtake::easy ? Overtaking::harmless : Overtaking::anybody;
  }

  std::unique_ptr<OvertakePolicy> policy_;
  model::Overtake axis_;
  model::Duration after_;
  Sink sink_;
};

// ---- placements (A15) ----

std::vector<ExecutorId> with_room(const SlotView& slots, ProfileId profile) {
  std::vector<ExecutorId> list;
  for (std::uint32_t e = 0; e < slots.executor_count(); ++e) {
    if (slots.free_slots(ExecutorId{e}, profile) > 0) {
      list.emplace_back(e);
    }
  }
  return list;
}

class CheckedPlacement final : public PlacementPolicy {
 public:
  CheckedPlacement(std::unique_ptr<PlacementPolicy> policy, Placement axis, Sink sink)
      : policy_(std::move(policy)), axis_(axis), sink_(std::move(sink)) {}
  CheckedPlacement(const CheckedPlacement& other)
      : PlacementPolicy(other),
        policy_(other.policy_->clone()),
        axis_(other.axis_),
        sink_(other.sink_),
        at_begin_(other.at_begin_),
        last_(other.last_) {}
  [[nodiscard]] std::uint64_t digest() const override { return policy_->digest(); }
  [[nodiscard]] std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<CheckedPlacement>(*this);
  }
  [[nodiscard]] bool wants_task_key() const override { return policy_->wants_task_key(); }
  void begin(const SlotView& slots) override {
    at_begin_.assign(slots.profile_count(), {});
    last_.assign(slots.profile_count(), ExecutorId{});
    for (std::size_t p = 0; p < slots.profile_count(); ++p) {
      for (std::uint32_t e = 0; e < slots.executor_count(); ++e) {
        at_begin_[p].push_back(slots.free_slots(ExecutorId{e}, ProfileId{p}));
      }
    }
    policy_->begin(slots);
  }
  void taking(const SlotView& slots, ExecutorId executor) override {
    policy_->taking(slots, executor);
  }
  [[nodiscard]] ExecutorId pick(const SlotView& slots, const TaskView& task) override {
    check_indexes(slots, task.profile);
    const ExecutorId answer = policy_->pick(slots, task);
    const std::vector<ExecutorId> list = with_room(slots, task.profile);
    ++sink_->answers;
    const bool known = axis_ != Placement::random || list.empty();
    const ExecutorId best = known && !list.empty() ? best_of(list, slots, task) : ExecutorId{};
    if (known ? answer != best : std::ranges::find(list, answer) == list.end()) {
      sink_->add(fmt::format("placement {}: executor {} instead of {}", model::name_of(axis_),
                             static_cast<std::int32_t>(answer.value),
                             static_cast<std::int32_t>(best.value)));
    }
    if (axis_ == Placement::random && policy_->pick(slots, task) != answer) {
      sink_->add("placement random: two answers for one task");
    }
    last_[task.profile.index()] = answer.valid() ? answer : last_[task.profile.index()];
    return answer;
  }

 private:
  // What the pass began with there, the most first, then by number.
  [[nodiscard]] std::pair<std::int64_t, ExecutorId> supply(ProfileId profile, ExecutorId e) const {
    const auto& row = at_begin_[profile.index()];
    return {e.index() < row.size() ? -row[e.index()] : 0, e};
  }

  [[nodiscard]] ExecutorId best_of(const std::vector<ExecutorId>& list, const SlotView& slots,
                                   const TaskView& task) const {
    const auto least = [&list](const auto& key) {
      return *std::ranges::min_element(list, {}, key);
    };
    switch (axis_) {
      case Placement::spread:
        return least(
            [&](ExecutorId e) { return std::pair(-slots.free_slots(e, task.profile), e); });
      case Placement::pack:
        return least([&](ExecutorId e) { return supply(task.profile, e); });
      case Placement::round_robin: {
        const ExecutorId last = last_[task.profile.index()];
        return least([&](ExecutorId e) {
          const auto place = supply(task.profile, e);
          const bool next_round = last.valid() && place <= supply(task.profile, last);
          return std::pair(next_round, place);
        });
      }
      case Placement::consistent_hash:
        return least([&](ExecutorId e) { return std::pair(slots.name_key(e) - task.key, e); });
      case Placement::nested:
      case Placement::random:
        break;
    }
    return list.front();
  }

  void check_indexes(const SlotView& slots, ProfileId profile) const {
    const std::vector<ExecutorId> list = with_room(slots, profile);
    ExecutorId most;
    for (const ExecutorId e : list) {
      if (!most.valid() || slots.free_slots(e, profile) > slots.free_slots(most, profile)) {
        most = e;
      }
    }
    bool right = slots.most_free(profile) == most;
    for (std::uint32_t from = 0; from <= slots.executor_count(); ++from) {
      const auto next = std::ranges::lower_bound(list, ExecutorId{from});
      right =
          right && slots.first_free(profile, from) == (next == list.end() ? ExecutorId{} : *next);
    }
    if (!right) {
      sink_->add(fmt::format("an index of free slots of profile {} is wrong", profile.value));
    }
  }

  std::unique_ptr<PlacementPolicy> policy_;
  Placement axis_;
  Sink sink_;
  std::vector<std::vector<std::int64_t>> at_begin_;  // free slots, by profile and executor
  std::vector<ExecutorId> last_;                     // by profile
};

}  // namespace

PolicySet checked_policies(const model::SchedulerConfig& config, const Sink& complaints) {
  PolicySet set = policies::make(config).value();
  const model::AdmissionConfig& admission = config.admission;
  for (const policies::PolicyInfo& info : policies::policies()) {
    const bool known = info.axis == "placement"
                           ? model::parse_enum<Placement>(info.name).has_value()
                       : info.axis == "admission.queue"
                           ? model::parse_enum<QueueOrder>(info.name).has_value()
                           : model::parse_enum<model::Overtake>(info.name).has_value();
    if (!known) {
      complaints->add(fmt::format("{} {} has no counterpart", info.axis, info.name));
    }
  }
  if (!admission.queue_object) {
    set.queue = std::make_unique<CheckedQueue>(std::move(set.queue), admission.queue, complaints);
  }
  if (!admission.overtake_object) {
    set.overtake =
        std::make_unique<CheckedOvertake>(std::move(set.overtake), admission, complaints);
  }
  if (!config.placement_object) {
    set.placement =
        std::make_unique<CheckedPlacement>(std::move(set.placement), config.placement, complaints);
  }
  return set;
}

}  // namespace rehearse::testing
