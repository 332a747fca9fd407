// Always-on invariant checks. A failed check is a fault of the program, never of its input: it
// throws InternalFault, which nobody but the outermost layer catches (exit code 70, scenario.md
// section 8). Whoever owns the clock (sim/driver) adds virtual time and seed on the way up.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rehearse::model {

class InternalFault : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Throws InternalFault. `names` is the source text of the values, comma separated, in their order.
[[noreturn]] void check_failed(std::string_view condition, std::string_view names, const char* file,
                               int line, std::initializer_list<std::int64_t> values);

}  // namespace rehearse::model

// RH_CHECK(condition[, integer values...]): holds in every build; the values are printed by name.
#define RH_CHECK(condition, ...)                                                    \
  do {                                                                              \
    if (!(condition)) [[unlikely]] {                                                \
      ::rehearse::model::check_failed(#condition, #__VA_ARGS__, __FILE__, __LINE__, \
                                      {__VA_ARGS__});                               \
    }                                                                               \
  } while (false)
