// What must hold after a run (scenario.md section 6): data only; evaluated over the journal by
// properties/expectations.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/support/time.hpp"

namespace rehearse::model {

// "event [job[/stage[/partition]]]"; "event [executor]" for events that name no job.
struct EventPattern {
  std::string event;
  std::string job;    // or the executor; empty = any
  std::string stage;  // empty = any
  std::optional<std::int32_t> partition;
  bool operator==(const EventPattern&) const = default;
};

// A list (codes, stages) as JSON without blanks, compared whole.
struct ListMatch {
  std::string json;
  bool operator==(const ListMatch&) const = default;
};

// A value an event key must have: objects (need, have, free) and lists compare whole.
using KeyMatch =
    std::variant<std::int64_t, bool, std::string, std::map<std::string, std::int64_t>, ListMatch>;

struct ExpectJob {
  std::string job;
  std::string ends;  // succeeded failed cancelled rejected unfinished
  std::optional<std::string> code;
  std::optional<Instant> at;
  std::optional<Instant> before;
  std::optional<Instant> after;
  bool operator==(const ExpectJob&) const = default;
};

struct ExpectStage {
  std::string job;
  std::string stage;
  std::optional<std::int64_t> attempts;
  std::optional<std::int64_t> tasks_started;
  std::optional<std::string> ends;  // success failed cancelled, of the last attempt
  bool operator==(const ExpectStage&) const = default;
};

// State after the last round not later than `at`; only what is given is checked.
struct ExpectState {
  Instant at = 0;
  std::vector<std::string> running;  // "job/stage"
  std::vector<std::string> waiting;
  std::vector<std::string> not_running;
  std::map<std::string, std::int64_t> free;  // by profile
  bool operator==(const ExpectState&) const = default;
};

struct ExpectOrder {
  std::vector<EventPattern> order;
  bool operator==(const ExpectOrder&) const = default;
};

struct ExpectEvent {
  EventPattern pattern;
  std::optional<Instant> at;
  std::map<std::string, KeyMatch> keys;
  std::optional<std::int64_t> count;
  std::optional<std::int64_t> min;
  std::optional<std::int64_t> max;  // none of count, min, max = at least one
  bool never = false;               // the form {"never": ...}: no event matches
  bool operator==(const ExpectEvent&) const = default;
};

struct ExpectInvariant {
  std::string property;
  bool holds = true;
  bool operator==(const ExpectInvariant&) const = default;
};

struct ExpectLoadError {
  std::string pointer;
  bool operator==(const ExpectLoadError&) const = default;
};

struct ExpectJournalHash {
  std::string hash;  // "xxh3:" + 16 hex digits
  bool operator==(const ExpectJournalHash&) const = default;
};

struct ExpectSameJournal {
  std::string file;
  std::vector<EventPattern> except;
  bool operator==(const ExpectSameJournal&) const = default;
};

// totals.events.max and the like.
struct ExpectTotals {
  struct Bound {
    std::string name;  // events, jobs, tasks, ...
    std::optional<std::int64_t> min;
    std::optional<std::int64_t> max;
    bool operator==(const Bound&) const = default;
  };
  std::vector<Bound> bounds;
  bool operator==(const ExpectTotals&) const = default;
};

using Expectation =
    std::variant<ExpectJob, ExpectStage, ExpectState, ExpectOrder, ExpectEvent, ExpectInvariant,
                 ExpectLoadError, ExpectJournalHash, ExpectSameJournal, ExpectTotals>;

// One checked expectation: `detail` says what was expected, the nearest lines and the time.
struct ExpectationResult {
  std::int32_t index = 0;  // in the file's list
  bool ok = false;
  std::string detail;
  bool operator==(const ExpectationResult&) const = default;
};

}  // namespace rehearse::model
