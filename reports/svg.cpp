// registry: none (drawing for the page)
#include "reports/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "model/support/check.hpp"
#include "model/support/fixed_math.hpp"
#include "reports/slot_use.hpp"

namespace rehearse::reports {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

// Length of the UTF-8 sequence at the start of `text`, 0 when it is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool outside = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return overlong || outside ? 0 : length;
}

std::string number(Px value) {
  const Px whole = value < 0 ? -value : value;
  const std::string sign = value < 0 ? "-" : "";
  return whole % 10 == 0 ? fmt::format("{}{}", sign, whole / 10)
                         : fmt::format("{}{}.{}", sign, whole / 10, whole % 10);
}

std::string path_of(const std::vector<Point>& points) {
  std::string path;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& point = points[i];
    if (i > 0 && point.y == points[i - 1].y) {
      path += fmt::format("H{}", number(point.x));
    } else if (i > 0 && point.x == points[i - 1].x) {
      path += fmt::format("V{}", number(point.y));
    } else {
      path += fmt::format("{}{} {}", i == 0 ? 'M' : 'L', number(point.x), number(point.y));
    }
  }
  return path;
}

std::string_view anchor_text(Anchor anchor) {
  switch (anchor) {
    case Anchor::start:
      return "";
    case Anchor::middle:
      return " text-anchor=\"middle\"";
    case Anchor::end:
      return " text-anchor=\"end\"";
  }
  return "";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const char c = text.front();
    const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
    if (length == 0 || control || c == '\x7f') {
      result += replacement;
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else if (c == '\'') {
      result += "&#39;";
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

Svg::Svg(std::string_view name, Px width, Px height, std::string_view title,
         std::string_view description)
    : out_(fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{}-t {}-d\">\n"
                       "<title id=\"{}-t\">{}</title>\n<desc id=\"{}-d\">{}</desc>\n",
                       number(width), number(height), name, name, name, escaped(title), name,
                       escaped(description))) {}

void Svg::rect(const Box& box, std::string_view style, std::string_view tooltip) {
  out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"",
                      number(box.x), number(box.y), number(box.width), number(box.height), style);
  out_ += tooltip.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escaped(tooltip));
}

void Svg::line(Point from, Point to, std::string_view style) {
  out_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n",
                      number(from.x), number(from.y), number(to.x), number(to.y), style);
}

void Svg::circle(Point center, Px radius, std::string_view style) {
  out_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"/>\n", number(center.x),
                      number(center.y), number(radius), style);
}

void Svg::polyline(const std::vector<Point>& points, std::string_view style) {
  if (!points.empty()) {
    out_ += fmt::format("<path d=\"{}\" class=\"{}\"/>\n", path_of(points), style);
  }
}

void Svg::polygon(const std::vector<Point>& points, std::string_view style) {
  if (!points.empty()) {
    out_ += fmt::format("<path d=\"{}Z\" class=\"{}\"/>\n", path_of(points), style);
  }
}

void Svg::text(Point at, std::string_view text, std::string_view style, Anchor anchor) {
  out_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\"{}>{}</text>\n", number(at.x),
                      number(at.y), style, anchor_text(anchor), escaped(text));
}

void Svg::text_upwards(Point at, std::string_view text, std::string_view style) {
  out_ +=
      fmt::format("<text transform=\"translate({} {}) rotate(-90)\" class=\"{}\"{}>{}</text>\n",
                  number(at.x), number(at.y), style, anchor_text(Anchor::middle), escaped(text));
}

std::string Svg::finish() { return std::move(out_) + "</svg>\n"; }

// ---- axes ----

Scale::Scale(std::int64_t from, std::int64_t to, Px length, bool log)
    : from_(from), to_(std::max(to, from + 1)), length_(length), log_(log) {}

Scale Scale::linear(std::int64_t from, std::int64_t to, Px length) {
  return {from, to, length, false};
}

Scale Scale::logarithmic(std::int64_t from, std::int64_t to, Px length) {
  RH_CHECK(from > 0, from);
  return {from, to, length, true};
}

Px Scale::at(std::int64_t value) const {
  const std::int64_t inside = std::clamp(value, from_, to_);
  const auto position = [&](std::int64_t v) {
    return log_ ? Wide{model::log2(static_cast<std::uint64_t>(v))} : Wide{v};
  };
  const Wide span = position(to_) - position(from_);
  return static_cast<Px>(((position(inside) - position(from_)) * length_ + span / 2) / span);
}

namespace {

struct TimeUnit {
  model::Duration ns;
  std::string_view name;
  std::array<std::int64_t, 8> steps;  // round counts of it; 0 = no more
};

constexpr std::array time_units = {
    TimeUnit{1, "ns", {1, 2, 5, 10, 20, 50, 100, 200}},
    TimeUnit{model::microsecond, "us", {1, 2, 5, 10, 20, 50, 100, 200}},
    TimeUnit{model::millisecond, "ms", {1, 2, 5, 10, 20, 50, 100, 200}},
    TimeUnit{model::second, "s", {1, 2, 5, 10, 15, 30, 0, 0}},
    TimeUnit{60 * model::second, "min", {1, 2, 5, 10, 15, 30, 0, 0}},
    TimeUnit{3600 * model::second, "h", {1, 2, 3, 6, 12, 0, 0, 0}},
    TimeUnit{86400 * model::second, "d", {1, 2, 7, 14, 30, 90, 180, 365}},
};

// The step of at least `least`, and the unit it is round in.
std::pair<model::Duration, const TimeUnit*> time_step(model::Duration least) {
  for (const TimeUnit& unit : time_units) {
    for (const std::int64_t step : unit.steps) {
      if (step * unit.ns >= least && step > 0) {
        return {step * unit.ns, &unit};
      }
    }
  }
  const TimeUnit& last = time_units.back();
  return {std::max<model::Duration>((least / last.ns + 1) * last.ns, last.ns), &last};
}

std::string tick_label(model::Duration value) {
  if (value == 0) {
    return "0";
  }
  const TimeUnit* unit = &time_units.front();
  for (const TimeUnit& candidate : time_units) {
    if (value >= candidate.ns && value % candidate.ns == 0) {
      unit = &candidate;
    }
  }
  return fmt::format("{} {}", value / unit->ns, unit->name);
}

}  // namespace

std::vector<Tick> time_ticks(model::Duration from, model::Duration to, int count) {
  const auto [step, unit] = time_step(std::max<model::Duration>((to - from) / count, 1));
  std::vector<Tick> ticks;
  for (model::Duration at = (from + step - 1) / step * step; at <= to; at += step) {
    // One unit for the whole axis: 60 s beside 30 s, not 1 min.
    ticks.push_back({at, at == 0 ? "0" : fmt::format("{} {}", at / unit->ns, unit->name)});
  }
  return ticks;
}

std::vector<Tick> log_time_ticks(model::Duration from, model::Duration to) {
  // Powers of ten alone over a wide range; 2 and 5 between them over a narrow one.
  const bool fine = to / 2000 < from;
  std::vector<model::Duration> round;
  for (model::Duration at = 1; at < 10 * model::second; at *= 10) {
    for (const std::int64_t digit : {1, 2, 5}) {
      if (fine || digit == 1) {
        round.push_back(digit * at);
      }
    }
  }
  for (const std::int64_t seconds : {10, 60, 600, 3600, 36'000, 86'400, 864'000, 8'640'000}) {
    round.push_back(seconds * model::second);
  }
  if (fine) {
    for (const std::int64_t seconds :
         {20, 30, 120, 300, 1200, 1800, 7200, 18'000, 43'200, 172'800, 432'000}) {
      round.push_back(seconds * model::second);
    }
  }
  std::ranges::sort(round);
  std::vector<Tick> ticks;
  for (const model::Duration at : round) {
    if (at >= from && at <= to) {
      ticks.push_back({at, tick_label(at)});
    }
  }
  return ticks.size() >= 2 ? ticks : time_ticks(from, to, 4);
}

std::vector<Tick> count_ticks(std::int64_t to, int count) {
  std::int64_t step = 1;
  for (std::int64_t power = 1; to / step > count; power *= 10) {
    for (const std::int64_t digit : {1, 2, 5}) {
      step = digit * power;
      if (to / step <= count) {
        break;
      }
    }
  }
  std::vector<Tick> ticks;
  for (std::int64_t at = 0; at <= to; at += step) {
    ticks.push_back({at, fmt::format("{}", at)});
  }
  return ticks;
}

}  // namespace rehearse::reports
