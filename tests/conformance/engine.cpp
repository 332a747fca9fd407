// The core and what carries out its actions.
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/support/journal_line.hpp"
#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

using namespace scheduler;

namespace {

constexpr int passes_max = 1000;  // of one step; more is a core that never comes to rest

// Submit time, then file order (A18), as pools of fair queues have it, too.
struct InOrder final : QueuePolicy {
  std::unique_ptr<QueuePolicy> clone() const override { return std::make_unique<InOrder>(*this); }
  QueueKey key(const UnitView& /*unit*/) const override { return {}; }
};

struct Never final : OvertakePolicy {
  std::unique_ptr<OvertakePolicy> clone() const override { return std::make_unique<Never>(*this); }
  Overtaking rule(const HeadView& /*head*/) const override { return Overtaking::nobody; }
};

// The picks in turn, the last one again and again; without any, wherever there is most room.
struct Planned final : PlacementPolicy {
  std::deque<ExecutorId>& picks;

  explicit Planned(std::deque<ExecutorId>& of_run) : picks(of_run) {}
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<Planned>(picks);
  }
  void begin(const SlotView& /*slots*/) override {}
  void taking(const SlotView& /*slots*/, ExecutorId /*executor*/) override {}
  ExecutorId pick(const SlotView& slots, const TaskView& task) override {
    const ExecutorId wanted = picks.empty() ? ExecutorId{} : picks.front();
    if (picks.size() > 1) {
      picks.pop_front();
    }
    const bool room = wanted.valid() && slots.free_slots(wanted, task.profile) > 0;
    return room ? wanted : slots.most_free(task.profile);
  }
};

// The task_start line of a run that is not over; after that its id is free for another.
Json& start_of(Json& lines, const Json& run) {
  Json* start = first(lines, {{"e", "task_start"}, {"run", run}, {"live", true}});
  require(start != nullptr, "a run that is not over", run.dump());
  return *start;
}

}  // namespace

void Run::start() {
  PolicySet policies;
  policies.queue = std::make_unique<InOrder>();
  policies.overtake = std::make_unique<Never>();
  policies.placement = std::make_unique<Planned>(picks);
  core = std::make_unique<Core>(options, policies);
}

void Run::feed(const Input& input) {
  act([&](Actions& out) { core->step(input, out); });
}

void Run::offer(const OfferRound& round) {
  act([&](Actions& out) { core->offer(round, out); });
}

void Run::end(const Json& start, TaskEnded ended, bool by_case) {
  ended.run = RunId{start.at("run").get<std::uint32_t>()};
  start_of(lines, start["run"]).update({{"injected", by_case}, {"told", step}});
  feed(ended);
}

std::size_t Run::join(const std::string& name, const std::string& host, model::ExecutorSpec spec) {
  spec.name = names.intern(name);
  spec.host = names.intern(host);
  spec.resources.resize(2);
  executors.push_back({name, host});
  feed(JoinExecutor{{}, spec});
  return executors.size() - 1;
}

void Run::close(std::size_t executor, const std::string& event) {
  const std::string& name = executors.at(executor).name;
  lines.push_back(
      {{"e", event}, {"executor", name}, {"row", executor}, {"gone", true}, {"step", step}});
}

// The line says whether the notice changed anything: repeated ones do not.
void Run::lose(std::size_t executor, model::LossCause cause) {
  const std::size_t place = lines.size();
  close(executor, "executor_lost");
  const std::uint64_t before = core->digest();
  feed(LoseExecutor{ExecutorId{executor}, cause});
  lines[place]["changed"] = core->digest() != before;
}

void Run::hold(std::size_t executor, model::HoldCause cause) {
  if (cause == model::HoldCause::decommission) {
    close(executor, "executor_draining");
  }
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

// Each task is placed by where(): a copy is asked which ones start, in the order of their picks.
void Run::settle() {
  const std::size_t spare = dag ? executor_of(*this, "spare") : 0;
  for (int passes = 0; dag && core->wants_pass(); ++passes) {
    require(passes < passes_max, "a core that comes to rest");
    picks = {ExecutorId{spare}};
    std::deque<ExecutorId> real;
    for (const Json& start : all(ask_copy({}), {{"e", "task_start"}})) {
      real.emplace_back(where(*this, start));
    }
    real.emplace_back(spare);
    picks = std::move(real);
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

// Empty but for the step for an action that says nothing here.
Json Run::line(const Actions& actions, const Action& action) const {
  Json said = Json::object();
  const auto journal = [&](model::EventBody body) {
    said = Json::parse(model::journal_line({now, std::move(body)}, names));
  };
  const auto ended = [&](const EndTask& end) {
    said = start_of(lines, end.run.value);
    said.update(
        {{"e", "task_end"}, {"status", model::name_of(end.status)}, {"counted", end.counted}});
    said["reason"] = end.reason ? model::name_of(*end.reason) : "";
  };
  if (const auto* entry = std::get_if<Entry>(&action)) {
    journal(actions.entries.at(entry->index));
    if (said["e"] == "stage_completed" && said["status"] != "success") {
      said["status"] = "failed";  // A.9 rule 6
    } else if (said["e"] == "job_end") {
      said["status"] = said["outcome"] == "succeeded" ? "success" : "failed";
    } else if (said["e"] == "outputs_lost") {
      const std::string name = said["executor"];
      said["host"] = executors[place_of(executors, name, name, &Executor::name)].host;
    }
  } else if (const auto* launch = std::get_if<Launch>(&action)) {
    journal(model::TaskStart{{launch->job_name, launch->stage_name, launch->executor_name,
                              launch->attempt, launch->partition, launch->try_number},
                             launch->speculative});
    said.update({{"run", launch->run.value}, {"row", launch->executor.value}});
    said.update({{"live", true}, {"held", false}, {"injected", false}});
    said["host"] = executors.at(launch->executor.index()).host;
    said["locality"] = model::name_of(launch->locality);
  } else if (const auto* end = std::get_if<EndTask>(&action)) {
    ended(*end);
  } else if (const auto* kill = std::get_if<Kill>(&action)) {
    ended({kill->run, model::TaskStatus::killed, kill->reason});
  } else if (const auto* early = std::get_if<ReturnSlot>(&action)) {
    said = {{"e", "slot_returned"}, {"run", early->run.value}};
  } else if (const auto* answer = std::get_if<CommitAnswered>(&action)) {
    said = {{"e", "commit_answered"}, {"granted", answer->granted}};
  } else if (const auto* nowhere = std::get_if<Unschedulable>(&action)) {
    const ExecutorId replace = nowhere->replace;  // invalid: one more is wanted
    said = {{"e", "unschedulable"}};
    said["stage"] = jobs.at(nowhere->job.index()).stages.at(nowhere->stage.index());
    said["executor"] = replace.valid() ? executors.at(replace.index()).name : "";
  }
  said["step"] = step;
  return said;
}

void Run::act(const std::function<void(Actions&)>& what) {
  Actions actions;
  core->set_now(now);
  what(actions);
  for (const Action& action : actions.list) {
    const Json said = line(actions, action);
    const std::string event = said.value("e", "");
    if (event == "task_end" || event == "slot_returned") {
      start_of(lines, said["run"])[event == "task_end" ? "live" : "held"] = event != "task_end";
    }
    if (!event.empty()) {
      lines.push_back(said);
    }
    if (const auto* timer = std::get_if<SetTimer>(&action)) {
      timers.emplace(std::pair{now + timer->delay, timer->timer.value}, *timer);
    }
  }
  for (const Action& action : actions.list) {
    if (const auto* kill = std::get_if<Kill>(&action)) {
      feed(KillEffective{kill->run});
    }
  }
  // At task level an executor that drains is lost with its last task (X13); else when the case
  // says so.
  for (const Json& draining : dag ? Json() : all(lines, {{"e", "executor_draining"}})) {
    const Json& row = draining["row"];
    if (!any(lines, {{"e", "task_start"}, {"row", row}, {"live", true}}) &&
        !any(lines, {{"e", "executor_lost"}, {"row", row}})) {
      lose(row, model::LossCause::decommission);
    }
  }
}

bool matches(const Json& object, const Json& keys) {
  return std::ranges::all_of(keys.items(), [&](const auto& key) {
    return object.contains(key.key()) && object[key.key()] == key.value();
  });
}

bool any(const Json& list, const Json& keys) { return first(list, keys) != nullptr; }

Json all(const Json& list, const Json& keys) {
  Json found = Json::array();
  std::ranges::copy_if(list, std::back_inserter(found),
                       [&](const Json& object) { return matches(object, keys); });
  return found;
}

const Json& the(const Json& list, const Json& keys) {
  demand(any(list, keys), "there is no " + keys.dump());
  return *first(list, keys);
}

Json column(const Json& list, const std::string& key) {
  Json values = Json::array();
  std::ranges::transform(list, std::back_inserter(values),
                         [&](const Json& object) { return object.at(key); });
  return values;
}

const Json& part(const Json& object, const std::string& key) {
  static const Json none = Json::object();
  return object.contains(key) ? object[key] : none;
}

const Json& vocabulary() {
  static const Json words = Json::parse(std::ifstream(REHEARSE_VOCABULARY));
  return words;
}

Json said(const Run& run, const std::string& event, Json keys) {
  keys["e"] = event;
  Json found = all(run.lines, keys);
  std::erase_if(found.get_ref<Json::array_t&>(), [](const Json& line) {
    return line.value("job", "").starts_with('(') || line.value("stage", "").starts_with('(');
  });
  return found;
}

Json last_said(const Run& run, const std::string& event, const Json& keys) {
  const Json found = said(run, event, keys);
  return found.empty() ? Json::object() : found.back();
}

Json about(const Json& word) {
  Json keys = Json::object();
  for (const std::string key : vocabulary()["keys"]) {
    if (word.contains(key)) {
      keys[key] = word[key];
    }
  }
  return keys;
}

Json running(const Run& run, Json keys) {
  keys.update({{"e", "task_start"}, {"live", true}, {"held", false}});
  Json latest;
  for (const Json& start : all(run.lines, keys)) {
    latest = latest.is_null() || start["try"] > latest["try"] ? start : latest;
  }
  return latest;
}

std::int32_t latest_attempt(const Run& run, const std::string& stage) {
  return last_said(run, "stage_submitted", {{"stage", stage}}).value("attempt", 0);
}

Json partitions_of(const Run& run, const std::string& stage, const Json& attempt) {
  const Json line = last_said(run, "stage_submitted", {{"stage", stage}, {"attempt", attempt}});
  const Json& record = line.empty() ? the(run.given["stages"], {{"id", stage}}) : line;
  const Json whole = {{{"first", 0}, {"last", record.at("tasks").get<int>() - 1}}};
  Json partitions = Json::array();
  for (const Json& range : line.value("partitions", whole)) {
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

bool lost(const Run& run, const std::string& executor) {
  return any(run.lines, {{"e", "executor_lost"}, {"executor", executor}});
}

}  // namespace rehearse::conformance
