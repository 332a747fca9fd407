// What waiting gangs hold, from the first slot to the admission or the end of the wait.
#include "scheduler/bulk.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "scheduler/accounting.hpp"

namespace rehearse::scheduler {

namespace {

bool is_before(const Placed& left, const Placed& right) {
  return std::pair{left.stage, left.partition} < std::pair{right.stage, right.partition};
}

std::vector<Placed> merged(std::span<const Placed> held, std::span<const Placed> taken) {
  std::vector<Placed> all;
  all.reserve(held.size() + taken.size());
  std::ranges::merge(held, taken, std::back_inserter(all), is_before);
  return all;
}

std::int32_t lacking(const Machine& m, GangId gang, std::size_t profile) {
  const std::int32_t held = m.bulks.has(gang) ? m.bulks[gang].counts[profile] : 0;
  return m.gangs[gang].demand[profile] - held;
}

// Slots by (executor, profile) ascending.
std::vector<Part> counted(const model::JobSpec& spec, std::span<const Placed> slots) {
  std::map<std::pair<ExecutorId, ProfileId>, std::int32_t> counts;
  for (const Placed& slot : slots) {
    ++counts[{slot.executor, spec.stages[slot.stage].profile}];
  }
  std::vector<Part> parts;
  for (const auto& [key, count] : counts) {
    parts.push_back({key.first, key.second, count});
  }
  return parts;
}

void tell(Step& s, GangId gang, const Part& part, std::int32_t slots_after, std::int32_t delta) {
  const Machine& m = s.m;
  s.write(model::Reservation{job_name(m, m.gangs[gang].job), stage_name(m, gang_leader(m, gang)),
                             m.executors[part.executor].name, m.profile_names[part.profile.index()],
                             slots_after, delta});
}

void give_back(Step& s, GangId gang, const model::JobSpec& spec, std::span<const Placed> slots) {
  for (const Part& part : counted(spec, slots)) {
    for (std::int32_t i = 0; i < part.slots; ++i) {
      s.m.slots.give(part.executor, part.profile);
    }
    tell(s, gang, part, 0, -part.slots);
  }
  s.m.wants_pass = true;  // A8
}

// Those of one stage.
std::span<const Placed> of_stage(const Machine& m, GangId gang, std::uint32_t stage) {
  if (!m.bulks.has(gang)) {
    return {};
  }
  const auto [first, last] =
      std::ranges::equal_range(m.bulks[gang].held, stage, {}, &Placed::stage);
  return {first, last};
}

// What of one stage has a slot already, partition after partition as they are walked through.
class HeldPartitions {
 public:
  explicit HeldPartitions(std::span<const Placed> held) : held_(held) {
    // Most of the time the first so many: then there is nothing to walk through.
    std::size_t low = 0;
    std::size_t high = held.size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      const bool gap_before = held[middle].partition != static_cast<std::int32_t>(middle);
      high = gap_before ? middle : high;
      low = gap_before ? low : middle + 1;
    }
    next_ = low;
  }
  [[nodiscard]] std::int32_t first_gap() const { return static_cast<std::int32_t>(next_); }
  // To be asked in ascending order from first_gap() on.
  [[nodiscard]] bool contains(std::int32_t partition) {
    const bool found = next_ < held_.size() && held_[next_].partition == partition;
    next_ += found ? 1 : 0;
    return found;
  }

 private:
  std::span<const Placed> held_;
  std::size_t next_ = 0;
};

// The tasks of one stage that have no slot; false if one of them finds none.
bool take_for_stage(Machine& m, GangId gang, std::uint32_t stage, std::vector<Placed>& taken) {
  const model::JobSpec& job = *m.jobs[m.gangs[gang].job].spec;
  const model::StageSpec& spec = job.stages[stage];
  PlacementPolicy& placement = *m.policies.placement;
  HeldPartitions held(of_stage(m, gang, stage));
  for (std::int32_t partition = held.first_gap(); partition < spec.tasks; ++partition) {
    if (held.contains(partition)) {
      continue;
    }
    const ExecutorId executor = place_task(m, m.slots, placement, job, spec, partition);
    if (!executor.valid()) {
      return false;
    }
    placement.taking(m.slots, executor);
    m.slots.take(executor, spec.profile);
    taken.push_back({stage, partition, executor});
  }
  return true;
}

}  // namespace

bool could_take(const Machine& m, GangId gang) {
  for (std::size_t p = 0; p < m.slots.profile_count(); ++p) {
    if (lacking(m, gang, p) > 0 && m.slots.free_total(ProfileId{p}) > 0) {
      return true;
    }
  }
  return false;
}

bool take_free(Machine& m, GangId gang, std::vector<Placed>& taken) {
  taken.clear();
  const GangRow& row = m.gangs[gang];
  const model::JobSpec& job = *m.jobs[row.job].spec;
  const std::vector<std::uint32_t> order = trial_order(m.slots, job, row);
  const bool shared = shares_slots(m, row.members.size());
  const std::vector<std::uint32_t> widest =
      shared ? widest_stages(job, row, order) : std::vector<std::uint32_t>{};
  bool all = true;
  for (const std::uint32_t stage : order) {
    const std::size_t profile = job.stages[stage].profile.index();
    if ((shared && widest[profile] != stage) || lacking(m, gang, profile) == 0) {
      continue;
    }
    all = take_for_stage(m, gang, stage, taken) && all;
    if (!all && m.slots.any_unbound()) {
      break;  // A4: what later tasks took could be what an earlier one needs
    }
  }
  std::ranges::sort(taken, is_before);
  return all;
}

void hold_taken(Step& s, GangId gang, std::span<const Placed> taken) {
  if (taken.empty()) {
    return;
  }
  Machine& m = s.m;
  const model::JobSpec& spec = *m.jobs[m.gangs[gang].job].spec;
  if (!m.bulks.has(gang)) {
    BulkRow row;
    row.counts.assign(m.slots.profile_count(), 0);
    m.bulks.put(gang, std::move(row));
  }
  BulkRow& row = m.bulks.edit(gang);
  row.held = merged(row.held, taken);
  for (const Placed& slot : taken) {
    const std::size_t profile = spec.stages[slot.stage].profile.index();
    ++row.counts[profile];
    RH_CHECK(row.counts[profile] <= m.gangs[gang].demand[profile], gang.value, slot.stage);
  }
  for (const Placed& slot : taken) {
    if (planted(Mutant::mu01)) {
      m.slots.undo(slot.executor, spec.stages[slot.stage].profile);
    }
  }
  const std::vector<Part> all = counted(spec, row.held);
  for (const Part& part : counted(spec, taken)) {
    const auto now = std::ranges::find_if(all, [&part](const Part& one) {
      return one.executor == part.executor && one.profile == part.profile;
    });
    tell(s, gang, part, now->slots, part.slots);
  }
}

namespace {

// Mutant: other slots than those that were held.
void move_to_first_free(Machine& m, const model::JobSpec& spec, std::vector<Placed>& placed) {
  for (const Placed& slot : placed) {
    m.slots.give(slot.executor, spec.stages[slot.stage].profile);
  }
  for (Placed& slot : placed) {
    slot.executor = m.slots.first_free(spec.stages[slot.stage].profile, 0);
    m.slots.take(slot.executor, spec.stages[slot.stage].profile);
  }
}

}  // namespace

void admit_bulk(Step& s, GangId gang, std::span<const Placed> taken) {
  Machine& m = s.m;
  std::vector<Placed> placed(taken.begin(), taken.end());
  if (m.bulks.has(gang)) {
    placed = merged(m.bulks[gang].held, taken);
  }
  if (planted(Mutant::mu27)) {
    move_to_first_free(m, *m.jobs[m.gangs[gang].job].spec, placed);
  }
  const GangRow& row = m.gangs[gang];
  if (shares_slots(m, row.members.size())) {
    place_others(m, {m.slots, *m.policies.placement, true}, m.jobs[row.job], row, placed);
  }
  admit_group(s, gang, placed);
}

void turn_held(Step& s, GangId gang) {
  Machine& m = s.m;
  const model::JobSpec& spec = *m.jobs[m.gangs[gang].job].spec;
  for (const Part& part : counted(spec, m.bulks[gang].held)) {
    tell(s, gang, part, 0, -part.slots);
  }
  m.bulks.drop(gang);
}

void give_up_held(Step& s, GangId gang) {
  Machine& m = s.m;
  if (planted(Mutant::mu26) && m.bulks.has(gang) && !lives(m, m.gangs[gang].job)) {
    m.bulks.drop(gang);
  }
  if (m.bulks.has(gang)) {
    const std::vector<Placed> held = m.bulks[gang].held;
    m.bulks.drop(gang);
    give_back(s, gang, *m.jobs[m.gangs[gang].job].spec, held);
  }
}

void give_up_held_on(Step& s, ExecutorId executor) {
  Machine& m = s.m;
  for (const StageId leader : m.queued_gangs) {
    const GangId gang = m.stages[leader].gang;
    if (!m.bulks.has(gang)) {
      continue;
    }
    const model::JobSpec& spec = *m.jobs[m.gangs[gang].job].spec;
    std::vector<Placed> lost;
    BulkRow& row = m.bulks.edit(gang);
    std::erase_if(row.held, [&](const Placed& slot) {
      if (slot.executor != executor) {
        return false;
      }
      lost.push_back(slot);
      --row.counts[spec.stages[slot.stage].profile.index()];
      return true;
    });
    if (row.held.empty()) {
      m.bulks.drop(gang);
    }
    if (!lost.empty()) {
      give_back(s, gang, spec, lost);
    }
  }
}

void bulk_timed_out(Step& s, GangId gang) {
  Machine& m = s.m;
  const GangRow& row = m.gangs[gang];
  std::int64_t demand = 0;
  for (const std::int32_t slots : row.demand) {
    demand += slots;
  }
  const std::string detail = "the group of stage " +
                             std::string(m.names->text(stage_name(m, gang_leader(m, gang)))) +
                             " held " + std::to_string(held_by(m, gang)) + " of " +
                             std::to_string(demand) + " slots at its bulk timeout";
  end_job(s, row.job,
          {model::JobOutcome::failed, model::Code::admission_timeout, m.names->intern(detail),
           std::nullopt, std::nullopt});
}

// Mutant: what somebody holds is offered to others.
void lend_held(Machine& m, GangId gang) {
  if (m.bulks.has(gang)) {
    for (const Placed& slot : m.bulks[gang].held) {
      m.slots.undo(slot.executor, m.jobs[m.gangs[gang].job].spec->stages[slot.stage].profile);
    }
  }
}

std::int64_t held_by(const Machine& m, GangId gang) {
  return m.bulks.has(gang) ? static_cast<std::int64_t>(m.bulks[gang].held.size()) : 0;
}

std::int64_t holding_gangs(const Machine& m) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < m.bulks.size(); ++i) {
    count += m.bulks.has(GangId{i}) ? 1 : 0;
  }
  return count;
}

}  // namespace rehearse::scheduler
