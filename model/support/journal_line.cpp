// Text is appended by hand: this is the path of every line of a journal file.
#include "model/support/journal_line.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "model/support/check.hpp"

namespace rehearse::model {

namespace {

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;
template <class T>
constexpr bool is_vector = false;
template <class T>
constexpr bool is_vector<std::vector<T>> = true;

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20U || c == '"' || c == '\\'; }

class LineWriter {
 public:
  LineWriter(std::string& out, const NameTable& names) : out_(out), names_(names) {}

  template <class T>
  [[nodiscard]] static bool is_absent(const T& value) {
    if constexpr (std::is_same_v<T, NameId>) {
      return !value.valid();
    } else if constexpr (is_optional<T>) {
      return !value.has_value();
    } else {
      return false;
    }
  }

  // One more member of the object that is open.
  template <class T>
  void operator()(std::string_view key, const T& value) {
    if (!is_absent(value)) {
      if (separate_) {
        out_ += ',';
      }
      separate_ = true;
      out_ += '"';
      out_ += key;
      out_ += "\":";
      put(value);
    }
  }

  template <class T>
  void put(const T& value) {
    if constexpr (is_optional<T>) {
      put(*value);
    } else if constexpr (std::is_same_v<T, NameId>) {
      append_quoted(out_, names_.text(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      out_ += value ? "true" : "false";
    } else if constexpr (NamedEnum<T>) {
      out_ += '"';
      out_ += name_of(value);
      out_ += '"';
    } else if constexpr (std::is_same_v<T, PerProfile>) {
      object(value, [](const ProfileCount& item) { return std::pair(item.profile, item.n); });
    } else if constexpr (std::is_same_v<T, Amounts>) {
      object(value, [](const Amount& item) { return std::pair(item.resource, item.amount); });
    } else if constexpr (is_vector<T>) {
      list(value);
    } else if constexpr (std::is_integral_v<T>) {
      number(value);
    } else {
      out_ += '{';
      separate_ = false;
      T::keys(value, *this);
      out_ += '}';
      separate_ = true;
    }
  }

  void open() { separate_ = true; }

 private:
  template <class T>
  void number(T value) {
    constexpr std::size_t digits_max = 20;
    char digits[digits_max];
    const auto [end, error] = std::to_chars(digits, digits + digits_max, value);
    RH_CHECK(error == std::errc{});
    out_.append(digits, end);
  }

  template <class T, class Pair>
  void object(const std::vector<T>& items, Pair pair) {
    out_ += '{';
    bool separate = false;
    for (const T& item : items) {
      const auto [name, value] = pair(item);
      if (separate) {
        out_ += ',';
      }
      separate = true;
      append_quoted(out_, names_.text(name));
      out_ += ':';
      number(value);
    }
    out_ += '}';
  }

  template <class T>
  void list(const std::vector<T>& items) {
    out_ += '[';
    bool separate = false;
    for (const T& item : items) {
      if (separate) {
        out_ += ',';
      }
      separate = true;
      put(item);
    }
    out_ += ']';
  }

  std::string& out_;
  const NameTable& names_;
  bool separate_ = false;  // a member of the open object stands before
};

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  if (std::none_of(text.begin(), text.end(), needs_escape)) {
    out += text;
    out += '"';
    return;
  }
  constexpr std::string_view hex = "0123456789abcdef";
  for (const char c : text) {
    if (!needs_escape(c)) {
      out += c;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += "\\u00";
      out += hex[byte >> 4U];
      out += hex[byte & 15U];
    }
  }
  out += '"';
}

void append_journal_line(std::string& out, const Event& event, const NameTable& names) {
  LineWriter writer(out, names);
  out += "{\"t\":";
  writer.put(event.t);
  std::visit(
      [&]<class Body>(const Body& body) {
        out += ",\"e\":\"";
        out += Body::name;
        out += '"';
        writer.open();
        Body::keys(body, writer);
      },
      event.body);
  out += '}';
}

std::string journal_line(const Event& event, const NameTable& names) {
  std::string line;
  append_journal_line(line, event, names);
  return line;
}

bool append_key_value(std::string& out, const Event& event, std::string_view key,
                      const NameTable& names) {
  bool found = false;
  std::visit(
      [&]<class Body>(const Body& body) {
        Body::keys(body, [&]<class T>(std::string_view name, const T& value) {
          if (name == key && !LineWriter::is_absent(value)) {
            LineWriter(out, names).put(value);
            found = true;
          }
        });
      },
      event.body);
  return found;
}

}  // namespace rehearse::model
