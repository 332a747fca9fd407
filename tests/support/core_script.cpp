// The engine of words: tables of names, one run per task name, no clock.
#include "tests/support/core_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/configuration_text.hpp"
#include "model/support/check.hpp"
#include "model/support/journal_line.hpp"
#include "model/support/units.hpp"
#include "policies/registry.hpp"
#include "scheduler/core.hpp"

namespace rehearse::testing {

namespace {

using namespace scheduler;

constexpr std::string_view divider = "----";

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

std::vector<std::string> parts_of(const std::string& text, char between) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, between);) {
    parts.push_back(part);
  }
  return parts;
}

// The value of `key=value` among the words.
std::string value_of(const std::vector<std::string>& words, std::string_view key,
                     std::string otherwise = {}) {
  for (const std::string& word : words) {
    if (word.starts_with(key) && word.size() > key.size() && word[key.size()] == '=') {
      return word.substr(key.size() + 1);
    }
  }
  return otherwise;
}

// {"t":0,"e":"job_started","job":"q"} becomes: job_started job:q
std::string without_quotes(const std::string& line) {
  std::string text;
  int depth = 0;
  for (const char c : line) {
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    const bool outermost = depth == 0 || (depth == 1 && c == '{' && text.empty());
    if (c == '"' || outermost) {
      continue;
    }
    text += c == ',' && depth == 1 ? ' ' : c;
  }
  constexpr std::string_view head = "t:0 e:";
  return text.starts_with(head) ? text.substr(head.size()) : text;
}

class Engine {
 public:
  Engine() { start("psd"); }

  // `command` is a line and the lines that belong to it.
  std::string answer(const std::vector<std::string>& command) {
    const std::vector<std::string> words = words_of(command.front());
    out_.clear();
    lines_.clear();
    passing_ = words.front() == "pass";
    if (!about_the_core(words) && !about_executors(words) && !about_tasks(words)) {
      if (words.front() != "submit") {
        throw std::invalid_argument("no command: " + command.front());
      }
      submit(command);
    }
    carry_out();
    if (lines_.empty()) {
      lines_ = "(nothing)\n";
    }
    if (core_ && core_->wants_pass() && !passing_) {
      lines_ += "wants a pass\n";
    }
    return lines_;
  }

 private:
  using NamedRun = std::pair<std::string, RunId>;  // "job/stage/partition@attempt"
  struct JobHere {
    JobId id;
    std::shared_ptr<const model::JobSpec> spec;
  };

  // ---- the core itself ----

  bool about_the_core(const std::vector<std::string>& words) {
    const std::string& verb = words.front();
    if (verb == "core") {
      start(words.at(1));
    } else if (verb == "profile") {
      profile_names_.push_back(names_.intern(words.at(1)));
      profile_tasks_.push_back(amounts(words));
      core_.reset();
    } else if (verb == "remember") {
      remembered_.emplace(core());
    } else if (verb == "same") {
      lines_ = core() == remembered_.value() ? "the same\n" : "another core\n";
    } else if (verb == "probe") {
      show(core().probe(model::ProbeWhen::end));
    } else if (verb == "pass") {
      core().pass(out_);
    } else if (verb == "timer") {
      step(TimerFired{TimerId{static_cast<std::uint32_t>(std::stoul(words.at(1)))}});
    } else if (verb == "stuck") {
      step(Stuck{});
    } else if (verb == "cancel") {
      step(CancelJob{jobs_.at(words.at(1)).id});
    } else if (verb == "forget") {
      step(ForgetJob{jobs_.at(words.at(1)).id});
    } else {
      return false;
    }
    return true;
  }

  void start(const std::string& configuration) {
    const auto parsed = model::parse_configuration(configuration);
    if (!parsed) {
      throw std::invalid_argument(model::to_string(parsed.error()));
    }
    config_ = model::resolve_configuration(*parsed, names_).value();
    profile_names_ = {names_.intern("default")};
    profile_tasks_ = {{model::milli, 0}};
    core_.reset();
    remembered_.reset();
    executors_.clear();
    expected_.clear();
    jobs_.clear();
    runs_.clear();
    dying_.clear();
  }

  // Made at the first use, when the profiles are known.
  Core& core() {
    if (!core_) {
      CoreOptions options;
      options.config = config_;
      options.profile_names = profile_names_;
      options.profile_tasks = profile_tasks_;
      options.names = &names_;
      core_.emplace(options, policies::make(config_).value());
    }
    return *core_;
  }

  void step(const Input& input) { core().step(input, out_); }

  void carry_out() {
    const Actions actions = std::exchange(out_, {});
    for (const Action& action : actions.list) {
      if (const auto* entry = std::get_if<Entry>(&action)) {
        show(actions.entries[entry->index]);
      } else if (const auto* launch = std::get_if<Launch>(&action)) {
        const std::string task = fmt::format(
            "{}/{}/{}{}", names_.text(launch->job_name), names_.text(launch->stage_name),
            launch->partition, launch->attempt > 0 ? fmt::format("@{}", launch->attempt) : "");
        lines_ +=
            fmt::format("launch {} on {}{}\n", task, names_.text(launch->executor_name),
                        launch->try_number > 0 ? fmt::format(" try {}", launch->try_number) : "");
        runs_.emplace_back(task, launch->run);
      } else if (const auto* end = std::get_if<EndTask>(&action)) {
        lines_ += fmt::format("end {} {}{}{}\n", take_run(end->run), model::name_of(end->status),
                              end->reason ? " " + std::string(model::name_of(*end->reason)) : "",
                              end->counted ? "" : " not counted");
      } else if (const auto* kill = std::get_if<Kill>(&action)) {
        const std::string task = take_run(kill->run);
        lines_ += fmt::format("kill {} {}\n", task, model::name_of(kill->reason));
        dying_.emplace_back(task, kill->run);
      } else if (const auto* shared = std::get_if<ReturnShared>(&action)) {
        lines_ += fmt::format("return {} {} of {} on {}\n", shared->count,
                              names_.text(shared->profile_name), names_.text(shared->job_name),
                              names_.text(shared->executor_name));
      } else {
        const auto& timer = std::get<SetTimer>(action);
        lines_ +=
            fmt::format("timer {} in {}\n", timer.timer.value, model::format_duration(timer.delay));
      }
    }
  }

  void show(const model::EventBody& body) {
    if (const auto* submitted = std::get_if<model::JobSubmitted>(&body)) {
      lines_ += fmt::format("job_submitted {}\n", names_.text(submitted->job));
      return;  // the rest is what the command says
    }
    model::Event event{0, body};
    if (auto* probe = std::get_if<model::Probe>(&event.body)) {
      probe->digest = 0;  // stable, and no story
    }
    lines_ += without_quotes(model::journal_line(event, names_)) + "\n";
  }

  // ---- executors ----

  bool about_executors(const std::vector<std::string>& words) {
    const std::string& verb = words.front();
    if (verb == "expect") {
      const auto id = static_cast<std::uint32_t>(expected_.size());
      expected_.emplace(words.at(1), ExpectedId{id});
      step(ExpectExecutor{executor_spec(words)});
    } else if (verb == "give-up") {
      step(GiveUpExecutor{expected_.at(words.at(1))});
    } else if (verb == "join") {
      join(words);
    } else if (verb == "hold" || verb == "drain") {
      step(HoldExecutor{executors_.at(words.at(1)),
                        verb == "hold" ? model::HoldCause::hold : model::HoldCause::decommission});
    } else if (verb == "release") {
      step(ReleaseExecutor{executors_.at(words.at(1))});
    } else if (verb == "lose") {
      const auto cause = words.size() > 2 ? model::parse_enum<model::LossCause>(words[2]).value()
                                          : model::LossCause::process;
      step(LoseExecutor{executors_.at(words.at(1)), cause});
    } else {
      return false;
    }
    return true;
  }

  void join(const std::vector<std::string>& words) {
    JoinExecutor input;
    if (const auto due = expected_.find(words.at(1)); due != expected_.end()) {
      input.expected = due->second;
    } else {
      input.spec = executor_spec(words);
      const auto id = static_cast<std::uint32_t>(expected_.size());
      expected_.emplace(words[1], ExpectedId{id});  // the core counts it among them
    }
    executors_.emplace(words[1], ExecutorId{executors_.size()});
    step(input);
  }

  model::ExecutorSpec executor_spec(const std::vector<std::string>& words) {
    model::ExecutorSpec spec;
    spec.name = names_.intern(words.at(1));
    spec.host = names_.intern(value_of(words, "host", "h-" + words[1]));
    spec.resources = amounts(words);
    if (const std::string profile = value_of(words, "profile"); !profile.empty()) {
      spec.profile = profile_named(profile);
    }
    return spec;
  }

  static model::ResourceVector amounts(const std::vector<std::string>& words) {
    return {std::stoll(value_of(words, "cpus", "0")) * model::milli,
            std::stoll(value_of(words, "gpus", "0")) * model::milli};
  }

  ProfileId profile_named(const std::string& name) {
    const auto at = std::ranges::find(profile_names_, names_.intern(name));
    if (at == profile_names_.end()) {
      throw std::invalid_argument("no profile " + name);
    }
    return ProfileId{static_cast<std::size_t>(at - profile_names_.begin())};
  }

  // ---- jobs ----

  void submit(const std::vector<std::string>& command) {
    const std::vector<std::string> words = words_of(command.front());
    auto spec = std::make_shared<model::JobSpec>();
    spec->name = names_.intern(words.at(1));
    spec->pool = names_.intern("default");
    SubmitJob input;
    input.job = JobId{next_job_};
    input.rank = next_job_++;
    for (std::size_t i = 1; i < command.size(); ++i) {
      const std::vector<std::string> line = words_of(command[i]);
      if (line.front() == "stage") {
        add_stage(line, *spec, input);
      } else if (line.front() == "edge") {
        add_edge(line, *spec);
      } else {
        throw std::invalid_argument("no stage and no edge: " + command[i]);
      }
    }
    if (words.back() == "shared") {
      for (std::uint32_t i = 0; i < input.own_stages; ++i) {
        input.shared.emplace_back(i);
      }
    }
    input.spec = spec;
    jobs_[words[1]] = {input.job, spec};
    step(input);
  }

  void add_stage(const std::vector<std::string>& words, model::JobSpec& spec, SubmitJob& input) {
    model::StageSpec stage;
    stage.name = names_.intern(words.at(1));
    stage.tasks = std::stoi(value_of(words, "tasks", "1"));
    stage.profile = profile_named(value_of(words, "profile", "default"));
    stage.commits = model::parse_enum<model::Commits>(value_of(words, "commits", "none")).value();
    if (const std::string places = value_of(words, "prefers"); !places.empty()) {
      std::vector<model::NameId> list;
      for (const std::string& place : parts_of(places, ',')) {
        list.push_back(names_.intern(place));
      }
      stage.prefers.assign(static_cast<std::size_t>(stage.tasks), list);
    }
    if (const std::string other = value_of(words, "for"); !other.empty()) {
      const std::vector<std::string> parts = parts_of(other, '/');
      const JobHere& job = jobs_.at(parts.at(0));
      input.foreign.push_back({job.id, stage_named(*job.spec, parts.at(1)), names_.intern(other)});
    } else {
      ++input.own_stages;
    }
    spec.stages.push_back(std::move(stage));
  }

  void add_edge(const std::vector<std::string>& words, model::JobSpec& spec) {
    model::EdgeSpec edge;
    edge.from = stage_named(spec, words.at(1));
    edge.to = {stage_named(spec, words.at(2))};
    edge.kind = words.back() == "pipelined" ? model::EdgeKind::pipelined : model::EdgeKind::regular;
    spec.edges.push_back(std::move(edge));
  }

  model::StageIndex stage_named(const model::JobSpec& spec, const std::string& name) {
    const auto at = std::ranges::find(spec.stages, names_.intern(name), &model::StageSpec::name);
    if (at == spec.stages.end()) {
      throw std::invalid_argument("no stage " + name);
    }
    return model::StageIndex{static_cast<std::size_t>(at - spec.stages.begin())};
  }

  // ---- tasks ----

  bool about_tasks(const std::vector<std::string>& words) {
    const std::string& verb = words.front();
    if (verb == "freed") {
      freed(words.at(1));
      return true;
    }
    if (verb != "end" && verb != "fail" && verb != "killed") {
      return false;
    }
    TaskEnded input;
    input.run = run_named(words.at(1));
    if (verb == "killed") {
      input.status = model::TaskStatus::killed;
      input.reason = model::TaskReason::external;
    } else if (verb == "fail") {
      input.status = model::TaskStatus::failed;
      input.reason =
          model::parse_enum<model::TaskReason>(words.size() > 2 ? words[2] : "exception");
      RH_CHECK(input.reason.has_value());
      if (input.reason == model::TaskReason::fetch_failed) {
        const JobHere& job = jobs_.at(parts_of(words[1], '/').front());
        input.fetch_from = stage_named(*job.spec, words.at(3));
        input.fetch_partition = std::stoi(words.at(4));
      }
    }
    step(input);
    return true;
  }

  void freed(const std::string& which) {
    for (const auto& [task, run] : std::exchange(dying_, {})) {
      if (which == "all" || which == task) {
        step(KillEffective{run});
      } else {
        dying_.emplace_back(task, run);
      }
    }
  }

  std::string take_run(RunId run) {
    const auto at = std::ranges::find(runs_, run, &NamedRun::second);
    if (at == runs_.end()) {
      throw std::invalid_argument("the core ends a run that is not there");
    }
    const std::string task = at->first;
    runs_.erase(at);
    return task;
  }

  RunId run_named(const std::string& task) {
    const auto at = std::ranges::find(runs_, task, &NamedRun::first);
    if (at == runs_.end()) {
      throw std::invalid_argument("does not run: " + task);
    }
    return at->second;
  }

  model::NameTable names_;
  model::SchedulerConfig config_;
  std::vector<model::NameId> profile_names_;
  std::vector<model::ResourceVector> profile_tasks_;
  std::optional<Core> core_;
  std::optional<Core> remembered_;
  Actions out_;
  std::string lines_;
  bool passing_ = false;
  std::uint32_t next_job_ = 0;
  std::map<std::string, ExecutorId> executors_;
  std::map<std::string, ExpectedId> expected_;
  std::map<std::string, JobHere> jobs_;
  std::vector<NamedRun> runs_;
  std::vector<NamedRun> dying_;
};

}  // namespace

std::string run_core_script(std::string_view script) {
  Engine engine;
  std::string result;
  std::vector<std::string> command;
  bool in_answer = false;
  std::istringstream stream{std::string(script)};
  for (std::string line; std::getline(stream, line);) {
    if (in_answer) {
      in_answer = !line.empty();
      result += in_answer ? "" : "\n";
    } else if (line == divider) {
      if (command.empty()) {
        throw std::invalid_argument("an answer without a command");
      }
      result += std::string(divider) + "\n" + engine.answer(command);
      command.clear();
      in_answer = true;
    } else {
      result += line + "\n";
      if (!line.empty() && line.front() != '#') {
        command.push_back(line);
      }
    }
  }
  if (!command.empty()) {
    throw std::invalid_argument("no ---- after: " + command.front());
  }
  return result;
}

}  // namespace rehearse::testing
