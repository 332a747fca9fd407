// One case of the suite, run against a core of its own. The driver hands over inputs, carries out
// actions and keeps what was said and done as journal lines; whatever it needs to know of the
// schedule it reads in those, and expectations are compared with them. Nothing is worked out that
// the core should know, and nothing decided but where a task runs, because the case says so: by a
// placement policy. Jobs and stages that the case does not name have names in parentheses.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "scheduler/core.hpp"

namespace rehearse::model {
// As the suite calls them.
RH_ENUM_NAMES(scheduler::Locality, "PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL", "ANY");
}  // namespace rehearse::model

namespace rehearse::conformance {

using Json = nlohmann::json;
using Names = std::set<std::string>;
using scheduler::ExecutorId;
using scheduler::StageIndex;

// Refuses the record unless it holds.
inline void demand(bool holds, const std::string& what) {
  if (!holds) {
    throw std::invalid_argument(what);
  }
}

// Ends the case as failed unless it holds.
inline void require(bool holds, const std::string& expected, const std::string& actual = "none") {
  if (!holds) {
    throw std::runtime_error("expected " + expected + ", found " + actual);
  }
}

// ---- lists, most of them of JSON objects; "keys" are those that an object must have, and their
// values ----

template <class List, class Value, class Part = std::identity>
[[nodiscard]] bool has(const List& list, const Value& value, Part part = {}) {
  return std::ranges::any_of(list,
                             [&](const auto& one) { return std::invoke(part, one) == value; });
}

// The index of a value that must be in the list.
template <class List, class Value, class Part = std::identity>
[[nodiscard]] std::size_t place_of(const List& list, const Value& value, const std::string& what,
                                   Part part = {}) {
  demand(has(list, value, part), "there is no " + what);
  return static_cast<std::size_t>(std::ranges::find(list, value, part) - std::ranges::begin(list));
}

[[nodiscard]] bool matches(const Json& object, const Json& keys);
// The one that matches, or null.
template <class List>
[[nodiscard]] auto* first(List& list, const Json& keys) {
  const auto found = std::ranges::find_if(list, [&](const Json& o) { return matches(o, keys); });
  return found == list.end() ? nullptr : &*found;
}
[[nodiscard]] bool any(const Json& list, const Json& keys);
[[nodiscard]] Json all(const Json& list, const Json& keys);
[[nodiscard]] const Json& the(const Json& list, const Json& keys);  // the case must have it
[[nodiscard]] Json column(const Json& list, const std::string& key);
[[nodiscard]] const Json& part(const Json& object, const std::string& key);  // or an empty object

template <model::NamedEnum Enum>
[[nodiscard]] Enum enum_of(const std::string& text, const std::string& field) {
  const auto value = model::parse_enum<Enum>(text);
  demand(value.has_value(), field + ": unknown word " + text);
  return *value;
}

struct Executor {
  std::string name;
  std::string host;
};

// Stages of a job as the case calls them, by StageIndex: own ones first, then those taken over.
struct Job {
  std::string name;
  scheduler::JobId id;
  std::vector<std::string> stages;
  std::size_t own = 0;
  std::string final_stage;
};

struct Run {
  // ---- the case, of one record, so that errors name its fields ----
  Json& given;  // with the vocabulary's defaults; its stages and edges are all there are, also ours
  const Json& steps;
  const Json& then;  // the expectations that hold
  // What was said and done so far, each with its "step". A task_start line has also the "run" and
  // the "row" of its executor, whether it is "live", "held" (its slot is back, its end is not told)
  // and "injected" (the case itself ends it, in the step "told"); so has its task_end line.
  Json& lines;
  model::Dialect dialect{};
  bool dag = true;  // stage level: passes as the core wants them; else only where slots are offered
  std::string variant{};  // of the case; empty: it has none
  bool narrow = false;    // the case says how many slots there are

  // ---- the core, and names of its ids ----
  model::NameTable names{};
  scheduler::CoreOptions options{};
  std::unique_ptr<scheduler::Core> core{};
  std::vector<Executor> executors{};  // by ExecutorId
  std::vector<Job> jobs{};            // by JobId

  // ---- its engine ----
  int step = -1;
  model::Instant now = 0;
  std::multimap<std::pair<model::Instant, std::uint32_t>, scheduler::SetTimer> timers{};  // by due
  std::deque<ExecutorId> picks{};  // what the placement policy answers

  void start();  // the core, once the options are set
  void feed(const scheduler::Input& input);
  void offer(const scheduler::OfferRound& round);
  void end(const Json& start, scheduler::TaskEnded ended, bool by_case);
  std::size_t join(const std::string& name, const std::string& host, model::ExecutorSpec spec);
  void hold(std::size_t executor, model::HoldCause cause);
  void lose(std::size_t executor, model::LossCause cause);
  void fire(std::optional<model::Duration> delay);  // timers set to it; else those that are due
  void elapse(model::Duration time);                // and fires what is due then
  void settle();  // at stage level: passes until the core wants none
  // The lines a copy of the core answers with to an input, if any, and a pass.
  [[nodiscard]] Json ask_copy(const std::optional<scheduler::Input>& input) const;

 private:
  void act(const std::function<void(scheduler::Actions&)>& what);
  void close(std::size_t executor, const std::string& event);  // a line: it takes no launches now
  [[nodiscard]] Json line(const scheduler::Actions& actions, const scheduler::Action& action) const;
};

// ---- engine.cpp: what the lines and the case say ----
[[nodiscard]] const Json& vocabulary();  // vocabulary.json: what the words of the suite mean
// The lines of an event that match; those of work that the case does not name are left out.
[[nodiscard]] Json said(const Run& run, const std::string& event, Json keys);
[[nodiscard]] Json last_said(const Run& run, const std::string& event, const Json& keys);  // or {}
[[nodiscard]] Json about(const Json& word);  // what of a word of the case lines have too
[[nodiscard]] std::int32_t latest_attempt(const Run& run, const std::string& stage);
// Of an attempt; of all of the stage if there is no such attempt.
[[nodiscard]] Json partitions_of(const Run& run, const std::string& stage, const Json& attempt);
// The task_start line of the latest that runs and has not given back its slot, or null.
[[nodiscard]] Json running(const Run& run, Json keys);
[[nodiscard]] const Job& job_with(const Run& run, const std::string& stage);  // the latest
[[nodiscard]] StageIndex index_in(const Job& job, const std::string& stage);
[[nodiscard]] bool live(const Run& run, const std::string& job);
[[nodiscard]] bool lost(const Run& run, const std::string& executor);  // its loss was told

// ---- jobs.cpp: a case as configuration and jobs ----
void read_case(Run& run);
[[nodiscard]] Json normal(Json words);  // task level in the words of stage level
[[nodiscard]] std::string stage_of_shuffle(const Run& run, const std::string& shuffle);
[[nodiscard]] std::string base_of(const std::string& stage);  // M@2 -> M
[[nodiscard]] scheduler::ProfileId profile_of(const Run& run, const std::string& profile);
void submit_job(Run& run, const Json& job);
void tell_cached(Run& run);  // to the jobs that live

// ---- steps.cpp ----
// The latest executor of that name, a new one if there is none; open: that takes launches.
[[nodiscard]] std::size_t executor_of(Run& run, const std::string& name, bool open = true);
[[nodiscard]] std::size_t where(Run& run, const Json& start);  // a task runs: its executor
[[nodiscard]] scheduler::TaskEnded end_of(const std::string& reason);
[[nodiscard]] bool is_input(const std::string& op);
void begin(Run& run);  // what is there before the first step
void take_step(Run& run, const Json& step);

// ---- checks.cpp ----
[[nodiscard]] bool is_expectation(const std::string& op);
// False: the core's headers say nothing of what is expected, so it is not judged.
[[nodiscard]] bool check(const Run& run, const Json& expectation);

}  // namespace rehearse::conformance
