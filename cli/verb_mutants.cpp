// rehearse mutants: each named bug is planted by itself, and the harness is let loose: a campaign
// first; where that finds nothing, every path through the scopes of tests/explore; at last the
// scenarios of the specification with what they expect. Only in the program `rehearse-mutants`.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>

#include "cli/console.hpp"
#include "cli/interrupt.hpp"
#include "cli/pool.hpp"
#include "cli/verb_shared.hpp"
#include "cli/verbs.hpp"
#include "model/config_support.hpp"
#include "model/configuration_text.hpp"
#include "model/support/units.hpp"
#include "policies/registry.hpp"
#include "properties/mutants/hunt.hpp"
#include "properties/mutants/mutant_table.hpp"
#include "properties/oracle/compare.hpp"
#include "properties/registry.hpp"
#include "scheduler/plant.hpp"
#include "traces/input_file.hpp"
#include "traces/scenario_json.hpp"

namespace rehearse::cli {
namespace {

using model::Error;
using model::Mutant;
using model::Result;
using properties::MutantInfo;
using Clock = std::chrono::steady_clock;

constexpr auto campaign_default = std::chrono::seconds(60);
constexpr auto shrink_time = std::chrono::seconds(10);    // of each find
constexpr auto run_time_max = std::chrono::seconds(2);    // a thousand times what one takes
constexpr auto scope_time_max = std::chrono::seconds(5);  // of each scope
constexpr std::int64_t scope_states_max = 200'000;

// ---- what a run is made with ----

// A broken scheduler may go on for ever; the run of this thread is over then.
thread_local Clock::time_point run_until = Clock::time_point::max();

bool run_is_over() { return interrupted() || Clock::now() >= run_until; }

properties::Harness make_harness() {
  return {.policies =
              [](const model::SchedulerConfig& config) {
                run_until = Clock::now() + run_time_max;
                return policies::make(config);
              },
          .between = {},
          .interrupted = run_is_over,
          .oracle_one_in = properties::oracle_share};
}

// A mutant is planted as long as this lives, and none afterwards.
class Planted {
 public:
  explicit Planted(Mutant mutant) { scheduler::plant(mutant); }
  ~Planted() { scheduler::plant(Mutant::none); }
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;
};

std::int64_t since(Clock::time_point begun) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun).count();
}

// ---- what is asked for ----

Result<std::vector<const MutantInfo*>> chosen(const Settings& settings) {
  std::vector<const MutantInfo*> list;
  for (const std::string& id : settings.mutants) {
    if (properties::find_mutant(id) == nullptr) {
      std::vector<std::string_view> ids;
      for (const MutantInfo& mutant : properties::all_mutants()) {
        ids.push_back(mutant.id());
      }
      const std::string near = model::nearest_name(id, ids.data(), ids.data() + ids.size());
      return std::unexpected(Error{
          .what = fmt::format("there is no mutant \"{}\"", id),
          .field = "--only",
          .remedy = near.empty() ? "see list mutants" : fmt::format("did you mean {}?", near)});
    }
  }
  for (const MutantInfo& mutant : properties::all_mutants()) {
    if (settings.mutants.empty() ||
        std::ranges::find(settings.mutants, mutant.id()) != settings.mutants.end()) {
      list.push_back(&mutant);
    }
  }
  return list;
}

Result<void> check_properties(const Settings& settings) {
  for (const std::string& id : settings.without) {
    if (properties::find_property(id) == nullptr && id != properties::internal_fault &&
        id != properties::oracle::contradiction) {
      return std::unexpected(Error{.what = fmt::format("there is no property \"{}\"", id),
                                   .field = "--without",
                                   .remedy = "see list properties"});
    }
  }
  return {};
}

// What a campaign runs under: what is asked for, else what the table says of the mutant.
Result<properties::GenOptions> gen_options(const Settings& settings, const MutantInfo& mutant) {
  const auto text = settings.dialect ? Result<model::ConfigurationText>(*settings.dialect)
                                     : model::parse_configuration(mutant.configuration);
  if (!text) {
    return std::unexpected(text.error());
  }
  properties::GenOptions gen;
  gen.scheduler = model::preset(text->dialect);
  if (auto applied = model::apply_overrides(gen.scheduler, text->overrides, gen.names); !applied) {
    return std::unexpected(std::move(applied.error()));
  }
  for (const model::AxisOverride& override : text->overrides) {
    gen.kept.push_back(override.axis);
  }
  return gen;
}

// ---- scopes and scenarios ----

struct Scope {
  std::string name;
  model::Scenario scenario;
  int faults = 0;
};

// What of the test tree is used; without it a mutant has campaigns only.
struct Stock {
  std::vector<Scope> scopes;
  std::vector<Scope> scenarios;
};

std::optional<model::Scenario> read_usable(const std::filesystem::path& path) {
  const auto text = traces::read_input_file(path.string());
  if (!text) {
    return std::nullopt;
  }
  auto scenario = traces::read_scenario(*text, path.string());
  if (!scenario || scenario->workload || model::unsupported(*scenario)) {
    return std::nullopt;
  }
  return std::move(*scenario);
}

// The file of counts names each scope and the faults allowed in it.
std::vector<Scope> read_scopes(const std::filesystem::path& folder) {
  std::vector<Scope> scopes;
  const auto text = traces::read_input_file((folder / "counts.txt").string());
  std::istringstream lines(text ? std::string(*text) : std::string());
  for (std::string line; std::getline(lines, line);) {
    Scope scope;
    std::istringstream words(line);
    if (line.starts_with("#") || !(words >> scope.name >> scope.faults)) {
      continue;
    }
    if (auto scenario = read_usable(folder / "scopes" / (scope.name + ".json"))) {
      scope.scenario = std::move(*scenario);
      scopes.push_back(std::move(scope));
    }
  }
  return scopes;
}

std::vector<Scope> read_scenarios(const std::filesystem::path& folder) {
  std::vector<Scope> list;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".json") {
      continue;
    }
    if (auto scenario = read_usable(entry.path())) {
      list.push_back({entry.path().stem().string(), std::move(*scenario), 0});
    }
  }
  std::ranges::sort(list, {}, &Scope::name);
  // One that fails by itself says nothing about a mutant.
  const properties::Harness harness = make_harness();
  std::erase_if(list, [&harness](const Scope& one) {
    return properties::hunt_expected(one.scenario, harness).has_value();
  });
  return list;
}

// Read when the first mutant needs it.
class LazyStock {
 public:
  explicit LazyStock(std::string folder) : folder_(std::move(folder)) {}
  void read() {
    if (!stock_) {
      const std::filesystem::path folder(folder_);
      stock_ =
          Stock{read_scopes(folder / "explore"), read_scenarios(folder / "spec" / "scenarios")};
    }
  }
  [[nodiscard]] const Stock& get() const { return stock_.value(); }

 private:
  std::string folder_;
  std::optional<Stock> stock_;
};

// ---- one mutant ----

struct Work {
  const Settings& settings;
  const properties::Harness& harness;
  LazyStock& stock;
};

properties::Hunt run_campaign(const Work& work, const MutantInfo& mutant,
                              const properties::GenOptions& gen) {
  const Settings& settings = work.settings;
  properties::HuntOptions options;
  options.gen = gen;
  options.first_seed = settings.seed.value_or(1);
  options.runs_max = settings.campaign_runs.value_or(0);
  options.without = settings.without;
  auto until = Clock::time_point::max();
  if (settings.time || !settings.campaign_runs) {
    until = Clock::now() + (settings.time ? std::chrono::nanoseconds(*settings.time)
                                          : std::chrono::nanoseconds(campaign_default));
  }
  options.out_of_time = [until] { return interrupted() || Clock::now() >= until; };
  options.for_each = [&settings](std::size_t count, const std::function<void(std::size_t)>& one) {
    for_each_index(count, settings.threads, one);
  };
  options.is_clean = [&work, &mutant](const model::Scenario& scenario) {
    scheduler::plant(Mutant::none);
    const bool clean = !properties::find_in_run(scenario, work.harness, std::nullopt, {});
    scheduler::plant(mutant.mutant);
    return clean;
  };
  return properties::hunt(options, work.harness);
}

// Does what was written, read again, show the same to the last event?
bool replays(const std::string& text, const properties::Finding& found, std::uint64_t journal_hash,
             const properties::Harness& harness) {
  const auto scenario = traces::read_scenario(text, "shrunk");
  if (!scenario) {
    return false;
  }
  const properties::JudgedRun again =
      properties::run_judged(*scenario, harness, properties::full_watch(harness));
  return again.result.journal_hash == journal_hash &&
         std::ranges::any_of(again.findings, [&found](const properties::Finding& finding) {
           return finding.same_as(found);
         });
}

// With the mutant planted. Nothing for a run without an end, and where it takes two runs to see.
Result<std::optional<reports::ShrunkFind>> shrink_find(const Work& work, const MutantInfo& mutant,
                                                       const properties::GenOptions& gen,
                                                       const properties::Hunt& found) {
  const model::Scenario scenario = properties::generate(gen, *found.seed);
  const properties::RunWatch watch = properties::full_watch(work.harness);
  const auto findings = properties::run_judged(scenario, work.harness, watch).findings;
  const auto finding = std::ranges::find_if(
      findings, [&found](const auto& one) { return one.violation.property == *found.by; });
  if (finding == findings.end()) {
    return std::nullopt;
  }
  const auto begun = Clock::now();
  const properties::ShrinkOptions options{
      .runs_max = 2000,
      .out_of_time = [until =
                          begun + shrink_time] { return interrupted() || Clock::now() >= until; },
      .kept = gen.kept};
  properties::Shrunk shrunk =
      properties::shrink(scenario, *finding, properties::judge_of(work.harness), options);
  reports::ShrunkFind result;
  result.ms = since(begun);
  result.stopped_early = shrunk.stopped_early;
  const properties::ScenarioSize size = properties::size_of(shrunk.scenario);
  result.size = {size.faults, size.jobs, size.stages, size.tasks, size.executors};
  const properties::JudgedRun run = properties::run_judged(shrunk.scenario, work.harness, watch);
  shrunk.scenario.name = fmt::format("{} under {}", *found.by, mutant.id());
  shrunk.scenario.origin_json =
      fmt::format(R"({{"tool":"rehearse mutants","version":"{}","seed":{},"mutant":"{}"}})",
                  REHEARSE_VERSION, *found.seed, mutant.id());
  const std::string text = traces::write_scenario(shrunk.scenario);
  result.replays = replays(text, shrunk.finding, run.result.journal_hash, work.harness);
  const std::filesystem::path folder(*work.settings.shrink);
  result.scenario = (folder / (std::string(mutant.id()) + ".json")).lexically_normal().string();
  if (auto saved = save(result.scenario, text); !saved) {
    return std::unexpected(std::move(saved.error()));
  }
  return result;
}

// Scopes on several threads; of those in which something breaks the first counts.
void explore_scopes(const Work& work, reports::MutantResult& result) {
  const std::vector<Scope>& scopes = work.stock.get().scopes;
  std::vector<std::optional<std::string>> by(scopes.size());
  for_each_index(scopes.size(), work.settings.threads, [&](std::size_t i) {
    properties::SearchOptions limits;
    limits.faults_max = scopes[i].faults;
    limits.states_max = scope_states_max;
    limits.stop = [until = Clock::now() + scope_time_max] {
      return interrupted() || Clock::now() >= until;
    };
    by[i] =
        properties::hunt_paths(scopes[i].scenario, work.harness, limits, work.settings.without).by;
  });
  for (std::size_t i = 0; i < scopes.size() && !result.by; ++i) {
    result.by = by[i];
    result.where = by[i] ? fmt::format("scope {}", scopes[i].name) : "";
  }
}

void run_scenarios(const Work& work, reports::MutantResult& result) {
  for (const Scope& one : work.stock.get().scenarios) {
    if (interrupted()) {
      return;
    }
    if (auto by = properties::hunt_expected(one.scenario, work.harness)) {
      result.by = std::move(by);
      result.where = one.name;
      return;
    }
  }
}

Result<reports::MutantResult> judge(const Work& work, const MutantInfo& mutant) {
  const auto gen = gen_options(work.settings, mutant);
  if (!gen) {
    return std::unexpected(gen.error());
  }
  reports::MutantResult result;
  result.id = mutant.id();
  result.what = mutant.what;
  result.source = mutant.source;
  result.configuration =
      work.settings.dialect ? work.settings.dialect->label : std::string(mutant.configuration);
  const auto begun = Clock::now();
  {
    const Planted planted(mutant.mutant);
    const properties::Hunt campaign = run_campaign(work, mutant, *gen);
    if (campaign.by && !interrupted()) {
      result.by = campaign.by;
      result.after_runs = campaign.runs;
      result.where = fmt::format("seed {}", *campaign.seed);
      result.ms = since(begun);
      if (work.settings.shrink) {
        auto shrunk = shrink_find(work, mutant, *gen, campaign);
        if (!shrunk) {
          return std::unexpected(std::move(shrunk.error()));
        }
        result.shrunk = std::move(*shrunk);
      }
    }
  }
  if (!result.by && !interrupted() && !work.settings.campaign_only) {
    work.stock.read();  // with nothing planted
    const Planted planted(mutant.mutant);
    explore_scopes(work, result);
    // What a scenario expects is no property: it would hide what an ablation asks for.
    if (!result.by && work.settings.without.empty()) {
      run_scenarios(work, result);
    }
  }
  result.killed = result.by.has_value();
  if (!result.after_runs) {  // else what the campaign took, without shrinking
    result.ms = since(begun);
  }
  return result;
}

std::string effort_of(const Settings& settings) {
  std::string text = "a campaign from seed " + std::to_string(settings.seed.value_or(1));
  if (settings.campaign_runs) {
    text += fmt::format(", {} runs at most", *settings.campaign_runs);
  }
  if (settings.time || !settings.campaign_runs) {
    text += fmt::format(", {} at most", model::format_duration(settings.time.value_or(
                                            std::chrono::nanoseconds(campaign_default).count())));
  }
  if (settings.campaign_only) {
    return text;
  }
  text += ", then every path through the scopes";
  return settings.without.empty() ? text + ", then the scenarios of the specification" : text;
}

}  // namespace

VerbResult plant_mutants(const CommandLine& line, const Settings& settings) {
  if (!scheduler::has_mutants()) {
    return std::unexpected(Error{.what = "this build has no mutants",
                                 .remedy =
                                     "the program rehearse-mutants of the preset release has them: "
                                     "rehearse-mutants mutants"});
  }
  if (auto checked = check_outputs(settings); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  if (auto checked = check_properties(settings); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  const auto list = chosen(settings);
  if (!list) {
    return std::unexpected(list.error());
  }
  if (settings.shrink) {
    std::error_code ignored;  // what cannot be made cannot be written to
    std::filesystem::create_directories(*settings.shrink, ignored);
    if (auto checked = check_writable(*settings.shrink + "/shrunk.json"); !checked) {
      return std::unexpected(std::move(checked.error()));
    }
  }
  const properties::Harness harness = make_harness();
  LazyStock stock(settings.tests);
  const Work work{settings, harness, stock};
  reports::MutantsDocument document;
  document.envelope = envelope_of(line);
  document.effort = effort_of(settings);
  document.without = settings.without;
  document.shrinks = settings.shrink.has_value();
  {
    Progress progress({.quiet = settings.quiet, .what = "mutants", .total = list->size()});
    for (const MutantInfo* mutant : *list) {
      if (interrupted()) {
        break;
      }
      auto result = judge(work, *mutant);
      if (!result) {
        return std::unexpected(std::move(result.error()));
      }
      if (interrupted()) {
        break;  // it was not looked for as long as others
      }
      document.mutants.push_back(std::move(*result));
      progress.one_done();
    }
  }
  document.envelope.complete = !interrupted();
  if (auto shown = emit(document, settings); !shown) {
    return std::unexpected(std::move(shown.error()));
  }
  if (interrupted()) {
    return exit_interrupted;
  }
  return document.killed() == std::ssize(document.mutants) ? exit_done : exit_finding;
}

}  // namespace rehearse::cli
