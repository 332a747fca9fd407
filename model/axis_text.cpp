// The text form of an axis value: name, then parameters or items in brackets. Meaning is given to
// it by axes.cpp.
#include <fmt/format.h>

#include <cstddef>

#include "model/axes.hpp"

namespace rehearse::model {

namespace {

constexpr int depth_max = 4;

std::unexpected<Error> bad(std::string what, std::string remedy) {
  return std::unexpected(Error{.what = std::move(what), .remedy = std::move(remedy)});
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<AxisText> whole() {
    Result<AxisText> value = read(0);
    if (value && at_ < text_.size()) {
      return bad(
          fmt::format("\"{}\" goes on after its value with \"{}\"", text_, text_.substr(at_)),
          "write value or value[key=value,...]");
    }
    return value;
  }

 private:
  [[nodiscard]] bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }

  std::string_view word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && std::string_view("[],=").find(text_[at_]) == std::string::npos) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }

  Result<AxisText> read(int depth) {
    if (depth > depth_max) {
      return bad(fmt::format("\"{}\" nests too deep", text_), "brackets nest twice at most");
    }
    AxisText value{std::string(word())};
    if (!next_is('[')) {
      return value;
    }
    value.bracketed = true;
    ++at_;
    while (!next_is(']')) {
      Result<AxisParameter> item = read_item(depth);
      if (!item) {
        return std::unexpected(item.error());
      }
      value.parameters.push_back(std::move(*item));
      if (next_is(',')) {
        ++at_;
      } else if (!next_is(']')) {
        return bad(fmt::format("\"{}\" lacks a ]", text_), "close every bracket");
      }
    }
    ++at_;
    return value;
  }

  Result<AxisParameter> read_item(int depth) {
    AxisParameter item;
    Result<AxisText> first = read(depth + 1);
    if (!first) {
      return std::unexpected(first.error());
    }
    if (first->value.empty() && !first->bracketed) {
      return bad(fmt::format("\"{}\" has an empty item", text_), "write key=value");
    }
    if (!next_is('=')) {
      item.value = std::move(*first);
      return item;
    }
    if (first->bracketed) {
      return bad(fmt::format("\"{}\" has a bracket before =", text_), "write key=value");
    }
    ++at_;
    item.key = std::move(first->value);
    Result<AxisText> second = read(depth + 1);
    if (!second) {
      return std::unexpected(second.error());
    }
    item.value = std::move(*second);
    return item;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

AxisText::AxisText(std::string text, WrittenAs as) : value(std::move(text)), written(as) {}

bool AxisText::operator==(const AxisText& other) const {
  return value == other.value && written == other.written && bracketed == other.bracketed &&
         parameters == other.parameters;
}

Result<AxisText> parse_axis_text(std::string_view text) { return Reader(text).whole(); }

std::string to_string(const AxisText& text) {
  std::string out = text.value;
  if (!text.bracketed) {
    return out;
  }
  out += '[';
  for (const AxisParameter& item : text.parameters) {
    out += out.back() == '[' && &item == &text.parameters.front() ? "" : ",";
    out += item.key.empty() ? "" : item.key + "=";
    out += to_string(item.value);
  }
  out += ']';
  return out;
}

}  // namespace rehearse::model
