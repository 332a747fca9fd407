// registry: none (part of the metrics)
#include "reports/slot_series.hpp"

#include <algorithm>

#include "model/support/check.hpp"

namespace rehearse::reports {

SlotSeries::SlotSeries(std::size_t buckets_max)
    : buckets_max_(std::max<std::size_t>(buckets_max, 2)) {}

void SlotSeries::widen() {
  for (std::size_t i = 0; i < buckets_.size(); i += 2) {
    SlotBucket merged = buckets_[i];
    if (i + 1 < buckets_.size()) {
      const SlotBucket& other = buckets_[i + 1];
      for (std::size_t use = 0; use < slot_uses; ++use) {
        merged.use[use] += other.use[use];
      }
      merged.busy_min = std::min(merged.busy_min, other.busy_min);
      merged.busy_max = std::max(merged.busy_max, other.busy_max);
    }
    buckets_[i / 2] = merged;
  }
  buckets_.resize((buckets_.size() + 1) / 2);
  ++shift_;
}

void SlotSeries::add(model::Instant from, model::Instant to, const SlotCounts& counts) {
  RH_CHECK(from >= 0, from);
  RH_CHECK(to >= from, from, to);
  while (to > from && ((to - 1) >> shift_) >= static_cast<std::int64_t>(buckets_max_)) {
    widen();
  }
  const std::int64_t busy = counts[index_of(SlotUse::busy)];
  while (from < to) {
    const auto index = static_cast<std::size_t>(from >> shift_);
    // The end of the last bucket may lie beyond 64 bits: what is left of it does not.
    const model::Duration left = width_ns() - (from & (width_ns() - 1));
    const model::Duration span = std::min(to - from, left);
    if (index >= buckets_.size()) {
      buckets_.resize(index + 1);
      buckets_[index].busy_min = busy;
      buckets_[index].busy_max = busy;
    }
    SlotBucket& bucket = buckets_[index];
    for (std::size_t use = 0; use < slot_uses; ++use) {
      if (counts[use] != 0) {
        bucket.use[use] += static_cast<Wide>(counts[use]) * span;
      }
    }
    bucket.busy_min = std::min(bucket.busy_min, busy);
    bucket.busy_max = std::max(bucket.busy_max, busy);
    from += span;
  }
}

}  // namespace rehearse::reports
