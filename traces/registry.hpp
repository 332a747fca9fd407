// The formats that can be read: their names, how they are recognized, and the one call that reads a
// trace whatever it is.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/support/error.hpp"
#include "model/trace.hpp"
#include "traces/load_options.hpp"

namespace rehearse::traces {

struct Format {
  std::string_view name;
  std::string_view what;  // one line for `list formats`
  bool built = false;     // false: of the contract, refused by name
};

// By name; `scenario` and `journal` are not traces and not here.
[[nodiscard]] std::span<const Format> formats();

// The format of a file or directory: "scenario" for a scenario file, "journal" for a journal, a
// name of formats() otherwise. By content first (decompressed), by name second. Errors: as opening
// the file, T001 when nothing fits.
[[nodiscard]] model::Result<std::string> detect_format(const std::string& path);

// Reads a trace in `format` ("auto": as detected). Errors: those of the reader; a format that is
// not built, or is none (with the nearest name).
[[nodiscard]] model::Result<model::Trace> load_trace(const std::string& path,
                                                     const LoadOptions& options = {},
                                                     std::string_view format = "auto");

}  // namespace rehearse::traces
