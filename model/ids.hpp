// Ids of what a scenario is made of; each indexes a dense array of its owner.
#pragma once

#include "model/support/strong_id.hpp"

namespace rehearse::model {

struct ResourceTag;
struct ProfileTag;
struct ExecutorTag;
struct JobTag;
struct StageTag;

using ResourceId = Id<ResourceTag>;  // Cluster::resources
using ProfileId = Id<ProfileTag>;    // Cluster::profiles
using ExecutorId = Id<ExecutorTag>;  // executors by order of joining
using JobIndex = Id<JobTag>;         // Scenario::jobs
using StageIndex = Id<StageTag>;     // JobSpec::stages: file order within one job

}  // namespace rehearse::model
