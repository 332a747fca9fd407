// Static SVG by hand: shapes, text, and axes. Coordinates are integers in tenths of a pixel, so the
// same chart has the same bytes everywhere. Colours come from classes and custom properties of the
// page's style, so one drawing serves light, dark and print. For use inside HTML: no namespace, no
// script, nothing external. Every text is escaped here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/time.hpp"

namespace rehearse::reports {

// For HTML and SVG, in text and in quoted attributes. Bytes that are no UTF-8 and control
// characters become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

using Px = std::int64_t;  // tenths of a pixel

struct Point {
  Px x = 0;
  Px y = 0;
};

struct Box {
  Px x = 0;
  Px y = 0;
  Px width = 0;
  Px height = 0;
  [[nodiscard]] Px right() const { return x + width; }
  [[nodiscard]] Px bottom() const { return y + height; }
};

enum class Anchor : unsigned char { start, middle, end };

class Svg {
 public:
  // `name` makes ids of the page unique; title and description are read aloud.
  Svg(std::string_view name, Px width, Px height, std::string_view title,
      std::string_view description);

  // `style` is the value of a class attribute.
  void rect(const Box& box, std::string_view style, std::string_view tooltip = {});
  void line(Point from, Point to, std::string_view style);
  void circle(Point center, Px radius, std::string_view style);
  // An open line through the points.
  void polyline(const std::vector<Point>& points, std::string_view style);
  // A closed shape.
  void polygon(const std::vector<Point>& points, std::string_view style);
  void text(Point at, std::string_view text, std::string_view style, Anchor anchor = Anchor::start);
  // Text turned a quarter to the left, its middle at `at`.
  void text_upwards(Point at, std::string_view text, std::string_view style);

  [[nodiscard]] std::string finish();

 private:
  std::string out_;
};

// ---- axes ----

struct Tick {
  std::int64_t value = 0;
  std::string label;
};

// Maps [from, to] linearly, or by logarithm, onto [0, length]; values outside are clamped.
class Scale {
 public:
  static Scale linear(std::int64_t from, std::int64_t to, Px length);
  static Scale logarithmic(std::int64_t from, std::int64_t to, Px length);  // from > 0

  [[nodiscard]] Px at(std::int64_t value) const;
  [[nodiscard]] std::int64_t from() const { return from_; }
  [[nodiscard]] std::int64_t to() const { return to_; }

 private:
  Scale(std::int64_t from, std::int64_t to, Px length, bool log);
  std::int64_t from_;
  std::int64_t to_;
  Px length_;
  bool log_;
};

// Round values of [from, to], about `count` of them, labelled as durations with one unit.
[[nodiscard]] std::vector<Tick> time_ticks(model::Duration from, model::Duration to, int count);
// 1 ms, 10 ms, ...: durations that are round in s, min, h, and lie in [from, to].
[[nodiscard]] std::vector<Tick> log_time_ticks(model::Duration from, model::Duration to);
// 0, 20, 40, ...
[[nodiscard]] std::vector<Tick> count_ticks(std::int64_t to, int count);

}  // namespace rehearse::reports
