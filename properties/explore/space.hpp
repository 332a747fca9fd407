// What an exploration walks through: a place in a space of states that can be copied, moved on by
// one choice, told apart from others and judged. The space of a cluster is cluster_space.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/violation.hpp"

namespace rehearse::properties {

// One thing that may happen next. What the numbers say is the space's business; they are good on
// the path on which the choice was offered.
struct Choice {
  enum class Kind : std::uint8_t {
    ordinary,
    pass,   // the decisions at the end of a round: nothing comes from outside
    fault,  // may happen, need not: uses up one of the faults that an exploration allows
  };
  Kind kind = Kind::ordinary;
  std::uint8_t what = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  bool operator==(const Choice&) const = default;
};

class Space {
 public:
  Space() = default;
  virtual ~Space() = default;
  Space& operator=(const Space&) = delete;

  // The same place, with all that was judged on the way to it.
  [[nodiscard]] virtual std::unique_ptr<Space> copy() const = 0;
  // The same without allocating anew; `other` is of the same space.
  virtual void become(const Space& other) = 0;

  // All that may happen here, in an order that depends on the path alone. Replaces `list`.
  virtual void choices(std::vector<Choice>& list) const = 0;
  // Moves on. `choice` is one of choices().
  virtual void take(const Choice& choice) = 0;
  // Nothing but faults can happen here any more: judges how it ended. Nothing follows.
  virtual void finish() = 0;

  // Appends the state as words: places with equal words have equal futures. Words say how many
  // faults were taken.
  virtual void encode(std::vector<std::uint64_t>& words) const = 0;

  // What was found on the way here, in the order of finding; violation_count() is its size.
  [[nodiscard]] virtual std::int64_t violation_count() const = 0;
  [[nodiscard]] virtual std::vector<model::Violation> violations() const = 0;

  // "q/map/0 fails": for the report of a path.
  [[nodiscard]] virtual std::string text_of(const Choice& choice) const = 0;

 protected:
  Space(const Space&) = default;
};

}  // namespace rehearse::properties
