// Gangs that do not fit now (A6), admission that only looks (A2 check, A9, A12), and the fall-back
// to regular edges (A11).
#include <algorithm>
#include <functional>

#include "scheduler/accounting.hpp"
#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

namespace {

// A9, of all but the members of one gang; that of a job which is being judged has no stages yet.
std::vector<std::int64_t> claimed(const Machine& m, const GangRow& gang, Claims claims) {
  std::vector<StageId> own;
  for (const std::uint32_t member : gang.members) {
    if (m.jobs.has(gang.job)) {
      own.push_back(stage_of(m, gang.job, member));
    }
  }
  return outstanding(m, own, claims);
}

}  // namespace

std::vector<std::int64_t> outstanding(const Machine& m, std::span<const StageId> except,
                                      Claims claims) {
  std::vector<std::int64_t> sum(m.slots.profile_count(), 0);
  for (std::size_t i = 0; i < m.stages.size(); ++i) {
    const StageRow& row = m.stages[StageId{i}];
    const bool shared = row.gang.valid() && shares_slots(m, m.gangs[row.gang].members.size());
    if (row.used && row.phase == StagePhase::running && !shared &&
        std::ranges::find(except, StageId{i}) == except.end()) {
      sum[row.profile] -= planted(Mutant::m16) ? row.pending : 0;
      sum[row.profile] += planted(Mutant::m07) ? row.done : 0;
      sum[row.profile] += planted(Mutant::m17) ? row.old_running : 0;
      const bool claims_more = claims == Claims::of_all || row.gang.valid();
      sum[row.profile] += std::int64_t{row.running} + (claims_more ? row.pending : 0);
    }
  }
  add_shared(m, sum);
  return sum;
}

std::vector<std::int64_t> slots_at_hand(const Machine& m, const GangRow& gang) {
  if (m.config.admission.hold == model::Hold::check) {
    return capacity_now(m, gang);
  }
  const auto free = m.slots.free_totals();
  std::vector<std::int64_t> have(free.begin(), free.end());
  if (takes_idle_only(m, gang.members.size())) {
    count_idle(m, have);
  }
  return have;
}

std::vector<std::int64_t> capacity_now(const Machine& m, const GangRow& gang, Claims claims) {
  const auto free = m.slots.free_totals();
  std::vector<std::int64_t> have(free.begin(), free.end());
  const bool idle_only = takes_idle_only(m, gang.members.size());
  if (planted(Mutant::m04)) {
    const auto configured = m.idle.free_totals();
    return {configured.begin(), configured.end()};
  }
  if (m.config.admission.capacity == model::Capacity::free && !planted(Mutant::m14)) {
    if (idle_only) {
      count_idle(m, have);
    }
    return have;
  }
  for (std::size_t p = 0; p < have.size(); ++p) {
    have[p] = m.slots.total_slots(ProfileId{p});
  }
  if (m.config.admission.capacity == model::Capacity::free_and_unclaimed) {
    const std::vector<std::int64_t> taken = claimed(m, gang, claims);
    for (std::size_t p = 0; p < have.size(); ++p) {
      have[p] = std::max<std::int64_t>(have[p] - taken[p], 0);
    }
    if (idle_only) {
      std::vector<std::int64_t> idle = have;
      count_idle(m, idle);
      std::ranges::transform(have, idle, have.begin(),
                             [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
    }
  }
  return have;
}

std::vector<std::int64_t> checked_demand(const Machine& m, const GangRow& gang) {
  std::vector<std::int64_t> need(gang.demand.begin(), gang.demand.end());
  if (m.config.profiles == model::ProfilesAxis::default_only && gang.members.size() > 1) {
    std::ranges::fill(need, 0);
    need.front() = gang.tasks;
  }
  return need;
}

bool passes_check(const Machine& m, const GangRow& gang, const std::vector<std::int64_t>& have) {
  if (m.config.admission.hold == model::Hold::none) {
    return true;
  }
  const std::vector<std::int64_t> need = checked_demand(m, gang);
  if (planted(Mutant::m15)) {
    return std::ranges::equal(need, have, [](auto n, auto h) { return n < h || n == 0; });
  }
  return std::ranges::equal(need, have, std::less_equal{});
}

bool admitted_at_once(const Machine& m) {
  return m.config.admission.hold == model::Hold::none ||
         m.config.admission.shortfall == model::Shortfall::rejection;
}

void admit_without_slots(Step& s, GangId gang) {
  Machine& m = s.m;
  begin_attempt(s, gang);
  const JobId job = m.gangs[gang].job;
  const std::vector<std::uint32_t> members = m.gangs[gang].members;
  for (const std::uint32_t member : members) {
    const StageId stage = stage_of(m, job, member);
    StageRow& row = m.stages.edit(stage);
    row.pending = row.tasks;
    row.next_partition = 0;
    begin_delay(m, stage);
    if (planted(Mutant::m44) && !m.jobs[job].graph->pipelined_parents.row(member).empty()) {
      continue;
    }
    if (row.pending > 0) {
      m.queue.set_pending(stage, ProfileId{std::uint32_t{row.profile}});
      m.wants_pass = true;
    }
  }
  settle_empty_attempt(s, gang);
  for (const std::uint32_t member : members) {
    const bool waits = lives(m, job) && m.stages[stage_of(m, job, member)].pending > 0;
    if (waits) {
      judge_starvation(s, stage_of(m, job, member));
    }
  }
}

void retry_or_give_up(Step& s, GangId gang) {
  Machine& m = s.m;
  GangRow& row = m.gangs.edit(gang);
  const StageId leader = gang_leader(m, gang);
  const bool odd = planted(Mutant::mu47) && m.now / m.config.admission.retry_interval % 2 == 1;
  row.checks -= odd ? 1 : 0;
  if (row.checks++ >= m.config.admission.retry_max) {
    const std::vector<std::int64_t> have = slots_at_hand(m, row);
    const std::vector<std::int64_t> need(row.demand.begin(), row.demand.end());
    end_job(s, row.job,
            {model::JobOutcome::failed, model::Code::insufficient_slots,
             m.names->intern("the group did not fit at its last check"),
             per_profile(m, need, row.demand), per_profile(m, have, row.demand)});
    return;
  }
  row.resting = true;
  m.queue.clear_waiting(leader, Units{m});
  row.timer = set_timer(s, {{}, TimerKind::retry, row.job, row.leader, none_u32},
                        m.config.admission.retry_interval);
}

void dissolve(Step& s, GangId gang) {
  Machine& m = s.m;
  const JobId job = m.gangs[gang].job;
  const std::uint32_t group = m.gangs[gang].group;
  std::vector<std::uint32_t> members = m.gangs[gang].members;
  std::ranges::sort(members);
  const std::shared_ptr<const model::StageGraph> before = m.jobs[job].graph;
  const StageId leader = gang_leader(m, gang);
  model::EdgesChanged line{job_name(m, job), stage_name(m, leader), {}};
  for (const std::uint32_t member : members) {
    for (const std::uint32_t child : before->pipelined_children.row(member)) {
      line.edges.push_back({stage_name(m, stage_of(m, job, member)),
                            stage_name(m, stage_of(m, job, child)), model::EdgeKind::regular});
    }
  }
  s.write(std::move(line));
  RH_CHECK(!m.bulks.has(gang), gang.value);  // bulk has its own end of a wait
  leave_queue(m, gang);
  no_longer_starved(m, leader);
  for (const std::uint32_t member : members) {
    m.queue.remove(stage_of(m, job, member), Units{m});  // its key is about to change
  }
  m.gangs.remove(gang);
  --m.counters.live_gangs;
  JobRow& row = m.jobs.edit(job);
  --row.gangs_left;
  row.graph = std::make_shared<const model::StageGraph>(model::without_group(*before, group));
  for (const std::uint32_t member : members) {
    StageRow& stage = m.stages.edit(stage_of(m, job, member));
    stage.gang = GangId{};
    stage.registered = true;
    stage.read = stage.shared || !row.graph->regular_children.row(member).empty();
    for (const std::uint32_t parent : before->pipelined_parents.row(member)) {
      stage.missing_inputs += m.stages[stage_of(m, job, parent)].available ? 0 : 1;
    }
    m.queue.add(stage_of(m, job, member), Units{m});
  }
  for (const std::uint32_t member : members) {
    const StageId stage = stage_of(m, job, member);
    if (lives(m, job) && m.stages[stage].phase == StagePhase::waiting) {
      want(s, stage);
    } else if (lives(m, job) && m.stages[stage].phase == StagePhase::running) {
      judge_starvation(s, stage);  // an empty member before it made it ready
    }
  }
}

}  // namespace rehearse::scheduler
