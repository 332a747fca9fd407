// Journals written by hand, one short call per line: names are "job/stage/partition", ranges of
// what a test does not care about have defaults. Builds events only; says nothing of legality.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/support/events.hpp"

namespace rehearse::testing {

struct RunSpec {
  std::string dialect = "psd";
  std::vector<std::pair<std::string, std::string>> axes = {};
  std::vector<std::string> promises = {};
  std::string kill = "0s";
  std::vector<std::pair<std::string, std::string>> facts = {};  // beside the overheads
  model::Timing timing = model::Timing::scripted;
};

struct StageSpec {
  std::string name;
  std::int64_t tasks = 1;
  model::Commits commits = model::Commits::none;
  bool barrier = false;
  std::string profile = "default";
};

struct EdgeSpec {
  std::string from;
  std::string to;
  bool pipelined = false;
};

// A try of a task: where and which.
struct TrySpec {
  std::string task;  // q/map/0
  std::string executor;
  std::int32_t attempt = 0;
  std::int32_t try_number = 0;
  std::int32_t more = 0;  // of a slice
};

using Slots = std::vector<std::pair<std::string, std::int64_t>>;

class JournalBuilder {
 public:
  [[nodiscard]] const std::vector<model::Event>& events() const { return events_; }
  [[nodiscard]] std::vector<model::Event>& events() { return events_; }
  [[nodiscard]] const model::NameTable& names() const { return names_; }
  [[nodiscard]] model::NameId id(std::string_view text) {
    return text.empty() ? model::NameId{} : names_.intern(text);
  }

  JournalBuilder& at(model::Instant t) {
    t_ = t;
    return *this;
  }

  template <class Body>
  JournalBuilder& add(Body body) {
    events_.push_back({t_, std::move(body)});
    return *this;
  }

  // Profiles: default takes 1 cpu, wide 2 cpus, gpu 1 cpu and 1 gpu.
  JournalBuilder& run(const RunSpec& spec = {});
  // `profile` empty = unbound.
  JournalBuilder& executor(std::string_view name, std::int64_t cpus,
                           std::string_view profile = "default");
  JournalBuilder& lost(std::string_view executor,
                       model::LossCause cause = model::LossCause::process);
  JournalBuilder& held(std::string_view executor, model::HoldCause cause = model::HoldCause::hold);
  JournalBuilder& released(std::string_view executor);

  JournalBuilder& job(std::string_view name, const std::vector<StageSpec>& stages,
                      const std::vector<EdgeSpec>& edges = {});
  JournalBuilder& started(std::string_view job);
  JournalBuilder& rejected(std::string_view job, model::Code code, const Slots& need = {},
                           const Slots& have = {});
  JournalBuilder& succeeded(std::string_view job);
  JournalBuilder& failed(std::string_view job, model::Code code, const Slots& need = {},
                         const Slots& have = {});
  JournalBuilder& cancelled(std::string_view job);

  JournalBuilder& formed(std::string_view group, const std::vector<std::string>& stages,
                         const Slots& demand);
  JournalBuilder& waits_for_inputs(std::string_view group);
  JournalBuilder& waits_for_slots(std::string_view group, const Slots& need, const Slots& have);
  JournalBuilder& admitted(std::string_view group, const Slots& slots, std::int32_t attempt = 0);
  JournalBuilder& committed(std::string_view group, std::int32_t attempt = 0);
  JournalBuilder& group_failed(std::string_view group, model::Code cause, std::int32_t attempt = 0);
  JournalBuilder& group_cancelled(std::string_view group, model::CancelCause cause);
  JournalBuilder& edges_changed(std::string_view group, const std::vector<EdgeSpec>& edges);

  JournalBuilder& submitted(std::string_view stage, std::int64_t tasks, std::int32_t attempt = 0,
                            std::optional<model::Ranges> partitions = {});
  JournalBuilder& completed(std::string_view stage, std::int32_t attempt = 0,
                            model::StageStatus status = model::StageStatus::success,
                            std::optional<model::StageReason> reason = {});
  JournalBuilder& finished_member(std::string_view stage, std::int32_t attempt = 0);
  JournalBuilder& registered(std::string_view stage, std::int32_t attempt = 0);
  JournalBuilder& outputs_lost(std::string_view stage, std::string_view executor,
                               const model::Ranges& partitions);

  JournalBuilder& start(const TrySpec& task, bool speculative = false);
  JournalBuilder& success(const TrySpec& task, std::optional<bool> counted = {});
  JournalBuilder& failure(const TrySpec& task, model::TaskReason reason);
  JournalBuilder& kill(const TrySpec& task, model::TaskReason reason,
                       std::optional<model::SlotState> slot = {});
  JournalBuilder& slots_back(std::string_view executor, std::int64_t count, std::string_view job);
  JournalBuilder& commit(const TrySpec& task);
  JournalBuilder& reserve(std::string_view group, std::string_view executor, std::int64_t slots,
                          std::int64_t delta);

  JournalBuilder& probe(const model::Probe& probe, const Slots& free);
  JournalBuilder& over(model::RunEndCause cause = model::RunEndCause::done);

 private:
  model::StageRef stage_ref(std::string_view path, std::optional<std::int32_t> attempt);
  model::TaskRef task_ref(const TrySpec& task);
  model::PerProfile per_profile(const Slots& slots);
  std::vector<model::EdgeItem> edge_items(const std::vector<EdgeSpec>& edges);

  model::NameTable names_;
  std::vector<model::Event> events_;
  model::Instant t_ = 0;
};

}  // namespace rehearse::testing
