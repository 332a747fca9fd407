// Dispatch of inputs, timers, digest and probe; every duty lives in its own file.
#include "scheduler/core.hpp"

#include <algorithm>

#include "scheduler/accounting.hpp"
#include "scheduler/bulk.hpp"
#include "scheduler/duties_data.hpp"
#include "scheduler/places.hpp"

namespace rehearse::scheduler {

Machine::Machine(const Machine& other)
    : config(other.config),
      names(other.names),
      profile_names(other.profile_names),
      autoscaling(other.autoscaling),
      seed(other.seed),
      engine(other.engine),
      expected_launch(other.expected_launch),
      expected_status(other.expected_status),
      now(other.now),
      policies(other.policies),
      idle_placement(other.idle_placement->clone()),
      slots(other.slots),
      idle(other.idle),
      executors(other.executors),
      expected(other.expected),
      expected_at(other.expected_at),
      due_from(other.due_from),
      jobs(other.jobs),
      stages(other.stages),
      colds(other.colds),
      free_colds(other.free_colds),
      gangs(other.gangs),
      runs(other.runs),
      shares(other.shares),
      share_of(other.share_of),
      bulks(other.bulks),
      timers(other.timers),
      next_timer(other.next_timer),
      next_stage_number(other.next_stage_number),
      queue(other.queue),
      newly_ready(other.newly_ready),
      queued_gangs(other.queued_gangs),
      reruns(other.reruns),
      starved(other.starved),
      outputs_on(other.outputs_on),
      by_name(other.by_name),
      on_host(other.on_host),
      on_rack(other.on_rack),
      place_by_name(other.place_by_name),
      keeps_expected_ends(other.keeps_expected_ends),
      wants_task_keys(other.wants_task_keys),
      expected_ends(other.expected_ends),
      expected_end_of(other.expected_end_of),
      speculated(other.speculated),
      started_at(other.started_at),
      speculation_changed(other.speculation_changed),
      excluding(other.excluding),
      wants_pass(other.wants_pass),
      outputs_digest(other.outputs_digest),
      counters(other.counters) {}

TimerId set_timer(Step& s, TimerRow row, model::Duration delay) {
  row.id = TimerId{s.m.next_timer++};
  s.m.timers.push_back(row);
  s.out.list.emplace_back(SetTimer{row.id, row.job, delay});
  return row.id;
}

void void_timer(Machine& m, TimerId timer) {
  std::erase_if(m.timers, [timer](const TimerRow& row) { return row.id == timer; });
}

namespace {

std::uint64_t timers_hash(const Machine& m) {
  std::uint64_t sum = 0;
  for (const TimerRow& timer : m.timers) {
    sum += hash_of(
        {timer.id.value, bits(timer.kind), timer.job.value, timer.consumer, timer.producer});
  }
  return sum;
}

std::uint64_t reruns_hash(const Machine& m) {
  std::uint64_t sum = 0;
  for (const RerunRow& row : m.reruns) {
    sum += hash_of({row.job.value, row.leader, row.dying.size(), row.delay_over ? 1U : 0U});
  }
  return sum;
}

std::uint64_t speculations_hash(const Machine& m) {
  std::uint64_t sum = 0;
  for (const auto& [stage, row] : m.speculated) {
    sum += hash_of({stage.value, bits(row.finished_min), row.low.size() + row.high.size(),
                    row.due.size(), row.alone.size(), row.pairs.size(), row.over.size(),
                    row.tick.value});
  }
  return sum;
}

std::uint64_t policies_hash(const Machine& m) {
  return hash_of(
      {m.policies.queue->digest(), m.policies.overtake->digest(), m.policies.placement->digest()});
}

}  // namespace

std::uint64_t digest(Machine& m) {
  return m.slots.digest() + m.idle.digest() * 3 + m.executors.digest() * 5 + m.jobs.digest() * 7 +
         m.stages.digest() * 11 + m.gangs.digest() * 13 + m.runs.digest() * 17 +
         m.outputs_digest * 19 + timers_hash(m) * 23 + policies_hash(m) * 29 + reruns_hash(m) * 31 +
         speculations_hash(m) * 37 + m.shares.digest() * 41 + exclusion_hash(m) * 43 +
         m.bulks.digest() * 47;
}

namespace {

std::uint64_t full_outputs_hash(const Machine& m) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < m.stages.size(); ++i) {
    const StageId stage{i};
    if (!m.stages[stage].used || m.stages[stage].cold == none_u32) {
      continue;
    }
    const std::vector<std::uint32_t>& outputs = m.colds[m.stages[stage].cold].outputs;
    for (std::size_t p = 0; p < outputs.size(); ++p) {
      sum += outputs[p] == none_u32 ? 0 : hash_of({stage.value, p, outputs[p]});
    }
  }
  return sum;
}

}  // namespace

std::uint64_t full_digest(const Machine& m) {
  return m.slots.full_digest() + m.idle.full_digest() * 3 + m.executors.full_digest() * 5 +
         m.jobs.full_digest() * 7 + m.stages.full_digest() * 11 + m.gangs.full_digest() * 13 +
         m.runs.full_digest() * 17 + full_outputs_hash(m) * 19 + timers_hash(m) * 23 +
         policies_hash(m) * 29 + reruns_hash(m) * 31 + speculations_hash(m) * 37 +
         m.shares.full_digest() * 41 + exclusion_hash(m) * 43 + m.bulks.full_digest() * 47;
}

model::Probe probe(Machine& m, model::ProbeWhen when) {
  model::Probe line;
  line.when = when;
  line.digest = static_cast<std::int64_t>(digest(m));
  line.jobs = m.counters.live_jobs;
  line.groups = m.counters.live_gangs;
  line.reservations = rests(m) + holding_gangs(m);  // no others outlive their step
  line.deferred = m.counters.deferred;
  line.authorizations = m.counters.authorizations;
  line.timers = static_cast<std::int64_t>(m.timers.size());
  line.busy = m.counters.busy;
  line.free.reserve(m.slots.profile_count());
  for (std::size_t p = 0; p < m.slots.profile_count(); ++p) {
    line.free.push_back({m.profile_names[p], m.slots.free_total(ProfileId{p})});
  }
  line.launches = m.counters.launches;
  line.kills = m.counters.kills;
  return line;
}

namespace {

void fail_stuck_jobs(Step& s) {
  Machine& m = s.m;
  std::vector<JobId> live;
  for (std::size_t i = 0; i < m.jobs.size(); ++i) {
    const JobId job{i};
    if (m.jobs.has(job) && m.jobs[job].phase == JobPhase::live) {
      live.push_back(job);
    }
  }
  std::ranges::sort(live, {},
                    [&m](JobId job) { return std::pair{m.jobs[job].submitted, m.jobs[job].rank}; });
  for (const JobId job : live) {
    end_job(s, job,
            {model::JobOutcome::failed, model::Code::deadlock,
             m.names->intern("nothing can happen any more"), std::nullopt, std::nullopt});
  }
}

struct Dispatch {
  Step& s;

  void operator()(const SubmitJob& input) const { submit_job(s, input); }
  void operator()(const CancelJob& input) const {
    if (s.m.jobs.has(input.job) && s.m.jobs[input.job].phase == JobPhase::live) {
      end_job(
          s, input.job,
          {model::JobOutcome::cancelled, model::Code::cancelled, {}, std::nullopt, std::nullopt});
    }
  }
  void operator()(const ForgetJob& input) const { forget_job(s.m, input.job); }
  void operator()(const ExpectExecutor& input) const { expect_executor(s.m, input.spec); }
  void operator()(const GiveUpExecutor& input) const { give_up_executor(s, input.expected); }
  void operator()(const JoinExecutor& input) const { join_executor(s, input); }
  void operator()(const LoseExecutor& input) const { lose_executor(s, input); }
  void operator()(const HoldExecutor& input) const { hold_executor(s, input); }
  void operator()(const ReleaseExecutor& input) const { release_executor(s, input); }
  void operator()(const TaskEnded& input) const { task_ended(s, input); }
  void operator()(const KillEffective& input) const {
    if (s.m.runs.has(input.run) && s.m.runs[input.run].dying) {
      free_run(s, input.run);
    }
  }
  void operator()(const TimerFired& input) const { timer_fired(s, input.timer); }
  void operator()(const CommitAsked& input) const { commit_asked(s, input); }
  void operator()(const CommitEnded& input) const { commit_ended(s.m, input); }
  void operator()(const CachePartition& input) const {
    cache_partitions(s.m, input.job, {&input.partition, 1});
  }
  void operator()(const MoveOutput& input) const { move_output(s.m, input); }
  void operator()(const Exclude& input) const { exclude(s.m, input); }
  void operator()(const Stuck& /*input*/) const { fail_stuck_jobs(s); }
};

}  // namespace

Core::Core(const CoreOptions& options, const PolicySet& policies)
    : machine_(std::make_unique<Machine>(options.config)) {
  RH_CHECK(options.names != nullptr);
  RH_CHECK(policies.queue && policies.overtake && policies.placement);
  Machine& m = *machine_;
  m.names = options.names;
  m.profile_names = options.profile_names;
  m.autoscaling = options.autoscaling;
  m.seed = options.seed;
  m.engine = options.engine;
  m.expected_launch = options.expected_launch;
  m.expected_status = options.expected_status;
  m.keeps_expected_ends = policies.overtake->looks_ahead();
  m.wants_task_keys = policies.placement->wants_task_key();
  m.policies = policies;
  m.idle_placement = policies.placement->clone();
  const std::int64_t factor =
      options.config.slots == model::SlotsAxis::shared ? options.config.slots_factor : 1;
  m.slots = Ledger(options.profile_tasks, factor);
  m.idle = Ledger(options.profile_tasks, factor);
  m.queue = UnitQueue(options.profile_tasks.size());
}

Core::Core(const Core& other) : machine_(std::make_unique<Machine>(*other.machine_)) {}

Core& Core::operator=(const Core& other) {
  if (this != &other) {
    machine_ = std::make_unique<Machine>(*other.machine_);
  }
  return *this;
}

Core::Core(Core&&) noexcept = default;
Core& Core::operator=(Core&&) noexcept = default;
Core::~Core() = default;

void Core::set_now(model::Instant now) { machine_->now = now; }

void Core::step(const Input& input, Actions& out) {
  Step s{*machine_, out};
  std::visit(Dispatch{s}, input);
}

void Core::prefetch_run(RunId run) const { machine_->runs.prefetch(run); }

void Core::prefetch_end(RunId run) const {
  const Machine& m = *machine_;
  if (!m.runs.has(run)) {
    return;
  }
  const RunRow& row = m.runs[run];
  m.executors.prefetch(row.executor);
  m.slots.prefetch(row.executor);
  const std::uint32_t cold = m.stages[row.stage].cold;
  const auto partition = static_cast<std::size_t>(row.partition);
  if (cold != none_u32 &&
      partition < m.colds[cold].outputs.size()) {  // else: of a job that is over
    __builtin_prefetch(&m.colds[cold].outputs[partition]);
  }
}

bool Core::is_set(TimerId timer) const {
  return std::ranges::binary_search(machine_->timers, timer, {}, &TimerRow::id);
}

bool Core::wants_pass() const { return machine_->wants_pass; }

void Core::pass(Actions& out) {
  Step s{*machine_, out};
  scheduler::pass(s);
}

void Core::offer(const OfferRound& round, Actions& out) {
  Step s{*machine_, out};
  scheduler::offer(s, round);
}

std::int64_t Core::outstanding(ProfileId profile, std::span<const StageOfJob> except) const {
  std::vector<StageId> stages;
  for (const StageOfJob& one : except) {
    RH_CHECK(lives(*machine_, one.job), one.job.value);
    stages.push_back(stage_of(*machine_, one.job, one.stage.value));
  }
  return scheduler::outstanding(*machine_, stages)[profile.index()];
}

StageReport Core::report(JobId job, StageIndex stage) const {
  return scheduler::report(*machine_, job, stage);
}

Backlog Core::backlog() const { return scheduler::backlog(*machine_); }

bool Core::holds_needed_outputs(ExecutorId executor) const {
  return scheduler::holds_needed_outputs(*machine_, executor);
}

model::Probe Core::probe(model::ProbeWhen when) { return scheduler::probe(*machine_, when); }

std::uint64_t Core::digest() { return scheduler::digest(*machine_); }

std::uint64_t Core::full_digest() const { return scheduler::full_digest(*machine_); }

bool Core::operator==(const Core& other) const {
  const Machine& l = *machine_;
  const Machine& r = *other.machine_;
  return l.config == r.config && l.slots == r.slots && l.idle == r.idle &&
         l.executors == r.executors && l.expected == r.expected && l.jobs == r.jobs &&
         l.stages == r.stages && l.colds == r.colds && l.free_colds == r.free_colds &&
         l.gangs == r.gangs && l.runs == r.runs && l.shares == r.shares && l.bulks == r.bulks &&
         l.timers == r.timers && l.next_timer == r.next_timer && l.newly_ready == r.newly_ready &&
         l.queued_gangs == r.queued_gangs && l.reruns == r.reruns && l.starved == r.starved &&
         l.speculated == r.speculated && l.started_at == r.started_at &&
         l.speculation_changed == r.speculation_changed && l.excluding == r.excluding &&
         l.wants_pass == r.wants_pass;
}

}  // namespace rehearse::scheduler
