// The engine, and what can be asked of the lines it keeps.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/support/journal_line.hpp"
#include "policies/registry.hpp"
#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

using namespace scheduler;

namespace {

constexpr int passes_max = 1000;  // of one step; more is a core that never comes to rest

// The picks in turn, the last one again and again; without any, wherever there is most room.
class Planned final : public PlacementPolicy {
 public:
  explicit Planned(std::deque<ExecutorId>* picks) : picks_(picks) {}
  [[nodiscard]] std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<Planned>(*this);
  }
  void begin(const SlotView& /*slots*/) override {}
  void taking(const SlotView& /*slots*/, ExecutorId /*executor*/) override {}
  [[nodiscard]] ExecutorId pick(const SlotView& slots, const TaskView& task) override {
    const ProfileId profile = task.profile;
    const ExecutorId wanted = picks_->empty() ? ExecutorId{} : picks_->front();
    if (picks_->size() > 1) {
      picks_->pop_front();
    }
    const bool room = wanted.valid() && slots.free_slots(wanted, profile) > 0;
    return room ? wanted : slots.most_free(profile);
  }

 private:
  std::deque<ExecutorId>* picks_;
};

}  // namespace

void Engine::start(const CoreOptions& options, bool leaves) {
  auto policies = policies::make(options.config);
  lacks(!policies, policies ? "" : policies.error().what);
  policies->placement = std::make_unique<Planned>(&picks_);
  core = std::make_unique<Core>(options, *policies);
  names_ = options.names;
  leaves_ = leaves;
}

std::optional<std::size_t> Engine::find(const std::string& name) const {
  const auto found =
      std::ranges::find(executors.rbegin(), executors.rend(), name, &ExecutorRow::name);
  const auto behind = static_cast<std::size_t>(executors.rend() - found);
  return behind == 0 ? std::nullopt : std::optional(behind - 1);
}

void Engine::act(const std::function<void(Actions&)>& what) {
  Actions actions;
  core->set_now(now);
  what(actions);
  carry_out(actions);
}

void Engine::feed(const Input& input) {
  if (const auto* job = std::get_if<SubmitJob>(&input)) {
    specs_.push_back(job->spec);
  }
  act([&](Actions& out) { core->step(input, out); });
}

void Engine::offer(const OfferRound& round) {
  act([&](Actions& out) { core->offer(round, out); });
}

void Engine::end(RunId run, TaskEnded ended, bool injected) {
  ended.run = run;
  injected_ = injected ? std::optional(run) : std::nullopt;
  feed(ended);
  injected_.reset();
}

std::size_t Engine::join(const std::string& name, const std::string& host,
                         model::ExecutorSpec spec) {
  spec.name = names_->intern(name);
  spec.host = names_->intern(host);
  spec.resources.resize(2);
  executors.push_back({name, host});
  feed(JoinExecutor{{}, spec});
  return executors.size() - 1;
}

void Engine::lose(std::size_t executor, model::LossCause cause) {
  if (std::exchange(executors.at(executor).live, false)) {
    feed(LoseExecutor{ExecutorId{executor}, cause});
  }
}

void Engine::hold(std::size_t executor, model::HoldCause cause) {
  executors.at(executor).draining = cause == model::HoldCause::decommission;
  feed(HoldExecutor{ExecutorId{executor}, cause});
}

void Engine::fire(const std::function<bool(const Timer&)>& which) {
  std::vector<Timer> due;
  std::ranges::copy_if(timers, std::back_inserter(due), which);
  std::erase_if(timers, which);
  std::ranges::sort(due, {},
                    [](const Timer& timer) { return std::pair{timer.due, timer.set.timer.value}; });
  for (const Timer& timer : due) {
    now = std::max(now, timer.due);
    feed(TimerFired{timer.set.timer});
  }
}

void Engine::elapse(model::Duration time) {
  now += time;
  fire([this](const Timer& timer) { return timer.due <= now; });
}

void Engine::settle(std::size_t spare, std::size_t marker,
                    const std::function<std::size_t(const Json&)>& where) {
  for (int passes = 0; core->wants_pass(); ++passes) {
    require(passes < passes_max, "a core that comes to rest", passes);
    std::deque<ExecutorId> real;
    for (bool asked = true; asked;) {  // whose is the next pick?
      picks_ = real;
      picks_.insert(picks_.end(), {ExecutorId{marker}, ExecutorId{spare}});
      Core copy(*core);
      Actions answer;
      copy.pass(answer);
      asked = picks_.size() == 1;
      picks_.clear();
      real.emplace_back(spare);
      for (const Action& action : answer.list) {
        const auto* launch = std::get_if<Launch>(&action);
        if (launch != nullptr && launch->executor == ExecutorId{marker}) {
          real.back() = ExecutorId{where(line(answer, action))};
        }
      }
    }
    Actions actions;
    picks_ = real;
    core->pass(actions);
    picks_.clear();
    carry_out(actions);
  }
}

std::vector<Json> Engine::ask_copy(const Input& input) const {
  Core copy(*core);
  Actions actions;
  copy.step(input, actions);
  copy.pass(actions);
  std::vector<Json> answers;
  std::ranges::transform(actions.list, std::back_inserter(answers),
                         [&](const Action& action) { return line(actions, action); });
  return answers;
}

// Null for an action that says nothing here.
Json Engine::line(const Actions& actions, const Action& action) const {
  Json said;
  const auto journal = [&](model::EventBody body) {
    said = Json::parse(model::journal_line({now, std::move(body)}, *names_));
  };
  if (const auto* entry = std::get_if<Entry>(&action)) {
    journal(actions.entries.at(entry->index));
    if (said["e"] == "stage_completed" && said["status"] != "success") {
      said["status"] = "failed";  // A.9 rule 6
    }
  } else if (const auto* launch = std::get_if<Launch>(&action)) {
    journal(model::TaskStart{{launch->job_name, launch->stage_name, launch->executor_name,
                              launch->attempt, launch->partition, launch->try_number},
                             launch->speculative});
    said["row"] = launch->executor.index();
    said["locality"] = level_names.at(static_cast<std::size_t>(launch->locality));
  } else if (const auto* answer = std::get_if<CommitAnswered>(&action)) {
    said = {{"e", "commit_answered"}, {"granted", answer->granted}};
  } else if (const auto* nowhere = std::get_if<Unschedulable>(&action)) {
    const bool one_more = !nowhere->replace.valid();
    const auto& stages = specs_.at(nowhere->job.index())->stages;
    said = {{"e", "unschedulable"},
            {"stage", names_->text(stages.at(nowhere->stage.index()).name)},
            {"executor", one_more ? "" : executors.at(nowhere->replace.index()).name}};
  }
  if (!said.is_null()) {
    said["step"] = step;
  }
  return said;
}

void Engine::carry_out(const Actions& actions) {
  std::vector<RunId> killed;
  for (const Action& action : actions.list) {
    std::optional<EndTask> end;
    if (Json said = line(actions, action); !said.is_null()) {
      lines.push_back(std::move(said));
    }
    if (const auto* launch = std::get_if<Launch>(&action)) {
      running[launch->run.value] = lines.back();
    } else if (const auto* over = std::get_if<EndTask>(&action)) {
      end = *over;
    } else if (const auto* kill = std::get_if<Kill>(&action)) {
      end = {kill->run, model::TaskStatus::killed, kill->reason};
      killed.push_back(kill->run);
    } else if (const auto* early = std::get_if<ReturnSlot>(&action)) {
      running.at(early->run.value).update({{"held", true}, {"injected", injected_ == early->run}});
    } else if (const auto* timer = std::get_if<SetTimer>(&action)) {
      timers.push_back({*timer, now + timer->delay});
    }
    if (end) {
      require(running.contains(end->run.value), "the end of a run that runs", end->run.value);
      lines.push_back(running.extract(end->run.value).mapped());
      lines.back().update(
          {{"e", "task_end"},
           {"step", step},
           {"status", model::name_of(end->status)},
           {"reason", end->reason ? model::name_of(*end->reason) : ""},
           {"counted", end->counted},
           {"injected", injected_ == end->run || lines.back().value("injected", false)}});
    }
  }
  for (const RunId run : killed) {
    feed(KillEffective{run});
  }
  for (std::size_t i = 0; leaves_ && i < executors.size(); ++i) {  // X13: with its last task
    const bool busy = std::ranges::any_of(
        running, [i](const auto& entry) { return entry.second.at("row") == i; });
    if (executors[i].draining && !busy) {
      lose(i, model::LossCause::decommission);
    }
  }
}

bool matches(const Json& line, const Json& keys) {
  return std::ranges::all_of(keys.items(), [&](const auto& key) {
    return line.contains(key.key()) && line[key.key()] == key.value();
  });
}

std::vector<Json> said(const Run& run, const std::string& event, const Json& keys) {
  std::vector<Json> found;
  std::ranges::copy_if(run.lines, std::back_inserter(found), [&](const Json& line) {
    return line.at("e") == event && !line.value("job", "").starts_with('(') &&
           !line.value("stage", "").starts_with('(') && matches(line, keys);
  });
  return found;
}

std::optional<RunId> running(const Run& run, const Json& keys) {
  std::optional<RunId> found;
  int latest = -1;
  for (const auto& [id, line] : run.running) {
    if (matches(line, keys) && !line.value("held", false) && line.at("try") > latest) {
      found = RunId{id};
      latest = line["try"];
    }
  }
  return found;
}

std::int32_t latest_attempt(const Run& run, const std::string& stage) {
  const std::vector<Json> all = said(run, "stage_submitted", {{"stage", stage}});
  return all.empty() ? 0 : all.back().at("attempt").get<std::int32_t>();
}

Json partitions_of(const Run& run, const std::string& stage, const Json& attempt) {
  const std::vector<Json> all =
      said(run, "stage_submitted", {{"stage", stage}, {"attempt", attempt}});
  const int tasks = all.empty() ? stage_record(run, stage).at("tasks") : all.back().at("tasks");
  const Json whole = {{{"first", 0}, {"last", tasks - 1}}};
  Json partitions = Json::array();
  for (const Json& range : all.empty() ? whole : all.back().value("partitions", whole)) {
    for (int i = range.at("first"); i <= range.at("last"); ++i) {
      partitions.push_back(i);
    }
  }
  return partitions;
}

const JobRow& job_with(const Run& run, const std::string& stage) {
  const auto job = std::find_if(run.jobs.rbegin(), run.jobs.rend(), [&](const JobRow& row) {
    return std::ranges::find(row.stages, stage) != row.stages.end();
  });
  require(job != run.jobs.rend(), "a job with stage " + stage, "none");
  return *job;
}

StageIndex index_in(const JobRow& job, const std::string& stage) {
  const auto found = std::ranges::find(job.stages, base_of(stage), base_of);
  require(found != job.stages.end(), "stage " + stage + " in " + job.name, "none");
  return StageIndex{static_cast<std::size_t>(found - job.stages.begin())};
}

bool live(const Run& run, const std::string& job) {
  return !said(run, "job_started", {{"job", job}}).empty() &&
         said(run, "job_end", {{"job", job}}).empty();
}

Json about(const Json& word) {
  Json keys = Json::object();
  for (const char* key :
       {"job", "stage", "attempt", "partition", "try", "locality", "executor", "granted"}) {
    if (word.contains(key)) {
      keys[key] = word[key];
    }
  }
  return keys;
}

}  // namespace rehearse::conformance
