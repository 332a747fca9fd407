// The tables of the oracle: executors, tries, stages, units of admission, jobs. Private to
// properties/oracle.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "model/cluster.hpp"
#include "model/fault_plan.hpp"
#include "model/job.hpp"
#include "model/stage_graph.hpp"
#include "model/support/events.hpp"

namespace rehearse::properties::oracle {

using model::Duration;
using model::Instant;
using model::NameId;

inline constexpr int nobody = -1;

template <class T>
struct Table : std::deque<T> {  // of which references stay good, and any integer is an index
  using std::deque<T>::deque;
  T& operator[](std::integral auto i) { return this->at(static_cast<std::size_t>(i)); }
  const T& operator[](std::integral auto i) const { return this->at(static_cast<std::size_t>(i)); }
};

using Counts = Table<std::int64_t>;  // by profile

struct Executor {
  model::ExecutorSpec spec;
  int number = nobody;  // A15: by join; nobody: has not joined
  bool due = true;      // A5: is to join
  bool gone = false;    // its loss was noticed
  bool outputs_gone = false;
  bool leaving = false, left = false;  // X13, decommission
  int holds = 0;
  std::optional<Instant> died;  // X12: known to nobody but the world
  model::ResourceVector used;   // by tasks, kills that have not taken effect included
  std::size_t epoch = 0;        // X9: successes of launches before this one do not count
  int may_come = nobody;        // A5: a place within the autoscale maximum, for nobody by name
  bool asked_for = false;       // by the autoscaler
  std::optional<Instant> idle_since;  // of the autoscaler's pool
  [[nodiscard]] bool lives() const { return number != nobody && !gone; }
  [[nodiscard]] bool takes_tasks() const { return lives() && holds == 0 && !leaving; }
  [[nodiscard]] bool is_capacity() const {  // A5
    return (lives() || (due && !gone)) && !leaving;
  }
  [[nodiscard]] bool serves(model::ProfileId p) const {
    return !spec.profile.valid() || spec.profile == p;
  }
};

struct Job;
struct Job;
struct Try {  // of a task; its place in World::tries_ is its launch number
  Job* job = nullptr;
  int stage = 0, attempt = 0, partition = 0, number = 0, executor = nobody;
  Instant ends = 0;  // physically; its status arrives later
  std::optional<model::TaskReason> reason;
  const model::TaskFault* fetch = nullptr;  // the fault that makes it fail to fetch
  bool over = false;                        // its end was told, or it was killed
  bool busy = true;                         // has its slot
  bool held_back = false;                   // C6: succeeded, and waits for its release
};

struct Attempt {
  bool open = true;  // submitted and not completed
  std::vector<int> partitions;
  std::set<int> retries, fresh;  // pending
  std::set<int> done;            // ticked off
  std::map<int, int> failures, next_try;
};

enum class Level { process, node, none, rack, any };  // how near; none: it prefers nothing
struct Delay {                                        // SS-2.5, of an attempt
  Level level = Level::process;
  Instant since = 0;
  std::optional<Instant> armed;
  std::set<Level> known;  // levels that it has had
};

struct Stage {
  const model::StageSpec* spec = nullptr;
  bool dormant = false;       // stands for a stage of another job
  Stage* original = nullptr;  // that one, if there is one
  Job* owner = nullptr;       // its job
  Delay delay;
  Table<Attempt> attempts;
  Table<int> output;        // regular: executor by partition, or nobody
  Table<bool> result;       // of a sink: has given its result
  std::set<int> committed;  // C8
  int failed_in_row = 0;    // X9
  int undone = 0;           // attempts of which successes do not count any more (SS-1.10)
  bool completed_once = false;
  bool there = false;                     // complete, and not void since (X10)
  bool given = false;                     // was whole once
  bool read = false;                      // a regular edge leaves it
  bool shared = false;                    // one to another job does
  std::map<int, int> where;               // member: finished partition -> executor, of this attempt
  std::map<int, std::size_t> authorized;  // member: partition -> try, not committed
  std::vector<std::size_t> held_back;     // C6: tries that succeeded and wait for their release
  bool finished = false;                  // member: all its tasks are done
  [[nodiscard]] const Attempt* open() const {
    return attempts.empty() || !attempts.back().open ? nullptr : &attempts.back();
  }
  [[nodiscard]] Attempt* open() {
    return attempts.empty() || !attempts.back().open ? nullptr : &attempts.back();
  }
};

enum class UnitState { waiting, running, resting, delayed };
enum class Ready { unknown, no, yes };
struct Unit {  // of admission: a group or a single stage
  std::vector<int> stages;
  bool gang = false;
  UnitState state = UnitState::waiting;
  Ready ready = Ready::unknown;
  bool refused = false;    // C12: group_queued (slots) was said
  bool told = true;        // X14: the journal says that it lives, or lives again
  bool starved = false;    // A14
  bool withdrawn = false;  // starved when it was ready already: no pass looks at it
  bool committed = false;
  int attempt = -1, reruns = 0;
  [[nodiscard]] bool group() const { return stages.size() > 1; }
};

struct Job {
  const model::JobSpec* spec = nullptr;
  model::JobSpec expanded;  // with stages of other jobs behind its own
  int own = 0;              // stages
  std::size_t origin = 0;   // in the scenario
  NameId name;
  int resubmits_left = 0, resubmission = 0;
  int copy = 0;                           // of a repeated job
  std::pair<Instant, std::int64_t> rank;  // A18 fifo, as submissions of one instant come
  bool over = false, rejected = false;
  model::StageGraph graph;
  Table<Stage> stages;
  Table<Unit> units;
  Table<int> unit_of;
  std::optional<Instant> grace_ends;  // A14
  [[nodiscard]] Unit& unit(std::integral auto stage) { return units[unit_of[stage]]; }
  [[nodiscard]] const Unit& unit(std::integral auto stage) const { return units[unit_of[stage]]; }
  // The name of a group: its first stage's.
  [[nodiscard]] NameId name_of(const Unit& u) const { return stages[u.stages.front()].spec->name; }
  [[nodiscard]] bool keeps_outputs() const {  // when it is over: others read them
    return !rejected && std::ranges::any_of(stages, &Stage::shared);
  }
  [[nodiscard]] model::StageRef ref(int stage) const {  // with its latest attempt
    const auto attempt = static_cast<std::int32_t>(stages[stage].attempts.size()) - 1;
    return {name, stages[stage].spec->name, attempt};
  }
  [[nodiscard]] std::vector<int> members(const Unit& u) const {  // C4: topological, smallest first
    std::vector<int> list;
    const auto listed = [&list](auto s) {
      return std::ranges::find(list, static_cast<int>(s)) != list.end();
    };
    while (list.size() < u.stages.size()) {
      const auto next = std::ranges::find_if(u.stages, [&](int s) {
        return !listed(s) && std::ranges::all_of(row(graph.pipelined_parents, s), listed);
      });
      list.push_back(*next);
    }
    return list;
  }
  [[nodiscard]] static std::span<const std::uint32_t> row(const model::Rows& rows, int stage) {
    return rows.row(static_cast<std::size_t>(stage));
  }
};

struct Share {  // A10: what a group reserves on an executor
  int executor = nobody;
  Job* job = nullptr;
  int unit = 0;
  model::ProfileId profile;
  std::int64_t slots = 0;
};

struct Caller {  // of a job of the file, for `after` and X8
  int open = 0;  // copies that may still end
  std::optional<Instant> last_end;
  bool submitted = false;
};

struct Due {
  Instant at;
  int kind;                    // order of inputs in a round (scenario.md 4); deaths are of 1
  std::int64_t first, second;  // order within the kind
  std::function<bool()> act;   // false: it had lost its meaning
};

struct Choice {  // a fault that waits for its moment
  std::int32_t count = 0;
  const model::TimedFault* fault;
};

struct Place {  // of a task of a gang
  int stage, partition, executor;
};

struct Foreign {  // a stage of another job of the file
  std::size_t job, stage;
  bool operator==(const Foreign&) const = default;
};

struct Found {
  int executor = nobody;
  Level level = Level::any;
};

struct Restart {  // of a barrier stage that failed, not before this instant
  Job* job;
  int stage;
  Instant from;
};

// Submissions of one instant: originals in file order, then copies and resubmissions by original
// and number (scenario.md 4).
[[nodiscard]] std::int64_t order_of(std::size_t origin, int copy, int resubmission);
[[nodiscard]] model::Ranges ranges_of(const std::vector<int>& partitions);  // ascending

}  // namespace rehearse::properties::oracle
