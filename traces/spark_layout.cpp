// registry: none (a part of the reader of Spark event logs)
// Rolling directories are ordered by the number in the name and must be gapless; a compacted file
// replaces everything up to its number. Databricks writes the newest part under a name without a
// date.
#include "traces/spark_layout.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace rehearse::traces {
namespace {

namespace fs = std::filesystem;
using model::Error;

struct Part {
  std::int64_t number = 0;
  bool compacted = false;
  std::string path;
};

struct Listing {
  std::vector<Part> parts;             // events_<n>_*
  std::vector<std::string> dated;      // eventlog-<date>*
  std::optional<std::string> current;  // eventlog
  std::vector<std::string> others;     // regular files that may be logs of their own
  std::vector<std::string> folders;    // eventlog_v2_* inside
  bool appstatus = false;
  bool in_progress = false;
};

std::optional<std::int64_t> part_number(std::string_view name) {
  constexpr std::string_view prefix = "events_";
  if (!name.starts_with(prefix)) {
    return std::nullopt;
  }
  name.remove_prefix(prefix.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc() && end != name.data() + name.size() && *end == '_';
  return whole ? std::optional(number) : std::nullopt;
}

void sort_in(Listing& listing, const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  const std::string path = entry.path().string();
  if (name.starts_with('.') || name.ends_with(".crc") || name == "_SUCCESS") {
    return;
  }
  if (entry.is_directory()) {
    if (name.starts_with("eventlog_v2_")) {
      listing.folders.push_back(name);
    }
    return;
  }
  if (name.starts_with("appstatus_")) {
    listing.appstatus = true;
    listing.in_progress = listing.in_progress || name.ends_with(".inprogress");
  } else if (const auto number = part_number(name)) {
    listing.parts.push_back({*number, name.ends_with(".compact"), path});
  } else if (name == "eventlog") {
    listing.current = path;
  } else if (name.starts_with("eventlog-")) {
    listing.dated.push_back(path);
  } else {
    listing.others.push_back(name);
  }
}

model::Result<Listing> list(const std::string& path) {
  Listing listing;
  std::error_code error;
  for (fs::directory_iterator it(path, error), last; !error && it != last; it.increment(error)) {
    sort_in(listing, *it);
  }
  if (error) {
    return std::unexpected(Error{.what = "cannot be listed: " + error.message(),
                                 .file = path,
                                 .kind = model::ErrorKind::io});
  }
  std::sort(listing.parts.begin(), listing.parts.end(), [](const Part& a, const Part& b) {
    return std::pair(a.number, a.compacted) < std::pair(b.number, b.compacted);
  });
  std::sort(listing.dated.begin(), listing.dated.end());
  std::sort(listing.others.begin(), listing.others.end());
  std::sort(listing.folders.begin(), listing.folders.end());
  return listing;
}

std::optional<Error> gap_in(const std::vector<Part>& parts, const std::string& path) {
  std::int64_t expected = parts.front().compacted ? parts.front().number : 1;
  std::string present;
  for (const Part& part : parts) {
    present += (present.empty() ? "" : ",") + std::to_string(part.number);
  }
  for (const Part& part : parts) {
    if (part.number > expected) {
      return Error{
          .what = "events_" + std::to_string(expected) + " is missing (there are " + present + ")",
          .file = path,
          .remedy = "copy the missing part, or read what is there with --partial",
          .code = "T004"};
    }
    expected = std::max(expected, part.number + 1);
  }
  return std::nullopt;
}

model::Result<SparkLayout> rolling(Listing listing, const std::string& path,
                                   const LoadOptions& options) {
  SparkLayout layout;
  auto& parts = listing.parts;
  const auto compact =
      std::find_if(parts.rbegin(), parts.rend(), [](const Part& part) { return part.compacted; });
  if (compact != parts.rend()) {
    layout.compacted = true;
    parts.erase(parts.begin(), std::prev(compact.base()));
    if (options.strict) {
      return std::unexpected(Error{.what = "is compacted: events of finished jobs were dropped",
                                   .file = path,
                                   .remedy = "read it without --strict; the trace is partial"});
    }
    layout.warnings.emplace_back("compacted: events of finished jobs were dropped by Spark");
  }
  if (auto gap = gap_in(parts, path)) {
    if (!options.partial) {
      return std::unexpected(std::move(*gap));
    }
    layout.compacted = true;
    layout.warnings.push_back(gap->what);
  }
  if (!listing.appstatus) {
    layout.warnings.emplace_back("no appstatus file");
  }
  layout.in_progress = listing.in_progress;
  for (Part& part : parts) {
    layout.files.push_back(std::move(part.path));
  }
  return layout;
}

Error without_logs(const Listing& listing, const std::string& path) {
  Error error{.what = "is a directory without event logs",
              .file = path,
              .remedy =
                  "expected events_<n>_* (rolling), eventlog* (Databricks), or the name of "
                  "one file"};
  std::vector<std::string> names = listing.folders;
  names.insert(names.end(), listing.others.begin(), listing.others.end());
  if (names.empty()) {
    return error;
  }
  error.what = "is a directory of " + std::to_string(names.size()) +
               " other entries, not the log of one application";
  error.remedy = "name one of them, for example " + names.front();
  return error;
}

}  // namespace

model::Result<SparkLayout> spark_layout(const std::string& path, const LoadOptions& options) {
  std::error_code ignored;
  if (path == "-" || !fs::is_directory(path, ignored)) {
    return SparkLayout{
        .files = {path}, .warnings = {}, .in_progress = path.ends_with(".inprogress")};
  }
  auto listing = list(path);
  if (!listing) {
    return std::unexpected(std::move(listing.error()));
  }
  if (!listing->parts.empty()) {
    return rolling(std::move(*listing), path, options);
  }
  if (listing->current || !listing->dated.empty()) {
    SparkLayout layout{.files = std::move(listing->dated), .warnings = {}};
    if (listing->current) {
      layout.files.push_back(std::move(*listing->current));
    }
    return layout;
  }
  return std::unexpected(without_logs(*listing, path));
}

}  // namespace rehearse::traces
