// Placement consistent-hash (A15) on views of its own.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "model/scheduler_config.hpp"
#include "policies/registry.hpp"
#include "scheduler/slots.hpp"

using namespace rehearse;
using namespace rehearse::scheduler;

namespace {

// Executors with these keys, one free slot on each.
class Keys final : public SlotView {
 public:
  explicit Keys(std::vector<std::uint64_t> keys) : keys_(std::move(keys)) {}
  [[nodiscard]] std::size_t profile_count() const override { return 1; }
  [[nodiscard]] std::size_t executor_count() const override { return keys_.size(); }
  [[nodiscard]] std::uint64_t name_key(ExecutorId executor) const override {
    return keys_[executor.index()];
  }
  [[nodiscard]] std::uint64_t numbering() const override {
    std::uint64_t digest = 0;
    for (const std::uint64_t key : keys_) {
      digest = digest * 31 + key;
    }
    return digest;
  }
  [[nodiscard]] std::int64_t free_slots(ExecutorId /*executor*/,
                                        ProfileId /*profile*/) const override {
    return 1;
  }
  [[nodiscard]] ExecutorId most_free(ProfileId /*profile*/) const override {
    return ExecutorId{std::uint32_t{0}};
  }
  [[nodiscard]] ExecutorId first_free(ProfileId /*profile*/, std::uint32_t from) const override {
    return from < keys_.size() ? ExecutorId{from} : ExecutorId{};
  }

 private:
  std::vector<std::uint64_t> keys_;
};

// The core's own view, of executors that joined in this order, one free slot on each.
Ledger joined(const std::vector<std::uint64_t>& keys) {
  Ledger ledger(std::vector<model::ResourceVector>{{1000}});
  for (const std::uint64_t key : keys) {
    ledger.open(ledger.add({1000}, ProfileId{}, key));
  }
  return ledger;
}

PolicySet consistent_hash() {
  model::SchedulerConfig config = model::preset(model::Dialect::psd);
  config.placement = model::Placement::consistent_hash;
  return policies::make(config).value();
}

std::uint32_t picked(PlacementPolicy& policy, const SlotView& slots, std::uint64_t key) {
  policy.begin(slots);
  return policy.pick(slots, {ProfileId{std::uint32_t{0}}, key, 0}).value;
}

}  // namespace

TEST_CASE("A15: consistent-hash goes by the view, also by another one with as many executors") {
  const PolicySet set = consistent_hash();
  const Keys slots({10, 20, 30});
  const Keys others({30, 10, 20});
  CHECK(picked(*set.placement, slots, 15) == 1);
  CHECK(picked(*set.placement, others, 15) == 2);
  CHECK(picked(*set.placement, slots, 15) == 1);
  CHECK(picked(*set.placement, slots, 31) == 0);
}

TEST_CASE("A15: consistent-hash goes by the ledger, whatever came to it as often") {
  const PolicySet set = consistent_hash();
  const Ledger first = joined({10, 20, 30});
  const Ledger turned = joined({30, 10, 20});
  const Ledger others = joined({10, 20, 14});
  Ledger changed = first;
  CHECK(picked(*set.placement, first, 15) == 1);
  CHECK(picked(*set.placement, turned, 15) == 2);
  CHECK(picked(*set.placement, first, 12) == 1);
  CHECK(picked(*set.placement, others, 12) == 2);
  CHECK(picked(*set.placement, first, 12) == 1);
  changed.exchange(ExecutorId{std::uint32_t{1}}, ExecutorId{std::uint32_t{2}});
  CHECK(picked(*set.placement, changed, 15) == 2);
  changed.exchange(ExecutorId{std::uint32_t{0}}, ExecutorId{std::uint32_t{2}});
  CHECK(picked(*set.placement, changed, 15) == 0);
  CHECK(picked(*set.placement, joined({20, 30, 10}), 15) == 0);
}
