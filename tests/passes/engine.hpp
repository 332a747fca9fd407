// A core that is told what happens in a small random world, pass by pass compared with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rehearse::testing {

struct PassTally {
  std::int64_t passes = 0;
  std::int64_t starts = 0;
  std::int64_t answers = 0;      // of policies, compared each
  std::int64_t overtakings = 0;  // passes that started something while a gang waited
};

// What was wrong with the world of this seed, if anything.
[[nodiscard]] std::optional<std::string> judge_passes(std::uint64_t seed, PassTally& tally);

}  // namespace rehearse::testing
