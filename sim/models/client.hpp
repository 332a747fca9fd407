// The callers of jobs: when each is submitted, repeated, resubmitted after a failure (X8), or
// submitted after others (`after`); and what a submission looks like once edges from other jobs'
// stages are spelled out as takeovers (traces.md, stages of other jobs).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/scenario.hpp"
#include "scheduler/input.hpp"

namespace rehearse::sim {

// One submission that is to come.
struct Submission {
  model::Instant at = 0;
  model::JobIndex spec;       // in the scenario
  std::int32_t copy = 0;      // of `repeat`, from 1; 0 = no repeat
  std::int32_t resubmit = 0;  // #n; 0 = the first
};

// Order among submissions of one instant: file order, then copies and resubmissions by (original's
// file order, number). Unique; also the rank after the submit instant (A18).
[[nodiscard]] std::uint64_t submission_order(const Submission& submission);

class Client {
 public:
  explicit Client(const model::Scenario& scenario);

  // Submissions known from the start, in order of (instant, submission_order).
  [[nodiscard]] const std::vector<Submission>& planned() const { return planned_; }

  // The submission's job ended or was rejected at `now`: what follows from it.
  struct Ending {
    bool failed_or_rejected = false;
  };
  [[nodiscard]] std::vector<Submission> follow(const Submission& ended, const Ending& ending,
                                               model::Instant now);

  // "q", "q1", "q#2", "q1#2".
  [[nodiscard]] std::string name_of(const Submission& submission) const;

  // The job to submit under `name`. Shares the scenario's spec where nothing differs.
  [[nodiscard]] scheduler::SubmitJob expand(const Submission& submission, model::NameId name,
                                            model::NameTable& names) const;
  // The scenario's job a takeover's name stands for: fills ForeignStage::job through `lookup`.
  struct ForeignRef {
    model::JobIndex job;
    model::StageIndex stage;
  };
  // For each takeover of the last expand() of this job: what it stands for.
  [[nodiscard]] const std::vector<ForeignRef>& foreign_of(model::JobIndex job) const {
    return plans_[job.index()].foreign;
  }
  // The scenario's jobs that `reuse` of pipelined edges names, in the order of the edges.
  [[nodiscard]] const std::vector<model::JobIndex>& reused_by(model::JobIndex job) const {
    return plans_[job.index()].reused;
  }
  // The takeover of `job` that stands for stage "from_job/from_stage"; own stages by name
  // otherwise.
  [[nodiscard]] std::optional<model::StageIndex> stage_named(model::JobIndex job,
                                                             model::NameId from_job,
                                                             model::NameId from_stage) const;

 private:
  struct Plan {
    std::vector<ForeignRef> foreign;        // takeovers, behind the own stages
    std::vector<model::StageIndex> shared;  // own stages that other jobs read
    std::vector<model::JobIndex> reused;
    std::vector<model::JobIndex> awaited_by;  // jobs whose `after` names this one
    std::int32_t unfinished = 1;              // requests that have not ended for good
    std::int32_t awaited = 0;                 // `after` entries that have not come
    model::Instant earliest = 0;              // latest end + delay so far
  };

  void plan_takeovers(std::uint32_t job);
  [[nodiscard]] model::JobSpec with_takeovers(std::uint32_t job, model::NameTable& names) const;
  void add_submissions(model::JobIndex job, model::Instant at, std::vector<Submission>& to) const;

  const model::Scenario& scenario_;
  std::vector<Plan> plans_;
  std::vector<Submission> planned_;
  std::vector<model::JobIndex> job_by_name_;  // by name id; invalid = no job of that name
};

}  // namespace rehearse::sim
