// Journal events 1 to 9: the run, executors, jobs (scenario.md section 5).
// Each struct lists its keys in wire order; D = written by the driver, C = by the core.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/support/event_types.hpp"

namespace rehearse::model {

struct RunStart {  // D, first line
  static constexpr std::string_view name = "run";
  NameId version;
  std::int64_t format = 0;
  std::int64_t seed = 0;
  Timing timing{};
  NameId dialect;
  std::vector<AxisValue> axes;
  std::vector<ProfileAmounts> profiles;
  std::vector<KeyValue> overheads;
  std::vector<NameId> promises;
  static void keys(auto& s, auto&& f) {
    f("version", s.version);
    f("format", s.format);
    f("seed", s.seed);
    f("timing", s.timing);
    f("dialect", s.dialect);
    f("axes", s.axes);
    f("profiles", s.profiles);
    f("overheads", s.overheads);
    f("promises", s.promises);
  }
  bool operator==(const RunStart&) const = default;
};

struct ExecutorAdded {  // D; profile absent = unbound; speed in 1/1000
  static constexpr std::string_view name = "executor_added";
  NameId executor;
  NameId host;
  NameId rack;
  Amounts resources{};
  NameId profile;
  std::int64_t speed = 0;
  static void keys(auto& s, auto&& f) {
    f("executor", s.executor);
    f("host", s.host);
    f("rack", s.rack);
    f("resources", s.resources);
    f("profile", s.profile);
    f("speed", s.speed);
  }
  bool operator==(const ExecutorAdded&) const = default;
};

struct ExecutorLost {  // D, at the notice
  static constexpr std::string_view name = "executor_lost";
  NameId executor;
  LossCause cause{};
  static void keys(auto& s, auto&& f) {
    f("executor", s.executor);
    f("cause", s.cause);
  }
  bool operator==(const ExecutorLost&) const = default;
};

struct ExecutorHeld {  // D
  static constexpr std::string_view name = "executor_held";
  NameId executor;
  HoldCause cause{};
  static void keys(auto& s, auto&& f) {
    f("executor", s.executor);
    f("cause", s.cause);
  }
  bool operator==(const ExecutorHeld&) const = default;
};

struct ExecutorReleased {  // D
  static constexpr std::string_view name = "executor_released";
  NameId executor;
  static void keys(auto& s, auto&& f) { f("executor", s.executor); }
  bool operator==(const ExecutorReleased&) const = default;
};

struct JobSubmitted {  // C; kinds after marks and axis
  static constexpr std::string_view name = "job_submitted";
  NameId job;
  NameId pool;
  std::int64_t priority = 0;
  std::vector<StageItem> stages;
  std::vector<EdgeItem> edges;
  static void keys(auto& s, auto&& f) {
    f("job", s.job);
    f("pool", s.pool);
    f("priority", s.priority);
    f("stages", s.stages);
    f("edges", s.edges);
  }
  bool operator==(const JobSubmitted&) const = default;
};

struct JobRejected {  // C
  static constexpr std::string_view name = "job_rejected";
  NameId job;
  Code code{};
  std::vector<Code> codes;
  NameId detail;
  std::optional<PerProfile> need;
  std::optional<PerProfile> have;
  static void keys(auto& s, auto&& f) {
    f("job", s.job);
    f("code", s.code);
    f("codes", s.codes);
    f("detail", s.detail);
    f("need", s.need);
    f("have", s.have);
  }
  bool operator==(const JobRejected&) const = default;
};

struct JobStarted {  // C
  static constexpr std::string_view name = "job_started";
  NameId job;
  static void keys(auto& s, auto&& f) { f("job", s.job); }
  bool operator==(const JobStarted&) const = default;
};

struct JobEnd {  // C
  static constexpr std::string_view name = "job_end";
  NameId job;
  JobOutcome outcome{};
  std::optional<Code> code;
  NameId detail;
  std::optional<PerProfile> need;
  std::optional<PerProfile> have;
  static void keys(auto& s, auto&& f) {
    f("job", s.job);
    f("outcome", s.outcome);
    f("code", s.code);
    f("detail", s.detail);
    f("need", s.need);
    f("have", s.have);
  }
  bool operator==(const JobEnd&) const = default;
};

}  // namespace rehearse::model
