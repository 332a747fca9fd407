// Work side by side: every piece once, errors by index.
#include "cli/pool.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

using rehearse::cli::for_each_index;

TEST_CASE("every piece is done once, whatever the number of threads") {
  for (const int threads : {1, 2, 7, 100}) {
    std::vector<std::atomic<int>> done(50);
    for_each_index(done.size(), threads, [&](std::size_t i) { ++done[i]; });
    for (const std::atomic<int>& one : done) {
      CHECK(one == 1);
    }
  }
  for_each_index(0, 4, [](std::size_t) { FAIL("there is no piece"); });
}

TEST_CASE("of several errors the first by index is thrown, after all pieces are done") {
  std::atomic<int> done{0};
  std::string what;
  try {
    for_each_index(20, 4, [&](std::size_t i) {
      ++done;
      if (i == 3 || i == 17) {
        throw std::runtime_error(std::to_string(i));
      }
    });
  } catch (const std::runtime_error& error) {
    what = error.what();
  }
  CHECK(what == "3");
  CHECK(done == 20);
}
