// Where the outputs of finished partitions lie, and what a loss strikes off (X9, X10, SS-1.8 to
// 1.9). For stages without readers the same record only says which partitions are done.
#include <algorithm>
#include <tuple>

#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

namespace {

std::uint64_t output_hash(StageId stage, std::int32_t partition, std::uint32_t executor) {
  return hash_of({stage.value, bits(partition), executor});
}

bool may_have_outputs(const Machine& m, StageId stage) {
  return m.stages[stage].used && m.stages[stage].cold != none_u32;
}

// Each once, in the order of their first mention, and no ended ones.
std::vector<StageId> without_repetitions(const Machine& m, std::vector<StageId> stages) {
  std::vector<bool> seen(m.stages.size());
  std::erase_if(stages, [&](StageId stage) {
    const bool again = seen[stage.index()];
    seen[stage.index()] = true;
    return again || !may_have_outputs(m, stage);
  });
  return stages;
}

}  // namespace

void note_location(Machine& m, StageId stage, ExecutorId executor) {
  const std::size_t bucket = executor.index() / OutputIndex::executors_each;
  if (bucket >= m.outputs_on.size()) {
    m.outputs_on.resize(bucket + 1);
  }
  OutputIndex& index = m.outputs_on[bucket];
  StageId& recent = index.recent[stage.index() % index.recent.size()];
  if (recent == stage) {
    return;
  }
  if (index.stages.size() == index.stages.capacity() && index.stages.size() >= 256) {
    // Ended stages go before the list grows; `recent` speaks of the list, so it starts anew.
    index.stages = without_repetitions(m, std::move(index.stages));
    index.stages.reserve(2 * index.stages.size() + 256);
    index.recent.fill(StageId{});
  }
  recent = stage;
  index.stages.push_back(stage);
}

std::uint32_t output_executor(const Machine& m, StageId stage, std::int32_t partition) {
  const std::uint32_t cold = m.stages[stage].cold;
  if (cold == none_u32) {
    return none_u32;
  }
  const std::vector<std::uint32_t>& outputs = m.colds[cold].outputs;
  const auto index = static_cast<std::size_t>(partition);
  return index < outputs.size() ? outputs[index] : none_u32;
}

void record_output(Machine& m, StageId stage, std::int32_t partition, ExecutorId executor) {
  std::uint32_t& entry = cold_of(m, stage).outputs[static_cast<std::size_t>(partition)];
  RH_CHECK(entry == none_u32, stage.value, partition);
  entry = executor.value;
  m.outputs_digest += output_hash(stage, partition, executor.value);
  if (m.stages[stage].gang.valid() || has_readers(m, stage)) {
    note_location(m, stage, executor);
  }
}

void clear_output(Machine& m, StageId stage, std::int32_t partition) {
  const std::uint32_t executor = output_executor(m, stage, partition);
  if (executor != none_u32) {
    m.outputs_digest -= output_hash(stage, partition, executor);
    m.colds[m.stages[stage].cold].outputs[static_cast<std::size_t>(partition)] = none_u32;
  }
}

void forget_outputs(Machine& m, StageId stage) {
  std::vector<std::uint32_t>& outputs = m.colds[m.stages[stage].cold].outputs;
  for (std::size_t p = 0; p < outputs.size(); ++p) {
    if (outputs[p] != none_u32) {
      m.outputs_digest -= output_hash(stage, static_cast<std::int32_t>(p), outputs[p]);
    }
  }
  outputs.clear();
}

std::vector<StageId> stages_near(const Machine& m, ExecutorId executor) {
  const std::size_t bucket = executor.index() / OutputIndex::executors_each;
  std::vector<StageId> stages;
  if (bucket < m.outputs_on.size()) {
    stages = without_repetitions(m, m.outputs_on[bucket].stages);
  }
  std::ranges::sort(stages, {}, [&m](StageId stage) {
    const JobRow& job = m.jobs[m.stages[stage].job];
    return std::tuple{job.submitted, job.rank, m.stages[stage].index};
  });
  return stages;
}

namespace {

void add_partition(model::Ranges& ranges, std::int32_t p) {
  if (!ranges.empty() && ranges.back().last == p - 1) {
    ranges.back().last = p;
  } else {
    ranges.push_back({p, p});
  }
}

// Clears the stage's outputs on the executor and writes the line; the ranges that went.
model::Ranges clear_outputs_on(Step& s, StageId stage, ExecutorId executor) {
  Machine& m = s.m;
  model::Ranges ranges;
  const std::int32_t tasks = m.stages[stage].tasks;
  for (std::int32_t p = 0; p < tasks; ++p) {
    if (output_executor(m, stage, p) != executor.value) {
      continue;
    }
    clear_output(m, stage, p);
    --m.stages.edit(stage).done;
    add_partition(ranges, p);
  }
  if (!ranges.empty() && !planted(Mutant::log04)) {
    s.write(model::OutputsLost{job_name(m, m.stages[stage].job), stage_name(m, stage),
                               m.executors[executor].name, ranges});
  }
  return ranges;
}

}  // namespace

namespace {

// The live attempt does its own partitions again (SS-2.6); others are missing at its end (X9).
void redo(Machine& m, StageId stage, const model::Ranges& lost) {
  if (planted(Mutant::c06)) {
    return;
  }
  const auto covered = [&m, stage](std::int32_t p) {
    if (planted(Mutant::c07)) {
      return true;
    }
    const model::Ranges& ranges = m.colds[m.stages[stage].cold].covered;
    return ranges.empty() || std::ranges::any_of(ranges, [p](const model::Range& range) {
             return range.first <= p && p <= range.last;
           });
  };
  for (const model::Range& range : lost) {
    for (std::int32_t p = range.first; p <= range.last; ++p) {
      if (covered(p)) {
        retry_partition(m, stage, p);
      }
    }
  }
}

}  // namespace

void drop_outputs(Step& s, StageId stage) {
  Machine& m = s.m;
  struct At {
    std::uint32_t executor;
    std::int32_t partition;
    auto operator<=>(const At&) const = default;
  };
  std::vector<At> there;
  const std::int32_t tasks = m.stages[stage].tasks;
  for (std::int32_t p = 0; p < tasks; ++p) {
    if (const std::uint32_t executor = output_executor(m, stage, p); executor != none_u32) {
      there.push_back({executor, p});
      clear_output(m, stage, p);
      --m.stages.edit(stage).done;
    }
  }
  std::ranges::sort(there);
  for (std::size_t i = 0; i < there.size();) {
    const std::uint32_t executor = there[i].executor;
    model::OutputsLost line{job_name(m, m.stages[stage].job),
                            stage_name(m, stage),
                            m.executors[ExecutorId{executor}].name,
                            {}};
    for (; i < there.size() && there[i].executor == executor; ++i) {
      add_partition(line.partitions, there[i].partition);
    }
    s.write(std::move(line));
  }
}

bool drop_gone_outputs(Step& s, StageId stage) {
  Machine& m = s.m;
  const std::int32_t tasks = has_readers(m, stage) ? m.stages[stage].tasks : 0;
  bool any = false;
  for (std::int32_t p = 0; p < tasks; ++p) {
    const std::uint32_t executor = output_executor(m, stage, p);
    if (executor != none_u32 && m.executors[ExecutorId{executor}].outputs_gone) {
      clear_outputs_on(s, stage, ExecutorId{executor});
      any = true;
    }
  }
  return any;
}

void strike_off(Step& s, const std::vector<ExecutorId>& executors, bool redo_running) {
  want_lost(s, strike_off_only(s, executors, redo_running));
}

std::vector<StageId> strike_off_only(Step& s, const std::vector<ExecutorId>& executors,
                                     bool redo_running) {
  Machine& m = s.m;
  std::vector<StageId> incomplete;
  for (const ExecutorId executor : executors) {
    for (const StageId stage : stages_near(m, executor)) {
      const StageRow& row = m.stages[stage];
      if (!has_readers(m, stage) || (!row.registered && !planted(Mutant::m28))) {
        continue;
      }
      const model::Ranges ranges = clear_outputs_on(s, stage, executor);
      if (ranges.empty()) {
        continue;
      }
      incomplete.push_back(stage);
      if (planted(Mutant::m41) && row.phase == StagePhase::running && row.gang.valid()) {
        redo(m, stage, ranges);
      }
      if (redo_running && row.phase == StagePhase::running && !row.gang.valid()) {
        redo(m, stage, ranges);
      }
    }
  }
  std::vector<StageId> lost;
  for (const StageId stage : incomplete) {
    if (m.stages[stage].used) {
      tell_available(s, stage, false, lost);
    }
  }
  return lost;
}

}  // namespace rehearse::scheduler
