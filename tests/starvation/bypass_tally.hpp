// How often waiting gangs are passed over in one run: an observer with its own books, beside the
// monitor that judges it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/scenario.hpp"
#include "model/support/events.hpp"

namespace rehearse::testing {

// Of the gangs of one run that were refused and could have run on what lived.
struct Bypass {
  std::int64_t waiting_gangs = 0;
  std::int64_t passes_max = 0;  // starts of tasks of later jobs past one gang where it could run
  // Of these, where the gang was the head for certain and the task of its own pool: the only gang
  // that waits, or under fifo the first by submission.
  std::int64_t head_passes_max = 0;
  std::int64_t head_passes_late_max = 0;  // of these, once it had waited aging's `after`
  model::Duration wait_max = 0;
  bool backfilled = false;  // anything was passed at all
};

// Passing counts where both jobs were submitted at different instants, on executors that are bound
// to a profile the gang demands.
class BypassTally final : public model::Observer {
 public:
  explicit BypassTally(const model::Scenario& scenario) : scenario_(scenario) {}

  void begin(const model::NameTable& /*names*/) override {}
  void on(const model::Event& event) override;
  [[nodiscard]] const Bypass& result() const { return result_; }

 private:
  using Unit = std::pair<std::uint32_t, std::uint32_t>;  // name ids of job and first stage
  struct Executor {
    model::NameId profile;
    std::int64_t cpus_milli = 0;
  };
  struct Job {
    model::Instant submitted = 0;
    model::NameId pool;
  };
  struct Gang {
    Job job;
    model::PerProfile demand;
    bool waits = false;
    model::Instant since = 0;
    std::int64_t passes = 0;
    std::int64_t as_head = 0;
    std::int64_t late = 0;
  };

  void on_start(const model::TaskStart& event, model::Instant now);
  void end_wait(const model::StageRef& group, model::Instant now);
  [[nodiscard]] bool could_run(const Gang& gang) const;
  [[nodiscard]] bool surely_head(const Unit& unit) const;

  const model::Scenario& scenario_;
  std::map<std::uint32_t, Executor> executors_;  // that live, by name id
  std::map<std::uint32_t, Job> jobs_;            // by name id
  std::map<Unit, Gang> gangs_;
  std::vector<Unit> waiting_;
  Bypass result_;
};

}  // namespace rehearse::testing
