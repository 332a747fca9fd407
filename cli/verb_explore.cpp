// rehearse explore: every interleaving of a small scenario, judged; the shortest way to whatever
// breaks, with what the journal says on it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "cli/console.hpp"
#include "cli/experiment.hpp"
#include "cli/interrupt.hpp"
#include "cli/verb_shared.hpp"
#include "cli/verbs.hpp"
#include "cli/workload.hpp"
#include "model/support/check.hpp"
#include "policies/registry.hpp"
#include "properties/explore/cluster_space.hpp"
#include "properties/explore/search.hpp"
#include "traces/journal_json.hpp"

namespace rehearse::cli {
namespace {

using model::Error;
using model::Result;
using properties::ClusterSpace;

// "task_end q/map/0 e1 failed exception": what an event is about, without its numbers.
class ShortLine {
 public:
  explicit ShortLine(const model::NameTable& names) : names_(names) {}

  void operator()(std::string_view key, const model::NameId& name) {
    if (!name.valid()) {
      return;
    }
    if (key == "job") {
      about_ = std::string(names_.text(name));
    } else if (key == "stage") {
      about_ += fmt::format("/{}", names_.text(name));
    } else if (key == "executor") {
      words_ += fmt::format(" {}", names_.text(name));
    }
  }
  void operator()(std::string_view key, const std::int32_t& number) {
    if (key == "partition") {
      about_ += fmt::format("/{}", number);
    }
  }
  template <class T>
  void operator()(std::string_view /*key*/, const T& value) {
    if constexpr (model::NamedEnum<T>) {
      words_ += fmt::format(" {}", model::name_of(value));
    } else if constexpr (requires {
                           { value.has_value() } -> std::same_as<bool>;
                           requires model::NamedEnum<typename T::value_type>;
                         }) {
      words_ += value ? fmt::format(" {}", model::name_of(*value)) : "";
    }
  }
  [[nodiscard]] std::string text(std::string_view event) const {
    return about_.empty() ? fmt::format("{}{}", event, words_)
                          : fmt::format("{} {}{}", event, about_, words_);
  }

 private:
  const model::NameTable& names_;
  std::string about_;
  std::string words_;
};

// Collects the lines of one step of a path, and passes them on to the journal.
class Story final : public model::Observer {
 public:
  explicit Story(model::Observer* journal) : journal_(journal) {}
  void begin(const model::NameTable& names) override {
    names_ = &names;
    if (journal_ != nullptr) {
      journal_->begin(names);
    }
  }
  void on(const model::Event& event) override {
    if (journal_ != nullptr) {
      journal_->on(event);
    }
    std::visit(
        [this](const auto& body) {
          ShortLine line(*names_);
          std::decay_t<decltype(body)>::keys(body, line);
          lines_.push_back(line.text(body.name));
        },
        event.body);
  }
  [[nodiscard]] std::vector<std::string> take() { return std::exchange(lines_, {}); }

 private:
  model::Observer* journal_;
  const model::NameTable* names_ = nullptr;
  std::vector<std::string> lines_;
};

// The counterexample once more, from the start, with somebody listening.
Result<reports::ExploredPath> tell(const model::Scenario& scenario,
                                   const scheduler::PolicySet& policies,
                                   const properties::Counterexample& example,
                                   model::Observer* journal) {
  reports::ExploredPath path;
  path.violation = example.violation;
  path.faults = example.faults;
  Story story(journal);
  const auto place = ClusterSpace::make(scenario, policies, &story);
  if (!place) {
    return std::unexpected(place.error());
  }
  static_cast<void>(story.take());  // what there is: executors
  for (const properties::Choice& choice : example.path) {
    path.steps.push_back({(*place)->text_of(choice), {}});
    (*place)->take(choice);
    path.steps.back().lines = story.take();
  }
  if (example.at_end) {
    path.steps.push_back({"nothing more can happen", {}});
    (*place)->finish();
    path.steps.back().lines = story.take();
  }
  return path;
}

properties::SearchOptions limits_of(const Settings& settings) {
  using Clock = std::chrono::steady_clock;
  properties::SearchOptions limits;
  limits.faults_max = settings.faults_max;
  limits.states_max = settings.states_max;
  const auto until = settings.time
                         ? std::optional(Clock::now() + std::chrono::nanoseconds(*settings.time))
                         : std::nullopt;
  limits.stop = [until] { return interrupted() || (until && Clock::now() >= *until); };
  return limits;
}

properties::SearchResult search(const ClusterSpace& root, const Settings& settings,
                                const std::string& command) {
  try {
    return properties::Search(root, limits_of(settings)).run();
  } catch (const model::InternalFault& fault) {
    throw model::InternalFault(fmt::format("{}\n  rehearse {}, reproduced by: {}", fault.what(),
                                           REHEARSE_VERSION, command));
  }
}

Result<void> add_paths(reports::ExploreDocument& document, const Experiment& experiment,
                       const scheduler::PolicySet& policies, const properties::SearchResult& result,
                       const std::optional<std::string>& journal) {
  for (const properties::Counterexample& example : result.found) {
    std::unique_ptr<traces::JournalWriter> writer;
    if (journal && document.paths.empty()) {
      auto opened = traces::JournalWriter::open(*journal);
      if (!opened) {
        return std::unexpected(std::move(opened.error()));
      }
      writer = std::move(*opened);
    }
    auto path = tell(experiment.scenario, policies, example, writer.get());
    if (!path) {
      return std::unexpected(std::move(path.error()));
    }
    document.paths.push_back(std::move(*path));
    if (writer != nullptr) {
      if (auto closed = writer->close(); !closed) {
        return closed;
      }
    }
  }
  return {};
}

Result<Experiment> load(const CommandLine& line, const Settings& settings, reports::Input& input) {
  const std::string& path = line.operands.front();
  auto work = load_workload(path, settings, {.keep_trace = false, .cluster = settings.cluster});
  if (!work) {
    return std::unexpected(std::move(work.error()));
  }
  input = work->input;
  if (work->kind == InputKind::trace) {
    return std::unexpected(Error{.what = "is a trace, expected a scenario",
                                 .file = path,
                                 .remedy = "what is explored is small: a few tasks"});
  }
  return make_experiment(*work, settings,
                         {.configuration = settings.dialect ? &*settings.dialect : nullptr});
}

}  // namespace

VerbResult explore_scenario(const CommandLine& line, const Settings& settings) {
  if (auto checked = check_outputs(settings); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  const std::string& file = line.operands.front();
  reports::ExploreDocument document;
  document.envelope = envelope_of(line);
  reports::Input input;
  auto experiment = load(line, settings, input);
  if (!experiment) {
    return std::unexpected(experiment.error());
  }
  experiment->command = repeat_command(line, file);
  document.envelope.inputs.push_back(std::move(input));
  const auto policies = policies::make(experiment->scenario.scheduler);
  if (!policies) {
    return std::unexpected(policies.error());
  }
  const auto root = ClusterSpace::make(experiment->scenario, *policies);
  if (!root) {
    Error error = root.error();
    error.file = file;
    return std::unexpected(std::move(error));
  }
  const properties::SearchResult result = search(**root, settings, experiment->command);
  document.envelope.complete = result.complete;
  document.faults_max = settings.faults_max;
  document.states = result.states;
  document.transitions = result.transitions;
  document.ends = result.ends;
  document.states_by_faults = result.states_by_faults;
  if (auto told = add_paths(document, *experiment, *policies, result, settings.journal); !told) {
    return std::unexpected(std::move(told.error()));
  }
  const bool found = !document.paths.empty();
  if (settings.journal && !found) {
    note(settings, "nothing breaks, so there is no journal to write");
  }
  const bool aside = settings.journal == "-";
  const auto shown =
      emit(document, settings, {.last_line = found ? replay_line(line, file) : "", .aside = aside});
  if (!shown) {
    return std::unexpected(shown.error());
  }
  return found ? exit_finding : interrupted() ? exit_interrupted : exit_done;
}

}  // namespace rehearse::cli
