// The order of a pass under queue `fair` (A18, SS-3.2): pools by Spark's comparator, units inside a
// pool by its mode. Counts are those at the start of the pass, so the order is made once for it:
// O(units with something to start + stages that run), log factor included.
#include <algorithm>
#include <limits>
#include <string>

#include "scheduler/bulk.hpp"
#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

namespace {

__extension__ using Wide = __int128;

struct PoolRow {
  model::PoolConfig config;
  std::int64_t running = 0;
  UnitKey first;  // the earliest unit in it that has something to start
};

struct UnitRow {
  StageId leader;
  std::size_t pool = 0;
  std::int64_t running = 0;
  UnitKey key;
  std::string text;  // TaskSet_<stage number>.<attempt>, under ties: text
};

// Below its minimum share first, those by how far below; others by weight. 0: a tie.
int compare_shares(std::int64_t left_running, const model::PoolConfig& left,
                   std::int64_t right_running, const model::PoolConfig& right) {
  const bool left_needy = left_running < left.min_share;
  const bool right_needy = right_running < right.min_share;
  if (left_needy != right_needy) {
    return left_needy ? -1 : 1;
  }
  const std::int64_t l = left_needy ? std::max<std::int64_t>(left.min_share, 1) : left.weight;
  const std::int64_t r = right_needy ? std::max<std::int64_t>(right.min_share, 1) : right.weight;
  const Wide cross = Wide{left_running} * r - Wide{right_running} * l;
  return cross < 0 ? -1 : cross > 0 ? 1 : 0;
}

std::size_t pool_of(const Machine& m, JobId job, std::vector<PoolRow>& pools) {
  const model::NameId name = m.jobs[job].spec->pool;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (pools[i].config.name == name) {
      return i;
    }
  }
  const auto given = std::ranges::find(m.config.pools, name, &model::PoolConfig::name);
  PoolRow row;
  row.config = given == m.config.pools.end() ? model::PoolConfig{name} : *given;
  row.first.submitted = std::numeric_limits<model::Instant>::max();
  pools.push_back(row);
  return pools.size() - 1;
}

std::vector<UnitRow> units_of(const Machine& m, std::vector<PoolRow>& pools) {
  std::vector<std::uint32_t> positions;
  for (std::size_t p = 0; p < m.slots.profile_count(); ++p) {
    for (std::uint32_t at = m.queue.next_pending(ProfileId{p}, 0); at != no_position;
         at = m.queue.next_pending(ProfileId{p}, at + 1)) {
      positions.push_back(at);
    }
  }
  for (std::uint32_t at = m.queue.next_waiting(0); at != no_position;
       at = m.queue.next_waiting(at + 1)) {
    positions.push_back(at);
  }
  std::ranges::sort(positions);
  std::vector<UnitRow> units;
  for (const std::uint32_t position : positions) {
    const StageId leader = m.queue.unit_at(position);
    const StageRow& row = m.stages[leader];
    UnitRow unit{leader,
                 pool_of(m, row.job, pools),
                 row.running + row.old_running + held_by(m, row.gang),
                 Units{m}.key(leader),
                 {}};
    PoolRow& pool = pools[unit.pool];
    pool.first = std::min(pool.first, unit.key);
    if (m.config.admission.fair_ties_text) {
      unit.text = "TaskSet_" + std::to_string(m.jobs[row.job].first_number + row.index) + "." +
                  std::to_string(std::max<int>(row.attempt, 0));
    }
    units.push_back(std::move(unit));
  }
  return units;
}

}  // namespace

std::vector<StageId> fair_order(const Machine& m) {
  std::vector<PoolRow> pools;
  std::vector<UnitRow> units = units_of(m, pools);
  for (std::size_t i = 0; i < m.stages.size(); ++i) {
    const StageRow& row = m.stages[StageId{i}];
    if (row.used && row.running + row.old_running > 0) {
      pools[pool_of(m, row.job, pools)].running += row.running + row.old_running;
    }
  }
  for (const StageId leader : m.queued_gangs) {  // what is held counts as running
    const StageRow& row = m.stages[leader];
    if (const std::int64_t held = held_by(m, row.gang); held > 0) {
      pools[pool_of(m, row.job, pools)].running += held;
    }
  }
  const bool text = m.config.admission.fair_ties_text;
  const auto pool_before = [&](const PoolRow& l, const PoolRow& r) {
    const int shares = compare_shares(l.running, l.config, r.running, r.config);
    if (shares != 0) {
      return shares < 0;
    }
    return text ? m.names->text(l.config.name) < m.names->text(r.config.name) : l.first < r.first;
  };
  std::ranges::sort(units, [&](const UnitRow& l, const UnitRow& r) {
    if (l.pool != r.pool) {
      return pool_before(pools[l.pool], pools[r.pool]);
    }
    if (pools[l.pool].config.fair && l.running != r.running) {
      return l.running < r.running;  // task sets have weight 1 and no minimum
    }
    return text && pools[l.pool].config.fair && l.text != r.text ? l.text < r.text : l.key < r.key;
  });
  std::vector<StageId> order;
  order.reserve(units.size());
  for (const UnitRow& unit : units) {
    order.push_back(unit.leader);
  }
  return order;
}

}  // namespace rehearse::scheduler
