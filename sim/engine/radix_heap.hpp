// A monotone priority queue of events on integer time. Knows nothing of clocks or of what events
// mean; engine.hpp is its typed face.
//
// Times are read as eleven digits of six bits. An event lies in the bucket (level, slot) of the
// highest digit in which its time differs from the base, and of that digit's value; the base is at
// or before every queued event. The earliest event is therefore in the lowest slot of the lowest
// level in use. A bucket of a few events is popped by looking at each of them; a bigger one is
// spread over lower levels, which moves the base to its earliest time. On level 0 a bucket holds
// one time only. An event is moved at most once per level, in the order in which events came.
//
// A regular value: copies are equal and independent. Storage is a pool of chunks that buckets share
// and return; it grows to the greatest number queued at once and then no more.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "model/support/check.hpp"
#include "sim/engine/event.hpp"

namespace rehearse::sim {

class RadixHeap {
 public:
  // Any order of keys, and repeated events, are fine. The time must be at or after that of the last
  // event popped and below 2^63.
  void push(const Event& event) {
    RH_CHECK(event.time >= last_time_ && event.time < no_time, event.instant(),
             static_cast<std::int64_t>(last_time_));
    ++size_;
    if (event.time == run_time_) [[unlikely]] {
      push_into_run(event);
    } else {
      place(event);
    }
  }

  // The earliest queued time; nothing when empty. Changes nothing: events earlier than it may still
  // be pushed, down to the last one popped.
  [[nodiscard]] std::optional<std::uint64_t> peek_time() const {
    if (size_ == 0) {
      return std::nullopt;
    }
    return run_time_ != no_time ? run_time_ : buckets_[lowest_bucket()].time_min;
  }

  // Takes out the least event. The heap must not be empty.
  [[nodiscard]] Event pop();

  // Takes out all events of exactly `time` and appends them to `out` in order; none if there are
  // none. No earlier event may be queued.
  void pop_batch(std::uint64_t time, std::vector<Event>& out);

  // Events that the last pop or pop_batch moved near to the front: they are among the next to be
  // popped, and some may be among those popped. For fetching what they are about; it may be empty.
  [[nodiscard]] const std::vector<Event>& soon() const { return soon_; }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // Events for which the pool has room, in use or not.
  [[nodiscard]] std::size_t capacity() const { return pool_.size(); }
  // Forgets all events and the last time; keeps the storage.
  void clear();

 private:
  static constexpr std::uint64_t no_time = std::uint64_t{1} << 63;
  static constexpr int digit_bits = 6;
  static constexpr std::size_t slots = std::size_t{1} << digit_bits;
  static constexpr std::size_t levels = 11;
  static constexpr std::uint32_t chunk_events = 64;
  static constexpr std::uint32_t small_bucket = 8;  // up to here a look at all beats a move of all
  static constexpr std::uint32_t no_chunk = std::numeric_limits<std::uint32_t>::max();

  struct Bucket {  // a list of chunks, all full but the last
    std::uint64_t time_min = no_time;
    std::uint32_t first = no_chunk;
    std::uint32_t last = no_chunk;
    std::uint32_t fill = chunk_events;  // events in the last chunk
  };

  [[nodiscard]] std::size_t lowest_bucket() const {
    const auto level = static_cast<std::size_t>(std::countr_zero(levels_used_));
    return level * slots + static_cast<std::size_t>(std::countr_zero(slots_used_[level]));
  }
  [[nodiscard]] Event* chunk(std::uint32_t index) {
    return pool_.data() + std::size_t{index} * chunk_events;
  }
  [[nodiscard]] bool is_small(const Bucket& bucket) const {
    return bucket.fill <= small_bucket && bucket.first == bucket.last;
  }
  void place(const Event& event) {
    const int highest = 63 - std::countl_zero((event.time ^ base_) | 1U);
    const auto level = static_cast<std::size_t>(highest / digit_bits);
    const std::size_t slot = (event.time >> (level * digit_bits)) & (slots - 1);
    Bucket& bucket = buckets_[level * slots + slot];
    if (bucket.fill == chunk_events) [[unlikely]] {
      append_chunk(bucket);
    }
    chunk(bucket.last)[bucket.fill++] = event;
    bucket.time_min = event.time < bucket.time_min ? event.time : bucket.time_min;
    slots_used_[level] |= std::uint64_t{1} << slot;
    levels_used_ |= std::uint32_t{1} << level;
  }
  void append_chunk(Bucket& bucket);
  void release_chunk(std::uint32_t index) {
    next_[index] = free_;
    free_ = index;
  }
  Bucket detach(std::size_t index);
  void spread(std::size_t index);
  void take_level_0(std::size_t index, std::vector<Event>& out);
  void take_small(std::size_t index, std::uint64_t time, std::vector<Event>& out);
  [[nodiscard]] Event pop_small(std::size_t index);
  [[nodiscard]] Event pop_from_run();
  void push_into_run(const Event& event);

  std::array<Bucket, levels * slots> buckets_{};
  std::array<std::uint64_t, levels> slots_used_{};  // bit per bucket that holds events
  std::uint32_t levels_used_ = 0;                   // bit per level that does
  std::uint32_t free_ = no_chunk;                   // list of chunks in no bucket
  std::uint64_t base_ = 0;
  std::uint64_t last_time_ = 0;
  std::size_t size_ = 0;
  std::vector<Event> pool_;          // chunk i is [64 i, 64 i + 64)
  std::vector<std::uint32_t> next_;  // by chunk: the next of its list
  // Many events of one time, while pop takes them out one by one: `run_` in order from run_head_
  // on, and in `late_`, a heap, those that came later and belong before the end of the run.
  std::uint64_t run_time_ = no_time;
  std::size_t run_head_ = 0;
  std::vector<Event> run_;
  std::vector<Event> late_;
  std::vector<Event> soon_;
};

}  // namespace rehearse::sim
