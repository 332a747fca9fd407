// The events of a Spark log as plain values: what spark_events reads from a line and spark_apply
// adds to a SparkLog. An absent optional was not in the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/spark_log.hpp"

namespace rehearse::traces {

struct SparkStageInfo {
  std::optional<std::int64_t> id;
  std::int64_t attempt = 0;
  std::string label;
  std::optional<std::int64_t> tasks;
  std::vector<std::int64_t> rdds;
  std::optional<std::vector<std::int64_t>> parents;
  std::optional<std::int64_t> submitted_ms;
  std::optional<std::int64_t> completed_ms;
  std::int64_t profile = 0;
  bool barrier = false;
  bool indeterminate = false;
};

struct SparkTaskInfo {
  std::optional<std::int64_t> id;
  std::optional<std::int64_t> index;
  std::optional<std::int64_t> partition;
  std::int64_t attempt = 0;
  std::optional<std::int64_t> launch_ms;
  std::int64_t finish_ms = 0;
  std::string executor;
  std::string host;
};

struct SparkTaskMetrics {
  bool present = false;
  std::int64_t deserialize_ms = 0;
  std::int64_t run_ms = 0;
  std::int64_t serialize_ms = 0;
  std::int64_t fetch_wait_ms = 0;
  std::int64_t write_ns = 0;
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
};

struct SparkTaskEnd {
  std::optional<std::int64_t> stage;
  std::int64_t stage_attempt = 0;
  bool writes_shuffle = false;
  std::string reason = "UnknownReason";
  SparkTaskInfo task;
  SparkTaskMetrics metrics;
};

struct SparkTaskStart {
  std::int64_t stage = 0;
  SparkTaskInfo task;
};

struct SparkJobStart {
  SparkJob job;
  std::vector<SparkStageInfo> stages;
};

struct SparkJobEnd {
  std::int64_t job = 0;
  std::optional<std::int64_t> completed_ms;
  bool succeeded = false;
};

struct SparkExecutorRemoved {
  std::string id;
  std::int64_t at_ms = 0;
  std::string reason;
};

}  // namespace rehearse::traces
