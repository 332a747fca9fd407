// What may happen next, and what a state is; what then happens is in cluster_steps.cpp.
// registry: none (an environment of the core)
#include "properties/explore/cluster_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/axes.hpp"
#include "model/support/check.hpp"
#include "model/support/units.hpp"
#include "properties/explore/cluster_setup.hpp"

namespace rehearse::properties {

using scheduler::RunId;

namespace {

std::unexpected<model::Error> refuse(std::string field, std::string what, std::string remedy) {
  return std::unexpected(model::Error{
      .what = std::move(what), .field = std::move(field), .remedy = std::move(remedy)});
}

model::Result<void> check_job(const model::JobSpec& job, std::size_t index) {
  const std::string at = fmt::format("/jobs/{}", index);
  if (!job.after.empty()) {
    return refuse(at + "/after", "jobs that wait for others are not explored yet",
                  "leave it out: jobs are submitted at any moment, in their order");
  }
  for (std::size_t e = 0; e < job.edges.size(); ++e) {
    if (!job.edges[e].from.valid() || job.edges[e].reuse_job.valid()) {
      return refuse(fmt::format("{}/edges/{}", at, e),
                    "stages and shuffles of other jobs are not explored yet",
                    "give the job stages of its own");
    }
  }
  return {};
}

model::Result<void> check(const model::Scenario& scenario) {
  if (!scenario.faults.order.empty()) {
    return refuse("/faults", "an exploration plants faults itself, at every moment",
                  "leave them out and say how many there may be");
  }
  if (scenario.horizon) {
    return refuse("/horizon", "an exploration knows no instants", "leave it out");
  }
  if (scenario.cluster.autoscale) {
    return refuse("/cluster/autoscale", "is not explored yet", "leave it out");
  }
  if (scenario.scheduler.speculation) {
    return refuse("/scheduler/speculation", "is not explored yet", "leave it out");
  }
  for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
    if (auto checked = check_job(scenario.jobs[i], i); !checked) {
      return checked;
    }
  }
  return {};
}

// Where a policy reads the clock: a time that is long enough for it.
model::Duration long_wait_of(const model::AdmissionConfig& admission) {
  switch (admission.overtake) {
    case model::Overtake::aging:
      return admission.aging_after;
    case model::Overtake::easy:
      return model::Duration{24} * 3600 * model::second;
    case model::Overtake::never:
    case model::Overtake::backfill:
      break;
  }
  return 0;
}

}  // namespace

ClusterSpace::Setup::Setup(const model::Scenario& of)
    : scenario(of),
      names(std::make_unique<model::NameTable>(of.names)),
      client(of),
      long_wait(long_wait_of(of.scheduler.admission)),
      reads_clock(long_wait > 0 || of.scheduler.locality_wait > 0),
      coupled(of.timing == model::Timing::coupled) {
  const model::Distribution& kill = of.cluster.overheads.kill;
  kills_at_once = kill == model::Distribution{};
  for (const model::JobSpec& job : of.jobs) {
    graphs.push_back(model::build_stage_graph(job, model::graph_rules(of.scheduler)));
  }
  for (const model::ExecutorSpec& spec : of.cluster.executors) {
    executors.push_back(&spec);
  }
  std::ranges::sort(executors, {}, [](const model::ExecutorSpec* spec) {
    return std::pair{spec->joins, spec};  // then as they stand in the file
  });
}

scheduler::CoreOptions ClusterSpace::Setup::core_options() const {
  scheduler::CoreOptions options;
  options.config = scenario.scheduler;
  for (const model::Profile& profile : scenario.cluster.profiles) {
    options.profile_names.push_back(profile.name);
    options.profile_tasks.push_back(profile.task);
  }
  options.names = names.get();
  options.seed = scenario.seed;
  return options;
}

model::Result<std::unique_ptr<ClusterSpace>> ClusterSpace::make(
    const model::Scenario& scenario, const scheduler::PolicySet& policies,
    model::Observer* listener) {
  if (auto checked = check(scenario); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  auto place = std::make_unique<ClusterSpace>(Passkey{}, std::make_shared<const Setup>(scenario),
                                              policies, listener);
  place->begin();
  return place;
}

ClusterSpace::ClusterSpace(Passkey /*passkey*/, std::shared_ptr<const Setup> setup,
                           const scheduler::PolicySet& policies, model::Observer* listener)
    : setup_(std::move(setup)), core_(setup_->core_options(), policies), listener_(listener) {}

std::unique_ptr<Space> ClusterSpace::copy() const {
  auto place = std::make_unique<ClusterSpace>(*this);
  place->listener_ = nullptr;
  return place;
}

void ClusterSpace::become(const Space& other) {
  const auto& place = static_cast<const ClusterSpace&>(other);
  RH_CHECK(place.setup_ == setup_);
  core_ = place.core_;
  monitors_ = place.monitors_;
  now_ = place.now_;
  clock_ = place.clock_;
  open_ = place.open_;
  waited_ = place.waited_;
  submitted_ = place.submitted_;
  submissions_ = place.submissions_;
  joined_ = place.joined_;
  faults_ = place.faults_;
  live_jobs_ = place.live_jobs_;
  runs_ = place.runs_;
  timers_ = place.timers_;
  jobs_ = place.jobs_;
  lost_ = place.lost_;
  resubmissions_ = place.resubmissions_;
}

// ---- what may happen next ----

bool ClusterSpace::anything_left() const {
  return live_jobs_ > 0 || submitted_ < setup_->client.planned().size() || !resubmissions_.empty();
}

void ClusterSpace::choices(std::vector<Choice>& list) const {
  using enum Choice::Kind;
  list.clear();
  if (open_) {
    list.push_back(choice_of(What::pass, pass));
  }
  if (submitted_ < setup_->client.planned().size()) {
    list.push_back(choice_of(What::submit, ordinary, submitted_));
  }
  for (std::uint32_t i = 0; i < resubmissions_.size(); ++i) {
    list.push_back(choice_of(What::resubmit, ordinary, i));
  }
  offer_runs(list);
  offer_timers(list);
  if (joined_ < setup_->executors.size() && anything_left()) {
    list.push_back(choice_of(What::joins, ordinary, joined_));
  }
  if (setup_->long_wait > 0 && !waited_ && !open_ && anything_left()) {
    list.push_back(choice_of(What::time_passes, ordinary));
  }
  if (anything_left()) {
    offer_faults(list);
  }
}

void ClusterSpace::offer_runs(std::vector<Choice>& list) const {
  for (std::uint32_t i = 0; i < runs_.size(); ++i) {
    const Run& run = runs_[i];
    if (!run.live || run.returned) {
      continue;
    }
    if (run.killed) {
      list.push_back(choice_of(What::slot_returns, Choice::Kind::ordinary, i));
    } else if (!waits_for_producers(run)) {
      list.push_back(choice_of(What::ends, Choice::Kind::ordinary, i));
    }
  }
}

// Of two timers the one that was set no later and waits no longer fires first.
void ClusterSpace::offer_timers(std::vector<Choice>& list) const {
  for (std::uint32_t i = 0; i < timers_.size(); ++i) {
    const auto earlier = timers_.begin() + i;
    if (std::all_of(timers_.begin(), earlier,
                    [&](const Timer& other) { return other.delay > timers_[i].delay; })) {
      list.push_back(choice_of(What::timer, Choice::Kind::ordinary, i));
    }
  }
}

void ClusterSpace::offer_faults(std::vector<Choice>& list) const {
  for (std::uint32_t i = 0; i < runs_.size(); ++i) {
    const Run& run = runs_[i];
    if (run.live && !run.killed && !run.returned) {
      list.push_back(choice_of(What::fails, Choice::Kind::fault, i));
      offer_fetch_failures(i, list);
    }
  }
  for (std::uint32_t i = 0; i < lost_.size(); ++i) {
    if (!lost_[i]) {
      list.push_back(choice_of(What::is_lost, Choice::Kind::fault, i));
    }
  }
}

void ClusterSpace::offer_fetch_failures(std::uint32_t run, std::vector<Choice>& list) const {
  const scheduler::Launch& launch = runs_[run].launch;
  const model::JobSpec& spec = spec_of(launch);
  for (const std::uint32_t parent :
       setup_->graph_of(launch.job).regular_parents.row(launch.stage.index())) {
    for (std::int32_t p = 0; p < spec.stages[parent].tasks; ++p) {
      list.push_back(choice_of(What::fetch_fails, Choice::Kind::fault, run, parent,
                               static_cast<std::uint32_t>(p)));
    }
  }
}

// Timing `coupled`.
bool ClusterSpace::waits_for_producers(const Run& run) const {
  if (!setup_->coupled) {
    return false;
  }
  const auto producers =
      setup_->graph_of(run.launch.job).pipelined_parents.row(run.launch.stage.index());
  return std::ranges::any_of(runs_, [&](const Run& other) {
    return other.live && !other.killed && !other.returned && other.launch.job == run.launch.job &&
           other.launch.attempt == run.launch.attempt &&
           std::ranges::find(producers, other.launch.stage.value) != producers.end();
  });
}

// ---- what a state is ----

void ClusterSpace::encode(std::vector<std::uint64_t>& words) const {
  const auto put = [&words](auto word) { words.push_back(static_cast<std::uint64_t>(word)); };
  put(faults_);
  put(submitted_);
  put(submissions_);
  put(joined_);
  put((open_ ? 1 : 0) | (setup_->long_wait > 0 && waited_ ? 2 : 0));
  put(jobs_.size());
  for (const Job& job : jobs_) {
    put(job.state);
  }
  put(resubmissions_.size());
  for (const Resubmission& one : resubmissions_) {
    put(one.planned);
    put(one.number);
  }
  put(timers_.size());
  for (const Timer& timer : timers_) {
    put(timer.delay);
    put(setup_->reads_clock ? timer.due - clock_ : 0);
  }
  // Of the runs the core knows all but what its groups share (A10).
  std::vector<std::uint64_t> shared;
  for (const Run& run : runs_) {
    if (run.live && run.shared) {
      shared.push_back(std::uint64_t{run.launch.job.value} << 48U |
                       std::uint64_t{run.launch.stage.value} << 32U |
                       static_cast<std::uint32_t>(run.launch.partition));
    }
  }
  std::ranges::sort(shared);
  put(shared.size());
  words.insert(words.end(), shared.begin(), shared.end());
  core_.encode(words);
}

std::int64_t ClusterSpace::violation_count() const { return monitors_.violation_count(); }

std::vector<model::Violation> ClusterSpace::violations() const {
  return monitors_.violations_so_far();
}

// ---- texts ----

std::string_view ClusterSpace::text(model::NameId name) const { return setup_->names->text(name); }

std::string ClusterSpace::name_of(std::uint32_t run) const {
  const scheduler::Launch& launch = runs_[run].launch;
  return fmt::format("{}/{}/{}", text(launch.job_name), text(launch.stage_name), launch.partition);
}

std::string ClusterSpace::text_of(const Choice& choice) const {
  switch (static_cast<What>(choice.what)) {
    case What::pass:
      return "the scheduler passes";
    case What::submit:
      return fmt::format("{} is submitted",
                         setup_->client.name_of(setup_->client.planned()[choice.a]));
    case What::resubmit: {
      sim::Submission again = setup_->client.planned()[resubmissions_[choice.a].planned];
      again.resubmit = resubmissions_[choice.a].number;
      return fmt::format("{} is submitted", setup_->client.name_of(again));
    }
    case What::ends:
      return fmt::format("{} ends well", name_of(choice.a));
    case What::slot_returns:
      return fmt::format("the kill of {} takes effect", name_of(choice.a));
    case What::timer:
      return fmt::format("a timer of {} fires", model::format_duration(timers_[choice.a].delay));
    case What::joins:
      return fmt::format("{} joins", text(setup_->executors[choice.a]->name));
    case What::time_passes:
      return fmt::format("{} go by", model::format_duration(setup_->long_wait));
    case What::fails:
      return fmt::format("FAULT: {} fails", name_of(choice.a));
    case What::fetch_fails: {
      const scheduler::Launch& launch = runs_[choice.a].launch;
      return fmt::format("FAULT: {} cannot fetch {}/{}/{}", name_of(choice.a),
                         text(launch.job_name), text(spec_of(launch).stages[choice.b].name),
                         choice.c);
    }
    case What::is_lost:
      return fmt::format("FAULT: {} is lost", text(setup_->executors[choice.a]->name));
  }
  return {};
}

}  // namespace rehearse::properties
