// registry: spark-event-log
// Files in, lines to the event reader, the log to the assembler.
#include "traces/spark_event_log.hpp"

#include <filesystem>
#include <utility>

#include "traces/spark_assemble.hpp"
#include "traces/spark_events.hpp"
#include "traces/spark_layout.hpp"

namespace rehearse::traces {
namespace {

using model::Error;

struct Volume {
  std::int64_t lines = 0;
  std::int64_t bytes = 0;
  bool damaged = false;
};

Error not_a_log(const std::string& path, const std::string& first_line) {
  Error error{.what = {}, .file = path, .code = "T001"};
  if (first_line.empty()) {
    error.what = "is empty";
    error.remedy = "expected the lines of a Spark event log";
    return error;
  }
  error.line = 1;
  error.what = "holds no event of Spark (it begins with \"" + first_line + "\")";
  error.remedy = first_line.starts_with("sparkVersion") || !first_line.starts_with("{")
                     ? "logs of Spark before 1.0 and other text are not read"
                     : "expected lines like {\"Event\":\"SparkListener...\",...}";
  return error;
}

// What can be shown of the beginning of a line in a message.
std::string shown(std::string_view text) {
  constexpr std::size_t shown_max = 40;
  std::string result;
  for (const char c : text.substr(0, shown_max)) {
    result += c >= ' ' && c <= '~' ? c : '?';
  }
  return result;
}

std::optional<Error> read_file(const std::string& path, const std::string& warn_as,
                               const LoadOptions& options, SparkEventReader& events, SparkLog& log,
                               Volume& volume, std::string& first_line) {
  auto lines = LineReader::open(path, options.stream);
  if (!lines) {
    return std::move(lines.error());
  }
  if (!lines->name_mismatch().empty()) {
    log.warnings.add("T002: the file " + lines->name_mismatch(), {warn_as, 0});
  }
  while (auto line = lines->next()) {
    if (first_line.empty()) {
      first_line = shown(line->text);
    }
    if (auto error = events.read(*line, path, warn_as)) {
      return error;
    }
  }
  if (lines->damage()) {
    if (options.strict) {
      return lines->damage();
    }
    volume.damaged = true;
    log.warnings.add("T003: " + lines->damage()->what + "; what comes before it was read",
                     {warn_as, lines->lines()});
  }
  if (lines->blank_lines() > 0) {
    log.warnings.add("blank lines", {warn_as, 0}, std::to_string(lines->blank_lines()));
  }
  volume.lines += lines->lines();
  volume.bytes += lines->raw_bytes();
  return std::nullopt;
}

}  // namespace

model::Result<model::Trace> read_spark_event_log(const std::string& path,
                                                 const LoadOptions& options) {
  auto layout = spark_layout(path, options);
  if (!layout) {
    return std::unexpected(std::move(layout.error()));
  }
  SparkLog log;
  Volume volume;
  std::string first_line;
  for (const std::string& warning : layout->warnings) {
    log.warnings.add(warning);
  }
  SparkEventReader events(log, options.strict);
  for (const std::string& file : layout->files) {
    const std::string warn_as =
        layout->files.size() > 1 ? std::filesystem::path(file).filename().string() : "";
    if (auto error = read_file(file, warn_as, options, events, log, volume, first_line)) {
      return std::unexpected(std::move(*error));
    }
  }
  if (!log.any_event) {
    return std::unexpected(not_a_log(path, first_line));
  }
  auto trace = assemble_spark_trace(log, path, options);
  if (trace) {
    trace->partial = layout->compacted || volume.damaged;
    trace->load.lines = volume.lines;
    trace->load.bytes = volume.bytes;
  }
  return trace;
}

}  // namespace rehearse::traces
