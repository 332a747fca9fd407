// Carrying out what the autoscaler decides: its executors are asked for, join and leave, and those
// that may still be asked for are known to the core as due (A5).
#include <algorithm>
#include <string>

#include "model/support/check.hpp"
#include "sim/driver.hpp"

namespace rehearse::sim {

namespace {

constexpr std::string_view number_mark = "{i}";

std::string numbered(std::string text, const std::string& number) {
  for (std::size_t at = text.find(number_mark); at != std::string::npos;
       at = text.find(number_mark, at + number.size())) {
    text.replace(at, number_mark.size(), number);
  }
  return text;
}

// Tasks by profile that an executor of the pool takes (A4, A22).
std::vector<std::int64_t> tasks_each(const model::Scenario& scenario) {
  std::vector<std::int64_t> slots =
      slots_of(scenario.cluster, scenario.cluster.autoscale->executor);
  if (scenario.scheduler.slots == model::SlotsAxis::shared) {
    const std::int64_t factor = scenario.scheduler.slots_factor;
    for (std::int64_t& count : slots) {
      count = count == 0 || factor > 0 ? count * factor : model::no_bound_slots;
    }
  }
  return slots;
}

}  // namespace

Scaling::Scaling(const model::Scenario& scenario)
    : policy(*scenario.cluster.autoscale, tasks_each(scenario)) {}

void Driver::start_scaling() {
  if (!scenario_.cluster.autoscale) {
    return;
  }
  scaling_.emplace(scenario_);
  for (const ExpectedSim& row : expected_) {
    if (scaling_->policy.in_pool(*row.spec)) {
      scaling_->policy.scheduled();
    }
  }
  fit_candidates();
  settle_scaling();
}

// Of the executor of the pool with the number.
model::ExecutorSpec Driver::spec_of(std::size_t number) {
  model::ExecutorSpec spec = scenario_.cluster.autoscale->executor;
  const std::string text = std::to_string(number);
  const std::string name = "auto" + text;
  spec.name = names_->intern(name);
  spec.host = names_->intern(
      spec.host.valid() ? numbered(std::string(names_->text(spec.host)), text) : "h-" + name);
  return spec;
}

// As many as may still be asked for are due, each under the name that it will have. A name of one
// that nobody asked for is the next one's.
void Driver::fit_candidates() {
  Scaling& scaling = *scaling_;
  const auto room = static_cast<std::size_t>(scaling.policy.room());
  while (scaling.candidates.size() < room) {
    const std::size_t number = scaling.asked + scaling.candidates.size();
    if (number == scaling.specs.size()) {
      scaling.specs.push_back(spec_of(number));
    }
    const model::ExecutorSpec& spec = scaling.specs[number];
    scaling.candidates.push_back(static_cast<std::uint32_t>(expected_.size()));
    expected_.push_back({&spec, now_, true, expected_.size(), true});
    step(scheduler::ExpectExecutor{spec});
  }
  while (scaling.candidates.size() > room) {
    const std::uint32_t last = scaling.candidates.back();
    scaling.candidates.pop_back();
    expected_[last].due = false;
    step(scheduler::GiveUpExecutor{scheduler::ExpectedId{last}});
  }
}

void Driver::member_joined(std::uint32_t executor, std::uint32_t expected, bool was_due) {
  if (scaling_->policy.in_pool(*expected_[expected].spec)) {
    scaling_->policy.joined(model::ExecutorId{executor}, expected_[expected].own, was_due, now_);
  }
}

// Before the core learns of it: who may come instead counts from then on.
void Driver::member_leaves(std::uint32_t executor) {
  if (scaling_->policy.is_member(model::ExecutorId{executor})) {
    scaling_->policy.left(model::ExecutorId{executor});
    fit_candidates();
  }
}

void Driver::member_will_not_come(std::uint32_t expected) {
  const ExpectedSim& row = expected_[expected];
  if (scaling_->policy.in_pool(*row.spec)) {
    row.own ? scaling_->policy.request_given_up() : scaling_->policy.given_up();
    fit_candidates();
  }
}

// Of a job that lives or may still come: else nobody needs executors any more.
bool Driver::work_to_come() const {
  return live_jobs_ > 0 || next_planned_ < client_.planned().size() || pending_submissions_ > 0;
}

bool Driver::is_idle_step(const Pending& pending, model::Instant instant) const {
  if (pending.what == Pending::What::scale) {
    return !work_to_come() || scaling_->armed != instant;
  }
  return pending.what == Pending::What::join && expected_[pending.index].own && !work_to_come();
}

// Lines after which an output may be needed no longer.
void Driver::note_outputs() {
  if (event_.as<model::JobEnd>() != nullptr || event_.as<model::OutputsLost>() != nullptr ||
      event_.as<model::GroupCommitted>() != nullptr || event_.as<model::GroupFailed>() != nullptr ||
      event_.as<model::GroupCancelled>() != nullptr) {
    scaling_->policy.look_again();
  }
}

// Nothing more happens at this instant.
void Driver::settle_scaling() {
  Scaling& scaling = *scaling_;
  std::optional<model::Instant> next;
  if (work_to_come()) {
    for (const model::ExecutorId executor : scaling.policy.unsettled()) {
      scaling.policy.settled(executor, core_.holds_needed_outputs(executor), now_);
    }
    next = scaling.policy.settle(now_, core_.backlog());
  }
  if (next && next != scaling.armed) {
    Pending pending;
    pending.what = Pending::What::scale;
    push_pending(*next, InputKind::executor, pending);
  }
  scaling.armed = next;
}

void Driver::scale() {
  Scaling& scaling = *scaling_;
  scaling.armed.reset();
  const Autoscaler::Steps steps = scaling.policy.act(now_, core_.backlog());
  for (std::int64_t i = 0; i < steps.requests; ++i) {
    RH_CHECK(!scaling.candidates.empty(), steps.requests);
    Pending pending;
    pending.what = Pending::What::join;
    pending.index = scaling.candidates.front();
    scaling.candidates.pop_front();
    ++scaling.asked;
    ExpectedSim& row = expected_[pending.index];
    row.asked = true;
    const model::DecisionPlace where{
        .purpose = model::DrawPurpose::startup,
        .series = model::draw_key({scenario_.seed, model::DrawPurpose::startup,
                                   model::name_key(names_->text(row.spec->name)), 0})};
    const model::Duration startup = drawn(scenario_.cluster.autoscale->startup, decisions_, where);
    push_pending(later(now_, startup), InputKind::executor, pending);
  }
  for (const model::ExecutorId executor : steps.leaving) {
    notice(executor.value, model::LossCause::decommission);
  }
}

}  // namespace rehearse::sim
