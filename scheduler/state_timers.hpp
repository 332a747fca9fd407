// Timers that run; state.hpp holds the rows they are about.
#pragma once

#include <cstdint>

#include "scheduler/ids.hpp"

namespace rehearse::scheduler {

inline constexpr std::uint32_t none_u32 = 0xFFFFFFFFU;

enum class TimerKind : std::uint8_t {
  resubmit,
  grace,
  start,
  retry,
  fall_back,
  rerun,
  locality,
  speculation,
  unschedulable,
  bulk
};

struct TimerRow {
  TimerId id;
  TimerKind kind{};
  JobId job;
  std::uint32_t consumer =
      0;  // resubmit: the stage whose attempt failed; else the stage, or the leader
  std::uint32_t producer = none_u32;  // and the stage whose output was not there
  bool operator==(const TimerRow&) const = default;
};

}  // namespace rehearse::scheduler
