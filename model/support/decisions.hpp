// Who decides what is free to go one way or another (VE-3.2): the order of inputs of one instant,
// how long something takes, and what a drawn scenario is made of. All of it asks one interface, so
// a run can be driven by a seed, by what an earlier run decided, by choices that a file names, or
// through every way it could go.
//
// 0 is always "nothing unusual": the order as it stands, the least of a distribution, no fault.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/support/draw.hpp"
#include "model/support/time.hpp"

namespace rehearse::model {

// What is decided there: equal places are asked for the same thing.
struct DecisionPlace {
  DrawPurpose purpose{};
  DrawKey series{};  // with the seed of the scenario in it
  DrawPoint point{};
  Instant at = 0;  // of ties: their instant
};

// One that was taken: a number below `count`; count 0: any 64 bits.
struct Decision {
  DecisionPlace where;
  std::uint64_t count = 0;
  std::uint64_t value = 0;
};

class Decisions {
 public:
  Decisions() = default;
  Decisions(const Decisions&) = default;
  Decisions& operator=(const Decisions&) = default;
  virtual ~Decisions() = default;

  // From 0 to count - 1; count 0: any 64 bits.
  [[nodiscard]] virtual std::uint64_t choose(const DecisionPlace& where, std::uint64_t count) = 0;
  // Something unusual, with a chance of `percent` where chance has a say; a choice between two.
  [[nodiscard]] virtual bool happens(const DecisionPlace& where, std::int64_t percent);
};

// By the seed alone: each a function of its place, whoever asks when.
class SeededDecisions final : public Decisions {
 public:
  [[nodiscard]] std::uint64_t choose(const DecisionPlace& where, std::uint64_t count) override {
    const std::uint64_t bits = draw(where.series, where.point);
    return count == 0 ? bits : uniform_below(bits, count);
  }
  [[nodiscard]] bool happens(const DecisionPlace& where, std::int64_t percent) override {
    return SeededDecisions::choose(where, 100) < static_cast<std::uint64_t>(percent);
  }
};

// Asks another and keeps what it says.
class RecordedDecisions final : public Decisions {
 public:
  explicit RecordedDecisions(Decisions& asked) : asked_(&asked) {}
  [[nodiscard]] std::uint64_t choose(const DecisionPlace& where, std::uint64_t count) override;
  [[nodiscard]] bool happens(const DecisionPlace& where, std::int64_t percent) override;
  [[nodiscard]] const std::vector<Decision>& list() const { return list_; }

 private:
  Decisions* asked_;
  std::vector<Decision> list_;
};

// What is on the tape, one after the other, whatever is asked; behind its end all is 0. A number
// that is too large for the question becomes the greatest possible.
class TapeDecisions final : public Decisions {
 public:
  explicit TapeDecisions(std::vector<std::uint64_t> tape) : tape_(std::move(tape)) {}
  [[nodiscard]] static TapeDecisions of(std::span<const Decision> recorded);
  [[nodiscard]] std::uint64_t choose(const DecisionPlace& where, std::uint64_t count) override;

 private:
  std::vector<std::uint64_t> tape_;
  std::size_t next_ = 0;
};

// `choices` of a scenario (scenario.md section 4): ties by name, "tie@10ms#2"; the rest is 0.
class NamedDecisions final : public Decisions {
 public:
  using Named = std::vector<std::pair<std::string, std::int64_t>>;
  explicit NamedDecisions(const Named& choices);
  [[nodiscard]] bool empty() const { return ties_.empty(); }
  [[nodiscard]] std::uint64_t choose(const DecisionPlace& where, std::uint64_t count) override;

 private:
  std::map<std::pair<std::string, std::uint32_t>, std::int64_t> ties_;  // "tie@10ms", place
  std::pair<std::string, std::uint32_t> asked_;                         // the last one,
  Instant asked_at_ = -1;                                               // and its instant
};

// Every way things can go, one after the other, like the digits of a counter: the last decision
// that can go on does, and all behind it begin anew at 0. Only where one of a few is chosen: the
// rest is 0.
class EnumeratedDecisions final : public Decisions {
 public:
  explicit EnumeratedDecisions(std::uint64_t few) : few_(few) {}
  [[nodiscard]] std::uint64_t choose(const DecisionPlace& where, std::uint64_t count) override;
  // On to the next way, from its start; false when there is none.
  [[nodiscard]] bool next();

 private:
  struct Digit {
    std::uint64_t value = 0;
    std::uint64_t count = 0;
  };
  std::uint64_t few_;
  std::vector<Digit> digits_;
  std::size_t asked_ = 0;
};

}  // namespace rehearse::model
