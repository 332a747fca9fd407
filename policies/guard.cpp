// Guards round policies of shared objects.
// registry: none (a wrapper, not a policy)
#include "policies/guard.hpp"

#include <exception>
#include <mutex>
#include <set>
#include <utility>

namespace rehearse::policies {

namespace {

using scheduler::ExecutorId;

// Runs one call of a policy; whatever it throws is its fault.
class Guard {
 public:
  explicit Guard(const std::string& name) : name_(kept(name)) {}

  template <class Call>
  auto call(const char* what, const Call& body) const {
    guarded_calls().policy = name_;
    guarded_calls().call = what;
    struct Count {
      Count() { ++guarded_calls().entered; }
      ~Count() { ++guarded_calls().left; }
      Count(const Count&) = delete;
      Count& operator=(const Count&) = delete;
    } const count;
    try {
      return body();
    } catch (const std::exception& thrown) {
      broken(what, std::string("threw: ") + thrown.what());
    } catch (...) {
      broken(what, "threw something that is no std::exception");
    }
  }

  [[noreturn]] void broken(const char* what, const std::string& how) const {
    throw PolicyFault(std::string("policy ") + name_ +
                      " broke the contract of scheduler/policy.hpp: " + what + " " + how);
  }

 private:
  // Once for each name, never given back: the watch may still read it when the policy is gone.
  static const char* kept(const std::string& name) {
    static std::mutex mutex;
    static std::set<std::string> names;
    const std::lock_guard lock(mutex);
    return names.insert(name).first->c_str();
  }

  const char* name_;
};

template <class Policy>
std::unique_ptr<Policy> copy_of(const Guard& guard, const Policy& policy) {
  std::unique_ptr<Policy> copy = guard.call("clone()", [&] { return policy.clone(); });
  if (copy == nullptr) {
    guard.broken("clone()", "returned nothing");
  }
  return copy;
}

class GuardedQueue final : public scheduler::QueuePolicy {
 public:
  GuardedQueue(std::unique_ptr<QueuePolicy> policy, Guard guard)
      : policy_(std::move(policy)), guard_(guard) {}

  [[nodiscard]] std::uint64_t digest() const override {
    return guard_.call("digest()", [this] { return policy_->digest(); });
  }
  [[nodiscard]] std::unique_ptr<QueuePolicy> clone() const override {
    return std::make_unique<GuardedQueue>(copy_of(guard_, *policy_), guard_);
  }
  // Two answers to one question must be one: with keys that change there is no order.
  [[nodiscard]] scheduler::QueueKey key(const scheduler::UnitView& unit) const override {
    const auto ask = [&] { return policy_->key(unit); };
    const scheduler::QueueKey first = guard_.call("key()", ask);
    if (guard_.call("key()", ask) != first) {
      guard_.broken("key()", "gave two keys for one view: that is no order");
    }
    return first;
  }
  [[nodiscard]] bool reads_work() const override {
    return guard_.call("reads_work()", [this] { return policy_->reads_work(); });
  }

 private:
  std::unique_ptr<QueuePolicy> policy_;
  Guard guard_;
};

class GuardedOvertake final : public scheduler::OvertakePolicy {
 public:
  GuardedOvertake(std::unique_ptr<OvertakePolicy> policy, Guard guard)
      : policy_(std::move(policy)), guard_(guard) {}

  [[nodiscard]] std::uint64_t digest() const override {
    return guard_.call("digest()", [this] { return policy_->digest(); });
  }
  [[nodiscard]] std::unique_ptr<OvertakePolicy> clone() const override {
    return std::make_unique<GuardedOvertake>(copy_of(guard_, *policy_), guard_);
  }
  [[nodiscard]] scheduler::Overtaking rule(const scheduler::HeadView& head) const override {
    const auto ask = [&] { return policy_->rule(head); };
    const scheduler::Overtaking answer = guard_.call("rule()", ask);
    if (answer != guard_.call("rule()", ask)) {
      guard_.broken("rule()", "gave two answers for one head");
    }
    if (answer > scheduler::Overtaking::harmless) {
      guard_.broken("rule()", "gave an answer that is none of the three");
    }
    if (answer == scheduler::Overtaking::harmless && !looks_ahead()) {
      guard_.broken("rule()", "answers harmless, and looks_ahead() says that it never does");
    }
    return answer;
  }
  [[nodiscard]] bool looks_ahead() const override {
    return guard_.call("looks_ahead()", [this] { return policy_->looks_ahead(); });
  }

 private:
  std::unique_ptr<OvertakePolicy> policy_;
  Guard guard_;
};

class GuardedPlacement final : public scheduler::PlacementPolicy {
 public:
  GuardedPlacement(std::unique_ptr<PlacementPolicy> policy, Guard guard)
      : policy_(std::move(policy)), guard_(guard) {}

  [[nodiscard]] std::uint64_t digest() const override {
    return guard_.call("digest()", [this] { return policy_->digest(); });
  }
  [[nodiscard]] std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<GuardedPlacement>(copy_of(guard_, *policy_), guard_);
  }
  void begin(const scheduler::SlotView& slots) override {
    guard_.call("begin()", [&] { policy_->begin(slots); });
  }
  // An executor that is there and has room; none only if none has. So no part of a group is left
  // out for which there is a slot.
  [[nodiscard]] ExecutorId pick(const scheduler::SlotView& slots,
                                const scheduler::TaskView& task) override {
    const ExecutorId executor = guard_.call("pick()", [&] { return policy_->pick(slots, task); });
    const ExecutorId room = slots.most_free(task.profile);
    if (!executor.valid()) {
      if (room.valid()) {
        guard_.broken("pick()", "says that no executor has room, and number " +
                                    std::to_string(room.value) + " has");
      }
      return executor;
    }
    if (executor.index() >= slots.executor_count()) {
      guard_.broken("pick()", "names executor number " + std::to_string(executor.value) +
                                  ", and there are " + std::to_string(slots.executor_count()));
    }
    if (slots.free_slots(executor, task.profile) <= 0) {
      guard_.broken("pick()", "names executor number " + std::to_string(executor.value) +
                                  ", which has no free slot of the profile");
    }
    return executor;
  }
  void taking(const scheduler::SlotView& slots, ExecutorId executor) override {
    guard_.call("taking()", [&] { policy_->taking(slots, executor); });
  }
  [[nodiscard]] bool wants_task_key() const override {
    return guard_.call("wants_task_key()", [this] { return policy_->wants_task_key(); });
  }

 private:
  std::unique_ptr<PlacementPolicy> policy_;
  Guard guard_;
};

}  // namespace

CallCounts& guarded_calls() {
  static CallCounts counts;
  return counts;
}

std::unique_ptr<scheduler::QueuePolicy> guarded(std::unique_ptr<scheduler::QueuePolicy> policy,
                                                const std::string& name) {
  return std::make_unique<GuardedQueue>(std::move(policy), Guard(name));
}

std::unique_ptr<scheduler::OvertakePolicy> guarded(
    std::unique_ptr<scheduler::OvertakePolicy> policy, const std::string& name) {
  return std::make_unique<GuardedOvertake>(std::move(policy), Guard(name));
}

std::unique_ptr<scheduler::PlacementPolicy> guarded(
    std::unique_ptr<scheduler::PlacementPolicy> policy, const std::string& name) {
  return std::make_unique<GuardedPlacement>(std::move(policy), Guard(name));
}

}  // namespace rehearse::policies
