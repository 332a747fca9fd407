// The core and what carries out its actions, and what can be asked of the lines that are kept.
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

void Run::start() {
  auto policies = policies::make(options.config).value();
  policies.placement = std::make_unique<Planned>(&picks);
  core = std::make_unique<Core>(options, policies);
}

void Run::act(const std::function<void(Actions&)>& what) {
  Actions actions;
  core->set_now(now);
  what(actions);
  carry_out(actions);
}

void Run::feed(const Input& input) {
  act([&](Actions& out) { core->step(input, out); });
}

void Run::offer(const OfferRound& round) {
  act([&](Actions& out) { core->offer(round, out); });
}

void Run::end(const Json& start, TaskEnded ended, bool by_case) {
  ended.run = RunId{start.at("run").get<std::uint32_t>()};
  injected = by_case ? std::optional(ended.run) : std::nullopt;
  feed(ended);
  injected.reset();
}

std::size_t Run::join(const std::string& name, const std::string& host, model::ExecutorSpec spec) {
  spec.name = names.intern(name);
  spec.host = names.intern(host);
  spec.resources.resize(2);
  executors.push_back({name, host});
  feed(JoinExecutor{{}, spec});
  return executors.size() - 1;
}

void Run::lose(std::size_t executor, model::LossCause cause) {
  if (std::exchange(executors.at(executor).live, false)) {
    feed(LoseExecutor{ExecutorId{executor}, cause});
  }
}

void Run::hold(std::size_t executor, model::HoldCause cause) {
  executors.at(executor).draining = cause == model::HoldCause::decommission;
  feed(HoldExecutor{ExecutorId{executor}, cause});
}

void Run::fire(std::optional<model::Duration> delay) {
  for (const auto& [place, timer] : std::exchange(timers, {})) {
    if (delay ? timer.delay == *delay : place.first <= now) {
      now = std::max(now, place.first);
      feed(TimerFired{timer.timer});
    } else {
      timers.emplace(place, timer);
    }
  }
}

void Run::elapse(model::Duration time) {
  now += time;
  fire({});
}

// Each task is placed by where(). Whose is the next pick? A copy is asked: the marker, where
// nothing ever runs, answers that pick; the spare those after it and all that no task start shows.
void Run::settle() {
  if (!dag) {
    return;
  }
  const std::size_t spare = executor_of(*this, "spare");
  const std::size_t marker = executor_of(*this, "marker");
  for (int passes = 0; core->wants_pass(); ++passes) {
    require(passes < passes_max, "a core that comes to rest");
    std::deque<ExecutorId> real;
    for (bool asked = true; asked;) {
      picks = real;
      picks.insert(picks.end(), {ExecutorId{marker}, ExecutorId{spare}});
      const Json answer = ask_copy({});
      asked = picks.size() == 1;
      picks.clear();
      const Json* start = first(answer, {{"e", "task_start"}, {"row", marker}});
      real.emplace_back(start != nullptr ? where(*this, *start) : spare);
    }
    picks = real;
    act([this](Actions& out) { core->pass(out); });
    picks.clear();
  }
}

Json Run::ask_copy(const std::optional<Input>& input) const {
  Core copy(*core);
  Actions actions;
  if (input) {
    copy.step(*input, actions);
  }
  copy.pass(actions);
  Json answers = Json::array();
  for (const Action& action : actions.list) {
    answers.push_back(line(actions, action));
  }
  return answers;
}

// Empty for an action that says nothing here.
Json Run::line(const Actions& actions, const Action& action) const {
  Json said = Json::object();
  const auto journal = [&](model::EventBody body) {
    said = Json::parse(model::journal_line({now, std::move(body)}, names));
  };
  const auto ended = [&](const EndTask& end) {
    said = the(running, {{"run", end.run.value}});
    said.update({{"e", "task_end"},
                 {"status", model::name_of(end.status)},
                 {"reason", end.reason ? model::name_of(*end.reason) : ""},
                 {"counted", end.counted},
                 {"injected", injected == end.run || said.value("injected", false)}});
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
    said["run"] = launch->run.value;
    said["row"] = launch->executor.index();
    said["locality"] = level_names.at(static_cast<std::size_t>(launch->locality));
  } else if (const auto* end = std::get_if<EndTask>(&action)) {
    ended(*end);
  } else if (const auto* kill = std::get_if<Kill>(&action)) {
    ended({kill->run, model::TaskStatus::killed, kill->reason});
  } else if (const auto* answer = std::get_if<CommitAnswered>(&action)) {
    said = {{"e", "commit_answered"}, {"granted", answer->granted}};
  } else if (const auto* nowhere = std::get_if<Unschedulable>(&action)) {
    const bool one_more = !nowhere->replace.valid();
    said = {{"e", "unschedulable"},
            {"stage", jobs.at(nowhere->job.index()).stages.at(nowhere->stage.index())},
            {"executor", one_more ? "" : executors.at(nowhere->replace.index()).name}};
  }
  said["step"] = step;
  return said;
}

void Run::carry_out(const Actions& actions) {
  std::vector<RunId> killed;
  for (const Action& action : actions.list) {
    const Json said = line(actions, action);
    const std::string event = said.value("e", "");
    if (!event.empty()) {
      lines.push_back(said);
    }
    if (event == "task_start") {
      running.push_back(said);
    } else if (event == "task_end") {
      std::erase_if(running.get_ref<Json::array_t&>(),
                    [&](const Json& start) { return start["run"] == said["run"]; });
    }
    if (const auto* kill = std::get_if<Kill>(&action)) {
      killed.push_back(kill->run);
    } else if (const auto* early = std::get_if<ReturnSlot>(&action)) {
      for (Json& start : running) {
        if (start["run"] == early->run.value) {
          start.update({{"held", true}, {"injected", injected == early->run}});
        }
      }
    } else if (const auto* timer = std::get_if<SetTimer>(&action)) {
      timers.emplace(std::pair{now + timer->delay, timer->timer.value}, *timer);
    }
  }
  for (const RunId run : killed) {
    feed(KillEffective{run});
  }
  // At task level an executor that drains is lost with its last task (X13); else when the case
  // says so.
  for (std::size_t i = 0; !dag && i < executors.size(); ++i) {
    if (executors[i].draining && first(running, {{"row", i}}) == nullptr) {
      lose(i, model::LossCause::decommission);
    }
  }
}

bool matches(const Json& line, const Json& keys) {
  return std::ranges::all_of(keys.items(), [&](const auto& key) {
    return line.contains(key.key()) && line[key.key()] == key.value();
  });
}

const Json* first(const Json& list, const Json& keys) {
  const auto found =
      std::ranges::find_if(list, [&](const Json& word) { return matches(word, keys); });
  return found == list.end() ? nullptr : &*found;
}

const Json& the(const Json& list, const Json& keys) {
  const Json* found = first(list, keys);
  require(found != nullptr, keys.dump());
  return *found;
}

Json column(const Json& list, const char* key) {
  Json values = Json::array();
  std::ranges::transform(list, std::back_inserter(values),
                         [key](const Json& word) { return word.at(key); });
  return values;
}

Json all(const Json& list, const Json& keys) {
  Json found = Json::array();
  std::ranges::copy_if(list, std::back_inserter(found),
                       [&](const Json& word) { return matches(word, keys); });
  return found;
}

Json said(const Run& run, const std::string& event, Json keys) {
  keys["e"] = event;
  Json found = all(run.lines, keys);
  std::erase_if(found.get_ref<Json::array_t&>(), [](const Json& line) {
    return line.value("job", "").starts_with('(') || line.value("stage", "").starts_with('(');
  });
  return found;
}

Json running(const Run& run, const Json& keys) {
  Json latest;
  for (const Json& start : all(run.running, keys)) {
    const bool later = latest.is_null() || start.at("try") > latest.at("try");
    latest = later && !start.value("held", false) ? start : latest;
  }
  return latest;
}

std::int32_t latest_attempt(const Run& run, const std::string& stage) {
  const Json all = said(run, "stage_submitted", {{"stage", stage}});
  return all.empty() ? 0 : all.back().at("attempt").get<std::int32_t>();
}

Json partitions_of(const Run& run, const std::string& stage, const Json& attempt) {
  const Json all = said(run, "stage_submitted", {{"stage", stage}, {"attempt", attempt}});
  const Json& record = all.empty() ? the(run.given["stages"], {{"id", stage}}) : all.back();
  const Json whole = {{{"first", 0}, {"last", record.at("tasks").get<int>() - 1}}};
  Json partitions = Json::array();
  for (const Json& range : all.empty() ? whole : record.value("partitions", whole)) {
    for (int i = range.at("first"); i <= range.at("last"); ++i) {
      partitions.push_back(i);
    }
  }
  return partitions;
}

const Job& job_with(const Run& run, const std::string& stage) {
  const auto job = std::find_if(run.jobs.rbegin(), run.jobs.rend(),
                                [&](const Job& row) { return has(row.stages, stage); });
  require(job != run.jobs.rend(), "a job with stage " + stage);
  return *job;
}

StageIndex index_in(const Job& job, const std::string& stage) {
  return StageIndex{
      place_of(job.stages, base_of(stage), "stage " + stage + " in " + job.name, base_of)};
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
