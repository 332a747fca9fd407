// What goes wrong: a few faults tied to instants or to moments, each with what brings back the
// executors it takes, so that everything can finish in the end.
// registry: none (a part of the generator)
#include <algorithm>
#include <optional>
#include <utility>

#include "properties/gen/making.hpp"

namespace rehearse::properties {

namespace {

using model::Moment;
using model::TaskFault;
using model::TimedFault;

class FaultMaker {
 public:
  explicit FaultMaker(Making& making)
      : making_(making),
        draws_(making.draws(Concern::faults)),
        stragglers_(making.draws(Concern::stragglers)),
        phase_(making.draws(Concern::healing)),
        heals_last_(making.swarm.heals && phase_.percent(40)) {}

  void make() {
    switch (making_.swarm.theme) {
      case Theme::flapping_executor:
        flap();
        break;
      case Theme::cancel_storm:
        for (const model::JobSpec& job : making_.scenario.jobs) {
          add_when(model::CancelJob{job.name});
        }
        break;
      case Theme::held_cluster:
        hold_everything();
        break;
      default:
        break;
    }
    for (std::int64_t n = making_.swarm.fault_budget; n > 0; --n) {
      add_one(draw_kind());
    }
    if (making_.swarm.fault_budget > 0 && making_.shape.impatient && stragglers_.percent(15)) {
      add_straggler();
    }
    for (TimedFault& fault : healing_) {
      push(std::move(fault));
    }
    if (heals_last_ && !making_.scenario.faults.order.empty()) {
      make_healing_phase();
    }
  }

 private:
  // An instant or a moment, without an action.
  [[nodiscard]] TimedFault when() {
    TimedFault fault;
    if (!making_.swarm.moments || draws_.percent(35)) {
      fault.at = draws_.ms(0, draws_.percent(70) ? 30 : 80);
      return fault;
    }
    fault.moment = draw_moment();
    if (draws_.percent(30)) {
      fault.nth = static_cast<std::int32_t>(draws_.range(2, 4));
    }
    if (draws_.percent(35)) {
      fault.after = draws_.ms(0, 4);
    }
    if (*fault.moment == Moment::executor_lost) {
      if (!making_.executors.empty() && draws_.percent(30)) {
        fault.match_executor = draws_.of(making_.executors);
      }
    } else if (draws_.percent(30)) {
      fault.match_job = draws_.of(making_.scenario.jobs).name;
    } else if (*fault.moment != Moment::job_end && *fault.moment != Moment::timer_armed &&
               draws_.percent(30)) {
      const model::JobSpec& job = draws_.of(making_.scenario.jobs);
      fault.match_stage_job = job.name;
      fault.match_stage = draws_.of(job.stages).name;
    }
    return fault;
  }

  [[nodiscard]] Moment draw_moment() {
    using enum Moment;
    // Rare ones, which would hardly meet a fault: where nobody waits for slots few groups are
    // queued, and timers are armed seldom but where everybody starves.
    const std::int64_t rare = draws_.below(100);
    if (making_.shape.impatient && rare < 50) {
      return rare < 35 ? group_queued : external_input_lost;
    }
    if (rare >= (making_.swarm.theme == Theme::held_cluster ? 60 : 85)) {
      return timer_armed;
    }
    if (!making_.shape.groups) {
      return draws_.pick({group_admitted, first_launch, all_launched, last_but_one_task,
                          group_commit, teardown, job_end, timer_armed, executor_lost,
                          external_input_lost, group_queued});
    }
    return draws_.pick({group_queued, group_admitted, first_launch, all_launched, member_finished,
                        member_finished, last_but_one_task, group_commit, teardown, job_end,
                        timer_armed, executor_lost, external_input_lost});
  }

  void push(TimedFault fault) {
    model::FaultPlan& plan = making_.scenario.faults;
    plan.order.push_back({false, static_cast<std::uint32_t>(plan.timed.size())});
    plan.timed.push_back(std::move(fault));
  }

  // What is drawn for the action is drawn before what is drawn for its time: as arguments of one
  // call the two would come in an order that each compiler chooses.
  void add_when(model::TimedAction action) {
    TimedFault fault = when();
    add_timed(std::move(fault), std::move(action));
  }

  void add_timed(TimedFault fault, model::TimedAction action) {
    fault.action = std::move(action);
    push(std::move(fault));
  }

  void add_task(const TaskFault& fault) {
    model::FaultPlan& plan = making_.scenario.faults;
    plan.order.push_back({true, static_cast<std::uint32_t>(plan.tasks.size())});
    plan.tasks.push_back(fault);
  }

  // ---- what a seed goes in for ----

  [[nodiscard]] FaultKind draw_kind() {
    std::int64_t total = 0;
    for (const std::int64_t weight : making_.swarm.fault_weights) {
      total += weight;
    }
    std::int64_t left = draws_.below(std::max<std::int64_t>(total, 1));
    for (std::size_t kind = 0; kind < fault_kinds; ++kind) {
      left -= making_.swarm.fault_weights[kind];
      if (left < 0) {
        return static_cast<FaultKind>(kind);
      }
    }
    return FaultKind::exception;
  }

  void add_one(FaultKind kind) {
    switch (kind) {
      case FaultKind::lose_process:
        return add_loss(model::LossCause::process);
      case FaultKind::lose_host:
        return add_loss(model::LossCause::host);
      case FaultKind::lose_by_app:
        return add_loss(model::LossCause::exit_by_app);
      case FaultKind::decommission:
        return add_loss(model::LossCause::decommission);
      case FaultKind::hold:
        if (!making_.executors.empty()) {
          add_when(model::HoldExecutors{{draws_.of(making_.executors)}, draws_.ms(1, 12)});
        }
        return;
      case FaultKind::join:
        add_when(model::AddExecutor{fresh_executor(draws_)});
        return;
      case FaultKind::cancel:
        add_when(model::CancelJob{draws_.of(making_.scenario.jobs).name});
        return;
      case FaultKind::fetch:
        return add_fetch();
      default:
        return add_failure(kind);
    }
  }

  // ---- executors ----

  [[nodiscard]] model::NameId fresh_name() { return making_.name('x', making_.names_used++); }

  [[nodiscard]] model::ExecutorSpec fresh_executor(Draws& draws) {
    return make_executor(making_, draws, fresh_name());
  }

  [[nodiscard]] const model::ExecutorSpec* spec_of(model::NameId name) const {
    const auto& executors = making_.scenario.cluster.executors;
    const auto found = std::ranges::find(executors, name, &model::ExecutorSpec::name);
    return found == executors.end() ? nullptr : &*found;
  }

  void add_loss(model::LossCause cause) {
    if (making_.executors.empty()) {
      return;
    }
    model::LoseExecutor lose{
        .executor = draws_.of(making_.executors), .cause = cause, .noticed = {}};
    if (draws_.percent(25)) {
      lose.noticed = draws_.ms(0, 8);
    }
    TimedFault fault = when();
    if (making_.swarm.heals) {
      heal(fault, lose);
    }
    add_timed(std::move(fault), lose);
  }

  // Everything on its host may go with it.
  void heal(const TimedFault& fault, const model::LoseExecutor& lose) {
    if (heals_last_) {
      return;
    }
    const auto& executors = making_.scenario.cluster.executors;
    const model::ExecutorSpec* lost = spec_of(lose.executor);
    for (const model::ExecutorSpec& executor : executors) {
      const bool hit =
          executor.name == lose.executor ||
          (lose.cause == model::LossCause::host && lost != nullptr && executor.host == lost->host);
      if (!hit || std::ranges::find(healed_, executor.name) != healed_.end()) {
        continue;
      }
      healed_.push_back(executor.name);
      model::ExecutorSpec fresh = one_like(executor);
      TimedFault back;
      if (fault.at && draws_.percent(60)) {
        back.at = *fault.at + draws_.ms(0, 20);
      } else {
        back.moment = Moment::executor_lost;
        back.match_executor = executor.name;
        back.after = draws_.ms(0, 20);
      }
      back.action = model::AddExecutor{std::move(fresh)};
      healing_.push_back(std::move(back));
    }
  }

  // Another one with what it has, on a host of its own.
  [[nodiscard]] model::ExecutorSpec one_like(model::ExecutorSpec executor) {
    executor.name = fresh_name();
    executor.host = making_.scenario.names.intern(
        "h-" + std::string(making_.scenario.names.text(executor.name)));
    executor.joins = 0;
    return executor;
  }

  // ---- the healing phase (model/healing.hpp) ----

  // When everything that comes or goes at an instant has done so.
  [[nodiscard]] model::Instant all_came() const {
    model::Instant last = 0;
    for (const model::ExecutorSpec& executor : making_.scenario.cluster.executors) {
      last = std::max(last, executor.joins);
    }
    for (const model::JobSpec& job : making_.scenario.jobs) {
      last = std::max(last, job.submit + (job.repeat_count - 1) * job.repeat_every);
    }
    for (const TimedFault& fault : making_.scenario.faults.timed) {
      const auto* hold = std::get_if<model::HoldExecutors>(&fault.action);
      last = std::max(last, fault.at.value_or(0) + (hold != nullptr ? hold->for_ns : 0));
    }
    return last;
  }

  // By any loss, or by those alone that wait for a moment.
  [[nodiscard]] bool may_be_lost(const model::ExecutorSpec& executor, bool at_moments) const {
    return std::ranges::any_of(making_.scenario.faults.timed, [&](const TimedFault& fault) {
      const auto* lose = std::get_if<model::LoseExecutor>(&fault.action);
      if (lose == nullptr || (at_moments && !fault.moment)) {
        return false;
      }
      const model::ExecutorSpec* named = spec_of(lose->executor);
      return lose->executor == executor.name || (lose->cause == model::LossCause::host &&
                                                 named != nullptr && named->host == executor.host);
    });
  }

  // Slots of the profile that the largest gang may ask for: all members of a job together.
  [[nodiscard]] std::int64_t largest_demand(std::size_t profile) const {
    std::int64_t largest = 0;
    for (const model::JobSpec& job : making_.scenario.jobs) {
      std::vector<bool> member(job.stages.size());
      for (const model::EdgeSpec& edge : job.edges) {
        const bool joins = making_.shape.groups && edge.from.valid() &&
                           (making_.shape.whole_jobs || edge.kind == model::EdgeKind::pipelined);
        for (const model::StageIndex to : edge.to) {
          member[to.index()] = member[to.index()] || joins;
        }
        if (joins) {
          member[edge.from.index()] = true;
        }
      }
      std::int64_t demand = 0;
      for (std::size_t s = 0; s < job.stages.size(); ++s) {
        const bool asks = job.stages[s].profile.index() == profile && member[s];
        demand += asks ? job.stages[s].tasks : 0;
      }
      largest = std::max(largest, demand);
    }
    return largest;
  }

  // From its instant on no entry takes anything away: who could still be lost at a moment goes at
  // it. One like each that is gone comes, and one more where the largest gang would not fit.
  void make_healing_phase() {
    TimedFault when;
    when.at = all_came() + phase_.ms(0, 10);
    std::vector<model::ExecutorSpec> fresh;
    const model::Cluster& cluster = making_.scenario.cluster;
    for (const model::ExecutorSpec& executor : cluster.executors) {
      if (may_be_lost(executor, true)) {
        add_timed(when, model::LoseExecutor{.executor = executor.name,
                                            .cause = model::LossCause::process,
                                            .noticed = {}});
      }
      if (may_be_lost(executor, false)) {
        fresh.push_back(one_like(executor));
      }
    }
    for (std::size_t p = 0; p < cluster.profiles.size(); ++p) {
      const std::int64_t lacks = largest_demand(p) - making_.capacity[p];
      if (lacks > 0 && lacks <= 100 && phase_.percent(50)) {
        model::ExecutorSpec large;
        large.resources = cluster.profiles[p].task;
        for (std::int64_t& amount : large.resources) {
          amount *= lacks;
        }
        large.profile = model::ProfileId{static_cast<std::uint32_t>(p)};
        fresh.push_back(one_like(std::move(large)));
      }
    }
    if (fresh.empty()) {
      fresh.push_back(fresh_executor(phase_));
    }
    for (model::ExecutorSpec& executor : fresh) {
      add_timed(when, model::AddExecutor{std::move(executor)});
    }
  }

  // The executor that comes and goes: lost and replaced again and again, or held.
  void flap() {
    if (making_.executors.empty()) {
      return;
    }
    model::NameId name = draws_.of(making_.executors);
    const model::ExecutorSpec* first = spec_of(name);
    if (first == nullptr) {
      return;
    }
    model::ExecutorSpec spec = *first;
    model::Instant at = draws_.ms(1, 6);
    for (std::int64_t n = draws_.range(2, 3); n > 0; --n) {
      TimedFault fault;
      fault.at = at;
      at += draws_.ms(0, 5);
      if (draws_.percent(30)) {
        add_timed(fault, model::HoldExecutors{{name}, draws_.ms(1, 4)});
        continue;
      }
      const auto cause =
          draws_.percent(60) ? model::LossCause::process : model::LossCause::decommission;
      add_timed(fault, model::LoseExecutor{.executor = name, .cause = cause, .noticed = {}});
      spec.name = fresh_name();
      spec.joins = 0;
      TimedFault back;
      back.at = at;
      add_timed(back, model::AddExecutor{spec});
      name = spec.name;
      at += draws_.ms(1, 6);
    }
  }

  // Capacity 0 with work pending; then somebody comes, or the hold ends.
  void hold_everything() {
    TimedFault fault;
    fault.at = draws_.ms(0, 10);
    if (making_.executors.empty()) {
      return;
    }
    if (draws_.percent(50)) {
      add_timed(fault, model::HoldExecutors{making_.executors, draws_.ms(2, 20)});
      return;
    }
    // All that starve run out of time together, then, whoever is told so first.
    const bool for_good = draws_.percent(30);
    making_.scenario.ties_shuffled = making_.scenario.ties_shuffled || for_good;
    for (const model::NameId name : making_.executors) {
      const model::LoseExecutor lose{
          .executor = name, .cause = model::LossCause::process, .noticed = {}};
      if (!for_good) {
        heal(fault, lose);
      }
      add_timed(fault, lose);
    }
  }

  // ---- tasks ----

  [[nodiscard]] const model::StageSpec* some_stage(const model::JobSpec& job) {
    const model::StageSpec& stage = draws_.of(job.stages);
    return stage.tasks > 0 ? &stage : nullptr;
  }

  void choose_try(TaskFault& fault, bool any_try) {
    if (draws_.percent(15)) {
      fault.attempt = static_cast<std::int32_t>(draws_.range(1, 2));
    }
    if (draws_.percent(20)) {
      fault.try_number = static_cast<std::int32_t>(draws_.range(1, 2));
      if (any_try && draws_.percent(40)) {
        fault.try_number.reset();
      }
    }
  }

  void add_failure(FaultKind kind) {
    const model::JobSpec& job = draws_.of(making_.scenario.jobs);
    const model::StageSpec* stage = some_stage(job);
    if (stage == nullptr) {
      return;
    }
    TaskFault fault;
    fault.job = job.name;
    fault.stage = stage->name;
    fault.partition = static_cast<std::int32_t>(draws_.below(stage->tasks));
    // What does not count towards max_task_failures may not hit every try: that never ends.
    const bool counts = kind != FaultKind::killed && kind != FaultKind::commit_denied;
    choose_try(fault, counts);
    if (kind == FaultKind::slow) {
      fault.slow_milli = draws_.pick<std::int64_t>({500, 2000, 5000, 20000});
    } else if (kind == FaultKind::late) {
      fault.status_late = draws_.ms(1, 8);
    } else {
      using enum model::TaskFaultKind;
      fault.fails = kind == FaultKind::exception       ? exception
                    : kind == FaultKind::killed        ? killed
                    : kind == FaultKind::commit_denied ? commit_denied
                    : kind == FaultKind::result_lost   ? result_lost
                                                       : out_of_memory;
      fault.after = draws_.percent(30) ? 0 : draws_.ms(0, 6);
    }
    add_task(fault);
  }

  // The output of a stage that the task's stage reads.
  void add_fetch() {
    const model::JobSpec& job = draws_.of(making_.scenario.jobs);
    if (job.edges.empty()) {
      return add_failure(FaultKind::exception);
    }
    const model::EdgeSpec& edge = draws_.of(job.edges);
    const model::StageSpec& reader = job.stages[edge.to.front().index()];
    TaskFault fault;
    std::int64_t outputs = 0;
    if (edge.from_job.valid()) {
      fault.fetch_from_job = edge.from_job;
      fault.fetch_from = edge.from_stage;
      outputs = tasks_of(edge.from_job, edge.from_stage);
    } else {
      fault.fetch_from = job.stages[edge.from.index()].name;
      outputs = job.stages[edge.from.index()].tasks;
    }
    if (reader.tasks == 0 || outputs == 0) {
      return;
    }
    fault.job = job.name;
    fault.stage = reader.name;
    fault.partition = static_cast<std::int32_t>(draws_.below(reader.tasks));
    choose_try(fault, true);
    fault.fetch_fails = true;
    fault.fetch_partition = static_cast<std::int32_t>(draws_.below(outputs));
    fault.after = draws_.ms(0, 5);
    add_task(fault);
  }

  // A fetch that fails beside a task that runs on when its attempt is over, in a job of regular
  // stages: what such a task claims shows where others are judged the moment they come (A9).
  void add_straggler() {
    struct Place {
      const model::JobSpec* job = nullptr;
      const model::EdgeSpec* edge = nullptr;
    };
    std::vector<Place> places;
    for (const model::JobSpec& job : making_.scenario.jobs) {
      const bool regular = std::ranges::all_of(job.edges, [](const model::EdgeSpec& edge) {
        return edge.kind == model::EdgeKind::regular;
      });
      for (const model::EdgeSpec& edge : job.edges) {
        if (regular && edge.from.valid() && job.stages[edge.from.index()].tasks > 0 &&
            job.stages[edge.to.front().index()].tasks > 1) {
          places.push_back({&job, &edge});
        }
      }
    }
    if (places.empty()) {
      return;
    }
    // The smallest: where more waits than there are slots, nobody is let in whatever is claimed.
    const auto readers = [](const Place& place) {
      return place.job->stages[place.edge->to.front().index()].tasks;
    };
    const Place place = *std::ranges::min_element(places, {}, readers);
    const model::StageSpec& reader = place.job->stages[place.edge->to.front().index()];
    const model::StageSpec& producer = place.job->stages[place.edge->from.index()];
    TaskFault fault;
    fault.job = place.job->name;
    fault.stage = reader.name;
    fault.partition = static_cast<std::int32_t>(stragglers_.below(reader.tasks - 1));
    TaskFault slow = fault;
    slow.partition = fault.partition + 1;
    slow.slow_milli = stragglers_.pick<std::int64_t>({5000, 20000, 50000});
    fault.fetch_from = producer.name;
    fault.fetch_fails = true;
    fault.fetch_partition = static_cast<std::int32_t>(stragglers_.below(producer.tasks));
    fault.after = stragglers_.ms(0, 5);
    add_task(fault);
    add_task(slow);
  }

  [[nodiscard]] std::int64_t tasks_of(model::NameId job, model::NameId stage) const {
    for (const model::JobSpec& candidate : making_.scenario.jobs) {
      if (candidate.name == job) {
        for (const model::StageSpec& spec : candidate.stages) {
          if (spec.name == stage) {
            return spec.tasks;
          }
        }
      }
    }
    return 0;
  }

  Making& making_;
  Draws draws_;
  Draws stragglers_;  // of their own, so that they move nothing else
  Draws phase_;
  const bool heals_last_;  // not each loss by itself
  std::vector<TimedFault> healing_;
  std::vector<model::NameId> healed_;
};

}  // namespace

void make_faults(Making& making) { FaultMaker(making).make(); }

}  // namespace rehearse::properties
