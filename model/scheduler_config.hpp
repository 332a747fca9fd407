// Scheduler configuration as data: every axis of scenario.md section 3 with all its values, read
// where the decision is made. Which values this build executes is a table (config_support.hpp);
// the values of others exist so that they are refused by name, never ignored.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/support/event_types.hpp"
#include "model/support/names.hpp"
#include "model/support/time.hpp"

namespace rehearse::model {

enum class Dialect : std::uint8_t {
  sequential,
  psd,
  spark,
  prototype,
  barrier,
  ballista,
  ballista_pipelined,
  trino_phased,
  flink_region
};
RH_ENUM_NAMES(Dialect, "sequential", "psd", "spark", "prototype", "barrier", "ballista",
              "ballista-pipelined", "trino-phased", "flink-region");

enum class EdgesAxis : std::uint8_t { as_marked, all_regular, all_pipelined };
RH_ENUM_NAMES(EdgesAxis, "as-marked", "all-regular", "all-pipelined");

enum class Grouping : std::uint8_t { component, region, job, stage, bubble };
RH_ENUM_NAMES(Grouping, "component", "region", "job", "stage", "bubble");

enum class Mixed : std::uint8_t { allowed, materialized_prefix, rejected };
RH_ENUM_NAMES(Mixed, "allowed", "materialized-prefix", "rejected");

enum class QueueOrder : std::uint8_t { fifo, fair, priority, smallest_first, unordered };
RH_ENUM_NAMES(QueueOrder, "fifo", "fair", "priority", "smallest-first", "unordered");

enum class Hold : std::uint8_t { reserve, check, bulk, none };
RH_ENUM_NAMES(Hold, "reserve", "check", "bulk", "none");

enum class Short : std::uint8_t { wait, fail, retry, fall_back };
RH_ENUM_NAMES(Short, "wait", "fail", "retry", "fall-back");

enum class Shortfall : std::uint8_t { failure, rejection };
RH_ENUM_NAMES(Shortfall, "failure", "rejection");

enum class Overtake : std::uint8_t { never, backfill, easy, aging };
RH_ENUM_NAMES(Overtake, "never", "backfill", "easy", "aging");

enum class Capacity : std::uint8_t { free, free_and_unclaimed, total };
RH_ENUM_NAMES(Capacity, "free", "free-and-unclaimed", "total");

enum class Accounting : std::uint8_t { sum, largest_stage, whole_executor };
RH_ENUM_NAMES(Accounting, "sum", "largest-stage", "whole-executor");

enum class ProfilesAxis : std::uint8_t { vector, single, default_only };
RH_ENUM_NAMES(ProfilesAxis, "vector", "single", "default-only");

enum class SlotsAxis : std::uint8_t { exclusive, shared };
RH_ENUM_NAMES(SlotsAxis, "exclusive", "shared");

enum class Placement : std::uint8_t { spread, pack, round_robin, nested, consistent_hash, random };
RH_ENUM_NAMES(Placement, "spread", "pack", "round-robin", "nested", "consistent-hash", "random");

enum class LocalityReset : std::uint8_t { spark, never, legacy };
RH_ENUM_NAMES(LocalityReset, "spark", "never", "legacy");

enum class Start : std::uint8_t { eager, lazy, phased };
RH_ENUM_NAMES(Start, "eager", "lazy", "phased");

enum class Completion : std::uint8_t { group, after_parents, final_stage, immediate };
RH_ENUM_NAMES(Completion, "group", "after-parents", "final-stage", "immediate");

enum class TaskEndAxis : std::uint8_t { at_once, with_release };
RH_ENUM_NAMES(TaskEndAxis, "at-once", "with-release");

enum class OutputCommit : std::uint8_t { immediate, at_group_commit };
RH_ENUM_NAMES(OutputCommit, "immediate", "at-group-commit");

enum class GroupFailure : std::uint8_t { fail_job, rerun_group };
RH_ENUM_NAMES(GroupFailure, "fail-job", "rerun-group");

enum class MemberFailure : std::uint8_t { any, counted };
RH_ENUM_NAMES(MemberFailure, "any", "counted");

enum class ExecutorLossAxis : std::uint8_t { needed, any_member, running_only };
RH_ENUM_NAMES(ExecutorLossAxis, "needed", "any-member", "running-only");

enum class Incomplete : std::uint8_t { rerun, success_then_rerun };
RH_ENUM_NAMES(Incomplete, "rerun", "success-then-rerun");

enum class Offers : std::uint8_t { push, pull };
RH_ENUM_NAMES(Offers, "push", "pull");

struct PoolConfig {
  NameId name;
  bool fair = false;  // mode
  std::int64_t weight = 1;
  std::int64_t min_share = 0;
  bool operator==(const PoolConfig&) const = default;
};

struct SpeculationConfig {  // absent = off
  std::int64_t quantile_milli = 900;
  std::int64_t multiplier_milli = 3000;
  Duration min_runtime = 100 * millisecond;
  Duration interval = 100 * millisecond;
  bool operator==(const SpeculationConfig&) const = default;
};

// A policy that is no enumerator of its axis: of a shared object, "mine.so:name[key=value]", or of
// the build. Where an axis has one, its enumerator says nothing and stays at that which promises
// least.
struct PolicyObject {
  std::string file;  // empty: of the build
  std::string name;
  std::vector<std::pair<std::string, std::string>> parameters;  // as written
  bool operator==(const PolicyObject&) const = default;
};

struct AdmissionConfig {
  QueueOrder queue = QueueOrder::fifo;
  std::optional<PolicyObject> queue_object;
  bool fair_ties_text = false;  // fair{ties}
  Hold hold = Hold::reserve;
  Duration bulk_timeout = 0;              // bulk{timeout}
  Short when_short = Short::wait;         // axis admission.short
  Duration retry_interval = 15 * second;  // retry{interval, max}
  std::int64_t retry_max = 40;
  Duration fall_back_after = 0;  // fall-back{after}
  Shortfall shortfall = Shortfall::failure;
  Overtake overtake = Overtake::never;
  std::optional<PolicyObject> overtake_object;
  Duration aging_after = 0;  // aging{after}
  std::int64_t depth = 64;   // A20
  Capacity capacity = Capacity::free;
  bool operator==(const AdmissionConfig&) const = default;
};

struct FailureConfig {
  std::int64_t max_task_failures = 4;
  std::int64_t max_stage_attempts = 4;
  Duration resubmit_delay = 200 * millisecond;
  GroupFailure group = GroupFailure::fail_job;
  std::int64_t rerun_max = 3;  // rerun-group{max, delay}
  Duration rerun_delay = 0;
  MemberFailure member = MemberFailure::any;
  ExecutorLossAxis executor_loss = ExecutorLossAxis::needed;
  Incomplete incomplete = Incomplete::rerun;
  bool operator==(const FailureConfig&) const = default;
};

// max_partitions_per_task: as many as there are slots.
inline constexpr std::int64_t any_number_of_partitions = std::numeric_limits<std::int64_t>::max();

struct SchedulerConfig {
  Dialect dialect = Dialect::psd;
  EdgesAxis edges = EdgesAxis::as_marked;
  Grouping grouping = Grouping::component;
  std::int64_t bubble_slots = 0;  // bubble{slots}
  Mixed mixed = Mixed::allowed;
  AdmissionConfig admission;
  Accounting accounting = Accounting::sum;
  ProfilesAxis profiles = ProfilesAxis::vector;
  SlotsAxis slots = SlotsAxis::exclusive;
  std::int64_t slots_factor = 0;  // shared{factor}
  Placement placement = Placement::spread;
  std::optional<PolicyObject> placement_object;
  Duration locality_wait = 0;
  LocalityReset locality_reset = LocalityReset::spark;
  Start start = Start::eager;
  Completion completion = Completion::group;
  TaskEndAxis task_end = TaskEndAxis::at_once;
  OutputCommit output_commit = OutputCommit::immediate;
  FailureConfig failure;
  std::vector<Code> reject;  // F13, in order
  bool outputs_survive_executor = false;
  Duration no_executor_grace = 180 * second;  // A14
  std::optional<SpeculationConfig> speculation;
  std::vector<PoolConfig> pools;
  Offers offers = Offers::push;
  // A21: a task of a regular stage takes as many partitions as there are slots for on its executor,
  // at most so many; absent: one.
  std::optional<std::int64_t> max_partitions_per_task;
  std::optional<std::int64_t> read_cap;
  bool operator==(const SchedulerConfig&) const = default;
};

// The preset of a dialect (the matrix of scenario.md section 3).
[[nodiscard]] SchedulerConfig preset(Dialect dialect);

// True when an override of profiles, mixed, grouping or offers adds the code it can give before
// NO_EXECUTORS; applied once after all overrides (F13).
void complete_reject_list(SchedulerConfig& config);

}  // namespace rehearse::model
