// What a campaign of random runs reached: an observer that counts the hard places of the journals
// it sees. A campaign that never got to one of them proves nothing about it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/events.hpp"
#include "model/violation.hpp"

namespace rehearse::testing {

// Counts by place, sums over many runs. Every place is there from the start, with 0.
class Reached {
 public:
  Reached();
  void add(std::string_view place, std::int64_t count = 1);
  void add(const Reached& other);
  [[nodiscard]] const std::map<std::string, std::int64_t, std::less<>>& counts() const {
    return counts_;
  }
  // Places a campaign of this size must have reached and did not.
  [[nodiscard]] std::vector<std::string> missed() const;

 private:
  std::map<std::string, std::int64_t, std::less<>> counts_;
};

// The lines of a violation that a journal of this run is enough to find. A stage that stands for
// another job's is described by that job's line only; if it runs before that, and its executors
// serve several profiles, nobody can tell which slots it takes.
[[nodiscard]] std::vector<std::string> certain_violations(
    const std::vector<model::Violation>& violations, const model::Scenario& scenario,
    const Reached& of_run);

// Counts one run.
class Tally final : public model::Observer {
 public:
  Tally(const model::Scenario& scenario, Reached& reached);

  void begin(const model::NameTable& names) override;
  void on(const model::Event& event) override;

 private:
  using StageKey = std::pair<std::uint32_t, std::uint32_t>;  // job and stage, name ids
  struct Unit {
    std::int64_t rank = 0;
    bool member = false;
    bool waiting = false;  // for slots
    bool replays = false;  // of a group's leader: a member finished, the group has not ended
    std::int64_t attempt = -1;
  };

  void on_job(const model::Event& event);
  void on_group(const model::Event& event);
  void on_stage(const model::Event& event);
  void on_task(const model::Event& event);
  void on_executor(const model::Event& event);
  [[nodiscard]] bool is_autoscaled(model::NameId executor) const;
  void on_copy_start(const model::TaskRef& task);
  void on_try_end(const model::TaskEnd& end);
  void on_reservation(const model::Reservation& line);
  void on_slice_start(const model::TaskRef& task);
  void on_slice_end(const model::TaskEnd& end);
  [[nodiscard]] bool behind_a_head(std::int64_t rank) const;

  const bool backfills_;
  const bool shares_;
  const bool bulk_;
  Reached& reached_;
  const model::NameTable* names_ = nullptr;
  std::int64_t next_rank_ = 0;
  std::int64_t groups_this_instant_ = 0;
  model::Instant instant_ = -1;
  std::map<StageKey, Unit> units_;         // by stage
  std::map<StageKey, StageKey> leader_;    // of members
  std::map<StageKey, std::int64_t> held_;  // slots by gang, under bulk
  std::set<StageKey> gathers_;             // collapse stages, by the scenario (A21)
  // Partitions with a success that counts and was not lost since, by job, stage and partition.
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>> done_;
  // Copies started so far, by job, stage, attempt and partition.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t, std::int32_t>, int> copies_;
};

}  // namespace rehearse::testing
