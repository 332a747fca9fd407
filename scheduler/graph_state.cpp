// Stages and groups of live jobs: their rows, when their inputs are there (A1), what is wanted
// again after a loss (X9, X15), and stages that stand for those of other jobs.
#include <algorithm>
#include <bit>

#include "scheduler/bulk.hpp"
#include "scheduler/duties_data.hpp"
#include "scheduler/speculation.hpp"

namespace rehearse::scheduler {

StageId StageTable::add_block(std::uint32_t count) {
  RH_CHECK(count > 0);
  const std::uint32_t size = std::bit_ceil(count);
  const auto size_class = static_cast<std::size_t>(std::countr_zero(size));
  if (free_.size() <= size_class) {
    free_.resize(size_class + 1);
  }
  StageId first;
  if (free_[size_class].empty()) {
    first = StageId{rows_.size()};
    rows_.resize(rows_.size() + size);
  } else {
    first = free_[size_class].back();
    free_[size_class].pop_back();
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    edit(StageId{first.value + i}).used = true;
  }
  return first;
}

void StageTable::remove_block(StageId first, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    StageRow& row = edit(StageId{first.value + i});  // marked now, and stays so
    row = StageRow{};
    row.dirty.on = true;
  }
  free_[static_cast<std::size_t>(std::countr_zero(std::bit_ceil(count)))].push_back(first);
}

namespace {

std::uint64_t stage_hash(const std::vector<StageRow>& rows, std::size_t row) {
  return rows[row].used ? rows[row].digest(row) : std::uint64_t{0};
}

}  // namespace

std::uint64_t StageTable::digest() {
  return digest_.settle(rows_.size(), [this](std::size_t row) {
    rows_[row].dirty.on = false;
    return stage_hash(rows_, row);
  });
}

std::uint64_t StageTable::full_digest() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    sum += stage_hash(rows_, i);
  }
  return sum;
}

StageId stage_of(const Machine& m, JobId job, std::uint32_t index) {
  const JobRow& row = m.jobs[job];
  RH_CHECK(index < row.stages, index, row.stages);
  return StageId{row.first_stage.value + index};
}

model::NameId job_name(const Machine& m, JobId job) { return m.jobs[job].spec->name; }

const model::StageSpec& spec_of(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  return m.jobs[row.job].spec->stages[row.index];
}

model::NameId stage_name(const Machine& m, StageId stage) { return spec_of(m, stage).name; }

model::StageRef stage_ref(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  model::StageRef ref{job_name(m, row.job), stage_name(m, stage), std::nullopt};
  if (row.attempt >= 0) {
    ref.attempt = row.attempt;
  }
  return ref;
}

StageId gang_leader(const Machine& m, GangId gang) {
  const GangRow& row = m.gangs[gang];
  return stage_of(m, row.job, row.leader);
}

bool is_sink(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  const JobRow& job = m.jobs[row.job];
  const auto own = [&job](std::uint32_t child) { return child < job.own_stages; };
  return own(row.index) && job.graph->pipelined_children.row(row.index).empty() &&
         std::ranges::none_of(job.graph->regular_children.row(row.index), own);
}

model::PerProfile per_profile(const Machine& m, std::span<const std::int64_t> counts,
                              std::span<const std::int32_t> demand) {
  model::PerProfile list;
  for (std::size_t p = 0; p < demand.size(); ++p) {
    if (demand[p] > 0) {
      list.push_back({m.profile_names[p], counts[p]});
    }
  }
  return list;
}

StageId origin_of(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  if (row.phase != StagePhase::dormant || row.cold == none_u32) {
    return stage;
  }
  const StageId foreign = m.colds[row.cold].foreign;
  return foreign.valid() ? foreign : stage;
}

StageCold& make_cold(Machine& m, StageId stage) {
  RH_CHECK(m.stages[stage].cold == none_u32, stage.value);
  std::uint32_t index = 0;
  if (m.free_colds.empty()) {
    index = static_cast<std::uint32_t>(m.colds.size());
    reserve_first(m.colds);
    m.colds.emplace_back();
  } else {
    index = m.free_colds.back();
    m.free_colds.pop_back();
  }
  m.stages.edit(stage).cold = index;
  return m.colds[index];
}

namespace {
constexpr std::int32_t launches_reserved = 64;  // in one piece, for stages that are small
}  // namespace

void submit_attempt(Step& s, StageId stage) {
  Machine& m = s.m;
  if (must_roll_back(m, stage)) {
    const JobId job = m.stages[stage].job;
    roll_back(s, stage);
    if (!lives(m, job) || m.stages[stage].phase != StagePhase::waiting) {
      return;  // its job ended with that
    }
  }
  if (m.engine.max_total_stage_attempts > 0 &&
      m.stages[stage].attempt + 1 >= m.engine.max_total_stage_attempts) {
    abort_stage(s, stage, model::Code::stage_attempts_exceeded,
                m.names->intern("a stage was submitted too often"));
    return;
  }
  prefer_outputs(m, stage);
  StageCold& cold = cold_of(m, stage);
  StageRow& row = m.stages.edit(stage);
  RH_CHECK(row.phase != StagePhase::running && row.missing_inputs == 0, stage.value);
  RH_CHECK(row.running == 0 && row.attempt < 32000, row.running, row.attempt);
  ++row.attempt;
  row.phase = StagePhase::running;
  cold.tries.clear();
  cold.again.clear();
  cold.covered.clear();
  cold.ticked_off.clear();
  cold.outputs.resize(static_cast<std::size_t>(row.tasks), none_u32);
  cold.launched.reserve(static_cast<std::size_t>(std::min(row.tasks, launches_reserved)));
  row.pending = row.tasks - row.done;
  row.listed_partitions = row.done > 0;
  // Tries of earlier attempts may yet succeed: then their partitions must be found one by one.
  const bool delayed = is_delayed(m, stage);
  const bool listed = row.listed_partitions || row.old_running > 0 || delayed;
  if (delayed) {
    begin_delay(m, stage);
  }
  row.next_partition = listed ? row.tasks : 0;
  model::StageSubmitted line{stage_ref(m, stage), row.pending, std::nullopt};
  if (listed) {
    model::Ranges ranges;
    for (std::int32_t p = 0; p < row.tasks; ++p) {
      if (cold.outputs[static_cast<std::size_t>(p)] == none_u32) {
        cold.again.push_back(p);
        if (!ranges.empty() && ranges.back().last == p - 1) {
          ranges.back().last = p;
        } else {
          ranges.push_back({p, p});
        }
      }
    }
    std::ranges::reverse(cold.again);
    if (row.listed_partitions) {
      cold.covered = ranges;
      line.partitions = std::move(ranges);
      if (planted(Mutant::m31)) {
        line.partitions = model::Ranges{{0, row.pending - 1}};
      }
    }
  }
  s.write(std::move(line));
  if (m.config.speculation) {
    speculate_on(m, stage);
  }
  if (m.stages[stage].pending > 0) {
    m.queue.set_pending(stage, ProfileId{std::uint32_t{row.profile}});
    m.wants_pass = true;
  } else {
    attempt_maybe_over(s, stage);
  }
}

namespace {

// While the job of the stage a takeover stands for lives, its readers wait for it: then that stage.
StageId awaited_original(const Machine& m, StageId takeover) {
  const std::uint32_t cold = m.stages[takeover].cold;
  const StageId original = cold == none_u32 ? StageId{} : m.colds[cold].foreign;
  const bool lives = original.valid() && m.jobs[m.stages[original].job].phase == JobPhase::live;
  return lives ? original : StageId{};
}

}  // namespace

// Unless it is already on its way.
void want_input(Step& s, StageId parent) {
  const StageRow& row = s.m.stages[parent];
  if (row.gang.valid()) {
    const GangRow& gang = s.m.gangs[row.gang];
    if (gang.phase == GangPhase::committed) {
      rerun_committed_group(s, row.gang);
    }
    return;
  }
  switch (row.phase) {
    case StagePhase::done:
      want(s, parent);
      break;
    case StagePhase::dormant:
      if (s.m.stages[origin_of(s.m, parent)].available) {
        break;  // its readers are being told, one after the other
      }
      if (const StageId original = awaited_original(s.m, parent); !original.valid()) {
        want(s, parent);
      } else if (s.m.engine.tracked_outputs) {
        want_input(s, original);  // SS-1.8: it is made anew where it was made, whoever reads it
      }
      break;
    default:
      break;  // waiting, running or stalled: it comes, or its timer wants it again
  }
}

namespace {

// What the stage lacks. A parent that was rerun too often ends the job.
void want_inputs(Step& s, JobId job, std::uint32_t stage) {
  Machine& m = s.m;
  const std::shared_ptr<const model::StageGraph> graph = m.jobs[job].graph;
  for (const std::uint32_t parent : graph->regular_parents.row(stage)) {
    if (!lives(m, job)) {
      return;
    }
    const StageId input = stage_of(m, job, parent);
    if (!m.stages[input].available) {
      want_input(s, input);
    }
  }
}

}  // namespace

void want(Step& s, StageId stage) {
  Machine& m = s.m;
  RH_CHECK(m.stages[stage].phase != StagePhase::running, stage.value);
  RH_CHECK(!m.stages[stage].gang.valid(), stage.value);
  if (const StageId original = origin_of(m, stage);
      original != stage && must_roll_back(m, original)) {
    const JobId job = m.stages[stage].job;
    roll_back(s, original);  // the takeover begins what the original's next attempt would
    if (!lives(m, job) || m.stages[stage].phase != StagePhase::dormant) {
      return;
    }
  }
  take_over_outputs(m, stage);
  m.stages.edit(stage).phase = StagePhase::waiting;
  if (m.stages[stage].missing_inputs == 0) {
    const JobId job = m.stages[stage].job;
    submit_attempt(s, stage);
    if (lives(m, job) && m.stages[stage].phase == StagePhase::running) {
      judge_starvation(s, stage);
    }
    return;
  }
  const JobId job = m.stages[stage].job;
  want_inputs(s, job, m.stages[stage].index);
  if (lives(m, job)) {
    judge_starvation(s, stage);
  }
}

void group_wants(Step& s, GangId gang) {
  Machine& m = s.m;
  GangRow& row = m.gangs.edit(gang);
  const StageId leader = gang_leader(m, gang);
  row.announced = false;
  row.refused = false;
  row.resting = false;
  row.checks = 0;
  row.phase = row.missing_inputs == 0 ? GangPhase::slots : GangPhase::inputs;
  row.phase = planted(Mutant::m09) ? GangPhase::slots : row.phase;
  if (row.phase == GangPhase::slots && row.tasks == 0) {
    admit_group(s, gang, {});
    return;
  }
  if (row.phase == GangPhase::slots && admitted_at_once(m) && !row.barrier) {
    admit_without_slots(s, gang);
    return;
  }
  m.queued_gangs.push_back(leader);
  if (row.phase == GangPhase::slots) {
    m.queue.set_waiting(leader, Units{m});
    m.newly_ready.push_back(leader);
    m.wants_pass = true;
    return;
  }
  row.told = true;
  s.write(model::GroupQueued{job_name(m, row.job), stage_name(m, leader),
                             model::QueuedReason::inputs, std::nullopt, std::nullopt});
  const std::vector<std::uint32_t> members = row.members;
  const JobId job = row.job;
  for (const std::uint32_t member : members) {
    if (lives(m, job)) {
      want_inputs(s, job, member);
    }
  }
}

namespace {

// It does not wait for slots any more, or not at present.
void stop_waiting(Machine& m, GangId gang) {
  const StageId leader = gang_leader(m, gang);
  m.queue.clear_waiting(leader, Units{m});
  std::erase(m.newly_ready, leader);
  GangRow& row = m.gangs.edit(gang);
  if (row.timer.valid()) {
    void_timer(m, row.timer);
    row.timer = TimerId{};
  }
}

}  // namespace

void leave_queue(Machine& m, GangId gang) {
  stop_waiting(m, gang);
  std::erase(m.queued_gangs, gang_leader(m, gang));
}

namespace {

// The inputs of a stage are all there for the first time: what its system's driver needs begins.
void maybe_arm_start(Step& s, StageId stage) {
  StageRow& row = s.m.stages.edit(stage);
  if (row.delay_ahead && !row.delay_armed && row.missing_inputs == 1) {
    row.delay_armed = true;
    set_timer(s, {{}, TimerKind::start, row.job, row.index, none_u32},
              spec_of(s.m, stage).start_delay);
  }
}

// One reader of a stage whose availability changed by `by` (missing inputs +1 or -1).
void input_changed(Step& s, StageId reader, std::int32_t by) {
  Machine& m = s.m;
  if (m.stages[reader].fed) {
    return;
  }
  m.stages.edit(reader).missing_inputs += by;
  RH_CHECK(m.stages[reader].missing_inputs >= 0, reader.value);
  maybe_arm_start(s, reader);
  const GangId gang = m.stages[reader].gang;
  if (!gang.valid()) {
    if (m.stages[reader].phase == StagePhase::waiting && m.stages[reader].missing_inputs == 0) {
      submit_attempt(s, reader);
    }
    // A8: copies do not start while an input is gone.
    m.wants_pass = m.wants_pass || (m.stages[reader].missing_inputs == 0 && copies_due(m, reader));
    return;
  }
  GangRow& row = m.gangs.edit(gang);
  row.missing_inputs += by;
  if (row.phase == GangPhase::inputs && row.missing_inputs == 0) {
    leave_queue(m, gang);
    group_wants(s, gang);
  } else if (row.phase == GangPhase::slots && row.missing_inputs > 0 && !planted(Mutant::mu13)) {
    // X15: no longer ready; its rank stays.
    row.phase = GangPhase::inputs;
    row.announced = false;
    stop_waiting(m, gang);
    give_up_held(s, gang);
    m.wants_pass = true;  // A8: it keeps nobody back any more
    row.told = true;
    s.write(model::GroupQueued{job_name(m, row.job), stage_name(m, gang_leader(m, gang)),
                               model::QueuedReason::inputs, std::nullopt, std::nullopt});
  }
}

}  // namespace

void start_delay_over(Step& s, StageId stage) {
  StageRow& row = s.m.stages.edit(stage);
  RH_CHECK(row.delay_ahead && row.delay_armed, stage.value);
  row.delay_ahead = false;
  input_changed(s, stage, -1);
}

void arm_start_delays(Step& s, JobId job) {
  const std::uint32_t stages = s.m.jobs[job].stages;
  for (std::uint32_t i = 0; i < stages; ++i) {
    maybe_arm_start(s, stage_of(s.m, job, i));
  }
}

namespace {

bool is_waiting(const Machine& m, StageId stage) {
  if (m.stages[stage].fed) {
    return false;
  }
  const GangId gang = m.stages[stage].gang;
  if (!gang.valid()) {
    return m.stages[stage].phase == StagePhase::waiting;
  }
  return m.gangs[gang].phase == GangPhase::inputs || m.gangs[gang].phase == GangPhase::slots;
}

}  // namespace

void set_available(Step& s, StageId stage, bool available) {
  std::vector<StageId> wanted;
  tell_available(s, stage, available, wanted);
  want_lost(s, wanted);
}

void want_lost(Step& s, const std::vector<StageId>& wanted) {
  for (const StageId stage : wanted) {
    const StageRow& row = s.m.stages[stage];
    if (row.used && !row.available && lives(s.m, row.job)) {
      want_input(s, stage);
    }
  }
}

void tell_available(Step& s, StageId stage, bool available, std::vector<StageId>& lost) {
  Machine& m = s.m;
  if (m.stages[stage].available == available) {
    return;
  }
  m.stages.edit(stage).available = available;
  const JobId job = m.stages[stage].job;
  const std::shared_ptr<const model::StageGraph> graph = m.jobs[job].graph;
  bool wanted = false;
  for (const std::uint32_t child : graph->regular_children.row(m.stages[stage].index)) {
    if (!m.jobs.has(job) || m.jobs[job].phase != JobPhase::live) {
      break;
    }
    const StageId reader = stage_of(m, job, child);
    wanted = wanted || is_waiting(m, reader);
    input_changed(s, reader, available ? -1 : 1);
  }
  if (m.stages[stage].cold != none_u32) {
    const std::vector<StageId> readers = m.colds[m.stages[stage].cold].foreign_readers;
    for (const StageId takeover : readers) {
      if (m.stages[takeover].used && m.stages[takeover].phase == StagePhase::dormant) {
        tell_available(s, takeover, available, lost);
      }
    }
  }
  if (!available && wanted && lives(m, job)) {
    lost.push_back(stage);
  }
}

bool is_awaited(const Machine& m, StageId parent) {
  const JobId job = m.stages[parent].job;
  if (!m.stages[parent].used || !lives(m, job)) {
    return false;
  }
  const auto readers = m.jobs[job].graph->regular_children.row(m.stages[parent].index);
  return std::ranges::any_of(
      readers, [&m, job](std::uint32_t reader) { return is_waiting(m, stage_of(m, job, reader)); });
}

void want_if_awaited(Step& s, StageId parent) {
  if (is_awaited(s.m, parent)) {
    want_input(s, parent);
  }
}

void foreign_job_ended(Step& s, StageId stage) {
  Machine& m = s.m;
  if (m.stages[stage].cold == none_u32 || m.stages[stage].available) {
    return;
  }
  const std::vector<StageId> readers = m.colds[m.stages[stage].cold].foreign_readers;
  for (const StageId takeover : readers) {
    if (m.stages[takeover].phase == StagePhase::dormant) {
      want_if_awaited(s, takeover);
    }
  }
}

void release_stage_rows(Machine& m, JobId job) {
  const JobRow& row = m.jobs[job];
  for (std::uint32_t i = 0; i < row.stages; ++i) {
    const StageId stage{row.first_stage.value + i};
    const StageRow& stage_row = m.stages[stage];
    RH_CHECK(stage_row.running == 0 && stage_row.old_running == 0, stage.value);
    if (stage_row.cold == none_u32) {
      continue;
    }
    forget_outputs(m, stage);
    StageCold& cold = m.colds[stage_row.cold];
    if (cold.foreign.valid()) {
      std::erase(cold_of(m, cold.foreign).foreign_readers, stage);
    }
    for (const StageId reader : cold.foreign_readers) {
      cold_of(m, reader).foreign = StageId{};
    }
    cold.launched.clear();
    cold.again.clear();
    cold.tries.clear();
    cold.covered.clear();
    cold.ticked_off.clear();
    cold.committed.clear();
    cold.authorized.clear();
    cold.foreign_readers.clear();
    cold.foreign = StageId{};
    cold.mean = -1;
    cold.rollbacks = 0;
    cold.held.clear();
    end_commits(cold);
    cold.excluded.clear();
    cold.failed_on.clear();
    cold.excluded_by_failures.clear();
    cold.cached.clear();
    cold.output_bytes.clear();
    cold.checksums.clear();
    cold.changed_checksums = 0;
    cold.undone_for = -1;
    cold.follows_outputs = false;
    m.free_colds.push_back(stage_row.cold);
  }
  m.stages.remove_block(row.first_stage, row.stages);
  m.jobs.drop(job);
}

void forget_job(Machine& m, JobId job) {
  if (m.jobs.has(job) && m.jobs[job].phase == JobPhase::ended) {
    release_stage_rows(m, job);
  }
}

}  // namespace rehearse::scheduler
