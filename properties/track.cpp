// Names to rows, the clock, and answers that several monitors share. What an event changes is in
// track_lifecycle.cpp (events 1 to 18) and track_tasks.cpp (19 to 36).
// registry: none (derived journal state, used by all monitors)
#include "properties/track.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <variant>

namespace rehearse::properties {

namespace {

constexpr int task_start_number = model::event_number<model::TaskStart>();
constexpr int task_end_number = model::event_number<model::TaskEnd>();

}  // namespace

// ---- the clock ----

void Track::set_time(model::Instant t) {
  if (t != now_) {
    now_ = t;
    ++instant_;
  }
}

void Track::settle() {
  for (const Index job : progressed_) {
    if (jobs_[job].body != nullptr && !jobs_[job].ended()) {
      look_at_groups(job);
    }
  }
  progressed_.clear();
}

void Track::close_instant() {
  end_epochs();
  for (const Index index : ended_jobs_) {
    drop_body(jobs_[index]);
  }
  touched_groups_.clear();
  started_jobs_.clear();
  ended_jobs_.clear();
  lost_executors_.clear();
  something_changed_ = false;
}

// ---- names to rows ----

Index Track::find_job(model::NameId name) const {
  return name.index() < job_of_name_.size() ? job_of_name_[name.index()] : no_index;
}

Index Track::latest_job(model::NameId request) const {
  const Index latest =
      request.index() < latest_of_name_.size() ? latest_of_name_[request.index()] : no_index;
  return latest != no_index ? latest : find_job(request);
}

Index Track::find_stage(const JobBody& body, model::NameId name) {
  // Most often the names of a job were told in the order of its stages, one after another.
  const std::size_t likely = name.index() - body.first_name.index();
  if (likely < body.stages.size() && body.stages[likely].name == name) [[likely]] {
    return static_cast<Index>(likely);
  }
  const auto at = std::lower_bound(
      body.by_name.begin(), body.by_name.end(), name,
      [](const JobBody::Named& item, model::NameId wanted) { return item.name < wanted; });
  return at != body.by_name.end() && at->name == name ? at->stage : no_index;
}

void Track::resolve_job(model::NameId name) {
  const Index index = name == last_job_name_ ? last_job_ : find_job(name);
  if (index == no_index) {
    seen_.known = false;
    return;
  }
  seen_.job_index = index;
  seen_.job = target_.job = &jobs_[index];
}

void Track::resolve_stage(model::NameId job, model::NameId stage) {
  resolve_job(job);
  if (target_.job == nullptr || target_.job->body == nullptr) {
    seen_.known = false;
    return;
  }
  JobBody& body = *target_.job->body;
  if (job != last_job_name_ || stage != last_stage_name_) {
    const Index found = find_stage(body, stage);
    if (found == no_index) {
      seen_.known = false;
      return;
    }
    last_job_name_ = job;
    last_stage_name_ = stage;
    last_job_ = seen_.job_index;
    last_stage_ = found;
  }
  seen_.stage = target_.stage = &body.stages[last_stage_];
  if (target_.stage->group != no_index) {
    seen_.group = target_.group = &body.groups[target_.stage->group];
  }
}

void Track::resolve_executor(model::NameId name) {
  const Index index = slots_.find(name);
  if (index == no_index) {
    seen_.known = false;
    return;
  }
  seen_.executor_index = index;
  seen_.executor = target_.executor = &slots_.executor(index);
}

// The executor comes first: its rows travel to the cache while the stage is looked up.
void Track::resolve_task(const model::TaskRef& task) {
  resolve_executor(task.executor);
  if (target_.executor != nullptr) {
    slots_.prefetch(seen_.executor_index);
  }
  resolve_stage(task.job, task.stage);
  if (target_.stage == nullptr) {
    return;
  }
  const auto partition = static_cast<std::size_t>(task.partition);
  if (task.partition < 0 ||
      partition + static_cast<std::size_t>(task.more) >= target_.stage->partitions.size()) {
    seen_.known = false;
    return;
  }
  seen_.partition = target_.partition = &target_.stage->partitions[partition];
}

// Of this partition of the stage at hand: its place in JobBody::older, not_older for the last try.
std::optional<std::size_t> Track::find_try(const model::TaskRef& task, std::int32_t p) const {
  const auto is_it = [&](const Task& running) {
    return running.attempt == task.attempt && running.try_number == task.try_number &&
           running.executor == seen_.executor_index;
  };
  const Partition& partition = target_.stage->partitions[static_cast<std::size_t>(p)];
  if (partition.live && is_it(partition.last)) {
    return not_older;
  }
  if (partition.more) {
    const std::vector<OlderTry>& older = target_.job->body->older;
    for (std::size_t i = 0; i < older.size(); ++i) {
      if (older[i].stage == last_stage_ && older[i].partition == p && is_it(older[i].task)) {
        return i;
      }
    }
  }
  return std::nullopt;
}

void Track::resolve_live(const model::TaskRef& task) {
  resolve_task(task);
  if (target_.partition == nullptr) {
    return;
  }
  const Task& last = target_.partition->last;
  const JobBody& body = *target_.job->body;
  if (target_.partition->live && last.attempt == task.attempt &&
      last.try_number == task.try_number && last.executor == seen_.executor_index &&
      task.more == 0 && body.slices.empty()) [[likely]] {
    seen_.task = &last;
    return;
  }
  const std::optional<std::size_t> found = find_try(task, task.partition);
  if (!found || (!body.slices.empty() && !is_whole(task)) ||
      (body.slices.empty() && task.more > 0)) {
    seen_.known = false;
    return;
  }
  target_.older = *found;
  seen_.task = *found == not_older ? &target_.partition->last : &body.older[*found].task;
}

// A slice ends as it started: with all its partitions, and no others.
bool Track::is_whole(const model::TaskRef& task) const {
  const auto& slices = target_.job->body->slices;
  const auto at = slices.find(slice_key(task));
  return task.more == (at == slices.end() ? 0 : at->second);
}

void Track::resolve_group(model::NameId job, model::NameId stage) {
  resolve_stage(job, stage);
  if (target_.group == nullptr) {
    seen_.known = false;
    return;
  }
  const Index first = target_.group->first;
  if (&target_.job->body->stages[first] != target_.stage) {
    seen_.known = false;  // a group is named by its first stage only
  }
}

namespace {

// Events that name a group, a stage with its attempt. Data flow and probes name nothing that Track
// keeps.
template <class Body>
concept NamesGroup = requires(const Body& body) { body.group; };
template <class Body>
concept NamesStage = requires(const Body& body) { body.stage.stage; };

}  // namespace

template <class Body>
void Track::resolve_other(const Body& body) {
  if constexpr (std::is_same_v<Body, model::JobSubmitted>) {
    resolve_job(body.job);
    seen_.known = true;  // new, or a name that is taken: LEGAL_ORDER tells them apart
  } else if constexpr (NamesGroup<Body>) {
    resolve_group(body.group.job, body.group.stage);
  } else if constexpr (std::is_same_v<Body, model::GroupQueued> ||
                       std::is_same_v<Body, model::EdgesChanged>) {
    resolve_group(body.job, body.stage);
  } else if constexpr (std::is_same_v<Body, model::Reservation>) {
    resolve_group(body.job, body.stage);
    resolve_executor(body.executor);
    seen_.known = seen_.known && slots_.find_profile(body.profile) != no_index;
  } else if constexpr (NamesStage<Body>) {
    resolve_stage(body.stage.job, body.stage.stage);
  } else if constexpr (std::is_same_v<Body, model::OutputCommitted> ||
                       std::is_same_v<Body, model::OutputDiscarded>) {
    resolve_task(body.task);
  } else if constexpr (std::is_same_v<Body, model::GroupFormed>) {
    resolve_stage(body.job, body.stage);
    for (const model::NameId stage : body.stages) {
      seen_.known = seen_.known && find_stage(*target_.job->body, stage) != no_index;
    }
  } else if constexpr (std::is_same_v<Body, model::OutputsLost>) {
    resolve_job(body.job);
    if (target_.job != nullptr && target_.job->body != nullptr) {
      resolve_stage(body.job, body.stage);
    }
    resolve_executor(body.executor);
  } else if constexpr (std::is_same_v<Body, model::SlotReturned>) {
    resolve_job(body.job);
    resolve_executor(body.executor);
    seen_.known = seen_.known && slots_.find_profile(body.profile) != no_index;
  } else if constexpr (std::is_same_v<Body, model::JobRejected> ||
                       std::is_same_v<Body, model::JobStarted> ||
                       std::is_same_v<Body, model::JobEnd>) {
    resolve_job(body.job);
  } else if constexpr (std::is_same_v<Body, model::ExecutorLost> ||
                       std::is_same_v<Body, model::ExecutorHeld> ||
                       std::is_same_v<Body, model::ExecutorReleased>) {
    resolve_executor(body.executor);
    seen_.known = seen_.known && target_.executor->live;
  } else if constexpr (std::is_same_v<Body, model::ExecutorAdded>) {
    const Index same = slots_.find(body.executor);
    seen_.known = same == no_index || !slots_.executor(same).live;
  } else if constexpr (std::is_same_v<Body, model::RunStart>) {
    seen_.known = sequence_ == 1;  // else another run's rules and profiles would fall on this one
  }
}

const Seen& Track::resolve(const model::Event& event) {
  ++sequence_;
  seen_ = Seen{};
  target_ = Target{};
  const int number = event.number();
  if (number == task_start_number) {
    resolve_task(event.as<model::TaskStart>()->task);
  } else if (number == task_end_number) {
    resolve_live(event.as<model::TaskEnd>()->task);
  } else {
    std::visit(
        [&](const auto& body) {
          using Body = std::remove_cvref_t<decltype(body)>;
          resolve_other(body);
          if constexpr (std::is_same_v<Body, model::StageSubmitted>) {
            if (target_.stage == nullptr && target_.job != nullptr) {
              adopt_stage(body);
            }
          }
        },
        event.body);
  }
  return seen_;
}

void Track::apply(const model::Event& event) {
  if (!seen_.known) {
    return;
  }
  const int number = event.number();
  if (number == task_start_number) {
    apply_one(*event.as<model::TaskStart>());
  } else if (number == task_end_number) {
    apply_one(*event.as<model::TaskEnd>());
  } else {
    std::visit(
        [&](const auto& body) {
          if constexpr (requires { this->apply_one(body); }) {
            apply_one(body);
          }
        },
        event.body);
  }
}

// ---- shared answers ----

UnitKey Track::key_of(Index job, Index stage) const {
  const JobBody& body = *jobs_[job].body;
  return {.urgency = waits_.by_priority() ? -body.priority : 0,
          .submitted = body.submitted_at,
          .job = job,
          .stage = stage};
}

Index Track::incomplete_input(const Job& job, const Stage& stage) const {
  const JobBody& body = *job.body;
  for (Index i = stage.in_first; i < stage.in_first + stage.in_count; ++i) {
    const Edge& edge = body.edges_in[i];
    const Stage& parent = body.stages[edge.from];
    const bool inside = parent.group != no_index && parent.group == stage.group;
    const bool complete = parent.available() && parent.state == AttemptState::succeeded;
    if (!inside && !complete) {
      return edge.from;
    }
  }
  return no_index;
}

bool Track::fits_what_lives(const Job& job) const {
  const auto capacity = slots_.idle_capacity();
  const auto fits = [&](const Stage& stage) {
    // What is read and not there any more may have to be made again.
    const bool over = stage.state == AttemptState::succeeded && (stage.sink || stage.available());
    if (over || stage.tasks == 0 || stage.profile == no_index) {
      return true;
    }
    if (stage.group == no_index) {
      return capacity[stage.profile] > 0;
    }
    const std::vector<std::int64_t>& demand = job.body->groups[stage.group].demand;
    for (std::size_t p = 0; p < demand.size(); ++p) {
      if (demand[p] > capacity[p]) {
        return false;
      }
    }
    return true;
  };
  if (job.body == nullptr) {
    return true;
  }
  // What stages of other jobs would ask for, should it run them itself, is in no line.
  return job.body->foreign.empty() && std::ranges::all_of(job.body->stages, fits);
}

std::string Track::missing_input(const Seen& seen) const {
  const JobBody& body = *seen.job->body;
  const Stage& stage = *seen.stage;
  for (Index i = stage.in_first; i < stage.in_first + stage.in_count; ++i) {
    const Edge& edge = body.edges_in[i];
    const Stage& parent = body.stages[edge.from];
    const bool inside = parent.group != no_index && parent.group == stage.group;
    if (inside) {
      continue;
    }
    if (!parent.available()) {
      return name(*seen.job, parent);
    }
    for (std::size_t p = 0; outputs_gone_at_ > 0 && p < parent.partitions.size(); ++p) {
      const Index where = parent.partitions[p].executor;
      if (where != no_index && slots_.executor(where).outputs_gone) {
        return fmt::format("{}/{}", name(*seen.job, parent), p);
      }
    }
  }
  for (const ForeignEdge& edge : body.foreign) {
    if (edge.to >= body.stages.size() || &body.stages[edge.to] != &stage) {
      continue;
    }
    const Index writer = edge.writer;
    if (writer == no_index || jobs_[writer].ended() || jobs_[writer].body == nullptr) {
      continue;  // the reader runs a copy if it must; that copy is a stage of its own
    }
    const JobBody& other = *jobs_[writer].body;
    const Index source = find_stage(other, edge.stage);
    const Index copy = edge.copy.valid() ? find_stage(body, edge.copy) : no_index;
    if (source != no_index && !other.stages[source].available() &&
        (copy == no_index || !body.stages[copy].available())) {
      return name(jobs_[writer], other.stages[source]);
    }
  }
  if (body.foreign.empty()) {
    stage.inputs_ok_at = sequence_;
  }
  return {};
}

// ---- texts ----

std::string Track::text(model::NameId name) const { return std::string(names_->text(name)); }

std::string Track::name(const Job& job, const Stage& stage) const {
  return fmt::format("{}/{}", names_->text(job.name), names_->text(stage.name));
}

std::string Track::name(const Job& job, const Group& group) const {
  return name(job, job.body->stages[group.first]);
}

std::string Track::name(const model::TaskRef& task) const {
  const std::string first =
      fmt::format("{}/{}/{}", names_->text(task.job), names_->text(task.stage), task.partition);
  return task.more == 0 ? first : fmt::format("{} to {}", first, task.last());
}

std::string Track::name(const model::StageRef& stage) const {
  return fmt::format("{}/{}", names_->text(stage.job), names_->text(stage.stage));
}

std::string Track::profile_text(Index profile) const {
  return profile < slots_.profiles() ? text(slots_.profile_name(profile)) : std::string("?");
}

}  // namespace rehearse::properties
