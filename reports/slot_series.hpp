// Slot use over time, as a step function kept in a bounded number of equal buckets. The end of the
// run need not be known: when it outgrows the buckets, their width doubles and pairs are merged.
#pragma once

#include <cstdint>
#include <vector>

#include "model/support/time.hpp"
#include "reports/slot_use.hpp"

namespace rehearse::reports {

struct SlotBucket {
  SlotTimes use{};            // slot-nanoseconds
  std::int64_t busy_min = 0;  // of the instants in it
  std::int64_t busy_max = 0;
  bool operator==(const SlotBucket&) const = default;
};

class SlotSeries {
 public:
  // Keeps `buckets_max` / 2 to `buckets_max` buckets once the run is long enough; at least 2.
  explicit SlotSeries(std::size_t buckets_max);

  // The counts hold from `from` to `to`. Calls come in order, without gap, from 0.
  void add(model::Instant from, model::Instant to, const SlotCounts& counts);

  // Width of a bucket; bucket i covers [i * width, (i + 1) * width), the last one perhaps less.
  [[nodiscard]] model::Duration width_ns() const { return model::Duration{1} << shift_; }
  [[nodiscard]] const std::vector<SlotBucket>& buckets() const { return buckets_; }

 private:
  void widen();

  std::size_t buckets_max_;
  int shift_ = 0;  // the width is a power of two, so that finding a bucket is no division
  std::vector<SlotBucket> buckets_;
};

}  // namespace rehearse::reports
