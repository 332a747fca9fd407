// What work claims of the slots (A9): by profile, the tasks that run in the open attempts of stages
// and those that wait for a launch in them. Filled by Track where a check takes claims off
// (`capacity: free-and-unclaimed`); elsewhere it is empty and costs nothing. Tries of attempts that
// are over claim nothing, whatever still runs.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/rows.hpp"
#include "properties/rules.hpp"

namespace rehearse::properties {

class ClaimBook {
 public:
  void start(const Rules& rules, std::size_t profiles) {
    kept_ = rules.config.admission.capacity == model::Capacity::free_and_unclaimed;
    rows_.assign(profiles, {});
  }
  [[nodiscard]] bool kept() const { return kept_; }

  // So many tasks more run or wait in the open attempt of the stage.
  void add(const Stage& stage, std::int64_t running, std::int64_t waiting) {
    if (stage.profile == no_index) {
      unknown_ += running + waiting;
      return;
    }
    Row& row = rows_[stage.profile];
    row.running += running;
    row.waiting += waiting;
    row.waiting_in_gangs += stage.group == no_index ? 0 : waiting;
  }
  // A task gave its slot back before the line that says so (C6): -1 then, +1 with that line.
  void ended_early(Index profile, std::int64_t n) {
    if (profile != no_index) {
      rows_[profile].running += n;
    }
  }

  // Is the profile of all that claims known?
  [[nodiscard]] bool certain() const { return unknown_ == 0; }
  [[nodiscard]] std::int64_t all(std::size_t profile) const {
    return rows_[profile].running + rows_[profile].waiting;
  }
  // Without what waits in regular stages, which claims nothing where the head keeps it from
  // starting (docs/decisions/0019).
  [[nodiscard]] std::int64_t certainly(std::size_t profile) const {
    return rows_[profile].running + rows_[profile].waiting_in_gangs;
  }

 private:
  struct Row {
    std::int64_t running = 0;
    std::int64_t waiting = 0;
    std::int64_t waiting_in_gangs = 0;
  };
  std::vector<Row> rows_;  // by profile
  std::int64_t unknown_ = 0;
  bool kept_ = false;
};

}  // namespace rehearse::properties
