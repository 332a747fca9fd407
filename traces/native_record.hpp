// One line of a native trace as a plain tree, and strict access to it. Problems are thrown as
// RecordError, which never leaves the readers of native traces.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/support/enum_names.hpp"
#include "model/support/error.hpp"
#include "model/support/time.hpp"

namespace rehearse::traces {

// What is wrong with a record; the caller adds file and line.
struct RecordError {
  std::string code;
  std::string field;
  std::string what;
  std::string remedy = {};
};

[[noreturn]] void fail_record(std::string_view code, std::string_view field, std::string what,
                              std::string remedy = {});

struct RecordMember;
using RecordMembers = std::vector<RecordMember>;  // of an object, in the order of the line

// Numbers are whole; a list of numbers only is kept as a column.
struct RecordValue {
  std::variant<std::monostate, bool, std::int64_t, std::string, std::vector<std::int64_t>,
               std::vector<RecordValue>, RecordMembers>
      data;

  [[nodiscard]] bool is_null() const { return data.index() == 0; }
};

struct RecordMember {
  std::string key;
  RecordValue value;
};

inline constexpr std::int64_t record_time_max_ns = std::int64_t{100} * 365 * 86'400 * model::second;
inline constexpr std::int64_t record_tasks_max = 100'000'000;
inline constexpr std::int64_t record_bytes_max = std::int64_t{1} << 60U;

using RecordKeys = std::initializer_list<std::string_view>;

// One object with its keys. Every accessor names the key in its error: T006 missing or of another
// type, T010 out of range.
class RecordFields {
 public:
  // T011 for a key that is not among `known` (keys that begin with x_ are nobody's business) or
  // that is there twice. `what` is the object, for messages.
  RecordFields(const RecordValue& object, std::string_view what, RecordKeys known);

  [[nodiscard]] const RecordValue* find(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }

  [[nodiscard]] std::int64_t integer(std::string_view key) const;                    // any sign
  [[nodiscard]] std::int64_t number(std::string_view key, std::int64_t most) const;  // from 0
  [[nodiscard]] std::int64_t number_or(std::string_view key, std::int64_t absent,
                                       std::int64_t most) const;
  [[nodiscard]] std::optional<std::int64_t> number_if(std::string_view key) const;
  [[nodiscard]] std::int64_t time(std::string_view key) const {
    return number(key, record_time_max_ns);
  }
  [[nodiscard]] std::string text(std::string_view key) const;  // not empty
  [[nodiscard]] std::string text_or(std::string_view key, std::string_view absent) const;
  [[nodiscard]] std::string id(std::string_view key) const;  // 1 to 128 of A-Z a-z 0-9 . _ : -
  [[nodiscard]] bool flag(std::string_view key) const;       // absent = false
  [[nodiscard]] const std::vector<RecordValue>& list(std::string_view key) const;  // absent = empty
  // One number for all `tasks`, or one each (T011 otherwise).
  [[nodiscard]] std::vector<std::int64_t> column(std::string_view key, std::size_t tasks,
                                                 std::int64_t most) const;

  template <model::NamedEnum Enum>
  [[nodiscard]] Enum choice(std::string_view key) const {
    const std::string given = text(key);
    const auto parsed = model::parse_enum<Enum>(given);
    if (!parsed) {
      const auto& known = model::EnumNames<Enum>::texts;
      const std::string near =
          model::nearest_name(given, known.data(), known.data() + known.size());
      fail_record("T006", key, "is \"" + given + "\"",
                  near.empty() ? "" : "did you mean " + near + "?");
    }
    return *parsed;
  }

 private:
  [[nodiscard]] const RecordValue& needed(std::string_view key) const;

  const RecordMembers* members_;
};

// `value` as a column: see RecordFields::column.
[[nodiscard]] std::vector<std::int64_t> column_of(std::string_view key, const RecordValue& value,
                                                  std::size_t tasks, std::int64_t most);

// Turns lines into trees.
class RecordParser {
 public:
  RecordParser();
  RecordParser(const RecordParser&) = delete;
  RecordParser& operator=(const RecordParser&) = delete;
  ~RecordParser();

  // The line must have line_padding readable bytes behind it. Throws RecordError: T005 malformed,
  // T006 a number that is not whole or out of range.
  [[nodiscard]] RecordValue parse(std::string_view line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearse::traces
