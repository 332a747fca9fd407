// The parts of the generator and what they share; nobody else includes this.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/decisions.hpp"
#include "model/support/draw.hpp"
#include "properties/gen/generate.hpp"

namespace rehearse::properties {

// One series of draws for each concern, so that one fault more moves no duration.
enum class Concern : std::uint8_t {
  swarm = 1,
  axes,
  cluster,
  arrivals,
  shapes,
  times,
  faults,
  stragglers,
  healing,
  data
};

class Draws {
 public:
  Draws(model::Decisions& decisions, std::uint64_t seed, Concern concern)
      : decisions_(&decisions),
        place_{.purpose = model::DrawPurpose::workload,
               .series = model::draw_key(
                   {seed, model::DrawPurpose::workload, static_cast<std::uint64_t>(concern), 1})} {}

  [[nodiscard]] std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(decisions_->choose(next(), static_cast<std::uint64_t>(count)));
  }
  // From low to high, both possible.
  [[nodiscard]] std::int64_t range(std::int64_t low, std::int64_t high) {
    return low + below(high - low + 1);
  }
  // Of what is not the usual thing.
  [[nodiscard]] bool percent(std::int64_t chance) { return decisions_->happens(next(), chance); }
  template <class T>
  [[nodiscard]] T pick(std::initializer_list<T> list) {
    return *(list.begin() + below(static_cast<std::int64_t>(list.size())));
  }
  template <class T>
  [[nodiscard]] const T& of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }
  [[nodiscard]] model::Duration ms(std::int64_t low, std::int64_t high) {
    return range(low, high) * model::millisecond;
  }

 private:
  [[nodiscard]] const model::DecisionPlace& next() {
    place_.point.partition = next_++;
    return place_;
  }

  model::Decisions* decisions_;
  model::DecisionPlace place_;
  std::uint32_t next_ = 0;
};

enum class Theme : std::uint8_t {
  none,
  exact_fit,             // every group asks for all there is
  all_ties,              // everything takes the same time and comes at once
  flapping_executor,     // one executor comes and goes
  cancel_storm,          // every job is cancelled somewhere
  held_cluster,          // for a while nothing may be launched, or nobody is there
  many_small_one_large,  // who waits for whom
  rerun,                 // jobs fail and come again
};
inline constexpr std::int64_t themes = 8;

enum class FaultKind : std::uint8_t {
  lose_process,
  lose_host,
  lose_by_app,
  decommission,
  hold,
  join,
  cancel,
  exception,
  killed,
  commit_denied,
  result_lost,
  out_of_memory,
  fetch,
  slow,
  late,
};
inline constexpr std::size_t fault_kinds = 15;

enum class Times : std::uint8_t { equal, few_values, per_task, drawn };
enum class Arrivals : std::uint8_t { at_once, bursts, spread };

// What this seed goes in for; the rest stays plain.
struct Swarm {
  Theme theme = Theme::none;
  Times times = Times::equal;
  Arrivals arrivals = Arrivals::at_once;
  bool pipelined = true;
  bool wrong_shapes = false;
  bool barriers = false;
  bool zero_tasks = false;
  bool profiles = false;
  bool unbound = false;
  bool overheads = false;
  bool zero_durations = false;
  bool commits = false;
  bool preferences = false;
  bool other_jobs = false;     // reuse, after
  bool foreign_edges = false;  // edges from stages of other jobs
  bool repeats = false;
  bool resubmits = false;
  bool priorities = false;
  bool gathers = false;  // collapse stages (A21)
  bool autoscaled = false;
  bool nobody_there = false;
  bool moments = false;
  bool heals = true;
  std::int64_t fault_budget = 0;
  std::array<std::int64_t, fault_kinds> fault_weights{};
};

// What the dialect lets a generator do.
struct Shape {
  bool groups = false;       // pipelined edges make groups
  bool whole_jobs = false;   // a job with one is one group
  bool no_mixing = false;    // and may have no regular edge beside
  bool one_profile = false;  // of all members of a group
  bool by_widest = false;    // a group needs as many slots as its widest stage
  bool gangs = false;        // barrier stages start whole
  bool impatient = false;    // what does not fit at once has failed
};

struct Making {
  const GenOptions& options;
  model::Decisions& decisions;
  std::uint64_t seed;
  model::Scenario scenario;
  Swarm swarm;
  Shape shape;
  std::vector<std::int64_t> capacity;    // by profile; unbound executors count for the first
  std::vector<model::NameId> executors;  // of the cluster
  std::int64_t names_used = 0;           // of executors that faults add

  [[nodiscard]] Draws draws(Concern concern) const { return {decisions, seed, concern}; }
  [[nodiscard]] bool keeps(std::string_view axis) const;
  [[nodiscard]] model::NameId name(char prefix, std::int64_t number);
};

// In this order.
void draw_axes(Making& making);
void draw_swarm(Making& making);
void make_cluster(Making& making);
void make_jobs(Making& making);
void make_faults(Making& making);

[[nodiscard]] model::ExecutorSpec make_executor(Making& making, Draws& draws, model::NameId name);

}  // namespace rehearse::properties
