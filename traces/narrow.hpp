// `--too-wide fit`: stages with fewer, longer tasks.
#pragma once

#include <cstdint>
#include <vector>

#include "model/job.hpp"

namespace rehearse::traces {

struct WidthTarget {
  std::int64_t slots = 0;  // what all stages together may have
};

// Widths in proportion to `tasks`, whose sum is at most target.slots and as near to it as whole
// tasks allow: every stage with tasks keeps one at least (the target then is the number of such
// stages), no stage gets more than it had; what proportion leaves over goes to the largest
// remainders, ties to the first.
[[nodiscard]] std::vector<std::int64_t> narrowed_widths(const std::vector<std::int64_t>& tasks,
                                                        WidthTarget target);

// True when the stage has one recorded duration per partition, or one for all.
[[nodiscard]] bool can_be_narrowed(const model::StageSpec& stage);

// Makes a stage of n tasks one of `width`: task i does the work of the tasks i, i + width, ... one
// after the other. The sum of durations stays the same to the nanosecond.
void narrow_stage(model::StageSpec& stage, std::int64_t width);

}  // namespace rehearse::traces
