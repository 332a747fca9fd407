// The results of the commands as data, one struct per document of the contract (cli.md, JSON
// results). Writers turn them into text, JSON or a page; nothing here knows a format. What the
// contract leaves out of the JSON is marked so.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/expectation.hpp"
#include "model/violation.hpp"
#include "reports/compare.hpp"
#include "reports/explain.hpp"
#include "reports/marking.hpp"
#include "reports/metrics.hpp"
#include "reports/replay_error.hpp"

namespace rehearse::reports {

struct UnitWidth {
  std::string name;
  std::int64_t stages = 0;
  std::int64_t slots_as_group = 0;
};

// What is in a trace: the keys of `trace inspect`.
struct TraceFacts {
  std::string format;
  std::string version;
  std::int64_t jobs = 0;
  std::int64_t stages = 0;
  std::int64_t tasks = 0;
  std::int64_t executors = 0;
  std::int64_t unfinished = 0;
  std::int64_t failed_tasks = 0;
  std::int64_t aliased_stages = 0;
  std::int64_t edges = 0;
  std::vector<std::pair<std::string, std::int64_t>> task_ends;  // by reason, order of the caller
  std::vector<InputWarning> warnings;
  std::vector<UnitWidth> units;
};

// Every document begins with this.
struct Envelope {
  std::string command;  // "compare", "trace inspect"
  std::string version;
  bool complete = true;
  std::vector<Input> inputs;
};

struct ScenarioRun {
  std::string scenario;
  std::string configuration;
  std::uint64_t journal_hash = 0;
  RunMetrics metrics;
  std::vector<model::ExpectationResult> expectations;
  std::vector<model::Violation> violations;
  std::vector<std::string> faults_never_fired;  // not in the JSON
  // By index of the job; empty when nothing was recorded.
  std::vector<std::optional<model::Duration>> recorded_latency_ns;
  double wall_s = 0;
};

struct RunDocument {
  Envelope envelope;
  std::vector<ScenarioRun> runs;
};

struct ReplayDocument {
  Envelope envelope;
  std::vector<ScenarioRun> runs;
  Recorded recorded;
};

struct CompareDocument {
  Envelope envelope;
  Comparison comparison;
};

enum class Verdict : std::uint8_t { held, violated, not_judged };

struct CheckedProperty {
  std::string property;
  bool promised = false;
  Verdict verdict = Verdict::not_judged;
};

struct CheckDocument {
  Envelope envelope;
  std::uint64_t journal_hash = 0;
  std::vector<CheckedProperty> properties;
  std::vector<model::Violation> violations;
};

// The shortest way to a violation: what happened, and what the journal says of it.
struct ExploredPath {
  struct Step {
    std::string what;
    std::vector<std::string> lines;  // short; not in the JSON
  };
  model::Violation violation;
  std::int64_t faults = 0;
  std::vector<Step> steps;
};

struct ExploreDocument {
  Envelope envelope;
  std::int64_t states = 0;
  std::int64_t transitions = 0;
  std::int64_t faults_max = 0;                 // not in the JSON
  std::int64_t ends = 0;                       // the same
  std::vector<std::int64_t> states_by_faults;  // the same
  std::vector<ExploredPath> paths;             // one of each property
};

struct ExplainDocument {
  Envelope envelope;
  Explanation explanation;
};

struct ListItem {
  std::string name;
  std::string what;
  std::optional<std::string> default_value;
  std::optional<std::string> bound;
};

struct ListDocument {
  Envelope envelope;
  std::vector<ListItem> items;
};

struct InspectDocument {
  Envelope envelope;
  std::vector<TraceFacts> facts;  // one per input, in their order
};

struct TraceWrittenDocument {  // convert, generate, anonymize
  Envelope envelope;
  std::string trace_id;
  std::int64_t jobs = 0;
  std::int64_t stages = 0;
  std::int64_t tasks = 0;
};

// One row of what happened in a counterexample; not in the JSON.
struct StoryRow {
  model::Instant t = 0;
  std::string event;
  std::string subject;
  std::string note;
  std::int64_t free = 0;
  std::int64_t waiting = 0;
  std::int64_t running = 0;
  bool marked = false;  // here it was found
};

struct PartCounts {
  std::int64_t faults = 0;
  std::int64_t jobs = 0;
  std::int64_t stages = 0;
  std::int64_t tasks = 0;
  std::int64_t executors = 0;

  [[nodiscard]] std::int64_t sum() const { return faults + jobs + stages + tasks + executors; }
};

struct Counterexample {
  std::string property;
  std::string scenario;  // the file
  std::uint64_t seed = 0;
  PartCounts original;
  PartCounts shrunk;
  std::int64_t shrink_steps = 0;
  // Not in the JSON.
  std::string statement;  // of the property, with its clause
  std::string detail;     // what was seen
  std::string journal_hash;
  std::optional<model::Instant> critical;  // from here on it does not recover
  std::int64_t shrink_runs = 0;
  bool stopped_early = false;
  std::int64_t rows_before = 0;  // events that the story leaves out at its beginning
  std::vector<StoryRow> story;
  std::vector<std::string> commands;
  std::vector<std::string> others;  // what else was found on the way
};

struct FuzzDocument {
  Envelope envelope;
  std::string configuration;  // not in the JSON
  std::int64_t runs = 0;
  double runs_per_s = 0;
  std::uint64_t seed = 0;
  std::int64_t patterns = 0;
  std::int64_t states = 0;
  std::vector<std::string> marks_missed;
  std::vector<Counterexample> counterexamples;
  // Not in the JSON.
  std::int64_t core_steps = 0;
  std::vector<std::pair<std::string, std::int64_t>> rarest;  // marks that were reached least
  std::vector<std::string> mix;
};

// What a campaign found in a mutant, shrunk and written.
struct ShrunkFind {
  std::string scenario;  // the file
  PartCounts size;
  bool replays = false;  // the file, read again, gives the same journal
  // Not in the JSON.
  bool stopped_early = false;
  std::int64_t ms = 0;  // that it took
};

struct MutantResult {
  std::string id;
  std::string what;
  bool killed = false;
  std::optional<std::string> by;
  std::optional<std::int64_t> after_runs;  // of a campaign
  std::optional<ShrunkFind> shrunk;        // when asked for
  // Not in the JSON.
  std::string source;
  std::string configuration;
  std::string where;    // it was found: a seed, a scope, a scenario
  std::int64_t ms = 0;  // that it took
};

struct MutantsDocument {
  Envelope envelope;
  std::vector<MutantResult> mutants;
  bool shrinks = false;  // what campaigns find; without it no mutant has the key
  // Not in the JSON.
  std::string effort;                // what was done for each
  std::vector<std::string> without;  // properties that were not looked at

  [[nodiscard]] std::int64_t killed() const {
    return std::ranges::count(mutants, true, &MutantResult::killed);
  }
};

using Document = std::variant<RunDocument, ReplayDocument, CompareDocument, CheckDocument,
                              ListDocument, InspectDocument, TraceWrittenDocument, ExplainDocument,
                              ExploreDocument, FuzzDocument, MutantsDocument>;

}  // namespace rehearse::reports
