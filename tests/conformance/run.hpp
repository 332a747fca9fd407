// One case of the suite, run against a core of its own. An engine as thin as it can be hands over
// inputs, carries out actions and keeps what the core said as journal lines; expectations are
// compared with those. Nothing is worked out that the core should know, and nothing decided but
// where a task runs, because the case says so: by a placement policy. Jobs and stages that the case
// does not name have names in parentheses.
#pragma once

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

// Both end a case as failed.
void lacks(bool does, const std::string& thing);  // the core has no such thing
void require(bool holds, const std::string& expected, const Json& actual);

// Levels of locality as the suite calls them, in the order of scheduler::Locality.
inline constexpr std::array<const char*, 5> level_names{"PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF",
                                                        "RACK_LOCAL", "ANY"};

struct ExecutorRow {
  std::string name;
  std::string host;
  bool live = true;  // its loss has not been told
  bool draining = false;
};

struct Timer {
  scheduler::SetTimer set;
  model::Instant due = 0;
};

struct Engine {
  // `leaves`: an executor that drains is lost with its last task (X13); else when the case says so.
  void start(const scheduler::CoreOptions& options, bool leaves);
  void feed(const scheduler::Input& input);
  void offer(const scheduler::OfferRound& round);
  // Ends a run; "injected" in its line: the case itself says so.
  void end(RunId run, scheduler::TaskEnded ended, bool injected);
  std::size_t join(const std::string& name, const std::string& host, model::ExecutorSpec spec);
  void hold(std::size_t executor, model::HoldCause cause);
  void lose(std::size_t executor, model::LossCause cause);
  void fire(const std::function<bool(const Timer&)>& which);
  void elapse(model::Duration time);  // and fires what is due then
  // Passes until the core wants none, each task (its task_start line) placed by `where`; `marker`
  // is an executor where nothing ever runs, `spare` one for whatever `where` is not asked about.
  void settle(std::size_t spare, std::size_t marker,
              const std::function<std::size_t(const Json&)>& where);
  // The lines a copy of the core answers with to an input and a pass.
  [[nodiscard]] std::vector<Json> ask_copy(const scheduler::Input& input) const;
  [[nodiscard]] std::optional<std::size_t> find(const std::string& name) const;  // the latest

  std::unique_ptr<scheduler::Core> core;
  int step = -1;
  model::Instant now = 0;
  std::vector<ExecutorRow> executors;     // by ExecutorId
  std::vector<Json> lines;                // all so far, each with its "step"
  std::map<std::uint32_t, Json> running;  // RunId -> task_start
  std::vector<Timer> timers;              // pending

 private:
  [[nodiscard]] Json line(const scheduler::Actions& actions, const scheduler::Action& action) const;
  void act(const std::function<void(scheduler::Actions&)>& what);
  void carry_out(const scheduler::Actions& actions);

  model::NameTable* names_ = nullptr;
  bool leaves_ = false;
  std::deque<ExecutorId> picks_;  // what the policies answer: they hold its address
  std::optional<RunId> injected_;
  std::vector<std::shared_ptr<const model::JobSpec>> specs_;  // by JobId
};

// Stages of a job as the case calls them, by StageIndex: own ones first, then those taken over.
struct JobRow {
  std::string name;
  scheduler::JobId id;
  std::vector<std::string> stages;
  std::size_t own = 0;
  std::string final_stage;
};

struct Run : Engine {
  model::Dialect dialect{};
  bool dag = true;  // stage level: passes as the core wants them; else only where slots are offered
  const Json& given;
  const Json& steps;
  const Json& then;       // the expectations that hold
  std::string variant{};  // of the case; empty: it has none
  Json& stages;           // all there are, also the driver's own
  Json& edges;
  model::NameTable names{};
  scheduler::CoreOptions options{};
  bool narrow = false;         // the case says how many slots there are
  std::vector<JobRow> jobs{};  // by JobId
  std::map<std::string, scheduler::ForeignStage> owners{};  // of outputs, by base_of their stage
  std::size_t input_executor = 0;                           // runs stages "(input)"
  Names failed{};                                      // stages of failures since the last timer
  std::map<std::string, std::int64_t> accumulators{};  // of task ends that counted
  std::map<std::string, std::int64_t> losses{};        // executor -> notices
};

// ---- jobs.cpp: a case as configuration and jobs ----
void read_case(Run& run);
[[nodiscard]] Json normal(Json words);  // task level in the words of stage level
[[nodiscard]] const Json& part(const Json& object, const std::string& key);  // or an empty object
[[nodiscard]] bool listed(std::string_view words, const std::string& word);
[[nodiscard]] bool any_word(const Json& list, const Json& keys);
[[nodiscard]] const Json& stage_record(const Run& run, const std::string& stage);
[[nodiscard]] std::string stage_of_shuffle(const Run& run, const std::string& shuffle);
[[nodiscard]] std::string base_of(const std::string& stage);  // M@2 -> M
[[nodiscard]] scheduler::ProfileId profile_of(const Run& run, const std::string& profile);
void submit_job(Run& run, const Json& job);
// A job of stages of which each reads the one in front of it, over an edge of the kind "input".
void submit_chain(Run& run, Json job, const std::vector<Json>& stages);
void tell_cached(Run& run);  // to the jobs that live

// ---- steps.cpp ----
void begin(Run& run);  // what is there before the first step
void take_step(Run& run, const Json& step);

// ---- engine.cpp: what the core said ----
[[nodiscard]] bool matches(const Json& line, const Json& keys);  // has all keys and values
// The lines of an event that match; those of work that the case does not name are left out.
[[nodiscard]] std::vector<Json> said(const Run& run, const std::string& event, const Json& keys);
[[nodiscard]] Json about(const Json& word);  // what of a word of the case lines have too
[[nodiscard]] std::int32_t latest_attempt(const Run& run, const std::string& stage);
// Of an attempt; of all of the stage if there is no such attempt.
[[nodiscard]] Json partitions_of(const Run& run, const std::string& stage, const Json& attempt);
// The latest run whose line has all these keys and values.
[[nodiscard]] std::optional<RunId> running(const Run& run, const Json& keys);
[[nodiscard]] const JobRow& job_with(const Run& run, const std::string& stage);  // the latest
[[nodiscard]] StageIndex index_in(const JobRow& job, const std::string& stage);
[[nodiscard]] bool live(const Run& run, const std::string& job);

// ---- checks.cpp ----
void check(const Run& run, const Json& expectation);

}  // namespace rehearse::conformance
