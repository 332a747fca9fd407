// A job as submitted: stages, shuffles between them, and what its caller does (scenario.md 2).
// Indices are file order. Names are ids of the scenario's NameTable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/ids.hpp"
#include "model/support/distribution.hpp"
#include "model/support/event_types.hpp"
#include "model/support/names.hpp"
#include "model/support/time.hpp"

namespace rehearse::model {

enum class Checkpoint : std::uint8_t { none, local, reliable };
RH_ENUM_NAMES(Checkpoint, "none", "local", "reliable");

// How a consumer treats its pipelined inputs (W14); read by data-flow timings only.
enum class Operator : std::uint8_t { stream, dam, build_probe, merge, limit, union_all };
RH_ENUM_NAMES(Operator, "stream", "dam", "build-probe", "merge", "limit", "union");

// Drawn per task from one distribution, or one value per partition (ns, length = tasks).
using TaskDurations = std::variant<Distribution, std::vector<Duration>>;

struct StageSpec {
  NameId name;
  std::int32_t tasks = 0;  // 0: demand 0, finished when ready (A19)
  TaskDurations duration;
  ProfileId profile;                         // valid; the cluster's "default" when not given
  std::vector<std::vector<NameId>> prefers;  // empty, or per partition executor and host names
  Commits commits = Commits::none;
  Checkpoint checkpoint = Checkpoint::none;
  bool barrier = false;
  bool indeterminate = false;
  bool cached = false;
  bool abandons = false;
  std::optional<Duration> estimate;  // what the scheduler believes; absent = the mean
  // Of a collapse stage (A21): how many partitions its one task reads; a note to readers.
  std::optional<std::int32_t> width;

  // What the driver of a recorded system needs before it can launch: the stage counts as ready
  // start_delay after the last of its regular inputs became available (after the submission of
  // its job when it has none), and a unit is ready when every member is (A1). Counted once in the
  // life of the stage, from the first time its inputs are all there; later attempts, and inputs
  // that are lost and come back, wait for nothing more. 0 = at once, and nothing is armed.
  Duration start_delay = 0;

  // Read by data-flow timings only; kept so that a file prints back whole.
  Operator op = Operator::stream;
  std::vector<std::optional<std::int64_t>> limit;  // empty = none; one entry = all tasks
  std::optional<std::int64_t> input_rate;          // records per second of a streaming source
  bool operator==(const StageSpec&) const = default;
};

// `stream` of an edge (W15): exact data flow in batches.
struct StreamSpec {
  struct Emission {
    Duration after = 0;
    Duration every = 0;
    std::vector<std::int32_t> to;  // one entry is one batch
    bool operator==(const Emission&) const = default;
  };
  std::int64_t buffer = 32;
  bool per_queue = false;  // buffer_of: queue
  std::optional<std::int32_t> partitions;
  std::vector<std::vector<Emission>> emit;  // per producer
  bool operator==(const StreamSpec&) const = default;
};

// One shuffle: one producer stage, one or several consumer stages of this job.
struct EdgeSpec {
  StageIndex from;  // invalid when the producer belongs to another job
  NameId from_job;  // with from_stage: "q/map", a stage of another job (always regular)
  NameId from_stage;
  std::vector<StageIndex> to;         // at least one
  EdgeKind kind = EdgeKind::regular;  // as marked, before the axis `edges`
  bool push_merge = false;
  bool checksum_retry = false;
  bool adaptive = false;
  NameId reuse_job;  // reuse: this shuffle is that one of another job; invalid = none
  NameId reuse_stage;
  std::int64_t bytes = 0;
  std::optional<std::int64_t> records;
  std::int64_t skew_milli = 0;  // Zipf exponent, 1/1000
  std::optional<StreamSpec> stream;
  bool operator==(const EdgeSpec&) const = default;
};

struct AfterSpec {
  NameId job;  // submitted `delay` after this job's last end or rejection, whatever the outcome
  Duration delay = 0;
  bool operator==(const AfterSpec&) const = default;
};

struct JobSpec {
  NameId name;
  NameId pool;  // "default" when not given
  std::int64_t priority = 0;
  Instant submit = 0;             // ignored when `after` is not empty
  std::vector<AfterSpec> after;   // the latest counts
  std::int32_t repeat_count = 1;  // > 1: copies name1, name2, ... every repeat_every
  Duration repeat_every = 0;
  std::vector<StageIndex> result;  // sinks; never empty after loading
  std::int32_t resubmit = 0;       // X8
  Duration backoff = second;
  std::vector<StageSpec> stages;  // at least one
  std::vector<EdgeSpec> edges;
  bool operator==(const JobSpec&) const = default;
};

}  // namespace rehearse::model
