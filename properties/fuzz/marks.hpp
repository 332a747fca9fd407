// Marks: hard places that a campaign must have reached, or it proves nothing about them
// (properties.md section 3). A listener beside the monitors counts them, and what of the journals
// was new: pairs of events and abstract states.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/scenario.hpp"
#include "properties/gen/generate.hpp"
#include "properties/monitor.hpp"
#include "sim/simulation.hpp"

namespace rehearse::properties {

enum class Mark : std::uint8_t {
  several_codes,
  five_events_at_once,
  zero_task_stage,
  prefix_recomputed,
  old_attempt_counts,
  uncounted_success,
  stale_success,
  launched_on_dead,
  nobody_there_then_join,
  loss_of_process,
  loss_of_host,
  loss_of_exit_by_app,
  loss_by_decommission,
  lost_idle,
  lost_with_member,
  lost_with_drained_output,
  lost_last,
  lost_while_held,
  lost_while_draining,
  lost_before_it_came,
  hold,
  join_later,
  cancelled,
  cancelled_while_waiting,
  cancelled_before_launched,
  cancelled_while_running,
  cancelled_in_replay_window,
  cancelled_before_rerun,
  timers_in_order,
  timers_swapped,
  task_exception,
  task_killed,
  task_commit_denied,
  task_result_lost,
  task_out_of_memory,
  fetch_failed,
  task_slow,
  status_late,
  exact_fit,
  two_admitted_at_once,
  diamond,
  groups_joined_by_edge,
  one_task_group,
  waiting_head,
  blocked_by_head,
  compete_and_wait,
  starvation_ends,
  backfill,
  waited_to_bound,
  healing_needed,
  retry_succeeds,
  retry_used_up,
  failure_in_replay_window,
  failure_after_producer,
  prefix_lost_while_group_runs,
  commits_again,
  used_again_after,
  held_back_then_released,
  held_back_then_dropped,
  harmless_kill,
  success_then_resubmitted,
  final_stage_first,
  slice_of_several,
  collapse_stage,
  bulk_times_out,
  two_bulks_hold,
  reservation_honoured,
};
inline constexpr std::size_t mark_count = static_cast<std::size_t>(Mark::reservation_honoured) + 1;

// "group admitted at exact fit".
[[nodiscard]] std::string_view text_of(Mark mark);

// A set of small numbers.
class BitSet {
 public:
  explicit BitSet(std::size_t size) : words_(size / 64 + 1) {}
  void set(std::size_t at) { words_[at / 64] |= std::uint64_t{1} << (at % 64); }
  void merge(const BitSet& other);
  [[nodiscard]] std::int64_t count() const;
  bool operator==(const BitSet&) const = default;

 private:
  std::vector<std::uint64_t> words_;
};

// What many runs reached. Sums and sets, so the order in which runs are added is no matter.
class Reached {
 public:
  Reached();
  void hit(Mark mark, std::int64_t times = 1) { marks_[static_cast<std::size_t>(mark)] += times; }
  void rejected(model::Code code) { ++codes_[static_cast<std::size_t>(code)]; }
  void pattern(int before, int after);
  // Counts of the moment, capped.
  struct State {
    std::int64_t jobs = 0;
    std::int64_t waiting = 0;
    std::int64_t drained = 0;
    std::int64_t executors = 0;
    std::int64_t free = 0;
    std::int64_t running = 0;
  };
  void state(const State& state);
  // What no line shows: which entries of the plan fired, and more, by what the run says.
  void faults(const model::Scenario& scenario, const sim::RunResult& result);
  void merge(const Reached& other);
  bool operator==(const Reached&) const = default;

  [[nodiscard]] std::int64_t count(Mark mark) const {
    return marks_[static_cast<std::size_t>(mark)];
  }
  [[nodiscard]] std::int64_t patterns() const { return patterns_.count(); }
  [[nodiscard]] std::int64_t states() const { return states_.count(); }

  struct Count {
    std::string mark;
    std::int64_t times = 0;
  };
  // Everything that a campaign with these options must have reached, in the order of the table.
  [[nodiscard]] std::vector<Count> demanded(const GenOptions& options) const;
  [[nodiscard]] std::vector<std::string> missed(const GenOptions& options) const;

 private:
  static constexpr std::size_t codes_max = 32;
  static constexpr std::size_t moments = 12;
  std::array<std::int64_t, mark_count> marks_{};
  std::array<std::int64_t, codes_max> codes_{};
  std::array<std::int64_t, moments> lost_at_{};
  std::array<std::int64_t, moments> cancelled_at_{};
  BitSet patterns_;
  BitSet states_;
};

// For MonitorSet::listen(); both outlive it.
[[nodiscard]] std::unique_ptr<Monitor> make_mark_listener(const Track& track,
                                                          const model::Scenario& scenario,
                                                          Reached& reached);

}  // namespace rehearse::properties
