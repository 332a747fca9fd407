// Callers of jobs; see the header. The only model that looks at several jobs at once.
#include "sim/models/client.hpp"

#include <algorithm>

#include "model/stage_graph.hpp"
#include "model/support/check.hpp"
#include "sim/models/tasks.hpp"

namespace rehearse::sim {

using model::JobIndex;
using model::JobSpec;
using model::StageIndex;

std::uint64_t submission_order(const Submission& submission) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 21U;
  const auto copy = static_cast<std::uint64_t>(submission.copy);
  const auto resubmit = static_cast<std::uint64_t>(submission.resubmit);
  RH_CHECK(submission.spec.value < limit && copy < limit && resubmit < limit,
           submission.spec.value);
  const std::uint64_t later_kind = submission.copy > 0 || submission.resubmit > 0 ? 1 : 0;
  return later_kind << 63U | std::uint64_t{submission.spec.value} << 42U | copy << 21U | resubmit;
}

Client::Client(const model::Scenario& scenario)
    : scenario_(scenario), plans_(scenario.jobs.size()), job_by_name_(scenario.names.size()) {
  planned_.reserve(scenario.jobs.size());
  for (std::uint32_t i = 0; i < scenario.jobs.size(); ++i) {
    job_by_name_[scenario.jobs[i].name.index()] = JobIndex{i};
  }
  for (std::uint32_t i = 0; i < scenario.jobs.size(); ++i) {
    const JobSpec& job = scenario.jobs[i];
    Plan& plan = plans_[i];
    plan.unfinished = job.repeat_count;
    plan_takeovers(i);
    for (const model::EdgeSpec& edge : job.edges) {
      if (edge.reuse_job.valid() &&
          model::effective_kind(edge, scenario.scheduler.edges) == model::EdgeKind::pipelined) {
        RH_CHECK(edge.reuse_job.index() < job_by_name_.size(), edge.reuse_job.value);
        plan.reused.push_back(job_by_name_[edge.reuse_job.index()]);
      }
    }
    for (const model::AfterSpec& after : job.after) {
      RH_CHECK(after.job.index() < job_by_name_.size() && job_by_name_[after.job.index()].valid(),
               after.job.value);
      plans_[job_by_name_[after.job.index()].index()].awaited_by.push_back(JobIndex{i});
      ++plan.awaited;
    }
    if (job.after.empty()) {
      add_submissions(JobIndex{i}, job.submit, planned_);
    }
  }
  std::ranges::sort(planned_, {}, [](const Submission& submission) {
    return std::pair{submission.at, submission_order(submission)};
  });
}

void Client::add_submissions(JobIndex job, model::Instant at, std::vector<Submission>& to) const {
  const JobSpec& spec = scenario_.jobs[job.index()];
  if (spec.repeat_count == 1) {
    to.push_back({at, job, 0, 0});
    return;
  }
  for (std::int32_t copy = 1; copy <= spec.repeat_count; ++copy) {
    to.push_back({at, job, copy, 0});
    at = later(at, spec.repeat_every);
  }
}

std::vector<Submission> Client::follow(const Submission& ended, const Ending& ending,
                                       model::Instant now) {
  const JobSpec& spec = scenario_.jobs[ended.spec.index()];
  std::vector<Submission> next;
  if (ending.failed_or_rejected && ended.resubmit < spec.resubmit) {
    next.push_back({later(now, spec.backoff), ended.spec, ended.copy, ended.resubmit + 1});
    return next;
  }
  Plan& plan = plans_[ended.spec.index()];
  if (--plan.unfinished > 0) {
    return next;
  }
  for (const JobIndex waiting : plan.awaited_by) {
    Plan& other = plans_[waiting.index()];
    for (const model::AfterSpec& after : scenario_.jobs[waiting.index()].after) {
      if (after.job == spec.name) {
        other.earliest = std::max(other.earliest, later(now, after.delay));
      }
    }
    if (--other.awaited == 0) {
      add_submissions(waiting, other.earliest, next);
    }
  }
  return next;
}

std::string Client::name_of(const Submission& submission) const {
  std::string name(scenario_.names.text(scenario_.jobs[submission.spec.index()].name));
  if (submission.copy > 0) {
    name += std::to_string(submission.copy);
  }
  if (submission.resubmit > 0) {
    name += "#" + std::to_string(submission.resubmit);
  }
  return name;
}

// The stages of other jobs that this one reads, and, since it may have to run them itself, all that
// those read in turn; every one of them is shared by its own job.
void Client::plan_takeovers(std::uint32_t job) {
  std::vector<ForeignRef>& foreign = plans_[job].foreign;
  const auto add = [this, &foreign](JobIndex owner, StageIndex stage) {
    const bool known = std::ranges::any_of(
        foreign, [&](const ForeignRef& ref) { return ref.job == owner && ref.stage == stage; });
    if (known) {
      return;
    }
    foreign.push_back({owner, stage});
    std::vector<StageIndex>& shared = plans_[owner.index()].shared;
    if (std::ranges::find(shared, stage) == shared.end()) {
      shared.push_back(stage);
    }
  };
  const auto add_named = [this, &add](const model::EdgeSpec& edge) {
    const JobIndex owner = job_by_name_[edge.from_job.index()];
    RH_CHECK(owner.valid(), edge.from_job.value);
    const auto& stages = scenario_.jobs[owner.index()].stages;
    for (std::uint32_t i = 0; i < stages.size(); ++i) {
      if (stages[i].name == edge.from_stage) {
        add(owner, StageIndex{i});
      }
    }
  };
  for (const model::EdgeSpec& edge : scenario_.jobs[job].edges) {
    if (!edge.from.valid()) {
      add_named(edge);
    }
  }
  for (std::size_t next = 0; next < foreign.size(); ++next) {
    const ForeignRef ref = foreign[next];
    for (const model::EdgeSpec& edge : scenario_.jobs[ref.job.index()].edges) {
      if (std::ranges::find(edge.to, ref.stage) == edge.to.end()) {
        continue;
      }
      if (edge.from.valid()) {
        add(ref.job, edge.from);
      } else {
        add_named(edge);
      }
    }
  }
}

std::optional<StageIndex> Client::stage_named(JobIndex job, model::NameId from_job,
                                              model::NameId from_stage) const {
  const JobSpec& spec = scenario_.jobs[job.index()];
  const JobIndex owner = from_job.valid() && from_job.index() < job_by_name_.size()
                             ? job_by_name_[from_job.index()]
                             : JobIndex{};
  if (!from_job.valid() || owner == job) {
    for (std::uint32_t i = 0; i < spec.stages.size(); ++i) {
      if (spec.stages[i].name == from_stage) {
        return StageIndex{i};
      }
    }
    return std::nullopt;
  }
  const std::vector<ForeignRef>& foreign = plans_[job.index()].foreign;
  for (std::uint32_t i = 0; i < foreign.size(); ++i) {
    const JobSpec& other = scenario_.jobs[foreign[i].job.index()];
    if (foreign[i].job == owner && other.stages[foreign[i].stage.index()].name == from_stage) {
      return StageIndex{spec.stages.size() + i};
    }
  }
  return std::nullopt;
}

JobSpec Client::with_takeovers(std::uint32_t job, model::NameTable& names) const {
  JobSpec spec = scenario_.jobs[job];
  const std::vector<ForeignRef>& foreign = plans_[job].foreign;
  const auto own = static_cast<std::uint32_t>(spec.stages.size());
  const auto takeover_of = [&foreign, own](JobIndex owner, StageIndex stage) {
    for (std::uint32_t i = 0; i < foreign.size(); ++i) {
      if (foreign[i].job == owner && foreign[i].stage == stage) {
        return StageIndex{own + i};
      }
    }
    RH_CHECK(false, owner.value, stage.value);
    return StageIndex{};
  };
  for (model::EdgeSpec& edge : spec.edges) {
    if (!edge.from.valid()) {
      edge.from = *stage_named(JobIndex{job}, edge.from_job, edge.from_stage);
    }
  }
  for (const ForeignRef& ref : foreign) {
    const JobSpec& owner = scenario_.jobs[ref.job.index()];
    model::StageSpec stage = owner.stages[ref.stage.index()];
    stage.name = names.intern(std::string(names.text(owner.name)) + "." +
                              std::string(names.text(stage.name)));
    stage.commits = model::Commits::none;  // its results are the other job's
    spec.stages.push_back(std::move(stage));
  }
  for (const ForeignRef& ref : foreign) {
    const JobSpec& owner = scenario_.jobs[ref.job.index()];
    for (const model::EdgeSpec& edge : owner.edges) {
      if (std::ranges::find(edge.to, ref.stage) == edge.to.end()) {
        continue;
      }
      model::EdgeSpec input;  // of another job's stage, so it is regular whatever the axis says
      input.from_job = owner.name;
      input.from = edge.from.valid() ? takeover_of(ref.job, edge.from)
                                     : *stage_named(JobIndex{job}, edge.from_job, edge.from_stage);
      input.to = {takeover_of(ref.job, ref.stage)};
      spec.edges.push_back(std::move(input));
    }
  }
  return spec;
}

scheduler::SubmitJob Client::expand(const Submission& submission, model::NameId name,
                                    model::NameTable& names) const {
  const std::uint32_t index = submission.spec.value;
  const JobSpec& original = scenario_.jobs[index];
  const Plan& plan = plans_[index];
  scheduler::SubmitJob input;
  input.own_stages = static_cast<std::uint32_t>(original.stages.size());
  input.submitted = submission.at;
  input.rank = submission_order(submission);
  input.shared = plan.shared;
  if (plan.foreign.empty() && name == original.name) {
    // The scenario outlives the run, so its spec is shared without owning it.
    input.spec = std::shared_ptr<const JobSpec>(std::shared_ptr<const JobSpec>{}, &original);
    return input;
  }
  JobSpec spec = plan.foreign.empty() ? original : with_takeovers(index, names);
  spec.name = name;
  for (const ForeignRef& ref : plan.foreign) {
    const JobSpec& owner = scenario_.jobs[ref.job.index()];
    input.foreign.push_back(
        {{},
         ref.stage,
         names.intern(std::string(names.text(owner.name)) + "/" +
                      std::string(names.text(owner.stages[ref.stage.index()].name)))});
  }
  input.spec = std::make_shared<const JobSpec>(std::move(spec));
  return input;
}

}  // namespace rehearse::sim
