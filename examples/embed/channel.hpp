// A bounded queue between threads that has an end: the job's pipelined edge, and the way tasks and
// reports travel between engine and workers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace embed {

// Monotonic, because the core is never told an instant earlier than the last one.
using Clock = std::chrono::steady_clock;

// Every wait ends when its stop token says so. A kill must be able to end a task whatever it waits
// for: when a group fails, its tasks mostly wait for peers that will never answer.
template <class T>
class Channel {
 public:
  Channel(std::size_t capacity, std::size_t writers) : capacity_(capacity), writers_(writers) {}

  // Waits for room; false if stopped before there was any.
  bool push(T item, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return items_.size() < capacity_; })) {
      return false;
    }
    items_.push_back(std::move(item));
    changed_.notify_all();
    return true;
  }

  // Waits for an item; nothing at the deadline, when stopped, or at the end: every writer has
  // closed and all is read.
  std::optional<T> pop(const std::stop_token& stop,
                       std::optional<Clock::time_point> deadline = {}) {
    const auto ready = [this] { return !items_.empty() || writers_ == 0; };
    std::unique_lock lock(mutex_);
    const bool came = deadline ? changed_.wait_until(lock, stop, *deadline, ready)
                               : changed_.wait(lock, stop, ready);
    if (!came || items_.empty()) {
      return std::nullopt;
    }
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    changed_.notify_all();
    return item;
  }

  // One writer has written all it had. A writer that fails or dies never closes: its readers must
  // not take half of the input for the whole.
  void close() {
    const std::lock_guard lock(mutex_);
    --writers_;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<T> items_;
  const std::size_t capacity_;
  std::size_t writers_;
};

}  // namespace embed
