// Grows pipelined groups inside one job, edge by edge, so that no group ever holds a regular edge
// or stands in a cycle with what is outside of it (F5, F6). Knows nothing of why an edge is a
// candidate or of how much room there is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/job.hpp"

namespace rehearse::traces {

enum class PairState : std::uint8_t { regular, undecided, pipelined };

// One shuffle and one of its readers, both of this job.
struct ShufflePair {
  std::uint32_t edge = 0;  // in JobSpec::edges
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  PairState state = PairState::regular;
};

// What would become of a group if a pair were pipelined.
struct GroupProposal {
  std::vector<std::uint32_t> stages;  // ascending
  std::string_view refused;           // "inside" or "cycle"; empty = it can be
};

class GroupBuilder {
 public:
  GroupBuilder(std::size_t stages, std::vector<ShufflePair> pairs);

  [[nodiscard]] const std::vector<ShufflePair>& pairs() const { return pairs_; }
  // The group of both ends and of all that lies between them.
  [[nodiscard]] GroupProposal propose(std::size_t pair) const;
  // Makes the stages one group: every undecided pair among them becomes pipelined.
  void accept(const GroupProposal& proposal);
  // The pair stays regular for good.
  void refuse(std::size_t pair) { pairs_[pair].state = PairState::regular; }

  // Groups of two or more stages, by their first stage.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> groups() const;

 private:
  using Marks = std::vector<bool>;  // by stage

  // Marks every stage that can be reached from the marked ones over pairs that cross groups,
  // whole groups at a time.
  [[nodiscard]] Marks reached(const Marks& from, bool forward) const;
  void add_group(Marks& marks, std::uint32_t stage) const;

  std::vector<ShufflePair> pairs_;
  std::vector<std::vector<std::uint32_t>> out_;  // by stage: pairs that leave it
  std::vector<std::vector<std::uint32_t>> in_;
  std::vector<std::uint32_t> group_of_;              // by stage; number of the first stage
  std::vector<std::vector<std::uint32_t>> members_;  // by that number
};

}  // namespace rehearse::traces
