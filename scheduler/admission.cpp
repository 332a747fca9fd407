// The pass: units in queue order, gangs admitted whole or not at all (A2 to A7, A16, A20), regular
// units task by task. Also the question A5 asks of an idle cluster.
#include <algorithm>
#include <numeric>

#include "scheduler/accounting.hpp"
#include "scheduler/bulk.hpp"
#include "scheduler/places.hpp"
#include "scheduler/slices.hpp"
#include "scheduler/speculation.hpp"

namespace rehearse::scheduler {

namespace {

__extension__ using Wide = __int128;

// Dominant share of a task as a fraction: the largest amount / cluster total (A4).
struct Share {
  std::int64_t amount = 0;
  std::int64_t total = 1;

  [[nodiscard]] bool greater(const Share& other) const {
    return Wide{amount} * other.total > Wide{other.amount} * total;
  }
};

Share dominant_share(const Ledger& slots, ProfileId profile) {
  Share greatest;
  const model::ResourceVector& task = slots.task(profile);
  for (std::size_t r = 0; r < task.size(); ++r) {
    const Share share{task[r], std::max<std::int64_t>(slots.open_amount(r), 1)};
    if (share.greater(greatest)) {
      greatest = share;
    }
  }
  return greatest;
}

}  // namespace

std::vector<std::uint32_t> trial_order(const Ledger& slots, const model::JobSpec& spec,
                                       const GangRow& gang) {
  std::vector<std::uint32_t> order = gang.members;
  std::ranges::sort(order, [&slots, &spec](std::uint32_t left, std::uint32_t right) {
    const Share l = dominant_share(slots, spec.stages[left].profile);
    const Share r = dominant_share(slots, spec.stages[right].profile);
    return l.greater(r) || (!r.greater(l) && left < right);
  });
  return order;
}

namespace {

bool slots_reach(const Ledger& slots, const GangRow& gang) {
  for (std::size_t p = 0; p < gang.demand.size(); ++p) {
    if (gang.demand[p] > slots.free_total(ProfileId{p})) {
      return false;
    }
  }
  return true;
}

bool counts_reach(const Ledger& slots, const GangRow& gang) {
  if (planted(Mutant::mu07) && gang.members.size() > 1) {
    return true;
  }
  if (planted(Mutant::mu59) && gang.demand.front() == slots.free_total(ProfileId{0U})) {
    return false;
  }
  for (std::size_t r = 0; r < gang.amounts.size(); ++r) {
    if (gang.amounts[r] > slots.free_amount(r)) {
      return false;
    }
  }
  return slots_reach(slots, gang);
}

// What a trial took; `shared`: for several stages together.
void give_back(Ledger& slots, const model::JobSpec& spec, bool shared,
               std::vector<Placed>& placed) {
  if (shared) {
    undo_shared(slots, spec, placed);
    placed.clear();
    return;
  }
  for (const Placed& task : placed) {
    slots.undo(task.executor, spec.stages[task.stage].profile);
  }
  placed.clear();
}

// Counts of what came free for the profiles the gang demands; unchanged: a trial fails again.
std::uint64_t freed_for(const Machine& m, const GangRow& gang) {
  std::uint64_t sum = 0;
  for (std::size_t p = 0; p < gang.demand.size(); ++p) {
    sum += gang.demand[p] > 0 ? m.slots.freed(ProfileId{p}) : 0;
  }
  return sum;
}

}  // namespace

Fit trial(Machine& m, const TrialOn& on, const JobRow& job, const GangRow& gang,
          std::vector<Placed>& placed) {
  if (shares_slots(m, gang.members.size())) {
    return shared_trial(m, on, job, gang, placed);
  }
  placed.clear();
  placed.reserve(static_cast<std::size_t>(gang.tasks));
  for (const std::uint32_t stage : trial_order(on.slots, *job.spec, gang)) {
    const model::StageSpec& spec = job.spec->stages[stage];
    for (std::int32_t partition = 0; partition < spec.tasks; ++partition) {
      const ExecutorId executor =
          on.preferences ? place_task(m, on.slots, on.placement, *job.spec, spec, partition)
                         : on.placement.pick(on.slots, task_view(m, *job.spec, spec, partition));
      if (planted(Mutant::mu07) && !executor.valid() && !placed.empty()) {
        return Fit::fits;
      }
      if (planted(Mutant::mu30) && !executor.valid() && !placed.empty()) {
        placed.pop_back();
      }
      if (!executor.valid()) {
        give_back(on.slots, *job.spec, false, placed);
        return Fit::short_of_slots;
      }
      on.placement.taking(on.slots, executor);
      on.slots.take(executor, spec.profile);
      placed.push_back({stage, partition, executor});
    }
  }
  return Fit::fits;
}

bool could_ever_fit(Machine& m, const JobRow& job, const GangRow& gang, bool* by_trial) {
  *by_trial = false;
  if (!counts_reach(m.idle, gang)) {
    *by_trial = slots_reach(m.idle, gang);  // each profile alone would fit
    return false;
  }
  const bool gang_unit = gang.members.size() > 1;
  if (!gang_unit || !m.idle.any_unbound() ||
      (!m.idle.any_bound() && std::reduce(gang.demand.begin(), gang.demand.end(),
                                          std::int64_t{0}) <= m.idle.sure_total())) {
    return true;
  }
  // Preferences order the search, they never decide whether a gang fits an idle cluster: the trial
  // is on the idle ledger, whose ids are its own, so it runs without them.
  std::vector<Placed> placed;
  m.idle_placement->begin(m.idle);
  const Fit fit = trial(m, {m.idle, *m.idle_placement}, job, gang, placed);
  give_back(m.idle, *job.spec, shares_slots(m, gang.members.size()), placed);
  *by_trial = fit != Fit::fits;
  return fit == Fit::fits;
}

void begin_attempt(Step& s, GangId gang) {
  Machine& m = s.m;
  GangRow& row = m.gangs.edit(gang);
  const JobId job = row.job;
  leave_queue(m, gang);
  row.phase = GangPhase::running;
  row.unfinished = row.tasks;
  row.members_left = static_cast<std::int32_t>(row.members.size());
  row.told = true;
  ++row.attempt;
  row.attempt = planted(Mutant::c12) ? 0 : row.attempt;
  const std::vector<std::uint32_t> members = row.members;
  for (const std::uint32_t member : members) {
    renew_member(s, stage_of(m, job, member), row.attempt);
  }
  std::vector<std::int64_t> counts(row.demand.begin(), row.demand.end());
  counts.front() += planted(Mutant::log01) ? 1 : 0;
  s.write(
      model::GroupAdmitted{stage_ref(m, gang_leader(m, gang)), per_profile(m, counts, row.demand)});
  for (const std::uint32_t member : members) {
    const StageId stage = stage_of(m, job, member);
    if (planted(Mutant::log03) && member != members.front()) {
      continue;
    }
    s.write(model::StageSubmitted{stage_ref(m, stage), m.stages[stage].tasks, std::nullopt});
  }
}

// What has no tasks is finished at once (A19).
void settle_empty_attempt(Step& s, GangId gang) {
  Machine& m = s.m;
  if (m.gangs[gang].barrier) {
    attempt_maybe_over(s, gang_leader(m, gang));
  } else if (m.config.completion != model::Completion::group) {
    complete_empty_members(s, gang);
  } else if (m.gangs[gang].tasks == 0) {
    commit_group(s, gang);
  }
}

void admit_group(Step& s, GangId gang, std::span<const Placed> placed) {
  Machine& m = s.m;
  RH_CHECK(static_cast<std::int64_t>(placed.size()) == m.gangs[gang].tasks || planted(Mutant::mu07),
           m.gangs[gang].tasks);
  begin_attempt(s, gang);
  if (m.bulks.has(gang)) {
    turn_held(s, gang);
  }
  const JobId job = m.gangs[gang].job;
  const std::vector<std::uint32_t> members = m.gangs[gang].members;
  const bool shared = shares_slots(m, members.size());
  if (shared) {
    open_shares(s, gang, placed);
  }
  for (const std::uint32_t member : members) {
    if (planted(Mutant::mu06) && member != members.front()) {
      break;
    }
    // A trial places stage after stage, each by partition.
    const auto first = std::ranges::find(placed, member, &Placed::stage);
    for (auto task = first; task != placed.end() && task->stage == member; ++task) {
      if (planted(Mutant::act06) && task->partition > 0 && task + 1 == placed.end()) {
        break;
      }
      const RunId run = start_run(s, stage_of(m, job, member), task->partition, task->executor);
      if (shared) {
        join_share(m, gang, run);
      }
    }
  }
  if (shared) {
    tell_rests(s, gang);
  }
  settle_empty_attempt(s, gang);
}

namespace {

// A12 under `check`: all tasks of a barrier stage that was let in, or none.
void launch_together(Step& s, StageId stage) {
  Machine& m = s.m;
  const GangRow& gang = m.gangs[m.stages[stage].gang];
  const JobRow& job = m.jobs[gang.job];
  std::vector<Placed> placed;
  if (m.stages[stage].missing_inputs > 0) {
    fail_group(s, m.stages[stage].gang, model::Code::fetch_failed);
    return;
  }
  const bool fits = is_delayed(m, stage) ? placed_within_delay(s, stage, placed)
                                         : trial(m, {m.slots, *m.policies.placement, true}, job,
                                                 gang, placed) == Fit::fits;
  if (!fits) {
    return;
  }
  StageRow& row = m.stages.edit(stage);
  row.pending = 0;
  row.next_partition = row.tasks;
  m.queue.clear_pending(stage, ProfileId{std::uint32_t{row.profile}});
  for (const Placed& task : placed) {
    start_run(s, stage, task.partition, task.executor);
  }
}

struct Pass {
  Step& s;
  std::uint32_t cursor = 0;   // positions below it are dealt with
  std::int64_t examined = 0;  // gangs tried, A20
  bool head_found = false;
  Overtaking rule = Overtaking::anybody;   // for units behind the head
  Outlook outlook;                         // under Overtaking::harmless
  std::int64_t live_jobs = 0;              // when it began
  std::vector<StageId> ready_before = {};  // Machine::newly_ready when it began
  std::vector<std::int32_t> head_demand;
  std::vector<Placed> placed;
  std::vector<std::int64_t> have = {};  // before a gang took some of it and had to be refused (A2)
};

// What its kills free may be there at once, and what stood behind its gang may go on (A8): the rest
// is for the next pass.
bool a_job_ended(const Pass& pass) { return pass.s.m.counters.live_jobs != pass.live_jobs; }

// X16: a rerun waits. A11: what ran once with its pipelined edges keeps them, never both kinds.
model::Short short_rule_of(const Machine& m, const GangRow& row) {
  const bool too_late =
      m.config.admission.when_short == model::Short::fall_back && row.attempt >= 0;
  return row.patient || too_late ? model::Short::wait : m.config.admission.when_short;
}

// A6: it does not fit now.
void refuse(Pass& pass, StageId leader) {
  Machine& m = pass.s.m;
  const GangId gang = m.stages[leader].gang;
  GangRow& row = m.gangs.edit(gang);
  const JobId job = row.job;
  std::erase(m.newly_ready, leader);
  const model::Short short_rule = short_rule_of(m, row);
  const bool retries = short_rule == model::Short::retry && !row.starved;
  // What a rerun keeps back that waits as the head (X16) fits or not when its turn comes.
  const bool kept_back =
      pass.head_found && pass.rule != Overtaking::anybody && counts_reach(m.slots, row);
  const bool fails = short_rule == model::Short::fail && !kept_back;
  if (row.announced && !fails) {
    if (retries) {
      retry_or_give_up(pass.s, gang);
    }
    return;
  }
  row.announced = true;
  row.queued_at = m.now;
  const std::vector<std::int64_t> need(row.demand.begin(), row.demand.end());
  const model::PerProfile need_list = per_profile(m, need, row.demand);
  const std::vector<std::int64_t> have = pass.have.empty() ? slots_at_hand(m, row) : pass.have;
  const model::PerProfile have_list = per_profile(m, have, row.demand);
  if (fails) {
    end_job(pass.s, row.job,
            {model::JobOutcome::failed, model::Code::insufficient_slots,
             m.names->intern("the group does not fit now"), need_list, have_list});
    return;
  }
  row.told = true;
  pass.s.write(model::GroupQueued{job_name(m, row.job), stage_name(m, leader),
                                  model::QueuedReason::slots, need_list, have_list});
  if (retries) {
    retry_or_give_up(pass.s, gang);
  } else if (takes_piecewise(m)) {
    row.timer = set_timer(pass.s, {{}, TimerKind::bulk, row.job, row.leader, none_u32},
                          m.config.admission.bulk_timeout);
  } else if (short_rule == model::Short::fall_back && !row.barrier) {
    if (m.config.admission.fall_back_after == 0) {
      dissolve(pass.s, gang);
      // Its members are units now, which numbers the queue anew: it goes on with the first of them.
      pass.cursor = m.jobs.has(job) ? m.queue.position(leader) : pass.cursor;
    } else {
      row.timer = set_timer(pass.s, {{}, TimerKind::fall_back, row.job, row.leader, none_u32},
                            m.config.admission.fall_back_after);
    }
  }
}

// A17, for a gang behind the head: all its tasks together.
bool all_harmless(Pass& pass, JobId job, bool shared) {
  Machine& m = pass.s.m;
  Outlook outlook = pass.outlook;
  if (shared) {
    const bool harmless = shares_are_harmless(m, outlook, job, pass.placed);
    pass.outlook = harmless ? std::move(outlook) : pass.outlook;
    return harmless;
  }
  for (const Placed& task : pass.placed) {
    if (!is_harmless(m, outlook, stage_of(m, job, task.stage), task.partition, task.executor)) {
      return false;
    }
  }
  pass.outlook = std::move(outlook);
  return true;
}

// A9: what stands before this gang had its turn in this pass. What stands behind it, if it is the
// head and nobody may overtake, cannot take what it claims, and would keep it waiting for ever.
bool claims_in_vain(const Pass& pass, StageId leader) {
  const Machine& m = pass.s.m;
  const GangRow& row = m.gangs[m.stages[leader].gang];
  if (m.config.admission.capacity != model::Capacity::free_and_unclaimed || pass.head_found ||
      short_rule_of(m, row) == model::Short::fail ||
      m.config.admission.when_short == model::Short::retry) {
    return false;
  }
  const HeadView head{unit_view(m, leader), row.announced ? m.now - row.queued_at : 0};
  return m.policies.overtake->rule(head) != Overtaking::anybody;
}

bool try_gang(Pass& pass, StageId leader) {
  Machine& m = pass.s.m;
  const GangId gang = m.stages[leader].gang;
  const GangRow& row = m.gangs[gang];
  if (planted(Mutant::m66) && passes_check(m, row, capacity_now(m, row))) {
    admit_without_slots(pass.s, gang);
    return true;
  }
  if (planted(Mutant::mu02) && pass.have.empty()) {
    pass.have = capacity_now(m, row);
  }
  if (m.config.admission.hold == model::Hold::check) {
    const Claims claims = claims_in_vain(pass, leader) ? Claims::of_gangs : Claims::of_all;
    // A17: a check places no task, so nothing says that they would end before the head's start;
    // once in, the gang's claims would keep the head from what its tasks may not take.
    const bool harmful = pass.head_found && pass.rule == Overtaking::harmless;
    if (row.starved || harmful) {
      return false;
    }
    const std::vector<std::int64_t> have =
        planted(Mutant::mu02) ? pass.have : capacity_now(m, row, claims);
    if (!passes_check(m, row, have)) {
      return false;
    }
    admit_without_slots(pass.s, gang);
    return true;
  }
  const std::uint64_t freed = freed_for(m, row);
  if (row.starved || !counts_reach(m.slots, row) || (row.refused && row.refused_at == freed)) {
    return false;
  }
  const JobRow& job = m.jobs[row.job];
  if (trial(m, {m.slots, *m.policies.placement, true}, job, row, pass.placed) != Fit::fits) {
    if (pass.rule == Overtaking::anybody) {
      // Behind a head it would have seen a part of the slots only.
      GangRow& edited = m.gangs.edit(gang);
      edited.refused = true;
      edited.refused_at = freed;
    }
    return false;
  }
  if (pass.rule == Overtaking::harmless &&
      !all_harmless(pass, row.job, shares_slots(m, row.members.size()))) {
    if (!planted(Mutant::mu28)) {
      give_back(m.slots, *job.spec, shares_slots(m, row.members.size()), pass.placed);
    }
    return false;
  }
  admit_group(pass.s, gang, pass.placed);
  return true;
}

void become_head(Pass& pass, StageId leader) {
  Machine& m = pass.s.m;
  const GangRow& row = m.gangs[m.stages[leader].gang];
  const HeadView head{unit_view(m, leader), m.now - row.queued_at};
  pass.head_found = true;
  pass.head_demand = row.demand;
  pass.rule = m.policies.overtake->rule(head);
  m.slots.show_bound_only(pass.rule == Overtaking::nobody);
  if (pass.rule == Overtaking::harmless) {
    pass.outlook = look_ahead(m, row);
  }
}

bool profile_open(const Pass& pass, ProfileId profile) {
  if (pass.rule != Overtaking::nobody) {
    return true;  // free slots decide, and the outlook
  }
  return pass.head_demand[profile.index()] == 0 && pass.s.m.slots.most_free(profile).valid();
}

// Behind a head that nobody may overtake, a gang may still use profiles the head does not demand.
bool gang_open(const Pass& pass, const GangRow& gang) {
  for (std::size_t p = 0; p < gang.demand.size(); ++p) {
    if (gang.demand[p] > 0 && !profile_open(pass, ProfileId{p})) {
      return false;
    }
  }
  return true;
}

bool anything_free(const Machine& m) {
  return std::ranges::any_of(m.slots.free_totals(), [](std::int64_t n) { return n > 0; });
}

// The next gang to look at: until the head is known every waiting gang, then those whose demand the
// free slots reach (all while there are any, where a part is enough), and in any case those that no
// pass has looked at.
std::uint32_t next_gang(const Pass& pass) {
  const Machine& m = pass.s.m;
  if (pass.examined >= m.config.admission.depth) {
    return no_position;
  }
  std::uint32_t next = no_position;
  if (!pass.head_found || m.config.admission.hold == model::Hold::check) {
    next = m.queue.next_waiting(pass.cursor);
  } else if (takes_piecewise(m)) {
    next = anything_free(m) ? m.queue.next_waiting(pass.cursor) : no_position;
  } else if (pass.rule != Overtaking::nobody || m.slots.any_bound()) {
    next = m.queue.next_fitting(pass.cursor, m.slots.free_totals(), Units{m});
  }
  return next;
}

// A2 bulk: it takes what is free of what it lacks; true if that was all and it is admitted.
bool visit_bulk(Pass& pass, StageId leader) {
  Machine& m = pass.s.m;
  const GangId gang = m.stages[leader].gang;
  pass.placed.clear();
  if (m.gangs[gang].starved || !could_take(m, gang)) {
    return false;
  }
  ++pass.examined;  // A20
  if (!gang_open(pass, m.gangs[gang]) && pass.head_found) {
    return false;
  }
  if (!m.gangs[gang].announced) {
    pass.have = slots_at_hand(m, m.gangs[gang]);
  }
  if (!take_free(m, gang, pass.placed)) {
    return false;
  }
  pass.have.clear();
  admit_bulk(pass.s, gang, pass.placed);
  return true;
}

bool visit_whole(Pass& pass, StageId leader) {
  Machine& m = pass.s.m;
  const GangId gang = m.stages[leader].gang;
  pass.examined += counts_reach(m.slots, m.gangs[gang]) ? 1 : 0;  // A20: beyond those excluded
  if (gang_open(pass, m.gangs[gang]) || !pass.head_found) {
    if (try_gang(pass, leader)) {
      if (m.config.admission.hold == model::Hold::check) {
        pass.cursor = m.queue.position(leader);  // its tasks are launched in this pass
      }
      return true;
    }
  }
  return false;
}

void visit_gang(Pass& pass, StageId leader) {
  Machine& m = pass.s.m;
  if (takes_piecewise(m) ? visit_bulk(pass, leader) : visit_whole(pass, leader)) {
    return;
  }
  if (planted(Mutant::mu05) && m.slots.most_free(ProfileId{0U}).valid()) {
    m.slots.take(m.slots.most_free(ProfileId{0U}), ProfileId{0U});
  }
  const GangId gang = m.stages[leader].gang;
  const JobId job = m.gangs[gang].job;
  const bool starved = m.gangs[gang].starved;
  refuse(pass, leader);
  if (takes_piecewise(m)) {
    pass.have.clear();
    hold_taken(pass.s, gang, pass.placed);
  }
  const bool waits =
      m.jobs.has(job) && m.jobs[job].phase == JobPhase::live && m.stages[leader].gang.valid();
  const bool may_lead = m.config.admission.when_short != model::Short::retry;  // A16
  if (waits && may_lead && !starved && !pass.head_found) {
    become_head(pass, leader);
  }
}

// Gangs that had become ready before the pass and were not looked at above: refused, in queue
// order. Those that became ready in it are for the next, which may find that they fit.
void announce_rest(Pass& pass) {
  Machine& m = pass.s.m;
  std::vector<StageId> rest;
  for (const StageId leader : pass.ready_before) {
    if (std::ranges::find(m.newly_ready, leader) != m.newly_ready.end()) {
      rest.push_back(leader);  // others were looked at, or left the queue with their job
    }
  }
  std::ranges::sort(rest, {}, [&m](StageId leader) { return m.queue.position(leader); });
  for (const StageId leader : rest) {
    if (pass.examined >= m.config.admission.depth || a_job_ended(pass)) {
      return;
    }
    if (std::ranges::find(m.newly_ready, leader) != m.newly_ready.end()) {
      refuse(pass, leader);
    }
  }
}

void launch_unit(Pass& pass, StageId unit) {
  Step& s = pass.s;
  Outlook* outlook = pass.rule == Overtaking::harmless ? &pass.outlook : nullptr;
  const GangId gang = s.m.stages[unit].gang;
  const bool phased = s.m.config.start == model::Start::phased && gang.valid();
  if (phased && is_held_back(s.m, unit)) {
    return;
  }
  if (gang.valid() && s.m.gangs[gang].barrier) {
    launch_together(s, unit);
  } else if (is_delayed(s.m, unit) || chooses_places(s.m, unit)) {
    launch_delayed(s, unit, outlook);
  } else if (takes_slices(s.m, unit)) {
    launch_slices(s, unit, outlook);
  } else {
    launch_pending(s, unit, outlook);
  }
  // What stood before it in the queue may have waited for its last launch.
  s.m.wants_pass = s.m.wants_pass || (phased && s.m.stages[unit].pending == 0);
}

bool may_launch(const Pass& pass, ProfileId profile) {
  return pass.s.m.slots.free_total(profile) > 0 && profile_open(pass, profile);
}

// Units in the order of the queue's positions.
void visit_in_queue_order(Pass& pass) {
  Machine& m = pass.s.m;
  while (!a_job_ended(pass)) {
    std::uint32_t next = no_position;
    for (std::size_t p = 0; p < m.slots.profile_count(); ++p) {
      if (may_launch(pass, ProfileId{p})) {
        next = std::min(next, m.queue.next_pending(ProfileId{p}, pass.cursor));
      }
    }
    const std::uint32_t gang = next_gang(pass);
    next = std::min(next, gang);
    if (next == no_position) {
      return;
    }
    pass.cursor = next + 1;
    const StageId unit = m.queue.unit_at(next);
    next == gang ? visit_gang(pass, unit) : launch_unit(pass, unit);
  }
}

// Units in the order that `fair` gives this pass.
void visit_in_fair_order(Pass& pass) {
  Machine& m = pass.s.m;
  for (const StageId unit : fair_order(m)) {
    if (a_job_ended(pass)) {
      return;
    }
    const StageRow& row = m.stages[unit];
    const bool waits = row.gang.valid() && m.gangs[row.gang].phase == GangPhase::slots &&
                       !m.gangs[row.gang].resting && !m.gangs[row.gang].starved;
    if (waits && pass.examined < m.config.admission.depth) {
      visit_gang(pass, unit);
    } else if ((row.pending > 0 || copies_due(m, unit)) &&
               may_launch(pass, ProfileId{std::uint32_t{row.profile}})) {
      launch_unit(pass, unit);
    }
  }
}

}  // namespace

void pass(Step& s) {
  Machine& m = s.m;
  m.wants_pass = false;
  const std::int64_t launches = m.counters.launches;
  m.policies.placement->begin(m.slots);
  Pass pass{
      .s = s, .outlook = {}, .live_jobs = m.counters.live_jobs, .head_demand = {}, .placed = {}};
  if (m.config.speculation) {
    take_ticks(s);
  }
  start_reruns(s);
  pass.ready_before = m.newly_ready;
  if (m.config.admission.queue == model::QueueOrder::fair) {
    visit_in_fair_order(pass);
  } else {
    visit_in_queue_order(pass);
  }
  m.slots.show_bound_only(false);
  announce_rest(pass);
  if (m.config.speculation) {
    arm_ticks(s);
  }
  if (!m.excluding.empty()) {
    judge_schedulable(s, launches);
  }
  m.wants_pass = m.wants_pass || a_job_ended(pass);
}

}  // namespace rehearse::scheduler
