// Rounds over a part of the cluster (offers.hpp): what is not offered is closed for the pass.
#include "scheduler/offers.hpp"

#include <algorithm>
#include <utility>

#include "scheduler/speculation.hpp"

namespace rehearse::scheduler {

namespace {

struct Withheld {
  ExecutorId executor;
  model::ResourceVector amounts;
};

// What of the executor's free amounts is not in the offer.
model::ResourceVector rest_of(const Ledger& slots, const Offer& offer) {
  model::ResourceVector rest(slots.resource_count(), 0);
  for (std::size_t r = 0; offer.free && r < rest.size(); ++r) {
    rest[r] = std::max<std::int64_t>(slots.free_of(offer.executor, r) - (*offer.free)[r], 0);
  }
  return rest;
}

}  // namespace

void offer(Step& s, const OfferRound& round) {
  Machine& m = s.m;
  std::vector<ExecutorId> closed;
  std::vector<Withheld> withheld;
  for (std::size_t i = 0; i < m.executors.size(); ++i) {
    const ExecutorId executor{i};
    if (!m.slots.is_open(executor)) {
      continue;
    }
    const auto found = std::ranges::find(round.offers, executor, &Offer::executor);
    if (found == round.offers.end()) {
      m.slots.close(executor);
      closed.push_back(executor);
    } else if (found->free) {
      withheld.push_back({executor, rest_of(m.slots, *found)});
      m.slots.withhold(executor, withheld.back().amounts);
    }
  }
  const bool wanted = m.wants_pass;
  m.round = {round.kind, round.limit};
  pass(s);
  m.round = {};
  for (const Withheld& item : withheld) {
    m.slots.restore(item.executor, item.amounts);
  }
  for (const ExecutorId executor : closed) {
    m.slots.open(executor);
  }
  m.wants_pass = m.wants_pass || wanted;
}

StageReport report(const Machine& m, JobId job, StageIndex index) {
  StageReport report;
  if (!m.jobs.has(job) || !lives(m, job)) {
    return report;
  }
  const StageId stage = stage_of(m, job, index.value);
  report.levels = locality_levels(m, stage);
  report.failures.assign(static_cast<std::size_t>(m.stages[stage].tasks), 0);
  if (m.stages[stage].cold == none_u32) {
    return report;
  }
  const StageCold& cold = m.colds[m.stages[stage].cold];
  for (const StageCold::Tries& entry : cold.tries) {
    report.failures[static_cast<std::size_t>(entry.partition)] = entry.failures;
  }
  report.rollbacks = cold.rollbacks;
  report.refused_for_delay = cold.delay.refused;
  report.commit_rights = cold.commit_holders.size();
  report.changed_checksums = cold.changed_checksums;
  report.copies_due = copies_wanted(m, stage);
  report.excluded_places = cold.excluded.size() + cold.excluded_by_failures.size();
  return report;
}

}  // namespace rehearse::scheduler
