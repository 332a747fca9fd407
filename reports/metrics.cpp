// registry: none (what every report is made of)
//
// One pass over the journal. Slot time is settled whenever time advances, with the state after the
// last event of the instant before; so what happens inside an instant takes no time. The six uses
// are an always-on checked sum.
#include "reports/metrics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <unordered_map>
#include <utility>

#include "model/support/check.hpp"
#include "model/support/shared_slots.hpp"
#include "reports/live_work.hpp"
#include "reports/slot_ledger.hpp"

namespace rehearse::reports {
namespace {

constexpr std::array<std::string_view, 5> outcome_names = {"succeeded", "failed", "cancelled",
                                                           "rejected", "unfinished"};

// "q#2" -> ("q", 2); a name without a number is its own request.
std::pair<std::string_view, std::int32_t> split_request(std::string_view name) {
  const std::size_t mark = name.rfind('#');
  std::int32_t number = 0;
  if (mark == std::string_view::npos || mark + 1 == name.size()) {
    return {name, 0};
  }
  const char* last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + mark + 1, last, number);
  return error == std::errc{} && end == last ? std::pair{name.substr(0, mark), number}
                                             : std::pair{name, 0};
}

// The six uses now. What a free slot is called depends on the work that waits: drain where a head
// demands it and something behind could start, unusable where work waits and none of it can use
// this slot, idle otherwise.
SlotCounts classify(const SlotLedger& ledger, const LiveWork::View& work) {
  SlotCounts counts{};
  counts[index_of(SlotUse::busy)] = ledger.busy();
  counts[index_of(SlotUse::blocked)] = ledger.blocked();
  counts[index_of(SlotUse::reserved_idle)] = ledger.reserved();
  counts[index_of(SlotUse::unusable)] = ledger.free_withheld();
  for (const SlotLedger::FreeSlots& free : ledger.free()) {
    const bool drains = work.head && work.behind && (free.serves & work.head_profiles) != 0;
    const bool useless = work.waiting && (free.fits & work.usable) == 0;
    const SlotUse use = drains ? SlotUse::drain_idle : useless ? SlotUse::unusable : SlotUse::idle;
    counts[index_of(use)] += free.slots;
  }
  return counts;
}

double ratio(Wide part, Wide whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Outcome outcome_of(model::JobOutcome outcome) {
  switch (outcome) {
    case model::JobOutcome::succeeded:
      return Outcome::succeeded;
    case model::JobOutcome::failed:
      return Outcome::failed;
    case model::JobOutcome::cancelled:
      return Outcome::cancelled;
  }
  return Outcome::unfinished;
}

std::string_view name_of(Outcome outcome) {
  return outcome_names.at(static_cast<std::size_t>(outcome));
}

std::optional<model::Duration> JobMetrics::latency_ns() const {
  return outcome == Outcome::succeeded && end_ns ? std::optional(*end_ns - submit_ns)
                                                 : std::nullopt;
}

std::optional<model::Duration> JobMetrics::queued_ns() const {
  return start_ns ? std::optional(*start_ns - submit_ns) : std::nullopt;
}

std::optional<model::Duration> RequestMetrics::latency_ns() const {
  return outcome == Outcome::succeeded && end_ns ? std::optional(*end_ns - submit_ns)
                                                 : std::nullopt;
}

std::optional<model::Duration> RequestMetrics::queued_ns() const {
  return start_ns ? std::optional(*start_ns - submit_ns) : std::nullopt;
}

double utilization(const Totals& totals) {
  return ratio(totals.use(SlotUse::busy), totals.slot_time);
}

double reserved_idle(const Totals& totals) {
  return ratio(totals.use(SlotUse::reserved_idle) + totals.use(SlotUse::drain_idle) +
                   totals.use(SlotUse::blocked),
               totals.slot_time);
}

struct Metrics::State {
  explicit State(const MetricsOptions& given) : options(given), series(given.series_buckets_max) {}

  MetricsOptions options;
  const model::NameTable* names = nullptr;
  SlotLedger ledger;
  model::SharedSlots shared;
  LiveWork work;
  SlotSeries series;
  RunMetrics run;
  model::Instant now = 0;
  std::int64_t running = 0;  // tasks; a slice (A21) is as many as it has slots
  std::int64_t running_in_groups = 0;
  std::vector<std::uint32_t> job_rows;  // by NameId: index in run.jobs + 1, 0 = none
  // Tasks that are blocked on something, with how many things block each.
  std::map<std::array<std::int64_t, 5>, std::int64_t> blocked;
  // Reserved and not launched: (job, stage, executor, profile) -> slots.
  std::map<std::array<std::uint64_t, 4>, std::int64_t> reserved;

  void settle(model::Instant to);
  JobMetrics* job(model::NameId name);
  std::size_t profile_of(const model::TaskRef& task);
  std::optional<std::pair<std::size_t, bool>> stage_of(const model::TaskRef& task);
  void unblock(const model::TaskRef& task, bool wholly);
  void span_ended(const model::StageCompleted& event);
  // A10: slots that a group shares and on which none of its tasks runs are reserved and idle.
  [[nodiscard]] bool shares(const model::TaskRef& task) const {
    return shared.enabled() && shared.shares(task.job, task.stage);
  }
  void start_shared(const model::TaskRef& task, std::size_t profile);
  void end_shared(const model::TaskEnd& event, std::size_t profile);

  void on(const model::RunStart& event);
  void on(const model::ExecutorAdded& event) { ledger.added(event); }
  void on(const model::ExecutorLost& event);
  void on(const model::ExecutorHeld& event) {
    ledger.held(event.executor, event.cause == model::HoldCause::decommission);
  }
  void on(const model::ExecutorReleased& event) { ledger.released(event.executor); }
  void on(const model::JobSubmitted& event);
  void on(const model::JobRejected& event);
  void on(const model::JobEnd& event);
  void on(const model::GroupFormed& event) {
    work.formed(event, ledger);
    shared.formed(event);
  }
  void on(const model::GroupQueued& event) { work.queued(event); }
  void on(const model::GroupAdmitted& event);
  void on(const model::GroupCommitted& event) { work.over(event.group); }
  void on(const model::GroupFailed& event) { work.over(event.group); }
  void on(const model::GroupCancelled& event) { work.over(event.group); }
  void on(const model::EdgesChanged& event) {
    work.dissolved(event);
    shared.dissolved(event);
  }
  void on(const model::StageSubmitted& event);
  void on(const model::StageCompleted& event);
  void on(const model::TaskStart& event);
  void on(const model::TaskEnd& event);
  void on(const model::SlotReturned& event);
  void on(const model::OutputsLost& event) { work.outputs_lost(event); }
  void on(const model::Reservation& event);
  void on(const model::Blocked& event);
  void on(const model::Unblocked& event) { unblock(event.task, false); }
  void on(const model::FirstRow& event);
  void on(const model::RunEnd& event) { run.end_cause = event.cause; }
  // Job starts, commits, outputs, messages, probes, latencies, rows, disks: no metric reads them.
  void on(const auto&) {}
};

// ---- time ----

void Metrics::State::settle(model::Instant to) {
  RH_CHECK(to >= now, now, to);
  run.slots_max = std::max(run.slots_max, ledger.slots());
  if (to == now) {
    return;
  }
  const SlotCounts counts = classify(ledger, work.view(ledger));
  const model::Duration span = to - now;
  std::int64_t sum = 0;
  for (std::size_t use = 0; use < slot_uses; ++use) {
    RH_CHECK(counts[use] >= 0, counts[use], now);
    sum += counts[use];
    if (counts[use] != 0) {
      run.totals.slot_use[use] += static_cast<Wide>(counts[use]) * span;
    }
  }
  RH_CHECK(sum == ledger.slots(), sum, ledger.slots(), now);
  run.totals.slot_time += static_cast<Wide>(ledger.slots()) * span;
  run.work += static_cast<Wide>(running) * span;
  run.work_in_groups += static_cast<Wide>(running_in_groups) * span;
  series.add(now, to, counts);
  now = to;
}

void Metrics::State::on(const model::RunStart& event) {
  run.dialect = names->text(event.dialect);
  run.timing = event.timing;
  run.seed = event.seed;
  ledger.run_started(event, *names);
  shared.begin(event, *names);
  work.run_started(event, *names);
}

// ---- jobs ----

JobMetrics* Metrics::State::job(model::NameId name) {
  if (!name.valid() || name.index() >= job_rows.size() || job_rows[name.index()] == 0) {
    return nullptr;
  }
  return &run.jobs[job_rows[name.index()] - 1];
}

void Metrics::State::on(const model::JobSubmitted& event) {
  if (event.job.index() >= job_rows.size()) {
    job_rows.resize(event.job.index() + 1, 0);
  }
  JobMetrics row;
  row.name = names->text(event.job);
  const auto [request, number] = split_request(row.name);
  row.request = request;
  row.try_number = number;
  row.submit_ns = now;
  run.jobs.push_back(std::move(row));
  job_rows[event.job.index()] = static_cast<std::uint32_t>(run.jobs.size());
  for (const model::EdgeItem& edge : event.edges) {
    run.pipelined_edges += edge.kind == model::EdgeKind::pipelined ? 1 : 0;
  }
  work.submitted(event, ledger);
}

void Metrics::State::on(const model::JobRejected& event) {
  if (JobMetrics* row = job(event.job); row != nullptr) {
    row->outcome = Outcome::rejected;
    row->code = event.code;
    row->detail = names->text(event.detail);
    row->end_ns = now;
  }
  work.gone(event.job);
}

void Metrics::State::on(const model::JobEnd& event) {
  if (JobMetrics* row = job(event.job); row != nullptr) {
    row->outcome = outcome_of(event.outcome);
    row->code = event.code;
    row->detail = names->text(event.detail);
    row->end_ns = now;
  }
  work.gone(event.job);
  shared.job_over(event.job);
}

void Metrics::State::on(const model::FirstRow& event) {
  if (JobMetrics* row = job(event.job); row != nullptr && !row->first_row_ns) {
    row->first_row_ns = now - row->submit_ns;
  }
}

// ---- gangs ----

void Metrics::State::on(const model::GroupAdmitted& event) {
  ++run.gangs.admitted;
  const model::Duration wait =
      now - work.ready_since(event.group.job, event.group.stage).value_or(now);
  run.gangs.waited += wait > 0 ? 1 : 0;
  run.gangs.wait_ns_max = std::max(run.gangs.wait_ns_max, wait);
  run.gangs.wait_ns_sum += wait;
  work.admitted(event.group);
}

void Metrics::State::on(const model::Reservation& event) {
  const std::array<std::uint64_t, 4> key = {event.job.value, event.stage.value,
                                            event.executor.value, event.profile.value};
  std::int64_t& slots = reserved[key];
  ledger.reserve(event.executor, ledger.profile(event.profile), event.slots - slots);
  slots = event.slots;
  if (slots == 0) {
    reserved.erase(key);
  }
}

void Metrics::State::on(const model::ExecutorLost& event) {
  ledger.lost(event.executor);
  shared.lost(event.executor);
  std::erase_if(reserved,
                [&](const auto& entry) { return entry.first[2] == event.executor.value; });
}

// ---- stages ----

void Metrics::State::on(const model::StageSubmitted& event) {
  ++run.totals.stages;
  JobMetrics* owner = job(event.stage.job);
  if (owner != nullptr) {
    ++owner->stages;
  }
  LiveStage* stage = work.stage_submitted(event, ledger);
  if (stage == nullptr || owner == nullptr) {
    return;
  }
  stage->span = no_index;
  if (run.spans.size() >= options.spans_max) {
    ++run.spans_omitted;
    return;
  }
  stage->span = run.spans.size();
  StageSpan span;
  span.job = job_rows[event.stage.job.index()] - 1;
  span.stage = names->text(event.stage.stage);
  span.attempt = event.stage.attempt.value_or(0);
  span.tasks = event.tasks;
  span.gang = stage->gang != no_index;
  span.submit_ns = now;
  span.ready_ns = work.ready_since(event.stage.job, event.stage.stage).value_or(now);
  run.spans.push_back(std::move(span));
}

void Metrics::State::span_ended(const model::StageCompleted& event) {
  const LiveStage* stage = work.find(event.stage.job, event.stage.stage);
  if (stage == nullptr || stage->span == no_index) {
    return;
  }
  StageSpan& span = run.spans[stage->span];
  if (span.attempt == event.stage.attempt.value_or(0) && !span.end_ns) {
    span.end_ns = now;
    span.status = event.status;
  }
}

void Metrics::State::on(const model::StageCompleted& event) {
  span_ended(event);
  work.stage_completed(event);
}

// ---- tasks and their slots ----

std::size_t Metrics::State::profile_of(const model::TaskRef& task) {
  const LiveStage* stage = work.find(task.job, task.stage);
  return stage == nullptr ? 0 : stage->profile;
}

void Metrics::State::on(const model::TaskStart& event) {
  ++run.totals.tasks;
  running += event.task.size();
  std::size_t profile = 0;
  if (LiveStage* stage = work.find(event.task.job, event.task.stage); stage != nullptr) {
    profile = stage->profile;
    running_in_groups += stage->grouped ? event.task.size() : 0;
    if (stage->span != no_index && !run.spans[stage->span].start_ns &&
        run.spans[stage->span].attempt == event.task.attempt) {
      run.spans[stage->span].start_ns = now;
    }
  }
  if (JobMetrics* row = job(event.task.job); row != nullptr) {
    ++row->tasks;
    if (!row->start_ns) {
      row->start_ns = now;
    }
  }
  if (shares(event.task)) {
    start_shared(event.task, profile);
  } else {
    ledger.start(event.task.executor, profile, event.task.size());
  }
  work.task_started(event);
}

void Metrics::State::on(const model::TaskEnd& event) {
  const LiveStage* stage = work.find(event.task.job, event.task.stage);
  running -= event.task.size();
  running_in_groups -= stage != nullptr && stage->grouped ? event.task.size() : 0;
  unblock(event.task, true);
  const std::size_t profile = stage == nullptr ? 0 : stage->profile;
  if (shares(event.task)) {
    end_shared(event, profile);
  } else if (!event.slot) {
    ledger.give_back(event.task.executor, profile, event.task.size());
  } else {
    for (std::int32_t i = 0; shared.enabled() && i < event.task.size(); ++i) {
      shared.hold(event.task, ledger.profile_name(profile));
    }
  }
  work.task_ended(event);
}

void Metrics::State::start_shared(const model::TaskRef& task, std::size_t profile) {
  const bool takes = shared.start(task, ledger.profile_name(profile));
  const model::SharedSlots::Share& share = *shared.find(task, ledger.profile_name(profile));
  if (takes) {
    ledger.start(task.executor, profile);
  } else if (share.running <= share.slots) {
    ledger.reserve(task.executor, profile, -1);
    ledger.start(task.executor, profile);
  }
}

void Metrics::State::end_shared(const model::TaskEnd& event, std::size_t profile) {
  const model::SharedSlots::Share* share = shared.end(event.task, ledger.profile_name(profile));
  if (share != nullptr && share->running < share->slots) {
    ledger.give_back(event.task.executor, profile, 1);
    ledger.reserve(event.task.executor, profile, 1);
  }
}

void Metrics::State::on(const model::SlotReturned& event) {
  const std::size_t profile = ledger.profile(event.profile);
  if (const auto before = shared.enabled() ? shared.give_back(event) : std::nullopt) {
    const std::int64_t idle =
        std::min(std::max<std::int64_t>(before->slots - before->running, 0), event.count);
    ledger.reserve(event.executor, profile, -idle);
    ledger.give_back(event.executor, profile, event.count - idle);
    return;
  }
  ledger.give_back(event.executor, profile, event.count);
}

void Metrics::State::on(const model::Blocked& event) {
  const std::array<std::int64_t, 5> key = {event.task.job.value, event.task.stage.value,
                                           event.task.attempt, event.task.partition,
                                           event.task.try_number};
  if (++blocked[key] == 1) {
    ledger.block(event.task.executor, profile_of(event.task));
  }
}

void Metrics::State::unblock(const model::TaskRef& task, bool wholly) {
  if (blocked.empty()) {
    return;
  }
  const auto found = blocked.find(
      {task.job.value, task.stage.value, task.attempt, task.partition, task.try_number});
  if (found == blocked.end()) {
    return;
  }
  if (wholly || --found->second == 0) {
    blocked.erase(found);
    ledger.unblock(task.executor, profile_of(task));
  }
}

// ---- the observer ----

Metrics::Metrics(const MetricsOptions& options) : state_(std::make_unique<State>(options)) {}
Metrics::Metrics(Metrics&&) noexcept = default;
Metrics& Metrics::operator=(Metrics&&) noexcept = default;
Metrics::~Metrics() = default;

void Metrics::begin(const model::NameTable& names) { state_->names = &names; }

void Metrics::on(const model::Event& event) {
  RH_CHECK(state_->names != nullptr);
  state_->settle(event.t);
  state_->work.at(event.t);
  const bool hashed = event.as<model::RunStart>() == nullptr &&
                      event.as<model::RunEnd>() == nullptr && event.as<model::Probe>() == nullptr &&
                      event.as<model::Message>() == nullptr;
  state_->run.totals.events += hashed ? 1 : 0;
  std::visit([&](const auto& body) { state_->on(body); }, event.body);
}

namespace {

void count_outcomes(RunMetrics& run) {
  for (const JobMetrics& job : run.jobs) {
    run.totals.rejected += job.outcome == Outcome::rejected ? 1 : 0;
    run.totals.failed += job.outcome == Outcome::failed ? 1 : 0;
    run.totals.cancelled += job.outcome == Outcome::cancelled ? 1 : 0;
    run.totals.unfinished += job.outcome == Outcome::unfinished ? 1 : 0;
  }
  run.totals.jobs = static_cast<std::int64_t>(run.jobs.size());
  run.totals.requests = static_cast<std::int64_t>(run.requests.size());
}

void gather_requests(RunMetrics& run) {
  std::unordered_map<std::string, std::size_t> rows;
  for (const JobMetrics& job : run.jobs) {
    const auto [found, fresh] = rows.try_emplace(job.request, run.requests.size());
    if (fresh) {
      RequestMetrics row;
      row.name = job.request;
      row.submit_ns = job.submit_ns;
      run.requests.push_back(std::move(row));
    }
    RequestMetrics& row = run.requests[found->second];
    row.outcome = job.outcome;
    row.code = job.code;
    row.detail = job.detail;
    row.tries = job.try_number + 1;
    row.end_ns = job.end_ns;
    if (!row.start_ns) {
      row.start_ns = job.start_ns;
    }
    if (!row.first_row_ns && job.first_row_ns) {
      row.first_row_ns = job.submit_ns + *job.first_row_ns - row.submit_ns;
    }
  }
}

void measure_makespan(RunMetrics& run) {
  std::optional<model::Instant> last;
  for (const JobMetrics& job : run.jobs) {
    if (job.end_ns) {
      last = std::max(last.value_or(*job.end_ns), *job.end_ns);
    }
  }
  if (last) {
    run.makespan_ns = *last - run.jobs.front().submit_ns;
  }
}

}  // namespace

RunMetrics Metrics::finish() {
  RunMetrics run = std::move(state_->run);
  run.slots_max = std::max(run.slots_max, state_->ledger.slots());
  run.end_ns = state_->now;
  run.series_width_ns = state_->series.width_ns();
  run.series = state_->series.buckets();
  gather_requests(run);
  count_outcomes(run);
  measure_makespan(run);
  Wide sum = 0;
  for (const Wide use : run.totals.slot_use) {
    sum += use;
  }
  RH_CHECK(sum == run.totals.slot_time);
  return run;
}

}  // namespace rehearse::reports
