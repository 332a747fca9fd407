// registry: none (part of the metrics)
//
// Rows of live jobs, and two ordered indices over them: stages with pending tasks by profile, and
// ready gangs that wait. Both change when a stage or gang changes state, not per task, so a task
// costs a counter.
#include "reports/live_work.hpp"

#include <algorithm>

#include "model/support/check.hpp"

namespace rehearse::reports {
namespace {

constexpr std::uint8_t missing_bit = 0x80;
constexpr std::uint8_t tries_mask = 0x7f;
// Waiting gangs looked at behind the head, as the scheduler's own default (A20).
constexpr int gangs_examined_max = 64;

std::uint64_t bit(std::size_t profile) {
  return std::uint64_t{1} << std::min<std::size_t>(profile, 63);
}

bool is_pending(std::uint8_t partition) { return partition == missing_bit; }

}  // namespace

void LiveWork::run_started(const model::RunStart& run, const model::NameTable& names) {
  pending_.resize(std::max<std::size_t>(run.profiles.size(), 1));
  for (const model::AxisValue& axis : run.axes) {
    const std::string_view name = names.text(axis.axis);
    const std::string_view value = names.text(axis.value);
    if (name == "admission.queue") {
      order_ = value == "priority"         ? Order::priority
               : value == "smallest-first" ? Order::smallest_first
                                           : Order::fifo;
    } else if (name == "admission.short") {
      heads_ = !value.starts_with("retry");
    }
  }
}

void LiveWork::submitted(const model::JobSubmitted& event, const SlotLedger& ledger) {
  pending_.resize(std::max({pending_.size(), ledger.profiles(), std::size_t{1}}));
  if (event.job.index() >= index_.size()) {
    index_.resize(event.job.index() + 1, 0);
  }
  gone(event.job);
  if (unused_.empty()) {
    jobs_.emplace_back();
    unused_.push_back(static_cast<std::uint32_t>(jobs_.size() - 1));
  }
  index_[event.job.index()] = unused_.back() + 1;
  Job& row = jobs_[unused_.back()];
  unused_.pop_back();
  row.name = event.job;
  row.number = submissions_++;
  row.priority = event.priority;
  for (const model::StageItem& item : event.stages) {
    LiveStage stage;
    stage.name = item.name;
    stage.tasks = item.tasks;
    stage.profile = ledger.profile(item.profile);
    row.by_name.emplace_back(item.name, row.stages.size());
    row.stages.push_back(std::move(stage));
  }
  std::ranges::sort(row.by_name);
  for (const model::EdgeItem& edge : event.edges) {
    const std::size_t from = stage_index(row, edge.from);
    const std::size_t to = stage_index(row, edge.to);
    if (edge.kind == model::EdgeKind::regular && from != no_index && to != no_index) {
      row.regular.emplace_back(from, to);
    }
  }
}

void LiveWork::gone(model::NameId name) {
  Job* row = job(name);
  if (row == nullptr) {
    return;
  }
  for (std::size_t stage = 0; stage < row->stages.size(); ++stage) {
    set_pending(*row, stage, 0);
  }
  for (std::size_t i = 0; i < row->gangs.size(); ++i) {
    row->gangs[i].waits = false;
    relist(*row, i);
  }
  unused_.push_back(index_[name.index()] - 1);
  index_[name.index()] = 0;
  *row = Job{};
}

LiveWork::Job* LiveWork::job(model::NameId name) {
  if (!name.valid() || name.index() >= index_.size() || index_[name.index()] == 0) {
    return nullptr;
  }
  return &jobs_[index_[name.index()] - 1];
}

std::size_t LiveWork::stage_index(const Job& job, model::NameId name) {
  const auto found = std::ranges::lower_bound(job.by_name, std::pair{name, std::size_t{0}});
  return found == job.by_name.end() || found->first != name ? no_index : found->second;
}

LiveStage* LiveWork::find(model::NameId name, model::NameId stage) {
  Job* row = job(name);
  const std::size_t index = row == nullptr ? no_index : stage_index(*row, stage);
  return index == no_index ? nullptr : &row->stages[index];
}

QueueRank LiveWork::rank(const Job& job, std::size_t stage, std::int64_t demand) const {
  const std::int64_t key = order_ == Order::priority         ? -job.priority
                           : order_ == Order::smallest_first ? demand
                                                             : 0;
  return {.key = key, .job = job.number, .stage = stage};
}

// ---- gangs ----

void LiveWork::formed(const model::GroupFormed& event, const SlotLedger& ledger) {
  Job* owner = job(event.job);
  if (owner == nullptr) {
    return;
  }
  Gang gang;
  gang.leader = event.stage;
  gang.rank_stage = stage_index(*owner, event.stage);
  for (const model::ProfileCount& count : event.demand) {
    const std::size_t profile = ledger.profile(count.profile);
    gang.demand.emplace_back(profile, count.n);
    gang.profiles |= bit(profile);
    gang.tasks += count.n;
  }
  gang.waits = true;
  const std::size_t index = owner->gangs.size();
  owner->gangs.push_back(std::move(gang));
  for (const model::NameId name : event.stages) {
    if (const std::size_t stage = stage_index(*owner, name); stage != no_index) {
      owner->stages[stage].gang = index;
      owner->stages[stage].grouped = event.stages.size() > 1;
    }
  }
  add_parents(*owner, index);
  relist(*owner, index);
}

// The regular parents outside the gang, each once.
void LiveWork::add_parents(Job& owner, std::size_t gang) {
  for (const auto& [from, to] : owner.regular) {
    LiveStage& parent = owner.stages[from];
    if (owner.stages[to].gang != gang || parent.gang == gang ||
        (!parent.readers.empty() && parent.readers.back() == gang)) {
      continue;
    }
    parent.readers.push_back(gang);
    owner.gangs[gang].missing += parent.available ? 0 : 1;
  }
}

LiveWork::Gang* LiveWork::gang(model::NameId name, model::NameId stage, Job*& owner) {
  owner = job(name);
  const std::size_t index = owner == nullptr ? no_index : stage_index(*owner, stage);
  if (index == no_index || owner->stages[index].gang == no_index) {
    return nullptr;
  }
  return &owner->gangs[owner->stages[index].gang];
}

void LiveWork::relist(Job& owner, std::size_t index) {
  Gang& gang = owner.gangs[index];
  const bool ready = gang.waits && gang.missing == 0 && !gang.told_inputs && gang.tasks > 0;
  if (ready == gang.listed) {
    return;
  }
  const QueueRank place = rank(owner, gang.rank_stage, gang.tasks);
  if (ready) {
    gang.ready_ns = now_;
    gang.was_ready = true;
    waiting_.emplace(place, std::pair{static_cast<std::size_t>(&owner - jobs_.data()), index});
  } else {
    waiting_.erase(place);
  }
  gang.listed = ready;
}

void LiveWork::queued(const model::GroupQueued& event) {
  Job* owner = nullptr;
  Gang* row = gang(event.job, event.stage, owner);
  if (row == nullptr) {
    return;
  }
  row->waits = true;
  if (event.reason == model::QueuedReason::slots) {
    row->told_inputs = false;
    row->missing = 0;
  } else if (row->missing == 0) {
    // Inputs that the edges inside the job do not show: stages of other jobs.
    row->told_inputs = true;
  }
  relist(*owner, static_cast<std::size_t>(row - owner->gangs.data()));
}

void LiveWork::admitted(const model::StageRef& group) {
  Job* owner = nullptr;
  if (Gang* row = gang(group.job, group.stage, owner); row != nullptr) {
    row->waits = false;
    row->told_inputs = false;
    relist(*owner, static_cast<std::size_t>(row - owner->gangs.data()));
  }
}

void LiveWork::over(const model::StageRef& group) {
  admitted(group);
  Job* owner = nullptr;
  if (Gang* row = gang(group.job, group.stage, owner); row != nullptr) {
    row->was_ready = false;
  }
}

std::optional<model::Instant> LiveWork::ready_since(model::NameId name, model::NameId stage) {
  Job* owner = nullptr;
  const Gang* row = gang(name, stage, owner);
  return row != nullptr && row->was_ready ? std::optional(row->ready_ns) : std::nullopt;
}

void LiveWork::dissolved(const model::EdgesChanged& event) {
  over({.job = event.job, .stage = event.stage, .attempt = {}});
  Job* owner = job(event.job);
  const std::size_t first = owner == nullptr ? no_index : stage_index(*owner, event.stage);
  const std::size_t gang = first == no_index ? no_index : owner->stages[first].gang;
  if (gang == no_index) {
    return;
  }
  for (LiveStage& stage : owner->stages) {
    if (stage.gang == gang) {
      stage.gang = no_index;
      stage.grouped = false;
    }
  }
}

// ---- stages and tasks ----

void LiveWork::set_pending(Job& owner, std::size_t index, std::int64_t pending) {
  LiveStage& stage = owner.stages[index];
  const bool was = stage.pending > 0;
  stage.pending = pending;
  if (was != (pending > 0)) {
    const QueueRank place = rank(owner, index, stage.tasks);
    if (pending > 0) {
      pending_[stage.profile].insert(place);
    } else {
      pending_[stage.profile].erase(place);
    }
  }
}

void LiveWork::set_available(Job& owner, std::size_t index, bool available) {
  LiveStage& stage = owner.stages[index];
  if (stage.available == available) {
    return;
  }
  stage.available = available;
  for (const std::size_t reader : stage.readers) {
    std::int64_t& missing = owner.gangs[reader].missing;
    missing = std::max<std::int64_t>(missing + (available ? -1 : 1), 0);
    relist(owner, reader);
  }
}

LiveStage* LiveWork::stage_submitted(const model::StageSubmitted& event, const SlotLedger& ledger) {
  Job* owner = job(event.stage.job);
  if (owner == nullptr) {
    return nullptr;
  }
  std::size_t index = stage_index(*owner, event.stage.stage);
  if (index == no_index) {  // a stage of another job that this job runs itself
    index = owner->stages.size();
    LiveStage stage;
    stage.name = event.stage.stage;
    stage.tasks = event.tasks;
    stage.profile = ledger.profile(model::NameId{});
    owner->stages.push_back(std::move(stage));
    owner->by_name.emplace_back(event.stage.stage, index);
    std::ranges::sort(owner->by_name);
  }
  set_pending(*owner, index, 0);
  LiveStage& stage = owner->stages[index];
  stage.live = true;
  stage.attempt = event.stage.attempt.value_or(0);
  stage.tasks = std::max(stage.tasks, event.tasks);
  stage.partitions.assign(static_cast<std::size_t>(stage.tasks), 0);
  std::int64_t pending = 0;
  const auto submit = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t p = first; p <= last && p < stage.tasks; ++p) {
      stage.partitions[static_cast<std::size_t>(p)] = missing_bit;
      ++pending;
    }
  };
  if (event.partitions) {
    for (const model::Range& range : *event.partitions) {
      submit(range.first, range.last);
    }
  } else {
    submit(0, stage.tasks - 1);
  }
  set_pending(*owner, index, pending);
  return &stage;
}

void LiveWork::stage_completed(const model::StageCompleted& event) {
  Job* owner = job(event.stage.job);
  const std::size_t index = owner == nullptr ? no_index : stage_index(*owner, event.stage.stage);
  if (index == no_index) {
    return;
  }
  LiveStage& stage = owner->stages[index];
  if (event.stage.attempt.value_or(0) != stage.attempt) {
    return;  // an older attempt
  }
  stage.live = false;
  set_pending(*owner, index, 0);
  stage.partitions = {};
  set_available(*owner, index, event.status == model::StageStatus::success);
}

void LiveWork::task_started(const model::TaskStart& event) {
  Job* owner = job(event.task.job);
  const std::size_t index = owner == nullptr ? no_index : stage_index(*owner, event.task.stage);
  if (index == no_index) {
    return;
  }
  LiveStage& stage = owner->stages[index];
  std::int64_t change = 0;
  for (std::int64_t p = event.task.partition;
       p <= event.task.last() && event.task.attempt == stage.attempt; ++p) {
    const auto partition = static_cast<std::size_t>(p);
    if (partition >= stage.partitions.size()) {
      break;
    }
    std::uint8_t& state = stage.partitions[partition];
    change -= is_pending(state) ? 1 : 0;
    if ((state & tries_mask) != tries_mask) {
      ++state;
    }
  }
  set_pending(*owner, index, stage.pending + change);
}

void LiveWork::task_ended(const model::TaskEnd& event) {
  Job* owner = job(event.task.job);
  const std::size_t index = owner == nullptr ? no_index : stage_index(*owner, event.task.stage);
  if (index == no_index) {
    return;
  }
  LiveStage& stage = owner->stages[index];
  std::int64_t change = 0;
  for (std::int64_t p = event.task.partition; p <= event.task.last(); ++p) {
    const auto partition = static_cast<std::size_t>(p);
    if (partition >= stage.partitions.size()) {
      break;
    }
    std::uint8_t& state = stage.partitions[partition];
    const bool was = is_pending(state);
    if (event.task.attempt == stage.attempt && (state & tries_mask) != 0) {
      --state;
    }
    if (event.status == model::TaskStatus::success && event.counted.value_or(true)) {
      state = static_cast<std::uint8_t>(state & tries_mask);
    }
    change += (is_pending(state) ? 1 : 0) - (was ? 1 : 0);
  }
  set_pending(*owner, index, stage.pending + change);
}

void LiveWork::outputs_lost(const model::OutputsLost& event) {
  Job* owner = job(event.job);
  const std::size_t index = owner == nullptr ? no_index : stage_index(*owner, event.stage);
  if (index == no_index) {
    return;
  }
  LiveStage& stage = owner->stages[index];
  set_available(*owner, index, false);
  if (!stage.live || stage.gang != no_index) {
    return;  // a group is rerun whole, by a submission of its own
  }
  std::int64_t pending = stage.pending;
  for (const model::Range& range : event.partitions) {
    for (std::int64_t p = range.first; p <= range.last; ++p) {
      if (p < 0 || p >= static_cast<std::int64_t>(stage.partitions.size())) {
        continue;
      }
      std::uint8_t& state = stage.partitions[static_cast<std::size_t>(p)];
      const bool was = is_pending(state);
      state = static_cast<std::uint8_t>(state | missing_bit);
      pending += (is_pending(state) ? 1 : 0) - (was ? 1 : 0);
    }
  }
  set_pending(*owner, index, pending);
}

// ---- the head, and what could start but for it ----

bool LiveWork::fits(const Gang& gang, const SlotLedger& ledger) {
  return std::ranges::all_of(
      gang.demand, [&](const auto& entry) { return entry.second <= ledger.room(entry.first); });
}

bool LiveWork::starved(std::span<const std::pair<std::size_t, std::int64_t>> demand,
                       const SlotLedger& ledger) {
  return ledger.losses_seen() && std::ranges::any_of(demand, [&](const auto& entry) {
           return entry.second > ledger.capacity(entry.first);
         });
}

LiveWork::Waiting LiveWork::described(const QueueRank& place, std::size_t slot,
                                      std::size_t gang) const {
  const Job& owner = jobs_[slot];
  return {owner.name, owner.gangs[gang].leader, place, owner.gangs[gang].demand};
}

std::optional<LiveWork::Waiting> LiveWork::head(const SlotLedger& ledger) const {
  for (const auto& [place, key] : waiting_) {
    if (heads_ && !starved(jobs_[key.first].gangs[key.second].demand, ledger)) {
      return described(place, key.first, key.second);
    }
  }
  return std::nullopt;
}

std::optional<LiveWork::Waiting> LiveWork::first_waiting() const {
  if (!heads_ || waiting_.empty()) {
    return std::nullopt;
  }
  const auto& [place, key] = *waiting_.begin();
  return described(place, key.first, key.second);
}

std::optional<LiveWork::Waiting> LiveWork::waiting(model::NameId name, model::NameId stage) {
  Job* owner = nullptr;
  const Gang* row = gang(name, stage, owner);
  if (row == nullptr || !row->listed) {
    return std::nullopt;
  }
  return described(rank(*owner, row->rank_stage, row->tasks),
                   static_cast<std::size_t>(owner - jobs_.data()),
                   static_cast<std::size_t>(row - owner->gangs.data()));
}

QueueRank LiveWork::place(model::NameId name, model::NameId stage) {
  const Job* owner = job(name);
  const std::size_t index = owner == nullptr ? no_index : stage_index(*owner, stage);
  return index == no_index ? QueueRank{} : rank(*owner, index, owner->stages[index].tasks);
}

std::int64_t LiveWork::pending_ahead(const QueueRank& place, std::size_t profile) const {
  const auto& stages = pending_[profile];
  return std::distance(stages.begin(), stages.lower_bound(place));
}

std::int64_t LiveWork::waiting_ahead(const QueueRank& place) const {
  return std::distance(waiting_.begin(), waiting_.lower_bound(place));
}

LiveWork::View LiveWork::view(const SlotLedger& ledger) const {
  View view;
  QueueRank head;
  int examined = 0;
  for (const auto& [place, key] : waiting_) {
    const Gang& gang = jobs_[key.first].gangs[key.second];
    view.waiting = true;
    if (heads_ && !view.head && !starved(gang.demand, ledger)) {
      view.head = true;
      view.head_profiles = gang.profiles;
      head = place;
      continue;
    }
    if (fits(gang, ledger)) {
      view.usable |= gang.profiles;
      view.behind = view.behind || view.head;
    }
    if (++examined >= gangs_examined_max) {
      break;
    }
  }
  for (std::size_t profile = 0; profile < pending_.size(); ++profile) {
    if (pending_[profile].empty()) {
      continue;
    }
    view.waiting = true;
    view.usable |= bit(profile);
    view.behind = view.behind ||
                  (view.head && ledger.room(profile) > 0 && head < *pending_[profile].rbegin());
  }
  return view;
}

}  // namespace rehearse::reports
