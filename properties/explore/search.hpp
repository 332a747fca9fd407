// Every path through a space of states, each state once (VE-3.6): breadth first within each number
// of faults, so that what is found first has the fewest faults and, of those, the fewest choices.
// Kept of a state are a 64-bit hash, the way to it and where it leads, about 60 bytes; no copy.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "properties/explore/space.hpp"

namespace rehearse::properties {

struct SearchOptions {
  int faults_max = 1;
  std::int64_t states_max = 10'000'000;
  // Asked after every few states; true ends the search. May be empty. (The clock is the caller's.)
  std::function<bool()> stop;
  // Takes the choices of each place from the last to the first: other paths, the same states.
  bool backwards = false;
};

// The shortest path to a violation of a property. What lies behind a violation is not looked at.
struct Counterexample {
  model::Violation violation;
  int faults = 0;            // the fewest that break it
  std::vector<Choice> path;  // from the root; without finish()
  bool at_end = false;       // found by finish() behind the path
};

struct SearchResult {
  std::int64_t states = 0;
  std::int64_t transitions = 0;
  std::int64_t ends = 0;  // states in which nothing but faults can happen
  std::int64_t depth_max = 0;
  std::vector<std::int64_t> states_by_faults;
  bool complete = false;  // no limit was hit
  // One of each property, fewest faults first, then shortest.
  std::vector<Counterexample> found;
};

class Search {
 public:
  Search(const Space& root, const SearchOptions& options);
  ~Search();
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  // Once. Beside what the space finds: from every state an end can be reached without a fault, and
  // no pass leads back to where one was (NO_LIVELOCK); judged when the search is complete.
  // A check that fails on a path leaves as InternalFault that says which.
  [[nodiscard]] SearchResult run();

  // After run(): is this place one of the states that were seen?
  [[nodiscard]] bool has_seen(const Space& place) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearse::properties
