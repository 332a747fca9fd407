// Accounting by the widest stage or by whole executors (A10): the trial, and the life of what it
// finds. The ledger holds a share as if it were so many tasks; runs inside it cost nothing there.
#include "scheduler/accounting.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace rehearse::scheduler {

namespace {

bool is_idle(const Machine& m, ExecutorId executor) { return m.executors[executor].runs.empty(); }

// Executors on which nothing runs; linear in executors. A share never outlives its runs, and within
// a trial none has begun, so what the trial itself took still counts as idle.
class IdleOnly final : public SlotView {
 public:
  explicit IdleOnly(const Machine& m) : m_(m) {}
  [[nodiscard]] std::size_t profile_count() const override { return m_.slots.profile_count(); }
  [[nodiscard]] std::size_t executor_count() const override { return m_.slots.executor_count(); }
  [[nodiscard]] std::uint64_t name_key(ExecutorId executor) const override {
    return m_.slots.name_key(executor);
  }
  [[nodiscard]] std::uint64_t numbering() const override { return m_.slots.numbering(); }
  [[nodiscard]] std::int64_t free_slots(ExecutorId executor, ProfileId profile) const override {
    return is_idle(m_, executor) ? m_.slots.free_slots(executor, profile) : 0;
  }
  [[nodiscard]] ExecutorId most_free(ProfileId profile) const override {
    ExecutorId best;
    std::int64_t most = 0;
    for (std::size_t e = 0; e < executor_count(); ++e) {
      if (const std::int64_t free = free_slots(ExecutorId{e}, profile); free > most) {
        most = free;
        best = ExecutorId{e};
      }
    }
    return best;
  }
  [[nodiscard]] ExecutorId first_free(ProfileId profile, std::uint32_t from) const override {
    ExecutorId executor = m_.slots.first_free(profile, from);
    while (executor.valid() && !is_idle(m_, executor)) {
      executor = m_.slots.first_free(profile, executor.value + 1);
    }
    return executor;
  }

 private:
  const Machine& m_;
};

// What one stage may use: the slots that the widest stage of its profile took.
class Inside final : public SlotView {
 public:
  Inside(const SlotView& outer, std::span<const Part> parts, ProfileId profile) : outer_(outer) {
    for (const Part& part : parts) {
      if (part.profile == profile) {
        left_.push_back(part);
      }
    }
  }
  void take(ExecutorId executor) {
    --find(executor)->slots;
    while (first_ < left_.size() && left_[first_].slots == 0) {
      ++first_;
    }
  }

  [[nodiscard]] std::size_t profile_count() const override { return outer_.profile_count(); }
  [[nodiscard]] std::size_t executor_count() const override { return outer_.executor_count(); }
  [[nodiscard]] std::uint64_t name_key(ExecutorId executor) const override {
    return outer_.name_key(executor);
  }
  [[nodiscard]] std::uint64_t numbering() const override { return outer_.numbering(); }
  [[nodiscard]] std::int64_t free_slots(ExecutorId executor, ProfileId /*profile*/) const override {
    const auto at = std::ranges::lower_bound(left_, executor, {}, &Part::executor);
    return at == left_.end() || at->executor != executor ? 0 : at->slots;
  }
  [[nodiscard]] ExecutorId most_free(ProfileId profile) const override {
    return first_free(profile, 0);
  }
  [[nodiscard]] ExecutorId first_free(ProfileId /*profile*/, std::uint32_t from) const override {
    for (std::size_t i = first_; i < left_.size(); ++i) {
      if (left_[i].slots > 0 && left_[i].executor.value >= from) {
        return left_[i].executor;
      }
    }
    return ExecutorId{};
  }

 private:
  std::vector<Part>::iterator find(ExecutorId executor) {
    return std::ranges::lower_bound(left_, executor, {}, &Part::executor);
  }

  const SlotView& outer_;
  std::vector<Part> left_;  // by executor
  std::size_t first_ = 0;   // nothing is left below it
};

// The widest stage of its profile takes slots; false if some task finds none.
bool place_widest(Machine& m, const TrialOn& on, const SlotView& view, const JobRow& job,
                  std::uint32_t stage, std::vector<Placed>& placed) {
  const model::StageSpec& spec = job.spec->stages[stage];
  for (std::int32_t partition = 0; partition < spec.tasks; ++partition) {
    const ExecutorId executor =
        on.preferences ? place_task(m, view, on.placement, *job.spec, spec, partition)
                       : on.placement.pick(view, task_view(m, *job.spec, spec, partition));
    if (!executor.valid()) {
      return false;
    }
    on.placement.taking(view, executor);
    on.slots.take(executor, spec.profile);
    placed.push_back({stage, partition, executor});
  }
  return true;
}

void place_inside(const Machine& m, const TrialOn& on, const JobRow& job, std::uint32_t stage,
                  std::span<const Part> parts, std::vector<Placed>& placed) {
  const model::StageSpec& spec = job.spec->stages[stage];
  Inside inside(on.slots, parts, spec.profile);
  for (std::int32_t partition = 0; partition < spec.tasks; ++partition) {
    ExecutorId executor;
    if (on.preferences && !spec.prefers.empty()) {
      executor = preferred(m, {inside, task_view(m, *job.spec, spec, partition)},
                           spec.prefers[static_cast<std::size_t>(partition)]);
    }
    if (!executor.valid()) {
      executor = inside.first_free(spec.profile, 0);
    }
    RH_CHECK(executor.valid(), stage, partition);  // no stage of the profile is wider
    inside.take(executor);
    placed.push_back({stage, partition, executor});
  }
}

void write_rest(Step& s, const ShareRow& share, ProfileId profile, std::int32_t slots,
                std::int32_t delta) {
  s.write(model::Reservation{share.job, share.group, s.m.executors[share.executor].name,
                             s.m.profile_names[profile.index()], slots, delta});
}

// The attempt's own shares: the list may name rows that are over and in use again.
template <class Visit>
void each_share(Machine& m, GangId gang, Visit visit) {
  const std::vector<ShareId> shares = m.gangs[gang].shares;
  for (const ShareId id : shares) {
    if (m.shares.has(id) && m.shares[id].gang == gang) {
      visit(id);
    }
  }
}

// The rest of an idle executor, of every profile that still fits there.
void take_rest(Machine& m, ShareRow& share) {
  for (std::size_t p = 0; p < m.slots.profile_count(); ++p) {
    const ProfileId profile{p};
    const bool takes = std::ranges::any_of(m.slots.task(profile), [](auto n) { return n > 0; });
    const auto rest =
        static_cast<std::int32_t>(takes ? m.slots.free_slots(share.executor, profile) : 0);
    if (rest == 0) {
      continue;  // a task that takes nothing keeps nobody out
    }
    for (std::int32_t i = 0; i < rest; ++i) {
      m.slots.take(share.executor, profile);
    }
    auto at = std::ranges::lower_bound(share.parts, profile, {}, &ShareRow::Part::profile);
    if (at == share.parts.end() || at->profile != profile) {
      at = share.parts.insert(at, {profile, 0, 0});
    }
    at->rest = rest;
  }
}

void give_many(Machine& m, ExecutorId executor, ProfileId profile, std::int32_t slots) {
  for (std::int32_t i = 0; i < slots; ++i) {
    m.slots.give(executor, profile);
  }
}

void give_rest(Step& s, ShareRow& share) {
  for (ShareRow::Part& part : share.parts) {
    if (part.rest > 0) {
      give_many(s.m, share.executor, part.profile, part.rest);
      write_rest(s, share, part.profile, 0, -part.rest);
      part.rest = 0;
      s.m.wants_pass = true;
    }
  }
}

}  // namespace

void count_widest(const Machine& m, const model::JobSpec& spec,
                  std::span<const std::uint32_t> members, GangRow& unit) {
  std::ranges::fill(unit.demand, 0);
  std::ranges::fill(unit.amounts, 0);
  for (const std::uint32_t stage : members) {
    std::int32_t& widest = unit.demand[spec.stages[stage].profile.index()];
    widest = std::max(widest, spec.stages[stage].tasks);
  }
  for (std::size_t p = 0; p < unit.demand.size(); ++p) {
    const model::ResourceVector& task = m.slots.task(ProfileId{p});
    for (std::size_t r = 0; r < task.size(); ++r) {
      unit.amounts[r] += task[r] * unit.demand[p];
    }
  }
}

std::vector<Part> parts_of(const model::JobSpec& spec, std::span<const Placed> placed) {
  using Key = std::pair<ExecutorId, ProfileId>;
  std::map<Key, std::map<std::uint32_t, std::int32_t>> used;  // by stage
  for (const Placed& task : placed) {
    ++used[{task.executor, spec.stages[task.stage].profile}][task.stage];
  }
  std::vector<Part> parts;
  for (const auto& [key, stages] : used) {
    std::int32_t most = 0;
    for (const auto& [stage, tasks] : stages) {
      most = std::max(most, tasks);
    }
    parts.push_back({key.first, key.second, most});
  }
  return parts;
}

std::vector<std::uint32_t> widest_stages(const model::JobSpec& spec, const GangRow& gang,
                                         std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> widest(gang.demand.size(), none_u32);
  for (const std::uint32_t stage : order) {
    const std::size_t profile = spec.stages[stage].profile.index();
    if (widest[profile] == none_u32 && spec.stages[stage].tasks >= gang.demand[profile]) {
      widest[profile] = stage;
    }
  }
  return widest;
}

void place_others(const Machine& m, const TrialOn& on, const JobRow& job, const GangRow& gang,
                  std::vector<Placed>& placed) {
  const std::vector<std::uint32_t> order = trial_order(on.slots, *job.spec, gang);
  const std::vector<std::uint32_t> widest = widest_stages(*job.spec, gang, order);
  const std::vector<Part> parts = parts_of(*job.spec, placed);
  for (const std::uint32_t stage : order) {
    if (widest[job.spec->stages[stage].profile.index()] != stage) {
      place_inside(m, on, job, stage, parts, placed);
    }
  }
}

Fit shared_trial(Machine& m, const TrialOn& on, const JobRow& job, const GangRow& gang,
                 std::vector<Placed>& placed) {
  placed.clear();
  const std::vector<std::uint32_t> order = trial_order(on.slots, *job.spec, gang);
  const IdleOnly idle(m);
  const bool live = &on.slots == &m.slots;  // else the idle cluster, where every executor is idle
  const bool idle_only = live && takes_idle_only(m, gang.members.size());
  const SlotView& view = idle_only ? static_cast<const SlotView&>(idle) : on.slots;
  // What a policy has seen of idle executors only must not decide where other tasks of the pass go.
  const std::unique_ptr<PlacementPolicy> own = idle_only ? on.placement.clone() : nullptr;
  if (own) {
    own->begin(view);
  }
  PlacementPolicy& placement = own ? *own : on.placement;
  const std::vector<std::uint32_t> widest = widest_stages(*job.spec, gang, order);
  for (const std::uint32_t stage : order) {
    const bool places = widest[job.spec->stages[stage].profile.index()] == stage;
    if (places &&
        !place_widest(m, {on.slots, placement, on.preferences}, view, job, stage, placed)) {
      undo_shared(on.slots, *job.spec, placed);
      placed.clear();
      return Fit::short_of_slots;
    }
  }
  place_others(m, on, job, gang, placed);
  return Fit::fits;
}

void undo_shared(Ledger& slots, const model::JobSpec& spec, std::span<const Placed> placed) {
  for (const Part& part : parts_of(spec, placed)) {
    for (std::int32_t i = 0; i < part.slots; ++i) {
      slots.undo(part.executor, part.profile);
    }
  }
}

void open_shares(Step& s, GangId gang, std::span<const Placed> placed) {
  Machine& m = s.m;
  const JobId job = m.gangs[gang].job;
  const model::NameId group = stage_name(m, gang_leader(m, gang));
  const std::vector<Part> parts = parts_of(*m.jobs[job].spec, placed);
  std::vector<ShareId> opened;
  for (auto part = parts.begin(); part != parts.end();) {
    ShareRow share;
    share.gang = gang;
    share.job = job_name(m, job);
    share.group = group;
    share.executor = part->executor;
    for (; part != parts.end() && part->executor == share.executor; ++part) {
      share.parts.push_back({part->profile, part->slots, 0});
      m.counters.busy += part->slots;
    }
    if (m.config.accounting == model::Accounting::whole_executor) {
      take_rest(m, share);
    }
    opened.push_back(m.shares.add(std::move(share)));
  }
  m.gangs.edit(gang).shares = std::move(opened);
}

void join_share(Machine& m, GangId gang, RunId run) {
  const std::vector<ShareId>& shares = m.gangs[gang].shares;  // by executor: just opened
  const auto at = std::ranges::lower_bound(
      shares, m.runs[run].executor, {}, [&m](ShareId share) { return m.shares[share].executor; });
  RH_CHECK(at != shares.end() && m.shares[*at].executor == m.runs[run].executor, run.value);
  m.shares.edit(*at).runs.push_back(run);
  if (run.index() >= m.share_of.size()) {
    m.share_of.resize(run.index() + 1);
  }
  m.share_of[run.index()] = *at;
  --m.counters.busy;  // its slot counts with the share
}

void tell_rests(Step& s, GangId gang) {
  each_share(s.m, gang, [&s](ShareId id) {
    const ShareRow& share = s.m.shares[id];
    for (const ShareRow::Part& part : share.parts) {
      if (part.rest > 0) {
        write_rest(s, share, part.profile, part.rest, part.rest);
      }
    }
  });
}

void leave_share(Step& s, RunId run) {
  Machine& m = s.m;
  const ShareId id = m.share_of[run.index()];
  m.share_of[run.index()] = ShareId{};
  ShareRow& share = m.shares.edit(id);
  RH_CHECK(std::erase(share.runs, run) == 1, run.value);
  if (!share.runs.empty()) {
    return;
  }
  const bool lost = m.executors[share.executor].phase == ExecutorPhase::lost;
  for (const ShareRow::Part& part : share.parts) {
    give_many(m, share.executor, part.profile, part.slots);
    m.counters.busy -= part.slots;
    if (part.slots > 0 && !lost) {  // else they went with it
      s.out.list.emplace_back(ReturnShared{share.job, m.executors[share.executor].name,
                                           m.profile_names[part.profile.index()], part.slots});
    }
  }
  give_rest(s, share);
  m.shares.remove(id);
}

void close_shares(Step& s, GangId gang) {
  Machine& m = s.m;
  if (m.gangs[gang].shares.empty()) {
    return;
  }
  each_share(m, gang, [&s](ShareId id) {
    ShareRow& share = s.m.shares.edit(id);
    give_rest(s, share);
    share.gang = GangId{};
  });
  m.gangs.edit(gang).shares.clear();
}

void count_idle(const Machine& m, std::vector<std::int64_t>& have) {
  std::ranges::fill(have, 0);
  for (std::size_t e = 0; e < m.executors.size(); ++e) {
    if (!is_idle(m, ExecutorId{e})) {
      continue;
    }
    for (std::size_t p = 0; p < have.size(); ++p) {
      have[p] += m.slots.room(ExecutorId{e}, ProfileId{p});
    }
  }
}

void add_shared(const Machine& m, std::vector<std::int64_t>& slots) {
  for (std::size_t i = 0; i < m.shares.size(); ++i) {
    for (const ShareRow::Part& part : m.shares[ShareId{i}].parts) {
      slots[part.profile.index()] += part.slots + part.rest;
    }
  }
}

std::int64_t rests(const Machine& m) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < m.shares.size(); ++i) {
    const ShareRow& share = m.shares[ShareId{i}];
    count += std::ranges::any_of(share.parts, [](const auto& part) { return part.rest > 0; });
  }
  return count;
}

}  // namespace rehearse::scheduler
