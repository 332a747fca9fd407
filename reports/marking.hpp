// What was read, and what became of its pipelined marks (traces.md, Marking), as reports show it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/slot_use.hpp"

namespace rehearse::reports {

struct InputWarning {
  std::optional<std::int64_t> line;
  std::string what;
};

struct Marking {
  struct Narrowed {
    std::int64_t tasks_before = 0;
    std::int64_t tasks_after = 0;
  };
  // The unit that would need most slots to run as one group. Not in the JSON.
  struct Widest {
    std::string unit;
    std::int64_t stages = 0;
    std::int64_t slots = 0;  // from which on it would run as one group
  };
  std::string unit;  // sql, job or batch
  std::int64_t candidates = 0;
  std::int64_t marked = 0;
  std::vector<std::pair<std::string, std::int64_t>> left;  // by reason, order of traces.md
  Wide work = 0;                                           // task time of the input, ns
  Wide work_in_groups = 0;  // of stages in groups of two or more, as marked
  std::optional<Narrowed> narrowed;
  std::optional<Widest> widest;
};

struct Input {
  std::string path;  // as the user named it
  std::string format;
  std::optional<std::string> trace_id;
  bool ok = true;
  std::vector<InputWarning> warnings;
  std::optional<Marking> marking;  // absent when nothing was to be marked
};

}  // namespace rehearse::reports
