// One reading function per kind of value; the table of options says which exist.
#include "cli/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <thread>

#include "model/support/units.hpp"
#include "reports/registry.hpp"

namespace rehearse::cli {
namespace {

using model::Error;
using model::Result;

constexpr std::int64_t threads_max = 1024;

std::unexpected<Error> refuse(std::string_view option, std::string what, std::string remedy) {
  return std::unexpected(
      Error{.what = std::move(what), .field = std::string(option), .remedy = std::move(remedy)});
}

// Reads options one after another and keeps the first error.
class Reader {
 public:
  explicit Reader(const CommandLine& line) : line_(line) {}

  // parse(text) -> Result<T>; its error is said to be the option's.
  template <class T, class Parse>
  void take(std::string_view option, T& target, Parse parse) {
    const auto text = line_.value(option);
    if (!text || error_) {
      return;
    }
    auto value = parse(*text);
    if (!value) {
      fail(option, std::move(value.error()));
      return;
    }
    target = std::move(*value);
  }
  template <class T, class Parse>
  void take_all(std::string_view option, std::vector<T>& target, Parse parse) {
    for (const std::string& text : line_.values(option)) {
      if (error_) {
        return;
      }
      auto value = parse(text);
      if (!value) {
        fail(option, std::move(value.error()));
        return;
      }
      target.push_back(std::move(*value));
    }
  }
  void fail(std::string_view option, Error error) {
    if (!error_) {
      error.field =
          error.field.empty() ? std::string(option) : fmt::format("{}: {}", option, error.field);
      error_ = std::move(error);
    }
  }
  [[nodiscard]] bool has(std::string_view option) const { return line_.has(option); }
  [[nodiscard]] std::optional<Error> error() && { return std::move(error_); }

 private:
  const CommandLine& line_;
  std::optional<Error> error_;
};

struct Bounds {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

Result<std::int64_t> parse_count(std::string_view text, const Bounds& bounds) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < bounds.min ||
      value > bounds.max) {
    return refuse("", fmt::format("\"{}\" is no integer from {} on", text, bounds.min),
                  fmt::format("as in {}", std::max<std::int64_t>(bounds.min, 4)));
  }
  return value;
}

// A positive decimal in parts per million.
Result<std::int64_t> parse_scale(std::string_view text) {
  const auto value = model::parse_decimal(text, scale_one_ppm);
  if (!value || *value <= 0 || *value > 1'000'000 * scale_one_ppm) {
    return refuse("", fmt::format("\"{}\" is no number above 0", text), "as in 0.5 or 2");
  }
  return *value;
}

Result<std::int64_t> parse_percent(std::string_view text) {
  constexpr std::int64_t ppm_per_percent = 10'000;
  std::string_view number = text;
  const bool sign = number.ends_with("%");
  if (sign) {
    number.remove_suffix(1);
  }
  const auto value = model::parse_decimal(number, ppm_per_percent);
  if (!sign || !value || *value < 0) {
    return refuse("", fmt::format("\"{}\" is no percentage", text), "as in 1% or 0.5%");
  }
  return *value;
}

template <class E>
Result<E> parse_choice(std::string_view text) {
  if (const auto value = model::parse_enum<E>(text)) {
    return *value;
  }
  const auto& texts = model::EnumNames<E>::texts;
  const std::string near = model::nearest_name(text, texts.data(), texts.data() + texts.size());
  return refuse("", fmt::format("\"{}\" is none of {}", text, fmt::join(texts, ", ")),
                near.empty() ? "" : fmt::format("did you mean {}?", near));
}

Result<ColorWhen> parse_color(std::string_view text) {
  if (text == "auto") {
    return ColorWhen::automatic;
  }
  if (text == "always" || text == "never") {
    return text == "always" ? ColorWhen::always : ColorWhen::never;
  }
  return refuse("", fmt::format("\"{}\" is none of auto, always, never", text), "");
}

// "queue=fifo" is short for "admission.queue=fifo".
Result<model::AxisOverride> parse_policy(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> kinds[] = {
      {"queue", "admission.queue"},
      {"overtake", "admission.overtake"},
      {"placement", "placement"},
      {"start", "start"}};
  const std::size_t equals = text.find('=');
  const std::string_view kind = text.substr(0, std::min(equals, text.size()));
  for (const auto& [name, axis] : kinds) {
    if (equals != std::string_view::npos && kind == name) {
      return model::parse_override(fmt::format("{}{}", axis, text.substr(equals)));
    }
  }
  return refuse("", fmt::format("\"{}\" is no KIND=NAME", text),
                "kinds are queue, overtake, placement, start");
}

Result<std::string> parse_select(std::string_view text) {
  constexpr std::string_view field = "job~";
  if (!text.starts_with(field) || text.size() == field.size()) {
    return refuse("", fmt::format("\"{}\" is no selection", text), "write 'job~REGEX'");
  }
  // The reader of patterns knows what is wrong with one.
  if (auto checked = traces::parse_pipelined(fmt::format("match:{}", text.substr(field.size())));
      !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  return std::string(text.substr(field.size()));
}

void read_results(Reader& reader, const CommandLine& line, Settings& settings) {
  settings.output = line.value("--output");
  settings.json = line.has("--json");
  settings.quiet = line.has("--quiet");
  reader.take("--color", settings.color, parse_color);
  reader.take("--max-listed", settings.listed_max,
              [](const std::string& text) { return parse_count(text, {}); });
  if (settings.output && line.verb->name != "compare" &&
      reports::writer_for(*settings.output).name == "html") {
    reader.fail("--output", {.what = "a page is made of comparisons only",
                             .remedy = "give a name that ends in .json or .txt"});
  }
}

void read_reading(Reader& reader, const CommandLine& line, Settings& settings) {
  settings.load.strict = line.has("--strict");
  settings.load.lossy = line.has("--lossy");
  settings.load.partial = line.has("--partial");
  if (line.has("--strict") && line.has("--lenient")) {
    reader.fail("--strict", {.what = "contradicts --lenient", .remedy = "give one of them"});
  }
  reader.take("--select", settings.select, parse_select);
  reader.take("--max-jobs", settings.jobs_max,
              [](const std::string& text) { return parse_count(text, {.min = 1}); });
  reader.take("--time-scale", settings.time_scale_ppm, parse_scale);
  reader.take("--load-scale", settings.load_scale_ppm, parse_scale);
  reader.take("--pipelined", settings.marking, traces::parse_pipelined);
  reader.take("--too-wide", settings.marking.too_wide, traces::parse_too_wide);
  reader.take("--fit-share", settings.marking.fit_share_milli,
              [](const std::string& text) -> Result<std::int64_t> {
                const auto share = model::parse_decimal(text, 1000);
                if (!share || *share < 1 || *share > 1000) {
                  return refuse("", fmt::format("\"{}\" is no share", text),
                                "a number above 0 and at most 1, as in 0.5");
                }
                return *share;
              });
  reader.take("--by", settings.by, parse_choice<traces::Unit>);
  reader.take("--delays", settings.delays, parse_choice<traces::Delays>);
  reader.take("--arrivals", settings.arrivals, parse_choice<traces::Arrivals>);
}

// The hash of a commit as a number that JSON holds: its first 16 digits without the topmost bit.
std::optional<std::uint64_t> commit_seed(std::string_view text) {
  constexpr std::size_t digits = 40;
  constexpr std::size_t digits_used = 16;
  if (text.size() != digits ||
      text.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  const std::string used(text.substr(0, digits_used));
  std::from_chars(used.data(), used.data() + used.size(), value, 16);
  return value & ~(std::uint64_t{1} << 63U);
}

void read_simulating(Reader& reader, const CommandLine& line, Settings& settings) {
  reader.take("--dialect", settings.dialect, model::parse_configuration);
  reader.take_all("--set", settings.overrides, model::parse_override);
  reader.take_all("--policy", settings.overrides, parse_policy);
  settings.cluster = line.value("--cluster");
  reader.take("--timing", settings.timing, parse_choice<model::Timing>);
  const bool fuzzes = line.verb->name == "fuzz";
  reader.take("--seed", settings.seed, [fuzzes](const std::string& text) -> Result<std::uint64_t> {
    if (const auto commit = fuzzes ? commit_seed(text) : std::nullopt) {
      return *commit;
    }
    const auto value = parse_count(text, {});
    return value ? Result<std::uint64_t>(static_cast<std::uint64_t>(*value))
                 : std::unexpected(value.error());
  });
  reader.take("--horizon", settings.horizon, model::parse_duration);
  settings.journal = line.value("--journal");
  if (settings.journal == "-" && settings.json) {
    reader.fail("--journal", {.what = "stdout holds the JSON document already",
                              .remedy = "write the journal to a file"});
  }
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  settings.threads = std::max(1, cores);
  reader.take("--threads", settings.threads, [](const std::string& text) -> Result<int> {
    const auto value = parse_count(text, {.min = 1, .max = threads_max});
    return value ? Result<int>(static_cast<int>(*value)) : std::unexpected(value.error());
  });
}

void read_comparing(Reader& reader, const CommandLine& line, Settings& settings) {
  reader.take_all("--with", settings.with, model::parse_configuration);
  reader.take("--min-effect", settings.min_effect_ppm, parse_percent);
  reader.take_all("--fail-if", settings.fail_if, reports::parse_fail_rule);
  if (line.verb->name != "compare") {
    return;
  }
  if (settings.with.empty()) {
    reader.fail("--with", {.what = "a comparison needs configurations",
                           .remedy = "as in --with sequential --with psd"});
  }
  for (std::size_t i = 0; i < settings.with.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (settings.with[i].label == settings.with[j].label) {
        reader.fail("--with", {.what = fmt::format("two configurations are named \"{}\"",
                                                   settings.with[i].label),
                               .remedy = "name one of them: --with 'psd[name=b]'"});
      }
    }
  }
}

void read_fuzzing(Reader& reader, const CommandLine& line, Settings& settings) {
  reader.take("--runs", settings.campaign_runs,
              [](const std::string& text) { return parse_count(text, {.min = 1}); });
  settings.corpus = line.value("--corpus");
  if (line.verb->name == "fuzz" && settings.dialect && settings.dialect->cluster) {
    reader.fail("--dialect", {.what = "a campaign draws its clusters",
                              .remedy = "leave cluster out of the configuration"});
  }
}

void read_planting(const CommandLine& line, Settings& settings) {
  settings.mutants = line.values("--only");
  settings.without = line.values("--without");
  settings.tests = line.value("--tests").value_or(settings.tests);
  settings.campaign_only = line.has("--campaign-only");
  settings.oracle = line.has("--oracle");
  settings.shrink = line.value("--shrink");
}

void read_explaining(Reader& reader, const CommandLine& line, Settings& settings) {
  if (line.verb->name != "explain") {
    return;
  }
  settings.job = line.value("--job").value_or("");
  if (settings.job.empty()) {
    reader.fail("--job", {.what = "which job is to be explained is not said",
                          .remedy = "as in --job q, or --job q#1 for its second try"});
  }
}

void read_exploring(Reader& reader, Settings& settings) {
  constexpr std::int64_t faults_most = 100;
  constexpr std::int64_t states_most = 2'000'000'000;
  reader.take("--faults", settings.faults_max, [](const std::string& text) -> Result<int> {
    const auto value = parse_count(text, {.min = 0, .max = faults_most});
    return value ? Result<int>(static_cast<int>(*value)) : std::unexpected(value.error());
  });
  reader.take("--states-max", settings.states_max, [](const std::string& text) {
    return parse_count(text, {.min = 1, .max = states_most});
  });
  reader.take("--time", settings.time, model::parse_duration);
}

}  // namespace

traces::Unit Settings::unit() const {
  const bool marks = marking.rule != traces::PipelinedRule::none;
  return by.value_or(marks ? traces::Unit::sql : traces::Unit::job);
}

Result<Settings> read_settings(const CommandLine& line) {
  Settings settings;
  Reader reader(line);
  read_results(reader, line, settings);
  read_reading(reader, line, settings);
  read_simulating(reader, line, settings);
  read_comparing(reader, line, settings);
  read_fuzzing(reader, line, settings);
  read_planting(line, settings);
  read_explaining(reader, line, settings);
  read_exploring(reader, settings);
  if (auto error = std::move(reader).error()) {
    return std::unexpected(std::move(*error));
  }
  return settings;
}

}  // namespace rehearse::cli
