// Everything the core knows. Internal to scheduler/: engines see core.hpp only. A Machine is a
// regular value: a copy is a snapshot. What changes it is in duties.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/cluster.hpp"
#include "model/scheduler_config.hpp"
#include "model/validate.hpp"
#include "scheduler/action.hpp"
#include "scheduler/core.hpp"
#include "scheduler/input.hpp"
#include "scheduler/policy.hpp"
#include "scheduler/queue.hpp"
#include "scheduler/slots.hpp"
#include "scheduler/state.hpp"
#include "scheduler/state_speculation.hpp"

namespace rehearse::scheduler {

// Stage rows in consecutive blocks, one block per job; freed blocks are reused by size class.
class StageTable {
 public:
  [[nodiscard]] const StageRow& operator[](StageId id) const { return rows_[id.index()]; }
  [[nodiscard]] StageRow& edit(StageId id) {
    StageRow& row = rows_[id.index()];
    digest_.touch(id.index(), row.dirty.on);
    return row;
  }
  [[nodiscard]] StageId add_block(std::uint32_t count);
  void remove_block(StageId first, std::uint32_t count);
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] std::uint64_t digest();
  [[nodiscard]] std::uint64_t full_digest() const;
  bool operator==(const StageTable& other) const {
    return rows_ == other.rows_ && free_ == other.free_;
  }

 private:
  std::vector<StageRow> rows_;
  std::vector<std::vector<StageId>> free_;  // by log2 of the block's size
  RowDigest digest_;
};

struct Counters {
  std::int64_t live_jobs = 0;
  std::int64_t live_gangs = 0;
  std::int64_t deferred = 0;        // finished tasks of groups that have not committed
  std::int64_t authorizations = 0;  // authorized outputs that are not committed
  std::int64_t busy = 0;            // slots in use, dying runs included
  std::int64_t launches = 0;        // actions so far; not state
  std::int64_t kills = 0;
};

struct Machine {
  model::SchedulerConfig config;
  model::NameTable* names = nullptr;         // the engine's; texts of details; not state
  std::vector<model::NameId> profile_names;  // by ProfileId
  bool autoscaling = false;
  std::uint64_t seed = 0;
  EngineOptions engine;
  model::Duration expected_launch = 0;
  model::Duration expected_status = 0;
  model::Instant now = 0;  // not state
  struct Round {           // of the pass that runs; not state
    RoundKind kind = RoundKind::complete;
    std::optional<Locality> limit;
  };
  Round round;
  PolicySet policies;
  std::unique_ptr<PlacementPolicy> idle_placement;  // for trials on the idle cluster

  Ledger slots;  // live executors, what runs and is reserved taken
  Ledger idle;   // executors A5 counts, idle; ids of its own
  Table<ExecutorId, ExecutorRow> executors;
  std::vector<ExpectedRow> expected;  // by ExpectedId
  // Derived: by idle index the row of `expected`, and below which idle index nobody is due.
  std::vector<std::uint32_t> expected_at;
  std::uint32_t due_from = 0;
  Table<JobId, JobRow> jobs;
  StageTable stages;
  std::vector<StageCold> colds;
  std::vector<std::uint32_t> free_colds;
  Table<GangId, GangRow> gangs;
  Table<RunId, RunRow> runs;
  // A10; empty under accounting `sum`.
  Table<ShareId, ShareRow> shares;
  std::vector<ShareId> share_of;  // by run: its share. Derived
  // A2 bulk; empty under other holds.
  Table<GangId, BulkRow> bulks;
  std::vector<TimerRow> timers;  // by id ascending
  std::uint32_t next_timer = 0;
  std::uint64_t next_stage_number = 0;  // of stages submitted so far; not state
  UnitQueue queue;
  std::vector<StageId> newly_ready;   // leaders of gangs that no pass has looked at
  std::vector<StageId> queued_gangs;  // leaders of gangs that wait for inputs or slots
  std::vector<RerunRow> reruns;
  std::vector<StageId> starved;         // leaders of starved units (A14)
  std::vector<OutputIndex> outputs_on;  // by executor / 64
  // Live executors by name, host and rack (name ids); looked up, never iterated.
  std::unordered_map<std::uint32_t, ExecutorId> by_name;
  std::unordered_map<std::uint32_t, std::vector<ExecutorId>> on_host;
  std::unordered_map<std::uint32_t, std::vector<ExecutorId>> on_rack;
  // Of every executor that was ever told of, due or lost, and of every host (A15).
  std::unordered_map<std::uint32_t, Place> place_by_name;
  // A17, only where the overtaking policy looks ahead: what runs by (expected end, run), and the
  // expected end by run. Derived from the runs.
  bool keeps_expected_ends = false;
  bool wants_task_keys = false;  // the placement policy reads TaskView::key
  std::set<std::pair<model::Instant, RunId>> expected_ends;
  std::vector<model::Instant> expected_end_of;
  // Only where the axis speculation is on: live attempts, when each run started, and the attempts
  // of which something changed since the last pass.
  std::map<StageId, Speculation> speculated;
  std::vector<model::Instant> started_at;  // by run
  std::vector<StageId> speculation_changed;
  std::vector<StageId> excluding;    // stages with places excluded or failures counted, ascending
  bool wants_pass = false;           // something changed that a pass has not seen (A8)
  std::uint64_t outputs_digest = 0;  // sum over outputs of their hashes
  Counters counters;

  explicit Machine(const model::SchedulerConfig& scheduler_config) : config(scheduler_config) {}
  Machine(const Machine& other);
  Machine& operator=(const Machine&) = delete;
  Machine(Machine&&) = default;
  Machine& operator=(Machine&&) = default;
  ~Machine() = default;
};

// What the queue reads of the machine.
class Units final : public UnitFacts {
 public:
  explicit Units(const Machine& machine) : m_(machine) {}
  [[nodiscard]] UnitKey key(StageId leader) const override;
  [[nodiscard]] std::span<const std::int32_t> demand(StageId leader) const override {
    return m_.gangs[m_.stages[leader].gang].demand;
  }

 private:
  const Machine& m_;
};

// One step: the machine and where its actions go.
struct Step {
  Machine& m;
  Actions& out;

  void write(model::EventBody body) { out.write(std::move(body)); }
};

}  // namespace rehearse::scheduler
