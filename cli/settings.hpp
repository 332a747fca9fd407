// What the shared options say, read and checked (cli.md, Options shared by all that simulate).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "model/configuration_text.hpp"
#include "model/support/error.hpp"
#include "model/support/event_types.hpp"
#include "model/support/time.hpp"
#include "reports/fail_if.hpp"
#include "traces/load_options.hpp"
#include "traces/marking.hpp"
#include "traces/to_scenario.hpp"

namespace rehearse::cli {

enum class ColorWhen : std::uint8_t { automatic, always, never };

// Parts per million: 1'000'000 = as it is.
inline constexpr std::int64_t scale_one_ppm = 1'000'000;

struct Settings {
  // results
  std::optional<std::string> output;
  bool json = false;
  bool quiet = false;
  ColorWhen color = ColorWhen::automatic;
  std::int64_t listed_max = 100'000;

  // reading
  traces::LoadOptions load;
  std::optional<std::string> select;  // the expression behind job~
  std::optional<std::int64_t> jobs_max;
  std::int64_t time_scale_ppm = scale_one_ppm;
  std::int64_t load_scale_ppm = scale_one_ppm;
  traces::MarkingOptions marking;
  std::optional<traces::Unit> by;  // not given: sql when marking, else job
  traces::Delays delays = traces::Delays::model;
  traces::Arrivals arrivals = traces::Arrivals::after;

  // simulating
  std::optional<model::ConfigurationText> dialect;
  std::vector<model::AxisOverride> overrides;  // --set and --policy, each in the order given
  std::optional<std::string> cluster;
  std::optional<model::Timing> timing;
  std::optional<std::uint64_t> seed;
  std::optional<model::Instant> horizon;
  std::optional<std::string> journal;
  int threads = 1;

  // fuzz
  std::optional<std::int64_t> campaign_runs;
  std::optional<std::string> corpus;

  // mutants
  std::vector<std::string> mutants;  // --only; none: all
  std::vector<std::string> without;
  std::string tests = "tests";
  std::optional<std::string> shrink;  // the folder for what campaigns find
  bool campaign_only = false;
  bool oracle = false;

  // explain
  std::string job;

  // explore
  int faults_max = 1;
  std::int64_t states_max = 10'000'000;
  std::optional<model::Duration> time;  // of the wall clock; fuzz, too

  // compare
  std::vector<model::ConfigurationText> with;
  std::int64_t min_effect_ppm = 10'000;
  std::vector<reports::FailRule> fail_if;

  [[nodiscard]] traces::Unit unit() const;
};

// Errors name the option, what was seen and what is expected.
[[nodiscard]] model::Result<Settings> read_settings(const CommandLine& line);

}  // namespace rehearse::cli
