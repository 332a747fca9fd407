// registry: none (a part of the scenario reader)
// `jobs` of a scenario file apart from their stages: names, submission, callers, shuffles, results,
// and what refers to other jobs.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "traces/scenario_parts.hpp"

namespace rehearse::traces {

using model::JobSpec;
using model::StageIndex;

namespace {

constexpr std::int64_t copies_max = 1'000'000;
constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();

std::optional<std::int64_t> positive_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool plain = !text.empty() && text.front() != '0' && text.front() != '-';
  if (!plain || error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

// True for q1, q2, ... when job q is repeated.
bool is_copy(const model::Scenario& scenario, const JobSpec& job, std::string_view name) {
  const std::string_view base = scenario.names.text(job.name);
  if (job.repeat_count < 2 || !name.starts_with(base)) {
    return false;
  }
  const auto number = positive_number(name.substr(base.size()));
  return number && *number <= job.repeat_count;
}

void read_repeat(const Node& node, JobSpec& job) {
  if (!node.given() || !check_keys(node, "repeat", {{"count", "every"}}) ||
      !require(node.member("count"), "count") || !require(node.member("every"), "every")) {
    return;
  }
  job.repeat_count = static_cast<std::int32_t>(
      read_integer(node.member("count"), 1, {.min = 2, .max = copies_max}));
  job.repeat_every = read_duration(node.member("every"), 0);
}

void read_caller(const Node& node, JobSpec& job) {
  if (node.given() && check_keys(node, "on_failure", {{"resubmit", "backoff"}})) {
    job.resubmit = static_cast<std::int32_t>(
        read_integer(node.member("resubmit"), 0, {.min = 0, .max = int32_max}));
    job.backoff = read_duration(node.member("backoff"), job.backoff);
  }
}

StageIndex read_own_stage(const ScenarioReading& reading, const Node& node, const JobSpec& job) {
  const std::string name = read_string(node, "a stage's name");
  const StageIndex stage = find_stage(reading.scenario, job, name);
  if (!stage.valid() && !node.failed()) {
    std::vector<std::string_view> known;
    for (const model::StageSpec& candidate : job.stages) {
      known.push_back(reading.scenario.names.text(candidate.name));
    }
    fail_unknown(node, "stage", name, known);
  }
  return stage;
}

void read_result(ScenarioReading& reading, const Node& node, JobSpec& job) {
  const std::vector<StageIndex> sinks = default_result(job);
  if (!node.given()) {
    job.result = sinks;
    return;
  }
  std::vector<Node> items;
  if (node.is(JsonKind::array)) {
    items = node.items("result");
  } else {
    items.push_back(node);
  }
  if (items.empty()) {
    node.fail("a job has at least one result stage", "name a sink, or leave the key out");
  }
  for (const Node& item : items) {
    const StageIndex stage = read_own_stage(reading, item, job);
    if (item.failed()) {
      return;
    }
    if (std::find(sinks.begin(), sinks.end(), stage) == sinks.end()) {
      item.fail(fmt::format("\"{}\" is not a sink: other stages read it", item.value().text),
                "a result is a stage that no stage of the job reads");
    }
    if (std::find(job.result.begin(), job.result.end(), stage) != job.result.end()) {
      item.fail(fmt::format("\"{}\" is listed twice", item.value().text), "list it once");
    }
    job.result.push_back(stage);
  }
  std::sort(job.result.begin(), job.result.end());
}

void read_stages(ScenarioReading& reading, const Node& node, JobSpec& job) {
  if (!require(node, "stages")) {
    return;
  }
  const std::vector<Node> items = node.items("stages");
  if (items.empty()) {
    node.fail("a job has at least one stage", "add a stage; one without tasks is allowed");
  }
  std::set<model::NameId> names;
  for (const Node& item : items) {
    read_stage(reading, item, job);
    if (item.failed()) {
      return;
    }
    if (!names.insert(job.stages.back().name).second) {
      item.member("name").fail(
          fmt::format("two stages have the name \"{}\"", reading.text(job.stages.back().name)),
          "names of stages are unique within a job");
    }
  }
}

void read_job(ScenarioReading& reading, const Node& node) {
  if (!check_keys(node, "a job",
                  {{"name", "submit", "pool", "priority", "repeat", "after", "result", "on_failure",
                    "stages", "edges"},
                   {"mode", "properties", "client", "query"}})) {
    return;
  }
  JobSpec job;
  job.name = reading.intern(read_name(node.member("name"), "a job's name"));
  const Node pool = node.member("pool");
  job.pool = reading.intern(pool.given() ? read_name(pool, "a pool's name") : "default");
  job.submit = read_duration(node.member("submit"), 0);
  job.priority = read_integer(node.member("priority"), 0);
  read_repeat(node.member("repeat"), job);
  read_caller(node.member("on_failure"), job);
  read_stages(reading, node.member("stages"), job);
  if (node.failed()) {
    return;
  }
  if (const Node edges = node.member("edges"); edges.given()) {
    read_edges(reading, edges, job);
  }
  read_result(reading, node.member("result"), job);
  reading.scenario.jobs.push_back(std::move(job));
}

void check_job_names(const ScenarioReading& reading, const std::vector<Node>& nodes) {
  std::set<std::string> taken;
  for (std::size_t i = 0; i < reading.scenario.jobs.size(); ++i) {
    const JobSpec& job = reading.scenario.jobs[i];
    const std::string base = reading.text(job.name);
    std::vector<std::string> names{base};
    for (std::int32_t copy = 1; job.repeat_count > 1 && copy <= job.repeat_count; ++copy) {
      names.push_back(base + std::to_string(copy));
    }
    for (std::string& name : names) {
      if (!taken.insert(name).second) {
        nodes[i].member("name").fail(fmt::format("two jobs have the name \"{}\"", name),
                                     "names of jobs, copies of repeated ones too, are unique");
        return;
      }
    }
  }
}

void read_after(ScenarioReading& reading, const Node& node, std::size_t index) {
  for (const Node& item : node.items("after")) {
    if (!check_keys(item, "an item of after", {{"job", "delay"}})) {
      return;
    }
    const Node job = item.member("job");
    if (!require(job, "job")) {
      return;
    }
    const std::string name = read_string(job, "a job's name");
    if (name.find('#') != std::string::npos) {
      job.fail("a resubmission is no job of its own here", "name the job: its last end counts");
    }
    const auto target = find_job(reading.scenario, name);
    if (!target && !job.failed()) {
      fail_unknown(job, "job", name, views(job_names(reading.scenario)));
    } else if (target && *target == index) {
      job.fail("a job cannot wait for itself", "name another job");
    }
    if (item.failed()) {
      return;
    }
    reading.scenario.jobs[index].after.push_back(
        {reading.intern(name), read_duration(item.member("delay"), 0)});
  }
}

// Jobs that wait for each other would never be submitted.
void check_after_cycle(const ScenarioReading& reading, const std::vector<Node>& nodes) {
  const auto& jobs = reading.scenario.jobs;
  enum class Mark : std::uint8_t { fresh, open, done };
  std::vector<Mark> marks(jobs.size(), Mark::fresh);
  struct Visit {
    std::size_t job;
    std::size_t next;
  };
  std::vector<Visit> open;  // a stack of its own: chains are as long as the file
  for (std::size_t start = 0; start < jobs.size(); ++start) {
    if (marks[start] != Mark::fresh) {
      continue;
    }
    marks[start] = Mark::open;
    open.push_back({start, 0});
    while (!open.empty()) {
      Visit& visit = open.back();
      if (visit.next == jobs[visit.job].after.size()) {
        marks[visit.job] = Mark::done;
        open.pop_back();
        continue;
      }
      const model::NameId name = jobs[visit.job].after[visit.next].job;
      const std::size_t waiting = visit.job;
      ++visit.next;
      const auto target = find_job(reading.scenario, reading.scenario.names.text(name));
      if (!target || marks[*target] == Mark::done) {
        continue;
      }
      if (marks[*target] == Mark::open) {
        nodes[waiting].member("after").fail(
            fmt::format("jobs wait for each other's end: \"{}\" and \"{}\"",
                        reading.text(jobs[waiting].name), reading.text(name)),
            "break the cycle");
        return;
      }
      marks[*target] = Mark::open;
      open.push_back({*target, 0});
    }
  }
}

// Shuffles that name a stage of another job.
void check_edge_references(ScenarioReading& reading, const Node& job_node, std::size_t index) {
  const Node edges = job_node.member("edges");
  if (!edges.given()) {
    return;
  }
  const std::vector<Node> items = edges.items("edges");
  const JobSpec& job = reading.scenario.jobs[index];
  for (std::size_t i = 0; i < items.size(); ++i) {
    const model::EdgeSpec& edge = job.edges[i];
    const auto check = [&](const Node& node, model::NameId other, bool runs_here) {
      if (!other.valid()) {
        return;
      }
      const StageReference reference =
          read_reference(reading, node, node.value().text, {.min = 2, .max = 2});
      const auto target = find_job(reading.scenario, reference.job);
      if (target && *target == index) {
        node.fail("a stage of this job is named without its job",
                  fmt::format("write \"{}\"", reference.stage));
      }
      const std::string own = reference.job + "." + reference.stage;
      if (runs_here && find_stage(reading.scenario, job, own).valid()) {
        node.fail(fmt::format("the job has a stage \"{}\" itself", own),
                  "that is the name under which the job would run the other's stage");
      }
    };
    check(items[i].member("from"), edge.from_job, true);
    check(items[i].member("reuse"), edge.reuse_job, false);
    if (job_node.failed()) {
      return;
    }
  }
}

}  // namespace

std::optional<std::size_t> find_job(const model::Scenario& scenario, std::string_view reference) {
  const std::size_t hash = reference.find('#');
  if (hash != std::string_view::npos && !positive_number(reference.substr(hash + 1))) {
    return std::nullopt;
  }
  const std::string_view name = reference.substr(0, hash);
  const auto& jobs = scenario.jobs;
  const model::NameId id = scenario.names.find(name);
  const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const JobSpec& job) {
    return (id.valid() && job.name == id) || is_copy(scenario, job, name);
  });
  if (found == jobs.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - jobs.begin());
}

StageIndex find_stage(const model::Scenario& scenario, const JobSpec& job, std::string_view name) {
  for (std::size_t i = 0; i < job.stages.size(); ++i) {
    if (scenario.names.text(job.stages[i].name) == name) {
      return StageIndex{i};
    }
  }
  return {};
}

std::vector<std::string> job_names(const model::Scenario& scenario) {
  std::vector<std::string> names;
  for (const JobSpec& job : scenario.jobs) {
    names.emplace_back(scenario.names.text(job.name));
  }
  return names;
}

StageReference read_reference(ScenarioReading& reading, const Node& node, std::string_view text,
                              const ReferenceParts& parts) {
  StageReference reference;
  std::vector<std::string> pieces;
  for (std::size_t start = 0;;) {
    const std::size_t slash = text.find('/', start);
    pieces.emplace_back(text.substr(start, slash - start));
    if (slash == std::string_view::npos) {
      break;
    }
    start = slash + 1;
  }
  const auto count = static_cast<int>(pieces.size());
  if (count < parts.min || count > parts.max) {
    node.fail(fmt::format("\"{}\" does not name what is meant here", text),
              parts.min == 3   ? "write job/stage/partition"
              : parts.min == 2 ? "write job/stage"
                               : "write job, job/stage or job/stage/partition");
    return reference;
  }
  reference.job = pieces[0];
  reference.stage = count > 1 ? pieces[1] : "";
  if (count > 2) {
    const std::optional<std::int64_t> partition =
        pieces[2] == "0" ? std::optional<std::int64_t>(0) : positive_number(pieces[2]);
    if (!partition || *partition > int32_max) {
      node.fail(fmt::format("\"{}\" is no partition", pieces[2]), "partitions count from 0");
      return reference;
    }
    reference.partition = static_cast<std::int32_t>(*partition);
  }
  if (reading.scenario.workload) {
    return reference;  // the jobs are those of a trace
  }
  const auto job = find_job(reading.scenario, reference.job);
  if (!job) {
    fail_unknown(node, "job", reference.job, views(job_names(reading.scenario)));
    return reference;
  }
  if (count < 2) {
    return reference;
  }
  const JobSpec& spec = reading.scenario.jobs[*job];
  const StageIndex stage = find_stage(reading.scenario, spec, reference.stage);
  std::vector<std::string> known;
  for (const model::StageSpec& candidate : spec.stages) {
    known.push_back(reading.text(candidate.name));
  }
  for (const model::EdgeSpec& edge : spec.edges) {  // other jobs' stages that it may run itself
    if (edge.from_job.valid()) {
      known.push_back(reading.text(edge.from_job) + "." + reading.text(edge.from_stage));
    }
  }
  if (std::find(known.begin(), known.end(), reference.stage) == known.end()) {
    fail_unknown(node, fmt::format("stage of job \"{}\"", reference.job), reference.stage,
                 views(known));
  } else if (stage.valid() && reference.partition &&
             *reference.partition >= spec.stages[stage.index()].tasks) {
    node.fail(
        fmt::format("stage \"{}\" has no partition {}", reference.stage, *reference.partition),
        fmt::format("it has {} tasks, counted from 0", spec.stages[stage.index()].tasks));
  }
  return reference;
}

std::vector<StageIndex> default_result(const JobSpec& job) {
  std::vector<bool> read(job.stages.size());
  for (const model::EdgeSpec& edge : job.edges) {
    if (edge.from.valid()) {
      read[edge.from.index()] = true;
    }
  }
  std::vector<StageIndex> sinks;
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (!read[i]) {
      sinks.push_back(StageIndex{i});
    }
  }
  if (sinks.empty() && !job.stages.empty()) {
    sinks.push_back(StageIndex{job.stages.size() - 1});
  }
  return sinks;
}

void read_jobs(ScenarioReading& reading, const Node& node) {
  const std::vector<Node> items = node.items("jobs");
  for (const Node& item : items) {
    read_job(reading, item);
    if (item.failed()) {
      return;
    }
  }
  check_job_names(reading, items);
}

void read_job_references(ScenarioReading& reading, const Node& node) {
  const std::vector<Node> items = node.items("jobs");
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (const Node after = items[i].member("after"); after.given()) {
      read_after(reading, after, i);
    }
    check_edge_references(reading, items[i], i);
    if (node.failed()) {
      return;
    }
  }
  check_after_cycle(reading, items);
}

}  // namespace rehearse::traces
