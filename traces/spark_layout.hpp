// Where the lines of one Spark application are: a single file, a rolling directory (eventlog_v2_*)
// or a directory in the layout of Databricks. Says which files, in reading order; reads none.
#pragma once

#include <string>
#include <vector>

#include "model/support/error.hpp"
#include "traces/load_options.hpp"

namespace rehearse::traces {

struct SparkLayout {
  std::vector<std::string> files;     // full paths, oldest first
  std::vector<std::string> warnings;  // what is unusual about the directory
  bool compacted = false;             // events of finished jobs were dropped by Spark
  bool in_progress = false;           // by its names, the application had not ended
};

// Errors: no such path, a directory without logs, a directory of several applications, missing
// parts of a rolling directory (T004), a compacted one under `strict`.
[[nodiscard]] model::Result<SparkLayout> spark_layout(const std::string& path,
                                                      const LoadOptions& options);

}  // namespace rehearse::traces
