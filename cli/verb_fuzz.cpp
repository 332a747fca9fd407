// rehearse fuzz: a campaign of random scenarios, and what becomes of a counterexample: saved as it
// was found, shrunk, written as a file that replays, and told on one screen. The clock here bounds
// the work of the program and never reaches a scenario.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "cli/console.hpp"
#include "cli/interrupt.hpp"
#include "cli/pool.hpp"
#include "cli/verb_shared.hpp"
#include "cli/verbs.hpp"
#include "model/config_support.hpp"
#include "model/configuration_text.hpp"
#include "policies/registry.hpp"
#include "properties/fuzz/campaign.hpp"
#include "properties/fuzz/timeline.hpp"
#include "properties/oracle/compare.hpp"
#include "properties/registry.hpp"
#include "reports/writer.hpp"
#include "traces/input_file.hpp"
#include "traces/scenario_json.hpp"

namespace rehearse::cli {
namespace {

using model::Error;
using model::Result;
using Clock = std::chrono::steady_clock;

constexpr auto campaign_default = std::chrono::seconds(60);
constexpr auto shrink_time = std::chrono::seconds(10);
constexpr std::size_t story_rows = 24;
constexpr std::size_t story_rows_after = 2;
constexpr std::size_t rarest_marks = 3;

// ---- what is asked for ----

// Without any configuration the swarm draws dialects and axes, too.
Result<properties::GenOptions> gen_options(const Settings& settings) {
  properties::GenOptions gen;
  const bool given = settings.dialect || !settings.overrides.empty();
  gen.drawn = given ? properties::DrawnAxes::settings : properties::DrawnAxes::all;
  std::vector<model::AxisOverride> overrides;
  if (settings.dialect) {
    gen.scheduler = model::preset(settings.dialect->dialect);
    overrides = settings.dialect->overrides;
  }
  overrides.insert(overrides.end(), settings.overrides.begin(), settings.overrides.end());
  if (auto applied = model::apply_overrides(gen.scheduler, overrides, gen.names); !applied) {
    return std::unexpected(std::move(applied.error()));
  }
  for (const model::AxisOverride& override : overrides) {
    gen.kept.push_back(override.axis);
  }
  if (auto policies = policies::make(gen.scheduler); !policies) {
    return std::unexpected(std::move(policies.error()));
  }
  // One scenario of it shows whether this version executes the configuration.
  model::Scenario probe = properties::generate({.scheduler = gen.scheduler,
                                                .names = gen.names,
                                                .drawn = properties::DrawnAxes::none,
                                                .kept = {}},
                                               0);
  probe.jobs.clear();
  probe.cluster.autoscale.reset();
  if (auto error = model::unsupported(probe)) {
    return std::unexpected(std::move(*error));
  }
  return gen;
}

// Earlier finds in the order of their names; what cannot be executed is left out with a warning.
Result<std::vector<model::Scenario>> read_corpus(const std::string& folder,
                                                 std::vector<reports::Input>& inputs) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".json") {
      paths.push_back(entry.path().string());
    }
  }
  std::ranges::sort(paths);
  std::vector<model::Scenario> corpus;
  for (const std::string& path : paths) {
    const auto text = traces::read_input_file(path);
    if (!text) {
      return std::unexpected(text.error());
    }
    auto scenario = traces::read_scenario(*text, path);
    reports::Input input;
    input.path = path;
    input.format = "scenario";
    std::optional<Error> error;
    if (!scenario) {
      error = scenario.error();
    } else if (scenario->workload) {
      error = Error{.what = "takes its jobs from a trace", .file = path};
    } else {
      error = model::unsupported(*scenario);
    }
    if (error) {
      input.ok = false;
      input.warnings.push_back({std::nullopt, error->what});
    } else {
      corpus.push_back(std::move(*scenario));
    }
    inputs.push_back(std::move(input));
  }
  return corpus;
}

// ---- files ----

// Where counterexamples go, and what went wrong with it.
class Store {
 public:
  explicit Store(const Settings& settings) : folder_(settings.corpus.value_or(".")) {}

  [[nodiscard]] Result<void> prepare() const {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    return check_writable(path("counterexample.json"));
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (std::filesystem::path(folder_) / name).lexically_normal().string();
  }
  void write(const std::string& name, const model::Scenario& scenario) {
    if (auto saved = save(path(name), traces::write_scenario(scenario)); !saved && !error_) {
      error_ = saved.error();
    }
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  std::string folder_;
  std::optional<Error> error_;
};

std::string stem_of(const properties::Failure& failure) {
  const std::string from = failure.seed ? fmt::format("{}", *failure.seed) : failure.scenario.name;
  std::string stem = fmt::format("fuzz-{}-{}", failure.finding.violation.property, from);
  for (char& c : stem) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    c = plain || c == '-' || c == '_' ? c : '-';
  }
  return stem;
}

// ---- a counterexample ----

reports::PartCounts counts_of(const model::Scenario& scenario) {
  const properties::ScenarioSize size = properties::size_of(scenario);
  return {size.faults, size.jobs, size.stages, size.tasks, size.executors};
}

void add_story(reports::Counterexample& found, const model::Scenario& scenario,
               std::uint64_t found_at, const properties::Harness& harness) {
  const std::vector<properties::TimelineRow> rows = properties::timeline_of(scenario, harness);
  std::size_t marked = rows.empty() ? 0 : rows.size() - 1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (found_at > 0 && rows[i].number <= found_at) {
      marked = i;
    }
  }
  const std::size_t last = std::min(rows.size(), marked + 1 + story_rows_after);
  const std::size_t first = last > story_rows ? last - story_rows : 0;
  found.rows_before = static_cast<std::int64_t>(first);
  for (std::size_t i = first; i < last; ++i) {
    const properties::TimelineRow& row = rows[i];
    found.story.push_back(
        {row.t, row.event, row.subject, row.note, row.free, row.waiting, row.running, i == marked});
  }
}

std::string statement_of(std::string_view property) {
  if (const properties::Property* known = properties::find_property(property)) {
    return fmt::format("{}: {}", known->clause, known->statement);
  }
  if (property == properties::oracle::contradiction) {
    return "the journal is not the one that the specification demands (docs/decisions/0018)";
  }
  return property == properties::policy_fault ? "a policy broke its contract"
                                              : "a check of this program failed";
}

struct Campaign {
  const CommandLine& line;
  const Settings& settings;
  const properties::GenOptions& gen;
  const properties::Harness& harness;
  Store& store;
};

std::vector<std::string> commands_of(const Campaign& campaign, const properties::Failure& failure,
                                     const std::string& path) {
  const std::string oracle = campaign.settings.oracle ? " --oracle" : "";
  std::vector<std::string> commands{fmt::format("rehearse run {}{}", path, oracle)};
  if (failure.seed) {
    std::string again = fmt::format("rehearse fuzz --runs 1 --seed {}{}", *failure.seed, oracle);
    for (const std::string_view option : {"--dialect", "--set", "--policy"}) {
      for (const std::string& value : campaign.line.values(option)) {
        again += fmt::format(" {} '{}'", option, value);
      }
    }
    commands.push_back(std::move(again));
  }
  return commands;
}

reports::Counterexample make_counterexample(const Campaign& campaign,
                                            const properties::Failure& failure) {
  const std::string stem = stem_of(failure);
  const auto until = Clock::now() + shrink_time;
  const properties::ShrinkOptions options{
      .runs_max = 2000,
      .out_of_time = [until] { return Clock::now() >= until || interrupted(); },
      .kept = campaign.gen.kept};
  properties::Shrunk shrunk = properties::shrink(failure.scenario, failure.finding,
                                                 properties::judge_of(campaign.harness), options);
  properties::Harness to_the_end = campaign.harness;  // what is written down is of a whole run
  to_the_end.interrupted = nullptr;
  const properties::JudgedRun run =
      properties::run_judged(shrunk.scenario, to_the_end, properties::full_watch(to_the_end));

  reports::Counterexample found;
  const model::Violation& violation = shrunk.finding.violation;
  found.property = violation.property;
  found.seed = failure.seed.value_or(failure.scenario.seed);
  found.original = counts_of(failure.scenario);
  found.shrunk = counts_of(shrunk.scenario);
  found.shrink_steps = shrunk.steps;
  found.shrink_runs = shrunk.runs;
  found.stopped_early = shrunk.stopped_early;
  found.statement = statement_of(violation.property);
  found.detail = fmt::format("{} (at {} ns)", violation.detail, violation.t);
  for (const properties::OtherFind& other : shrunk.others) {
    found.others.push_back(
        fmt::format("{}: {}", other.finding.violation.property, other.finding.violation.detail));
  }
  const properties::Property* property = properties::find_property(violation.property);
  if (property != nullptr && property->kind == properties::PropertyKind::eventually) {
    found.critical = properties::critical_instant(shrunk.scenario, shrunk.finding,
                                                  properties::judge_of(to_the_end));
  }
  add_story(found, shrunk.scenario, run.found_at, to_the_end);
  if (run.result.names) {  // no fault: the run has a journal from end to end
    found.journal_hash = reports::hash_text(run.result.journal_hash);
    shrunk.scenario.expect = {model::ExpectJournalHash{found.journal_hash}};
  }
  shrunk.scenario.name = fmt::format("{} from seed {}", found.property, found.seed);
  shrunk.scenario.origin_json =
      fmt::format(R"({{"tool":"rehearse fuzz","version":"{}","seed":{},"property":"{}"}})",
                  REHEARSE_VERSION, found.seed, found.property);
  found.scenario = campaign.store.path(stem + ".json");
  found.commands = commands_of(campaign, failure, found.scenario);
  campaign.store.write(stem + ".json", shrunk.scenario);
  return found;
}

// ---- the result ----

// Those that were reached at all, the rarest first; of equal ones in the order of the table.
std::vector<std::pair<std::string, std::int64_t>> rarest_of(
    const std::vector<properties::Reached::Count>& marks) {
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i].times > 0) {
      order.emplace_back(marks[i].times, i);
    }
  }
  std::ranges::sort(order);
  order.resize(std::min(order.size(), rarest_marks));
  std::vector<std::pair<std::string, std::int64_t>> rarest;
  for (const auto& [times, i] : order) {
    rarest.emplace_back(marks[i].mark, times);
  }
  return rarest;
}

reports::FuzzDocument make_document(const Campaign& campaign,
                                    const properties::CampaignResult& result, double seconds,
                                    std::uint64_t seed) {
  const properties::GenOptions& gen = campaign.gen;
  reports::FuzzDocument document;
  document.envelope = envelope_of(campaign.line);
  document.envelope.complete = !result.interrupted;
  document.configuration = gen.drawn == properties::DrawnAxes::all
                               ? "dialects and axes drawn"
                               : model::configuration_text(gen.scheduler, gen.names);
  document.runs = result.runs;
  document.runs_per_s = seconds > 0 ? static_cast<double>(result.runs) / seconds : 0;
  document.seed = seed;
  document.core_steps = result.core_steps;
  document.patterns = result.reached.patterns();
  document.states = result.reached.states();
  document.marks_missed = result.reached.missed(gen);
  document.rarest = rarest_of(result.reached.demanded(gen));
  const properties::Mix& mix = result.mix;
  const auto share = [&](std::int64_t part) { return mix.runs > 0 ? 100 * part / mix.runs : 0; };
  document.mix = {fmt::format(
      "medians: {} jobs, {} stages, {} task starts; {}% with two groups or more, {}% with a fault "
      "that fired, {}% without faults",
      properties::Mix::median(mix.jobs), properties::Mix::median(mix.stages),
      properties::Mix::median(mix.tasks), share(mix.two_groups), share(mix.fault_fired),
      share(mix.fault_free))};
  return document;
}

int exit_code_of(const reports::FuzzDocument& document, bool must_reach, bool was_interrupted) {
  for (const reports::Counterexample& found : document.counterexamples) {
    if (found.property == properties::internal_fault) {
      return exit_fault;
    }
  }
  if (!document.counterexamples.empty()) {
    return exit_finding;
  }
  if (was_interrupted) {
    return exit_interrupted;
  }
  return must_reach && !document.marks_missed.empty() ? exit_finding : exit_done;
}

properties::CampaignOptions campaign_options(const Settings& settings,
                                             const properties::GenOptions& gen,
                                             Clock::time_point started) {
  properties::CampaignOptions options;
  options.gen = gen;
  options.first_seed = settings.seed.value_or(1);
  options.runs_max = settings.campaign_runs.value_or(0);
  if (settings.time || !settings.campaign_runs) {
    const auto time = settings.time ? std::chrono::nanoseconds(*settings.time)
                                    : std::chrono::nanoseconds(campaign_default);
    options.out_of_time = [until = started + time] { return Clock::now() >= until; };
  }
  options.for_each = [&settings](std::size_t count, const std::function<void(std::size_t)>& work) {
    for_each_index(count, settings.threads, work);
  };
  return options;
}

std::string last_line_of(const reports::FuzzDocument& document, bool fails) {
  if (!document.counterexamples.empty()) {
    return fmt::format("to replay: {}", document.counterexamples.front().commands.front());
  }
  return fails ? "marks were missed: the campaign says nothing about these places; give it more "
                 "runs"
               : "";
}

}  // namespace

VerbResult fuzz_scheduler(const CommandLine& line, const Settings& settings) {
  if (auto checked = check_outputs(settings); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  const auto gen = gen_options(settings);
  if (!gen) {
    return std::unexpected(gen.error());
  }
  Store store(settings);
  if (auto prepared = store.prepare(); !prepared) {
    return std::unexpected(std::move(prepared.error()));
  }
  const properties::Harness harness{
      .policies = [](const model::SchedulerConfig& config) { return policies::make(config); },
      .between = {},
      .interrupted = interrupted,
      .oracle_one_in = settings.oracle ? properties::oracle_share : 0};
  const auto started = Clock::now();
  properties::CampaignOptions options = campaign_options(settings, *gen, started);
  std::vector<reports::Input> inputs;
  if (settings.corpus) {
    auto corpus = read_corpus(*settings.corpus, inputs);
    if (!corpus) {
      return std::unexpected(std::move(corpus.error()));
    }
    options.corpus = std::move(*corpus);
  }
  options.sink = [&store](const properties::Failure& failure) {
    store.write(stem_of(failure) + "-found.json", failure.scenario);
  };
  properties::CampaignResult result;
  {
    Progress progress({.quiet = settings.quiet,
                       .what = "runs",
                       .total = static_cast<std::size_t>(settings.campaign_runs.value_or(0)),
                       .open = !settings.campaign_runs});
    options.progress = [&progress, before = std::int64_t{0}](std::int64_t runs) mutable {
      for (; before < runs; ++before) {
        progress.one_done();
      }
    };
    result = properties::run_campaign(options, harness);
  }
  const std::chrono::duration<double> took = Clock::now() - started;
  const Campaign campaign{line, settings, *gen, harness, store};
  reports::FuzzDocument document =
      make_document(campaign, result, took.count(), options.first_seed);
  document.envelope.inputs = std::move(inputs);
  for (const properties::Failure& failure : result.failures) {
    document.counterexamples.push_back(make_counterexample(campaign, failure));
  }
  if (store.error()) {
    return std::unexpected(*store.error());
  }
  if (std::ranges::any_of(document.counterexamples, [](const reports::Counterexample& found) {
        return found.property == properties::internal_fault;
      })) {
    fmt::print(stderr, "rehearse: a fault of this program (rehearse {}); please report the file\n",
               REHEARSE_VERSION);
  }
  // What is asked of a dialect is not asked of a configuration of one's own.
  const bool must_reach = gen->kept.empty();
  const int code = exit_code_of(document, must_reach, result.interrupted);
  if (auto shown =
          emit(document, settings, {.last_line = last_line_of(document, code != exit_done)});
      !shown) {
    return std::unexpected(std::move(shown.error()));
  }
  return code;
}

}  // namespace rehearse::cli
