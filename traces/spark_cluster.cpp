// registry: none (a part of the reader of Spark event logs)
// Executors and resource profiles of a Spark log as a cluster.
#include <algorithm>
#include <set>
#include <utility>

#include "model/resources.hpp"
#include "traces/spark_assemble.hpp"

namespace rehearse::traces {
namespace {

using model::milli;

class ClusterMaker {
 public:
  ClusterMaker(const SparkLog& log, std::int64_t epoch_ms, model::Trace& trace)
      : log_(log), epoch_ms_(epoch_ms), trace_(trace) {}

  void make() {
    make_profiles();
    for (const SparkExecutor& executor : log_.executors) {
      add(executor);
    }
    for (model::LoadWarning& warning : warnings_.list()) {
      trace_.load.warnings.push_back(std::move(warning));
    }
  }

 private:
  [[nodiscard]] model::Instant instant(std::int64_t at_ms) const {
    return std::max<std::int64_t>(0, at_ms - epoch_ms_) * model::millisecond;
  }

  [[nodiscard]] const SparkProfile* logged(std::int64_t id) const {
    const auto found = log_.profiles.find(id);
    return found == log_.profiles.end() ? nullptr : &found->second;
  }

  [[nodiscard]] std::int64_t task_amount(std::int64_t profile, const std::string& resource) const {
    const SparkProfile* known = logged(profile);
    if (known != nullptr) {
      const auto amount = known->task_milli.find(resource);
      if (amount != known->task_milli.end()) {
        return amount->second;
      }
    }
    return resource == "cpus" ? log_.task_cpus * milli : 0;
  }

  void make_profiles() {
    std::set<std::int64_t> ids{0};
    std::set<std::string> others;
    for (const auto& [id, profile] : log_.profiles) {
      ids.insert(id);
      for (const auto& [resource, amount] : profile.task_milli) {
        if (resource != "cpus" && amount > 0) {
          others.insert(resource);
        }
      }
    }
    for (const auto& [id, stage] : log_.stages) {
      ids.insert(stage.profile);
    }
    resources_ = {"cpus"};
    resources_.insert(resources_.end(), others.begin(), others.end());
    for (const std::string& resource : resources_) {
      trace_.cluster.resources.push_back(trace_.names.intern(resource));
    }
    for (const std::int64_t id : ids) {
      model::Profile profile;
      profile.name = trace_.names.intern(spark_profile_name(id));
      for (const std::string& resource : resources_) {
        profile.task.push_back(task_amount(id, resource));
      }
      profile_index_[id] = model::ProfileId(trace_.cluster.profiles.size());
      trace_.cluster.profiles.push_back(std::move(profile));
    }
  }

  // What the executor has, by its own line or by the profile it was asked for with.
  [[nodiscard]] std::int64_t executor_amount(const SparkExecutor& executor, std::int64_t profile,
                                             const std::string& resource) const {
    if (resource == "cpus") {
      return executor.added_ms && executor.cores > 0
                 ? executor.cores * milli
                 : executor.running_max * task_amount(profile, resource);
    }
    if (const auto own = executor.amounts.find(resource); own != executor.amounts.end()) {
      return own->second * milli;
    }
    if (const SparkProfile* known = logged(profile)) {
      const auto asked = known->executor_amount.find(resource);
      if (asked != known->executor_amount.end()) {
        return asked->second * milli;
      }
    }
    return 0;
  }

  [[nodiscard]] std::string unique_name(const SparkExecutor& executor) {
    const std::int64_t nth = ++registrations_[executor.id];
    std::string name = executor.id == "<driver>" ? "driver" : executor.id;  // Spark before 1.3
    for (char& c : name) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
      c = plain ? c : '_';
    }
    name = name.empty() ? "unnamed" : name;
    return nth == 1 ? name : name + ":" + std::to_string(nth);
  }

  // A host is never named as an executor is: preferences could mean either.
  static std::string host_name(const SparkExecutor& executor) {
    std::string name = executor.host.empty() ? executor.id : executor.host;
    std::replace(name.begin(), name.end(), '/', '_');
    std::replace(name.begin(), name.end(), '#', '_');
    return name == executor.id ? "h-" + name : name;
  }

  [[nodiscard]] std::int64_t joined_ms(const SparkExecutor& executor) {
    const std::int64_t added = executor.added_ms.value_or(epoch_ms_);
    if (executor.first_launch_ms && *executor.first_launch_ms < added) {
      warnings_.add("executor that ran tasks before it registered: it joins with the first", {},
                    executor.id);
      return *executor.first_launch_ms;
    }
    return added;
  }

  void add(const SparkExecutor& executor) {
    const std::int64_t profile = executor.profile.value_or(executor.seen_profile.value_or(0));
    const auto index = profile_index_.try_emplace(profile, model::ProfileId(0U)).first->second;
    model::ExecutorSpec spec;
    spec.name = trace_.names.intern(unique_name(executor));
    spec.host = trace_.names.intern(host_name(executor));
    spec.profile = index;
    const model::ResourceVector& task = trace_.cluster.profiles[index.index()].task;
    for (const std::string& resource : resources_) {
      spec.resources.push_back(executor_amount(executor, profile, resource));
    }
    if (executor.running_max > 0 && model::slots_of(spec.resources, task) == 0) {
      warnings_.add("executor that ran tasks it has no room for: it gets that room", {},
                    executor.id);
      for (std::size_t r = 0; r < task.size(); ++r) {
        spec.resources[r] = std::max(spec.resources[r], task[r] * executor.running_max);
      }
    }
    if (!executor.added_ms) {
      warnings_.add("executor that never registered: its size is that of its busiest moment", {},
                    executor.id);
    }
    spec.joins = instant(joined_ms(executor));
    model::ExecutorEnd end;
    if (executor.removed_ms) {
      end.leaves = std::max(spec.joins, instant(*executor.removed_ms));
      end.cause = executor.lost_tasks ? model::LossCause::process : model::LossCause::decommission;
    }
    trace_.cluster.executors.push_back(std::move(spec));
    trace_.executor_ends.push_back(end);
  }

  WarningLog warnings_;
  const SparkLog& log_;
  std::int64_t epoch_ms_;
  model::Trace& trace_;
  std::vector<std::string> resources_;
  std::map<std::int64_t, model::ProfileId> profile_index_;
  std::map<std::string, std::int64_t> registrations_;
};

}  // namespace

std::string spark_profile_name(std::int64_t profile) {
  return profile == 0 ? "default" : "profile-" + std::to_string(profile);
}

void make_spark_cluster(const SparkLog& log, std::int64_t epoch_ms, model::Trace& trace) {
  ClusterMaker maker(log, epoch_ms, trace);
  maker.make();
}

}  // namespace rehearse::traces
