// One case of the suite, run against a core of its own. The driver hands over inputs, carries out
// actions and keeps what the core said as journal lines; expectations are compared with those.
// Nothing is worked out that the core should know, and nothing decided but where a task runs,
// because the case says so: by a placement policy. Jobs and stages that the case does not name have
// names in parentheses.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/core.hpp"

namespace rehearse::conformance {

using Json = nlohmann::json;
using Names = std::set<std::string>;
using scheduler::ExecutorId;
using scheduler::RunId;
using scheduler::StageIndex;

// Ends the case as failed unless it holds.
void require(bool holds, const std::string& expected, const std::string& actual = "none");

template <class List, class Value, class Part = std::identity>
[[nodiscard]] bool has(const List& list, const Value& value, Part part = {}) {
  return std::ranges::find(list, value, part) != std::ranges::end(list);
}

// The index of a value that must be in the list.
template <class List, class Value, class Part = std::identity>
[[nodiscard]] std::size_t place_of(const List& list, const Value& value, const std::string& what,
                                   Part part = {}) {
  require(has(list, value, part), what);
  return static_cast<std::size_t>(std::ranges::find(list, value, part) - std::ranges::begin(list));
}

// Levels of locality as the suite calls them, in the order of scheduler::Locality.
inline constexpr std::array<std::string_view, 5> level_names{"PROCESS_LOCAL", "NODE_LOCAL",
                                                             "NO_PREF", "RACK_LOCAL", "ANY"};

struct Executor {
  std::string name;
  std::string host;
  bool live = true;  // its loss has not been told
  bool draining = false;
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
  // ---- the case ----
  model::Dialect dialect{};
  bool dag = true;  // stage level: passes as the core wants them; else only where slots are offered
  Json& given;      // its stages and edges are all there are, also the driver's own
  const Json& steps;
  const Json& then;       // the expectations that hold
  Json& lines;            // what the core said so far, each with its "step"
  Json& running;          // task_start lines of what runs
  std::string variant{};  // of the case; empty: it has none

  // ---- the core: engine.cpp ----
  model::NameTable names{};
  scheduler::CoreOptions options{};
  std::unique_ptr<scheduler::Core> core{};
  int step = -1;
  model::Instant now = 0;
  std::vector<Executor> executors{};  // by ExecutorId
  std::multimap<std::pair<model::Instant, std::uint32_t>, scheduler::SetTimer> timers{};  // by due
  std::deque<ExecutorId> picks{};   // what the placement policy answers
  std::optional<RunId> injected{};  // the case itself says that it ends

  // ---- what the case did: jobs.cpp and steps.cpp ----
  bool narrow = false;      // the case says how many slots there are
  std::vector<Job> jobs{};  // by JobId
  std::map<std::string, scheduler::ForeignStage> owners{};  // of outputs, by base_of their stage
  std::size_t input_executor = 0;                           // runs stages "(input)"
  Names failed{};                                      // stages of failures since the last timer
  std::map<std::string, std::int64_t> accumulators{};  // of task ends that counted
  std::map<std::string, std::int64_t> losses{};        // executor -> notices

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

  void act(const std::function<void(scheduler::Actions&)>& what);
  void carry_out(const scheduler::Actions& actions);
  [[nodiscard]] Json line(const scheduler::Actions& actions, const scheduler::Action& action) const;
};

// ---- engine.cpp: what the core said ----
[[nodiscard]] bool matches(const Json& line, const Json& keys);       // has all keys and values
[[nodiscard]] const Json* first(const Json& list, const Json& keys);  // that matches, or null
[[nodiscard]] Json all(const Json& list, const Json& keys);
[[nodiscard]] const Json& the(const Json& list, const Json& keys);  // there must be one
[[nodiscard]] Json column(const Json& list, const char* key);
// The lines of an event that match; those of work that the case does not name are left out.
[[nodiscard]] Json said(const Run& run, const std::string& event, Json keys);
[[nodiscard]] Json about(const Json& word);  // what of a word of the case lines have too
[[nodiscard]] std::int32_t latest_attempt(const Run& run, const std::string& stage);
// Of an attempt; of all of the stage if there is no such attempt.
[[nodiscard]] Json partitions_of(const Run& run, const std::string& stage, const Json& attempt);
// The task_start line of the latest that runs and has not given back its slot, or null.
[[nodiscard]] Json running(const Run& run, const Json& keys);
[[nodiscard]] const Job& job_with(const Run& run, const std::string& stage);  // the latest
[[nodiscard]] StageIndex index_in(const Job& job, const std::string& stage);
[[nodiscard]] bool live(const Run& run, const std::string& job);

// ---- jobs.cpp: a case as configuration and jobs ----
void read_case(Run& run);
[[nodiscard]] Json normal(Json words);  // task level in the words of stage level
[[nodiscard]] const Json& part(const Json& object, const std::string& key);  // or an empty object
[[nodiscard]] bool listed(std::string_view words, const std::string& word);
[[nodiscard]] std::string stage_of_shuffle(const Run& run, const std::string& shuffle);
[[nodiscard]] std::string base_of(const std::string& stage);  // M@2 -> M
[[nodiscard]] scheduler::ProfileId profile_of(const Run& run, const std::string& profile);
void submit_job(Run& run, const Json& job);
// A job of stages of which each reads the one in front of it, over an edge of the kind "input".
void submit_chain(Run& run, Json job, const std::vector<Json>& stages);
void tell_cached(Run& run);  // to the jobs that live

// ---- steps.cpp ----
// The live executor of that name that takes launches; hostA-exec and hostA-exec1 are on hostA, if
// neither the case's list nor a step says another host.
[[nodiscard]] std::size_t executor_of(Run& run, const std::string& name);
[[nodiscard]] scheduler::TaskEnded end_of(const std::string& reason);
// Where a task runs: on the executor of the first later step that ends its partition in its attempt
// or, failing that, in one that is read as the latest.
[[nodiscard]] std::size_t where(Run& run, const Json& start);
void begin(Run& run);  // what is there before the first step
void take_step(Run& run, const Json& step);

// ---- checks.cpp ----
void check(const Run& run, const Json& expectation);

}  // namespace rehearse::conformance
