// The finding in words: each kind has its sentence, and swapping the configurations swaps it.
#include <doctest/doctest.h>

#include "tests/support/report_comparison.hpp"

namespace {

using namespace rehearse;
using namespace rehearse::reports;
using tests::comparison_of;
using tests::Fate;

bool has(const Finding& finding, std::string_view text) {
  return finding.text().find(text) != std::string::npos;
}

Input marked_input(std::int64_t candidates, std::int64_t marked, std::int64_t in_groups) {
  Input input;
  input.path = "logs/q72.zstd";
  input.format = "spark-event-log";
  input.marking = Marking{.unit = "sql",
                          .candidates = candidates,
                          .marked = marked,
                          .left = {{"too-wide", candidates - marked}},
                          .work = 1000,
                          .work_in_groups = in_groups,
                          .narrowed = {},
                          .widest = Marking::Widest{"q72", 6, 1419}};
  return input;
}

const std::vector<Fate> slow = {{"a", 100}, {"b", 50}, {"c", 10}};
const std::vector<Fate> fast = {{"a", 80}, {"b", 40}, {"c", 8}};

TEST_CASE("faster, and slower when swapped") {
  const Finding finding = comparison_of(slow, fast).finding;
  CHECK_EQ(finding.kind, FindingKind::faster);
  CHECK_EQ(finding.headline,
           "psd is faster than sequential for all 3 requests: median latency 50.0 s -> 40.0 s "
           "(-20.0%), p90 100 s -> 80.0 s (-20.0%).");
  const Finding swapped = comparison_of(slow, fast, true).finding;
  CHECK_EQ(swapped.kind, FindingKind::slower);
  CHECK_EQ(swapped.headline,
           "sequential is slower than psd for all 3 requests: median latency 40.0 s -> 50.0 s "
           "(+25.0%), p90 80.0 s -> 100 s (+25.0%).");
}

TEST_CASE("slower, and faster when swapped") {
  const Finding finding = comparison_of(fast, slow).finding;
  CHECK_EQ(finding.kind, FindingKind::slower);
  CHECK(finding.headline.starts_with("psd is slower than sequential for all 3 requests"));
  CHECK_EQ(comparison_of(fast, slow, true).finding.kind, FindingKind::faster);
}

TEST_CASE("no difference, either way round") {
  for (const bool swapped : {false, true}) {
    const Finding finding = comparison_of(slow, slow, swapped).finding;
    CHECK_EQ(finding.kind, FindingKind::no_difference);
    CHECK(finding.headline.starts_with("No difference between "));
    CHECK(has(finding, "all 3 requests change by less than 1%"));
  }
}

TEST_CASE("rejected, and completed when swapped") {
  const std::vector<Fate> rejecting = {{"a", 80}, {"b", 40}, {"c", 0, Outcome::rejected}};
  const Finding finding = comparison_of(slow, rejecting).finding;
  CHECK_EQ(finding.kind, FindingKind::rejected);
  CHECK_EQ(finding.headline,
           "psd rejects 1 of 3 requests that sequential completes (c: INSUFFICIENT_SLOTS).");
  CHECK(finding.details[0].starts_with(
      "Of the 2 requests that succeed in both: psd is faster than sequential for all 2 requests"));
  const Finding swapped = comparison_of(slow, rejecting, true).finding;
  CHECK_EQ(swapped.headline,
           "sequential completes 1 request that psd rejects (c: INSUFFICIENT_SLOTS).");
}

TEST_CASE("failed, and completed when swapped") {
  const std::vector<Fate> failing = {
      {"a", 1, Outcome::failed}, {"b", 2, Outcome::failed}, {"c", 8}};
  const Finding finding = comparison_of(slow, failing).finding;
  CHECK_EQ(finding.kind, FindingKind::failed);
  CHECK_EQ(finding.headline,
           "psd fails 2 of 3 requests that sequential completes (first a: EXECUTOR_LOST).");
  const Finding swapped = comparison_of(slow, failing, true).finding;
  CHECK_EQ(swapped.headline,
           "sequential completes 2 requests that psd fails (first a: EXECUTOR_LOST).");
}

TEST_CASE("different fates are counted apart") {
  const std::vector<Fate> bad = {
      {"a", 1, Outcome::failed}, {"b", 0, Outcome::rejected}, {"c", 0, Outcome::unfinished}};
  const Finding finding = comparison_of(slow, bad).finding;
  CHECK_EQ(finding.headline,
           "psd does not complete all 3 requests that sequential completes: 1 rejected, 1 failed, "
           "1 unfinished (first a: EXECUTOR_LOST).");
  CHECK(has(finding, "No request succeeds under both sequential and psd"));
}

TEST_CASE("nothing marked: the first line says so, with the slots of the widest unit") {
  const std::vector<Input> inputs = {marked_input(12, 0, 0)};
  for (const bool swapped : {false, true}) {
    const Finding finding = comparison_of(slow, slow, swapped, inputs).finding;
    CHECK_EQ(finding.kind, FindingKind::nothing_in_groups);
    CHECK_EQ(finding.headline,
             "Nothing runs pipelined on 6 slots: none of 12 candidate edges was marked (12 "
             "too-wide); the widest unit, q72, would run as one group of 6 stages from 1419 slots "
             "on.");
    CHECK(finding.details[0].starts_with("No difference between "));
  }
}

TEST_CASE("less than 5% of the work in groups counts as practically nothing") {
  const Finding below = comparison_of(slow, fast, false, {marked_input(12, 2, 49)}).finding;
  CHECK_EQ(below.kind, FindingKind::nothing_in_groups);
  CHECK(below.headline.starts_with(
      "Practically nothing runs pipelined on 6 slots: 4.9% of the work is in groups, 2 of 12 "
      "candidate edges marked"));
  CHECK(below.details[0].starts_with("psd is faster than sequential"));
  const Finding enough = comparison_of(slow, fast, false, {marked_input(12, 2, 50)}).finding;
  CHECK_EQ(enough.kind, FindingKind::faster);
}

TEST_CASE("without marking the journal decides whether anything runs pipelined") {
  const Finding finding = comparison_of(slow, fast, false, {}, {}, false).finding;
  CHECK_EQ(finding.kind, FindingKind::nothing_in_groups);
  CHECK_EQ(finding.headline, "Nothing runs pipelined: no edge of the input is marked.");
}

TEST_CASE("mixed is said with its numbers") {
  const std::vector<Fate> mixed = {{"a", 60}, {"b", 80}, {"c", 10}};
  const Finding finding = comparison_of(slow, mixed).finding;
  CHECK_EQ(finding.kind, FindingKind::mixed);
  CHECK_EQ(finding.headline,
           "psd against sequential is mixed over 3 requests: 1 faster, 1 slower, 1 within 1%; "
           "median latency 50.0 s -> 60.0 s (+20.0%), p90 100 s -> 80.0 s (-20.0%); all latencies "
           "together -6.3%.");
  CHECK(has(finding,
            "Largest gain under psd: a 100 s -> 60.0 s (-40.0%); largest loss: b 50.0 s "
            "-> 80.0 s (+60.0%)."));
  CHECK_EQ(comparison_of(slow, mixed, true).finding.kind, FindingKind::mixed);
}

TEST_CASE("an even split is never a win of either side") {
  const std::vector<Fate> base = {{"a", 100}, {"b", 100}, {"c", 100}, {"d", 100}};
  const std::vector<Fate> other = {{"a", 80}, {"b", 80}, {"c", 120}, {"d", 120}};
  CHECK_EQ(comparison_of(base, other).finding.kind, FindingKind::mixed);
  CHECK_EQ(comparison_of(base, other, true).finding.kind, FindingKind::mixed);
}

TEST_CASE("violations are said before anything else that is detail") {
  std::vector<ConfigurationRuns> configurations;
  configurations.push_back(tests::configuration("sequential", slow, false));
  configurations.push_back(tests::configuration("psd", fast, true));
  configurations[1].violations.push_back({"GANG", 5, "half a group"});
  const Finding finding = compare(std::move(configurations), {}, {}).finding;
  CHECK_EQ(finding.details[0], "Do not trust psd: 1 violation found in its run, first GANG.");
}

TEST_CASE("one configuration alone is described, several others each get their sentence") {
  std::vector<ConfigurationRuns> one;
  one.push_back(tests::configuration("psd", fast, true));
  const Finding alone = compare(std::move(one), {}, {}).finding;
  CHECK_EQ(alone.headline, "psd completes 3 of 3 requests: median latency 40.0 s, p90 80.0 s.");
  std::vector<ConfigurationRuns> three;
  three.push_back(tests::configuration("sequential", slow, false));
  three.push_back(tests::configuration("psd", fast, true));
  three.push_back(tests::configuration("spark", slow, true));
  const Finding several = compare(std::move(three), {}, {}).finding;
  CHECK(several.headline.starts_with("psd is faster than sequential"));
  CHECK(several.details[0].starts_with("No difference between sequential and spark"));
}

}  // namespace
