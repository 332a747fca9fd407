// How scenarios are changed; see the header for what each change keeps.
#include "tests/relations/change.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/axes.hpp"
#include "model/support/check.hpp"
#include "model/support/units.hpp"

namespace rehearse::testing {

using model::Scenario;

namespace {

// Every executor that the scenario describes.
void for_executors(Scenario& scenario, const auto& change) {
  std::ranges::for_each(scenario.cluster.executors, change);
  if (scenario.cluster.autoscale) {
    change(scenario.cluster.autoscale->executor);
  }
  for (model::TimedFault& fault : scenario.faults.timed) {
    if (auto* add = std::get_if<model::AddExecutor>(&fault.action)) {
      change(add->executor);
    }
  }
}

// Times a factor, if it is a fixed time.
bool scale(model::Distribution& distribution, std::int64_t factor) {
  distribution.base_ns *= factor;
  return distribution.kind == model::DistributionKind::fixed && !distribution.cap_ns;
}

void scale(std::optional<model::Duration>& time, std::int64_t factor) {
  time = time ? std::optional(*time * factor) : time;
}

bool scale(model::StageSpec& stage, std::int64_t factor) {
  stage.start_delay *= factor;
  scale(stage.estimate, factor);
  if (auto* each = std::get_if<std::vector<model::Duration>>(&stage.duration)) {
    std::ranges::for_each(*each, [factor](model::Duration& time) { time *= factor; });
    return true;
  }
  return scale(std::get<model::Distribution>(stage.duration), factor);
}

bool scale_jobs(Scenario& scenario, std::int64_t factor) {
  bool given = true;
  for (model::JobSpec& job : scenario.jobs) {
    job.submit *= factor;
    job.repeat_every *= factor;
    job.backoff *= factor;
    for (model::AfterSpec& after : job.after) {
      after.delay *= factor;
    }
    for (model::StageSpec& stage : job.stages) {
      given = scale(stage, factor) && given;
    }
  }
  return given;
}

bool scale_faults(Scenario& scenario, std::int64_t factor) {
  bool given = true;
  for (model::TimedFault& fault : scenario.faults.timed) {
    scale(fault.at, factor);
    fault.after *= factor;
    if (auto* lose = std::get_if<model::LoseExecutor>(&fault.action)) {
      scale(lose->noticed, factor);
    } else if (auto* hold = std::get_if<model::HoldExecutors>(&fault.action)) {
      hold->for_ns *= factor;
    }
  }
  for (model::TaskFault& fault : scenario.faults.tasks) {
    fault.after *= factor;
    scale(fault.status_late, factor);
    given = given && !fault.slow_milli;
  }
  return given;
}

bool scale_cluster(model::Cluster& cluster, std::int64_t factor) {
  bool given = !cluster.autoscale;
  model::Overheads& overheads = cluster.overheads;
  for (model::Distribution* each :
       {&overheads.launch, &overheads.status, &overheads.kill, &overheads.loss_detection}) {
    given = scale(*each, factor) && given;
  }
  for (model::ExecutorSpec& executor : cluster.executors) {
    executor.joins *= factor;
  }
  return given;
}

// The values of the axes that are durations, in their text: a number with a unit of time.
std::string scaled_text(std::string_view text, std::int64_t factor) {
  std::string scaled;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && std::string_view("[]=,").find(text[end]) == text.npos) {
      ++end;
    }
    const std::string_view word = text.substr(at, end - at);
    const bool has_unit = !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0 &&
                          std::isalpha(static_cast<unsigned char>(word.back())) != 0;
    std::optional<model::Duration> duration;
    if (const auto parsed = model::parse_duration(word); has_unit && parsed) {
      duration = *parsed;
    }
    scaled += duration ? std::to_string(*duration * factor) + "ns" : std::string(word);
    if (end < text.size()) {
      scaled += text[end];
      ++end;
    }
    at = end;
  }
  return scaled;
}

void scale_axes(Scenario& scenario, std::int64_t factor) {
  for (const auto& [axis, text] : model::resolved_axes(scenario.scheduler, scenario.names)) {
    const std::string scaled = scaled_text(text, factor);
    if (scaled == text) {
      continue;
    }
    const auto value = model::parse_axis_text(scaled);
    RH_CHECK(value.has_value());
    RH_CHECK(model::set_axis(scenario.scheduler, scenario.names, axis, *value).has_value());
  }
}

}  // namespace

Scenario with_unused_executor(Scenario scenario) {
  model::Cluster& cluster = scenario.cluster;
  const std::size_t resources = cluster.resources.size();
  cluster.resources.push_back(scenario.names.intern("zz-resource"));
  for (model::Profile& profile : cluster.profiles) {
    profile.task.resize(resources + 1, 0);
  }
  for_executors(scenario, [resources](model::ExecutorSpec& executor) {
    executor.resources.resize(resources + 1, 0);
  });
  model::ResourceVector amounts(resources + 1, 0);
  amounts.back() = model::milli;
  cluster.profiles.push_back({scenario.names.intern("zz-profile"), amounts});
  model::ExecutorSpec& unused = cluster.executors.emplace_back();
  unused.name = scenario.names.intern(unused_name);
  unused.host = scenario.names.intern("zz-host");
  unused.profile = model::ProfileId{cluster.profiles.size() - 1};
  unused.resources = amounts;
  return scenario;
}

Scenario with_one_more_executor(Scenario scenario) {
  model::ExecutorSpec more = scenario.cluster.executors.front();
  more.name = scenario.names.intern("zz-more");
  more.host = scenario.names.intern("zz-host");
  more.rack = model::NameId{};
  more.speed_milli = model::milli;
  more.joins = 0;
  scenario.cluster.executors.push_back(std::move(more));
  return scenario;
}

Scenario with_ample_slots(Scenario scenario) {
  for_executors(scenario, [](model::ExecutorSpec& executor) {
    for (std::int64_t& amount : executor.resources) {
      amount *= 1000;
    }
  });
  return scenario;
}

std::optional<Scenario> with_scaled_times(Scenario scenario, std::int64_t factor) {
  bool given = scenario.choices.empty() && scenario.scheduler.slots == model::SlotsAxis::exclusive;
  for_executors(scenario, [&given](const model::ExecutorSpec& executor) {
    given = given && executor.speed_milli == model::milli;
  });
  given = scale_cluster(scenario.cluster, factor) && given;
  given = scale_jobs(scenario, factor) && given;
  given = scale_faults(scenario, factor) && given;
  if (!given) {
    return std::nullopt;
  }
  scale(scenario.horizon, factor);
  scale_axes(scenario, factor);
  return scenario;
}

Scenario with_shifted_times(Scenario scenario, model::Duration by) {
  for (model::JobSpec& job : scenario.jobs) {
    job.submit += by;
  }
  for (model::ExecutorSpec& executor : scenario.cluster.executors) {
    executor.joins += executor.joins > 0 ? by : 0;
  }
  for (model::TimedFault& fault : scenario.faults.timed) {
    fault.at = fault.at ? std::optional(*fault.at + by) : fault.at;
  }
  scenario.horizon = scenario.horizon ? std::optional(*scenario.horizon + by) : std::nullopt;
  return scenario;
}

Scenario with_job_at(Scenario scenario, model::Instant submit) {
  model::JobSpec job;
  job.name = scenario.names.intern("zz-last");
  job.pool = scenario.names.intern("default");
  job.submit = submit;
  job.result = {model::StageIndex{std::uint32_t{0}}};
  model::StageSpec& stage = job.stages.emplace_back();
  stage.name = scenario.names.intern("s1");
  stage.tasks = 1;
  stage.duration = model::fixed_distribution(model::millisecond);
  stage.profile = model::ProfileId{std::uint32_t{0}};
  scenario.jobs.push_back(std::move(job));
  return scenario;
}

std::optional<Scenario> without_job(Scenario scenario, std::string_view name) {
  const model::NameId id = scenario.names.find(name);
  const auto speaks_of = [id](const model::TimedFault& fault) {
    const auto* cancel = std::get_if<model::CancelJob>(&fault.action);
    return fault.moment.has_value() || (cancel != nullptr && cancel->job == id);
  };
  const auto hits = [id](const model::TaskFault& fault) {
    return fault.job == id || fault.fetch_from_job == id;
  };
  const auto needs = [id](const model::JobSpec& job) {
    const auto reads = [id](const model::EdgeSpec& edge) {
      return edge.from_job == id || edge.reuse_job == id;
    };
    return std::ranges::any_of(job.edges, reads) ||
           std::ranges::find(job.after, id, &model::AfterSpec::job) != job.after.end();
  };
  const auto place = std::ranges::find(scenario.jobs, id, &model::JobSpec::name);
  const auto foreign = [](const model::EdgeSpec& edge) { return edge.from_job.valid(); };
  if (place == scenario.jobs.end() || place->repeat_count > 1 ||
      std::ranges::any_of(place->edges, foreign) ||
      std::ranges::any_of(scenario.faults.timed, speaks_of) ||
      std::ranges::any_of(scenario.faults.tasks, hits) ||
      std::ranges::any_of(scenario.jobs, needs)) {
    return std::nullopt;
  }
  scenario.jobs.erase(place);
  return scenario;
}

}  // namespace rehearse::testing
