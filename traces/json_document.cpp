// registry: none (the document under the scenario reader)
// Parsing is nlohmann's SAX reader with a source that counts lines; printing is ours, because
// numbers must come out as they went in.
#include "traces/json_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace rehearse::traces {

namespace {

constexpr std::size_t depth_max = 64;
constexpr std::size_t columns_max = 100;

// Walks the text and knows how far the parser has read. Copies share the counters of the first.
class CountingIterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = char;
  using pointer = const char*;
  using reference = const char&;
  using iterator_category = std::input_iterator_tag;

  struct Place {
    const char* at = nullptr;
    std::int64_t line = 1;       // of the character the parser gets next
    std::int64_t last_line = 1;  // of the character it got last
  };

  CountingIterator() = default;
  CountingIterator(const char* at, Place* place) : at_(at), place_(place) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    if (place_ != nullptr && at_ == place_->at) {
      place_->last_line = place_->line;
      place_->line += *at_ == '\n' ? 1 : 0;
      ++place_->at;
    }
    ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_ = nullptr;
  Place* place_ = nullptr;
};

// Builds the document. Every callback returns false to stop at the first error.
class Builder {
 public:
  using Json = nlohmann::json;

  Builder(CountingIterator::Place* place, std::string_view file) : place_(place), file_(file) {}

  bool null() { return put({.kind = JsonKind::null}); }
  bool boolean(bool value) { return put({.kind = JsonKind::boolean, .boolean = value}); }
  bool number_integer(std::int64_t value) { return number(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) { return number(std::to_string(value)); }
  bool number_float(double, const std::string& digits) { return number(digits); }
  bool string(std::string& text) {
    return put({.kind = JsonKind::string, .text = std::move(text)});
  }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(JsonKind::object); }
  bool start_array(std::size_t) { return open(JsonKind::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    JsonValue& object = *open_.back();
    if (std::find(object.keys.begin(), object.keys.end(), name) != object.keys.end()) {
      fail(fmt::format("the key \"{}\" is given twice", name), "keep one of them",
           pointer() + "/" + pointer_token(name));
      return false;
    }
    object.keys.push_back(std::move(name));
    return true;
  }

  template <class Exception>
  bool parse_error(std::size_t, const std::string&, const Exception& exception) {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error ..."
    std::string what = exception.what();
    if (const std::size_t end = what.find("] "); end != std::string::npos) {
      what.erase(0, end + 2);
    }
    if (const std::size_t colon = what.find(": ");
        what.starts_with("parse error at") && colon != std::string::npos) {
      what.erase(0, colon + 2);
    }
    constexpr std::size_t what_max = 300;
    if (what.size() > what_max) {
      what = what.substr(0, what_max) + "...";
    }
    fail("not JSON: " + what, "comments are // and /* */; no comma after the last item", "");
    return false;
  }

  model::Result<JsonValue> take() {
    if (error_) {
      return std::unexpected(std::move(*error_));
    }
    return std::move(root_);
  }

 private:
  bool number(std::string digits) {
    return put({.kind = JsonKind::number, .text = std::move(digits)});
  }

  JsonValue* place(JsonValue value) {
    value.line = place_->last_line;
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    JsonValue& parent = *open_.back();
    return &parent.items.emplace_back(std::move(value));
  }

  bool put(JsonValue value) {
    place(std::move(value));
    return true;
  }

  bool open(JsonKind kind) {
    if (open_.size() >= depth_max) {
      fail(fmt::format("nested deeper than {}", depth_max), "no part of the format nests so deep",
           "");
      return false;
    }
    // Growing the parent later does not move what is open: only its last child is, and nothing is
    // added to the parent before that one is closed.
    open_.push_back(place({.kind = kind}));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  // Of the innermost open value.
  [[nodiscard]] std::string pointer() const {
    std::string text;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      const JsonValue& parent = *open_[i];
      text += "/";
      text += parent.kind == JsonKind::array ? std::to_string(parent.items.size() - 1)
                                             : pointer_token(parent.keys.back());
    }
    return text;
  }

  void fail(std::string what, std::string remedy, std::string pointer) {
    error_ = model::Error{.what = std::move(what),
                          .file = std::string(file_),
                          .line = place_->last_line,
                          .field = std::move(pointer),
                          .remedy = std::move(remedy)};
  }

  CountingIterator::Place* place_;
  std::string_view file_;
  JsonValue root_;
  std::vector<JsonValue*> open_;
  std::optional<model::Error> error_;
};

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

struct Blanks {
  bool padded = false;  // { "a": 1, "b": 2 } instead of {"a":1,"b":2}
};

void append_inline(std::string& out, const JsonValue& value, Blanks blanks) {
  const std::string_view comma = blanks.padded ? ", " : ",";
  switch (value.kind) {
    case JsonKind::null:
      out += "null";
      return;
    case JsonKind::boolean:
      out += value.boolean ? "true" : "false";
      return;
    case JsonKind::number:
      out += value.text;
      return;
    case JsonKind::string:
      append_string(out, value.text);
      return;
    case JsonKind::array:
      out += '[';
      for (const JsonValue& item : value.items) {
        out += &item == &value.items.front() ? std::string_view{} : comma;
        append_inline(out, item, blanks);
      }
      out += ']';
      return;
    case JsonKind::object:
      out += blanks.padded && !value.keys.empty() ? "{ " : "{";
      for (std::size_t i = 0; i < value.keys.size(); ++i) {
        out += i == 0 ? std::string_view{} : comma;
        append_string(out, value.keys[i]);
        out += blanks.padded ? ": " : ":";
        append_inline(out, value.items[i], blanks);
      }
      out += blanks.padded && !value.keys.empty() ? " }" : "}";
      return;
  }
}

struct Place {
  std::size_t indent = 0;
  std::size_t column = 0;  // where the value starts
};

void append_pretty(std::string& out, const JsonValue& value, Place place) {
  std::string line;
  append_inline(line, value, {.padded = true});
  const bool leaf = value.items.empty();
  if (leaf || (place.indent > 0 && place.column + line.size() < columns_max)) {
    out += line;
    return;
  }
  const bool array = value.kind == JsonKind::array;
  const std::string indent(place.indent + 2, ' ');
  out += array ? "[\n" : "{\n";
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    out += indent;
    std::size_t column = indent.size();
    if (!array) {
      std::string key;
      append_string(key, value.keys[i]);
      out += key + ": ";
      column += key.size() + 2;
    }
    append_pretty(out, value.items[i], {.indent = indent.size(), .column = column});
    out += i + 1 < value.items.size() ? ",\n" : "\n";
  }
  out += std::string(place.indent, ' ') + (array ? "]" : "}");
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size() && i < items.size(); ++i) {
    if (keys[i] == key) {
      return &items[i];
    }
  }
  return nullptr;
}

JsonValue& JsonValue::add(std::string_view key, JsonValue value) {
  keys.emplace_back(key);
  return items.emplace_back(std::move(value));
}

bool JsonValue::operator==(const JsonValue& other) const {
  return kind == other.kind && boolean == other.boolean && text == other.text &&
         items == other.items && keys == other.keys;
}

JsonValue json_object() { return {.kind = JsonKind::object}; }
JsonValue json_array() { return {.kind = JsonKind::array}; }
JsonValue json_string(std::string_view text) {
  return {.kind = JsonKind::string, .text = std::string(text)};
}
JsonValue json_number(std::int64_t value) { return json_decimal(std::to_string(value)); }
JsonValue json_decimal(std::string digits) {
  return {.kind = JsonKind::number, .text = std::move(digits)};
}
JsonValue json_boolean(bool value) { return {.kind = JsonKind::boolean, .boolean = value}; }

model::Result<JsonValue> parse_json(std::string_view text, std::string_view file) {
  CountingIterator::Place place{.at = std::to_address(text.begin())};
  Builder builder(&place, file);
  const CountingIterator first(std::to_address(text.begin()), &place);
  const CountingIterator last(std::to_address(text.end()), nullptr);
  constexpr bool strict = true;
  constexpr bool ignore_comments = true;
  nlohmann::json::sax_parse(first, last, &builder, nlohmann::json::input_format_t::json, strict,
                            ignore_comments);
  return builder.take();
}

std::string pointer_token(std::string_view key) {
  std::string token;
  for (const char c : key) {
    token += c == '~' ? std::string("~0") : c == '/' ? std::string("~1") : std::string(1, c);
  }
  return token;
}

std::string compact_json(const JsonValue& value) {
  std::string out;
  append_inline(out, value, {});
  return out;
}

std::string pretty_json(const JsonValue& value) {
  std::string out;
  append_pretty(out, value, {});
  return out + "\n";
}

}  // namespace rehearse::traces
