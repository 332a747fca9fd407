// Numbers as people read them. Integer arithmetic only, so a report has the same bytes everywhere.
// Exact values are in the JSON results; these are rounded half up to what the eye can use.
#pragma once

#include <cstdint>
#include <string>

#include "model/support/time.hpp"
#include "reports/slot_use.hpp"

namespace rehearse::reports {

// Three significant digits and the unit that suits: "0 s", "812 ms", "1.50 s", "12.3 s",
// "5 min 20 s", "3 h 05 min", "2 d 4 h". Signed.
[[nodiscard]] std::string duration_text(model::Duration duration);

// Slot-nanoseconds as slot-seconds with separators if asked: "1,234.5 slot s".
[[nodiscard]] std::string slot_time_text(Wide slot_ns, bool separators);

// "1419" or "1,419".
[[nodiscard]] std::string count_text(std::int64_t count, bool separators);

// 100 * part / whole with one decimal: "12.3%"; "-" when whole is 0.
[[nodiscard]] std::string share_text(Wide part, Wide whole);

// 100 * (after - before) / before with sign and one decimal: "-20.0%", "+3.1%", "0.0%"; two
// significant places below one percent ("-0.42%"). "-" when before is 0 and after is not.
[[nodiscard]] std::string change_text(Wide before, Wide after);

// before / after with two decimals: "1.25x"; "-" when after is 0.
[[nodiscard]] std::string speedup_text(Wide before, Wide after);

// "1 request", "3 requests", without separators.
[[nodiscard]] std::string plural(std::int64_t count, std::string_view noun);

// The value, or the nearest end of 64 bits.
[[nodiscard]] std::int64_t saturated(Wide value);

}  // namespace rehearse::reports
