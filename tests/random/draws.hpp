// Draws of a random scenario, in their order, and the pieces of JSON it is written in.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "model/support/draw.hpp"

namespace rehearse::testing {

class Draws {
 public:
  // Of what came later: `series` 1 and above move no draw of those below.
  explicit Draws(std::uint64_t seed, std::uint64_t series = 0)
      : key_(model::draw_key({seed, model::DrawPurpose::workload, series, 0})) {}

  [[nodiscard]] int below(int count) {
    return static_cast<int>(model::uniform_below(model::draw(key_, {next_++, 0, 0}),
                                                 static_cast<std::uint64_t>(count)));
  }
  // From low to high, both possible.
  [[nodiscard]] int range(int low, int high) { return low + below(high - low + 1); }
  [[nodiscard]] bool percent(int chance) { return below(100) < chance; }
  [[nodiscard]] std::string pick(std::initializer_list<const char*> texts) {
    return *(texts.begin() + below(static_cast<int>(texts.size())));
  }
  template <class T>
  [[nodiscard]] const T& of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

 private:
  model::DrawKey key_;
  std::uint32_t next_ = 0;
};

inline std::string ms(int count) { return fmt::format("\"{}ms\"", count); }

inline std::string list_of(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, ", "));
}

inline std::string object_of(const std::vector<std::string>& items) {
  return fmt::format("{{{}}}", fmt::join(items, ", "));
}

}  // namespace rehearse::testing
