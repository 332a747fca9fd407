// Looking ahead under `easy` (A17): when the waiting head can start at the earliest if everything
// ends as expected, and which tasks may start before it without moving that.
#include <algorithm>
#include <limits>
#include <map>

#include "scheduler/accounting.hpp"
#include "scheduler/slices.hpp"

namespace rehearse::scheduler {

namespace {

__extension__ using Wide = __int128;

constexpr model::Instant never = std::numeric_limits<model::Instant>::max();

// Saturating: estimates may be anything.
model::Instant after(model::Instant at, model::Duration length) {
  return length > never - at ? never : at + length;
}

model::Duration at_speed(model::Duration length, std::int64_t speed_milli) {
  const Wide scaled = (Wide{length} * model::milli + speed_milli / 2) / speed_milli;
  return scaled > never ? never : static_cast<model::Duration>(scaled);
}

// By resource when an executor is unbound (there counts per profile hang on each other), else by
// profile.
bool by_amounts(const Machine& m) { return m.slots.any_unbound(); }

std::vector<std::int64_t> free_now(const Machine& m, bool amounts) {
  if (!amounts) {
    const auto totals = m.slots.free_totals();
    return {totals.begin(), totals.end()};
  }
  std::vector<std::int64_t> free;
  for (std::size_t r = 0; r < m.slots.resource_count(); ++r) {
    free.push_back(m.slots.free_amount(r));
  }
  return free;
}

// What one task of the profile takes, in the units of Outlook::spare.
void add_task(const Machine& m, bool amounts, ProfileId profile, std::int64_t times,
              std::vector<std::int64_t>& sum) {
  if (!amounts) {
    sum[profile.index()] += times;
    return;
  }
  const model::ResourceVector& task = m.slots.task(profile);
  for (std::size_t r = 0; r < task.size(); ++r) {
    sum[r] += times * task[r];
  }
}

bool all_at_least_zero(const std::vector<std::int64_t>& spare) {
  return std::ranges::all_of(spare, [](std::int64_t left) { return left >= 0; });
}

}  // namespace

model::Duration estimate_of(Machine& m, StageId stage, std::int32_t partition) {
  const model::StageSpec& spec = spec_of(m, stage);
  if (spec.estimate) {
    return *spec.estimate;
  }
  if (const auto* list = std::get_if<std::vector<model::Duration>>(&spec.duration)) {
    return (*list)[static_cast<std::size_t>(partition)];
  }
  StageCold& cold = cold_of(m, stage);
  if (cold.mean < 0) {
    cold.mean = model::mean_ns(std::get<model::Distribution>(spec.duration)).value_or(never);
  }
  return cold.mean;
}

model::Instant expected_end(Machine& m, StageId stage, std::int32_t partition,
                            ExecutorId executor) {
  const model::Duration length =
      at_speed(estimate_of(m, stage, partition), m.executors[executor].speed_milli);
  return after(after(after(m.now, m.expected_launch), length), m.expected_status);
}

void note_expected_end(Machine& m, RunId run) {
  const RunRow& row = m.runs[run];
  if (run.index() >= m.expected_end_of.size()) {
    m.expected_end_of.resize(run.index() + 1, 0);
  }
  model::Instant end = expected_end(m, row.stage, row.partition, row.executor);
  for (std::int32_t p = row.partition + 1; p <= row.last(); ++p) {
    end = std::max(end, expected_end(m, row.stage, p, row.executor));  // A21: the longest of them
  }
  m.expected_end_of[run.index()] = end;
  m.expected_ends.emplace(m.expected_end_of[run.index()], run);
}

void forget_expected_end(Machine& m, RunId run) {
  m.expected_ends.erase({m.expected_end_of[run.index()], run});
}

Outlook look_ahead(const Machine& m, const GangRow& head) {
  Outlook outlook;
  outlook.amounts = by_amounts(m);
  outlook.spare = free_now(m, outlook.amounts);
  for (std::size_t p = 0; p < head.demand.size(); ++p) {
    add_task(m, outlook.amounts, ProfileId{p}, -head.demand[p], outlook.spare);
  }
  outlook.start = all_at_least_zero(outlook.spare) ? m.now : never;
  std::map<ShareId, std::size_t> ended;  // runs by then
  for (const auto& [end, run] : m.expected_ends) {
    const model::Instant at = std::max(end, m.now);
    if (at > outlook.start) {
      break;
    }
    const RunRow& row = m.runs[run];
    if (!m.slots.is_open(row.executor)) {
      continue;  // its slot will not be offered
    }
    if (in_share(m, run)) {  // what it shares comes back with the last of those that share it
      const ShareId share = m.share_of[run.index()];
      if (++ended[share] == m.shares[share].runs.size()) {
        for (const ShareRow::Part& part : m.shares[share].parts) {
          add_task(m, outlook.amounts, part.profile, part.slots + part.rest, outlook.spare);
        }
      }
    } else {
      add_task(m, outlook.amounts, ProfileId{std::uint32_t{row.profile}}, row.slots(),
               outlook.spare);
    }
    if (outlook.start == never && all_at_least_zero(outlook.spare)) {
      outlook.start = at;
    }
  }
  return outlook;
}

bool shares_are_harmless(Machine& m, Outlook& outlook, JobId job, std::span<const Placed> placed) {
  std::map<ExecutorId, model::Instant> ends;
  for (const Placed& task : placed) {
    model::Instant& end = ends[task.executor];
    end =
        std::max(end, expected_end(m, stage_of(m, job, task.stage), task.partition, task.executor));
  }
  for (const Part& part : parts_of(*m.jobs[job].spec, placed)) {
    if (ends[part.executor] > outlook.start) {
      add_task(m, outlook.amounts, part.profile, -part.slots, outlook.spare);
    }
  }
  return all_at_least_zero(outlook.spare);
}

bool is_harmless(Machine& m, Outlook& outlook, StageId stage, std::int32_t partition,
                 ExecutorId executor) {
  if (expected_end(m, stage, partition, executor) <= outlook.start) {
    return true;
  }
  std::vector<std::int64_t> left = outlook.spare;
  add_task(m, outlook.amounts, spec_of(m, stage).profile, -1, left);
  if (!all_at_least_zero(left)) {
    return false;
  }
  outlook.spare = std::move(left);
  return true;
}

std::int32_t harmless_size(Machine& m, Outlook& outlook, StageId stage, const Slice& slice,
                           ExecutorId executor) {
  const ProfileId profile = spec_of(m, stage).profile;
  std::vector<std::int64_t> left = outlook.spare;  // beside the head and what the slice takes
  bool ends_late = false;
  std::int32_t size = 0;
  for (; size < slice.size; ++size) {
    const std::int32_t before = ends_late ? size : 0;
    ends_late = ends_late || expected_end(m, stage, slice.first + size, executor) > outlook.start;
    if (!ends_late) {
      continue;
    }
    add_task(m, outlook.amounts, profile, before - (size + 1), left);
    if (!all_at_least_zero(left)) {
      break;
    }
    outlook.spare = left;
  }
  return size;
}

}  // namespace rehearse::scheduler
