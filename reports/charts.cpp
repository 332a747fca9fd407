// registry: none (charts of the page: distributions)
//
// Latency, change and price; timelines are in charts_timeline.
#include "reports/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "model/support/fixed_math.hpp"
#include "reports/numbers.hpp"
#include "reports/svg.hpp"
#include "reports/text_table.hpp"

namespace rehearse::reports {
namespace {

constexpr Px chart_width = 10'400;
constexpr Px row_height = 220;
// Rows with names up to here, a plain row of thin bars beyond.
constexpr std::size_t named_rows_max = 40;
constexpr std::size_t curve_points_max = 2'000;

std::vector<std::int64_t> sorted_latencies(const Configuration& configuration) {
  std::vector<std::int64_t> values;
  for (const RequestMetrics& request : configuration.requests) {
    if (const auto latency = request.latency_ns()) {
      values.push_back(std::max<std::int64_t>(*latency, 1));
    }
  }
  std::ranges::sort(values);
  return values;
}

// The ECDF as steps; with many values every k-th, the last always.
std::vector<Point> curve(const std::vector<std::int64_t>& values, std::size_t requests,
                         const Scale& time, const Box& plot) {
  std::vector<Point> points = {{plot.x, plot.bottom()}};
  const std::size_t every = values.size() / curve_points_max + 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % every != 0 && i + 1 != values.size()) {
      continue;
    }
    const Px x = plot.x + time.at(values[i]);
    const Px y = plot.bottom() - plot.height * static_cast<Px>(i + 1) / static_cast<Px>(requests);
    points.push_back({x, points.back().y});
    points.push_back({x, y});
  }
  points.push_back({plot.right(), points.back().y});
  return points;
}

void share_axis(Svg& svg, const Box& plot, std::string_view label) {
  for (int percent = 0; percent <= 100; percent += 25) {
    const Px y = plot.bottom() - plot.height * percent / 100;
    svg.line({plot.x, y}, {plot.right(), y}, percent == 0 ? "axis" : "grid");
    svg.text({plot.x - 80, y + 40}, fmt::format("{}%", percent), "tick", Anchor::end);
  }
  svg.text_upwards({120, plot.y + plot.height / 2}, label, "label");
}

// A legend line of samples, left to right.
void legend(Svg& svg, const Comparison& comparison, Px x, Px y) {
  for (std::size_t i = 0; i < comparison.configurations.size(); ++i) {
    const Configuration& configuration = comparison.configurations[i];
    const std::string name =
        fmt::format("{} ({} of {})", shortened(configuration.name, 36), configuration.latency.n,
                    plural(std::ssize(configuration.requests), "request"));
    svg.line({x, y - 40}, {x + 320, y - 40}, "curve " + series_class(i));
    svg.text({x + 400, y}, name, "key");
    x += 600 + static_cast<Px>(width_of(name)) * 68;
  }
}

}  // namespace

std::string series_class(std::size_t index) { return fmt::format("c{}", index % 5); }

std::string use_class(SlotUse use) {
  constexpr std::array<std::string_view, slot_uses> names = {"u-busy",    "u-reserved", "u-drain",
                                                             "u-blocked", "u-unusable", "u-idle"};
  return std::string(names[index_of(use)]);
}

Chart latency_chart(const Comparison& comparison) {
  const Box plot{.x = 700, .y = 420, .width = chart_width - 900, .height = 2'600};
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = 0;
  std::vector<std::vector<std::int64_t>> values;
  for (const Configuration& configuration : comparison.configurations) {
    values.push_back(sorted_latencies(configuration));
    if (!values.back().empty()) {
      least = std::min(least, values.back().front());
      most = std::max(most, values.back().back());
    }
  }
  Chart chart;
  if (most == 0) {
    return chart;
  }
  const bool log = most / least >= 20;
  const std::int64_t from = log ? least - least / 10 : 0;
  const std::int64_t to = most + most / 20 + 1;
  const Scale time = log ? Scale::logarithmic(std::max<std::int64_t>(from, 1), to, plot.width)
                         : Scale::linear(0, to, plot.width);
  Svg svg("ecdf", chart_width, plot.bottom() + 780, "Share of requests completed within a time",
          "One step line per configuration; a line that ends below 100% shows the requests that "
          "never completed.");
  share_axis(svg, plot, "share of all requests");
  for (const Tick& tick : log ? log_time_ticks(time.from(), to) : time_ticks(0, to, 8)) {
    const Px x = plot.x + time.at(tick.value);
    svg.line({x, plot.y}, {x, plot.bottom()}, "grid");
    svg.text({x, plot.bottom() + 200}, tick.label, "tick", Anchor::middle);
  }
  svg.text({plot.x + plot.width / 2, plot.bottom() + 520},
           log ? "request latency (logarithmic)" : "request latency", "label", Anchor::middle);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t requests = comparison.configurations[i].requests.size();
    if (!values[i].empty()) {
      svg.polyline(curve(values[i], requests, time, plot), "curve " + series_class(i));
    }
  }
  legend(svg, comparison, plot.x, 200);
  chart.svg = svg.finish();
  return chart;
}

// ---- change per request ----

namespace {

// other / base on a logarithmic scale, so that halving and doubling are equally far from the
// middle.
class ChangeAxis {
 public:
  // As wide as the greatest change needs, at least 9%, at most 64 times.
  ChangeAxis(const std::vector<PairedRequest>& requests, Px middle, Px half)
      : middle_(middle), half_(half) {
    model::Fixed greatest = 0;
    for (const PairedRequest& pair : requests) {
      greatest = std::max(greatest, std::abs(distance(pair.other_ns, pair.base_ns)));
    }
    for (const int eighths : {1, 2, 4, 8, 16, 24, 32, 40, 48}) {
      span_ = model::fixed_one / 8 * eighths;
      if (span_ >= greatest) {
        break;
      }
    }
  }

  [[nodiscard]] Px at(const PairedRequest& pair) const {
    return place(distance(pair.other_ns, pair.base_ns));
  }

  // Round changes that lie on the axis with room for their labels, the middle first.
  [[nodiscard]] std::vector<Tick> ticks(Px room) const {
    std::vector<Tick> ticks = {{middle_, "no change"}};
    Px last = middle_;
    for (const std::int64_t percent : {98, 95, 90, 80, 70, 60, 50, 25, 12, 6, 3}) {
      add_tick(ticks, percent, room, last);
    }
    last = middle_;
    for (const std::int64_t percent : {102, 105, 110, 125, 150, 200, 400, 800, 1600, 3200}) {
      add_tick(ticks, percent, room, last);
    }
    return ticks;
  }

  [[nodiscard]] Px middle() const { return middle_; }

 private:
  static model::Fixed distance(std::int64_t a, std::int64_t b) {
    const auto log = [](std::int64_t value) {
      return model::log2(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 1)));
    };
    return log(a) - log(b);
  }
  [[nodiscard]] Px place(model::Fixed change) const {
    return middle_ + static_cast<Px>(Wide{std::clamp(change, -span_, span_)} * half_ / span_);
  }
  void add_tick(std::vector<Tick>& ticks, std::int64_t percent, Px room, Px& last) const {
    const model::Fixed change = distance(percent, 100);
    if (std::abs(change) <= span_ && std::abs(place(change) - last) >= room) {
      last = place(change);
      ticks.push_back({last, fmt::format("{:+}%", percent - 100)});
    }
  }

  Px middle_;
  Px half_;
  model::Fixed span_ = model::fixed_one;
};

std::string change_style(const PairedRequest& pair, std::int64_t min_effect_ppm) {
  switch (change_of(pair, min_effect_ppm)) {
    case Change::faster:
      return "faster";
    case Change::slower:
      return "slower";
    case Change::same:
      return "same";
  }
  return "same";
}

std::string named_rows(const Comparison& comparison, const std::vector<PairedRequest>& sorted,
                       std::string_view name, std::string_view title) {
  const Px top = 120;
  const Px bottom = top + row_height * static_cast<Px>(sorted.size());
  const Px half = 2'700;
  const ChangeAxis axis(sorted, 2'400 + half, half);
  Svg svg(name, chart_width, bottom + 620, title,
          "One bar per request that succeeded in both configurations, sorted by change; bars to "
          "the left are faster than the baseline.");
  for (const Tick& tick : axis.ticks(650)) {
    svg.line({tick.value, top}, {tick.value, bottom},
             tick.value == axis.middle() ? "axis" : "grid");
    svg.text({tick.value, bottom + 200}, tick.label, "tick", Anchor::middle);
  }
  svg.text({axis.middle(), bottom + 500}, "change of latency (logarithmic)", "label",
           Anchor::middle);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const PairedRequest& pair = sorted[i];
    const Px y = top + row_height * static_cast<Px>(i);
    const Px x = axis.at(pair);
    const std::string numbers =
        fmt::format("{} \u2192 {}  ({})", duration_text(pair.base_ns), duration_text(pair.other_ns),
                    change_text(pair.base_ns, pair.other_ns));
    svg.text({2'300, y + 150}, shortened(pair.request, 30), "row", Anchor::end);
    svg.rect({std::min(x, axis.middle()), y + 40, std::max<Px>(std::abs(x - axis.middle()), 10),
              row_height - 80},
             change_style(pair, comparison.min_effect_ppm),
             fmt::format("{}: {}", pair.request, numbers));
    svg.text({2'400 + 2 * half + 100, y + 150}, numbers, "row");
  }
  return svg.finish();
}

// Many requests: thin bars side by side, each the mean place of its share of the sorted list.
std::string thin_bars(const Comparison& comparison, const std::vector<PairedRequest>& sorted,
                      std::string_view name, std::string_view title) {
  const Box plot{.x = 1'000, .y = 120, .width = chart_width - 1'200, .height = 2'800};
  const ChangeAxis axis(sorted, plot.y + plot.height / 2, plot.height / 2);
  Svg svg(name, chart_width, plot.bottom() + 520, title,
          "Requests that succeeded in both configurations, sorted by change; bars below the line "
          "are faster than the baseline.");
  for (const Tick& tick : axis.ticks(250)) {
    const Px y = 2 * axis.middle() - tick.value;  // up is slower
    svg.line({plot.x, y}, {plot.right(), y}, tick.value == axis.middle() ? "axis" : "grid");
    svg.text({plot.x - 80, y + 40}, tick.label, "tick", Anchor::end);
  }
  svg.text_upwards({120, axis.middle()}, "change of latency (logarithmic)", "label");
  const std::size_t bars = std::min<std::size_t>(sorted.size(), 600);
  for (std::size_t i = 0; i < bars; ++i) {
    const PairedRequest& pair = sorted[i * sorted.size() / bars];
    const Px y = 2 * axis.middle() - axis.at(pair);
    const Px left = plot.x + plot.width * static_cast<Px>(i) / static_cast<Px>(bars);
    const Px right = plot.x + plot.width * static_cast<Px>(i + 1) / static_cast<Px>(bars);
    svg.rect({left, std::min(y, axis.middle()), std::max<Px>(right - left - 2, 5),
              std::max<Px>(std::abs(y - axis.middle()), 5)},
             change_style(pair, comparison.min_effect_ppm),
             fmt::format("{}: {} \u2192 {} ({})", pair.request, duration_text(pair.base_ns),
                         duration_text(pair.other_ns), change_text(pair.base_ns, pair.other_ns)));
  }
  svg.text({plot.x + plot.width / 2, plot.bottom() + 350},
           fmt::format("{} requests, from the greatest gain to the greatest loss", sorted.size()),
           "label", Anchor::middle);
  return svg.finish();
}

}  // namespace

Chart change_chart(const Comparison& comparison, std::size_t index) {
  const Paired& paired = comparison.paired[index];
  Chart chart;
  if (paired.requests.empty()) {
    return chart;
  }
  std::vector<PairedRequest> sorted = paired.requests;
  std::ranges::sort(sorted, gains_more);
  const std::string name = fmt::format("change{}", index);
  const std::string title =
      fmt::format("Change per request, {} against {}", paired.name, comparison.baseline);
  if (sorted.size() <= named_rows_max) {
    chart.svg = named_rows(comparison, sorted, name, title);
    return chart;
  }
  chart.svg = thin_bars(comparison, sorted, name, title);
  if (sorted.size() > 600) {
    chart.left_out =
        fmt::format("600 of {} requests are drawn, evenly from the sorted list.", sorted.size());
  }
  return chart;
}

// ---- prices ----

Chart price_chart(const Comparison& comparison) {
  const Px left = 2'400;
  const Px width = chart_width - left - 200;
  const Px row = 420;
  const auto rows = static_cast<Px>(comparison.configurations.size());
  const Px top = 100;
  Svg svg(
      "prices", chart_width, top + row * rows + 560, "What slot time was spent on",
      "One bar per configuration, split into busy, reserved idle, drain idle, blocked, unusable "
      "and idle slot time; the six parts add up to all of it.");
  for (int percent = 0; percent <= 100; percent += 10) {
    const Px x = left + width * percent / 100;
    svg.line({x, top}, {x, top + row * rows}, percent == 0 ? "axis" : "grid");
    if (percent % 20 == 0) {
      svg.text({x, top + row * rows + 190}, fmt::format("{}%", percent), "tick", Anchor::middle);
    }
  }
  svg.text({left + width / 2, top + row * rows + 480}, "share of slot time", "label",
           Anchor::middle);
  for (std::size_t i = 0; i < comparison.configurations.size(); ++i) {
    const Configuration& configuration = comparison.configurations[i];
    const Totals& totals = configuration.totals;
    const Px y = top + row * static_cast<Px>(i);
    svg.text({left - 120, y + 250}, shortened(configuration.name, 28), "row", Anchor::end);
    Wide before = 0;
    for (std::size_t use = 0; use < slot_uses && totals.slot_time > 0; ++use) {
      const Wide after = before + totals.slot_use[use];
      const Px from = static_cast<Px>(before * width / totals.slot_time);
      const Px to = static_cast<Px>(after * width / totals.slot_time);
      if (to > from) {
        svg.rect({left + from, y + 60, to - from, row - 140}, use_class(static_cast<SlotUse>(use)),
                 fmt::format("{}: {} {}", configuration.name, slot_use_names[use],
                             share_text(totals.slot_use[use], totals.slot_time)));
      }
      if (to - from > 700 && static_cast<SlotUse>(use) != SlotUse::idle) {
        svg.text({left + (from + to) / 2, y + 250},
                 share_text(totals.slot_use[use], totals.slot_time),
                 "inside " + use_class(static_cast<SlotUse>(use)), Anchor::middle);
      }
      before = after;
    }
  }
  return {.svg = svg.finish(), .left_out = ""};
}

}  // namespace rehearse::reports
