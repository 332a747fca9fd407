// A small JSON document that keeps what a file's author wrote: line numbers, the digits of numbers,
// the order of keys. For scenarios and other files of human size; traces are streamed elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/error.hpp"

namespace rehearse::traces {

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object };

struct JsonValue {
  JsonKind kind = JsonKind::null;
  bool boolean = false;
  std::string text = {};               // string: its content; number: its digits as written
  std::int64_t line = 0;               // 1-based, where the value begins
  std::vector<JsonValue> items = {};   // of an array; of an object, the members' values
  std::vector<std::string> keys = {};  // of an object, beside items, in the order of the file

  // The member of that key, or null.
  [[nodiscard]] const JsonValue* find(std::string_view key) const;

  // Adds a member to an object and returns it.
  JsonValue& add(std::string_view key, JsonValue value);

  bool operator==(const JsonValue& other) const;  // lines apart
};

[[nodiscard]] JsonValue json_object();
[[nodiscard]] JsonValue json_array();
[[nodiscard]] JsonValue json_string(std::string_view text);
[[nodiscard]] JsonValue json_number(std::int64_t value);
[[nodiscard]] JsonValue json_decimal(std::string digits);  // digits are written as they are
[[nodiscard]] JsonValue json_boolean(bool value);

// Parses text with comments (// and /* */). Errors: syntax (with its line), a key given twice in
// one object (with its pointer), nesting deeper than 64.
[[nodiscard]] model::Result<JsonValue> parse_json(std::string_view text, std::string_view file);

// One token of a JSON pointer: "~" and "/" escaped.
[[nodiscard]] std::string pointer_token(std::string_view key);

// On one line, without blanks.
[[nodiscard]] std::string compact_json(const JsonValue& value);

// Indented by two; what fits into 100 columns stays on one line. Ends with a newline.
[[nodiscard]] std::string pretty_json(const JsonValue& value);

}  // namespace rehearse::traces
