// The oracle's clock: inputs by instant and kind (scenario.md 4), faults and moments (scenario.md
// 2), executors that join, callers that submit (X8).
// registry: none (a part of the oracle)
#include <algorithm>
#include <tuple>

#include "model/support/check.hpp"
#include "properties/oracle/world.hpp"

namespace rehearse::properties::oracle {

using namespace model;

namespace {

constexpr int kind_of(const TimedAction& action) {
  return std::holds_alternative<LoseExecutor>(action) ? 1
         : std::holds_alternative<CancelJob>(action)  ? 2
                                                      : 4;
}

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

}  // namespace

World::World(const Scenario& scenario)
    : scenario_(scenario), config_(scenario.scheduler), cluster_(scenario.cluster) {
  out_.names = scenario.names;
  callers_.resize(scenario.jobs.size());
}

void World::at(Instant when, int kind, std::int64_t first, std::int64_t second, Action act) {
  dues_.push_back({when, kind, first, second, std::move(act)});
}

// The place of an input that the file does not name: by creation, behind those that it does.
std::int64_t World::created() { return std::ssize(scenario_.faults.timed) + sequence_++; }

void World::arm(const Job& job, Instant when, Action act) {
  at(when, 6, sequence_++, 0, std::move(act));
  reach(Moment::timer_armed, job.name, {}, {}, false);
}

Expected World::run() {
  for (const ExecutorSpec& spec : cluster_.executors) {
    expect_executor(spec, spec.joins, -1);
  }
  const FaultPlan& plan = scenario_.faults;
  for (std::size_t i = 0; i < plan.timed.size(); ++i) {
    const TimedFault& fault = plan.timed[i];
    if (fault.moment) {
      moments_.push_back({0, &fault});
    } else if (const auto* added = std::get_if<AddExecutor>(&fault.action)) {
      expect_executor(added->executor, *fault.at, static_cast<std::int64_t>(i));
    } else {
      at(*fault.at, kind_of(fault.action), static_cast<std::int64_t>(i), 1,
         [this, &fault] { return strike(fault.action); });
    }
  }
  for (std::size_t spec = 0; spec < scenario_.jobs.size(); ++spec) {
    if (scenario_.jobs[spec].after.empty()) {
      call(spec);
    }
  }
  expect_scaling();
  Instant last = 0;
  for (bool over = false; !over;) {
    while (!dues_.empty()) {
      now_ = std::ranges::min_element(dues_, {}, &Due::at)->at;
      if (scenario_.horizon && now_ > *scenario_.horizon) {
        return std::move(out_);
      }
      last = round() ? now_ : last;
      pass();
      watch_scaling();
    }
    now_ = last;  // W5: nothing is due and somebody lives
    for (Job* job : queue_) {
      if (!job->over) {
        end_job(*job, JobOutcome::failed, Code::deadlock);
      }
    }
    over = dues_.empty();  // X8: the caller may submit again
  }
  return std::move(out_);
}

// All inputs that are due, in their order; what they make due at once comes behind them, before the
// pass (an order that scenario.md 4 leaves open).
bool World::round() {
  bool acted = false;
  for (;;) {
    std::vector<Due> due;
    std::erase_if(dues_, [&](Due& input) {
      const bool now = input.at == now_;
      if (now) {
        due.push_back(std::move(input));
      }
      return now;
    });
    if (due.empty()) {
      return acted;
    }
    std::ranges::sort(due, {}, [](const Due& input) {
      return std::tuple(input.kind, input.first, input.second);
    });
    for (const Due& input : due) {
      acted = input.act() || acted;
      close_step();
    }
  }
}

void World::tell_returned() {
  for (const SlotReturned& line : std::exchange(after_step_, {})) {
    say(line, "A10");
  }
}

void World::close_step() {
  tell_returned();
  for (std::size_t i = 0; i < freed_.size(); ++i) {
    const auto later = std::span(freed_).subspan(i + 1);
    if (std::ranges::find(later, freed_[i]) == later.end()) {
      leave_if_idle(freed_[i]);
    }
  }
  freed_.clear();
  watch_starvation();
  wanted_.clear();
}

void World::say(EventBody body, std::string_view clause) {
  out_.events.push_back({{now_, std::move(body)}, clause});
  moments(out_.events.back().event.body);
}

// Moments of a group are those of each of its members, a regular stage is a group of one; what a
// unit launched and finished is counted by partition, from its latest attempt on.
void World::moments(const EventBody& body) {
  using enum Moment;
  const auto group = [&](Moment moment, const StageRef& ref) {
    reach(moment, ref.job, ref.stage, {}, true);
  };
  const auto alone = [&](const StageRef& ref) {
    const Unit* unit = unit_of(ref.job, ref.stage);
    return unit != nullptr && !unit->gang;
  };
  const auto begin = [&](const StageRef& ref) {
    const Unit* unit = unit_of(ref.job, ref.stage);
    launched_.erase(unit);
    finished_.erase(unit);
  };
  const auto task = [&](const TaskRef& ref, bool holds, Moment moment) {
    if (holds) {
      reach(moment, ref.job, ref.stage, {}, true);
    }
  };
  const Overloaded by_line{
      [&](const GroupQueued& line) { reach(group_queued, line.job, line.stage, {}, true); },
      [&](const GroupAdmitted& line) {
        begin(line.group);
        group(group_admitted, line.group);
      },
      [&](const GroupCommitted& line) { group(group_commit, line.group); },
      [&](const GroupFailed& line) { group(teardown, line.group); },
      [&](const GroupCancelled& line) { group(teardown, line.group); },
      [&](const StageSubmitted& line) {
        if (alone(line.stage)) {
          begin(line.stage);
          group(group_admitted, line.stage);
        }
      },
      [&](const StageCompleted& line) {
        if (alone(line.stage)) {
          group(line.status == StageStatus::success ? group_commit : teardown, line.stage);
        }
      },
      [&](const MemberFinished& line) {
        reach(member_finished, line.stage.job, line.stage.stage, {}, false);
      },
      [&](const JobEnd& line) { reach(job_end, line.job, {}, {}, false); },
      [&](const ExecutorLost& line) { reach(executor_lost, {}, {}, line.executor, false); },
      [&](const OutputsLost& line) {  // what is lost is to be done again
        if (const Unit* unit = unit_of(line.job, line.stage)) {
          std::erase_if(finished_[unit], [&](const auto& done) {
            return done.first == line.stage &&
                   std::ranges::any_of(line.partitions, [&](const Range& range) {
                     return range.first <= done.second && done.second <= range.last;
                   });
          });
        }
        reach(external_input_lost, line.job, line.stage, line.executor, false);
      },
      [&](const TaskStart& line) {
        const auto [count, all] = progress(launched_, line.task);
        task(line.task, count == 1, first_launch);
        task(line.task, count == all, all_launched);
      },
      [&](const TaskEnd& line) {
        if (line.status == TaskStatus::success && !line.counted) {
          const auto [count, all] = progress(finished_, line.task);
          task(line.task, count > 0 && count + 1 == all, last_but_one_task);
        }
      },
      [](const auto&) {},
  };
  std::visit(by_line, body);
}

const Unit* World::unit_of(NameId job, NameId stage) const {
  const auto found = std::ranges::find(jobs_, job, &Job::name);
  for (const Unit& unit : found->units) {
    if (std::ranges::any_of(unit.stages,
                            [&](int s) { return found->stages[s].spec->name == stage; })) {
      return &unit;
    }
  }
  return nullptr;
}

// How many tasks of the unit's latest attempt are in the set with this one, if it is new (else 0),
// and of how many.
std::pair<std::int64_t, std::int64_t> World::progress(Progress& of, const TaskRef& task) {
  const Unit& unit = *unit_of(task.job, task.stage);
  const Job& job = *std::ranges::find(jobs_, task.job, &Job::name);
  std::int64_t all = 0;
  for (const int s : unit.stages) {
    all += std::ssize(job.stages[s].attempts.back().partitions);
  }
  auto& set = of[&unit];
  const bool fresh = set.insert({task.stage, task.partition}).second;
  return {fresh ? std::ssize(set) : 0, all};
}

void World::reach(Moment moment, NameId job, NameId stage, NameId executor, bool of_members) {
  for (Choice& choice : moments_) {
    const TimedFault& fault = *choice.fault;
    const Unit* unit = of_members && fault.match_stage.valid() ? unit_of(job, stage) : nullptr;
    const bool same_stage = !fault.match_stage.valid() || fault.match_stage == stage ||
                            (unit != nullptr && means(fault.match_stage_job, job) &&
                             unit == unit_of(job, fault.match_stage));
    const bool agrees =
        *fault.moment == moment && (!fault.match_job.valid() || means(fault.match_job, job)) &&
        (!fault.match_stage_job.valid() || means(fault.match_stage_job, job)) && same_stage &&
        (!fault.match_executor.valid() || fault.match_executor == executor);
    if (agrees && ++choice.count == fault.nth) {
      at(now_ + fault.after, kind_of(fault.action), created(), 0,
         [this, &fault] { return strike(fault.action); });
    }
  }
}

bool World::strike(const TimedAction& action) {
  if (const auto* loss = std::get_if<LoseExecutor>(&action)) {
    return lose(*loss);
  }
  if (const auto* held = std::get_if<HoldExecutors>(&action)) {
    return hold(*held);
  }
  if (const auto* added = std::get_if<AddExecutor>(&action)) {
    executors_.emplace_back().spec = added->executor;
    return join(static_cast<int>(executors_.size()) - 1);
  }
  return cancel(std::get<CancelJob>(action).job);
}

// `j` alone is the first submission, or all copies.
bool World::means(NameId name, NameId run) const {
  const auto job = std::ranges::find(jobs_, run, &Job::name);
  return name == run || (job != jobs_.end() && job->resubmission == 0 && job->spec->name == name);
}

bool World::cancel(NameId name) {
  bool any = false;
  for (Job& job : jobs_) {
    if (!job.over && means(name, job.name)) {
      end_job(job, JobOutcome::cancelled, Code::cancelled);
      close_step();  // each copy in a step of its own
      any = true;
    }
  }
  return any;
}

// X12, X13: the death now, its notice later; a notice without delay acts in this step.
bool World::lose(const LoseExecutor& loss) {
  std::vector<int> taken;
  for (int e = 0; e < std::ssize(executors_); ++e) {
    const Executor& executor = executors_[e];
    const auto named = [&](const Executor& other) { return other.spec.name == loss.executor; };
    const auto found = std::ranges::find_if(executors_, named);
    const bool same_host = loss.cause == LossCause::host && found != executors_.end() &&
                           executor.spec.host == found->spec.host && executor.lives();
    if (!executor.gone && !executor.died && (named(executor) || same_host)) {
      taken.push_back(e);
    }
  }
  std::ranges::sort(taken, {}, [this](int e) { return number_of(e); });
  for (const int e : taken) {
    Executor& executor = executors_[e];
    const bool called_off = executor.number == nobody;  // A14
    if (loss.cause != LossCause::decommission || called_off) {
      executor.died = now_;
    }
    const std::uint64_t key = name_key(out_.names.text(executor.spec.name));
    const DrawScope scope{scenario_.seed, DrawPurpose::loss_detection, key, 0};
    const Duration delay =
        loss.noticed ? *loss.noticed
                     : sample(cluster_.overheads.loss_detection, model::draw(draw_key(scope), {}));
    const auto heard = [this, e, cause = loss.cause] {
      notice(e, cause);
      close_step();
      return true;
    };
    if (delay == 0 || called_off) {
      heard();
    } else {
      at(now_ + delay, 1, created(), 0, heard);
    }
  }
  return !taken.empty();
}

bool World::hold(const HoldExecutors& held) {
  bool any = false;
  for (const NameId name : held.executors) {
    for (Executor& executor : executors_) {
      if (executor.spec.name != name || !executor.lives()) {
        continue;
      }
      any = true;
      if (executor.holds++ == 0) {
        say(ExecutorHeld{executor.spec.name, HoldCause::hold}, "scenario 2");
      }
      at(now_ + held.for_ns, 4, created(), 0, [this, &executor] {
        --executor.holds;
        if (executor.holds == 0 && executor.lives()) {
          say(ExecutorReleased{executor.spec.name}, "scenario 2");
        }
        return executor.lives();
      });
    }
  }
  return any;
}

void World::expect_executor(const ExecutorSpec& spec, Instant when, std::int64_t order) {
  executors_.emplace_back().spec = spec;
  const int e = static_cast<int>(executors_.size()) - 1;
  executors_.back().spec.joins = when;
  at(when, 4, order, e, [this, e] { return join(e); });
}

bool World::join(int e) {
  Executor& executor = executors_[e];
  if (executor.died || executor.gone || executor.leaving) {
    executor.due = false;  // A14: called off
    loss_noticed_ = true;
    return false;
  }
  executor.number = joined_++;
  executor.due = false;
  executor.used.assign(cluster_.resources.size(), 0);
  ExecutorAdded line{.executor = executor.spec.name,
                     .host = executor.spec.host,
                     .rack = executor.spec.rack,
                     .resources = {},
                     .profile = {},
                     .speed = executor.spec.speed_milli};
  for (std::size_t r = 0; r < cluster_.resources.size(); ++r) {
    if (executor.spec.resources[r] != 0) {
      line.resources.push_back({cluster_.resources[r], executor.spec.resources[r]});
    }
  }
  if (executor.spec.profile.valid()) {
    line.profile = cluster_.profiles[executor.spec.profile.index()].name;
  }
  say(std::move(line), "scenario 5");
  return true;
}

// X13, decommission: it leaves when its last slot came back, as an input of that instant.
void World::leave_if_idle(int e) {
  Executor& executor = executors_[e];
  const bool busy =
      std::ranges::any_of(tries_, [e](const Try& task) { return task.busy && task.executor == e; });
  if (executor.leaving && executor.lives() && !executor.left && !busy) {
    executor.left = true;
    at(now_, 1, created(), 0, [this, e] {
      if (!executors_[e].gone) {
        leave(e, LossCause::decommission);
      }
      return true;
    });
  }
}

const Caller& World::caller(NameId job) const {
  const auto found = std::ranges::find(scenario_.jobs, job, &JobSpec::name);
  return callers_[static_cast<std::size_t>(found - scenario_.jobs.begin())];
}

// A job of the file and its copies; inputs of kind 5 in the order of scenario.md 4.
void World::call(std::size_t spec) {
  const JobSpec& job = scenario_.jobs[spec];
  Instant first = job.submit;
  for (const AfterSpec& after : job.after) {
    first = &after == &job.after.front() ? 0 : first;
    first = std::max(first, *caller(after.job).last_end + after.delay);
  }
  callers_[spec].submitted = true;
  callers_[spec].open = job.repeat_count;
  for (int copy = 0; copy < job.repeat_count; ++copy) {
    const int number = job.repeat_count > 1 ? copy + 1 : 0;
    at(first + copy * job.repeat_every, 5, order_of(spec, number, 0), 0,
       [this, spec, number] { return submit(spec, number, 0); });
  }
}

std::int64_t order_of(std::size_t origin, int copy, int resubmission) {
  constexpr std::int64_t many = 1'000'000;
  const std::int64_t number = copy * 1'000 + resubmission;
  return (number > 0 ? many * many : 0) + static_cast<std::int64_t>(origin) * many + number;
}

// X8, and jobs that come after others.
void World::job_over(Job& job, JobOutcome outcome) {
  job.over = true;
  Caller& own = callers_[job.origin];
  if (job.resubmits_left > 0 && outcome == JobOutcome::failed) {
    const int next = job.resubmission + 1;
    at(now_ + job.spec->backoff, 5, order_of(job.origin, job.copy, next), 0,
       [this, origin = job.origin, copy = job.copy, next] { return submit(origin, copy, next); });
    return;
  }
  if (--own.open > 0) {
    return;
  }
  own.last_end = now_;
  for (std::size_t spec = 0; spec < scenario_.jobs.size(); ++spec) {
    const auto& after = scenario_.jobs[spec].after;
    const bool all = std::ranges::all_of(
        after, [&](const AfterSpec& other) { return caller(other.job).last_end.has_value(); });
    if (!after.empty() && all && !callers_[spec].submitted) {
      call(spec);
    }
  }
}

Duration World::drawn(const Try& task, DrawPurpose purpose, const Distribution& from) const {
  const DrawScope scope{scenario_.seed, purpose, job_key(out_.names.text(task.job->name)),
                        name_key(out_.names.text(task.job->stages[task.stage].spec->name))};
  const DrawPoint point{static_cast<std::uint32_t>(task.partition),
                        static_cast<std::uint32_t>(task.attempt),
                        static_cast<std::uint32_t>(task.number)};
  return sample(from, model::draw(draw_key(scope), point));
}

Expected expected_journal(const Scenario& scenario) {
  RH_CHECK(!refusal(scenario));
  return World(scenario).run();
}

}  // namespace rehearse::properties::oracle
