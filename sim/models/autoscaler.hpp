// Executors that come and go by themselves (cluster.autoscale): how many are asked for and when,
// and which of them leave. Decides only; the driver lets them join and leave, and the core learns
// of those that may still come as of any that is due (A5).
//
// The pool is what the autoscaler can replace: its own executors and all others of the same
// resources and profile. `min` and `max` are bounds on the pool; executors of another kind are none
// of its business. While work waits that the pool could serve, rounds every `backlog` ask for 1, 2,
// 4, ... executors, up to what tasks that wait or run need and to `max`. An executor of the pool
// leaves when for `idle` it has run nothing and held no output that is needed, as long as more are
// left than `min` and than the tasks need. Wanted instants, not ticks: none while nothing can
// change. Decisions: docs/decisions/0013-autoscaling.md.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "model/cluster.hpp"
#include "scheduler/core.hpp"

namespace rehearse::sim {

class Autoscaler {
 public:
  // `profile_slots`: tasks by profile that one executor of the pool takes.
  Autoscaler(const model::Autoscale& options, std::vector<std::int64_t> profile_slots);

  [[nodiscard]] bool in_pool(const model::ExecutorSpec& executor) const {
    return executor.resources == options_.executor.resources &&
           executor.profile == options_.executor.profile;
  }

  // ---- the pool, as the scheduler knows it ----
  void scheduled();         // an executor not of its own is due,
  void given_up();          // and will not come;
  void request_given_up();  // one of its own that was asked for will not
  void joined(model::ExecutorId executor, bool requested, bool was_due, model::Instant now);
  void left(model::ExecutorId executor);  // is lost or draining; no member: nothing
  [[nodiscard]] bool is_member(model::ExecutorId executor) const;
  // Executors that may still be asked for.
  [[nodiscard]] std::int64_t room() const;

  // ---- what members do ----
  void started(model::ExecutorId executor, model::ProfileId profile, std::int64_t slots);
  void ended(model::ExecutorId executor, model::ProfileId profile, std::int64_t slots);
  // Outputs may be needed no longer: members that held some are looked at again.
  void look_again();
  // Members that run nothing and of which `settled` is to say whether they hold needed outputs.
  [[nodiscard]] std::vector<model::ExecutorId> unsettled() const;
  void settled(model::ExecutorId executor, bool holds_outputs, model::Instant now);

  // ---- decisions ----
  // Nothing more happens at `now`, and unsettled() is empty: when it wants to act, `now` at the
  // earliest.
  [[nodiscard]] std::optional<model::Instant> settle(model::Instant now,
                                                     const scheduler::Backlog& backlog);
  struct Steps {
    std::int64_t requests = 0;
    std::vector<model::ExecutorId> leaving;  // longest idle first, then by number
  };
  [[nodiscard]] Steps act(model::Instant now, const scheduler::Backlog& backlog);

 private:
  struct Member {
    std::vector<std::int64_t> running;  // slots by profile; empty: no member
    std::int64_t slots = 0;             // their sum
    model::Instant idle_since = -1;     // -1: it is not idle
  };

  [[nodiscard]] Member* member(model::ExecutorId executor);
  // Members that the tasks which wait or run need, `max` at most.
  [[nodiscard]] std::int64_t needed(const scheduler::Backlog& backlog) const;
  [[nodiscard]] bool is_waiting(const scheduler::Backlog& backlog) const;
  // To ask for at once, whatever waits: `min`.
  [[nodiscard]] std::int64_t below_min() const;

  model::Autoscale options_;
  std::vector<std::int64_t> profile_slots_;
  std::vector<Member> rows_;           // by executor
  std::vector<std::int64_t> running_;  // slots by profile, over members
  std::int64_t members_ = 0;
  std::int64_t requested_ = 0;          // and not there yet
  std::int64_t scheduled_ = 0;          // of others
  std::set<std::uint32_t> unsettled_;   // run nothing, to be looked at
  std::vector<std::uint32_t> keeping_;  // run nothing, hold outputs that are needed
  std::set<std::pair<model::Instant, std::uint32_t>> idle_;  // since when, who
  std::optional<model::Instant> waiting_since_;
  model::Instant next_round_ = 0;  // while work waits
  std::int64_t add_ = 1;           // what it asks for
};

}  // namespace rehearse::sim
