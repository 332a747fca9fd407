// registry: none (the finding of a comparison in words)
//
// Every sentence is computed from the comparison. What decides is symmetric: counts of faster and
// slower requests, sums of latencies, outcomes; so swapping the configurations swaps the sentence.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "reports/compare.hpp"
#include "reports/numbers.hpp"

namespace rehearse::reports {
namespace {

// Below this share of the work in groups a comparison of pipelining says nothing (traces.md).
constexpr Wide groups_share_min_percent = 5;

// Requests that one configuration completes and the other does not.
struct Lost {
  std::int64_t rejected = 0;
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
  std::int64_t unfinished = 0;
  std::string example;  // "q3: INSUFFICIENT_SLOTS"
  [[nodiscard]] std::int64_t all() const { return rejected + failed + cancelled + unfinished; }
};

struct Outcomes {
  std::int64_t base_completes = 0;
  std::int64_t other_completes = 0;
  Lost lost;  // the baseline completes, the other does not
  Lost won;   // the reverse
};

void count_lost(Lost& lost, const RequestMetrics& request) {
  lost.rejected += request.outcome == Outcome::rejected ? 1 : 0;
  lost.failed += request.outcome == Outcome::failed ? 1 : 0;
  lost.cancelled += request.outcome == Outcome::cancelled ? 1 : 0;
  lost.unfinished += request.outcome == Outcome::unfinished ? 1 : 0;
  if (lost.example.empty()) {
    lost.example = request.code ? fmt::format("{}: {}", request.name, model::name_of(*request.code))
                                : request.name;
  }
}

Outcomes outcomes_of(const Configuration& base, const Configuration& other) {
  Outcomes result;
  std::unordered_map<std::string_view, const RequestMetrics*> rows;
  for (const RequestMetrics& request : other.requests) {
    rows.emplace(request.name, &request);
    result.other_completes += request.outcome == Outcome::succeeded ? 1 : 0;
  }
  for (const RequestMetrics& request : base.requests) {
    const bool base_completes = request.outcome == Outcome::succeeded;
    result.base_completes += base_completes ? 1 : 0;
    const auto found = rows.find(request.name);
    if (found == rows.end()) {
      continue;
    }
    const bool other_completes = found->second->outcome == Outcome::succeeded;
    if (base_completes && !other_completes) {
      count_lost(result.lost, *found->second);
    } else if (!base_completes && other_completes) {
      count_lost(result.won, request);
    }
  }
  return result;
}

// "rejects", when that is all that happened to them; else nothing.
std::string_view verb(const Lost& lost) {
  return lost.rejected == lost.all()     ? "rejects"
         : lost.failed == lost.all()     ? "fails"
         : lost.cancelled == lost.all()  ? "cancels"
         : lost.unfinished == lost.all() ? "leaves unfinished"
                                         : "";
}

std::string listed(const Lost& lost) {
  std::vector<std::string> parts;
  const auto part = [&](std::int64_t count, std::string_view word) {
    if (count > 0) {
      parts.push_back(fmt::format("{} {}", count, word));
    }
  };
  part(lost.rejected, "rejected");
  part(lost.failed, "failed");
  part(lost.cancelled, "cancelled");
  part(lost.unfinished, "unfinished");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string lost_clause(const std::string& loser, const std::string& keeper, const Lost& lost,
                        std::int64_t kept) {
  const std::string_view word = verb(lost);
  const std::string count = lost.all() == kept && kept > 1
                                ? fmt::format("all {} requests", kept)
                                : fmt::format("{} of {}", lost.all(), plural(kept, "request"));
  if (word.empty()) {
    return fmt::format("{} does not complete {} that {} completes: {} (first {})", loser, count,
                       keeper, listed(lost), lost.example);
  }
  return fmt::format("{} {} {} that {} completes ({}{})", loser, word, count, keeper,
                     lost.all() > 1 ? "first " : "", lost.example);
}

std::string won_clause(const std::string& winner, const std::string& other, const Lost& won) {
  const std::string_view word = verb(won);
  if (word.empty()) {
    return fmt::format("{} completes {} that {} does not: {} there (first {})", winner,
                       plural(won.all(), "request"), other, listed(won), won.example);
  }
  return fmt::format("{} completes {} that {} {} ({}{})", winner, plural(won.all(), "request"),
                     other, word, won.all() > 1 ? "first " : "", won.example);
}

// The kind that latencies of paired requests give.
FindingKind latency_kind(const Paired& paired, std::int64_t min_effect_ppm) {
  if (paired.requests.empty()) {
    return FindingKind::nothing_compared;
  }
  if (paired.faster == 0 && paired.slower == 0) {
    return FindingKind::no_difference;
  }
  const Change sum = change_of({.request = "",
                                .base_ns = paired.base_sum_ns.value_or(0),
                                .other_ns = paired.other_sum_ns.value_or(0)},
                               min_effect_ppm);
  if (paired.slower == 0 || (paired.faster >= 2 * paired.slower && sum == Change::faster)) {
    return FindingKind::faster;
  }
  if (paired.faster == 0 || (paired.slower >= 2 * paired.faster && sum == Change::slower)) {
    return FindingKind::slower;
  }
  return FindingKind::mixed;
}

std::string arrow(std::optional<std::int64_t> before, std::optional<std::int64_t> after) {
  const std::int64_t b = before.value_or(0);
  const std::int64_t a = after.value_or(0);
  return fmt::format("{} -> {} ({})", duration_text(b), duration_text(a), change_text(b, a));
}

std::string latencies(const Paired& paired) {
  if (paired.requests.size() == 1) {
    return fmt::format("latency {}",
                       arrow(paired.base.latency.p50_ns, paired.other.latency.p50_ns));
  }
  return fmt::format("median latency {}, p90 {}",
                     arrow(paired.base.latency.p50_ns, paired.other.latency.p50_ns),
                     arrow(paired.base.latency.p90_ns, paired.other.latency.p90_ns));
}

std::string percent_text(std::int64_t ppm) {
  return ppm % 10'000 == 0 ? fmt::format("{}%", ppm / 10'000)
                           : fmt::format("{}.{:02}%", ppm / 10'000, ppm % 10'000 / 100);
}

// "for 5 of 6 requests, slower for 1"
std::string counts(const Paired& paired, bool faster_first, std::int64_t min_effect_ppm) {
  const auto n = static_cast<std::int64_t>(paired.requests.size());
  const std::int64_t first = faster_first ? paired.faster : paired.slower;
  const std::int64_t second = faster_first ? paired.slower : paired.faster;
  std::string text = first == n ? (n == 1 ? "for the one request that succeeds in both"
                                          : fmt::format("for all {} requests", n))
                                : fmt::format("for {} of {} requests", first, n);
  if (second > 0) {
    text += fmt::format(", {} for {}", faster_first ? "slower" : "faster", second);
  }
  if (paired.same > 0) {
    text += fmt::format(", within {} for {}", percent_text(min_effect_ppm), paired.same);
  }
  return text;
}

std::string latency_sentence(const std::string& base, const Paired& paired, FindingKind kind,
                             std::int64_t min_effect_ppm) {
  const auto n = static_cast<std::int64_t>(paired.requests.size());
  switch (kind) {
    case FindingKind::faster:
      return fmt::format("{} is faster than {} {}: {}.", paired.name, base,
                         counts(paired, true, min_effect_ppm), latencies(paired));
    case FindingKind::slower:
      return fmt::format("{} is slower than {} {}: {}.", paired.name, base,
                         counts(paired, false, min_effect_ppm), latencies(paired));
    case FindingKind::mixed:
      return fmt::format(
          "{} against {} is mixed over {}: {} faster, {} slower, {} within {}; {}; all latencies "
          "together {}.",
          paired.name, base, plural(n, "request"), paired.faster, paired.slower, paired.same,
          percent_text(min_effect_ppm), latencies(paired),
          change_text(paired.base_sum_ns.value_or(0), paired.other_sum_ns.value_or(0)));
    case FindingKind::no_difference:
      return fmt::format(
          "No difference between {} and {}: {} {} by less than {}; {}.", base, paired.name,
          n == 1 ? "the one request" : fmt::format("all {} requests", n),
          n == 1 ? "changes" : "change", percent_text(min_effect_ppm), latencies(paired));
    default:
      return fmt::format("No request succeeds under both {} and {}: there is nothing to compare.",
                         base, paired.name);
  }
}

// Outcomes first where they differ, latencies of the rest behind.
Finding candidate(const Configuration& base, const Configuration& other, const Paired& paired,
                  std::int64_t min_effect_ppm) {
  Finding finding;
  const Outcomes outcomes = outcomes_of(base, other);
  const FindingKind kind = latency_kind(paired, min_effect_ppm);
  const std::string latency = latency_sentence(base.name, paired, kind, min_effect_ppm);
  finding.kind = kind;
  finding.headline = latency;
  if (outcomes.lost.all() + outcomes.won.all() == 0) {
    return finding;
  }
  const Lost& leading = outcomes.lost.all() > 0 ? outcomes.lost : outcomes.won;
  finding.kind = leading.rejected >= leading.all() - leading.rejected ? FindingKind::rejected
                                                                      : FindingKind::failed;
  std::vector<std::string> clauses;
  if (outcomes.lost.all() > 0) {
    clauses.push_back(lost_clause(other.name, base.name, outcomes.lost, outcomes.base_completes));
  }
  if (outcomes.won.all() > 0) {
    clauses.push_back(won_clause(other.name, base.name, outcomes.won));
  }
  finding.headline = fmt::format("{}.", fmt::join(clauses, "; "));
  if (paired.requests.empty()) {
    finding.details.push_back(latency);
  } else {
    finding.details.push_back(
        fmt::format("Of the {} that {} in both: {}", plural(std::ssize(paired.requests), "request"),
                    paired.requests.size() == 1 ? "succeeds" : "succeed", latency));
  }
  return finding;
}

// ---- nothing in groups ----

struct Groups {
  bool marking = false;  // some input was to be marked
  std::int64_t candidates = 0;
  std::int64_t marked = 0;
  std::map<std::string, std::int64_t> left;
  Wide work = 0;
  Wide work_in_groups = 0;
  Marking::Widest widest;
};

Groups groups_of(const std::vector<Input>& inputs) {
  Groups groups;
  for (const Input& input : inputs) {
    if (!input.marking) {
      continue;
    }
    groups.marking = true;
    groups.candidates += input.marking->candidates;
    groups.marked += input.marking->marked;
    groups.work += input.marking->work;
    groups.work_in_groups += input.marking->work_in_groups;
    for (const auto& [reason, count] : input.marking->left) {
      groups.left[reason] += count;
    }
    if (input.marking->widest && input.marking->widest->slots > groups.widest.slots) {
      groups.widest = *input.marking->widest;
    }
  }
  return groups;
}

std::string widest_text(const Groups& groups) {
  if (groups.widest.slots == 0) {
    return "";
  }
  return fmt::format("; the widest unit, {}, would run as one group of {} from {} slots on",
                     groups.widest.unit, plural(groups.widest.stages, "stage"),
                     groups.widest.slots);
}

std::string left_text(const Groups& groups) {
  std::vector<std::string> parts;
  for (const auto& [reason, count] : groups.left) {
    if (count > 0) {
      parts.push_back(fmt::format("{} {}", count, reason));
    }
  }
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

Wide share_ppm(Wide part, Wide whole) { return whole == 0 ? 0 : part * 1'000'000 / whole; }

bool below_share(Wide part, Wide whole) { return part * 100 < whole * groups_share_min_percent; }

// The first line of a comparison in which (almost) nothing runs pipelined; empty otherwise.
std::string nothing_in_groups(const Comparison& comparison, const std::vector<Input>& inputs) {
  const Groups groups = groups_of(inputs);
  std::int64_t slots = 0;
  std::int64_t edges = 0;
  Wide work = 0;
  Wide grouped = 0;
  std::int64_t without_work = 0;  // requests that may have had groups, and ended before they ran
  for (const Configuration& configuration : comparison.configurations) {
    slots = std::max(slots, configuration.slots_max);
    edges = std::max(edges, configuration.pipelined_edges);
    without_work += configuration.rejected + configuration.failed;
    if (work == 0 ||
        share_ppm(configuration.work_in_groups, configuration.work) > share_ppm(grouped, work)) {
      work = configuration.work;
      grouped = configuration.work_in_groups;
    }
  }
  if (groups.marking) {
    if (groups.marked > 0 && !below_share(groups.work_in_groups, groups.work)) {
      return "";
    }
    if (groups.candidates == 0) {
      return fmt::format("Nothing runs pipelined: the input has no edge that could be marked{}.",
                         widest_text(groups));
    }
    if (groups.marked == 0) {
      return fmt::format("Nothing runs pipelined on {}: none of {} was marked{}{}.",
                         plural(slots, "slot"), plural(groups.candidates, "candidate edge"),
                         left_text(groups), widest_text(groups));
    }
    return fmt::format(
        "Practically nothing runs pipelined on {}: {} of the work is in groups, "
        "{} of {} marked{}{}.",
        plural(slots, "slot"), share_text(groups.work_in_groups, groups.work), groups.marked,
        plural(groups.candidates, "candidate edge"), left_text(groups), widest_text(groups));
  }
  if (edges == 0) {
    return "Nothing runs pipelined: no edge of the input is marked.";
  }
  if (without_work == 0 && work > 0 && below_share(grouped, work)) {
    return fmt::format("Practically nothing runs pipelined on {}: {} of the work is in groups.",
                       plural(slots, "slot"), share_text(grouped, work));
  }
  return "";
}

// ---- what else to say ----

void add_extremes(std::vector<std::string>& details, const Paired& paired) {
  if (paired.requests.size() < 2 || paired.faster + paired.slower == 0) {
    return;
  }
  const auto [gain, loss] = std::ranges::minmax_element(paired.requests, gains_more);
  const auto text = [](const PairedRequest& pair) {
    return fmt::format("{} {}", pair.request, arrow(pair.base_ns, pair.other_ns));
  };
  if (paired.faster > 0 && paired.slower > 0) {
    details.push_back(fmt::format("Largest gain under {}: {}; largest loss: {}.", paired.name,
                                  text(*gain), text(*loss)));
  } else if (paired.faster > 0) {
    details.push_back(fmt::format("Largest gain under {}: {}.", paired.name, text(*gain)));
  } else {
    details.push_back(fmt::format("Largest loss under {}: {}.", paired.name, text(*loss)));
  }
}

void add_prices(std::vector<std::string>& details, const Configuration& configuration) {
  const Totals& totals = configuration.totals;
  const Wide price = totals.use(SlotUse::reserved_idle) + totals.use(SlotUse::drain_idle) +
                     totals.use(SlotUse::blocked);
  if (price > 0) {
    details.push_back(fmt::format(
        "Gang admission costs {} {} of its slot time: reserved {}, drained {}, blocked {}.",
        configuration.name, share_text(price, totals.slot_time),
        share_text(totals.use(SlotUse::reserved_idle), totals.slot_time),
        share_text(totals.use(SlotUse::drain_idle), totals.slot_time),
        share_text(totals.use(SlotUse::blocked), totals.slot_time)));
  }
}

void add_violations(std::vector<std::string>& details, const Comparison& comparison) {
  for (const Configuration& configuration : comparison.configurations) {
    if (!configuration.violations.empty()) {
      details.push_back(fmt::format("Do not trust {}: {} found in its run, first {}.",
                                    configuration.name,
                                    plural(std::ssize(configuration.violations), "violation"),
                                    configuration.violations.front().property));
    }
  }
}

Finding alone(const Configuration& only) {
  Finding finding;
  finding.headline = fmt::format("{} completes {} of {}.", only.name, only.latency.n,
                                 plural(std::ssize(only.requests), "request"));
  if (only.latency.p50_ns) {
    finding.headline = fmt::format("{} completes {} of {}: median latency {}, p90 {}.", only.name,
                                   only.latency.n, plural(std::ssize(only.requests), "request"),
                                   duration_text(*only.latency.p50_ns),
                                   duration_text(only.latency.p90_ns.value_or(0)));
  }
  return finding;
}

}  // namespace

Finding find(const Comparison& comparison, const std::vector<Input>& inputs) {
  const Configuration& base = comparison.configurations.front();
  Finding finding;
  std::vector<std::string> more;
  if (comparison.paired.empty()) {
    finding = alone(base);
  }
  for (std::size_t i = 0; i < comparison.paired.size(); ++i) {
    const Configuration& other = comparison.configurations[i + 1];
    Finding one = candidate(base, other, comparison.paired[i], comparison.min_effect_ppm);
    add_extremes(more, comparison.paired[i]);
    // Work that was refused or broke off must not count as done early.
    if (comparison.paired[i].same_set && base.makespan_ns > 0 && other.makespan_ns > 0) {
      more.push_back(fmt::format("Makespan under {}: {}.", other.name,
                                 arrow(base.makespan_ns, other.makespan_ns)));
    }
    if (i == 0) {
      finding = std::move(one);
    } else {
      finding.details.push_back(std::move(one.headline));
      std::ranges::move(one.details, std::back_inserter(finding.details));
    }
  }
  if (std::string nothing = nothing_in_groups(comparison, inputs); !nothing.empty()) {
    finding.details.insert(finding.details.begin(), std::move(finding.headline));
    finding.headline = std::move(nothing);
    finding.kind = FindingKind::nothing_in_groups;
  }
  std::vector<std::string> alarms;
  add_violations(alarms, comparison);
  finding.details.insert(finding.details.begin(), alarms.begin(), alarms.end());
  std::ranges::move(more, std::back_inserter(finding.details));
  for (const Configuration& configuration : comparison.configurations) {
    add_prices(finding.details, configuration);
  }
  return finding;
}

}  // namespace rehearse::reports
