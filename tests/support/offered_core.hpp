// A scheduler core that is handed slots offer by offer, as an engine in the manner of Spark does
// it: single slots with a limit of locality, or rounds over several executors. Time is in
// milliseconds and passes on request; timers fire on the way. Kills take effect at once.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/core.hpp"

namespace rehearse::testing {

using scheduler::Actions;
using scheduler::EngineOptions;
using scheduler::ExecutorId;
using scheduler::JobId;
using scheduler::Launch;
using scheduler::Locality;
using scheduler::OfferRound;
using scheduler::RoundKind;
using scheduler::RunId;
using scheduler::StageIndex;
using scheduler::TaskEnded;
using scheduler::Unschedulable;

class OfferedCore {
 public:
  struct Made {  // what differs from the preset psd
    model::SchedulerConfig config = model::preset(model::Dialect::psd);
    EngineOptions engine;
    bool autoscaling = false;
  };
  using Preferences = std::vector<std::vector<std::string>>;  // by task
  struct Stage {
    std::string name;
    std::int32_t tasks = 1;
    Preferences prefers = {};
    std::vector<std::size_t> reads = {};  // stages before it,
    model::EdgeKind kind = model::EdgeKind::regular;
    bool shared = false;  // jobs submitted later may read it
  };

  explicit OfferedCore(const Made& made) : core_(make(made)) {}

  ExecutorId join(const std::string& name, const std::string& host, int slots = 8) {
    scheduler::JoinExecutor input;
    input.spec.name = names_.intern(name);
    input.spec.host = names_.intern(host);
    input.spec.resources = {slots * model::milli};
    step(input);
    return ExecutorId{executors_++};
  }
  JobId submit(const std::string& name, const std::vector<Stage>& stages);
  // A job of one task that reads the first stage of another, which is shared.
  JobId submit_reader(const std::string& name, JobId other, const Stage& read);
  model::NameId name(const std::string& text) { return names_.intern(text); }

  // ---- inputs ----

  void step(const scheduler::Input& input) {
    Actions out;
    core_.step(input, out);
    carry_out(out);
  }
  void end(const Launch& task, TaskEnded ended = {}) {
    ended.run = task.run;
    step(ended);
  }
  void fail(const Launch& task, model::TaskReason reason = model::TaskReason::exception) {
    TaskEnded ended;
    ended.status = reason == model::TaskReason::external ? model::TaskStatus::killed
                                                         : model::TaskStatus::failed;
    ended.reason = reason;
    end(task, ended);
  }
  void fail_to_fetch(const Launch& task, std::size_t stage, std::int32_t partition) {
    TaskEnded ended;
    ended.status = model::TaskStatus::failed;
    ended.reason = model::TaskReason::fetch_failed;
    ended.fetch_from = StageIndex{stage};
    ended.fetch_partition = partition;
    end(task, ended);
  }
  // Timers on the way, and due then, fire.
  void advance_to(std::int64_t milliseconds) {
    const model::Instant until = milliseconds * model::millisecond;
    while (true) {
      const auto next = std::ranges::min_element(timers_, {}, &Timer::due);
      if (next == timers_.end() || next->due > until) {
        break;
      }
      const Timer timer = *next;
      timers_.erase(next);
      set_now(timer.due);
      step(scheduler::TimerFired{timer.id});
    }
    set_now(until);
  }

  // ---- what is launched, in order ----

  std::vector<Launch> offer(const OfferRound& round) {
    Actions out;
    core_.offer(round, out);
    return carry_out(out);
  }
  // One slot.
  std::optional<Launch> offer(ExecutorId executor, Locality limit = Locality::any) {
    const auto list = offer({{{executor, {{model::milli}}}}, RoundKind::single, limit});
    REQUIRE(list.size() <= 1);
    return list.empty() ? std::nullopt : std::optional(list.front());
  }
  std::vector<Launch> round(const std::vector<ExecutorId>& executors) {
    OfferRound round;
    for (const ExecutorId executor : executors) {
      round.offers.push_back({executor, std::nullopt});
    }
    return offer(round);
  }
  std::vector<Launch> pass() {
    Actions out;
    core_.pass(out);
    return carry_out(out);
  }

  // ---- what the core said ----

  [[nodiscard]] const std::vector<Unschedulable>& unschedulable() const { return unschedulable_; }
  [[nodiscard]] bool lives(JobId job) const { return !ends_.contains(job_names_[job.index()]); }
  [[nodiscard]] bool succeeded(JobId job) const {
    return !lives(job) && ends_.at(job_names_[job.index()]).outcome == model::JobOutcome::succeeded;
  }
  [[nodiscard]] bool failed(JobId job, model::Code code = model::Code::task_failed) const {
    return !lives(job) && ends_.at(job_names_[job.index()]).code == code;
  }
  [[nodiscard]] const std::vector<std::string>& completed() const { return completed_; }
  [[nodiscard]] scheduler::StageReport report(JobId job, std::size_t stage = 0) const {
    return core_.report(job, StageIndex{stage});
  }
  // Where tasks of the job went, by number.
  [[nodiscard]] static std::vector<ExecutorId> places(const std::vector<Launch>& tasks, JobId job) {
    std::vector<ExecutorId> list;
    for (const Launch& task : tasks) {
      if (task.job == job) {
        list.push_back(task.executor);
      }
    }
    std::ranges::sort(list);
    return list;
  }
  // Timers that would still change something.
  [[nodiscard]] std::size_t timers_set() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        timers_, [this](const Timer& timer) { return core_.is_set(timer.id); }));
  }
  [[nodiscard]] scheduler::Core& core() { return core_; }

 private:
  struct Timer {
    scheduler::TimerId id;
    model::Instant due = 0;
  };

  scheduler::Core make(const Made& made);
  model::StageSpec stage_spec(const Stage& stage);
  std::vector<Launch> carry_out(const Actions& actions);  // what it launched
  void note(const model::EventBody& body);
  void set_now(model::Instant now) {
    now_ = now;
    core_.set_now(now);
  }

  model::NameTable names_;
  scheduler::Core core_;
  model::Instant now_ = 0;
  std::uint32_t jobs_ = 0;
  std::uint32_t executors_ = 0;
  std::vector<std::string> job_names_;  // by id
  std::vector<Timer> timers_;
  std::vector<Unschedulable> unschedulable_;
  std::map<std::string, model::JobEnd> ends_;
  std::vector<std::string> completed_;  // stages, one entry for each attempt
};

}  // namespace rehearse::testing
