// The ways to decide that keep something; see the header.
#include "model/support/decisions.hpp"

#include <algorithm>
#include <charconv>

#include "model/support/check.hpp"
#include "model/support/units.hpp"

namespace rehearse::model {

bool Decisions::happens(const DecisionPlace& where, std::int64_t /*percent*/) {
  return choose(where, 2) != 0;
}

// ---- recorded ----

std::uint64_t RecordedDecisions::choose(const DecisionPlace& where, std::uint64_t count) {
  const std::uint64_t value = asked_->choose(where, count);
  list_.push_back({where, count, value});
  return value;
}

bool RecordedDecisions::happens(const DecisionPlace& where, std::int64_t percent) {
  const bool value = asked_->happens(where, percent);
  list_.push_back({where, 2, value ? std::uint64_t{1} : 0});
  return value;
}

// ---- from a tape ----

TapeDecisions TapeDecisions::of(std::span<const Decision> recorded) {
  std::vector<std::uint64_t> tape;
  for (const Decision& decision : recorded) {
    tape.push_back(decision.value);
  }
  return TapeDecisions(std::move(tape));
}

std::uint64_t TapeDecisions::choose(const DecisionPlace& /*where*/, std::uint64_t count) {
  const std::uint64_t value = next_ < tape_.size() ? tape_[next_++] : 0;
  return count == 0 ? value : std::min(value, count - 1);
}

// ---- by name ----

NamedDecisions::NamedDecisions(const Named& choices) {
  for (const auto& [name, value] : choices) {
    const std::size_t hash = name.find('#');
    std::uint32_t place = 1;
    if (hash != std::string::npos) {
      std::from_chars(name.data() + hash + 1, name.data() + name.size(), place);
    }
    ties_[{name.substr(0, hash), place - 1}] = value;
  }
}

std::uint64_t NamedDecisions::choose(const DecisionPlace& where, std::uint64_t count) {
  if (where.purpose != DrawPurpose::ties || count == 0) {
    return 0;
  }
  if (where.at != asked_at_) {
    asked_at_ = where.at;
    asked_.first = "tie@" + format_duration(where.at);
  }
  asked_.second = where.point.partition;
  const auto named = ties_.find(asked_);
  return named == ties_.end() || named->second < 0
             ? 0
             : std::min(static_cast<std::uint64_t>(named->second), count - 1);
}

// ---- one after the other ----

std::uint64_t EnumeratedDecisions::choose(const DecisionPlace& /*where*/, std::uint64_t count) {
  if (count < 2 || count > few_) {
    return 0;
  }
  if (asked_ == digits_.size()) {
    digits_.push_back({0, count});
  }
  Digit& digit = digits_[asked_++];
  RH_CHECK(digit.count == count, static_cast<std::int64_t>(asked_));
  return digit.value;
}

bool EnumeratedDecisions::next() {
  digits_.resize(asked_);
  asked_ = 0;
  while (!digits_.empty() && digits_.back().value + 1 == digits_.back().count) {
    digits_.pop_back();
  }
  if (digits_.empty()) {
    return false;
  }
  ++digits_.back().value;
  return true;
}

}  // namespace rehearse::model
