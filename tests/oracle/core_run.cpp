// The only file of the comparison that knows the simulator.
#include "tests/oracle/core_run.hpp"

#include <array>

#include "policies/registry.hpp"
#include "sim/simulation.hpp"

namespace rehearse::oracle_test {

namespace {

class Recorder final : public model::Observer {
 public:
  void begin(const model::NameTable& /*names*/) override {}
  void on(const model::Event& event) override { events.push_back(event); }
  std::vector<model::Event> events;
};

}  // namespace

CoreJournal run_core(const model::Scenario& scenario) {
  const auto policies = policies::make(scenario.scheduler);
  Recorder recorder;
  const std::array<model::Observer*, 1> observers{&recorder};
  const sim::RunResult result = sim::run(scenario, *policies, observers, {});
  return {result.names, std::move(recorder.events)};
}

}  // namespace rehearse::oracle_test
