// Journal events 28 to 36: data flow, probes, the end (scenario.md section 5).
// Each struct lists its keys in wire order; D = written by the driver, C = by the core.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/support/event_types.hpp"

namespace rehearse::model {

struct Blocked {  // D
  static constexpr std::string_view name = "blocked";
  TaskRef task{};
  BlockedOn on{};
  NameId of;
  static void keys(auto& s, auto&& f) {
    TaskRef::keys(s.task, f);
    f("on", s.on);
    f("of", s.of);
  }
  bool operator==(const Blocked&) const = default;
};

struct Unblocked {  // D
  static constexpr std::string_view name = "unblocked";
  TaskRef task{};
  BlockedOn on{};
  NameId of;
  static void keys(auto& s, auto&& f) {
    TaskRef::keys(s.task, f);
    f("on", s.on);
    f("of", s.of);
  }
  bool operator==(const Unblocked&) const = default;
};

struct RecordLatency {  // D
  static constexpr std::string_view name = "record_latency";
  NameId job;
  NameId stage;
  std::int64_t count = 0;
  std::int64_t min = 0;
  std::int64_t p50 = 0;
  std::int64_t p90 = 0;
  std::int64_t p99 = 0;
  std::int64_t max = 0;
  static void keys(auto& s, auto&& f) {
    f("job", s.job);
    f("stage", s.stage);
    f("count", s.count);
    f("min", s.min);
    f("p50", s.p50);
    f("p90", s.p90);
    f("p99", s.p99);
    f("max", s.max);
  }
  bool operator==(const RecordLatency&) const = default;
};

struct Message {  // D, in a file on request
  static constexpr std::string_view name = "message";
  NameId job;
  NameId kind;
  NameId writer;
  NameId reader;
  std::int64_t seq = 0;
  static void keys(auto& s, auto&& f) {
    f("job", s.job);
    f("kind", s.kind);
    f("writer", s.writer);
    f("reader", s.reader);
    f("seq", s.seq);
  }
  bool operator==(const Message&) const = default;
};

struct Probe {  // C
  static constexpr std::string_view name = "probe";
  ProbeWhen when{};
  std::int64_t digest = 0;
  std::int64_t jobs = 0;
  std::int64_t groups = 0;
  std::int64_t reservations = 0;
  std::int64_t deferred = 0;
  std::int64_t authorizations = 0;
  std::int64_t timers = 0;
  std::int64_t busy = 0;
  PerProfile free{};
  std::int64_t launches = 0;
  std::int64_t kills = 0;
  static void keys(auto& s, auto&& f) {
    f("when", s.when);
    f("digest", s.digest);
    f("jobs", s.jobs);
    f("groups", s.groups);
    f("reservations", s.reservations);
    f("deferred", s.deferred);
    f("authorizations", s.authorizations);
    f("timers", s.timers);
    f("busy", s.busy);
    f("free", s.free);
    f("launches", s.launches);
    f("kills", s.kills);
  }
  bool operator==(const Probe&) const = default;
};

struct FirstRow {  // D
  static constexpr std::string_view name = "first_row";
  NameId job;
  static void keys(auto& s, auto&& f) { f("job", s.job); }
  bool operator==(const FirstRow&) const = default;
};

struct RowsDelivered {  // D
  static constexpr std::string_view name = "rows_delivered";
  NameId job;
  std::int64_t count = 0;
  static void keys(auto& s, auto&& f) {
    f("job", s.job);
    f("count", s.count);
  }
  bool operator==(const RowsDelivered&) const = default;
};

struct DiskUsed {  // D
  static constexpr std::string_view name = "disk_used";
  NameId executor;
  std::int64_t bytes = 0;
  static void keys(auto& s, auto&& f) {
    f("executor", s.executor);
    f("bytes", s.bytes);
  }
  bool operator==(const DiskUsed&) const = default;
};

struct RunEnd {  // D, last line
  static constexpr std::string_view name = "run_end";
  RunEndCause cause{};
  static void keys(auto& s, auto&& f) { f("cause", s.cause); }
  bool operator==(const RunEnd&) const = default;
};

}  // namespace rehearse::model
