// Which work waits right now, read from the logical events of the journal: tasks of submitted
// stages that do not run yet, gangs that wait for slots, and the head among them (A7, A16).
// Memory follows live jobs: a job's rows go when it ends.
//
// The journal does not name the head; it is the first gang in queue order that is ready, not
// starved (A14) and not admitted. Order: `fifo`, `priority` and `smallest-first` as A18 says
// (without the estimate, which no event carries); `fair` and `unordered` are read as `fifo`. Under
// `retry` there is no head. A gang is ready when every regular parent of its members completed and
// no output of theirs was lost; one that reads stages of other jobs, when the journal says so.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "model/support/events.hpp"
#include "reports/slot_ledger.hpp"

namespace rehearse::reports {

inline constexpr std::size_t no_index = std::numeric_limits<std::size_t>::max();

// Place in the queue; less is earlier.
struct QueueRank {
  std::int64_t key = 0;  // negative priority, or demand
  std::uint64_t job = 0;
  std::size_t stage = 0;
  auto operator<=>(const QueueRank&) const = default;
};

struct LiveStage {
  model::NameId name;
  std::int64_t tasks = 0;
  std::size_t profile = 0;
  std::size_t gang = no_index;  // index in the job's gangs
  bool grouped = false;         // member of a group of two or more
  bool live = false;            // an attempt is submitted and not completed
  bool available = false;       // completed with success, nothing lost since
  std::int32_t attempt = -1;    // the latest
  std::int64_t pending = 0;     // partitions that miss an output and have no try running
  std::size_t span = no_index;  // for the owner: its row of the latest attempt
  // By partition while live: missing_bit, and the tries of the latest attempt that run.
  std::vector<std::uint8_t> partitions;
  std::vector<std::size_t> readers;  // gangs of the job that read it over a regular edge
};

class LiveWork {
 public:
  struct View {
    bool waiting = false;             // some ready unit has tasks that do not run
    std::uint64_t usable = 0;         // profiles of tasks that could use a free slot of theirs
    bool head = false;                // a gang heads the queue
    std::uint64_t head_profiles = 0;  // what it demands
    bool behind = false;              // a unit behind it has tasks that could start but for it
  };

  void run_started(const model::RunStart& run, const model::NameTable& names);
  void submitted(const model::JobSubmitted& job, const SlotLedger& ledger);
  // The time of what follows.
  void at(model::Instant now) { now_ = now; }
  // Ended or rejected.
  void gone(model::NameId job);
  void formed(const model::GroupFormed& group, const SlotLedger& ledger);
  void queued(const model::GroupQueued& group);
  void admitted(const model::StageRef& group);
  // Committed, failed or cancelled: it waits no more.
  void over(const model::StageRef& group);
  void dissolved(const model::EdgesChanged& group);
  // The row of the stage; made when the job was submitted without it.
  LiveStage* stage_submitted(const model::StageSubmitted& event, const SlotLedger& ledger);
  void stage_completed(const model::StageCompleted& event);
  void task_started(const model::TaskStart& event);
  void task_ended(const model::TaskEnd& event);
  void outputs_lost(const model::OutputsLost& event);

  // Null for a job that is not live or a stage it does not have.
  [[nodiscard]] LiveStage* find(model::NameId job, model::NameId stage);
  // Since when the gang of this stage was ready, up to its admission and until it is over.
  [[nodiscard]] std::optional<model::Instant> ready_since(model::NameId job, model::NameId stage);
  [[nodiscard]] View view(const SlotLedger& ledger) const;

  // A ready gang that waits for slots. `demand` is profile, tasks; it lives until the next event.
  struct Waiting {
    model::NameId job;
    model::NameId stage;
    QueueRank place;
    std::span<const std::pair<std::size_t, std::int64_t>> demand;
  };
  // The head (A16); nothing when there is none.
  [[nodiscard]] std::optional<Waiting> head(const SlotLedger& ledger) const;
  // The first that waits, starved or not: executors that are due count for the scheduler (A5), and
  // no event tells of them. Nothing where there are no heads.
  [[nodiscard]] std::optional<Waiting> first_waiting() const;
  // The gang of this stage, when it is ready and waits.
  [[nodiscard]] std::optional<Waiting> waiting(model::NameId job, model::NameId stage);
  // Where a stage that is no member stands.
  [[nodiscard]] QueueRank place(model::NameId job, model::NameId stage);
  // Ready gangs that wait ahead of a place; linear in them.
  [[nodiscard]] std::int64_t waiting_ahead(const QueueRank& place) const;
  // Stages ahead of a place that have tasks of a profile waiting; linear in them.
  [[nodiscard]] std::int64_t pending_ahead(const QueueRank& place, std::size_t profile) const;
  // More than what lives could take (A14), after a loss.
  [[nodiscard]] static bool starved(std::span<const std::pair<std::size_t, std::int64_t>> demand,
                                    const SlotLedger& ledger);

 private:
  struct Gang {
    model::NameId leader;
    std::size_t rank_stage = no_index;                         // its first stage in file order
    std::vector<std::pair<std::size_t, std::int64_t>> demand;  // profile, tasks
    std::uint64_t profiles = 0;
    std::int64_t tasks = 0;
    std::int64_t missing = 0;     // regular parents that are not available
    bool told_inputs = false;     // the journal says that it waits for inputs
    bool waits = false;           // not admitted, not over
    bool listed = false;          // in waiting_
    model::Instant ready_ns = 0;  // since when it was in waiting_, last time
    bool was_ready = false;       // ready_ns says something
  };
  struct Job {
    model::NameId name;
    std::uint64_t number = 0;  // by submission
    std::int64_t priority = 0;
    std::vector<LiveStage> stages;  // file order, then those that came later
    std::vector<std::pair<model::NameId, std::size_t>> by_name;  // sorted
    std::vector<Gang> gangs;
    std::vector<std::pair<std::size_t, std::size_t>> regular;  // edges by stage index
  };
  enum class Order : std::uint8_t { fifo, priority, smallest_first };

  [[nodiscard]] Job* job(model::NameId name);
  [[nodiscard]] static std::size_t stage_index(const Job& job, model::NameId name);
  [[nodiscard]] QueueRank rank(const Job& job, std::size_t stage, std::int64_t demand) const;
  [[nodiscard]] Gang* gang(model::NameId job, model::NameId stage, Job*& owner);
  void relist(Job& owner, std::size_t gang);
  void set_pending(Job& owner, std::size_t stage, std::int64_t pending);
  void set_available(Job& owner, std::size_t stage, bool available);
  void add_parents(Job& owner, std::size_t gang);
  [[nodiscard]] static bool fits(const Gang& gang, const SlotLedger& ledger);
  [[nodiscard]] Waiting described(const QueueRank& place, std::size_t job, std::size_t gang) const;

  Order order_ = Order::fifo;
  bool heads_ = true;
  std::uint64_t submissions_ = 0;
  model::Instant now_ = 0;
  std::vector<std::uint32_t> index_;  // by NameId of the job: 0 = not live, else slot + 1
  std::vector<Job> jobs_;             // slots, reused
  std::vector<std::uint32_t> unused_;
  std::vector<std::set<QueueRank>> pending_;  // by profile: stages with pending tasks
  std::map<QueueRank, std::pair<std::size_t, std::size_t>> waiting_;  // ready: job slot, gang
};

}  // namespace rehearse::reports
