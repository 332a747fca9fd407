// What is wrong with an input, as a value: where, what, and how to mend it.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace rehearse::model {

// Decides the exit code (scenario.md section 8): unusable input is 2, failing I/O is 1.
enum class ErrorKind : std::uint8_t { input, io };

struct Error {
  std::string what;         // what was seen and what was expected
  std::string file = {};    // the file as the user named it; empty = not from a file
  std::int64_t line = 0;    // 1-based; 0 = unknown
  std::string field = {};   // JSON pointer ("/jobs/0/name"), column or event field; empty = none
  std::string remedy = {};  // what to do; nearest known name
  std::string code = {};    // T001... of traces.md where one applies
  ErrorKind kind = ErrorKind::input;

  bool operator==(const Error&) const = default;
};

// One screen at most: "file:line: field: what\n  remedy".
[[nodiscard]] std::string to_string(const Error& error);

template <class T>
using Result = std::expected<T, Error>;

// Nearest of `known` to `given` by edit distance, for "did you mean"; empty if none is close.
[[nodiscard]] std::string nearest_name(std::string_view given, const std::string_view* known_first,
                                       const std::string_view* known_last);

}  // namespace rehearse::model
