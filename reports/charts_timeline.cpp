// registry: none (charts of the page: timelines)
//
// Slot use over time and the Gantt of stages share one time axis, so that a dip in the one can be
// read off the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/charts.hpp"
#include "reports/numbers.hpp"
#include "reports/svg.hpp"
#include "reports/text_table.hpp"

namespace rehearse::reports {
namespace {

constexpr Px chart_width = 10'400;
constexpr Px left_margin = 2'000;
constexpr Px right_margin = 200;
constexpr Px slots_height = 1'500;
constexpr Px lane_height = 170;
constexpr std::size_t lanes_max = 60;
constexpr std::size_t columns_max = 400;

// Bottom to top.
constexpr std::array stacking = {SlotUse::busy,       SlotUse::blocked,  SlotUse::reserved_idle,
                                 SlotUse::drain_idle, SlotUse::unusable, SlotUse::idle};

struct Column {
  model::Instant from = 0;
  model::Instant to = 0;
  SlotTimes use{};
};

std::vector<Column> columns_of(const RunMetrics& run) {
  const std::size_t merge = run.series.size() / columns_max + 1;
  std::vector<Column> columns;
  for (std::size_t i = 0; i < run.series.size(); i += merge) {
    const std::size_t last = std::min(i + merge, run.series.size());
    Column column;
    column.from = static_cast<model::Instant>(i) * run.series_width_ns;
    column.to = std::min(static_cast<model::Instant>(last) * run.series_width_ns, run.end_ns);
    for (std::size_t k = i; k < last; ++k) {
      for (std::size_t use = 0; use < slot_uses; ++use) {
        column.use[use] += run.series[k].use[use];
      }
    }
    columns.push_back(column);
  }
  return columns;
}

void draw_slots(Svg& svg, const RunMetrics& run, const Scale& time, const Box& plot,
                std::int64_t slots_max) {
  const std::vector<Column> columns = columns_of(run);
  std::vector<Wide> floor(columns.size(), 0);
  for (const SlotUse use : stacking) {
    std::vector<Point> upper;
    std::vector<Point> lower;
    bool any = false;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Column& column = columns[i];
      const Wide span = std::max<model::Duration>(column.to - column.from, 1);
      const auto height = [&](Wide slot_ns) {
        return plot.bottom() - static_cast<Px>(slot_ns * plot.height / (span * slots_max));
      };
      const Wide top = floor[i] + column.use[index_of(use)];
      any = any || top > floor[i];
      const Px x0 = plot.x + time.at(column.from);
      const Px x1 = plot.x + time.at(column.to);
      upper.push_back({x0, height(top)});
      upper.push_back({x1, height(top)});
      lower.push_back({x0, height(floor[i])});
      lower.push_back({x1, height(floor[i])});
      floor[i] = top;
    }
    if (any) {
      upper.insert(upper.end(), lower.rbegin(), lower.rend());
      svg.polygon(upper, use_class(use));
    }
  }
}

// ---- Gantt ----

struct Lane {
  std::string label;
  std::vector<const StageSpan*> spans;
};

// A lane per stage if they fit, else a lane per job; the earliest first.
std::vector<Lane> lanes_of(const RunMetrics& run, bool& by_job) {
  std::vector<Lane> lanes;
  std::vector<std::pair<std::uint32_t, std::string>> keys;
  for (by_job = false;; by_job = true) {
    lanes.clear();
    keys.clear();
    for (const StageSpan& span : run.spans) {
      const std::pair key{span.job, by_job ? std::string() : span.stage};
      const auto found = std::ranges::find(keys, key);
      if (found != keys.end()) {
        lanes[static_cast<std::size_t>(found - keys.begin())].spans.push_back(&span);
        continue;
      }
      if (lanes.size() > lanes_max) {
        continue;  // too many, which is all that matters
      }
      keys.push_back(key);
      const std::string& job = run.jobs[span.job].name;
      lanes.push_back(
          {.label = by_job ? job : fmt::format("{}/{}", job, span.stage), .spans = {&span}});
    }
    if (by_job || lanes.size() <= lanes_max) {
      return lanes;
    }
  }
}

std::string span_style(const StageSpan& span) {
  std::string style = span.gang ? "gang" : "regular";
  if (span.end_ns && span.status != model::StageStatus::success) {
    style += " ended-badly";
  }
  return style;
}

std::string span_tooltip(const RunMetrics& run, const StageSpan& span) {
  return fmt::format(
      "{}/{} attempt {}: {}, ready {}, first task {}, {} {}{}", run.jobs[span.job].name, span.stage,
      span.attempt, plural(span.tasks, "task"), duration_text(span.ready_ns),
      span.start_ns ? duration_text(*span.start_ns) : "never",
      span.end_ns ? model::name_of(span.status) : "cut off",
      duration_text(span.end_ns.value_or(run.end_ns)), span.gang ? ", in a gang" : "");
}

void draw_lane(Svg& svg, const RunMetrics& run, const Lane& lane, const Scale& time,
               const Box& box) {
  svg.text({box.x - 80, box.y + 125}, shortened(lane.label, 26), "row", Anchor::end);
  for (const StageSpan* span : lane.spans) {
    const Px ready = box.x + time.at(span->ready_ns);
    const Px end = box.x + time.at(span->end_ns.value_or(run.end_ns));
    const Px start = span->start_ns ? box.x + time.at(*span->start_ns) : end;
    if (start > ready) {
      svg.line({ready, box.y + box.height / 2}, {start, box.y + box.height / 2}, "waits");
    }
    svg.rect({start, box.y + 25, std::max<Px>(end - start, 10), box.height - 50}, span_style(*span),
             span_tooltip(run, *span));
  }
}

std::string omitted_text(const RunMetrics& run, const std::vector<Lane>& lanes, bool by_job) {
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < lanes.size() && i < lanes_max; ++i) {
    drawn += lanes[i].spans.size();
  }
  const std::int64_t all = std::ssize(run.spans) + run.spans_omitted;
  const std::int64_t omitted = all - static_cast<std::int64_t>(drawn);
  std::string text;
  if (by_job) {
    text = "One row per job, its stages over each other. ";
  }
  if (omitted > 0) {
    text += fmt::format("{} of {} stage attempts are not drawn: the first {} rows are shown.",
                        omitted, all, std::min(lanes.size(), lanes_max));
  }
  return text;
}

}  // namespace

Chart timeline_chart(const Configuration& configuration, std::size_t index, model::Instant until,
                     std::int64_t slots_max) {
  const RunMetrics& run = configuration.runs.front();
  bool by_job = false;
  const std::vector<Lane> lanes = lanes_of(run, by_job);
  const std::size_t rows = std::min(lanes.size(), lanes_max);
  const Box slots{.x = left_margin,
                  .y = 100,
                  .width = chart_width - left_margin - right_margin,
                  .height = slots_height};
  const Px gantt_top = slots.bottom() + 180;
  const Px bottom = gantt_top + lane_height * static_cast<Px>(rows);
  const Scale time = Scale::linear(0, std::max<model::Instant>(until, 1), slots.width);
  Svg svg(fmt::format("time{}", index), chart_width, bottom + 560,
          fmt::format("Slots and stages over time under {}", configuration.name),
          "Above, the slots of live executors stacked by use; below, one row per stage with a thin "
          "line while it waits and a bar while it runs.");
  for (const Tick& tick : time_ticks(0, until, 8)) {
    const Px x = slots.x + time.at(tick.value);
    svg.line({x, slots.y}, {x, bottom}, "grid");
    svg.text({x, bottom + 190}, tick.label, "tick", Anchor::middle);
  }
  const std::int64_t most = std::max<std::int64_t>(slots_max, 1);
  draw_slots(svg, run, time, slots, most);
  for (const Tick& tick : count_ticks(most, 4)) {
    const Px y = slots.bottom() - slots.height * tick.value / most;
    svg.line({slots.x - 50, y}, {slots.x, y}, "axis");
    svg.text({slots.x - 90, y + 40}, tick.label, "tick", Anchor::end);
  }
  svg.line({slots.x, slots.y}, {slots.x, slots.bottom()}, "axis");
  svg.line({slots.x, slots.bottom()}, {slots.right(), slots.bottom()}, "axis");
  svg.text_upwards({1'250, slots.y + slots.height / 2}, "slots", "label");
  for (std::size_t i = 0; i < rows; ++i) {
    draw_lane(svg, run, lanes[i], time,
              {slots.x, gantt_top + lane_height * static_cast<Px>(i), slots.width, lane_height});
  }
  svg.text({slots.x + slots.width / 2, bottom + 480}, "virtual time", "label", Anchor::middle);
  return {.svg = svg.finish(), .left_out = omitted_text(run, lanes, by_job)};
}

}  // namespace rehearse::reports
