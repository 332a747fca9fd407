// The polynomial tables of fixed_math.cpp; nobody else reads them.
#pragma once

#include <array>
#include <cstdint>

namespace rehearse::model::tables {

// A polynomial of degree six in the place inside its segment, -1/2 <= t < 1/2, lowest power first,
// each coefficient in units of 2^-scale of its table. One cache line.
struct alignas(64) Segment {
  std::array<std::int64_t, 7> coefficients;
};

inline constexpr int log2_scale = 58;
inline constexpr int exp2_scale = 61;
inline constexpr int quantile_scale = 58;

// log2 over [1, 2), 32 equal segments.
extern const std::array<Segment, 32> log2_segments;
// 2^x over [0, 1), 16 equal segments.
extern const std::array<Segment, 16> exp2_segments;
// -quantile(p) for p in [2^-6, 1/2): octave [2^-(k+2), 2^-(k+1)) has the 16 segments from 16 k on.
extern const std::array<Segment, 80> quantile_central_segments;
// -quantile(2^-y) for y in [6, 68): 16 equal segments for each octave of y, from [4, 8) on; the
// eight segments of y below 6 are left out.
extern const std::array<Segment, 57> quantile_tail_segments;

}  // namespace rehearse::model::tables
