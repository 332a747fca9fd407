// Goal: draws are pinned for good, depend on every part of their key, and look uniform and
// independent along every axis a scenario walks: partitions, attempts, tries, stages, purposes.
#include "model/support/draw.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

namespace model = rehearse::model;
using model::DrawKey;
using model::DrawPurpose;

model::DrawScope scope_of_map() {
  return {.seed = 42,
          .purpose = DrawPurpose::duration,
          .job = model::job_key("q"),
          .stage = model::name_key("map")};
}

// Bits of `count` draws that a generator makes from 0, 1, 2, ...: each of the 64 positions must be
// set half of the time, within five standard deviations, and so must the change from one draw to
// the next.
void check_balance(const std::function<std::uint64_t(std::uint32_t)>& generator) {
  constexpr std::uint32_t count = 40'000;
  constexpr int deviation_max = 500;  // five times sqrt(count) / 2
  std::array<int, 64> ones{};
  std::array<int, 64> changes{};
  std::uint64_t before = generator(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t bits = generator(i);
    for (std::size_t position = 0; position < 64; ++position) {
      ones[position] += static_cast<int>((bits >> position) & 1U);
      changes[position] += static_cast<int>(((bits ^ before) >> position) & 1U);
    }
    before = bits;
  }
  for (std::size_t position = 0; position < 64; ++position) {
    CAPTURE(position);
    CHECK(std::abs(ones[position] - static_cast<int>(count / 2)) < deviation_max);
    CHECK(std::abs(changes[position] - static_cast<int>(count / 2)) < deviation_max);
  }
}

}  // namespace

TEST_CASE("keys and draws are pinned") {
  CHECK(model::name_key("") == 0x2d06800538d394c2U);  // XXH3-64 of nothing
  CHECK(model::job_key("q") == 0xf2386670cff0b396U);
  CHECK(model::job_key("q#1") == 0xeb1f662a01ece31dU);
  const DrawKey key = model::draw_key(scope_of_map());
  CHECK(key.value == 0xfec3032f382cb0e1U);
  constexpr std::array<std::uint64_t, 4> expected{0x273bb9ab201ce477U, 0x175efc594066fda6U,
                                                  0xa84f738cebacfbf0U, 0x31cf07e33bd25da3U};
  for (std::uint32_t i = 0; i < expected.size(); ++i) {
    CHECK(model::draw(key, {.partition = i}) == expected[i]);
  }
  CHECK(model::draw(key, {.partition = 3, .attempt = 1, .try_number = 2}) == 0x59488a71da510d72U);
}

TEST_CASE("every part of the key and of the point changes the draw") {
  const auto with = [](auto change) {
    model::DrawScope scope = scope_of_map();
    change(scope);
    return model::draw(model::draw_key(scope), {});
  };
  std::vector<std::uint64_t> draws{
      with([](auto&) {}),
      with([](auto& s) { s.seed = 43; }),
      with([](auto& s) { s.purpose = DrawPurpose::launch; }),
      with([](auto& s) { s.job = model::job_key("q#1"); }),
      with([](auto& s) { s.stage = model::name_key("sink"); }),
      with([](auto& s) { std::swap(s.job, s.stage); }),
  };
  const DrawKey key = model::draw_key(scope_of_map());
  draws.push_back(model::draw(key, {.partition = 1}));
  draws.push_back(model::draw(key, {.attempt = 1}));
  draws.push_back(model::draw(key, {.try_number = 1}));
  std::ranges::sort(draws);
  CHECK(std::ranges::adjacent_find(draws) == draws.end());
}

TEST_CASE("a million points of one series give a million different draws") {
  const DrawKey key = model::draw_key(scope_of_map());
  std::vector<std::uint64_t> draws;
  for (std::uint32_t partition = 0; partition < 62'500; ++partition) {
    for (std::uint32_t attempt = 0; attempt < 4; ++attempt) {
      for (std::uint32_t try_number = 0; try_number < 4; ++try_number) {
        draws.push_back(model::draw(key, {partition, attempt, try_number}));
      }
    }
  }
  std::ranges::sort(draws);
  CHECK(draws.size() == 1'000'000);
  CHECK(std::ranges::adjacent_find(draws) == draws.end());
}

TEST_CASE("draws are balanced along every axis") {
  const DrawKey key = model::draw_key(scope_of_map());
  SUBCASE("partitions") {
    check_balance([&](std::uint32_t i) { return model::draw(key, {.partition = i}); });
  }
  SUBCASE("attempts") {
    check_balance([&](std::uint32_t i) { return model::draw(key, {.attempt = i}); });
  }
  SUBCASE("tries") {
    check_balance([&](std::uint32_t i) { return model::draw(key, {.try_number = i}); });
  }
  SUBCASE("seeds") {
    check_balance([&](std::uint32_t i) {
      model::DrawScope scope = scope_of_map();
      scope.seed = i;
      return model::draw(model::draw_key(scope), {});
    });
  }
  SUBCASE("jobs and their resubmissions") {
    check_balance([&](std::uint32_t i) {
      model::DrawScope scope = scope_of_map();
      scope.job = model::job_key("q#" + std::to_string(i));
      return model::draw(model::draw_key(scope), {});
    });
  }
  SUBCASE("two purposes of the same task are independent") {
    model::DrawScope scope = scope_of_map();
    scope.purpose = DrawPurpose::launch;
    const DrawKey other = model::draw_key(scope);
    check_balance([&](std::uint32_t i) {
      return model::draw(key, {.partition = i}) ^ model::draw(other, {.partition = i});
    });
  }
  SUBCASE("series whose counters overlap are independent") {
    const DrawKey shifted{key.value + 0x9e3779b97f4a7c15U};
    check_balance([&](std::uint32_t i) {
      return model::draw(key, {.partition = i + 1}) ^ model::draw(shifted, {.partition = i});
    });
  }
}

TEST_CASE("one bit of the key or of the partition changes half of the draw") {
  for (std::uint32_t flipped = 0; flipped < 64; ++flipped) {
    int by_key = 0;
    int by_partition = 0;
    for (std::uint32_t i = 0; i < 1'000; ++i) {
      const std::uint64_t plain = model::draw({i}, {.partition = i});
      const std::uint64_t key_bit = std::uint64_t{1} << flipped;
      by_key += std::popcount(plain ^ model::draw({i ^ key_bit}, {.partition = i}));
      const std::uint32_t partition_bit = 1U << (flipped % 32);
      by_partition += std::popcount(plain ^ model::draw({i}, {.partition = i ^ partition_bit}));
    }
    CAPTURE(flipped);
    CHECK(std::abs(by_key - 32'000) < 640);  // five standard deviations of 1'000 * 64 bits
    CHECK(std::abs(by_partition - 32'000) < 640);
  }
}

TEST_CASE("uniform_below is in range and even") {
  const DrawKey key = model::draw_key(scope_of_map());
  std::array<int, 10> counts{};
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    const std::uint64_t number = model::uniform_below(model::draw(key, {.partition = i}), 10);
    REQUIRE(number < 10);
    ++counts[number];
  }
  for (const int count : counts) {
    CHECK(std::abs(count - 10'000) < 475);  // five standard deviations
  }
  CHECK(model::uniform_below(~std::uint64_t{0}, 1) == 0);
}
