// Configurations of the command line, `dialect[axis=value,...]`, and values of axes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/axes.hpp"
#include "model/configuration_text.hpp"
#include "model/support/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rehearse;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto configuration = model::parse_configuration(text);
  RH_CHECK(configuration.has_value() || !configuration.error().what.empty());
  (void)model::parse_override(text);
  if (const auto value = model::parse_axis_text(text)) {
    const auto again = model::parse_axis_text(model::to_string(*value));
    RH_CHECK(again.has_value());
    RH_CHECK(model::to_string(*again) == model::to_string(*value));
  }
  return 0;
}
