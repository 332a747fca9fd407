// Placement consistent-hash (A15) on views of its own.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "model/scheduler_config.hpp"
#include "policies/registry.hpp"

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

std::uint32_t picked(PlacementPolicy& policy, const SlotView& slots, std::uint64_t key) {
  policy.begin(slots);
  return policy.pick(slots, {ProfileId{std::uint32_t{0}}, key, 0}).value;
}

}  // namespace

TEST_CASE("A15: consistent-hash goes by the view, also by another one with as many executors") {
  model::SchedulerConfig config = model::preset(model::Dialect::psd);
  config.placement = model::Placement::consistent_hash;
  const PolicySet set = policies::make(config).value();
  const Keys slots({10, 20, 30});
  const Keys others({30, 10, 20});
  CHECK(picked(*set.placement, slots, 15) == 1);
  CHECK(picked(*set.placement, others, 15) == 2);
  CHECK(picked(*set.placement, slots, 15) == 1);
  CHECK(picked(*set.placement, slots, 31) == 0);
}
