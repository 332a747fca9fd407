// What a run amounted to, computed online from its journal and nothing else (cli.md, Metrics).
// Memory follows live work plus one row per job, a bounded series and a bounded number of stage
// spans. Leaves statistics over requests to stats, and every wording to the writers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/support/events.hpp"
#include "reports/slot_series.hpp"
#include "reports/slot_use.hpp"

namespace rehearse::reports {

enum class Outcome : std::uint8_t { succeeded, failed, cancelled, rejected, unfinished };

// "succeeded", ...: the words of the JSON results.
[[nodiscard]] std::string_view name_of(Outcome outcome);
[[nodiscard]] Outcome outcome_of(model::JobOutcome outcome);

struct JobMetrics {
  std::string name;     // "q#1"
  std::string request;  // "q": the job with its resubmissions
  std::int32_t try_number = 0;
  Outcome outcome = Outcome::unfinished;
  std::optional<model::Code> code;
  std::string detail;  // of the rejection or the end; may be empty
  model::Instant submit_ns = 0;
  std::optional<model::Instant> start_ns;       // first task_start
  std::optional<model::Instant> end_ns;         // job_end, or the rejection
  std::optional<model::Duration> first_row_ns;  // first row at the client - submit
  std::int64_t stages = 0;                      // attempts submitted
  std::int64_t tasks = 0;                       // tries started

  // end - submit of a job that succeeded: nothing else has a latency.
  [[nodiscard]] std::optional<model::Duration> latency_ns() const;
  [[nodiscard]] std::optional<model::Duration> queued_ns() const;  // start - submit
};

// A job with its resubmissions, submit of the first to success of the last.
struct RequestMetrics {
  std::string name;
  Outcome outcome = Outcome::unfinished;  // of the last try
  std::optional<model::Code> code;
  std::string detail;
  std::int32_t tries = 1;
  model::Instant submit_ns = 0;
  std::optional<model::Instant> start_ns;
  std::optional<model::Instant> end_ns;
  std::optional<model::Duration> first_row_ns;

  [[nodiscard]] std::optional<model::Duration> latency_ns() const;
  [[nodiscard]] std::optional<model::Duration> queued_ns() const;
};

struct Totals {
  std::int64_t jobs = 0;  // submitted, rejected ones included
  std::int64_t requests = 0;
  std::int64_t stages = 0;  // attempts submitted
  std::int64_t tasks = 0;   // tries started
  std::int64_t events = 0;  // journal lines that the journal hash counts
  SlotTimes slot_use{};     // slot-nanoseconds; their sum is slot_time
  Wide slot_time = 0;
  std::int64_t rejected = 0;  // jobs
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
  std::int64_t unfinished = 0;

  [[nodiscard]] Wide use(SlotUse which) const { return slot_use[index_of(which)]; }
};

// busy / slot time, and (reserved idle + drain idle + blocked) / slot time; 0 without slot time.
[[nodiscard]] double utilization(const Totals& totals);
[[nodiscard]] double reserved_idle(const Totals& totals);

struct StageSpan {        // one stage attempt
  std::uint32_t job = 0;  // index in RunMetrics::jobs
  std::string stage;
  std::int32_t attempt = 0;
  std::int64_t tasks = 0;
  bool gang = false;            // member of a group of two or more, or barrier
  model::Instant ready_ns = 0;  // of its gang; else when it was submitted
  model::Instant submit_ns = 0;
  std::optional<model::Instant> start_ns;                   // first task_start
  std::optional<model::Instant> end_ns;                     // stage_completed; absent = cut off
  model::StageStatus status = model::StageStatus::success;  // when it ended
};

struct GangWaits {  // gangs admitted, and how long they were ready before
  std::int64_t admitted = 0;
  std::int64_t waited = 0;          // not admitted at the instant they were ready
  model::Duration wait_ns_max = 0;  // ready to admission
  model::Duration wait_ns_sum = 0;
};

struct RunMetrics {
  std::string dialect;
  std::int64_t seed = 0;
  model::Instant end_ns = 0;  // of the last event
  // First submission to the last end or rejection of a job; 0 when no job ended.
  model::Duration makespan_ns = 0;
  std::vector<JobMetrics> jobs;          // by submission
  std::vector<RequestMetrics> requests;  // by first submission
  Totals totals;
  Wide work = 0;            // task time: running tasks * ns, of a slice for each slot
  Wide work_in_groups = 0;  // of members of groups of two or more
  GangWaits gangs;
  std::int64_t pipelined_edges = 0;  // of submitted jobs, after marks and the axis `edges`
  std::int64_t slots_max = 0;        // most slots of live executors at one instant
  model::Duration series_width_ns = 1;
  std::vector<SlotBucket> series;
  std::vector<StageSpan> spans;  // by submission, the first MetricsOptions::spans_max
  std::int64_t spans_omitted = 0;
  model::Timing timing = model::Timing::scripted;
  model::RunEndCause end_cause = model::RunEndCause::interrupted;  // no run_end line: interrupted
};

struct MetricsOptions {
  std::size_t series_buckets_max = 1200;
  std::size_t spans_max = 20'000;
};

class Metrics final : public model::Observer {
 public:
  explicit Metrics(const MetricsOptions& options = {});
  Metrics(Metrics&&) noexcept;
  Metrics& operator=(Metrics&&) noexcept;
  ~Metrics() override;

  void begin(const model::NameTable& names) override;
  void on(const model::Event& event) override;

  // What was seen. Once, after the last event; the name table must still live.
  [[nodiscard]] RunMetrics finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearse::reports
