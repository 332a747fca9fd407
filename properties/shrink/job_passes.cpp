// Passes over stages, edges, tasks, durations and arrivals.
// registry: none (a part of the shrinker)
#include <algorithm>

#include "properties/shrink/shrinker.hpp"

namespace rehearse::properties {

using model::JobSpec;
using model::Scenario;
using model::StageSpec;

namespace {

// Calls visit(j, s) for every stage there is at that time, from the last to the first.
template <class Visit>
void every_stage(Shrinker& shrinker, Visit visit) {
  for (std::size_t j = 0; j < shrinker.now().jobs.size(); ++j) {
    for (std::size_t s = shrinker.now().jobs[j].stages.size(); s-- > 0;) {
      if (!shrinker.spent() && s < shrinker.now().jobs[j].stages.size()) {
        visit(j, s);
      }
    }
  }
}

void lower_edges(Shrinker& shrinker, std::size_t j) {
  for (std::size_t e = shrinker.now().jobs[j].edges.size(); e-- > 0 && !shrinker.spent();) {
    const auto cut_out = [&](Scenario& candidate) {
      auto& edges = candidate.jobs[j].edges;
      edges.erase(edges.begin() + static_cast<std::ptrdiff_t>(e));
    };
    if (shrinker.change(cut_out)) {
      continue;
    }
    if (shrinker.now().jobs[j].edges[e].kind == model::EdgeKind::pipelined) {
      shrinker.change(
          [&](Scenario& candidate) { candidate.jobs[j].edges[e].kind = model::EdgeKind::regular; });
    }
    shrinker.change([&](Scenario& candidate) {
      model::EdgeSpec& edge = candidate.jobs[j].edges[e];
      edge.to.resize(1);
    });
    shrinker.change([&](Scenario& candidate) {
      model::EdgeSpec& edge = candidate.jobs[j].edges[e];
      edge.push_merge = edge.checksum_retry = edge.adaptive = false;
      edge.reuse_job = edge.reuse_stage = {};
      edge.bytes = 0;
      edge.records.reset();
      edge.skew_milli = 0;
      edge.stream.reset();
    });
  }
}

void plain(StageSpec& stage) {
  stage.commits = model::Commits::none;
  stage.checkpoint = model::Checkpoint::none;
  stage.barrier = stage.indeterminate = stage.cached = stage.abandons = false;
  stage.estimate.reset();
  stage.width.reset();
  stage.prefers.clear();
}

void lower_stage_settings(Shrinker& shrinker, std::size_t j, std::size_t s) {
  const auto edit = [&](auto change) {
    return shrinker.change([&](Scenario& candidate) { change(candidate.jobs[j].stages[s]); });
  };
  if (edit(plain)) {
    return;
  }
  edit([](StageSpec& stage) { stage.commits = model::Commits::none; });
  edit([](StageSpec& stage) { stage.prefers.clear(); });
  edit([](StageSpec& stage) { stage.barrier = false; });
  edit([](StageSpec& stage) { stage.indeterminate = false; });
  edit([](StageSpec& stage) { stage.cached = false; });
  edit([](StageSpec& stage) { stage.checkpoint = model::Checkpoint::none; });
  edit([](StageSpec& stage) { stage.width.reset(); });
}

}  // namespace

// (6)
void pass_stages(Shrinker& shrinker) {
  for (std::size_t j = 0; j < shrinker.now().jobs.size(); ++j) {
    shrinker.without([&] { return shrinker.now().jobs[j].stages.size(); },
                     [j](Scenario& candidate, const Part& part) {
                       JobSpec& job = candidate.jobs[j];
                       if (part.count < job.stages.size()) {
                         remove_stages(job, part);
                       }
                     });
  }
  every_stage(shrinker, [&](std::size_t j, std::size_t s) {
    if (shrinker.now().jobs[j].stages.size() > 1) {
      shrinker.change([&](Scenario& candidate) { contract_stage(candidate.jobs[j], s); });
    }
  });
  for (std::size_t j = 0; j < shrinker.now().jobs.size(); ++j) {
    lower_edges(shrinker, j);
  }
  every_stage(shrinker,
              [&](std::size_t j, std::size_t s) { lower_stage_settings(shrinker, j, s); });
}

// (7)
void pass_tasks(Shrinker& shrinker) {
  const bool all = shrinker.change([](Scenario& candidate) {
    for (JobSpec& job : candidate.jobs) {
      for (StageSpec& stage : job.stages) {
        stage.tasks = std::min(stage.tasks, 1);
      }
    }
  });
  if (all) {
    return;
  }
  every_stage(shrinker, [&](std::size_t j, std::size_t s) {
    const auto lower = [&](auto tasks_of) {
      return shrinker.change([&](Scenario& candidate) {
        std::int32_t& tasks = candidate.jobs[j].stages[s].tasks;
        tasks = std::min(tasks, std::max(tasks_of(tasks), 1));
      });
    };
    if (lower([](std::int32_t) { return 1; })) {
      return;
    }
    while (lower([](std::int32_t tasks) { return tasks / 2; })) {
    }
    while (lower([](std::int32_t tasks) { return tasks - 1; })) {
    }
  });
}

// (9)
void pass_times(Shrinker& shrinker) {
  const model::TaskDurations one = model::fixed_distribution(model::millisecond);
  const bool all = shrinker.change([&](Scenario& candidate) {
    for (JobSpec& job : candidate.jobs) {
      for (StageSpec& stage : job.stages) {
        stage.duration = one;
      }
    }
  });
  if (all) {
    return;
  }
  every_stage(shrinker, [&](std::size_t j, std::size_t s) {
    const auto set = [&](const model::TaskDurations& duration) {
      return shrinker.change(
          [&](Scenario& candidate) { candidate.jobs[j].stages[s].duration = duration; });
    };
    if (set(one)) {
      return;
    }
    const model::TaskDurations now = shrinker.now().jobs[j].stages[s].duration;
    if (const auto* list = std::get_if<std::vector<model::Duration>>(&now)) {
      set(model::fixed_distribution(list->empty() ? 0 : std::ranges::max(*list)));
    } else {
      const auto& drawn = std::get<model::Distribution>(now);
      const model::Duration mean = model::mean_ns(drawn).value_or(model::millisecond);
      set(model::fixed_distribution(mean / model::millisecond * model::millisecond));
      set(model::fixed_distribution(mean / 2 / model::millisecond * model::millisecond));
    }
  });
}

// (10)
void pass_arrivals(Shrinker& shrinker) {
  const auto at_once = [](JobSpec& job) {
    job.submit = 0;
    job.after.clear();
    job.repeat_count = 1;
    job.repeat_every = 0;
    job.resubmit = 0;
    job.backoff = model::second;
    job.priority = 0;
  };
  const bool all = shrinker.change([&](Scenario& candidate) {
    for (JobSpec& job : candidate.jobs) {
      at_once(job);
    }
  });
  for (std::size_t j = 0; !all && j < shrinker.now().jobs.size() && !shrinker.spent(); ++j) {
    const auto edit = [&](auto change) {
      return shrinker.change([&](Scenario& candidate) { change(candidate.jobs[j]); });
    };
    if (edit(at_once)) {
      continue;
    }
    edit([](JobSpec& job) { job.after.clear(); });
    edit([](JobSpec& job) {
      job.repeat_count = 1;
      job.repeat_every = 0;
    });
    edit([](JobSpec& job) { job.repeat_count = std::min(job.repeat_count, 2); });
    edit([](JobSpec& job) { job.resubmit = 0; });
    edit([](JobSpec& job) { job.resubmit = std::min(job.resubmit, 1); });
    edit([](JobSpec& job) { job.backoff = 0; });
    edit([](JobSpec& job) { job.repeat_every = 0; });
    edit([](JobSpec& job) { job.priority = 0; });
    edit([](JobSpec& job) { job.submit = 0; });
    while (edit([](JobSpec& job) {
      job.submit = job.submit / 2 / model::millisecond * model::millisecond;
    })) {
    }
    while (edit([](JobSpec& job) {
      job.submit = std::max<model::Instant>(job.submit - model::millisecond, 0);
    })) {
    }
  }
}

}  // namespace rehearse::properties
