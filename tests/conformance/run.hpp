// One case of the suite, run against a core of its own. An engine as thin as it can be hands over
// inputs, carries out actions and keeps what the core said as journal lines; expectations are
// compared with those. Nothing is worked out that the core should know, and nothing decided but
// where a task runs, because the case says so: by a placement policy.
#pragma once

#include <array>
#include <cstdint>
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
using scheduler::RunId;
using scheduler::StageIndex;

// Both end a case as failed.
[[noreturn]] void lacks(const std::string& thing);  // the core has no such thing
void require(bool holds, const std::string& expected, const Json& actual);

// Levels of locality as the suite calls them, in the order of scheduler::Locality.
inline constexpr std::array<const char*, 5> level_names{"PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF",
                                                        "RACK_LOCAL", "ANY"};

// What the policy answers while a pass runs. Shared by a core and its copies.
struct Plan {
  bool in_force = false;                     // else: wherever there is most room
  std::vector<scheduler::ExecutorId> picks;  // the first answers
  scheduler::ExecutorId rest;                // the others
  std::size_t asked = 0;
};

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
  Engine(const scheduler::CoreOptions& made, bool leaves);

  void feed(const scheduler::Input& input);
  // Ends a run; "injected" in its line: the case itself says so.
  void end(RunId run, scheduler::TaskEnded ended, bool injected);
  std::size_t join(const std::string& name, const std::string& host, model::ExecutorSpec spec);
  void lose(std::size_t executor, model::LossCause cause);
  void hold(std::size_t executor);
  void decommission(std::size_t executor);
  void fire(const std::function<bool(const Timer&)>& which);
  // Passes until the core wants none, each task (its task_start line) placed by `where`; `marker`
  // is an executor where nothing ever runs, `spare` one for whatever `where` is not asked about.
  void settle(std::size_t spare, std::size_t marker,
              const std::function<std::size_t(const Json&)>& where);
  void offer(const scheduler::OfferRound& round);
  // What a copy of the core answers to an input and, if wanted, to a pass: lines.
  [[nodiscard]] std::vector<Json> ask_copy(const scheduler::Input& input, bool pass) const;
  [[nodiscard]] std::optional<std::size_t> find(const std::string& name) const;  // the latest

  scheduler::CoreOptions options;
  std::unique_ptr<Plan> plan = std::make_unique<Plan>();  // the policies hold its address
  std::unique_ptr<scheduler::Core> core;
  int step = -1;
  model::Instant now = 0;
  std::vector<ExecutorRow> executors;     // by ExecutorId
  std::vector<Json> lines;                // all so far, each with its "step"
  std::map<std::uint32_t, Json> running;  // RunId -> task_start
  std::vector<Timer> timers;              // pending

 private:
  [[nodiscard]] Json line(model::EventBody body) const;
  [[nodiscard]] Json line(const scheduler::Launch& launch) const;
  scheduler::Actions pass(scheduler::Core& on, const Plan& with);
  void carry_out(const scheduler::Actions& actions);
  void close(RunId run, const scheduler::EndTask& end);
  void leave_if_empty(std::size_t executor);

  bool leaves_;
  std::optional<RunId> injected_;
};

// Stages of a job as the case calls them, by StageIndex: own ones first, then those taken over.
struct JobRow {
  std::string name;
  scheduler::JobId id;
  std::vector<std::string> stages;
  std::size_t own = 0;
  std::string final_stage;
};

struct Run {
  model::Dialect dialect{};
  bool dag = true;  // stage level: passes as the core wants them; else only where slots are offered
  const Json& given;
  const Json& steps;
  const Json& then;  // the expectations that hold
  model::NameTable names{};
  scheduler::CoreOptions options{};
  bool narrow = false;  // the case says how many slots there are
  std::unique_ptr<Engine> engine{};
  std::vector<JobRow> jobs{};  // in the order of submission
  std::uint32_t next_job = 0;
  std::size_t input_executor = 0;                      // runs stage "input"
  Names failed{};                                      // stages of failures since the last timer
  std::map<std::string, std::int64_t> accumulators{};  // of task ends that counted
  std::map<std::string, std::int64_t> losses{};        // executor -> notices
};

// ---- jobs.cpp: a case as configuration and jobs ----
void read_options(Run& run);
[[nodiscard]] const Json& part(const Json& object, const std::string& key);  // or an empty object
[[nodiscard]] const Json& stage_record(const Run& run, const std::string& stage);
[[nodiscard]] std::string stage_of_shuffle(const Run& run, const std::string& shuffle);
[[nodiscard]] std::string base_of(const std::string& stage);  // M@2 -> M
[[nodiscard]] scheduler::ProfileId profile_of(const Run& run, const std::string& profile);
model::StageSpec plain_stage(Run& run, const std::string& name, const Json& record);
void submit_job(Run& run, const Json& job);
void submit_plain(Run& run, const std::string& name, model::JobSpec spec, const Json& record);

// ---- steps.cpp ----
void begin(Run& run);  // what is there before the first step
void take_step(Run& run, const Json& step);

// ---- checks.cpp: what the core said ----
[[nodiscard]] bool matches(const Json& line, const Json& keys);  // has all keys and values
// The lines of an event that match; those of other work are not the case's.
[[nodiscard]] std::vector<Json> said(const Run& run, const std::string& event, const Json& keys);
[[nodiscard]] std::int32_t latest_attempt(const Run& run, const std::string& stage);
// Of an attempt; of all of the stage if there is no such attempt.
[[nodiscard]] Json partitions_of(const Run& run, const std::string& stage, const Json& attempt);
// The latest run whose line has all these keys and values.
[[nodiscard]] std::optional<RunId> running(const Run& run, const Json& keys);
[[nodiscard]] const JobRow& job_with(const Run& run, const std::string& stage);  // the latest
[[nodiscard]] StageIndex index_in(const JobRow& job, const std::string& stage);
[[nodiscard]] bool live(const Run& run, const std::string& job);
void check(Run& run, const Json& expectation);
void check_launches(Run& run, const std::vector<Json>& expected);  // all there are at this step

}  // namespace rehearse::conformance
