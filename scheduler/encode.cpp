// The state as words, for whoever collects states (Core::encode). Rows are named by what they are
// about, never by their place in a table: stages by job and index, runs by stage, partition and
// try, timers by their order. What is derived from other rows is left out, and so is what no
// decision reads: launch numbers, counters of events, the order of free rows.
#include <algorithm>
#include <array>

#include "scheduler/duties.hpp"

namespace rehearse::scheduler {

namespace {

constexpr std::uint64_t nothing = ~std::uint64_t{0};

class Encoder {
 public:
  Encoder(const Machine& m, std::vector<std::uint64_t>& words) : m_(m), words_(words) {}

  void encode() {
    RH_CHECK(m_.speculated.empty() && !m_.config.speculation);
    sort_runs();
    sort_shares();
    put({m_.wants_pass ? 1U : 0U, m_.slots.full_digest(), m_.idle.full_digest(),
         m_.policies.queue->digest(), m_.policies.overtake->digest(),
         m_.policies.placement->digest()});
    put_runs();
    put_executors();
    put_jobs();
    put_timers();
    put_reruns();
    put_stages(m_.newly_ready);
    put_stages(m_.queued_gangs);
    put_stages(m_.starved);
    put_stages(m_.excluding);
  }

 private:
  // A run, without its row and launch number.
  using RunWords = std::array<std::uint64_t, 11>;

  void put(std::uint64_t word) { words_.push_back(word); }
  void put(std::initializer_list<std::uint64_t> words) {
    words_.insert(words_.end(), words.begin(), words.end());
  }
  template <class List, class PutOne>
  void put_list(const List& list, const PutOne& put_one) {
    put(list.size());
    for (const auto& one : list) {
      put_one(one);
    }
  }
  template <class Number>
  void put_numbers(const std::vector<Number>& list) {
    put_list(list, [this](Number one) { put(bits(one)); });
  }
  void put_stages(const std::vector<StageId>& list) {
    put_list(list, [this](StageId stage) { put(name_of(stage)); });
  }

  [[nodiscard]] std::uint64_t name_of(StageId stage) const {
    if (!stage.valid()) {
      return nothing;
    }
    const StageRow& row = m_.stages[stage];
    return std::uint64_t{row.job.value} << 32U | row.index;
  }
  [[nodiscard]] std::uint64_t name_of(GangId gang) const {
    return gang.valid() ? name_of(gang_leader(m_, gang)) : nothing;
  }
  [[nodiscard]] std::uint64_t place_of(RunId run) const {
    return run.valid() && run.index() < place_of_run_.size() ? place_of_run_[run.index()] : nothing;
  }
  // Among those that run: 0 = none was set, 1 = it is over.
  [[nodiscard]] std::uint64_t place_of(TimerId timer) const {
    if (!timer.valid()) {
      return 0;
    }
    const auto at = std::ranges::lower_bound(m_.timers, timer, {}, &TimerRow::id);
    const bool runs = at != m_.timers.end() && at->id == timer;
    return runs ? 2 + static_cast<std::uint64_t>(at - m_.timers.begin()) : 1;
  }
  [[nodiscard]] std::uint64_t age(model::Instant at) const { return bits(m_.now - at); }

  [[nodiscard]] RunWords words_of(RunId id) const {
    const RunRow& run = m_.runs[id];
    // A17: what is over by then counts as ending now.
    const model::Instant end = m_.keeps_expected_ends && id.index() < m_.expected_end_of.size()
                                   ? std::max(m_.expected_end_of[id.index()], m_.now)
                                   : m_.now;
    return {name_of(run.stage), bits(run.partition),
            bits(run.attempt),  bits(run.try_number),
            run.executor.value, bits(run.profile),
            bits(run.more),     bits(run.dying),
            bits(run.held),     m_.executors[run.executor].epoch - run.epoch,
            bits(end - m_.now)};
  }

  void sort_runs() {
    std::vector<std::pair<RunWords, RunId>> order;
    for (std::size_t i = 0; i < m_.runs.size(); ++i) {
      if (m_.runs.has(RunId{i})) {
        order.emplace_back(words_of(RunId{i}), RunId{i});
      }
    }
    std::ranges::sort(order);
    place_of_run_.assign(m_.runs.size(), nothing);
    for (const auto& [words, id] : order) {
      place_of_run_[id.index()] = runs_.size();
      runs_.push_back(words);
    }
  }

  void put_runs() {
    put_list(runs_,
             [this](const RunWords& run) { words_.insert(words_.end(), run.begin(), run.end()); });
  }

  void sort_shares() {
    std::vector<std::pair<std::vector<std::uint64_t>, std::size_t>> order;
    for (std::size_t i = 0; i < m_.shares.size(); ++i) {
      if (!m_.shares.has(ShareId{i})) {
        continue;
      }
      const ShareRow& row = m_.shares[ShareId{i}];
      std::vector<std::uint64_t> words{name_of(row.gang), row.job.value, row.group.value,
                                       row.executor.value};
      for (const ShareRow::Part& part : row.parts) {
        words.insert(words.end(), {part.profile.value, bits(part.slots), bits(part.rest)});
      }
      for (const RunId run : row.runs) {
        words.push_back(place_of(run));
      }
      order.emplace_back(std::move(words), i);
    }
    std::ranges::sort(order);
    place_of_share_.assign(m_.shares.size(), nothing);
    put(order.size());
    for (std::size_t place = 0; place < order.size(); ++place) {
      place_of_share_[order[place].second] = place;
      put(order[place].first.size());
      words_.insert(words_.end(), order[place].first.begin(), order[place].first.end());
    }
  }

  void put_executors() {
    for (std::size_t i = 0; i < m_.executors.size(); ++i) {
      const ExecutorRow& row = m_.executors[ExecutorId{i}];
      put({row.name.value, bits(row.phase), row.holds, bits(row.draining | row.outputs_gone << 1),
           row.idle_index});
      // In launch order: at a loss they end in it, and the first failure names the cause (X7).
      put_list(row.runs, [this](RunId run) { put(place_of(run)); });
    }
    put_list(m_.expected, [this](const ExpectedRow& row) { put({bits(row.due), row.idle_index}); });
  }

  void put_jobs() {
    for (std::size_t i = 0; i < m_.jobs.size(); ++i) {
      const JobId id{i};
      if (!m_.jobs.has(id)) {
        continue;
      }
      const JobRow& row = m_.jobs[id];
      put({i, bits(row.phase), row.stages, bits(row.sinks_left), bits(row.gangs_left),
           bits(row.starved_units), bits(row.submitted), row.rank, place_of(row.grace),
           bits(row.keeps_outputs), row.query.value});
      for (std::uint32_t s = 0; s < row.stages; ++s) {
        put_stage(stage_of(m_, id, s));
      }
    }
  }

  void put_stage(StageId id) {
    const StageRow& row = m_.stages[id];
    put({row.index, bits(row.phase), bits(row.done), bits(row.pending), bits(row.running),
         bits(row.old_running), bits(row.next_partition), bits(row.missing_inputs),
         name_of(row.gang), bits(row.attempt), bits(row.rolled_back), row.failures,
         bits(row.available | row.registered << 1 | row.starved << 2 | row.shared << 3 |
              row.read << 4 | row.commits << 5 | row.delay_ahead << 6 | row.delay_armed << 7 |
              row.sink_done << 8 | row.listed_partitions << 9 | row.fed << 10)});
    if (row.cold == none_u32) {
      put(nothing);
    } else {
      put_cold(m_.colds[row.cold]);
    }
    if (row.gang.valid() && gang_leader(m_, row.gang) == id) {
      put_gang(m_.gangs[row.gang]);
      put_held(row.gang);
    }
  }

  void put_cold(const StageCold& cold) {
    put_numbers(cold.outputs);
    put_numbers(cold.again);
    put_list(cold.tries, [this](const StageCold::Tries& one) {
      put({bits(one.partition), bits(one.tries), bits(one.failures)});
    });
    put_list(cold.covered,
             [this](const model::Range& one) { put({bits(one.first), bits(one.last)}); });
    put_numbers(cold.ticked_off);
    put_numbers(cold.committed);
    put_list(cold.authorized, [this](const StageCold::Authorized& one) {
      put({bits(one.partition), one.executor.value, bits(one.try_number)});
    });
    put_stages(cold.foreign_readers);
    put({name_of(cold.foreign), bits(cold.rollbacks), bits(cold.undone_for)});
    if (m_.config.locality_wait > 0) {
      put({bits(cold.delay.level), age(cold.delay.since), age(cold.delay.armed),
           bits(cold.delay.clean | cold.delay.refused << 1 | cold.delay.known << 2)});
    }
    put_list(cold.held, [this](const StageCold::HeldSuccess& one) {
      put({place_of(one.run), one.executor.value, bits(one.partition)});
    });
    put_engine_data(cold);
  }

  // What only an engine that says more than a scenario can bring about.
  void put_engine_data(const StageCold& cold) {
    const auto put_try = [this](const StageCold::CommitTry& one) {
      put({bits(one.partition), bits(one.attempt), bits(one.try_number)});
    };
    const auto put_excluded = [this](const StageCold::Excluded& one) {
      put({bits(one.partition), one.executor.value, one.host.value});
    };
    put_list(cold.commit_holders, put_try);
    put_list(cold.failed_commits, put_try);
    put_numbers(cold.cached);
    put_numbers(cold.output_bytes);
    put_list(cold.checksums, [this](const std::optional<std::uint64_t>& one) {
      put({one ? 1U : 0U, one.value_or(0)});
    });
    put({bits(cold.changed_checksums), bits(cold.follows_outputs)});
    put_list(cold.excluded, put_excluded);
    put_list(cold.failed_on, [this](const StageCold::FailedOn& one) {
      put({bits(one.partition), one.executor.value, bits(one.failures)});
    });
    put_list(cold.excluded_by_failures, put_excluded);
  }

  void put_gang(const GangRow& row) {
    std::uint64_t freed = 0;
    for (std::size_t p = 0; p < row.demand.size(); ++p) {
      freed += row.demand[p] > 0 ? m_.slots.freed(ProfileId{p}) : 0;
    }
    // Its wait counts from the first refusal on (A16).
    const bool waits = row.announced && row.phase == GangPhase::slots;
    put({bits(row.unfinished), bits(row.missing_inputs), bits(row.attempt), bits(row.phase),
         row.reruns, bits(row.group_reruns), bits(row.checks), bits(row.members_left),
         place_of(row.timer), waits ? age(row.queued_at) : 0,
         bits(row.barrier | row.resting << 1 | row.patient << 2 | row.announced << 3 |
              row.starved << 4 | row.committed_once << 5 | row.told << 6 |
              (row.refused && row.refused_at == freed) << 7)});
    put_list(row.shares, [this](ShareId share) {
      put(share.index() < place_of_share_.size() ? place_of_share_[share.index()] : nothing);
    });
  }

  void put_timers() {
    put_list(m_.timers, [this](const TimerRow& row) {
      put({bits(row.kind), row.job.value, row.consumer, row.producer});
    });
  }

  void put_held(GangId gang) {  // A2 bulk
    if (!m_.bulks.has(gang)) {
      put(0);
      return;
    }
    put_list(m_.bulks[gang].held, [this](const Placed& slot) {
      put({slot.stage, bits(slot.partition), slot.executor.value});
    });
  }

  void put_reruns() {
    put_list(m_.reruns, [this](const RerunRow& row) {
      put({row.job.value, row.leader, bits(row.delay_over)});
      std::vector<std::uint64_t> dying;
      for (const RunId run : row.dying) {
        dying.push_back(place_of(run));
      }
      std::ranges::sort(dying);
      put_numbers(dying);
    });
  }

  const Machine& m_;
  std::vector<std::uint64_t>& words_;
  std::vector<RunWords> runs_;  // sorted
  std::vector<std::uint64_t> place_of_run_;
  std::vector<std::uint64_t> place_of_share_;
};

}  // namespace

void Core::encode(std::vector<std::uint64_t>& words) const { Encoder(*machine_, words).encode(); }

}  // namespace rehearse::scheduler
