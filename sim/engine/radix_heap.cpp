// The moves of the radix heap: popping from small buckets, spreading big ones, runs of equal time.
#include "sim/engine/radix_heap.hpp"

#include <algorithm>

namespace rehearse::sim {

namespace {

constexpr auto by_key = [](const Event& a, const Event& b) { return a.key < b.key; };
constexpr auto by_key_descending = [](const Event& a, const Event& b) { return a.key > b.key; };

// Events of one time mostly come in the order of their sequence already.
void sort_by_key(std::vector<Event>::iterator first, std::vector<Event>::iterator last) {
  if (!std::is_sorted(first, last, by_key)) {
    std::sort(first, last, by_key);
  }
}

}  // namespace

void RadixHeap::append_chunk(Bucket& bucket) {
  std::uint32_t index = free_;
  if (index != no_chunk) {
    free_ = next_[index];
  } else {
    index = static_cast<std::uint32_t>(next_.size());
    RH_CHECK(index != no_chunk);
    next_.push_back(no_chunk);
    pool_.resize(pool_.size() + chunk_events);
  }
  next_[index] = no_chunk;
  if (bucket.first == no_chunk) {
    bucket.first = index;
  } else {
    next_[bucket.last] = index;
  }
  bucket.last = index;
  bucket.fill = 0;
}

// Takes the bucket's chunks out of the table; the caller releases them.
RadixHeap::Bucket RadixHeap::detach(std::size_t index) {
  const Bucket bucket = buckets_[index];
  buckets_[index] = Bucket{};
  const std::size_t level = index / slots;
  RH_CHECK(level < levels);
  slots_used_[level] &= ~(std::uint64_t{1} << (index % slots));
  if (slots_used_[level] == 0) {
    levels_used_ &= ~(std::uint32_t{1} << level);
  }
  return bucket;
}

// Moves the base to the earliest time of the lowest bucket and its events to lower levels. A chunk
// is released once it is read, before the next is, so little more than the events' own is in use.
void RadixHeap::spread(std::size_t index) {
  const Bucket bucket = detach(index);
  base_ = bucket.time_min;
  if (bucket.first == bucket.last) {
    soon_.insert(soon_.end(), chunk(bucket.first), chunk(bucket.first) + bucket.fill);
  }
  for (std::uint32_t at = bucket.first; at != no_chunk;) {
    const std::uint32_t count = at == bucket.last ? bucket.fill : chunk_events;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Event event = chunk(at)[i];  // by value: place may move the pool
      place(event);
    }
    const std::uint32_t next = next_[at];
    release_chunk(at);
    at = next;
  }
}

// Appends the events of a bucket of level 0, which are of one time, in order.
void RadixHeap::take_level_0(std::size_t index, std::vector<Event>& out) {
  const Bucket bucket = detach(index);
  const auto before = static_cast<std::ptrdiff_t>(out.size());
  for (std::uint32_t at = bucket.first; at != no_chunk;) {
    const std::uint32_t count = at == bucket.last ? bucket.fill : chunk_events;
    out.insert(out.end(), chunk(at), chunk(at) + count);
    const std::uint32_t next = next_[at];
    release_chunk(at);
    at = next;
  }
  sort_by_key(out.begin() + before, out.end());
}

// Appends the events of `time` from a small bucket, in order; the others stay.
void RadixHeap::take_small(std::size_t index, std::uint64_t time, std::vector<Event>& out) {
  Bucket& bucket = buckets_[index];
  Event* const events = chunk(bucket.first);
  const auto before = static_cast<std::ptrdiff_t>(out.size());
  std::uint32_t kept = 0;
  std::uint64_t kept_min = no_time;
  for (std::uint32_t i = 0; i < bucket.fill; ++i) {
    const Event event = events[i];
    if (event.time == time) {
      out.push_back(event);
    } else {
      kept_min = std::min(kept_min, event.time);
      events[kept++] = event;
    }
  }
  sort_by_key(out.begin() + before, out.end());
  if (kept == 0) {
    release_chunk(detach(index).first);
  } else {
    bucket.fill = kept;
    bucket.time_min = kept_min;
  }
}

// The least event of a small bucket. Written without a branch on the events' times, which nobody
// could predict.
Event RadixHeap::pop_small(std::size_t index) {
  Bucket& bucket = buckets_[index];
  Event* const events = chunk(bucket.first);
  Event least = events[0];
  if (bucket.fill == 1) {
    release_chunk(detach(index).first);
    return least;
  }
  std::uint32_t least_at = 0;
  std::uint64_t others_min = no_time;
  for (std::uint32_t i = 1; i < bucket.fill; ++i) {
    const Event event = events[i];
    const bool less =
        event.time < least.time || (event.time == least.time && event.key < least.key);
    others_min = std::min(others_min, less ? least.time : event.time);
    least_at = less ? i : least_at;
    least.time = less ? event.time : least.time;
    least.key = less ? event.key : least.key;
  }
  --bucket.fill;
  events[least_at] = events[bucket.fill];
  bucket.time_min = others_min;
  return least;
}

void RadixHeap::push_into_run(const Event& event) {
  // What was popped is dropped now and then: a run that is fed while it is popped may be endless.
  if (run_head_ >= chunk_events && run_head_ >= run_.size() - run_head_) {
    run_.erase(run_.begin(), run_.begin() + static_cast<std::ptrdiff_t>(run_head_));
    run_head_ = 0;
  }
  if (run_.empty() || run_.back().key <= event.key) {
    run_.push_back(event);
  } else {
    late_.push_back(event);
    std::push_heap(late_.begin(), late_.end(), by_key_descending);
  }
}

Event RadixHeap::pop_from_run() {
  Event event;
  const bool run_first =
      late_.empty() || (run_head_ < run_.size() && run_[run_head_].key <= late_.front().key);
  if (run_first) {
    event = run_[run_head_++];
  } else {
    std::pop_heap(late_.begin(), late_.end(), by_key_descending);
    event = late_.back();
    late_.pop_back();
  }
  if (run_head_ == run_.size()) {
    run_.clear();
    run_head_ = 0;
    if (late_.empty()) {
      run_time_ = no_time;
    }
  }
  return event;
}

Event RadixHeap::pop() {
  RH_CHECK(size_ != 0);
  soon_.clear();
  --size_;
  while (run_time_ == no_time) {
    const std::size_t index = lowest_bucket();
    if (is_small(buckets_[index])) {
      const Event event = pop_small(index);
      last_time_ = event.time;
      return event;
    }
    if (index < slots) {
      run_time_ = buckets_[index].time_min;
      take_level_0(index, run_);
    } else {
      spread(index);
    }
  }
  last_time_ = run_time_;
  return pop_from_run();
}

void RadixHeap::pop_batch(std::uint64_t time, std::vector<Event>& out) {
  soon_.clear();
  const std::optional<std::uint64_t> earliest = peek_time();
  RH_CHECK(!earliest || *earliest >= time, static_cast<std::int64_t>(time),
           static_cast<std::int64_t>(*earliest));
  if (earliest != time) {
    return;
  }
  last_time_ = time;
  const std::size_t before = out.size();
  if (run_time_ == time) {
    out.insert(out.end(), run_.begin() + static_cast<std::ptrdiff_t>(run_head_), run_.end());
    out.insert(out.end(), late_.begin(), late_.end());
    sort_by_key(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
    run_.clear();
    late_.clear();
    run_head_ = 0;
    run_time_ = no_time;
  } else {
    std::size_t index = lowest_bucket();
    while (!is_small(buckets_[index]) && index >= slots) {
      spread(index);
      index = lowest_bucket();
    }
    if (is_small(buckets_[index])) {
      take_small(index, time, out);
    } else {
      take_level_0(index, out);
    }
  }
  size_ -= out.size() - before;
}

void RadixHeap::clear() {
  buckets_.fill(Bucket{});
  slots_used_.fill(0);
  levels_used_ = 0;
  free_ = no_chunk;
  base_ = 0;
  last_time_ = 0;
  size_ = 0;
  pool_.clear();
  next_.clear();
  run_time_ = no_time;
  run_head_ = 0;
  run_.clear();
  late_.clear();
  soon_.clear();
}

}  // namespace rehearse::sim
