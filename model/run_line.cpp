// What of the line only the scenario knows; see the header.
#include "model/run_line.hpp"

#include <utility>

#include "model/axes.hpp"
#include "model/scheduler_config.hpp"

namespace rehearse::model {

RunStart run_line(const Scenario& scenario, std::string_view version, NameTable& names) {
  RunStart line;
  line.version = names.intern(version);
  line.format = 1;
  line.seed = static_cast<std::int64_t>(scenario.seed);
  line.timing = scenario.timing;
  line.dialect = names.intern(name_of(scenario.scheduler.dialect));
  for (const auto& [axis, value] : resolved_axes(scenario.scheduler, scenario.names)) {
    line.axes.push_back({names.intern(axis), names.intern(value)});
  }
  for (const Profile& profile : scenario.cluster.profiles) {
    ProfileAmounts amounts{profile.name, {}};
    for (std::size_t r = 0; r < profile.task.size(); ++r) {
      if (profile.task[r] != 0) {
        amounts.task.push_back({scenario.cluster.resources[r], profile.task[r]});
      }
    }
    line.profiles.push_back(std::move(amounts));
  }
  return line;
}

}  // namespace rehearse::model
