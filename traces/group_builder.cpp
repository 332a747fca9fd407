// registry: none (groups, for marking)
// See group_builder.hpp.
#include "traces/group_builder.hpp"

#include <algorithm>
#include <utility>

namespace rehearse::traces {

GroupBuilder::GroupBuilder(std::size_t stages, std::vector<ShufflePair> pairs)
    : pairs_(std::move(pairs)), out_(stages), in_(stages) {
  for (std::uint32_t s = 0; s < stages; ++s) {
    group_of_.push_back(s);
    members_.push_back({s});
  }
  for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
    out_[pairs_[i].from].push_back(i);
    in_[pairs_[i].to].push_back(i);
  }
  for (const ShufflePair& pair : pairs_) {
    if (pair.state == PairState::pipelined && group_of_[pair.from] != group_of_[pair.to]) {
      GroupProposal both;
      both.stages = members_[group_of_[pair.from]];
      const auto& other = members_[group_of_[pair.to]];
      both.stages.insert(both.stages.end(), other.begin(), other.end());
      std::sort(both.stages.begin(), both.stages.end());
      const auto first = both.stages.front();
      for (const std::uint32_t stage : both.stages) {
        group_of_[stage] = first;
      }
      members_[first] = std::move(both.stages);
    }
  }
}

void GroupBuilder::add_group(Marks& marks, std::uint32_t stage) const {
  for (const std::uint32_t member : members_[group_of_[stage]]) {
    marks[member] = true;
  }
}

GroupBuilder::Marks GroupBuilder::reached(const Marks& from, bool forward) const {
  Marks seen(from.size(), false);
  std::vector<std::uint32_t> todo;
  for (std::uint32_t s = 0; s < from.size(); ++s) {
    if (from[s]) {
      todo.push_back(s);
    }
  }
  while (!todo.empty()) {
    const std::uint32_t stage = todo.back();
    todo.pop_back();
    for (const std::uint32_t i : forward ? out_[stage] : in_[stage]) {
      const std::uint32_t next = forward ? pairs_[i].to : pairs_[i].from;
      if (seen[next] || group_of_[next] == group_of_[stage]) {
        continue;
      }
      for (const std::uint32_t member : members_[group_of_[next]]) {
        if (!seen[member]) {
          seen[member] = true;
          todo.push_back(member);
        }
      }
    }
  }
  return seen;
}

GroupProposal GroupBuilder::propose(std::size_t pair) const {
  Marks inside(group_of_.size(), false);
  add_group(inside, pairs_[pair].from);
  add_group(inside, pairs_[pair].to);
  const Marks ends = inside;
  // What can be reached from the group and leads back into it would wait for it and be waited for:
  // it has to be inside. Sets reached only grow, so this ends.
  for (bool grown = true; grown;) {
    grown = false;
    const Marks after = reached(inside, true);
    const Marks before = reached(inside, false);
    for (std::size_t s = 0; s < inside.size(); ++s) {
      if (!inside[s] && after[s] && before[s]) {
        inside[s] = true;
        grown = true;
      }
    }
  }
  GroupProposal proposal;
  for (std::uint32_t s = 0; s < inside.size(); ++s) {
    if (inside[s]) {
      proposal.stages.push_back(s);
    }
  }
  for (const ShufflePair& other : pairs_) {
    if (other.state == PairState::regular && inside[other.from] && inside[other.to]) {
      const bool direct = ends[other.from] && ends[other.to];
      proposal.refused = direct ? "inside" : proposal.refused.empty() ? "cycle" : proposal.refused;
    }
  }
  return proposal;
}

void GroupBuilder::accept(const GroupProposal& proposal) {
  Marks inside(group_of_.size(), false);
  for (const std::uint32_t stage : proposal.stages) {
    inside[stage] = true;
    members_[group_of_[stage]].clear();
  }
  const std::uint32_t first = proposal.stages.front();
  for (const std::uint32_t stage : proposal.stages) {
    group_of_[stage] = first;
    for (const std::uint32_t i : out_[stage]) {
      if (pairs_[i].state == PairState::undecided && inside[pairs_[i].to]) {
        pairs_[i].state = PairState::pipelined;
      }
    }
  }
  members_[first] = proposal.stages;
}

std::vector<std::vector<std::uint32_t>> GroupBuilder::groups() const {
  std::vector<std::vector<std::uint32_t>> result;
  for (std::uint32_t s = 0; s < group_of_.size(); ++s) {
    if (group_of_[s] == s && members_[s].size() > 1) {
      result.push_back(members_[s]);
    }
  }
  return result;
}

}  // namespace rehearse::traces
