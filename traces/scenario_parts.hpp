// The duties of the scenario reader and writer, one source file each; nobody else includes this.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/scenario.hpp"
#include "traces/json_reading.hpp"

namespace rehearse::traces {

// What the parts of one file share. Names are interned in reading order, which depends on the
// order of lists and free names in the file, never on the order of its keys; so a canonical file
// gives the same ids as its original.
struct ScenarioReading {
  model::Scenario& scenario;

  model::NameId intern(std::string_view text) { return scenario.names.intern(text); }
  [[nodiscard]] std::string text(model::NameId name) const {
    return std::string(scenario.names.text(name));
  }
};

// "j", "j#2", or a copy of a repeated job. Index in Scenario::jobs, or nothing.
[[nodiscard]] std::optional<std::size_t> find_job(const model::Scenario& scenario,
                                                  std::string_view reference);
// Stage of that name, or an invalid index.
[[nodiscard]] model::StageIndex find_stage(const model::Scenario& scenario,
                                           const model::JobSpec& job, std::string_view name);
// The names that jobs go by: repeated ones with their bare name and each copy, file order.
[[nodiscard]] std::vector<std::string> job_names(const model::Scenario& scenario);

struct StageReference {
  std::string job;
  std::string stage;
  std::optional<std::int32_t> partition;
};
// Reads "job", "job/stage" or "job/stage/partition" and checks that they exist, as far as the file
// lists its jobs. `parts_min` and `parts_max`: how many of the three there must be.
struct ReferenceParts {
  int min = 1;
  int max = 1;
};
[[nodiscard]] StageReference read_reference(ScenarioReading& reading, const Node& node,
                                            std::string_view text, const ReferenceParts& parts);

// ---- readers; each appends to reading.scenario ----

// A profile's name; an invalid id when the node is absent or names none.
[[nodiscard]] model::ProfileId read_profile(ScenarioReading& reading, const Node& node);
void read_cluster(ScenarioReading& reading, const Node& node);
[[nodiscard]] model::ExecutorSpec read_added_executor(ScenarioReading& reading, const Node& node);
// Gives every resource vector its full length; after cluster and faults are read.
void complete_resources(ScenarioReading& reading);

void read_scheduler(ScenarioReading& reading, const Node& node);
void read_jobs(ScenarioReading& reading, const Node& node);
void read_stage(ScenarioReading& reading, const Node& node, model::JobSpec& job);
void read_edges(ScenarioReading& reading, const Node& node, model::JobSpec& job);
// References to other jobs, which may stand later in the file.
void read_job_references(ScenarioReading& reading, const Node& node);
// Names in `prefers`, which may be of executors that a fault adds.
void check_preferences(const ScenarioReading& reading, const Node& jobs);
void read_faults(ScenarioReading& reading, const Node& node);
void read_expectations(ScenarioReading& reading, const Node& node);

// The sinks of a job in file order; its last stage if every stage has a reader (a cycle).
[[nodiscard]] std::vector<model::StageIndex> default_result(const model::JobSpec& job);

// ---- writers; each gives the canonical value, or null when it is the default ----

[[nodiscard]] JsonValue write_cluster(const model::Scenario& scenario);
[[nodiscard]] JsonValue write_executor(const model::Scenario& scenario,
                                       const model::ExecutorSpec& executor);
[[nodiscard]] JsonValue write_scheduler(const model::Scenario& scenario);
[[nodiscard]] JsonValue write_jobs(const model::Scenario& scenario);
[[nodiscard]] JsonValue write_faults(const model::Scenario& scenario);
[[nodiscard]] JsonValue write_expectations(const model::Scenario& scenario);
[[nodiscard]] JsonValue write_distribution(const model::Distribution& distribution);
[[nodiscard]] JsonValue write_duration(model::Duration duration);

}  // namespace rehearse::traces
