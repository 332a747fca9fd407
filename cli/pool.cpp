// See pool.hpp.
#include "cli/pool.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace rehearse::cli {

void for_each_index(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> thrown(count);
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      try {
        work(i);
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    }
  };
  {
    const std::size_t wanted = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < wanted; ++i) {
      others.emplace_back(take);
    }
    take();
  }
  for (const std::exception_ptr& one : thrown) {
    if (one) {
      std::rethrow_exception(one);
    }
  }
}

}  // namespace rehearse::cli
