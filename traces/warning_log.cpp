// registry: none (warnings of any reader)
// See warning_log.hpp.
#include "traces/warning_log.hpp"

namespace rehearse::traces {

void WarningLog::add(std::string_view what, Place place, std::string_view detail) {
  constexpr std::size_t lines_named_max = 8;
  const auto found = index_.find(what);
  if (found != index_.end()) {
    Entry& entry = entries_[found->second];
    ++entry.count;
    if (place.line > 0 && place.file == entry.first.file &&
        entry.more_lines.size() < lines_named_max) {
      entry.more_lines.push_back(place.line);
    }
    return;
  }
  index_.emplace(what, entries_.size());
  Entry entry;
  entry.count = 1;
  entry.first.line = place.line;
  entry.first.file = place.file;
  entry.first.what = what;
  if (!detail.empty()) {
    entry.first.what.append(": ").append(detail);
  }
  entries_.push_back(std::move(entry));
}

std::vector<model::LoadWarning> WarningLog::list() const {
  std::vector<model::LoadWarning> warnings;
  for (const Entry& entry : entries_) {
    model::LoadWarning warning = entry.first;
    if (entry.count > 1) {
      warning.what += " (" + std::to_string(entry.count) + " times";
      for (std::size_t i = 0; i < entry.more_lines.size(); ++i) {
        warning.what += (i == 0 ? ", also in line " : ", ") + std::to_string(entry.more_lines[i]);
      }
      const auto named = static_cast<std::int64_t>(entry.more_lines.size()) + 1;
      warning.what += entry.count > named && named > 1 ? ", ...)" : ")";
    }
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace rehearse::traces
