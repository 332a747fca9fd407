// Executors coming, going and being held, and the units that no executor can serve any more (A14).
#include <algorithm>

#include "model/support/draw.hpp"
#include "scheduler/bulk.hpp"
#include "scheduler/duties.hpp"
#include "scheduler/speculation.hpp"

namespace rehearse::scheduler {

namespace {

void update_offers(Machine& m, ExecutorId executor) {
  const ExecutorRow& row = m.executors[executor];
  bool offers = row.phase == ExecutorPhase::live && row.holds == 0 && !row.draining;
  const bool canary = planted(Mutant::mu60) && m.seed % 100 == 0;
  offers = offers || (row.phase == ExecutorPhase::live &&
                      ((planted(Mutant::mu22) && row.holds == 0) || canary));
  if (offers && !m.slots.is_open(executor)) {
    m.slots.open(executor);
    m.wants_pass = m.wants_pass || !planted(Mutant::c10);
  } else if (!offers && m.slots.is_open(executor)) {
    m.slots.close(executor);
    m.wants_pass = m.wants_pass || m.keeps_expected_ends;  // A17: the head may have to wait longer
  }
}

void forget_from(std::unordered_map<std::uint32_t, std::vector<ExecutorId>>& map,
                 model::NameId name, ExecutorId executor) {
  if (const auto found = map.find(name.value); found != map.end()) {
    std::erase(found->second, executor);
  }
}

void close_idle(Machine& m, std::uint32_t idle_index) {
  if (m.idle.is_open(ExecutorId{idle_index})) {
    m.idle.close(ExecutorId{idle_index});
  }
}

}  // namespace

void expect_executor(Machine& m, const model::ExecutorSpec& spec) {
  const ExecutorId idle =
      m.idle.add(spec.resources, spec.profile, model::name_key(m.names->text(spec.name)));
  m.idle.open(idle);
  reserve_first(m.expected_at);
  m.expected_at.push_back(static_cast<std::uint32_t>(m.expected.size()));
  reserve_first(m.expected);
  m.expected.push_back({spec, idle.value, true});
  Place& host = m.place_by_name[spec.host.value];
  host.host = spec.host;
  if (spec.rack.valid() && std::ranges::find(host.racks, spec.rack) == host.racks.end()) {
    host.racks.push_back(spec.rack);
  }
  m.place_by_name[spec.name.value] = {
      spec.host, spec.rack.valid() ? std::vector{spec.rack} : std::vector<model::NameId>{}};
}

namespace {

// Executors are numbered by join (A15), so those that are still due come after one that nobody
// expected: also on the idle cluster, whose trial would otherwise find what no trial finds later.
void number_due_last(Machine& m) {
  for (std::size_t i = 0; i + 1 < m.expected.size(); ++i) {
    ExpectedRow& row = m.expected[i];
    if (row.due) {
      close_idle(m, row.idle_index);
      row.idle_index = m.idle
                           .add(row.spec.resources, row.spec.profile,
                                model::name_key(m.names->text(row.spec.name)))
                           .value;
      m.idle.open(ExecutorId{row.idle_index});
      m.expected_at.push_back(static_cast<std::uint32_t>(i));
    }
  }
}

// One that joins before others that were to come first takes the first of their numbers.
void number_as_next(Machine& m, ExpectedRow& joining) {
  const auto is_due = [&m](std::uint32_t idle) {
    const ExpectedRow& row = m.expected[m.expected_at[idle]];
    return row.due && row.idle_index == idle;
  };
  while (!is_due(m.due_from)) {
    ++m.due_from;  // `joining` itself is due, so this ends
  }
  if (m.due_from == joining.idle_index) {
    return;
  }
  ExpectedRow& first = m.expected[m.expected_at[m.due_from]];
  m.idle.exchange(ExecutorId{first.idle_index}, ExecutorId{joining.idle_index});
  std::swap(m.expected_at[first.idle_index], m.expected_at[joining.idle_index]);
  std::swap(first.idle_index, joining.idle_index);
}

}  // namespace

void give_up_executor(Step& s, ExpectedId expected) {
  ExpectedRow& row = s.m.expected[expected.index()];
  if (row.due) {
    row.due = false;
    close_idle(s.m, row.idle_index);
    judge_starvation_after_loss(s);
  }
}

void join_executor(Step& s, const JoinExecutor& input) {
  Machine& m = s.m;
  if (!input.expected.valid()) {
    expect_executor(m, input.spec);
    number_due_last(m);
  }
  ExpectedRow& expected =
      input.expected.valid() ? m.expected[input.expected.index()] : m.expected.back();
  RH_CHECK(expected.due, input.expected.value);
  number_as_next(m, expected);
  expected.due = false;
  const model::ExecutorSpec& spec = expected.spec;
  ExecutorRow row;
  row.name = spec.name;
  row.host = spec.host;
  row.rack = spec.rack;
  row.bound = spec.profile;
  row.speed_milli = spec.speed_milli;
  row.phase = ExecutorPhase::live;
  row.idle_index = expected.idle_index;
  const ExecutorId executor = m.executors.add(row);
  RH_CHECK(m.slots.add(spec.resources, spec.profile, model::name_key(m.names->text(spec.name))) ==
               executor,
           executor.value);
  m.by_name[spec.name.value] = executor;
  m.on_host[spec.host.value].push_back(executor);
  if (spec.rack.valid()) {
    m.on_rack[spec.rack.value].push_back(executor);
  }
  update_offers(m, executor);
  judge_starvation_after_join(s);
}

void hold_executor(Step& s, const HoldExecutor& input) {
  Machine& m = s.m;
  ExecutorRow& row = m.executors.edit(input.executor);
  if (row.phase != ExecutorPhase::live) {
    return;
  }
  if (takes_piecewise(m)) {
    if (!planted(Mutant::mu46)) {
      give_up_held_on(s, input.executor);
    }
  }
  if (input.cause == model::HoldCause::hold) {
    RH_CHECK(row.holds < 255, input.executor.value);
    ++row.holds;
    if (planted(Mutant::m50)) {
      close_idle(m, row.idle_index);
    }
    update_offers(m, input.executor);
    return;
  }
  if (!row.draining) {
    row.draining = true;
    update_offers(m, input.executor);
    close_idle(m, row.idle_index);
    m.wants_pass = m.wants_pass || !m.excluding.empty();  // SS-2.7: it may have been the last place
    if (m.config.speculation && m.engine.decommission_kill > 0) {
      row.draining_since = m.now;
      note_draining(m, input.executor);
    }
    judge_starvation_after_loss(s);
  }
}

void release_executor(Step& s, const ReleaseExecutor& input) {
  ExecutorRow& row = s.m.executors.edit(input.executor);
  if (row.holds > 0) {
    --row.holds;
    update_offers(s.m, input.executor);
  }
}

void close_executor(Machine& m, ExecutorId executor) {
  ExecutorRow& row = m.executors.edit(executor);
  row.phase = ExecutorPhase::lost;
  update_offers(m, executor);
  close_idle(m, row.idle_index);
  m.by_name.erase(row.name.value);
  forget_from(m.on_host, row.host, executor);
  forget_from(m.on_rack, row.rack, executor);
  // A8: without it tasks that preferred it have fewer levels to wait for (SS-2.5), or no place that
  // is not excluded (SS-2.7).
  m.wants_pass = m.wants_pass || m.config.locality_wait > 0 || !m.excluding.empty();
}

namespace {

// A singleton, or a member whose tasks wait for slots one by one (A2 check and none, X1 counted).
// While all that is left of an attempt runs, it demands nothing.
bool waits_for_a_slot(const StageRow& row) {
  if (!row.used) {
    return false;
  }
  if (row.phase == StagePhase::running) {
    return row.pending > 0;
  }
  const bool comes = row.phase == StagePhase::waiting || row.phase == StagePhase::stalled;
  return comes && !row.gang.valid() && row.done < row.tasks;
}

}  // namespace

bool exceeds_capacity(Machine& m, StageId leader) {
  const StageRow& row = m.stages[leader];
  const bool together = row.gang.valid() && m.gangs[row.gang].barrier;  // A12, let in or not
  if (!row.gang.valid() || (row.phase == StagePhase::running && !together)) {
    return waits_for_a_slot(row) && m.idle.free_total(ProfileId{std::uint32_t{row.profile}}) == 0;
  }
  bool by_trial = false;
  return m.gangs[row.gang].tasks > 0 &&
         !could_ever_fit(m, m.jobs[row.job], m.gangs[row.gang], &by_trial);
}

namespace {

void starve(Step& s, StageId leader) {
  Machine& m = s.m;
  StageRow& row = m.stages.edit(leader);
  row.starved = true;
  m.starved.push_back(leader);
  if (row.gang.valid() && row.phase != StagePhase::running) {
    m.gangs.edit(row.gang).starved = true;
    m.queue.clear_waiting(leader, Units{m});
    m.wants_pass = true;  // A8: it keeps nobody back any more
  }
  JobRow& job = m.jobs.edit(row.job);
  if (job.starved_units++ == 0) {
    const TimerRow timer{{}, TimerKind::grace, row.job, 0, none_u32};
    job.grace = set_timer(s, timer, m.config.no_executor_grace);
  }
}

}  // namespace

void judge_starvation_after_loss(Step& s) {
  Machine& m = s.m;
  std::vector<StageId> suspects = m.queued_gangs;
  for (const RerunRow& rerun : m.reruns) {  // "ready or not": before their delay is over, too
    if (lives(m, rerun.job)) {
      suspects.push_back(stage_of(m, rerun.job, rerun.leader));
    }
  }
  bool profile_gone = false;
  for (std::size_t p = 0; p < m.idle.profile_count(); ++p) {
    profile_gone = profile_gone || m.idle.free_total(ProfileId{p}) == 0;
  }
  // Rare: only then can a singleton starve. Under `check` a barrier stage waits for all its slots
  // when it is in, too.
  if (profile_gone || m.config.admission.hold == model::Hold::check) {
    for (std::size_t i = 0; i < m.stages.size(); ++i) {
      const StageId stage{i};
      if (waits_for_a_slot(m.stages[stage]) &&
          m.jobs[m.stages[stage].job].phase == JobPhase::live) {
        suspects.push_back(stage);
      }
    }
  }
  std::ranges::sort(suspects, {}, [&m](StageId leader) { return m.queue.position(leader); });
  for (const StageId leader : suspects) {
    judge_starvation(s, leader);
  }
}

void judge_starvation(Step& s, StageId leader) {
  if (!s.m.stages[leader].starved && exceeds_capacity(s.m, leader)) {
    starve(s, leader);
  }
}

void judge_starvation_after_join(Step& s) {
  Machine& m = s.m;
  std::vector<StageId> starved = m.starved;
  std::ranges::sort(starved, {}, [&m](StageId leader) { return m.queue.position(leader); });
  for (const StageId leader : starved) {
    if (exceeds_capacity(m, leader)) {
      continue;
    }
    no_longer_starved(m, leader);
    const GangId gang = m.stages[leader].gang;
    if (gang.valid() && m.gangs[gang].phase == GangPhase::slots) {
      m.queue.set_waiting(leader, Units{m});
      m.wants_pass = true;
    }
  }
}

void no_longer_starved(Machine& m, StageId leader) {
  StageRow& row = m.stages.edit(leader);
  if (!row.starved) {
    return;
  }
  row.starved = false;
  std::erase(m.starved, leader);
  if (row.gang.valid()) {
    m.gangs.edit(row.gang).starved = false;
  }
  JobRow& job = m.jobs.edit(row.job);
  if (--job.starved_units == 0) {
    void_timer(m, job.grace);
    job.grace = TimerId{};
  }
}

}  // namespace rehearse::scheduler
