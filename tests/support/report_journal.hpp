// Journals written by hand for the tests of reports/: a line per event, names instead of ids.
// at(t) sets the time of what follows. Slots, stages and groups are the test's own business:
// nothing here checks that a scheduler could have written it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/support/events.hpp"
#include "reports/metrics.hpp"

namespace rehearse::tests {

class ReportJournal {
 public:
  struct Stage {
    std::string name;
    std::int64_t tasks = 1;
    std::string profile = "default";
    bool barrier = false;
  };
  struct Edge {
    std::string from;
    std::string to;
    model::EdgeKind kind = model::EdgeKind::regular;
  };
  using Counts = std::vector<std::pair<std::string, std::int64_t>>;

  // Profiles as {name, cpus per task}; axes as {name, value}.
  explicit ReportJournal(const Counts& profiles = {{"default", 1}},
                         const std::vector<std::pair<std::string, std::string>>& axes = {}) {
    model::RunStart run;
    run.dialect = id("psd");
    run.timing = model::Timing::scripted;
    run.seed = 7;
    for (const auto& [name, cpus] : profiles) {
      run.profiles.push_back({id(name), {{id("cpus"), cpus * 1000}}});
    }
    for (const auto& [name, value] : axes) {
      run.axes.push_back({id(name), id(value)});
    }
    add(std::move(run));
  }

  ReportJournal& at(model::Instant t) {
    now_ = t;
    return *this;
  }

  ReportJournal& executor(std::string_view name, std::int64_t cpus, std::string_view profile = "") {
    model::ExecutorAdded event;
    event.executor = id(name);
    event.resources = {{id("cpus"), cpus * 1000}};
    event.profile = profile.empty() ? model::NameId{} : id(profile);
    event.speed = 1000;
    return add(std::move(event));
  }
  ReportJournal& lose(std::string_view name) {
    return add(model::ExecutorLost{id(name), model::LossCause::process});
  }
  ReportJournal& hold(std::string_view name, model::HoldCause cause = model::HoldCause::hold) {
    return add(model::ExecutorHeld{id(name), cause});
  }
  ReportJournal& release(std::string_view name) { return add(model::ExecutorReleased{id(name)}); }

  ReportJournal& submit(std::string_view job, const std::vector<Stage>& stages,
                        const std::vector<Edge>& edges = {}, std::int64_t priority = 0) {
    model::JobSubmitted event;
    event.job = id(job);
    event.pool = id("default");
    event.priority = priority;
    for (const Stage& stage : stages) {
      event.stages.push_back(
          {id(stage.name), stage.tasks, id(stage.profile), stage.barrier, model::Commits::none});
    }
    for (const Edge& edge : edges) {
      event.edges.push_back({id(edge.from), id(edge.to), edge.kind});
    }
    return add(std::move(event));
  }
  ReportJournal& reject(std::string_view job, model::Code code, std::string_view detail = "") {
    model::JobRejected event;
    event.job = id(job);
    event.code = code;
    event.codes = {code};
    event.detail = detail.empty() ? model::NameId{} : id(detail);
    return add(std::move(event));
  }
  ReportJournal& end_job(std::string_view job,
                         model::JobOutcome outcome = model::JobOutcome::succeeded,
                         std::optional<model::Code> code = std::nullopt) {
    model::JobEnd event;
    event.job = id(job);
    event.outcome = outcome;
    event.code = code;
    return add(std::move(event));
  }

  ReportJournal& form(std::string_view job, const std::vector<std::string>& stages,
                      const Counts& demand) {
    model::GroupFormed event;
    event.job = id(job);
    event.stage = id(stages.front());
    for (const std::string& stage : stages) {
      event.stages.push_back(id(stage));
    }
    for (const auto& [profile, n] : demand) {
      event.demand.push_back({id(profile), n});
    }
    return add(std::move(event));
  }
  ReportJournal& queue(std::string_view job, std::string_view stage,
                       model::QueuedReason reason = model::QueuedReason::slots) {
    return add(model::GroupQueued{id(job), id(stage), reason, {}, {}});
  }
  ReportJournal& admit(std::string_view job, std::string_view stage) {
    return add(model::GroupAdmitted{{id(job), id(stage), 0}, {}});
  }
  ReportJournal& commit(std::string_view job, std::string_view stage) {
    return add(model::GroupCommitted{{id(job), id(stage), 0}});
  }
  ReportJournal& reserve(std::string_view job, std::string_view stage, std::string_view executor,
                         std::int64_t slots, std::int64_t delta) {
    return add(model::Reservation{id(job), id(stage), id(executor), id("default"), slots, delta});
  }

  ReportJournal& submit_stage(std::string_view job, std::string_view stage, std::int64_t tasks,
                              std::int32_t attempt = 0) {
    return add(model::StageSubmitted{{id(job), id(stage), attempt}, tasks, {}});
  }
  ReportJournal& complete_stage(std::string_view job, std::string_view stage,
                                model::StageStatus status = model::StageStatus::success,
                                std::int32_t attempt = 0) {
    return add(model::StageCompleted{{id(job), id(stage), attempt}, status, {}});
  }
  ReportJournal& start(std::string_view job, std::string_view stage, std::int32_t partition,
                       std::string_view executor, std::int32_t attempt = 0) {
    return add(model::TaskStart{task(job, stage, partition, executor, attempt), false});
  }
  ReportJournal& end(std::string_view job, std::string_view stage, std::int32_t partition,
                     std::string_view executor,
                     model::TaskStatus status = model::TaskStatus::success, bool held = false,
                     std::int32_t attempt = 0) {
    model::TaskEnd event;
    event.task = task(job, stage, partition, executor, attempt);
    event.status = status;
    if (held) {
      event.slot = model::SlotState::held;
    }
    return add(event);
  }
  // A slice (A21) of so many partitions behind the first.
  ReportJournal& start_slice(std::string_view job, std::string_view stage, std::int32_t partition,
                             std::string_view executor, std::int32_t more) {
    start(job, stage, partition, executor);
    std::get<model::TaskStart>(events_.back().body).task.more = more;
    return *this;
  }
  ReportJournal& end_slice(std::string_view job, std::string_view stage, std::int32_t partition,
                           std::string_view executor, std::int32_t more) {
    end(job, stage, partition, executor);
    std::get<model::TaskEnd>(events_.back().body).task.more = more;
    return *this;
  }
  ReportJournal& give_back(std::string_view job, std::string_view executor,
                           std::int64_t count = 1) {
    return add(model::SlotReturned{id(executor), id("default"), count, id(job)});
  }
  ReportJournal& block(std::string_view job, std::string_view stage, std::int32_t partition,
                       std::string_view executor) {
    return add(
        model::Blocked{task(job, stage, partition, executor, 0), model::BlockedOn::space, {}});
  }
  ReportJournal& unblock(std::string_view job, std::string_view stage, std::int32_t partition,
                         std::string_view executor) {
    return add(
        model::Unblocked{task(job, stage, partition, executor, 0), model::BlockedOn::space, {}});
  }
  ReportJournal& finish(model::RunEndCause cause = model::RunEndCause::done) {
    return add(model::RunEnd{cause});
  }

  // A job of one stage of one task that runs from `start` to `end` on `executor`.
  ReportJournal& simple_job(std::string_view job, model::Instant submit_ns, model::Instant start_ns,
                            model::Instant end_ns, std::string_view executor) {
    return at(submit_ns)
        .submit(job, {{"s", 1}})
        .at(start_ns)
        .submit_stage(job, "s", 1)
        .start(job, "s", 0, executor)
        .at(end_ns)
        .end(job, "s", 0, executor)
        .complete_stage(job, "s")
        .end_job(job);
  }

  [[nodiscard]] reports::RunMetrics metrics(const reports::MetricsOptions& options = {}) const {
    reports::Metrics metrics(options);
    metrics.begin(names_);
    for (const model::Event& event : events_) {
      metrics.on(event);
    }
    return metrics.finish();
  }

  model::NameId id(std::string_view text) { return names_.intern(text); }

  ReportJournal& add(model::EventBody body) {
    events_.push_back({now_, std::move(body)});
    return *this;
  }

 private:
  model::TaskRef task(std::string_view job, std::string_view stage, std::int32_t partition,
                      std::string_view executor, std::int32_t attempt) {
    return {.job = id(job),
            .stage = id(stage),
            .executor = id(executor),
            .attempt = attempt,
            .partition = partition,
            .try_number = 0};
  }

  model::NameTable names_;
  model::Instant now_ = 0;
  std::vector<model::Event> events_;
};

}  // namespace rehearse::tests
