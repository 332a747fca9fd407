// Adds single events to a SparkLog. Order of lines is not order of time, lines repeat and are
// missing: every function copes with what came before and warns in the log about what is odd.
#pragma once

#include "traces/spark_records.hpp"

namespace rehearse::traces {

class SparkApply {
 public:
  // `log` must live longer.
  explicit SparkApply(SparkLog& log) : log_(log) {}

  void at(Place place) { place_ = place; }
  void warn(std::string_view what, std::string_view detail = {});

  // False: the job is known already and was submitted differently (T007); the first one stands.
  [[nodiscard]] bool job_start(SparkJobStart start);
  void job_end(const SparkJobEnd& end);
  void stage_submitted(SparkStageInfo info);
  void stage_completed(SparkStageInfo info);
  void task_start(const SparkTaskStart& start);
  void task_end(const SparkTaskEnd& end, std::int64_t partition);
  void executor_added(SparkExecutor added);
  void executor_removed(const SparkExecutorRemoved& removed);

 private:
  SparkStage& stage_of(std::int64_t id);
  SparkStage& declare(SparkStageInfo& info);
  SparkExecutor& executor_of(const SparkTaskInfo& task);
  void success(SparkStage& stage, const SparkTaskEnd& end, std::int64_t partition);
  void failure(SparkStage& stage, SparkExecutor& executor, const SparkTaskEnd& end,
               std::int64_t partition);

  SparkLog& log_;
  Place place_;
  SparkStage* last_stage_ = nullptr;  // nodes of the map never move
};

}  // namespace rehearse::traces
