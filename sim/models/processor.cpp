// Processor sharing by one virtual clock per executor, in integers.
#include "sim/models/processor.hpp"

#include <algorithm>
#include <numeric>

#include "model/support/check.hpp"

namespace rehearse::sim {

namespace {

constexpr int fraction_bits = 20;
constexpr Processor::Mark unit = Processor::Mark{1} << fraction_bits;  // a nanosecond at full speed

// Beyond it amounts are rounded, so that products of work and amounts stay within 128 bits.
constexpr std::int64_t capacity_max = std::int64_t{1} << 30;

// The same proportions in small numbers.
void reduce(Processor::Resource& resource) {
  std::int64_t divisor = resource.capacity;
  for (const std::int64_t amount : resource.task_amount) {
    divisor = std::gcd(divisor, amount);
  }
  if (resource.capacity / divisor > capacity_max) {
    divisor = resource.capacity / capacity_max + 1;
  }
  resource.capacity /= divisor;
  for (std::int64_t& amount : resource.task_amount) {
    amount /= divisor;
  }
}

}  // namespace

Processor::Processor(std::vector<Resource> resources)
    : resources_(std::move(resources)), taken_(resources_.size(), 0) {
  for (Resource& resource : resources_) {
    RH_CHECK(resource.capacity > 0, resource.capacity);
    reduce(resource);
  }
}

void Processor::settle(model::Instant now) {
  RH_CHECK(now >= settled_at_, now, settled_at_);
  clock_ += (Mark{now - settled_at_} << fraction_bits) * whole_ / load_;
  settled_at_ = now;
}

void Processor::change(const Load& load, std::int64_t sign) {
  whole_ = 1;
  load_ = 1;
  for (std::size_t r = 0; r < resources_.size(); ++r) {
    const Resource& resource = resources_[r];
    taken_[r] += sign * load.tasks * resource.task_amount[load.profile];
    RH_CHECK(taken_[r] >= 0, taken_[r]);
    if (Mark{taken_[r]} * whole_ > Mark{load_} * resource.capacity) {
      whole_ = resource.capacity;
      load_ = taken_[r];
    }
  }
}

Processor::Mark Processor::enter(model::Instant now, const Load& load, model::Duration work,
                                 std::uint64_t order) {
  RH_CHECK(work >= 0, work);
  settle(now);
  change(load, 1);
  const Mark mark = clock_ + (Mark{work} << fraction_bits);
  const bool fresh = tasks_.emplace(mark, order).second;
  RH_CHECK(fresh, static_cast<std::int64_t>(order));
  return mark;
}

void Processor::leave(model::Instant now, const Load& load, Mark mark, std::uint64_t order) {
  settle(now);
  change(load, -1);
  const std::size_t gone = tasks_.erase({mark, order});
  RH_CHECK(gone == 1, static_cast<std::int64_t>(order));
}

model::Instant Processor::end_of(Mark mark) const {
  const Mark left = std::max<Mark>(mark - clock_, 0) * load_;
  const Mark divisor = unit * whole_;
  const Mark span = (left + divisor / 2) / divisor;
  return span > model::instant_max - settled_at_ ? model::instant_max
                                                 : settled_at_ + static_cast<model::Instant>(span);
}

model::Instant Processor::next_end() const {
  return tasks_.empty() ? model::instant_max : end_of(tasks_.begin()->first);
}

Processor::Ends Processor::next_ends() const {
  Ends ends{model::instant_max, {}};
  for (const auto& [mark, order] : tasks_) {
    const model::Instant at = end_of(mark);
    if (ends.orders.empty()) {
      ends.at = at;
    } else if (at > ends.at) {
      break;
    }
    ends.orders.push_back(order);
  }
  return ends;
}

}  // namespace rehearse::sim
