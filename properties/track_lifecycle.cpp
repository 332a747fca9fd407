// What events 1 to 18 change: executors, jobs, groups, stages.
// registry: none (derived journal state, used by all monitors)
#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

void put(std::vector<Index>& by_name, model::NameId name, Index value) {
  if (!name.valid()) {
    return;
  }
  if (name.index() >= by_name.size()) {
    by_name.resize(name.index() + 1, no_index);
  }
  by_name[name.index()] = value;
}

void sort_by_name(JobBody& body) {
  std::sort(body.by_name.begin(), body.by_name.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
}

// Do all inputs of the members come from stages before them in the file?
bool in_file_order(const JobBody& body, const std::vector<Index>& members) {
  return std::all_of(members.begin(), members.end(), [&body](Index member) {
    const Stage& stage = body.stages[member];
    const auto first = body.edges_in.begin() + static_cast<std::ptrdiff_t>(stage.in_first);
    return std::all_of(first, first + static_cast<std::ptrdiff_t>(stage.in_count),
                       [member](const Edge& edge) { return edge.from < member; });
  });
}

// Members in topological order over the edges inside the group, smallest file index first (C4).
std::vector<Index> topological_order(const JobBody& body, const std::vector<Index>& members) {
  if (in_file_order(body, members)) {
    return members;
  }
  std::vector<Index> waiting_for(members.size(), 0);
  const auto place = [&](Index stage) {
    const auto at = std::lower_bound(members.begin(), members.end(), stage);
    return at != members.end() && *at == stage ? static_cast<std::size_t>(at - members.begin())
                                               : members.size();
  };
  std::vector<std::vector<std::size_t>> readers(members.size());
  for (std::size_t m = 0; m < members.size(); ++m) {
    const Stage& stage = body.stages[members[m]];
    for (Index i = stage.in_first; i < stage.in_first + stage.in_count; ++i) {
      if (const std::size_t from = place(body.edges_in[i].from); from < members.size()) {
        readers[from].push_back(m);
        ++waiting_for[m];
      }
    }
  }
  std::vector<std::size_t> ready;  // a heap with the smallest on top
  for (std::size_t m = members.size(); m-- > 0;) {
    if (waiting_for[m] == 0) {
      ready.push_back(m);
    }
  }
  std::make_heap(ready.begin(), ready.end(), std::greater<>{});
  std::vector<Index> order;
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), std::greater<>{});
    const std::size_t m = ready.back();
    ready.pop_back();
    order.push_back(members[m]);
    for (const std::size_t reader : readers[m]) {
      if (--waiting_for[reader] == 0) {
        ready.push_back(reader);
        std::push_heap(ready.begin(), ready.end(), std::greater<>{});
      }
    }
  }
  return order;
}

}  // namespace

// ---- the run and its executors ----

void Track::apply_one(const model::RunStart& event) {
  rules_ = rules_of(event, *names_);
  slots_.start(event, rules_.slots_factor());
  shared_.begin(event, *names_);
  owed_.assign(slots_.profiles(), 0);
  waits_.start(rules_, slots_.profiles());
  claims_.start(rules_, slots_.profiles());
}

void Track::apply_one(const model::ExecutorAdded& event) { slots_.add(event); }

void Track::apply_one(const model::ExecutorLost& event) {
  const Index lost = seen_.executor_index;
  const bool whole_host = event.cause == model::LossCause::host;
  const bool gone = whole_host || !rules_.config.outputs_survive_executor;
  for (const HeldSlot& slot : target_.executor->held_slots) {
    --jobs_[slot.job].held_slots;
  }
  for (const model::SharedSlots::Share& share : shared_.on(event.executor)) {
    jobs_[find_job(share.job)].held_slots -=
        static_cast<std::int32_t>(share.running == 0 ? share.slots : 0);
  }
  shared_.lost(event.executor);
  slots_.lose(lost, gone);
  target_.executor->fenced_epoch = ++target_.executor->epoch;
  if (gone) {
    outputs_gone_at_ = sequence_;
  }
  if (whole_host && rules_.config.outputs_survive_executor) {
    for (std::size_t e = 0; e < slots_.executors(); ++e) {
      Executor& other = slots_.executor(static_cast<Index>(e));
      other.outputs_gone =
          other.outputs_gone || (!other.live && other.host == target_.executor->host);
    }
  }
  lost_executors_.push_back(lost);
  something_changed_ = true;
}

void Track::apply_one(const model::ExecutorHeld& event) {
  slots_.set_held(seen_.executor_index, true, event.cause == model::HoldCause::decommission);
}

void Track::apply_one(const model::ExecutorReleased& /*event*/) {
  slots_.set_held(seen_.executor_index, target_.executor->decommissioned, false);
}

// ---- jobs ----

void Track::apply_one(const model::JobSubmitted& event) {
  if (target_.job != nullptr) {
    return;  // a name that is taken
  }
  const Index index = static_cast<Index>(jobs_.size());
  Job& job = jobs_.emplace_back();
  job.name = event.job;
  job.body.make();
  put(job_of_name_, event.job, index);
  const std::string_view name = names_->text(event.job);
  if (const std::size_t hash = name.find('#'); hash != std::string_view::npos) {
    put(latest_of_name_, names_->find(name.substr(0, hash)), index);
  }
  JobBody& body = *job.body;
  body.submitted_at = now_;
  body.priority = event.priority;
  body.lane = waits_.lane_of(event.pool);
  body.stages.reserve(event.stages.size());
  body.by_name.reserve(event.stages.size());
  body.edges_in.reserve(event.edges.size());
  for (const model::StageItem& item : event.stages) {
    Stage& stage = body.stages.emplace_back();
    stage.name = item.name;
    stage.tasks = item.tasks;
    stage.profile = slots_.find_profile(item.profile);
    stage.barrier = item.barrier;
    stage.commits = item.commits;
    body.by_name.push_back({item.name, static_cast<Index>(body.stages.size() - 1)});
  }
  body.first_name = body.stages.empty() ? model::NameId{} : body.stages.front().name;
  sort_by_name(body);
  add_edges(event, body);
}

void Track::add_edges(const model::JobSubmitted& event, JobBody& body) const {
  for (const model::EdgeItem& item : event.edges) {
    const Index to = find_stage(body, item.to);
    const Index from = find_stage(body, item.from);
    if (to == no_index) {
      continue;
    }
    if (from != no_index) {
      body.edges_in.push_back({from, to, item.kind});
      body.stages[from].sink = false;
    } else {
      add_foreign_edge(names_->text(item.from), to, body);
    }
  }
  std::sort(body.edges_in.begin(), body.edges_in.end(), [](const Edge& a, const Edge& b) {
    return a.to != b.to ? a.to < b.to : a.from < b.from;
  });
  for (std::size_t i = 0; i < body.edges_in.size(); ++i) {
    Stage& reader = body.stages[body.edges_in[i].to];
    reader.in_first = reader.in_count == 0 ? static_cast<Index>(i) : reader.in_first;
    ++reader.in_count;
  }
}

// `path` is "job/stage".
void Track::add_foreign_edge(std::string_view path, Index to, JobBody& body) const {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) {
    return;
  }
  std::string copy(path);
  copy[slash] = '.';
  ForeignEdge edge{.job = names_->find(path.substr(0, slash)),
                   .writer = no_index,
                   .stage = names_->find(path.substr(slash + 1)),
                   .copy = names_->find(copy),
                   .profile = no_index,
                   .to = to};
  edge.writer = latest_job(edge.job);
  if (edge.writer != no_index && jobs_[edge.writer].body) {
    const JobBody& writer = *jobs_[edge.writer].body;
    const Index stage = find_stage(writer, edge.stage);
    edge.profile = stage == no_index ? no_index : writer.stages[stage].profile;
  }
  body.foreign.push_back(edge);
}

void Track::end_job(JobState state) {
  live_jobs_ -= target_.job->state == JobState::started ? 1 : 0;
  target_.job->state = state;
  target_.job->ended_at = now_;
  ended_jobs_.push_back(seen_.job_index);
  something_changed_ = true;
}

void Track::apply_one(const model::JobRejected& /*event*/) {
  if (!target_.job->ended()) {
    end_job(JobState::rejected);
  }
}

void Track::apply_one(const model::JobStarted& /*event*/) {
  if (target_.job->state == JobState::submitted) {
    target_.job->state = JobState::started;
    ++live_jobs_;
    started_jobs_.push_back(seen_.job_index);
    progressed_.push_back(seen_.job_index);
    something_changed_ = true;
  }
}

void Track::apply_one(const model::JobEnd& event) {
  shared_.job_over(event.job);
  if (!target_.job->ended()) {
    end_job(event.outcome == model::JobOutcome::succeeded ? JobState::succeeded
            : event.outcome == model::JobOutcome::failed  ? JobState::failed
                                                          : JobState::cancelled);
  }
}

void Track::drop_body(Job& job) {
  if (job.body == nullptr) {
    return;
  }
  const auto forget = [&](const Task& task) {
    --slots_.executor(task.executor).live_tasks;
    --live_tasks_;
  };
  // A slice counts with its first partition (A21).
  const auto behind_first = [&](std::size_t stage, std::int64_t p, const Task& task) {
    return std::any_of(job.body->slices.begin(), job.body->slices.end(), [&](const auto& slice) {
      const auto& [key, more] = slice;
      return std::cmp_equal(key[0], stage) && p > key[1] && p <= key[1] + more &&
             key[2] == task.attempt && key[3] == task.try_number;
    });
  };
  if (job.live_tasks > 0) {  // TASK_ACCOUNTING has said so
    for (std::size_t s = 0; s < job.body->stages.size(); ++s) {
      const std::vector<Partition>& partitions = job.body->stages[s].partitions;
      for (std::size_t p = 0; p < partitions.size(); ++p) {
        const Task& last = partitions[p].last;
        if (partitions[p].live && !behind_first(s, static_cast<std::int64_t>(p), last)) {
          forget(last);
        }
      }
    }
    for (const OlderTry& older : job.body->older) {
      if (!behind_first(older.stage, older.partition, older.task)) {
        forget(older.task);
      }
    }
    job.live_tasks = 0;
  }
  for (Stage& stage : job.body->stages) {
    claim_no_more(stage);  // NO_RETRACTION has said that one is open
  }
  for (Group& group : job.body->groups) {
    cease_waiting(static_cast<Index>(&job - jobs_.data()), group);
    for (std::size_t p = 0; p < group.owed.size(); ++p) {
      owed_[p] -= group.owed[p];
      owed_total_ -= group.owed[p];
    }
  }
  job.body.reset();
}

// ---- groups ----

void Track::touch() {
  if (target_.group->touched_in != instant_) {
    target_.group->touched_in = instant_;
    touched_groups_.push_back({seen_.job_index, target_.stage->group});
    something_changed_ = true;
  }
}

void Track::apply_one(const model::GroupFormed& event) {
  JobBody& body = *target_.job->body;
  if (target_.stage->group != no_index) {
    return;
  }
  const auto index = static_cast<Index>(body.groups.size());
  Group& group = body.groups.emplace_back();
  group.members.reserve(event.stages.size());
  for (const model::NameId name : event.stages) {
    group.members.push_back(find_stage(body, name));
  }
  std::sort(group.members.begin(), group.members.end());
  group.members.erase(std::unique(group.members.begin(), group.members.end()), group.members.end());
  group.demand.assign(slots_.profiles(), 0);
  group.owed.assign(slots_.profiles(), 0);
  for (const Index member : group.members) {
    Stage& stage = body.stages[member];
    stage.group = index;
    if (stage.profile != no_index) {
      std::int64_t& slots = group.demand[stage.profile];
      slots =
          shares_slots(group.members.size()) ? std::max(slots, stage.tasks) : slots + stage.tasks;
    }
  }
  shared_.formed(event);
  group.first = static_cast<Index>(target_.stage - body.stages.data());
  target_.stage->group = index;
  group.topological = topological_order(body, group.members);
  target_.group = &group;
  touch();
}

void Track::apply_one(const model::GroupQueued& event) {
  Group& group = *target_.group;
  group.state = GroupState::queued;
  touch();
  if (event.reason == model::QueuedReason::slots) {
    begin_waiting(seen_.job_index, group);
    group.waits_since = now_;
    ++group.refused;
  } else {
    cease_waiting(seen_.job_index, group);
  }
}

void Track::begin_waiting(Index job, Group& group) {
  if (!group.waits) {
    group.waits = true;
    group.waits_since = now_;
    if (waits_.queues(group)) {
      waits_.add_gang(jobs_[job].body->lane, key_of(job, group.first));
    }
  }
}

void Track::cease_waiting(Index job, Group& group) {
  if (group.waits) {
    group.waits = false;
    waits_.remove_gang(jobs_[job].body->lane, key_of(job, group.first));
  }
}

// A1: a group that never ran is ready when every regular input of its members is there. One that
// reads other jobs' stages may still have to run them itself, and one that failed waits for more
// than inputs (X16): these wait when a line says so.
void Track::look_at_groups(Index job) {
  JobBody& body = *jobs_[job].body;
  if (rules_.delayed_starts || !body.foreign.empty()) {
    return;
  }
  for (Group& group : body.groups) {
    const bool fresh = group.state == GroupState::formed || group.state == GroupState::queued;
    if (!fresh || group.waits || group.attempt >= 0) {
      continue;
    }
    const auto missing = [&](Index stage) {
      return incomplete_input(jobs_[job], body.stages[stage]);
    };
    if (group.watched != no_index && missing(group.watched) != no_index) {
      continue;
    }
    group.watched = no_index;
    for (const Index member : group.members) {
      if (missing(member) != no_index) {
        group.watched = member;
        break;
      }
    }
    if (group.watched == no_index) {
      begin_waiting(job, group);
    }
  }
}

void Track::apply_one(const model::GroupAdmitted& event) {
  Group& group = *target_.group;
  close_group(GroupState::admitted);  // ends its wait, too
  group.closed_in = no_time_slot;
  group.admitted_in = instant_;
  group.attempt = event.group.attempt.value_or(group.attempt + 1);
  group.tasks = group.started = group.running = 0;
  group.submitted = 0;
  group.all_ran = false;
  for (const model::ProfileCount& item : event.slots) {
    if (const Index p = slots_.find_profile(item.profile); p != no_index) {
      group.owed[p] += item.n;
      owed_[p] += item.n;
      owed_total_ += item.n;
    }
  }
}

// Ends what the group had: nothing is owed to it any more.
void Track::close_group(GroupState state) {
  Group& group = *target_.group;
  cease_waiting(seen_.job_index, group);
  group.state = state;
  group.closed_in = instant_;
  for (std::size_t p = 0; p < group.owed.size(); ++p) {
    owed_[p] -= group.owed[p];
    owed_total_ -= group.owed[p];
    group.owed[p] = 0;
  }
  touch();
}

void Track::apply_one(const model::GroupCommitted& /*event*/) {
  target_.group->committed_in = instant_;
  close_group(GroupState::committed);
  target_.group->rerun = false;
}

void Track::apply_one(const model::GroupFailed& /*event*/) {
  close_group(GroupState::failed);
  target_.group->failed_in = instant_;
  target_.group->rerun = true;
}

void Track::apply_one(const model::GroupCancelled& /*event*/) {
  close_group(GroupState::cancelled);
}

void Track::apply_one(const model::EdgesChanged& event) {
  JobBody& body = *target_.job->body;
  close_group(GroupState::dissolved);
  shared_.dissolved(event);
  for (const Index member : target_.group->members) {
    body.stages[member].group = no_index;
  }
}

// ---- stages ----

namespace {

// The tasks of a new attempt wait, and nothing of an older one does.
void all_wait(Stage& stage) {
  if (stage.waiting > 0) {
    for (Partition& partition : stage.partitions) {
      partition.waits = false;
    }
  }
  stage.waiting = 0;
  const auto wait = [&](std::int64_t first, std::int64_t last) {
    const auto end = std::min<std::int64_t>(last, std::ssize(stage.partitions) - 1);
    for (std::int64_t p = std::max<std::int64_t>(first, 0); p <= end; ++p) {
      stage.partitions[static_cast<std::size_t>(p)].waits = true;
      ++stage.waiting;
    }
  };
  if (stage.subset.empty()) {
    wait(0, stage.tasks - 1);
  }
  for (const model::Range& range : stage.subset) {
    wait(range.first, range.last);
  }
}

}  // namespace

// A9: only what is open claims, and only its last attempt; `running` may be below 0.
void Track::claim(std::int64_t running, std::int64_t waiting) {
  Stage& stage = *target_.stage;
  if (claims_.kept() && stage.state == AttemptState::open) {
    stage.running += static_cast<std::int32_t>(running);
    claims_.add(stage, running, waiting);
  }
}

void Track::claim_no_more(Stage& stage) {
  if (claims_.kept() && stage.state == AttemptState::open) {
    claims_.add(stage, -std::int64_t{stage.running}, -std::int64_t{stage.waiting});
  }
  stage.running = 0;
}

// Once, until WaitBook finds that it does not wait. Members launch with their group.
void Track::list_stage() {
  Stage& stage = *target_.stage;
  if (!stage.listed && stage.waiting > 0 && stage.profile != no_index && stage.group == no_index) {
    stage.listed = true;
    const JobBody& body = *target_.job->body;
    const auto index = static_cast<Index>(&stage - body.stages.data());
    waits_.add_stage(body.lane, stage.profile, key_of(seen_.job_index, index), jobs_);
  }
}

// A stage of a job that has ended, run again by its reader under the name job.stage.
void Track::adopt_stage(const model::StageSubmitted& event) {
  JobBody* body = target_.job->body.get();
  const std::string_view name = names_->text(event.stage.stage);
  if (body == nullptr || name.find('.') == std::string_view::npos || event.tasks < 0) {
    return;
  }
  const auto index = static_cast<Index>(body->stages.size());
  Stage& stage = body->stages.emplace_back();
  stage.name = event.stage.stage;
  stage.tasks = event.tasks;
  stage.sink = false;
  stage.copy = true;
  stage.profile = slots_.profiles() == 1 ? 0 : no_index;
  body->by_name.push_back({event.stage.stage, index});
  sort_by_name(*body);
  for (ForeignEdge& edge : body->foreign) {
    if (edge.job.valid() && edge.stage.valid() && name == text(edge.job) + "." + text(edge.stage)) {
      edge.copy = event.stage.stage;
      stage.profile = edge.profile == no_index ? stage.profile : edge.profile;
    }
  }
  seen_.stage = target_.stage = &stage;
  seen_.known = true;
}

void Track::apply_one(const model::StageSubmitted& event) {
  Stage& stage = *target_.stage;
  claim_no_more(stage);
  stage.attempt = event.stage.attempt.value_or(stage.attempt + 1);
  stage.state = AttemptState::open;
  stage.submitted = event.tasks;
  stage.submitted_in = instant_;
  stage.subset = event.partitions.value_or(model::Ranges{});
  if (stage.partitions.empty() && stage.tasks > 0) {
    stage.partitions.resize(static_cast<std::size_t>(stage.tasks));
  }
  all_wait(stage);
  claim(0, stage.waiting);
  list_stage();
  Group* group = target_.group;
  if (group == nullptr) {
    return;
  }
  touch();
  if (group->attempt == stage.attempt && group->state == GroupState::admitted) {
    ++group->submitted;
    group->tasks += event.tasks;
  }
  if (group->gang_of_several()) {
    for (Partition& partition : stage.partitions) {
      partition.done = partition.succeeded = false;  // X10, X16: the group runs again as a whole
    }
    stage.done = 0;
    if (!rules_.commits_as_group()) {  // C6: what it registered task by task is done anew
      for (Partition& partition : stage.partitions) {
        partition.output = false;
      }
      stage.outputs = 0;
    }
  }
}

void Track::apply_one(const model::StageCompleted& event) {
  Stage& stage = *target_.stage;
  if (stage.state != AttemptState::open ||
      event.stage.attempt.value_or(stage.attempt) != stage.attempt) {
    return;
  }
  claim_no_more(stage);
  stage.state = event.status == model::StageStatus::success  ? AttemptState::succeeded
                : event.status == model::StageStatus::failed ? AttemptState::failed
                                                             : AttemptState::cancelled;
  stage.closed_in = instant_;
  progressed_.push_back(seen_.job_index);
  if (target_.group != nullptr) {
    touch();
  }
}

}  // namespace rehearse::properties
