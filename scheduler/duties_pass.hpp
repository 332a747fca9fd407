// What a pass asks beyond admission and launch: order of pools, how near, how far ahead, and what
// engines offer. See duties.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/machine.hpp"

namespace rehearse::scheduler {

struct Outlook;

// ---- queue fair (fair.cpp, A18) ----
[[nodiscard]] std::vector<StageId> fair_order(const Machine& m);  // units with something to start

// ---- offers and rights of engines that work so (offers.cpp, commit_rights.cpp) ----
void offer(Step& s, const OfferRound& round);
[[nodiscard]] StageReport report(const Machine& m, JobId job, StageIndex index);
void commit_asked(Step& s, const CommitAsked& input);
void commit_ended(Machine& m, const CommitEnded& input);
void release_commit(Machine& m, const RunRow& run);  // it ended without success
void end_commits(StageCold& cold);

// ---- delay scheduling (locality.cpp, A13) ----
[[nodiscard]] std::vector<Locality> locality_levels(const Machine& m, StageId stage);
// Of an executor or a host; without a host if nobody has told of one with this name.
[[nodiscard]] const Place& place_of(const Machine& m, model::NameId name);
[[nodiscard]] std::span<const ExecutorId> live_on_host(const Machine& m, model::NameId host);
[[nodiscard]] std::span<const ExecutorId> live_on_rack(const Machine& m, model::NameId rack);
// What a task chooses among, and who ranks executors that its preferences leave open (A4, A15);
// without a policy the lowest number goes first.
struct Choice {
  const SlotView& slots;
  const TaskView& task;
  const PlacementPolicy* placement = nullptr;
};
[[nodiscard]] ExecutorId preferred_at(const Machine& m, const Choice& choice,
                                      const std::vector<model::NameId>& prefers, Locality level);
// Preferences only order the search (A13, A15): executors, then their hosts, then their racks.
[[nodiscard]] ExecutorId preferred(const Machine& m, const Choice& choice,
                                   const std::vector<model::NameId>& prefers);
[[nodiscard]] bool is_delayed(const Machine& m,
                              StageId stage);  // does a locality wait hold for it?
void begin_delay(Machine& m, StageId stage);
// Does it matter task by task where its tasks may go, beyond what they prefer? Places are excluded,
// or the round has a limit.
[[nodiscard]] bool chooses_places(const Machine& m, StageId stage);
// As near as `limit`; invalid if there is no slot so near.
[[nodiscard]] ExecutorId place_within(Machine& m, const SlotView& slots, PlacementPolicy& placement,
                                      StageId stage, std::int32_t partition, Locality limit);
// Level by level, each pending task where it may go now.
void launch_delayed(Step& s, StageId stage, Outlook* outlook);
// All tasks of a barrier stage, as near as its wait demands, or none.
[[nodiscard]] bool placed_within_delay(Step& s, StageId stage, std::vector<Placed>& placed);

// ---- looking ahead (lookahead.cpp, A17) ----
struct Outlook {
  model::Instant start = 0;  // the head's earliest; the greatest instant: not by what runs
  bool amounts = false;      // spare is in 1/1000 units by resource, else in slots by profile
  std::vector<std::int64_t> spare;  // at `start`, beside the head
};
[[nodiscard]] model::Duration estimate_of(Machine& m, StageId stage, std::int32_t partition);
[[nodiscard]] model::Instant expected_end(Machine& m, StageId stage, std::int32_t partition,
                                          ExecutorId executor);
void note_expected_end(Machine& m, RunId run);
void forget_expected_end(Machine& m, RunId run);
[[nodiscard]] Outlook look_ahead(const Machine& m, const GangRow& head);
// May a task that starts now run beside the head? If so, what it takes is taken from `outlook`.
[[nodiscard]] bool is_harmless(Machine& m, Outlook& outlook, StageId stage, std::int32_t partition,
                               ExecutorId executor);

}  // namespace rehearse::scheduler
