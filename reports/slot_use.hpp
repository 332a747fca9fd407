// The six ways a slot spends its time (cli.md, Metrics). Every slot of every live executor is in
// exactly one of them at every instant, so the six add up to slot time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rehearse::reports {

// Products of slots and nanoseconds, and exact comparisons of ratios: 64 bits are not enough for
// 160,000 slots over a day.
__extension__ using Wide = __int128;

// The order of the JSON keys.
enum class SlotUse : std::uint8_t { busy, reserved_idle, drain_idle, blocked, unusable, idle };

inline constexpr std::size_t slot_uses = 6;
inline constexpr std::array<std::string_view, slot_uses> slot_use_names = {
    "busy", "reserved idle", "drain idle", "blocked", "unusable", "idle"};

[[nodiscard]] constexpr std::size_t index_of(SlotUse use) { return static_cast<std::size_t>(use); }

// Slots per use at one instant, or slot-nanoseconds per use over a span.
using SlotCounts = std::array<std::int64_t, slot_uses>;
using SlotTimes = std::array<Wide, slot_uses>;

}  // namespace rehearse::reports
