// idiom_runs --code CODE [--read inside|outside] [--rerun yes] [--first SEED] [--runs N]: random
// scenarios under psd without the check of this code, with the idiom switched on wherever it can
// be, under every monitor. One line of figures, `CODE key=value ...`; exit 1 if a run shows what it
// must not, or if the campaign shows nothing because it never got there. docs/idioms.md says what
// for.
//
// INDETERMINATE_PRODUCER, CHECKSUM_RETRY: each run is run again without the idiom. The two journals
// differ exactly when its machinery has done something (fired). `early`: before any group with the
// idiom in it had committed. `control`: the same in every fourth scenario with all edges regular.
// SPECULATION: copies of members' tasks, and of others. DYNAMIC_ALLOCATION: of scenarios whose
// cluster scales by itself; groups that fail once all faults are taken out.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "properties/gen/generate.hpp"
#include "tests/idioms/features.hpp"

namespace {

using namespace rehearse;
using model::Code;
using testing::Read;
using testing::run_watched;
using testing::Shown;
using testing::switch_off;
using testing::switch_on;

struct Options {
  Code code = Code::indeterminate_producer;
  Read read = Read::inside;
  bool rerun = false;
  std::uint64_t first = 1;
  std::int64_t runs = 1000;
};

struct Figures {
  std::int64_t runs = 0;
  std::int64_t groups = 0;
  std::int64_t again = 0;
  std::int64_t failed = 0;
  std::int64_t broken = 0;  // runs in which a promised property broke
  std::int64_t fired = 0;   // runs
  std::int64_t early = 0;
  std::int64_t control_runs = 0;
  std::int64_t control = 0;
  std::int64_t copies = 0;
  std::int64_t others = 0;
  std::int64_t left = 0;
  std::int64_t failed_alone = 0;  // groups, without any fault
};

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = arguments[i];
    const std::string value = arguments[i + 1];
    if (name == "--code") {
      options.code = model::parse_enum<Code>(value).value();
    } else if (name == "--read") {
      options.read = value == "outside" ? Read::outside : Read::inside;
    } else if (name == "--rerun") {
      options.rerun = value == "yes";
    } else if (name == "--first") {
      options.first = std::stoull(value);
    } else if (name == "--runs") {
      options.runs = std::stoll(value);
    } else {
      throw std::invalid_argument("unknown option " + std::string(name));
    }
  }
  return options;
}

// psd without the check; of the rest what `rehearse fuzz --dialect psd` draws.
properties::GenOptions mix_of(const Options& options) {
  properties::GenOptions mix;
  std::erase(mix.scheduler.reject, options.code);
  mix.kept = {"reject"};
  if (options.rerun) {
    mix.scheduler.failure.group = model::GroupFailure::rerun_group;
    mix.scheduler.failure.rerun_max = 3;
    mix.scheduler.failure.rerun_delay = model::millisecond;
  }
  if (options.code == Code::speculation) {
    mix.scheduler.speculation = model::SpeculationConfig{.quantile_milli = 300,
                                                         .multiplier_milli = 1000,
                                                         .min_runtime = 0,
                                                         .interval = model::millisecond};
    mix.kept.insert(mix.kept.end(), {"speculation", "max_partitions_per_task"});
  }
  return mix;
}

void add(Figures& sum, const Shown& shown, std::uint64_t seed) {
  ++sum.runs;
  sum.groups += shown.groups;
  sum.again += shown.again;
  sum.failed += shown.failed;
  sum.copies += shown.copies;
  sum.others += shown.others;
  if (!shown.violations.empty()) {
    ++sum.broken;
    const model::Violation& first = shown.violations.front();
    fmt::print("seed {}: {} at {} ns: {}\n", seed, first.property, first.t, first.detail);
  }
}

// Where two journals part, and whether a group with the idiom had committed before.
struct Parting {
  std::string on;
  std::string off;
  bool early = true;
};

Parting parting_of(const Shown& on, const Shown& off) {
  const auto at =
      static_cast<std::size_t>(std::ranges::mismatch(on.lines, off.lines).in1 - on.lines.begin());
  return {.on = at < on.lines.size() ? on.lines[at] : "the end",
          .off = at < off.lines.size() ? off.lines[at] : "the end",
          .early = at == 0 || !on.committed[at - 1]};
}

bool differs(const model::Scenario& on, const model::Scenario& off, const testing::Watch& watch) {
  return run_watched(on, watch).hash != run_watched(off, watch).hash;
}

void run_control(const Options& options, model::Scenario on, Figures& sum) {
  on.scheduler.edges = model::EdgesAxis::all_regular;
  switch_on(on, options.code, Read::any);
  model::Scenario off = on;
  switch_off(off, options.code);
  ++sum.control_runs;
  sum.control += differs(on, off, {.carriers = {}, .checksums = true}) ? 1 : 0;
}

// A committed group that runs again is undone as a whole if one member is indeterminate, whoever of
// it is read outside (X10, decision 5).
bool may_fire_after_commit(const Options& options) {
  return options.read == Read::outside || options.code == Code::indeterminate_producer;
}

void run_moot(const Options& options, model::Scenario on, std::uint64_t seed, Figures& sum) {
  constexpr std::uint64_t control_one_in = 4;
  if (seed % control_one_in == 0) {
    run_control(options, on, sum);
  }
  testing::Watch watch{.carriers = switch_on(on, options.code, options.read),
                       .judge = true,
                       .lines = false,
                       .checksums = options.code == Code::checksum_retry};
  if (watch.carriers.empty()) {
    return;
  }
  const Shown shown = run_watched(on, watch);
  add(sum, shown, seed);
  model::Scenario off = on;
  switch_off(off, options.code);
  watch.judge = false;
  if (run_watched(off, watch).hash == shown.hash) {
    return;
  }
  ++sum.fired;
  watch.lines = true;
  const Parting parting = parting_of(run_watched(on, watch), run_watched(off, watch));
  sum.early += parting.early ? 1 : 0;
  if (parting.early || !may_fire_after_commit(options)) {
    fmt::print("seed {}: the idiom changes the journal:\n  {}\n  {}\n", seed, parting.on,
               parting.off);
  }
}

void run_scaled(model::Scenario scenario, std::uint64_t seed, Figures& sum) {
  if (!scenario.cluster.autoscale) {
    return;
  }
  add(sum, run_watched(scenario, {.carriers = {}, .judge = true}), seed);
  scenario.faults = {};
  const Shown alone = run_watched(scenario, {.carriers = {}, .judge = false});
  sum.failed_alone += alone.failed;
  sum.left += alone.left;
}

Figures run_all(const Options& options) {
  Figures sum;
  const properties::GenOptions mix = mix_of(options);
  for (std::uint64_t seed = options.first; sum.runs < options.runs; ++seed) {
    model::Scenario scenario = properties::generate(mix, seed);
    if (options.code == Code::dynamic_allocation) {
      run_scaled(std::move(scenario), seed, sum);
    } else if (options.code == Code::speculation) {
      add(sum, run_watched(scenario, {.carriers = {}, .judge = true}), seed);
    } else {
      run_moot(options, std::move(scenario), seed, sum);
    }
  }
  return sum;
}

// What the campaign shows, and whether it is what must be.
bool report(const Options& options, const Figures& sum) {
  std::string line =
      fmt::format("{} first={} runs={} groups={} failed={} broken={}", model::name_of(options.code),
                  options.first, sum.runs, sum.groups, sum.failed, sum.broken);
  bool good = sum.broken == 0 && sum.groups > 0 && sum.failed > 0;
  if (options.code == Code::dynamic_allocation) {
    line += fmt::format(" left={} failed_alone={}", sum.left, sum.failed_alone);
    good = good && sum.left > 0 && sum.failed_alone == 0;
  } else if (options.code == Code::speculation) {
    line += fmt::format(" copies={} others={}", sum.copies, sum.others);
    good = good && sum.copies == 0 && sum.others > 0;
  } else {
    line += fmt::format(" read={} group={} again={} fired={} early={} control={}/{}",
                        options.read == Read::outside ? "outside" : "inside",
                        options.rerun ? "rerun-group" : "fail-job", sum.again, sum.fired, sum.early,
                        sum.control, sum.control_runs);
    good = good && sum.early == 0 && sum.control > 0 &&
           (sum.fired == 0 || may_fire_after_commit(options));
  }
  fmt::print("{}\n", line);
  return good;
}

}  // namespace

int main(int count, char** arguments) try {
  const Options options = read_options(count, arguments);
  return report(options, run_all(options)) ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
