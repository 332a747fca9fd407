// Which events a Spark log holds, told from the first bytes of a line. Knows no JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rehearse::traces {

enum class SparkEvent : std::uint8_t {
  task_end,
  task_start,
  stage_submitted,
  stage_completed,
  job_start,
  job_end,
  executor_added,
  executor_removed,
  environment,
  profile_added,
  application_start,
  application_end,
  log_start,
  ignored,
  unknown
};

// `ignored`: known, and says nothing about scheduling that is not said elsewhere.
[[nodiscard]] SparkEvent spark_event_of(std::string_view name);

// The name of the event if the line begins with it, as all writers have it; else empty.
[[nodiscard]] std::string_view sniff_spark_event(std::string_view line);

// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD. The result has
// `padding` spare bytes reserved behind it.
[[nodiscard]] std::string with_valid_utf8(std::string_view text, std::size_t padding);

}  // namespace rehearse::traces
