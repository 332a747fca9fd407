// How results become bytes. A writer is one function; the table of writers is registry.hpp. Equal
// documents and options give equal bytes on any machine: no clock, no locale, no host name, no
// output path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/support/error.hpp"
#include "reports/results.hpp"

namespace rehearse::reports {

struct WriteOptions {
  bool terminal = false;              // thousands separators
  bool color = false;                 // escape sequences; the caller knows --color and NO_COLOR
  int columns = 100;                  // width of the terminal; at least 60 is used
  std::int64_t listed_max = 100'000;  // --max-listed: jobs or requests listed one by one
};

// The whole document, ending in a newline. An error names a document that the format cannot hold.
using WriteFunction = model::Result<std::string> (*)(const Document&, const WriteOptions&);

[[nodiscard]] model::Result<std::string> write_text(const Document& document,
                                                    const WriteOptions& options);
[[nodiscard]] model::Result<std::string> write_json(const Document& document,
                                                    const WriteOptions& options);
[[nodiscard]] model::Result<std::string> write_html(const Document& document,
                                                    const WriteOptions& options);

// "xxh3:" and 16 hex digits.
[[nodiscard]] std::string hash_text(std::uint64_t journal_hash);

}  // namespace rehearse::reports
