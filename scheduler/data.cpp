// Data as an engine sees it that keeps one tracker of all shuffles and caches partitions: which
// outputs outlive their jobs, where input lies, whether an output made again is what it was.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "scheduler/duties_data.hpp"
#include "scheduler/speculation.hpp"

namespace rehearse::scheduler {

namespace {

// The stage of an earlier job that a takeover stands for, as long as its rows are there.
StageId tracked_origin(const Machine& m, StageId stage) {
  const std::uint32_t cold = m.stages[stage].cold;
  return m.engine.tracked_outputs && cold != none_u32 ? m.colds[cold].foreign : StageId{};
}

// The job's description is shared with whoever submitted it, so it is changed in a copy.
void change_spec(Machine& m, JobId job, const auto& change) {
  JobRow& row = m.jobs.edit(job);
  const auto spec = std::make_shared<model::JobSpec>(*row.spec);
  change(*spec);
  row.spec = spec;
}

}  // namespace

void take_over_outputs(Machine& m, StageId takeover) {
  const StageId origin = tracked_origin(m, takeover);
  if (!origin.valid() || m.stages[takeover].phase != StagePhase::dormant) {
    return;
  }
  const std::int32_t tasks = m.stages[takeover].tasks;
  cold_of(m, takeover).outputs.resize(static_cast<std::size_t>(tasks), none_u32);
  m.stages.edit(takeover).attempt = m.stages[origin].attempt;
  for (std::int32_t p = 0; p < tasks; ++p) {
    if (const std::uint32_t at = output_executor(m, origin, p); at != none_u32) {
      record_output(m, takeover, p, ExecutorId{at});
      ++m.stages.edit(takeover).done;
    }
  }
}

void give_to_origin(Step& s, StageId takeover, const RunRow& run) {
  Machine& m = s.m;
  const StageId origin = tracked_origin(m, takeover);
  if (!origin.valid()) {
    return;
  }
  StageRow& row = m.stages.edit(origin);
  row.attempt = std::max(row.attempt, run.attempt);
  if (output_executor(m, origin, run.partition) != none_u32) {
    return;
  }
  record_output(m, origin, run.partition, run.executor);
  ++row.done;
  if (row.done == row.tasks) {
    set_available(s, origin, true);
  }
}

void hand_over(Machine& m, StageId stage) {
  if (!m.engine.tracked_outputs || m.stages[stage].phase != StagePhase::running ||
      m.stages[stage].gang.valid()) {
    return;
  }
  const std::vector<StageId>& readers = cold_of(m, stage).foreign_readers;
  const auto next = std::ranges::find_if(readers, [&m](StageId takeover) {
    return m.stages[takeover].phase == StagePhase::dormant && is_awaited(m, takeover);
  });
  if (next == readers.end()) {
    return;
  }
  const StageId heir = *next;
  take_over_outputs(m, heir);
  const ProfileId profile{std::uint32_t{m.stages[stage].profile}};
  StageRow& from = m.stages.edit(stage);
  StageRow& to = m.stages.edit(heir);
  to.phase = std::exchange(from.phase, StagePhase::done);
  to.pending = std::exchange(from.pending, 0);
  to.running = std::exchange(from.running, 0);
  to.old_running = std::exchange(from.old_running, 0);
  to.next_partition = from.next_partition;
  to.failures = from.failures;
  to.listed_partitions = from.listed_partitions;
  // All that is known of its tries goes with them; which outputs are whose, and who reads, stays.
  StageCold& left = cold_of(m, stage);
  StageCold& taken = cold_of(m, heir);
  std::swap(left, taken);
  std::swap(left.outputs, taken.outputs);
  std::swap(left.committed, taken.committed);
  std::swap(left.cached, taken.cached);
  std::swap(left.foreign, taken.foreign);
  std::swap(left.foreign_readers, taken.foreign_readers);
  if (m.config.speculation) {
    stop_speculating(m, stage);  // its tries go on without copies
  }
  for (std::size_t i = 0; i < m.runs.size(); ++i) {
    if (m.runs.has(RunId{i}) && m.runs[RunId{i}].stage == stage) {
      m.runs.edit(RunId{i}).stage = heir;
    }
  }
  m.queue.clear_pending(stage, profile);
  if (to.pending > 0) {
    m.queue.set_pending(heir, profile);
  }
}

void abort_stage(Step& s, StageId stage, model::Code code, model::NameId detail) {
  Machine& m = s.m;
  const JobEnding ending{model::JobOutcome::failed, code, detail, std::nullopt, std::nullopt};
  std::vector<JobId> readers;
  if (m.engine.tracked_outputs && m.stages[stage].cold != none_u32) {
    for (const StageId takeover : m.colds[m.stages[stage].cold].foreign_readers) {
      if (m.stages[takeover].phase == StagePhase::dormant && !m.stages[takeover].available) {
        readers.push_back(m.stages[takeover].job);
      }
    }
  }
  const JobId job = m.stages[stage].job;
  for (const JobId reader : readers) {
    if (lives(m, reader)) {
      end_job(s, reader, ending);
    }
  }
  if (lives(m, job)) {
    end_job(s, job, ending);
  }
}

namespace {

void note_cached(Machine& m, StageId stage, std::int32_t partition) {
  StageCold& cold = cold_of(m, stage);
  const auto at = std::ranges::lower_bound(cold.cached, partition);
  if (at == cold.cached.end() || *at != partition) {
    cold.cached.insert(at, partition);
  }
  StageRow& row = m.stages.edit(stage);
  if (!row.fed && cold.cached.size() == static_cast<std::size_t>(row.tasks)) {
    row.fed = true;
    row.missing_inputs = row.delay_ahead ? 1 : 0;
  }
}

}  // namespace

void cache_partitions(Machine& m, JobId job, std::span<const CachedPartition> list) {
  if (!m.jobs.has(job) || !lives(m, job)) {
    return;
  }
  change_spec(m, job, [list](model::JobSpec& spec) {
    for (const CachedPartition& cached : list) {
      model::StageSpec& stage = spec.stages[cached.stage.index()];
      stage.prefers.resize(static_cast<std::size_t>(stage.tasks));
      stage.prefers[static_cast<std::size_t>(cached.partition)] = cached.places;
    }
  });
  for (const CachedPartition& cached : list) {
    note_cached(m, stage_of(m, job, cached.stage.value), cached.partition);
  }
}

namespace {

void skip_hidden_stages(Machine& m, JobId job) {
  const JobRow& row = m.jobs[job];
  const model::StageGraph& graph = *row.graph;
  for (auto at = graph.topological.rbegin(); at != graph.topological.rend(); ++at) {
    const StageId stage = stage_of(m, job, *at);
    const auto readers = graph.regular_children.row(*at);
    const auto needs = [&](std::uint32_t child) {
      const StageRow& reader = m.stages[stage_of(m, job, child)];
      return !reader.fed && reader.phase != StagePhase::dormant;
    };
    if (!m.stages[stage].gang.valid() && !readers.empty() && std::ranges::none_of(readers, needs)) {
      m.stages.edit(stage).phase = StagePhase::dormant;
    }
  }
}

}  // namespace

void take_cached(Machine& m, const SubmitJob& input) {
  if (!input.cached.empty()) {
    cache_partitions(m, input.job, input.cached);
    skip_hidden_stages(m, input.job);
  }
}

namespace {

__extension__ using Wide = __int128;

// Hosts on which enough of what the stage reads lies now.
std::vector<model::NameId> hosts_of_inputs(const Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  std::map<model::NameId, Wide> on_host;
  Wide all = 0;
  for (const std::uint32_t parent : m.jobs[row.job].graph->regular_parents.row(row.index)) {
    const StageId read = origin_of(m, stage_of(m, row.job, parent));
    for (std::int32_t p = 0; p < m.stages[read].tasks; ++p) {
      const std::uint32_t at = output_executor(m, read, p);
      if (at == none_u32) {
        continue;
      }
      const std::vector<std::int64_t>& sizes = m.colds[m.stages[read].cold].output_bytes;
      const auto place = static_cast<std::size_t>(p);
      const std::int64_t bytes = place < sizes.size() ? sizes[place] : 1;
      on_host[m.executors[ExecutorId{at}].host] += bytes;
      all += bytes;
    }
  }
  std::vector<model::NameId> hosts;
  for (const auto& [host, bytes] : on_host) {
    if (bytes > 0 && bytes * model::milli >= all * m.engine.reducer_preferred_milli) {
      hosts.push_back(host);
    }
  }
  return hosts;
}

}  // namespace

void prefer_outputs(Machine& m, StageId stage) {
  const StageRow& row = m.stages[stage];
  if (m.engine.reducer_preferred_milli == 0 || row.fed ||
      (!spec_of(m, stage).prefers.empty() && !cold_of(m, stage).follows_outputs)) {
    return;
  }
  const std::vector<model::NameId> hosts = hosts_of_inputs(m, stage);
  cold_of(m, stage).follows_outputs = !hosts.empty();
  change_spec(m, row.job, [&](model::JobSpec& spec) {
    const auto tasks = hosts.empty() ? std::size_t{0} : static_cast<std::size_t>(row.tasks);
    spec.stages[row.index].prefers.assign(tasks, hosts);
  });
}

void move_output(Machine& m, const MoveOutput& input) {
  if (!m.jobs.has(input.job) || !m.executors.has(input.to) ||
      m.executors[input.to].phase != ExecutorPhase::live) {
    return;
  }
  const StageId stage = stage_of(m, input.job, input.stage.value);
  if (output_executor(m, stage, input.partition) != none_u32) {
    clear_output(m, stage, input.partition);
    record_output(m, stage, input.partition, input.to);
  }
}

bool note_output(Machine& m, const RunRow& run, const TaskEnded& input) {
  if (!input.checksum && !input.output_bytes) {
    return false;
  }
  const auto tasks = static_cast<std::size_t>(m.stages[run.stage].tasks);
  const auto place = static_cast<std::size_t>(run.partition);
  if (input.output_bytes) {
    std::vector<std::int64_t>& sizes = cold_of(m, run.stage).output_bytes;
    sizes.resize(tasks, 1);
    sizes[place] = *input.output_bytes;
  }
  if (!input.checksum) {
    return false;
  }
  const StageId origin = tracked_origin(m, run.stage);
  const StageId keeper = origin.valid() ? origin : run.stage;
  StageCold& cold = cold_of(m, keeper);
  cold.checksums.resize(tasks);
  const bool differs = cold.checksums[place] && *cold.checksums[place] != *input.checksum;
  cold.checksums[place] = input.checksum;
  if (!differs) {
    return false;
  }
  ++cold.changed_checksums;
  const JobRow& job = m.jobs[m.stages[run.stage].job];
  const bool retried = std::ranges::any_of(job.spec->edges, [&](const model::EdgeSpec& edge) {
    return edge.checksum_retry && edge.from.value == m.stages[run.stage].index;
  });
  if (!retried || cold.undone_for >= run.attempt) {
    return false;  // once for each attempt
  }
  cold.undone_for = run.attempt;
  return true;
}

}  // namespace rehearse::scheduler
