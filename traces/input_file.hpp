// A whole small text file: scenarios, configurations, baselines. Traces and journals are read line
// by line (input_stream).
#pragma once

#include <cstddef>
#include <string>

#include "model/support/error.hpp"

namespace rehearse::traces {

struct InputFileOptions {
  std::size_t bytes_max = std::size_t{256} << 20U;
};

// The bytes of `path`; "-" is the standard input. Errors: no such file, a directory, more than
// bytes_max, packed content (all input), and what cannot be opened or read (io).
[[nodiscard]] model::Result<std::string> read_input_file(const std::string& path,
                                                         const InputFileOptions& options = {});

}  // namespace rehearse::traces
