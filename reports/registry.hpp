// The table of writers.
#pragma once

#include <span>
#include <string_view>

#include "reports/writer.hpp"

namespace rehearse::reports {

struct Writer {
  std::string_view name;
  std::string_view what;
  WriteFunction write = nullptr;
};

[[nodiscard]] std::span<const Writer> writers();

// Null for an unknown name.
[[nodiscard]] const Writer* find_writer(std::string_view name);

// The writer for an output file by its suffix: .html and .htm, .json; text for all others.
[[nodiscard]] const Writer& writer_for(std::string_view file_name);

}  // namespace rehearse::reports
