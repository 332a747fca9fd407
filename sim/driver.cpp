// The loop: instants, rounds, the order of inputs, and the journal's first and last lines.
#include "sim/driver.hpp"

#include <algorithm>

#include "model/run_line.hpp"
#include "model/support/check.hpp"
#include "model/support/units.hpp"

namespace rehearse::sim {

namespace {

scheduler::CoreOptions core_options(const model::Scenario& scenario, model::NameTable& names) {
  scheduler::CoreOptions options;
  options.config = scenario.scheduler;
  for (const model::Profile& profile : scenario.cluster.profiles) {
    options.profile_names.push_back(profile.name);
    options.profile_tasks.push_back(profile.task);
  }
  options.autoscaling = scenario.cluster.autoscale.has_value();
  options.names = &names;
  options.seed = scenario.seed;
  const model::Overheads& overheads = scenario.cluster.overheads;
  options.expected_launch = model::mean_ns(overheads.launch).value_or(0);
  options.expected_status = model::mean_ns(overheads.status).value_or(0);
  return options;
}

// Do the lines of jobs submitted at one instant come in the order of their ranks? Not when inputs
// are permuted, and not for certain when copies, resubmissions or jobs after others are among them:
// these come in later rounds than their rank (scenario.md section 4).
bool submits_by_rank(const model::Scenario& scenario) {
  return !scenario.ties_shuffled && scenario.choices.empty() &&
         std::ranges::all_of(scenario.jobs, [](const model::JobSpec& job) {
           return job.repeat_count == 1 && job.resubmit == 0 && job.after.empty();
         });
}

// Has any stage what the field says?
template <class Field>
bool any_stage(const model::Scenario& scenario, Field field) {
  return std::ranges::any_of(scenario.jobs, [field](const model::JobSpec& job) {
    return std::ranges::any_of(
        job.stages, [field](const model::StageSpec& stage) { return stage.*field != 0; });
  });
}

}  // namespace

void DriverMemory::clear() {
  engine.clear();
  actions.clear();
  nested.clear();
  batch.clear();
  due.clear();
  freed_at_once.clear();
  runs.clear();
  jobs.clear();
  free_jobs.clear();
  job_named.clear();
  executors.clear();
  expected.clear();
  executor_named.clear();
  pending.clear();
  free_pending.clear();
}

std::shared_ptr<model::NameTable> DriverMemory::table_of(const model::NameTable& scenario_names) {
  if (names == nullptr || names.use_count() > 1) {
    names = std::make_shared<model::NameTable>(scenario_names);
  } else {
    *names = scenario_names;
  }
  return names;
}

RunMemory::RunMemory() = default;
RunMemory::~RunMemory() = default;

DriverMemory& RunMemory::driver() {
  if (driver_ == nullptr) {
    driver_ = std::make_unique<DriverMemory>();
  }
  driver_->clear();
  return *driver_;
}

Driver::Driver(const model::Scenario& scenario, const scheduler::PolicySet& policies,
               std::span<model::Observer* const> observers, const RunOptions& options)
    : scenario_(scenario),
      options_(options),
      own_(options.memory == nullptr ? std::make_unique<DriverMemory>() : nullptr),
      memory_(own_ ? *own_ : options.memory->driver()),
      names_(memory_.table_of(scenario.names)),
      observers_(observers.begin(), observers.end()),
      named_(scenario.choices),
      decisions_(options.decisions != nullptr ? *options.decisions : seeded_),
      core_(core_options(scenario, *names_), policies),
      actions_(memory_.actions),
      nested_(memory_.nested),
      engine_(memory_.engine),
      batch_(memory_.batch),
      due_(memory_.due),
      freed_at_once_(memory_.freed_at_once),
      client_(scenario),
      faults_(scenario.faults, scenario.names),
      runs_(memory_.runs),
      jobs_(memory_.jobs),
      free_jobs_(memory_.free_jobs),
      job_named_(memory_.job_named),
      latest_of_(scenario.jobs.size()),
      executors_(memory_.executors),
      expected_(memory_.expected),
      executor_named_(memory_.executor_named),
      pending_(memory_.pending),
      free_pending_(memory_.free_pending) {
  shares_slots_ = scenario.scheduler.slots == model::SlotsAxis::shared;
  watching_moments_ = faults_.any_moments();
  if (const auto phase = model::healing_of(scenario)) {
    healing_ = HealingWatch{.phase = *phase};
  }
}

// ---- the journal ----

void Driver::publish() {
  if (hash_) {
    hash_->on(event_);
  }
  const int number = event_.number();
  if (number != model::event_number<model::RunStart>() &&
      number != model::event_number<model::Probe>() &&
      number != model::event_number<model::RunEnd>()) {
    ++events_;
    last_event_ = now_;
  }
  for (model::Observer* observer : observers_) {
    observer->on(event_);
  }
  if (watching_moments_) {
    schedule_faults(faults_.after_event(event_));
  }
}

void Driver::begin_journal() {
  if (options_.hash) {
    hash_.emplace().begin(*names_);
  }
  for (model::Observer* observer : observers_) {
    observer->begin(*names_);
  }
  const auto name = [this](std::string_view text) { return names_->intern(text); };
  model::RunStart line = model::run_line(scenario_, REHEARSE_VERSION, *names_);
  const model::Overheads& delays = scenario_.cluster.overheads;
  line.overheads = {
      {name("launch"), name(model::format_distribution(delays.launch))},
      {name("status"), name(model::format_distribution(delays.status))},
      {name("kill"), name(model::format_distribution(delays.kill))},
      {name("loss_detection"), name(model::format_distribution(delays.loss_detection))}};
  // What a judge of waiting, and one of rejections, must know and no other line shows.
  if (options_.decisions != nullptr || !submits_by_rank(scenario_)) {
    line.overheads.push_back({name("ties"), name("mixed")});
  }
  if (any_stage(scenario_, &model::StageSpec::start_delay)) {
    line.overheads.push_back({name("start_delay"), name("recorded")});
  }
  if (any_stage(scenario_, &model::StageSpec::indeterminate)) {
    line.overheads.push_back({name("indeterminate"), name("some")});
  }
  if (healing_) {
    line.overheads.push_back({name("heal"), name(model::format_duration(healing_->phase.at))});
  }
  for (const model::KeyValue& fact : model::rejection_facts(scenario_, *names_)) {
    line.overheads.push_back(fact);
  }
  line.promises.reserve(options_.promises.size());
  for (const std::string& promise : options_.promises) {
    line.promises.push_back(name(promise));
  }
  emit(std::move(line));
}

void Driver::end_journal(model::RunEndCause cause) {
  now_ = std::max(now_, idle_until_);
  emit(core_.probe(model::ProbeWhen::end));
  if (options_.audit_digest) {
    RH_CHECK(core_.digest() == core_.full_digest());
  }
  emit(model::RunEnd{cause});
}

// ---- the loop ----

// Instant after instant: all inputs that are due, then a pass, until nothing is due at it any more.
model::RunEndCause Driver::run_instants() {
  std::optional<model::Instant> next = next_instant();
  while (true) {
    if (!next) {
      if (live_jobs_ == 0) {
        return model::RunEndCause::done;
      }
      engine_.clear();  // empty; it has looked at what is void, and what follows is due from now on
      step(scheduler::Stuck{});  // W5
      next = next_instant();
      continue;
    }
    if (healing_ && *next >= healing_->phase.at && live_jobs_ > 0 && never_ends()) {
      step(scheduler::Stuck{});
    }
    if (scenario_.horizon && *next > *scenario_.horizon) {
      return model::RunEndCause::horizon;
    }
    if (options_.interrupted != nullptr && options_.interrupted()) {
      return model::RunEndCause::interrupted;
    }
    do {
      run_round(*next);
      if (shares_slots_) {
        settle_sharing();
      }
      next = next_instant();
    } while (next == now_ && !is_beyond(2));
    while (core_.wants_pass() && next != now_ && !is_beyond(2)) {
      pass();
      if (shares_slots_) {
        settle_sharing();
      }
      next = next_instant();
    }
    if (scaling_ && next != now_) {
      settle_scaling();
      next = next_instant();
    }
  }
}

// So many times the steps that the healing phase may take until it is looked at.
bool Driver::is_beyond(std::int64_t bounds) const {
  return healing_ && healing_->begun &&
         steps_ - healing_->steps > bounds * healing_->phase.steps_max;
}

// Has the healing phase taken more steps than what is left can need? Those that passed while a task
// ran, or while something was to come that no timer brings, do not count: timers may tick for hours
// meanwhile. But tasks must not be launched without end.
bool Driver::never_ends() {
  HealingWatch& watch = *healing_;
  if (!watch.begun) {
    watch.begun = true;
    watch.steps = steps_;
    watch.launches = next_launch_;
  }
  if (!is_beyond(1)) {
    return false;
  }
  const bool launches = std::int64_t{next_launch_ - watch.launches} > watch.phase.steps_max;
  if (launches || is_beyond(2) || !awaits_more()) {
    return true;
  }
  watch.steps = steps_;
  return false;
}

bool Driver::awaits_more() const {
  std::vector<bool> awaited(pending_.size(), true);
  for (const std::uint32_t slot : free_pending_) {
    awaited[slot] = false;
  }
  for (std::size_t slot = 0; slot < pending_.size(); ++slot) {
    if (awaited[slot] && pending_[slot].what != Pending::What::timer) {
      return true;
    }
  }
  return next_planned_ < client_.planned().size() ||
         std::ranges::any_of(executors_, [](const ExecutorSim& row) { return row.runs > 0; });
}

RunResult Driver::run() {
  begin_journal();
  expect_executors();
  for (const DueFault& fault : faults_.planned()) {
    schedule_faults({fault});
  }
  start_scaling();
  const model::RunEndCause cause = run_instants();
  end_journal(cause);
  RunResult result;
  result.cause = cause;
  result.end_ns = last_event_;
  result.journal_hash = hash_ ? hash_->value() : 0;
  result.events = events_;
  result.core_steps = steps_;
  result.unseen = unseen_;
  result.faults_never_fired = faults_.never_fired();
  result.names = names_;
  return result;
}

std::optional<model::Instant> Driver::next_instant() const {
  std::optional<model::Instant> next = engine_.peek_time();
  const std::vector<Submission>& planned = client_.planned();
  if (next_planned_ < planned.size() && (!next || planned[next_planned_].at < *next)) {
    next = planned[next_planned_].at;
  }
  return next;
}

// What runs is spread over more memory than the caches next to the core hold, and ends in no order.
void Driver::prefetch(const std::vector<Event>& soon) const {
  constexpr std::size_t runs_cached = 512;
  if (runs_.size() < runs_cached) {
    return;
  }
  const auto run_of = [](const Event& event) {
    const EventTag tag = event.tag();
    const bool task = static_cast<InputKind>(tag.event_class) == InputKind::task;
    return task ? scheduler::RunId{tag.payload} : scheduler::RunId{};
  };
  for (const Event& event : soon) {
    if (const scheduler::RunId run = run_of(event); run.valid()) {
      __builtin_prefetch(&runs_[run.index()]);
      core_.prefetch_run(run);
    }
  }
  for (const Event& event : soon) {
    if (const scheduler::RunId run = run_of(event); run.valid()) {
      core_.prefetch_end(run);
    }
  }
}

void Driver::run_round(model::Instant instant) {
  batch_.clear();
  engine_.pop_batch(instant, batch_);
  prefetch(engine_.soon());
  const std::vector<Submission>& planned = client_.planned();
  const bool arrivals = next_planned_ < planned.size() && planned[next_planned_].at == instant;
  const bool choosing = options_.decisions != nullptr || scenario_.ties_shuffled || !named_.empty();
  const bool tasks_only =
      batch_.empty() ||
      (static_cast<InputKind>(batch_.front().tag().event_class) == InputKind::task &&
       static_cast<InputKind>(batch_.back().tag().event_class) == InputKind::task);
  const auto stale = [this, instant](const Event& event) { return is_stale(event, instant); };
  const auto fresh = std::ranges::find_if_not(batch_, stale);
  if (!arrivals && fresh == batch_.end()) {
    std::ranges::for_each(batch_, [this](const Event& event) { deliver_late(event); });
    // A timer that is void lengthens no run, nor does what the autoscaler would have done.
    const bool tasks = std::ranges::any_of(batch_, [](const Event& event) {
      return static_cast<InputKind>(event.tag().event_class) == InputKind::task;
    });
    forget_batch();
    idle_until_ = tasks ? instant : idle_until_;
    return;  // W5: nothing happens at it
  }
  now_ = instant;
  core_.set_now(now_);
  if (!arrivals && tasks_only && !choosing) {
    // Up to the first that is not stale they are as they were when they were looked at.
    std::for_each(batch_.begin(), fresh, [this](const Event& event) { deliver_late(event); });
    deliver_task(*fresh);
    std::for_each(fresh + 1, batch_.end(), [this](const Event& event) { deliver(event); });
    return;
  }
  std::vector<Due>& due = due_;
  due.clear();
  for (const Event& event : batch_) {
    const EventTag tag = event.tag();
    const auto kind = static_cast<InputKind>(tag.event_class);
    const std::uint64_t order = kind == InputKind::submission
                                    ? submission_order(pending_[tag.payload].submission)
                                    : tag.sequence;
    due.push_back({kind, order, event, {}});
  }
  for (std::size_t i = next_planned_; i < planned.size() && planned[i].at == instant; ++i) {
    due.push_back({InputKind::submission, submission_order(planned[i]), {}, planned[i]});
  }
  order_round(due);
  note_timer_ties(due);
  for (const Due& input : due) {
    if (input.event == Event{} && input.submission.spec.valid()) {
      ++next_planned_;
      submit(input.submission);
    } else {
      deliver(input.event);
    }
  }
}

// The order of the kinds never changes; within a kind `ties` and `choices` may.
void Driver::order_round(std::vector<Due>& due) {
  std::ranges::sort(due, {}, [](const Due& input) { return std::pair{input.kind, input.order}; });
  if (options_.decisions != nullptr) {
    place_ties(due, decisions_);
    return;
  }
  if (scenario_.ties_shuffled) {
    place_ties(due, seeded_);
  }
  if (!named_.empty()) {
    place_ties(due, named_);
  }
}

// Place by place: which of the inputs of its kind that are still to be placed.
void Driver::place_ties(std::vector<Due>& due, model::Decisions& decisions) {
  model::DecisionPlace where{.purpose = model::DrawPurpose::ties, .at = now_};
  where.series = model::draw_key(
      {scenario_.seed, model::DrawPurpose::ties, static_cast<std::uint64_t>(now_), 0});
  std::size_t end = 0;  // of the kind
  for (std::size_t i = 0; i < due.size(); ++i) {
    while (end < due.size() && due[end].kind == due[i].kind) {
      ++end;
    }
    if (end - i < 2) {
      continue;
    }
    where.point.partition = static_cast<std::uint32_t>(i);
    const auto chosen = static_cast<std::ptrdiff_t>(decisions.choose(where, end - i));
    const auto first = due.begin() + static_cast<std::ptrdiff_t>(i);
    std::rotate(first, first + chosen, first + chosen + 1);
  }
}

// Timers of the core that are set and stand side by side. They are the last kind.
void Driver::note_timer_ties(const std::vector<Due>& due) {
  const auto set = [this](const Due& input) {
    return input.kind == InputKind::timer &&
           pending_[input.event.tag().payload].what == Pending::What::timer &&
           core_.is_set(scheduler::TimerId{pending_[input.event.tag().payload].index});
  };
  for (std::size_t i = due.size(); i > 1 && set(due[i - 1]) && set(due[i - 2]); --i) {
    ++(due[i - 2].order < due[i - 1].order ? unseen_.timers_in_order : unseen_.timers_swapped);
  }
}

void Driver::push_pending(model::Instant at, InputKind kind, Pending pending) {
  std::uint32_t slot = 0;
  if (free_pending_.empty()) {
    slot = static_cast<std::uint32_t>(pending_.size());
    pending_.push_back(pending);
  } else {
    slot = free_pending_.back();
    free_pending_.pop_back();
    pending_[slot] = pending;
  }
  engine_.push(at, {static_cast<std::uint32_t>(kind), next_sequence_++, slot});
}

// Of a try or a timer that is over.
bool Driver::is_stale(const Event& event, model::Instant instant) const {
  const EventTag tag = event.tag();
  const auto kind = static_cast<InputKind>(tag.event_class);
  if (kind == InputKind::timer) {
    return !core_.is_set(scheduler::TimerId{pending_[tag.payload].index});
  }
  if (kind != InputKind::task) {
    return scaling_ && kind == InputKind::executor && is_idle_step(pending_[tag.payload], instant);
  }
  // What a killed task would have reported is dropped; at the instant at which its slot comes back
  // the first event stands for that, in the place of its launch either way.
  const Run& run = runs_[tag.payload];
  if (shares_slots_ && run.live && run.launch == tag.sequence && !run.killed) {
    return is_stale_shared(scheduler::RunId{tag.payload}, instant);
  }
  return !(run.live && run.launch == tag.sequence && (!run.killed || instant == run.over_at));
}

void Driver::forget_batch() {
  for (const Event& event : batch_) {
    if (static_cast<InputKind>(event.tag().event_class) != InputKind::task) {
      free_pending_.push_back(event.tag().payload);
    }
  }
}

void Driver::deliver(const Event& event) {
  const EventTag tag = event.tag();
  if (static_cast<InputKind>(tag.event_class) != InputKind::task) {
    deliver_pending(tag.payload);
    return;
  }
  if (is_stale(event, now_)) {
    deliver_late(event);
    return;
  }
  deliver_task(event);
}

// Of a try that is not stale.
void Driver::deliver_task(const Event& event) {
  const scheduler::RunId run{event.tag().payload};
  if (shares_slots_ && !runs_[run.index()].killed) {
    advance_shared(run);
  } else {
    report_task(run);
  }
}

// X12: a success of which the status comes when the loss of its executor was noticed before. Once
// the core has given the id to another run there is nobody left to whom it could be told.
void Driver::deliver_late(const Event& event) {
  const EventTag tag = event.tag();
  if (static_cast<InputKind>(tag.event_class) != InputKind::task) {
    return;
  }
  Run& run = runs_[tag.payload];
  if (!run.late || run.launch != tag.sequence) {
    return;
  }
  run.late = false;
  ++unseen_.late_successes;
  scheduler::TaskEnded told;
  told.run = scheduler::RunId{tag.payload};
  step(told);
  RH_CHECK(actions_.list.empty(), tag.payload);
}

void Driver::deliver_pending(std::uint32_t slot) {
  const Pending pending = pending_[slot];
  free_pending_.push_back(slot);
  if (is_idle_step(pending, now_)) {
    return;  // since this instant began
  }
  switch (pending.what) {
    case Pending::What::fault:
      fire_fault(pending.index);
      break;
    case Pending::What::notice:
      notice(pending.index, pending.cause);
      break;
    case Pending::What::join:
      join(pending.index, nullptr);
      break;
    case Pending::What::release:
      release(pending.index);
      break;
    case Pending::What::submission:
      --pending_submissions_;
      submit(pending.submission);
      break;
    case Pending::What::timer:
      step(scheduler::TimerFired{scheduler::TimerId{pending.index}});
      break;
    case Pending::What::scale:
      scale();
      break;
  }
}

void Driver::step(const scheduler::Input& input) {
  actions_.clear();
  core_.step(input, actions_);
  ++steps_;
  carry_out();
}

void Driver::pass() {
  actions_.clear();
  core_.pass(actions_);
  ++steps_;
  carry_out();
}

RunResult run(const model::Scenario& scenario, const scheduler::PolicySet& policies,
              std::span<model::Observer* const> observers, const RunOptions& options) {
  Driver driver(scenario, policies, observers, options);
  return driver.run();
}

}  // namespace rehearse::sim
