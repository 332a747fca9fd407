// Reduction and scaling; clusters are in adjust_cluster.cpp.
#include "cli/adjust.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <regex>

namespace rehearse::cli {
namespace {

using model::Duration;
using model::NameId;
using model::Scenario;

constexpr std::int64_t one_ppm = 1'000'000;

// ---- reduction ----

class Reducer {
 public:
  explicit Reducer(const Scenario& scenario) : scenario_(scenario) {
    for (std::size_t j = 0; j < scenario.jobs.size(); ++j) {
      by_name_.emplace(scenario.jobs[j].name, j);
    }
    kept_.resize(scenario.jobs.size());
  }

  void keep(std::size_t job, bool with_after) {
    std::vector<std::size_t> open{job};
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (kept_[at]) {
        continue;
      }
      kept_[at] = true;
      const model::JobSpec& spec = scenario_.jobs[at];
      for (const model::EdgeSpec& edge : spec.edges) {
        need(edge.from_job, open);
        need(edge.reuse_job, open);
      }
      if (with_after) {
        for (const model::AfterSpec& after : spec.after) {
          need(after.job, open);
        }
      }
    }
  }
  [[nodiscard]] const std::vector<bool>& kept() const { return kept_; }

 private:
  void need(NameId job, std::vector<std::size_t>& open) const {
    if (const auto found = by_name_.find(job); job.valid() && found != by_name_.end()) {
      open.push_back(found->second);
    }
  }

  const Scenario& scenario_;
  std::map<NameId, std::size_t> by_name_;
  std::vector<bool> kept_;
};

// ---- scaling ----

// Keeps the first time that leaves 64 bits.
class Scaler {
 public:
  Scaler(std::int64_t numerator, std::int64_t denominator)
      : numerator_(numerator), denominator_(denominator) {}

  void operator()(Duration& time) {
    __extension__ using Wide = __int128;
    const Wide scaled = (Wide{time} * numerator_ * 2 + denominator_) / (Wide{denominator_} * 2);
    if (scaled > std::numeric_limits<std::int64_t>::max()) {
      overflow_ = true;
      return;
    }
    time = static_cast<Duration>(scaled);
  }
  void operator()(std::optional<Duration>& time) {
    if (time) {
      (*this)(*time);
    }
  }
  void operator()(model::Distribution& distribution) {
    (*this)(distribution.base_ns);
    (*this)(distribution.max_ns);
    (*this)(distribution.cap_ns);
    for (Duration& value : distribution.values_ns) {
      (*this)(value);
    }
  }
  [[nodiscard]] model::Result<void> result(std::string_view option) const {
    if (!overflow_) {
      return {};
    }
    return std::unexpected(model::Error{.what = "a time becomes greater than 292 years",
                                        .field = std::string(option),
                                        .remedy = "scale by less"});
  }

 private:
  std::int64_t numerator_;
  std::int64_t denominator_;
  bool overflow_ = false;
};

void scale_arrivals(Scaler& scale, model::JobSpec& job) {
  scale(job.submit);
  scale(job.repeat_every);
  for (model::AfterSpec& after : job.after) {
    scale(after.delay);
  }
}

void scale_work(Scaler& scale, model::JobSpec& job) {
  scale(job.backoff);
  for (model::StageSpec& stage : job.stages) {
    std::visit(
        [&](auto& duration) {
          if constexpr (std::is_same_v<std::decay_t<decltype(duration)>, model::Distribution>) {
            scale(duration);
          } else {
            for (Duration& one : duration) {
              scale(one);
            }
          }
        },
        stage.duration);
    scale(stage.estimate);
    scale(stage.start_delay);
  }
}

}  // namespace

model::Result<std::int64_t> reduce(Scenario& scenario, std::vector<model::RecordedJob>& recorded,
                                   const Reduction& reduction) {
  Reducer reducer(scenario);
  const std::regex pattern(reduction.select.value_or(""));
  std::int64_t taken = 0;
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) {
    const std::string name(scenario.names.text(scenario.jobs[j].name));
    if ((reduction.jobs_max && taken >= *reduction.jobs_max) ||
        (reduction.select && !std::regex_search(name, pattern))) {
      continue;
    }
    ++taken;
    reducer.keep(j, !reduction.relink);
  }
  if (taken == 0 && !scenario.jobs.empty()) {
    return std::unexpected(
        model::Error{.what = fmt::format("no job of {} has such a name", scenario.jobs.size()),
                     .field = "--select",
                     .remedy = fmt::format("the first is named \"{}\"",
                                           scenario.names.text(scenario.jobs.front().name))});
  }
  std::vector<model::TraceJob> left;
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) {
    if (reducer.kept()[j]) {
      left.push_back(
          {.spec = std::move(scenario.jobs[j]),
           .recorded = recorded.empty() ? model::RecordedJob{} : std::move(recorded[j])});
    }
  }
  const auto dropped = static_cast<std::int64_t>(scenario.jobs.size() - left.size());
  if (reduction.relink && dropped > 0) {
    model::link_arrivals(left);
  }
  const bool has_recorded = !recorded.empty();
  scenario.jobs.clear();
  recorded.clear();
  for (model::TraceJob& job : left) {
    scenario.jobs.push_back(std::move(job.spec));
    if (has_recorded) {
      recorded.push_back(std::move(job.recorded));
    }
  }
  return dropped;
}

model::Result<void> scale_time(Scenario& scenario, std::int64_t ppm) {
  Scaler scale(ppm, one_ppm);
  for (model::JobSpec& job : scenario.jobs) {
    scale_arrivals(scale, job);
    scale_work(scale, job);
  }
  for (model::ExecutorSpec& executor : scenario.cluster.executors) {
    scale(executor.joins);
  }
  for (model::TimedFault& fault : scenario.faults.timed) {
    scale(fault.at);
    scale(fault.after);
  }
  for (model::TaskFault& fault : scenario.faults.tasks) {
    scale(fault.after);
  }
  return scale.result("--time-scale");
}

model::Result<void> scale_load(Scenario& scenario, std::int64_t ppm) {
  Scaler scale(one_ppm, ppm);
  for (model::JobSpec& job : scenario.jobs) {
    scale_arrivals(scale, job);
  }
  return scale.result("--load-scale");
}

}  // namespace rehearse::cli
