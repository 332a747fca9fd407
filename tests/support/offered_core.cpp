#include "tests/support/offered_core.hpp"

#include <iterator>
#include <memory>
#include <variant>

#include "policies/registry.hpp"

namespace rehearse::testing {

using namespace scheduler;

JobId OfferedCore::submit(const std::string& name, const std::vector<Stage>& stages) {
  auto spec = std::make_shared<model::JobSpec>();
  spec->name = names_.intern(name);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    spec->stages.push_back(stage_spec(stages[s]));
    for (const std::size_t read : stages[s].reads) {
      model::EdgeSpec& edge = spec->edges.emplace_back();
      edge.from = StageIndex{read};
      edge.to = {StageIndex{s}};
      edge.kind = stages[s].kind;
    }
  }
  SubmitJob input;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (stages[s].shared) {
      input.shared.emplace_back(s);
    }
  }
  input.job = JobId{jobs_};
  input.spec = spec;
  input.own_stages = static_cast<std::uint32_t>(stages.size());
  input.rank = jobs_++;
  job_names_.push_back(name);
  step(input);
  return input.job;
}

JobId OfferedCore::submit_reader(const std::string& name, JobId other, const Stage& read) {
  auto spec = std::make_shared<model::JobSpec>();
  spec->name = names_.intern(name);
  spec->stages = {stage_spec({.name = "reader"}), stage_spec(read)};
  model::EdgeSpec& edge = spec->edges.emplace_back();
  edge.from = StageIndex{1U};
  edge.from_job = names_.intern(job_names_[other.index()]);
  edge.to = {StageIndex{0U}};
  SubmitJob input;
  input.job = JobId{jobs_};
  input.spec = spec;
  input.own_stages = 1;
  input.foreign = {{other, StageIndex{0U}, names_.intern(read.name)}};
  input.rank = jobs_++;
  job_names_.push_back(name);
  step(input);
  return input.job;
}

Core OfferedCore::make(const Made& made) {
  CoreOptions options;
  options.config = made.config;
  options.engine = made.engine;
  options.autoscaling = made.autoscaling;
  options.profile_names = {names_.intern("default")};
  options.profile_tasks = {{model::milli}};
  options.names = &names_;
  const auto policies = policies::make(made.config);
  REQUIRE(policies.has_value());
  return Core(options, *policies);
}

model::StageSpec OfferedCore::stage_spec(const Stage& stage) {
  model::StageSpec spec;
  spec.name = names_.intern(stage.name);
  spec.tasks = stage.tasks;
  spec.profile = ProfileId{0U};
  for (const std::vector<std::string>& places : stage.prefers) {
    std::vector<model::NameId>& list = spec.prefers.emplace_back();
    std::ranges::transform(places, std::back_inserter(list),
                           [this](const std::string& place) { return names_.intern(place); });
  }
  return spec;
}

std::vector<Launch> OfferedCore::carry_out(const Actions& actions) {
  std::vector<Launch> launches;
  std::vector<RunId> killed;
  for (const Action& action : actions.list) {
    if (const auto* launch = std::get_if<Launch>(&action)) {
      launches.push_back(*launch);
    } else if (const auto* timer = std::get_if<SetTimer>(&action)) {
      timers_.push_back({timer->timer, now_ + timer->delay});
    } else if (const auto* kill = std::get_if<Kill>(&action)) {
      killed.push_back(kill->run);
    } else if (const auto* asked = std::get_if<Unschedulable>(&action)) {
      unschedulable_.push_back(*asked);
    } else if (const auto* entry = std::get_if<Entry>(&action)) {
      note(actions.entries[entry->index]);
    }
  }
  for (const RunId run : killed) {
    step(KillEffective{run});
  }
  CHECK(core_.digest() == core_.full_digest());
  CHECK(core_ == Core(core_));
  return launches;
}

void OfferedCore::note(const model::EventBody& body) {
  if (const auto* end = std::get_if<model::JobEnd>(&body)) {
    ends_.emplace(names_.text(end->job), *end);
  } else if (const auto* stage = std::get_if<model::StageCompleted>(&body)) {
    completed_.emplace_back(names_.text(stage->stage.stage));
  }
}

}  // namespace rehearse::testing
