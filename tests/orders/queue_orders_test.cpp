// N8: what orders the queue is a strict weak order, in fact a total one, on keys that stay as they
// are. A comparator that reads what changes meanwhile sorts by nothing (mu56 plants one).
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/scheduler_config.hpp"
#include "policies/registry.hpp"
#include "scheduler/queue.hpp"
#include "tests/support/law.hpp"

using namespace rehearse;
using namespace rehearse::scheduler;

namespace {

struct Unit {
  UnitView view;
  model::Instant submitted = 0;
  std::uint64_t rank = 0;  // unique
};

// Small values tie often.
std::vector<Unit> some_units() {
  const auto count = *rc::gen::inRange<std::size_t>(0, 9);
  std::vector<Unit> units(count);
  for (std::size_t i = 0; i < count; ++i) {
    Unit& unit = units[i];
    unit.view.priority = *rc::gen::inRange<std::int64_t>(-2, 3);
    unit.view.demand_slots = *rc::gen::inRange<std::int64_t>(0, 4);
    unit.view.work = *rc::gen::element<model::Duration>(0, 1, 1000, INT64_MAX);
    unit.view.members = *rc::gen::inRange<std::int64_t>(1, 3);
    unit.view.gang = unit.view.members > 1;
    unit.view.random = *rc::gen::element<std::uint64_t>(0, 1, 2, UINT64_MAX);
    unit.submitted = *rc::gen::inRange<model::Instant>(0, 3);
    unit.rank = i;
  }
  return units;
}

// What is wrong with `before` as a strict weak order of the numbers below `count`; empty: nothing.
template <class Before>
std::string broken_order(std::size_t count, const Before& before) {
  const auto tie = [&before](std::size_t a, std::size_t b) {
    return !before(a, b) && !before(b, a);
  };
  for (std::size_t a = 0; a < count; ++a) {
    if (before(a, a)) {
      return "one is before itself";
    }
    for (std::size_t b = 0; b < count; ++b) {
      if (before(a, b) && before(b, a)) {
        return "two are before each other";
      }
      for (std::size_t c = 0; c < count; ++c) {
        if (before(a, b) && before(b, c) && !before(a, c)) {
          return "before is not transitive";
        }
        if (tie(a, b) && tie(b, c) && !tie(a, c)) {
          return "ties are not transitive";
        }
      }
    }
  }
  return {};
}

// As `before` has it. Safe with any answers, as a sort of the library is not.
template <class Before>
std::vector<std::size_t> inserted(const std::vector<std::size_t>& items, const Before& before) {
  std::vector<std::size_t> sorted;
  for (const std::size_t item : items) {
    auto at = sorted.begin();
    while (at != sorted.end() && before(*at, item)) {
      ++at;
    }
    sorted.insert(at, item);
  }
  return sorted;
}

std::vector<std::size_t> some_permutation(std::size_t count) {
  const auto keys = *rc::gen::container<std::vector<std::uint16_t>>(
      count, rc::gen::inRange<std::uint16_t>(0, 1000));
  std::vector<std::size_t> items(count);
  std::iota(items.begin(), items.end(), std::size_t{0});
  std::ranges::sort(items, {}, [&keys](std::size_t item) { return std::pair(keys[item], item); });
  return items;
}

UnitKey key_of(const QueuePolicy& policy, const Unit& unit) {
  return {policy.key(unit.view), unit.submitted, unit.rank, 0, 0};
}

std::unique_ptr<QueuePolicy> policy_named(std::string_view name) {
  model::SchedulerConfig config = model::preset(model::Dialect::psd);
  config.admission.queue = model::parse_enum<model::QueueOrder>(name).value();
  return std::move(policies::make(config).value().queue);
}

std::vector<std::string> queue_policies() {
  std::vector<std::string> names;
  for (const policies::PolicyInfo& info : policies::policies()) {
    if (info.axis == "admission.queue") {
      names.emplace_back(info.name);
    }
  }
  return names;
}

// Units by number; `done` counts what nobody should read here.
class Facts final : public UnitFacts {
 public:
  Facts(const std::vector<Unit>& units, const QueuePolicy& policy, bool live)
      : units_(units), policy_(policy), live_(live), done_(units.size(), 0) {}

  [[nodiscard]] UnitKey key(StageId leader) const override {
    UnitKey key = key_of(policy_, units_[leader.index()]);
    key.submitted = live_ ? done_[leader.index()] : key.submitted;
    return key;
  }
  [[nodiscard]] std::span<const std::int32_t> demand(StageId /*leader*/) const override {
    return demand_;
  }
  void finish_task(std::size_t unit) { ++done_[unit]; }

 private:
  const std::vector<Unit>& units_;
  const QueuePolicy& policy_;
  bool live_;
  std::vector<model::Instant> done_;
  std::vector<std::int32_t> demand_{1};
};

// The order of a queue to which units come one by one, while tasks of them end.
std::vector<std::size_t> queued(const std::vector<std::size_t>& arrivals, Facts& facts) {
  const ProfileId profile{std::uint32_t{0}};
  UnitQueue queue(1);
  for (const std::size_t unit : arrivals) {
    queue.add(StageId{unit}, facts);
    queue.set_pending(StageId{unit}, profile);
    facts.finish_task(arrivals.front());
  }
  std::vector<std::size_t> order;
  for (std::uint32_t at = queue.next_pending(profile, 0); at != no_position;
       at = queue.next_pending(profile, at + 1)) {
    order.push_back(queue.unit_at(at).index());
  }
  return order;
}

void same_order_however_they_come(const QueuePolicy& policy, bool live) {
  const std::vector<Unit> units = some_units();
  Facts one(units, policy, live);
  Facts other(units, policy, live);
  const auto first = queued(some_permutation(units.size()), one);
  const auto second = queued(some_permutation(units.size()), other);
  RC_ASSERT(first == second);
  RC_ASSERT(first == inserted(first, [&](std::size_t l, std::size_t r) {
              return key_of(policy, units[l]) < key_of(policy, units[r]);
            }));
}

// Its answer depends on how often it was asked (Kueue #9899 read what was in use by then).
class Live final : public QueuePolicy {
 public:
  [[nodiscard]] std::unique_ptr<QueuePolicy> clone() const override {
    return std::make_unique<Live>(*this);
  }
  [[nodiscard]] QueueKey key(const UnitView& unit) const override {
    ++asked_;
    return {(unit.priority + asked_) % 3, 0};
  }

 private:
  mutable std::int64_t asked_ = 0;
};

void is_an_order(const QueuePolicy& policy) {
  const std::vector<Unit> units = some_units();
  const auto before = [&](std::size_t l, std::size_t r) {
    return key_of(policy, units[l]) < key_of(policy, units[r]);
  };
  const std::string broken = broken_order(units.size(), before);
  if (!broken.empty()) {
    RC_FAIL(broken);
  }
  const auto sorted = inserted(some_permutation(units.size()), before);
  RC_ASSERT(sorted == inserted(some_permutation(units.size()), before));
  const std::unique_ptr<QueuePolicy> clone = policy.clone();
  for (const Unit& unit : units) {
    RC_ASSERT(policy.key(unit.view) == policy.key(unit.view));
    RC_ASSERT(policy.key(unit.view) == clone->key(unit.view));
  }
}

}  // namespace

TEST_CASE("A18: every queue policy is a strict weak order, the same from any permutation") {
  const std::vector<std::string> names = queue_policies();
  CHECK(names.size() >= 5);
  for (const std::string& name : names) {
    const std::unique_ptr<QueuePolicy> policy = policy_named(name);
    testing::holds({.says = "order " + name, .cases = 2000}, [&policy] { is_an_order(*policy); });
  }
}

TEST_CASE("A18: the queue stands in the order of the keys, however units come and tasks end") {
  for (const std::string& name : queue_policies()) {
    const std::unique_ptr<QueuePolicy> policy = policy_named(name);
    testing::holds({.says = "queue " + name, .cases = 2000},
                   [&policy] { same_order_however_they_come(*policy, false); });
  }
}

TEST_CASE("a comparator that reads what changes is no order") {
  CHECK(testing::is_broken([] { is_an_order(Live{}); }));
  const std::unique_ptr<QueuePolicy> fifo = policy_named("fifo");
  CHECK(testing::is_broken([&fifo] { same_order_however_they_come(*fifo, true); }));
}

TEST_CASE("what is no order is told for its reason") {
  const auto answers = [](auto before) { return broken_order(3, before); };
  CHECK(answers([](std::size_t l, std::size_t r) { return l <= r; }) == "one is before itself");
  CHECK(answers([](std::size_t l, std::size_t r) { return l != r; }) ==
        "two are before each other");
  CHECK(answers([](std::size_t l, std::size_t r) { return (r - l + 3) % 3 == 1; }) ==
        "before is not transitive");
  CHECK(answers([](std::size_t l, std::size_t r) { return l == 0 && r == 2; }) ==
        "ties are not transitive");
  CHECK(answers([](std::size_t l, std::size_t r) { return l < r; }).empty());
}
