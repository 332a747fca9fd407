// What a reader tolerated, one entry per kind however often it happened.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.hpp"

namespace rehearse::traces {

// A place in the input; line 0 = the input as a whole. `file` is empty for an input of one file.
struct Place {
  std::string_view file;
  std::int64_t line = 0;
};

class WarningLog {
 public:
  // Kinds are told apart by `what`; `detail` is kept from the first of a kind only.
  void add(std::string_view what, Place place = {}, std::string_view detail = {});

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // In the order in which the kinds first came: the place of the first, how often, some lines.
  [[nodiscard]] std::vector<model::LoadWarning> list() const;

 private:
  struct Entry {
    model::LoadWarning first;
    std::int64_t count = 0;
    std::vector<std::int64_t> more_lines;
  };
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

}  // namespace rehearse::traces
