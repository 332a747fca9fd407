// Jobs, stages and groups from submission to readiness: judging a job before anything of it exists
// (F9), forming groups (F2), and telling readers when their inputs are there (A1, X15).
#include <algorithm>
#include <bit>
#include <map>

#include "scheduler/machine.hpp"

namespace rehearse::scheduler {

StageId StageTable::add_block(std::uint32_t count) {
  const auto size_class = static_cast<std::size_t>(std::bit_width(std::bit_ceil(count)) - 1);
  if (free_.size() <= size_class) {
    free_.resize(size_class + 1);
  }
  StageId first;
  if (free_[size_class].empty()) {
    first = StageId{rows_.size()};
    rows_.resize(rows_.size() + (std::size_t{1} << size_class));
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
    edit(StageId{first.value + i}) = StageRow{};
  }
  free_[static_cast<std::size_t>(std::bit_width(std::bit_ceil(count)) - 1)].push_back(first);
}

namespace {

auto stage_hasher(const std::vector<StageRow>& rows) {
  return [&rows](std::size_t row) {
    return rows[row].used ? rows[row].digest(row) : std::uint64_t{0};
  };
}

}  // namespace

std::uint64_t StageTable::digest() {
  return digest_.settle(stage_hasher(rows_));
}

std::uint64_t StageTable::full_digest() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    sum += stage_hasher(rows_)(i);
  }
  return sum;
}

StageId stage_of(const Machine& m, JobId job, std::uint32_t index) {
  const JobRow& row = m.jobs[job];
  RH_CHECK(index < row.stages, index, row.stages);
  return StageId{row.first_stage.value + index};
}

model::NameId job_name(const Machine& m, JobId job) {
  return m.jobs[job].spec->name;
}

const model::StageSpec& spec_of(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  return m.jobs[row.job].spec->stages[row.index];
}

model::NameId stage_name(const Machine& m, StageId stage) {
  return spec_of(m, stage).name;
}

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
  return row.index < job.own_stages && job.graph->regular_children.row(row.index).empty() &&
         job.graph->pipelined_children.row(row.index).empty();
}

bool has_readers(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  return row.shared || !m.jobs[row.job].graph->regular_children.row(row.index).empty();
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

StageCold& cold_of(Machine& m, StageId stage) {
  if (m.stages[stage].cold == none_u32) {
    std::uint32_t index = 0;
    if (m.free_colds.empty()) {
      index = static_cast<std::uint32_t>(m.colds.size());
      m.colds.emplace_back();
    } else {
      index = m.free_colds.back();
      m.free_colds.pop_back();
    }
    m.stages.edit(stage).cold = index;
  }
  return m.colds[m.stages[stage].cold];
}

namespace {

// One unit's demand as a GangRow that is not in any table yet; also used for singletons by A5.
GangRow demand_of(const Machine& m, const model::JobSpec& spec, const model::StageGraph& graph,
                  std::uint32_t group) {
  GangRow row;
  row.group = group;
  const auto members = graph.group_members.row(group);
  row.leader = members.front();
  row.demand.assign(m.slots.profile_count(), 0);
  row.amounts.assign(m.slots.profile_count() == 0 ? 0 : m.slots.task(ProfileId{0U}).size(), 0);
  for (const std::uint32_t stage : members) {
    const model::StageSpec& member = spec.stages[stage];
    const std::int32_t tasks = members.size() > 1 ? member.tasks : std::min(member.tasks, 1);
    row.demand[member.profile.index()] += tasks;
    row.tasks += tasks;
    const model::ResourceVector& amounts = m.slots.task(member.profile);
    for (std::size_t r = 0; r < amounts.size(); ++r) {
      row.amounts[r] += amounts[r] * tasks;
    }
  }
  for (const std::uint32_t stage : graph.topological) {
    if (graph.group_of[stage] == group) {
      row.members.push_back(stage);
    }
  }
  if (graph.topological.empty()) {  // a cycle: the job is rejected, order does not matter
    row.members.assign(members.begin(), members.end());
  }
  return row;
}

struct Verdict {
  std::vector<model::Code> codes;  // in the order of config.reject; empty: accepted
  std::string detail;              // of the first
  std::optional<model::PerProfile> need;
  std::optional<model::PerProfile> have;
};

// A5 over the units of the job, the first that can never fit.
void judge_capacity(Machine& m, const SubmitJob& input, const JobRow& job,
                    std::map<model::Code, std::string>& found, Verdict& verdict) {
  const model::StageGraph& graph = *job.graph;
  std::int64_t tasks = 0;
  for (std::uint32_t i = 0; i < input.own_stages; ++i) {
    tasks += input.spec->stages[i].tasks;
  }
  if (tasks == 0) {
    return;
  }
  if (m.idle.open_count() == 0 && !m.autoscaling) {
    found.emplace(model::Code::no_executors, "no executor exists or is due");
  }
  for (std::uint32_t group = 0; group < graph.group_members.size(); ++group) {
    if (graph.group_members.row(group).front() >= input.own_stages) {
      continue;  // a takeover: judged if it ever runs
    }
    const GangRow unit = demand_of(m, *input.spec, graph, group);
    bool by_trial = false;
    if (unit.tasks == 0 || could_ever_fit(m, job, unit, &by_trial)) {
      continue;
    }
    std::vector<std::int64_t> need(unit.demand.begin(), unit.demand.end());
    verdict.need = per_profile(m, need, unit.demand);
    verdict.have = per_profile(m, m.idle.free_totals(), unit.demand);
    if (m.idle.open_count() > 0 || m.autoscaling) {
      std::string detail = unit.members.size() > 1 ? "the group of stage " : "stage ";
      detail += m.names->text(input.spec->stages[unit.leader].name);
      detail += " can never fit";
      detail += by_trial ? " (by trial: the counts would)" : "";
      found.emplace(model::Code::insufficient_slots, std::move(detail));
    }
    return;
  }
}

Verdict judge(Machine& m, const SubmitJob& input, const JobRow& job) {
  Verdict verdict;
  std::map<model::Code, std::string> found;
  const model::ValidationContext context{m.names, m.autoscaling};
  for (model::Rejection& rejection : model::validate(*input.spec, *job.graph, m.config, context)) {
    found.emplace(rejection.code, std::move(rejection.detail));
  }
  if (input.reused_job.valid()) {
    for (const model::EdgeSpec& edge : input.spec->edges) {
      if (edge.reuse_job.valid() &&
          model::effective_kind(edge, m.config.edges) == model::EdgeKind::pipelined) {
        found.emplace(model::Code::shared_producer,
                      "the pipelined shuffle belongs to live job " +
                          std::string(m.names->text(job_name(m, input.reused_job))));
      }
    }
  }
  judge_capacity(m, input, job, found, verdict);
  for (const model::Code code : m.config.reject) {
    if (const auto it = found.find(code); it != found.end()) {
      if (verdict.codes.empty()) {
        verdict.detail = it->second;
      }
      verdict.codes.push_back(code);
    }
  }
  const auto given = [&verdict](model::Code code) {
    return std::ranges::find(verdict.codes, code) != verdict.codes.end();
  };
  if (!given(model::Code::insufficient_slots) && !given(model::Code::no_executors)) {
    verdict.need.reset();
    verdict.have.reset();
  }
  return verdict;
}

model::JobSubmitted submitted_line(const Machine& m, const SubmitJob& input) {
  const model::JobSpec& spec = *input.spec;
  model::JobSubmitted line{spec.name, spec.pool, spec.priority, {}, {}};
  for (std::uint32_t i = 0; i < input.own_stages; ++i) {
    const model::StageSpec& stage = spec.stages[i];
    line.stages.push_back({stage.name, stage.tasks, m.profile_names[stage.profile.index()],
                           stage.barrier, stage.commits});
  }
  for (const model::EdgeSpec& edge : spec.edges) {
    for (const model::StageIndex to : edge.to) {
      if (to.value >= input.own_stages) {
        continue;  // an input of a takeover
      }
      const bool foreign = edge.from.value >= input.own_stages;
      const model::NameId from = foreign
                                     ? input.foreign[edge.from.value - input.own_stages].name
                                     : spec.stages[edge.from.index()].name;
      line.edges.push_back({from, spec.stages[to.index()].name,
                            foreign ? model::EdgeKind::regular
                                    : model::effective_kind(edge, m.config.edges)});
    }
  }
  return line;
}

// Ties takeovers to the stages they stand for, where those still exist.
void attach_takeovers(Machine& m, JobId job, const SubmitJob& input) {
  for (std::uint32_t i = 0; i < input.foreign.size(); ++i) {
    const StageId takeover = stage_of(m, job, input.own_stages + i);
    m.stages.edit(takeover).phase = StagePhase::dormant;
    const ForeignStage& foreign = input.foreign[i];
    if (!m.jobs.has(foreign.job)) {
      continue;
    }
    const StageId original = stage_of(m, foreign.job, foreign.stage.value);
    cold_of(m, takeover).foreign = original;
    cold_of(m, original).foreign_readers.push_back(takeover);
    m.stages.edit(takeover).available = m.stages[original].available;
  }
}

// Rows of an accepted job: everything waits, nothing is submitted.
void make_rows(Machine& m, JobId job, const SubmitJob& input) {
  JobRow& row = m.jobs.edit(job);
  row.first_stage = m.stages.add_block(row.stages);
  const model::StageGraph& graph = *row.graph;
  for (std::uint32_t i = 0; i < row.stages; ++i) {
    StageRow& stage = m.stages.edit(StageId{row.first_stage.value + i});
    stage.job = job;
    stage.index = i;
    stage.tasks = row.spec->stages[i].tasks;
    stage.profile = static_cast<std::uint16_t>(row.spec->stages[i].profile.value);
    stage.phase = StagePhase::waiting;
    stage.registered = graph.group_members.row(graph.group_of[i]).size() == 1;
  }
  attach_takeovers(m, job, input);
  for (std::uint32_t i = 0; i < row.stages; ++i) {
    StageRow& stage = m.stages.edit(StageId{row.first_stage.value + i});
    for (const std::uint32_t parent : graph.regular_parents.row(i)) {
      stage.missing_inputs += m.stages[StageId{row.first_stage.value + parent}].available ? 0 : 1;
    }
    m.jobs.edit(job).sinks_left += is_sink(m, StageId{row.first_stage.value + i}) ? 1 : 0;
  }
  for (std::uint32_t group = 0; group < graph.group_members.size(); ++group) {
    const auto members = graph.group_members.row(group);
    const model::JobSpec& spec = *row.spec;
    UnitView view{spec.priority, 0, static_cast<std::int64_t>(members.size()), members.size() > 1};
    for (const std::uint32_t stage : members) {
      view.demand_slots += spec.stages[stage].tasks;
    }
    const StageId leader{row.first_stage.value + members.front()};
    m.queue.add(leader, {m.policies.queue->key(view), row.submitted, row.rank, members.front()});
    if (members.size() < 2) {
      continue;
    }
    GangRow gang = demand_of(m, spec, graph, group);
    gang.job = job;
    for (const std::uint32_t stage : gang.members) {
      gang.missing_inputs += m.stages[StageId{row.first_stage.value + stage}].missing_inputs;
    }
    const GangId id = m.gangs.add(std::move(gang));
    for (const std::uint32_t stage : members) {
      m.stages.edit(StageId{row.first_stage.value + stage}).gang = id;
    }
    ++row.gangs_left;
    ++m.counters.live_gangs;
  }
}

void write_groups(Step& s, JobId job) {
  const JobRow& row = s.m.jobs[job];
  for (std::uint32_t group = 0; group < row.graph->group_members.size(); ++group) {
    const auto members = row.graph->group_members.row(group);
    if (members.size() < 2) {
      continue;
    }
    const GangRow& gang = s.m.gangs[s.m.stages[stage_of(s.m, job, members.front())].gang];
    model::GroupFormed line{row.spec->name, row.spec->stages[members.front()].name, {}, {}};
    for (const std::uint32_t stage : members) {
      line.stages.push_back(row.spec->stages[stage].name);
    }
    const std::vector<std::int64_t> counts(gang.demand.begin(), gang.demand.end());
    line.demand = per_profile(s.m, counts, gang.demand);
    s.write(std::move(line));
  }
}

void reject(Step& s, const SubmitJob& input, Verdict verdict) {
  model::JobRejected line{input.spec->name, verdict.codes.front(), verdict.codes,
                          s.m.names->intern(verdict.detail), std::move(verdict.need),
                          std::move(verdict.have)};
  s.write(std::move(line));
}

}  // namespace

void submit_job(Step& s, const SubmitJob& input) {
  Machine& m = s.m;
  RH_CHECK(!m.jobs.has(input.job), input.job.value);
  RH_CHECK(input.foreign.size() + input.own_stages == input.spec->stages.size());
  JobRow row;
  row.spec = input.spec;
  row.graph = std::make_shared<const model::StageGraph>(
      model::build_stage_graph(*input.spec, m.config.edges));
  row.stages = static_cast<std::uint32_t>(input.spec->stages.size());
  row.own_stages = input.own_stages;
  row.submitted = input.submitted;
  row.rank = input.rank;
  row.phase = JobPhase::live;
  row.keeps_outputs = !input.shared.empty();
  const std::optional<model::Probe> before =
      input.probe ? std::optional(probe(m, model::ProbeWhen::before_reject)) : std::nullopt;
  Verdict verdict = judge(m, input, row);
  if (!verdict.codes.empty() && before) {
    s.write(*before);
  }
  s.write(submitted_line(m, input));
  if (!verdict.codes.empty()) {
    reject(s, input, std::move(verdict));
    if (before) {
      s.write(probe(m, model::ProbeWhen::after_reject));
    }
    return;
  }
  m.jobs.put(input.job, std::move(row));
  ++m.counters.live_jobs;
  make_rows(m, input.job, input);
  for (const model::StageIndex shared : input.shared) {
    m.stages.edit(stage_of(m, input.job, shared.value)).shared = true;
  }
  s.write(model::JobStarted{input.spec->name});
  write_groups(s, input.job);
  const auto lives = [&m, &input] {
    return m.jobs.has(input.job) && m.jobs[input.job].phase == JobPhase::live;
  };
  for (std::uint32_t i = 0; i < input.own_stages && lives(); ++i) {
    const StageId stage = stage_of(m, input.job, i);
    if (m.stages[stage].phase != StagePhase::waiting) {
      continue;  // submitted already, when what it waits for completed within this step
    }
    const GangId gang = m.stages[stage].gang;
    if (!gang.valid()) {
      want(s, stage);
    } else if (m.gangs[gang].leader == i) {
      group_wants(s, gang);
    }
  }
  if (lives()) {
    check_job_done(s, input.job);
  }
}

void submit_attempt(Step& s, StageId stage) {
  Machine& m = s.m;
  StageCold& cold = cold_of(m, stage);
  StageRow& row = m.stages.edit(stage);
  RH_CHECK(row.phase != StagePhase::running && row.missing_inputs == 0, stage.value);
  RH_CHECK(row.running == 0 && row.attempt < 32000, row.running, row.attempt);
  ++row.attempt;
  row.phase = StagePhase::running;
  cold.tries.clear();
  cold.again.clear();
  cold.outputs.resize(static_cast<std::size_t>(row.tasks), none_u32);
  row.pending = row.tasks - row.done;
  row.listed_partitions = row.done > 0;
  row.next_partition = row.listed_partitions ? row.tasks : 0;
  model::StageSubmitted line{stage_ref(m, stage), row.pending, std::nullopt};
  if (row.listed_partitions) {
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
    line.partitions = std::move(ranges);
  }
  s.write(std::move(line));
  if (m.stages[stage].pending > 0) {
    m.queue.set_pending(stage, ProfileId{std::uint32_t{row.profile}});
    m.wants_pass = true;
  } else {
    attempt_maybe_over(s, stage);
  }
}

namespace {

// While the job of the stage a takeover stands for lives, its readers wait for it.
bool original_lives(const Machine& m, StageId takeover) {
  const std::uint32_t cold = m.stages[takeover].cold;
  const StageId original = cold == none_u32 ? StageId{} : m.colds[cold].foreign;
  return original.valid() && m.jobs[m.stages[original].job].phase == JobPhase::live;
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
      if (!original_lives(s.m, parent)) {
        want(s, parent);
      }
      break;
    default:
      break;  // waiting, running or stalled: it comes, or its timer wants it again
  }
}

void want(Step& s, StageId stage) {
  Machine& m = s.m;
  RH_CHECK(m.stages[stage].phase != StagePhase::running, stage.value);
  RH_CHECK(!m.stages[stage].gang.valid(), stage.value);
  m.stages.edit(stage).phase = StagePhase::waiting;
  if (m.stages[stage].missing_inputs == 0) {
    submit_attempt(s, stage);
    return;
  }
  const JobId job = m.stages[stage].job;
  const std::uint32_t index = m.stages[stage].index;
  for (const std::uint32_t parent : m.jobs[job].graph->regular_parents.row(index)) {
    const StageId input = stage_of(m, job, parent);
    if (!m.stages[input].available) {
      want_input(s, input);
    }
  }
}

void group_wants(Step& s, GangId gang) {
  Machine& m = s.m;
  GangRow& row = m.gangs.edit(gang);
  const StageId leader = gang_leader(m, gang);
  row.announced = false;
  row.refused = false;
  row.phase = row.missing_inputs == 0 ? GangPhase::slots : GangPhase::inputs;
  if (row.phase == GangPhase::slots && row.tasks == 0) {
    admit_group(s, gang, {});
    return;
  }
  m.queued_gangs.push_back(leader);
  if (row.phase == GangPhase::slots) {
    m.queue.set_waiting(leader, row.demand);
    m.newly_ready.push_back(leader);
    m.wants_pass = true;
    return;
  }
  s.write(model::GroupQueued{job_name(m, row.job), stage_name(m, leader),
                             model::QueuedReason::inputs, std::nullopt, std::nullopt});
  const std::vector<std::uint32_t> members = row.members;
  const JobId job = row.job;
  for (const std::uint32_t member : members) {
    for (const std::uint32_t parent : m.jobs[job].graph->regular_parents.row(member)) {
      const StageId input = stage_of(m, job, parent);
      if (!m.stages[input].available) {
        want_input(s, input);
      }
    }
  }
}

void leave_queue(Machine& m, GangId gang) {
  const StageId leader = gang_leader(m, gang);
  m.queue.clear_waiting(leader);
  std::erase(m.queued_gangs, leader);
  std::erase(m.newly_ready, leader);
}

namespace {

// One reader of a stage whose availability changed by `by` (missing inputs +1 or -1).
void input_changed(Step& s, StageId reader, std::int32_t by) {
  Machine& m = s.m;
  m.stages.edit(reader).missing_inputs += by;
  RH_CHECK(m.stages[reader].missing_inputs >= 0, reader.value);
  const GangId gang = m.stages[reader].gang;
  if (!gang.valid()) {
    if (m.stages[reader].phase == StagePhase::waiting && m.stages[reader].missing_inputs == 0) {
      submit_attempt(s, reader);
    }
    return;
  }
  GangRow& row = m.gangs.edit(gang);
  row.missing_inputs += by;
  if (row.phase == GangPhase::inputs && row.missing_inputs == 0) {
    leave_queue(m, gang);
    group_wants(s, gang);
  } else if (row.phase == GangPhase::slots && row.missing_inputs > 0) {
    // X15: no longer ready; its rank stays.
    row.phase = GangPhase::inputs;
    row.announced = false;
    const StageId leader = gang_leader(m, gang);
    m.queue.clear_waiting(leader);
    std::erase(m.newly_ready, leader);
    s.write(model::GroupQueued{job_name(m, row.job), stage_name(m, leader),
                               model::QueuedReason::inputs, std::nullopt, std::nullopt});
  }
}

bool is_waiting(const Machine& m, StageId stage) {
  const GangId gang = m.stages[stage].gang;
  if (!gang.valid()) {
    return m.stages[stage].phase == StagePhase::waiting;
  }
  return m.gangs[gang].phase == GangPhase::inputs || m.gangs[gang].phase == GangPhase::slots;
}

}  // namespace

void set_available(Step& s, StageId stage, bool available) {
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
        set_available(s, takeover, available);
      }
    }
  }
  if (!available && wanted && m.jobs.has(job) && m.jobs[job].phase == JobPhase::live) {
    want_input(s, stage);
  }
}

void foreign_job_ended(Step& s, StageId stage) {
  Machine& m = s.m;
  if (m.stages[stage].cold == none_u32 || m.stages[stage].available) {
    return;
  }
  const std::vector<StageId> readers = m.colds[m.stages[stage].cold].foreign_readers;
  for (const StageId takeover : readers) {
    if (!m.stages[takeover].used) {
      continue;
    }
    const JobId job = m.stages[takeover].job;
    const auto children = m.jobs[job].graph->regular_children.row(m.stages[takeover].index);
    const bool wanted = std::ranges::any_of(children, [&m, job](std::uint32_t child) {
      return is_waiting(m, stage_of(m, job, child));
    });
    if (m.stages[takeover].phase == StagePhase::dormant && wanted) {
      want_input(s, takeover);
    }
  }
}

void release_stage_rows(Machine& m, JobId job) {
  const JobRow& row = m.jobs[job];
  for (std::uint32_t i = 0; i < row.stages; ++i) {
    const StageId stage{row.first_stage.value + i};
    const StageRow& stage_row = m.stages[stage];
    RH_CHECK(!stage_row.first_run.valid(), stage.value);
    if (stage_row.cold == none_u32) {
      continue;
    }
    for (std::int32_t p = 0; p < stage_row.tasks; ++p) {
      clear_output(m, stage, p);
    }
    StageCold& cold = m.colds[stage_row.cold];
    if (cold.foreign.valid()) {
      std::erase(cold_of(m, cold.foreign).foreign_readers, stage);
    }
    for (const StageId reader : cold.foreign_readers) {
      cold_of(m, reader).foreign = StageId{};
    }
    cold.outputs.clear();
    cold.again.clear();
    cold.tries.clear();
    cold.committed.clear();
    cold.authorized.clear();
    cold.foreign_readers.clear();
    cold.foreign = StageId{};
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
