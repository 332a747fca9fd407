// registry: none (a part of the reader of Spark event logs)
// See spark_event_names.hpp.
#include "traces/spark_event_names.hpp"

#include <algorithm>
#include <array>

namespace rehearse::traces {
namespace {

struct EventName {
  std::string_view name;
  SparkEvent event;
};

// By how often they come. `ignored` ones say nothing about scheduling that is not said elsewhere.
constexpr auto event_names = std::to_array<EventName>({
    {"SparkListenerTaskEnd", SparkEvent::task_end},
    {"SparkListenerTaskStart", SparkEvent::task_start},
    {"SparkListenerStageSubmitted", SparkEvent::stage_submitted},
    {"SparkListenerStageCompleted", SparkEvent::stage_completed},
    {"SparkListenerJobStart", SparkEvent::job_start},
    {"SparkListenerJobEnd", SparkEvent::job_end},
    {"SparkListenerExecutorAdded", SparkEvent::executor_added},
    {"SparkListenerExecutorRemoved", SparkEvent::executor_removed},
    {"SparkListenerEnvironmentUpdate", SparkEvent::environment},
    {"SparkListenerResourceProfileAdded", SparkEvent::profile_added},
    {"SparkListenerApplicationStart", SparkEvent::application_start},
    {"SparkListenerApplicationEnd", SparkEvent::application_end},
    {"SparkListenerLogStart", SparkEvent::log_start},
    {"DBCEventLoggingListenerMetadata", SparkEvent::log_start},
    {"SparkListenerTaskGettingResult", SparkEvent::ignored},
    {"SparkListenerBlockManagerAdded", SparkEvent::ignored},
    {"SparkListenerBlockManagerRemoved", SparkEvent::ignored},
    {"SparkListenerBlockUpdated", SparkEvent::ignored},
    {"SparkListenerUnpersistRDD", SparkEvent::ignored},
    {"SparkListenerExecutorMetricsUpdate", SparkEvent::ignored},
    {"SparkListenerStageExecutorMetrics", SparkEvent::ignored},
    {"SparkListenerSpeculativeTaskSubmitted", SparkEvent::ignored},
    {"SparkListenerUnschedulableTaskSetAdded", SparkEvent::ignored},
    {"SparkListenerUnschedulableTaskSetRemoved", SparkEvent::ignored},
    {"SparkListenerMiscellaneousProcessAdded", SparkEvent::ignored},
    {"SparkListenerExecutorBlacklisted", SparkEvent::ignored},
    {"SparkListenerExecutorBlacklistedForStage", SparkEvent::ignored},
    {"SparkListenerExecutorUnblacklisted", SparkEvent::ignored},
    {"SparkListenerNodeBlacklisted", SparkEvent::ignored},
    {"SparkListenerNodeBlacklistedForStage", SparkEvent::ignored},
    {"SparkListenerNodeUnblacklisted", SparkEvent::ignored},
    {"SparkListenerExecutorExcluded", SparkEvent::ignored},
    {"SparkListenerExecutorExcludedForStage", SparkEvent::ignored},
    {"SparkListenerExecutorUnexcluded", SparkEvent::ignored},
    {"SparkListenerNodeExcluded", SparkEvent::ignored},
    {"SparkListenerNodeExcludedForStage", SparkEvent::ignored},
    {"SparkListenerNodeUnexcluded", SparkEvent::ignored},
    {"SparkListenerQueryExecutionMetrics", SparkEvent::ignored},
});

// Bytes of the character at the front of `text`; 0 if there is none that is valid.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80U) {
    return 1;
  }
  const std::size_t length = lead < 0xC2U || lead > 0xF4U ? 0
                             : lead < 0xE0U               ? 2
                             : lead < 0xF0U               ? 3
                                                          : 4;
  if (length == 0 || length > text.size()) {
    return 0;
  }
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  // Longer than needed, surrogates, beyond the last code point.
  const bool wrong = (lead == 0xE0U && byte(1) < 0xA0U) || (lead == 0xEDU && byte(1) > 0x9FU) ||
                     (lead == 0xF0U && byte(1) < 0x90U) || (lead == 0xF4U && byte(1) > 0x8FU);
  return wrong ? 0 : length;
}

}  // namespace

SparkEvent spark_event_of(std::string_view name) {
  constexpr std::string_view package = "org.apache.spark.scheduler.";
  if (name.starts_with(package)) {  // as later versions name events that were added later
    name.remove_prefix(package.size());
  }
  const auto* found = std::find_if(event_names.begin(), event_names.end(),
                                   [&](const EventName& known) { return known.name == name; });
  if (found != event_names.end()) {
    return found->event;
  }
  // SQL, streaming and catalog events carry plans and progress; jobs say which query they are of.
  const bool elsewhere =
      name.starts_with("org.apache.spark.sql.") || name.starts_with("com.nvidia.spark.");
  return elsewhere ? SparkEvent::ignored : SparkEvent::unknown;
}

std::string_view sniff_spark_event(std::string_view line) {
  constexpr std::string_view beginning = "{\"Event\":\"";
  if (!line.starts_with(beginning)) {
    return {};
  }
  line.remove_prefix(beginning.size());
  const auto quote = line.find('"');
  return quote == std::string_view::npos ? std::string_view{} : line.substr(0, quote);
}

std::string with_valid_utf8(std::string_view text, std::size_t padding) {
  std::string valid;
  valid.reserve(text.size() + padding);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    if (length != 0) {
      valid.append(text.substr(i, length));
      i += length;
    } else {
      valid.append("\xEF\xBF\xBD");
      ++i;
    }
  }
  valid.reserve(valid.size() + padding);
  return valid;
}

}  // namespace rehearse::traces
