// Names as short as they can be, in the order of the file.
// registry: none (a part of the shrinker)
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "properties/shrink/edit.hpp"

namespace rehearse::properties {

using model::NameId;
using model::Scenario;

namespace {

// A, B, ..., Z, A26, ...
std::string job_text(std::size_t number) {
  constexpr std::size_t letters = 26;
  const auto letter = static_cast<char>('A' + static_cast<char>(number));
  return number < letters ? std::string(1, letter) : "A" + std::to_string(number);
}

std::string stage_text(std::size_t number) { return "s" + std::to_string(number + 1); }

// Fills a table of its own and gives every id of the scenario its new one.
class Renamer {
 public:
  explicit Renamer(Scenario& scenario) : scenario_(scenario), old_(scenario.names) {
    for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
      const model::JobSpec& job = scenario.jobs[i];
      texts_[job.name] = job_text(i);
      std::map<NameId, std::string>& stages = stages_[job.name];
      for (std::size_t s = 0; s < job.stages.size(); ++s) {
        stages[job.stages[s].name] = stage_text(s);
      }
    }
    for (const model::ExecutorSpec& executor : scenario.cluster.executors) {
      add_executor(executor);
    }
    for (const model::TimedFault& fault : scenario.faults.timed) {
      if (const auto* add = std::get_if<model::AddExecutor>(&fault.action)) {
        add_executor(add->executor);
      }
    }
  }

  void run() {
    scenario_.names = {};
    for_cluster();
    for (model::PoolConfig& pool : scenario_.scheduler.pools) {
      plain(pool.name);
    }
    for (model::JobSpec& job : scenario_.jobs) {
      for_job(job);
    }
    for (model::TimedFault& fault : scenario_.faults.timed) {
      for_fault(fault);
    }
    for (model::TaskFault& fault : scenario_.faults.tasks) {
      const NameId own = fault.job;
      stage(own, fault.stage);
      stage(fault.fetch_from_job.valid() ? fault.fetch_from_job : own, fault.fetch_from);
      job(fault.job);
      job(fault.fetch_from_job);
    }
  }

 private:
  void add_executor(const model::ExecutorSpec& executor) {
    const std::string number = std::to_string(++executors_);
    texts_[executor.name] = "E" + number;
    if (old_.text(executor.host) == "h-" + std::string(old_.text(executor.name))) {
      texts_[executor.host] = "h-E" + number;
    } else if (!texts_.contains(executor.host)) {
      texts_[executor.host] = "H" + std::to_string(++hosts_);
    }
  }

  void set(NameId& name, std::string_view text) { name = scenario_.names.intern(text); }

  void plain(NameId& name) {
    if (name.valid()) {
      set(name, old_.text(name));
    }
  }
  void place(NameId& name) {
    const auto found = texts_.find(name);
    if (found != texts_.end()) {
      set(name, found->second);
    } else {
      plain(name);
    }
  }
  // "q", "q#2" or, of a repeated job, "q1": whatever stands behind the name of the job stays.
  void job(NameId& name) {
    if (!name.valid()) {
      return;
    }
    const std::string text(old_.text(name));
    const NameId base = base_of(text);
    if (!base.valid()) {
      plain(name);
      return;
    }
    set(name, texts_.at(base) + text.substr(old_.text(base).size()));
  }
  [[nodiscard]] NameId base_of(std::string_view text) const {
    NameId best;
    for (const auto& [name, stages] : stages_) {
      const std::string_view own = old_.text(name);
      if (text.starts_with(own) && (!best.valid() || own.size() > old_.text(best).size())) {
        best = name;
      }
    }
    return best;
  }
  void stage(NameId job_name, NameId& name) {
    if (!name.valid()) {
      return;
    }
    const NameId base = base_of(old_.text(job_name));
    if (base.valid() && stages_.at(base).contains(name)) {
      set(name, stages_.at(base).at(name));
      return;
    }
    // "job.stage" of another job
    const std::string_view text = old_.text(name);
    const std::size_t dot = text.find('.');
    const NameId other = base_of(text.substr(0, dot));
    const NameId there = dot == std::string_view::npos ? NameId{} : old_.find(text.substr(dot + 1));
    if (other.valid() && there.valid() && stages_.at(other).contains(there)) {
      set(name, texts_.at(other) + "." + stages_.at(other).at(there));
    } else {
      plain(name);
    }
  }

  void for_executor(model::ExecutorSpec& executor) {
    place(executor.name);
    place(executor.host);
    plain(executor.rack);
  }

  void for_cluster() {
    model::Cluster& cluster = scenario_.cluster;
    for (NameId& name : cluster.resources) {
      plain(name);
    }
    for (model::Profile& profile : cluster.profiles) {
      plain(profile.name);
    }
    for (model::ExecutorSpec& executor : cluster.executors) {
      for_executor(executor);
    }
    if (cluster.autoscale) {
      plain(cluster.autoscale->executor.name);
      plain(cluster.autoscale->executor.host);
    }
  }

  void for_job(model::JobSpec& spec) {
    const NameId own = spec.name;
    job(spec.name);
    plain(spec.pool);
    for (model::AfterSpec& after : spec.after) {
      job(after.job);
    }
    for (model::StageSpec& item : spec.stages) {
      stage(own, item.name);
      for (std::vector<NameId>& places : item.prefers) {
        for (NameId& name : places) {
          place(name);
        }
      }
    }
    for (model::EdgeSpec& edge : spec.edges) {
      stage(edge.from_job, edge.from_stage);
      stage(edge.reuse_job, edge.reuse_stage);
      job(edge.from_job);
      job(edge.reuse_job);
    }
  }

  void for_fault(model::TimedFault& fault) {
    job(fault.match_job);
    stage(fault.match_stage_job, fault.match_stage);
    job(fault.match_stage_job);
    place_if(fault.match_executor);
    if (auto* lose = std::get_if<model::LoseExecutor>(&fault.action)) {
      place(lose->executor);
    } else if (auto* add = std::get_if<model::AddExecutor>(&fault.action)) {
      for_executor(add->executor);
    } else if (auto* hold = std::get_if<model::HoldExecutors>(&fault.action)) {
      for (NameId& name : hold->executors) {
        place(name);
      }
    } else {
      job(std::get<model::CancelJob>(fault.action).job);
    }
  }

  void place_if(NameId& name) {
    if (name.valid()) {
      place(name);
    }
  }

  Scenario& scenario_;
  const model::NameTable old_;
  std::map<NameId, std::string> texts_;                     // of jobs, executors and hosts
  std::map<NameId, std::map<NameId, std::string>> stages_;  // by job
  std::size_t executors_ = 0;
  std::size_t hosts_ = 0;
};

}  // namespace

void rename(Scenario& scenario) { Renamer(scenario).run(); }

bool is_renamed(const Scenario& scenario) {
  const auto text = [&](NameId name) { return scenario.names.text(name); };
  for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
    const model::JobSpec& job = scenario.jobs[i];
    if (text(job.name) != job_text(i)) {
      return false;
    }
    for (std::size_t s = 0; s < job.stages.size(); ++s) {
      if (text(job.stages[s].name) != stage_text(s)) {
        return false;
      }
    }
  }
  std::size_t number = 0;
  return std::ranges::all_of(scenario.cluster.executors, [&](const model::ExecutorSpec& executor) {
    return text(executor.name) == "E" + std::to_string(++number);
  });
}

}  // namespace rehearse::properties
