// A17 from outside: under exact estimates a head never starts later than the earliest start that
// follows from what runs when it becomes head, whoever passes it. Computed from the journal and the
// scripted durations alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/events.hpp"

namespace rehearse::testing {

// For runs under queue fifo and overtake easy, with executors that are bound to a profile, tasks of
// a stage that all take its estimate, no overheads and no losses. The earliest start is taken anew
// when something happens that it does not bound: a unit before the head starts, an executor comes,
// is held or released. What starts behind the head never moves it.
class EasyCheck final : public model::Observer {
 public:
  explicit EasyCheck(const model::Scenario& scenario);

  void begin(const model::NameTable& names) override { names_ = &names; }
  void on(const model::Event& event) override;

  [[nodiscard]] std::int64_t heads() const { return heads_; }    // that had an earliest start
  [[nodiscard]] std::int64_t passed() const { return passed_; }  // of these, by a later unit
  [[nodiscard]] const std::vector<std::string>& wrong() const { return wrong_; }

 private:
  using Rank = std::tuple<model::Instant, std::uint32_t, std::uint32_t>;  // submit, job, stage
  using StageName = std::pair<std::uint32_t, std::uint32_t>;              // ids of job and stage
  using TaskName = std::tuple<std::uint32_t, std::uint32_t, std::int32_t, std::int32_t,
                              std::int32_t>;  // job, stage, partition, attempt, try
  struct Stage {
    std::uint32_t profile = 0;
    model::Duration estimate = 0;
    Rank rank;  // of its unit
  };
  struct Executor {
    std::uint32_t profile = 0;
    std::int64_t slots = 0;
    std::int64_t used = 0;
    bool held = false;
  };
  struct Run {
    std::uint32_t executor = 0;
    std::uint32_t profile = 0;
    model::Instant end = 0;  // expected
  };

  void on_executor(const model::Event& event);
  void on_job(const model::JobSubmitted& event, model::Instant now);
  void on_group(const model::Event& event);
  void on_start(const model::TaskStart& event, model::Instant now);
  void on_end(const model::TaskEnd& event);
  void find_head(model::Instant now);
  [[nodiscard]] std::optional<model::Instant> earliest_start(model::Instant now) const;
  void leave(const model::StageRef& group, bool admitted, model::Instant now);

  const model::Scenario& scenario_;
  const model::NameTable* names_ = nullptr;
  std::map<StageName, Stage> stages_;
  std::map<std::uint32_t, Executor> executors_;
  std::map<TaskName, Run> runs_;
  std::map<StageName, std::map<std::uint32_t, std::int64_t>> demand_;  // of gangs, by profile
  std::map<Rank, StageName> waiting_;                                  // gangs that were refused
  std::uint32_t next_job_ = 0;
  std::optional<StageName> head_;
  std::optional<model::Instant> planned_;  // of the head
  bool stale_ = false;                     // something happened that the plan does not bound
  bool head_passed_ = false;
  std::int64_t heads_ = 0;
  std::int64_t passed_ = 0;
  std::vector<std::string> wrong_;
};

}  // namespace rehearse::testing
