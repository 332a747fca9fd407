// What a Spark event log means: skipped stages resolved to the stages whose outputs they are, jobs
// with the stages that ran for them, executors with their coming and going, losses counted.
#pragma once

#include <string>
#include <vector>

#include "model/support/error.hpp"
#include "model/trace.hpp"
#include "traces/load_options.hpp"
#include "traces/spark_log.hpp"

namespace rehearse::traces {

// Stages that were declared again under a new id and never ran. A stage is the alias of the latest
// stage before it that ran, wrote a shuffle and has the same set of RDDs.
struct SparkAliases {
  std::map<std::int64_t, std::int64_t> target;  // alias -> the stage that ran
  std::vector<std::int64_t> never_run;          // ascending

  [[nodiscard]] std::int64_t resolve(std::int64_t stage) const;
};
[[nodiscard]] SparkAliases spark_aliases(const SparkLog& log);

// Sets names, cluster and executor_ends of the trace; `log.stages` give the profiles needed.
// An executor that never registered has room for as many tasks as were seen running on it at once;
// one that ran tasks it has no room for gets that room; one that ran a task before its
// registration joined with that task.
void make_spark_cluster(const SparkLog& log, std::int64_t epoch_ms, model::Trace& trace);

// Name of a profile of the log in the cluster: "default" for 0.
[[nodiscard]] std::string spark_profile_name(std::int64_t profile);

// The whole trace. Columns of `log` are moved out as stages are made, so that a task is never held
// twice. Errors: T008 a cycle, T012 too many tasks missing (unless options.lossy), under strict
// also a log without any parent of stages.
[[nodiscard]] model::Result<model::Trace> assemble_spark_trace(SparkLog& log,
                                                               const std::string& file,
                                                               const LoadOptions& options);

}  // namespace rehearse::traces
