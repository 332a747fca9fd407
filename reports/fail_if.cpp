// registry: none (part of a comparison)
#include "reports/fail_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "model/support/check.hpp"
#include "model/support/units.hpp"
#include "reports/compare.hpp"
#include "reports/numbers.hpp"

namespace rehearse::reports {
namespace {

constexpr std::array<std::string_view, 8> metric_names = {
    "request_latency", "queued",        "first_row", "makespan",
    "utilization",     "reserved_idle", "rejected",  "failed"};
constexpr std::array<std::string_view, 6> stat_names = {"mean", "p50", "p90", "p95", "p99", "max"};
constexpr Wide micro = 1'000'000;
constexpr Wide share_scale = 1'000'000'000;

bool is_duration(FailMetric metric) { return metric <= FailMetric::makespan; }
bool has_stat(FailMetric metric) { return metric <= FailMetric::first_row; }

model::Error wrong(std::string what, std::string remedy) {
  return {.what = std::move(what), .field = "--fail-if", .remedy = std::move(remedy)};
}

std::string list(std::span<const std::string_view> names) {
  return fmt::format("known: {}", fmt::join(names, " "));
}

std::string did_you_mean(std::string_view given, std::span<const std::string_view> names) {
  const std::string nearest = model::nearest_name(given, names.data(), names.data() + names.size());
  return nearest.empty() ? list(names) : fmt::format("did you mean '{}'? {}", nearest, list(names));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

model::Result<void> read_metric(std::string_view text, FailRule& rule) {
  const std::size_t dot = text.find('.');
  const std::string_view metric = text.substr(0, dot);
  const auto found = std::ranges::find(metric_names, metric);
  if (found == metric_names.end()) {
    return std::unexpected(wrong(fmt::format("unknown metric '{}' in '{}'", metric, rule.text),
                                 did_you_mean(metric, metric_names)));
  }
  rule.metric = static_cast<FailMetric>(found - metric_names.begin());
  if (!has_stat(rule.metric)) {
    if (dot != std::string_view::npos) {
      return std::unexpected(wrong(fmt::format("'{}' has no statistics", metric),
                                   fmt::format("write '{}' alone", metric)));
    }
    return {};
  }
  const std::string_view stat =
      dot == std::string_view::npos ? std::string_view{} : text.substr(dot + 1);
  const auto known = std::ranges::find(stat_names, stat);
  if (known == stat_names.end()) {
    return std::unexpected(
        wrong(fmt::format("'{}' needs one of its statistics, seen '{}'", metric, stat),
              stat.empty() ? list(stat_names) : did_you_mean(stat, stat_names)));
  }
  rule.stat = static_cast<FailStat>(known - stat_names.begin() + 1);
  return {};
}

model::Result<void> read_number(std::string_view text, FailRule& rule) {
  const std::string whole(text);
  if (text.ends_with('%')) {
    rule.percent = true;
    text = trimmed(text.substr(0, text.size() - 1));
  }
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  const bool bare = text.find_first_not_of("0123456789.") == std::string_view::npos;
  const bool nanoseconds = is_duration(rule.metric) && !rule.percent;
  model::Result<std::int64_t> value = 0;
  if (nanoseconds && !bare) {
    value = model::parse_duration(text);
  } else {
    value = model::parse_decimal(text, nanoseconds ? 1 : static_cast<std::int64_t>(micro));
  }
  if (text.empty() || !value) {
    return std::unexpected(
        wrong(fmt::format("'{}' is no threshold in '{}'", whole, rule.text),
              nanoseconds ? "write a duration ('2.5s'), nanoseconds, or a change ('5%')"
                          : "write a number ('3') or a change against the baseline ('5%')"));
  }
  rule.value_micro = nanoseconds ? *value * micro : Wide{*value};
  rule.value_micro = negative ? -rule.value_micro : rule.value_micro;
  return {};
}

std::optional<std::int64_t> stat_of(const Dist& dist, FailStat stat) {
  switch (stat) {
    case FailStat::mean:
      return dist.mean_ns;
    case FailStat::p50:
      return dist.p50_ns;
    case FailStat::p90:
      return dist.p90_ns;
    case FailStat::p95:
      return dist.p95_ns;
    case FailStat::p99:
      return dist.p99_ns;
    case FailStat::max:
      return dist.max_ns;
    case FailStat::none:
      break;
  }
  return std::nullopt;
}

Wide share(Wide part, Wide whole) {
  return whole == 0 ? 0 : (part * share_scale + whole / 2) / whole;
}

// In nanoseconds, requests, or 1 / share_scale. `dists` are those of the set that is asked about.
std::optional<Wide> measure(const Configuration& configuration, const RequestDists& dists,
                            const FailRule& rule) {
  const auto widened = [](std::optional<std::int64_t> value) {
    return value ? std::optional<Wide>(*value) : std::nullopt;
  };
  const Totals& totals = configuration.totals;
  switch (rule.metric) {
    case FailMetric::request_latency:
      return widened(stat_of(dists.latency, rule.stat));
    case FailMetric::queued:
      return widened(stat_of(dists.queued, rule.stat));
    case FailMetric::first_row:
      return widened(stat_of(dists.first_row, rule.stat));
    case FailMetric::makespan:
      return Wide{configuration.makespan_ns};
    case FailMetric::utilization:
      return share(totals.use(SlotUse::busy), totals.slot_time);
    case FailMetric::reserved_idle:
      return share(totals.use(SlotUse::reserved_idle) + totals.use(SlotUse::drain_idle) +
                       totals.use(SlotUse::blocked),
                   totals.slot_time);
    case FailMetric::rejected:
      return Wide{configuration.rejected};
    case FailMetric::failed:
      return Wide{configuration.failed};
  }
  return std::nullopt;
}

bool holds(FailOp op, Wide left, Wide right) {
  switch (op) {
    case FailOp::above:
      return left > right;
    case FailOp::at_least:
      return left >= right;
    case FailOp::below:
      return left < right;
    case FailOp::at_most:
      return left <= right;
  }
  return false;
}

std::string value_text(const FailRule& rule, Wide value) {
  if (is_duration(rule.metric)) {
    return duration_text(saturated(value));
  }
  if (rule.metric == FailMetric::utilization || rule.metric == FailMetric::reserved_idle) {
    return share_text(value, share_scale);
  }
  return fmt::format("{}", saturated(value));
}

struct Judgement {
  bool tripped = false;
  std::string text;
};

Judgement judge_value(const FailRule& rule, const Configuration& configuration) {
  const RequestDists own{.latency = configuration.latency,
                         .queued = configuration.queued,
                         .first_row = configuration.first_row.value_or(Dist{})};
  const std::optional<Wide> seen = measure(configuration, own, rule);
  if (!seen) {
    return {true, "not measured, which counts as beyond the threshold"};
  }
  const bool is_share =
      rule.metric == FailMetric::utilization || rule.metric == FailMetric::reserved_idle;
  const Wide scale = is_share ? share_scale : Wide{1};
  return {holds(rule.op, *seen * micro, rule.value_micro * scale), value_text(rule, *seen)};
}

Judgement judge_change(const FailRule& rule, const Configuration& base, const Configuration& other,
                       const Paired& paired) {
  const std::optional<Wide> was = measure(base, paired.base, rule);
  const std::optional<Wide> seen = measure(other, paired.other, rule);
  if (!was || !seen) {
    return {true, "not measured in both, which counts as beyond the threshold"};
  }
  std::string text = fmt::format("{} -> {} ({})", value_text(rule, *was), value_text(rule, *seen),
                                 change_text(*was, *seen));
  if (has_stat(rule.metric) && !paired.same_set) {
    text += fmt::format(" over {} in both", plural(std::ssize(paired.requests), "request"));
  }
  if (*was == 0) {  // no change, or a change without bound
    const Wide unbounded = *seen == 0 ? Wide{0} : Wide{1} << 100;
    return {holds(rule.op, unbounded, rule.value_micro), text};
  }
  return {holds(rule.op, (*seen - *was) * 100 * micro, rule.value_micro * *was), text};
}

}  // namespace

model::Result<FailRule> parse_fail_rule(std::string_view text) {
  FailRule rule;
  rule.text = text;
  const std::size_t mark = text.find_first_of("<>");
  if (mark == std::string_view::npos) {
    return std::unexpected(wrong(fmt::format("no comparison in '{}'", text),
                                 "write METRIC.STAT OP NUMBER[%], e.g. 'request_latency.p90 > "
                                 "5%'"));
  }
  const bool equal = mark + 1 < text.size() && text[mark + 1] == '=';
  rule.op = text[mark] == '>' ? (equal ? FailOp::at_least : FailOp::above)
                              : (equal ? FailOp::at_most : FailOp::below);
  if (const auto metric = read_metric(trimmed(text.substr(0, mark)), rule); !metric) {
    return std::unexpected(metric.error());
  }
  const auto number = read_number(trimmed(text.substr(mark + (equal ? 2 : 1))), rule);
  if (!number) {
    return std::unexpected(number.error());
  }
  return rule;
}

FailResult judge(const FailRule& rule, const std::vector<Configuration>& configurations,
                 const std::vector<Paired>& paired) {
  RH_CHECK(paired.size() + 1 == configurations.size());
  FailResult result;
  result.rule = rule.text;
  std::vector<std::string> seen;
  const std::size_t first = configurations.size() > 1 ? 1 : 0;
  for (std::size_t i = first; i < configurations.size(); ++i) {
    const Configuration& other = configurations[i];
    Judgement judgement;
    if (!rule.percent) {
      judgement = judge_value(rule, other);
    } else if (i == 0) {
      judgement.text = "nothing to compare with";
    } else {
      judgement = judge_change(rule, configurations.front(), other, paired[i - 1]);
    }
    result.tripped = result.tripped || judgement.tripped;
    seen.push_back(fmt::format("{}: {}", other.name, judgement.text));
  }
  result.detail = fmt::format("{}", fmt::join(seen, "; "));
  return result;
}

}  // namespace rehearse::reports
