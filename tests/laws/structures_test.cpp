// Laws of structures: the queue of events against a sorted set, percentiles against what the word
// means, pairs of latencies, scenario files and configurations that are written and read.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/axes.hpp"
#include "model/configuration_text.hpp"
#include "properties/gen/generate.hpp"
#include "reports/stats.hpp"
#include "sim/engine/radix_heap.hpp"
#include "tests/support/law.hpp"
#include "traces/scenario_json.hpp"

using namespace rehearse;
using testing::between;
using testing::holds;

namespace {

// One step of a program that drives the queue; every step makes sense at any time.
struct Step {
  enum class What : std::uint8_t { push, pop, pop_batch, copy, clear };
  What what = What::push;
  std::uint64_t ahead = 0;  // of the last time popped
  std::uint64_t key = 0;
};

rc::Gen<Step> some_step() {
  using enum Step::What;
  return rc::gen::exec([] {
    Step step;
    step.what = *rc::gen::weightedElement<Step::What>(
        {{60, push}, {25, pop}, {12, pop_batch}, {2, copy}, {1, clear}});
    // Many at one time, some near, some far over the borders of digits.
    const int spread = *rc::gen::element(0, 0, 1, 3, 6, 7, 13, 40, 62);
    step.ahead = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << spread);
    step.key = *rc::gen::inRange<std::uint64_t>(0, 50);
    return step;
  });
}

// The sorted set and the queue, side by side.
struct Both {
  sim::RadixHeap heap;
  std::multiset<sim::Event> sorted;
  std::uint64_t last = 0;

  void take(const Step& step) {
    switch (step.what) {
      case Step::What::push: {
        const sim::Event event{std::min(last + step.ahead, (std::uint64_t{1} << 63) - 1), step.key};
        heap.push(event);
        sorted.insert(event);
        break;
      }
      case Step::What::pop:
        if (!sorted.empty()) {
          last = sorted.begin()->time;
          RC_ASSERT(heap.pop() == *sorted.begin());
          sorted.erase(sorted.begin());
        }
        break;
      case Step::What::pop_batch:
        if (!sorted.empty()) {
          last = sorted.begin()->time;
          std::vector<sim::Event> batch;
          heap.pop_batch(last, batch);
          const auto end = std::ranges::find_if(
              sorted, [this](const sim::Event& event) { return event.time != last; });
          RC_ASSERT(batch == std::vector<sim::Event>(sorted.begin(), end));
          sorted.erase(sorted.begin(), end);
        }
        break;
      case Step::What::copy: {
        sim::RadixHeap copy = heap;
        heap.clear();
        heap = copy;
        break;
      }
      case Step::What::clear:
        heap.clear();
        sorted.clear();
        last = 0;
        break;
    }
    RC_ASSERT(heap.size() == sorted.size());
    std::optional<std::uint64_t> first;
    if (!sorted.empty()) {
      first = sorted.begin()->time;
    }
    RC_ASSERT(heap.peek_time() == first);
  }
};

std::int64_t count_if_below(const std::vector<std::int64_t>& values, std::int64_t limit) {
  return std::ranges::count_if(values, [limit](std::int64_t value) { return value < limit; });
}

rc::Gen<std::int64_t> some_value(std::int64_t most) {
  return rc::gen::inRange<std::int64_t>(0, most + 1);
}

reports::PairedRequest some_pair(const std::string& name) {
  return {name, between(0, 1000), between(0, 1000)};
}

// A drawn scenario as a reader has it: its names in the order of the file.
model::Scenario some_file(const properties::GenOptions& options) {
  const auto seed = static_cast<std::uint64_t>(between(0, 1'000'000));
  const std::string text = traces::write_scenario(properties::generate(options, seed));
  auto back = traces::read_scenario(text, "drawn.json");
  RC_ASSERT(back.has_value());
  RC_ASSERT(traces::write_scenario(*back) == text);
  return std::move(*back);
}

void change_something(model::Scenario& scenario) {
  const std::int64_t ns = between(0, 1'000'000'000);
  model::JobSpec& job = between(0, 1) == 0 ? scenario.jobs.front() : scenario.jobs.back();
  model::StageSpec& stage = job.stages.back();
  switch (*rc::gen::inRange(0, 11)) {
    case 0:
      scenario.seed = static_cast<std::uint64_t>(ns);
      break;
    case 1:
      job.priority = ns;
      break;
    case 2:
      job.submit = job.after.empty() ? ns : job.submit;
      break;
    case 3:
      job.resubmit = 3;
      job.backoff = ns;
      break;
    case 4:
      job.repeat_count = 2 + static_cast<std::int32_t>(ns % 7);
      job.repeat_every = ns;
      break;
    case 5:
      stage.duration = model::fixed_distribution(ns);
      break;
    case 6:
      stage.checkpoint = model::Checkpoint::local;
      break;
    case 7:
      scenario.cluster.overheads.kill = model::fixed_distribution(ns);
      break;
    case 8:
      scenario.horizon = ns;
      break;
    case 9:
      scenario.scheduler.failure.resubmit_delay = ns;
      break;
    default:
      stage.estimate = ns;
      break;
  }
}

}  // namespace

TEST_CASE("the queue of events") {
  holds({.says = "it gives what a sorted set gives", .cases = 1500, .size_max = 250}, [] {
    const auto program = *rc::gen::container<std::vector<Step>>(some_step());
    Both both;
    for (const Step& step : program) {
      both.take(step);
    }
    while (!both.sorted.empty()) {
      both.take({.what = Step::What::pop});
    }
  });
}

TEST_CASE("percentiles") {
  holds({.says = "p percent are not above it, and not as many are below"}, [] {
    auto values = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::int64_t>>(some_value(50)));
    std::ranges::sort(values);
    const std::int64_t percent = between(1, 100);
    const auto found = reports::percentile(values, percent);
    RC_ASSERT(found.has_value());
    const std::int64_t wanted = percent * std::ssize(values);
    RC_ASSERT(100 * count_if_below(values, *found + 1) >= wanted);
    RC_ASSERT(100 * count_if_below(values, *found) < wanted);
  });
  holds({.says = "the order is no matter, and what is added to all is added to each statistic"},
        [] {
          const auto values =
              *rc::gen::nonEmpty(rc::gen::container<std::vector<std::int64_t>>(some_value(5000)));
          const std::int64_t more = between(0, 1'000'000);
          std::vector<std::int64_t> shifted = values;
          std::ranges::reverse(shifted);
          for (std::int64_t& value : shifted) {
            value += more;
          }
          const reports::Dist one = reports::distribution(values, 3);
          const reports::Dist other = reports::distribution(shifted, 3);
          RC_ASSERT(other.n == std::ssize(values));
          RC_ASSERT(other.censored == 3);
          RC_ASSERT(*other.p50_ns == *one.p50_ns + more);
          RC_ASSERT(*other.p90_ns == *one.p90_ns + more);
          RC_ASSERT(*other.p95_ns == *one.p95_ns + more);
          RC_ASSERT(*other.p99_ns == *one.p99_ns + more);
          RC_ASSERT(*other.mean_ns == *one.mean_ns + more);
          RC_ASSERT(*other.max_ns == *one.max_ns + more);
          const std::int64_t sum = std::accumulate(values.begin(), values.end(), std::int64_t{0});
          const std::int64_t twice_off = 2 * (*one.mean_ns * one.n - sum);
          RC_ASSERT(twice_off <= one.n);
          RC_ASSERT(twice_off > -one.n);
          RC_ASSERT(*one.p50_ns <= *one.p90_ns);
          RC_ASSERT(*one.p99_ns <= *one.max_ns);
        });
}

TEST_CASE("pairs of latencies") {
  holds({.says = "swapped configurations swap faster and slower and keep the same"}, [] {
    const reports::PairedRequest pair = some_pair("q");
    const reports::PairedRequest swapped{"q", pair.other_ns, pair.base_ns};
    const std::int64_t effect = between(0, 900'000);
    using enum reports::Change;
    const reports::Change one = reports::change_of(pair, effect);
    const reports::Change other = reports::change_of(swapped, effect);
    RC_ASSERT((one == same) == (other == same));
    RC_ASSERT((one == faster) == (other == slower));
    RC_ASSERT(one != faster || pair.other_ns < pair.base_ns);
  });
  holds({.says = "the order by gain is an order"}, [] {
    const reports::PairedRequest a = some_pair("a");
    const reports::PairedRequest b = some_pair(*rc::gen::element<std::string>("a", "b"));
    const reports::PairedRequest c = some_pair("c");
    RC_ASSERT(!reports::gains_more(a, a));
    RC_ASSERT(!(reports::gains_more(a, b) && reports::gains_more(b, a)));
    RC_ASSERT(!(reports::gains_more(a, b) && reports::gains_more(b, c)) ||
              reports::gains_more(a, c));
    RC_ASSERT(reports::gains_more(a, c) || reports::gains_more(c, a));
  });
}

TEST_CASE("files") {
  properties::GenOptions options;
  options.drawn = properties::DrawnAxes::all;
  holds({.says = "a scenario is read back as it was, whatever stands between its tokens",
         .cases = 300},
        [&options] {
          const model::Scenario back = some_file(options);
          const std::string text = traces::write_scenario(back);
          std::string spaced;
          for (const char c : text) {
            spaced += c;
            spaced += c == '\n' ? "\t// \"a\": {\n\n /* ] */ " : "";
          }
          const auto other = traces::read_scenario(spaced, "drawn.json");
          RC_ASSERT(other.has_value());
          RC_ASSERT(traces::same_scenario(*other, back));
        });
  holds({.says = "a number that is changed is written and read as it is", .cases = 600},
        [&options] {
          model::Scenario scenario = some_file(options);
          change_something(scenario);
          const auto back = traces::read_scenario(traces::write_scenario(scenario), "drawn.json");
          RC_ASSERT(back.has_value());
          RC_ASSERT(traces::same_scenario(*back, scenario));
        });
  holds({.says = "a configuration is read back as it was", .cases = 1000}, [&options] {
    const auto seed = static_cast<std::uint64_t>(between(0, 1'000'000));
    model::Scenario scenario = properties::generate(options, seed);
    const std::string text = model::configuration_text(scenario.scheduler, scenario.names);
    const auto parsed = model::parse_configuration(text);
    RC_ASSERT(parsed.has_value());
    const auto back = model::resolve_configuration(*parsed, scenario.names);
    RC_ASSERT(back.has_value());
    RC_ASSERT(model::configuration_text(*back, scenario.names) == text);
    RC_ASSERT(model::resolved_axes(*back, scenario.names) ==
              model::resolved_axes(scenario.scheduler, scenario.names));
  });
}
