// Format `spark-event-log`: the event log of one Spark application, 1.2 to 4.x, in any layout of
// spark_layout and any packing of input_stream.
#pragma once

#include <string>

#include "model/support/error.hpp"
#include "model/trace.hpp"
#include "traces/load_options.hpp"

namespace rehearse::traces {

// Errors name file, line and field: T001 no event in it, T003 damage (strict), T004 parts missing,
// T005 to T010 wrong lines (strict), T012 too many tasks missing.
[[nodiscard]] model::Result<model::Trace> read_spark_event_log(const std::string& path,
                                                               const LoadOptions& options = {});

}  // namespace rehearse::traces
