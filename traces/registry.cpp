// One line per format. What a reader needs to be recognized by stands in detect_format.
#include "traces/registry.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "traces/capacity.hpp"
#include "traces/native.hpp"
#include "traces/spark_event_log.hpp"
#include "traces/spark_layout.hpp"

namespace rehearse::traces {
namespace {

using model::Error;

constexpr auto built_formats = std::to_array<Format>({
    {"native", "the format of this program (*.rtrace): JSON lines, canonical", true},
    {"spark-event-log", "event logs of Spark 1.2 to 4.x, single files and rolling directories",
     true},
});

// Of the contract, and refused by name until there is a reader.
constexpr std::array<std::string_view, 8> later_names{"alibaba-2018", "wfformat", "swf",   "openb",
                                                      "batsim",       "ballista", "trino", "flink"};
constexpr std::array<std::string_view, 8> later_whats{
    "batch_task.csv of the Alibaba cluster trace of 2018",
    "WfCommons WfFormat 1.0 to 1.5",
    "Standard Workload Format 2.2",
    "OpenB pod lists",
    "Batsim workloads",
    "Ballista event logs",
    "Trino query JSON",
    "Flink job graphs"};
static_assert(later_names.size() == later_whats.size());

constexpr auto known_formats = [] {
  std::array<Format, built_formats.size() + later_names.size()> all{};
  std::size_t next = 0;
  for (const Format& format : built_formats) {
    all[next++] = format;
  }
  for (std::size_t i = 0; i < later_names.size(); ++i) {
    all[next++] = Format{later_names[i], later_whats[i], false};
  }
  return all;
}();

// What the beginning of a file says about its format; empty when it says nothing.
std::string_view format_of_text(std::string_view head) {
  const auto first = head.find_first_not_of(" \t\r\n");
  head = first == std::string_view::npos ? std::string_view{} : head.substr(first);
  const auto has = [&](std::string_view text) { return head.find(text) != std::string_view::npos; };
  if (head.starts_with("{\"r\":") || head.starts_with("{\"r\" :")) {
    return "native";
  }
  if (head.starts_with("{\"Event\":") || has("\"Event\":\"SparkListener")) {
    return "spark-event-log";
  }
  if (head.starts_with("{\"t\":") && has("\"e\":")) {
    return "journal";
  }
  if (has("\"rehearse\"")) {
    return "scenario";
  }
  if (has("\"schemaVersion\"") && has("\"workflow\"")) {
    return "wfformat";
  }
  if (head.starts_with(";") && (has("MaxJobs:") || has("MaxProcs:") || has("Version:"))) {
    return "swf";
  }
  if (head.starts_with("//") || head.starts_with("/*")) {
    return "scenario";
  }
  if (has("\"nb_res\"")) {
    return "batsim";
  }
  if (has("\"queryStats\"") || has("\"queryId\"")) {
    return "trino";
  }
  if (has("\"jid\"") && (has("\"plan\"") || has("\"operator_strategy\""))) {
    return "flink";
  }
  if (has(",Terminated,")) {
    return "alibaba-2018";
  }
  if (head.starts_with("{\"ev\":") && has("\"job_id\"")) {
    return "ballista";
  }
  return {};
}

std::string_view format_of_name(std::string_view path) {
  for (const std::string_view packed : {".zst", ".zstd", ".gz"}) {
    if (path.ends_with(packed)) {
      path.remove_suffix(packed.size());
      break;
    }
  }
  const std::string name = std::filesystem::path(path).filename().string();
  if (name.ends_with(".rtrace")) {
    return "native";
  }
  if (name.ends_with(".swf")) {
    return "swf";
  }
  if (name.starts_with("batch_task") && name.ends_with(".csv")) {
    return "alibaba-2018";
  }
  if (name.starts_with("openb_") && name.ends_with(".csv")) {
    return "openb";
  }
  return {};
}

std::string choices() {
  std::string text;
  for (const Format& format : known_formats) {
    text += (text.empty() ? "" : ", ") + std::string(format.name);
  }
  return text;
}

}  // namespace

std::span<const Format> formats() { return known_formats; }

model::Result<std::string> detect_format(const std::string& path) {
  std::error_code ignored;
  if (path != "-" && std::filesystem::is_directory(path, ignored)) {
    if (auto layout = spark_layout(path, {.partial = true, .stream = {}}); !layout) {
      return std::unexpected(std::move(layout.error()));
    }
    return "spark-event-log";
  }
  auto lines = LineReader::open(path);
  if (!lines) {
    return std::unexpected(std::move(lines.error()));
  }
  constexpr std::size_t looked_at_max = 65'536;
  std::string head;
  while (head.size() < looked_at_max) {
    auto line = lines->next();
    if (!line) {
      break;
    }
    head.append(line->text.substr(0, looked_at_max)).append("\n");
    if (head.starts_with("{\"")) {
      const std::string_view format = format_of_text(head);
      if (!format.empty()) {
        return std::string(format);
      }
    }
  }
  if (head.empty()) {
    return std::unexpected(Error{.what = "is empty",
                                 .file = path,
                                 .remedy = "expected a trace (" + choices() + ") or a scenario",
                                 .code = "T001"});
  }
  std::string_view format = format_of_text(head);
  format = format.empty() ? format_of_name(path) : format;
  if (!format.empty()) {
    return std::string(format);
  }
  std::string shown;
  for (const char c : head.substr(0, 32)) {
    shown += c >= ' ' && c <= '~' ? c : '?';
  }
  return std::unexpected(Error{.what = "is in no known format (it begins with \"" + shown + "\")",
                               .file = path,
                               .line = 1,
                               .remedy = "expected a trace (" + choices() + ") or a scenario",
                               .code = "T001"});
}

model::Result<model::Trace> load_trace(const std::string& path, const LoadOptions& options,
                                       std::string_view format) {
  std::string chosen(format);
  if (format == "auto") {
    auto detected = detect_format(path);
    if (!detected) {
      return std::unexpected(std::move(detected.error()));
    }
    chosen = std::move(*detected);
  }
  const auto* known = std::find_if(known_formats.begin(), known_formats.end(),
                                   [&](const Format& one) { return one.name == chosen; });
  if (known == known_formats.end()) {
    std::vector<std::string_view> names;
    for (const Format& one : known_formats) {
      names.push_back(one.name);
    }
    const std::string near = model::nearest_name(chosen, names.data(), names.data() + names.size());
    return std::unexpected(
        Error{.what = "is " + chosen + ", expected a trace",
              .file = path,
              .remedy = near.empty() ? "formats: " + choices() : "did you mean " + near + "?",
              .code = "T001"});
  }
  if (!known->built) {
    return std::unexpected(Error{.what = "format " + chosen + " is not built yet",
                                 .file = path,
                                 .remedy = "built are native and spark-event-log",
                                 .code = "T001"});
  }
  auto trace =
      chosen == "native" ? read_native(path, options) : read_spark_event_log(path, options);
  if (trace) {
    find_infeasible(*trace);
    for (const std::string& what : trace->load.infeasible) {
      trace->load.warnings.push_back(
          {0, "T013: " + what + " fits on no executor of the trace", {}});
    }
  }
  return trace;
}

}  // namespace rehearse::traces
