// Uniform random bits by counter hash (scenario.md section 1): a draw is a function of what it is
// for and of nothing else. Order of calls, policy and cluster change no draw, and a stage more in
// one job changes none of any other stage. What becomes of the bits is distribution.hpp's business.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "model/support/fixed_math.hpp"

namespace rehearse::model {

// What a draw is for: draws of different purposes are independent. The numbers are part of every
// draw; append only.
enum class DrawPurpose : std::uint8_t {
  duration = 1,
  launch = 2,
  status = 3,
  kill = 4,
  loss_detection = 5,
  startup = 6,
  ties = 7,
  workload = 8,  // what generated workloads are made of
  audit = 9,     // which of many are looked at
};

// XXH3-64 of a name: of a job with its "#n", of a stage, of an executor.
[[nodiscard]] std::uint64_t name_key(std::string_view name);
// The key of a job; its name is the whole identity, so "q#2" draws anew.
[[nodiscard]] inline std::uint64_t job_key(std::string_view name) { return name_key(name); }

// All that a series of draws has in common. What does not apply stays 0.
struct DrawScope {
  std::uint64_t seed = 0;
  DrawPurpose purpose = DrawPurpose::duration;
  std::uint64_t job = 0;    // name_key of the job, or of the executor where there is no job
  std::uint64_t stage = 0;  // name_key of the stage
};

// Which draw of its series. What does not apply stays 0.
struct DrawPoint {
  std::uint32_t partition = 0;
  std::uint32_t attempt = 0;     // of the stage
  std::uint32_t try_number = 0;  // of the task in it
};

// One series of draws, made once per stage and purpose: 8 bytes of plain data.
struct DrawKey {
  std::uint64_t value = 0;
  bool operator==(const DrawKey&) const = default;
};

[[nodiscard]] DrawKey draw_key(const DrawScope& scope);

// 64 uniform bits. Points of one try number never collide within a series; the key enters twice, so
// that series whose counters overlap are not shifted copies of each other.
[[nodiscard]] constexpr std::uint64_t draw(DrawKey key, const DrawPoint& point) {
  const std::uint64_t counter = (std::uint64_t{point.attempt} << 32 | point.partition) +
                                point.try_number * 0xd1342543de82ef95U;
  std::uint64_t x = counter * 0x9e3779b97f4a7c15U + key.value;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) + std::rotl(key.value, 32);
  x = (x ^ (x >> 29)) * 0x94d049bb133111ebU;
  x = (x ^ (x >> 31)) * 0xd6e8feb86659fd93U;
  return x ^ (x >> 32);
}

// A number from 0 to count - 1, uniform but for a bias of count / 2^64. count >= 1.
[[nodiscard]] constexpr std::uint64_t uniform_below(std::uint64_t random_bits,
                                                    std::uint64_t count) {
  return multiply_high(random_bits, count);
}

}  // namespace rehearse::model
