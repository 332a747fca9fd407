#include "tests/idioms/features.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "model/stage_graph.hpp"
#include "model/support/draw.hpp"
#include "model/support/journal_line.hpp"
#include "policies/registry.hpp"
#include "properties/monitor_set.hpp"
#include "properties/registry.hpp"
#include "sim/simulation.hpp"

namespace rehearse::testing {

namespace {

using model::Code;
using model::EdgeSpec;
using model::JobSpec;
using model::NameId;
using model::Scenario;

// Marks, not what the axis `edges` makes of them: a control runs the same marks as regular edges.
bool is_pipelined(const EdgeSpec& edge) {
  return edge.from.valid() && edge.kind == model::EdgeKind::pipelined;
}

bool is_read_outside(const JobSpec& job, model::StageIndex stage) {
  return std::ranges::any_of(job.edges, [stage](const EdgeSpec& edge) {
    return edge.from.valid() && edge.from == stage && !is_pipelined(edge);
  });
}

// Another job may run stages of this one as regular stages of its own, and what these read, too.
bool is_read_by_jobs(const Scenario& scenario, const JobSpec& job) {
  const auto foreign = [&job](const EdgeSpec& edge) { return edge.from_job == job.name; };
  return std::ranges::any_of(scenario.jobs, [&foreign](const JobSpec& other) {
    return std::ranges::any_of(other.edges, foreign);
  });
}

// The name in the file of a job of the journal: j#1 is a resubmission of j, j2 may be a copy of it.
std::string plain_name(const Scenario& scenario, std::string_view text) {
  text = text.substr(0, text.find('#'));
  std::string_view best;
  for (const JobSpec& job : scenario.jobs) {
    const std::string_view name = scenario.names.text(job.name);
    if (name == text) {
      return std::string(text);
    }
    if (job.repeat_count > 1 && text.starts_with(name) && name.size() > best.size()) {
      best = name;
    }
  }
  return std::string(best);
}

class Watcher final : public model::Observer {
 public:
  Watcher(const Scenario& scenario, const Watch& watch, Shown& shown)
      : scenario_(scenario), watch_(watch), shown_(shown) {}

  void begin(const model::NameTable& names) override { names_ = &names; }

  void on(const model::Event& event) override {
    if (const auto* formed = event.as<model::GroupFormed>()) {
      form(*formed);
    } else if (const auto* admitted = event.as<model::GroupAdmitted>()) {
      if (carries(admitted->group)) {
        ++shown_.groups;
        shown_.again += admitted->group.attempt.value_or(0) > 0 ? 1 : 0;
      }
    } else if (const auto* failed = event.as<model::GroupFailed>()) {
      shown_.failed += carries(failed->group) ? 1 : 0;
    } else if (const auto* committed = event.as<model::GroupCommitted>()) {
      committed_ = committed_ || carries(committed->group);
    } else if (const auto* start = event.as<model::TaskStart>()) {
      count_copy(*start);
    } else if (const auto* lost = event.as<model::ExecutorLost>()) {
      shown_.left += lost->cause == model::LossCause::decommission ? 1 : 0;
    }
    const bool kept = event.as<model::Probe>() == nullptr && event.as<model::RunStart>() == nullptr;
    if (watch_.lines && kept) {
      shown_.lines.push_back(model::journal_line(event, *names_));
      shown_.committed.push_back(committed_);
    }
  }

 private:
  using Key = std::pair<NameId, NameId>;  // job, and a stage or the first of a group

  void form(const model::GroupFormed& line) {
    if (line.stages.size() < 2) {
      return;  // a barrier stage
    }
    const std::string job = plain_name(scenario_, names_->text(line.job));
    bool carrier = watch_.carriers.empty();
    for (const NameId stage : line.stages) {
      members_.emplace(line.job, stage);
      carrier = carrier || watch_.carriers.contains({job, stage});
    }
    if (carrier) {
      groups_.emplace(line.job, line.stage);
    }
  }

  [[nodiscard]] bool carries(const model::StageRef& group) const {
    return groups_.contains({group.job, group.stage});
  }

  void count_copy(const model::TaskStart& start) {
    if (start.speculative) {
      const bool member = members_.contains({start.task.job, start.task.stage});
      ++(member ? shown_.copies : shown_.others);
    }
  }

  const Scenario& scenario_;
  const Watch& watch_;
  Shown& shown_;
  const model::NameTable* names_ = nullptr;
  std::set<Key> members_;
  std::set<Key> groups_;  // that carry the idiom
  bool committed_ = false;
};

// Another one for each try: as if no two gave the same rows.
std::uint64_t checksum_of(const model::TaskRef& task) {
  const model::DrawKey key =
      model::draw_key({0, model::DrawPurpose::audit, std::uint64_t{task.job.value},
                       std::uint64_t{task.stage.value}});
  return model::draw(
      key, {static_cast<std::uint32_t>(task.partition), static_cast<std::uint32_t>(task.attempt),
            static_cast<std::uint32_t>(task.try_number)});
}

}  // namespace

std::set<Carrier> switch_on(Scenario& scenario, Code code, Read read) {
  switch_off(scenario, code);
  std::set<Carrier> carriers;
  for (JobSpec& job : scenario.jobs) {
    if (is_read_by_jobs(scenario, job)) {
      continue;
    }
    for (EdgeSpec& edge : job.edges) {
      const bool wanted =
          read == Read::any || is_read_outside(job, edge.from) == (read == Read::outside);
      if (!is_pipelined(edge) || !wanted) {
        continue;
      }
      model::StageSpec& producer = job.stages[edge.from.index()];
      (code == Code::checksum_retry ? edge.checksum_retry : producer.indeterminate) = true;
      carriers.emplace(scenario.names.text(job.name), producer.name);
    }
  }
  return carriers;
}

void switch_off(Scenario& scenario, Code code) {
  for (JobSpec& job : scenario.jobs) {
    for (model::StageSpec& stage : job.stages) {
      stage.indeterminate = stage.indeterminate && code != Code::indeterminate_producer;
    }
    for (EdgeSpec& edge : job.edges) {
      edge.checksum_retry = edge.checksum_retry && code != Code::checksum_retry;
    }
  }
}

Shown run_watched(const Scenario& scenario, const Watch& watch) {
  const auto policies = policies::make(scenario.scheduler);
  if (!policies) {
    throw std::runtime_error(to_string(policies.error()));
  }
  Shown shown;
  Watcher watcher(scenario, watch, shown);
  std::optional<properties::MonitorSet> monitors;
  std::vector<model::Observer*> observers{&watcher};
  if (watch.judge) {
    observers.push_back(&monitors.emplace());
  }
  sim::RunOptions options;
  options.promises = properties::promised(scenario.scheduler, scenario.timing);
  if (watch.checksums) {
    options.checksum = checksum_of;
  }
  // It owns the names that monitors speak of until they are done.
  const sim::RunResult result = sim::run(scenario, *policies, observers, options);
  shown.hash = result.journal_hash;
  if (monitors) {
    monitors->finish();
    shown.violations = monitors->violations();
  }
  return shown;
}

}  // namespace rehearse::testing
