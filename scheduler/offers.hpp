// Rounds in which only some executors offer slots, and what a stage says of itself: for engines
// that hand out resources offer by offer, as Spark does (SS-2.5). An engine that does not, calls
// Core::pass, which is a complete round without a limit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/resources.hpp"
#include "scheduler/ids.hpp"

namespace rehearse::scheduler {

// How near a task runs to what it prefers, nearest first. A task without preferences starts at
// no_preference wherever it runs.
enum class Locality : std::uint8_t { process, node, no_preference, rack, any };

struct Offer {
  ExecutorId executor;
  // What of it is offered, in 1/1000 units by resource; absent: all that is free.
  std::optional<model::ResourceVector> free;
};

enum class RoundKind : std::uint8_t {
  complete,  // everything free is offered
  partial,   // not everything: waits start anew only if nothing was refused since they last did
  single     // one offer outside of rounds: waits never start anew by it
};

struct OfferRound {
  std::vector<Offer> offers;  // of live executors, each once
  RoundKind kind = RoundKind::complete;
  std::optional<Locality> limit;  // no task with preferences starts farther away
};

// A try of a task, by name: it may be one that the core never launched.
struct CommitTry {
  JobId job;
  StageIndex stage;
  std::int32_t attempt = 0;
  std::int32_t partition = 0;
  std::int32_t try_number = 0;
};

struct StageOfJob {
  JobId job;
  StageIndex stage;
};

// A stage of a live job as it is now; empty lists where nothing is to be said.
struct StageReport {
  std::vector<Locality> levels;        // some pending task could run at them; ends with any
  std::vector<std::int32_t> failures;  // by partition, those that count towards the limit (X9)
  std::int32_t rollbacks = 0;          // SS-1.10, of its attempts so far
  bool refused_for_delay = false;      // the last round left tasks waiting for a nearer slot
  std::size_t commit_rights = 0;       // partitions of which a try holds the right to commit
  std::int32_t changed_checksums = 0;  // outputs that differed from those of an earlier try
  std::size_t copies_due = 0;          // tries that are to get a copy (axis speculation)
  std::size_t excluded_places = 0;     // SS-2.7: executors and hosts, for all or one of its tasks
};

}  // namespace rehearse::scheduler
