// The charts of a comparison's page, each one SVG element. Every axis has a label with its unit;
// colour is never the only sign. Style classes are those of page_style.
#pragma once

#include <string>

#include "reports/compare.hpp"

namespace rehearse::reports {

// A chart, and what it leaves out in one sentence (empty = nothing).
struct Chart {
  std::string svg;
  std::string left_out;
};

// Share of all requests completed within a time, one step line per configuration. A line that ends
// below 100% shows what never completed.
[[nodiscard]] Chart latency_chart(const Comparison& comparison);

// One bar per paired request from no change to its change, sorted; on a scale of doublings.
[[nodiscard]] Chart change_chart(const Comparison& comparison, std::size_t paired);

// Slot use over time, stacked, and the Gantt of stages below on the same axis, for one run.
// `until` is the end of the axis, so that charts of several configurations line up.
[[nodiscard]] Chart timeline_chart(const Configuration& configuration, std::size_t index,
                                   model::Instant until, std::int64_t slots_max);

// What slot time was spent on, one stacked bar per configuration, 100% wide.
[[nodiscard]] Chart price_chart(const Comparison& comparison);

// The class of a configuration's line and marks.
[[nodiscard]] std::string series_class(std::size_t index);

// The class of a use of slots.
[[nodiscard]] std::string use_class(SlotUse use);

}  // namespace rehearse::reports
