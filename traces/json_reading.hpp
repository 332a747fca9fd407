// Strict reading of a JSON document: every problem has a pointer, a line and a remedy, only the
// first is kept, and reading goes on after it with harmless values, so that readers stay straight
// lines of code.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/distribution.hpp"
#include "model/support/enum_names.hpp"
#include "model/support/error.hpp"
#include "model/support/time.hpp"
#include "traces/json_document.hpp"

namespace rehearse::traces {

// The first problem of one document.
class Problems {
 public:
  explicit Problems(std::string_view file) : file_(file) {}
  void add(model::Error error);  // ignored when there is one already
  [[nodiscard]] bool any() const { return first_.has_value(); }
  [[nodiscard]] const std::optional<model::Error>& first() const { return first_; }

 private:
  std::string file_;
  std::optional<model::Error> first_;
};

// A value and where it stands. A node without a value is an absent key: `given()` is false.
class Node {
 public:
  // `line`: where an absent value would be looked for, its object's.
  Node(const JsonValue* value, std::string pointer, Problems* problems, std::int64_t line = 0)
      : value_(value),
        pointer_(std::move(pointer)),
        problems_(problems),
        line_(value != nullptr ? value->line : line) {}

  [[nodiscard]] bool given() const { return value_ != nullptr; }
  [[nodiscard]] JsonKind kind() const { return value_ ? value_->kind : JsonKind::null; }
  [[nodiscard]] bool is(JsonKind kind) const { return given() && value_->kind == kind; }
  [[nodiscard]] const JsonValue& value() const { return *value_; }  // needs given()
  [[nodiscard]] const std::string& pointer() const { return pointer_; }

  void fail(std::string what, std::string remedy) const;
  // An error of a parser of values; its field is appended to the pointer.
  void fail(const model::Error& error) const;
  [[nodiscard]] bool failed() const { return problems_->any(); }

  // True if it is of that kind, else a problem that names what was expected.
  [[nodiscard]] bool expect(JsonKind kind, std::string_view what) const;
  // The items of an array; none, and a problem, if it is not one.
  [[nodiscard]] std::vector<Node> items(std::string_view what) const;
  // The members of an object whose keys are free names.
  [[nodiscard]] std::vector<std::pair<std::string, Node>> members(std::string_view what) const;
  [[nodiscard]] Node member(std::string_view key) const;  // possibly not given

 private:
  const JsonValue* value_;
  std::string pointer_;
  Problems* problems_;
  std::int64_t line_;
};

// The keys an object may have, and those of features that are not built yet.
struct KnownKeys {
  std::initializer_list<std::string_view> known;
  std::initializer_list<std::string_view> unbuilt = {};
};

// Checks that `node` is an object with known keys only. False after a problem.
bool check_keys(const Node& node, std::string_view what, const KnownKeys& keys);

// A problem at `node` unless it is given.
bool require(const Node& node, std::string_view key);

struct IntegerRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

// Each reads a given node and reports what is wrong; absent nodes give the value `absent`.
[[nodiscard]] std::int64_t read_integer(const Node& node, std::int64_t absent,
                                        const IntegerRange& range = {});
[[nodiscard]] bool read_boolean(const Node& node, bool absent);
[[nodiscard]] std::string read_string(const Node& node, std::string_view what);
[[nodiscard]] model::Duration read_duration(const Node& node, model::Duration absent);
[[nodiscard]] std::int64_t read_bytes(const Node& node, std::int64_t absent);
[[nodiscard]] std::int64_t read_rate(const Node& node, std::int64_t absent);
// An exact decimal in 1/scale.
[[nodiscard]] std::int64_t read_decimal(const Node& node, std::int64_t absent, std::int64_t scale,
                                        std::int64_t min);
// A name to be: not empty, no / and no #.
[[nodiscard]] std::string read_name(const Node& node, std::string_view what);

// `mean_needed`: a distribution without a mean is a problem.
[[nodiscard]] model::Distribution read_distribution(const Node& node, bool mean_needed);

// Reports an unknown `given`, naming the nearest of `known`.
void fail_unknown(const Node& node, std::string_view kind, std::string_view given,
                  const std::vector<std::string_view>& known);

// The index of a text in `texts`, or a problem.
[[nodiscard]] std::optional<std::size_t> read_choice(const Node& node, std::string_view what,
                                                     const std::vector<std::string_view>& texts);

template <model::NamedEnum E>
[[nodiscard]] E read_enum(const Node& node, std::string_view what, E absent) {
  if (!node.given()) {
    return absent;
  }
  const auto& texts = model::EnumNames<E>::texts;
  const auto index = read_choice(node, what, {texts.begin(), texts.end()});
  return index ? static_cast<E>(*index) : absent;
}

}  // namespace rehearse::traces
