// The state of one shrinking, and its passes; nobody else includes this.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "properties/shrink/edit.hpp"
#include "properties/shrink/shrink.hpp"

namespace rehearse::properties {

class Shrinker {
 public:
  Shrinker(const model::Scenario& scenario, const Finding& found, const Judge& judge,
           const ShrinkOptions& options);

  [[nodiscard]] const model::Scenario& now() const { return best_.scenario; }
  [[nodiscard]] const ShrinkOptions& options() const { return options_; }
  [[nodiscard]] model::Instant found_at() const { return best_.finding.violation.t; }
  [[nodiscard]] bool spent();

  // Takes the candidate, repaired, if it is smaller and the same is found in it.
  bool attempt(model::Scenario candidate);
  // attempt() of the best so far after `edit`.
  template <class Edit>
  bool change(Edit edit) {
    model::Scenario candidate = now();
    edit(candidate);
    return attempt(std::move(candidate));
  }
  // Takes out ever smaller parts of a list: `count()` says how long it is now, `remove(candidate,
  // part)` takes one out.
  template <class Count, class Remove>
  void without(Count count, Remove remove) {
    for (std::size_t size = count(); size > 0; size /= 2) {
      for (std::size_t first = 0; first < count() && !spent();) {
        const Part part{.first = first, .count = std::min(size, count() - first)};
        if (!change([&](model::Scenario& candidate) { remove(candidate, part); })) {
          first += size;
        }
      }
    }
  }

  [[nodiscard]] Shrunk finish() &&;

 private:
  void remember(const model::Scenario& scenario, const std::vector<Finding>& findings);

  const Judge& judge_;
  const ShrinkOptions& options_;
  Shrunk best_;
  Measure measure_{};
  std::multimap<Measure, model::Scenario> refused_;  // candidates in which it was not found
};

using Pass = void (*)(Shrinker&);
// The fifteen, in their order.
[[nodiscard]] const std::array<Pass, 15>& passes();

// Passes of their own file: jobs, stages and what they are made of.
void pass_stages(Shrinker& shrinker);
void pass_tasks(Shrinker& shrinker);
void pass_times(Shrinker& shrinker);
void pass_arrivals(Shrinker& shrinker);

}  // namespace rehearse::properties
