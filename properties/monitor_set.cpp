// Dispatch: names are resolved once, then each monitor that wants the kind sees the event, then the
// track takes it in. Quiescence is when time moves on, or at the end.
// registry: none (owns the monitors)
#include "properties/monitor_set.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "model/support/check.hpp"

namespace rehearse::properties {

MonitorSet::MonitorSet() { make_monitors(); }

MonitorSet::~MonitorSet() = default;

void MonitorSet::make_monitors() {
  for (const Property& property : all_properties()) {
    Entry& entry = entries_.emplace_back();
    entry.property = &property;
    if (!property.built()) {
      continue;
    }
    entry.monitor = property.make(track_);
    enlist(*entry.monitor);
  }
}

void MonitorSet::enlist(Monitor& monitor) {
  if (monitor.wants_every_instant()) {
    every_instant_.push_back(&monitor);
  }
  constexpr std::uint64_t kinds = (std::uint64_t{2} << model::event_kinds) - 2;
  for (std::uint64_t wanted = monitor.wants() & kinds; wanted != 0; wanted &= wanted - 1) {
    const auto number = static_cast<std::size_t>(std::countr_zero(wanted));
    listeners_of(monitor, number).push_back(&monitor);
  }
}

void MonitorSet::listen(std::unique_ptr<Monitor> listener) {
  RH_CHECK(names_ == nullptr && listener_ == nullptr);
  listener_ = std::move(listener);
  enlist(*listener_);
}

// It came last everywhere.
void MonitorSet::delist_listener() {
  const auto drop = [this](std::vector<Monitor*>& list) {
    if (!list.empty() && list.back() == listener_.get()) {
      list.pop_back();
    }
  };
  std::ranges::for_each(listeners_, drop);
  for (TaskListeners* tasks : {&starts_, &ends_}) {
    drop(tasks->of_groups);
    drop(tasks->unusual);
  }
  drop(every_instant_);
  listener_.reset();
}

void MonitorSet::reset() {
  static const MonitorSet blank;
  if (listener_ != nullptr) {
    delist_listener();
  }
  *this = blank;
}

MonitorSet::MonitorSet(const MonitorSet& other)
    : track_(other.track_),
      names_(other.names_),
      run_end_(other.run_end_),
      verdicts_(other.verdicts_),
      violations_(other.violations_),
      finished_(other.finished_) {
  RH_CHECK(other.listener_ == nullptr);  // one that judges nothing belongs to one journal
  for (const Entry& entry : other.entries_) {
    Entry& mine = entries_.emplace_back();
    mine.property = entry.property;
    mine.promised = entry.promised;
    mine.monitor = entry.monitor ? entry.monitor->copy_over(track_) : nullptr;
    if (mine.monitor != nullptr) {
      enlist(*mine.monitor);
    }
  }
}

MonitorSet& MonitorSet::operator=(const MonitorSet& other) {
  if (this == &other) {
    return *this;
  }
  RH_CHECK(entries_.size() == other.entries_.size());
  RH_CHECK(listener_ == nullptr && other.listener_ == nullptr);
  track_ = other.track_;
  names_ = other.names_;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].promised = other.entries_[i].promised;
    if (entries_[i].monitor != nullptr) {
      entries_[i].monitor->continue_from(*other.entries_[i].monitor);
    }
  }
  run_end_ = other.run_end_;
  verdicts_ = other.verdicts_;
  violations_ = other.violations_;
  finished_ = other.finished_;
  return *this;
}

std::int64_t MonitorSet::violation_count() const {
  std::int64_t count = 0;
  for (const Entry& entry : entries_) {
    count += entry.promised && entry.monitor != nullptr ? entry.monitor->violation_count() : 0;
  }
  return count;
}

std::vector<model::Violation> MonitorSet::violations_so_far() const {
  std::vector<model::Violation> list;
  for (const Entry& entry : entries_) {
    if (!entry.promised || entry.monitor == nullptr) {
      continue;
    }
    for (model::Violation violation : entry.monitor->violations()) {
      violation.property = entry.property->id;
      list.push_back(std::move(violation));
    }
  }
  return list;
}

void MonitorSet::leave(model::Instant t) { move_to(t + 1); }

void MonitorSet::move_to(model::Instant t) {
  if (track_.leaves_instant(t)) {
    leave_instant();
    if (track_.opens_new_instant(t)) {
      end_instant();
    }
  }
  track_.set_time(t);
}

std::vector<Monitor*>& MonitorSet::listeners_of(const Monitor& monitor, std::size_t number) {
  constexpr std::size_t start = model::event_number<model::TaskStart>();
  constexpr std::size_t end = model::event_number<model::TaskEnd>();
  if (number != start && number != end) {
    return listeners_[number];
  }
  const PlainTasks plain =
      number == start ? monitor.wants_plain_starts() : monitor.wants_plain_ends();
  TaskListeners& tasks = number == start ? starts_ : ends_;
  return plain == PlainTasks::all         ? listeners_[number]
         : plain == PlainTasks::of_groups ? tasks.of_groups
                                          : tasks.unusual;
}

void MonitorSet::begin(const model::NameTable& names) {
  names_ = &names;
  track_.begin(names);
}

void MonitorSet::read_promises(const model::RunStart& run) {
  for (Entry& entry : entries_) {
    entry.promised = false;
  }
  std::size_t likely = 0;  // promises come in the order of the registry
  for (const model::NameId id : run.promises) {
    const std::string_view text = names_->text(id);
    for (std::size_t looked_at = 0; looked_at < entries_.size(); ++looked_at) {
      Entry& entry = entries_[likely];
      likely = likely + 1 == entries_.size() ? 0 : likely + 1;
      if (entry.property->id == text) {
        entry.promised = true;
        break;
      }
    }
  }
}

void MonitorSet::leave_instant() {
  track_.settle();
  for (Monitor* monitor : every_instant_) {
    monitor->every_instant_over();
  }
}

void MonitorSet::end_instant() {
  for (const Entry& entry : entries_) {
    if (entry.monitor != nullptr) {
      entry.monitor->instant_over();
    }
  }
  if (listener_ != nullptr) {
    listener_->instant_over();
  }
  track_.close_instant();
}

namespace {

// See PlainTasks.
bool is_plain(const model::TaskRef& task, const Seen& seen) {
  return task.try_number == 0 && task.attempt == 0 && seen.stage->attempt == 0;
}
bool is_plain(const model::TaskStart& start, const Seen& seen) {
  return is_plain(start.task, seen) && !start.speculative;
}
bool is_plain(const model::TaskEnd& end, const Seen& seen) {
  return is_plain(end.task, seen) && end.status == model::TaskStatus::success && !end.reason;
}

}  // namespace

// Those that want every one are told by the caller.
template <class Tell>
void MonitorSet::tell_some(const TaskListeners& listeners, const Seen& seen, bool plain,
                           const Tell& tell) {
  if (plain && seen.group == nullptr) {
    return;
  }
  std::ranges::for_each(listeners.of_groups, tell);
  if (!plain) {
    std::ranges::for_each(listeners.unusual, tell);
  }
}

void MonitorSet::on(const model::Event& event) {
  RH_CHECK(names_ != nullptr && !finished_);
  if (track_.leaves_instant(event.t)) {
    move_to(event.t);
  }
  const Seen& seen = track_.resolve(event);
  const auto number = static_cast<std::size_t>(event.number());
  if (!seen.known) {
    for (Monitor* monitor : listeners_[number]) {
      monitor->unknown(event, seen);
    }
    return;
  }
  if (const auto* start = event.as<model::TaskStart>()) {
    const auto tell = [&](Monitor* monitor) { monitor->task_start(*start, seen); };
    std::ranges::for_each(listeners_[number], tell);
    tell_some(starts_, seen, is_plain(*start, seen), tell);
  } else if (const auto* end = event.as<model::TaskEnd>()) {
    const auto tell = [&](Monitor* monitor) { monitor->task_end(*end, seen); };
    std::ranges::for_each(listeners_[number], tell);
    tell_some(ends_, seen, is_plain(*end, seen), tell);
  } else {
    for (Monitor* monitor : listeners_[number]) {
      monitor->event(event, seen);
    }
    if (const auto* run = event.as<model::RunStart>()) {
      read_promises(*run);
    } else if (const auto* over = event.as<model::RunEnd>()) {
      run_end_ = over->cause;
    }
  }
  track_.apply(event);
}

void MonitorSet::finish() {
  RH_CHECK(!finished_);
  finished_ = true;
  if (run_end_) {  // else the last instant may lack lines
    leave_instant();
  }
  end_instant();
  const RunOver over = run_end_.value_or(RunOver::interrupted);
  verdicts_.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    PropertyVerdict& verdict = verdicts_.emplace_back();
    verdict.property = entry.property->id;
    verdict.promised = entry.promised;
    if (entry.monitor == nullptr) {
      continue;
    }
    entry.monitor->finish(over);
    if (!entry.monitor->judged(over)) {
      continue;
    }
    verdict.violation_count = entry.monitor->violation_count();
    verdict.verdict = verdict.violation_count == 0 ? Verdict::held : Verdict::violated;
    verdict.first_found_at = entry.monitor->first_found_at();
    verdict.violations = entry.monitor->violations();
    for (model::Violation& violation : verdict.violations) {
      violation.property = entry.property->id;
    }
    if (verdict.promised) {
      violations_.insert(violations_.end(), verdict.violations.begin(), verdict.violations.end());
    }
  }
  sort_violations();
}

// By time; within an instant as they stand, by property and then as they were found.
void MonitorSet::sort_violations() {
  std::vector<std::pair<model::Instant, std::size_t>> order;
  for (std::size_t i = 0; i < violations_.size(); ++i) {
    order.emplace_back(violations_[i].t, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<model::Violation> sorted;
  sorted.reserve(order.size());
  for (const auto& [t, i] : order) {
    sorted.push_back(std::move(violations_[i]));
  }
  violations_ = std::move(sorted);
}

const PropertyVerdict* MonitorSet::find(std::string_view property) const {
  const auto at = std::find_if(verdicts_.begin(), verdicts_.end(),
                               [&](const auto& verdict) { return verdict.property == property; });
  return at == verdicts_.end() ? nullptr : &*at;
}

}  // namespace rehearse::properties
