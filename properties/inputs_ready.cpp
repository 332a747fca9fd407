// Nothing launches before its regular parents are complete and their outputs still there (A1, X9).
// Edges inside a group act as pipelined and are left out (F11). Outputs on an executor that was
// lost are gone whether or not a line says so. A stage of another job is judged while that job
// lives; afterwards the reader may run a copy, which the journal names as a stage of its own.
// registry: INPUTS_READY
#include <fmt/format.h>

#include "properties/monitors.hpp"
#include "properties/track.hpp"

namespace rehearse::properties {

namespace {

class InputsReady final : public MonitorOf<InputsReady> {
 public:
  using MonitorOf::MonitorOf;

  [[nodiscard]] std::uint64_t wants() const override { return kinds<model::TaskStart>(); }

  void task_start(const model::TaskStart& event, const Seen& seen) override {
    if (track().inputs_were_there(seen)) {
      return;
    }
    if (const std::string missing = track().missing_input(seen); !missing.empty()) {
      found(fmt::format("{} launched without its regular input {} (A1)", track().name(event.task),
                        missing));
    }
  }
};

}  // namespace

std::unique_ptr<Monitor> make_inputs_ready(const Track& track) {
  return std::make_unique<InputsReady>(track);
}

}  // namespace rehearse::properties
