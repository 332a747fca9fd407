#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/support/journal_line.hpp"
#include "policies/registry.hpp"
#include "tests/conformance/run.hpp"

namespace rehearse::conformance {

using namespace scheduler;

namespace {

constexpr int passes_max = 1000;  // of one step; more is a core that never comes to rest

class Planned final : public PlacementPolicy {
 public:
  explicit Planned(Plan* plan) : plan_(plan) {}
  [[nodiscard]] std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<Planned>(*this);
  }
  void begin(const SlotView& /*slots*/) override {}
  void taking(const SlotView& /*slots*/, ExecutorId /*executor*/) override {}
  [[nodiscard]] ExecutorId pick(const SlotView& slots, const TaskView& task) override {
    const ProfileId profile = task.profile;
    if (!plan_->in_force) {
      return slots.most_free(profile);
    }
    const std::size_t i = plan_->asked++;
    const ExecutorId wanted = i < plan_->picks.size() ? plan_->picks[i] : plan_->rest;
    return slots.free_slots(wanted, profile) > 0 ? wanted : slots.most_free(profile);
  }

 private:
  Plan* plan_;
};

}  // namespace

Engine::Engine(const CoreOptions& made, bool leaves) : options(made), leaves_(leaves) {
  auto policies = policies::make(options.config);
  if (!policies) {
    lacks(policies.error().what);
  }
  policies->placement = std::make_unique<Planned>(plan.get());
  core = std::make_unique<Core>(options, *policies);
}

std::optional<std::size_t> Engine::find(const std::string& name) const {
  const auto found = std::find_if(executors.rbegin(), executors.rend(),
                                  [&](const ExecutorRow& row) { return row.name == name; });
  return found == executors.rend() ? std::nullopt
                                   : std::optional(std::size_t(executors.rend() - found) - 1);
}

void Engine::feed(const Input& input) {
  Actions actions;
  core->set_now(now);
  core->step(input, actions);
  carry_out(actions);
}

void Engine::end(RunId run, TaskEnded ended, bool injected) {
  const std::size_t executor = running.at(run.value)["row"];
  ended.run = run;
  injected_ = injected ? std::optional(run) : std::nullopt;
  feed(ended);
  injected_.reset();
  leave_if_empty(executor);
}

std::size_t Engine::join(const std::string& name, const std::string& host,
                         model::ExecutorSpec spec) {
  spec.name = options.names->intern(name);
  spec.host = options.names->intern(host);
  spec.resources.resize(2);
  executors.push_back({name, host});
  feed(JoinExecutor{{}, spec});
  return executors.size() - 1;
}

void Engine::lose(std::size_t executor, model::LossCause cause) {
  if (std::exchange(executors.at(executor).live, false)) {
    feed(LoseExecutor{ExecutorId{executor}, cause});
  }
}

void Engine::hold(std::size_t executor) {
  feed(HoldExecutor{ExecutorId{executor}, model::HoldCause::hold});
}

void Engine::decommission(std::size_t executor) {
  executors.at(executor).draining = true;
  feed(HoldExecutor{ExecutorId{executor}, model::HoldCause::decommission});
  leave_if_empty(executor);
}

// X13: an executor that drains leaves when its last task ended.
void Engine::leave_if_empty(std::size_t executor) {
  const bool busy = std::ranges::any_of(
      running, [&](const auto& entry) { return entry.second.at("row") == executor; });
  if (leaves_ && executors.at(executor).draining && !busy) {
    lose(executor, model::LossCause::decommission);
  }
}

void Engine::fire(const std::function<bool(const Timer&)>& which) {
  std::vector<Timer> due;
  std::ranges::copy_if(timers, std::back_inserter(due), which);
  std::erase_if(timers, which);
  std::ranges::sort(due, {},
                    [](const Timer& timer) { return std::pair{timer.due, timer.set.timer.value}; });
  for (const Timer& timer : due) {
    now = std::max(now, timer.due);
    feed(TimerFired{timer.set.timer});
  }
}

Actions Engine::pass(Core& on, const Plan& with) {
  Actions actions;
  *plan = with;
  plan->in_force = true;
  on.pass(actions);
  plan->in_force = false;
  return actions;
}

void Engine::settle(std::size_t spare, std::size_t marker,
                    const std::function<std::size_t(const Json&)>& where) {
  for (int passes = 0; core->wants_pass(); ++passes) {
    require(passes < passes_max, "a core that comes to rest", passes);
    Plan real;
    real.rest = ExecutorId{spare};
    for (std::size_t i = 0; i == 0 || i < plan->asked; ++i) {  // whose is the i-th answer?
      Plan marked = real;
      marked.picks.emplace_back(marker);
      real.picks.emplace_back(spare);
      Core copy(*core);
      const Actions answer = pass(copy, marked);
      for (const Action& action : answer.list) {
        const auto* launch = std::get_if<Launch>(&action);
        if (launch != nullptr && launch->executor == ExecutorId{marker}) {
          real.picks.back() = ExecutorId{where(line(*launch))};
        }
      }
    }
    carry_out(pass(*core, real));
  }
}

void Engine::offer(const OfferRound& round) {
  Actions actions;
  core->set_now(now);
  core->offer(round, actions);
  carry_out(actions);
}

std::vector<Json> Engine::ask_copy(const Input& input, bool pass) const {
  Core copy(*core);
  Actions actions;
  copy.step(input, actions);
  if (pass) {
    copy.pass(actions);
  }
  std::vector<Json> said;
  for (const Action& action : actions.list) {
    const auto* entry = std::get_if<Entry>(&action);
    const auto* launch = std::get_if<Launch>(&action);
    said.push_back(entry != nullptr    ? line(actions.entries[entry->index])
                   : launch != nullptr ? line(*launch)
                                       : Json());
  }
  return said;
}

Json Engine::line(model::EventBody body) const {
  Json said = Json::parse(model::journal_line({now, std::move(body)}, *options.names));
  said["step"] = step;
  return said;
}

Json Engine::line(const Launch& launch) const {
  Json said = line(model::TaskStart{{launch.job_name, launch.stage_name, launch.executor_name,
                                     launch.attempt, launch.partition, launch.try_number},
                                    false});
  said["row"] = launch.executor.index();
  said["locality"] = level_names.at(static_cast<std::size_t>(launch.locality));
  return said;
}

void Engine::close(RunId run, const EndTask& end) {
  require(running.contains(run.value), "the end of a run that runs", run.value);
  Json said = running.extract(run.value).mapped();
  said.update({{"e", "task_end"},
               {"step", step},
               {"status", model::name_of(end.status)},
               {"reason", end.reason ? model::name_of(*end.reason) : ""},
               {"counted", end.counted},
               {"injected", injected_ == run || said.value("injected", false)}});
  lines.push_back(std::move(said));
}

void Engine::carry_out(const Actions& actions) {
  std::vector<RunId> killed;
  for (const Action& action : actions.list) {
    if (const auto* entry = std::get_if<Entry>(&action)) {
      lines.push_back(line(actions.entries.at(entry->index)));
    } else if (const auto* launch = std::get_if<Launch>(&action)) {
      lines.push_back(running[launch->run.value] = line(*launch));
    } else if (const auto* over = std::get_if<EndTask>(&action)) {
      close(over->run, *over);
    } else if (const auto* kill = std::get_if<Kill>(&action)) {
      close(kill->run, {kill->run, model::TaskStatus::killed, kill->reason, true});
      killed.push_back(kill->run);
    } else if (const auto* early = std::get_if<ReturnSlot>(&action)) {
      running.at(early->run.value).update({{"held", true}, {"injected", injected_ == early->run}});
    } else if (const auto* timer = std::get_if<SetTimer>(&action)) {
      timers.push_back({*timer, now + timer->delay});
    } else if (const auto* answer = std::get_if<CommitAnswered>(&action)) {
      lines.push_back({{"e", "commit_answered"}, {"step", step}, {"granted", answer->granted}});
    }
  }
  for (const RunId run : killed) {
    feed(KillEffective{run});
  }
  for (std::size_t i = 0; !killed.empty() && i < executors.size(); ++i) {
    leave_if_empty(i);
  }
}

}  // namespace rehearse::conformance
