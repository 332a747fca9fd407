// Passes over faults, executors, axes and everything that is no stage.
// registry: none (a part of the shrinker)
#include <algorithm>
#include <string_view>
#include <utility>

#include "model/axes.hpp"
#include "properties/shrink/shrinker.hpp"

namespace rehearse::properties {

using model::Scenario;

namespace {

// (1) Nothing that comes after what was found can have caused it.
void pass_later(Shrinker& shrinker) {
  const model::Instant last = shrinker.found_at();
  shrinker.change([last](Scenario& candidate) {
    std::erase_if(candidate.jobs, [last](const model::JobSpec& job) { return job.submit > last; });
    for (std::size_t place = candidate.faults.order.size(); place-- > 0;) {
      const model::FaultPlan::Entry entry = candidate.faults.order[place];
      if (!entry.task && candidate.faults.timed[entry.index].at.value_or(0) > last) {
        remove_faults(candidate, {.first = place, .count = 1});
      }
    }
  });
}

// (2)
void pass_faults(Shrinker& shrinker) {
  shrinker.without([&] { return shrinker.now().faults.order.size(); }, remove_faults);
}

// (3)
void pass_jobs(Shrinker& shrinker) {
  shrinker.without([&] { return shrinker.now().jobs.size(); }, remove_jobs);
}

// (4)
void pass_executors(Shrinker& shrinker) {
  shrinker.without([&] { return shrinker.now().cluster.executors.size(); }, remove_executors);
}

// ---- (5) axes and settings as everybody has them ----

bool set_to_preset(Scenario& candidate, std::string_view axis) {
  const model::SchedulerConfig usual = model::preset(candidate.scheduler.dialect);
  const model::AxisText value = model::get_axis(usual, candidate.names, axis);
  return model::set_axis(candidate.scheduler, candidate.names, axis, value).has_value();
}

void pass_axes(Shrinker& shrinker) {
  std::vector<std::string_view> free;
  for (const model::AxisInfo& axis : model::axis_table()) {
    const auto& kept = shrinker.options().kept;
    if (axis.built && std::ranges::find(kept, axis.name) == kept.end()) {
      free.push_back(axis.name);
    }
  }
  const auto reset = [&](std::size_t first, std::size_t count) {
    return shrinker.change([&](Scenario& candidate) {
      for (std::size_t i = first; i < first + count; ++i) {
        static_cast<void>(set_to_preset(candidate, free[i]));
      }
      model::complete_reject_list(candidate.scheduler);
    });
  };
  if (reset(0, free.size())) {
    return;
  }
  for (std::size_t i = 0; i < free.size() && !shrinker.spent(); ++i) {
    const model::Scenario& now = shrinker.now();
    const model::SchedulerConfig usual = model::preset(now.scheduler.dialect);
    if (!(model::get_axis(now.scheduler, now.names, free[i]) ==
          model::get_axis(usual, now.names, free[i]))) {
      reset(i, 1);
    }
  }
}

void pass_settings(Shrinker& shrinker) {
  pass_axes(shrinker);
  shrinker.change([](Scenario& candidate) { candidate.cluster.overheads = {}; });
  shrinker.change([](Scenario& candidate) { candidate.cluster.overheads.launch = {}; });
  shrinker.change([](Scenario& candidate) { candidate.cluster.overheads.status = {}; });
  shrinker.change([](Scenario& candidate) { candidate.cluster.overheads.kill = {}; });
  shrinker.change([](Scenario& candidate) { candidate.cluster.overheads.loss_detection = {}; });
  shrinker.change([](Scenario& candidate) { candidate.cluster.network = {}; });
  shrinker.change([](Scenario& candidate) { candidate.cluster.autoscale.reset(); });
  shrinker.change([](Scenario& candidate) { candidate.horizon.reset(); });
  shrinker.change([](Scenario& candidate) { candidate.timing = model::Timing::scripted; });
  shrinker.change([](Scenario& candidate) {
    for (model::ExecutorSpec& executor : candidate.cluster.executors) {
      executor.speed_milli = model::milli;
      executor.rack = {};
      executor.joins = 0;
    }
  });
  shrinker.change([](Scenario& candidate) {
    for (model::ExecutorSpec& executor : candidate.cluster.executors) {
      executor.host =
          candidate.names.intern("h-" + std::string(candidate.names.text(executor.name)));
    }
  });
}

// ---- (8) slots ----

// An executor keeps something of its first resource: one without slots is nobody's.
void pass_slots(Shrinker& shrinker) {
  const auto lower = [&](std::size_t executor, auto amount_of) {
    return shrinker.change([&](Scenario& candidate) {
      auto& amounts = candidate.cluster.executors[executor].resources;
      for (std::size_t r = 0; r < amounts.size(); ++r) {
        const std::int64_t least = r == 0 ? model::milli : 0;
        amounts[r] = std::min(amounts[r], std::max(amount_of(amounts[r]), least));
      }
    });
  };
  for (std::size_t e = 0; e < shrinker.now().cluster.executors.size() && !shrinker.spent(); ++e) {
    if (lower(e, [](std::int64_t) { return model::milli; })) {
      continue;
    }
    while (lower(e, [](std::int64_t amount) { return amount / 2 / model::milli * model::milli; })) {
    }
    while (lower(e, [](std::int64_t amount) { return amount - model::milli; })) {
    }
  }
}

// ---- (11) details of faults ----

void lower_timed(Shrinker& shrinker, std::size_t i) {
  const auto edit = [&](auto change) {
    return shrinker.change([&](Scenario& candidate) { change(candidate.faults.timed[i]); });
  };
  edit([](model::TimedFault& fault) { fault.nth = 1; });
  edit([](model::TimedFault& fault) { fault.nth = std::max(fault.nth - 1, 1); });
  edit([](model::TimedFault& fault) { fault.after = 0; });
  edit([](model::TimedFault& fault) {
    fault.match_job = fault.match_stage_job = fault.match_stage = {};
  });
  edit([](model::TimedFault& fault) { fault.match_executor = {}; });
  edit([](model::TimedFault& fault) {
    if (auto* lose = std::get_if<model::LoseExecutor>(&fault.action)) {
      lose->noticed.reset();
    }
  });
  edit([](model::TimedFault& fault) {
    if (auto* lose = std::get_if<model::LoseExecutor>(&fault.action)) {
      lose->cause = model::LossCause::process;
    }
  });
  edit([](model::TimedFault& fault) {
    if (auto* hold = std::get_if<model::HoldExecutors>(&fault.action)) {
      hold->executors.resize(1);
    }
  });
  edit([](model::TimedFault& fault) {  // an instant says more than a moment
    fault.at = 0;
    fault.moment.reset();
    fault.match_job = fault.match_stage_job = fault.match_stage = fault.match_executor = {};
    fault.nth = 1;
    fault.after = 0;
  });
  // The time of a fault goes down by halves, then by milliseconds.
  edit([](model::TimedFault& fault) {
    fault.at = fault.at ? std::optional<model::Instant>(0) : fault.at;
  });
  while (edit([](model::TimedFault& fault) {
    if (fault.at) {
      fault.at = *fault.at / 2 / model::millisecond * model::millisecond;
    }
  })) {
  }
  while (edit([](model::TimedFault& fault) {
    if (fault.at) {
      fault.at = std::max<model::Instant>(*fault.at - model::millisecond, 0);
    }
  })) {
  }
  edit([](model::TimedFault& fault) {
    if (auto* hold = std::get_if<model::HoldExecutors>(&fault.action)) {
      hold->for_ns = std::min(hold->for_ns, model::millisecond);
    }
  });
}

void lower_task_fault(Shrinker& shrinker, std::size_t i) {
  const auto edit = [&](auto change) {
    return shrinker.change([&](Scenario& candidate) { change(candidate.faults.tasks[i]); });
  };
  edit([](model::TaskFault& fault) { fault.attempt = 0; });
  edit([](model::TaskFault& fault) { fault.try_number = 0; });
  edit([](model::TaskFault& fault) { fault.partition = 0; });
  edit([](model::TaskFault& fault) { fault.fetch_partition = 0; });
  edit([](model::TaskFault& fault) { fault.after = 0; });
  edit([](model::TaskFault& fault) {
    if (fault.fails) {
      fault.fails = model::TaskFaultKind::exception;
    }
  });
  edit([](model::TaskFault& fault) { fault.after = std::min(fault.after, model::millisecond); });
  edit([](model::TaskFault& fault) {
    if (fault.status_late) {
      fault.status_late = std::min(*fault.status_late, model::millisecond);
    }
  });
}

void pass_fault_details(Shrinker& shrinker) {
  for (std::size_t i = 0; i < shrinker.now().faults.timed.size() && !shrinker.spent(); ++i) {
    lower_timed(shrinker, i);
  }
  for (std::size_t i = 0; i < shrinker.now().faults.tasks.size() && !shrinker.spent(); ++i) {
    lower_task_fault(shrinker, i);
  }
}

// (12)
void pass_ties(Shrinker& shrinker) {
  shrinker.without(
      [&] { return shrinker.now().choices.size(); },
      [](Scenario& candidate, const Part& part) {
        const auto first = candidate.choices.begin() + static_cast<std::ptrdiff_t>(part.first);
        candidate.choices.erase(first, first + static_cast<std::ptrdiff_t>(part.count));
      });
  shrinker.change([](Scenario& candidate) { candidate.ties_shuffled = false; });
  shrinker.change([](Scenario& candidate) { candidate.seed = 0; });
}

// (13)
void pass_profiles(Shrinker& shrinker) { shrinker.change(merge_profiles); }

// (14) What only goes together: a job and a later occurrence of a moment, an executor and the tasks
// that it had slots for, a task of one stage and a slot of one executor.
void pass_joint(Shrinker& shrinker) {
  for (std::size_t j = shrinker.now().jobs.size(); j-- > 0 && !shrinker.spent();) {
    shrinker.change([j](Scenario& candidate) {
      remove_jobs(candidate, {.first = j, .count = 1});
      for (model::TimedFault& fault : candidate.faults.timed) {
        fault.nth = std::max(fault.nth - 1, 1);
      }
    });
  }
  const auto narrow = [](Scenario& candidate, std::int64_t slots) {
    for (model::JobSpec& job : candidate.jobs) {
      for (model::StageSpec& stage : job.stages) {
        const std::int64_t left = std::max<std::int64_t>(stage.tasks - slots, 1);
        stage.tasks = std::min(stage.tasks, static_cast<std::int32_t>(left));
      }
    }
  };
  for (std::size_t e = shrinker.now().cluster.executors.size(); e-- > 0 && !shrinker.spent();) {
    shrinker.change([e, &narrow](Scenario& candidate) {
      const std::int64_t slots = candidate.cluster.executors[e].resources.front() / model::milli;
      remove_executors(candidate, {.first = e, .count = 1});
      narrow(candidate, slots);
    });
  }
  for (std::size_t e = 0; e < shrinker.now().cluster.executors.size() && !shrinker.spent(); ++e) {
    const auto one_less = [e](Scenario& candidate) {
      std::int64_t& amount = candidate.cluster.executors[e].resources.front();
      amount = std::max<std::int64_t>(amount - model::milli, model::milli);
    };
    for (std::size_t j = 0; j < shrinker.now().jobs.size(); ++j) {
      for (std::size_t s = 0; s < shrinker.now().jobs[j].stages.size(); ++s) {
        while (shrinker.change([&](Scenario& candidate) {
          one_less(candidate);
          std::int32_t& tasks = candidate.jobs[j].stages[s].tasks;
          tasks = std::max(tasks - 1, 1);
        })) {
        }
      }
    }
  }
}

// (15)
void pass_names(Shrinker& shrinker) {
  if (!is_renamed(shrinker.now())) {
    shrinker.change(rename);
  }
}

}  // namespace

const std::array<Pass, 15>& passes() {
  static constexpr std::array<Pass, 15> list{
      pass_later,         pass_faults, pass_jobs,     pass_executors, pass_settings,
      pass_stages,        pass_tasks,  pass_slots,    pass_times,     pass_arrivals,
      pass_fault_details, pass_ties,   pass_profiles, pass_joint,     pass_names};
  return list;
}

}  // namespace rehearse::properties
