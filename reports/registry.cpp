// One line per writer. A writer is one file that says `// registry: <name>` in its head.
#include "reports/registry.hpp"

#include <algorithm>
#include <array>

#include "model/support/check.hpp"

namespace rehearse::reports {
namespace {

constexpr std::array table = {
    Writer{"text", "tables for a terminal", write_text},
    Writer{"json", "one document, keys and types as the contract says", write_json},
    Writer{"html", "one page that needs no network and prints, for comparisons", write_html},
};

}  // namespace

std::span<const Writer> writers() { return table; }

const Writer* find_writer(std::string_view name) {
  const auto* found = std::ranges::find(table, name, &Writer::name);
  return found == table.end() ? nullptr : found;
}

const Writer& writer_for(std::string_view file_name) {
  const bool page = file_name.ends_with(".html") || file_name.ends_with(".htm");
  const Writer* writer = find_writer(page                           ? "html"
                                     : file_name.ends_with(".json") ? "json"
                                                                    : "text");
  RH_CHECK(writer != nullptr);
  return *writer;
}

}  // namespace rehearse::reports
