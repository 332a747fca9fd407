// What the journal says about one request and its tries: attempts, tasks, admissions, failures, and
// what its units waited for while they waited. The input of the explanation; judges nothing.
//
// Memory: linear in the tasks and attempts of the request, plus one span per change of the reason
// for which a unit of it waits, plus counters of what runs. Everything else of the journal leaves
// no trace here.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/support/events.hpp"
#include "reports/explain_rows.hpp"
#include "reports/live_work.hpp"
#include "reports/slot_ledger.hpp"

namespace rehearse::reports {

class ExplainFacts {
 public:
  // A request ("q": all its tries) or one try ("q#1").
  explicit ExplainFacts(std::string job) : wanted_(std::move(job)) {}

  void begin(const model::NameTable& names) { names_ = &names; }
  void on(const model::Event& event);
  // The run lasted until then, which may be after its last event.
  void last_until(model::Instant end) { settle(std::max(end, now_)); }

  [[nodiscard]] const std::vector<TryFacts>& tries() const { return tries_; }
  [[nodiscard]] const RunRules& rules() const { return rules_; }
  [[nodiscard]] const model::NameTable& names() const { return *names_; }
  [[nodiscard]] const std::vector<model::NameId>& profiles() const { return profiles_; }
  // The order of the queue is read from the journal (live_work.hpp says which are not).
  [[nodiscard]] bool ordered() const;
  // A gang fits by count alone: no executor serves several profiles.
  [[nodiscard]] bool counts_decide() const { return !unbound_seen_; }
  [[nodiscard]] std::optional<model::RunEndCause> run_end() const { return run_end_; }
  [[nodiscard]] model::Instant now() const { return now_; }

 private:
  void settle(model::Instant to);
  void list_waiters();
  void sample(WaitSpan span, std::vector<WaitSpan>& spans, const QueueRank& place,
              model::Instant to);
  [[nodiscard]] WaitSpan look_at_gang(std::size_t gang);
  [[nodiscard]] WaitSpan look_at_stage(std::size_t stage);
  [[nodiscard]] Shortage shortage(std::size_t profile, std::int64_t need) const;
  [[nodiscard]] std::int64_t held_while_waiting(model::NameId job, model::NameId leader,
                                                std::size_t profile) const;
  [[nodiscard]] bool blocks(const LiveWork::Waiting& head, const QueueRank& place,
                            const std::vector<Shortage>& shortages) const;
  // The head that keeps a unit at this place from starting; `fit`: slots for it are free.
  [[nodiscard]] std::optional<LiveWork::Waiting> in_the_way(
      const QueueRank& place, bool fit, const std::vector<Shortage>& shortages) const;
  // `place` is that of the unit in the queue.
  void fill_in(WaitSpan& span, const QueueRank& place) const;
  [[nodiscard]] bool wanted(model::NameId job) const;
  [[nodiscard]] StageFacts* stage(model::NameId job, model::NameId stage);
  [[nodiscard]] GangFacts* gang(const model::StageRef& ref);
  void hold(model::NameId job, model::NameId executor, std::int64_t delta);
  // What sharing has cost on the executor until now; what runs there has just changed.
  model::Duration shared_until_now(model::NameId executor);
  void note_foreign(const model::StageCompleted& event);
  void adopt(TryFacts& row, std::size_t copy) const;
  void add_edges(TryFacts& row, const model::JobSubmitted& event);

  void apply(const model::RunStart& event);
  void apply(const model::ExecutorAdded& event);
  void apply(const model::ExecutorLost& event);
  void apply(const model::ExecutorHeld& event);
  void apply(const model::ExecutorReleased& event);
  void apply(const model::JobSubmitted& event);
  template <class Ending>
  void end_try(const Ending& event);  // of a rejection or an end
  void apply(const model::JobRejected& event);
  void apply(const model::JobEnd& event);
  void apply(const model::GroupFormed& event);
  void apply(const model::GroupQueued& event) { work_.queued(event); }
  void apply(const model::GroupAdmitted& event);
  void apply(const model::GroupCommitted& event) { work_.over(event.group); }
  void apply(const model::GroupFailed& event);
  void apply(const model::GroupCancelled& event) { work_.over(event.group); }
  void apply(const model::EdgesChanged& event);
  void apply(const model::StageSubmitted& event);
  void apply(const model::StageCompleted& event);
  void apply(const model::TaskStart& event);
  void apply(const model::TaskEnd& event);
  void apply(const model::SlotReturned& event);
  void apply(const model::OutputsLost& event);
  void apply(const model::Reservation& event);
  void apply(const model::RunEnd& event) { run_end_ = event.cause; }
  // The others say nothing about where time went.
  void apply(const auto&) {}

  struct Waiter {  // of the live try
    bool gang = false;
    std::size_t index = 0;
  };
  struct Bound {  // of an executor; no value = unbound
    std::optional<std::size_t> profile;
    bool held = false;
    // What sharing slots has cost a task that ran there all the time until since_ns, and how it is
    // from then on.
    model::Duration shared_ns = 0;
    model::Instant since_ns = 0;
    SlotLedger::Sharing sharing;
  };

  std::string wanted_;
  const model::NameTable* names_ = nullptr;
  model::Instant now_ = 0;
  SlotLedger ledger_;
  LiveWork work_;
  RunRules rules_;
  std::vector<model::NameId> profiles_;
  std::vector<TryFacts> tries_;
  bool live_ = false;     // the last try
  bool touched_ = false;  // something of it changed: who waits is looked at anew
  bool changed_ = false;  // a task of it failed in this instant
  std::vector<Waiter> waiters_;
  std::map<model::NameId, std::size_t> stage_of_name_;                        // of the live try
  std::map<std::array<std::int64_t, 4>, std::size_t> run_of_task_;            // open runs
  std::map<model::NameId, Bound> executors_;                                  // live ones
  std::map<std::pair<model::NameId, std::size_t>, std::int64_t> held_slots_;  // job, serves
  std::map<std::array<std::uint64_t, 4>, std::int64_t> reserved_;             // as Metrics has it
  std::map<model::NameId, std::int64_t> order_;  // of live jobs, by submission
  std::int64_t submissions_ = 0;
  bool unbound_seen_ = false;
  std::optional<model::RunEndCause> run_end_;
  std::vector<std::pair<model::NameId, std::size_t>> started_now_;  // later jobs, serves
};

}  // namespace rehearse::reports
