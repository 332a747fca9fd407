// What all places of one exploration share. Internal to properties/explore/.
#pragma once

#include <memory>
#include <vector>

#include "model/scenario.hpp"
#include "model/stage_graph.hpp"
#include "model/support/names.hpp"
#include "properties/explore/cluster_space.hpp"
#include "scheduler/core.hpp"
#include "sim/models/client.hpp"

namespace rehearse::properties {

struct ClusterSpace::Setup {
  explicit Setup(const model::Scenario& of);

  [[nodiscard]] scheduler::CoreOptions core_options() const;
  // Ids of jobs: the planned ones in their order, then their first resubmissions, and so on.
  [[nodiscard]] std::uint32_t planned_of(scheduler::JobId job) const {
    return job.value % static_cast<std::uint32_t>(client.planned().size());
  }
  [[nodiscard]] std::uint32_t scenario_job_of(scheduler::JobId job) const {
    return client.planned()[planned_of(job)].spec.value;
  }
  [[nodiscard]] const model::StageGraph& graph_of(scheduler::JobId job) const {
    return graphs[scenario_job_of(job)];
  }

  const model::Scenario& scenario;
  // Grows with names of resubmissions and texts of details; no part of any state.
  std::unique_ptr<model::NameTable> names;
  sim::Client client;
  std::vector<model::StageGraph> graphs;              // by job of the scenario
  std::vector<const model::ExecutorSpec*> executors;  // in the order of joining: by ExecutorId
  model::Duration long_wait;                          // 0: no policy reads how long
  bool reads_clock;
  bool coupled;
  bool kills_at_once = false;
};

}  // namespace rehearse::properties
