// registry: none (a part of the scenario reader)
// `faults` of a scenario file. Executors that a fault adds may be named anywhere in the list, so
// they are read first.
#include <fmt/format.h>

#include <algorithm>

#include "model/support/units.hpp"
#include "traces/scenario_parts.hpp"

namespace rehearse::traces {

using model::NameId;
using model::TaskFault;
using model::TimedFault;

namespace {

constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();

constexpr std::array<std::string_view, 4> actions{"lose_executor", "add_executor", "hold_executors",
                                                  "cancel_job"};
constexpr std::array<std::string_view, 2> unbuilt_actions{"launch_fails", "partition_network"};

bool is_known_executor(const ScenarioReading& reading, std::string_view name) {
  const NameId id = reading.scenario.names.find(name);
  const auto& executors = reading.scenario.cluster.executors;
  if (reading.scenario.cluster.autoscale && name.starts_with("auto")) {
    return true;
  }
  if (!id.valid()) {
    return false;
  }
  if (std::any_of(executors.begin(), executors.end(),
                  [&](const model::ExecutorSpec& executor) { return executor.name == id; })) {
    return true;
  }
  const auto& timed = reading.scenario.faults.timed;
  return std::any_of(timed.begin(), timed.end(), [&](const TimedFault& fault) {
    const auto* added = std::get_if<model::AddExecutor>(&fault.action);
    return added != nullptr && added->executor.name == id;
  });
}

NameId read_executor_name(ScenarioReading& reading, const Node& node) {
  const std::string name = read_string(node, "an executor's name");
  if (!node.failed() && !is_known_executor(reading, name)) {
    std::vector<std::string_view> known;
    for (const model::ExecutorSpec& executor : reading.scenario.cluster.executors) {
      known.push_back(reading.scenario.names.text(executor.name));
    }
    fail_unknown(node, "executor", name, known);
  }
  return reading.intern(name);
}

NameId read_job_name(ScenarioReading& reading, const Node& node) {
  const std::string name = read_string(node, "a job's name");
  if (!node.failed()) {
    return reading.intern(read_reference(reading, node, name, {.min = 1, .max = 1}).job);
  }
  return {};
}

// The action an object holds: exactly one of the known keys.
std::optional<std::string_view> action_of(const Node& node) {
  for (const std::string_view key : unbuilt_actions) {
    if (const Node unbuilt = node.member(key); unbuilt.given()) {
      unbuilt.fail(fmt::format("\"{}\" is not built yet", key), "leave it out");
      return std::nullopt;
    }
  }
  std::optional<std::string_view> found;
  for (const std::string_view key : actions) {
    if (!node.member(key).given()) {
      continue;
    }
    if (found) {
      node.member(key).fail(fmt::format("one fault cannot be \"{}\" and \"{}\"", *found, key),
                            "write two faults");
      return std::nullopt;
    }
    found = key;
  }
  if (!found) {
    node.fail("nothing happens in this fault",
              fmt::format("add one of {}", fmt::join(actions, ", ")));
  }
  return found;
}

// The keys a fault with that action may have; `own` are those of its form.
bool check_action_keys(const Node& node, std::string_view action,
                       std::vector<std::string_view> own) {
  own.push_back(action);
  if (action == "lose_executor") {
    own.insert(own.end(), {"cause", "noticed"});
  } else if (action == "hold_executors") {
    own.push_back("for");
  }
  for (const auto& [key, value] : node.members("a fault")) {
    if (std::find(own.begin(), own.end(), key) == own.end()) {
      fail_unknown(value, "key", key, own);
      return false;
    }
  }
  return true;
}

model::TimedAction read_action(ScenarioReading& reading, const Node& node,
                               std::string_view action) {
  const Node target = node.member(action);
  if (action == "lose_executor") {
    model::LoseExecutor lose;
    lose.executor = read_executor_name(reading, target);
    lose.cause = read_enum(node.member("cause"), "a cause", model::LossCause::process);
    if (const Node noticed = node.member("noticed"); noticed.given()) {
      lose.noticed = read_duration(noticed, 0);
    }
    return lose;
  }
  if (action == "hold_executors") {
    model::HoldExecutors hold;
    for (const Node& item : target.items("hold_executors")) {
      hold.executors.push_back(read_executor_name(reading, item));
    }
    if (!node.failed() && hold.executors.empty()) {
      target.fail("no executor is held", "name at least one");
    }
    if (require(node.member("for"), "for")) {
      hold.for_ns = read_duration(node.member("for"), 0);
    }
    return hold;
  }
  if (action == "cancel_job") {
    return model::CancelJob{read_job_name(reading, target)};
  }
  return model::AddExecutor{};  // read beforehand
}

void read_match(ScenarioReading& reading, const Node& node, TimedFault& fault) {
  if (!node.given() || !check_keys(node, "match", {{"job", "stage", "executor"}})) {
    return;
  }
  if (const Node job = node.member("job"); job.given()) {
    fault.match_job = read_job_name(reading, job);
  }
  if (const Node stage = node.member("stage"); stage.given()) {
    const StageReference reference =
        read_reference(reading, stage, read_string(stage, "job/stage"), {.min = 2, .max = 2});
    fault.match_stage_job = reading.intern(reference.job);
    fault.match_stage = reading.intern(reference.stage);
  }
  if (const Node executor = node.member("executor"); executor.given()) {
    fault.match_executor = read_executor_name(reading, executor);
  }
}

// `fault` holds the added executor already, if it adds one.
void read_timed(ScenarioReading& reading, const Node& node, TimedFault& fault) {
  const bool timed = node.member("at").given();
  if (timed == node.member("moment").given()) {
    node.fail("a fault has either \"at\" or \"moment\"", "keep one of them");
    return;
  }
  if (timed) {
    const auto action = action_of(node);
    if (action && check_action_keys(node, *action, {"at"})) {
      fault.at = read_duration(node.member("at"), 0);
      if (*action != "add_executor") {
        fault.action = read_action(reading, node, *action);
      }
    }
    return;
  }
  const Node inner = node.member("do");
  if (!check_keys(node, "a fault at a moment", {{"moment", "match", "nth", "after", "do"}}) ||
      !require(inner, "do") || !inner.expect(JsonKind::object, "do")) {
    return;
  }
  fault.moment = read_enum(node.member("moment"), "a moment", model::Moment::group_queued);
  read_match(reading, node.member("match"), fault);
  fault.nth =
      static_cast<std::int32_t>(read_integer(node.member("nth"), 1, {.min = 1, .max = int32_max}));
  fault.after = read_duration(node.member("after"), 0);
  const auto action = action_of(inner);
  if (action && check_action_keys(inner, *action, {}) && *action != "add_executor") {
    fault.action = read_action(reading, inner, *action);
  }
}

void read_fetch(ScenarioReading& reading, const Node& node, TaskFault& fault) {
  if (!check_keys(node, "fetch_fails", {{"from", "partition"}}) ||
      !require(node.member("from"), "from") || !require(node.member("partition"), "partition")) {
    return;
  }
  fault.fetch_fails = true;
  fault.fetch_partition = static_cast<std::int32_t>(
      read_integer(node.member("partition"), 0, {.min = 0, .max = int32_max}));
  const Node from = node.member("from");
  std::string text = read_string(from, "a stage's name");
  if (from.failed()) {
    return;
  }
  const bool foreign = text.find('/') != std::string::npos;
  const std::string whole = fmt::format(
      "{}/{}", foreign ? text : reading.text(fault.job) + "/" + text, fault.fetch_partition);
  const StageReference reference = read_reference(reading, from, whole, {.min = 3, .max = 3});
  if (foreign) {
    fault.fetch_from_job = reading.intern(reference.job);
  }
  fault.fetch_from = reading.intern(reference.stage);
}

void read_task_fault(ScenarioReading& reading, const Node& node) {
  if (!check_keys(
          node, "a task fault",
          {{"task", "attempt", "try", "fails", "fetch_fails", "after", "slow", "status_late"}})) {
    return;
  }
  TaskFault fault;
  const Node task = node.member("task");
  const std::string text = read_string(task, "job/stage/partition");
  if (node.failed()) {
    return;
  }
  const StageReference reference = read_reference(reading, task, text, {.min = 3, .max = 3});
  fault.job = reading.intern(reference.job);
  fault.stage = reading.intern(reference.stage);
  fault.partition = reference.partition.value_or(0);
  fault.attempt = static_cast<std::int32_t>(
      read_integer(node.member("attempt"), 0, {.min = 0, .max = int32_max}));
  const Node attempt = node.member("try");
  if (attempt.is(JsonKind::string) && attempt.value().text == "any") {
    fault.try_number = std::nullopt;
  } else {
    fault.try_number =
        static_cast<std::int32_t>(read_integer(attempt, 0, {.min = 0, .max = int32_max}));
  }
  const Node fails = node.member("fails");
  const Node fetch = node.member("fetch_fails");
  if (fails.given()) {
    fault.fails = read_enum(fails, "a failure", model::TaskFaultKind::exception);
  }
  if (fetch.given()) {
    read_fetch(reading, fetch, fault);
  }
  if (fails.given() && fetch.given()) {
    fetch.fail("a task fails in one way", "write two faults");
  }
  const Node after = node.member("after");
  fault.after = read_duration(after, 0);
  if (after.given() && !fails.given() && !fetch.given()) {
    after.fail("\"after\" belongs to a failure", "add fails or fetch_fails, or leave it out");
  }
  if (const Node slow = node.member("slow"); slow.given()) {
    fault.slow_milli = read_decimal(slow, model::milli, model::milli, 1);
  }
  if (const Node late = node.member("status_late"); late.given()) {
    fault.status_late = read_duration(late, 0);
  }
  if (!fails.given() && !fetch.given() && !fault.slow_milli && !fault.status_late) {
    node.fail("nothing happens in this fault", "add one of fails, fetch_fails, slow, status_late");
  }
  reading.scenario.faults.order.push_back(
      {.task = true, .index = static_cast<std::uint32_t>(reading.scenario.faults.tasks.size())});
  reading.scenario.faults.tasks.push_back(fault);
}

// The object that holds the action of a fault that is no task fault.
Node action_holder(const Node& node) {
  return node.member("moment").given() ? node.member("do") : node;
}

void add_executors(ScenarioReading& reading, const std::vector<Node>& items) {
  auto& timed = reading.scenario.faults.timed;
  for (const Node& item : items) {
    if (!item.expect(JsonKind::object, "a fault")) {
      return;
    }
    if (item.member("task").given()) {
      continue;
    }
    TimedFault fault;
    const Node added = action_holder(item).member("add_executor");
    if (added.given()) {
      const model::ExecutorSpec executor = read_added_executor(reading, added);
      if (item.failed()) {
        return;
      }
      if (is_known_executor(reading, reading.text(executor.name))) {
        added.member("name").fail(
            fmt::format("two executors have the name \"{}\"", reading.text(executor.name)),
            "names of executors are unique");
        return;
      }
      fault.action = model::AddExecutor{executor};
    }
    timed.push_back(std::move(fault));
  }
}

// ---- writing ----

struct ActionWriter {
  const model::Scenario& scenario;
  JsonValue& object;

  [[nodiscard]] JsonValue name(NameId id) const { return json_string(scenario.names.text(id)); }

  void operator()(const model::LoseExecutor& action) const {
    object.add("lose_executor", name(action.executor));
    if (action.cause != model::LossCause::process) {
      object.add("cause", json_string(model::name_of(action.cause)));
    }
    if (action.noticed) {
      object.add("noticed", write_duration(*action.noticed));
    }
  }
  void operator()(const model::AddExecutor& action) const {
    object.add("add_executor", write_executor(scenario, action.executor));
  }
  void operator()(const model::HoldExecutors& action) const {
    JsonValue& list = object.add("hold_executors", json_array());
    for (const NameId executor : action.executors) {
      list.items.push_back(name(executor));
    }
    object.add("for", write_duration(action.for_ns));
  }
  void operator()(const model::CancelJob& action) const {
    object.add("cancel_job", name(action.job));
  }
};

JsonValue write_timed(const model::Scenario& scenario, const TimedFault& fault) {
  JsonValue object = json_object();
  if (fault.at) {
    object.add("at", write_duration(*fault.at));
    std::visit(ActionWriter{scenario, object}, fault.action);
    return object;
  }
  object.add("moment", json_string(model::name_of(*fault.moment)));
  JsonValue match = json_object();
  if (fault.match_job.valid()) {
    match.add("job", json_string(scenario.names.text(fault.match_job)));
  }
  if (fault.match_stage.valid()) {
    match.add("stage", json_string(fmt::format("{}/{}", scenario.names.text(fault.match_stage_job),
                                               scenario.names.text(fault.match_stage))));
  }
  if (fault.match_executor.valid()) {
    match.add("executor", json_string(scenario.names.text(fault.match_executor)));
  }
  if (!match.items.empty()) {
    object.add("match", std::move(match));
  }
  if (fault.nth != 1) {
    object.add("nth", json_number(fault.nth));
  }
  if (fault.after != 0) {
    object.add("after", write_duration(fault.after));
  }
  JsonValue action = json_object();
  std::visit(ActionWriter{scenario, action}, fault.action);
  object.add("do", std::move(action));
  return object;
}

JsonValue write_task(const model::Scenario& scenario, const TaskFault& fault) {
  const auto text = [&](NameId id) { return scenario.names.text(id); };
  JsonValue object = json_object();
  object.add("task", json_string(fmt::format("{}/{}/{}", text(fault.job), text(fault.stage),
                                             fault.partition)));
  if (fault.attempt != 0) {
    object.add("attempt", json_number(fault.attempt));
  }
  if (!fault.try_number) {
    object.add("try", json_string("any"));
  } else if (*fault.try_number != 0) {
    object.add("try", json_number(*fault.try_number));
  }
  if (fault.fails) {
    object.add("fails", json_string(model::name_of(*fault.fails)));
  }
  if (fault.fetch_fails) {
    JsonValue& fetch = object.add("fetch_fails", json_object());
    fetch.add("from", json_string(fault.fetch_from_job.valid()
                                      ? fmt::format("{}/{}", text(fault.fetch_from_job),
                                                    text(fault.fetch_from))
                                      : std::string(text(fault.fetch_from))));
    fetch.add("partition", json_number(fault.fetch_partition));
  }
  if (fault.after != 0) {
    object.add("after", write_duration(fault.after));
  }
  if (fault.slow_milli) {
    object.add("slow", json_decimal(model::format_decimal(*fault.slow_milli, model::milli)));
  }
  if (fault.status_late) {
    object.add("status_late", write_duration(*fault.status_late));
  }
  return object;
}

}  // namespace

void read_faults(ScenarioReading& reading, const Node& node) {
  const std::vector<Node> items = node.items("faults");
  add_executors(reading, items);
  std::size_t timed = 0;
  for (const Node& item : items) {
    if (item.failed()) {
      return;
    }
    if (item.member("task").given()) {
      read_task_fault(reading, item);
      continue;
    }
    reading.scenario.faults.order.push_back(
        {.task = false, .index = static_cast<std::uint32_t>(timed)});
    read_timed(reading, item, reading.scenario.faults.timed[timed]);
    ++timed;
  }
}

JsonValue write_faults(const model::Scenario& scenario) {
  JsonValue list = json_array();
  for (const model::FaultPlan::Entry& entry : scenario.faults.order) {
    list.items.push_back(entry.task ? write_task(scenario, scenario.faults.tasks[entry.index])
                                    : write_timed(scenario, scenario.faults.timed[entry.index]));
  }
  return list;
}

}  // namespace rehearse::traces
