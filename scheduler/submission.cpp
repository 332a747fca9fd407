// Submission of a job: judged whole before anything of it exists (F9, F12, F13, A5), then given
// rows, groups (F2) and its first lines (C12).
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>

#include "model/support/distribution.hpp"
#include "scheduler/accounting.hpp"
#include "scheduler/duties_data.hpp"

namespace rehearse::scheduler {

namespace {

constexpr model::Duration most_work = std::numeric_limits<model::Duration>::max();

// The members in topological order, smallest first (C4): over the edges between them, whatever else
// the job has. In a cycle, for which the job is rejected, the order does not matter.
void put_in_order(const model::StageGraph& graph, std::uint32_t group,
                  std::vector<std::uint32_t>& order) {
  const auto members = graph.group_members.row(group);
  order.clear();
  const auto leads_on = [&graph](std::uint32_t stage) {
    const auto children = graph.pipelined_children.row(stage);
    return children.empty() || stage < children.front();
  };
  if (members.size() == 1 || graph.topological.empty() ||
      std::ranges::all_of(members, leads_on)) {  // in order as they stand
    order.assign(members.begin(), members.end());
    return;
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  std::vector<std::size_t> parents_left(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    parents_left[i] = graph.pipelined_parents.row(members[i]).size();
    if (parents_left[i] == 0) {
      ready.push(members[i]);
    }
  }
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const std::uint32_t child : graph.pipelined_children.row(order.back())) {
      const auto at = std::ranges::lower_bound(members, child) - members.begin();
      if (--parents_left[static_cast<std::size_t>(at)] == 0) {
        ready.push(child);
      }
    }
  }
}

// Mutants: what they count beside a member's tasks.
std::int32_t miscounted(const Machine& m, const model::StageSpec& member, const GangRow& row,
                        std::int32_t tasks, std::size_t consumers) {
  const bool more = (planted(Mutant::m19) && consumers > 1) ||
                    (planted(Mutant::m06) && m.slots.task(member.profile).front() > model::milli);
  return more ? tasks : planted(Mutant::m20) && row.tasks == tasks ? -tasks : 0;
}

// One unit's demand in a GangRow that is not in any table yet and says nothing else; also used for
// singletons by A5.
void set_demand(const Machine& m, const model::JobSpec& spec, const model::StageGraph& graph,
                std::uint32_t group, GangRow& row) {
  row.group = group;
  row.tasks = 0;
  const auto members = graph.group_members.row(group);
  row.leader = members.front();
  row.demand.assign(m.slots.profile_count(), 0);
  row.amounts.assign(m.slots.profile_count() == 0 ? 0 : m.slots.task(ProfileId{0U}).size(), 0);
  for (const std::uint32_t stage : members) {
    const model::StageSpec& member = spec.stages[stage];
    const bool whole = members.size() > 1 || member.barrier;
    const std::int32_t tasks = whole ? member.tasks : std::min(member.tasks, 1);
    row.demand[member.profile.index()] += tasks;
    row.demand[member.profile.index()] +=
        miscounted(m, member, row, tasks, graph.pipelined_children.row(stage).size());
    row.tasks += tasks;
    const model::ResourceVector& amounts = m.slots.task(member.profile);
    for (std::size_t r = 0; r < amounts.size(); ++r) {
      row.amounts[r] += amounts[r] * tasks;
    }
  }
  if (shares_slots(m, members.size())) {
    count_widest(m, spec, graph.group_members.row(group), row);
  }
  put_in_order(graph, group, row.members);
}

struct Verdict {
  std::vector<model::Code> codes;  // in the order of config.reject; empty: accepted
  std::string detail;              // of the first
  std::optional<model::PerProfile> need;
  std::optional<model::PerProfile> have;
};

// A9: the one check of a gang that is rejected when it does not fit now; true if it is.
bool judge_now(const Machine& m, const SubmitJob& input, const GangRow& unit,
               std::map<model::Code, std::string>& found, Verdict& verdict) {
  const std::vector<std::int64_t> have = capacity_now(m, unit);
  if (passes_check(m, unit, have)) {
    return false;
  }
  const std::vector<std::int64_t> need = checked_demand(m, unit);
  const std::vector<std::int32_t> named(need.begin(), need.end());
  verdict.need = per_profile(m, need, named);
  verdict.have = per_profile(m, have, named);
  found.emplace(model::Code::insufficient_slots,
                "the group of stage " +
                    std::string(m.names->text(input.spec->stages[unit.leader].name)) +
                    " does not fit now");
  return true;
}

// Without gang admission (A2 none, A11) the members wait for slots as regular stages do, one slot
// each at least (A5); true if one never finds any.
bool judge_members(const Machine& m, const model::JobSpec& spec, const GangRow& unit,
                   std::map<model::Code, std::string>& found, Verdict& verdict) {
  for (const std::uint32_t member : unit.members) {
    const model::StageSpec& stage = spec.stages[member];
    if (stage.tasks == 0 || m.idle.free_total(stage.profile) > 0) {
      continue;
    }
    std::vector<std::int32_t> need(unit.demand.size(), 0);
    need[stage.profile.index()] = 1;
    const std::vector<std::int64_t> counts(need.begin(), need.end());
    verdict.need = per_profile(m, counts, need);
    verdict.have = per_profile(m, m.idle.free_totals(), need);
    if (m.idle.open_count() > 0) {
      found.emplace(model::Code::insufficient_slots,
                    "stage " + std::string(m.names->text(stage.name)) + " can never fit");
    }
    return true;
  }
  return false;
}

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
  if (m.idle.open_count() == 0) {
    found.emplace(model::Code::no_executors, "no executor exists or is due");
  }
  GangRow unit;
  unit.job = input.job;
  for (std::uint32_t group = 0; group < graph.group_members.size(); ++group) {
    if (graph.group_members.row(group).front() >= input.own_stages) {
      continue;  // a takeover: judged if it ever runs
    }
    set_demand(m, *input.spec, graph, group, unit);
    const bool barrier = unit.members.size() == 1 && input.spec->stages[unit.leader].barrier;
    if (barrier && m.config.admission.capacity == model::Capacity::total &&
        m.config.admission.when_short == model::Short::retry) {
      continue;  // A12: its check is repeated, and never final before the last
    }
    if (unit.members.size() > 1 && m.config.admission.hold == model::Hold::none) {
      if (judge_members(m, *input.spec, unit, found, verdict)) {
        return;
      }
      continue;
    }
    if (unit.members.size() > 1 && m.config.admission.shortfall == model::Shortfall::rejection &&
        judge_now(m, input, unit, found, verdict)) {
      return;
    }
    if (unit.members.size() > 1 && m.config.profiles == model::ProfilesAxis::default_only &&
        m.config.admission.shortfall == model::Shortfall::rejection) {
      continue;  // the check above is the only one
    }
    bool by_trial = false;
    if (unit.tasks == 0 || could_ever_fit(m, job, unit, &by_trial)) {
      continue;
    }
    if (unit.members.size() > 1 && m.config.admission.when_short == model::Short::fall_back) {
      if (judge_members(m, *input.spec, unit, found, verdict)) {
        return;
      }
      continue;  // A11: it falls back instead
    }
    std::vector<std::int64_t> need(unit.demand.begin(), unit.demand.end());
    verdict.need = per_profile(m, need, unit.demand);
    verdict.have = per_profile(m, m.idle.free_totals(), unit.demand);
    if (m.idle.open_count() > 0) {
      std::string detail = unit.members.size() > 1 ? "the group of stage " : "stage ";
      detail += m.names->text(input.spec->stages[unit.leader].name);
      detail += " can never fit";
      detail += by_trial ? " (by trial: the counts would)" : "";
      found.emplace(model::Code::insufficient_slots, std::move(detail));
    }
    return;
  }
}

// Mutants that miss one kind of shape, or see one too many.
void look_away(const model::JobSpec& spec, std::map<model::Code, std::string>& found) {
  using model::Code;
  std::erase_if(found, [](const auto& one) {
    return (planted(Mutant::mu23) && one.first == Code::regular_inside_group) ||
           (planted(Mutant::m11) && one.first == Code::speculation) ||
           (planted(Mutant::m12) && one.first == Code::dynamic_allocation) ||
           (planted(Mutant::m32) && one.first == Code::shared_producer) ||
           (planted(Mutant::m37) && one.first == Code::profile_conflict) ||
           (planted(Mutant::m47) && one.first == Code::mixed_job);
  });
  const auto reuses = [](const model::EdgeSpec& edge) { return edge.reuse_job.valid(); };
  if (planted(Mutant::m33) && std::ranges::any_of(spec.edges, reuses)) {
    found.emplace(Code::shared_producer, "a pipelined shuffle that was another job's");
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
  if (!input.pipelined_ends.empty()) {
    found.emplace(model::Code::adaptive_exchange,
                  "the job ends in stage " +
                      std::string(m.names->text(
                          input.spec->stages[input.pipelined_ends.front().index()].name)) +
                      ", which writes a pipelined shuffle");
  }
  if (input.speculation && !job.graph->pipelined_children.values().empty()) {
    found.emplace(model::Code::speculation, "a pipelined group in a job that asks for copies");
  }
  look_away(*input.spec, found);
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
  line.stages.reserve(input.own_stages);
  line.edges.reserve(spec.edges.size());
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
      const model::NameId from = foreign ? input.foreign[edge.from.value - input.own_stages].name
                                         : spec.stages[edge.from.index()].name;
      line.edges.push_back(
          {from, spec.stages[to.index()].name, model::effective_kind(edge, m.config.edges)});
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
    if (planted(Mutant::mu21)) {
      m.stages.edit(takeover).available = true;
    }
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
    stage.read = !graph.regular_children.row(i).empty();
    stage.commits = row.spec->stages[i].commits != model::Commits::none;
    stage.registered = graph.group_members.row(graph.group_of[i]).size() == 1;
  }
  attach_takeovers(m, job, input);
  for (std::uint32_t i = 0; i < row.stages; ++i) {
    StageRow& stage = m.stages.edit(StageId{row.first_stage.value + i});
    for (const std::uint32_t parent : graph.regular_parents.row(i)) {
      stage.missing_inputs += m.stages[StageId{row.first_stage.value + parent}].available ? 0 : 1;
    }
    if (row.spec->stages[i].start_delay > 0) {
      stage.delay_ahead = true;
      ++stage.missing_inputs;
    }
    m.jobs.edit(job).sinks_left += is_sink(m, StageId{row.first_stage.value + i}) ? 1 : 0;
  }
  for (std::uint32_t i = 0; i < row.stages; ++i) {
    m.queue.add(StageId{row.first_stage.value + i}, Units{m});
  }
  for (std::uint32_t group = 0; group < graph.group_members.size(); ++group) {
    const auto members = graph.group_members.row(group);
    // A takeover is no gang: groups are formed at submission, where it does not exist yet.
    const bool barrier = row.spec->stages[members.front()].barrier && members.size() == 1 &&
                         members.front() < row.own_stages;
    if (members.size() < 2 && !barrier) {
      continue;
    }
    GangRow gang;
    set_demand(m, *row.spec, graph, group, gang);
    gang.job = job;
    gang.barrier = barrier;
    for (const std::uint32_t stage : gang.members) {
      gang.missing_inputs += m.stages[StageId{row.first_stage.value + stage}].missing_inputs;
    }
    gang.missing_inputs += planted(Mutant::mu24) && !barrier ? 1 : 0;
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
    const GangId id = s.m.stages[stage_of(s.m, job, members.front())].gang;
    if (!id.valid()) {
      continue;
    }
    if (planted(Mutant::c13)) {
      continue;
    }
    const GangRow& gang = s.m.gangs[id];
    model::GroupFormed line{row.spec->name, row.spec->stages[members.front()].name, {}, {}};
    line.stages.reserve(members.size());
    for (const std::uint32_t stage : members) {
      line.stages.push_back(row.spec->stages[stage].name);
    }
    const std::vector<std::int64_t> counts(gang.demand.begin(), gang.demand.end());
    line.demand = per_profile(s.m, counts, gang.demand);
    s.write(std::move(line));
  }
}

void reject(Step& s, const SubmitJob& input, Verdict verdict) {
  model::JobRejected line{input.spec->name,        verdict.codes.front(),
                          verdict.codes,           s.m.names->intern(verdict.detail),
                          std::move(verdict.need), std::move(verdict.have)};
  s.write(std::move(line));
}

}  // namespace

namespace {

// Estimated work of all tasks; saturates.
model::Duration work_of(const model::StageSpec& stage) {
  if (const auto* list = std::get_if<std::vector<model::Duration>>(&stage.duration);
      list != nullptr && !stage.estimate) {
    model::Duration sum = 0;
    for (const model::Duration length : *list) {
      sum = length > most_work - sum ? most_work : sum + length;
    }
    return sum;
  }
  const auto* distribution = std::get_if<model::Distribution>(&stage.duration);
  const model::Duration each =
      stage.estimate ? *stage.estimate : model::mean_ns(*distribution).value_or(most_work);
  return stage.tasks > 0 && each > most_work / stage.tasks ? most_work : each * stage.tasks;
}

}  // namespace

UnitView unit_view(const Machine& m, StageId leader) {
  const StageRow& row = m.stages[leader];
  const JobRow& job = m.jobs[row.job];
  const auto members = job.graph->group_members.row(job.graph->group_of[row.index]);
  UnitView view;
  view.priority = job.spec->priority;
  view.members = static_cast<std::int64_t>(members.size());
  view.gang = members.size() > 1;
  view.random = hash_of({m.seed, job.rank, members.front()});
  for (const std::uint32_t stage : members) {
    const model::StageSpec& spec = job.spec->stages[stage];
    view.demand_slots += spec.tasks;
    if (m.policies.queue->reads_work()) {
      view.work = std::min(most_work, view.work + std::min(most_work - view.work, work_of(spec)));
    }
  }
  return view;
}

UnitKey Units::key(StageId leader) const {
  const StageRow& row = m_.stages[leader];
  const JobRow& job = m_.jobs[row.job];
  const std::uint32_t first = job.graph->group_members.row(job.graph->group_of[row.index]).front();
  UnitKey key{m_.policies.queue->key(unit_view(m_, leader)), job.submitted, job.rank, first,
              row.index};
  key.submitted = planted(Mutant::mu56) ? row.done : key.submitted;
  key.rank = planted(Mutant::mu58) ? ~key.rank : key.rank;
  return key;
}

namespace {

// What the caller answers for (input.hpp).
void check_contract(const Machine& m, const SubmitJob& input) {
  RH_CHECK(!m.jobs.has(input.job), input.job.value);
  RH_CHECK(input.foreign.size() + input.own_stages == input.spec->stages.size());
  RH_CHECK(!input.reused_job.valid() || lives(m, input.reused_job), input.job.value,
           input.reused_job.value);
}

}  // namespace

void submit_job(Step& s, const SubmitJob& input) {
  Machine& m = s.m;
  check_contract(m, input);
  JobRow row;
  row.spec = input.spec;
  model::GraphRules rules = model::graph_rules(m.config);
  rules.own_stages = input.own_stages;
  row.graph =
      std::make_shared<const model::StageGraph>(model::build_stage_graph(*input.spec, rules));
  plan_phases(m, row);
  row.stages = static_cast<std::uint32_t>(input.spec->stages.size());
  row.own_stages = input.own_stages;
  row.submitted = input.submitted;
  row.rank = input.rank;
  row.phase = JobPhase::live;
  row.query = input.query;
  row.keeps_outputs = !input.shared.empty();
  const std::optional<model::Probe> before =
      input.probe ? std::optional(probe(m, model::ProbeWhen::before_reject)) : std::nullopt;
  Verdict verdict = judge(m, input, row);
  if (!verdict.codes.empty() && before) {
    s.write(*before);
  }
  s.write(submitted_line(m, input));
  if (!verdict.codes.empty()) {
    m.counters.live_jobs += planted(Mutant::m01) ? 1 : 0;
    reject(s, input, std::move(verdict));
    if (before) {
      s.write(probe(m, model::ProbeWhen::after_reject));
    }
    return;
  }
  row.first_number = m.next_stage_number;
  m.next_stage_number += row.stages;
  m.jobs.put(input.job, std::move(row));
  ++m.counters.live_jobs;
  make_rows(m, input.job, input);
  for (const model::StageIndex shared : input.shared) {
    StageRow& stage = m.stages.edit(stage_of(m, input.job, shared.value));
    stage.shared = true;
    stage.read = true;
  }
  take_cached(m, input);
  s.write(model::JobStarted{input.spec->name});
  write_groups(s, input.job);
  arm_start_delays(s, input.job);
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
      bool by_trial = false;
      const bool falls_back = m.config.admission.when_short == model::Short::fall_back &&
                              !m.gangs[gang].barrier && m.gangs[gang].tasks > 0 &&
                              !could_ever_fit(m, m.jobs[input.job], m.gangs[gang], &by_trial);
      falls_back ? dissolve(s, gang) : group_wants(s, gang);  // A11
    }
  }
  if (lives()) {
    check_job_done(s, input.job);
  }
}

}  // namespace rehearse::scheduler
