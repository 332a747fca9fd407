// registry: none (part of the explanation)
//
// Why a unit of the request waits, looked at whenever time advances, with the state after the last
// event of the instant before. The scheduler writes no reasons, so they are inferred: from free
// slots, from the head of the queue, and from the axes of the run line.
#include <algorithm>
#include <functional>

#include "model/support/check.hpp"
#include "reports/explain_facts.hpp"

namespace rehearse::reports {
namespace {

constexpr std::size_t unbound = no_index;
// Jobs that passed it, by name.
constexpr std::size_t passers_max = 3;

bool fits(const std::vector<Shortage>& all) {
  return std::ranges::all_of(all, [](const Shortage& each) { return each.need <= each.room; });
}

bool fits_with_held(const std::vector<Shortage>& all) {
  return std::ranges::all_of(
      all, [](const Shortage& each) { return each.need <= each.room + each.withheld; });
}

bool serves_one(std::size_t serves, const std::vector<Shortage>& all) {
  return serves == unbound || std::ranges::find(all, serves, &Shortage::profile) != all.end();
}

}  // namespace

void ExplainFacts::settle(model::Instant to) {
  RH_CHECK(to >= now_, now_, to);
  if (to == now_) {
    return;
  }
  if (live_) {
    if (touched_) {
      list_waiters();
      touched_ = false;
    }
    TryFacts& row = tries_.back();
    for (const Waiter& waiter : waiters_) {
      if (waiter.gang) {
        const auto self = work_.waiting(row.job, row.gangs[waiter.index].leader);
        RH_CHECK(self.has_value());
        sample(look_at_gang(waiter.index), row.gangs[waiter.index].waits, self->place, to);
      } else {
        StageFacts& stage = row.stages[waiter.index];
        sample(look_at_stage(waiter.index), stage.waits, work_.place(row.job, stage.name), to);
      }
    }
  }
  started_now_.clear();
  changed_ = false;
  now_ = to;
}

void ExplainFacts::list_waiters() {
  waiters_.clear();
  const TryFacts& row = tries_.back();
  for (std::size_t i = 0; i < row.gangs.size(); ++i) {
    if (work_.waiting(row.job, row.gangs[i].leader)) {
      waiters_.push_back({.gang = true, .index = i});
    }
  }
  for (std::size_t i = 0; i < row.stages.size(); ++i) {
    const LiveStage* live = work_.find(row.job, row.stages[i].name);
    if (live != nullptr && live->live && live->pending > 0) {
      waiters_.push_back({.gang = false, .index = i});
    }
  }
}

Shortage ExplainFacts::shortage(std::size_t profile, std::int64_t need) const {
  return {.profile = profile,
          .need = need,
          .room = ledger_.room(profile),
          .withheld = ledger_.room_withheld(profile)};
}

// A2 bulk: what the unit has reserved for itself.
std::int64_t ExplainFacts::held_while_waiting(model::NameId job, model::NameId leader,
                                              std::size_t profile) const {
  std::int64_t slots = 0;
  for (auto at = reserved_.lower_bound({job.value, leader.value, 0, 0});
       at != reserved_.end() && at->first[0] == job.value && at->first[1] == leader.value; ++at) {
    const model::NameId name{static_cast<std::uint32_t>(at->first[3])};
    slots += ledger_.profile(name) == profile ? at->second : 0;
  }
  return slots;
}

// A16: behind a head nothing starts on executors that serve a profile the head demands.
bool ExplainFacts::blocks(const LiveWork::Waiting& head, const QueueRank& place,
                          const std::vector<Shortage>& shortages) const {
  if (ordered() ? !(head.place < place) : head.place == place) {
    return false;
  }
  const bool any_unbound = std::ranges::any_of(
      executors_, [](const auto& entry) { return !entry.second.profile.has_value(); });
  return any_unbound || std::ranges::any_of(head.demand, [&](const auto& entry) {
           return entry.second > 0 && serves_one(entry.first, shortages);
         });
}

std::optional<LiveWork::Waiting> ExplainFacts::in_the_way(
    const QueueRank& place, bool fit, const std::vector<Shortage>& shortages) const {
  const bool never = rules_.overtake == "never";
  if (rules_.overtake.starts_with("backfill") || (!fit && !(never && ordered()))) {
    return std::nullopt;
  }
  auto head = work_.head(ledger_);
  if ((!head || !blocks(*head, place, shortages)) && fit) {
    head = work_.first_waiting();
  }
  return head && blocks(*head, place, shortages) ? head : std::nullopt;
}

bool ExplainFacts::ordered() const {
  return rules_.queue.empty() || rules_.queue == "fifo" || rules_.queue == "priority" ||
         rules_.queue == "smallest-first";
}

WaitSpan ExplainFacts::look_at_gang(std::size_t index) {
  const TryFacts& row = tries_.back();
  const GangFacts& gang = row.gangs[index];
  const auto self = work_.waiting(row.job, gang.leader);
  RH_CHECK(self.has_value());
  WaitSpan span;
  for (const auto& [profile, tasks] : gang.demand) {
    const std::int64_t lacks = tasks - held_while_waiting(row.job, gang.leader, profile);
    if (tasks > 0) {
      span.shortages.push_back(shortage(profile, lacks));
    }
  }
  const auto lacking = [](const Shortage& each) { return each.need > 0; };
  if (std::ranges::any_of(span.shortages, lacking)) {
    std::erase_if(span.shortages, std::not_fn(lacking));
  }
  const bool fit = fits(span.shortages);
  const auto head = in_the_way(self->place, fit, span.shortages);
  if (LiveWork::starved(gang.demand, ledger_)) {
    span.kind = PartKind::starved;
  } else if (head) {
    span.kind = PartKind::head;
    span.head_job = head->job;
    span.head_stage = head->stage;
  } else if (fit && rules_.short_rule.starts_with("retry")) {
    span.kind = PartKind::retry;
  } else if (fit) {
    span.ahead = work_.waiting_ahead(self->place);
    span.kind =
        rules_.depth > 0 && span.ahead >= rules_.depth ? PartKind::depth : PartKind::placement;
  } else if (fits_with_held(span.shortages)) {
    span.kind = PartKind::held;
  } else {
    const auto first = work_.head(ledger_);
    const bool heads = first && first->place == self->place && ordered();
    span.kind = heads && rules_.overtake == "never" ? PartKind::drain : PartKind::slots;
  }
  return span;
}

WaitSpan ExplainFacts::look_at_stage(std::size_t index) {
  const TryFacts& row = tries_.back();
  const StageFacts& stage = row.stages[index];
  const LiveStage* live = work_.find(row.job, stage.name);
  RH_CHECK(live != nullptr);
  WaitSpan span;
  if (stage.copy && profiles_.size() > 1) {  // of which profile, no event says
    span.kind = PartKind::slots;
    return span;
  }
  span.shortages.push_back(shortage(live->profile, live->pending));
  const Shortage& own = span.shortages.front();
  // A barrier stage that was let in starts whole (A12), any other task by task.
  const bool fit = stage.gang && row.gangs[*stage.gang].stages.size() == 1 &&
                           !row.gangs[*stage.gang].dissolved_ns
                       ? own.need <= own.room
                       : own.room > 0;
  const auto head = in_the_way(work_.place(row.job, stage.name), fit, span.shortages);
  const std::pair<std::size_t, std::int64_t> one = {live->profile, 1};
  if (LiveWork::starved({&one, 1}, ledger_)) {
    span.kind = PartKind::starved;
  } else if (head) {
    span.kind = PartKind::head;
    span.head_job = head->job;
    span.head_stage = head->stage;
  } else if (fit && stage.uncounted) {
    span.kind = PartKind::resubmit;
  } else if (fit) {
    const bool waits_near = !rules_.locality_wait.empty() && rules_.locality_wait != "0s";
    span.kind = waits_near ? PartKind::locality : PartKind::unexplained;
  } else {
    span.kind = own.withheld > 0 ? PartKind::held : PartKind::slots;
  }
  return span;
}

// Who holds what the unit could use, and which executors are held, at the start of a span.
void ExplainFacts::fill_in(WaitSpan& span, const QueueRank& place) const {
  std::map<model::NameId, std::int64_t> by_job;
  for (const auto& [key, slots] : held_slots_) {
    if (slots > 0 && serves_one(key.second, span.shortages)) {
      by_job[key.first] += slots;
    }
  }
  for (const auto& [job, slots] : by_job) {
    span.holders.push_back({job, slots});
  }
  std::ranges::sort(span.holders, [&](const Holder& a, const Holder& b) {
    return a.slots != b.slots ? a.slots > b.slots : names_->text(a.job) < names_->text(b.job);
  });
  if (span.kind == PartKind::slots && ordered() && !span.shortages.empty()) {
    span.stages_ahead = work_.pending_ahead(place, span.shortages.front().profile);
  }
  if (span.kind == PartKind::held) {
    for (const auto& [name, row] : executors_) {
      if (row.held && serves_one(row.profile.value_or(unbound), span.shortages)) {
        span.held.push_back(name);
      }
    }
    std::ranges::sort(span.held, {}, [&](model::NameId name) { return names_->text(name); });
  }
}

// Adds [now, to) to the spans of a unit: the last one goes on when its reason is the same.
void ExplainFacts::sample(WaitSpan span, std::vector<WaitSpan>& spans, const QueueRank& place,
                          model::Instant to) {
  const bool goes_on = !spans.empty() && !changed_ && spans.back().to_ns == now_ &&
                       spans.back().kind == span.kind && spans.back().head_job == span.head_job &&
                       spans.back().head_stage == span.head_stage;
  if (!goes_on) {
    fill_in(span, place);
    span.from_ns = now_;
    spans.push_back(span);
  }
  WaitSpan& last = spans.back();
  last.to_ns = to;
  for (const auto& [job, serves] : started_now_) {
    if (serves_one(serves, last.shortages)) {
      ++last.passed;
      if (last.passers.size() < passers_max &&
          std::ranges::find(last.passers, job) == last.passers.end()) {
        last.passers.push_back(job);
      }
    }
  }
  if (span.shortages.empty()) {
    return;
  }
  if (!last.all_fit_ns && fits(span.shortages)) {
    last.all_fit_ns = now_;
  }
  last.most_room = std::max(last.most_room, span.shortages.front().room);
  if (!last.one_fits_ns && span.shortages.front().room > 0) {
    last.one_fits_ns = now_;
  }
}

}  // namespace rehearse::reports
