// What events 19 to 36 change: running tasks, slots, outputs, reservations.
// registry: none (derived journal state, used by all monitors)
#include <algorithm>

#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

// A kill that the scheduler ordered, as opposed to one that came from outside.
bool ordered_kill(const model::TaskEnd& event) {
  return event.status == model::TaskStatus::killed && event.reason != model::TaskReason::external;
}

}  // namespace

// Of the task at hand (A10).
bool Track::shares() const {
  return target_.group != nullptr && target_.stage->profile != no_index &&
         shares_slots(target_.group->members.size());
}

std::array<std::int64_t, 4> Track::slice_key(const model::TaskRef& task) const {
  return {last_stage_, task.partition, task.attempt, task.try_number};
}

// The try is the last of this partition now.
[[gnu::always_inline]] inline void Track::begin_try(const model::TaskStart& event, std::int32_t p) {
  Partition& partition = target_.stage->partitions[static_cast<std::size_t>(p)];
  if (partition.live) {
    target_.job->body->older.push_back({last_stage_, p, partition.last});
    partition.more = true;
  }
  partition.last = {.attempt = event.task.attempt,
                    .try_number = event.task.try_number,
                    .executor = seen_.executor_index,
                    .epoch = target_.executor->epoch & 0x7fff'ffffU,
                    .speculative = event.speculative ? 1U : 0U};
  partition.live = true;
  if (event.task.attempt != target_.stage->attempt) {
    return;
  }
  const bool waited = partition.waits;
  if (waited) {
    partition.waits = false;
    --target_.stage->waiting;
  }
  if (claims_.kept()) {
    claim(1, waited ? -1 : 0);
  }
}

void Track::apply_one(const model::TaskStart& event) {
  for (std::int32_t p = event.task.partition; p <= event.task.last(); ++p) {
    begin_try(event, p);
  }
  if (event.task.more > 0) {
    target_.job->body->slices[slice_key(event.task)] = event.task.more;
  }
  ++launches_;
  ++live_tasks_;
  ++target_.job->live_tasks;
  ++target_.executor->live_tasks;
  if (target_.stage->profile == no_index) {
    Stage& stage = *target_.stage;  // a copy of a stage nobody described
    const std::int32_t running = stage.running;
    claim_no_more(stage);
    stage.profile = target_.executor->profile;
    claim(running, stage.waiting);
  }
  const bool takes =
      !shares() || shared_.start(event.task, slots_.profile_name(target_.stage->profile));
  if (takes) {
    slots_.take(seen_.executor_index, target_.stage->profile, event.task.size());
  }
  Group* group = target_.group;
  if (group == nullptr || group->attempt != event.task.attempt) {
    return;
  }
  ++group->started;
  ++group->running;
  group->all_ran = group->all_ran ||
                   (group->running >= group->tasks && group->submitted == group->members.size());
  const Index profile = target_.stage->profile;
  const bool first = event.task.try_number == 0 && !event.speculative;
  if (first && takes && profile != no_index && group->owed[profile] > 0) {
    --group->owed[profile];
    --owed_[profile];
    --owed_total_;
  }
  touch();
}

// What the end of a task says of its slot.
void Track::return_slot(const model::TaskEnd& event) {
  const Index profile = target_.stage->profile;
  if (shares()) {
    model::SharedSlots::Share* share = shared_.end(event.task, slots_.profile_name(profile));
    if (share != nullptr && !event.slot && share->slots > 0) {
      --share->slots;  // RESERVATION has said so
      slots_.give_back(seen_.executor_index, profile, 1);
    }
    const bool none_left = share != nullptr && share->running == 0;
    target_.job->held_slots += static_cast<std::int32_t>(none_left ? share->slots : 0);
  } else if (!event.slot) {
    slots_.give_back(seen_.executor_index, profile, event.task.size());
  } else {
    for (std::int32_t i = 0; i < event.task.size(); ++i) {
      const std::size_t early = target_.executor->early_slots.size();
      const bool held = slots_.hold_slot(seen_.executor_index, {seen_.job_index, profile});
      if (claims_.kept() && target_.executor->early_slots.size() < early) {
        claims_.ended_early(profile, 1);
      }
      target_.job->held_slots += held ? 1 : 0;
      if (held && shared_.enabled() && profile != no_index) {
        shared_.hold(event.task, slots_.profile_name(profile));
      }
    }
  }
  if (!event.slot) {
    target_.job->slots_returned_in = instant_;
  }
}

// A line about slots that a group shared; false if it is about others.
bool Track::return_shared(const model::SlotReturned& event) {
  const auto before = shared_.enabled() ? shared_.give_back(event) : std::nullopt;
  if (!before) {
    return false;
  }
  target_.job->held_slots -= static_cast<std::int32_t>(before->running == 0 ? event.count : 0);
  target_.job->slots_returned_in = instant_;
  slots_.give_back(seen_.executor_index, slots_.find_profile(event.profile), event.count);
  return true;
}

inline void Track::end_try(std::size_t older_place) {
  if (older_place == not_older) {
    target_.partition->live = false;
  } else {
    std::vector<OlderTry>& older = target_.job->body->older;
    older[older_place] = older.back();
    older.pop_back();
  }
}

void Track::apply_one(const model::TaskEnd& event) {
  end_try(target_.older);
  if (claims_.kept() && event.task.attempt == target_.stage->attempt) {
    claim(-std::int64_t{event.task.size()}, 0);
  }
  --live_tasks_;
  --target_.job->live_tasks;
  --target_.executor->live_tasks;
  ordered_kills_ += ordered_kill(event) ? 1 : 0;
  return_slot(event);
  if (Group* group = target_.group; group != nullptr && group->attempt == event.task.attempt) {
    --group->running;
    if (event.status != model::TaskStatus::success) {
      if (event.reason == model::TaskReason::group_failed) {
        group->task_killed_in = instant_;
      } else if (!ordered_kill(event)) {
        const bool counts = rules_.config.failure.member == model::MemberFailure::any ||
                            (event.status == model::TaskStatus::failed &&
                             event.reason != model::TaskReason::commit_denied);
        group->task_failed_in = counts ? instant_ : group->task_failed_in;
      }
      touch();
    }
  }
  if (event.status != model::TaskStatus::success &&
      event.reason == model::TaskReason::fetch_failed) {
    fetch_failed_ = true;
    something_changed_ = true;
  }
  note_end(event, event.task.partition);
  if (event.task.more > 0) {
    target_.job->body->slices.erase(slice_key(event.task));
    for (std::int32_t p = event.task.partition + 1; p <= event.task.last(); ++p) {
      ++target_.partition;
      end_try(find_try(event.task, p).value_or(not_older));
      note_end(event, p);
    }
  }
}

// What the end of a try means for the partition at hand.
inline void Track::note_end(const model::TaskEnd& event, std::int32_t p) {
  if (event.status == model::TaskStatus::success) {
    if (event.slot) {
      target_.partition->succeeded = true;  // C6: before this line, whatever it says of the count
    }
    if (event.counted.value_or(true)) {
      succeed(event);
    } else if (rules_.config.failure.incomplete == model::Incomplete::success_then_rerun) {
      no_longer_waits();  // X9: ticked off, without an output
    }
  } else if (event.reason != model::TaskReason::fetch_failed &&
             event.task.attempt == target_.stage->attempt && !ordered_kill(event)) {
    wait_again(event, p);
  }
}

// X9: a try that failed, or was killed from outside, is repeated in its attempt.
void Track::wait_again(const model::TaskEnd& event, std::int32_t p) {
  Partition& partition = *target_.partition;
  bool runs = partition.live && partition.last.attempt == event.task.attempt;
  for (const OlderTry& older : target_.job->body->older) {  // beside a copy that ended
    runs = runs || (older.stage == last_stage_ && older.partition == p &&
                    older.task.attempt == event.task.attempt);
  }
  if (!runs && !partition.done && !partition.waits) {
    partition.waits = true;
    ++target_.stage->waiting;
    claim(0, 1);
    list_stage();
  }
}

void Track::no_longer_waits() {
  if (target_.partition->waits) {
    target_.partition->waits = false;
    --target_.stage->waiting;
    claim(0, -1);
  }
}

// A success that counts ticks its partition off; outside groups that commit it also registers the
// output (C4).
void Track::succeed(const model::TaskEnd& event) {
  const Group* group = target_.group;
  const bool member = group != nullptr && group->gang_of_several();
  if (member && event.task.attempt != group->attempt) {
    return;
  }
  Partition& partition = *target_.partition;
  if (event.task.more > 0 && partition.done) {
    return;  // A21: another try did it; what is left of the slice counts
  }
  partition.executor = seen_.executor_index;
  partition.succeeded = true;
  no_longer_waits();
  if (!partition.done) {
    partition.done = true;
    ++target_.stage->done;
  }
  if (!partition.output && !(member && rules_.commits_as_group())) {
    partition.output = true;
    ++target_.stage->outputs;
  }
}

void Track::apply_one(const model::SlotReturned& event) {
  if (return_shared(event)) {
    return;
  }
  target_.executor->returned_in = instant_;
  const Index profile = slots_.find_profile(event.profile);
  for (std::int64_t i = 0; i < event.count; ++i) {
    if (slots_.unhold_slot(seen_.executor_index, {seen_.job_index, profile})) {
      --target_.job->held_slots;
    } else if (claims_.kept()) {
      claims_.ended_early(profile, -1);
    }
  }
  if (target_.executor->live) {
    slots_.give_back(seen_.executor_index, profile, event.count);
  }
}

void Track::apply_one(const model::OutputsRegistered& /*event*/) {
  for (Partition& partition : target_.stage->partitions) {
    partition.output = true;
  }
  target_.stage->outputs = target_.stage->tasks;
  progressed_.push_back(seen_.job_index);
  if (target_.group != nullptr) {
    touch();
  }
}

void Track::apply_one(const model::OutputsLost& event) {
  // X16: a group that failed forgets what it had registered; no epoch ends with that.
  const bool forgotten = target_.group != nullptr && target_.group->failed_in == instant_;
  if (!forgotten) {
    struck_.push_back({seen_.executor_index, ++target_.executor->epoch, !rules_.indeterminate});
  }
  something_changed_ = true;
  if (target_.stage == nullptr) {
    return;  // of a job that has ended
  }
  Stage& stage = *target_.stage;
  target_.job->body->outputs_lost_at = sequence_;
  const auto size = static_cast<std::int64_t>(stage.partitions.size());
  for (const model::Range& range : event.partitions) {
    for (std::int64_t p = std::max(range.first, 0); p <= range.last && p < size; ++p) {
      Partition& partition = stage.partitions[static_cast<std::size_t>(p)];
      if (partition.executor != seen_.executor_index) {
        continue;
      }
      // X9, SS-2.6: a stage that still runs does again what its own attempt did on a lost executor,
      // unless outputs survive executors in general.
      const bool again = !rules_.config.outputs_survive_executor && !target_.executor->live &&
                         partition.done && !partition.live && !partition.waits &&
                         stage.state == AttemptState::open &&
                         partition.last.attempt == stage.attempt && stage.group == no_index;
      stage.outputs -= partition.output ? 1 : 0;
      stage.done -= partition.done ? 1 : 0;
      partition.output = false;
      partition.done = false;
      partition.waits = partition.waits || again;
      stage.waiting += again ? 1 : 0;
      claim(0, again ? 1 : 0);
    }
  }
  if (!forgotten) {
    const bool may_be_void = stage.barrier || rules_.indeterminate;
    struck_.back().certain = stage.outputs > 0 || !may_be_void;
  }
  list_stage();
}

// X9: a fetch failure ends the epoch of the executor it names. No line names it; it is certain when
// all outputs struck off in the instant were on one executor, unless they were all that a stage had
// left and it may be void as a whole (a barrier stage that runs again, indeterminate data).
void Track::end_epochs() {
  if (fetch_failed_ && !struck_.empty()) {
    const Struck& first = struck_.front();
    const bool one = std::all_of(struck_.begin(), struck_.end(), [&](const Struck& other) {
      return other.executor == first.executor;
    });
    if (one && std::ranges::any_of(struck_, &Struck::certain)) {
      slots_.executor(first.executor).fenced_epoch = first.epoch;
    }
  }
  struck_.clear();
  fetch_failed_ = false;
}

void Track::apply_one(const model::OutputCommitted& event) {
  Stage& stage = *target_.stage;
  if (stage.commit_attempt.empty()) {
    stage.commit_attempt.assign(stage.partitions.size(), -1);
  }
  stage.commit_attempt[static_cast<std::size_t>(event.task.partition)] = event.task.attempt;
  something_changed_ = true;
}

void Track::apply_one(const model::Reservation& event) {
  target_.group->reserved += event.delta;
  slots_.reserve(seen_.executor_index, slots_.find_profile(event.profile), event.delta);
  touch();
}

}  // namespace rehearse::properties
