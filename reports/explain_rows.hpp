// What an explanation is made of: the kinds of its parts, and rows of one request's tries. Plain
// data, filled by explain_facts, read by explain_parts and explain_text. Times are virtual.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/support/events.hpp"

namespace rehearse::reports {

// Why an interval passed; the text is the `kind` of the results (cli.md, explain).
enum class PartKind : std::uint8_t {
  running,      // a task of the critical path
  repeated,     // work that a failure or a loss made worthless, and that was done again
  failed,       // work that ended with the job
  unfinished,   // a task that the end of the run cut off
  slots,        // fewer free slots than needed
  drain,        // heads the queue; nobody overtakes, the cluster drains to it
  head,         // behind a waiting head that must not be overtaken
  depth,        // deeper in the queue than a pass looks (A20)
  placement,    // enough slots by count, no place for all tasks (A4)
  retry,        // would fit, is looked at when its timer fires (A6)
  locality,     // slots are free, not where the tasks prefer to run (A13)
  held,         // the slots that are missing are on held executors
  starved,      // more than what lives could ever offer (A14)
  inputs,       // stages of other jobs
  start_delay,  // between a stage's inputs and its submission: the driver of a trace
  resubmit,     // between a failure and the next attempt of the stage or group
  backoff,      // the caller, between two tries of the request
  commit,       // finished, and completed only by the commit of its group (C2, C4)
  rejected,     // takes no time
  unexplained,  // the journal does not say
};
[[nodiscard]] std::string_view name_of(PartKind kind);

struct Holder {
  model::NameId job;
  std::int64_t slots = 0;  // running and reserved
};

struct Shortage {  // of one profile
  std::size_t profile = 0;
  std::int64_t need = 0;
  std::int64_t room = 0;      // tasks that fit
  std::int64_t withheld = 0;  // tasks that would fit on held executors
};

// One reason for which one unit waits, without a gap. Counts are those when it began.
struct WaitSpan {
  PartKind kind = PartKind::unexplained;
  model::Instant from_ns = 0;
  model::Instant to_ns = 0;
  std::vector<Shortage> shortages;  // what it demands, by profile
  model::NameId head_job;           // behind whose head
  model::NameId head_stage;
  std::int64_t stages_ahead = 0;       // in the queue, with waiting tasks of its first profile
  std::int64_t ahead = 0;              // waiting gangs ahead of it, for depth
  std::vector<Holder> holders;         // of slots that could serve it; most slots first, then name
  std::vector<model::NameId> held;     // executors
  std::int64_t passed = 0;             // tasks that later jobs started meanwhile on such slots
  std::vector<model::NameId> passers;  // those jobs, by first start
  // The first instant at which the whole unit (a stage: all its waiting tasks) would have fitted by
  // count, and the first at which one task would.
  std::optional<model::Instant> all_fit_ns;
  std::optional<model::Instant> one_fits_ns;
  std::int64_t most_room = 0;  // of the first profile
};

struct TaskRun {
  std::size_t stage = 0;
  std::int32_t attempt = 0;
  std::int32_t partition = 0;
  std::int32_t more = 0;  // of a slice (A21), partitions behind the first
  std::int32_t try_number = 0;
  model::NameId executor;
  model::Instant start_ns = 0;
  std::optional<model::Instant> end_ns;
  model::TaskStatus status = model::TaskStatus::success;
  std::optional<model::TaskReason> reason;
  bool counted = true;
  model::Duration shared_ns = 0;  // what sharing slots cost it (A22), but for delays around it

  [[nodiscard]] bool succeeded() const {
    return end_ns && status == model::TaskStatus::success && counted;
  }
  // An earlier try of the task, or of any partition of the slice.
  [[nodiscard]] bool follows(const TaskRun& prior) const {
    const bool alone = more == 0 && prior.more == 0;
    return prior.attempt == attempt && prior.partition <= partition + more &&
           partition <= prior.partition + prior.more &&
           (alone ? prior.try_number == try_number - 1 : prior.try_number < try_number);
  }
};

struct StageAttempt {
  std::int32_t attempt = 0;
  model::Instant submit_ns = 0;
  std::optional<model::Instant> end_ns;
  model::StageStatus status = model::StageStatus::success;
  std::optional<model::StageReason> reason;
};

struct StageFacts {
  model::NameId name;
  std::size_t profile = 0;
  std::vector<std::size_t> regular;    // parents in the job
  std::vector<std::size_t> pipelined;  // parents in the job
  std::vector<std::size_t> foreign;    // index in TryFacts::foreign
  bool copy = false;                   // of another job's stage, which this job runs itself
  std::optional<std::size_t> copy_of;  // that, when the job reads it
  bool uncounted = false;  // a success of the latest attempt changed nothing: it will be done again
  bool sink = true;
  std::optional<std::size_t> gang;
  std::vector<StageAttempt> attempts;
  std::vector<std::size_t> runs;  // index in TryFacts::runs, by start
  std::vector<WaitSpan> waits;    // by time
};

struct GangAttempt {
  std::int32_t attempt = 0;
  model::Instant admit_ns = 0;
  std::optional<model::Instant> failed_ns;
  std::optional<model::Code> cause;
};

struct GangFacts {
  std::vector<std::size_t> stages;
  std::vector<std::pair<std::size_t, std::int64_t>> demand;  // profile, tasks
  model::NameId leader;
  std::vector<GangAttempt> attempts;
  std::optional<model::Instant> dissolved_ns;
  std::vector<WaitSpan> waits;
};

struct ForeignStage {  // a stage of another job that is read
  model::NameId edge;  // "job/stage"
  std::string job;     // of the request
  std::string stage;
  std::vector<std::pair<model::Instant, model::NameId>> done;  // when, by which try
};

struct OutputLoss {
  model::Instant t = 0;
  std::size_t stage = 0;
  model::NameId executor;
};

struct TryFacts {
  model::NameId job;
  model::Instant submit_ns = 0;
  std::optional<model::Instant> end_ns;
  bool rejected = false;
  std::optional<model::JobOutcome> outcome;
  std::optional<model::Code> code;
  std::string detail;
  model::PerProfile need;
  model::PerProfile have;
  std::vector<StageFacts> stages;  // file order, then copies of other jobs' stages
  std::vector<GangFacts> gangs;
  std::vector<ForeignStage> foreign;
  std::vector<TaskRun> runs;  // by start
  std::vector<OutputLoss> losses;
};

// What of the run line an explanation needs.
struct RunRules {
  bool coupled = false;  // the timing: readers of a pipelined edge end no earlier than its writers
  std::string queue;
  std::string overtake;  // as the run line has it
  std::string short_rule;
  std::int64_t depth = 0;
  std::string locality_wait;
  std::string launch_overhead;
  std::string status_overhead;
};

}  // namespace rehearse::reports
