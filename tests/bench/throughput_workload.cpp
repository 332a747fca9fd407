// Built from counter draws only, so that every build benchmarks the same work.
#include "tests/bench/throughput_workload.hpp"

#include <string>

#include "model/support/draw.hpp"

namespace rehearse::bench {

namespace {

using model::Scenario;

constexpr model::Duration median_ns = 10 * model::second;
constexpr std::int64_t cores_per_host = 16;

struct Maker {
  Scenario& scenario;
  model::DrawKey key;
  std::uint32_t counter = 0;

  std::uint64_t bits() { return model::draw(key, {counter++, 0, 0}); }
  std::int32_t between(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(
                     model::uniform_below(bits(), static_cast<std::uint64_t>(high - low + 1)));
  }
};

void make_cluster(Scenario& scenario, const WorkloadOptions& options) {
  model::Cluster& cluster = scenario.cluster;
  constexpr std::int64_t gigabyte = 1'000'000'000;
  cluster.resources = {scenario.names.intern("cpus"), scenario.names.intern("memory")};
  cluster.profiles = {
      {scenario.names.intern("default"), {1 * model::milli, 2 * gigabyte * model::milli}},
      {scenario.names.intern("large"), {2 * model::milli, 4 * gigabyte * model::milli}}};
  for (std::int32_t i = 0; i < options.hosts; ++i) {
    model::ExecutorSpec executor;
    executor.name = scenario.names.intern("e" + std::to_string(i));
    executor.host = scenario.names.intern("h" + std::to_string(i));
    executor.resources = {cores_per_host * model::milli, 64 * gigabyte * model::milli};
    cluster.executors.push_back(executor);
  }
}

model::StageSpec make_stage(Maker& maker, const char* name, bool member) {
  model::StageSpec stage;
  stage.name = maker.scenario.names.intern(name);
  // Members have 9.5 tasks on average and are 30% of the stages; the others make it 200.
  stage.tasks = member ? maker.between(4, 15) : maker.between(1, 562);
  stage.duration = model::lognormal_distribution({median_ns, model::shape_scale / 2});
  stage.profile = model::ProfileId{maker.between(0, 1) == 0 ? 0U : 1U};
  return stage;
}

void connect(model::JobSpec& job, std::uint32_t from, std::uint32_t to, model::EdgeKind kind) {
  model::EdgeSpec edge;
  edge.from = model::StageIndex{from};
  edge.to = {model::StageIndex{to}};
  edge.kind = kind;
  job.edges.push_back(edge);
}

// Diamond a, b, c, d and tail e; in three jobs of four d and e are a pipelined pair.
model::JobSpec make_job(Maker& maker, std::int64_t number, model::Instant submit) {
  model::JobSpec job;
  job.name = maker.scenario.names.intern("j" + std::to_string(number));
  job.pool = maker.scenario.names.intern("default");
  job.submit = submit;
  const bool pair = maker.between(1, 4) <= 3;
  const char* const names[] = {"a", "b", "c", "d", "e"};
  for (std::size_t i = 0; i < 5; ++i) {
    job.stages.push_back(make_stage(maker, names[i], pair && i >= 3));
  }
  connect(job, 0, 1, model::EdgeKind::regular);
  connect(job, 0, 2, model::EdgeKind::regular);
  connect(job, 1, 3, model::EdgeKind::regular);
  connect(job, 2, 3, model::EdgeKind::regular);
  connect(job, 3, 4, pair ? model::EdgeKind::pipelined : model::EdgeKind::regular);
  job.result = {model::StageIndex{4U}};
  return job;
}

void add_failures(Maker& maker, const model::JobSpec& job) {
  for (const model::StageSpec& stage : job.stages) {
    for (std::int32_t partition = 0; partition < stage.tasks; ++partition) {
      if (maker.between(1, 1000) != 1) {
        continue;
      }
      model::TaskFault fault;
      fault.job = job.name;
      fault.stage = stage.name;
      fault.partition = partition;
      fault.fails = model::TaskFaultKind::exception;
      fault.after = median_ns / 2;
      maker.scenario.faults.order.push_back(
          {true, static_cast<std::uint32_t>(maker.scenario.faults.tasks.size())});
      maker.scenario.faults.tasks.push_back(fault);
    }
  }
}

}  // namespace

Scenario throughput_workload(const WorkloadOptions& options) {
  Scenario scenario;
  scenario.name = "throughput";
  scenario.seed = options.seed;
  make_cluster(scenario, options);
  scenario.scheduler = model::preset(options.dialect);
  scenario.scheduler.admission.overtake = model::Overtake::backfill;
  model::complete_reject_list(scenario.scheduler);
  Maker maker{scenario, model::draw_key({options.seed, model::DrawPurpose::workload, 0, 0})};
  // Mean cpu time of a job: 1000 tasks x 1.5 cores x median x exp(0.125).
  const std::int64_t cpu_ns = 1000 * 3 * (median_ns / 2) / 1000 * 1133;
  const std::int64_t gap_ns = cpu_ns * 10 / (8 * cores_per_host * options.hosts);
  const model::Distribution gaps = model::exponential_distribution(gap_ns);
  model::Instant submit = 0;
  for (std::int64_t number = 0; number < options.tasks_about / 1000; ++number) {
    submit += model::sample(gaps, maker.bits());
    model::JobSpec job = make_job(maker, number, submit);
    add_failures(maker, job);
    scenario.jobs.push_back(std::move(job));
  }
  return scenario;
}

}  // namespace rehearse::bench
