// Scenario files: whatever the bytes, they load or are refused; what loads is written in the
// canonical form, which reads back as the same scenario.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/support/check.hpp"
#include "traces/scenario_json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rehearse;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)traces::expected_load_error(text);
  const auto scenario = traces::read_scenario(text, "input.json");
  if (!scenario) {
    RH_CHECK(!scenario.error().what.empty());
    return 0;
  }
  const std::string written = traces::write_scenario(*scenario);
  const auto again = traces::read_scenario(written, "input.json");
  RH_CHECK(again.has_value());
  RH_CHECK(traces::same_scenario(*scenario, *again));
  RH_CHECK(traces::write_scenario(*again) == written);
  return 0;
}
